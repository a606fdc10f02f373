// The cube in the browser: what a learnt net's values make of doubling, taking and plays (K16, K17).
//
//   context(score)                               // seven numbers that net.onnx reads
//   actions({ stay, taken }, score, met)         // what the player on roll should do, or null
//
// `score` is that of score.js scoreFor, in the view of the player on roll; `met` is the match equity
// table of games.json. Values are points for money, in a match chances of winning it.

import { MAX_CUBE } from "./score.js";

const OTHER = { mine: "theirs", theirs: "mine", centre: "centre" };

/** The same score seen by the other player. */
export function flip(score) {
  return { ...score, points: [...score.points].reverse(), owner: OTHER[score.owner] };
}

/** The score once a double is taken. */
export const doubled = (score) => ({ ...score, cube: 2 * score.cube, owner: "theirs" });

const away = ({ length, points }) => points.map((won) => length - won);

/** Whether the player on roll may double before his roll (K16, K17). */
export function mayDouble(score) {
  const { doubling, crawford, owner, cube, length } = score;
  const dead = length > 0 && cube >= Math.max(...away(score));
  return doubling && !crawford && owner !== "theirs" && cube < MAX_CUBE && !dead;
}

/** What net.onnx is told of a score (nardy.play.cube_head.context_of). */
export function context(score) {
  const { length, crawford, cube, owner, doubling } = score;
  const owned = [Number(owner === "mine"), Number(owner === "theirs")];
  return [...owned, cube, ...(length ? away(score) : [0, 0]), Number(crawford || !doubling), 0];
}

/** What a game won (negative: lost) so many times over is worth to the player on roll. */
export function settledValue(score, multiple, met) {
  const { length, cube, crawford } = score;
  if (!length) return multiple * cube;
  const need = away(score);
  const first = need.includes(1) || crawford; // the Crawford game is played now, or has been
  need[multiple > 0 ? 0 : 1] -= Math.abs(multiple) * cube;
  if (need[0] <= 0) return 1;
  if (need[1] <= 0) return 0;
  if (!first) return met.before[need[0] - 1][need[1] - 1];
  if (need[1] === 1) return met.after_crawford[need[0] - 1];
  return 1 - met.after_crawford[need[1] - 1];
}

/** Equity, a single game lost and won at this cube being −1 and 1. */
export function normalised(value, score, met) {
  const [lost, won] = [-1, 1].map((multiple) => settledValue(score, multiple, met));
  return (2 * (value - lost)) / (won - lost) - 1;
}

/** Whether a double costs nothing, as the games lost are lost anyway: the trailer's after the
 * Crawford game, say. */
function free(score, met) {
  const lost = (at) => [-1, -2, -3].map((multiple) => settledValue(at, multiple, met)).join();
  return lost(score) === lost(doubled(score));
}

/** Values of the actions where there may be a double; stay, taken: as the net has them, without a
 * double and with one that is taken. Waiting can gain nothing where a double is free. */
function priced({ stay, taken }, score, met) {
  const waits = free(score, met) ? Math.min(stay, taken) : stay;
  return [waits, taken, settledValue(score, 1, met)];
}

/** The value before the roll with the right actions of both. */
function bestValue(values, score, met) {
  if (!mayDouble(score)) return values.stay;
  const [stay, taken, passed] = priced(values, score, met);
  return Math.max(stay, Math.min(taken, passed));
}

/** An afterstate for the player who moved, in equity; theirs: values of the other, on roll next. */
export function afterEquity(theirs, score, met) {
  const value = bestValue(theirs, flip(score), met);
  return normalised(score.length ? 1 - value : -value, score, met);
}

/** Equities of the cube's actions and what is right, as the server tells them; null where the
 * player on roll may not double. */
export function actions(values, score, met) {
  if (!mayDouble(score)) return null;
  const [no_double, double_take, double_pass] = priced(values, score, met).map((value) =>
    normalised(value, score, met),
  );
  const gain = Math.min(double_take, double_pass) - no_double;
  const useful = !score.length || score.cube < away(score)[0];
  const double = gain > TIE || (Math.abs(gain) <= TIE && useful);
  return { no_double, double_take, double_pass, double, take: double_take <= double_pass };
}

const TIE = 1e-4; // points that count as none: the values are float32
