"""Legal afterstates of the blocking family (long nardy, rules D2..D10), one position at a time.

As in hitting.py, sets of cells are bit masks and a board is written only for a result. Bits are
the mover's points; to judge six in a row (D8) a mask is turned to the enemy's numbering, in which
the row may not cross the seam, and cut to the points where the row is forbidden.
"""

import numpy as np

from nardy.rules.hitting import (
    MAX_RESULTS,
    OUTSIDE,
    emit,
    highest_cell,
    lowest_bit,
    move,
    sources,
    unmove,
)
from nardy.rules.kernel import kernel

HEAD = 24
HEAD_BIT = 1 << HEAD
HALF = ((1 << 13) - 1) ^ 1  # points 1..12
ALL = ((1 << 25) - 1) ^ 1  # points 1..24
FRONT_CHECKER_AHEAD, FORBID, ENEMY_HOME, ALLOW = range(4)
"""The prime rules, by their place in variants.PRIME_RULES."""

UNTRIED, SOURCE, OWN, CLEAN = range(4)
"""Columns of `path`: sources still to try, the one being tried, the own cells before it, and
whether no position on the way there had a forbidden row."""


@kernel
def forbidden_points(prime, front):
    """Mask, in the enemy's numbering, of the points where six in a row may not stand (D8).

    prime: the prime rule; front: the number of the enemy's most advanced checker, 25 for none.
    """
    if prime == FORBID:
        return ALL
    if prime == ALLOW or front == 25:
        return 0
    if prime == ENEMY_HOME:
        return ALL if front > 6 else 0
    return (1 << front) - 2


@kernel
def in_enemy_order(own):
    """A mask of the mover's points in the enemy's numbering: p + 12 or p - 12."""
    return ((own & HALF) << 12) | ((own >> 12) & HALF)


@kernel
def has_six(own, forbidden):
    """Whether six own points in a row lie on points where they may not stand (D8)."""
    row = in_enemy_order(own) & forbidden
    row &= row >> 1
    return row & (row >> 2) & (row >> 4) != 0


@kernel
def one_short_of_six(own, forbidden):
    """Whether a single move might make six: there are five own points to make it from."""
    row = in_enemy_order(own) & forbidden
    for _ in range(4):
        row &= row - 1
    return row != 0


@kernel
def moved(board, own, source, die):
    """The mask of own cells that `move` would give."""
    if board[source] == 1:
        own &= ~(1 << source)
    if source > die:
        own |= 1 << (source - die)
    return own


@kernel
def _play_pair(
    board, own, closed, forbidden, each_step, heads, first, second, tangled, powers, keys, out, n
):
    """Append the new results of playing `first`, then `second`; their number now.

    tangled: None of the results is known yet, or the order of two moves may matter: try all second
    moves; otherwise only the one of the same checker. Results are known by how many
    checkers each cell gained or lost (base 5 digits, exact: at most two either way).
    """
    firsts = sources(own, closed, first)
    while firsts:
        a = lowest_bit(firsts)
        firsts &= firsts - 1
        if each_step and has_six(moved(board, own, a, first), forbidden):
            continue
        own_a = move(board, own, a, first)
        a_key = -powers[a]
        if a > first:
            a_key += powers[a - first]
        seconds = sources(own_a, closed, second)
        if a == HEAD and heads == 1:
            seconds &= ~HEAD_BIT
        if not tangled:
            seconds &= 1 << (a - first)
        while seconds:
            b = lowest_bit(seconds)
            seconds &= seconds - 1
            key = a_key - powers[b]
            if b > second:
                key += powers[b - second]
            seen = has_six(moved(board, own_a, b, second), forbidden)
            for k in range(n):
                seen |= keys[k] == key
            if not seen:
                keys[n] = key
                move(board, own_a, b, second)
                n = emit(board, out, n)
                unmove(board, b, second, False)
        unmove(board, a, first, False)
    return n


@kernel
def _play_single(board, own, closed, forbidden, die, out):
    """Write the results of playing `die` alone; their number."""
    n = 0
    singles = sources(own, closed, die)
    while singles:
        a = lowest_bit(singles)
        singles &= singles - 1
        if not has_six(moved(board, own, a, die), forbidden):
            move(board, own, a, die)
            n = emit(board, out, n)
            unmove(board, a, die, False)
    return n


@kernel
def _play_two(board, own, closed, forbidden, each_step, heads, high, low, powers, keys, out):
    """Write the results of two different dice (D4, D7); their number and the dice played."""
    outside = 0
    rest = own & OUTSIDE
    while rest:
        outside += board[lowest_bit(rest)]
        rest &= rest - 1
    # two checkers may be played in either order unless one order bears off or makes a row
    tangled = outside < 2 or (each_step and one_short_of_six(own, forbidden))
    n = _play_pair(
        board, own, closed, forbidden, each_step, heads, high, low, True, powers, keys, out, 0
    )
    n = _play_pair(
        board, own, closed, forbidden, each_step, heads, low, high, tangled, powers, keys, out, n
    )
    if n > 0:
        return n, 2
    for die in (high, low):  # one die at most: the larger, if it can be played
        n = _play_single(board, own, closed, forbidden, die, out)
        if n > 0:
            return n, 1
    return 0, 0


@kernel
def _has_clean_order(board, own, closed, forbidden, die, path, depth):
    """Whether the moves of path[0..depth] can be played in some order without a forbidden row.

    board, own: after all of them. Positions are reached subset by subset: what stands where
    depends on the set of moves played, not on their order. The board is left as it was.
    """
    last = (2 << depth) - 1  # the set of all moves
    for d in range(depth, -1, -1):
        unmove(board, path[d, SOURCE], die, False)
    reached = 1
    for played in range(last):
        if (reached >> played) & 1 == 0:
            continue
        here = path[0, OWN]
        for d in range(depth + 1):
            if (played >> d) & 1:
                here = move(board, here, path[d, SOURCE], die)
        if played == 0 or not has_six(here, forbidden):
            movable = sources(here, closed, die)
            for d in range(depth + 1):
                if (played >> d) & 1 == 0 and (movable >> path[d, SOURCE]) & 1:
                    reached |= 1 << (played | (1 << d))
        for d in range(depth, -1, -1):
            if (played >> d) & 1:
                unmove(board, path[d, SOURCE], die, False)
    for d in range(depth + 1):
        move(board, path[0, OWN], path[d, SOURCE], die)
    return (reached >> last) & 1 != 0


@kernel
def _play_double(board, own, closed, forbidden, each_step, heads, die, path, out):
    """Write the results of a double (D6, D7); their number and the dice played.

    Sources are taken in non-increasing order. Every set of plays has exactly one such order and
    every result exactly one such set, so nothing is made twice. That order may lead through a
    forbidden row which another avoids.
    """
    n = 0
    most = 0
    depth = 0
    path[0, OWN] = own
    path[0, CLEAN] = 1
    path[0, UNTRIED] = sources(own, closed, die)
    while depth >= 0:
        if path[depth, UNTRIED] == 0:
            depth -= 1
            if depth >= 0:
                unmove(board, path[depth, SOURCE], die, False)
            continue
        source = highest_cell(path[depth, UNTRIED])
        path[depth, UNTRIED] ^= 1 << source
        path[depth, SOURCE] = source
        own = move(board, path[depth, OWN], source, die)
        dice = depth + 1
        allowed = not has_six(own, forbidden)
        clean = path[depth, CLEAN] != 0
        if (
            allowed
            and dice >= most
            and (clean or _has_clean_order(board, own, closed, forbidden, die, path, depth))
        ):
            if dice > most:
                most = dice
                n = 0
            n = emit(board, out, n)
        below = 0
        if dice < 4:
            below = sources(own, closed, die) & ((2 << source) - 1)
            if dice >= heads:  # sources do not increase: each one so far was the head (D4)
                below &= ~HEAD_BIT
        if below:
            depth += 1
            path[depth, UNTRIED] = below
            path[depth, OWN] = own
            path[depth, CLEAN] = clean and (allowed or not each_step)
        else:
            unmove(board, source, die, False)
    return n, most


@kernel
def _play(board, own, closed, forbidden, each_step, heads, high, low, path, powers, keys, out):
    """Write the results with at most `heads` checkers from the head; number, dice played."""
    if high == low:
        return _play_double(board, own, closed, forbidden, each_step, heads, high, path, out)
    return _play_two(board, own, closed, forbidden, each_step, heads, high, low, powers, keys, out)


@kernel
def blocking_afterstates(board, die1, die2, heads, prime, each_step, path, powers, keys, out):
    """Write the distinct legal results of one position and roll; their number.

    board: int8[26], mover's view; restored before return. heads: how many checkers may leave the
    head, 1 or 2; the second only where that lets more dice be played (D4, D5).
    prime: see forbidden_points; each_step: whether D8 holds after each single move (D9).
    path: int64[4, 4], scratch; powers, keys, out: see hitting_afterstates.
    """
    own = 0
    closed = 0
    front = 25
    for cell in range(1, 25):
        if board[cell] > 0:
            own |= 1 << cell
        elif board[cell] < 0:
            closed |= 1 << cell
            front = min(front, cell + 12 if cell <= 12 else cell - 12)
    forbidden = forbidden_points(prime, front)
    high = max(int(die1), int(die2))
    low = min(int(die1), int(die2))
    n, dice = _play(board, own, closed, forbidden, each_step, 1, high, low, path, powers, keys, out)
    if heads == 2 and dice < (4 if high == low else 2):
        n, more = _play(
            board, own, closed, forbidden, each_step, 2, high, low, path, powers, keys, out
        )
        if more == dice:  # the second checker gained nothing
            n, dice = _play(
                board, own, closed, forbidden, each_step, 1, high, low, path, powers, keys, out
            )
    if n == 0:
        n = emit(board, out, 0)
    return n


@kernel
def blocking_batch(boards, dice, heads, prime, each_step, powers, keys, out, offsets, first):
    """Fill `out` and `offsets` from board `first` on while there is room; boards done so far.

    heads: uint8[B], see blocking_afterstates.
    """
    scratch = boards[0].copy()
    path = np.empty((4, 4), np.int64)
    n = offsets[first]
    for i in range(first, boards.shape[0]):
        if n + MAX_RESULTS > out.shape[0]:
            return i
        for cell in range(26):
            scratch[cell] = boards[i, cell]
        n += blocking_afterstates(
            scratch, dice[i, 0], dice[i, 1], heads[i], prime, each_step, path, powers, keys, out[n:]
        )
        offsets[i + 1] = n
    return boards.shape[0]
