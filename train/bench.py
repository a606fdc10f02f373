"""How fast each stage is, beside the peers that are installed, in one run.

    python -m train.bench
    python -m train.bench seconds=0.2 json=bench.json plot=bench.png

Every figure is the median of `repeats` timings on the same positions, from games of random moves.
A ratio is ours divided by the peer's. Nothing here is a test: a slow machine fails nothing.
"""

import itertools
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the threads measured are our own
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch
from tqdm import tqdm

from nardy.net.features import FEATURES
from nardy.net.net import Evaluator, Net
from nardy.net.weights import write_whole
from nardy.rules.batch import Afterstates, Workspace, afterstates
from nardy.rules.board import Boards, flip, points_won, start_board
from nardy.rules.dice import random_words, roll
from nardy.rules.variants import variant
from train.arena import cores
from train.config import Config, NetConfig, about, help_text, parse
from train.encode import encode
from train.export import reference_positions
from train.metrics import memory_mb
from train.network import GRAIN, TorchTail, ValueNetwork, resolve_precision, to_net
from train.peers import bench as peers
from train.trainer import Trainer

EXAMPLES = ("python -m train.bench", "python -m train.bench json=bench.json plot=bench.png")
SIZES = ("small", "base", "large")
BATCHES = (1, 8, 64, 512, 2048, 8192)
TAILS = (32, 64, 128, 256, 512)
POSITIONS = 1024
GAME = variant("short")


@dataclass
class BenchConfig:
    """What to measure and for how long."""

    seconds: float = about("of each timing", 0.3)
    repeats: int = about("timings a figure, at least five", 5)
    warmup: float = about("seconds of training before self-play is timed", 40.0)
    precision: str = about("of matrix products: auto, float32 or bfloat16", "auto")
    json: str | None = about("file to write the figures to", None)
    plot: str | None = about("picture of the growth with batch and threads", None)

    def __post_init__(self) -> None:
        """Refuse what would measure nothing."""
        if not self.seconds > 0:
            raise ValueError(f"seconds must be above 0, not {self.seconds!r}")
        if self.repeats < 5:
            raise ValueError(f"repeats must be at least 5, not {self.repeats!r}")


@dataclass
class Stage:
    """One figure: a rate, or for latency a time, and the same of each peer."""

    rate: float
    unit: str
    peer: dict[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """Ours by the fastest peer's; None without a peer."""
        return self.rate / max(self.peer.values()) if self.peer else None


class Bench:
    """Positions, nets and the stopwatch that all stages share."""

    def __init__(self, config: BenchConfig) -> None:
        torch.set_num_threads(1)
        self.config = config
        self.precision = resolve_precision(config.precision, "cpu")
        self.stages: dict[str, Stage] = {}

    def rate(self, work: Callable[[], int]) -> float:
        """Median of units a second; `work` does some and says how many."""
        work()
        rates = []
        for _ in range(self.config.repeats):
            began, done = time.perf_counter(), 0
            while (spent := time.perf_counter() - began) < self.config.seconds:
                done += work()
            rates.append(done / spent)
        return median(rates)

    def threads_rate(self, make: Callable[[int], Callable[[], int]], threads: int) -> float:
        """As `rate`, summed over threads that each have work of their own."""
        with ThreadPoolExecutor(threads) as pool:
            works = [make(number) for number in range(threads)]
            return sum(pool.map(self.rate, works))

    def peers(self, stage: str) -> dict[str, float]:
        """Units a second of each peer that is installed."""
        return peers.rates(stage, *positions(peers.POSITIONS), repeats=self.config.repeats)

    def add(self, name: str, rate: float, unit: str, **peer: float) -> None:
        """Keep and print one figure."""
        stage = self.stages[name] = Stage(rate, unit, dict(peer))
        beside = "".join(
            f"   {who} {value:,.0f} ({rate / value:.1f} ×)" for who, value in peer.items()
        )
        tqdm.write(f"{name:34s}{shown(rate):>14s} {stage.unit:14s}{beside}")


def shown(rate: float) -> str:
    """A figure with the digits that matter."""
    return f"{rate:,.0f}" if rate >= 1000 else f"{rate:.3g}"


def positions(count: int, seed: int = 1) -> tuple[Boards, Any, Afterstates]:
    """Boards before the roll, dice and afterstates, from games of random moves."""
    boards = reference_positions(GAME, count, seed)
    dice = roll(seed, np.arange(count), np.full(count, 41))
    return boards, dice, afterstates(boards, dice, GAME)


def random_net(size: NetConfig, seed: int = 1) -> Net:
    """A net of a configuration's shape with random weights."""
    torch.manual_seed(seed)
    return to_net(ValueNetwork(size.hidden, size.tail, size.phases, len(GAME.outcomes)), GAME)


def evaluator(bench: Bench, net: Net) -> Evaluator:
    """An evaluator as self-play has it."""
    return Evaluator(net, TorchTail(net, bench.precision), 4096)


def in_play(bench: Bench, net: Net, batch: int) -> Callable[[int], Callable[[], int]]:
    """Work for one thread: generate and price the afterstates of `batch` positions."""

    def make(number: int) -> Callable[[], int]:
        boards, dice, _ = positions(batch, number + 1)
        memory, own = Workspace(), evaluator(bench, net)

        def work() -> int:
            results = afterstates(boards, dice, GAME, memory)
            own.choose(boards, results)
            return len(results.boards)

        return work

    return make


def rules(bench: Bench) -> None:
    """Legal-play generation, one thread and all."""

    def make(number: int) -> Callable[[], int]:
        boards, dice, _ = positions(POSITIONS, number + 1)
        memory = Workspace()

        def work() -> int:
            afterstates(boards, dice, GAME, memory)
            return len(boards)

        return work

    peer = bench.peers("legal")
    bench.add("legal_short", bench.rate(make(0)), "positions/s", **peer)
    bench.add(f"legal_short, {cores()} threads", bench.threads_rate(make, cores()), "positions/s")


def random_play(bench: Bench) -> None:
    """Turns of games of random moves: dice, generation, choice, the next position."""

    def make(number: int) -> Callable[[], int]:
        boards = np.repeat(start_board(GAME)[None], POSITIONS, 0)
        games, plies = np.arange(POSITIONS), np.zeros(POSITIONS, np.int64)
        memory, seed = Workspace(), number + 1

        def work() -> int:
            nonlocal boards
            results = afterstates(boards, roll(seed, games, plies), GAME, memory)
            words = random_words(seed, games, plies, stream=1) >> np.uint64(32)
            choice = (words * np.diff(results.offsets).astype(np.uint64)) >> np.uint64(32)
            chosen = results.boards[results.offsets[:-1] + choice.astype(np.int64)]
            over = points_won(chosen, GAME) > 0
            boards = flip(chosen)
            boards[over] = start_board(GAME)
            plies[:] = np.where(over, 0, plies + 1)
            games[over] += POSITIONS
            return POSITIONS

        return work

    bench.add("random_play", bench.rate(make(0)), "turns/s")
    bench.add(f"random_play, {cores()} threads", bench.threads_rate(make, cores()), "turns/s")


def evaluation(bench: Bench) -> None:
    """Static evaluation of afterstates in play, generation included, by size and by tail."""
    peer = bench.peers("evaluate")
    for size in SIZES:
        net = random_net(parse("train", Config, [f"net={size}"]).net)
        rate = bench.rate(in_play(bench, net, POSITIONS)(0))
        name = "evaluate" if size == "base" else f"evaluate, net={size}"
        bench.add(name, rate, "evaluations/s", **peer)
    for width in TAILS:
        net = random_net(NetConfig(hidden=512, tail=[width, 32]))
        rate = bench.rate(in_play(bench, net, POSITIONS)(0))
        bench.add(f"evaluate, 512→{width}→32", rate, "evaluations/s")


class _NoTail:
    """A tail that leaves the logits as they are, to time what comes before it."""

    half = True

    def __call__(self, activations: Any, rows: slice, phase: int, logits: Any) -> None:
        """See nardy.net.net.Tail."""


def first_layer(bench: Bench) -> None:
    """The additive first layer against a dense one, everything else left out."""
    net = random_net(NetConfig(hidden=512, tail=[]))
    boards, _, results = positions(POSITIONS)
    own = Evaluator(net, _NoTail(), 4096)

    def additive() -> int:
        own.values(boards, results)
        return len(results.boards)

    weight = torch.randn(FEATURES, 512).to(bench.precision)
    rows = len(results.boards) // GRAIN * GRAIN
    features = np.empty((rows, FEATURES), np.float32)

    def dense() -> int:
        encode(results.boards[:rows], GAME.checkers, features)
        torch.mm(torch.from_numpy(features).to(bench.precision), weight).relu_()
        return rows

    bench.add("first_layer", bench.rate(additive), "evaluations/s", dense=bench.rate(dense))


def best_move(bench: Bench) -> None:
    """The best move at 0-ply for a batch, and for one position the time it takes."""
    net = random_net(parse("train", Config, ["net=base"]).net)
    boards, dice, results = positions(POSITIONS)
    make = in_play(bench, net, POSITIONS)
    share = len(boards) / len(results.boards)
    peer = bench.peers("best_move")
    bench.add("best_move", bench.rate(make(0)) * share, "positions/s", **peer)
    alone, memory, count = Evaluator(net), Workspace(), itertools.count()

    def one() -> int:
        number = next(count) % POSITIONS
        board = boards[number : number + 1]
        alone.choose(board, afterstates(board, dice[number : number + 1], GAME, memory))
        return 1

    bench.add("latency_ms", 1000 / bench.rate(one), "ms a move")


def growth(bench: Bench) -> dict[str, dict[str, float]]:
    """Nanoseconds an evaluation by batch, and evaluations a second by threads."""
    net = random_net(parse("train", Config, ["net=base"]).net)
    by_batch, by_threads = {}, {}
    for batch in BATCHES:
        rate = bench.rate(in_play(bench, net, batch)(0))
        by_batch[str(batch)] = 1e9 / rate
        tqdm.write(f"  batch {batch:5d}: {1e9 / rate:8.0f} ns an evaluation")
    for threads in sorted({1, 2, cores()}):
        rate = bench.threads_rate(in_play(bench, net, POSITIONS), threads)
        by_threads[str(threads)] = rate
        tqdm.write(f"  threads {threads}: {rate:12,.0f} evaluations/s")
    return {"ns_by_batch": by_batch, "rate_by_threads": by_threads}


def self_play(bench: Bench) -> None:
    """Games a second with learning, all threads, after some training: at first games are long."""
    config = parse("train", Config, ["net=base", f"threads={cores()}", "games=1000000000"])
    trainer = Trainer(config)
    with ThreadPoolExecutor(config.threads) as pool:
        began = time.perf_counter()
        while time.perf_counter() - began < bench.config.warmup:
            trainer.round(pool)
        rates, turns = [], []
        for _ in range(bench.config.repeats):
            began, games, played = time.perf_counter(), trainer.games, 0
            while (spent := time.perf_counter() - began) < 10 * bench.config.seconds:
                played += trainer.round(pool).tally.turns
            rates.append((trainer.games - games) / spent)
            turns.append(played / spent)
    bench.add("self_play_games", median(rates), "games/s")
    bench.add("self_play_turns", median(turns), "turns/s")


def machine() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def report(bench: Bench, grown: dict[str, dict[str, float]]) -> dict[str, Any]:
    """The figures as one object (design: names that scripts rely on)."""
    return {
        "machine": machine(),
        "threads": cores(),
        "precision": str(bench.precision).removeprefix("torch."),
        "stages": {
            name: {"rate": s.rate, "unit": s.unit, "peer": s.peer, "ratio": s.ratio}
            for name, s in bench.stages.items()
        },
        "growth": grown,
        "peak_mb": memory_mb("VmHWM"),
    }


def draw(path: str, grown: dict[str, dict[str, float]]) -> None:
    """Two plots: time an evaluation by batch, rate by threads."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.5))
    left.loglog([int(k) for k in grown["ns_by_batch"]], list(grown["ns_by_batch"].values()), "o-")
    left.set(xlabel="positions a batch", ylabel="ns an evaluation", title="growth with the batch")
    right.bar(list(grown["rate_by_threads"]), list(grown["rate_by_threads"].values()))
    right.set(xlabel="threads", ylabel="evaluations/s", title="growth with threads")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def run(config: BenchConfig) -> None:
    """Measure everything, print it, and write what was asked for."""
    bench = Bench(config)
    print(f"{machine()}, {cores()} cores, {bench.precision}, medians of {config.repeats}")
    for name in peers.missing():
        print(f"  {name} is not installed and is left out")
    grown: dict[str, dict[str, float]] = {}
    with tqdm(total=7, unit="stage", disable=not sys.stderr.isatty()) as bar:
        for stage in (rules, random_play, evaluation, first_layer, best_move, self_play):
            stage(bench)
            bar.update()
        grown = growth(bench)
        bar.update()
    figures = report(bench, grown)
    print(f"peak memory {figures['peak_mb']:.0f} MiB")
    if config.json:
        write_whole(config.json, (json.dumps(figures, indent=2) + "\n").encode())
    if config.plot:
        draw(config.plot, grown)


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code."""
    if {"-h", "--help"} & set(arguments):
        print(help_text(BenchConfig, "usage: python -m train.bench [key=value …]", EXAMPLES))
        return 0
    try:
        run(parse("bench", BenchConfig, arguments))
    except (ValueError, OSError) as error:
        print(f"train.bench: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
