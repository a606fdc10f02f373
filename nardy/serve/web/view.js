// What the board shows and what the status line says, from a table and the chosen point.

import { rollText } from "./dice.js";
import { checkersOnly, onBoard, turnBoard } from "./rules.js";
import { t } from "./text.js";

/** The table as makeBoard wants it. */
export function tableView(table, selected) {
  const { game, state } = table;
  return {
    ...placed(table.rules, table.shown),
    movable: selected === null || !table.complete ? table.sources() : [],
    selected,
    targets: selected === null ? [] : [...table.targets(selected).keys()],
    recent: recentCells(table),
    dice: diceView(table),
    cube: hasCube(state.match) ? cubeView(state.match, game) : null,
  };
}

/** The position of an error that the analysis has found. */
export function reviewView(rules, { board: before, dice = [], who, mover = who, match }) {
  const cells = mover === "you" ? before : turnBoard(before, rules.family);
  const all = dice.map((value, place) => ({ value, used: false, who, place, of: dice.length }));
  return {
    ...placed(rules, cells),
    movable: [],
    selected: null,
    targets: [],
    recent: [],
    dice: all,
    cube: hasCube(match) ? { value: match.cube, owner: match.owner } : null,
  };
}

function placed({ checkers, family }, cells) {
  const [you, bot] = onBoard(cells, family).map((count) => checkers - count);
  return { cells: checkersOnly(cells, family), off: { you, bot } };
}

function diceView(table) {
  const { phase, dice, mover } = table.game;
  if (phase === "over" || !dice) return [];
  const all = dice[0] === dice[1] ? Array(4).fill(dice[0]) : [...dice].sort((a, b) => b - a);
  const left = phase === "move" ? [...table.diceLeft] : [...all];
  return all.map((value, place) => {
    const at = left.indexOf(value);
    if (at >= 0) left.splice(at, 1);
    return { value, used: at < 0, who: mover, place, of: all.length };
  });
}

/** Whether there is anything to double in this game (K17). */
const hasCube = ({ doubling, crawford, length }) => doubling && !crawford && length !== 1;

function cubeView(match, { phase }) {
  if (phase === "doubled") return { value: 2 * match.cube, owner: null };
  return { value: match.cube, owner: match.owner };
}

/** The points that the last move of the bot, or the move in hand, has touched. */
function recentCells(table) {
  const { game, rules } = table;
  if (game.mover === "bot" || game.hops.length) return [];
  const last = game.log.at(-1);
  return last?.kind === "move" && last.who === "bot" ? touched(last, rules) : [];
}

function touched({ board: before, result }, { family }) {
  const [a, b] = [turnBoard(before, family), turnBoard(result, family)];
  return a.flatMap((count, cell) => (cell > 0 && cell < 25 && b[cell] < count ? [cell] : []));
}

/** The status line: what has happened and what you can do. */
export function status(table, selected) {
  const { message, error } = table;
  if (error) return t("trouble", { error });
  const said = message ? t(...message) : "";
  return [said, whatNow(table, selected)].filter(Boolean).join(" ");
}

function whatNow(table, selected) {
  const { game } = table;
  const dice = game.dice && rollText(game.dice);
  switch (game.phase) {
    case "opening":
      return t("opening");
    case "roll":
      return t(table.mayDouble ? "yourRollCube" : "yourRoll");
    case "move":
      if (table.stuck) return t("cannotMove", { dice });
      if (table.complete) return t("confirm");
      if (selected !== null) return t("chooseTarget", { point: cellName(selected) });
      return t("yourMove", { dice });
    case "offered":
      return t("botThinks");
    case "bot":
      return game.hops.length || table.message?.[0] === "botRolled" ? "" : t("botThinks");
    case "over":
      return overText(table);
    default:
      return "";
  }
}

function overText(table) {
  const { winner, multiple, how, points } = table.game.result;
  if (winner === null) return t("drawn");
  const kind = how === "passed" ? t("passedDouble") : t(`kind${multiple}`);
  const game = t(winner === "you" ? "youWin" : "botWins", { kind, n: points });
  const match = table.matchWinner;
  return match ? `${game} ${t(match === "you" ? "youWinMatch" : "botWinsMatch")}` : game;
}

/** The heading: game, match, Crawford. */
export function whatIsPlayed({ variant, match }) {
  const parts = [t(variant), t("to", { n: match.length })];
  if (match.crawford && match.doubling) parts.push(t("crawford"));
  return parts.join(" · ");
}

const cellName = (cell) => (cell === 25 ? t("bar").toLowerCase() : cell);
