"""Kernels of the additive first layer: accumulators by difference, ReLU, choice.

A position's first-layer sum is bias + the table rows of its cells. An afterstate differs from its
parent in two to eight cells, so its sum is its parent's plus those cells' differences.
"""

from typing import Any

import numpy as np

from nardy.rules.hitting import lowest_bit
from nardy.rules.kernel import float_kernel, kernel

# In the loops below k counts from 0, since an index that might be negative keeps a loop from
# vectorising, and an array is indexed as table[row, k]: a view of the row would be counted in
# and out atomically, which costs as much as adding it. Counts are widened to int32 so that the
# loops over cells vectorise. `blocking` is whether the game is of that family (long nardy).


@kernel
def standing(boards, i, blocking):
    """Of board i: -1 where the mover has no checker left, 1 in a race, 0 in contact
    (features.phases_of)."""
    own = np.int32(0)
    enemy = np.int32(0)
    for cell in range(26):
        own |= np.int32(boards[i, cell] > 0) << np.int32(cell)
        enemy |= np.int32(boards[i, cell] < 0) << np.int32(cell)
    if own == 0:
        return -1
    if blocking:
        # a race: own cells all below 13 and none of the enemy's
        return 1 if own < 1 << 13 and enemy & ((1 << 13) - 1) == 0 else 0
    # a race: all own cells lie below the lowest of the enemy's, or he has none
    return 1 if enemy == 0 or own < (enemy & -enemy) else 0


@kernel
def points_of_win(board, checkers, blocking):
    """Points for a mover who has borne off all (K14, D11)."""
    left = 0
    deep = board[0] < 0
    for cell in range(26):
        left -= board[cell]
        deep |= cell < 7 and board[cell] < 0
    return 1 if left < checkers else 3 if deep and not blocking else 2


@kernel
def sort_rows(boards, checkers, blocking, phases, slots, counts, won):
    """Give each board a row so that the rows of a phase lie together, and settle finished games.

    slots: int64[N], the row of board i; counts: int64[phases], rows of each phase;
    won: int8[N], points of a mover who has finished, else 0.
    """
    for phase in range(phases):
        counts[phase] = 0
    for i in range(boards.shape[0]):
        state = standing(boards, i, blocking)
        won[i] = points_of_win(boards[i], checkers, blocking) if state < 0 else 0
        slots[i] = 1 if phases > 1 and state != 0 else 0
        counts[slots[i]] += 1
    contact = 0
    race = counts[0]
    for i in range(boards.shape[0]):
        if slots[i] == 0:
            slots[i] = contact
            contact += 1
        else:
            slots[i] = race
            race += 1


@kernel
def relu_bfloat16(x):
    """max(x, 0) rounded to bfloat16, as the uint16 of its bits.

    bfloat16 is the upper half of a float32, and a negative float32 is a negative int32, so both
    steps are integer operations on the bits.
    """
    return (max(np.float32(x).view(np.int32), 0) + 0x8000) >> 16


@kernel
def borne_off(board, checkers, sign):
    """How many checkers of the side with that sign are off."""
    left = checkers
    for cell in range(26):
        left -= max(sign * board[cell], 0)
    return left


@kernel
def same_board(boards, i, j):
    """Whether boards i and j are the same."""
    different = np.int32(0)
    for cell in range(26):
        different |= np.int32(boards[i, cell] != boards[j, cell])
    return different == 0


@float_kernel
def accumulate(board, checkers, table, bias, total):
    """total = bias + the table rows, cell * 31 + count + 15, of cells and checkers borne off."""
    width = total.shape[0]
    own = 26 * 31 + borne_off(board, checkers, 1) + 15
    opponent = 27 * 31 + borne_off(board, checkers, -1) + 15
    for k in range(width):
        total[k] = bias[k] + (table[own, k] + table[opponent, k])
    for cell in range(26):
        if board[cell] != 0:
            row = cell * 31 + board[cell] + 15
            for k in range(width):
                total[k] += table[row, k]


@kernel
def list_steps(parents, i, children, j, checkers, parent_off, leave, arrive):
    """Rows of the step table that lead from parent i to child j: how many of each kind, and the
    cells that differ as bits.

    Step row cell * 31 + count + 15 is what the sum gains when the count of `cell` falls by one
    from `count`; it loses as much when the count rises to it. A checker that moves, or is hit, or
    is borne off, makes one count fall and one rise, so there are as many of one kind as the other.
    leave, arrive: int64[32], filled up to an even number with rows that cancel.
    """
    differ = np.int32(0)
    left = np.int32(0)
    for cell in range(26):
        count = np.int32(children[j, cell])
        differ |= np.int32(count != parents[i, cell]) << np.int32(cell)
        left += max(count, np.int32(0))
    changed = differ
    falls = 0
    rises = 0
    while changed:
        cell = lowest_bit(changed)
        changed &= changed - 1
        row = cell * 31 + 15
        before, after = parents[i, cell], children[j, cell]
        for count in range(after + 1, before + 1):
            leave[falls] = row + count
            falls += 1
        for count in range(before + 1, after + 1):
            arrive[rises] = row + count
            rises += 1
    for count in range(parent_off + 1, checkers - left + 1):
        arrive[rises] = 26 * 31 + 15 + count
        rises += 1
    while falls == 0 or falls & 1:
        leave[falls] = arrive[falls] = 0
        falls += 1
    return falls, differ


def pair_memory(units: int, width: int) -> Any:
    """Scratch for nets whose first `units` of `width` see pairs, as the kernels below take it.

    codes int64[26] of a parent; changed int64[2, 26], cells of a child and their codes; weights
    float32[104, units], what a cell with a code makes of its neighbours in the parent; known
    bool[104], which of them are made; extra float32[width], zero beyond the units.
    """
    return (
        np.empty(26, np.int64),
        np.empty((2, 26), np.int64),
        np.empty((26 * 4, units), np.float32),
        np.zeros(26 * 4, np.bool_),
        np.zeros(width, np.float32),
    )


# A kernel that is called for each afterstate takes pair_memory's arrays one by one: to take a
# tuple apart, too, counts each array in and out atomically.


@kernel
def pair_code(count):
    """What pairs see of a cell with that count (features.CODES), -1 where it is empty."""
    if count == 0:
        return -1
    return int(count < 0) * 2 + int(abs(np.int32(count)) > 1)


@kernel
def cell_at(cell, step, blocking):
    """The cell `step` beyond another, up to 6 either way, or -1 (features.pair_uppers)."""
    other = cell + step
    if blocking:
        return other - 24 if other > 24 else other + 24 if other < 1 else other
    return other if other < 26 else -1


@kernel
def pair_row(lower, code, step, code_upper):
    """The row of the pair table of a cell and the one `step` beyond it, neither empty."""
    return ((lower * 6 + step - 1) * 4 + code) * 4 + code_upper


@float_kernel
def accumulate_pairs(boards, i, pairs, blocking, codes, known, total):
    """Add the pairs of board i to the first units of `total`, and remember it as a parent.

    pairs: float32[PAIR_ROWS, U].
    """
    if pairs.shape[1] == 0:
        return
    known[:] = False
    for cell in range(26):
        codes[cell] = pair_code(boards[i, cell])
    for a in range(26):
        for step in range(1, 7):
            b = cell_at(a, step, blocking)
            if codes[a] >= 0 and b >= 0 and codes[b] >= 0:
                row = pair_row(a, codes[a], step, codes[b])
                for k in range(pairs.shape[1]):
                    total[k] += pairs[row, k]


@float_kernel
def weigh(cell, code, pairs, blocking, codes, weights, known):
    """Make the row of weights with what `cell`, if it had `code`, would make of the parent's other
    cells."""
    at = cell * 4 + code
    known[at] = True
    for k in range(pairs.shape[1]):
        weights[at, k] = 0
    for step in range(-6, 7):
        other = cell_at(cell, step, blocking)
        if step != 0 and other >= 0 and codes[other] >= 0:
            if step > 0:
                row = pair_row(cell, code, step, codes[other])
            else:
                row = pair_row(other, codes[other], -step, code)
            for k in range(pairs.shape[1]):
                weights[at, k] += pairs[row, k]


@float_kernel
def pairs_of_child(children, j, differ, pairs, blocking, codes, changed, weights, known, extra):
    """extra = what the pairs of child j add to those of its parent (accumulate_pairs).

    differ: the cells in which they differ, as bits. Each whose code changed takes its new weight
    for its old one, as if its neighbours stood still; for two neighbours that both changed the
    four pairs that they make set that right.
    """
    units = pairs.shape[1]
    if units == 0:
        return
    for k in range(units):
        extra[k] = 0
    n = 0
    while differ:
        cell = lowest_bit(differ)
        differ &= differ - 1
        old = codes[cell]
        new = pair_code(children[j, cell])
        if new == old:
            continue
        if new >= 0:
            come = cell * 4 + new
            if not known[come]:
                weigh(cell, new, pairs, blocking, codes, weights, known)
            for k in range(units):
                extra[k] += weights[come, k]
        if old >= 0:
            gone = cell * 4 + old
            if not known[gone]:
                weigh(cell, old, pairs, blocking, codes, weights, known)
            for k in range(units):
                extra[k] -= weights[gone, k]
        for number in range(n):
            other = changed[0, number]
            gap, old_other, new_other = cell - other, codes[other], changed[1, number]
            if gap <= 6:
                add_four(other, old_other, new_other, gap, old, new, pairs, extra)
            elif blocking and gap >= 18:
                add_four(cell, old, new, 24 - gap, old_other, new_other, pairs, extra)
        changed[0, n] = cell
        changed[1, n] = new
        n += 1


@float_kernel
def add_four(a, old_a, new_a, step, old_b, new_b, pairs, extra):
    """extra += the pairs (new a, new b) - (new a, old b) - (old a, new b) + (old a, old b), where b
    lies `step` beyond a."""
    for code_a in (new_a, old_a):
        for code_b in (new_b, old_b):
            if code_a >= 0 and code_b >= 0:
                row = pair_row(a, code_a, step, code_b)
                if (code_a == new_a) == (code_b == new_b):
                    for k in range(pairs.shape[1]):
                        extra[k] += pairs[row, k]
                else:
                    for k in range(pairs.shape[1]):
                        extra[k] -= pairs[row, k]


@float_kernel
def store_two(base, extra, step, leave, arrive, first, half, floats, halves, slot):
    """Row `slot` of `floats` (or, rounded, of `halves`) = max(base + two pairs of steps, 0).

    extra: float32[H], what pairs add.
    """
    n0, o0, n1, o1 = leave[first], arrive[first], leave[first + 1], arrive[first + 1]
    if half:
        for k in range(halves.shape[1]):
            x = base[k] + ((step[n0, k] - step[o0, k]) + (step[n1, k] - step[o1, k]))
            halves[slot, k] = relu_bfloat16(x + extra[k])
    else:
        for k in range(floats.shape[1]):
            x = base[k] + ((step[n0, k] - step[o0, k]) + (step[n1, k] - step[o1, k]))
            floats[slot, k] = max(x + extra[k], 0)


@float_kernel
def add_two(base, step, leave, arrive, first, total):
    """total = base + two pairs of steps. `base` and `total` must be two arrays: where they are
    one, the check for overlap sends the loop down its slow, scalar path."""
    n0, o0, n1, o1 = leave[first], arrive[first], leave[first + 1], arrive[first + 1]
    for k in range(total.shape[0]):
        total[k] = base[k] + ((step[n0, k] - step[o0, k]) + (step[n1, k] - step[o1, k]))


@float_kernel
def first_layer(
    boards, checkers, blocking, table, bias, pairs, memory, slots, total, half, floats, halves
):  # fmt: skip
    """The first layer's output for independent boards, each from all its cells.

    table: float32[28 * 31, H]; pairs: float32[PAIR_ROWS, U]; total: float32[H], scratch.
    """
    codes, _, _, known, _ = memory
    for i in range(boards.shape[0]):
        accumulate(boards[i], checkers, table, bias, total)
        accumulate_pairs(boards, i, pairs, blocking, codes, known, total)
        slot = slots[i]
        if half:
            for k in range(total.shape[0]):
                halves[slot, k] = relu_bfloat16(total[k])
        else:
            for k in range(total.shape[0]):
                floats[slot, k] = max(total[k], 0)


@float_kernel
def first_layer_of_afterstates(
    parents, children, offsets, checkers, blocking, table, step, bias, pairs, memory, slots,
    totals, leave, arrive, half, floats, halves,
):  # fmt: skip
    """The first layer's output for the children of each parent, by difference.

    Both in the view of the player who moved, so `table`, `step` and `pairs` are turned ones
    (features.turn_table, features.step_table, features.turn_pairs).
    offsets: int64[B + 1], children of parent i at offsets[i] - offsets[0] onwards.
    totals: three float32[H], leave and arrive: int64[32], memory: pair_memory(U, H), scratch.
    """
    sum0, sum1, sum2 = totals
    codes, changed, weights, known, extra = memory
    row = 0
    off = 0
    for i in range(parents.shape[0]):
        if i == 0 or not same_board(parents, i - 1, i):  # one board comes with many rolls
            accumulate(parents[i], checkers, table, bias, sum0)
            accumulate_pairs(parents, i, pairs, blocking, codes, known, sum0)
            off = borne_off(parents[i], checkers, 1)
        for _ in range(offsets[i + 1] - offsets[i]):
            steps, differ = list_steps(parents, i, children, row, checkers, off, leave, arrive)
            pairs_of_child(
                children, row, differ, pairs, blocking, codes, changed, weights, known, extra
            )
            slot = slots[row]
            if steps == 2:
                store_two(sum0, extra, step, leave, arrive, 0, half, floats, halves, slot)
            else:
                add_two(sum0, step, leave, arrive, 0, sum1)
                for first in range(2, steps - 2, 2):
                    add_two(sum1, step, leave, arrive, first, sum2)
                    sum1, sum2 = sum2, sum1
                store_two(sum1, extra, step, leave, arrive, steps - 2, half, floats, halves, slot)
            row += 1


@float_kernel
def exp_of_negative(x):
    """exp(x) for x <= 0 as float32, to a relative error of 1e-7, in operations that vectorise.

    x = n ln 2 + f with |f| <= ln 2 / 2; a polynomial gives exp(f) (coefficients of the Cephes
    library's expf) and n goes into the exponent's bits.
    """
    x = max(np.float32(x), np.float32(-87.0))
    n = np.int32(x * np.float32(1.44269504) - np.float32(0.5))
    f = x - np.float32(n) * np.float32(0.693359375) + np.float32(n) * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4) * f + np.float32(1.3981999507e-3)
    p = p * f + np.float32(8.3334519073e-3)
    p = p * f + np.float32(4.1665795894e-2)
    p = p * f + np.float32(1.6666665459e-1)
    p = p * f + np.float32(5.0000001201e-1)
    scale = np.int32((n + np.int32(127)) << np.int32(23)).view(np.float32)
    return (p * f * f + f + np.float32(1.0)) * scale


@float_kernel
def softmax(logits, flat, n):
    """Turn the first n rows of logits into chances, in place. flat: the same memory, one axis."""
    outcomes = logits.shape[1]
    for i in range(n):
        top = logits[i, 0]
        for k in range(1, outcomes):
            top = max(top, logits[i, k])
        for k in range(outcomes):
            logits[i, k] -= top
    for j in range(n * outcomes):
        flat[j] = exp_of_negative(flat[j])
    for i in range(n):
        total = np.float32(0.0)
        for k in range(outcomes):
            total += logits[i, k]
        for k in range(outcomes):
            logits[i, k] /= total


@float_kernel
def value_rows(chances, slots, won, outcomes, values):
    """values[i] = equity for the player who moved to board i: exact where he has finished,
    else minus the equity of the next player, whose outcome chances are row slots[i]."""
    for i in range(slots.shape[0]):
        equity = np.float32(0.0)
        for k in range(outcomes.shape[0]):
            equity += outcomes[k] * chances[slots[i], k]
        values[i] = won[i] if won[i] > 0 else -equity


@kernel
def best_rows(values, offsets, best):
    """best[i] = the row of the highest value among those of board i, the first of equals.

    offsets: int64[B + 1], rows of `values`.
    """
    for i in range(best.shape[0]):
        top = offsets[i]
        for row in range(offsets[i] + 1, offsets[i + 1]):
            if values[row] > values[top]:
                top = row
        best[i] = top


@kernel
def dense(x, weight, bias, out):
    """out = x @ weight + bias, each row summed in one fixed order."""
    for i in range(x.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = bias[j]
        for k in range(x.shape[1]):
            if x[i, k] != 0:
                for j in range(out.shape[1]):
                    out[i, j] += x[i, k] * weight[k, j]
