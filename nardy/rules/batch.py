"""Afterstates of many positions at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.rules.blocking import HEAD, blocking_batch
from nardy.rules.board import Boards
from nardy.rules.hitting import MAX_RESULTS, hitting_batch
from nardy.rules.variants import PRIME_RULES, Variant

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
    first_turn: NDArray[np.bool_] | Workspace | None = None,
    workspace: Workspace | None = None,
) -> Afterstates:
    """The distinct legal results of each board and roll (rules K4..K13, D2..D10).

    boards: int8[B, 26], mover's view; dice: uint8[B, 2], in either order.
    first_turn: bool[B], whether it is the mover's first turn (D5), which the blocking family
        alone asks. By default it is where his checkers stand as at the start; from the start of
        rule D1 that is always so, as no first turn there can be a pass.
    workspace: memory in which the result lies until the next call; it may also come fourth.
    Returns boards int8[N, 26], still in the mover's view, and offsets int64[B + 1]; a forced pass
    is the board itself. Boards and dice are not checked here: see board.check_board and check_dice.
    """
    if isinstance(first_turn, Workspace):
        first_turn, workspace = None, first_turn
    boards = np.ascontiguousarray(boards, np.int8)
    dice = np.ascontiguousarray(dice, np.uint8)
    memory = workspace or Workspace()
    memory.reserve(len(boards))
    offsets = memory.offsets[: len(boards) + 1]
    generate = _generator(boards, dice, variant, first_turn, memory)
    done = 0
    while len(boards):
        done = generate(memory.out, offsets, done)
        if done == len(boards):
            break
        memory.grow(2 * len(memory.out))
    return Afterstates(memory.out[: offsets[len(boards)]], offsets)


def _generator(
    boards: Boards,
    dice: NDArray[np.uint8],
    variant: Variant,
    first_turn: NDArray[np.bool_] | None,
    memory: Workspace,
) -> Callable[[Boards, NDArray[np.int64], int], int]:
    """The kernel of the variant's family with all but (out, offsets, first) filled in."""
    if variant.family == "hitting":
        return lambda out, offsets, first: hitting_batch(
            boards, dice, _POWERS, memory.keys, out, offsets, first
        )
    heads = head_limits(boards, dice, variant, first_turn)
    prime = PRIME_RULES.index(variant.prime_rule)
    each_step = variant.prime_check == "each_step"
    return lambda out, offsets, first: blocking_batch(
        boards, dice, heads, prime, each_step, _POWERS, memory.keys, out, offsets, first
    )


def head_limits(
    boards: Boards,
    dice: NDArray[np.uint8],
    variant: Variant,
    first_turn: NDArray[np.bool_] | None = None,
) -> NDArray[np.uint8]:
    """uint8[B], how many checkers may leave the head: one (D4), or two by D5's exception, where
    the second lets more dice be played. Arguments as of `afterstates`; blocking family."""
    start = np.array(variant.start, np.int8)
    limits = np.ones(len(boards), np.uint8)
    if variant.head_exception_players == "none":
        return limits
    if first_turn is None:
        first_turn = boards[:, HEAD] == start[HEAD]  # few boards pass, and only they are compared
        stand = np.maximum(boards[first_turn], 0) == np.maximum(start, 0)
        first_turn[first_turn] = stand[:, 1:25].all(-1)
    rows = np.flatnonzero(np.asarray(first_turn) & _excepted(dice, variant.head_exception_rolls))
    if variant.head_exception_players != "both":
        # the starter finds the other side as at the start; the second player does not, as his
        # opponent has moved
        starter = (boards[rows] == start)[:, 1:25].all(-1)
        rows = rows[starter == (variant.head_exception_players == "first")]
    limits[rows] = 2
    return limits


def _excepted(dice: NDArray[np.uint8], rolls: str) -> NDArray[np.bool_]:
    """bool[B], whether the exception is for this roll (D5)."""
    if rolls == "any_if_stuck":
        return np.ones(len(dice), np.bool_)
    double: NDArray[np.bool_] = dice[:, 0] == dice[:, 1]
    if rolls == "doubles_if_stuck":
        return double
    return double & np.isin(dice[:, 0], (3, 4, 6))
