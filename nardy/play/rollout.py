"""Rollouts: what positions are worth, by playing them out many times.

    result = rollout(Net.load("checkpoints/short-01"), boards, games=1296, seed=1)
    result.equities, result.stderrs           # float64[N] each

The net plays both sides at 0-ply, cubeless; among the replies that a cheap look finds promising
(look.py). Positions are those before a roll, in the middle of a game, and so are the results: of
the player on roll; `rollout_plays` takes afterstates, for the player who moved.

Luck is taken out of every roll: f is the net's value after the best reply to a roll, and
f(roll) - mean over the 21 rolls of f has the mean 0, whatever the net believes. Subtracting it
leaves the result unbiased and much narrower; this is gnubg's and XG's "variance reduction" (see
also train/luck.py). What is left of a game is

    Σ_t mean f_t - Σ_{t before the last turn} f_t(the roll that came)

Dice are stratified: 36 games in a row, from a multiple of 36 on, have the 36 first rolls once each
and the 36 second rolls once each; 1296 have each pair of them once. They depend on (seed, game)
alone, so positions that are compared meet the same dice.

A game ends where it is over, where a bear-off table reaches (its chances are taken), or after
`plies` turns, with the net's static value. The same call gives the same result for any number of
threads; which positions are asked together may move last bits, and break near ties otherwise.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Floats, Net
from nardy.play.bearoff import Bearoff
from nardy.play.bearoff_make import Progress
from nardy.play.search import CHUNK, Search
from nardy.rules.board import Boards, check_board, ending, turn
from nardy.rules.dice import ROLL_CHANCES, ROLLS, random_words, roll

Floats64 = NDArray[np.float64]
Rows = NDArray[np.int64]

GAMES = 1296
LOOK = 4
"""How many replies to a roll are priced."""

LOT = 288
"""Games that one thread plays side by side."""

ROUND = 144
"""Games of a position between two looks at its standard error."""

MAX_TURNS = 10_000
STRATA_STREAM = 2
"""The stream of random_words that stratified dice read."""


class RolledOut(NamedTuple):
    """Rollouts of N positions, for the player on roll, in points where nothing else is said.

    Standard errors take the games for independent; stratified dice make them a little too large.
    Adjusted chances are unbiased and may lie a little outside 0..1.
    """

    chances: Floats64  # float64[N, K], of the variant's outcomes, luck taken out
    equities: Floats64  # float64[N]
    stderrs: Floats64  # float64[N], of `equities`; 0 where a table knew the position
    games: Rows  # int64[N]
    raw_equities: Floats64  # float64[N], with the luck in
    raw_stderrs: Floats64  # float64[N]


def rollout(
    net: Net,
    boards: Boards,
    games: int = GAMES,
    *,
    plies: int | None = None,
    stderr: float | None = None,
    seed: int = 0,
    threads: int = 1,
    tables: Bearoff | None = None,
    progress: Progress | None = None,
) -> RolledOut:
    """Play `games` games from each board.

    boards: int8[N, 26], each in the view of its player on roll, before he rolls.
    games: at most so many for each; plies: turns after which a game is cut off, None for never.
    stderr: a position is played no more once its standard error is that small; it is looked at
        after every ROUND games.
    tables: of the net's game, see nardy.play.bearoff.
    progress: is told the share that is done, from 0 to 1, by the calling thread.

    Raises ValueError naming a bad value.
    """
    _check(games, plies, stderr, threads)
    boards = np.stack([check_board(board, net.variant) for board in np.atleast_2d(boards)])
    sums = _Sums(len(boards), np.array(net.variant.outcomes, np.float64))
    known = _settled(boards, tables, sums)
    left = np.flatnonzero(~known)
    with _searches(net, threads, tables) as pool:
        for begin in range(0, games, ROUND if stderr else games):
            end = min(begin + ROUND, games) if stderr else games
            jobs = [(i, game) for i in left.tolist() for game in range(begin, end)]
            lots = [np.array(jobs[j : j + LOT], np.int64) for j in range(0, len(jobs), LOT)]
            for done, (lot, played) in enumerate(pool.play(lots, boards, seed, plies), 1):
                sums.add(lot[:, 0], *played)
                if progress and len(left):
                    progress((begin + (end - begin) * done / len(lots)) / games)
            if stderr:
                left = left[sums.stderrs()[left] > stderr]
    if progress:
        progress(1.0)
    return sums.result()


def rollout_plays(net: Net, results: Boards, games: int = GAMES, **asked: Any) -> RolledOut:
    """As `rollout`, of afterstates, int8[N, 26], and for the player who moved to them.

    Where he has finished the result is exact, of no games. asked: as `rollout` takes them.
    """
    (over, won), points = ending(results, net.variant), np.array(net.variant.outcomes)
    going = np.flatnonzero(~over)
    chances = (points == won[:, None]).astype(np.float64)
    equities, raw = won.astype(np.float64), won.astype(np.float64)
    counts, (stderrs, raw_stderrs) = np.zeros(len(won), np.int64), np.zeros((2, len(won)))
    if len(going):
        theirs = rollout(net, turn(results[going], net.variant.family), games, **asked)
        chances[going], counts[going] = theirs.chances[:, ::-1], theirs.games
        equities[going], stderrs[going] = -theirs.equities, theirs.stderrs
        raw[going], raw_stderrs[going] = -theirs.raw_equities, theirs.raw_stderrs
    return RolledOut(chances, equities, stderrs, counts, raw, raw_stderrs)


def _check(games: int, plies: int | None, stderr: float | None, threads: int) -> None:
    if games < 2:
        raise ValueError(f"games must be 2 or more, not {games!r}")
    if plies is not None and plies < 1:
        raise ValueError(f"plies must be 1 or more, not {plies!r}")
    if stderr is not None and not stderr > 0:
        raise ValueError(f"stderr must be above 0, not {stderr!r}")
    if threads < 1:
        raise ValueError(f"threads must be 1 or more, not {threads!r}")


def _settled(boards: Boards, tables: Bearoff | None, sums: "_Sums") -> NDArray[np.bool_]:
    """bool[N], positions that a table knows; their chances are put into `sums`."""
    if tables is None:
        return np.zeros(len(boards), np.bool_)
    known = tables.covers(boards)
    exact = tables.outcomes(boards[known]).astype(np.float64)
    sums.add(np.flatnonzero(known), exact, exact)
    return known


# ---------------------------------------------------------------- sums


class _Sums:
    """What the games of each position gave so far."""

    def __init__(self, positions: int, points: Floats64) -> None:
        self._points = points
        self._games = np.zeros(positions, np.int64)
        self._chances = np.zeros((positions, len(points)))
        self._equity, self._squares = np.zeros((2, positions)), np.zeros((2, positions))

    def add(self, positions: Rows, adjusted: Floats64, raw: Floats64) -> None:
        """positions: int64[L]; adjusted, raw: float64[L, K], of one game each."""
        np.add.at(self._games, positions, 1)
        np.add.at(self._chances, positions, adjusted)
        for which, chances in enumerate((adjusted, raw)):
            equity = chances @ self._points
            np.add.at(self._equity[which], positions, equity)
            np.add.at(self._squares[which], positions, equity**2)

    def stderrs(self, which: int = 0) -> Floats64:
        """float64[N], of the mean equity; 0: adjusted, 1: raw. 0.0 where there is one game."""
        n = np.maximum(self._games, 2)
        spread = self._squares[which] - self._equity[which] ** 2 / np.maximum(self._games, 1)
        errors: Floats64 = np.sqrt(np.maximum(spread, 0) / (n - 1) / n)
        return errors

    def result(self) -> RolledOut:
        """The means."""
        means = self._equity / self._games
        chances = self._chances / self._games[:, None]
        games = np.where(self._games == 1, 0, self._games)  # one was a table's answer
        return RolledOut(chances, means[0], self.stderrs(), games, means[1], self.stderrs(1))


# ---------------------------------------------------------------- play


class _Pool:
    """Threads, and a search for each."""

    def __init__(self, threads: ThreadPoolExecutor, searches: "SimpleQueue[Search]") -> None:
        self._threads = threads
        self._searches = searches

    def play(
        self, lots: list[Rows], boards: Boards, seed: int, plies: int | None
    ) -> Iterator[tuple[Rows, tuple[Floats64, Floats64]]]:
        """Each lot, int64[L, 2] of (position, game), with what `play_out` made of it; in order."""

        def one(lot: Rows) -> tuple[Floats64, Floats64]:
            search = self._searches.get()
            try:
                return play_out(search, boards[lot[:, 0]], lot[:, 1], seed, plies)
            finally:
                self._searches.put(search)

        return zip(lots, self._threads.map(one, lots), strict=True)


@contextmanager
def _searches(net: Net, threads: int, tables: Bearoff | None) -> Iterator[_Pool]:
    searches: SimpleQueue[Search] = SimpleQueue()
    for _ in range(threads):
        searches.put(Search(net, 0, tables=tables))
    with ThreadPoolExecutor(threads) as pool:
        try:
            yield _Pool(pool, searches)
        except BaseException:  # an interrupt must not wait for all that is still to be played
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def play_out(
    search: Search, boards: Boards, games: Rows, seed: int, plies: int | None
) -> tuple[Floats64, Floats64]:
    """Play one game from each board: its outcome without its luck, and with it.

    float64[L, K] each, chances of the outcomes for the player on roll at first.
    boards: int8[L, 26]; games: int64[L], by which dice are drawn.
    """
    game = search.net.variant
    outcomes = game.outcomes
    adjusted, raw = np.zeros((2, len(boards), len(outcomes)))
    live, turns = np.arange(len(boards)), 0
    while len(live):
        if turns == MAX_TURNS:
            raise ValueError(f"a game is not over after {MAX_TURNS} turns")
        moved, chances = _all_rolls(search, boards)
        came = np.arange(len(live)), rolled(seed, games[live], turns)
        boards, actual = moved[came], chances[came]
        over = ending(boards, game)[0]
        if search.tables is not None:
            over |= search.tables.covers(boards)
        if turns + 1 == plies:
            over[:] = True
        gain = (chances * ROLL_CHANCES[:, None]).sum(1) - np.where(over[:, None], 0, actual)
        adjusted[live] += gain[:, ::-1] if turns % 2 else gain
        raw[live[over]] = actual[over, ::-1] if turns % 2 else actual[over]
        boards, live, turns = turn(boards[~over], game.family), live[~over], turns + 1
    return adjusted, raw


def _all_rolls(search: Search, boards: Boards) -> tuple[Boards, Floats]:
    """Where the player on roll goes with each of dice.ROLLS, and his chances there.

    int8[B, 21, 26], float32[B, 21, K].
    """
    outcomes = len(search.net.variant.outcomes)
    moved = np.empty((len(boards) * len(ROLLS), 26), np.int8)
    chances = np.empty((len(moved), outcomes), np.float32)
    for begin in range(0, len(boards), CHUNK):
        parents, results = search.every_roll(boards[begin : begin + CHUNK], LOOK)
        rows, found = search.choose(parents, results)
        span = slice(begin * len(ROLLS), begin * len(ROLLS) + len(parents))
        moved[span], chances[span] = results.boards[rows], found
    return moved.reshape(-1, len(ROLLS), 26), chances.reshape(-1, len(ROLLS), outcomes)


# ---------------------------------------------------------------- dice


def rolled(seed: int, games: Rows, turn: int) -> Rows:
    """int64[L], the row of dice.ROLLS that each game throws at a turn: stratified at the first
    two, and then the dice of (seed, game, turn).

    Game g of a block of 1296 throws σ(g mod 36) and then τ((g mod 36 + g div 36) mod 36), where σ
    and τ are permutations of the 36 rolls that each block draws anew: a Latin square.
    """
    if turn < 2:
        blocks, place = np.divmod(games, 36 * 36)
        stratum = (place + (place // 36 if turn else 0)) % 36
        pairs = np.empty(len(games), np.int64)
        for block in np.unique(blocks):
            words = random_words(seed, block, 36 * turn + np.arange(36), STRATA_STREAM)
            here = blocks == block
            pairs[here] = np.argsort(words)[stratum[here]]
        high, low = np.maximum(*np.divmod(pairs, 6)), np.minimum(*np.divmod(pairs, 6))
    else:
        dice = roll(seed, games, np.full(len(games), turn), "reroll").astype(np.int64) - 1
        high, low = dice.max(-1), dice.min(-1)
    rows: Rows = high * (high + 1) // 2 + low
    return rows
