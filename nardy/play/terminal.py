"""Games against a net in the terminal.

    play(Player("checkpoints/short-01"), seed=1)

Dice depend on (seed, game, turn) alone, so a move taken back meets the same dice again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nardy.notation.moves import CANNOT_MOVE, parse_move
from nardy.play.board_text import draw
from nardy.play.player import Player, RankedPlay, cumulative
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, flip, points_won, start_board
from nardy.rules.dice import roll

HINTS = 3
RESULTS = {1: "a single game (oin)", 2: "a gammon (mars)", 3: "a backgammon (koks)"}
_FAIR = 0.02  # points by which a resignation may fall short of what the net expects

HELP = """\
Type a move in your own numbering, 24 the farthest point and 1 the last:
  8/5 6/5   bar/21   6/off   24/22(2)   24/14 (one checker, both dice)
The bot's moves are written in its numbering, in which your point 24 is its 1.
  hint       the three best plays; then 1, 2 or 3 plays one of them
  undo       back to before your last move, with the same dice
  resign N   give up N points (1, 2 or 3); the bot takes it if that is enough
  board      draw the board again
  help       this text
  quit       leave"""

Ask = Callable[[str], str]
Say = Callable[[str], None]


class _Leave(Exception):
    """The user wants to stop playing."""


@dataclass
class _Game:
    """A game under way.

    board: int8[26], in the view of the player on roll; turn: which of the game's rolls is his.
    earlier: the board and turn before each of the user's moves.
    hints: the plays last shown for this roll, best first.
    """

    number: int
    board: Boards
    turn: int
    yours: bool
    earlier: list[tuple[Boards, int]] = field(default_factory=list)
    hints: list[RankedPlay] = field(default_factory=list)


def play(player: Player, seed: int, ask: Ask = input, say: Say = print) -> None:
    """Play games until the user has had enough; end of input and Ctrl-C leave too.

    ask: shows a prompt and returns a line, or raises EOFError; say: shows a text.
    """
    say(f"You play X against the net; dice of seed {seed}. Type help for the commands.")
    table, score, number = Table(player, seed, ask, say), [0, 0], 0
    try:
        while True:
            points = table.game(number)
            score[points < 0] += abs(points)
            who = "You win" if points > 0 else "The bot wins"
            noun = "point" if abs(points) == 1 else "points"
            say(f"{who} {abs(points)} {noun}: {RESULTS[abs(points)]}.")
            say(f"Score: you {score[0]}, the bot {score[1]}.")
            if not table.another():
                break
            number += 1
    except (_Leave, EOFError, KeyboardInterrupt):
        say("")
    say("Goodbye.")


@dataclass(frozen=True)
class Table:
    """What stays the same from game to game: the bot, the dice and the user's terminal."""

    player: Player
    seed: int
    ask: Ask
    say: Say

    def game(self, number: int) -> int:
        """Play one game; the user's points, negative where he lost."""
        game, points = self._open(number), 0
        while not points:
            points = self._your_turn(game) if game.yours else -self._bots_turn(game)
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
        return _Game(number, start_board(variant), first, yours > bots)

    def _dice(self, game: _Game) -> NDArray[np.uint8]:
        dice: NDArray[np.uint8] = roll(self.seed, [game.number], [game.turn])[0]
        return dice

    def _bots_turn(self, game: _Game) -> int:
        """The bot plays; the points it wins with that, 0 while the game goes on."""
        dice = self._dice(game)
        best = self.player.best(game.board, dice)[0]
        self.say(f"\nThe bot rolls {_shown(dice)}: {best.text}")
        return self._advance(game, best.board)

    def _your_turn(self, game: _Game) -> int:
        """The user answers until a move is made, a turn taken back or the game given up.

        His points, negative where he resigns, 0 while the game goes on.
        """
        dice = self._dice(game)
        self._draw(game, dice)
        variant = self.player.net.variant
        if np.array_equal(afterstates(game.board[None], dice[None], variant).boards[0], game.board):
            self.say(f"You roll {_shown(dice)}: {CANNOT_MOVE}")
            return self._advance(game, game.board)
        while True:
            turn = game.turn
            try:
                points = self._answer(game, dice, self.ask("Your move> ").strip())
            except ValueError as error:
                self.say(f"{error}.")
                continue
            if points or game.turn != turn:
                return points

    def _answer(self, game: _Game, dice: NDArray[np.uint8], line: str) -> int:
        """Do what a line asks for; points as in _your_turn. Raises ValueError for a wrong move."""
        word, *rest = line.lower().split() or [""]
        if word in ("quit", "q", "exit"):
            raise _Leave
        if word in ("help", "h", "?"):
            self.say(HELP)
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
        return 0

    def _move(self, game: _Game, dice: NDArray[np.uint8], line: str) -> int:
        chosen = [hint.board for number, hint in enumerate(game.hints, 1) if line == str(number)]
        result = chosen[0] if chosen else self._parse(game, dice, line)
        game.earlier.append((game.board, game.turn))
        return self._advance(game, result)

    def _parse(self, game: _Game, dice: NDArray[np.uint8], line: str) -> Boards:
        return parse_move(line, game.board, dice, self.player.net.variant)

    def _hint(self, game: _Game, dice: NDArray[np.uint8]) -> None:
        game.hints = self.player.best(game.board, dice)[:HINTS]
        for number, ranked in enumerate(game.hints, 1):
            self.say(f"  {number}. {ranked_line(ranked, self.player.net.variant.outcomes)}")

    def _undo(self, game: _Game) -> None:
        if not game.earlier:
            raise ValueError("there is no move of yours to take back")
        game.board, game.turn = game.earlier.pop()
        game.yours, game.hints = True, []

    def _resign(self, game: _Game, dice: NDArray[np.uint8], rest: list[str]) -> int:
        """Minus the points given up, where the bot takes them: what it expects, or more."""
        text = " ".join(rest) or "1"
        if text not in ("1", "2", "3"):
            raise ValueError(f"resign 1, 2 or 3 points, not {text!r}")
        borne_off = int(np.maximum(game.board, 0).sum()) < self.player.net.variant.checkers
        expected = -self.player.best(game.board, dice)[0].equity
        if int(text) + _FAIR < (min(expected, 1) if borne_off else expected):
            self.say(f"The bot plays on: it expects {expected:.2f} points, more than {text}.")
            return 0
        return -int(text)

    def _advance(self, game: _Game, result: Boards) -> int:
        """Go on from an afterstate; the points won with it."""
        game.board, game.turn, game.yours = flip(result), game.turn + 1, not game.yours
        game.hints = []
        return int(points_won(result, self.player.net.variant))

    def _draw(self, game: _Game, dice: NDArray[np.uint8]) -> None:
        note = f"you roll {_shown(dice)}"
        self.say(draw(game.board, self.player.net.variant.checkers, ("you", "bot"), note))


def ranked_line(ranked: RankedPlay, outcomes: tuple[int, ...]) -> str:
    """One line: move, equity in points, chances to win at all, a gammon, a backgammon."""
    chances = cumulative(ranked.chances, outcomes)
    return (
        f"{ranked.text:<24} {ranked.equity:+.3f}  win {chances['win']:6.1%}  "
        f"gammon {chances['win_gammon']:6.1%}  backgammon {chances['win_backgammon']:6.1%}"
    )


def _shown(dice: NDArray[np.uint8]) -> str:
    return f"{dice.max()}-{dice.min()}"
