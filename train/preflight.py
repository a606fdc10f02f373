"""Before a run on a device: what each part of it manages, and which is the limit.

    python -m train.preflight exp=gpu_quarter_hour
    python -m train.preflight exp=gpu_quarter_hour threads=8 stages.td.minibatch=4096

Takes the keys of `python -m train` and some twenty seconds after compiling; on the CPU minutes,
since whole rounds of the recipe are played. For every stage of the recipe it times, with the
stage's own batches, the moves (rules on the host's threads), the boards' way to the device, the net
with its choice there, and the learner; then whole rounds of the run. All are given in turns of
self-play that the part alone could carry a second, so that the lowest is the limit; where the whole
stays far below it, the rest is Python between the parts. It compiles what the run needs, so the run
that follows on the same machine starts at once. Writes no file.
"""

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch

from nardy.rules.batch import Afterstates, Workspace, afterstates
from nardy.rules.board import Boards
from nardy.rules.dice import ROLLS, roll
from nardy.rules.variants import Variant
from train.command_line import answer
from train.config import AlgoConfig, Config, help_text, parse
from train.device import DeviceEvaluator
from train.export import reference_positions
from train.selfplay import Sample
from train.targets import CHUNK
from train.trainer import Trainer

EXAMPLES = (
    "python -m train.preflight exp=gpu_quarter_hour",
    "python -m train.preflight exp=gpu_quarter_hour device=cpu threads=2",
)
SECONDS = 20.0
"""Of all timings together, compiling aside."""
WHOLE = 2
"""Whole rounds are timed for so many times what a part gets."""
LENGTH = 56
"""Turns of a game between nets that can play, about."""

Work = Callable[[], int]


@dataclass(frozen=True)
class Batch:
    """What one thread of a stage gives to the rules and then to the net at a time."""

    game: Variant
    boards: Boards
    dice: np.ndarray
    results: Afterstates

    @staticmethod
    def of(game: Variant, algo: AlgoConfig, threads: int, seed: int) -> "Batch":
        """A turn of the thread's games, or for one-roll targets a chunk with all rolls."""
        if algo.targets != "td":
            boards = np.repeat(reference_positions(game, CHUNK, seed), len(ROLLS), 0)
            dice = np.tile(ROLLS, (CHUNK, 1))
        else:
            boards = reference_positions(game, algo.games_in_flight // threads, seed)
            dice = roll(seed, np.arange(len(boards)), np.ones(len(boards), np.int64))
        return Batch(game, boards, dice, afterstates(boards, dice, game))


@dataclass(frozen=True)
class Rates:
    """Turns of self-play a second that each part of a stage alone could carry, and the whole."""

    parts: dict[str, float]
    whole: float

    def limit(self) -> str:
        """The slowest part, or what lies between the parts where all are far from it."""
        slowest = min(self.parts, key=lambda name: self.parts[name])
        return "between" if self.whole < self.parts[slowest] / 2 else slowest


def boards_a_turn(algo: AlgoConfig) -> float:
    """Boards that are rolled for in one turn of one game: its own, and those of its target."""
    plies = {"td": 0, "one_roll": 1, "rollout": algo.rollout_plies}[algo.targets]
    return 1 + algo.label * len(ROLLS) * plies


def learnt_a_turn(algo: AlgoConfig) -> float:
    """Positions learnt from, for one turn of one game."""
    return algo.reuse * (1 if algo.targets == "td" else algo.label)


def rate(works: Sequence[Work], seconds: float) -> float:
    """Units a second of works that run side by side, one a thread, each at least once."""
    for work in works:
        work()  # compiles, and fills caches
    began = time.perf_counter()

    def repeat(work: Work) -> int:
        done = work()
        while time.perf_counter() - began < seconds:
            done += work()
        return done

    with ThreadPoolExecutor(len(works)) as pool:
        done = sum(pool.map(repeat, works))
    return done / (time.perf_counter() - began)


# --- the parts; each work returns the boards that it was rolled for ----------------------------


def moves(batch: Batch) -> Work:
    """Legal afterstates, on the host."""
    memory = Workspace()

    def work() -> int:
        afterstates(batch.boards, batch.dice, batch.game, memory)
        return len(batch.boards)

    return work


def transfer(batch: Batch, evaluator: DeviceEvaluator) -> Work:
    """Afterstates to the device, and a number a board back."""

    def work() -> int:
        with torch.inference_mode(), evaluator.on_stream():
            sent = evaluator.send(batch.results.boards)
            sent[: len(batch.boards), 0].cpu()
        return len(batch.boards)

    return work


def net(batch: Batch, evaluator: DeviceEvaluator) -> Work:
    """Features, net and choice, for boards that are on the device already."""
    with torch.inference_mode(), evaluator.on_stream():
        resident = evaluator.send(batch.results.boards)
        offsets = evaluator.send(batch.results.offsets)
        resident[:1].cpu()

    def work() -> int:
        with torch.inference_mode(), evaluator.on_stream():
            evaluator.choose_on(resident, offsets)[0].cpu()
        return len(batch.boards)

    return work


def learning(trainer: Trainer, batch: Batch) -> Work:
    """Steps of the learner, at a rate of zero; returns positions."""
    size = trainer.learner.minibatch
    boards = np.resize(batch.boards, (4 * size, 26))
    outcomes = len(batch.game.outcomes)
    sample = Sample(boards, np.full((4 * size, outcomes), 1 / outcomes, np.float32))
    rng = np.random.default_rng(0)

    def work() -> int:
        return trainer.learner.learn(sample, rng, lambda: 0.0).steps * size

    return work


def rounds(trainer: Trainer, seconds: float) -> float:
    """Turns a second of whole rounds, after some that compile and fill what others draw from."""
    # where positions come when games end, so many rounds that all games end once
    waits = trainer.algo.targets == "td"
    cycle = -(-LENGTH // trainer.algo.plies_per_round) if waits else 1
    with ThreadPoolExecutor(trainer.config.threads) as pool:
        for _ in range(cycle):
            trainer.round(pool)
        began, turns = time.perf_counter(), 0
        while not turns or time.perf_counter() - began < seconds:
            turns += sum(trainer.round(pool).tally.turns for _ in range(cycle))
        return turns / (time.perf_counter() - began)


# --- the command -----------------------------------------------------------------------------


def measure(config: Config, name: str, seconds: float) -> Rates:
    """The rates of one stage of a configuration. seconds: of each part."""
    algo = config.schedule()[name]
    # an untrained net's games are long: cut off, they end as often as later ones
    short = replace(algo, longest_game=min(algo.longest_game, LENGTH))
    trainer = Trainer(replace(config, stages={}, algo=short, games=2**62, minutes=math.inf))
    game, threads = trainer.variant, config.threads
    batches = [Batch.of(game, algo, threads, seed) for seed in range(threads)]
    evaluators = [DeviceEvaluator(trainer.net(), config.device, trainer.precision) for _ in batches]
    rolled, learnt = boards_a_turn(algo), learnt_a_turn(algo)
    pairs = list(zip(batches, evaluators, strict=True))
    parts = {
        "rules": rate([moves(batch) for batch in batches], seconds) / rolled,
        "transfer": rate([transfer(*pair) for pair in pairs], seconds) / rolled,
        "net": rate([net(*pair) for pair in pairs], seconds) / rolled,
        "learner": rate([learning(trainer, batches[0])], seconds) / learnt,
    }
    return Rates(parts, rounds(trainer, WHOLE * seconds))


def run(config: Config) -> None:
    """Measure every stage and print a line for each. Raises ValueError naming what is wrong."""
    stages = list(config.schedule())
    seconds = SECONDS / len(stages) / (4 + WHOLE)
    print(f"turns a second on {config.device}, {config.threads} threads")
    print(f"{'stage':16}" + "".join(f"{p:>12}" for p in (*HEADS, "whole")) + "  limit")
    for name in stages:
        found = measure(config, name, seconds)
        cells = "".join(f"{value:12,.0f}" for value in (*found.parts.values(), found.whole))
        print(f"{name:16}{cells}  {LIMITS[found.limit()]}", flush=True)


HEADS = ("rules", "transfer", "net", "learner")
LIMITS = {
    "rules": "rules: the host's threads",
    "transfer": "transfer: the way to the device",
    "net": "net: the device",
    "learner": "learner: its steps",
    "between": "Python between the parts: fewer, larger batches",
}


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer(
        "train.preflight",
        lambda: run(parse("train", Config, list(arguments))),
        arguments,
        help_text(Config, "usage: python -m train.preflight [key=value …]", EXAMPLES),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
