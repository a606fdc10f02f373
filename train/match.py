"""A match: two players, every game twice with the same dice and the seats swapped.

    play_match(player("runs/quick", game), player("gnubg-nn", game), game, pairs=1000)

Points are always a's. The result depends on players, game and seed alone, not on the batch or
the number of threads.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from nardy.notation.matfile import Game, Turn
from nardy.rules.batch import Workspace, afterstates
from nardy.rules.board import Boards, ending, start_board, turn
from nardy.rules.dice import roll
from nardy.rules.variants import Variant
from train.luck import Adjusted, LuckJudge, adjust, mean_and_ci95
from train.players import Player

MAX_PLIES = 10_000
"""A longer game is taken for a fault."""

BATCHES = (1024, 64, 16)
"""Games in progress at a time in each thread where the deeper player looks 0, 1 or 2 plies ahead;
a judge of luck counts as a ply. Many fill a net's matrix products; few end soon when time is up,
and a search fills them anyway."""

STAGE = 500
"""Pairs between two looks at the interval, in a match that ends when it is narrow enough."""

UNPLAYED = -128

Result = TypeVar("Result")


@dataclass(frozen=True)
class MatchResult:
    """The outcome of a match.

    points: int8[pairs, 2], points won by a (negative: lost) in the game that a starts and in its
        twin, with the same dice, that b starts; 0 for a draw.
    luck: float64[pairs, 2], the luck of a's rolls less that of b's, in points, by `judge`.
    saved: the first games, in the order of `points`.
    """

    a: str
    b: str
    variant: str
    seed: int
    points: NDArray[np.int8] = field(repr=False)
    games_per_s: float
    a_ply: int = 0
    b_ply: int = 0
    judge: str | None = None
    luck: NDArray[np.float64] | None = field(default=None, repr=False)
    saved: tuple[Game, ...] = field(default=(), repr=False)

    @property
    def pairs(self) -> int:
        """How many pairs of games were played."""
        return len(self.points)

    @property
    def ppg(self) -> float:
        """Points a game, from a's side."""
        return mean_and_ci95(self.points.mean(1))[0]

    @property
    def ci95(self) -> float:
        """Half the width of the 95 % interval around ppg, taking pairs as independent."""
        return mean_and_ci95(self.points.mean(1))[1]

    @property
    def adjusted(self) -> Adjusted | None:
        """The result without its luck, where there was a judge."""
        return None if self.luck is None else adjust(self.points.mean(1), self.luck.mean(1))

    @property
    def draws(self) -> float:
        """Share of games drawn."""
        return float((self.points == 0).mean())

    def won(self, points: int) -> float:
        """Share of games in which a won at least so many points, or for negative ones lost."""
        reached = self.points >= points if points > 0 else self.points <= points
        return float(reached.mean())


class How(TypedDict, total=False):
    """What may be said of how a match is played, besides its seed; see Plan."""

    batch: int | None
    threads: int
    finished: Callable[[int], Any] | None
    until: float | None
    seconds: float | None
    save: int


@dataclass(frozen=True)
class Plan:
    """How many pairs are played, and how.

    batch: games in progress at a time in each thread. finished: called with a number of games (in
    match play: of matches) that have just ended, by one thread at a time.
    until: stop as soon as, after a multiple of STAGE pairs, half the width of the 95 % interval
    (the adjusted one with a judge) is no larger, in the unit of the result.
    seconds: start no pair later than this; those begun are finished, so their length has no say
    in whether they count. save: how many games, or matches, to keep, move by move.
    Raises ValueError naming a number that is too small.
    """

    pairs: int
    seed: int
    batch: int
    threads: int = 1
    finished: Callable[[int], Any] | None = None
    until: float | None = None
    seconds: float | None = None
    save: int = 0

    def __post_init__(self) -> None:
        for name, least in (("pairs", 2), ("batch", 1), ("threads", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, not {getattr(self, name)}")
        for name in ("until", "seconds"):
            limit = getattr(self, name)
            if limit is not None and not limit > 0:
                raise ValueError(f"{name} must be above 0, not {limit}")

    @property
    def crews(self) -> int:
        """How many threads have something to do."""
        return min(self.threads, self.pairs)


class Progress:
    """What the threads of a match tell each other: that time is up, that they are to stop."""

    def __init__(self, plan: Plan) -> None:
        self.stop = threading.Event()
        self.began = time.perf_counter()
        self._finished = plan.finished
        self._lock = threading.Lock()
        self._deadline = None if plan.seconds is None else time.monotonic() + plan.seconds

    def late(self) -> bool:
        """Whether time is up."""
        return self._deadline is not None and time.monotonic() > self._deadline

    def tell(self, count: int) -> None:
        """Say that so many games have ended."""
        if self._finished is not None:
            with self._lock:
                self._finished(count)

    def rate(self, count: float) -> float:
        """So many games, by the second."""
        return float(count / (time.perf_counter() - self.began))


def play_match(
    a: Player,
    b: Player,
    game: Variant,
    pairs: int,
    seed: int = 0,
    *,
    judge: LuckJudge | None = None,
    **how: Unpack[How],
) -> MatchResult:
    """Play up to `pairs` pairs of games of `game`.

    judge: tells luck from play, at the cost of 21 moves a move. how: see Plan; the batch is by
    default one of BATCHES. A player against itself (a is b) plays one game of each pair: its twin
    is the same game from the other seat.
    Raises ValueError naming a number that is too small, or a game of more than MAX_PLIES plies.
    """
    usual = BATCHES[batch_number(a.ply, b.ply, judge is not None)]
    plan = plan_of(pairs, seed, usual, how)
    table = _Table(game, plan, judge is not None, alone=a is b)
    crews = [
        _Crew(a.for_thread(), b.for_thread(), judge.for_thread() if judge else None)
        for _ in range(plan.crews)
    ]
    return play_stages(
        plan, table.progress, table.play, crews, lambda: _result(table, a, b, judge), _half_width
    )


def plan_of(pairs: int, seed: int, batch: int, how: How) -> Plan:
    """The plan that `how` asks for; batch: where it asks for none."""
    asked = {**how, "batch": batch if how.get("batch") is None else how["batch"]}
    return Plan(pairs, seed, **asked)  # type: ignore[arg-type]


def play_stages(
    plan: Plan,
    progress: Progress,
    play: Callable[[Any, NDArray[np.int64]], None],
    crews: Sequence[Any],
    result: Callable[[], Result],
    half_width: Callable[[Result], float],
) -> Result:
    """play(crew, its share of the pairs) in a thread for each crew, until the plan is done."""
    stage = plan.pairs if plan.until is None else STAGE
    found = None
    for first in range(0, plan.pairs, stage):
        _play_stage(play, progress.stop, crews, np.arange(first, min(first + stage, plan.pairs)))
        found = result()
        if progress.late() or (plan.until is not None and half_width(found) <= plan.until):
            break
    assert found is not None
    return found


class _Crew(NamedTuple):
    """Who plays and judges in one thread."""

    a: Player
    b: Player
    judge: LuckJudge | None


class _Table:
    """What the threads of a match share. Game 2 * pair is started by a, 2 * pair + 1 by b.

    alone: the two are one player, so that the second game is a copy of the first.
    """

    def __init__(self, game: Variant, plan: Plan, judged: bool, alone: bool) -> None:
        self.game, self.seed, self.batch, self.alone = game, plan.seed, plan.batch, alone
        games = 2 * plan.pairs
        self.points = np.full(games, UNPLAYED, np.int8)  # a's; a thread writes its own games
        self.luck = np.zeros(games) if judged else None  # likewise
        self.turns: list[list[Turn]] = [[] for _ in range(min(plan.save, games))]
        self.progress = Progress(plan)

    def play(self, crew: _Crew, pairs: NDArray[np.int64]) -> None:
        """Play `pairs` in lock-step, a slot for a game; a finished slot takes the next game."""
        games = (2 * pairs[:, None] + np.arange(1 if self.alone else 2)).ravel()
        memory = Workspace()
        live, waiting = games[: self.batch].copy(), games[self.batch :]
        boards = np.tile(start_board(self.game), (len(live), 1))
        plies = np.zeros(len(live), np.int64)
        while len(live) and not self.progress.stop.is_set():
            seats = (live + plies) % 2  # 0 where a is on roll
            boards = self._turn(crew, live, plies, seats, boards, memory)
            over, won = ending(boards, self.game, plies % 2 == 0)
            boards, plies = turn(boards, self.game.family), plies + 1
            if over.any():
                self._settle(live[over], np.where(seats, -won, won)[over])
                if self.progress.late():  # no new pair, but the twin of a game that was begun
                    waiting = waiting[: int(len(waiting) > 0 and waiting[0] % 2)]
                taken = np.flatnonzero(over)[: len(waiting)]
                live[taken], waiting = waiting[: len(taken)], waiting[len(taken) :]
                boards[taken], plies[taken], over[taken] = start_board(self.game), 0, False
                live, boards, plies = live[~over], boards[~over], plies[~over]
            self._check_length(live, plies)

    def _turn(
        self,
        crew: _Crew,
        games: NDArray[np.int64],
        plies: NDArray[np.int64],
        seats: NDArray[np.int64],
        boards: Boards,
        memory: Workspace,
    ) -> Boards:
        """The boards after every game's turn, still in the mover's view."""
        dice = roll(self.seed, games // 2, plies, self.game.opening)
        if crew.judge is not None and self.luck is not None:
            self.luck[games] += (1 - 2 * seats) * crew.judge.luck(boards, dice, plies)
        moved = np.empty_like(boards)
        for seat, mover in enumerate((crew.a, crew.b)):
            rows = np.flatnonzero(seats == seat)
            if len(rows):
                results = afterstates(boards[rows], dice[rows], self.game, memory)
                chosen = mover.choose(
                    boards[rows], dice[rows], results, games[rows] // 2, plies[rows]
                )
                moved[rows] = results.boards[chosen]
        for i in np.flatnonzero(games < len(self.turns)):
            self.turns[games[i]].append(Turn(boards[i].copy(), dice[i].copy(), moved[i].copy()))
        return moved

    def _settle(self, games: NDArray[np.int64], points: NDArray[np.int8]) -> None:
        self.points[games] = points
        if self.alone:
            twins = games + 1
            self.points[twins] = -points
            if self.luck is not None:
                self.luck[twins] = -self.luck[games]
            for twin in twins[twins < len(self.turns)]:
                self.turns[twin] = self.turns[twin - 1]
            games = np.concatenate([games, twins])
        self.progress.tell(len(games))

    def _check_length(self, live: NDArray[np.int64], plies: NDArray[np.int64]) -> None:
        if len(live) and plies.max() >= MAX_PLIES:
            pair = live[plies.argmax()] // 2
            raise ValueError(f"a game of pair {pair} is not over after {MAX_PLIES} plies")


def batch_number(a_ply: int, b_ply: int, judged: bool) -> int:
    """See BATCHES."""
    return min(max(a_ply, b_ply, int(judged)), len(BATCHES) - 1)


def _play_stage(
    play: Callable[[Any, NDArray[np.int64]], None],
    stop: threading.Event,
    crews: Sequence[Any],
    pairs: NDArray[np.int64],
) -> None:
    """play(crew, its share of the pairs) in a thread for each crew, which `stop` ends early."""
    shards = np.array_split(pairs, len(crews))
    with ThreadPoolExecutor(len(crews)) as pool:
        try:
            jobs = [
                pool.submit(play, crew, shard) for crew, shard in zip(crews, shards, strict=True)
            ]
            wait(jobs, return_when=FIRST_EXCEPTION)
        except BaseException:
            stop.set()  # Ctrl-C: the threads leave
            raise
        if any(job.done() and job.exception() for job in jobs):
            stop.set()  # after an error the other threads leave too
    for job in jobs:
        job.result()  # raises what its thread raised


def _result(table: _Table, a: Player, b: Player, judge: LuckJudge | None) -> MatchResult:
    points = table.points.reshape(-1, 2)
    whole = (points != UNPLAYED).all(1)
    if whole.sum() < 2:
        raise ValueError("no two pairs of games could be begun in these seconds")
    saved = tuple(
        Game(number % 2, turns, int(table.points[number]))
        for number, turns in enumerate(table.turns)
        if whole[number // 2]
    )
    return MatchResult(
        a=a.name,
        b=b.name,
        variant=table.game.name,
        seed=table.seed,
        points=points[whole],
        games_per_s=table.progress.rate(int((table.points != UNPLAYED).sum())),
        a_ply=a.ply,
        b_ply=b.ply,
        judge=None if judge is None else judge.name,
        luck=None if table.luck is None else table.luck.reshape(-1, 2)[whole],
        saved=saved,
    )


def _half_width(result: MatchResult) -> float:
    adjusted = result.adjusted
    return result.ci95 if adjusted is None else adjusted.ci95
