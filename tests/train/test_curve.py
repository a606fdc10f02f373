"""Strength against seconds: which checkpoints, when a level is reached, and the command."""

import json
from pathlib import Path

import pytest
from nets import HYPER, SHORT, net_player, random_net, save_net

from train import curve
from train.curve import checkpoints, main, reached, times
from train.luck import LuckJudge, NetRolls
from train.match import play_match
from train.players import player

SECONDS = [100.0, 200.0, 400.0]


def make_run(folder: Path, count: int, first: int = 0, game: object = SHORT) -> Path:
    """A run folder with checkpoints of random nets, a minute apart."""
    for number in range(first, first + count):
        place = save_net(folder / f"checkpoint-{number:08d}", random_net(number, game))
        meta = json.loads((place / "meta.json").read_text())
        meta |= {"seconds": 60.0 * (number + 1), "games": 10 * (number + 1)}
        (place / "meta.json").write_text(json.dumps(meta))
    return folder


@pytest.mark.parametrize(
    ("points", "level", "when"),
    [
        ([-0.3, -0.1, 0.1], -0.2, 150),
        ([-0.3, -0.1, 0.1], 0.0, 300),
        ([-0.3, -0.1, 0.1], 0.1, 400),
        ([-0.3, -0.1, 0.1], 0.11, None),
        ([-0.3, -0.1, 0.1], -0.4, 100),
        ([-0.3, 0.1, -0.3], 0.0, 175),
        ([], 0.0, None),
    ],
)
def test_levels_are_reached_between_points(
    points: list[float], level: float, when: float | None
) -> None:
    found = reached(SECONDS[: len(points)], points, level)
    assert found == (None if when is None else pytest.approx(when))


def test_an_interval_of_points_is_an_interval_of_times() -> None:
    rows = [
        {"seconds": s, "ppg": p, "ci95": 0.05}
        for s, p in zip(SECONDS, (-0.2, -0.1, 0.1), strict=True)
    ]
    found = times(rows[::-1])
    assert found["-0.10"]["seconds"] == pytest.approx(200)
    assert found["-0.10"]["earliest"] == pytest.approx(150)
    assert found["-0.10"]["latest"] == pytest.approx(250)
    assert found["+0.00"] == {
        "seconds": pytest.approx(300), "earliest": pytest.approx(250), "latest": pytest.approx(350)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("most", "chosen"), [(9, [0, 1, 2, 3, 4]), (3, [0, 2, 4]), (2, [0, 4]), (1, [4])]
)
def test_checkpoints_are_chosen_evenly(tmp_path: Path, most: int, chosen: list[int]) -> None:
    run = make_run(tmp_path, 5)
    (run / "latest").write_text("checkpoint-00000004")
    assert [int(path.name[-8:]) for path, _ in checkpoints(str(run), most)] == chosen


def test_runs_that_went_on_from_one_another_are_one_curve(tmp_path: Path) -> None:
    one, two = make_run(tmp_path / "one", 3), make_run(tmp_path / "two", 2)
    found = checkpoints(f"{one}+{two}", 9)
    assert [(path.parent.name, before) for path, before in found] == [
        *[("one", 0.0)] * 3, *[("two", 180.0)] * 2,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="holds no checkpoint"):
        checkpoints(f"{one}+{tmp_path}", 9)


def test_a_chain_stands_beside_another_run(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    one, two, three, other = (
        make_run(tmp_path / name, count, game=HYPER)
        for name, count in (("one", 2), ("two", 1), ("three", 1), ("other", 1))
    )
    out, chain = tmp_path / "curve.json", f"{one}+{two}+{three}"
    keys = ["against=random", "pairs=2", f"json={out}", f"plot={tmp_path / 'curve.png'}"]
    assert main([f"runs=[{chain},{other}]", *keys]) == 0
    said = capsys.readouterr().out
    assert all(
        said.count(f"  {level} points a game: ") == 2 for level in ("-0.10", "-0.05", "+0.00")
    )
    runs = json.loads(out.read_text())["runs"]
    assert list(runs) == [chain, str(other)]
    rows = runs[chain]["checkpoints"]
    assert [row["seconds"] for row in rows] == [60, 120, 180, 240]
    assert [Path(row["checkpoint"]).parent.name for row in rows] == ["one", "one", "two", "three"]
    assert curve.label(chain) == "one\n+ two\n+ three"


def test_the_table_grows_and_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    run = make_run(tmp_path / "one", 2)
    judge = save_net(tmp_path / "judge", random_net(9))
    out, picture = tmp_path / "curve.json", tmp_path / "curve.png"
    keys = ["against=pips", "pairs=4", "threads=1", f"judge={judge}", f"json={out}"]
    assert main([*keys, f"runs=[{run}]", f"plot={picture}"]) == 0
    said = capsys.readouterr().out
    assert said.count(" points a game  error ") == 2 and "  +0.00 points a game: " in said
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = json.loads(out.read_text())
    rows = found["runs"][str(run)]["checkpoints"]
    assert [row["seconds"] for row in rows] == [60, 120] and rows[1]["games"] == 20
    assert all(set(row["errors"]) == {"gnubg2", "sage3"} for row in rows)
    match = play_match(
        net_player(1), player("pips", SHORT), SHORT, 4, judge=LuckJudge(NetRolls(random_net(9)), "")
    )
    assert rows[1]["raw"] == {"ppg": match.ppg, "ci95": match.ci95}
    assert match.adjusted is not None and rows[1]["ppg"] == pytest.approx(match.adjusted.ppg)
    assert found["runs"][str(run)]["times"].keys() == {"-0.10", "-0.05", "+0.00"}

    calls: list[str] = []
    real = curve.measure
    monkeypatch.setattr(curve, "measure", lambda path, *rest: calls.append(path.name) or
                        real(path, *rest))  # fmt: skip
    make_run(run, 1, first=2)
    assert main([*keys, f"runs=[{run}]"]) == 0
    assert calls == ["checkpoint-00000002"]
    again = json.loads(out.read_text())["runs"][str(run)]["checkpoints"]
    assert again[:2] == rows and len(again) == 3
    capsys.readouterr()
    assert main([*keys, f"runs=[{run}]", "seed=5"]) == 2
    assert "measured with seed=0, not 5" in capsys.readouterr().err
    out.write_text("[]")
    assert main([*keys, f"runs=[{run}]"]) == 2
    assert "holds no curve" in capsys.readouterr().err and calls == ["checkpoint-00000002"]


def test_a_game_without_a_benchmark_has_no_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    run = make_run(tmp_path / "hyper", 1, game=HYPER)
    picture = tmp_path / "curve.svg"
    assert main([f"runs=[{run}]", "against=random", "pairs=4", f"plot={picture}"]) == 0
    assert "error" not in capsys.readouterr().out and picture.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "runs is missing"),
        (["runs=[nowhere]"], "'nowhere'"),
        (["runs=[nowhere]", "pairs=1"], "pairs must be at least 2, not 1"),
        (["runs=[nowhere]", "most=0"], "most"),
        (["runs=[nowhere]", "plot=curve.xyz"], "curve.xyz"),
        (["runs=[nowhere]", "json=/nowhere/at/all.json"], "/nowhere/at/all.json"),
        (["nonsense=1"], "nonsense"),
        (["runs=runs/a"], "'runs=runs/a' are wrong: a list is written [a,b]"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_an_unknown_opponent_is_refused_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    run = make_run(tmp_path / "one", 1)
    assert main([f"runs=[{run}]", "against=nobody"]) == 2
    said = capsys.readouterr()
    assert "'nobody'" in said.err and not said.out
