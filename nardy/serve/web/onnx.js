// The opponent in the browser: the exported net.onnx in onnxruntime-web. It knows the cube where
// the net has learnt it.
//
// Its files and those of the nets lie beside the page (see nardy.serve.static); nothing is fetched
// from elsewhere.

import {
  actions, afterEquity, context, doubled, flip, mayDouble, normalised, settledValue,
} from "./cube.js";
import { mix } from "./dice.js";
import { Turn, ending, equity, onBoard, turnBoard } from "./rules.js";

let runtime = null;
const sessions = new Map();

/** noise: by level; met: the match equity table. */
export function onnxBot({ noise, met }) {
  return {
    cube: (game) => game.learnt,
    rank: (asked) => rank(asked, noise[asked.level] ?? 0, met),
    async position({ game, board, score }) {
      const [{ chances, stay, taken }] = await look(game, [board], score);
      const cube = game.learnt ? actions({ stay, taken }, score, met) : null;
      return { chances: possible(chances, board, game), cube };
    },
  };
}

/** Every legal play, the one that is made first; see nardy.play.player. */
async function rank({ game, board, dice, score }, noise, met) {
  const boards = new Turn(board, dice, game).results().map((result) => result.board);
  const turned = boards.map((after) => turnBoard(after, game.family));
  const theirs = await look(game, turned, flip(score));
  const plays = boards.map((after, n) => {
    const points = ending(after, game);
    const chances = points !== null
      ? game.outcomes.map((outcome) => Number(outcome === points))
      : possible([...theirs[n].chances].reverse(), after, game);
    const value = !game.learnt
      ? equity(chances, game)
      : points !== null
        ? normalised(settledValue(score, points, met), score, met)
        : afterEquity(theirs[n], score, met);
    return { board: after, equity: value, chances, seen: value + noise * error(after) };
  });
  return plays.sort((a, b) => b.seen - a.seen);
}

/** The chances without gammons against who has borne a checker off; see nardy.play.possible. */
function possible(chances, board, { outcomes, checkers, family }) {
  const [mine, theirs] = onBoard(board, family);
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

/** For the player on roll of each board: chances of game.outcomes, and of a net that has learnt the
 * cube the values without a double and, where he may double, with one that is taken. */
async function look(game, boards, score) {
  const session = await sessionOf(game);
  const n = boards.length;
  const asked = !game.learnt ? [] : mayDouble(score) ? [score, doubled(score)] : [score];
  const rows = asked.length > 1 ? [...boards, ...boards] : boards;
  const cells = Int8Array.from(rows.flat());
  const feeds = { boards: new runtime.Tensor("int8", cells, [rows.length, 26]) };
  if (game.learnt) {
    const contexts = asked.flatMap((one) => Array(n).fill(context(one)).flat());
    feeds.context = new runtime.Tensor("float32", Float32Array.from(contexts), [rows.length, 7]);
  }
  const found = await session.run(feeds, game.learnt ? ["outcomes", "cubeful"] : ["outcomes"]);
  const chances = Array.from(found.outcomes.data);
  const values = game.learnt ? Array.from(found.cubeful.data) : [];
  const k = game.outcomes.length;
  return boards.map((_, i) => ({
    chances: chances.slice(i * k, (i + 1) * k),
    stay: values[i],
    taken: values[n + i],
  }));
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
