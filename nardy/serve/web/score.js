// Match score and cube, seen from the table: players are "you" and "bot" (rules K14..K18).

export const MAX_CUBE = 64;

export const other = (who) => (who === "you" ? "bot" : "you");

/** A match to `length` points (0: games for points without end), with or without the cube. */
export function newMatch(length, doubling) {
  return {
    length,
    doubling,
    points: { you: 0, bot: 0 },
    crawford: false,
    crawfordPlayed: false,
    cube: 1,
    owner: null,
    games: 0,
  };
}

/** Whether `who` may double before his roll (K16, K17). */
export function mayDouble(match, who) {
  const { doubling, crawford, owner, cube } = match;
  return doubling && !crawford && owner !== other(who) && cube < MAX_CUBE && !dead(match);
}

/** Whether no higher stake could change what either player wins or loses. */
function dead({ length, points, cube }) {
  return length > 0 && cube >= length - Math.min(points.you, points.bot);
}

/** The match after a double is taken: the cube belongs to the taker. */
export function taken(match, doubler) {
  return { ...match, cube: 2 * match.cube, owner: other(doubler) };
}

/** The match after `who` has won `multiple` times the stake (K14); null for a draw (D13). */
export function settled(match, who, multiple) {
  const points = { ...match.points };
  if (who) points[who] += multiple * match.cube;
  return { ...match, points, games: match.games + 1 };
}

export function matchWinner({ length, points }) {
  return ["you", "bot"].find((who) => length > 0 && points[who] >= length) ?? null;
}

/** The match before its next game: the Crawford game comes once, where a player first stands one
 * point from winning (K17). */
export function nextGame(match) {
  const { length, points, crawford, crawfordPlayed } = match;
  const reached = length > 1 && Math.max(points.you, points.bot) === length - 1;
  const played = crawfordPlayed || crawford;
  return {
    ...match,
    cube: 1,
    owner: null,
    crawfordPlayed: played,
    crawford: reached && !played,
  };
}

/** The score as the server wants it: in the view of `who`. */
export function scoreFor(match, who) {
  const { length, points, crawford, cube, owner, doubling } = match;
  return {
    length,
    points: length ? [points[who], points[other(who)]] : [0, 0],
    crawford,
    cube,
    owner: owner === null ? "centre" : owner === who ? "mine" : "theirs",
    doubling,
  };
}
