"""Bear-off tables in use: the player, the command line, and the files they lie in."""

from pathlib import Path

import numpy as np
import pytest
from races import random_boards, slow_worth
from random_nets import make_net

from nardy.cli import main
from nardy.play import bearoff, bearoff_make
from nardy.play.bearoff import Bearoff
from nardy.play.player import Player
from nardy.play.search import Search
from nardy.rules import kernel
from nardy.rules.batch import afterstates
from nardy.rules.board import flip, make_board
from nardy.rules.dice import ROLLS
from nardy.rules.variants import variant

SHORT = variant("short")


# ---------------------------------------------------------------- in play


def test_the_player_bears_off_without_a_mistake(tables: Bearoff) -> None:
    """Whatever the net says: where the two-sided table reaches, no play is better than his."""
    search = Search(make_net(8), 0, tables=tables)
    boards = random_boards(3, 40, seed=8)
    for high, low in ROLLS[::3].tolist():
        dice = np.tile(np.array([high, low], np.uint8), (len(boards), 1))
        results = afterstates(boards, dice, SHORT)
        rows = search.best(boards, results)
        for i, row in enumerate(rows):
            ways = results.boards[results.offsets[i] : results.offsets[i + 1]]
            worth = [slow_worth(after) for after in ways]
            assert slow_worth(results.boards[row]) == pytest.approx(max(worth), abs=1e-6)


@pytest.mark.parametrize("ply", [0, 1])
def test_ranked_plays_have_the_tables_chances(ply: int) -> None:
    board = make_board({5: 1, 3: 2, 2: 1}, {4: 2, 1: 2})
    tables = Bearoff.load(SHORT)
    for play in Player(make_net(8), ply).best(board, np.array([2, 1], np.uint8)):
        exact = tables.outcomes(flip(play.board)[None])[0, ::-1]
        np.testing.assert_allclose(play.chances, exact, atol=1e-6)


def test_show_tells_the_race(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--position", "AQAAoAAAAAAAAA"]) == 0
    said = capsys.readouterr().out
    assert "wins 27.78%" in said and "(exact)" in said and "-0.4444 cubeless" in said
    assert main(["show", "--position", "4HPwATDgc/ABMA"]) == 0
    assert "wins" not in capsys.readouterr().out


# ---------------------------------------------------------------- files


def test_tables_are_made_once_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = tmp_path / "nardy" / "tables" / "two-sided-6x6.npy"
    if kernel.jit_enabled:
        assert Bearoff.load(SHORT).two_sided_checkers == 6
        before = made.stat().st_mtime_ns
        assert Bearoff.load(SHORT).two_sided_checkers == 6
        assert made.stat().st_mtime_ns == before
        assert [path.name for path in made.parent.iterdir()] == [made.name]
        assert capsys.readouterr().err.count("only this once") == 1
    made.parent.mkdir(parents=True, exist_ok=True)
    for content in (b"", b"\x93NUMPY\x01\x00nonsense", b"x" * 1000):
        made.write_bytes(content)
        with pytest.raises(ValueError, match="two-sided-6x6.npy"):
            Bearoff.load(SHORT)
    assert main(["show", "--position", "4HPwATDgc/ABMA"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_shipped_tables_do_where_none_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with monkeypatch.context() as patch:  # nothing is worked out that cannot be kept
        patch.setattr(bearoff, "make_two_sided", lambda *_: pytest.fail("made for nothing"))
        assert Bearoff.load(SHORT).two_sided_checkers == 3
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kernel, "jit_enabled", False)
    assert Bearoff.load(SHORT).two_sided_checkers == 3


def test_bad_requests_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ValueError, match="one-sided-8x15.npy.*nardy tables --points 8"):
        Bearoff.load(SHORT, points=8)
    for call in (
        lambda: bearoff_make.make_one_sided(9, 15, print),
        lambda: bearoff_make.make_one_sided(6, 16, print),
        lambda: bearoff_make.make_two_sided(7, print),
    ):
        with pytest.raises(ValueError, match="not (9|16|7)$"):
            call()


def test_the_command_makes_the_table_that_is_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not kernel.jit_enabled:
        pytest.skip("too slow without numba")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["tables"]) == 0
    said = capsys.readouterr().out.splitlines()
    made = tmp_path / "nardy" / "tables" / "one-sided-6x15.npy"
    assert len(said) == 2 and said[0].startswith(str(made))
    assert made.read_bytes() == (bearoff.SHIPPED / made.name).read_bytes()


def test_a_larger_table_is_used_once_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not kernel.jit_enabled:
        pytest.skip("too slow without numba")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    board = make_board({7: 1}, {1: 1})[None]
    assert Bearoff.load(SHORT).points == 6 and not Bearoff.load(SHORT).covers(board)[0]
    assert main(["tables", "--points", "7"]) == 0
    assert Bearoff.load(SHORT).points == 7 and Bearoff.load(SHORT).covers(board)[0]
