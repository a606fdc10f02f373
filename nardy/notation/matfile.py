"""Games as Jellyfish text, `.mat`, which most backgammon programs read.

    text = write_mat(("white", "red"), [Game(starter=0, turns=turns, points=2)], variant("short"))

The layout is that of gnubg's own export: the first player's plays in the left column from the
sixth character, the second's in the right one from the 34th, a row for a turn of both. A forced
pass is the roll alone. A money session is written as a match to 0 points.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.notation.moves import CANNOT_MOVE, move_texts
from nardy.rules.board import Boards
from nardy.rules.variants import Variant

_LEFT, _RIGHT = 27, 33  # width of the left column, and where the right one begins
_NAME = 20  # the most letters of a name
_VARIATIONS = {"nack": "NackGammon", "hyper": "HyperGammon (3)"}


class Turn(NamedTuple):
    """One roll and what was made of it, in the mover's view."""

    board: Boards  # int8[26], before
    dice: NDArray[np.uint8]  # uint8[2]
    after: Boards  # int8[26]


class Game(NamedTuple):
    """One finished game."""

    starter: int  # 0: the first player; 1: the second
    turns: Sequence[Turn]
    points: int  # won by the first player; negative: by the second


def write_mat(players: tuple[str, str], games: Sequence[Game], variant: Variant) -> str:
    """The text of a money session; scores are the points won so far.

    Raises ValueError for a turn that its dice do not allow.
    """
    lines = []
    if variant.name in _VARIATIONS:
        lines += [f'; [Variation "{_VARIATIONS[variant.name]}"]', ""]
    lines += [" 0 point match", ""]
    names = [_name(player) for player in players]
    scores = [0, 0]
    for number, game in enumerate(games, start=1):
        left, right = (f"{name} : {score}" for name, score in zip(names, scores, strict=True))
        lines += [f" Game {number}", f" {left:<{_LEFT + 4}}{right}", *_rows(game), ""]
        scores[0 if game.points > 0 else 1] += abs(game.points)
    return "\n".join(lines) + "\n"


def _rows(game: Game) -> list[str]:
    cells = [""] * game.starter + [_cell(turn) for turn in game.turns]
    rows = [
        f"{row // 2 + 1:3d}) {cells[row]:<{_LEFT}} {''.join(cells[row + 1 : row + 2])}".rstrip()
        for row in range(0, len(cells), 2)
    ]
    won = f"Wins {abs(game.points)} point{'s' * (abs(game.points) > 1)}"
    return [*rows, " " * (6 if game.points > 0 else _RIGHT + 1) + won]


def _cell(turn: Turn) -> str:
    text = move_texts(turn.board, turn.dice, turn.after[None])[0]
    return f"{turn.dice[0]}{turn.dice[1]}: {'' if text == CANNOT_MOVE else text}"


def _name(player: str) -> str:
    """A name that fits its column; a colon would end it, and of a path the last parts say most."""
    whole = player.replace(":", "-")
    cut = whole[-_NAME:]
    if whole[-_NAME - 1 : -_NAME].strip("/") and "/" in cut[:-1]:
        cut = cut.partition("/")[2]  # no part of a path is cut in two
    return cut.strip() or "nobody"
