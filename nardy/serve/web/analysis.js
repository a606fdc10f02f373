// Every decision of a game judged by the bot at its steadiest level, the lost equity counted.
//
//   const { errors, sums } = await analyse(log, { bot, game, level, progress });

import { other, scoreFor } from "./score.js";

export const ERROR = 0.02; // from which a decision is listed

/**
 * log: a game's log, see table.js; level: at which the bot judges; progress({n, of}): called before
 * each decision. Returns errors, those of ERROR or more in the order of play, and for each player
 * the number of decisions and what they lost. The unit is a single game at the cube as it lies. A
 * forced move is no decision, nor is a double that is rightly not made.
 */
export async function analyse(log, { bot, game, level, progress }) {
  const errors = [];
  const sums = { you: { n: 0, lost: 0 }, bot: { n: 0, lost: 0 } };
  const judged = log.filter((entry) => entry.kind === "move" || entry.kind === "double");
  for (const [n, entry] of judged.entries()) {
    progress({ n: n + 1, of: judged.length });
    for (const found of await judge(entry, { bot, game, level })) {
      sums[found.who].n += 1;
      sums[found.who].lost += found.lost;
      if (found.lost >= ERROR) errors.push(found);
    }
  }
  return { errors, sums };
}

async function judge(entry, asked) {
  if (entry.kind === "double") return judgeDouble(entry, asked);
  const missed = entry.undoubled ? await judgeRoll(entry, asked) : [];
  return [...missed, ...(await judgeMove(entry, asked))];
}

async function judgeMove({ who, board, dice, result, move, match }, { bot, game, level }) {
  const plays = await bot.rank({ game, board, dice, level, score: scoreFor(match, who) });
  if (plays.length < 2) return [];
  const played = plays.find((play) => play.board.join() === result.join());
  const best = plays.reduce((a, b) => (b.equity > a.equity ? b : a));
  const lost = best.equity - played.equity;
  return [{ kind: "move", who, board, dice, result, move, match, best: best.board, lost }];
}

async function judgeRoll({ who, board, match }, { bot, game, level }) {
  const { cube } = await bot.position({ game, board, level, score: scoreFor(match, who) });
  const lost = cube ? Math.min(cube.double_take, cube.double_pass) - cube.no_double : 0;
  if (lost < ERROR) return [];
  return [{ kind: "double", board, match, mover: who, who, lost, text: "cubeMissedDouble" }];
}

async function judgeDouble({ who, board, take, match }, { bot, game, level }) {
  const { cube } = await bot.position({ game, board, level, score: scoreFor(match, who) });
  const answered = Math.min(cube.double_take, cube.double_pass);
  const early = Math.max(0, cube.no_double - answered);
  const wrong = (take ? cube.double_take : cube.double_pass) - answered;
  const shared = { kind: "double", board, match, mover: who };
  const answer = take ? "cubeWrongTake" : "cubeWrongPass";
  return [
    { ...shared, who, lost: early, text: "cubeWrongDouble" },
    { ...shared, who: other(who), lost: wrong, text: answer },
  ];
}
