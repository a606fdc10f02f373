"""The device path: rules on the host's cores, encoding and net on an accelerator.

A board travels as its 26 bytes; on the device its cells index rows of a table, which are summed.
Ends of games are counted and the best afterstates found there too, so that a batch costs one wait
and what comes back is a row a board. Each thread that plays has a `DeviceEvaluator` with a stream
of its own, so that with two threads or more there are two batches or more in flight: while one
waits for the device, the others generate. All share one copy of a net's weights. On the CPU the
same code runs, slowly, which is how it is tested.

In float32 its chances are the CPU path's to 1e-5. In bfloat16, which `precision=auto` takes on a
GPU, they are off by up to some 4e-3, as are those of the CPU path's own bfloat16 tail.
"""

import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from nardy.net.features import CELLS, CODES, COUNTS, PAIR_REACH, PAIR_ROWS
from nardy.net.net import Floats, Net
from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards


def table_rows(boards: Tensor, checkers: int) -> Tensor:
    """int32[N, 28]: rows of a table [28 * 31, ...] of int8[N, 26] boards (features.table_index)."""
    cells = boards.int()
    own = checkers - cells.clamp(min=0).sum(1, keepdim=True, dtype=torch.int32)
    opponent = checkers + cells.clamp(max=0).sum(1, keepdim=True, dtype=torch.int32)
    first = torch.arange(CELLS, dtype=torch.int32, device=boards.device) * COUNTS + 15
    return torch.cat([cells, own, opponent], 1) + first


def pair_rows(boards: Tensor, family: str = "hitting") -> Tensor:
    """int32[N, 26 * 6]: rows of the pair table of int8[N, 26] boards; PAIR_ROWS, one beyond the
    last, where there is no pair (features.pair_index)."""
    cells = boards.int()
    codes = 2 * (cells < 0) + (cells.abs() > 1)
    numbers = torch.arange(26, dtype=torch.int32, device=boards.device)
    if family == "blocking":
        return _pair_rows_of_circle(cells, codes, numbers)
    rows = []
    for distance in range(1, PAIR_REACH + 1):
        first = (numbers[:-distance] * PAIR_REACH + distance - 1) * CODES**2
        found = first + codes[:, :-distance] * CODES + codes[:, distance:]
        both = (cells[:, :-distance] != 0) & (cells[:, distance:] != 0)
        known = torch.where(both, found, PAIR_ROWS)
        rows.append(functional.pad(known, (0, distance), value=PAIR_ROWS))
    return torch.stack(rows, -1).flatten(1)


def _pair_rows_of_circle(cells: Tensor, codes: Tensor, numbers: Tensor) -> Tensor:
    """As pair_rows, where cell 1 follows cell 24; the bars are empty."""
    rows = []
    for distance in range(1, PAIR_REACH + 1):
        upper = (numbers + distance - 1) % 24 + 1
        found = (numbers * PAIR_REACH + distance - 1) * CODES**2 + codes * CODES + codes[:, upper]
        rows.append(torch.where((cells != 0) & (cells[:, upper] != 0), found, PAIR_ROWS))
    return torch.stack(rows, -1).flatten(1)


def encode_on(boards: Tensor, checkers: int, feature_rows: Tensor) -> Tensor:
    """float32[N, FEATURES] of int8[N, 26] boards, on their device (train.encode.encode).

    feature_rows: float32[28 * 31, FEATURES] there (features.feature_rows).
    """
    return functional.embedding_bag(table_rows(boards, checkers), feature_rows, mode="sum")


def race_rows(boards: Tensor, family: str = "hitting") -> Tensor:
    """bool[N]: whether a board is a race (features.phases_of)."""
    numbers = torch.arange(26, dtype=torch.int8, device=boards.device)
    rearmost = torch.where(boards > 0, numbers, -1).amax(1)
    enemy = torch.where(boards < 0, numbers, 26).amin(1)
    return (rearmost <= 12) & (enemy > 12) if family == "blocking" else rearmost < enemy


def points_on(afterstates: Tensor, checkers: int, family: str = "hitting") -> Tensor:
    """int64[N]: points won by who has just moved, of int8[N, 26] (rules.board.points_won)."""
    over = ~(afterstates > 0).any(1)
    left = -afterstates.clamp(max=0).sum(1)
    most = 3 if family == "hitting" else 2
    points = torch.where((afterstates[:, :7] < 0).any(1), most, 2)
    return torch.where(over, torch.where(left < checkers, 1, points), 0)


def first_best_on(values: Tensor, offsets: Tensor) -> Tensor:
    """int64[B]: for each board the row of the highest of its values, the first of equals.

    values: float32[N]; offsets: int64[B + 1] (play.search.first_best). Where they are not numbers
    it is some row, since an index out of bounds would end the device's context.
    """
    boards = len(offsets) - 1
    numbers = torch.arange(boards, device=values.device)
    owners = numbers.repeat_interleave(offsets.diff(), output_size=len(values))
    top = values.new_full((boards,), -torch.inf).scatter_reduce(0, owners, values, "amax")
    last = len(values) - 1
    rows = torch.arange(len(values), device=values.device)
    candidates = torch.where(values == top[owners], rows, last)
    first = torch.full((boards,), last, device=values.device)
    return first.scatter_reduce(0, owners, candidates, "amin")


@dataclass(frozen=True)
class Weights:
    """A net's weights on a device.

    mover: the tables of cells and of pairs for boards in the view of the player on roll; turned:
    for those in the view of the other. That of pairs, with a row of zeros more, is None where the
    net sees none.
    """

    net: Net
    mover: tuple[Tensor, Tensor | None]
    turned: tuple[Tensor, Tensor | None]
    bias: Tensor
    tails: list[list[tuple[Tensor, Tensor]]]
    points: Tensor  # float32[K]


_sending = threading.Lock()
_sent: dict[tuple[str, torch.dtype], Weights] = {}


def weights_on(net: Net, device: torch.device, precision: torch.dtype) -> Weights:
    """The weights of `net` on a device; the newest are kept, so that a net loaded into many
    evaluators travels once."""

    def put(values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(values).to(device, precision, copy=True)

    def tables(cells: Floats, pairs: Floats) -> tuple[Tensor, Tensor | None]:
        padded = np.pad(pairs, ((0, 1), (0, 0)))
        return put(cells.reshape(CELLS * COUNTS, -1)), put(padded) if pairs.shape[1] else None

    with _sending:
        known = _sent.get((str(device), precision))
        if known is None or known.net is not net:
            known = Weights(
                net,
                tables(net.table, net.pairs),
                tables(net.turned, net.turned_pairs),
                put(net.bias),
                [[(put(w), put(b)) for w, b in tail] for tail in net.tails],
                torch.tensor(net.variant.outcomes, dtype=torch.float32, device=device),
            )
            _sent[str(device), precision] = known
            if device.type == "cuda":
                torch.cuda.synchronize(device)  # those who read them do it by other streams
        return known


class DeviceEvaluator:
    """Evaluates a net on a device; for self-play what nardy.net.net.Evaluator is on the CPU."""

    def __init__(self, net: Net, device: str, precision: torch.dtype) -> None:
        self.device = torch.device(device)
        self.precision = precision
        on_gpu = self.device.type == "cuda"
        self._stream = torch.cuda.Stream(self.device) if on_gpu else None
        self.load(net)

    def load(self, net: Net) -> None:
        """Go on with other weights. No call may be under way in another thread.

        Raises ValueError for a game whose value hangs on who began (D13).
        """
        if net.variant.last_roll != "off":
            raise ValueError(f"last_roll={net.variant.last_roll!r} is learnt on the CPU alone")
        self.variant = net.variant
        self.weights = weights_on(net, self.device, self.precision)

    def outcomes(self, boards: Boards) -> Floats:
        """float32[N, K]: chances of `variant.outcomes` for the player on roll."""
        with torch.inference_mode(), self.on_stream():
            return self.chances(self.send(boards), self.weights.mover).cpu().numpy()

    def choose(self, parents: Boards, results: Afterstates) -> tuple[NDArray[np.int64], Floats]:
        """The best afterstate of each parent (nardy.net.net.Evaluator.choose)."""
        with torch.inference_mode(), self.on_stream():
            boards, offsets = self.send(results.boards), self.send(results.offsets)
            best, chances = self.choose_on(boards, offsets)
            return best.cpu().numpy(), chances.cpu().numpy()

    def choose_on(self, boards: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """`choose` for afterstates that are on the device, its answer there."""
        chances = self.chances(boards, self.weights.turned)
        won = points_on(boards, self.variant.checkers, self.variant.family)
        values = torch.where(won > 0, won, chances @ -self.weights.points)
        best = first_best_on(values, offsets)
        return best, chances[best]

    def chances(self, boards: Tensor, tables: tuple[Tensor, Tensor | None]) -> Tensor:
        """float32[N, K] of int8[N, 26] boards, both on the device; tables: weights.mover for the
        player on roll, weights.turned where the boards are in the view of who has just moved."""
        cells, pairs = tables
        family = self.variant.family
        rows = table_rows(boards, self.variant.checkers)
        hidden = functional.embedding_bag(rows, cells, mode="sum").add_(self.weights.bias)
        if pairs is not None:
            seen = functional.embedding_bag(pair_rows(boards, family), pairs, mode="sum")
            hidden[:, : pairs.shape[1]].add_(seen)
        hidden = hidden.relu_()
        logits = [_tail(hidden, tail) for tail in self.weights.tails]
        # every tail on every row: cheaper on a device than sorting rows by phase
        last = logits[0]
        if len(logits) == 2:
            last = torch.where(race_rows(boards, family)[:, None], logits[1], logits[0])
        return torch.softmax(last.float(), -1)

    def send(self, values: NDArray[Any]) -> Tensor:
        """An array on the device, its transfer ordered before what follows on the stream."""
        host = torch.from_numpy(np.ascontiguousarray(values))
        if self._stream is None:
            return host
        # pageable memory would be copied twice and the thread held up meanwhile
        return host.pin_memory().to(self.device, non_blocking=True)

    def on_stream(self) -> AbstractContextManager[Any]:
        """The stream that this evaluator's work goes by, as a context."""
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)


def _tail(x: Tensor, layers: list[tuple[Tensor, Tensor]]) -> Tensor:
    *hidden, (weight, bias) = layers
    for hidden_weight, hidden_bias in hidden:
        x = torch.addmm(hidden_bias, x, hidden_weight).relu_()
    return torch.addmm(bias, x, weight)
