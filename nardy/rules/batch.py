"""Afterstates of many positions at once."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.rules.board import Boards
from nardy.rules.hitting import MAX_RESULTS, hitting_batch
from nardy.rules.variants import Variant

_POWERS = 5 ** np.arange(26, dtype=np.int64) // 5  # the bar of the opponent never changes sides
_TYPICAL_RESULTS = 24


class Afterstates(NamedTuple):
    """The results of a batch: rows offsets[i] : offsets[i + 1] belong to board i."""

    boards: Boards  # int8[N, 26], in the view of the player who moved
    offsets: NDArray[np.int64]  # int64[B + 1]


class Workspace:
    """Memory that `afterstates` fills again and again instead of allocating."""

    def __init__(self) -> None:
        self.keys = np.empty(MAX_RESULTS, np.int64)
        self.out = np.empty((MAX_RESULTS, 26), np.int8)
        self.offsets = np.zeros(1, np.int64)

    def reserve(self, boards: int) -> None:
        """Make room for the offsets of `boards` boards and their usual number of results."""
        if len(self.offsets) <= boards:
            self.offsets = np.zeros(boards + 1, np.int64)
        self.grow(boards * _TYPICAL_RESULTS + MAX_RESULTS)

    def grow(self, rows: int) -> None:
        """Make room for at least `rows` results, keeping those that are there."""
        if len(self.out) < rows:
            old, self.out = self.out, np.empty((rows, 26), np.int8)
            self.out[: len(old)] = old


def afterstates(
    boards: Boards,
    dice: NDArray[np.uint8],
    variant: Variant,
    workspace: Workspace | None = None,
) -> Afterstates:
    """The distinct legal results of each board and roll (rules K4..K13).

    boards: int8[B, 26], mover's view; dice: uint8[B, 2], in either order.
    Returns boards int8[N, 26], still in the mover's view, and offsets int64[B + 1]; a forced pass
    is the board itself. With `workspace` the result lies in its memory until the next call.
    Boards and dice are not checked here: see board.check_board and check_dice.
    """
    if variant.family != "hitting":
        raise ValueError(f"no move generator for family {variant.family!r}")
    boards = np.ascontiguousarray(boards, np.int8)
    dice = np.ascontiguousarray(dice, np.uint8)
    memory = workspace or Workspace()
    memory.reserve(len(boards))
    offsets = memory.offsets[: len(boards) + 1]
    done = 0
    while len(boards):
        done = hitting_batch(boards, dice, _POWERS, memory.keys, memory.out, offsets, done)
        if done == len(boards):
            break
        memory.grow(2 * len(memory.out))
    return Afterstates(memory.out[: offsets[len(boards)]], offsets)
