"""The phases that benchmark files tell positions apart by, as benchmarks/README.md defines them.

    phases = phases_of(boards, plies)       # int64[N] into DECISION_PHASES

train.phases has them fast, for positions that are learnt from.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.rules.board import Boards

Array = NDArray[Any]

DECISION_PHASES = (
    "opening",
    "contact, other",
    "holding",
    "back game",
    "prime v prime",
    "crashed",
    "race",
    "bear-off, contact",
    "bear-off, no contact",
)
LONG_PHASES = (
    "opening",
    "heads",
    "six or five in a row",
    "contact, other",
    "race",
    "bear-off",
)
"""The phases of decisions of long nardy."""

VALUE_PHASES = (
    "contact",
    "crashed",
    "bear-in v contact",
    "bear-off v contact",
    "back game",
    "race",
    "bear-off",
)

OPENING_PLIES = 6
"""Turns after which the opening is over."""


def phases_of(boards: Boards, plies: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[N] into DECISION_PHASES; benchmarks/README.md has the definitions, the first that
    fits either side counts.

    boards: int8[N, 26]; plies: int64[N], turns played before.
    """
    mine, theirs = np.maximum(boards[:, 1:], 0), np.maximum(-boards[:, 24::-1], 0)
    sides = ((mine, theirs), (theirs, mine))
    contact = _rearmost(mine) + _rearmost(theirs) > 24
    home = [~side[:, 6:].any(1) for side in (mine, theirs)]
    off = [side.sum(1) < 15 for side in (mine, theirs)]
    primes = [_prime(own, other) for own, other in sides]
    order = (
        (0, plies < OPENING_PLIES),
        (8, ~contact & home[0]),
        (6, ~contact),
        (7, home[0] | home[1] | off[0] | off[1]),
        (5, (mine[:, 2:].sum(1) <= 6) | (theirs[:, 2:].sum(1) <= 6)),
        (3, _back_game(mine) | _back_game(theirs)),
        (4, primes[0] & primes[1]),
        (2, _holding(mine, theirs) | _holding(theirs, mine)),
    )
    return np.select([fits for _, fits in order], [phase for phase, _ in order], 1)


def _rearmost(side: Array) -> Array:
    """Each side is int8[N, 25]: checkers on its own points 1..24 and on the bar."""
    return np.where(side.any(1), 25 - (side[:, ::-1] > 0).argmax(1), 0)


def _back_game(side: Array) -> Array:
    return ((side[:, 18:24] >= 2).sum(1) >= 2) & (side[:, 18:].sum(1) >= 4)


def _prime(own: Array, other: Array) -> Array:
    """Four made points in a row with a checker of the other side behind them."""
    found = np.zeros(len(own), bool)
    for first in range(21):
        found |= (own[:, first : first + 4] >= 2).all(1) & other[:, 24 - first :].any(1)
    return found


def _holding(own: Array, other: Array) -> Array:
    return _anchored(own) & (_anchored(other) | ~other[:, 18:].any(1))


def _anchored(side: Array) -> Array:
    return np.any(side[:, 17:22] >= 2, 1)
