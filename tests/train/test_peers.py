"""gnubg-nn as a player: its boards, its choices, its refusals."""

import importlib.util

import numpy as np
import pytest

from nardy.rules.batch import afterstates
from nardy.rules.board import make_board, start_board
from nardy.rules.variants import variant
from train.arena import play_match
from train.peers.gnubg_nn import from_sides, rows_of, sides
from train.players import RandomPlayer, player

SHORT = variant("short")
NO_GAMES = np.zeros(1, np.int64)


def gnubg():
    pytest.importorskip("gnubg_nn")
    return player("gnubg-nn", SHORT)


def test_sides_of_a_board_and_back() -> None:
    board = make_board({25: 2, 13: 5, 6: 3}, {25: 1, 24: 2, 20: 4, 1: 1})
    opponent, mover = sides(board.tolist())
    assert len(opponent) == len(mover) == 25
    assert {p + 1: n for p, n in enumerate(mover) if n} == {25: 2, 13: 5, 6: 3}
    assert {p + 1: n for p, n in enumerate(opponent) if n} == {25: 1, 24: 2, 20: 4, 1: 1}
    assert from_sides(opponent, mover) == board.tolist()


@pytest.mark.parametrize(
    ("dice", "after"),
    [
        ((3, 1), {24: 2, 13: 5, 8: 2, 6: 4, 5: 2}),
        ((4, 2), {24: 2, 13: 5, 8: 2, 6: 4, 4: 2}),
        ((6, 1), {24: 2, 13: 4, 8: 2, 7: 2, 6: 5}),
        ((5, 3), {24: 2, 13: 5, 8: 2, 6: 4, 3: 2}),
        ((6, 5), {24: 1, 13: 6, 8: 3, 6: 5}),
    ],
)
def test_known_opening_plays(dice: tuple[int, int], after: dict[int, int]) -> None:
    """The undisputed ones: 3-1, 4-2, 6-1 and 5-3 make a point, 6-5 runs."""
    board, roll = start_board(SHORT)[None], np.array([dice], np.uint8)
    results = afterstates(board, roll, SHORT)
    row = gnubg().choose(board, roll, results, NO_GAMES, NO_GAMES)[0]
    assert results.boards[row].tolist() == make_board(after, {24: 2, 13: 5, 8: 3, 6: 5}).tolist()


def test_pass_is_the_board_itself() -> None:
    board = make_board({25: 1, 6: 14}, {p: 2 for p in range(1, 7)} | {13: 3})[None]  # K9
    roll = np.array([[6, 6]], np.uint8)
    results = afterstates(board, roll, SHORT)
    assert gnubg().choose(board, roll, results, NO_GAMES, NO_GAMES).tolist() == [0]


def test_against_itself_is_exactly_zero_and_silent(capfd: pytest.CaptureFixture[str]) -> None:
    peer = gnubg()
    result = play_match(peer, peer, SHORT, 10, threads=2)
    assert result.ppg == 0 and result.ci95 == 0 and (result.points != 0).all()
    assert capfd.readouterr() == ("", "")


def test_beats_random() -> None:
    """Some +2.7 in long matches."""
    assert play_match(gnubg(), RandomPlayer(1), SHORT, 60).ppg > 2.4


def test_illegal_move_is_named() -> None:
    boards = np.tile(start_board(SHORT), (2, 1))
    dice = np.array([[3, 1], [6, 5]], np.uint8)
    results = afterstates(boards, dice, SHORT)
    moved = results.boards[results.offsets[:-1]].copy()
    assert rows_of(moved, boards, dice, results).tolist() == results.offsets[:-1].tolist()
    moved[1] = boards[1]
    with pytest.raises(ValueError, match=r"not legal from \[0, -2, .* with \[6, 5\], to \["):
        rows_of(moved, boards, dice, results)


def test_other_games_are_refused() -> None:
    with pytest.raises(ValueError, match="15 checkers, not hyper with 3"):
        player("gnubg-nn", variant("hyper"))


def test_missing_peer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="gnubg-nn is not installed: pip install gnubg-nn"):
        player("gnubg-nn", SHORT)
