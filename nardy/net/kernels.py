"""Kernels of the additive first layer: accumulators by difference, ReLU, choice.

A position's first-layer sum is bias + the table rows of its cells. An afterstate differs from its
parent in two to eight cells, so its sum is its parent's plus those cells' differences.
"""

import numpy as np

from nardy.rules.hitting import lowest_bit
from nardy.rules.kernel import float_kernel, kernel

# In the loops below an array is indexed as table[row, k]: a view of the row would be counted in
# and out atomically, which costs as much as adding it. Counts are widened to int32 so that the
# loops over cells vectorise.


@kernel
def standing(boards, i):
    """Of board i: -1 where the mover has no checker left, 1 in a race, 0 in contact
    (features.phases_of)."""
    own = np.int32(0)
    enemy = np.int32(0)
    for cell in range(26):
        own |= np.int32(boards[i, cell] > 0) << np.int32(cell)
        enemy |= np.int32(boards[i, cell] < 0) << np.int32(cell)
    if own == 0:
        return -1
    # a race: all own cells lie below the lowest of the enemy's, or he has none
    return 1 if enemy == 0 or own < (enemy & -enemy) else 0


@kernel
def points_of_win(board, checkers):
    """Points for a mover who has borne off all (K14)."""
    left = 0
    deep = board[0] < 0
    for cell in range(26):
        left -= board[cell]
        deep |= cell < 7 and board[cell] < 0
    return 1 if left < checkers else 3 if deep else 2


@kernel
def sort_rows(boards, checkers, phases, slots, counts, won):
    """Give each board a row so that the rows of a phase lie together, and settle finished games.

    slots: int64[N], the row of board i; counts: int64[phases], rows of each phase;
    won: int8[N], points of a mover who has finished, else 0.
    """
    for phase in range(phases):
        counts[phase] = 0
    for i in range(boards.shape[0]):
        state = standing(boards, i)
        won[i] = points_of_win(boards[i], checkers) if state < 0 else 0
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
    """Rows of the step table that lead from parent i to child j; how many of each kind.

    Step row cell * 31 + count + 15 is what the sum gains when the count of `cell` falls by one
    from `count`; it loses as much when the count rises to it. A checker that moves, or is hit, or
    is borne off, makes one count fall and one rise, so there are as many of one kind as the other.
    leave, arrive: int64[32], filled up to an even number with rows that cancel.
    """
    changed = np.int32(0)
    left = np.int32(0)
    for cell in range(26):
        count = np.int32(children[j, cell])
        changed |= np.int32(count != parents[i, cell]) << np.int32(cell)
        left += max(count, np.int32(0))
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
    return falls


@float_kernel
def store_two(base, step, leave, arrive, first, half, floats, halves, slot):
    """Row `slot` of `floats` (or, rounded, of `halves`) = max(base + two pairs of steps, 0)."""
    n0, o0, n1, o1 = leave[first], arrive[first], leave[first + 1], arrive[first + 1]
    if half:
        for k in range(halves.shape[1]):
            x = base[k] + ((step[n0, k] - step[o0, k]) + (step[n1, k] - step[o1, k]))
            halves[slot, k] = relu_bfloat16(x)
    else:
        for k in range(floats.shape[1]):
            x = base[k] + ((step[n0, k] - step[o0, k]) + (step[n1, k] - step[o1, k]))
            floats[slot, k] = max(x, 0)


@float_kernel
def add_two(base, step, leave, arrive, first, total):
    """total = base + two pairs of steps. `base` and `total` must be two arrays: where they are
    one, the check for overlap sends the loop down its slow, scalar path."""
    n0, o0, n1, o1 = leave[first], arrive[first], leave[first + 1], arrive[first + 1]
    for k in range(total.shape[0]):
        total[k] = base[k] + ((step[n0, k] - step[o0, k]) + (step[n1, k] - step[o1, k]))


@float_kernel
def first_layer(boards, checkers, table, bias, slots, total, half, floats, halves):
    """The first layer's output for independent boards, each from all its cells.

    table: float32[28 * 31, H]; total: float32[H], scratch.
    """
    for i in range(boards.shape[0]):
        accumulate(boards[i], checkers, table, bias, total)
        slot = slots[i]
        if half:
            for k in range(total.shape[0]):
                halves[slot, k] = relu_bfloat16(total[k])
        else:
            for k in range(total.shape[0]):
                floats[slot, k] = max(total[k], 0)


@float_kernel
def first_layer_of_afterstates(
    parents, children, offsets, checkers, table, step, bias, slots, totals, leave, arrive,
    half, floats, halves,
):  # fmt: skip
    """The first layer's output for the children of each parent, by difference.

    Both in the view of the player who moved, so `table` and `step` are turned ones
    (features.turn_table, features.step_table).
    offsets: int64[B + 1], children of parent i at offsets[i] - offsets[0] onwards.
    totals: three float32[H], leave and arrive: int64[32], scratch.
    """
    sum0, sum1, sum2 = totals
    row = 0
    for i in range(parents.shape[0]):
        accumulate(parents[i], checkers, table, bias, sum0)
        off = borne_off(parents[i], checkers, 1)
        for _ in range(offsets[i + 1] - offsets[i]):
            pairs = list_steps(parents, i, children, row, checkers, off, leave, arrive)
            slot = slots[row]
            if pairs == 2:
                store_two(sum0, step, leave, arrive, 0, half, floats, halves, slot)
            else:
                add_two(sum0, step, leave, arrive, 0, sum1)
                for first in range(2, pairs - 2, 2):
                    add_two(sum1, step, leave, arrive, first, sum2)
                    sum1, sum2 = sum2, sum1
                store_two(sum1, step, leave, arrive, pairs - 2, half, floats, halves, slot)
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
