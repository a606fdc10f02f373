"""Legal afterstates of the hitting family (short nardy, rules K4..K13), one position at a time.

Sets of cells are 26-bit masks. A board's occupied and closed cells are read once; then moves are
bit operations, and a board is written only for a result that is new.
"""

from nardy.rules.kernel import kernel

MAX_RESULTS = 3060
"""More distinct results than one roll can have: 4 moves among 15 checkers, C(18, 4)."""

BAR = 25
BAR_BIT = 1 << 25
HOME = (1 << 7) - 1
OUTSIDE = ((1 << 25) - 1) ^ HOME  # points 7..24
PASS_KEY = 5**25


@kernel
def lowest_bit(mask):
    """The number of the lowest cell in a non-empty mask."""
    n = 0
    if mask & 0xFFFF == 0:
        n += 16
        mask >>= 16
    if mask & 0xFF == 0:
        n += 8
        mask >>= 8
    if mask & 0xF == 0:
        n += 4
        mask >>= 4
    if mask & 0x3 == 0:
        n += 2
        mask >>= 2
    return n + 1 - (mask & 1)


@kernel
def highest_bit(mask):
    """The number of the highest cell in a non-empty mask of cells 0..6."""
    n = 6
    while mask >> n == 0:
        n -= 1
    return n


@kernel
def sources(own, closed, die):
    """Mask of cells from which `die` can be played (K4, K5, K9, K10, K11).

    own: cells with the mover's checkers; closed: points with two or more enemy checkers.
    """
    if own & BAR_BIT:
        return BAR_BIT if (closed >> (BAR - die)) & 1 == 0 else 0
    movable = own & ~(closed << die) & ~((1 << (die + 1)) - 1)
    if own & OUTSIDE == 0 and own != 0:
        if own & (1 << die):
            movable |= 1 << die
        elif own >> die == 0:
            movable |= 1 << highest_bit(own)
    return movable


@kernel
def move(board, own, source, die):
    """Play one checker on `board` in place, hitting a blot (K8); the new mask of own cells."""
    target = source - die
    board[source] -= 1
    if board[source] == 0:
        own &= ~(1 << source)
    if target > 0:
        if board[target] < 0:
            board[target] = 1
            board[0] -= 1
        else:
            board[target] += 1
        own |= 1 << target
    return own


@kernel
def unmove(board, source, die, hit):
    """Take back `move`."""
    target = source - die
    board[source] += 1
    if target > 0:
        board[target] -= 1
        if hit:
            board[target] = -1
            board[0] += 1


@kernel
def emit(board, out, n):
    """Write `board` as result n; the number of results now."""
    row = out[n]
    for cell in range(26):
        row[cell] = board[cell]
    return n + 1


@kernel
def _play_pair(board, own, closed, first, second, order, tangled, powers, keys, out, n):
    """Append the new results of playing `first`, then `second`; their number now.

    order: 1 for the larger die first, 2 for the smaller. A result is known by how many checkers
    each cell gained or lost (base 5 digits, exact: at most two either way) and by whether a
    blot was hit in passing, on the way of one checker that then went on, and in which order.
    Where neither the bar nor a bear-off can be involved (`tangled` false) two different checkers
    may be played in either order, so the second order is tried for one checker alone.
    """
    firsts = sources(own, closed, first)
    while firsts:
        a = lowest_bit(firsts)
        firsts &= firsts - 1
        a_target = a - first
        a_hit = a_target > 0 and board[a_target] < 0
        own_a = move(board, own, a, first)
        a_key = -powers[a]
        if a_target > 0:
            a_key += powers[a_target]
        seconds = sources(own_a, closed, second)
        if order == 2 and not tangled:
            seconds &= 1 << a_target
        while seconds:
            b = lowest_bit(seconds)
            seconds &= seconds - 1
            b_target = b - second
            key = a_key - powers[b]
            if b_target > 0:
                key += powers[b_target]
            if a_hit and b == a_target:
                key += order * PASS_KEY
            seen = False
            for k in range(n):
                seen |= keys[k] == key
            if not seen:
                keys[n] = key
                b_hit = b_target > 0 and board[b_target] < 0
                move(board, own_a, b, second)
                n = emit(board, out, n)
                unmove(board, b, second, b_hit)
        unmove(board, a, first, a_hit)
    return n


@kernel
def _play_single(board, own, closed, die, out, n):
    """Append the results of playing `die` alone; their number now."""
    singles = sources(own, closed, die)
    while singles:
        a = lowest_bit(singles)
        singles &= singles - 1
        target = a - die
        hit = target > 0 and board[target] < 0
        move(board, own, a, die)
        n = emit(board, out, n)
        unmove(board, a, die, hit)
    return n


@kernel
def _play_double(board, own, closed, die, out):
    """Write the results of a double (K6, K7); their number, 0 for a pass.

    Sources are taken in non-increasing order. Every set of plays has exactly one such order and
    every result exactly one such set, so nothing is made twice.
    """
    n = 0
    deepest = 1
    depth = 0
    # own cells before each play, sources still to try there, the play that is under way
    own0 = own1 = own2 = own3 = own
    todo0 = sources(own, closed, die)
    todo1 = todo2 = todo3 = 0
    source0 = source1 = source2 = 0
    hit0 = hit1 = hit2 = False
    while True:
        todo = todo0 if depth == 0 else todo1 if depth == 1 else todo2 if depth == 2 else todo3
        if todo == 0:
            if depth == 0:
                return n
            depth -= 1
            if depth == 0:
                unmove(board, source0, die, hit0)
            elif depth == 1:
                unmove(board, source1, die, hit1)
            else:
                unmove(board, source2, die, hit2)
            continue
        source = highest_cell(todo)
        todo ^= 1 << source
        target = source - die
        hit = target > 0 and board[target] < 0
        own = own0 if depth == 0 else own1 if depth == 1 else own2 if depth == 2 else own3
        own = move(board, own, source, die)
        below = sources(own, closed, die) & ((2 << source) - 1) if depth < 3 else 0
        if below == 0:
            if depth + 1 > deepest:
                deepest = depth + 1
                n = 0
            if depth + 1 == deepest:
                n = emit(board, out, n)
            unmove(board, source, die, hit)
        if depth == 0:
            todo0 = todo
        elif depth == 1:
            todo1 = todo
        elif depth == 2:
            todo2 = todo
        else:
            todo3 = todo
        if below:
            if depth == 0:
                source0, hit0, own1, todo1 = source, hit, own, below
            elif depth == 1:
                source1, hit1, own2, todo2 = source, hit, own, below
            else:
                source2, hit2, own3, todo3 = source, hit, own, below
            depth += 1


@kernel
def highest_cell(mask):
    """The number of the highest cell in a non-empty mask."""
    n = 0
    if mask >> 16:
        n += 16
        mask >>= 16
    if mask >> 8:
        n += 8
        mask >>= 8
    if mask >> 4:
        n += 4
        mask >>= 4
    if mask >> 2:
        n += 2
        mask >>= 2
    return n + (mask >> 1)


@kernel
def hitting_afterstates(board, die1, die2, powers, keys, out):
    """Write the distinct legal results of one position and roll; their number.

    board: int8[26], mover's view; restored before return.
    powers: int64[26], 5 ** cell; keys: int64[MAX_RESULTS] scratch.
    out: int8[>= MAX_RESULTS, 26], results in the mover's view; a forced pass is the board itself.
    """
    own = 0
    closed = 0
    outside = 0
    for cell in range(1, 26):
        count = board[cell]
        if count > 0:
            own |= 1 << cell
            if cell > 6:
                outside += count
        elif count < -1:
            closed |= 1 << cell
    high = max(int(die1), int(die2))
    low = min(int(die1), int(die2))
    if high == low:
        n = _play_double(board, own, closed, high, out)
    else:
        tangled = outside < 2 or own & BAR_BIT != 0
        n = _play_pair(board, own, closed, high, low, 1, tangled, powers, keys, out, 0)
        n = _play_pair(board, own, closed, low, high, 2, tangled, powers, keys, out, n)
        if n == 0:  # one die at most: the larger, if it can be played (K7)
            n = _play_single(board, own, closed, high, out, 0)
        if n == 0:
            n = _play_single(board, own, closed, low, out, 0)
    if n == 0:
        n = emit(board, out, 0)
    return n


@kernel
def hitting_batch(boards, dice, powers, keys, out, offsets, first):
    """Fill `out` and `offsets` from board `first` on while there is room; boards done so far."""
    scratch = boards[0].copy()
    n = offsets[first]
    for i in range(first, boards.shape[0]):
        if n + MAX_RESULTS > out.shape[0]:
            return i
        for cell in range(26):
            scratch[cell] = boards[i, cell]
        n += hitting_afterstates(scratch, dice[i, 0], dice[i, 1], powers, keys, out[n:])
        offsets[i + 1] = n
    return boards.shape[0]
