"""The cube against exact values: what is known, by slow twins, and what is made of it."""

import json
from pathlib import Path

import exact
import numpy as np
import pytest
import referee
import torch
from random_nets import make_net

from nardy.match.janowski import CubeValues
from nardy.match.score import Score
from nardy.net.weights import write_tensors
from nardy.play.bearoff import tables_for
from nardy.play.cube_head import FILE, learned
from nardy.play.cubeful import Cube, formula
from nardy.rules import kernel
from nardy.rules.board import flip, make_board
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.variants import variant
from train import cube_exact
from train.cube_exact import CLEAR, Known, bearoff, endgame, main, measure, race_errors
from train.cube_trainer import HeadNetwork
from train.export import export

NET = make_net(12, seed=4)
TABLES = tables_for(variant("short"))
assert TABLES is not None
CHECKERS = 15


def random_head() -> HeadNetwork:
    torch.manual_seed(1)
    network = HeadNetwork(12, 6, 5)
    torch.nn.init.normal_(network.last.weight, 0, 0.2)
    return network


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The endgame with one checker a side, solved in no time."""
    if not kernel.jit_enabled:
        pytest.skip("too slow without numba")
    monkeypatch.setattr(cube_exact, "ENDGAME", variant("hyper", start={24: 1}))


# ---------------------------------------------------------------- what is known


def test_the_endgame_pays_no_gammons(small: None, tmp_path: Path) -> None:
    """Cubeless it is the dictionary's game of fifteen checkers, all but one of them borne off."""
    known = endgame(tmp_path)
    start = make_board({6: 1}, {6: 1})
    slow = exact.solve(tuple(start.tolist()), CHECKERS)
    names = [tuple(board) for board in known.boards.tolist()]
    assert len(names) == len(set(names)) == 25 * 25 - 24
    rows = [names.index(board) for board in slow]
    assert len(rows) > 10
    points = known.chances[rows] @ np.array([-3, -2, -1, 1, 2, 3])
    np.testing.assert_allclose(points, list(slow.values()), atol=2e-5)
    assert (known.chances[:, [0, 1, 4, 5]] == 0).all()


def slow_backup(values: dict[tuple[int, ...], np.ndarray], board: np.ndarray) -> np.ndarray:
    """float[3]: what the values of what follows give this board, by the referee (K16)."""
    total = np.zeros(3)
    for chance, dice in zip(ROLL_CHANCES, ROLLS.tolist(), strict=True):
        worth = []
        for after in referee.results(tuple(board.tolist()), dice):
            if points := referee.points_won(after, CHECKERS):
                worth.append([points] * 3)
                continue
            centred, own, other = values[tuple(flip(np.array(after)).tolist())]
            doubled = min(2 * other, 1)
            worth.append([-max(centred, doubled), -other, -max(own, doubled)])
        total += chance * np.max(worth, 0)
    return total


def test_the_endgame_obeys_its_equation(small: None, tmp_path: Path) -> None:
    known = endgame(tmp_path)
    values = {tuple(b): v for b, v in zip(known.boards.tolist(), known.exact, strict=True)}
    for row in range(0, len(known.boards), 23):
        found = slow_backup(values, known.boards[row])
        np.testing.assert_allclose(known.exact[row], found, atol=3e-5)
    again = endgame(tmp_path)  # from the files
    assert (again.exact == known.exact).all()


def test_bearoff_is_the_tables() -> None:
    known = bearoff(TABLES, 50, 3)
    assert TABLES.covers_exactly(known.boards).all()
    counts = np.maximum(known.boards, 0).sum(1), -np.minimum(known.boards, 0).sum(1)
    assert all(set(count) == set(range(1, TABLES.two_sided_checkers + 1)) for count in counts)
    np.testing.assert_array_equal(known.exact, TABLES.equities(known.boards)[:, 1:])


# ---------------------------------------------------------------- what is made of it


def slow_measure(cube: Cube, known: Known) -> list[list[float]]:
    """As `measure`, one position at a time, by the words of K16."""
    errors = [[], [], []]
    doubling, taking = [[], []], [[], []]
    missed, rash = [[], []], [[], []]
    for board, truth, chances in zip(*known, strict=True):
        for column, owner in enumerate(("centre", "mine", "theirs")):
            score = Score() if owner == "centre" else Score(cube=2, owner=owner)
            stay, taken, passed, _ = (
                float(v[0]) / score.cube for v in cube(board[None], chances[None], score)
            )
            errors[column].append(abs(stay - truth[column]))
            if owner == "theirs":
                continue
            doubled = 2 * truth[2] if 2 * truth[2] < 1 else 1
            best = max(truth[column], doubled)
            doubles, takes = min(taken, passed) > stay, taken <= passed
            doubling[column].append(best - (doubled if doubles else truth[column]))
            taking[column].append((2 * truth[2] if takes else 1) - doubled)
            if doubled - truth[column] > CLEAR and 2 * truth[2] <= 1:
                missed[column].append(not doubles)
            if doubled - truth[column] < -CLEAR:
                rash[column].append(doubles)
    costs = [[1000 * np.mean(x) for x in part] for part in (doubling, taking)]
    shares = [[np.mean(x) for x in part] for part in (missed, rash)]
    return [[np.mean(x) for x in errors], *costs, *shares]


@pytest.mark.parametrize("with_head", [False, True])
def test_measure_is_the_slow_one(with_head: bool) -> None:
    cube = learned(NET, random_head().head()) if with_head else formula
    known = bearoff(TABLES, 150, 4)
    for found, slow in zip(measure(cube, known, known.chances), slow_measure(cube, known)):  # noqa: B905
        np.testing.assert_allclose(found, slow, atol=1e-6)


def test_a_cube_that_knows_all_makes_no_mistake() -> None:
    known = bearoff(TABLES, 300, 5)

    def oracle(boards: np.ndarray, chances: np.ndarray, score: Score) -> CubeValues:
        truth = score.cube * known.exact
        none = np.full(len(boards), np.nan)
        stay = truth[:, ("centre", "mine", "theirs").index(score.owner)]
        if score.owner == "theirs":
            return CubeValues(stay, none, none, none)
        return CubeValues(stay, 2 * truth[:, 2], np.full(len(boards), score.cube), none)

    found = measure(oracle, known, known.chances)
    assert found.error == [0, 0, 0] and found.missed == found.rash == [0, 0]
    assert found.doubling == found.taking == [0, 0]
    timid = measure(
        lambda *asked: oracle(*asked)._replace(no_double=np.full(300, 9.0)), known, known.chances
    )
    assert timid.missed == [1, 1] and timid.rash == [0, 0] and min(timid.doubling) > 1


def test_race_errors_are_the_mean_of_the_three() -> None:
    known = bearoff(TABLES, 40, 6)
    wanted = np.mean(measure(formula, known, known.chances).error)
    assert race_errors(NET, None, 40, 6) == pytest.approx(wanted)
    head = random_head().head()
    assert race_errors(NET, head, 40, 6) != pytest.approx(wanted)


# ---------------------------------------------------------------- the command


def test_the_command(small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export(NET, {}, tmp_path / "net")
    export(NET, {}, tmp_path / "cube")
    write_tensors(tmp_path / "cube" / FILE, random_head().head().tensors())
    keys = [f"net={tmp_path / 'net'}", "positions=60", f"folder={tmp_path / 'exact'}"]
    assert main([*keys, f"cube={tmp_path / 'cube'}", f"json={tmp_path / 'x.json'}"]) == 0
    said = capsys.readouterr().out
    assert said.count("head") == 4 and "endgame" in said
    rows = json.loads((tmp_path / "x.json").read_text())["rows"]
    assert {(r["game"], r["chances"], r["cube"]) for r in rows} == {
        (game, chances, cube)
        for game in ("bear-off", "endgame")
        for chances in ("exact", "net")
        for cube in ("formula", "head")
    }
    assert rows[0]["positions"] == 60 and len(rows[0]["error"]) == 3
    assert main(keys) == 0
    said = capsys.readouterr().out
    assert "head" not in said and "has learnt no cube" in said
    for bad, sentence in (
        (keys[1:], "net= is missing"),
        ([*keys, "positions=0"], "positions must be at least 1, not 0"),
        ([*keys, f"cube={tmp_path / 'net'}"], "no cube head in"),
        (["net=nowhere"], "'nowhere' is neither a run folder"),
    ):
        assert main(bad) == 2
        told = capsys.readouterr().err
        assert sentence in told and told.count("\n") == 1
