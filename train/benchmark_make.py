"""Makes a decisions file for the benchmark with any engine that is installed.

    python -m train.benchmark make=decisions_mine.npz engine=gnubg decisions=200 seed=1

The engine plays games against itself at 0-ply, in every second of them with one move in eight at
random, so that positions of weaker play occur too. Of the decisions sampled it prices every
result without search and the best few at 2-ply, as benchmarks/README.md says of the files there.
"""

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.net.weights import write_whole
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, ending, start_board, turn
from nardy.rules.dice import random_words, roll
from nardy.rules.variants import Variant, variant
from train.benchmark_files import Floats, kind_of
from train.benchmark_phases import phases_of
from train.benchmark_players import Chances, after_values, engine, engine_chances
from train.players import Player

SHORT = variant("short")
DEPTHS = {
    "gnubg": ("gnubg0", "gnubg2"),
    "bgsage": ("sage1", "sage3"),
    "gnubg-nn": ("gnubgnn0", "gnubgnn2"),
}
"""What files call each engine without search and at 2-ply; bgsage counts one ply more."""

GAMES_PER_DECISION = 0.5
RANDOM_MOVE = 1 / 8
ALWAYS_SEARCHED, SEARCHED, SEARCHED_WITHIN = 3, 8, 0.30
LEAST_SPREAD = 0.001  # points; a decision between equals tells players apart by chance

_RANDOM_MOVE_STREAM, _WHICH_STREAM = 11, 12


class Turns(NamedTuple):
    """Turns of games: boards int8[T, 26] before the roll, dice uint8[T, 2], game and ply int64."""

    boards: Boards
    dice: NDArray[np.uint8]
    games: NDArray[np.int64]
    plies: NDArray[np.int64]


def make_file(path: str | Path, engine_name: str, decisions: int, seed: int) -> int:
    """Write a decisions file; how many decisions it holds, at most `decisions`.

    Raises ValueError naming an engine that is unknown or missing, a file name that the benchmark
    would not read, or a number of decisions below 1.
    """
    if kind_of(Path(path)) != "decisions" or Path(path).suffix != ".npz":
        raise ValueError(f"the file must be named decisions_*.npz to be read later, not {path!r}")
    if not Path(path).parent.is_dir():
        raise ValueError(f"the folder of {str(path)!r} does not exist")
    if decisions < 1:
        raise ValueError(f"decisions must be at least 1, not {decisions!r}")
    player = engine(engine_name)
    games = max(2, round(decisions * GAMES_PER_DECISION))
    static, searching = engine_chances(engine_name, 0), engine_chances(engine_name, 2)
    turns = sample(play_games(player, games, seed), decisions, static, seed)
    arrays = judge(turns, static, searching, DEPTHS[engine_name])
    write_npz(path, arrays)
    return len(turns.boards)


def play_games(player: Player, games: int, seed: int, game: Variant = SHORT) -> Turns:
    """Every turn of `games` games that `player` plays against itself, half of them less well."""
    numbers, boards = np.arange(games), np.tile(start_board(game), (games, 1))
    found: list[Turns] = []
    ply = 0
    while len(numbers):
        plies = np.full(len(numbers), ply)
        dice = roll(seed, numbers, plies, game.opening)
        found.append(Turns(boards, dice, numbers, plies))
        results = afterstates(boards, dice, game)
        rows = player.choose(boards, dice, results, numbers, plies)
        loose = (numbers % 2 == 1) & _chance(seed, numbers, plies, _RANDOM_MOVE_STREAM, RANDOM_MOVE)
        words = random_words(seed, numbers, plies, _WHICH_STREAM)
        other = (words % np.diff(results.offsets).astype(np.uint64)).astype(np.int64)
        rows = np.where(loose, results.offsets[:-1] + other, rows)
        moved = results.boards[rows]
        going = ~ending(moved, game, plies % 2 == 0)[0]
        boards, numbers, ply = turn(moved[going], game.family), numbers[going], ply + 1
    return Turns(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def sample(turns: Turns, decisions: int, static: Chances, seed: int) -> Turns:
    """At most `decisions` of `turns`, each position with its roll once and a choice to make.

    static: judges positions, so that decisions between equals can be left out.
    """
    keys = np.hstack([turns.boards.view(np.uint8), np.sort(turns.dice, 1)])
    first = np.sort(np.unique(keys, axis=0, return_index=True)[1])
    game = SHORT
    chosen: list[int] = []
    for i in np.random.default_rng(seed).permutation(first).tolist():
        results = afterstates(turns.boards[i : i + 1], turns.dice[i : i + 1], game).boards
        if len(results) > 1 and np.ptp(after_values(static, results, game)) >= LEAST_SPREAD:
            chosen.append(i)
        if len(chosen) == decisions:
            break
    return Turns(*(part[np.sort(chosen)] for part in turns))


def judge(
    turns: Turns, static: Chances, searching: Chances, names: tuple[str, str]
) -> dict[str, NDArray[Any]]:
    """The arrays of a decisions file (benchmarks/README.md).

    static, searching: judge positions at 0-ply and deeper; names: what the file calls the two.
    """
    game = SHORT
    results, offsets = afterstates(turns.boards, turns.dice, game)
    results = results[np.lexsort((*results.view(np.uint8).T[::-1], _owners(offsets)))]
    values = after_values(static, results, game)
    rows = searched_rows(values, offsets)
    searched = np.full(len(results), np.nan)
    searched[rows] = after_values(searching, results[rows], game)
    return {
        "boards": turns.boards,
        "dice": turns.dice,
        "offsets": offsets,
        "results": results,
        f"eq_{names[0]}": values.astype(np.float32),
        f"eq_{names[1]}": searched.astype(np.float32),
        "phase": phases_of(turns.boards, turns.plies).astype(np.uint8),
        "game": turns.games.astype(np.int32),
        "ply": turns.plies.astype(np.int16),
        "source": (turns.games % 2).astype(np.uint8),
        "natural": np.ones(len(turns.boards), bool),
    }


def searched_rows(static: Floats, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows worth searching: the best 3 of each decision, and those of its best 8 that are
    within 0.30 points of its best. static: float64[M]; offsets: int64[N + 1]."""
    counts = np.diff(offsets)
    order = np.lexsort((-static, _owners(offsets)))
    place = np.arange(len(static)) - np.repeat(offsets[:-1], counts)
    behind = np.repeat(static[order[offsets[:-1]]], counts) - static[order]
    near = (place < SEARCHED) & (behind <= SEARCHED_WITHIN)
    return np.sort(order[(place < ALWAYS_SEARCHED) | near])


def write_npz(path: str | Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write a compressed .npz, whole or not at all."""
    memory = io.BytesIO()
    np.savez_compressed(memory, **arrays)  # type: ignore[arg-type]
    write_whole(path, memory.getvalue())


def _owners(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _chance(
    seed: int, games: NDArray[np.int64], plies: NDArray[np.int64], stream: int, share: float
) -> NDArray[np.bool_]:
    words = random_words(seed, games, plies, stream) >> np.uint64(32)
    return words < np.uint64(int(share * 2**32))
