"""Making a decisions file."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from random_nets import SHORT

from nardy.rules.batch import afterstates
from nardy.rules.board import flip, make_board, pip_counts
from train.benchmark import judge_decisions, main
from train.benchmark_files import (
    read_decisions,
)
from train.benchmark_make import judge, make_file, play_games, sample, searched_rows
from train.benchmark_players import after_values, subject
from train.benchmark_scores import (
    score_decisions,
)
from train.players import PipsPlayer


def by_pips(boards: np.ndarray) -> np.ndarray:
    """Chances of a judge that counts pips: the further ahead, the more wins and gammons."""
    own, other = pip_counts(boards)
    win = 1 / (1 + np.exp((own - other) / 20))
    nothing = np.zeros(len(boards))
    return np.column_stack([win, win**3, nothing, (1 - win) ** 3, nothing])


def test_made_arrays_are_a_decisions_file(tmp_path: Path) -> None:
    turns = play_games(PipsPlayer(), 4, seed=5)
    chosen = sample(turns, 12, by_pips, seed=5)
    arrays = judge(chosen, by_pips, by_pips, ("gnubg0", "gnubg2"))
    np.savez(tmp_path / "decisions_x.npz", **arrays)
    decisions = read_decisions(tmp_path / "decisions_x.npz")
    assert len(decisions.boards) == 12
    assert (decisions.plies < turns.plies.max()).any() and len(set(decisions.games)) > 1
    offsets = decisions.results.offsets
    for i in range(12):
        rows = decisions.results.boards[offsets[i] : offsets[i + 1]]
        keys = [row.tobytes() for row in rows]
        legal = afterstates(decisions.boards[i : i + 1], decisions.dice[i : i + 1], SHORT).boards
        assert keys == sorted(row.tobytes() for row in legal) and len(keys) >= 2
        values = after_values(by_pips, rows, SHORT)
        searched = arrays["eq_gnubg2"][offsets[i] : offsets[i + 1]]
        known = ~np.isnan(searched)
        assert searched[known] == pytest.approx(values[known], abs=1e-6)
        assert known[values.argmax()] and known.sum() >= min(3, len(rows))
    # a judge that is its own reference loses nothing
    values = after_values(by_pips, decisions.results.boards, SHORT)
    bounds = zip(offsets[:-1], offsets[1:], strict=True)
    rows = np.array([begin + values[begin:end].argmax() for begin, end in bounds])
    assert judge_decisions(decisions, subject("pips"))["decisions"] == 12
    assert score_decisions(decisions, rows)["gnubg2"]["loss"] == 0


def test_searched_rows_by_hand() -> None:
    one = [0.5, 0.1, 0.15, 0.4, -1.0, 0.25, 0.19]  # 0.19 is 0.31 behind; the best 3 are in anyway
    two = [1.0, -1.0, -2.0, -3.0]
    three = [0.01 * i for i in range(10)]  # ten near the best: eight are searched
    values = np.array([*one, *two, *three])
    rows = searched_rows(values, np.array([0, 7, 11, 21]))
    assert rows.tolist() == [0, 3, 5, 7, 8, 9, *range(13, 21)]


def test_games_of_a_seed_are_the_same_and_some_are_loose() -> None:
    one, two = (play_games(PipsPlayer(), 4, seed=1) for _ in range(2))
    assert (one.boards == two.boards).all() and (one.dice == two.dice).all()
    results = afterstates(one.boards, one.dice, SHORT)
    rows = PipsPlayer().choose(one.boards, one.dice, results, one.games, one.plies)
    after = {(int(g), int(p)): flip(results.boards[r]).tobytes()
             for g, p, r in zip(one.games, one.plies, rows, strict=True)}  # fmt: skip
    strays: dict[int, int] = defaultdict(int)
    for game, ply, board in zip(one.games.tolist(), one.plies.tolist(), one.boards, strict=True):
        strays[game] += ply > 0 and after[game, ply - 1] != board.tobytes()
    assert strays[0] == strays[2] == 0 < min(strays[1], strays[3])


def test_an_engine_makes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gnubg_nn")
    path = tmp_path / "decisions_x.npz"
    made = ["make=" + str(path), "engine=gnubg-nn", "decisions=3", "seed=2"]
    assert main(made) == 0
    assert capsys.readouterr().out == f"{path}: 3 decisions judged by gnubg-nn\n"
    decisions = read_decisions(path)
    assert len(decisions.boards) == 3 and list(decisions.losses) == ["gnubgnn2"]
    assert np.isfinite(decisions.losses["gnubgnn2"]).all()
    first = path.read_bytes()
    assert make_file(path, "gnubg-nn", 3, 2) == 3
    assert path.read_bytes() == first


def test_finished_results_are_worth_their_points() -> None:
    """K14; the judge is not asked about a game that is over."""
    over = make_board({}, {23: 15})  # a backgammon: all in the winner's home
    after = make_board({1: 1}, {23: 15})

    def careful(boards: np.ndarray) -> np.ndarray:
        assert boards.tolist() == [flip(after).tolist()]
        return np.array([[0.25, 0, 0, 0.5, 0]])

    values = after_values(careful, np.array([over, after]), SHORT)
    assert values.tolist() == [3, -(2 * 0.25 - 1 - 0.5)]
