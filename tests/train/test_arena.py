"""The arena's command line: matches and round robins at toy size, bad input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from nets import net_player, random_net, save_net
from random_nets import SHORT

from train import arena
from train.match import play_match
from train.players import PipsPlayer, RandomPlayer

ROOT = Path(__file__).parents[2]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "train.arena", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_command_line_at_toy_size(tmp_path: Path) -> None:
    folder, file = save_net(tmp_path / "one", random_net(1)), tmp_path / "result.json"
    done = command(f"a={folder}", "b=random", "pairs=5", "seed=3", f"json={file}", "threads=2")
    assert done.returncode == 0 and done.stderr == ""
    written = json.loads(file.read_text())
    assert (
        list(written)
        == (
            "a b variant ply a_ply b_ply cube pairs ppg ci95 adjusted wins gammons backgammons "
            "draws games_per_s seed"
        ).split()
    )
    expected = play_match(net_player(1), RandomPlayer(4), SHORT, 5, seed=3)
    assert (written["a"], written["b"], written["variant"]) == (str(folder), "random", "short")
    assert (written["pairs"], written["seed"], written["draws"]) == (5, 3, 0)
    assert (written["ppg"], written["ci95"]) == (expected.ppg, expected.ci95)
    assert [written[k] for k in ("wins", "gammons", "backgammons")] == [
        expected.won(k) for k in (1, 2, 3)
    ]
    assert (written["ply"], written["adjusted"]) == (0, None)
    assert written["games_per_s"] > 0
    assert f"{expected.ppg:+.4f} ± {expected.ci95:.4f} points a game" in done.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one", "result.json"]


PLAYERS = ["a=random", "b=pips"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*PLAYERS, "pairz=3"], "'pairz'"),
        ([*PLAYERS, "pairs=many"], "'many'"),
        ([*PLAYERS, "pairs=1"], "pairs must be at least 2, not 1"),
        ([*PLAYERS, "variant=chess"], "chess"),
        ([*PLAYERS, "json=no/such/folder/x.json"], "'no/such/folder/x.json'"),
        (["a=random", "b=nobody"], "'nobody'"),
        (["a=random"], "b is missing"),
        ([*PLAYERS, "luck=true"], "luck=true needs a net"),
        ([*PLAYERS, "judge=nobody"], "'nobody'"),
        ([*PLAYERS, "judge=gnubg"], "judge='gnubg' is neither a net nor exact"),
        (["players=[random,pips]", "plot=x.txt"], "not 'x.txt'"),
        ([*PLAYERS, "plot=x.png"], "plot='x.png' is for a round robin"),
        ([*PLAYERS, "mat=no/such/folder/x.mat"], "mat='no/such/folder/x.mat'"),
        ([*PLAYERS, "until=-1"], "until must be above 0, not -1.0"),
        ([*PLAYERS, "players=[random,pips]"], "a='random' is for a match"),
        (["players=[random]"], "two players or more, not ['random']"),
        (["a=gnubg-nn", "b=pips", "ply=7"], "7"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert arena.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and sentence in err and len(err.splitlines()) == 1


def test_luck_depth_and_games_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net, file, games = save_net(tmp_path / "one", random_net(1)), tmp_path / "r", tmp_path / "g.mat"
    arguments = [f"a={net}", "b=pips", "pairs=2", "luck=true", f"json={file}", f"mat={games}"]
    assert arena.main([*arguments, "threads=1", "b_ply=1"]) == 0
    written = json.loads(file.read_text())
    assert (written["a_ply"], written["b_ply"], written["ply"]) == (0, 0, 0)  # pips has no depth
    assert list(written["adjusted"]) == ["ppg", "ci95", "judge"]
    assert written["adjusted"]["judge"] == str(net)
    printed = capsys.readouterr().out
    assert (
        f"{written['adjusted']['ppg']:+.4f} ± {written['adjusted']['ci95']:.4f} with the" in printed
    )
    needed = round(4 * (written["ci95"] / 0.01) ** 2)
    assert f"it takes {needed:,d} games as they fell" in printed
    text = games.read_text()
    assert text.startswith(" 0 point match") and text.count(" Game ") == 4
    assert text.count("Wins ") == 4


def test_round_robin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, picture = tmp_path / "r.json", tmp_path / "r.png"
    arguments = ["players=[random,pips,random]", "pairs=20", "seed=2", "threads=1"]
    assert arena.main([*arguments, f"json={file}", f"plot={picture}"]) == 0
    written = json.loads(file.read_text())
    assert [one["name"] for one in written["players"]] == ["random", "pips", "random"]
    assert [(one["a"], one["b"]) for one in written["matches"]] == [
        ("random", "pips"), ("random", "random"), ("pips", "random"),
    ]  # fmt: skip
    assert [one["seed"] for one in written["matches"]] == [2, 3, 4]
    expected = play_match(RandomPlayer(2), PipsPlayer(), SHORT, 20, seed=2)
    assert written["matches"][0]["ppg"] == expected.ppg
    assert max(written["players"], key=lambda one: one["elo"])["name"] == "pips"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "  1 pips" in capsys.readouterr().out


def test_a_round_robin_leaves_out_a_peer_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert arena.main(["players=[random,gnubg-nn,pips]", "pairs=2", "threads=1"]) == 0
    out, err = capsys.readouterr()
    assert err == "without gnubg-nn: gnubg-nn is not installed: pip install gnubg-nn\n"
    assert "  2 random" in out and "gnubg-nn" not in out
    assert arena.main(["players=[gnubg-nn,pips]"]) == 2


def test_bad_input_from_the_shell() -> None:
    done = command(*PLAYERS, "pairz=3")
    assert done.returncode == 2 and done.stdout == ""
    assert "'pairz'" in done.stderr and len(done.stderr.splitlines()) == 1


def test_help_names_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert arena.main(["--help"]) == 0
    text = capsys.readouterr().out
    for key in ("a=", "players=", "pairs=", "luck=", "until=", "mat=", "json=", "variant.name="):
        assert f"\n  {key}" in text
