"""Self-play: games in lock step, and the positions they leave with their targets."""

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Floats
from nardy.play.bearoff import Bearoff
from nardy.rules.batch import Workspace, afterstates
from nardy.rules.board import Boards, ending, start_board, turn
from nardy.rules.dice import random_words, roll
from nardy.rules.variants import Variant
from train.targets import Chooser, Prune, RollOut, lambda_returns, one_roll


class Sample(NamedTuple):
    """Positions to learn from, each with the return that its game gave it."""

    boards: Boards  # int8[N, 26], mover's view, before the roll
    targets: Floats  # float32[N, K], outcome distribution for the mover


@dataclass
class Tally:
    """What the games of a round looked like; the first six lines are of those that ended and had
    begun at the opening."""

    games: int = 0
    gammons: int = 0
    backgammons: int = 0
    draws: int = 0
    cut_off: int = 0
    length: int = 0  # turns
    others: int = 0  # games that ended and had begun elsewhere
    followed: int = 0  # games that ended in the runs that are followed
    turns: int = 0  # turns played, also of games that go on
    positions: int = 0
    td_error: float = 0.0  # sum over positions of |equity - return|, points

    def __add__(self, other: "Tally") -> "Tally":
        names = [part.name for part in fields(self)]
        return Tally(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass
class Games:
    """A group of games played in lock step by one thread.

    Slot i plays games first + i, first + i + stride, ...: which dice a game has does not depend
    on how slots are divided among threads.
    """

    variant: Variant
    seed: int
    lam: float
    longest: int
    stride: int
    numbers: NDArray[np.int64]  # [B], the game each slot plays
    tables: Bearoff | None = None  # exact targets for the positions they reach
    label: float = 0.0  # share of the positions that get a target of their own; 0: lambda-returns
    starts: float = 0.0  # share of the games that begin with one of `pool`, where it has any
    pool: Boards = field(default_factory=lambda: np.empty((0, 26), np.int8))  # set between rounds
    plies: NDArray[np.int64] = field(init=False)  # [B], turns played
    boards: NDArray[np.int8] = field(init=False)  # [B, longest, 26], positions so far
    chances: Floats = field(init=False)  # [B, longest, K], V of them; that of ply 0 is unknown

    def __post_init__(self) -> None:
        """Set every game to its start."""
        slots, outcomes = len(self.numbers), len(self.variant.outcomes)
        self.plies = np.zeros(slots, np.int64)
        self.boards = np.zeros((slots, self.longest, 26), np.int8)
        self.chances = np.zeros((slots, self.longest, outcomes), np.float32)
        self._start = start_board(self.variant)
        self.boards[:, 0] = self._start
        self._opened = np.ones(slots, np.bool_)  # games that began at the start
        self._returns = np.empty((self.longest, outcomes), np.float32)
        self._points = np.array(self.variant.outcomes, np.float32)
        self._workspace, self._labels = Workspace(), Workspace()
        # the start is left out where its first roll is never a double: it has another value there
        self._first = 1 if self.variant.opening == "play_opening_dice" else 0

    def play(
        self,
        evaluator: Chooser,
        turns: int,
        prune: Prune | None = None,
        roll_out: RollOut | None = None,
    ) -> tuple[Sample, Tally]:
        """Play `turns` turns of every game; the positions of games that ended meanwhile, or those
        that were priced. prune: drops replies in one-roll targets; roll_out: takes their place."""
        samples: list[Sample] = []
        tally = Tally()
        for _ in range(turns):
            self._turn(evaluator, prune, roll_out, samples, tally)
        outcomes = len(self._points)
        boards = [sample.boards for sample in samples] or [np.empty((0, 26), np.int8)]
        targets = [sample.targets for sample in samples] or [np.empty((0, outcomes), np.float32)]
        return Sample(np.concatenate(boards), np.concatenate(targets)), tally

    def _turn(
        self,
        evaluator: Chooser,
        prune: Prune | None,
        roll_out: RollOut | None,
        samples: list[Sample],
        tally: Tally,
    ) -> None:
        slots = np.arange(len(self.numbers))
        boards = self.boards[slots, self.plies]
        dice = self._dice()
        results = afterstates(boards, dice, self.variant, self._workspace)
        best, chances = evaluator.choose(boards, results)
        chosen = results.boards[best]
        ended, points = ending(chosen, self.variant)
        if self.label:
            samples.append(self._priced(evaluator, prune, roll_out, boards, tally))
        self.plies += 1
        over = ended | (self.plies == self.longest)
        on = ~over
        self.boards[slots[on], self.plies[on]] = turn(chosen[on], self.variant.family)
        self.chances[slots[on], self.plies[on]] = chances[on]
        for slot in slots[over].tolist():
            won = int(points[slot]) if ended[slot] else None
            if not self.label:
                samples.append(self._returned(slot, won, chances[slot], tally))
            self._begin_next(slot, won, tally)
        tally.turns += len(slots)

    def _dice(self) -> NDArray[np.uint8]:
        """uint8[B, 2], of this turn; only a game's opening is without doubles (K3)."""
        dice = roll(self.seed, self.numbers, self.plies, self.variant.opening)
        begun = np.flatnonzero(~self._opened & (self.plies == 0))
        dice[begun] = roll(self.seed, self.numbers[begun], self.plies[begun], "reroll")
        return dice

    def _priced(
        self,
        evaluator: Chooser,
        prune: Prune | None,
        roll_out: RollOut | None,
        boards: Boards,
        tally: Tally,
    ) -> Sample:
        """A share of the positions before the roll, with one-roll or rolled-out targets."""
        words = random_words(self.seed, self.numbers, self.plies, stream=2)
        first = np.where(self._opened, self._first, 0)
        picked = np.flatnonzero((words < self.label * 2.0**64) & (self.plies >= first))
        if roll_out is not None:
            turns = self.numbers[picked] * self.longest + self.plies[picked]
            targets = roll_out(boards[picked], turns)
        else:
            targets = one_roll(
                evaluator, boards[picked], self.variant, self._labels, self.tables, prune
            )
        if self.tables is not None:
            self.tables.settle(boards[picked], targets)
        known = picked[self.plies[picked] > 0]  # V of the start was never asked for
        errors = self.chances[known, self.plies[known]] - targets[self.plies[picked] > 0]
        tally.td_error += float(np.abs(errors @ self._points).sum())
        tally.positions += len(picked)
        return Sample(boards[picked], targets)

    def _returned(self, slot: int, points: int | None, chances: Floats, tally: Tally) -> Sample:
        """The positions of slot's finished game with their returns; points: of who moved last,
        None where the game was cut off."""
        plies = int(self.plies[slot])
        if points is not None:
            final = (self._points == points).astype(np.float32)
        else:  # cut off: the next player's chances stand for the rest of the game
            final = chances[::-1].copy()
        returns = self._returns[:plies]
        known = self._settle(self.boards[slot, :plies], returns)
        if known < plies:
            final = returns[known, ::-1].copy()
        if known:
            lambda_returns(self.chances[slot, :known], final, self.lam, returns[:known])
        errors = (self.chances[slot, 1:plies] - returns[1:]) @ self._points
        first = self._first if self._opened[slot] else 0
        sample = Sample(self.boards[slot, first:plies].copy(), returns[first:].copy())
        tally.td_error += float(np.abs(errors).sum())
        tally.positions += len(sample.boards)
        return sample

    def _begin_next(self, slot: int, points: int | None, tally: Tally) -> None:
        """Count slot's finished game and start its next one."""
        if self._opened[slot]:
            tally.games += 1
            tally.length += int(self.plies[slot])
            tally.cut_off += points is None
            tally.draws += points == 0
            tally.gammons += points in (2, -2)
            tally.backgammons += points in (3, -3)
        else:
            tally.others += 1
        self.numbers[slot] += self.stride
        self.plies[slot] = 0
        board = self._first_board(int(self.numbers[slot]))
        self.boards[slot, 0] = board
        self._opened[slot] = (board == self._start).all()

    def _first_board(self, number: int) -> Boards:
        """int8[26], what game `number` begins with."""
        if self.starts == 0 or not len(self.pool):
            return self._start
        whether, which = (int(random_words(self.seed, number, 0, stream)) for stream in (3, 4))
        return self.pool[which % len(self.pool)] if whether < self.starts * 2**64 else self._start

    def _settle(self, boards: Boards, returns: Floats) -> int:
        """Put the exact chances into `returns` from the first position on that a table reaches;
        how many come before. A game that has come so far does not leave the tables again."""
        if self.tables is None:
            return len(boards)
        settled = self.tables.settle(boards, returns)
        return int(settled.argmax()) if settled.any() else len(boards)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `restore` goes on with the same games."""
        used = np.arange(self.longest) <= self.plies[:, None]
        return {
            "numbers": self.numbers,
            "plies": self.plies,
            "boards": self.boards[used],
            "chances": self.chances[used],
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on where `state` was taken."""
        self.numbers[:] = state["numbers"]
        self.plies[:] = state["plies"]
        used = np.arange(self.longest) <= self.plies[:, None]
        self.boards[used] = state["boards"]
        self.chances[used] = state["chances"]
        self._opened = (self.boards[:, 0] == self._start).all(-1)
