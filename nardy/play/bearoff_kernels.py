"""Kernels of the bear-off tables: the rank of a position, the best plays, look-ups.

A side's checkers on points 1..P are ranked by the combinatorial number system. With s_p checkers
on points p..P,

    rank = Σ_p C(s_p + P − p, P + 1 − p)

is a number below C(N + P, P) for up to N checkers. A play lowers some s_p and raises none, so a
result has a lower rank than its parent, and tables fill in order of rank. Positions of fewer
checkers come first: the table of fewer checkers is the beginning of that of more.
"""

from math import comb

import numpy as np

from nardy.rules.hitting import hitting_afterstates
from nardy.rules.kernel import float_kernel, kernel

BINOMIALS = np.array([[comb(n, k) for k in range(26)] for n in range(41)], np.int64)
"""int64[41, 26], C(n, k): enough for 15 checkers on 25 points and the bar."""


@kernel
def rank_own(boards, i, points):
    """Rank of the mover's checkers on points 1..points of board i (25 is his bar)."""
    rank = np.int64(0)
    above = 0
    for p in range(points, 0, -1):
        above += max(boards[i, p], 0)
        rank += BINOMIALS[above + points - p, points + 1 - p]
    return rank


@kernel
def rank_other(boards, i, points):
    """Rank of the opponent's checkers, in his own numbering."""
    rank = np.int64(0)
    above = 0
    for p in range(points, 0, -1):
        above -= min(boards[i, 25 - p], 0)
        rank += BINOMIALS[above + points - p, points + 1 - p]
    return rank


@kernel
def unrank(rank, points, board):
    """Set cells 1..points of `board` (int8[26]) to the checkers of that rank."""
    above = 0
    for j in range(points, 0, -1):
        n = j - 1
        while BINOMIALS[n + 1, j] <= rank:
            n += 1
        rank -= BINOMIALS[n, j]
        on_or_above = n - j + 1  # s_p of point p = points + 1 - j
        if j < points:
            board[points - j] = above - on_or_above
        above = on_or_above
    board[points] = above


@kernel
def unrank_all(points, boards):
    """Set board i to the mover's checkers of rank i, and nothing else."""
    for i in range(boards.shape[0]):
        boards[i, :] = 0
        unrank(i, points, boards[i])


@kernel
def rank_pairs(boards, points, ranks):
    """ranks: int64[N, 2], of the mover's and of the opponent's checkers."""
    for i in range(boards.shape[0]):
        ranks[i, 0] = rank_own(boards, i, points)
        ranks[i, 1] = rank_other(boards, i, points)


@kernel
def count_own(board):
    """The mover's checkers on the board."""
    count = 0
    for cell in range(1, 26):
        count += max(board[cell], 0)
    return count


@kernel
def one_sided(first, last, points, rolls, chances, powers, keys, out, mean, spread, mean1, spread1):
    """Fill rows first..last of a one-sided table from the rows of lower rank.

    E(s) = 1 + Σ p(roll) min over plays of E(after), the mean number of rolls to bear all off; the
    same with E = 0 as soon as one is off. `spread` is the distribution under those plays; of equal
    plays the first that the move generator makes is taken.

    rolls: uint8[21, 2]; chances: float64[21]; powers, keys, out: see hitting_afterstates.
    mean, mean1: float64[M], E to bear off all and one; spread, spread1: float64[M, T].
    """
    board = np.zeros(26, np.int8)
    for rank in range(first, last):
        unrank(rank, points, board)
        checkers = count_own(board)
        fewer = BINOMIALS[checkers - 1 + points, points]  # ranks below have a checker less
        for k in range(rolls.shape[0]):
            n = hitting_afterstates(board, rolls[k, 0], rolls[k, 1], powers, keys, out)
            best = best1 = rank_own(out, 0, points)
            for r in range(1, n):
                child = rank_own(out, r, points)
                if mean[child] < mean[best]:
                    best = child
                if child < fewer or (best1 >= fewer and mean1[child] < mean1[best1]):
                    best1 = child
            mean[rank] += chances[k] * (1 + mean[best])
            for t in range(spread.shape[1] - 1):
                spread[rank, t + 1] += chances[k] * spread[best, t]
            if best1 < fewer:
                best1 = 0
            mean1[rank] += chances[k] * (1 + mean1[best1])
            for t in range(spread1.shape[1] - 1):
                spread1[rank, t + 1] += chances[k] * spread1[best1, t]


@kernel
def list_results(points, rolls, powers, keys, out, offsets, results):
    """The ranks of what each side and roll can become; how many there are.

    offsets: int64[M * 21 + 1]; results: int32[any], where too short nothing is written beyond.
    """
    board = np.zeros(26, np.int8)
    total = 0
    sides = (offsets.shape[0] - 1) // rolls.shape[0]
    for rank in range(sides):
        unrank(rank, points, board)
        for k in range(rolls.shape[0]):
            n = 0
            if rank > 0:
                n = hitting_afterstates(board, rolls[k, 0], rolls[k, 1], powers, keys, out)
            for r in range(n):
                if total + r < results.shape[0]:
                    results[total + r] = rank_own(out, r, points)
            total += n
            offsets[rank * rolls.shape[0] + k + 1] = total
    return total


@kernel
def two_sided(first, last, offsets, results, chances, values):
    """Fill the entries whose ranks add up to first..last-1 of a two-sided table, without gammons.

    values: float64[M, M, 4], [mover's rank, opponent's rank]: see bearoff.Bearoff.equities.
    An entry (i, j) rests on entries (j, r) with r < i, so that sums of ranks ascend.
    """
    size = values.shape[0]
    rolls = chances.shape[0]
    for total in range(first, last):
        for i in range(max(1, total - size + 1), min(total, size)):
            j = total - i
            for k in range(rolls):
                cubeless = centred = owned = theirs = -np.inf
                for r in range(offsets[i * rolls + k], offsets[i * rolls + k + 1]):
                    after = results[r]
                    if after == 0:
                        cubeless = centred = owned = theirs = 1.0
                        break
                    # the opponent is on roll: he may double unless the mover owns the cube (K16)
                    doubled = min(2 * values[j, after, 3], 1.0)
                    cubeless = max(cubeless, -values[j, after, 0])
                    centred = max(centred, -max(values[j, after, 1], doubled))
                    owned = max(owned, -values[j, after, 3])
                    theirs = max(theirs, -max(values[j, after, 2], doubled))
                values[i, j, 0] += chances[k] * cubeless
                values[i, j, 1] += chances[k] * centred
                values[i, j, 2] += chances[k] * owned
                values[i, j, 3] += chances[k] * theirs


@kernel
def reach(boards, i, points, checkers):
    """(checkers of the mover, of the opponent) where board i is a race that both sides play on
    their points 1..points with up to `checkers`, else (0, 0)."""
    own = other = 0
    far = boards[i, 0] != 0 or boards[i, 25] != 0
    for cell in range(1, 25):
        count = boards[i, cell]
        own += max(count, 0)
        other -= min(count, 0)
        far |= (count > 0 and cell > points) or (count < 0 and cell < 25 - points)
    if far or own < 1 or other < 1 or own > checkers or other > checkers:
        return 0, 0
    return own, other


@kernel
def covered(boards, points, checkers, found):
    """found: bool[N], whether the one-sided table reaches each board."""
    for i in range(boards.shape[0]):
        found[i] = reach(boards, i, points, checkers)[0] > 0


@kernel
def covered_by_two(boards, most, checkers, found):
    """found: bool[N], whether the two-sided table of `most` checkers reaches each board."""
    for i in range(boards.shape[0]):
        own, other = reach(boards, i, 6, most)
        found[i] = 0 < own < checkers and 0 < other < checkers


@float_kernel
def first_to_finish(first, spread, a, b, lead):
    """P(A ≤ B + 1 − lead), A and B rolls of ranks a and b to the end; lead 1: a rolls first."""
    width = spread.shape[1]
    not_yet = 65535  # of b, that he has not finished
    chance = np.float32(0)
    j = np.int64(0)
    start = np.int64(first[a]) - np.int64(first[b]) - lead
    for t in range(width):
        while j <= start + t and j < width:
            not_yet -= np.int64(spread[b, j])
            j += 1
        chance += np.float32(spread[a, t]) * np.float32(not_yet)
    return chance / np.float32(65535.0 * 65535.0)


@float_kernel
def before_first_off(first, spread, save, a, b, lead):
    """As first_to_finish, with B the rolls that b needs to bear his first checker off."""
    not_yet = 65535
    chance = np.float32(0)
    j = np.int64(0)  # save[b, j] is the chance of j + 1 rolls
    for t in range(spread.shape[1]):
        while j + 1 <= np.int64(first[a]) + t - lead and j < save.shape[1]:
            not_yet -= np.int64(save[b, j])
            j += 1
        if not_yet <= 0:
            break
        chance += np.float32(spread[a, t]) * np.float32(not_yet)
    return chance / np.float32(65535.0 * 65535.0)


@kernel
def look_up(boards, checkers, most1, points, first, spread, save, most2, two, chances, found):
    """Chances of the outcomes (-3, -2, -1, 1, 2, 3) for the mover where a table reaches.

    most1, points: extent of the one-sided table; most2: checkers of the two-sided one, on six
    points. chances: float32[N, 6], rows that no table reaches are left; found: bool[N].
    """
    for i in range(boards.shape[0]):
        own, other = reach(boards, i, points, most1)
        found[i] = own > 0
        if own == 0:
            continue
        win = np.float32(-1)
        if own <= most2 and other <= most2 and own < checkers and other < checkers:
            inside = points == 6 or reach(boards, i, 6, most2)[0] > 0
            if inside:
                a, b = rank_own(boards, i, 6), rank_other(boards, i, 6)
                win = (1 + two[a, b, 0]) / 2
        gammon = lost_gammon = np.float32(0)
        if win < 0:
            a, b = rank_own(boards, i, points), rank_other(boards, i, points)
            win = first_to_finish(first, spread, a, b, 1)
            if other == checkers:
                gammon = min(win, before_first_off(first, spread, save, a, b, 1))
            if own == checkers:
                lost_gammon = min(1 - win, before_first_off(first, spread, save, b, a, 0))
        chances[i, 0] = chances[i, 5] = 0
        chances[i, 1] = lost_gammon
        chances[i, 2] = 1 - win - lost_gammon
        chances[i, 3] = win - gammon
        chances[i, 4] = gammon
