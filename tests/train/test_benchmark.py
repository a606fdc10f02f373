"""The benchmark's players and its command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from made_up import BM, arrays_of, made_up
from random_nets import SHORT, make_net

from nardy.net.net import Net
from nardy.play.player import cumulative
from nardy.play.search import Search
from nardy.rules.board import flip, pip_counts, points_won
from train.benchmark import main
from train.benchmark_files import (
    FOLDER,
    read_values,
)
from train.benchmark_players import cumulative_chances, subject
from train.net_folder import write_net


@pytest.fixture
def net() -> Net:
    return make_net(16)


@pytest.fixture
def net_folder(net: Net, tmp_path: Path) -> Path:
    folder = tmp_path / "net"
    folder.mkdir()
    write_net(folder, net, {})
    return folder


def test_a_net_plays_the_highest_value(net: Net, net_folder: Path) -> None:
    decisions = made_up(40)
    points = np.array(SHORT.outcomes)
    results, offsets = decisions.results
    values = -(net.outcomes(flip(results)) @ points)
    won = points_won(results, SHORT)
    values[won > 0] = won[won > 0]
    rows = subject(str(net_folder)).play(decisions)
    assert rows is not None
    for row, begin, end in zip(rows, offsets[:-1], offsets[1:], strict=True):
        assert begin <= row < end
        assert values[row] == pytest.approx(max(values[begin:end]), abs=1e-5)


def test_a_nets_chances_are_cumulative(net: Net, net_folder: Path) -> None:
    boards = made_up(5).boards
    judged = subject(str(net_folder))
    assert judged.chances is not None
    chances = judged.chances(boards)
    for row, outcomes in zip(chances, net.outcomes(boards), strict=True):
        assert row.tolist() == pytest.approx(list(cumulative(outcomes, SHORT.outcomes).values()))
    exact = cumulative_chances(np.array([[0.1, 0, 0.2, 0.4, 0.2, 0.1]], np.float32), SHORT.outcomes)
    assert exact[0].tolist() == pytest.approx([0.7, 0.3, 0.1, 0.1, 0.1])


def test_chances_look_as_deep_as_asked(net: Net, net_folder: Path) -> None:
    boards = made_up(3).boards
    deep = subject(str(net_folder), ply=1).chances
    assert deep is not None
    expected = Search(net, 1).chances(flip(boards), 1)[:, ::-1]
    np.testing.assert_array_equal(deep(boards), cumulative_chances(expected, SHORT.outcomes))
    static = cumulative_chances(net.outcomes(boards), SHORT.outcomes)
    assert np.abs(deep(boards) - static).max() > 1e-3


def test_deeper_search_is_named_and_played(net_folder: Path) -> None:
    decisions = made_up(3)
    judged = subject(str(net_folder), ply=1)
    rows = judged.play(decisions)
    assert rows is not None and judged.name == f"{net_folder} at 1-ply"
    assert (rows >= decisions.results.offsets[:-1]).all()
    assert (rows < decisions.results.offsets[1:]).all()


def test_pips_runs_and_hits() -> None:
    decisions = made_up(20)
    rows = subject("pips").play(decisions)
    own, other = pip_counts(decisions.results.boards)
    for row, begin, end in zip(
        rows, decisions.results.offsets[:-1], decisions.results.offsets[1:], strict=True
    ):
        assert (other - own)[row] == max((other - own)[begin:end])


def test_nets_of_other_games_are_refused(tmp_path: Path) -> None:
    from nardy.rules.variants import variant

    write_net(tmp_path, make_net(4, game=variant("hyper")), {})
    with pytest.raises(ValueError, match="plays hyper; the benchmark is short nardy"):
        subject(str(tmp_path))


def test_command_line(tmp_path: Path, net_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "decisions_x.npz", tmp_path / "out.json"
    np.savez(file, **arrays_of(made_up(20)))
    bm = tmp_path / "a.bm"
    bm.write_text(BM + "\n")
    values, cube = FOLDER / "values_short.npz", FOLDER / "cube_money.npz"
    code = main([
        f"net={net_folder}", "other=pips", f"files=[{file},{bm},{values},{cube}]",
        f"json={out}", "worst=2",
    ])  # fmt: skip
    printed = capsys.readouterr()
    assert (code, printed.err) == (0, "")
    written = json.loads(out.read_text())
    assert written["net"] == str(net_folder) and written["file"] == "decisions_x.npz"
    assert written["decisions"] == 20 and set(written["references"]) == {"gnubg2", "sage3"}
    score = written["references"]["gnubg2"]
    assert {"loss", "ci95", "by_phase"} <= set(score)
    assert score["difference"]["other"] == "pips"
    assert [part["kind"] for part in written["files"]] == [
        "decisions", "decisions", "values", "cube",
    ]  # fmt: skip
    assert f"{score['loss']:.2f} ± {score['ci95']:.2f}" in printed.out
    assert "20 decisions of" in printed.out and "paired" in printed.out
    assert "1. decision" in printed.out and f"cube by {net_folder}" in printed.out
    assert {"doubling", "taking"} == set(written["files"][3]["references"]["gnubg2"])
    own = read_values(values).chances["gnubg2"]
    error = np.abs(subject(str(net_folder)).chances(read_values(values).boards) - own)  # type: ignore[misc]
    assert written["files"][2]["references"]["gnubg2"]["error"]["win"] == pytest.approx(
        float(error[:, 0].mean())
    )


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ([], "give either net=, whom to judge, or make=, the file to make"),
        (["net=random", "make=decisions_x.npz"], "give either net="),
        (
            ["net=nowhere"],
            "'nowhere' is neither random, pips, heuristic, gnubg-nn, gnubg, bgsage nor a path",
        ),
        (
            ["net=exact"],
            "'exact' is neither random, pips, heuristic, gnubg-nn, gnubg, bgsage nor a path",
        ),
        (["nett=x"], "Key 'nett' not in 'BenchmarkConfig'"),
        (["net=random", "ply=x"], "Value 'x' of type 'str' could not be converted to Integer"),
        (["net=gnubg-nn", "ply=3"], "ply must be 0, 1 or 2, not 3"),
        (["net=random", "worst=-1"], "worst must be at least 0, not -1"),
        (["random"], "arguments have the form key=value, not 'random'"),
        (["net=random", "files=[x.npz]"], "'x.npz' is not named decisions_*.npz"),
        (["net=random", "files=[cube_x.npz]"], "'cube_x.npz' is not a file that exists"),
        (["net=random", "data=nowhere"], "'nowhere' holds no benchmark file"),
        (["net=random", "json=nowhere/x"], "json='nowhere/x' is not a file that can be written"),
        (["make=x.npz"], "must be named decisions_*.npz to be read later, not 'x.npz'"),
        (["make=nowhere/decisions_x.npz"], "the folder of 'nowhere/decisions_x.npz' does not"),
        (["make=decisions_x.npz", "engine=x"], "engine must be one of gnubg-nn, gnubg, bgsage"),
        (["make=decisions_x.npz", "decisions=0"], "decisions must be at least 1, not 0"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str],
    wrong: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert wrong in printed.err and printed.err.count("\n") == 1 and printed.out == ""
    assert not list(tmp_path.iterdir())


def test_help_names_the_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert "python -m train.benchmark" in printed and "worst=20" in printed
    assert "groups" not in printed  # configs/net is no choice here
