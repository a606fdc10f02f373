"""Kernels of the cheap look (see look.py): scores of afterstates by a slope, and the best few."""

from typing import Any

import numpy as np

from nardy.net.kernels import (
    accumulate,
    accumulate_pairs,
    add_two,
    borne_off,
    list_steps,
    pairs_of_child,
    standing,
)
from nardy.rules.kernel import float_kernel, kernel

# arrays are indexed as in nardy.net.kernels, and for the same reasons


@float_kernel
def score_two(
    base: Any, extra: Any, step: Any, leave: Any, arrive: Any, first: Any, slopes: Any, i: Any
) -> Any:
    """Slope i times max(base + two pairs of steps, 0); extra: what pairs add."""
    n0, o0, n1, o1 = leave[first], arrive[first], leave[first + 1], arrive[first + 1]
    score = np.float32(0)
    if extra.shape[0] == 0:  # a loop that starts at zero vectorises; one that starts later does not
        for k in range(base.shape[0]):
            x = base[k] + ((step[n0, k] - step[o0, k]) + (step[n1, k] - step[o1, k]))
            score += slopes[i, k] * max(x, np.float32(0))
        return score
    for k in range(base.shape[0]):
        x = base[k] + ((step[n0, k] - step[o0, k]) + (step[n1, k] - step[o1, k]))
        score += slopes[i, k] * max(x + extra[k], np.float32(0))
    return score
    for k in range(extra.shape[0]):
        x = base[k] + ((step[n0, k] - step[o0, k]) + (step[n1, k] - step[o1, k]))
        score += slopes[i, k] * max(x + extra[k], np.float32(0))
    for k in range(extra.shape[0], base.shape[0]):
        x = base[k] + ((step[n0, k] - step[o0, k]) + (step[n1, k] - step[o1, k]))
        score += slopes[i, k] * max(x, np.float32(0))
    return score


@float_kernel
def score_afterstates(
    boards: Any, rolls: Any, children: Any, offsets: Any, checkers: Any, blocking: Any,
    table: Any, step: Any, bias: Any, pairs: Any, memory: Any, slopes: Any, totals: Any,
    leave: Any, arrive: Any, phases: Any, scores: Any,
) -> None:  # fmt: skip
    """scores[j] = slope times the first layer's output of child j; infinite where it ends the game
    or, of several phases, leaves that of its parent.

    boards: int8[B, 26], each rolled `rolls` times; offsets: int64[B * rolls + 1].
    The rest as in nardy.net.kernels.first_layer_of_afterstates.
    """
    sum0, sum1, sum2 = totals
    codes, changed, weights, known, extra = memory
    for i in range(boards.shape[0]):
        accumulate(boards[i], checkers, table, bias, sum0)
        accumulate_pairs(boards, i, pairs, blocking, codes, known, sum0)
        off = borne_off(boards[i], checkers, 1)
        phase = standing(boards, i, blocking)
        for row in range(offsets[i * rolls], offsets[(i + 1) * rolls]):
            state = standing(children, row, blocking)
            if state < 0 or (phases > 1 and state != phase):
                scores[row] = np.inf
                continue
            steps, differ = list_steps(boards, i, children, row, checkers, off, leave, arrive)
            pairs_of_child(
                children, row, differ, pairs, blocking, codes, changed, weights, known, extra
            )
            if steps == 2:
                scores[row] = score_two(sum0, extra, step, leave, arrive, 0, slopes, i)
            else:
                add_two(sum0, step, leave, arrive, 0, sum1)
                for first in range(2, steps - 2, 2):
                    add_two(sum1, step, leave, arrive, first, sum2)
                    sum1, sum2 = sum2, sum1
                scores[row] = score_two(sum1, extra, step, leave, arrive, steps - 2, slopes, i)


@kernel
def mark_best(scores: Any, offsets: Any, most: Any, kept: Any) -> None:
    """Set `kept` for the `most` highest scores of each group, the first of equals, and besides for
    all that are infinite.

    scores: float32[N]; offsets: int64[G + 1]; kept: bool[N], false at first.
    """
    for row in range(scores.shape[0]):
        kept[row] = np.isinf(scores[row])
    for i in range(offsets.shape[0] - 1):
        for _ in range(min(most, offsets[i + 1] - offsets[i])):
            best = -1
            for row in range(offsets[i], offsets[i + 1]):
                if not kept[row] and (best < 0 or scores[row] > scores[best]):
                    best = row
            if best < 0:
                break
            kept[best] = True
