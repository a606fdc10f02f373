"""Boards: turning, counting, what a finished game pays, and what is refused."""

import numpy as np
import pytest
import referee
from hypothesis import given
from strategies import placements, positions

from nardy.rules.board import (
    check_board,
    check_dice,
    flip,
    make_board,
    pip_counts,
    points_won,
    start_board,
)
from nardy.rules.variants import variant

SHORT = variant("short")
HYPER = variant("hyper")


def test_make_board_numbers_each_side_from_its_own_home():
    board = make_board({25: 1, 6: 2}, {25: 3, 1: 4})
    expected = np.zeros(26, np.int8)
    expected[[25, 6, 0, 24]] = 1, 2, -3, -4
    assert board.dtype == np.int8
    np.testing.assert_array_equal(board, expected)


def test_flip_exchanges_the_sides():
    mover, enemy = {25: 1, 6: 2, 13: 4}, {25: 3, 1: 4}
    np.testing.assert_array_equal(flip(make_board(mover, enemy)), make_board(enemy, mover))


@given(positions())
def test_flip_twice_is_the_board(board):
    before = board.copy()
    turned = flip(board)
    np.testing.assert_array_equal(flip(turned), board)
    np.testing.assert_array_equal(board, before)
    assert turned.dtype == np.int8 and turned.flags.c_contiguous


def test_flip_of_a_batch_turns_each_board():
    boards = np.stack([start_board(HYPER), make_board({6: 2}, {25: 1})])
    np.testing.assert_array_equal(flip(boards), [flip(boards[0]), flip(boards[1])])


def test_pip_counts():
    boards = np.stack([start_board(SHORT), make_board({25: 2, 3: 1}, {25: 1, 24: 2, 1: 5})])
    mover, opponent = pip_counts(boards)
    assert mover.tolist() == [167, 53]
    assert opponent.tolist() == [167, 78]


@given(positions())
def test_pip_counts_by_hand(board):
    mover = sum(point * board[point].item() for point in range(26) if board[point] > 0)
    opponent = sum((25 - point) * -board[point].item() for point in range(26) if board[point] < 0)
    assert pip_counts(board) == (mover, opponent)


# ---- worked position 12 and its like: the mover has borne off all; the loser's own numbering,
# in which 19..24 are the winner's home

PAID = {
    "none off, one on the winner's 3": ({22: 1, 6: 14}, 3),
    "none off, one on the winner's 6": ({19: 1, 6: 14}, 3),
    "none off, one on the winner's 1": ({24: 1, 6: 14}, 3),
    "none off, rearmost on the winner's 7": ({18: 1, 6: 14}, 2),
    "none off, all home": ({6: 15}, 2),
    "none off, one on the bar": ({25: 1, 6: 14}, 3),
    "one off, one on the bar": ({25: 1, 6: 13}, 1),
    "one off, one on the winner's 3": ({22: 1, 6: 13}, 1),
    "one left": ({1: 1}, 1),
}
PAID_HYPER = {
    "none off, one on the winner's 3": ({22: 1, 6: 2}, 3),
    "none off, rearmost on the winner's 7": ({18: 1, 6: 2}, 2),
    "none off, one on the bar": ({25: 1, 6: 2}, 3),
    "one off, two on the bar": ({25: 2}, 1),
    "two off": ({22: 1}, 1),
}


@pytest.mark.parametrize(("loser", "points"), PAID.values(), ids=PAID.keys())
def test_points_won(loser, points):
    board = make_board({}, loser)
    assert points_won(board, SHORT) == points
    assert referee.points_won(board, 15) == points


@pytest.mark.parametrize(("loser", "points"), PAID_HYPER.values(), ids=PAID_HYPER.keys())
def test_points_won_with_three_checkers(loser, points):
    board = make_board({}, loser)
    assert points_won(board, HYPER) == points
    assert referee.points_won(board, 3) == points


@given(placements())
def test_points_won_agree_with_the_referee(board):
    over = np.minimum(board, 0)
    boards = np.stack([board, over])
    expected = [0, referee.points_won(over, 15)]
    assert points_won(boards, SHORT).tolist() == expected
    assert points_won(boards, SHORT).dtype == np.int8


# ---- what is refused, each in one sentence


def with_cells(**cells: int) -> list[int]:
    """The start as a list, with cells like c25=1 put in."""
    board = start_board(SHORT).tolist()
    for name, count in cells.items():
        board[int(name[1:])] = count
    return board


BAD_BOARDS = {
    "mover has too many": (
        with_cells(c5=1),
        "^the mover has 16 checkers on the board; short is played with 15$",
    ),
    "opponent has too many": (
        with_cells(c0=-2),
        "^the opponent has 17 checkers on the board; short is played with 15$",
    ),
    "far too many": (
        with_cells(c5=300),
        "^the mover has 315 checkers on the board; short is played with 15$",
    ),
    "nobody of the mover": (
        make_board({}, {6: 3}),
        "^the mover has no checker left: the game is over$",
    ),
    "nobody of the opponent": (
        make_board({6: 3}, {}),
        "^the opponent has no checker left: the game is over$",
    ),
    "nobody at all": ([0] * 26, "^the mover has no checker left: the game is over$"),
    "mover on the opponent's bar": (
        with_cells(c0=1, c6=4),
        r"^cell 0 is the opponent's bar \(0 or negative\) and cell 25 the mover's "
        r"\(0 or positive\), not 1 and 0$",
    ),
    "opponent on the mover's bar": (
        with_cells(c25=-2, c19=-3),
        r"^cell 0 is the opponent's bar .* not 0 and -2$",
    ),
    "too few cells": ([1, -1], r"^a board is 26 whole numbers, not \[1, -1\]$"),
    "fractions": ([0.5] * 26, r"^a board is 26 whole numbers, not \[0\.5, "),
    "words": ("start", "^a board is 26 whole numbers, not 'start'$"),
    "nothing": (None, "^a board is 26 whole numbers, not None$"),
}


@pytest.mark.parametrize(("board", "message"), BAD_BOARDS.values(), ids=BAD_BOARDS.keys())
def test_bad_boards(board, message):
    with pytest.raises(ValueError, match=message):
        check_board(board, SHORT)


def test_too_many_is_a_question_of_the_variant():
    board = make_board({6: 4}, {6: 1})
    check_board(board, SHORT)
    with pytest.raises(
        ValueError, match="^the mover has 4 checkers on the board; hyper is played with 3$"
    ):
        check_board(board, HYPER)


@given(positions())
def test_good_boards_are_returned(board):
    checked = check_board(board.tolist(), SHORT)
    assert checked.dtype == np.int8
    np.testing.assert_array_equal(checked, board)


@pytest.mark.parametrize(
    ("mover", "enemy", "message"),
    [
        ({6: 2}, {19: 1}, "^both sides stand on the mover's point 6$"),
        ({26: 1}, {}, "^the mover cannot have 1 checkers on point 26$"),
        ({}, {0: 2}, "^the enemy cannot have 2 checkers on point 0$"),
        ({6: -1}, {}, "^the mover cannot have -1 checkers on point 6$"),
        ({}, {6: 16}, "^the enemy cannot have 16 checkers on point 6$"),
    ],
)
def test_boards_that_cannot_be_made(mover, enemy, message):
    with pytest.raises(ValueError, match=message):
        make_board(mover, enemy)


@pytest.mark.parametrize(
    ("dice", "shown"),
    [
        ((0, 3), r"\(0, 3\)"),
        ((3, 7), r"\(3, 7\)"),
        ((-1, 2), r"\(-1, 2\)"),
        ((259, 1), r"\(259, 1\)"),
        ((1, 2, 3), r"\(1, 2, 3\)"),
        ((4,), r"\(4,\)"),
        ((1.0, 2.0), r"\(1\.0, 2\.0\)"),
        ("31", "'31'"),
        (None, "None"),
    ],
)
def test_bad_dice(dice, shown):
    with pytest.raises(ValueError, match=f"^two dice of 1 to 6 are needed, not {shown}$"):
        check_dice(dice)


def test_good_dice_are_returned():
    for first in range(1, 7):
        for second in range(1, 7):
            dice = check_dice([first, second])
            assert dice.dtype == np.uint8
            assert dice.tolist() == [first, second]
