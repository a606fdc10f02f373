"""The benchmark's files: what is read from them and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up import ANCHOR_KEY, BM, POINT_KEY, START_KEY, arrays_of, made_up
from random_nets import SHORT

from nardy.notation.moves import move_texts
from nardy.rules.batch import afterstates
from nardy.rules.board import start_board
from train.benchmark_files import FOLDER, benchmark_files, read_cubes, read_decisions, read_values
from train.benchmark_phases import phases_of


def test_phases_of_the_shipped_file() -> None:
    decisions = read_decisions(FOLDER / "decisions_short.npz")
    assert set(decisions.phases.tolist()) == set(range(9))
    assert (phases_of(decisions.boards, decisions.plies) == decisions.phases).all()


def test_shipped_results_are_the_legal_ones() -> None:
    decisions = read_decisions(FOLDER / "decisions_short.npz")
    ours = afterstates(decisions.boards[:500], decisions.dice[:500], SHORT)
    theirs, offsets = decisions.results
    assert (ours.offsets == offsets[:501]).all()
    for begin, end in zip(offsets[:500], offsets[1:501], strict=True):
        listed = {board.tobytes() for board in theirs[begin:end]}
        assert listed == {board.tobytes() for board in ours.boards[begin:end]}


def test_files_are_found_by_kind(tmp_path: Path) -> None:
    for name in ("cube_b.npz", "values_a.npz", "z.bm", "decisions_b.npz", "legal.npz", "README.md"):
        (tmp_path / name).touch()
    names = [path.name for path in benchmark_files(tmp_path, None)]
    assert names == ["decisions_b.npz", "z.bm", "values_a.npz", "cube_b.npz"]


def test_unsearched_results_lose_as_much_as_the_worst_searched(tmp_path: Path) -> None:
    decisions = made_up(2)
    arrays = arrays_of(decisions)
    equities = np.full(len(decisions.results.boards), np.nan, np.float32)
    begin, end = decisions.results.offsets[1:3]
    equities[[0, 1]], equities[[begin, begin + 1]] = (0.5, 0.25), (-1, -0.5)
    arrays["eq_gnubg2"] = equities
    np.savez(tmp_path / "decisions_x.npz", **arrays)
    losses = read_decisions(tmp_path / "decisions_x.npz").losses["gnubg2"]
    assert losses[:begin].tolist() == [0, 0.25] + [0.25] * (begin - 2)
    assert losses[begin:end].tolist() == [0.5, 0] + [0.5] * (end - begin - 2)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"dice": None}, "lacks the array 'dice'"),
        ({"boards": np.zeros((20, 25), np.int8)}, r"boards of int8\[20, 25\] instead of"),
        ({"eq_gnubg2": None, "eq_sage3": None}, "has none of eq_gnubg2, eq_sage3"),
        ({"phase": np.zeros(3, np.uint8)}, "has 3 phase instead of 20"),
        ({"results": np.zeros((9, 26))}, r"results of float64\[9, 26\] instead of"),
        ({"eq_gnubg2": np.zeros(3)}, "has 3 eq_gnubg2 instead of"),
        ({"eq_sage3": "nan"}, "has a decision without a number in eq_sage3"),
        ({"offsets": np.arange(21)}, "offsets that do not divide its results"),
        ({"dice": np.zeros((20, 2), np.uint8)}, "has a dice of 0, not 1 to 6"),
        ({"phase": np.full(20, 9, np.uint8)}, "has a phase of 9, not 0 to 8"),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, change: dict[str, Any], wrong: str) -> None:
    arrays = arrays_of(made_up(20))
    arrays |= {k: arrays[k] * np.nan if isinstance(v, str) else v for k, v in change.items()}
    path = tmp_path / "decisions_x.npz"
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
    with pytest.raises(ValueError, match=wrong):
        read_decisions(path)
    path.write_bytes(b"not a zip")
    with pytest.raises(ValueError, match="cannot be read as .npz"):
        read_decisions(path)


def test_wrong_values_and_cubes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    boards, ones = made_up(4).boards, np.ones(4, np.uint8)
    np.savez(path, boards=boards, phase=ones, probs_sage3=np.ones((4, 3)))
    with pytest.raises(ValueError, match=r"x.npz' has probs_ that are not \[N, 5\]"):
        read_values(path)
    whole = {"boards": boards, "owner": ones, "phase": ones, "game": ones, "nd_sage3": ones}
    np.savez(path, **whole, dt_sage3=ones)
    with pytest.raises(ValueError, match="x.npz' lacks the array 'dp_sage3'"):
        read_cubes(path)
    np.savez(path, **whole, dt_sage3=ones, dp_sage3=ones[:3])
    with pytest.raises(ValueError, match="x.npz' has 3 dp_sage3 instead of 4"):
        read_cubes(path)


def test_bm_file(tmp_path: Path) -> None:
    path = tmp_path / "contact.bm"
    path.write_text(f"s version 1.92\n#R {POINT_KEY} 0.1 0 0 0 0\nr 17\n{BM}\no {START_KEY} 0.5\n")
    decisions = read_decisions(path)
    assert decisions.boards.tolist() == [start_board(SHORT).tolist()]
    assert decisions.dice.tolist() == [[3, 1]]
    assert list(decisions.losses) == ["rollout"]
    texts = move_texts(decisions.boards[0], decisions.dice[0], decisions.results.boards)
    lost = dict(zip(texts, decisions.losses["rollout"].tolist(), strict=True))
    assert len(lost) == 16
    listed = {"8/5 6/5": 0, "24/23 13/10": 0.168, "24/20": 0.174}
    assert {text: lost[text] for text in listed} == listed
    assert {loss for text, loss in lost.items() if text not in listed} == {0.174}


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (f"m {START_KEY} 3 7 {POINT_KEY} 0.1", "line 1 of .*x.bm' is wrong: dice are 1 to 6"),
        (f"m {START_KEY[1:]} 3 1 {POINT_KEY} 0.1", "a position is 20 letters A to P, not"),
        (f"m {START_KEY} 3 1 {POINT_KEY}", "each result needs a number after it"),
        (f"m {START_KEY} 3 1", "each result needs a number after it"),
        (f"m {START_KEY} 3", "line 1 of"),
        (f"m {START_KEY} 3 1 {POINT_KEY} 0.1 {ANCHOR_KEY} nan", "each result needs a number"),
        (f"m {START_KEY} 6 5 {POINT_KEY} 0.1", "lists a result that is not legal"),
        ("o x", "has no line of a checker play"),
    ],
)
def test_wrong_bm_lines_are_named(tmp_path: Path, line: str, wrong: str) -> None:
    path = tmp_path / "x.bm"
    path.write_text(line + "\n")
    with pytest.raises(ValueError, match=wrong):
        read_decisions(path)
