"""Whole games solved: the equity of every position of a game with one to three checkers a side.

    python -m train.solve variant=hyper                     # hypergammon, cubeless
    python -m train.solve variant=hyper cube=true           # and for money with a cube (K16)
    python -m train.solve against=runs/hyper                # a run's checkpoints against the truth

The equity V of the player on roll obeys V(s) = Σ p(roll) max over plays of (points, or −V(after)).
A lower and an upper bound start at −3 and 3 points. Since V enters with a minus, the lower bound
gives a new upper one and the reverse, in any order of states; so the gap between them bounds the
error, but for the rounding of float32. A killed run goes on from its last save: kept bounds hold.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from nardy.net.weights import whole_file, write_whole
from nardy.play.bearoff_kernels import unrank_all
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.hitting import MAX_RESULTS
from nardy.rules.variants import Variant
from train import small_games as kernels
from train.command_line import answer
from train.config import VariantConfig, about, help_text, parse

MOST_CHECKERS = 3
CUBELESS = ("cubeless",)
CUBES = ("centred", "owned", "theirs")
"""Who may double: both, the player on roll, the opponent."""

EXAMPLES = (
    "python -m train.solve variant=hyper",
    "python -m train.solve variant=hyper cube=true",
    "python -m train.solve variant.start={24:2}",
    "python -m train.solve against=runs/hyper json=loss.json",
)

Bounds = NDArray[np.float32]
"""float32[K, 2, M, M]: for each cube state the lower and the upper bound of the equity of the
player on roll, by his rank and the opponent's. With a cube: his value before his roll after he has
declined to double, in units of the cube."""


@dataclass
class SolveConfig:
    """One game to solve, or a run to compare with it."""

    variant: VariantConfig = about("the game", VariantConfig)
    cube: bool = about("for money with a cube, without Jacoby, instead of cubeless", False)
    within: float = about("points: stop when the bounds are no farther apart", 1e-5)
    folder: str = about("where solved games are kept", "runs/exact")
    save_seconds: float = about("between two saves of the bounds", 120.0)
    against: str | None = about("a run folder, checkpoint, net or player to judge", None)
    decisions: int = about("decisions to judge it by", 20_000)
    seed: int = about("of the dice of these decisions", 1)
    json: str | None = about("file to write the judgement to", None)


class Space(NamedTuple):
    """The states of a game, and what can be played in them: see train.small_games."""

    sides: NDArray[np.int8]  # [M, 26], a side's checkers by rank
    own_mask: NDArray[np.uint32]
    other_mask: NDArray[np.uint32]
    closed: NDArray[np.int64]
    blots: NDArray[np.uint32]
    hit: NDArray[np.int64]
    points: NDArray[np.int8]  # [M], what a side loses whose opponent is done (K14)
    offsets: NDArray[np.int64]
    after: NDArray[np.uint16]
    touched: NDArray[np.uint32]


def space(checkers: int, gammons: bool = True) -> Space:
    """All states with up to `checkers` a side.

    gammons: False where both sides began with more and have borne some off, so that K14 pays one
    point. Raises ValueError where checkers are not 1 to 3.
    """
    if not 1 <= checkers <= MOST_CHECKERS:
        raise ValueError(f"games of 1 to {MOST_CHECKERS} checkers can be solved, not {checkers!r}")
    size = comb(25 + checkers, checkers)
    sides = np.zeros((size, 26), np.int8)
    unrank_all(25, sides)
    own_mask, other_mask = np.zeros(size, np.uint32), np.zeros(size, np.uint32)
    closed, hit = np.zeros(size, np.int64), np.zeros((size, 8), np.int64)
    blots = np.full((size, 3), kernels.NO_BLOT, np.uint32)
    kernels.describe(sides, own_mask, other_mask, closed, blots, hit)
    deep = (sides[:, 19:] > 0).any(-1)  # the winner's home, or the bar
    saved = (sides.sum(-1) < checkers) | (not gammons)
    points = np.where(saved, 1, np.where(deep, 3, 2)).astype(np.int8)
    return Space(sides, own_mask, other_mask, closed, blots, hit, points, *_plays(sides))


def _plays(
    sides: NDArray[np.int8],
) -> tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint32]]:
    """offsets, after, touched: see small_games.list_plays."""
    powers = 5 ** np.arange(26, dtype=np.int64) // 5
    keys, out = np.empty(MAX_RESULTS, np.int64), np.empty((MAX_RESULTS, 26), np.int8)
    offsets = np.zeros(len(sides) * kernels.CLOSED * len(ROLLS) + 1, np.int64)
    after, touched = np.empty(0, np.uint16), np.empty(0, np.uint32)
    for _ in range(2):  # the first time counts
        total = kernels.list_plays(
            0, len(sides), sides, ROLLS, powers, keys, out, offsets, after, touched
        )
        if len(after) < total:
            after, touched = np.empty(total, np.uint16), np.empty(total, np.uint32)
    return offsets, after, touched


def first_bounds(states: Space, cube: bool) -> Bounds:
    """Bounds before anything is known: no position is worth more than three cubes."""
    size = len(states.sides)
    bounds = np.empty((len(CUBES if cube else CUBELESS), 2, size, size), np.float32)
    bounds[:, 0], bounds[:, 1] = -3, 3
    return bounds


def sweep(states: Space, bounds: Bounds, settled: float) -> tuple[float, float]:
    """Narrow every bound once; (largest gap left, largest change), in points.

    settled: states whose bounds are no farther apart are left alone.
    """
    gap = change = 0.0
    for other in range(1, len(states.sides)):
        rows = bounds[:, :, states.hit[other]]  # [K, 2, 8, M], by what a play hits
        for kind, following in enumerate(_following(rows)):
            following[..., 0] = states.points[states.hit[other]]
            left, moved = kernels.backup(
                other, following, states.own_mask, states.other_mask, states.closed,
                states.blots, states.offsets, states.after, states.touched, ROLL_CHANCES,
                settled, bounds[kind, 0], bounds[kind, 1],
            )  # fmt: skip
            gap, change = max(gap, left), max(change, moved)
    return float(gap), float(change)  # numpy's own where numba is not


def _following(rows: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """What the player who moved has, for each cube state he moved in; float32[2, 8, M] each.

    rows: float32[K, 2, 8, M], bounds for the next player before his roll, not doubled.
    With access that player has max(no double, min(2 · theirs, 1)) (K16).
    """
    if len(rows) == 1:
        return [-rows[0, ::-1]]
    centred, owned, theirs = rows
    doubled = np.minimum(2 * theirs, np.float32(1))
    values = (np.maximum(centred, doubled), theirs, np.maximum(owned, doubled))
    return [-value[::-1] for value in values]


def solve(
    checkers: int,
    cube: bool,
    within: float,
    folder: Path,
    save_seconds: float = 120.0,
    gammons: bool = True,
) -> dict[str, object]:
    """Solve a game into `folder`, or go on where a killed run stopped; its meta.json.

    gammons: see `space`.
    Ends when the bounds are `within` of each other, or float32 lets them come no nearer.
    Writes values.npy, float32[K, M, M], the middle of the bounds.
    """
    started = time.perf_counter()
    states = space(checkers, gammons)
    folder.mkdir(parents=True, exist_ok=True)
    bounds, sweeps = _resume(states, cube, folder)
    print(f"{len(states.after):,d} plays listed in {time.perf_counter() - started:.1f} s")
    saved, gap, change = time.perf_counter(), np.inf, np.inf
    while gap > within and change > 0:
        begun = time.perf_counter()
        gap, change = sweep(states, bounds, within / 100)
        sweeps += 1
        now = time.perf_counter()
        print(
            f"sweep {sweeps}: gap {gap:.2e}, change {change:.2e}, {now - begun:.1f} s", flush=True
        )
        if now - saved > save_seconds:
            _save(folder, bounds, sweeps)
            saved = time.perf_counter()
    meta: dict[str, object] = {
        "checkers": checkers,
        "gammons": gammons,
        "cubes": list(CUBES if cube else CUBELESS),
        "sweeps": sweeps,
        "gap": gap,
        "seconds": round(time.perf_counter() - started, 1),
    }
    _write_array(folder / "values.npy", bounds.mean(1))
    write_whole(folder / "meta.json", json.dumps(meta, indent=1).encode())
    for name in ("bounds.npy", "sweeps"):
        (folder / name).unlink(missing_ok=True)
    return meta


def _resume(states: Space, cube: bool, folder: Path) -> tuple[Bounds, int]:
    path = folder / "bounds.npy"
    fresh = first_bounds(states, cube)
    if not path.exists():
        return fresh, 0
    try:
        kept = np.load(path, allow_pickle=False)
        sweeps = int((folder / "sweeps").read_text())
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{str(path)!r} cannot be gone on from: {error}") from None
    if kept.shape != fresh.shape or kept.dtype != fresh.dtype:
        raise ValueError(f"{str(path)!r} holds bounds {kept.shape} of another game")
    return kept, sweeps


def _save(folder: Path, bounds: Bounds, sweeps: int) -> None:
    write_whole(folder / "sweeps", str(sweeps).encode())
    _write_array(folder / "bounds.npy", bounds)


def _write_array(path: Path, values: NDArray[np.float32]) -> None:
    with whole_file(path) as file:
        np.save(file, values)


def game_folder(folder: str | Path, game: Variant, cube: bool, gammons: bool = True) -> Path:
    """Where a game's solution is kept; the same for every start. gammons: see `space`.

    Raises ValueError for a game of the blocking family, which has other rules."""
    if game.family != "hitting":
        raise ValueError(f"{game.name} nardy cannot be solved here: only games with hits can")
    end = "-cube" * cube + "-single" * (not gammons)
    return Path(folder) / f"{game.checkers}-checkers{end}"


def run(config: SolveConfig) -> None:
    """Solve and print the first player's equity, or judge what is named in `against`.

    Raises ValueError or OSError naming what is wrong.
    """
    from train.solved import SolvedGame, judge

    game = config.variant.make()
    folder = game_folder(config.folder, game, config.cube)
    if not config.within >= 0:  # nor is NaN
        raise ValueError(f"within must be at least 0, not {config.within!r}")
    if config.decisions < 1:
        raise ValueError(f"decisions must be at least 1, not {config.decisions!r}")
    if config.against is not None:
        judge(config.against, SolvedGame.load(folder, game), config.decisions, config.seed,
              config.json)  # fmt: skip
        return
    if not (folder / "meta.json").exists():  # written last
        solve(game.checkers, config.cube, config.within, folder, config.save_seconds)
    print(SolvedGame.load(folder, game).summary())


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer(
        "train.solve",
        lambda: run(parse("solve", SolveConfig, arguments)),
        arguments,
        help_text(SolveConfig, "usage: python -m train.solve [key=value …]", EXAMPLES),
        stopped="interrupted: the same command goes on from the last save",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
