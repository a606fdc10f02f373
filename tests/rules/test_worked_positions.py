"""The worked positions 2 to 11 of the rules as a player would write them, and K9's table.

(Position 1 is in test_legal_plays.py, position 12 in test_board.py.)
"""

from itertools import combinations

import numpy as np
import pytest

from nardy.rules.batch import afterstates
from nardy.rules.board import make_board
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.variants import variant

SHORT = variant("short")
START = {24: 2, 13: 5, 8: 3, 6: 5}
PASS = ""

# what it shows: mover, enemy, each in his own numbering; roll; every result, as one play of it
WORKED = {
    "2 one of two enters, the rest is lost (K9)": (
        {25: 2, 13: 5, 8: 3, 6: 5},
        START,
        "64",
        ["bar/21"],
    ),
    "3 after entering, the other die is free (K9)": (
        {25: 1, 6: 7, 5: 7},
        {24: 3, 13: 6, 8: 4, 3: 2},
        "31",
        ["bar/24 24/21", "bar/24 5/2", "bar/24 6/3"],
    ),
    "4 shut out (K9)": (
        {25: 1, 6: 14},
        {6: 3, 5: 2, 4: 3, 3: 2, 2: 3, 1: 2},
        "64",
        [PASS],
    ),
    "4 shut out, on a double too (K9)": (
        {25: 1, 6: 14},
        {6: 3, 5: 2, 4: 3, 3: 2, 2: 3, 1: 2},
        "66",
        [PASS],
    ),
    "5 either die but not both: the larger (K7)": (
        {20: 1, 1: 14},
        {16: 2, 13: 5, 8: 3, 6: 5},
        "65",
        ["20/14"],
    ),
    "6 both dice, in one order only (K7)": (
        {20: 1, 1: 14},
        {13: 5, 11: 2, 8: 3, 6: 5},
        "65",
        ["20/15/9"],
    ),
    "7 two of four fours (K6, K7)": (
        {13: 2, 1: 13},
        {20: 2, 13: 5, 8: 3, 6: 5},
        "44",
        ["13/9(2)"],
    ),
    "8 enters with the one, goes on with the six (K9)": (
        {25: 1, 6: 8, 5: 6},
        {13: 2, 8: 3, 6: 2, 5: 2, 4: 2, 3: 2, 2: 2},
        "61",
        ["bar/24/18"],
    ),
    "9 no bear-off from the bar (K9, K10)": (
        {25: 1, 4: 2, 3: 1},
        {13: 3, 6: 2, 5: 2, 3: 2},
        "65",
        [PASS],
    ),
    "9 nor with a checker outside (K10)": (
        {25: 1, 4: 2, 3: 1},
        {13: 3, 6: 2, 5: 2, 3: 2},
        "41",
        ["bar/21 3/2", "bar/21 4/3"],
    ),
    "10 bearing off is not compulsory (K10, K12)": (
        {8: 1, 6: 3, 5: 3, 4: 3, 2: 5},
        {13: 15},
        "62",
        ["8/6 6/off", "8/2 6/4", "8/2 5/3", "8/2 4/2"],
    ),
    "11 8N4ZAAbg/xMAIA (K7)": (
        {24: 1, 8: 1, 6: 13},
        {21: 2, 9: 2, 7: 3, 6: 4, 5: 4},
        "62",
        ["24/22 8/2"],
    ),
    "11 AQAAA4AAAAAAAA (K7)": ({12: 1}, {24: 2, 1: 1}, "65", ["12/6"]),
    "11 AQAAoAAAAAAAAA (K11)": ({5: 1, 4: 1}, {1: 1}, "64", ["5/off 4/off", "5/1 4/off"]),
    "11 AQAAiAAAAAAAAA (K11)": ({5: 1, 2: 1}, {1: 1}, "42", ["5/1 2/off", "5/3 3/off"]),
}


def played(board: np.ndarray, play: str) -> bytes:
    """The board, as bytes, after a play like "bar/24/18 13/9(2)", hitting where it lands (K8)."""
    board = board.copy()
    for word in play.split():
        path, _, times = word.rstrip(")").partition("(")
        numbers = path.replace("bar", "25").replace("off", "0")
        points = [int(number) for number in numbers.split("/")]
        for _ in range(int(times or 1)):
            for source, target in zip(points[:-1], points[1:], strict=True):
                _move(board, source, target)
    return board.tobytes()


def _move(board: np.ndarray, source: int, target: int) -> None:
    assert board[source] > 0, f"nobody stands on {source}"
    board[source] -= 1
    if target:
        hit = board[target] == -1
        board[target] += 2 if hit else 1
        board[0] -= hit


def results(board: np.ndarray, roll: str) -> list[bytes]:
    dice = np.array([[int(roll[0]), int(roll[1])]], np.uint8)
    return sorted(row.tobytes() for row in afterstates(board[None], dice, SHORT).boards)


@pytest.mark.parametrize(("mover", "enemy", "roll", "plays"), WORKED.values(), ids=WORKED.keys())
def test_worked_position(mover, enemy, roll, plays, kernels):
    board = make_board(mover, enemy)
    assert results(board, roll) == sorted(played(board, play) for play in plays)


def test_a_hit_checker_goes_to_the_bar():
    board = make_board({24: 1}, {5: 1, 24: 1})  # the enemy's 5 is the mover's 20
    assert results(board, "43") == sorted(
        [
            make_board({17: 1}, {25: 1, 24: 1}).tobytes(),  # 24/20*/17
            make_board({17: 1}, {5: 1, 24: 1}).tobytes(),  # 24/21/17
        ]
    )


@pytest.mark.parametrize(
    ("closed", "rolls"), list(enumerate((36, 35, 32, 27, 20, 11, 0))), ids=lambda value: str(value)
)
def test_rolls_that_let_a_checker_in(closed, rolls):
    for points in combinations(range(1, 7), closed):
        board = make_board({25: 1}, {**dict.fromkeys(points, 2), 12: 1})
        found, offsets = afterstates(np.tile(board, (21, 1)), ROLLS, SHORT)
        entered = ~(found[offsets[:-1]] == board).all(-1)
        assert round(36 * ROLL_CHANCES[entered].sum()) == rolls, points
