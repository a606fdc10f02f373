"""The stages that `python -m train.bench` times, and the stopwatch they share.

Every figure is the median of `repeats` timings on the same positions, from games of random moves.
"""

import itertools
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch
from tqdm import tqdm

from nardy.net.features import FEATURES
from nardy.net.net import Evaluator, Net
from nardy.play.bearoff import Bearoff
from nardy.play.nets import shipped
from nardy.play.player import Player
from nardy.rules.batch import Afterstates, Workspace, afterstates
from nardy.rules.board import Boards, points_won, start_board, turn
from nardy.rules.dice import roll
from nardy.rules.variants import Variant, variant
from train.arena import cores
from train.config import Config, NetConfig, about, parse
from train.encode import encode
from train.export import reference_positions
from train.metrics import memory_mb
from train.network import GRAIN, TorchTail, ValueNetwork, resolve_precision, to_net
from train.peers import bench as peers
from train.players import RandomPlayer, player
from train.trainer import Trainer

SIZES = ("small", "base", "large")
BATCHES = (1, 8, 64, 512, 2048, 8192)
FLAT_FROM = 64
"""Batches from here on should cost the same an evaluation."""
TAILS = (32, 64, 128, 256, 512)
POSITIONS = 1024
SELF_PLAY = ("net=base", "games=1000000000")
GAME = variant("short")
LONG = variant("long")


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
        if not self.warmup >= 0:
            raise ValueError(f"warmup must be 0 or above, not {self.warmup!r}")


class Timing(NamedTuple):
    """Units a second, and the memory of the whole process meanwhile."""

    rate: float
    mb: float  # resident, MiB

    def times(self, factor: float) -> "Timing":
        """In other units, `factor` of them to one."""
        return Timing(self.rate * factor, self.mb)


@dataclass
class Stage:
    """One figure: a rate, or for latency a time, and the same of each peer."""

    rate: float
    unit: str
    mb: float
    peer: dict[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """Ours by the fastest peer's; None without a peer."""
        return self.rate / max(self.peer.values()) if self.peer else None


Work = Callable[[], int]
"""Does some units and says how many."""


class Bench:
    """The figures so far, and the stopwatch that all stages share."""

    def __init__(self, config: BenchConfig, engines: Executor) -> None:
        """engines: where peers run, a process of its own, so that our memory is ours alone."""
        torch.set_num_threads(1)
        self.config = config
        self.engines = engines
        self.precision = resolve_precision(config.precision, "cpu")
        self.stages: dict[str, Stage] = {}

    def time(self, work: Work) -> Timing:
        """The median of `repeats` timings, after a first call that is not counted."""
        work()
        rates = []
        for _ in range(self.config.repeats):
            began, done = time.perf_counter(), 0
            while (spent := time.perf_counter() - began) < self.config.seconds:
                done += work()
            rates.append(done / spent)
        return Timing(median(rates), memory_mb())

    def time_threads(self, make: Callable[[int], Work], threads: int) -> Timing:
        """As `time`, summed over threads that each have work of their own, make(0), make(1), …"""
        with ThreadPoolExecutor(threads) as pool:
            works = [make(number) for number in range(threads)]
            timings = list(pool.map(self.time, works))
        return Timing(sum(t.rate for t in timings), max(t.mb for t in timings))

    def peers(self, stage: str) -> dict[str, float]:
        """Units a second of each installed peer. Raises OSError where one ends its process."""
        if not peers.installed():
            return {}
        repeats = self.config.repeats
        boards, dice, _ = positions(peers.positions_needed(repeats))
        try:
            return self.engines.submit(peers.rates, stage, boards, dice, repeats).result()
        except BrokenExecutor:
            raise OSError(f"a peer ended its process at the stage {stage!r}") from None

    def add(
        self, name: str, timing: Timing, unit: str, peer: dict[str, float] | None = None
    ) -> None:
        """Keep and print one figure."""
        self.stages[name] = Stage(timing.rate, unit, timing.mb, peer or {})
        beside = "".join(
            f"   {who} {shown(rate)} ({timing.rate / rate:.1f} ×)"
            for who, rate in (peer or {}).items()
        )
        tqdm.write(f"{name:28s}{shown(timing.rate):>12s} {unit:14s}{timing.mb:6.0f} MiB{beside}")

    def add_both(
        self,
        name: str,
        make: Callable[[int], Work],
        unit: str,
        factor: float,
        peer: str | None,
    ) -> None:
        """Time and keep one thread under the name itself, beside the peers' stage where they have
        one, and all threads."""
        beside = self.peers(peer) if peer else None
        self.add(name, self.time(make(0)).times(factor), unit, beside)
        if cores() > 1:
            timing = self.time_threads(make, cores()).times(factor)
            self.add(f"{name}, {cores()} threads", timing, unit)


def shown(rate: float) -> str:
    """A figure with the digits that matter."""
    return f"{rate:,.0f}" if rate >= 1000 else f"{rate:.3g}"


@lru_cache
def positions(count: int, seed: int = 1, game: Variant = GAME) -> tuple[Boards, Any, Afterstates]:
    """Boards before the roll, dice and afterstates, from games of random moves."""
    boards = reference_positions(game, count, seed)
    dice = roll(seed, np.arange(count), np.full(count, 41))
    return boards, dice, afterstates(boards, dice, game)


def sized_net(size: str) -> Net:
    """A net of the shape of configs/net/SIZE.yaml with random weights."""
    return random_net(parse("train", Config, [f"net={size}"]).net)


def random_net(size: NetConfig, seed: int = 1) -> Net:
    """A net of a configuration's shape with random weights."""
    torch.manual_seed(seed)
    return to_net(ValueNetwork(size.hidden, size.tail, size.phases, len(GAME.outcomes)), GAME)


def in_play(bench: Bench, net: Net, batch: int) -> Callable[[int], Work]:
    """Work for one thread: generate and price the afterstates of `batch` positions."""

    def make(number: int) -> Work:
        boards, dice, _ = positions(max(batch, POSITIONS), number + 1)
        begins = itertools.cycle(range(0, len(boards) - batch + 1, batch))
        memory = Workspace()
        own = Evaluator(net, TorchTail(net, bench.precision), 4096)  # as self-play has it

        def work() -> int:
            begin = next(begins)
            rows = slice(begin, begin + batch)
            results = afterstates(boards[rows], dice[rows], GAME, memory)
            own.choose(boards[rows], results)
            return len(results.boards)

        return work

    return make


def legal_plays(bench: Bench) -> None:
    """Legal-play generation."""
    for game, peer in ((GAME, "legal"), (LONG, None)):
        make = partial(_legal_plays, game)
        bench.add_both(f"legal_{game.name}", make, "positions/s", 1, peer)


def _legal_plays(game: Variant, number: int) -> Work:
    boards, dice, _ = positions(POSITIONS, number + 1, game)
    memory = Workspace()

    def work() -> int:
        afterstates(boards, dice, game, memory)
        return len(boards)

    return work


def random_play(bench: Bench) -> None:
    """Turns of games of random moves: dice, generation, choice, the next position."""
    for name, game, peer in (
        ("random_play", GAME, "random_play"),
        ("random_play_long", LONG, None),
    ):
        bench.add_both(name, partial(_random_play, game), "turns/s", 1, peer)


def _random_play(game: Variant, number: int) -> Work:
    start = start_board(game)
    boards = np.repeat(start[None], POSITIONS, 0)
    games, plies = np.arange(POSITIONS), np.zeros(POSITIONS, np.int64)
    memory, seed = Workspace(), number + 1
    mover = RandomPlayer(seed)

    def work() -> int:
        nonlocal boards
        dice = roll(seed, games, plies)
        results = afterstates(boards, dice, game, memory)
        chosen = results.boards[mover.choose(boards, dice, results, games, plies)]
        over = points_won(chosen, game) > 0
        boards = turn(chosen, game.family)
        boards[over] = start
        plies[:] = np.where(over, 0, plies + 1)
        games[over] += POSITIONS
        return POSITIONS

    return work


def bear_off(bench: Bench) -> None:
    """Look-ups in the bear-off tables: 15 checkers a side in the one-sided, 6 in the two-sided."""
    tables = Bearoff.load(GAME)
    for checkers, name in ((GAME.checkers, "one-sided"), (6, "two-sided")):
        home = np.random.default_rng(1).multinomial(checkers, np.ones(6) / 6, (2, POSITIONS))
        boards = np.zeros((POSITIONS, 26), np.int8)
        boards[:, 1:7], boards[:, 24:18:-1] = home[0], -home[1]
        chances = np.empty((POSITIONS, len(GAME.outcomes)), np.float32)

        def work(boards: Boards = boards, chances: Any = chances) -> int:
            return int(tables.settle(boards, chances).sum())

        bench.add(f"bear-off, {name}", bench.time(work), "positions/s")


def evaluation(bench: Bench) -> None:
    """Static evaluation of afterstates in play, generation included, by size and by tail."""
    unit = "evaluations/s"
    bench.add_both("evaluate", in_play(bench, sized_net("base"), POSITIONS), unit, 1, "evaluate")
    for size in SIZES:
        if size != "base":
            timing = bench.time(in_play(bench, sized_net(size), POSITIONS)(0))
            bench.add(f"evaluate, net={size}", timing, unit, bench.stages["evaluate"].peer)
    for width in TAILS:
        net = random_net(NetConfig(hidden=512, tail=[width, 32]))
        timing = bench.time(in_play(bench, net, POSITIONS)(0))
        bench.add(f"evaluate, 512→{width}→32", timing, unit)


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

    beside = {"dense": bench.time(dense).rate}
    bench.add("first_layer", bench.time(additive), "evaluations/s", beside)


def best_move(bench: Bench) -> None:
    """The best move at 0-ply for a batch of positions."""
    boards, _, results = positions(POSITIONS)
    make = in_play(bench, sized_net("base"), POSITIONS)
    share = len(boards) / len(results.boards)
    bench.add_both("best_move", make, "positions/s", share, "best_move")


def two_ply(bench: Bench) -> None:
    """The move chosen at 2-ply, as in a match, a position a call, by the net that is shipped."""
    boards, dice, _ = positions(POSITIONS)
    net, memory, none = player(str(shipped()["short"]), GAME, ply=2), Workspace(), np.empty(0, int)
    rows = itertools.cycle(range(POSITIONS))  # on and on: no position is asked again

    def choose() -> int:
        row = next(rows)
        board, rolled = boards[row : row + 1], dice[row : row + 1]
        net.choose(board, rolled, afterstates(board, rolled, GAME, memory), none, none)
        return 1

    bench.add("two_ply", bench.time(choose), "moves/s", bench.peers("two_ply"))


def latency(bench: Bench) -> None:
    """The time from one position to its best move at 0-ply: the evaluator alone, and the call
    that a user makes, which ranks every play and writes its move. The mean over positions."""
    net = sized_net("base")
    boards, dice, _ = positions(POSITIONS)
    alone, memory, user = Evaluator(net), Workspace(), Player(net)

    def evaluator(row: int) -> None:
        board = boards[row : row + 1]
        alone.choose(board, afterstates(board, dice[row : row + 1], GAME, memory))

    def best(row: int) -> None:
        user.best(boards[row], dice[row])

    for name, function in (("latency_ms", evaluator), ("latency_ms, Player.best", best)):
        timing = bench.time(_over_all(function))
        bench.add(name, timing._replace(rate=1000 / timing.rate), "ms a move")


def _over_all(function: Callable[[int], None]) -> Work:
    """Work of one position a call, and of all of them however short a timing is."""

    def work() -> int:
        for row in range(POSITIONS):
            function(row)
        return POSITIONS

    return work


def self_play(bench: Bench) -> None:
    """Games and turns a second with learning, by all threads and then by one.

    After some training: at first games are long. One thread starts from what all have learnt.
    """
    weights = None
    for threads in dict.fromkeys((cores(), 1)):
        trainer = Trainer(parse("train", Config, [*SELF_PLAY, f"threads={threads}"]))
        if weights is not None:
            trainer.network.load_state_dict(weights)
        suffix = "" if threads == cores() else ", 1 thread"
        games, turns = _train(bench, trainer)
        bench.add("self_play_games" + suffix, games, "games/s")
        bench.add("self_play_turns" + suffix, turns, "turns/s")
        weights = trainer.network.state_dict()


def _train(bench: Bench, trainer: Trainer) -> tuple[Timing, Timing]:
    """Finished games a second, and turns."""
    games, turns = [], []
    with ThreadPoolExecutor(trainer.config.threads) as pool:
        began = time.perf_counter()
        while time.perf_counter() - began < bench.config.warmup:
            trainer.round(pool)
        for _ in range(bench.config.repeats):
            began, before, played = time.perf_counter(), trainer.games, 0
            while (spent := time.perf_counter() - began) < 10 * bench.config.seconds:
                played += trainer.round(pool).tally.turns
            games.append((trainer.games - before) / spent)
            turns.append(played / spent)
    return Timing(median(games), memory_mb()), Timing(median(turns), memory_mb())


class Growth(NamedTuple):
    """How the cost of an evaluation in play grows."""

    ns_by_batch: dict[str, dict[int, float]]  # of each size of net
    mb_by_batch: dict[str, dict[int, float]]  # resident, MiB
    rate_by_threads: dict[int, float]  # net=base, evaluations/s


def growth(bench: Bench) -> Growth:
    """Nanoseconds an evaluation by batch, and evaluations a second by threads."""
    grown = Growth({}, {}, {})
    for size in SIZES:
        net = sized_net(size)
        timings = {batch: bench.time(in_play(bench, net, batch)(0)) for batch in BATCHES}
        grown.ns_by_batch[size] = {batch: 1e9 / t.rate for batch, t in timings.items()}
        grown.mb_by_batch[size] = {batch: t.mb for batch, t in timings.items()}
        _show_growth(size, grown)
    make = in_play(bench, sized_net("base"), POSITIONS)
    for threads in sorted({1, *(2**n for n in range(1, cores().bit_length())), cores()}):
        rate = grown.rate_by_threads[threads] = bench.time_threads(make, threads).rate
        ratio = rate / grown.rate_by_threads[1]
        tqdm.write(f"threads {threads:<6d}{rate:14,.0f} evaluations/s   {ratio:.2f} × one thread")
    return grown


def _show_growth(size: str, grown: Growth) -> None:
    by_batch, by_memory = grown.ns_by_batch[size], grown.mb_by_batch[size]
    for batch, ns in by_batch.items():
        tqdm.write(
            f"net={size:6s} batch {batch:5d}{ns:9,.0f} ns an evaluation{by_memory[batch]:8.0f} MiB"
        )
    flat = [ns for batch, ns in by_batch.items() if batch >= FLAT_FROM]
    spread = max(flat) / min(flat) - 1
    tqdm.write(f"net={size:6s} equal from batch {FLAT_FROM} on to within {spread:.0%}")


STAGES = (
    legal_plays, random_play, bear_off, evaluation, first_layer, best_move, two_ply, latency,
    self_play
)  # fmt: skip
