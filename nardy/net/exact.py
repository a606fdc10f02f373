"""A tail whose values do not depend on the rows that are evaluated beside them.

    Evaluator(net, ExactTail(net)).values(parents, results)

A BLAS sums a row's products in an order that depends on the shape of the product and on the row's
place in it. The last bit of a value then depends on the batch, and a near tie would be broken
differently from one batch to another. This tail is some three times slower than numpy's.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.net import kernels
from nardy.net.net import Floats, Net
from nardy.rules import kernel


class ExactTail:
    """See nardy.net.net.Tail."""

    half = False

    def __init__(self, net: Net) -> None:
        self.tails = net.tails

    def __call__(self, activations: NDArray[Any], rows: slice, phase: int, logits: Floats) -> None:
        """See Tail; activations: float32[N, H]."""
        x = activations[rows]
        *hidden, (weight, bias) = self.tails[phase]
        for hidden_weight, hidden_bias in hidden:
            out = np.empty((len(x), len(hidden_bias)), np.float32)
            _dense(x, hidden_weight, hidden_bias, out)
            x = np.maximum(out, 0, out=out)
        _dense(x, weight, bias, logits[rows])


def _dense(x: Floats, weight: Floats, bias: Floats, out: Floats) -> None:
    if kernel.jit_enabled:
        kernels.dense(x, weight, bias, out)
        return
    for row, sums in zip(x, out, strict=True):  # one shape whatever the batch
        np.matmul(row, weight, out=sums)
    out += bias
