"""Phases of many positions at once, fast: train.benchmark_phases.phases_of without its opening.

    phases = fast_phases(boards)        # uint8[N] into DECISION_PHASES

Positions that are learnt from carry no count of plies, so none is called an opening.
"""

import numpy as np
from numpy.typing import NDArray

from nardy.rules.board import Boards
from nardy.rules.kernel import kernel

CONTACT, HOLDING, BACK_GAME, PRIMES, CRASHED, RACE, BEAR_OFF_CONTACT, BEAR_OFF = range(1, 9)


def fast_phases(boards: Boards) -> NDArray[np.uint8]:
    """uint8[N] into benchmark_phases.DECISION_PHASES of int8[N, 26]; hitting family."""
    phases = np.empty(len(boards), np.uint8)
    _mark_phases(boards, np.empty((2, 26), np.int64), phases)
    return phases


@kernel
def _mark_phases(boards, sides, phases):
    for i in range(boards.shape[0]):
        for point in range(26):
            sides[0, point] = max(boards[i, point], 0)
            sides[1, point] = max(-boards[i, 25 - point], 0)
        phases[i] = _phase(sides[0], sides[1])


@kernel
def _phase(mine, theirs):
    """Each side: checkers on its own points 1..24 and its bar, 25."""
    if _rearmost(mine) + _rearmost(theirs) <= 24:
        return BEAR_OFF if _rearmost(mine) <= 6 else RACE
    if min(_rearmost(mine), _rearmost(theirs)) <= 6 or min(_from(mine, 1), _from(theirs, 1)) < 15:
        return BEAR_OFF_CONTACT
    if min(_from(mine, 3), _from(theirs, 3)) <= 6:
        return CRASHED
    if _back_game(mine) or _back_game(theirs):
        return BACK_GAME
    if _prime(mine, theirs) and _prime(theirs, mine):
        return PRIMES
    if _holding(mine, theirs) or _holding(theirs, mine):
        return HOLDING
    return CONTACT


@kernel
def _rearmost(side):
    for point in range(25, 0, -1):
        if side[point]:
            return point
    return 0


@kernel
def _from(side, point):
    """Checkers on a point and behind it."""
    total = 0
    for p in range(point, 26):
        total += side[p]
    return total


@kernel
def _made(side, first, last):
    """Made points from first to last."""
    total = 0
    for point in range(first, last + 1):
        total += side[point] >= 2
    return total


@kernel
def _back_game(side):
    return _made(side, 19, 24) >= 2 and _from(side, 19) >= 4


@kernel
def _prime(own, other):
    """Four made points in a row with a checker of the other side behind them."""
    for first in range(1, 22):
        if _made(own, first, first + 3) == 4 and _from(other, 26 - first) > 0:
            return True
    return False


@kernel
def _holding(own, other):
    return _made(own, 18, 22) > 0 and (_made(other, 18, 22) > 0 or _from(other, 19) == 0)
