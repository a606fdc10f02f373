"""What the first layer sees: functions of (cell, count) alone, so that it is a table.

A board has 26 cells; two more count the checkers borne off, the mover's (26) and the opponent's
(27). Training sees tied features of each cell, which generalise to counts never met; folding
them with the first layer's weights gives one table row a (cell, count).

A net may also see pairs of cells that lie up to six apart, where neither is empty: who stands on
each, one checker or more. Shots, primes and anchors are pairs. They feed the first `pairs` units
of the first layer and stay additive: a changed cell touches a dozen rows of the pair table.
In long nardy cell 1 comes after cell 24, as both sides go the same way round.

There are no bars in long nardy. Where its second player has the last roll (D13), cells 25 and 0 say
who began the game; what they add to the sum is a bias of the position's own.
"""

import numpy as np
from numpy.typing import NDArray

from nardy.rules.board import OPPOSITE, Boards, checkers_only

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


def feature_rows(family: str = "hitting") -> NDArray[np.float32]:
    """float32[28, 31, FEATURES]: what each (cell, count) adds to the feature vector.

    The row of an empty cell is zero, so empty cells cost nothing. family: of the variant.
    """
    theirs = OPPOSITE[family]
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
            rows[cell, 15 - count, -1] = count * theirs[cell] / _PIP_SCALE
        rows[OWN_OFF, 15 + count, off_start : off_start + 16] = off
        rows[OPPONENT_OFF, 15 + count, off_start + 16 : off_start + 32] = off
    return rows


def cells_of(boards: Boards, checkers: int, family: str = "hitting") -> NDArray[np.int8]:
    """int8[N, 28]: the board's cells and what each side has borne off."""
    bare = checkers_only(boards, family)
    own = checkers - np.maximum(bare, 0).sum(-1, dtype=np.int8)
    opponent = checkers + np.minimum(bare, 0).sum(-1, dtype=np.int8)
    return np.concatenate([boards, own[:, None], opponent[:, None]], -1)


def table_index(cells: NDArray[np.int8]) -> NDArray[np.int64]:
    """int64[N, 28]: rows of a table of shape [28 * 31, ...] that belong to `cells`."""
    rows: NDArray[np.int64] = np.arange(CELLS, dtype=np.int64) * COUNTS + 15 + cells
    return rows


def turn_table(table: NDArray[np.float32], family: str = "hitting") -> NDArray[np.float32]:
    """The table that prices a board given in the view of the player who is *not* on roll.

    turn_table(T) summed over a board equals T summed over the turned board (rules.board.turn).
    """
    turned = np.empty_like(table)
    turned[:26] = table[OPPOSITE[family], ::-1]
    turned[OWN_OFF], turned[OPPONENT_OFF] = table[OPPONENT_OFF], table[OWN_OFF]
    return turned


def pair_uppers(family: str = "hitting") -> NDArray[np.int64]:
    """int64[26, 6]: the upper cell of each pair, by the lower one and distance - 1; -1 where the
    board ends. Round the circle of long nardy the lower of two is the one that 1..6 steps lead on
    from, so that a turned board keeps it."""
    uppers = np.arange(26)[:, None] + np.arange(1, PAIR_REACH + 1)
    if family == "blocking":
        uppers[uppers > 24] -= 24
        uppers[[0, 25]] = -1  # there is no bar
        return uppers
    return np.where(uppers < 26, uppers, -1)


def turn_pairs(table: NDArray[np.float32], family: str = "hitting") -> NDArray[np.float32]:
    """The pair table [PAIR_ROWS, U] for boards in the view of the player who is *not* on roll."""
    pairs = table.reshape(*PAIR_SHAPE, -1)
    turned = np.zeros_like(pairs)
    other_side = [2, 3, 0, 1]
    uppers, theirs = pair_uppers(family), OPPOSITE[family]
    for step in range(PAIR_REACH):
        lower = np.flatnonzero(uppers[:, step] >= 0)
        # where he goes the other way the upper cell is his lower one
        his_lower = theirs[uppers[lower, step]] if family == "hitting" else theirs[lower]
        seen = pairs[his_lower, step][:, other_side][:, :, other_side]  # [cells, code, code]
        turned[lower, step] = seen.swapaxes(1, 2) if family == "hitting" else seen
    return turned.reshape(table.shape)


def pair_index(boards: Boards, family: str = "hitting") -> NDArray[np.int64]:
    """int64[N, 26 * 6]: rows of the pair table of each board's pairs of cells; PAIR_ROWS, one
    beyond the last, where a cell is empty or lies off the board."""
    codes = np.where(boards < 0, 2, 0) + (np.abs(boards) > 1)
    uppers, full = pair_uppers(family), boards != 0
    first = np.arange(26 * PAIR_REACH).reshape(26, -1) * CODES**2
    rows = first + codes[:, :, None] * CODES + codes[:, uppers]
    both = full[:, :, None] & full[:, uppers] & (uppers >= 0)
    found: NDArray[np.int64] = np.where(both, rows, PAIR_ROWS).reshape(len(boards), -1)
    return found


def step_table(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """float32[28, 31, H]: at [cell, count + 15], what the sum gains when that cell's count falls
    by one from `count`. The row of the lowest count is zero."""
    step = np.zeros_like(table)
    step[:, 1:] = table[:, :-1] - table[:, 1:]
    return step


def phases_of(boards: Boards, phases: int, family: str = "hitting") -> NDArray[np.int64]:
    """int64[N], which tail prices a position: 0 contact, 1 race. The same from either side.

    phases: how many tails a net has; with 1 everything is phase 0. A race is a position in which
    neither side can come in the other's way any more: the rearmost checkers have passed each
    other, or in long nardy all have come to the second half of their ways, which no one shares.
    """
    if phases == 1:
        return np.zeros(len(boards), np.int64)
    cells, boards = np.arange(26), checkers_only(boards, family)
    rearmost = np.where(boards > 0, cells, -1).max(-1)
    enemy = np.where(boards < 0, cells, 26).min(-1)
    race: NDArray[np.bool_] = rearmost < enemy
    if family == "blocking":
        race = (rearmost <= 12) & (enemy > 12)
    return race.astype(np.int64)
