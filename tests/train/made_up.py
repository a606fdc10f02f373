"""Decisions of random play with random losses, and a line of a .bm file, for benchmark tests."""

from typing import Any

import numpy as np
from random_nets import SHORT, play_out

from nardy.rules.batch import afterstates
from train.benchmark_files import Decisions
from train.benchmark_phases import phases_of

START_KEY = "OAHDPAABDAOAHDPAABDA"
# results of 3-1 from the start as gnubg writes them, in the view of the next player
POINT_KEY = "LAGHPAABDAOAHDPAABDA"  # 8/5 6/5
BUILDER_KEY = "OAHDOCABCIOAHDPAABDA"  # 24/23 13/10
ANCHOR_KEY = "OAHDPAABCBOAHDPAABDA"  # 24/20
BM = f"m {START_KEY} 3 1 {POINT_KEY} 0.16 {BUILDER_KEY} 0.168 {ANCHOR_KEY} 0.174"


def made_up(count: int, seed: int = 0) -> Decisions:
    """Decisions of random play with random losses, several a game."""
    rng = np.random.default_rng(seed)
    boards, dice, _ = play_out(SHORT, 8, 60)
    results = afterstates(boards, dice, SHORT)
    several = np.flatnonzero(np.diff(results.offsets) > 1)[:count]
    results = afterstates(boards[several], dice[several], SHORT)
    losses = {name: np.abs(rng.normal(0, 0.1, len(results.boards))) for name in ("gnubg2", "sage3")}
    plies = rng.integers(0, 50, count)
    phases = phases_of(boards[several], plies)
    games = rng.integers(0, max(count // 3, 1), count)
    return Decisions(
        "decisions_x.npz", boards[several], dice[several], results, losses, phases, games, plies
    )


def arrays_of(decisions: Decisions) -> dict[str, Any]:
    return {
        "boards": decisions.boards,
        "dice": decisions.dice,
        "offsets": decisions.results.offsets,
        "results": decisions.results.boards,
        "phase": decisions.phases.astype(np.uint8),
        "game": decisions.games.astype(np.int32),
        "ply": decisions.plies.astype(np.int16),
        **{f"eq_{name}": (1 - loss).astype(np.float32) for name, loss in decisions.losses.items()},
    }


def first_rows(decisions: Decisions) -> np.ndarray:
    return decisions.results.offsets[:-1]
