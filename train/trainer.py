"""One training run's moving parts: games, network, learner, and their state on disk.

A round plays `plies_per_round` turns of every game with the net as it stands and meanwhile fits
the network to the positions of the round before. What a round computes depends on the state and
the configuration alone, not on time or on how threads are scheduled.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import torch

from nardy.net.net import Evaluator, Net
from nardy.play.bearoff import Bearoff
from train.config import Config
from train.device import DeviceEvaluator
from train.learner import Fit, Learner
from train.network import TorchTail, ValueNetwork, resolve_precision, to_net
from train.selfplay import Games, Sample, Tally

Arrays = dict[str, np.ndarray[Any, Any]]
_ADAM = ("exp_avg", "exp_avg_sq")
BLOCK = 4096
"""Rows evaluated together: enough to make torch's cost of a call small."""


class Round(NamedTuple):
    """What one round did."""

    tally: Tally
    fit: Fit
    rate: float


class Trainer:
    """The state of a run. `round` advances it; `state` and `restore` carry it over a kill."""

    def __init__(self, config: Config) -> None:
        if config.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device='cuda' needs a GPU that torch can use; there is none")
        torch.set_num_threads(1)  # the threads of this program are its own, one a group of games
        self.config = config
        self.variant = config.variant.make()
        self.precision = resolve_precision(config.precision, config.device)
        torch.manual_seed(config.seed)
        outcomes = len(self.variant.outcomes)
        self.network = ValueNetwork(config.net.hidden, config.net.tail, config.net.phases, outcomes)
        self.learner = Learner(
            self.network,
            self.variant.checkers,
            config.algo.minibatch,
            self.precision,
            config.device,
        )
        self.tables = Bearoff.load(self.variant) if config.algo.tables else None
        self.groups = [self._games(slots) for slots in self._slots()]
        net = self.net()
        self.evaluators = [self._evaluator(net) for _ in self.groups]
        self.pending = Sample(np.empty((0, 26), np.int8), np.empty((0, outcomes), np.float32))
        self.rounds = 0
        self.games = 0
        self.seconds = 0.0

    def _slots(self) -> list[np.ndarray]:
        return np.array_split(np.arange(self.config.algo.games_in_flight), self.config.threads)

    def _games(self, slots: np.ndarray) -> Games:
        algo = self.config.algo
        return Games(
            self.variant,
            self.config.seed,
            algo.lam,
            algo.longest_game,
            algo.games_in_flight,
            slots.copy(),
            self.tables,
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

    def net(self) -> Net:
        """The network as it stands, as a net."""
        return to_net(self.network, self.variant)

    def progress(self) -> float:
        """How much of the run is done, 0 to 1 and beyond: by games or by minutes."""
        return max(self.games / self.config.games, self.seconds / 60 / self.config.minutes)

    def rate(self) -> float:
        """Adam's step size now: level while hot, then falling geometrically."""
        algo = self.config.algo
        cooled = (min(self.progress(), 1.0) - algo.hot) / (1 - algo.hot)
        return float(algo.rate * (algo.final_rate / algo.rate) ** max(cooled, 0.0))

    def round(self, pool: ThreadPoolExecutor) -> Round:
        """Play a round of turns and learn from the round before."""
        self._load(self.net())
        rate = self.rate()
        turns = self.config.algo.plies_per_round
        if len(self.groups) == 1:
            played = [self.groups[0].play(self.evaluators[0], turns)]
            fit = self._learn(rate)
        else:
            futures: list[Future[tuple[Sample, Tally]]] = [
                pool.submit(group.play, evaluator, turns)
                for group, evaluator in zip(self.groups, self.evaluators, strict=True)
            ]
            fit = self._learn(rate)
            played = [future.result() for future in futures]
        self.pending = Sample(
            *(np.concatenate(parts) for parts in zip(*(s for s, _ in played), strict=True))
        )
        tally = sum((tally for _, tally in played), Tally())
        self.rounds += 1
        self.games += tally.games
        return Round(tally, fit, rate)

    def _learn(self, rate: float) -> Fit:
        rng = np.random.default_rng([self.config.seed, self.rounds])
        return self.learner.learn(self.pending, rng, lambda: rate)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """(JSON, arrays) from which `restore` goes on bit for bit."""
        counters = {
            "config": asdict(self.config),
            "rounds": self.rounds,
            "games": self.games,
            "seconds": self.seconds,
            "steps": self.learner.steps,
        }
        arrays: Arrays = {
            "pending.boards": self.pending.boards,
            "pending.targets": self.pending.targets,
        }
        for name, values in self.network.named_parameters():
            arrays[f"weight.{name}"] = values.detach().cpu().numpy()
            moments = self.learner.optimizer.state.get(values, {})
            for moment in _ADAM:
                if moment in moments:
                    arrays[f"{moment}.{name}"] = moments[moment].cpu().numpy()
        for number, group in enumerate(self.groups):
            arrays |= {f"games.{number}.{key}": value for key, value in group.state().items()}
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
        self.learner.steps = counters["steps"]
        self.pending = Sample(arrays["pending.boards"], arrays["pending.targets"])
        with torch.no_grad():
            for name, values in self.network.named_parameters():
                values.copy_(torch.from_numpy(arrays[f"weight.{name}"]))
                if f"{_ADAM[0]}.{name}" in arrays:
                    moments = self.learner.optimizer.state[values]
                    moments["step"] = torch.tensor(float(self.learner.steps))
                    for moment in _ADAM:
                        saved = torch.from_numpy(arrays[f"{moment}.{name}"].copy())
                        moments[moment] = saved.to(values.device)
        prefix = "games.{}."
        for number, group in enumerate(self.groups):
            start = prefix.format(number)
            group.restore({k[len(start) :]: v for k, v in arrays.items() if k.startswith(start)})
