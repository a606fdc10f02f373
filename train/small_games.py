"""Kernels that value whole games of one to three checkers a side: states, plays, one backup.

A state is a pair of ranks (nardy.play.bearoff_kernels): the mover's checkers and the opponent's,
each on points 1..24 and the bar, in its owner's numbering. Rank 0 has none left.

What a side can play depends on its own checkers, the roll, and the one point that three checkers
can close; what it hits, on the blots it touches. So every play is listed once for each (checkers,
closed point, roll), on a board with an enemy blot on every other free point: the move generator
then tells which points it touches. A backup is a walk through these lists.
"""

import numpy as np

from nardy.play.bearoff_kernels import rank_own
from nardy.rules.hitting import hitting_afterstates
from nardy.rules.kernel import kernel

CLOSED = 25
"""Values of the closed point: 0 for none, or the mover's point 1..24."""

NO_BLOT = 31
"""A point that no play touches, in the place of a blot that there is not."""


@kernel
def list_plays(first, last, sides, rolls, powers, keys, out, offsets, after, touched):
    """The plays of sides first..last; how many there are.

    sides: int8[M, 26], own checkers of each rank; offsets: int64[(last - first) * CLOSED * 21 + 1],
    the plays of (side, closed point, roll) begin there; after: uint16[any], rank of the side after
    the play; touched: uint32[any], mask of the points whose blots it hits. What does not fit into
    `after` is counted, not written.
    """
    board = np.zeros(26, np.int8)
    total = 0
    list_number = 0
    for side in range(first, last):
        for closed in range(CLOSED):
            for k in range(rolls.shape[0]):
                n = 0
                if side > 0 and (closed == 0 or sides[side, closed] == 0):
                    for cell in range(26):
                        board[cell] = sides[side, cell]
                        if 0 < cell < 25 and board[cell] == 0:
                            board[cell] = -2 if cell == closed else -1
                    n = hitting_afterstates(board, rolls[k, 0], rolls[k, 1], powers, keys, out)
                for r in range(n):
                    if total < after.shape[0]:
                        after[total] = rank_own(out, r, 25)
                        touched[total] = hit_points(board, out, r)
                    total += 1
                list_number += 1
                offsets[list_number] = total
    return total


@kernel
def hit_points(board, out, r):
    """Mask of the points whose blot is gone in result r."""
    mask = np.uint32(0)
    for cell in range(1, 25):
        if board[cell] < 0 and out[r, cell] >= 0:
            mask |= np.uint32(1) << np.uint32(cell)
    return mask


@kernel
def describe(sides, own_mask, other_mask, closed, blots, hit):
    """What the other player sees of each side.

    own_mask, other_mask: uint32[M], occupied points 1..24 in the side's and in the other's
    numbering; closed: int64[M], its closed point in the other's; blots: uint32[M, 3], its blots
    in the other's, or NO_BLOT; hit: int64[M, 8], its rank after blot j went to the bar for each
    bit j of the second index.
    """
    board = np.zeros((1, 26), np.int8)
    for side in range(sides.shape[0]):
        found = 0
        for point in range(1, 25):
            count = sides[side, point]
            if count > 0:
                own_mask[side] |= np.uint32(1) << np.uint32(point)
                other_mask[side] |= np.uint32(1) << np.uint32(25 - point)
            if count > 1:
                closed[side] = 25 - point
            if count == 1:
                blots[side, found] = 25 - point
                found += 1
        for subset in range(8):
            board[0, :] = sides[side]
            for j in range(3):
                if subset >> j & 1 and j < found:
                    board[0, 25 - blots[side, j]] -= 1
                    board[0, 25] += 1
            hit[side, subset] = rank_own(board, 0, 25)


@kernel
def backup(
    other, following, own_mask, other_mask, closed, blots, offsets, after, touched, chances,
    settled, low, high,
):  # fmt: skip
    """low[own, other], high[own, other] = Σ p(roll) max over plays, for every `own`.

    following: float32[2, 8, M], bounds (low, high) on the mover's value after a play that hit the
    blots of a subset and left him on a rank.
    low, high: float32[M, M], narrowed in place where they lie more than `settled` apart.
    Returns the largest gap that is left and the largest change.
    """
    b0, b1, b2 = blots[other, 0], blots[other, 1], blots[other, 2]
    one, two = np.uint32(1), np.uint32(2)
    gap = change = 0.0
    for own in range(1, low.shape[0]):
        if own_mask[own] & other_mask[other] or high[own, other] - low[own, other] <= settled:
            continue
        list_number = (own * CLOSED + closed[other]) * chances.shape[0]
        total_low = total_high = 0.0
        for k in range(chances.shape[0]):
            best_low = best_high = np.float32(-9)
            for play in range(offsets[list_number + k], offsets[list_number + k + 1]):
                t = touched[play]
                subset = (t >> b0 & one) | (t >> b1 & one) << one | (t >> b2 & one) << two
                best_low = max(best_low, following[0, subset, after[play]])
                best_high = max(best_high, following[1, subset, after[play]])
            total_low += chances[k] * best_low
            total_high += chances[k] * best_high
        # what float32 cannot tell apart is no change, so that sweeps come to an end
        before_low, before_high = low[own, other], high[own, other]
        low[own, other] = max(before_low, total_low)
        high[own, other] = min(before_high, total_high)
        change = max(change, low[own, other] - before_low, before_high - high[own, other])
        gap = max(gap, high[own, other] - low[own, other])
    return gap, change
