// The rules in the browser: boards, legal plays hop by hop, and how a game ends.
//
//   const turn = new Turn(board, [3, 1], game);
//   turn.hops(turn.start)           the single hops that a legal play may begin with
//   turn.results()                  the boards that legal plays lead to
//
// A board is 26 numbers in the mover's view, as in nardy.rules.board: 1..24 are points counted from
// his home, his checkers positive; 25 is his bar, 0 the opponent's. With the last roll for the second
// player (D13) no checker is there: 25 is 1 where the mover began the game, or else 0 is -1. `game`
// is an entry of games.json. Slow and plain on purpose: one position at a time. The tests hold it
// against the Python rules; rule numbers (K4..K14, D2..D13) are those of the project.

export const BAR = 25;
export const OFF = 0;
const HEAD = 24;

/** The opponent's number of the mover's cell. */
export function opposite(cell, family) {
  if (family === "hitting") return 25 - cell;
  if (cell === 0 || cell === 25) return 25 - cell;
  return cell <= 12 ? cell + 12 : cell - 12;
}

/** The same position seen by the other player. */
export function turnBoard(board, family) {
  return board.map((_, cell) => -board[opposite(cell, family)] || 0);
}

/** The position before the first roll, in the view of who begins. */
export function startBoard({ start, last_roll }) {
  return last_roll === "off" ? [...start] : [...start.slice(0, BAR), 1];
}

/** The board without what says who began; the board itself where the family has bars. */
export function checkersOnly(board, family) {
  return family === "hitting" ? board : [0, ...board.slice(1, BAR), 0];
}

/** Whether a board can stand in a game, also at its end. */
export function stands(board, game) {
  if (board?.length !== 26 || !board.every(Number.isInteger)) return false;
  const [theirs, mine] = [-board[0], board[BAR]];
  if (theirs < 0 || mine < 0) return false;
  const marks = game.last_roll === "off" ? 0 : 1;
  if (game.family === "blocking" && mine + theirs !== marks) return false;
  return onBoard(board, game.family).every((count) => count <= game.checkers);
}

/** Pips left for the mover. */
export function pips(board, family) {
  const cells = checkersOnly(board, family);
  return cells.reduce((sum, count, cell) => sum + Math.max(count, 0) * cell, 0);
}

/** Checkers still on the board or the bar, of the mover and of the opponent. */
export function onBoard(board, family) {
  const cells = checkersOnly(board, family);
  return [1, -1].map((side) => cells.reduce((sum, count) => sum + Math.max(side * count, 0), 0));
}

/** Points of the player who has just moved, negative where he lost and 0 for a draw; null while the
 * game goes on (K14, D11, D13). */
export function ending(board, game) {
  const [own, other] = onBoard(board, game.family);
  const lastRoll = game.last_roll !== "off";
  const finished = own === 0 && !(lastRoll && board[BAR] > 0); // else the second has a turn left
  if (!finished && !(lastRoll && other === 0)) return null;
  const cost = (left) => (left === game.checkers ? 2 : Math.sign(left));
  const behind = other === game.checkers && board.slice(0, 7).some((count) => count < 0);
  return cost(other) - cost(own) + (game.family === "hitting" && behind ? 1 : 0);
}

/** Mean points of outcome chances. */
export function equity(chances, game) {
  return chances.reduce((sum, chance, k) => sum + chance * game.outcomes[k], 0);
}

/** One roll of one position: what may be played, hop by hop. */
export class Turn {
  /**
   * board: 26 numbers, mover's view; dice: two numbers.
   * A state is {cells, left, heads}: the board, the dice not yet played and, in long nardy, how
   * many checkers may still leave the head.
   */
  constructor(board, dice, game) {
    this.game = game;
    this.dice = dice[0] === dice[1] ? Array(4).fill(dice[0]) : [...dice].sort((a, b) => b - a);
    this.memo = new Map();
    this.start = { cells: [...board], left: this.dice, heads: 1 };
    this.most = Math.max(0, this.#furthest(this.start));
    if (this.most < this.dice.length && headException(board, dice, game)) {
      const wider = { ...this.start, heads: 2 };
      const most = this.#furthest(wider);
      if (most > this.most) [this.start, this.most] = [wider, most];
    }
  }

  /** The single hops from a state with which a legal play can go on (K7, D7). */
  hops(state) {
    const played = this.dice.length - state.left.length;
    const found = this.#hops(state).filter(
      (hop) => played + 1 + this.#furthest(hop.after) === this.most,
    );
    const [high, low] = this.dice;
    if (this.most === 1 && high !== low && found.some((hop) => hop.die === high)) {
      return found.filter((hop) => hop.die === high); // of either die but not both, the larger
    }
    return found;
  }

  /** Whether the play in hand is whole. */
  complete(state) {
    return this.dice.length - state.left.length === this.most;
  }

  /** Every legal result as {board, hops}, one way for each; a pass is the board itself. */
  results() {
    const found = new Map();
    const seen = new Set();
    const walk = (state, hops) => {
      if (this.complete(state)) {
        const name = state.cells.join();
        if (!found.has(name)) found.set(name, { board: state.cells, hops });
        return;
      }
      for (const hop of this.hops(state)) {
        const name = key(hop.after);
        if (seen.has(name)) continue;
        seen.add(name);
        walk(hop.after, [...hops, hop]);
      }
    };
    walk(this.start, []);
    return [...found.values()];
  }

  /** From `source` with one checker: a map of each point it can come to, to the hops there. */
  targets(state, source) {
    const found = new Map();
    let ends = [{ state, at: source, hops: [] }];
    while (ends.length) {
      const further = [];
      for (const end of ends) {
        for (const hop of this.hops(end.state)) {
          if (hop.source !== end.at) continue;
          const hops = [...end.hops, hop];
          const known = found.get(hop.target);
          // the shortest way, and of two the one that hits less in passing
          if (!known || (known.length === hops.length && hits(hops) < hits(known))) {
            found.set(hop.target, hops);
          }
          if (hop.target !== OFF) further.push({ state: hop.after, at: hop.target, hops });
        }
      }
      ends = further;
    }
    return found;
  }

  /** The most dice that can still be played from a state; −1 where it may not even stand (D9). */
  #furthest(state) {
    const name = key(state);
    const known = this.memo.get(name);
    if (known !== undefined) return known;
    const late = this.game.family === "blocking" && this.game.prime_check === "end_of_turn";
    const begun = state.left.length < this.dice.length;
    let most = late && begun && hasRow(state.cells, this.game) ? -1 : 0;
    for (const hop of this.#hops(state)) {
      const further = this.#furthest(hop.after);
      if (further >= 0) most = Math.max(most, 1 + further);
    }
    this.memo.set(name, most);
    return most;
  }

  #hops(state) {
    const found = [];
    const blocking = this.game.family === "blocking";
    for (const die of new Set(state.left)) {
      const at = state.left.indexOf(die);
      const left = state.left.filter((_, index) => index !== at);
      for (const source of sources(state.cells, die, this.game.family)) {
        const fromHead = blocking && source === HEAD;
        if (fromHead && state.heads === 0) continue; // D4
        const { cells, target, hit } = play(state.cells, source, die);
        if (blocking && this.game.prime_check === "each_step" && hasRow(cells, this.game)) continue;
        const after = { cells, left, heads: state.heads - (fromHead ? 1 : 0) };
        found.push({ source, target, die, hit, after });
      }
    }
    return found;
  }
}

const key = (state) => `${state.cells.join()}|${state.left.length}${state.left[0]}|${state.heads}`;
const hits = (hops) => hops.slice(0, -1).filter((hop) => hop.hit).length;

/** The cells that a die can be played from (K5, K9..K11, D2, D10). */
function sources(cells, die, family) {
  const open = family === "hitting" ? -1 : 0;
  if (family === "hitting" && cells[BAR] > 0) return cells[BAR - die] >= open ? [BAR] : [];
  const found = [];
  for (let point = 24; point > die; point--) {
    if (cells[point] > 0 && cells[point - die] >= open) found.push(point);
  }
  if (cells.slice(7, BAR).some((count) => count > 0)) return found;
  let highest = 6;
  while (highest > 0 && cells[highest] <= 0) highest--;
  if (cells[die] > 0) found.push(die);
  else if (highest > 0 && highest < die) found.push(highest);
  return found;
}

/** One checker played, a blot being hit (K8). */
function play(cells, source, die) {
  const after = [...cells];
  const target = Math.max(source - die, OFF);
  const hit = target > 0 && cells[target] === -1;
  after[source] -= 1;
  if (hit) {
    after[target] = 0;
    after[0] -= 1;
  }
  if (target > 0) after[target] += 1;
  return { cells: after, target, hit };
}

/** Whether six own points in a row stand where they may not (D8). */
function hasRow(cells, game) {
  const theirs = Array(25).fill(false); // own points in the enemy's order
  let front = 25;
  for (let point = 1; point <= 24; point++) {
    const number = opposite(point, "blocking");
    if (cells[point] > 0) theirs[number] = true;
    if (cells[point] < 0) front = Math.min(front, number);
  }
  const limit = forbiddenBelow(game.prime_rule, front);
  let row = 0;
  for (let number = 1; number < limit; number++) {
    row = theirs[number] ? row + 1 : 0;
    if (row === 6) return true;
  }
  return false;
}

/** Points below this, in the enemy's order, may hold no row of six (D8). */
function forbiddenBelow(rule, front) {
  if (rule === "forbid") return 25;
  if (rule === "allow" || front === 25) return 0;
  if (rule === "enemy_home") return front > 6 ? 25 : 0;
  return front;
}

/** Whether a second checker may leave the head, where that lets more dice be played (D5). */
function headException(board, dice, game) {
  if (game.family !== "blocking" || game.head_exception_players === "none") return false;
  const cells = checkersOnly(board, game.family);
  const own = cells.every((count, cell) => Math.max(count, 0) === Math.max(game.start[cell], 0));
  if (!own) return false;
  const starter = cells.every((count, cell) => count === game.start[cell]);
  if (game.head_exception_players !== "both") {
    if (starter !== (game.head_exception_players === "first")) return false;
  }
  if (game.head_exception_rolls === "any_if_stuck") return true;
  if (dice[0] !== dice[1]) return false;
  return game.head_exception_rolls === "doubles_if_stuck" || [3, 4, 6].includes(dice[0]);
}

/** Written move of some hops, as nardy.notation.moves writes it: `bar/24*`, `8/5(2)`, `6/off`. */
export function moveText(hops) {
  const chains = [];
  // farthest first, so that hops that one checker can have made are written as its way
  for (const hop of [...hops].sort((a, b) => b.source - a.source)) {
    const chain = chains.find((known) => known.at(-1).target === hop.source);
    if (chain) chain.push(hop);
    else chains.push([hop]);
  }
  const ways = chains.map(way).sort((a, b) => compare(a.order, b.order));
  const times = new Map();
  const starred = new Set();
  for (const { path, hit } of ways) {
    times.set(path, (times.get(path) ?? 0) + 1);
    if (hit) starred.add(path);
  }
  const words = [...times].map(
    ([path, count]) => path + (starred.has(path) ? "*" : "") + (count > 1 ? `(${count})` : ""),
  );
  return words.join(" ");
}

function way(chain) {
  const between = chain.slice(0, -1).filter((hop) => hop.hit);
  const stops = between.map((hop) => `/${hop.target}*`).join("");
  const last = chain.at(-1);
  return {
    order: [-chain[0].source, chain.some((hop) => hop.hit) ? 0 : 1, -last.target],
    path: `${pointName(chain[0].source)}${stops}/${pointName(last.target)}`,
    hit: last.hit,
  };
}

const pointName = (cell) => (cell === BAR ? "bar" : cell === OFF ? "off" : String(cell));

function compare(a, b) {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : a[at] - b[at];
}
