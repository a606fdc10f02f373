"""An exported net: an additive first layer, tails by phase, and a softmax over outcomes.

    net = Net.load("checkpoints/short-01")
    net.outcomes(boards)     # float32[N, 6], chances of the outcomes for the player on roll
    net.equity(boards)       # float32[N], his mean points

A `Net` is weights and never changes; an `Evaluator` is the memory in which one thread evaluates
it. numpy is enough; with numba the first layer runs as a kernel, by difference where boards
share a parent.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nardy.net import kernels
from nardy.net.features import (
    CELLS,
    COUNTS,
    FEATURE_VERSION,
    PAIR_ROWS,
    cells_of,
    pair_index,
    phases_of,
    step_table,
    table_index,
    turn_pairs,
    turn_table,
)
from nardy.net.weights import read_tensors
from nardy.rules import kernel
from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards, checkers_only, ending, turn
from nardy.rules.hitting import MAX_RESULTS
from nardy.rules.variants import Variant, variant

FORMAT = 1
Floats = NDArray[np.float32]
Layer = tuple[Floats, Floats]  # weight [in, out], bias [out]


@dataclass(frozen=True)
class Net:
    """Weights of one value network.

    variant: the game it was trained for.
    table: float32[28, 31, H]; bias: float32[H]; pairs: float32[PAIR_ROWS, U], for the first U
    units (see features.py).
    tails: for each phase its layers; the last gives a logit for each of variant.outcomes.
    """

    variant: Variant
    table: Floats
    bias: Floats
    tails: tuple[tuple[Layer, ...], ...]
    pairs: Floats
    turned: Floats = field(repr=False)  # the table for boards seen by the player not on roll
    step: Floats = field(repr=False)  # and its differences between neighbouring counts
    turned_pairs: Floats = field(repr=False)
    meta: dict[str, Any] = field(default_factory=dict, repr=False)

    @staticmethod
    def build(
        game: Variant,
        table: Floats,
        bias: Floats,
        tails: Sequence[Sequence[Layer]],
        meta: dict[str, Any] | None = None,
        pairs: Floats | None = None,
    ) -> "Net":
        """A net from its arrays."""
        layers = tuple(tuple(tail) for tail in tails)
        turned = turn_table(table, game.family)
        if pairs is None:
            pairs = np.empty((PAIR_ROWS, 0), np.float32)
        return Net(
            game,
            table,
            bias,
            layers,
            pairs,
            turned,
            step_table(turned),
            turn_pairs(pairs, game.family),
            meta or {},
        )

    @staticmethod
    def load(path: str | Path) -> "Net":
        """The net in an exported folder (net.safetensors and meta.json).

        Raises ValueError, in one sentence, where the folder is not a net of this format.
        """
        folder = Path(path)
        meta = _read_meta(folder / "meta.json")
        weights = folder / "net.safetensors"
        if not weights.is_file():
            raise ValueError(f"{str(path)!r} holds no net.safetensors: it is not a net")
        tensors = read_tensors(weights)
        try:
            game = variant(meta["variant"], **_variant_options(meta))
            arrays = {name: value.astype(np.float32) for name, value in tensors.items()}
            tails = [
                [
                    (arrays[f"tail.{phase}.{layer}.weight"], arrays[f"tail.{phase}.{layer}.bias"])
                    for layer in range(meta["tail_layers"])
                ]
                for phase in range(meta["phases"])
            ]
            pairs = arrays.get("pairs")
            _check_shapes(arrays["table"], arrays["bias"], pairs, tails, len(game.outcomes))
            return Net.build(game, arrays["table"], arrays["bias"], tails, meta, pairs)
        except KeyError as error:
            raise ValueError(f"the net in {str(path)!r} lacks {error}") from None
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f"the net in {str(path)!r} cannot be read: {error}") from None

    @property
    def blocking(self) -> bool:
        """Whether its game is of the blocking family, as kernels ask it."""
        return self.variant.family == "blocking"

    def bias_for(self, began: bool | None) -> Floats:
        """float32[H]: the bias of boards without cells 0 and 25, which say whether the player on
        roll began the game (D13); None where nothing hangs on it."""
        if began is None:
            return self.bias
        cell, count = (25, 1) if began else (0, -1)
        bias: Floats = self.bias + self.table[cell, count + 15]
        return bias

    def outcomes(self, boards: Boards) -> Floats:
        """float32[N, K]: chances of `variant.outcomes` for the player on roll, before his roll."""
        return Evaluator(self).outcomes(boards)

    def equity(self, boards: Boards) -> Floats:
        """float32[N]: mean points of the player on roll, cubeless."""
        return self.outcomes(boards) @ np.array(self.variant.outcomes, np.float32)


def _read_meta(path: Path) -> dict[str, Any]:
    try:
        meta = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{str(path.parent)!r} holds no meta.json: it is not a net") from None
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is not JSON: {error}") from None
    if not isinstance(meta, dict):
        raise ValueError(f"{str(path)!r} is not a JSON object")
    for name, ours in (("format", FORMAT), ("features", FEATURE_VERSION)):
        if meta.get(name) != ours:
            raise ValueError(f"{str(path)!r} has {name} {meta.get(name)!r}; this code reads {ours}")
    return dict(meta)


def _check_shapes(
    table: Floats,
    bias: Floats,
    pairs: Floats | None,
    tails: list[list[Layer]],
    outcomes: int,
) -> None:
    """Raise ValueError where arrays do not fit together, or there are none."""
    if table.shape[:2] != (CELLS, COUNTS) or table.shape[2:] != bias.shape or bias.ndim != 1:
        raise ValueError(f"its table {table.shape} and bias {bias.shape} do not fit together")
    if pairs is not None and (pairs.shape[:1] != (PAIR_ROWS,) or pairs.shape[1:] > bias.shape):
        raise ValueError(f"its pairs {pairs.shape} do not fit {PAIR_ROWS} rows, {len(bias)} units")
    if len(tails) not in (1, 2) or not tails[0]:
        raise ValueError(f"it has {len(tails)} tails of {len(tails[0]) if tails else 0} layers")
    for phase, tail in enumerate(tails):
        width = len(bias)
        for layer, (weight, shift) in enumerate(tail):
            if weight.shape != (width, *shift.shape) or shift.ndim != 1:
                raise ValueError(
                    f"layer {layer} of tail {phase} takes {width} values, "
                    f"but its weight is {weight.shape} and its bias {shift.shape}"
                )
            width = len(shift)
        if width != outcomes:
            raise ValueError(f"tail {phase} gives {width} values for {outcomes} outcomes")


def _variant_options(meta: dict[str, Any]) -> dict[str, Any]:
    options = dict(meta.get("variant_options", {}))
    if options.get("start") is not None:
        options["start"] = {int(point): count for point, count in options["start"].items()}
    return options


class Tail(Protocol):
    """Computes logits from the first layer's output, for the rows of one phase."""

    half: bool
    """Whether the activations it takes are bfloat16 (in uint16) rather than float32."""

    def __call__(self, activations: NDArray[Any], rows: slice, phase: int, logits: Floats) -> None:
        """logits[rows] = the tail of `phase` on activations[rows].

        activations: [N, H]; logits: float32[N, K]. Rows after these may be overwritten: phases
        come in the order of their rows.
        """


class NumpyTail:
    """The tail as numpy matrix products in float32."""

    half = False

    def __init__(self, net: Net) -> None:
        self.tails = net.tails

    def __call__(self, activations: NDArray[Any], rows: slice, phase: int, logits: Floats) -> None:
        """See Tail."""
        x = activations[rows]
        *hidden, (weight, bias) = self.tails[phase]
        for hidden_weight, hidden_bias in hidden:
            x = x @ hidden_weight
            x += hidden_bias
            np.maximum(x, 0, out=x)
        np.matmul(x, weight, out=logits[rows])
        logits[rows] += bias


class Evaluator:
    """Memory and methods with which one thread evaluates a net."""

    def __init__(self, net: Net, tail: Tail | None = None, block: int = 1024) -> None:
        """block: rows evaluated together, so that they stay in the second-level cache."""
        self.block = block
        self.load(net, tail)
        rows = block + MAX_RESULTS
        width, outcomes = len(net.bias), len(net.variant.outcomes)
        half = self.tail.half
        self._floats = np.empty((0 if half else rows, width), np.float32)
        self._halves = np.empty((rows if half else 0, width), np.uint16)
        self._logits = np.empty((rows, outcomes), np.float32)
        self._totals = tuple(np.empty((3, width), np.float32))
        self._changes = np.empty((2, 32), np.int64)
        self._pair_memory = kernels.pair_memory(net.pairs.shape[1], len(net.bias))
        self._slots = np.empty(rows, np.int64)
        self._counts = np.zeros(len(net.tails), np.int64)
        self._won = np.empty(rows, np.int8)

    def load(self, net: Net, tail: Tail | None = None) -> None:
        """Go on with other weights of the same shape."""
        self.net = net
        self.tail: Tail = tail or NumpyTail(net)
        self._points = np.array(net.variant.outcomes, np.float32)

    def outcomes(self, boards: Boards) -> Floats:
        """float32[N, K]: chances of `variant.outcomes` for the player on roll."""
        boards = np.ascontiguousarray(np.atleast_2d(boards), np.int8)
        chances = np.empty((len(boards), len(self._points)), np.float32)
        if self.net.variant.last_roll == "off":
            self._outcomes_into(boards, None, chances)
            return chances
        for began in (False, True):
            rows = np.flatnonzero((boards[:, 25] > 0) == began)
            some = np.empty((len(rows), len(self._points)), np.float32)
            self._outcomes_into(boards[rows], began, some)
            chances[rows] = some
        return chances

    def _outcomes_into(self, boards: Boards, began: bool | None, chances: Floats) -> None:
        for begin in range(0, len(boards), self.block):
            part = boards[begin : begin + self.block]
            self._outcomes_of_block(part, began, chances[begin : begin + self.block])

    def values(self, parents: Boards, results: Afterstates) -> Floats:
        """float32[N]: equity of each afterstate for the player who moved, exact where it ends.

        parents: int8[B, 26] that `results` were made from.
        """
        return self._evaluate_all(parents, results, None, None)

    def choose(self, parents: Boards, results: Afterstates) -> tuple[NDArray[np.int64], Floats]:
        """The best afterstate of each parent.

        Returns its row in `results`, int64[B], and the outcome chances there of the *next*
        player, float32[B, K] (without meaning where the game is over).
        """
        best = np.empty(len(parents), np.int64)
        chances = np.empty((len(parents), len(self._points)), np.float32)
        self._evaluate_all(parents, results, best, chances)
        return best, chances

    def _evaluate_all(
        self,
        parents: Boards,
        results: Afterstates,
        best: NDArray[np.int64] | None,
        chances: Floats | None,
    ) -> Floats:
        """As `_evaluate`, those of players who began apart from the others where that matters."""
        if self.net.variant.last_roll == "off":
            return self._evaluate(parents, results, None, best, chances)
        values = np.empty(len(results.boards), np.float32)
        counts = np.diff(results.offsets)
        for began in (False, True):
            mine = np.flatnonzero((parents[:, 25] > 0) == began)
            rows = np.flatnonzero(np.repeat((parents[:, 25] > 0) == began, counts))
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts[mine])])
            some = Afterstates(results.boards[rows], offsets)
            top = np.empty(len(mine), np.int64)
            theirs = np.empty((len(mine), len(self._points)), np.float32)
            values[rows] = self._evaluate(parents[mine], some, began, top, theirs)
            if best is not None and chances is not None:
                best[mine], chances[mine] = rows[top], theirs
        return values

    def _evaluate(
        self,
        parents: Boards,
        results: Afterstates,
        began: bool | None,
        best: NDArray[np.int64] | None,
        chances: Floats | None,
    ) -> Floats:
        """began: whether those who moved began their games; None where nothing hangs on it."""
        values = np.empty(len(results.boards), np.float32)
        offsets = results.offsets
        begin = 0
        while begin < len(parents):
            end = int(np.searchsorted(offsets, offsets[begin] + self.block, "right")) - 1
            end = min(max(end, begin + 1), len(parents))
            rows = slice(offsets[begin], offsets[end])
            block_offsets = offsets[begin : end + 1]
            self._values_of_block(
                parents[begin:end], results.boards[rows], block_offsets, began, values[rows]
            )
            if best is not None and chances is not None:
                kernels.best_rows(values, block_offsets, best[begin:end])
                chances[begin:end] = self._logits[self._slots[best[begin:end] - offsets[begin]]]
            begin = end
        return values

    def _outcomes_of_block(self, boards: Boards, began: bool | None, chances: Floats) -> None:
        net = self.net
        bare = boards if began is None else checkers_only(boards, net.variant.family)
        slots = self._sort(bare)
        if kernel.jit_enabled:
            kernels.first_layer(
                bare,
                net.variant.checkers,
                net.blocking,
                _rows(net.table),
                net.bias_for(began),
                net.pairs,
                self._pair_memory,
                slots,
                self._totals[0],
                *self._activations(),
            )
        else:
            self._first_layer_by_numpy(boards, slots)
        chances[:] = self._outcome_rows(len(boards))[slots]

    def _values_of_block(
        self,
        parents: Boards,
        children: Boards,
        offsets: NDArray[np.int64],
        began: bool | None,
        values: Floats,
    ) -> None:
        net, marked = self.net, children
        if began is not None:
            parents, children = (checkers_only(b, net.variant.family) for b in (parents, children))
        slots = self._sort(children)
        if kernel.jit_enabled:
            kernels.first_layer_of_afterstates(
                parents,
                children,
                offsets,
                net.variant.checkers,
                net.blocking,
                _rows(net.turned),
                _rows(net.step),
                net.bias_for(None if began is None else not began),
                net.turned_pairs,
                self._pair_memory,
                slots,
                self._totals,
                *self._changes,
                *self._activations(),
            )
        else:
            self._first_layer_by_numpy(turn(marked, net.variant.family), slots)
        chances = self._outcome_rows(len(children))
        if began is not None:
            self._won[: len(children)] = 0  # who has finished may not have won yet (D13)
        kernels.value_rows(chances, slots, self._won, self._points, values)
        if began is not None:
            over, points = ending(marked, net.variant)
            values[over] = points[over]

    def _activations(self) -> tuple[bool, Floats, NDArray[np.uint16]]:
        return self.tail.half, self._floats, self._halves

    def _sort(self, boards: Boards) -> NDArray[np.int64]:
        slots = self._slots[: len(boards)]
        kernels.sort_rows(
            boards,
            self.net.variant.checkers,
            self.net.blocking,
            len(self.net.tails),
            slots,
            self._counts,
            self._won,
        )
        return slots

    def _first_layer_by_numpy(self, boards: Boards, slots: NDArray[np.int64]) -> None:
        activations = first_layer(self.net, boards)
        if self.tail.half:  # as kernels.relu_bfloat16
            self._halves[slots] = (activations.view(np.int32) + 0x8000) >> 16
        else:
            self._floats[slots] = activations

    def _outcome_rows(self, n: int) -> Floats:
        """float32[>= n, K]: outcome chances of the block in hand, row slots[i] for board i."""
        activations = self._halves if self.tail.half else self._floats
        begin = 0
        for phase, count in enumerate(self._counts.tolist()):
            if count:
                self.tail(activations, slice(begin, begin + count), phase, self._logits)
            begin += count
        kernels.softmax(self._logits, self._logits.ravel(), n)
        return self._logits


def _rows(table: Floats) -> Floats:
    """A table with one axis for cell and count, as the kernels index it."""
    return table.reshape(CELLS * COUNTS, -1)


def first_layer(net: Net, boards: Boards) -> Floats:
    """float32[N, H], the first layer after its ReLU, in numpy: the kernels' slow twin."""
    rows = _rows(net.table)
    index = table_index(cells_of(boards, net.variant.checkers, net.variant.family))
    total = np.repeat(net.bias[None], len(boards), 0)
    for cell in range(CELLS):
        total += rows[index[:, cell]]
    units = net.pairs.shape[1]
    if units:
        pairs = np.concatenate([net.pairs, np.zeros((1, units), np.float32)])
        for column in pair_index(boards, net.variant.family).T:
            total[:, :units] += pairs[column]
    return np.maximum(total, 0, out=total)


def outcomes_by_numpy(net: Net, boards: Boards) -> Floats:
    """float32[N, K], as Net.outcomes, with numpy alone and nothing clever: its slow twin."""
    activations = first_layer(net, boards)
    phases = phases_of(boards, len(net.tails), net.variant.family)
    logits = np.empty((len(boards), len(net.variant.outcomes)), np.float32)
    tail = NumpyTail(net)
    for phase in range(len(net.tails)):
        rows = phases == phase
        part = logits[rows]
        tail(activations[rows], slice(None), phase, part)
        logits[rows] = part
    chances: Floats = np.exp(logits - logits.max(-1, keepdims=True))
    chances /= chances.sum(-1, keepdims=True)
    return chances
