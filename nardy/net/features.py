"""What the first layer sees: functions of (cell, count) alone, so that it is a table.

A board has 26 cells; two more count the checkers borne off, the mover's (26) and the opponent's
(27). Training sees tied features of each cell, which generalise to counts never met; folding
them with the first layer's weights gives one table row a (cell, count).

A net may also see pairs of cells that lie up to six apart, where neither is empty: who stands on
each, one checker or more. Shots, primes and anchors are pairs. They feed the first `pairs` units
of the first layer and stay additive: a changed cell touches a dozen rows of the pair table.
"""

import numpy as np
from numpy.typing import NDArray

from nardy.rules.board import Boards

FEATURE_VERSION = 1
"""Raised whenever a feature changes its meaning; nets of another version are refused."""

CELLS = 28
COUNTS = 31
"""Counts -15..15; the row of count k is k + 15."""

OWN_OFF, OPPONENT_OFF = 26, 27
STEPS = (1, 2, 3, 4)
PAIR_REACH = 6
CODES = 4
"""What a pair sees of a cell: 0 own blot, 1 own point, 2 opponent's blot, 3 his point."""
PAIR_SHAPE = (26, PAIR_REACH, CODES, CODES)
"""The pair table's axes but its last: lower cell, distance - 1, code there, code of the upper."""
PAIR_ROWS = 26 * PAIR_REACH * CODES * CODES
_PER_SIDE = len(STEPS) + 1
_PIP_SCALE = 50.0


def feature_names() -> list[str]:
    """One name a feature, in the order of `feature_rows`'s last axis."""
    board = [
        f"{side} {what} on {cell}"
        for cell in range(26)
        for side in ("own", "opponent")
        for what in [*(f">={step}" for step in STEPS), "over"]
    ]
    off = [
        f"{side} off {what}"
        for side in ("own", "opponent")
        for what in [*(f">={step}" for step in range(1, 16)), "share"]
    ]
    return [*board, *off, "own pips", "opponent pips"]


FEATURES = len(feature_names())


def feature_rows() -> NDArray[np.float32]:
    """float32[28, 31, FEATURES]: what each (cell, count) adds to the feature vector.

    The row of an empty cell is zero, so empty cells cost nothing.
    """
    rows = np.zeros((CELLS, COUNTS, FEATURES), np.float32)
    off_start = 26 * 2 * _PER_SIDE
    for count in range(1, 16):
        steps = [float(count >= step) for step in STEPS] + [max(count - STEPS[-1], 0) / 4]
        off = [float(count >= step) for step in range(1, 16)] + [count / 15]
        for cell in range(26):
            start = cell * 2 * _PER_SIDE
            rows[cell, 15 + count, start : start + _PER_SIDE] = steps
            rows[cell, 15 - count, start + _PER_SIDE : start + 2 * _PER_SIDE] = steps
            rows[cell, 15 + count, -2] = count * cell / _PIP_SCALE
            rows[cell, 15 - count, -1] = count * (25 - cell) / _PIP_SCALE
        rows[OWN_OFF, 15 + count, off_start : off_start + 16] = off
        rows[OPPONENT_OFF, 15 + count, off_start + 16 : off_start + 32] = off
    return rows


def cells_of(boards: Boards, checkers: int) -> NDArray[np.int8]:
    """int8[N, 28]: the board's cells and what each side has borne off."""
    own = checkers - np.maximum(boards, 0).sum(-1, dtype=np.int8)
    opponent = checkers + np.minimum(boards, 0).sum(-1, dtype=np.int8)
    return np.concatenate([boards, own[:, None], opponent[:, None]], -1)


def table_index(cells: NDArray[np.int8]) -> NDArray[np.int64]:
    """int64[N, 28]: rows of a table of shape [28 * 31, ...] that belong to `cells`."""
    rows: NDArray[np.int64] = np.arange(CELLS, dtype=np.int64) * COUNTS + 15 + cells
    return rows


def turn_table(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """The table that prices a board given in the view of the player who is *not* on roll.

    turn_table(T) summed over a board equals T summed over the flipped board.
    """
    turned = np.empty_like(table)
    turned[:26] = table[25::-1, ::-1]
    turned[OWN_OFF], turned[OPPONENT_OFF] = table[OPPONENT_OFF], table[OWN_OFF]
    return turned


def turn_pairs(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """The pair table [PAIR_ROWS, U] for boards in the view of the player who is *not* on roll."""
    pairs = table.reshape(*PAIR_SHAPE, -1)
    turned = np.zeros_like(pairs)
    other_side = [2, 3, 0, 1]
    for distance in range(1, PAIR_REACH + 1):
        lower = np.arange(26 - distance)
        seen = pairs[25 - distance - lower, distance - 1]  # [cells, code of it, code of the upper]
        turned[lower, distance - 1] = seen[:, other_side][:, :, other_side].swapaxes(1, 2)
    return turned.reshape(table.shape)


def pair_index(boards: Boards) -> NDArray[np.int64]:
    """int64[N, 26 * 6]: rows of the pair table of each board's pairs of cells; PAIR_ROWS, one
    beyond the last, where a cell is empty or lies off the board."""
    codes = np.where(boards < 0, 2, 0) + (np.abs(boards) > 1)
    rows = np.full((len(boards), 26, PAIR_REACH), PAIR_ROWS)
    for distance in range(1, PAIR_REACH + 1):
        lower, upper = codes[:, :-distance], codes[:, distance:]
        first = (np.arange(26 - distance) * PAIR_REACH + distance - 1) * CODES**2
        both = (boards[:, :-distance] != 0) & (boards[:, distance:] != 0)
        found = first + lower * CODES + upper
        rows[:, : 26 - distance, distance - 1] = np.where(both, found, PAIR_ROWS)
    return rows.reshape(len(boards), -1)


def step_table(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """float32[28, 31, H]: at [cell, count + 15], what the sum gains when that cell's count falls
    by one from `count`. The row of the lowest count is zero."""
    step = np.zeros_like(table)
    step[:, 1:] = table[:, :-1] - table[:, 1:]
    return step


def phases_of(boards: Boards, phases: int) -> NDArray[np.int64]:
    """int64[N], which tail prices a position: 0 contact, 1 race. The same from either side.

    phases: how many tails a net has; with 1 everything is phase 0. A race is a position in which
    the rearmost checkers have passed each other.
    """
    if phases == 1:
        return np.zeros(len(boards), np.int64)
    cells = np.arange(26)
    rearmost = np.where(boards > 0, cells, -1).max(-1)
    enemy = np.where(boards < 0, cells, 26).min(-1)
    race: NDArray[np.bool_] = rearmost < enemy
    return race.astype(np.int64)
