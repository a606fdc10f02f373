"""The newest positions with their targets, to draw minibatches from more than once.

A run keeps them in a file of its folder that is mapped into memory: it may be larger than the
memory there is to spare, a checkpoint holds no more than their number, and they survive a kill.

The file is a ring with SLACK more places than positions are drawn from. So what is added after a
checkpoint overwrites nothing that the checkpoint's run draws from, as long as it is not more than
the slack: the run goes on with the same bits. Where it is more, the oldest positions are lost. How
far places may have been written is noted before they are, so a run that goes on never draws a
position that was overwritten, or half of one; it draws from those that are left.
"""

import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Floats
from train.benchmark_phases import DECISION_PHASES
from train.phases import fast_phases
from train.selfplay import Sample

SLACK = 2**20
CLAIM = 2**16
"""So many places are noted at once as being written: each note waits for the disk."""

MOST = 8
"""How many times its natural share a phase may be drawn: a few positions, learnt from again and
again, would be learnt by heart."""

PAGE = mmap.PAGESIZE
"""Bytes before the targets, the boards and the phases in the file: the first eight say how far
places may have been written."""

MEMORY_FILE = "memory-{}.bin"
"""Where a stage's positions are remembered, in the run's folder."""


class Memory:
    """A ring of positions, bounded; new ones take the oldest's places.

    Position number n, counted since the ring was made, lies at place n modulo the places.
    """

    def __init__(self, size: int, outcomes: int, path: Path | None = None) -> None:
        """size: newest positions to draw from; path: the file, which is made when the first is
        added; None: in memory alone, and whole in `state`."""
        self.size = size
        self.path = path
        self.added = 0
        self.lost = 0  # positions that `restore` did not find any more
        self._outcomes = outcomes
        self._places = size + SLACK
        self._length = PAGE + self._places * (4 * outcomes + 26 + 1)
        self._area: mmap.mmap | None = None
        self._claimed = np.zeros(1, np.int64)  # in the file's first page once there is one
        self._columns: list[NDArray[Any]] = []

    @property
    def first(self) -> int:
        """The number of the oldest position that is drawn from."""
        overwritten = int(self._claimed[0]) - self._places
        return min(max(self.added - self.size, overwritten, 0), self.added)

    def __len__(self) -> int:
        """How many positions there are."""
        return self.added - self.first

    def add(self, sample: Sample) -> None:
        """Remember a sample's positions, the newest of them where they are more than the ring."""
        boards, targets = sample.boards[-self.size :], sample.targets[-self.size :]
        if not len(boards):
            return
        if self._area is None:
            self._open(fresh=True)
        self._claim(self.added + len(boards))
        self._put(self.added + np.arange(len(boards)), boards, targets)
        self.added += len(boards)

    def draw(self, count: int, rng: np.random.Generator) -> Sample:
        """`count` positions, each drawn from all that there are; none where there are none."""
        return self._sample(rng.integers(max(len(self), 1), size=count if len(self) else 0))

    def draw_by_phase(
        self, count: int, rng: np.random.Generator, balance: float
    ) -> tuple[Sample, Floats]:
        """As `draw`, with rare phases (benchmark_phases.DECISION_PHASES) drawn more often.

        balance: see `phase_shares`. The second result, float32[count], is each position's natural
        chance over that of being drawn so: what is weighted by it has its natural mean.
        """
        if not len(self) or not count:
            return self.draw(count, rng), np.empty(0, np.float32)
        phases = self._phases_there()
        natural = np.bincount(phases, minlength=len(DECISION_PHASES)) / len(phases)
        shares = phase_shares(natural, balance)
        parts, weights = [], []
        for phase, drawn in enumerate(rng.multinomial(count, shares).tolist()):
            if drawn:
                members = np.flatnonzero(phases == phase)
                parts.append(members[rng.integers(len(members), size=drawn)])
                weights.append(np.full(drawn, natural[phase] / shares[phase], np.float32))
        return self._sample(np.concatenate(parts)), np.concatenate(weights)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `restore` goes on, together with the file where there is one: all
        that was added is on the disk when this returns."""
        state: dict[str, NDArray[Any]] = {"added": np.array([self.added])}
        if self.path is not None:
            if self._area is not None:
                self._area.flush()
            return state
        order = np.argsort(np.arange(self.first, self.added) % self.size, kind="stable")
        return state | self._sample(order)._asdict()

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on where `state` was taken, as far as the file still has what was remembered."""
        self.added = int(state["added"][0])
        if "boards" in state:
            self._open(fresh=True)
            self._claim(self.added)
            numbers = np.arange(max(self.added - self.size, 0), self.added)
            rows = numbers % self.size
            self._put(numbers, state["boards"][rows], state["targets"][rows])
        elif self.added:
            whole = self.path is not None and self._is_whole(self.path)
            self._open(fresh=not whole)
            if not whole or self._claimed[0] > self.added + self._places:  # none is left
                self._note(self.added + self._places)
        self.lost = min(self.added, self.size) - len(self)

    # --- places ------------------------------------------------------------------------------

    def _is_whole(self, path: Path) -> bool:
        return path.is_file() and path.stat().st_size == self._length

    def _open(self, fresh: bool) -> None:
        """Map the file, or memory where there is none; a fresh one is all zeros."""
        if self.path is None:
            self._area = mmap.mmap(-1, self._length)
        else:
            with open(self.path, "w+b" if fresh else "r+b") as file:
                if fresh and hasattr(os, "posix_fallocate"):
                    # a full disk is told now; a page that finds none later ends the process
                    os.posix_fallocate(file.fileno(), 0, self._length)
                file.truncate(self._length)
                self._area = mmap.mmap(file.fileno(), self._length)
        begin, self._columns = PAGE, []
        self._claimed = np.frombuffer(self._area, np.int64, 1)
        for kind, width in ((np.float32, self._outcomes), (np.int8, 26), (np.uint8, 1)):
            values = np.frombuffer(self._area, kind, self._places * width, begin)
            self._columns.append(values.reshape(self._places, width))
            begin += values.nbytes

    def _claim(self, end: int) -> None:
        """Note that places up to that of number `end` may be written from now on."""
        if end > self._claimed[0]:
            self._note(end + (CLAIM if self.path is not None else 0))

    def _note(self, end: int) -> None:
        assert self._area is not None
        self._claimed[0] = end
        self._area.flush(0, PAGE)

    def _put(self, numbers: NDArray[np.int64], boards: NDArray[np.int8], targets: Floats) -> None:
        places = numbers % self._places
        phases = fast_phases(boards)
        for column, values in zip(self._columns, (targets, boards, phases[:, None]), strict=True):
            column[places] = values

    def _sample(self, rows: NDArray[np.int64]) -> Sample:
        """The positions at rows counted from the oldest."""
        if not len(rows):
            return Sample(np.empty((0, 26), np.int8), np.empty((0, self._outcomes), np.float32))
        targets, boards, _ = self._columns
        places = (self.first + rows) % self._places
        return Sample(boards[places], targets[places])

    def _phases_there(self) -> NDArray[np.uint8]:
        """uint8[len(self)], phases from the oldest position on."""
        phases, begin = self._columns[2][:, 0], self.first % self._places
        end = begin + len(self)
        return np.concatenate([phases[begin:end], phases[: max(end - self._places, 0)]])


def phase_shares(natural: NDArray[np.float64], balance: float) -> NDArray[np.float64]:
    """float64[P], which share of the positions drawn each phase has.

    natural: float64[P], shares of the positions there are. balance: 0 leaves them so, 1 gives the
    phases that there are equal ones; what would be above MOST times the natural share goes to the
    others.
    """
    there = natural > 0
    shares = (1 - balance) * natural + balance * there / there.sum()
    shares = np.minimum(shares, MOST * natural)
    result: NDArray[np.float64] = shares / shares.sum()
    return result
