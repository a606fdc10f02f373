"""The worked positions 15 to 30 of the rules as a player would write them."""

import numpy as np
import pytest

from nardy.rules.batch import afterstates
from nardy.rules.board import make_board, start_board, turn
from nardy.rules.dice import ROLLS
from nardy.rules.variants import OPTIONS, variant

LONG = variant("long")
HEAD = {24: 15}
PASS = ""
ROW_BESIDE_18 = {18: 2, 8: 1, 6: 1, 5: 1, 4: 1, 3: 1, 1: 8}

# what it shows: mover, enemy, each in his own numbering; roll; every result, as one play of it
WORKED = {
    "15 one from the head (D4)": (HEAD, HEAD, "31", ["24/20"]),
    "16 two from the head, 6-6 (D5)": (HEAD, HEAD, "66", ["24/18(2)"]),
    "16 two from the head, 4-4 (D5)": (HEAD, HEAD, "44", ["24/16(2)"]),
    "16 two from the head, 3-3 (D5)": (HEAD, HEAD, "33", ["24/18(2)", "24/15 24/21"]),
    "16 one from the head, 5-5": (HEAD, HEAD, "55", ["24/4"]),
    "16 one from the head, 2-2": (HEAD, HEAD, "22", ["24/16"]),
    "16 one from the head, 1-1": (HEAD, HEAD, "11", ["24/20"]),
    "17 no exception for 5-5 (D5)": (HEAD, {24: 14, 21: 1}, "55", ["24/14"]),
    "18 the exception for the second player (D5)": (HEAD, {24: 14, 4: 1}, "44", ["24/20(2)"]),
    "18 the larger die (D7)": (HEAD, {24: 14, 4: 1}, "62", ["24/18"]),
    "19 a later turn (D4)": ({24: 13, 18: 2}, {24: 14, 20: 1}, "66", ["24/18"]),
    "20 either die but not both (D7)": (
        {24: 14, 10: 1},
        {24: 12, 14: 1, 9: 1, 7: 1},
        "53",
        ["10/5"],
    ),
    "20 both dice, in one order only (D7)": (
        {24: 14, 10: 1},
        {24: 12, 19: 1, 9: 1, 7: 1},
        "53",
        ["10/5/2"],
    ),
    "21 nothing to play (D2)": ({24: 14, 16: 1}, {24: 11, 22: 1, 11: 1, 6: 1, 3: 1}, "61", [PASS]),
    "22 not six with every enemy behind (D8)": (
        {23: 1, 6: 1, 5: 2, 4: 1, 2: 1, 1: 9},
        HEAD,
        "62",
        ["23/15", "23/17 4/2", "23/17 6/4"],
    ),
    "23 nobody ahead of the six (D8)": (
        ROW_BESIDE_18,
        HEAD,
        "64",
        ["18/14/8", "8/2 5/1", "8/2 6/2"],
    ),
    "23 one has left the head, behind the six (D8)": (
        ROW_BESIDE_18,
        {24: 14, 21: 1},
        "64",
        ["18/14/8", "8/2 5/1", "8/2 6/2"],
    ),
    "23 one is ahead of the six (D8)": (
        ROW_BESIDE_18,
        {24: 14, 11: 1},
        "64",
        ["18/14/8", "8/2 5/1", "8/2 6/2", "18/14 8/2"],
    ),
    "24 not on to the 6, where it makes six; the larger die (D7, D8)": (
        {17: 1, 5: 1, 4: 1, 3: 1, 2: 1, 1: 10},
        HEAD,
        "65",
        ["17/11"],
    ),
    "25 the larger die where both make six (D7, D8)": (
        {17: 1, 15: 1, 5: 1, 4: 1, 3: 1, 2: 1, 1: 9},
        {22: 12, 21: 3},
        "65",
        ["17/11"],
    ),
    "26 six or nothing (D8)": (
        {16: 1, 8: 1, 6: 2, 5: 1, 4: 1, 3: 1, 1: 8},
        {23: 9, 22: 4, 21: 2},
        "66",
        [PASS],
    ),
    "27 six on the way (D9)": (
        {12: 1, 5: 2, 4: 1, 3: 1, 2: 1, 1: 9},
        {23: 1, 22: 14},
        "64",
        ["12/2"],
    ),
    "29 a six bears off from the 6 (D10)": ({6: 15}, HEAD, "65", ["6/off 6/1"]),
    "29 from the highest point (D10)": (
        {5: 1, 3: 2},
        HEAD,
        "64",
        ["5/off 3/off", "5/1 3/off"],
    ),
    "29 all four fours (D10)": ({6: 1, 3: 1}, HEAD, "44", ["6/2 3/off 2/off"]),
    "29 a die is left (D10)": ({4: 2, 2: 1}, {1: 5}, "55", ["4/off(2) 2/off"]),
    "30 results of one die beside those of two": ({8: 1, 6: 14}, HEAD, "62", ["8/2 6/4", "8/off"]),
}


def played(board: np.ndarray, play: str) -> bytes:
    """The board, as bytes, after a play like "24/18(2) 6/off"."""
    board = board.copy()
    for word in play.split():
        path, _, times = word.rstrip(")").partition("(")
        points = [int(number) for number in path.replace("off", "0").split("/")]
        for source, target in zip(points[:-1], points[1:], strict=True):
            assert board[source] >= int(times or 1), f"not so many stand on {source}"
            board[source] -= int(times or 1)
            board[target] += int(times or 1) if target else 0
    return board.tobytes()


def results(board: np.ndarray, roll: str, **options: str) -> list[bytes]:
    """Sorted results of "31" under options."""
    dice = np.array([[int(roll[0]), int(roll[1])]], np.uint8)
    found = afterstates(board[None], dice, variant("long", **options)).boards
    return sorted(row.tobytes() for row in found)


def plays(board: np.ndarray, *written: str) -> list[bytes]:
    return sorted(played(board, play) for play in written)


@pytest.mark.parametrize(("mover", "enemy", "roll", "expected"), WORKED.values(), ids=WORKED.keys())
def test_worked_position(mover, enemy, roll, expected, kernels):
    board = make_board(mover, enemy, "blocking")
    assert results(board, roll) == plays(board, *expected)


def test_15_any_first_roll_that_is_no_double_has_one_result(kernels):
    unequal = ROLLS[ROLLS[:, 0] != ROLLS[:, 1]]
    _, offsets = afterstates(np.tile(start_board(LONG), (15, 1)), unequal, LONG)
    assert np.diff(offsets).tolist() == [1] * 15


def test_17_with_any_roll_excepted(kernels):
    board = make_board(HEAD, {24: 14, 21: 1}, "blocking")
    assert results(board, "55", head_exception_rolls="any_if_stuck") == plays(board, "24/14(2)")


def test_27_at_the_end_of_the_turn(kernels):
    mover, enemy, roll, _ = WORKED["27 six on the way (D9)"]
    board = make_board(mover, enemy, "blocking")
    found = results(board, roll, prime_check="end_of_turn")
    assert found == plays(board, "12/2", "12/6 4/off")


def test_28_a_ring_across_the_enemys_seam(kernels):
    mover = {24: 9, 18: 1, 15: 1, 14: 1, 13: 1, 11: 1, 10: 1}
    board = make_board(mover, {21: 5, 20: 10}, "blocking")
    found = results(board, "61")
    # Every six with every one beside it, but for 24/18 24/23 (D4) and results that come twice:
    # 11/5/4 is 11/10 10/4, and 13/7 13/12 has one checker too few. 15/9, 14/8 and 10/9 are closed.
    sixes = {
        "24/18": ("18/17", "15/14", "14/13", "13/12", "11/10"),
        "18/12": ("24/23", "15/14", "14/13", "13/12", "12/11", "11/10"),
        "13/7": ("24/23", "18/17", "15/14", "14/13", "11/10", "7/6"),
        "11/5": ("24/23", "18/17", "15/14", "14/13", "13/12"),
        "10/4": ("24/23", "18/17", "15/14", "14/13", "13/12", "11/10", "4/3"),
    }
    assert len(found) == 5 + 6 + 6 + 5 + 7 == 29  # so says positions.json too; not 28
    assert found == plays(board, *(f"{six} {one}" for six, ones in sixes.items() for one in ones))
    assert played(board, "18/12 24/23") in found


# ---- what `afterstates` takes for granted where it is not told whose first turn it is


def test_no_first_turn_is_a_pass():
    """So that a full head always means a first turn, whatever the options."""
    start, checked = start_board(LONG), 0
    for players in OPTIONS["head_exception_players"]:
        for rolls in OPTIONS["head_exception_rolls"]:
            game = variant("long", head_exception_players=players, head_exception_rolls=rolls)
            firsts = afterstates(np.tile(start, (21, 1)), ROLLS, game).boards
            assert (firsts[:, 24] < 15).all()
            seconds = np.repeat(turn(firsts, "blocking"), 21, 0)
            replies = afterstates(seconds, np.tile(ROLLS, (len(firsts), 1)), game).boards
            assert (replies[:, 24] < 15).all()
            checked += len(seconds)
    assert checked > 12 * 21 * 21
