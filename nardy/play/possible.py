"""Chances that the rules leave: no gammon against a player who has borne a checker off (K14, D11).

    chances = possible(net.outcomes(boards), boards, net.variant)

A net has to learn that, and does so only nearly; a reader of its numbers should not see the rest.
"""

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Floats
from nardy.rules.board import Boards
from nardy.rules.variants import Variant


def possible(chances: Floats, boards: Boards, variant: Variant) -> Floats:
    """float32[N, K]: `chances` with those of impossible wins added to the single game's.

    chances: float32[N, K], of variant.outcomes; boards: int8[N, 26]; both of one player's view,
    before or after a move of either side. Points won are exact where the game is over.
    """
    points = np.array(variant.outcomes)
    own_off = np.maximum(boards, 0).sum(-1) < variant.checkers
    other_off = -np.minimum(boards, 0).sum(-1) < variant.checkers
    left = np.array(chances)
    for side, loser_off in ((1, other_off), (-1, own_off)):
        left[loser_off] = _single(left[loser_off], side * points)
    return left


def _single(chances: Floats, points: NDArray[np.int64]) -> Floats:
    """Every win of more than a point counted as one of a point."""
    more = points > 1
    folded = chances.copy()
    folded[:, points == 1] += folded[:, more].sum(-1, keepdims=True)
    folded[:, more] = 0
    return folded
