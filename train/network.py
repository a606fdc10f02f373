"""The network in torch: what is trained, and how it becomes a `nardy.net.net.Net`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nardy.net.features import CELLS, COUNTS, FEATURES, PAIR_ROWS, feature_rows
from nardy.net.net import Floats, Net
from nardy.rules.variants import Variant

GRAIN = 128
"""Matrix products have whole multiples of so many rows, so that they come in few shapes."""


class ValueNetwork(nn.Module):
    """A linear first layer on tied features, its first `pairs` units on pairs of cells too; ReLU;
    and for each phase a tail to outcome logits."""

    def __init__(
        self, hidden: int, tail: Sequence[int], phases: int, outcomes: int, pairs: int = 0
    ) -> None:
        super().__init__()
        self.first = nn.Linear(FEATURES, hidden)
        self.pairs = nn.EmbeddingBag(PAIR_ROWS, pairs, mode="sum") if pairs else None
        if self.pairs is not None:
            nn.init.zeros_(self.pairs.weight)
        self.tails = nn.ModuleList(_tail([hidden, *tail, outcomes]) for _ in range(phases))

    def forward(
        self,
        features: Tensor,
        counts: Sequence[int],
        pairs: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Logits [M, K].

        features: [M, FEATURES], rows of a phase together; counts: how many rows each phase has.
        pairs: rows of the pair table, int64[P], and where those of each row of `features` begin,
        int64[M]; for a network that sees pairs.
        """
        sums = self.first(features)
        if self.pairs is not None and pairs is not None:
            units = self.pairs.embedding_dim
            seen = self.pairs(*pairs).to(sums.dtype)
            sums = torch.cat([sums[:, :units] + seen, sums[:, units:]], 1)
        parts = torch.relu(sums).split(list(counts))
        return torch.cat([tail(part) for tail, part in zip(self.tails, parts, strict=True)])


PAIRS = "pairs.weight"
"""The name of the parameter that a network without pairs lacks."""


def _tail(widths: Sequence[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for fan_in, fan_out in zip(widths, widths[1:], strict=False):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    last = layers[-2]
    assert isinstance(last, nn.Linear)
    nn.init.zeros_(last.weight)  # every outcome equally likely at first
    nn.init.zeros_(last.bias)
    return nn.Sequential(*layers[:-1])


def grow(network: ValueNetwork, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Give the network the weights of one that is nowhere wider, so that it computes the same.

    Units beyond those of `arrays` keep the weights they have into themselves; out of them go
    zeros, which learning will change (Chen, Goodfellow and Shlens, Net2Net, 2016, split units
    instead). arrays: by parameter name. Raises KeyError or ValueError where they do not fit.
    """
    parameters = dict(network.named_parameters())
    unknown = sorted(set(arrays) - set(parameters))
    if unknown:
        raise ValueError(f"it has {unknown[0]}, which this network lacks")
    with torch.no_grad():
        for name, values in parameters.items():
            if name == PAIRS and name not in arrays:
                values.zero_()  # a network without pairs is one that makes nothing of them
                continue
            small = torch.tensor(arrays[name])
            shapes = zip(small.shape, values.shape, strict=True)
            if small.ndim != values.ndim or any(few > many for few, many in shapes):
                raise ValueError(f"its {name} is {tuple(small.shape)}, ours {tuple(values.shape)}")
            rows = slice(small.shape[0])
            values[rows] = 0  # old units hear nothing from new ones
            values[tuple(slice(size) for size in small.shape)] = small


def to_net(network: ValueNetwork, game: Variant) -> Net:
    """The network's present weights as a net: features folded into a table, in float32."""
    with torch.no_grad():
        rows = torch.from_numpy(feature_rows(game.family).reshape(CELLS * COUNTS, FEATURES))
        weight = network.first.weight.detach().cpu().float()
        table = _array(rows @ weight.T).reshape(CELLS, COUNTS, -1)
        tails = [
            [(_array(layer.weight.T), _array(layer.bias)) for layer in _linear_layers(tail)]
            for tail in network.tails
        ]
        pairs = None if network.pairs is None else _array(network.pairs.weight)
        return Net.build(game, table, _array(network.first.bias), tails, pairs=pairs)


def _linear_layers(tail: nn.Module) -> list[nn.Linear]:
    return [layer for layer in tail.children() if isinstance(layer, nn.Linear)]


def _array(values: Tensor) -> Floats:
    # a copy: the network's own memory changes under the learner
    return np.array(values.detach().cpu().numpy(), np.float32, order="C")


class TorchTail:
    """The tail of a net as torch matrix products, in bfloat16 or float32 (nardy.net.net.Tail)."""

    def __init__(self, net: Net, precision: torch.dtype) -> None:
        self.half = precision is torch.bfloat16
        self.tails = [
            [(torch.from_numpy(w).to(precision), torch.from_numpy(b).to(precision)) for w, b in t]
            for t in net.tails
        ]

    @torch.inference_mode()
    def __call__(self, activations: Any, rows: slice, phase: int, logits: Floats) -> None:
        """See nardy.net.net.Tail.

        The product takes whole multiples of GRAIN rows, into whatever lies behind: for each new
        shape the library would compile a kernel, which costs more than the product.
        """
        begin, end = rows.start, rows.stop
        padded = min(begin + -(-(end - begin) // GRAIN) * GRAIN, len(activations))
        x = torch.from_numpy(activations[begin:padded])
        if self.half:
            x = x.view(torch.bfloat16)
        *hidden, (weight, bias) = self.tails[phase]
        for hidden_weight, hidden_bias in hidden:
            x = torch.addmm(hidden_bias, x, hidden_weight).relu_()
        out = torch.addmm(bias, x, weight)
        torch.from_numpy(logits[begin:end]).copy_(out[: end - begin])


def resolve_precision(name: str, device: str) -> torch.dtype:
    """torch.float32 or torch.bfloat16; "auto" is bfloat16 where the processor multiplies it."""
    if name == "auto":
        fast = device != "cpu" or torch.cpu._is_avx512_bf16_supported()
        return torch.bfloat16 if fast else torch.float32
    return torch.bfloat16 if name == "bfloat16" else torch.float32
