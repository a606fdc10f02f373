"""The command line: what it prints, and one sentence with exit code 2 for bad input."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nardy import __version__
from nardy.cli import main
from nardy.match.score import match_score
from nardy.notation.ids import from_position_id
from nardy.play import nets
from nardy.play.player import Player

START = "4HPwATDgc/ABMA"
XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"


def test_show_draws_the_board(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--position", START]) == 0
    assert "X on roll: 167 pips, 0 off" in capsys.readouterr().out


@pytest.mark.parametrize("ply", ["0", "1"])
def test_move_ranks_the_plays(
    net_folder: Path, ply: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["move", "--position", START, "--dice", "31", "--ply", ply, "--net", str(net_folder)]
    assert main(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 16
    assert main([*asked, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["position"], answer["dice"], answer["variant"]) == (START, [3, 1], "short")
    for line, play in zip(lines, answer["plays"], strict=True):
        assert play["move"] in line and f"{play['equity']:+.3f}" in line
        assert f"{play['win']:6.1%}" in line
        assert 1 >= play["win"] >= play["win_gammon"] >= play["win_backgammon"] >= 0


def test_move_takes_dice_and_score_from_the_position(
    net_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["move", "--net", str(net_folder), "--json", "--position", XGID]
    assert main(asked) == 0
    answer = json.loads(capsys.readouterr().out)
    best = Player(net_folder).best(from_position_id(START), [3, 1], score=match_score(3))
    assert answer["dice"] == [3, 1]
    assert [play["move"] for play in answer["plays"]] == [play.text for play in best]
    cubeful = [play["cubeful"] for play in answer["plays"]]
    assert cubeful == [play.cubeful for play in best]
    assert cubeful == sorted(cubeful, reverse=True)
    assert main([*asked, "--dice", "42"]) == 0  # what is asked for counts more
    assert json.loads(capsys.readouterr().out)["dice"] == [4, 2]


def test_a_level_plays_as_the_player_of_that_level(
    net_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["move", "--position", START, "--dice", "31", "--net", str(net_folder)]
    assert main([*asked, "--level", "beginner", "--seed", "5"]) == 0
    texts = [line[5:29].strip() for line in capsys.readouterr().out.splitlines()]
    weak = Player(net_folder, level="beginner", seed=5).best(from_position_id(START), [3, 1])
    assert texts == [play.text for play in weak]
    assert texts != [play.text for play in Player(net_folder).best(weak.board, [3, 1])]


def test_a_reader_that_has_had_enough_is_no_error(net_folder: Path) -> None:
    asked = ["move", "--position", START, "--dice", "31", "--net", str(net_folder), "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "nardy", *asked], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_rollout_ranks_plays_or_prices_a_position(
    net_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["rollout", "--position", START, "--net", str(net_folder), "--games", "8"]
    asked += ["--plies", "2", "--seed", "5"]
    assert main([*asked, "--dice", "31", "--plays", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert main([*asked, "--dice", "31", "--plays", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rollouts"]
    assert len(rows) == 2 and rows[0]["equity"] >= rows[1]["equity"]
    for line, row in zip(lines, rows, strict=True):
        assert line.startswith(row["name"]) and line.endswith("8 games")
        assert f"{row['equity']:+.4f} ± {row['stderr']:.4f}" in line
    assert main(asked) == 0
    assert capsys.readouterr().out.startswith("on roll")
    asked[2] = XGID
    assert main([*asked, "--plays", "2"]) == 0  # the dice are those of the position
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize("dice", ["31", "13", "3-1", "3,1", "1 3"])
def test_dice_have_many_spellings(
    net_folder: Path, dice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["move", "--position", START, "--dice", dice, "--net", str(net_folder)]) == 0
    assert "8/5 6/5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["show", "--position", "abc"], "'abc'"),
        (["show", "--position", "AAAAAAAAAAAAAA"], "no checker left"),
        (["show", "--position", START, "--variant", "hyper"], "15 checkers"),
        (["move", "--position", START, "--dice", "37", "--net", "NET"], "[3, 7]"),
        (["move", "--position", START, "--dice", "3", "--net", "NET"], "'3'"),
        (["move", "--position", START, "--dice", "3x1", "--net", "NET"], "'3x1'"),
        (["move", "--position", START, "--dice", "31", "--net", "nowhere"], "'nowhere'"),
        (["move", "--position", START, "--dice", "31"], "make train"),
        (["move", "--dice", "31"], "--position"),
        (["move", "--position", START, "--net", "NET"], "--dice are needed"),
        (["move", "--position", "XGID=-b:0", "--net", "NET"], "fields between its colons"),
        (["move", "--position", XGID, "--seconds", "0", "--net", "NET"], "seconds must be"),
        (["move", "--position", XGID, "--level", "god", "--net", "NET"], "'god'"),
        (["play", "--level", "casual", "--ply", "1", "--net", "NET"], "not allowed with"),
        (["play", "--threads", "0", "--net", "NET"], "threads must be"),
        (["play"], "make train"),
        (["play", "--net", "NET", "--variant", "hyper"], "plays short, not hyper"),
        (["play", "--net", "NET", "--ply", "4"], "4"),
        (["rollout", "--position", START, "--net", "NET", "--games", "1"], "games must be"),
        (["rollout", "--position", START, "--net", "NET", "--plies", "0"], "plies must be"),
        (["rollout", "--position", START, "--net", "NET", "--stderr", "-1"], "stderr must be"),
        (["rollout", "--position", START, "--net", "NET", "--threads", "0"], "threads must be"),
        (
            ["rollout", "--position", START, "--dice", "31", "--plays", "0", "--net", "NET"],
            "plays must be",
        ),
        (["play", "--seed", "many"], "'many'"),
        (["dance"], "dance"),
        ([], "COMMAND"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str],
    why: str,
    net_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NARDY_NET", raising=False)
    monkeypatch.setattr(nets, "_HOMES", ())
    try:
        code = main([str(net_folder) if word == "NET" else word for word in arguments])
    except SystemExit as leaving:
        code = leaving.code
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert said.err.startswith("nardy: ") and said.err.count("\n") == 1
    assert why in said.err


def test_a_truncated_net_is_refused(
    net_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(net_folder, broken)
    whole = (broken / "net.safetensors").read_bytes()
    for content in (whole[: len(whole) // 2], whole[:20], b""):
        (broken / "net.safetensors").write_bytes(content)
        assert main(["move", "--position", START, "--dice", "31", "--net", str(broken)]) == 2
        said = capsys.readouterr()
        assert said.err.startswith("nardy: ") and said.err.count("\n") == 1
    (broken / "net.safetensors").unlink()
    assert main(["move", "--position", START, "--dice", "31", "--net", str(broken)]) == 2


def test_the_net_is_found(
    net_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """--net before NARDY_NET before the newest of checkpoints/ and runs/ before a shipped one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NARDY_NET", raising=False)
    monkeypatch.setattr(nets, "_HOMES", (tmp_path / "nowhere", tmp_path / "home"))
    asked = ["move", "--position", START, "--dice", "31"]
    assert main(asked) == 2
    assert "there is no net for short here" in capsys.readouterr().err
    shutil.copytree(net_folder, "home/short-01")
    shutil.copytree(net_folder, "home/short-02")
    (Path("home/short-01") / "net.safetensors").write_bytes(b"")
    assert main(asked) == 0
    places = [Path("checkpoints/old"), Path("checkpoints/new"), Path("runs/wide/net")]
    for newest in places:
        for place in places:
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(net_folder, place)
            # only the newest is whole, so that taking another one fails
            if place != newest:
                (place / "net.safetensors").write_bytes(b"")
                os.utime(place / "meta.json", (1, 1))
        assert main(asked) == 0, newest
    monkeypatch.setenv("NARDY_NET", "elsewhere")
    assert main(asked) == 2
    assert "'elsewhere'" in capsys.readouterr().err
    assert main([*asked, "--net", str(net_folder)]) == 0


def test_an_id_is_not_read_by_the_net_of_another_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Although it is the newest here, and without a cube (D12)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NARDY_NET", raising=False)
    shutil.copytree(nets.shipped()["long"], tmp_path / "runs" / "new" / "net")
    for asked in (["cube", "--xgid", XGID.replace(":31:", ":00:")], ["move", "--position", XGID]):
        assert main([*asked, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["variant"] == "short"
    assert main(["cube", "--position", "24:15 24:15"]) == 2
    assert capsys.readouterr().err == "nardy: long is played without the cube\n"


@pytest.mark.parametrize("command", ["play", "move", "rollout", "show"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main([command, "--help"])
    assert leaving.value.code == 0
    assert f"example: nardy {command} " in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"nardy {__version__}\n"
