"""Games against a net in the terminal.

    play(Player("checkpoints/short-01"), seed=1)
    play(Player("checkpoints/short-01"), seed=1, score=match_score(7))    # with the cube

Dice depend on (seed, game, turn) alone, so a move taken back meets the same dice again. How doubles
and the bot's resignations are talked over is in nardy.play.terminal_cube.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nardy.match.janowski import normalised, payoffs
from nardy.match.score import Score
from nardy.notation.moves import CANNOT_MOVE, parse_move
from nardy.play.board_text import draw
from nardy.play.cubeful import check_game
from nardy.play.player import Player, RankedPlay, cumulative
from nardy.play.terminal_cube import CUBE_HELP, Ask, CubeTalk, Leave, Say
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, checkers_only, ending, start_board, turn
from nardy.rules.dice import roll
from nardy.rules.variants import Variant

HINTS = 3
RESULTS = {1: "a single game (oin)", 2: "a gammon (mars)", 3: "a backgammon (koks)"}
_FAIR = 0.02  # points by which a resignation may fall short of what the net expects

HELP = """\
Type a move in your own numbering, 24 the farthest point and 1 the last:
  8/5 6/5   {example}6/off   24/22(2)   24/14 (one checker, both dice)
The bot's moves are written in its numbering, in which your point 24 is its {opposite}.
  hint       the three best plays; then 1, 2 or 3 plays one of them
  undo       back to before your last move, with the same dice
  resign N   give up N points ({stakes}); the bot takes it if that is enough
  board      draw the board again
  help       this text
  quit       leave"""


def help_text(game: Variant) -> str:
    """What `help` shows in a game."""
    long = game.family == "blocking"
    return HELP.format(
        example="" if long else "bar/21   ",
        opposite=12 if long else 1,
        stakes=_one_of(_stakes(game)),
    )


def _stakes(game: Variant) -> list[str]:
    """What can be given up: the points that a game may pay."""
    return [str(points) for points in game.outcomes if points > 0]


def _one_of(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]])


@dataclass
class _Game:
    """A game under way.

    board: int8[26], in the view of the player on roll; turn: which of the game's rolls is his,
    first: the number of the opening one.
    score: what it is played for, in his view; None where points are only counted.
    rolled: his dice have been seen, so that nobody doubles (K16).
    refused: the user has refused a resignation, so that the bot plays on.
    earlier: the board, turn and score before each of the user's moves.
    hints: the plays last shown for this roll, best first.
    """

    number: int
    board: Boards
    turn: int
    yours: bool
    you_began: bool
    first: int = 0
    score: Score | None = None
    rolled: bool = False
    refused: bool = False
    earlier: list[tuple[Boards, int, Score | None]] = field(default_factory=list)
    hints: list[RankedPlay] = field(default_factory=list)

    @property
    def may_double(self) -> bool:
        """Whether the player on roll may double now."""
        fresh = self.turn > self.first and not self.rolled
        return fresh and self.score is not None and self.score.may_double


def play(
    player: Player, seed: int, ask: Ask = input, say: Say = print, score: Score | None = None
) -> None:
    """Play games until the user has had enough; end of input and Ctrl-C leave too.

    ask: shows a prompt and returns a line, or raises EOFError; say: shows a text.
    score: for money or for a match, the user's view before the first game; a match is played to
    its end. None counts points without the cube.
    Raises ValueError where the bot cannot handle the cube.
    """
    if score is not None:
        check_game(player.net.variant)
    say(f"You play X against the net; dice of seed {seed}. Type help for the commands.")
    table, won, number = Table(player, seed, ask, say), [0, 0], 0
    try:
        while True:
            if score is not None and not score.money:
                say(_match_line(score, won))
            points = table.game(number, score)
            won[points < 0] += abs(points)
            say(_result(points, score))
            say(f"Score: you {won[0]}, the bot {won[1]}.")
            if score is not None and not score.money:
                score = score.next_game(points)
                if score is None:
                    say(f"{'You win' if points > 0 else 'The bot wins'} the match.")
                    break
            elif not table.another():
                break
            number += 1
    except (Leave, EOFError, KeyboardInterrupt):
        say("")
    say("Goodbye.")


@dataclass(frozen=True)
class Table:
    """What stays the same from game to game: the bot, the dice and the user's terminal."""

    player: Player
    seed: int
    ask: Ask
    say: Say

    @property
    def talk(self) -> CubeTalk:
        """The cube's part of the conversation."""
        return CubeTalk(self.player, self.ask, self.say)

    def game(self, number: int, score: Score | None = None) -> int:
        """Play one game; the user's points, negative where he lost, 0 for a draw.

        score: what it is played for, in the user's view.
        """
        if score is not None:
            score = self.talk.opened(self.seed, number, score)
        game, points = self._open(number), None
        game.score = score if game.yours or score is None else score.flip()
        while points is None:
            points = self._your_turn(game) if game.yours else self._bots_turn(game)
        return points

    def another(self) -> bool:
        """Whether the user wants one more game."""
        while True:
            answer = self.ask("Another game? [y/n] ").strip().lower()
            if answer in ("y", "yes"):
                return True
            if answer in ("n", "no", "q", "quit"):
                return False
            self.say("Answer y or n.")

    def _open(self, number: int) -> _Game:
        """Throw for the start (K3): the higher die starts, by default with these two dice."""
        yours, bots = roll(self.seed, [number], [0])[0].tolist()
        starter = "you start" if yours > bots else "the bot starts"
        self.say(f"\nYou throw {yours}, the bot throws {bots}: {starter}.")
        variant = self.player.net.variant
        first = 1 if variant.opening == "reroll" else 0
        return _Game(number, start_board(variant), first, yours > bots, yours > bots, first)

    def _dice(self, game: _Game) -> NDArray[np.uint8]:
        dice: NDArray[np.uint8] = roll(self.seed, [game.number], [game.turn])[0]
        return dice

    def _bots_turn(self, game: _Game) -> int | None:
        """The bot resigns, doubles or plays; the user's points where that ends the game."""
        if paid := self._bot_resigns(game):
            return paid
        if game.may_double and self.player.cube(game.board, game.score).double:
            assert game.score is not None
            after = self.talk.bot_doubles(game.board, game.score)
            if isinstance(after, int):
                return -after
            game.score = after
        dice = self._dice(game)
        best = self.player.best(game.board, dice, score=game.score)[0]
        self.say(f"\nThe bot rolls {_shown(dice)}: {best.text}")
        return self._advance(game, best.board)

    def _your_turn(self, game: _Game) -> int | None:
        """The user answers until a move is made, a turn taken back or the game given up.

        His points, negative where he resigns, None while the game goes on.
        """
        if game.may_double:
            assert game.score is not None
            after = self.talk.you_roll_or_double(game.board, game.score)
            if isinstance(after, int):
                return after
            game.score = after
        game.rolled = True
        dice = self._dice(game)
        self._draw(game, dice)
        variant = self.player.net.variant
        if np.array_equal(afterstates(game.board[None], dice[None], variant).boards[0], game.board):
            self.say(f"You roll {_shown(dice)}: {CANNOT_MOVE}")
            return self._advance(game, game.board)
        while True:
            turns = game.turn
            try:
                points = self._answer(game, dice, self.ask("Your move> ").strip())
            except ValueError as error:
                self.say(f"{error}.")
                continue
            if points is not None or game.turn != turns:
                return points

    def _bot_resigns(self, game: _Game) -> int:
        """What the user wins because the bot, which could not do better, gives up; else 0."""
        if game.refused or game.turn == game.first:
            return 0
        games = self.player.resigns(game.board, game.score)
        if not games:
            return 0
        paid = games if game.score is None else game.score.points(games)
        game.refused = not self.talk.accepted(games, paid)
        return 0 if game.refused else paid

    def _answer(self, game: _Game, dice: NDArray[np.uint8], line: str) -> int | None:
        """Do what a line asks for; points as in _your_turn. Raises ValueError for a wrong move."""
        word, *rest = line.lower().split() or [""]
        if word in ("quit", "q", "exit"):
            raise Leave
        if word in ("help", "h", "?"):
            self.say(help_text(self.player.net.variant))
            if game.score is not None:
                self.say(CUBE_HELP)
        elif word == "board":
            self._draw(game, dice)
        elif word == "hint":
            self._hint(game, dice)
        elif word == "undo":
            self._undo(game)
        elif word == "resign":
            return self._resign(game, dice, rest)
        elif word:
            return self._move(game, dice, line)
        return None

    def _move(self, game: _Game, dice: NDArray[np.uint8], line: str) -> int | None:
        chosen = [hint.board for number, hint in enumerate(game.hints, 1) if line == str(number)]
        result = chosen[0] if chosen else self._parse(game, dice, line)
        game.earlier.append((game.board, game.turn, game.score))
        return self._advance(game, result)

    def _parse(self, game: _Game, dice: NDArray[np.uint8], line: str) -> Boards:
        return parse_move(line, game.board, dice, self.player.net.variant)

    def _hint(self, game: _Game, dice: NDArray[np.uint8]) -> None:
        game.hints = self.player.best(game.board, dice, score=game.score)[:HINTS]
        for number, ranked in enumerate(game.hints, 1):
            self.say(f"  {number}. {ranked_line(ranked, self.player.net.variant.outcomes)}")

    def _undo(self, game: _Game) -> None:
        if not game.earlier:
            raise ValueError("there is no move of yours to take back")
        game.board, game.turn, game.score = game.earlier.pop()
        game.yours, game.hints, game.rolled = True, [], True

    def _resign(self, game: _Game, dice: NDArray[np.uint8], rest: list[str]) -> int | None:
        """Minus the points given up, where the bot takes them: what it expects, or more."""
        text = " ".join(rest) or "1"
        stakes = _stakes(self.player.net.variant)
        if text not in stakes:
            raise ValueError(f"resign {_one_of(stakes)} points, not {text!r}")
        own = np.maximum(checkers_only(game.board, self.player.net.variant.family), 0)
        borne_off = int(own.sum()) < self.player.net.variant.checkers
        best = self.player.best(game.board, dice, score=game.score)[0]
        expected = -(best.equity if best.cubeful is None else best.cubeful)
        paid, worth = int(text), float(text)
        if game.score is not None:  # what so many games are worth to the bot where it stands
            bots = game.score.flip()
            worth = float(normalised(payoffs(bots)[0, 2 + paid], bots))
            paid = bots.points(paid)
        if worth + _FAIR < (min(expected, 1) if borne_off else expected):
            unit = "points" if game.score is None else "games at this score"
            self.say(f"The bot plays on: it expects {expected:.2f} {unit}, more than {text}.")
            return None
        return -paid

    def _advance(self, game: _Game, result: Boards) -> int | None:
        """Go on from an afterstate; the user's points where it ends the game."""
        variant = self.player.net.variant
        over, points = ending(result, variant, np.array(game.yours == game.you_began))
        sign = 1 if game.yours else -1
        game.board, game.turn = turn(result, variant.family), game.turn + 1
        game.yours, game.hints, game.rolled = not game.yours, [], False
        score = game.score
        game.score = score and score.flip()
        if not over:
            return None
        return sign * (int(points) if score is None else score.points(int(points)))

    def _draw(self, game: _Game, dice: NDArray[np.uint8]) -> None:
        note = f"you roll {_shown(dice)}"
        variant = self.player.net.variant
        self.say(draw(game.board, variant.checkers, ("you", "bot"), note, variant.family))


def ranked_line(ranked: RankedPlay, outcomes: tuple[int, ...]) -> str:
    """One line: move, equity in points, chances to win at all, to draw, of greater wins."""
    chances = cumulative(ranked.chances, outcomes)
    cubeful = "" if ranked.cubeful is None else f"with the cube {ranked.cubeful:+.3f}  "
    backgammon = f"  backgammon {chances['win_backgammon']:6.1%}" if 3 in outcomes else ""
    drawn = f"draw {chances['draw']:6.1%}  " if 0 in outcomes else ""
    return (
        f"{ranked.text:<24} {ranked.equity:+.3f}  {cubeful}win {chances['win']:6.1%}  {drawn}"
        f"gammon {chances['win_gammon']:6.1%}{backgammon}"
    )


def _result(points: int, score: Score | None = None) -> str:
    """How a game ended, for the user whose points they are; with the cube only what it paid."""
    if not points:
        return "Nobody wins: a draw."
    who, noun = "You win" if points > 0 else "The bot wins", "point" + "s" * (abs(points) > 1)
    how = f": {RESULTS[abs(points)]}" if score is None else ""
    return f"{who} {abs(points)} {noun}{how}."


def _match_line(score: Score, won: list[int]) -> str:
    crawford = "; the Crawford game, without the cube" if score.crawford else ""
    return f"\nMatch to {score.length}: you {won[0]}, the bot {won[1]}{crawford}."


def _shown(dice: NDArray[np.uint8]) -> str:
    return f"{dice.max()}-{dice.min()}"
