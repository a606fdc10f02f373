// The page: wires the table (table.js) to the board (board.js), buttons, lists and localStorage.
//
// Addresses: `?seed=7` fixes the dice of the next new game, `?pause=0` the bot's pace in
// milliseconds a hop. Scripts find the table as window.nardy.

import { analyse } from "./analysis.js";
import { makeBoard } from "./board.js";
import { openBot } from "./bot.js";
import { newSeed } from "./dice.js";
import {
  button, drawBar, drawHints, drawLog, drawPlayers, drawReview, errorText,
} from "./panels.js";
import { stands } from "./rules.js";
import { Table, VERSION } from "./table.js";
import { preferredLanguage, setLanguage, t } from "./text.js";
import { reviewView, status, tableView, whatIsPlayed } from "./view.js";

const LENGTHS = [1, 3, 5, 7, 11, 0];
const STORE = "nardy";
const HINTS = 3;

const $ = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search);
const settings = { language: preferredLanguage(), bar: true, ...load("settings") };

let table = null;
let offer = null;
let selected = null;
let hints = null; // of the roll in hand
let keepsFocus = false; // whether the keyboard is at buttons or hints, also while none are there
let review = null; // {sums, errors, at}, once the game is analysed

const board = makeBoard($("board"), { choose, drop, letGo });

start().catch((error) => say(t("trouble", { error: error.message })));

async function start() {
  setLanguage(settings.language);
  words();
  say(t("loading"));
  offer = await openBot();
  const pace = asked.has("pause") ? Number(asked.get("pause")) : 350;
  const pause = () => new Promise((done) => setTimeout(done, pace));
  table = new Table({ ...offer, changed, pause });
  window.nardy = table;
  listen();
  try {
    table.state = loadState();
    changed();
  } catch {
    table.state = null; // what was kept is no game
  }
  if (!table.state) {
    const [{ name: variant }] = offer.games;
    table.newMatch({ variant, level: defaultLevel(), length: 3, doubling: true, seed: seed() });
  }
  fillChoices();
  await table.go();
}

// --- what is kept over a reload --------------------------------------------------------------

function load(name) {
  try {
    return JSON.parse(localStorage.getItem(`${STORE}.${name}`));
  } catch {
    return null;
  }
}

function keep(name, value) {
  try {
    localStorage.setItem(`${STORE}.${name}`, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing still plays
  }
}

/** The match that was kept; null, or an error, where there is none that can go on. */
function loadState() {
  const state = load("state");
  const game = offer.games.find(({ name }) => name === state?.variant);
  if (state?.version !== VERSION || !game) return null;
  const boards = [state.game.board, ...state.game.hops.map((hop) => hop.after.cells)];
  if (!boards.every((board) => stands(board, game))) return null;
  if (!offer.levels.includes(state.level)) state.level = defaultLevel();
  // the same game may have been served with the cube before, and be without it now
  return state.match.doubling && !offer.bot.cube(game) ? null : state;
}

function seed() {
  return asked.has("seed") ? Number(asked.get("seed")) : newSeed();
}

function defaultLevel() {
  return offer.levels.includes("expert") ? "expert" : offer.levels[0];
}

// --- drawing ---------------------------------------------------------------------------------

function changed() {
  if (!table?.state) return;
  keep("state", table.state);
  const { game } = table;
  if (game.phase !== "move") selected = null;
  if (game.phase !== "move") hints = null;
  if (game.phase !== "over") review = null;
  draw();
}

function draw() {
  const { rules, state, game } = table;
  const focused = document.activeElement;
  const atButtons = ["actions", "hint-list"].some((id) => $(id).contains(focused));
  keepsFocus = atButtons || (keepsFocus && focused === document.body);
  const shown = review?.at ? reviewView(rules, review.at) : tableView(table, selected);
  board.render(shown);
  drawPlayers(table, shown);
  drawBar(table, settings.bar && !review?.at);
  drawHints(table, hints);
  drawActions();
  drawLog(game);
  drawReview(rules, review, showError);
  $("what").textContent = whatIsPlayed(state);
  $("level").value = state.level;
  say(statusLine());
}

function statusLine() {
  if (table.error) return status(table, selected);
  if (review?.progress) return t("analysing", review.progress);
  if (review?.at) return t("reviewing", { line: errorText(table.rules, review.at) });
  return status(table, selected);
}

function drawActions() {
  const { game } = table;
  const buttons = {
    opening: [["throwForStart", () => table.roll(), true]],
    roll: [["roll", () => table.roll(), true], table.mayDouble && ["double", () => table.double()]],
    move: moveActions(),
    offered: [],
    bot: [],
    doubled: [["take", () => table.answer(true), true], ["drop", () => table.answer(false)]],
    over: overActions(),
  }[game.phase];
  if (table.error) buttons.unshift(["retry", () => table.go(), true]);
  if (["roll", "move"].includes(game.phase)) buttons.push(["resign", openResign]);
  $("actions").replaceChildren(...buttons.filter(Boolean).map(button));
  if (keepsFocus) nextButton()?.focus();
}

/** Where the keyboard goes on: never to resigning by itself. */
function nextButton() {
  const next = $("actions").querySelector("button:not([data-action=resign])");
  return next ?? (hints && $("hint-list").querySelector("button"));
}

function moveActions() {
  if (table.stuck) return [["pass", () => table.done(), true]];
  return [
    table.complete ? ["done", () => table.done(), true] : null,
    table.game.hops.length ? ["undo", undo] : null,
    hints ? null : ["hint", hint],
  ];
}

function overActions() {
  const next = table.matchWinner
    ? ["newGame", openNew, true]
    : ["next", () => table.nextGame(), true];
  const analysed = review ? null : ["analyse", analyseGame];
  return [next, analysed, review?.at ? ["backToGame", () => showError(null)] : null];
}

function say(text) {
  if ($("status").textContent !== text) $("status").textContent = text;
}

// --- choosing --------------------------------------------------------------------------------

function choose(cell, dragging = false) {
  if (review?.at || table?.game.phase !== "move") return;
  if (selected !== null && !dragging && cell !== selected && table.targets(selected).has(cell)) {
    return playFrom(selected, cell);
  }
  const can = table.sources().includes(cell);
  selected = can && (dragging || cell !== selected) ? cell : null;
  draw();
}

function drop(from, to) {
  if (to !== null && to !== from && table.targets(from).has(to)) return playFrom(from, to);
  letGo();
}

function playFrom(from, to) {
  selected = null;
  table.play(from, to);
}

function letGo() {
  selected = null;
  draw();
}

function undo() {
  selected = null;
  table.undo();
}

// --- hints, moves, analysis ------------------------------------------------------------------

async function hint() {
  const { game } = table;
  if (game.phase !== "move" || table.stuck) return;
  try {
    const plays = await table.rank(game, judgeLevel());
    if (game !== table.game || game.phase !== "move") return;
    hints = plays.slice(0, HINTS);
    draw();
  } catch (error) {
    say(t("trouble", { error: error.message }));
  }
}

/** The level that judges: without noise, and quick. */
const judgeLevel = () => defaultLevel();

async function analyseGame() {
  const { game } = table;
  review = { progress: { n: 0, of: game.log.length }, at: null };
  const progress = (at) => {
    if (game !== table.game) return;
    review.progress = at;
    say(statusLine());
  };
  draw();
  try {
    const found = await analyse(game.log, {
      bot: table.bot,
      game: table.rules,
      level: judgeLevel(),
      progress,
    });
    if (game !== table.game) return;
    review = { ...found, progress: null, at: null };
  } catch (error) {
    review = null;
    table.error = error.message;
  }
  draw();
}

function showError(error) {
  review.at = error;
  draw();
}

// --- dialogs and words -----------------------------------------------------------------------

function words() {
  for (const element of document.querySelectorAll("[data-text]")) {
    element.textContent = t(element.dataset.text);
  }
  document.title = t("title");
  $("language").textContent = t("language");
  $("board").setAttribute("aria-label", t("board"));
  $("table").setAttribute("aria-label", t("board"));
}

function fillChoices() {
  const fill = (id, values, name, chosen) => {
    const options = values.map((value) => new Option(name(value), value));
    $(id).replaceChildren(...options);
    $(id).value = chosen;
  };
  const { state } = table;
  const level = state?.level ?? defaultLevel();
  const variant = state?.variant ?? offer.games[0].name;
  fill("new-variant", offer.games.map((game) => game.name), t, variant);
  fill("new-level", offer.levels, t, level);
  fill("level", offer.levels, t, level);
  fill("new-length", LENGTHS, (n) => t("matchTo", { n }), state?.match.length ?? 3);
  $("resign-kinds").replaceChildren(...[1, 2, 3].map(resignButton));
  $("show-bar").checked = settings.bar;
  cubeChoice();
}

function resignButton(multiple) {
  const element = button([`kind${multiple}`, () => {}]);
  element.type = "submit";
  element.value = String(multiple);
  return element;
}

/** The cube is a matter of some games only. */
function cubeChoice() {
  const game = offer.games.find(({ name }) => name === $("new-variant").value);
  const known = offer.bot.cube(game);
  $("new-cube").disabled = !known;
  $("new-cube").closest("label").hidden = !known;
}

function openNew() {
  fillChoices();
  $("new-dialog").returnValue = "";
  $("new-dialog").showModal();
}

function openResign() {
  const most = Math.max(...table.rules.outcomes);
  for (const element of $("resign-kinds").children) element.hidden = Number(element.value) > most;
  $("resign-dialog").returnValue = "";
  $("resign-dialog").showModal();
}

function startNew() {
  if ($("new-dialog").returnValue !== "start") return;
  table.newMatch({
    variant: $("new-variant").value,
    level: $("new-level").value,
    length: Number($("new-length").value),
    doubling: $("new-cube").checked && !$("new-cube").disabled,
    seed: seed(),
  });
}

function listen() {
  $("new").addEventListener("click", openNew);
  $("new-variant").addEventListener("change", cubeChoice);
  $("new-dialog").addEventListener("close", startNew);
  $("resign-dialog").addEventListener("close", () => {
    const multiple = Number($("resign-dialog").returnValue);
    if (multiple) table.resign(multiple);
  });
  $("level").addEventListener("change", () => {
    table.state.level = $("level").value;
    changed();
  });
  $("show-bar").addEventListener("change", () => {
    settings.bar = $("show-bar").checked;
    keep("settings", settings);
    draw();
  });
  $("language").addEventListener("click", () => {
    settings.language = settings.language === "ru" ? "en" : "ru";
    keep("settings", settings);
    setLanguage(settings.language);
    words();
    fillChoices();
    draw();
  });
  document.addEventListener("keydown", shortcut);
}

function shortcut(event) {
  const { target, key, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey || target.closest("input, select, dialog")) return;
  const names = { r: ["throwForStart", "roll"], u: ["undo"], d: ["done", "pass"], h: ["hint"] };
  // by the key's place, so that it works on a Russian keyboard
  const letter = event.code.startsWith("Key") ? event.code.slice(3).toLowerCase() : key;
  const action = names[letter]
    ?.map((name) => document.querySelector(`#actions [data-action="${name}"]`))
    .find(Boolean);
  if (action) {
    action.click();
    event.preventDefault();
  }
}
