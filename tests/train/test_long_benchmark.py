"""Decisions of long nardy judged by rollouts, the page of openings, the card and the curve."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from made_up import arrays_of, made_up
from random_nets import SHORT, make_net
from test_curve import make_run

from nardy.net.net import Net
from nardy.play.rollout import play_out
from nardy.play.search import Priced, Search
from nardy.rules.batch import afterstates
from nardy.rules.board import ending, make_board, turn
from nardy.rules.variants import variant
from train import arena, benchmark, benchmark_rollout, curve, long_card, openings
from train.benchmark_files import read_decisions, variant_of
from train.benchmark_phases import LONG_PHASES
from train.benchmark_rollout import (
    CANDIDATES,
    RolloutConfig,
    candidates,
    clearly_behind,
    contested,
    long_phases_of,
    margin_errors,
    rolled_out,
)
from train.net_folder import write_net

LONG = variant("long")
FAMILY = LONG.family


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported net of long nardy, of random weights."""
    place = tmp_path_factory.mktemp("net")
    write_net(place, make_net(8, (8,), game=LONG, pairs=0), {"games": 7})
    return place


# ---------------------------------------------------------------- phases and candidates

FIVE = {18: 1, 17: 1, 16: 1, 15: 1, 14: 1}  # the enemy's 6 to 2
PHASES = [
    ({24: 15}, {24: 15}, 9, "opening"),
    ({24: 15}, {24: 15}, 10, "heads"),
    ({24: 5, 20: 10}, {24: 5, 20: 10}, 30, "contact, other"),
    ({24: 5, 20: 10}, {24: 6, 20: 9}, 30, "heads"),
    ({24: 4, 23: 6, **FIVE}, {7: 1, 1: 14}, 40, "six or five in a row"),
    ({24: 4, 23: 6, **FIVE}, {1: 15}, 40, "contact, other"),  # nobody is behind the five
    ({24: 5, 20: 10}, {20: 1, 19: 1, 18: 1, 17: 1, 16: 1, 15: 10}, 40, "six or five in a row"),
    ({12: 15}, {1: 15}, 60, "race"),
    ({6: 15}, {12: 15}, 60, "bear-off"),
    ({6: 2}, {13: 1}, 60, "contact, other"),
]


@pytest.mark.parametrize(("mover", "enemy", "ply", "phase"), PHASES)
def test_phases(mover: dict[int, int], enemy: dict[int, int], ply: int, phase: str) -> None:
    board = make_board(mover, enemy, FAMILY)
    assert LONG_PHASES[long_phases_of(board[None], np.array([ply]))[0]] == phase


def test_candidates_by_hand() -> None:
    owners = np.repeat([0, 1, 2], [7, 2, 3])
    values = np.array([0.5, 0.45, 0.44, 0.43, 0.42, 0.41, 0.9, 0.1, -0.5, 0.0, 0.3, 0.1])
    plies = np.array([1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0], np.int8)
    found = candidates(Priced(values.astype(np.float32), np.empty((12, 4)), plies), owners)
    # the five best that were looked at; two however bad the second is, however shallow
    assert found.tolist() == [*range(CANDIDATES), 7, 8, 9, 10]


def test_who_is_clearly_behind() -> None:
    steady = np.tile([0.1, -0.1], 8)
    games = np.stack([1 + steady, 0.9 + steady[::-1], 0.99 + steady[::-1], steady, steady])
    owners = np.array([0, 0, 0, 1, 1])
    # 0.1 ± 0.05 is behind by two errors, not by 2.5; the same games are no different
    assert clearly_behind(games, owners).tolist() == [False] * 5
    games[1] -= 0.1
    assert clearly_behind(games, owners).tolist() == [False, True, False, False, False]
    assert contested(games, owners).tolist() == [0, 2, 3, 4]
    assert contested(games[[0, 1, 3, 4]], np.array([0, 0, 5, 5])).tolist() == [2, 3]
    errors = margin_errors(games, owners, 2)
    assert errors[0] == pytest.approx(2 * steady.std(ddof=1) / 4) and errors[1] == 0


# ---------------------------------------------------------------- the file


def test_a_file_is_made_and_read(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "decisions_long.npz"
    asked = [f"net={folder}", f"to={path}", "decisions=8", "games=3", "more=2", "plies=2"]
    assert benchmark_rollout.main([*asked, "seed=4"]) == 0
    assert '"variant": "long"' in capsys.readouterr().out
    decisions, net = read_decisions(path), Net.load(folder)
    assert (decisions.variant, variant_of(path), len(decisions.boards)) == ("long", "long", 8)
    assert np.bincount(decisions.phases).max() <= 2
    arrays = np.load(path)
    meta = json.loads(str(arrays["meta"]))
    assert meta["net"]["games"] == 7 and meta["trials"] == [3, 5] and meta["seed"] == 4
    legal = afterstates(decisions.boards, decisions.dice, LONG)
    assert (legal.offsets == decisions.results.offsets).all()
    assert set(map(bytes, legal.boards)) == set(map(bytes, decisions.results.boards))
    check_values(decisions, arrays, net)
    before = path.read_bytes()
    assert benchmark_rollout.main([*asked, "seed=4"]) == 0
    assert path.read_bytes() == before
    capsys.readouterr()
    assert benchmark.main([f"net={folder}", "other=heuristic", f"files=[{path}]", "worst=2"]) == 0
    said = capsys.readouterr().out
    assert "8 decisions" in said and "rollout" in said and "paired" in said
    for players in ([f"net={folder}"], ["net=heuristic"], ["net=random", f"other={folder}"]):
        assert benchmark.main([*players, f"data={tmp_path}", "worst=0"]) == 0
    assert benchmark.main(["net=random", f"data={tmp_path}"]) == 2
    assert "holds no benchmark file of short nardy" in capsys.readouterr().err
    assert benchmark.main(["net=random", f"files=[{path}]", "worst=0"]) == 0


def check_values(decisions, arrays, net: Net) -> None:  # type: ignore[no-untyped-def]
    """Every equity again, one result at a time."""
    search, points = Search(net, 0), np.array(LONG.outcomes)
    rolled, rows = arrays["eq_rollout"], decisions.results.boards
    over, won = ending(rows, LONG)
    done = 0
    for row in np.flatnonzero(~np.isnan(rolled) & ~over)[::3]:
        board = turn(rows[row], FAMILY)[None]
        if long_phases_of(board, np.array([99]))[0] >= LONG_PHASES.index("race"):
            continue  # tables end these rollouts
        games = [-(play_out(search, board, np.array([g]), 4, 2)[0][0] @ points) for g in range(5)]
        means = np.mean(games[:3]), np.mean(games)
        assert np.abs(rolled[row] - means).min() < 1e-4
        done += 1
    assert done > 2
    known = ~np.isnan(rolled) & over
    assert (rolled[known] == won[known]).all()
    counts = np.add.reduceat(~np.isnan(rolled), decisions.results.offsets[:-1])
    assert ((counts >= 2) & (counts <= CANDIDATES)).all()


def test_rollouts_of_games_that_are_known() -> None:
    net = make_net(8, game=LONG, pairs=0)
    won = make_board({}, {24: 15}, FAMILY)
    found = rolled_out(
        Search(net, 0), won[None], 0, 3, RolloutConfig(net="x", to="decisions_x.npz")
    )
    assert found.tolist() == [[2, 2, 2]]


def test_games_are_not_mixed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = tmp_path / "decisions_x.npz"
    np.savez(short, **arrays_of(made_up(5)))
    long_file = tmp_path / "decisions_y.npz"
    np.savez(long_file, **arrays_of(made_up(5)), meta=np.array('{"variant": "long"}'))
    (tmp_path / "short").mkdir()
    write_net(tmp_path / "short", make_net(4), {})
    for arguments, says in (
        ([f"net={folder}", f"files=[{short},{long_file}]"], "files are of long and short"),
        ([f"net={folder}", f"files=[{short}]"], "plays long; the benchmark is short nardy"),
        ([f"net={tmp_path}/short", f"files=[{long_file}]"], "plays short; the benchmark is long"),
    ):
        assert benchmark.main(arguments) == 2
        error = capsys.readouterr().err
        assert says in error and error.count("\n") == 1
    np.savez(long_file, **arrays_of(made_up(5)), meta=np.array("?"))
    with pytest.raises(ValueError, match="has a meta that names no game"):
        read_decisions(long_file)


@pytest.mark.parametrize(
    ("module", "arguments", "says"),
    [
        (benchmark_rollout, ["net=x", "to=decisions_x.npz", "plies=0"], "plies must be at least 1"),
        (benchmark_rollout, ["net=x", "to=other.npz"], "must be named decisions_*.npz"),
        (benchmark_rollout, ["to=decisions_x.npz"], "name the net"),
        (benchmark_rollout, ["net=nowhere", "to=decisions_x.npz"], "nowhere"),
        (openings, ["net=x"], "name the net and the page"),
        (openings, ["net=x", "to=y.md", "ply=4"], "ply must be 0, 1, 2 or 3, not 4"),
        (openings, ["net=nowhere", "to=y.md"], "nowhere"),
        (long_card, [], "net is missing"),
        (long_card, ["net=x", "pairs=1"], "pairs must be at least 2, not 1"),
        (long_card, ["net=nowhere"], "nowhere"),
    ],
)
def test_what_is_wrong_is_one_sentence(  # type: ignore[no-untyped-def]
    module, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert module.main(arguments) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_nets_of_short_nardy_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_net(tmp_path, make_net(4, game=SHORT), {})
    for module, more in (
        (benchmark_rollout, ["to=decisions_x.npz"]),
        (openings, ["to=page.md"]),
        (long_card, []),
    ):
        assert module.main([f"net={tmp_path}", *more]) == 2
        assert "long" in capsys.readouterr().err


@pytest.mark.parametrize("rules", [{"last_roll": "second_player"}, {"opening": "reroll"}])
def test_nets_of_other_rules_are_refused(
    rules: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_net(tmp_path, make_net(4, game=variant("long", **rules)), {})
    assert openings.main([f"net={tmp_path}", "to=page.md"]) == 2
    (said,) = (f"{name}={value}" for name, value in rules.items())
    assert f"plays with {said}, and this page is of " in capsys.readouterr().err
    assert benchmark_rollout.main([f"net={tmp_path}", "to=decisions_x.npz"]) == 2
    assert "plays long by other rules, not long by the usual" in capsys.readouterr().err


# ---------------------------------------------------------------- openings, card, curve


def test_the_page_of_openings(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    asked = [f"net={folder}", f"to={page}", "ply=0", "second_ply=0"]
    assert openings.main(asked) == 0
    text = page.read_text()
    assert f"    python -m train.openings {' '.join(asked)}\n" in text
    assert text.count("\n## ") == 9 and "| 3-1 | 24/20 |" in text  # 3 to 11 pips
    assert "\n## 6-1, 5-2, 4-3: 24/17 (" in text and "\n## 6-5: 24/13 (" in text
    rows = [line for line in text.splitlines() if line.startswith("| 6-5 |")]
    assert len(rows) == 1 + 9 and all("24/" in row for row in rows)
    firsts = [line.split("|")[2:] for line in text.splitlines() if "| 24/17 |" in line][:3]
    assert firsts[0] == firsts[1] == firsts[2] and len(firsts[0]) == 7
    shares = [int(part) for part in re.findall(r"\((\d+)%\)", text)]
    assert shares and max(shares) <= 99


def test_the_card(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = tmp_path / "rows.md"
    asked = [f"net={folder}", f"early={folder}", "pairs=2", "threads=1", f"to={to}"]
    assert long_card.main(asked) == 0
    said = capsys.readouterr().out
    assert said.strip() == to.read_text().strip()
    opponents = "b=random", "b=pips", "b=heuristic"
    judged = "decisions_long.npz by rollout"
    for what in ("turns a game", "luck taken out", *opponents, "a_ply=1", "a_ply=2", judged):
        assert what in said
    itself = next(line for line in said.splitlines() if f"b={folder} variant=long pairs=2`" in line)
    assert "+0.0000 ± 0.0000" in itself


def test_a_row_of_the_card_can_be_played_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = variant("long", start={8: 2, 5: 2}, prime_rule="forbid")
    write_net(tmp_path, make_net(4, game=game), {})
    asked = [f"net={tmp_path}", f"pairs={6 * long_card.EASY}", "seed=3", "tables=true"]
    assert long_card.main([*asked, "threads=1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert not any("train.benchmark" in line for line in lines)  # which knows no such rules
    row = next(line for line in lines if "b=random" in line)
    command = re.search(r"`train.arena (.*)`", row)[1]  # type: ignore[index]
    wanted = "variant=long variant.prime_rule=forbid variant.start={5:2,8:2} pairs=6 tables=true"
    assert command == f"a={tmp_path} b=random {wanted} seed=3"
    assert arena.main([*command.split(), "threads=1"]) == 0
    said = capsys.readouterr().out
    figure = re.search(r"\| ([+-][\d.]+ ± [\d.]+) points", row)[1]  # type: ignore[index]
    assert said.startswith(f"{figure} points a game for a") and not figure.endswith(" 0.0000")


def test_the_curve_of_a_long_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, out = make_run(tmp_path / "run", 2, game=LONG), tmp_path / "curve.json"
    picture = tmp_path / "curve.png"
    asked = [f"runs=[{run}]", "pairs=2", "threads=1", f"json={out}", f"plot={picture}"]
    assert curve.main(asked) == 0
    assert f"{run} against heuristic" in capsys.readouterr().out and picture.exists()
    found = json.loads(out.read_text())
    assert set(found["runs"][str(run)]["times"]) == {"+1.00", "+1.50", "+1.60"}
    for row in found["runs"][str(run)]["checkpoints"]:  # as the dice fell
        assert row["raw"] == {part: row[part] for part in ("ppg", "ci95")}
    assert found["judge"] is None
    assert curve.main([*asked, "luck=true"]) == 2
    assert "was measured with judge=None, not " in capsys.readouterr().err
    judge, out = f"{run}/checkpoint-00000001", tmp_path / "told.json"
    told = [f"runs=[{run}]", "pairs=2", "threads=1", f"judge={judge}", f"json={out}"]
    assert curve.main(told) == 0
    found = json.loads(out.read_text())
    assert found["judge"] == judge
    assert any(r["raw"]["ppg"] != r["ppg"] for r in found["runs"][str(run)]["checkpoints"])
    assert curve.main([*told, "luck=false"]) == 2
    assert "tells luck, and luck=false leaves it in" in capsys.readouterr().err
