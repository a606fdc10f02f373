"""The device path: rules on the host's cores, encoding and net on an accelerator.

A board travels as its 26 bytes; on the device its cells index rows of a table, which are summed.
Each thread that plays has a `DeviceEvaluator` with a stream of its own, so that with two threads
or more there are two batches or more in flight: while one waits for the device, the others
generate. On the CPU the same code runs, slowly, which is how it is tested.

In float32 its chances are the CPU path's to 1e-5. In bfloat16, which `precision=auto` takes on a
GPU, they are off by up to some 4e-3, as are those of the CPU path's own bfloat16 tail.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from nardy.net.features import CELLS, COUNTS
from nardy.net.net import Floats, Net
from nardy.play.search import first_best
from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards, points_won


def table_rows(boards: Tensor, checkers: int) -> Tensor:
    """int64[N, 28]: rows of a table [28 * 31, ...] of int8[N, 26] boards (features.table_index)."""
    cells = boards.long()
    own = checkers - cells.clamp(min=0).sum(1, keepdim=True)
    opponent = checkers + cells.clamp(max=0).sum(1, keepdim=True)
    first = torch.arange(CELLS, device=boards.device) * COUNTS + 15
    return torch.cat([cells, own, opponent], 1) + first


def encode_on(boards: Tensor, checkers: int, feature_rows: Tensor) -> Tensor:
    """float32[N, FEATURES] of int8[N, 26] boards, on their device (train.encode.encode).

    feature_rows: float32[28 * 31, FEATURES] there (features.feature_rows).
    """
    return functional.embedding_bag(table_rows(boards, checkers), feature_rows, mode="sum")


def race_rows(boards: Tensor) -> Tensor:
    """bool[N]: whether a board is a race (features.phases_of)."""
    numbers = torch.arange(26, device=boards.device)
    rearmost = torch.where(boards > 0, numbers, -1).amax(1)
    enemy = torch.where(boards < 0, numbers, 26).amin(1)
    return rearmost < enemy


class DeviceEvaluator:
    """Evaluates a net on a device; for self-play what nardy.net.net.Evaluator is on the CPU."""

    def __init__(self, net: Net, device: str, precision: torch.dtype) -> None:
        self.device = torch.device(device)
        self.precision = precision
        on_gpu = self.device.type == "cuda"
        self._stream = torch.cuda.Stream(self.device) if on_gpu else None
        self.load(net)

    def load(self, net: Net) -> None:
        """Go on with other weights."""
        self.variant = net.variant
        self._table = self._put(net.table.reshape(CELLS * COUNTS, -1))
        self._turned = self._put(net.turned.reshape(CELLS * COUNTS, -1))
        self._bias = self._put(net.bias)
        self._tails = [[(self._put(w), self._put(b)) for w, b in tail] for tail in net.tails]
        self._points = torch.tensor(net.variant.outcomes, dtype=torch.float32, device=self.device)
        if self._stream is not None:
            torch.cuda.synchronize(self.device)  # the weights came by another stream

    def outcomes(self, boards: Boards) -> Floats:
        """float32[N, K]: chances of `variant.outcomes` for the player on roll."""
        with torch.inference_mode(), self._on_stream():
            return self._chances(self._send(boards), self._table).cpu().numpy()

    def values(self, results: Afterstates) -> tuple[Floats, Tensor]:
        """float32[N]: equity of each afterstate for the player who moved, exact where it ends;
        and on the device float32[N, K], the chances of the player on roll then."""
        chances = self._chances(self._send(results.boards), self._turned)
        values = (chances @ -self._points).cpu().numpy()
        won = points_won(results.boards, self.variant)
        values[won > 0] = won[won > 0]
        return values, chances

    def choose(self, parents: Boards, results: Afterstates) -> tuple[NDArray[np.int64], Floats]:
        """The best afterstate of each parent (nardy.net.net.Evaluator.choose)."""
        with torch.inference_mode(), self._on_stream():
            values, chances = self.values(results)
            best = first_best(values, results.offsets)
            return best, chances[torch.from_numpy(best).to(self.device)].cpu().numpy()

    def _chances(self, boards: Tensor, table: Tensor) -> Tensor:
        rows = table_rows(boards, self.variant.checkers)
        hidden = functional.embedding_bag(rows, table, mode="sum").add_(self._bias).relu_()
        logits = [self._tail(hidden, tail) for tail in self._tails]
        # every tail on every row: cheaper on a device than sorting rows by phase
        last = logits[0]
        if len(logits) == 2:
            last = torch.where(race_rows(boards)[:, None], logits[1], logits[0])
        return torch.softmax(last.float(), -1)

    def _tail(self, x: Tensor, layers: list[tuple[Tensor, Tensor]]) -> Tensor:
        *hidden, (weight, bias) = layers
        for hidden_weight, hidden_bias in hidden:
            x = torch.addmm(hidden_bias, x, hidden_weight).relu_()
        return torch.addmm(bias, x, weight)

    def _send(self, boards: Boards) -> Tensor:
        host = torch.from_numpy(np.ascontiguousarray(boards))
        if self._stream is None:
            return host
        return host.pin_memory().to(self.device, non_blocking=True)

    def _put(self, values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(values).to(self.device, self.precision, copy=True)

    def _on_stream(self) -> AbstractContextManager[Any]:
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)
