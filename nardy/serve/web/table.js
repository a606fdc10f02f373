// The table: whose turn it is and what may be done. No DOM, so that scripts can play it.
//
//   const table = new Table({ bot, games, changed });     // changed() after every step
//   table.newMatch({ variant: "short", level: "expert", length: 3, doubling: true });
//
// `table.state` is plain JSON and all there is: saved and given back, the game goes on. Boards are
// in the mover's view. Phases of a game: opening, roll, move, offered (you offer the cube), bot,
// doubled (the bot offers it), over.

import { roll, rollText } from "./dice.js";
import { Turn, ending, equity, moveText, startBoard, turnBoard } from "./rules.js";
import {
  mayDouble, matchWinner, newMatch, nextGame, other, scoreFor, settled, taken,
} from "./score.js";

export const VERSION = 1;
const RESIGN_MARGIN = 0.02; // points within which the bot takes a resignation

export class Table {
  /** pause(): awaited between the hops of the bot. */
  constructor({ bot, games, changed, pause = async () => {}, state = null }) {
    Object.assign(this, { bot, games, changed, pause, state, error: null, message: null });
    this.turn = null;
  }

  /** The rules of the game that is played. */
  get rules() {
    return this.games.find((game) => game.name === this.state.variant);
  }

  get game() {
    return this.state.game;
  }

  /** The state in the middle of a play: see rules.Turn. */
  get standing() {
    const last = this.game.hops.at(-1);
    return last ? last.after : this.#turn().start;
  }

  /** The board as you see it, hops included. */
  get shown() {
    const { game } = this;
    const cells = game.hops.at(-1)?.after.cells ?? game.board;
    return game.mover === "you" ? cells : turnBoard(cells, this.rules.family);
  }

  get mayDouble() {
    return this.game.phase === "roll" && mayDouble(this.state.match, "you");
  }

  get matchWinner() {
    return matchWinner(this.state.match);
  }

  newMatch({ variant, level, length, doubling, seed }) {
    const rules = this.games.find((game) => game.name === variant);
    const match = newMatch(length, doubling && this.bot.cube(rules));
    this.state = { version: VERSION, variant, level, seed, rolls: 0, match };
    this.#begin(match);
  }

  nextGame() {
    if (this.game.phase === "over" && !this.matchWinner) this.#begin(nextGame(this.state.match));
  }

  #begin(match) {
    this.state.match = match;
    this.state.game = {
      phase: "opening",
      mover: "you",
      board: startBoard(this.rules),
      dice: null,
      opening: null,
      hops: [],
      log: [],
      chances: null, // of the outcomes for you, before the roll
      couldDouble: false, // whether the mover might have doubled before this roll
      declined: false, // whether the bot's double of this turn is answered
      result: null,
    };
    this.#say(null);
  }

  /** Throw for the start, or the two dice of your turn. */
  async roll() {
    if (this.game.phase === "opening") return this.#throwForStart();
    if (this.game.phase !== "roll") return;
    this.game.couldDouble = this.mayDouble;
    this.game.dice = this.#dice();
    this.#toMove();
    this.#say(null);
  }

  async #throwForStart() {
    let dice = this.#dice();
    while (dice[0] === dice[1]) dice = this.#dice(); // K3
    const { game } = this;
    game.opening = dice;
    game.mover = dice[0] > dice[1] ? "you" : "bot";
    const reroll = this.rules.opening === "reroll";
    game.dice = reroll ? null : dice;
    const who = game.mover === "you" ? "openingYou" : "openingBot";
    const message = [who, { a: dice[0], b: dice[1] }];
    if (game.mover === "bot") game.phase = "bot";
    else if (reroll) game.phase = "roll";
    else this.#toMove();
    this.#say(message);
    await this.go();
  }

  #toMove() {
    this.turn = null;
    this.game.hops = [];
    this.game.phase = "move";
  }

  #dice() {
    this.state.rolls += 1;
    return roll(this.state.seed, this.state.rolls);
  }

  #turn() {
    if (!this.turn) this.turn = new Turn(this.game.board, this.game.dice, this.rules);
    return this.turn;
  }

  /** Points from which your checkers can move now. */
  sources() {
    if (this.game.phase !== "move") return [];
    return [...new Set(this.#turn().hops(this.standing).map((hop) => hop.source))];
  }

  /** From a point: a map of points to the hops that lead there. */
  targets(source) {
    if (this.game.phase !== "move") return new Map();
    return this.#turn().targets(this.standing, source);
  }

  get complete() {
    return this.game.phase === "move" && this.#turn().complete(this.standing);
  }

  get stuck() {
    return this.game.phase === "move" && this.#turn().most === 0;
  }

  /** Dice not yet played, larger first. */
  get diceLeft() {
    return this.game.phase === "move" ? this.standing.left : [];
  }

  play(source, target) {
    const hops = this.targets(source).get(target);
    if (!hops) return false;
    this.game.hops.push(...hops);
    this.#say(null);
    return true;
  }

  /** Play the hops that lead to a board, instead of those played so far. */
  playTo(board) {
    const result = this.#turn().results().find((found) => found.board.join() === board.join());
    this.game.hops = result ? [...result.hops] : [];
    this.#say(null);
  }

  undo() {
    if (this.game.phase !== "move" || !this.game.hops.length) return;
    this.game.hops.pop();
    this.#say(null);
  }

  async done() {
    if (!this.complete) return;
    const move = moveText(this.game.hops);
    this.#finish(this.standing.cells, move);
    this.#say(move ? ["youMoved", { move }] : null);
    await this.go();
  }

  /** The move is made: note it, end the game or turn the board. */
  #finish(result, move) {
    const { game } = this;
    const { mover, board, dice } = game;
    const match = { ...this.state.match };
    const undoubled = game.couldDouble;
    game.log.push({ kind: "move", who: mover, board, dice, result, move, match, undoubled });
    const points = ending(result, this.rules);
    if (points !== null) {
      game.board = result;
      const winner = points > 0 ? mover : points < 0 ? other(mover) : null;
      return this.#end(winner, Math.abs(points), null);
    }
    game.board = turnBoard(result, this.rules.family);
    game.mover = other(mover);
    Object.assign(game, { dice: null, hops: [], chances: null, couldDouble: false });
    game.phase = game.mover === "you" ? "roll" : "bot";
  }

  /** winner: null for a draw (D13). */
  #end(winner, multiple, how) {
    const { state, game } = this;
    const before = state.match;
    state.match = settled(before, winner, multiple);
    game.result = { winner, multiple, how, points: multiple * before.cube };
    game.phase = "over";
    game.hops = [];
  }

  /** What has to happen by itself: the chances of a turn, and the bot's turn. Call it after a
   * reload, too. */
  async go() {
    const { game } = this;
    try {
      this.error = null;
      if (game.phase === "bot") await this.#botTurn(game);
      if (game.phase === "offered") await this.#botAnswers(game);
      if (game === this.game && ["roll", "doubled"].includes(game.phase) && !game.chances) {
        const turns = game.log.length;
        const { chances } = await this.#position(game);
        if (game === this.game && game.log.length === turns) this.#see(game, chances);
      }
    } catch (error) {
      if (game !== this.game) return;
      this.error = error.message;
      this.#say(null);
    }
  }

  async #botTurn(game) {
    if (!game.dice) {
      const { chances, cube } = await this.#position(game);
      if (game !== this.game || game.phase !== "bot") return;
      this.#see(game, chances);
      if (cube?.double && mayDouble(this.state.match, "bot") && !game.declined) {
        game.phase = "doubled";
        return this.#say(["botDoubles", { n: 2 * this.state.match.cube }]);
      }
      game.couldDouble = mayDouble(this.state.match, "bot") && !game.declined;
      game.declined = false;
      game.dice = this.#dice();
      this.#say(["botRolled", { dice: rollText(game.dice) }]);
    }
    const plays = await this.rank(game);
    if (game !== this.game || game.phase !== "bot") return;
    const best = plays[0].board.join();
    const ways = new Turn(game.board, game.dice, this.rules).results();
    const { hops } = ways.find((way) => way.board.join() === best);
    game.hops = []; // a reload may have come in the middle
    for (const hop of hops) {
      await this.pause();
      if (game !== this.game) return;
      game.hops.push(hop);
      this.changed();
    }
    await this.pause();
    if (game !== this.game) return;
    const move = moveText(hops);
    const dice = rollText(game.dice);
    this.#finish(plays[0].board, move);
    this.#say(move ? ["botMoved", { dice, move }] : ["botPassed", { dice }]);
  }

  /** The plays of the roll in hand, best first, as the bot's level (or another) sees them. */
  rank({ board, dice, mover } = this.game, level = this.state.level) {
    const score = scoreFor(this.state.match, mover);
    return this.bot.rank({ game: this.rules, board, dice, level, score });
  }

  #position({ board, mover }) {
    const { level, match } = this.state;
    return this.bot.position({ game: this.rules, board, level, score: scoreFor(match, mover) });
  }

  #see(game, chances) {
    game.chances = game.mover === "you" ? chances : [...chances].reverse();
    this.changed();
  }

  /** You double; the bot answers. */
  async double() {
    if (!this.mayDouble) return;
    this.game.phase = "offered"; // so that nothing else can be done meanwhile
    this.#say(null);
    await this.go();
  }

  async #botAnswers(game) {
    const { state } = this;
    const { cube } = await this.#position(game);
    if (game !== this.game || game.phase !== "offered") return;
    this.#note("double", "you", cube.take);
    if (!cube.take) {
      this.#end("you", 1, "passed"); // the stake before this double (K16)
      return this.#say(null);
    }
    state.match = taken(state.match, "you");
    game.phase = "roll";
    this.#say(["botTakes", { n: state.match.cube }]);
  }

  /** Your answer to the bot's double. */
  async answer(take) {
    const { state, game } = this;
    if (game.phase !== "doubled") return;
    this.#note("double", "bot", take);
    if (!take) {
      this.#end("bot", 1, "passed");
      return this.#say(null);
    }
    state.match = taken(state.match, "bot");
    game.phase = "bot";
    game.declined = true; // it has had its say about the cube this turn
    this.#say(["youTake", { n: state.match.cube }]);
    await this.go();
  }

  #note(kind, who, take) {
    const { board } = this.game;
    this.game.log.push({ kind, who, board, take, match: { ...this.state.match } });
  }

  /** You give up a single game, gammon or backgammon; the bot refuses what is too little. */
  async resign(multiple) {
    const { game } = this;
    if (!["roll", "move", "doubled"].includes(game.phase)) return;
    try {
      if (multiple < Math.max(...this.rules.outcomes)) {
        const { chances } = await this.#position(game);
        if (game !== this.game || game.phase === "over") return;
        const mine = equity(chances, this.rules) * (game.mover === "you" ? 1 : -1);
        if (-mine > multiple + RESIGN_MARGIN) return this.#say(["refused", {}]);
      }
      game.log.push({ kind: "resign", who: "you", multiple });
      this.#end("bot", multiple, "resigned");
      this.#say(null);
    } catch (error) {
      this.error = error.message;
      this.#say(null);
    }
  }

  #say(message) {
    this.message = message;
    this.changed();
  }
}
