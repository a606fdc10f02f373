"""What another run remembers, read while that run may go on writing it.

    python -m train name=wide net=wide init=runs/teach follow=[runs/teach] minutes=45
        # plays no game of its own: a small network plays and prices, a large one learns from it
    python -m train name=next init=runs/x init_memory=runs/x …
        # or begins with what x remembers, and plays on by itself

Only positions are read of which the other run's newest checkpoint knows, and none that may be
overwritten meanwhile (train.memory: a ring with more places than are drawn from).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Floats, Net
from nardy.rules.board import Boards
from nardy.rules.variants import Variant
from train import checkpoint
from train.memory import CLAIM, MEMORY_FILE, PAGE, SLACK
from train.selfplay import Sample


class Followed:
    """The positions of another run, and how many games they are from."""

    def __init__(self, run: Path, game: Variant) -> None:
        """Raises ValueError naming the run where it plays another game or remembers nothing."""
        self.run = run
        self.games = 0
        self._outcomes = len(game.outcomes)
        theirs = Net.load(checkpoint.resolve(run)).variant
        if theirs != game:
            raise ValueError(f"{str(run)!r} plays {theirs.name}, this run {game.name}")
        self._seen: Path | None = None
        self._refresh()

    def __len__(self) -> int:
        """How many positions are there by now."""
        self._refresh()
        return self._added - self._first

    def draw(self, count: int, rng: np.random.Generator) -> Sample:
        """`count` positions, each drawn from all that there are. Raises ValueError where none is
        left that its newest checkpoint knows of."""
        first = self._first  # the other run may write on meanwhile
        if first >= self._added:
            raise ValueError(
                f"{str(self.run)!r} overwrites its positions faster than it writes checkpoints; it "
                "needs a smaller checkpoint_minutes or a larger algo.memory"
            )
        return self._sample(rng.integers(first, self._added, count))

    def all(self) -> Sample:
        """Every position that is there, oldest first."""
        self._refresh()
        return self._sample(np.arange(self._first, self._added))

    @property
    def _first(self) -> int:
        """The number of the oldest position that is there and will be for a while."""
        overwritten = int(self._claimed[0]) - len(self._boards)
        return 0 if overwritten <= 0 else min(overwritten + CLAIM, self._added)

    def _sample(self, numbers: NDArray[np.int64]) -> Sample:
        places = numbers % len(self._boards)
        return Sample(self._boards[places], self._targets[places])

    def _refresh(self) -> None:
        """Look whether there is a new checkpoint, and what it knows of."""
        newest = checkpoint.resolve(self.run)
        if newest == self._seen:
            return
        meta, state, arrays = checkpoint.load(newest)
        if "memory.added" not in arrays or "stage" not in state:
            raise ValueError(f"{str(self.run)!r} remembers no positions")
        self._map(self.run / MEMORY_FILE.format(state["stage"]))
        self._added = int(arrays["memory.added"][0])
        self.games = int(meta["games"])
        self._seen = newest

    def _map(self, file: Path) -> None:
        length = file.stat().st_size if file.is_file() else 0
        places, rest = divmod(length - PAGE, 4 * self._outcomes + 27)
        if places <= SLACK or rest:
            raise ValueError(f"{str(file)!r} holds no positions with {self._outcomes} outcomes")

        def part(kind: Any, begin: int, *shape: int) -> NDArray[Any]:
            return np.memmap(file, kind, "r", begin, shape)

        self._claimed: NDArray[np.int64] = part(np.int64, 0, 1)
        self._targets: Floats = part(np.float32, PAGE, places, self._outcomes)
        self._boards: Boards = part(np.int8, PAGE + self._targets.nbytes, places, 26)


def draw(runs: Sequence[Followed], count: int, rng: np.random.Generator) -> Sample:
    """`count` positions, each drawn from all that the runs have by now."""
    numbers = np.array([max(len(run), 1) for run in runs])
    drawn = rng.multinomial(count, numbers / numbers.sum()).tolist()
    parts = [run.draw(number, rng) for run, number in zip(runs, drawn, strict=True)]
    return Sample(*(np.concatenate(part) for part in zip(*parts, strict=True)))
