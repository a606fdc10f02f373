// The opponent in the browser: the exported net.onnx in onnxruntime-web. It knows no cube.
//
// Its files and those of the nets lie beside the page (see nardy.serve.static); nothing is fetched
// from elsewhere.

import { equity } from "./bot.js";
import { mix } from "./dice.js";
import { Turn, onBoard, turnBoard, won } from "./rules.js";

let runtime = null;
const sessions = new Map();

export function onnxBot(noise) {
  return {
    cube: false,
    rank: (asked) => rank(asked, noise[asked.level] ?? 0),
    async position({ game, board }) {
      const [chances] = await outcomes(game, [board]);
      return { chances: possible(chances, board, game), cube: null };
    },
  };
}

/** Every legal play, the one that is made first; see nardy.play.player. */
async function rank({ game, board, dice }, noise) {
  const boards = new Turn(board, dice, game).results().map((result) => result.board);
  const theirs = await outcomes(game, boards.map((after) => turnBoard(after, game.family)));
  const plays = boards.map((after, n) => {
    const points = won(after, game);
    const chances = points
      ? game.outcomes.map((outcome) => Number(outcome === points))
      : possible([...theirs[n]].reverse(), after, game);
    const value = equity(chances, game);
    return { board: after, equity: value, chances, seen: value + noise * error(after) };
  });
  return plays.sort((a, b) => b.seen - a.seen);
}

/** The chances without gammons against who has borne a checker off; see nardy.play.possible. */
function possible(chances, board, { outcomes, checkers, family }) {
  const [mine, theirs] = [board, turnBoard(board, family)].map(onBoard);
  const left = outcomes.map(() => 0);
  outcomes.forEach((points, k) => {
    const loserOff = (points > 0 ? theirs : mine) < checkers;
    left[loserOff ? outcomes.indexOf(Math.sign(points)) : k] += chances[k];
  });
  return left;
}

/** A normal error that depends on the board alone (Box and Muller's transform). */
function error(board) {
  const word = board.reduce((hash, count) => mix(hash ^ (count + 64)), 0);
  const [first, second] = [mix(word ^ 1), mix(word ^ 2)].map((bits) => (bits + 0.5) / 2 ** 32);
  return Math.sqrt(-2 * Math.log(first)) * Math.cos(2 * Math.PI * second);
}

/** Chances of game.outcomes for the player on roll of each board. */
async function outcomes(game, boards) {
  const session = await sessionOf(game);
  const cells = Int8Array.from(boards.flat());
  const input = new runtime.Tensor("int8", cells, [boards.length, 26]);
  const feeds = { boards: input };
  if (session.inputNames.includes("context")) feeds.context = moneyContext(boards.length);
  const found = await session.run(feeds, ["outcomes"]);
  const values = Array.from(found.outcomes.data);
  const k = game.outcomes.length;
  return boards.map((_, n) => values.slice(n * k, (n + 1) * k));
}

/** What a net that has learnt the cube asks for, its chances hanging on none of it: money, and a
 * cube of 1 in the middle (nardy.play.cube_head.context_of). */
function moneyContext(count) {
  const context = new Float32Array(7 * count);
  for (let n = 0; n < count; n++) context[7 * n + 2] = 1;
  return new runtime.Tensor("float32", context, [count, 7]);
}

async function sessionOf(game) {
  if (!runtime) {
    runtime = await import("./ort/ort.wasm.min.mjs");
    runtime.env.wasm.wasmPaths = new URL("ort/", import.meta.url).href;
    runtime.env.wasm.numThreads = 1; // more need headers that a plain file server does not send
  }
  if (!sessions.has(game.name)) {
    sessions.set(game.name, runtime.InferenceSession.create(game.net));
  }
  return sessions.get(game.name);
}
