"""The learner: fits the network to targets, a minibatch a step."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from nardy.net.features import FEATURES, feature_rows, phases_of
from nardy.net.net import Floats
from train.device import encode_on
from train.encode import encode, encode_pairs
from train.network import GRAIN, ValueNetwork
from train.selfplay import Sample


class Fit(NamedTuple):
    """One call of `Learner.learn`."""

    steps: int
    loss: float  # mean cross-entropy, nats


class Learner:
    """Adam on the cross-entropy between the network's outcomes and the targets, and where it is
    asked for on the squared error of equity besides: decisions are made by equity alone, and a rare
    outcome means more to the first than to the second."""

    def __init__(
        self,
        network: ValueNetwork,
        checkers: int,
        minibatch: int,
        precision: torch.dtype,
        device: str = "cpu",
        family: str = "hitting",
    ) -> None:
        """family: of the variant whose boards it will see."""
        self.network = network.to(device)
        self.checkers = checkers
        self.minibatch = minibatch
        self.precision = precision
        self.device = device
        self.family = family
        # fused: one kernel over all parameters instead of a dozen small ones each
        self.optimizer = torch.optim.Adam(network.parameters(), lr=0.0, fused=True)
        self.steps = 0
        self.averaged: AveragedModel | None = None
        self._equity_weight = 0.0
        self._points = torch.zeros(0)
        self._rows = torch.from_numpy(feature_rows(family).reshape(-1, FEATURES)).to(device)

    def average_over(self, steps: int) -> None:
        """From now on average the weights over about so many steps, exponentially; 0: do not."""
        decay = get_ema_multi_avg_fn(1 - 1 / steps) if steps else None
        self.averaged = AveragedModel(self.network, multi_avg_fn=decay) if steps else None

    def weigh_equity(self, weight: float, outcomes: tuple[int, ...]) -> None:
        """From now on add `weight` times the squared error of equity, in points, to the loss.

        outcomes: points of each outcome.
        """
        self._equity_weight = weight
        self._points = torch.tensor(outcomes, dtype=torch.float32, device=self.device)

    def played(self) -> ValueNetwork:
        """The network to play with: averaged where that is wanted and a step has been taken."""
        if self.averaged is None or not int(self.averaged.n_averaged):
            return self.network
        module = self.averaged.module
        assert isinstance(module, ValueNetwork)
        return module

    def learn(
        self,
        sample: Sample,
        rng: np.random.Generator,
        rate: Callable[[], float],
        weights: Floats | None = None,
    ) -> Fit:
        """One pass over `sample` in random order; `rate` gives the step size of each step.

        weights: float32[N], of the positions in the loss that is told; what is learnt is learnt
        from all alike.

        Positions beyond the last whole minibatch are left out of this pass.
        """
        order = rng.permutation(len(sample.boards))
        losses = []
        for begin in range(0, len(order) - self.minibatch + 1, self.minibatch):
            rows = order[begin : begin + self.minibatch]
            told = None if weights is None else weights[rows]
            losses.append(self._step(sample.boards[rows], sample.targets[rows], rate(), told))
        # read once at the end: on a device each reading waits for the step to be done
        mean = torch.stack(losses).double().mean().item() if losses else float("nan")
        return Fit(len(losses), mean)

    def _step(
        self, boards: np.ndarray, targets: np.ndarray, rate: float, weights: np.ndarray | None
    ) -> torch.Tensor:
        tails = len(self.network.tails)
        rows, counts = rows_by_phase(phases_of(boards, tails, self.family), tails, GRAIN)
        used = torch.from_numpy(rows >= 0).to(self.device)
        features = self._encode(boards[rows])
        wanted = torch.from_numpy(targets[rows]).to(self.device)
        half = self.precision is torch.bfloat16
        with torch.autocast(self.device, dtype=torch.bfloat16, enabled=half):
            logits = self.network(features, counts, self._encode_pairs(boards[rows]))
        each = functional.cross_entropy(logits.float(), wanted, reduction="none")
        loss = fitted = (each * used).sum() / len(boards)
        if self._equity_weight:
            errors = (torch.softmax(logits.float(), 1) - wanted) @ self._points
            fitted = loss + self._equity_weight * (errors.square() * used).sum() / len(boards)
        self.optimizer.zero_grad()
        fitted.backward()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        if self.averaged is not None:
            self.averaged.update_parameters(self.network)
        self.steps += 1
        if weights is None:
            return loss.detach()
        told = torch.from_numpy(weights[rows]).to(self.device)
        return (each.detach() * used * told).sum() / len(boards)

    def _encode(self, boards: np.ndarray) -> torch.Tensor:
        if self.device == "cpu":
            return torch.from_numpy(encode(boards, self.checkers, family=self.family))
        return encode_on(torch.from_numpy(boards).to(self.device), self.checkers, self._rows)

    def _encode_pairs(self, boards: np.ndarray) -> tuple[torch.Tensor, torch.Tensor] | None:
        if self.network.pairs is None:
            return None
        rows, begin = encode_pairs(boards, self.family)
        return torch.from_numpy(rows).to(self.device), torch.from_numpy(begin).to(self.device)


def rows_by_phase(phases: np.ndarray, number: int, grain: int) -> tuple[np.ndarray, list[int]]:
    """Row numbers grouped by phase, each group filled with -1 up to a multiple of `grain`.

    phases: int64[N], each below `number`. Returns int64[M] and the length of each group. Few
    lengths mean few shapes of matrix products, for each of which the library compiles a kernel.
    """
    groups = []
    for phase in range(number):
        members = np.flatnonzero(phases == phase)
        groups.append(np.concatenate([members, np.full(-len(members) % grain, -1)]))
    return np.concatenate(groups), [len(group) for group in groups]
