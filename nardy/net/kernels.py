"""Kernels of the additive first layer: accumulators by difference, ReLU, choice.

A position's first-layer sum is bias + the table rows of its cells. An afterstate differs from its
parent in two to eight cells, so its sum is its parent's plus those cells' differences.
"""

import math

import numpy as np

from nardy.rules.hitting import lowest_bit
from nardy.rules.kernel import float_kernel, kernel


@kernel
def standing(board):
    """-1 where the mover has no checker left, 1 in a race, 0 in contact (features.phases_of)."""
    rearmost = -1
    enemy = 26
    for cell in range(26):
        if board[cell] > 0:
            rearmost = cell
        elif board[cell] < 0 and enemy == 26:
            enemy = cell
    if rearmost < 0:
        return -1
    return 1 if rearmost < enemy else 0


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
        state = standing(boards[i])
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


# In the loops below a table is indexed as table[row, k]: a view of the row would be counted in
# and out atomically, which costs as much as adding it.


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
def list_steps(parent, child, checkers, parent_off, leave, arrive):
    """Rows of the step table that lead from parent to child; how many of each kind.

    Step row cell * 31 + count + 15 is what the sum gains when the count of `cell` falls by one
    from `count`; it loses as much when the count rises to it. A checker that moves, or is hit, or
    is borne off, makes one count fall and one rise, so there are as many of one kind as the other.
    leave, arrive: int64[32], filled up to an even number with rows that cancel.
    """
    falls = 0
    rises = 0
    left = 0
    changed = 0
    for cell in range(26):
        changed |= (child[cell] != parent[cell]) << cell
        left += max(child[cell], 0)
    while changed:
        cell = lowest_bit(changed)
        changed &= changed - 1
        row = cell * 31 + 15
        for count in range(child[cell] + 1, parent[cell] + 1):
            leave[falls] = row + count
            falls += 1
        for count in range(parent[cell] + 1, child[cell] + 1):
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
            pairs = list_steps(parents[i], children[row], checkers, off, leave, arrive)
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
def softmax(logits, chances):
    """chances = softmax of one row of logits."""
    top = logits[0]
    for k in range(1, logits.shape[0]):
        top = max(top, logits[k])
    total = 0.0
    for k in range(logits.shape[0]):
        chances[k] = math.exp(logits[k] - top)
        total += chances[k]
    for k in range(logits.shape[0]):
        chances[k] /= total


@float_kernel
def softmax_rows(logits, slots, chances):
    """chances[i] = softmax of row slots[i]."""
    for i in range(slots.shape[0]):
        softmax(logits[slots[i]], chances[i])


@float_kernel
def value_rows(logits, slots, won, outcomes, chances, values):
    """values[i] = equity for the player who moved to board i: exact where he has finished,
    else minus the equity of the next player, whose outcome logits are row slots[i]."""
    for i in range(slots.shape[0]):
        if won[i] > 0:
            values[i] = won[i]
        else:
            softmax(logits[slots[i]], chances)
            equity = 0.0
            for k in range(outcomes.shape[0]):
                equity += outcomes[k] * chances[k]
            values[i] = -equity


@float_kernel
def choose_rows(values, offsets, logits, slots, best, chances):
    """best[i] = the row of the highest value among those of board i, the first of equals;
    chances[i] = softmax of its logits.

    offsets: int64[B + 1], rows of `values`; logits and slots hold rows from offsets[0] on.
    """
    for i in range(best.shape[0]):
        top = offsets[i]
        for row in range(offsets[i] + 1, offsets[i + 1]):
            if values[row] > values[top]:
                top = row
        best[i] = top
        softmax(logits[slots[top - offsets[0]]], chances[i])


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
