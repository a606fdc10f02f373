"""Boards: int8[26] in the mover's view.

Cells 1..24 are points counted from the mover's home, positive for the mover's checkers and
negative for the opponent's; cell 25 is the mover's bar (>= 0), cell 0 the opponent's (<= 0).
Checkers that are missing have been borne off.

Where the opponent counts from depends on the family. "hitting": the mover's point p is his
25 - p. "blocking": both go the same way round from opposite corners, p is his p + 12 or p - 12,
and there are no bars. Where the second player has the last roll (D13) a position is worth more to
who began or less, so such boards say who did: cell 25 is 1 where the mover began the game, cell 0
is -1 where the opponent did. No checker stands there and no play changes it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.rules.variants import Variant

Boards = NDArray[np.int8]

_POINTS = np.arange(26)
OPPOSITE = {
    "hitting": _POINTS[::-1],
    "blocking": np.array([25, *range(13, 25), *range(1, 13), 0]),
}
"""int[26] by family: the opponent's number of each cell."""


def flip(boards: Boards) -> Boards:
    """`turn` of the hitting family."""
    return np.ascontiguousarray(-boards[..., ::-1])


def turn(boards: Boards, family: str) -> Boards:
    """The same positions seen by the other player; int8[..., 26] to int8[..., 26]."""
    if family == "hitting":
        return flip(boards)
    return np.ascontiguousarray(-boards[..., OPPOSITE[family]])


def start_board(variant: Variant) -> Boards:
    """int8[26], the position before the first roll, in the starter's view (K1, D1)."""
    board = np.array(variant.start, np.int8)
    if variant.last_roll != "off":
        board[25] = 1
    return board


def checkers_only(boards: Boards, family: str) -> Boards:
    """The boards without what says who began; the boards themselves where the family has bars."""
    if family == "hitting":
        return boards
    bare = boards.copy()
    bare[..., [0, 25]] = 0
    return bare


def make_board(
    mover: Mapping[int, int], enemy: Mapping[int, int], family: str = "hitting"
) -> Boards:
    """int8[26] from two maps of point to checkers, each in its owner's numbering (25 the bar).

    Raises ValueError where both sides stand on one point, or a point does not exist.
    """
    board = np.zeros(26, np.int8)
    last = 25 if family == "hitting" else 24
    for side, points in (("mover", mover), ("enemy", enemy)):
        for point, count in points.items():
            if not 1 <= point <= last or not 0 <= count <= 15:
                raise ValueError(f"the {side} cannot have {count!r} checkers on point {point!r}")
            cell = point if side == "mover" else int(OPPOSITE[family][point])
            if count and board[cell]:
                raise ValueError(f"both sides stand on the mover's point {cell}")
            if count:
                board[cell] = count if side == "mover" else -count
    return board


def pip_counts(
    boards: Boards, family: str = "hitting"
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pips left for the mover and for the opponent, int64[...] each; the bar counts 25."""
    boards = checkers_only(boards, family)
    own = np.maximum(boards, 0) @ _POINTS
    other = np.maximum(-boards, 0) @ OPPOSITE[family]
    return own, other


def points_won(afterstates: Boards, variant: Variant) -> NDArray[np.int8]:
    """Points won by the player who has just moved, int8[...]; 0 while the game goes on (K14, D11).

    afterstates: int8[..., 26] in the view of the player who moved.
    Raises ValueError where a game may end in a draw or be lost by moving: see `ending`.
    """
    if variant.last_roll != "off":
        raise ValueError(f"with last_roll={variant.last_roll!r} points alone do not tell the end")
    over = ~(afterstates > 0).any(-1)
    none_off = -np.minimum(afterstates, 0).sum(-1) == variant.checkers
    points = np.where(none_off, 2, 1)
    if variant.family == "hitting":
        in_winners_home_or_bar = (afterstates[..., 0:7] < 0).any(-1)
        points += none_off & in_winners_home_or_bar
    return np.where(over, points, 0).astype(np.int8)


def ending(
    afterstates: Boards, variant: Variant, starter: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    """Whether each game is over, bool[...], and what the player who has just moved won, int8[...].

    His points are negative where he lost, 0 for a draw and while the game goes on (K14, D11, D13).
    afterstates: int8[..., 26] in his view; starter: bool[...], whether he began the game, by
    default as the boards say; with last_roll "second_player" the other then still has a turn when
    he has finished.
    """
    if variant.last_roll == "off":
        points = points_won(afterstates, variant)
        return points > 0, points
    if starter is None:
        starter = afterstates[..., 25] > 0
    points = afterstates[..., 1:25]
    own = np.maximum(points, 0).sum(-1)
    other = -np.minimum(points, 0).sum(-1)
    over = (other == 0) | ((own == 0) & ~np.asarray(starter))
    won = np.where(other == variant.checkers, 2, np.sign(other))
    lost = np.where(own == variant.checkers, 2, np.sign(own))
    return over, np.where(over, won - lost, 0).astype(np.int8)


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
    last_roll, ends = variant.last_roll != "off", (int(cells[0]), int(cells[25]))
    if last_roll and ends not in ((0, 1), (-1, 0)):
        raise ValueError(
            f"with last_roll={variant.last_roll!r} cell 25 is 1 where the mover began the game, or "
            "else cell 0 is -1 (in text 25:1 among the checkers of who began), "
            f"not {ends[0]} and {ends[1]}"
        )
    if variant.family == "blocking" and not last_roll and any(ends):
        raise ValueError(
            f"{variant.name} has no bar: cells 0 and 25 are empty, not {ends[0]} and {ends[1]}"
        )
    bare = checkers_only(cells, variant.family)
    last_turn = last_roll and ends[0]  # an opponent who began may have finished before it (D13)
    for side, count in (
        ("mover", int(bare[bare > 0].sum())),
        ("opponent", -int(bare[bare < 0].sum())),
    ):
        if count > variant.checkers:
            raise ValueError(
                f"the {side} has {count} checkers on the board; "
                f"{variant.name} is played with {variant.checkers}"
            )
        if count == 0 and not (side == "opponent" and last_turn):
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
