"""Makes the bear-off tables: `nardy tables` on the command line, or on first use.

    make_one_sided(6, 15, print)       # 54,264 positions
    make_two_sided(6, print)           # 924 x 924 positions

Every rule comes from the move generator (K4..K12). With numba it takes seconds; without it so long
that a program had better do with the tables that are there.
"""

from collections.abc import Callable
from math import comb

import numpy as np
from numpy.typing import NDArray

from nardy.play import bearoff_kernels as kernels
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.hitting import MAX_RESULTS

Progress = Callable[[float], None]
"""Called now and then with the share that is done, 0 to 1."""

POINTS = (6, 7, 8)
"""Points that a one-sided table may have. Backgammon is out of the question on all of them."""

SCALE = 65535
"""A chance of 1 in a one-sided table."""

_STEPS = 200
_POWERS = 5 ** np.arange(26, dtype=np.int64) // 5


def make_one_sided(points: int, checkers: int, progress: Progress) -> NDArray[np.void]:
    """A record for each of the C(points + checkers, points) positions of one side, by rank.

    first: uint16, the fewest rolls of the distribution; rolls: uint16[L], chances of first,
    first + 1, … rolls to bear all off; save: uint16[G], chances of 1, 2, … rolls to bear the first
    one off. Chances are in units of 1 / SCALE and add up to SCALE exactly. Play is that which
    takes the fewest rolls on average, for the one as for the other, as in gnubg's database.
    Raises ValueError naming points or checkers that are out of range.
    """
    mean, spread, _, spread1 = one_sided_floats(points, checkers, progress)
    rolls, save = _rounded(spread), _rounded(spread1)[:, 1:]
    first = (rolls > 0).argmax(-1)
    save = save[:, : np.flatnonzero(save.any(0)).max() + 1]
    lengths = rolls.shape[1] - (rolls[:, ::-1] > 0).argmax(-1) - first
    width = int(lengths.max())
    columns = first[:, None] + np.arange(width)
    padded = np.pad(rolls, ((0, 0), (0, width)))
    fields = [("first", "<u2"), ("rolls", "<u2", (width,)), ("save", "<u2", (save.shape[1],))]
    table = np.zeros(len(mean), np.dtype(fields))
    table["first"] = first
    table["rolls"] = np.take_along_axis(padded, columns, 1)
    table["save"] = save
    return table


def one_sided_floats(
    points: int, checkers: int, progress: Progress
) -> tuple[NDArray[np.float64], ...]:
    """(mean, spread, mean1, spread1), unrounded: see bearoff_kernels.one_sided."""
    if points not in POINTS:
        raise ValueError(f"a one-sided table has 6, 7 or 8 points, not {points!r}")
    if not 1 <= checkers <= 15:
        raise ValueError(f"a one-sided table has 1 to 15 checkers, not {checkers!r}")
    size = comb(points + checkers, points)
    most_rolls = points * checkers // 3 + 3  # a roll plays three pips or bears the last off
    mean, mean1 = np.zeros(size), np.zeros(size)
    spread, spread1 = np.zeros((size, most_rolls)), np.zeros((size, most_rolls))
    spread[0, 0] = spread1[0, 0] = 1
    keys, out = _scratch()
    for begin, end in _spans(1, size):
        kernels.one_sided(
            begin, end, points, ROLLS, ROLL_CHANCES, _POWERS, keys, out,
            mean, spread, mean1, spread1,
        )  # fmt: skip
        progress(end / size)
    return mean, spread, mean1, spread1


def make_two_sided(checkers: int, progress: Progress) -> NDArray[np.float32]:
    """float32[M, M, 4], M = C(6 + checkers, 6): see bearoff.Bearoff.equities.

    Raises ValueError where checkers is not 1 to 6: the table would take gigabytes.
    """
    if not 1 <= checkers <= 6:
        raise ValueError(f"a two-sided table has 1 to 6 checkers a side, not {checkers!r}")
    size = comb(6 + checkers, 6)
    values = np.zeros((size, size, 4))
    offsets, results = _results(size)
    for begin, end in _spans(2, 2 * size - 1):
        kernels.two_sided(begin, end, offsets, results, ROLL_CHANCES, values)
        progress(end / (2 * size - 1))
    return values.astype(np.float32)


def _results(size: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    offsets = np.zeros(size * len(ROLLS) + 1, np.int64)
    keys, out = _scratch()
    results = np.empty(0, np.int32)
    for _ in range(2):  # the first time counts
        total = kernels.list_results(6, ROLLS, _POWERS, keys, out, offsets, results)
        results = results if len(results) else np.empty(total, np.int32)
    return offsets, results


def _scratch() -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    return np.empty(MAX_RESULTS, np.int64), np.empty((MAX_RESULTS, 26), np.int8)


def _spans(begin: int, end: int) -> list[tuple[int, int]]:
    """begin..end cut into some _STEPS pieces."""
    cuts = np.unique(np.linspace(begin, end, _STEPS + 1).astype(int)).tolist()
    return list(zip(cuts, cuts[1:], strict=False))


def _rounded(spread: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Each row in units of 1 / SCALE; the likeliest entry takes what rounding left over."""
    units = np.rint(spread * SCALE).astype(np.int64)
    units[np.arange(len(units)), units.argmax(-1)] += SCALE - units.sum(-1)
    return units.astype(np.uint16)
