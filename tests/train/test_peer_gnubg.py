"""GNU Backgammon, the program, as a peer: its boards, choices and cube; skipped without it."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import make_board, start_board
from nardy.rules.variants import variant
from train.benchmark_files import FOLDER, read_cubes, read_decisions
from train.benchmark_players import subject
from train.benchmark_scores import cube_actions, score_cubes, score_decisions
from train.peers import gnubg
from train.peers.gnubg import GnubgProgram, fastpoll
from train.players import RandomPlayer

SHORT = variant("short")
NO_GAMES = np.zeros(1, np.int64)


def installed() -> bool:
    try:
        return bool(gnubg.program())
    except ValueError:
        return False


needs_gnubg = pytest.mark.skipif(not installed(), reason="gnubg is not installed")


@pytest.mark.parametrize("ply", [0, 1])
@pytest.mark.parametrize(
    ("dice", "after"),
    [
        ((3, 1), {24: 2, 13: 5, 8: 2, 6: 4, 5: 2}),
        ((6, 5), {24: 1, 13: 6, 8: 3, 6: 5}),
    ],
)
@needs_gnubg
def test_known_opening_plays(ply: int, dice: tuple[int, int], after: dict[int, int]) -> None:
    board, roll = start_board(SHORT)[None], np.array([dice], np.uint8)
    results = afterstates(board, roll, SHORT)
    row = GnubgProgram(SHORT, ply).choose(board, roll, results, NO_GAMES, NO_GAMES)[0]
    assert results.boards[row].tolist() == make_board(after, {24: 2, 13: 5, 8: 3, 6: 5}).tolist()


@needs_gnubg
def test_pass_is_the_board_itself() -> None:
    board = make_board({25: 1, 6: 14}, {p: 2 for p in range(1, 7)} | {13: 3})[None]  # K9
    roll = np.array([[6, 6]], np.uint8)
    results = afterstates(board, roll, SHORT)
    assert GnubgProgram(SHORT).choose(board, roll, results, NO_GAMES, NO_GAMES).tolist() == [0]


@needs_gnubg
def test_chances_are_of_the_player_on_roll() -> None:
    ahead = make_board({1: 2}, {6: 2})  # certain to win, and the other side has borne off
    gammon = make_board({1: 2}, {23: 15})
    chances = GnubgProgram(SHORT).probabilities(np.array([ahead, gammon]))
    assert chances[0].tolist() == [1, 0, 0, 0, 0]
    assert chances[1].tolist() == pytest.approx([1, 1, 1, 0, 0])


@needs_gnubg
def test_baselines_of_moves_and_cube() -> None:
    """The figures of benchmarks/README.md for gnubg without search."""
    judged = subject("gnubg")
    decisions = read_decisions(FOLDER / "decisions_short.npz")
    scores = score_decisions(decisions, judged.play(decisions))
    assert round(scores["gnubg2"]["loss"], 1) == 3.0
    assert round(scores["sage3"]["loss"], 1) == 4.1
    assert judged.cube_values is not None
    for file, doubling, taking in (("cube_money", 2.0, 5.8), ("cube_match", 3.8, 6.4)):
        cubes = read_cubes(FOLDER / f"{file}.npz")
        score = score_cubes(cubes, *cube_actions(judged.cube_values(cubes)))["sage3"]
        assert round(score["doubling"]["loss"], 1) == doubling
        assert round(score["taking"]["loss"], 1) == taking
    judged.close()


@needs_gnubg
def test_cube_values_are_those_of_the_file() -> None:
    """The same engine wrote nd_gnubg0, in a match as chances of winning it."""
    for name in ("cube_money", "cube_match"):
        cubes = read_cubes(FOLDER / f"{name}.npz")
        values = GnubgProgram(SHORT).cube_values(
            cubes.boards, cubes.owned, cubes.cube, cubes.away, cubes.crawford
        )
        with np.load(FOLDER / f"{name}.npz") as file:
            live = ~cubes.crawford
            known = np.column_stack([file["nd_gnubg0"], file["dt_gnubg0"]])[live]
            if cubes.match:
                lose, win = file["mwc_lose"][live, None], file["mwc_win"][live, None]
                known = 2 * (known - lose) / (win - lose) - 1
        assert values[live, :2] == pytest.approx(known, abs=1e-3)


@needs_gnubg
def test_depth_and_pruning_change_chances() -> None:
    boards = read_cubes(FOLDER / "cube_money.npz").boards[:4]
    static, one = (GnubgProgram(SHORT, ply).probabilities(boards) for ply in (0, 1))
    assert (np.abs(static - one).max(1) > 1e-4).all()
    searched = GnubgProgram(SHORT, 2)
    assert (searched.probabilities(boards) != searched.probabilities(boards, prune=False)).any()


@needs_gnubg
def test_a_process_that_has_leaked_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    boards = read_cubes(FOLDER / "cube_money.npz").boards[:300]
    once = GnubgProgram(SHORT).probabilities(boards)
    monkeypatch.setattr(gnubg, "_MOST_LEAKED_KB", 0.0)
    peer = GnubgProgram(SHORT)
    assert (peer.probabilities(boards) == once).all()
    assert peer._process is None  # ended after each question


@needs_gnubg
def test_threads_have_processes_of_their_own() -> None:
    peer = GnubgProgram(SHORT, 1)
    twin = peer.for_thread()
    assert twin is not peer and (twin.ply, twin.name) == (1, "gnubg-1ply")
    board = start_board(SHORT)[None]
    assert (peer.probabilities(board) == twin.probabilities(board)).all()
    assert peer._process is not twin._process
    peer.close()
    assert (peer.probabilities(board) == twin.probabilities(board)).all()  # starts another


@needs_gnubg
def test_plays_a_match_against_random() -> None:
    from train.arena import play_match

    assert play_match(GnubgProgram(SHORT), RandomPlayer(1), SHORT, 20).ppg > 2


def test_an_illegal_move_names_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gnubg, "program", lambda: "gnubg")
    peer = GnubgProgram(SHORT)
    monkeypatch.setattr(peer, "_ask", lambda kind, records, size: records[:, :26])
    board, roll = start_board(SHORT)[None], np.array([[3, 1]], np.uint8)
    results: Afterstates = afterstates(board, roll, SHORT)
    with pytest.raises(ValueError, match="gnubg made a move that is not legal from"):
        peer.choose(board, roll, results, NO_GAMES, NO_GAMES)


def test_a_program_that_ends_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gnubg, "program", lambda: shutil.which("true"))
    peer = GnubgProgram(SHORT)
    with pytest.raises(OSError, match="gnubg ended without an answer"):
        peer.probabilities(start_board(SHORT)[None])
    peer.close()


def test_missing_program_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    with pytest.raises(ValueError, match="gnubg is not installed: apt-get install gnubg"):
        GnubgProgram(SHORT)


def test_other_games_and_depths_are_refused() -> None:
    with pytest.raises(ValueError, match="15 checkers, not hyper with 3"):
        GnubgProgram(variant("hyper"))
    with pytest.raises(ValueError, match="ply must be 0, 1 or 2, not 3"):
        GnubgProgram(SHORT, 3)


def test_fastpoll_is_built_once_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert fastpoll() is None and not list(tmp_path.iterdir())
    monkeypatch.setattr(shutil, "which", which)
    if which("gcc") is None and which("cc") is None:
        pytest.skip("no C compiler")
    library = fastpoll()
    assert library is not None and library.parent == tmp_path / "nardy"
    assert [path.name for path in library.parent.iterdir()] == [library.name]

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert fastpoll() == library
