"""Kernels of the additive first layer: accumulators by difference, ReLU, choice.

A position's first-layer sum is bias + the table rows of its cells. An afterstate differs from its
parent in two to eight cells, so its sum is its parent's plus those cells' differences.
"""

import math

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


@float_kernel
def store_relu(total, bits, half, floats, halves, slot):
    """Row `slot` of `floats` = max(total, 0); or of `halves`, rounded to bfloat16.

    bits: the memory of `total` seen as int32. bfloat16 is the upper half of a float32, and a
    negative float is a negative int32, so both steps are integer operations.
    """
    if half:
        row = halves[slot]
        for k in range(row.shape[0]):
            row[k] = (max(bits[k], 0) + 0x8000) >> 16
    else:
        row32 = floats[slot]
        for k in range(row32.shape[0]):
            row32[k] = max(total[k], 0)


@kernel
def borne_off(board, checkers, sign):
    """How many checkers of the side with that sign are off."""
    left = checkers
    for cell in range(26):
        left -= max(sign * board[cell], 0)
    return left


@float_kernel
def accumulate(board, checkers, table, bias, total):
    """total = bias + the table rows of a board's cells and of the checkers borne off."""
    width = total.shape[0]
    for k in range(width):
        total[k] = bias[k]
    for cell in range(26):
        if board[cell] != 0:
            row = table[cell, board[cell] + 15]
            for k in range(width):
                total[k] += row[k]
    own = table[26, borne_off(board, checkers, 1) + 15]
    opponent = table[27, borne_off(board, checkers, -1) + 15]
    for k in range(width):
        total[k] += own[k] + opponent[k]


@float_kernel
def add_two(base, new1, old1, new2, old2, total):
    """total = base + (new1 - old1) + (new2 - old2), rows of one width."""
    for k in range(total.shape[0]):
        total[k] = base[k] + ((new1[k] - old1[k]) + (new2[k] - old2[k]))


@float_kernel
def add_one(base, new1, old1, total):
    """total = base + (new1 - old1)."""
    for k in range(total.shape[0]):
        total[k] = base[k] + (new1[k] - old1[k])


@float_kernel
def add_difference(parent, child, changed, table, base, total):
    """total = base + the differences of the cells in the mask `changed`."""
    while changed:
        a = lowest_bit(changed)
        changed &= changed - 1
        if changed:
            b = lowest_bit(changed)
            changed &= changed - 1
            add_two(
                base,
                table[a, child[a] + 15],
                table[a, parent[a] + 15],
                table[b, child[b] + 15],
                table[b, parent[b] + 15],
                total,
            )
        else:
            add_one(base, table[a, child[a] + 15], table[a, parent[a] + 15], total)
        base = total


@float_kernel
def first_layer(boards, checkers, table, bias, slots, totals, bits, half, floats, halves):
    """The first layer's output for independent boards, each from all its cells.

    totals: float32[2, H] scratch, bits the same memory as int32.
    """
    for i in range(boards.shape[0]):
        accumulate(boards[i], checkers, table, bias, totals[0])
        store_relu(totals[0], bits[0], half, floats, halves, slots[i])


@float_kernel
def first_layer_of_afterstates(
    parents, children, offsets, checkers, table, bias, slots, totals, bits, half, floats, halves
):
    """The first layer's output for the children of each parent, by difference.

    Both in the view of the player who moved, so `table` is a turned one (features.turn_table).
    offsets: int64[B + 1], children of parent i at offsets[i] - offsets[0] onwards. Only the mover
    bears off, so of the counts of borne-off checkers only cell 26 can change.
    """
    row = 0
    for i in range(parents.shape[0]):
        parent = parents[i]
        accumulate(parent, checkers, table, bias, totals[0])
        off = borne_off(parent, checkers, 1)
        for _ in range(offsets[i + 1] - offsets[i]):
            child = children[row]
            changed = 0
            left = 0
            for cell in range(26):
                changed |= (child[cell] != parent[cell]) << cell
                left += max(child[cell], 0)
            if left != checkers - off:
                add_one(totals[0], table[26, checkers - left + 15], table[26, off + 15], totals[1])
                add_difference(parent, child, changed, table, totals[1], totals[1])
                store_relu(totals[1], bits[1], half, floats, halves, slots[row])
            elif changed == 0:
                store_relu(totals[0], bits[0], half, floats, halves, slots[row])
            else:
                add_difference(parent, child, changed, table, totals[0], totals[1])
                store_relu(totals[1], bits[1], half, floats, halves, slots[row])
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
