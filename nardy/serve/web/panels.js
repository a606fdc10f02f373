// The panels around the board: players, evaluation bar, hints, moves, analysis.

import { rollText } from "./dice.js";
import { Turn, moveText, pips, turnBoard } from "./rules.js";
import { number, t } from "./text.js";

const $ = (id) => document.getElementById(id);

/** cells: the board that is shown, your view. */
export function drawPlayers(table, { cells }) {
  const { match } = table.state;
  const { family } = table.rules;
  const lines = { you: pips(cells, family), bot: pips(turnBoard(cells, family), family) };
  for (const who of ["you", "bot"]) {
    const away = match.length ? `${match.points[who]} / ${match.length}` : match.points[who];
    $(`${who}-line`).replaceChildren(
      span(`disc ${who}`, ""),
      span("name", who === "you" ? t("you") : `${t("bot")} · ${t(table.state.level)}`),
      span("pips", t("pips", { n: lines[who] })),
      span("points", away, t("score")),
    );
  }
}

/** The chances of the turn, if they are known and wanted; of no other position. */
export function drawBar(table, wanted) {
  const { chances } = table.game;
  const bar = $("bar");
  bar.hidden = !wanted || !chances;
  if (bar.hidden) return;
  const sum = (test) =>
    chances.reduce((all, chance, k) => all + (test(table.rules.outcomes[k]) ? chance : 0), 0);
  const win = sum((points) => points > 0);
  const gammon = sum((points) => points > 1);
  const lose = sum((points) => points < -1);
  const draw = sum((points) => points === 0);
  bar.style.setProperty("--win", win);
  bar.style.setProperty("--gammon", gammon);
  bar.style.setProperty("--lose", lose);
  bar.style.setProperty("--draw", draw);
  const percent = (x) => number(100 * x, 1);
  const text = t("evaluationText", {
    win: percent(win),
    gammon: percent(gammon),
    lose: percent(lose),
    draw: table.rules.outcomes.includes(0) ? percent(draw) : null,
  });
  bar.setAttribute("aria-label", `${t("evaluation")}: ${text}`);
  bar.title = text;
  bar.querySelector(".win").textContent = `${percent(win)} %`;
}

/** hints: plays, best first, or null; a click plays one. */
export function drawHints(table, hints) {
  $("hints").hidden = !hints;
  if (!hints) return;
  const { board: from, dice } = table.game;
  const items = hints.map((play) => {
    const first = play === hints[0];
    const cost = number(first ? play.equity : play.equity - hints[0].equity, 3, true);
    const element = button(["hintPlay", () => table.playTo(play.board)]);
    const move = span("move", written(table.rules, from, dice, play.board));
    element.replaceChildren(move, span("cost", cost));
    return item(element);
  });
  $("hint-list").replaceChildren(...items);
}

function written(rules, from, dice, to) {
  const way = new Turn(from, dice, rules).results().find((r) => r.board.join() === to.join());
  return (way && moveText(way.hops)) || t("noMove");
}

export function drawLog({ log }) {
  const items = log.map((entry) =>
    item(span(`disc ${entry.who}`, ""), span("text", logText(entry))),
  );
  if (!items.length) items.push(item(span("text", t("noMoves"))));
  $("log").replaceChildren(...items);
  $("log").scrollTop = $("log").scrollHeight;
}

function logText(entry) {
  if (entry.kind === "move") return `${rollText(entry.dice)}: ${entry.move || t("noMove")}`;
  if (entry.kind === "resign") return t("resigns", { kind: t(`kind${entry.multiple}`) });
  return `${t("doubled", { n: 2 * entry.match.cube })}, ${t(entry.take ? "takes" : "drops")}`;
}

/** review: see main.js; show(error) is called where one is chosen. */
export function drawReview(rules, review, show) {
  $("review").hidden = !review?.errors;
  if (!review?.errors) return;
  const sums = ["you", "bot"].map((who) => {
    const { n, lost } = review.sums[who];
    const rate = number(n ? (1000 * lost) / n : 0, 1);
    const line = document.createElement("p");
    line.textContent = t("analysisSum", { who: t(who), n, lost: number(lost), rate });
    return line;
  });
  $("review-sums").replaceChildren(...sums);
  const items = review.errors.map((error) => {
    const element = button(["error", () => show(error)]);
    element.setAttribute("aria-pressed", review.at === error);
    element.replaceChildren(
      span(`disc ${error.who}`, ""),
      span("move", errorText(rules, error)),
      span("cost", number(-error.lost, 3, true)),
    );
    return item(element);
  });
  if (!items.length) items.push(item(span("text", t("noErrors"))));
  refill($("review-errors"), items);
}

/** Put other items into a list; the keyboard stays at its place there. */
function refill(list, items) {
  const at = [...list.children].findIndex((child) => child.contains(document.activeElement));
  list.replaceChildren(...items);
  list.children[at]?.querySelector("button")?.focus();
}

/** An error of the analysis in one line. */
export function errorText(rules, error) {
  const who = t(error.who);
  if (error.kind === "double") return `${who}: ${t(error.text)}`;
  const best = written(rules, error.board, error.dice, error.best);
  return t("errorLine", { who, dice: rollText(error.dice), played: error.move, best });
}

// --- small words -----------------------------------------------------------------------------

/** A button for an action: [name of its text, what it does, whether it is the main one]. */
export function button([name, act, main]) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = t(name);
  element.dataset.action = name;
  if (main) element.className = "main";
  element.addEventListener("click", act);
  return element;
}

function span(className, text, label = null) {
  const element = document.createElement("span");
  element.className = className;
  element.textContent = text;
  if (label) element.title = label;
  return element;
}

function item(...children) {
  const element = document.createElement("li");
  element.append(...children);
  return element;
}
