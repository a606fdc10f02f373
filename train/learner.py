"""The learner: fits the network to targets, a minibatch a step."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch.nn import functional

from nardy.net.features import FEATURES, feature_rows, phases_of
from train.device import encode_on
from train.encode import encode
from train.network import GRAIN, ValueNetwork
from train.selfplay import Sample


class Fit(NamedTuple):
    """One call of `Learner.learn`."""

    steps: int
    loss: float  # mean cross-entropy, nats


class Learner:
    """Adam on the cross-entropy between the network's outcomes and the targets."""

    def __init__(
        self,
        network: ValueNetwork,
        checkers: int,
        minibatch: int,
        precision: torch.dtype,
        device: str = "cpu",
    ) -> None:
        self.network = network.to(device)
        self.checkers = checkers
        self.minibatch = minibatch
        self.precision = precision
        self.device = device
        # fused: one kernel over all parameters instead of a dozen small ones each
        self.optimizer = torch.optim.Adam(network.parameters(), lr=0.0, fused=True)
        self.steps = 0
        self._rows = torch.from_numpy(feature_rows().reshape(-1, FEATURES)).to(device)

    def learn(self, sample: Sample, rng: np.random.Generator, rate: Callable[[], float]) -> Fit:
        """One pass over `sample` in random order; `rate` gives the step size of each step.

        Positions beyond the last whole minibatch are left out of this pass.
        """
        order = rng.permutation(len(sample.boards))
        losses = []
        for begin in range(0, len(order) - self.minibatch + 1, self.minibatch):
            rows = order[begin : begin + self.minibatch]
            losses.append(self._step(sample.boards[rows], sample.targets[rows], rate()))
        return Fit(len(losses), float(np.mean(losses)) if losses else float("nan"))

    def _step(self, boards: np.ndarray, targets: np.ndarray, rate: float) -> float:
        rows, counts = rows_by_phase(
            phases_of(boards, len(self.network.tails)), len(self.network.tails), GRAIN
        )
        used = torch.from_numpy(rows >= 0).to(self.device)
        features = self._encode(boards[rows])
        wanted = torch.from_numpy(targets[rows]).to(self.device)
        half = self.precision is torch.bfloat16
        with torch.autocast(self.device, dtype=torch.bfloat16, enabled=half):
            logits = self.network(features, counts)
        each = functional.cross_entropy(logits.float(), wanted, reduction="none")
        loss = (each * used).sum() / len(boards)
        self.optimizer.zero_grad()
        loss.backward()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.steps += 1
        return loss.item()

    def _encode(self, boards: np.ndarray) -> torch.Tensor:
        if self.device == "cpu":
            return torch.from_numpy(encode(boards, self.checkers))
        return encode_on(torch.from_numpy(boards).to(self.device), self.checkers, self._rows)


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
