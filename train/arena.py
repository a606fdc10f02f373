"""Two players against each other, every game twice with the same dice and the seats swapped.

    python -m train.arena a=runs/quick b=gnubg-nn pairs=2000
    python -m train.arena a=checkpoints/short-01 b=random pairs=100 json=result.json

a and b: random, pips, gnubg-nn, or a run folder, checkpoint or exported net. ArenaConfig lists
the keys. Points are always a's. `play_match` is the same for use from Python.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# games are spread over threads here; a BLAS that starts more of its own slows all of them
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from omegaconf import MISSING

from nardy.net.weights import write_whole
from nardy.rules.batch import Workspace, afterstates
from nardy.rules.board import Boards, flip, points_won, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import Variant
from train.config import VariantConfig, about, help_text, parse
from train.players import Player, player

EXAMPLES = (
    "python -m train.arena a=runs/quick b=gnubg-nn pairs=2000",
    "python -m train.arena a=checkpoints/short-01 b=random pairs=100 json=result.json",
)

MAX_PLIES = 10_000
"""A longer game is taken for a fault."""


@dataclass
class ArenaConfig:
    """One match."""

    a: str = about("random, pips, gnubg-nn, a run folder, a checkpoint or an exported net", MISSING)
    b: str = about("the other player", MISSING)
    variant: VariantConfig = about("the game", VariantConfig)
    pairs: int = about("pairs of games with the same dice", 1000)
    seed: int = about("of the dice, and of random players", 0)
    batch: int = about("games in progress at a time in each thread; no effect on the result", 512)
    threads: int | None = about("threads that play, by default one a core; likewise", None)
    json: str | None = about("file to write the result to", None)


@dataclass(frozen=True)
class MatchResult:
    """The outcome of a match.

    points: int8[pairs, 2], points won by a (negative: lost) in the game that a starts and in its
        twin, with the same dice, that b starts; 0 for a draw.
    """

    a: str
    b: str
    variant: str
    seed: int
    points: NDArray[np.int8] = field(repr=False)
    games_per_s: float

    @property
    def pairs(self) -> int:
        """How many pairs of games were played."""
        return len(self.points)

    @property
    def ppg(self) -> float:
        """Points a game, from a's side."""
        return float(self.points.mean())

    @property
    def ci95(self) -> float:
        """Half the width of the 95 % interval around ppg, taking pairs as independent."""
        return float(1.96 * self.points.mean(1).std(ddof=1) / np.sqrt(self.pairs))

    @property
    def draws(self) -> float:
        """Share of games drawn."""
        return float((self.points == 0).mean())

    def won(self, points: int) -> float:
        """Share of games in which a won at least so many points, or for negative ones lost."""
        reached = self.points >= points if points > 0 else self.points <= points
        return float(reached.mean())


def play_match(
    a: Player,
    b: Player,
    game: Variant,
    pairs: int,
    seed: int = 0,
    batch: int = 512,
    threads: int = 1,
    finished: Callable[[int], Any] | None = None,
) -> MatchResult:
    """Play `pairs` pairs of games of `game`; the result depends on players, game and seed alone.

    batch: games in progress at a time in each thread. finished: called with a number of games
    that have just ended, by one thread at a time.
    Raises ValueError naming a number that is too small, or a game of more than MAX_PLIES plies.
    """
    for name, value, least in (("pairs", pairs, 2), ("batch", batch, 1), ("threads", threads, 1)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")
    points = np.zeros(2 * pairs, np.int8)
    table = _Table(game, seed, batch, points, finished or (lambda games: None))
    shards = np.array_split(np.arange(2 * pairs), min(threads, pairs))
    began = time.perf_counter()
    with ThreadPoolExecutor(len(shards)) as pool:
        try:
            jobs = [pool.submit(table.play, (a.for_thread(), b.for_thread()), s) for s in shards]
            wait(jobs, return_when=FIRST_EXCEPTION)
        finally:
            table.stop.set()  # after an error or Ctrl-C the other threads leave too
    for job in jobs:
        job.result()  # raises what its thread raised
    speed = 2 * pairs / (time.perf_counter() - began)
    return MatchResult(a.name, b.name, game.name, seed, points.reshape(pairs, 2), speed)


@dataclass(frozen=True)
class _Table:
    """What the threads of a match share. Game 2 * pair is started by a, 2 * pair + 1 by b."""

    game: Variant
    seed: int
    batch: int
    points: NDArray[np.int8]  # int8[2 * pairs], a's; each thread writes its own games
    finished: Callable[[int], Any]
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)

    def play(self, players: tuple[Player, Player], games: NDArray[np.int64]) -> None:
        """Play `games` in lock-step, a slot each; a finished slot takes the next game."""
        memory = Workspace()
        live, waiting = games[: self.batch].copy(), games[self.batch :]
        boards = np.tile(start_board(self.game), (len(live), 1))
        plies = np.zeros(len(live), np.int64)
        while len(live) and not self.stop.is_set():
            seats = (live + plies) % 2  # 0 where a is on roll
            for seat, mover in enumerate(players):
                rows = np.flatnonzero(seats == seat)
                if len(rows):
                    pairs, turns = live[rows] // 2, plies[rows]
                    boards[rows] = self._moved(mover, boards[rows], pairs, turns, memory)
            won = points_won(boards, self.game)
            over = won > 0
            boards, plies = flip(boards), plies + 1
            if over.any():
                self._settle(live[over], np.where(seats, -won, won)[over])
                taken = np.flatnonzero(over)[: len(waiting)]
                live[taken], waiting = waiting[: len(taken)], waiting[len(taken) :]
                boards[taken], plies[taken], over[taken] = start_board(self.game), 0, False
                live, boards, plies = live[~over], boards[~over], plies[~over]
            self._check_length(live, plies)

    def _moved(
        self,
        mover: Player,
        boards: Boards,
        pairs: NDArray[np.int64],
        plies: NDArray[np.int64],
        memory: Workspace,
    ) -> Boards:
        """The boards after the mover's turns, still in his view."""
        dice = roll(self.seed, pairs, plies, self.game.opening)
        results = afterstates(boards, dice, self.game, memory)
        return results.boards[mover.choose(boards, dice, results, pairs, plies)]

    def _settle(self, games: NDArray[np.int64], points: NDArray[np.int8]) -> None:
        self.points[games] = points
        with self.lock:
            self.finished(len(games))

    def _check_length(self, live: NDArray[np.int64], plies: NDArray[np.int64]) -> None:
        if len(live) and plies.max() >= MAX_PLIES:
            pair = live[plies.argmax()] // 2
            raise ValueError(f"a game of pair {pair} is not over after {MAX_PLIES} plies")


def report(result: MatchResult) -> str:
    """The result for a reader, a few lines."""
    rows = [
        f"{'a':4}{result.won(1):8.1%}{result.won(2):10.1%}{result.won(3):12.1%}   {result.a}",
        f"{'b':4}{result.won(-1):8.1%}{result.won(-2):10.1%}{result.won(-3):12.1%}   {result.b}",
    ]
    return "\n".join(
        [
            f"{result.ppg:+.4f} ± {result.ci95:.4f} points a game for a "
            f"(95 %, {result.pairs} pairs of {result.variant})",
            f"{'':4}{'wins':>8}{'gammons':>10}{'backgammons':>12}",
            *rows,
            f"draws {result.draws:.1%}, {result.games_per_s:.1f} games/s",
        ]
    )


def as_json(result: MatchResult) -> bytes:
    """One JSON object. wins, gammons, backgammons: a's shares of all games, each within the last;
    ci95: half the width of the interval."""
    values = {
        "a": result.a,
        "b": result.b,
        "variant": result.variant,
        "ply": 0,
        "cube": "off",
        "pairs": result.pairs,
        "ppg": result.ppg,
        "ci95": result.ci95,
        "wins": result.won(1),
        "gammons": result.won(2),
        "backgammons": result.won(3),
        "draws": result.draws,
        "games_per_s": result.games_per_s,
        "seed": result.seed,
    }
    return (json.dumps(values, indent=2) + "\n").encode()


def run(config: ArenaConfig) -> None:
    """Play the match, print it, and write it where `json` says.

    Raises ValueError or OSError naming what is wrong; a file that cannot be written is found out
    before the match, not after it.
    """
    game = config.variant.make()
    # two random players are two: they do not share their choices
    a, b = player(config.a, game, config.seed), player(config.b, game, config.seed + 1)
    if config.json is not None:
        _check_writable(Path(config.json))
    threads = cores() if config.threads is None else config.threads
    with progress_bar(2 * max(config.pairs, 0)) as bar:
        result = play_match(
            a, b, game, config.pairs, config.seed, config.batch, threads, finished=bar.update
        )
    print(report(result))
    if config.json is not None:
        write_whole(config.json, as_json(result))


def _check_writable(path: Path) -> None:
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise ValueError(f"json={str(path)!r} is not a file that can be written")


def cores() -> int:
    """The processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def progress_bar(games: int) -> Any:
    """A bar on stderr: at once on a terminal, elsewhere only in a match of more than seconds."""
    from tqdm import tqdm

    terminal = sys.stderr.isatty()
    delay, every = (0, 0.2) if terminal else (5, 10)
    return tqdm(total=games, unit="game", delay=delay, mininterval=every, leave=terminal)


def main(arguments: Sequence[str]) -> int:
    """The command line: the exit code, 2 after one sentence on stderr about bad input."""
    if {"-h", "--help"} & set(arguments):
        print(
            help_text(
                ArenaConfig, "python -m train.arena a=PLAYER b=PLAYER [key=value ...]", EXAMPLES
            )
        )
        return 0
    try:
        run(parse("arena", ArenaConfig, arguments))
        return 0
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted: no result", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
