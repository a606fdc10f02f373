// The board as SVG: checkers, dice and cube, and the points as buttons for pointer and keyboard.
//
//   const board = makeBoard(svg, { choose, drop, letGo });
//   board.render(view);
//
// `view` is all it knows: cells (26 numbers, your view), off, movable, selected, targets, recent,
// dice, cube. choose(cell) is called for a click or Enter, drop(from, to) after a drag, letGo() for
// Escape. Cell 25 is your bar, cell 0 the place for your checkers that are off.

import { t } from "./text.js";

const NS = "http://www.w3.org/2000/svg";
const WIDTH = 60; // of a point
const HALF = 6 * WIDTH;
const LEFT = 14;
const BAR = LEFT + HALF;
const RIGHT = BAR + WIDTH;
const OFF = RIGHT + HALF + 12;
const TOP = 34;
const BOTTOM = 626;
const MIDDLE = (TOP + BOTTOM) / 2;
const LONG = 252; // of a point
const RADIUS = 26;
const SIZE = [OFF + 72, 660];
const DRAG = 6; // pixels that make a click a drag
const PIPS = ["", "4", "08", "048", "0268", "02468", "023568"]; // places in a 3 × 3 grid

/** The two rows of cells as they lie, for the arrow keys. */
const ROWS = [
  [13, 14, 15, 16, 17, 18, 25, 19, 20, 21, 22, 23, 24, 0],
  [12, 11, 10, 9, 8, 7, 25, 6, 5, 4, 3, 2, 1, 0],
];

export function makeBoard(svg, { choose, drop, letGo }) {
  svg.setAttribute("viewBox", `0 0 ${SIZE.join(" ")}`);
  svg.append(ground());
  const layers = {};
  for (const name of ["cells", "checkers", "counts", "marks", "dice", "cube"]) {
    layers[name] = add(svg, "g", { class: name });
  }
  const cells = makeCells(layers.cells);
  const checkers = makeCheckers(layers.checkers);
  let view = null;

  listenToKeys(svg, cells, { choose, letGo });
  listenToPointer(svg, { choose, drop, movable: (cell) => view?.movable.includes(cell) });

  return {
    render(next) {
      view = next;
      checkers.place(slots(view));
      layers.counts.replaceChildren(...counts(view));
      layers.marks.replaceChildren(...marks(view));
      layers.dice.replaceChildren(...view.dice.map(die));
      layers.cube.replaceChildren(...(view.cube ? [cube(view.cube)] : []));
      for (const [cell, element] of cells) describe(element, cell, view);
    },
    focus: (cell) => focusCell(cells, cell),
  };
}

// --- what stands still -----------------------------------------------------------------------

function ground() {
  const group = make("g", { "aria-hidden": "true" });
  add(group, "rect", { class: "frame", x: 0, y: 0, width: SIZE[0], height: SIZE[1], rx: 18 });
  for (const x of [LEFT, RIGHT]) {
    add(group, "rect", { class: "felt", x, y: TOP, width: HALF, height: BOTTOM - TOP, rx: 4 });
  }
  for (const y of [TOP, MIDDLE + 8]) {
    const height = (BOTTOM - TOP) / 2 - 8;
    add(group, "rect", { class: "felt tray", x: OFF, y, width: 58, height, rx: 8 });
  }
  for (let point = 1; point <= 24; point++) {
    const x = pointX(point);
    const [base, tip] = point > 12 ? [TOP, TOP + LONG] : [BOTTOM, BOTTOM - LONG];
    const corners = `${x - 29},${base} ${x + 29},${base} ${x},${tip}`;
    add(group, "polygon", { class: point % 2 ? "point odd" : "point", points: corners });
    const y = point > 12 ? 24 : SIZE[1] - 10;
    add(group, "text", { class: "number", x, y }).textContent = point;
  }
  return group;
}

/** The middle of a point. */
function pointX(point) {
  const column = point > 12 ? point - 13 : 12 - point; // 0..11 from the left
  return LEFT + WIDTH / 2 + column * WIDTH + (column > 5 ? WIDTH : 0);
}

// --- checkers --------------------------------------------------------------------------------

/** Where each checker of both players stands: {you: [[x, y, off]], bot: [...]}. */
function slots({ cells, off }) {
  const found = { you: [], bot: [] };
  cells.forEach((count, cell) => {
    const who = count > 0 ? "you" : "bot";
    for (let n = 0; n < Math.abs(count); n++) found[who].push(slot(cell, n, Math.abs(count)));
  });
  for (let n = 0; n < off.you; n++) found.you.push([OFF + 29, BOTTOM - 14 - n * 17, true]);
  for (let n = 0; n < off.bot; n++) found.bot.push([OFF + 29, TOP + 14 + n * 17, true]);
  return found;
}

function slot(cell, n, count) {
  const step = Math.min(2 * RADIUS - 2, (LONG - 2 * RADIUS) / Math.max(count - 1, 1));
  const [from, way] = stack(cell);
  const x = cell === 0 || cell === 25 ? BAR + WIDTH / 2 : pointX(cell);
  return [x, from + way * n * step, false];
}

/** Where a cell's pile begins, and which way it grows. The bar's grow outwards from the cube. */
function stack(cell) {
  if (cell === 25) return [MIDDLE + 60, 0.85];
  if (cell === 0) return [MIDDLE - 60, -0.85];
  return cell > 12 ? [TOP + RADIUS + 2, 1] : [BOTTOM - RADIUS - 2, -1];
}

/** Checkers that glide: those whose place is gone take the places that are new. */
function makeCheckers(layer) {
  const pool = { you: [], bot: [] };
  return {
    place(found) {
      for (const who of ["you", "bot"]) {
        settle(pool[who], found[who]);
        while (pool[who].length < found[who].length) {
          const element = add(layer, "rect", { class: `checker ${who}` });
          pool[who].push({ element, slot: null });
        }
        assign(pool[who], found[who]);
      }
    },
  };
}

/** Take away checkers that are too many. */
function settle(pool, wanted) {
  while (pool.length > wanted.length) pool.pop().element.remove();
}

function assign(pool, wanted) {
  const free = new Map(wanted.map((place) => [place.join(), place]));
  const homeless = pool.filter((checker) => {
    const stays = checker.slot !== null && free.delete(checker.slot.join());
    return !stays;
  });
  const places = [...free.values()];
  homeless.forEach((checker, n) => {
    checker.slot = places[n];
    const [x, y, off] = places[n];
    checker.element.classList.toggle("off", off);
    checker.element.style.transform = `translate(${x}px, ${y}px)`;
    checker.element.parentNode.append(checker.element); // on top while it moves
  });
}

/** A number on piles that do not show their height. */
function counts({ cells }) {
  const texts = [];
  cells.forEach((count, cell) => {
    const n = Math.abs(count);
    if (n <= (cell === 0 || cell === 25 ? 4 : 5)) return;
    const [x, y] = slot(cell, n - 1, n);
    const text = make("text", { class: `count ${count > 0 ? "you" : "bot"}`, x, y: y + 8 });
    text.textContent = n;
    texts.push(text);
  });
  return texts;
}

// --- marks, dice, cube -----------------------------------------------------------------------

function marks({ cells, selected, targets, recent }) {
  const found = [];
  for (const cell of recent) {
    const [x, y] = edge(cell);
    found.push(make("circle", { class: "recent", cx: x, cy: y, r: 5 }));
  }
  if (selected !== null) {
    const n = Math.max(cells[selected], 1);
    const [x, y] = slot(selected, n - 1, n);
    found.push(make("circle", { class: "chosen", cx: x, cy: y, r: RADIUS + 4 }));
  }
  for (const cell of targets) {
    const [x, y] = cell === 0 ? [OFF + 29, MIDDLE + 30] : free(cell, cells[cell]);
    found.push(make("circle", { class: "target", cx: x, cy: y, r: 11 }));
  }
  return found;
}

/** Where the next checker on a cell would stand. */
function free(cell, count) {
  const n = Math.max(count, 0);
  const [x, y] = slot(cell, n, Math.max(n + 1, 5));
  return [x, y];
}

function edge(cell) {
  if (cell === 0 || cell === 25) return [BAR + WIDTH / 2, MIDDLE];
  return [pointX(cell), cell > 12 ? TOP - 4 : BOTTOM + 4];
}

/** die: {value, used, who, place, of}: the place-th of so many dice of one player. */
function die({ value, used, who, place, of }) {
  const size = of > 2 ? 40 : 46;
  const middle = who === "you" ? RIGHT + HALF / 2 : LEFT + HALF / 2;
  const x = middle + (place - (of - 1) / 2) * (size + 12) - size / 2;
  const group = make("g", { class: `die ${who}${used ? " used" : ""}` });
  add(group, "rect", { x, y: MIDDLE - size / 2, width: size, height: size, rx: 9 });
  for (const pip of PIPS[value]) {
    const cx = x + size * (0.25 + 0.25 * (pip % 3));
    const cy = MIDDLE + size * (0.25 * Math.floor(pip / 3) - 0.25);
    add(group, "circle", { cx, cy, r: size * 0.09 });
  }
  return group;
}

function cube({ value, owner }) {
  const y = owner === "you" ? BOTTOM - 28 : owner === "bot" ? TOP + 28 : MIDDLE;
  const whose = t({ you: "cubeYou", bot: "cubeBot" }[owner] ?? "cubeCentre");
  const label = t("cubeAt", { n: value, owner: whose });
  const group = make("g", { class: "cubebox", role: "img", "aria-label": label });
  const x = BAR + WIDTH / 2;
  add(group, "rect", { x: x - 23, y: y - 23, width: 46, height: 46, rx: 8 });
  add(group, "text", { x, y: y + 9 }).textContent = value === 1 ? 64 : value;
  return group;
}

// --- points as buttons -----------------------------------------------------------------------

function makeCells(layer) {
  const found = new Map();
  for (const cell of [...ROWS[0].slice(0, 6), ...ROWS[0].slice(7, 13), ...ROWS[1]]) {
    const [x, y, width, height] = area(cell);
    const group = add(layer, "g", { role: "button", "data-cell": cell, tabindex: -1 });
    add(group, "rect", { x, y, width, height, rx: 8 });
    found.set(cell, group);
  }
  found.get(24).setAttribute("tabindex", 0);
  return found;
}

function area(cell) {
  if (cell === 0) return [OFF - 2, MIDDLE + 6, 62, BOTTOM - MIDDLE - 4];
  if (cell === 25) return [BAR + 1, MIDDLE + 30, WIDTH - 2, BOTTOM - MIDDLE - 86];
  const height = LONG + 12;
  return [pointX(cell) - 29, cell > 12 ? TOP : BOTTOM - height, 58, height];
}

function describe(element, cell, { cells, off, movable, selected, targets }) {
  const name = cell === 0 ? t("off") : cell === 25 ? t("bar") : t("point", { n: cell });
  const count = cell === 0 ? off.you : cells[cell];
  const who = count >= 0 ? t("yours") : t("bots");
  const words = [name, count ? t("checkers", { n: Math.abs(count), who }) : t("empty")];
  const target = targets.includes(cell);
  const can = movable.includes(cell);
  if (cell === selected) words.push(t("selected"));
  else if (target) words.push(t("target"));
  else if (can) words.push(t("movable"));
  element.setAttribute("aria-label", words.join(", "));
  element.setAttribute("aria-pressed", cell === selected);
  element.setAttribute("aria-disabled", !can && !target);
  element.classList.toggle("can", can);
  element.classList.toggle("goal", target);
}

function focusCell(cells, cell) {
  for (const [name, element] of cells) element.setAttribute("tabindex", name === cell ? 0 : -1);
  cells.get(cell).focus();
}

function listenToKeys(svg, cells, { choose, letGo }) {
  let row = 0; // the keyboard's: the bar and the place for checkers that are off belong to both
  svg.addEventListener("keydown", (event) => {
    const at = Number(event.target.dataset?.cell ?? NaN);
    if (Number.isNaN(at)) return;
    if (at % 25) row = at > 12 ? 0 : 1;
    if (event.key === "ArrowUp") row = 0;
    if (event.key === "ArrowDown") row = 1;
    if (event.key === "Enter" || event.key === " ") choose(at);
    else if (event.key === "Escape") letGo();
    else if (event.key.startsWith("Arrow")) focusCell(cells, neighbour(at, event.key, row));
    else return;
    event.preventDefault();
  });
}

/** The next cell by an arrow key, whose row is that in which it ends. */
function neighbour(cell, key, row) {
  const column = ROWS[cell > 12 ? 0 : 1].indexOf(cell);
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0;
  return ROWS[row][Math.min(Math.max(column + step, 0), 13)];
}

function listenToPointer(svg, { choose, drop, movable }) {
  let drag = null;
  const cellAt = (event) => {
    const element = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]");
    return element ? Number(element.dataset.cell) : null;
  };
  svg.addEventListener("pointerdown", (event) => {
    const cell = cellAt(event);
    if (cell === null || event.button !== 0) return;
    drag = { cell, x: event.clientX, y: event.clientY, ghost: null, can: movable(cell) };
  });
  svg.addEventListener("pointermove", (event) => {
    if (!drag?.can) return;
    const far = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > DRAG;
    if (far && !drag.ghost) {
      choose(drag.cell, true);
      svg.setPointerCapture(event.pointerId);
      drag.ghost = add(svg, "circle", { class: "ghost", r: RADIUS + 2 });
    }
    if (!drag.ghost) return;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(
      svg.getScreenCTM().inverse(),
    );
    drag.ghost.setAttribute("cx", point.x);
    drag.ghost.setAttribute("cy", point.y);
  });
  const end = (event) => {
    if (!drag) return;
    const { cell, ghost } = drag;
    drag = null;
    ghost?.remove();
    if (event.type === "pointercancel") return;
    if (ghost) drop(cell, cellAt(event));
    else if (cellAt(event) === cell) choose(cell);
  };
  svg.addEventListener("pointerup", end);
  svg.addEventListener("pointercancel", end);
}

// --- small words -----------------------------------------------------------------------------

function make(name, attributes = {}) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function add(parent, name, attributes) {
  return parent.appendChild(make(name, attributes));
}
