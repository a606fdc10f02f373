"""Makes a decisions file of a net's own game, judged by rollouts of that net.

    python -m train.benchmark_rollout net=checkpoints/long-01 to=benchmarks/decisions_long.npz

The net plays itself at 0-ply, in every second game with one move in eight at random. Of its turns
decisions are taken at random, no phase filling more than a quarter of the file. The net at 1-ply
picks the candidates; each is rolled out with the same dice as the others and with the luck taken
out (nardy.play.rollout), cut off after some turns with the net's static value; where two or more
are not clearly behind these are rolled out further. Bear-off tables end rollouts exactly where they
reach. With net=large a decision takes some 0.8 seconds of one core.

This is what the net believes after thinking long, not the truth: the file says by which net it was
made, and is made anew when there is a better one. RolloutConfig lists the keys.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from nardy.net.features import phases_of
from nardy.net.net import Net
from nardy.play.bearoff import tables_for
from nardy.play.rollout import LOT, play_out
from nardy.play.search import Priced, Search
from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import Boards, ending, turn
from nardy.rules.variants import variant
from train.arena import check_writable, progress_bar
from train.benchmark_files import Floats, kind_of
from train.benchmark_make import GAMES_PER_DECISION, LEAST_SPREAD, Turns, play_games, write_npz
from train.benchmark_phases import LONG_PHASES
from train.checkpoint import resolve
from train.command_line import answer
from train.config import about, help_text, parse_keys
from train.loop import commit
from train.players import NetPlayer

EXAMPLES = (
    "python -m train.benchmark_rollout net=checkpoints/long-01 to=benchmarks/decisions_long.npz",
    "python -m train.benchmark_rollout net=runs/x to=decisions_try.npz decisions=50 plies=4",
)
FAMILY = "blocking"
LARGEST_SHARE = 4
"""No phase has more than one in so many of the decisions."""

OPENING_PLIES, HEAD_CHECKERS, ROW = 10, 5, 5
CANDIDATES, MARGIN = 5, 0.12
"""At most so many, within so many points of the best at 1-ply; two at least."""

CLEARLY = 2.5
"""Standard errors of the difference, by which a play is behind that is rolled out no further."""

PART = 50
"""Decisions worked on together."""

Rows = NDArray[np.int64]


@dataclass
class RolloutConfig:
    """One file."""

    net: str | None = about("path to the net that plays, picks and rolls out", None)
    to: str | None = about("file to write, decisions_*.npz", None)
    decisions: int = about("how many, where the games have so many", 2000)
    games: int = about("games of each candidate at first; whole 36s are stratified", 36)
    more: int = about("and further ones of the two or more that are not clearly behind", 72)
    plies: int = about("turns after which a game is cut off", 6)
    seed: int = about("of games, choice and rollouts", 0)

    def __post_init__(self) -> None:
        """Refuse what cannot be made, by name."""
        for name, least in (("decisions", 1), ("games", 2), ("more", 0), ("plies", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, not {getattr(self, name)!r}")
        if self.net is None or self.to is None:
            raise ValueError("name the net and the file: net=runs/x to=decisions_x.npz")
        if kind_of(Path(self.to)) != "decisions" or Path(self.to).suffix != ".npz":
            raise ValueError(f"to={self.to!r} must be named decisions_*.npz to be read later")


# --- positions -------------------------------------------------------------------------------


def long_phases_of(boards: Boards, plies: Rows) -> Rows:
    """int64[N] into LONG_PHASES, the first that fits either side, in the order that follows.

    opening: fewer than 10 turns were played. bear-off: a race, and the mover is home. race: neither
    side can come in the other's way (features.phases_of). six or five in a row: a side holds five
    points in a row, in the other's order, with a checker of his behind it. heads: a side has more
    than five checkers on its head. contact, other.
    boards: int8[N, 26], mover's view; plies: int64[N], turns played before.
    """
    turned, race = turn(boards, FAMILY), phases_of(boards, 2, FAMILY) == 1
    heads = (boards[:, 24] > HEAD_CHECKERS) | (turned[:, 24] > HEAD_CHECKERS)
    order = (
        ("opening", plies < OPENING_PLIES),
        ("bear-off", race & ~(boards[:, 7:] > 0).any(1)),
        ("race", race),
        ("six or five in a row", _row_ahead(boards) | _row_ahead(turned)),
        ("heads", heads),
    )
    numbers = [LONG_PHASES.index(name) for name, _ in order]
    other = LONG_PHASES.index("contact, other")
    found: Rows = np.select([fits for _, fits in order], numbers, other)
    return found


def _row_ahead(boards: Boards) -> NDArray[np.bool_]:
    """bool[N]: whether the mover has ROW points in a row before a checker of the other."""
    theirs = turn(boards, FAMILY)[:, 1:25]  # by the other's numbers, his checkers positive
    behind = np.logical_or.accumulate(theirs[:, ::-1] > 0, 1)[:, ::-1]
    rows = (
        (theirs[:, first : first + ROW] < 0).all(1) & behind[:, first + ROW]
        for first in range(24 - ROW)
    )
    return np.logical_or.reduce(list(rows))


def sample(turns: Turns, decisions: int, search: Search, seed: int) -> tuple[Rows, Rows]:
    """At most `decisions` of `turns`, by number and ascending, and their phases.

    Each position with its roll once and a choice to make; of a phase no more than its share.
    """
    keys = np.hstack([turns.boards.view(np.uint8), np.sort(turns.dice, 1)])
    first = np.sort(np.unique(keys, axis=0, return_index=True)[1])
    phases = long_phases_of(turns.boards, turns.plies)
    left = np.full(len(LONG_PHASES), max(decisions // LARGEST_SHARE, 1))
    chosen: list[int] = []
    for i in np.random.default_rng(seed).permutation(first).tolist():
        if left[phases[i]] and _has_choice(turns, i, search):
            chosen.append(i)
            left[phases[i]] -= 1
        if len(chosen) == decisions:
            break
    rows = np.sort(chosen)
    return rows, phases[rows]


def picked(turns: Turns, rows: Rows | slice) -> Turns:
    """Some of the turns."""
    return Turns(turns.boards[rows], turns.dice[rows], turns.games[rows], turns.plies[rows])


def _has_choice(turns: Turns, i: int, search: Search) -> bool:
    """Whether the static values of a turn's results are not all alike."""
    results = afterstates(turns.boards[i : i + 1], turns.dice[i : i + 1], search.net.variant).boards
    return len(results) > 1 and bool(np.ptp(search.static_values(results)) >= LEAST_SPREAD)


# --- judging ---------------------------------------------------------------------------------


class Judged(NamedTuple):
    """Results of decisions and what they are worth to the mover; NaN where it is not known."""

    results: Afterstates
    static: Floats  # float64[M]
    rolled: Floats  # float64[M], of candidates
    stderrs: Floats  # float64[M], of `rolled`
    margins: Floats  # float64[N], the standard error of the best less the second, which share dice


def judge(turns: Turns, search: Search, config: RolloutConfig) -> Judged:
    """Roll the candidates of each decision out. search: at 1-ply."""
    game = search.net.variant
    found, offsets = afterstates(turns.boards, turns.dice, game)
    owners = np.repeat(np.arange(len(turns.boards)), np.diff(offsets))
    results = found[np.lexsort((*found.view(np.uint8).T[::-1], owners))]
    priced = search.price(Afterstates(results, offsets))
    rows = candidates(priced, owners)
    games = np.full((len(rows), config.games + config.more), np.nan)
    games[:, : config.games] = rolled_out(search, results[rows], 0, config.games, config)
    near = contested(games[:, : config.games], owners[rows])
    if config.more:
        games[near, config.games :] = rolled_out(
            search, results[rows[near]], config.games, config.more, config
        )
    values, stderrs = np.full((2, len(results)), np.nan)
    counts = (~np.isnan(games)).sum(1)
    values[rows] = np.nanmean(games, 1)
    stderrs[rows] = np.nanstd(games, 1, ddof=1) / np.sqrt(counts)
    static = search.static_values(results).astype(float)
    margins = margin_errors(games, owners[rows], len(turns.boards))
    return Judged(Afterstates(results, offsets), static, values, stderrs, margins)


def candidates(priced: Priced, owners: Rows) -> Rows:
    """The rows worth rolling out, ascending. owners: int64[M], the decision of each row."""
    order = np.lexsort((-priced.values, -priced.plies, owners))
    firsts = np.flatnonzero(np.diff(owners[order], prepend=-1))
    counts = np.diff(firsts, append=len(order))
    place = np.arange(len(order)) - np.repeat(firsts, counts)
    best = np.repeat(order[firsts], counts)
    near = priced.values[best] - priced.values[order] <= MARGIN
    deep = priced.plies[order] == priced.plies[best]
    found: Rows = np.sort(order[(place < 2) | ((place < CANDIDATES) & near & deep)])
    return found


def rolled_out(
    search: Search, results: Boards, first: int, games: int, config: RolloutConfig
) -> Floats:
    """float64[N, games]: what the player who moved wins in games first, first + 1, ..., their luck
    taken out; the same number is the same dice. Exact where the game is over or a table knows."""
    points = np.array(search.net.variant.outcomes, float)
    boards = turn(results, search.net.variant.family)
    known, worth = ending(results, search.net.variant)
    values = np.repeat(worth[:, None].astype(float), games, 1)
    if search.tables is not None:
        exact = search.tables.covers(boards) & ~known
        values[exact] = -(search.tables.outcomes(boards[exact]) @ points)[:, None]
        known |= exact
    going = np.flatnonzero(~known)
    rows = np.repeat(going, games)
    numbers = np.tile(np.arange(first, first + games), len(going))
    found = np.empty(len(rows))
    for begin in range(0, len(rows), LOT):
        part = slice(begin, begin + LOT)
        adjusted, _ = play_out(search, boards[rows[part]], numbers[part], config.seed, config.plies)
        found[part] = -(adjusted @ points)
    values[going] = found.reshape(len(going), games)
    return values


def clearly_behind(games: Floats, owners: Rows) -> NDArray[np.bool_]:
    """bool[C]: candidates that the best of their decision beats by CLEARLY standard errors.

    games: float64[C, G], by candidate; owners: int64[C], ascending.
    """
    behind = np.zeros(len(games), np.bool_)
    for rows in _groups(owners):
        best = rows[games[rows].mean(1).argmax()]
        gaps = games[best] - games[rows]
        errors = gaps.std(1, ddof=1) / np.sqrt(gaps.shape[1])
        behind[rows] = gaps.mean(1) > CLEARLY * errors
    return behind


def contested(games: Floats, owners: Rows) -> Rows:
    """The candidates that may be the best of their decision, where they are two or more; as
    `clearly_behind`."""
    near = np.flatnonzero(~clearly_behind(games, owners))
    found: Rows = near[np.bincount(owners[near])[owners[near]] > 1]
    return found


def margin_errors(games: Floats, owners: Rows, decisions: int) -> Floats:
    """float64[decisions]: see Judged.margins; games with NaN where a candidate was not played."""
    found = np.zeros(decisions)
    for rows in _groups(owners):
        second, best = rows[np.nanmean(games[rows], 1).argsort()[-2:]]
        gaps = games[best] - games[second]
        found[owners[best]] = np.nanstd(gaps, ddof=1) / np.sqrt((~np.isnan(gaps)).sum())
    return found


def _groups(owners: Rows) -> list[Rows]:
    return np.split(np.arange(len(owners)), np.flatnonzero(np.diff(owners)) + 1)


# --- the file --------------------------------------------------------------------------------


def make_file(config: RolloutConfig) -> dict[str, Any]:
    """Write the file; what its `meta` says of how it was made.

    Raises ValueError or OSError naming what is wrong, a net of another game's rules above all.
    """
    check_writable("to", config.to)
    assert config.net is not None and config.to is not None
    net = Net.load(resolve(config.net))
    if net.variant != variant("long"):
        other = f"{net.variant.name}{' by other rules' if net.variant.name == 'long' else ''}"
        raise ValueError(f"the net in {config.net!r} plays {other}, not long by the usual rules")
    search = Search(net, 1, tables=tables_for(net.variant))
    games = max(2, round(config.decisions * GAMES_PER_DECISION))
    turns = play_games(NetPlayer(net, config.net), games, config.seed, net.variant)
    chosen, phases = sample(turns, config.decisions, search, config.seed)
    turns = picked(turns, chosen)
    parts = []
    with progress_bar(len(turns.boards), "decision") as bar:
        for begin in range(0, len(turns.boards), PART):
            some = picked(turns, slice(begin, begin + PART))
            parts.append(judge(some, search, config))
            bar.update(len(some.boards))
    judged = joined(parts)
    meta = about_it(config, net, judged, phases)
    write_npz(config.to, arrays_of(turns, phases, judged, meta))
    return meta


def joined(parts: Sequence[Judged]) -> Judged:
    """Parts of a file as one."""
    counts = np.concatenate([np.diff(part.results.offsets) for part in parts])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    results = Afterstates(np.concatenate([part.results.boards for part in parts]), offsets)
    columns = zip(*(part[1:] for part in parts), strict=True)
    return Judged(results, *(np.concatenate(column) for column in columns))


def about_it(config: RolloutConfig, net: Net, judged: Judged, phases: Rows) -> dict[str, Any]:
    """How a file was made, and how sure it is; standard errors in points."""
    rolled = ~np.isnan(judged.rolled)
    trained = {name: net.meta.get(name) for name in ("commit", "games", "code")}
    shares = {name: int((phases == i).sum()) for i, name in enumerate(LONG_PHASES)}
    return {
        "variant": net.variant.name,
        "judge": "truncated rollouts of the net itself, luck taken out of every roll",
        "net": {"path": config.net, **trained},
        "commit": commit(),
        "seed": config.seed,
        "trials": [config.games, config.games + config.more],
        "plies": config.plies,
        "decisions": len(phases),
        "candidates": float(rolled.sum() / len(phases)),
        "stderr": float(judged.stderrs[rolled].mean()),
        "stderr_of_best_less_second": float(judged.margins.mean()),
        "phases": shares,
    }


def arrays_of(
    turns: Turns, phases: Rows, judged: Judged, meta: dict[str, Any]
) -> dict[str, NDArray[Any]]:
    """The arrays of the file (benchmarks/README.md)."""
    return {
        "boards": turns.boards,
        "dice": turns.dice,
        "offsets": judged.results.offsets,
        "results": judged.results.boards,
        "eq_net0": judged.static.astype(np.float32),
        "eq_rollout": judged.rolled.astype(np.float32),
        "se_rollout": judged.stderrs.astype(np.float32),
        "phase": phases.astype(np.uint8),
        "game": turns.games.astype(np.int32),
        "ply": turns.plies.astype(np.int16),
        "source": (turns.games % 2).astype(np.uint8),
        "natural": np.ones(len(turns.boards), bool),
        "meta": np.array(json.dumps(meta)),
    }


def run(config: RolloutConfig) -> None:
    """Make the file and say what it holds. Raises ValueError naming what is wrong."""
    said = json.dumps(make_file(config), indent=1)
    print(f"{config.to}: {said}\n{time.process_time():.0f} processor seconds")


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    usage = "python -m train.benchmark_rollout net=NET to=decisions_x.npz [key=value ...]"
    return answer(
        "train.benchmark_rollout",
        lambda: run(parse_keys(RolloutConfig, arguments)),
        arguments,
        help_text(RolloutConfig, usage, EXAMPLES),
        stopped="interrupted, nothing written",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
