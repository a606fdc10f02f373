"""Chances that the rules leave: no gammon against a player who has borne a checker off (K14, D11).

    chances = possible(net.outcomes(boards), boards, net.variant)

A net has to learn that, and does so only nearly; a reader of its numbers should not see the rest.
"""

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Floats
from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards, checkers_only
from nardy.rules.variants import Variant


def possible(chances: Floats, boards: Boards, variant: Variant) -> Floats:
    """float32[N, K]: `chances` with those of impossible wins added to the single game's.

    chances: float32[N, K], of variant.outcomes; boards: int8[N, 26]; both of one player's view,
    before or after a move of either side. Points won are exact where the game is over.
    """
    points, left = np.array(variant.outcomes), np.array(chances)
    own_off, other_off = _off(boards, variant)
    for side, loser_off in ((1, other_off), (-1, own_off)):
        if loser_off.any():
            left[loser_off] = _single(left[loser_off], side * points)
    return left


def with_off(parents: Boards, results: Afterstates, variant: Variant) -> NDArray[np.bool_]:
    """bool[N]: the results in which a checker of either side is off. Quick where there are none.

    parents: int8[B, 26] that `results` were made from.
    """
    found = np.zeros(len(results.boards), np.bool_)
    outside = np.maximum(checkers_only(parents, variant.family)[:, 7:], 0).sum(-1, dtype=np.int8)
    # of four dice of a double at least one bears off
    may = np.logical_or(*_off(parents, variant)) | (outside <= 3)
    if may.any():
        rows = np.repeat(may, np.diff(results.offsets))
        found[rows] = np.logical_or(*_off(results.boards[rows], variant))
    return found


def _off(boards: Boards, variant: Variant) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """bool[N] each: whether the player whose view it is has borne a checker off, and the other."""
    bare = checkers_only(boards, variant.family)
    own = np.maximum(bare, 0).sum(-1, dtype=np.int8)
    other = -np.minimum(bare, 0).sum(-1, dtype=np.int8)
    return own < variant.checkers, other < variant.checkers


def _single(chances: Floats, points: NDArray[np.int64]) -> Floats:
    """Every win of more than a point counted as one of a point."""
    more = points > 1
    folded = chances.copy()
    folded[:, points == 1] += folded[:, more].sum(-1, keepdims=True)
    folded[:, more] = 0
    return folded
