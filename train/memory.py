"""The newest positions with their targets, to draw minibatches from more than once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from train.selfplay import Sample


class Memory:
    """A ring of positions, bounded and allocated once; new ones take the oldest's places."""

    def __init__(self, size: int, outcomes: int) -> None:
        self.boards = np.zeros((size, 26), np.int8)
        self.targets = np.zeros((size, outcomes), np.float32)
        self.added = 0  # since the ring was made; position number n lies at n % size

    def __len__(self) -> int:
        """How many positions there are."""
        return min(self.added, len(self.boards))

    def add(self, sample: Sample) -> None:
        """Remember a sample's positions, the newest of them where they are more than the ring."""
        boards, targets = (part[-len(self.boards) :] for part in sample)
        places = (self.added + np.arange(len(boards))) % len(self.boards)
        self.boards[places], self.targets[places] = boards, targets
        self.added += len(boards)

    def draw(self, count: int, rng: np.random.Generator) -> Sample:
        """`count` positions, each drawn from all that there are; none where there are none."""
        rows = rng.integers(max(len(self), 1), size=count if len(self) else 0)
        return Sample(self.boards[rows], self.targets[rows])

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `restore` goes on."""
        used = slice(len(self))
        return {
            "boards": self.boards[used],
            "targets": self.targets[used],
            "added": np.array([self.added]),
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on where `state` was taken."""
        self.added = int(state["added"][0])
        self.boards[: len(self)] = state["boards"]
        self.targets[: len(self)] = state["targets"]
