"""bgsage as a peer: its boards, choices and cube; skipped without it."""

import importlib.util

import numpy as np
import pytest

from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import make_board, start_board
from nardy.rules.variants import variant
from train.benchmark_files import FOLDER, read_cubes, read_decisions, read_values
from train.benchmark_players import subject
from train.benchmark_scores import cube_actions, score_cubes, score_decisions
from train.peers.bgsage import SagePlayer

SHORT = variant("short")
NO_GAMES = np.zeros(1, np.int64)
INSTALLED = importlib.util.find_spec("bgsage") is not None
needs_bgsage = pytest.mark.skipif(not INSTALLED, reason="bgsage is not installed")


@pytest.mark.parametrize("ply", [0, 1])
@pytest.mark.parametrize(
    ("dice", "after"),
    [
        ((3, 1), {24: 2, 13: 5, 8: 2, 6: 4, 5: 2}),
        ((6, 1), {24: 2, 13: 4, 8: 2, 7: 2, 6: 5}),
    ],
)
@needs_bgsage
def test_known_opening_plays(ply: int, dice: tuple[int, int], after: dict[int, int]) -> None:
    board, roll = start_board(SHORT)[None], np.array([dice], np.uint8)
    results = afterstates(board, roll, SHORT)
    row = SagePlayer(SHORT, ply).choose(board, roll, results, NO_GAMES, NO_GAMES)[0]
    assert results.boards[row].tolist() == make_board(after, {24: 2, 13: 5, 8: 3, 6: 5}).tolist()


@pytest.mark.parametrize("ply", [0, 1, 2])
@needs_bgsage
def test_passes_and_wins(ply: int) -> None:
    stuck = make_board({25: 1, 6: 14}, {p: 2 for p in range(1, 7)} | {13: 3})  # K9
    last = make_board({2: 1, 1: 1}, {22: 15})  # 2-1 wins three points, and may be played worse
    boards, dice = np.array([stuck, last]), np.array([[6, 6], [2, 1]], np.uint8)
    legal, offsets = afterstates(boards, dice, SHORT)
    assert offsets.tolist() == [0, 1, 3]
    results = Afterstates(legal[[0, 2, 1]], offsets)  # the win is not the first of two
    rows = SagePlayer(SHORT, ply).choose(boards, dice, results, NO_GAMES, NO_GAMES)
    assert rows[0] == 0 and not (results.boards[rows[1]] > 0).any()


@needs_bgsage
def test_static_choices_are_its_own() -> None:
    """The best of the results by the values that the same engine wrote as eq_sage1."""
    decisions = read_decisions(FOLDER / "decisions_short.npz")
    with np.load(FOLDER / "decisions_short.npz") as file:
        values = file["eq_sage1"]
    rows = SagePlayer(SHORT).choose(
        decisions.boards, decisions.dice, decisions.results, decisions.games, decisions.plies
    )
    offsets = decisions.results.offsets
    best = np.maximum.reduceat(values, offsets[:-1])
    assert values[rows] == pytest.approx(best, abs=1e-6)


@needs_bgsage
def test_baselines_of_moves_and_cube() -> None:
    """The figures of benchmarks/README.md for bgsage without search."""
    judged = subject("bgsage")
    decisions = read_decisions(FOLDER / "decisions_short.npz")
    scores = score_decisions(decisions, judged.play(decisions))
    assert round(scores["gnubg2"]["loss"], 1) == 3.5
    assert round(scores["sage3"]["loss"], 1) == 2.9
    assert judged.cube_values is not None
    for file, doubling, taking in (("cube_money", 1.6, 4.4), ("cube_match", 3.6, 5.3)):
        cubes = read_cubes(FOLDER / f"{file}.npz")
        score = score_cubes(cubes, *cube_actions(judged.cube_values(cubes)))["gnubg2"]
        assert score["doubling"]["loss"] == pytest.approx(doubling, abs=0.06)
        assert score["taking"]["loss"] == pytest.approx(taking, abs=0.06)


@needs_bgsage
def test_search_is_better_than_none() -> None:
    """1-ply loses 2.1 and 1.7 millipoints a decision over all of the file."""
    whole = read_decisions(FOLDER / "decisions_short.npz")
    few, rows = 600, whole.results.offsets[600]
    results = Afterstates(whole.results.boards[:rows], whole.results.offsets[: few + 1])
    losses = {name: values[:rows] for name, values in whole.losses.items()}
    part = (whole.boards[:few], whole.dice[:few], results, NO_GAMES, NO_GAMES)
    static, searched = (SagePlayer(SHORT, ply).choose(*part) for ply in (0, 1))
    for name in ("gnubg2", "sage3"):
        assert losses[name][searched].mean() < losses[name][static].mean()


@needs_bgsage
def test_searched_cube_is_that_of_the_file() -> None:
    """The same engine wrote nd_sage3 by its cubeful search at this depth."""
    for name in ("cube_money", "cube_match"):
        cubes = read_cubes(FOLDER / f"{name}.npz")
        rows = np.flatnonzero(~cubes.crawford)[:3]
        columns = (cubes.boards, cubes.owned, cubes.cube, cubes.away, cubes.crawford)
        values = SagePlayer(SHORT, 2).cube_values(*(column[rows] for column in columns))
        known = cubes.actions["sage3"][rows]
        if cubes.match:
            with np.load(FOLDER / f"{name}.npz") as file:
                lose, win = file["mwc_lose"][rows, None], file["mwc_win"][rows, None]
            known = 2 * (known - lose) / (win - lose) - 1
        assert values == pytest.approx(known, abs=1e-4)


@needs_bgsage
def test_searched_chances_are_those_of_the_file() -> None:
    values = read_values(FOLDER / "values_short.npz")
    chances = SagePlayer(SHORT, 2).probabilities(values.boards[:20])
    assert chances == pytest.approx(values.chances["sage3"][:20], abs=1e-5)


@needs_bgsage
def test_threads_have_searches_of_their_own() -> None:
    peer = SagePlayer(SHORT, 1)
    twin = peer.for_thread()
    assert (twin.ply, twin.name) == (1, "bgsage-1ply")
    assert twin._search is not peer._search


@needs_bgsage
def test_other_games_and_depths_are_refused() -> None:
    with pytest.raises(ValueError, match="15 checkers, not hyper with 3"):
        SagePlayer(variant("hyper"))
    with pytest.raises(ValueError, match="ply must be 0, 1 or 2, not 3"):
        SagePlayer(SHORT, 3)


def test_missing_peer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="bgsage is not installed: pip install bgsage"):
        SagePlayer(SHORT)
