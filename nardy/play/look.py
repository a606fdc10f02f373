"""A cheap look at many replies: which few of them can be the best by static value.

    few = Look(net).few(boards, results, most=3)

The net's value is taken as linear in what its first layer puts out, with the slope that it has at
the board before the move with the other side on roll. The additive first layer gives an afterstate
by a few rows, so its score costs some hundredth of a whole evaluation. The slope is one vector for
each board, whatever its rolls.
"""

import numpy as np
from numpy.typing import NDArray

from nardy.net import kernels
from nardy.net.features import CELLS, COUNTS, phases_of
from nardy.net.net import Floats, Net, first_layer
from nardy.play import look_kernels
from nardy.rules import kernel
from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards, turn
from nardy.rules.dice import ROLLS


class Look:
    """Memory and methods with which one thread looks at replies."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self._points = np.array(net.variant.outcomes, np.float32)
        self._turned_tails = tuple(
            tuple(np.ascontiguousarray(weight.T) for weight, _ in tail) for tail in net.tails
        )
        width = len(net.bias)
        self._totals = tuple(np.empty((3, width), np.float32))
        self._changes = np.empty((2, 32), np.int64)
        self._pair_memory = kernels.pair_memory(net.pairs.shape[1], len(net.bias))

    def few(
        self,
        boards: Boards,
        results: Afterstates,
        most: int,
        known: NDArray[np.bool_] | None = None,
    ) -> Afterstates:
        """The `most` results of each board and roll that score best, in their order, besides those
        that cannot be scored or need not be.

        boards: int8[B, 26], mover's view; results: their afterstates, group 21 i + j those of
        board i and dice.ROLLS[j]. known: bool[N], results that are kept whatever they score.
        Where a game hangs on who began (D13) everything is kept: the look does not see it.
        """
        if self.net.variant.last_roll != "off":
            return results
        kept = np.zeros(len(results.boards), np.bool_)
        look_kernels.mark_best(self.scores(boards, results), results.offsets, most, kept)
        if known is not None:
            kept |= known
        running = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        return Afterstates(results.boards[kept], running[results.offsets])

    def scores(self, boards: Boards, results: Afterstates) -> Floats:
        """float32[N]: slope times activations of each result, for the player who moved; to be
        compared within a board. Infinite where the game is over, and where another tail than the
        board's prices the result, of which the slope knows nothing."""
        net = self.net
        slopes = -self.slopes(turn(boards, net.variant.family))
        if not kernel.jit_enabled:
            return self._scores_by_numpy(slopes, boards, results)
        scores = np.empty(len(results.boards), np.float32)
        look_kernels.score_afterstates(
            boards,
            len(ROLLS),
            results.boards,
            results.offsets,
            net.variant.checkers,
            net.blocking,
            net.turned.reshape(CELLS * COUNTS, -1),
            net.step.reshape(CELLS * COUNTS, -1),
            net.bias,
            net.turned_pairs,
            self._pair_memory,
            slopes,
            self._totals,
            *self._changes,
            len(net.tails),
            scores,
        )
        return scores

    def races(self, boards: Boards) -> NDArray[np.bool_]:
        """bool[B]: boards that a tail of their own prices, that of races."""
        return self._phases(boards) > 0

    def slopes(self, boards: Boards) -> Floats:
        """float32[B, H]: how the equity of the player on roll grows with the first layer's output.

        boards: int8[B, 26] in his view.
        """
        activations = self.activations(boards)
        slopes = np.empty_like(activations)
        phases = phases_of(boards, len(self.net.tails), self.net.variant.family)
        for phase in np.unique(phases).tolist():
            rows = phases == phase
            slopes[rows] = self._slopes_of_tail(activations[rows], phase)
        return slopes

    def _slopes_of_tail(self, x: Floats, phase: int) -> Floats:
        """Reverse differentiation of softmax(tail(x)) · points."""
        *hidden, (weight, bias) = self.net.tails[phase]
        masks = []
        for hidden_weight, hidden_bias in hidden:
            x = np.maximum(_product(x, hidden_weight, hidden_bias), 0)
            masks.append(x > 0)
        chances = _product(x, weight, bias)
        kernels.softmax(chances, chances.ravel(), len(chances))
        # summed along rows, in an order that does not depend on the batch
        equity = (chances * self._points).sum(1, keepdims=True)
        slope: Floats = chances * (self._points - equity)
        for turned, mask in zip(self._turned_tails[phase][:0:-1], masks[::-1], strict=True):
            slope = _product(slope, turned, np.zeros(turned.shape[1], np.float32)) * mask
        turned = self._turned_tails[phase][0]
        return _product(slope, turned, np.zeros(turned.shape[1], np.float32))

    def activations(self, boards: Boards) -> Floats:
        """float32[B, H], the first layer after its ReLU. boards: int8[B, 26], player on roll."""
        net = self.net
        if not kernel.jit_enabled:
            return first_layer(net, boards)
        out, slots = np.empty((len(boards), len(net.bias)), np.float32), np.arange(len(boards))
        kernels.first_layer(
            boards,
            net.variant.checkers,
            net.blocking,
            net.table.reshape(CELLS * COUNTS, -1),
            net.bias,
            net.pairs,
            self._pair_memory,
            slots,
            self._totals[0],
            False,
            out,
            np.empty((0, len(net.bias)), np.uint16),
        )
        return out

    def _scores_by_numpy(self, slopes: Floats, boards: Boards, results: Afterstates) -> Floats:
        owners = np.repeat(np.arange(len(results.offsets) - 1), np.diff(results.offsets))
        activations = first_layer(self.net, turn(results.boards, self.net.variant.family))
        scores: Floats = (activations * slopes[owners // len(ROLLS)]).sum(1)
        scores[~(results.boards > 0).any(1)] = np.inf
        scores[self._phases(results.boards) != self._phases(boards)[owners // len(ROLLS)]] = np.inf
        return scores

    def _phases(self, boards: Boards) -> NDArray[np.int64]:
        return phases_of(boards, len(self.net.tails), self.net.variant.family)


def _product(x: Floats, weight: Floats, bias: Floats) -> Floats:
    """x @ weight + bias, each row in one order whatever the batch where numba is installed."""
    if not kernel.jit_enabled:
        product: Floats = x @ weight + bias
        return product
    out = np.empty((len(x), weight.shape[1]), np.float32)
    kernels.dense(x, weight, bias, out)
    return out
