"""Boards: int8[26] in the mover's view.

Cells 1..24 are points counted from the mover's home, positive for the mover's checkers and
negative for the opponent's; cell 25 is the mover's bar (>= 0), cell 0 the opponent's (<= 0).
Checkers that are missing have been borne off.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.rules.variants import Variant

Boards = NDArray[np.int8]

_POINTS = np.arange(26)


def flip(boards: Boards) -> Boards:
    """The same positions seen by the other player; int8[..., 26] to int8[..., 26]."""
    return np.ascontiguousarray(-boards[..., ::-1])


def start_board(variant: Variant) -> Boards:
    """int8[26], the position before the first roll, in the starter's view (K1)."""
    return np.array(variant.start, np.int8)


def make_board(mover: Mapping[int, int], enemy: Mapping[int, int]) -> Boards:
    """int8[26] from two maps of point to checkers, each in its owner's numbering (25 the bar).

    Raises ValueError where both sides stand on one point, or a point does not exist.
    """
    board = np.zeros(26, np.int8)
    for side, points in (("mover", mover), ("enemy", enemy)):
        for point, count in points.items():
            if not 1 <= point <= 25 or not 0 <= count <= 15:
                raise ValueError(f"the {side} cannot have {count!r} checkers on point {point!r}")
            cell = point if side == "mover" else 25 - point
            if count and board[cell]:
                raise ValueError(f"both sides stand on the mover's point {cell}")
            if count:
                board[cell] = count if side == "mover" else -count
    return board


def pip_counts(boards: Boards) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pips left for the mover and for the opponent, int64[...] each; the bar counts 25."""
    own = np.maximum(boards, 0) @ _POINTS
    other = np.maximum(-boards[..., ::-1], 0) @ _POINTS
    return own, other


def points_won(afterstates: Boards, variant: Variant) -> NDArray[np.int8]:
    """Points won by the player who has just moved, int8[...]; 0 while the game goes on (K14).

    afterstates: int8[..., 26] in the view of the player who moved.
    """
    over = ~(afterstates > 0).any(-1)
    left = -np.minimum(afterstates, 0).sum(-1)
    in_winners_home_or_bar = (afterstates[..., 0:7] < 0).any(-1)
    points = np.where(left < variant.checkers, 1, np.where(in_winners_home_or_bar, 3, 2))
    return np.where(over, points, 0).astype(np.int8)


def check_board(board: Any, variant: Variant) -> Boards:
    """`board` as int8[26] after checking that a game of `variant` can stand so.

    Raises ValueError with one sentence naming what is wrong.
    """
    cells = np.asarray(board)
    if cells.shape != (26,) or not np.issubdtype(cells.dtype, np.integer):
        raise ValueError(f"a board is 26 whole numbers, not {board!r}")
    if cells[0] > 0 or cells[25] < 0:
        raise ValueError(
            "cell 0 is the opponent's bar (0 or negative) and cell 25 the mover's "
            f"(0 or positive), not {int(cells[0])} and {int(cells[25])}"
        )
    for side, count in (
        ("mover", int(cells[cells > 0].sum())),
        ("opponent", -int(cells[cells < 0].sum())),
    ):
        if count > variant.checkers:
            raise ValueError(
                f"the {side} has {count} checkers on the board; "
                f"{variant.name} is played with {variant.checkers}"
            )
        if count == 0:
            raise ValueError(f"the {side} has no checker left: the game is over")
    return cells.astype(np.int8)


def check_dice(dice: Any) -> NDArray[np.uint8]:
    """`dice` as uint8[2], each 1..6. Raises ValueError naming what is wrong."""
    values = np.asarray(dice)
    if (
        values.shape != (2,)
        or not np.issubdtype(values.dtype, np.integer)
        or not ((values >= 1) & (values <= 6)).all()
    ):
        raise ValueError(f"two dice of 1 to 6 are needed, not {dice!r}")
    return values.astype(np.uint8)
