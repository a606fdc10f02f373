"""One training run's moving parts: games, network, learner, and their state on disk.

A round plays `plies_per_round` turns of every game with the net as it stands and meanwhile fits
the network to the positions of the round before. What a round computes depends on the state and
the configuration alone, not on time or on how threads are scheduled; but where it follows other
runs (train.followed), on what they have priced by then.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from nardy.net.net import Evaluator, Floats, Net
from nardy.play.bearoff import Bearoff
from nardy.play.look import Look
from nardy.play.search import Search
from train import checkpoint
from train.config import AlgoConfig, Config
from train.device import DeviceEvaluator
from train.followed import Followed, draw
from train.learner import Fit, Learner
from train.memory import MEMORY_FILE, Memory
from train.network import TorchTail, ValueNetwork, grow, resolve_precision, to_net
from train.selfplay import Games, Sample, Tally
from train.starts import random_starts, read_starts, remembered_starts
from train.targets import Prune, RollOut, pruned, rolled_out

Arrays = dict[str, np.ndarray[Any, Any]]
_ADAM = ("exp_avg", "exp_avg_sq")
STAGE_SEED = 1_000_003
"""What each stage adds to the seed of the dice."""
FOLLOWED_STEPS = 128
"""Minibatches of a round that plays no games."""
PATIENCE = 4
"""How many times its own positions' share a round learns at most, of what it still owes to those
that the run began with (init_memory)."""
BLOCK = 4096
"""Rows evaluated together: enough to make torch's cost of a call small."""


class Round(NamedTuple):
    """What one round did."""

    tally: Tally
    fit: Fit
    rate: float


class Trainer:
    """The state of a run. `round` advances it; `state` and `restore` carry it over a kill."""

    def __init__(self, config: Config, folder: Path | None = None) -> None:
        """folder: where positions are remembered in a file, see train.memory; it need not be there
        before the first round. Raises ValueError naming what is wrong."""
        if config.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device='cuda' needs a GPU that torch can use; there is none")
        torch.set_num_threads(1)  # the threads of this program are its own, one a group of games
        self.config = config
        self.variant = config.variant.make()
        self.folder = folder
        self.files = [
            read_starts(Path(algo.start_file), self.variant) if algo.start_file else None
            for algo in config.schedule().values()
        ]
        self.precision = resolve_precision(config.precision, config.device)
        torch.manual_seed(config.seed)
        outcomes = len(self.variant.outcomes)
        net = config.net
        self.network = ValueNetwork(net.hidden, net.tail, net.phases, outcomes, net.pairs)
        self.learner = Learner(
            self.network,
            self.variant.checkers,
            config.algo.minibatch,
            self.precision,
            config.device,
            family=self.variant.family,
        )
        self.rounds = 0
        self.seconds = 0.0
        self.followed = [Followed(Path(name), self.variant) for name in config.follow]
        self.games = self._followed_games()
        self._begin(0)

    def _begin(self, stage: int) -> None:
        """Set up a stage: new games, nothing remembered; games under way are dropped."""
        self.stage = stage
        algo = self.algo
        self.learner.minibatch = algo.minibatch
        self.learner.average_over(algo.average)
        self.learner.weigh_equity(algo.equity_weight, self.variant.outcomes)
        self.tables = Bearoff.load(self.variant) if algo.tables else None
        slots = np.array_split(np.arange(algo.games_in_flight), self.config.threads)
        self.groups = [self._games(part) for part in slots]
        net = self.net()
        self.evaluators = [self._evaluator(net) for _ in self.groups]
        outcomes = len(self.variant.outcomes)
        self.pending = Sample(np.empty((0, 26), np.int8), np.empty((0, outcomes), np.float32))
        remembers = algo.memory and not self.followed
        self.memory = Memory(algo.memory, outcomes, self._memory_file()) if remembers else None
        self.owed = 0.0  # positions still to draw, for the new ones there were
        self._set_fixed_starts()

    def _memory_file(self) -> Path | None:
        """A stage's own: until its first checkpoint a resumed run goes on with the one before."""
        return self.folder and self.folder / MEMORY_FILE.format(self.stage)

    def forget_stages(self) -> None:
        """Remove what stages before this one remembered, which no checkpoint needs any more."""
        if self.folder:
            for file in self.folder.glob(MEMORY_FILE.format("*")):
                if file != self._memory_file():
                    file.unlink()

    def _set_fixed_starts(self) -> None:
        """Positions other than the opening, where they stay the same in all rounds of the stage."""
        boards = self.files[self.stage]
        if boards is None and self.algo.starts and self.memory is None:
            boards = random_starts(self.variant, self._seed)
        if boards is not None:
            for group in self.groups:
                group.pool = boards

    def _draw_starts(self) -> None:
        """And where a round has its own."""
        if self.algo.starts and self.memory is not None and self.files[self.stage] is None:
            rng = np.random.default_rng([self.config.seed, self.rounds, 1])
            boards = remembered_starts(self.memory, self.variant, rng)
            for group in self.groups:
                group.pool = boards

    def weights(self) -> Arrays:
        """The arrays of the network that is played with, by parameter name."""
        return _arrays(self.learner.played())

    def take_weights(self, path: Path) -> None:
        """Start from the weights of a run, a checkpoint or an exported net.

        A network wider than theirs takes them as a part and gives the same values (train.network.
        grow). Raises ValueError where they do not fit, or are of a game of another family or with
        other outcomes: its boards and chances mean something else.
        """
        theirs = Net.load(checkpoint.resolve(path)).variant
        if (theirs.family, theirs.outcomes) != (self.variant.family, self.variant.outcomes):
            raise ValueError(f"{str(path)!r} plays {theirs.name}, this run {self.variant.name}")
        arrays = checkpoint.network_weights(path)
        try:
            grow(self.network, arrays)
        except (KeyError, ValueError) as error:
            raise ValueError(f"{str(path)!r} is another network: {error}") from None

    def take_memory(self, path: Path) -> None:
        """Begin with what another run remembers, to be learnt as often as this run's own as far as
        the first stage has time.

        Raises ValueError where there is nothing of the kind.
        """
        if self.memory is None:
            raise ValueError(f"init_memory={str(path)!r} wants algo.memory above 0")
        sample = Followed(path, self.variant).all()
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
        self.memory.add(sample)
        self.owed += self.algo.reuse * len(self.memory)

    @property
    def algo(self) -> AlgoConfig:
        """The configuration of the stage."""
        return list(self.config.schedule().values())[self.stage]

    @property
    def _seed(self) -> int:
        """Of a stage's dice: its games are other games than the last one's."""
        return self.config.seed + STAGE_SEED * self.stage

    def _games(self, slots: np.ndarray) -> Games:
        algo = self.algo
        return Games(
            self.variant,
            self._seed,
            algo.lam,
            algo.longest_game,
            algo.games_in_flight,
            slots.copy(),
            self.tables,
            0.0 if algo.targets == "td" else algo.label,
            algo.starts,
        )

    def _evaluator(self, net: Net) -> Evaluator | DeviceEvaluator:
        if self.config.device != "cpu":
            return DeviceEvaluator(net, self.config.device, self.precision)
        return Evaluator(net, TorchTail(net, self.precision), BLOCK)

    def _load(self, net: Net) -> None:
        """Give the evaluators a net's weights."""
        tail = TorchTail(net, self.precision) if self.config.device == "cpu" else None
        for evaluator in self.evaluators:
            if isinstance(evaluator, DeviceEvaluator):
                evaluator.load(net)
            else:
                evaluator.load(net, tail)

    def _prune(self, net: Net) -> Prune | None:
        """One thread's way to drop replies by a cheap look, where the stage wants it."""
        most = self.algo.replies
        return partial(pruned, Look(net), most=most) if most else None

    def _roll_out(self, net: Net) -> RollOut | None:
        """One thread's way to roll positions out, where the stage wants it."""
        if self.algo.targets != "rollout":
            return None
        search = Search(net, 0, tables=self.tables)
        return partial(rolled_out, search, self._seed, self.algo.rollout_plies)

    def net(self) -> Net:
        """The network as it stands, as a net."""
        return to_net(self.learner.played(), self.variant)

    def progress(self) -> float:
        """How much of the run is done, 0 to 1 and beyond: by games of its own or by minutes."""
        games = 0 if self.followed else self.games
        return max(games / self.config.games, self.seconds / 60 / self.config.minutes)

    def stage_progress(self) -> float:
        """How much of the stage in hand is done: below 0 before it, beyond 1 after it."""
        shares = [algo.share for algo in self.config.schedule().values()]
        before = sum(shares[: self.stage])
        return (self.progress() * sum(shares) - before) / shares[self.stage]

    def rate(self) -> float:
        """Adam's step size now: level while the stage is hot, then falling geometrically."""
        algo = self.algo
        cooled = (min(self.stage_progress(), 1.0) - algo.hot) / (1 - algo.hot)
        return float(algo.rate * (algo.final_rate / algo.rate) ** max(cooled, 0.0))

    def round(self, pool: ThreadPoolExecutor) -> Round:
        """Play a round of turns and learn from the round before."""
        while self.stage_progress() >= 1 and self.stage + 1 < len(self.config.schedule()):
            self._begin(self.stage + 1)
        rate = self.rate()
        if self.followed:
            return self._follow(rate)
        net = self.net()
        self._load(net)
        self._draw_starts()
        turns = self.algo.plies_per_round
        if len(self.groups) == 1:
            played = [
                self.groups[0].play(
                    self.evaluators[0], turns, self._prune(net), self._roll_out(net)
                )
            ]
            fit = self._learn(rate)
        else:
            futures: list[Future[tuple[Sample, Tally]]] = [
                pool.submit(group.play, evaluator, turns, self._prune(net), self._roll_out(net))
                for group, evaluator in zip(self.groups, self.evaluators, strict=True)
            ]
            fit = self._learn(rate)
            played = [future.result() for future in futures]
        samples = [sample for sample, _ in played]
        self.pending = Sample(
            np.concatenate([sample.boards for sample in samples]),
            np.concatenate([sample.targets for sample in samples]),
        )
        tally = sum((tally for _, tally in played), Tally())
        self.rounds += 1
        self.games += tally.games + tally.others
        return Round(tally, fit, rate)

    def _follow(self, rate: float) -> Round:
        """Learn from what other runs have priced by now, each position as likely."""
        fit = self.learner.learn(
            draw(self.followed, FOLLOWED_STEPS * self.algo.minibatch, self._rng()),
            self._rng(),
            lambda: rate,
        )
        self.rounds += 1
        before, self.games = self.games, self._followed_games()
        return Round(Tally(followed=self.games - before), fit, rate)

    def _followed_games(self) -> int:
        return sum(run.games for run in self.followed)

    def _rng(self) -> np.random.Generator:
        """What a round draws and shuffles its positions by."""
        return np.random.default_rng([self.config.seed, self.rounds])

    def _learn(self, rate: float) -> Fit:
        rng = self._rng()
        if self.memory is None:
            return self.learner.learn(self.pending, rng, lambda: rate)
        sample, weights = self._drawn(self.memory, rng)
        return self.learner.learn(sample, rng, lambda: rate, weights)

    def _drawn(self, memory: Memory, rng: np.random.Generator) -> tuple[Sample, Floats | None]:
        """Remember the last round's positions and draw `reuse` times as many, in minibatches; and
        the weights that make the loss that of positions as they come, where they are not drawn so.
        """
        memory.add(self.pending)
        new = self.algo.reuse * len(self.pending.boards)
        self.owed += new
        most = max(PATIENCE * new, self.algo.minibatch)
        count = int(min(self.owed, most)) // self.algo.minibatch * self.algo.minibatch
        self.owed -= count
        if self.algo.balance:
            return memory.draw_by_phase(count, rng, self.algo.balance)
        return memory.draw(count, rng), None

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """(JSON, arrays) from which `restore` goes on bit for bit."""
        averaged = self.learner.averaged
        counters = {
            "config": asdict(self.config),
            "rounds": self.rounds,
            "games": self.games,
            "seconds": self.seconds,
            "steps": self.learner.steps,
            "stage": self.stage,
            "owed": self.owed,
            "averaged": 0 if averaged is None else int(averaged.n_averaged),
        }
        arrays: Arrays = {
            "pending.boards": self.pending.boards,
            "pending.targets": self.pending.targets,
        }
        arrays |= {f"weight.{name}": values for name, values in _arrays(self.network).items()}
        if averaged is not None:
            averages = _arrays(averaged.module).items()
            arrays |= {f"{checkpoint.AVERAGE}{name}": values for name, values in averages}
        for name, values in self.network.named_parameters():
            moments = self.learner.optimizer.state.get(values, {})
            for moment in _ADAM:
                if moment in moments:
                    arrays[f"{moment}.{name}"] = moments[moment].cpu().numpy()
        for number, group in enumerate(self.groups):
            arrays |= {f"games.{number}.{key}": value for key, value in group.state().items()}
        if self.memory is not None:
            arrays |= {f"memory.{key}": value for key, value in self.memory.state().items()}
        return counters, arrays

    def restore(self, counters: dict[str, Any], arrays: Arrays) -> None:
        """Go on where `state` was taken. Raises ValueError where the arrays do not fit."""
        try:
            self._restore(counters, arrays)
        except (KeyError, RuntimeError, ValueError) as error:
            raise ValueError(f"the checkpoint does not fit this run: {error}") from None

    def _restore(self, counters: dict[str, Any], arrays: Arrays) -> None:
        self.rounds, self.games = counters["rounds"], counters["games"]
        self.seconds = counters["seconds"]
        self._begin(counters["stage"])
        self.owed = counters["owed"]
        self.learner.steps = counters["steps"]
        self.pending = Sample(arrays["pending.boards"], arrays["pending.targets"])
        averages: dict[str, torch.nn.Parameter] = {}
        if self.learner.averaged is not None:
            self.learner.averaged.n_averaged.fill_(counters["averaged"])
            averages = dict(self.learner.averaged.module.named_parameters())
        with torch.no_grad():
            for name, values in self.network.named_parameters():
                values.copy_(torch.from_numpy(arrays[f"weight.{name}"]))
                if averages:
                    averages[name].copy_(torch.from_numpy(arrays[f"{checkpoint.AVERAGE}{name}"]))
                if f"{_ADAM[0]}.{name}" in arrays:
                    moments = self.learner.optimizer.state[values]
                    # beside its parameter: a fused step on a device reads it there
                    moments["step"] = torch.tensor(float(self.learner.steps), device=values.device)
                    for moment in _ADAM:
                        saved = torch.from_numpy(arrays[f"{moment}.{name}"].copy())
                        moments[moment] = saved.to(values.device)
        for number, group in enumerate(self.groups):
            group.restore(_below(arrays, f"games.{number}."))
        if self.memory is not None:
            self.memory.restore(_below(arrays, "memory."))


def _arrays(network: torch.nn.Module) -> Arrays:
    return {k: v.detach().cpu().numpy() for k, v in network.named_parameters()}


def _below(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names begin with `prefix`, without it."""
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
