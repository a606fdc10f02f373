"""Boards of long nardy: turning, counting, how a game ends and what is refused; whole games."""

import long_referee
import numpy as np
import pytest
from hypothesis import given
from long_strategies import LONG, long_placements, other

from nardy.rules.batch import afterstates
from nardy.rules.board import (
    check_board,
    checkers_only,
    ending,
    flip,
    make_board,
    pip_counts,
    points_won,
    start_board,
    turn,
)
from nardy.rules.dice import ROLLS, roll
from nardy.rules.variants import Variant, variant

LAST_ROLL = variant("long", last_roll="second_player")
SHORT = variant("short")


# ---- the opponent's numbering


def test_make_board_numbers_each_side_from_its_own_home():
    board = make_board({24: 1, 6: 2}, {24: 3, 1: 5}, "blocking")
    expected = np.zeros(26, np.int8)
    expected[[24, 6, 12, 13]] = 1, 2, -3, -5
    assert board.dtype == np.int8
    np.testing.assert_array_equal(board, expected)
    with pytest.raises(ValueError, match="^both sides stand on the mover's point 24$"):
        make_board({24: 1}, {12: 4}, "blocking")


@pytest.mark.parametrize("side", [0, 1])
def test_there_is_no_bar(side):
    points = [{6: 1}, {6: 1}]
    points[side] = {25: 1}
    with pytest.raises(ValueError, match="cannot have 1 checkers on point 25$"):
        make_board(points[0], points[1], "blocking")


def test_turn_exchanges_the_sides():
    mover, enemy = {24: 10, 13: 2, 6: 3}, {24: 9, 11: 4, 3: 2}
    board, turned = make_board(mover, enemy, "blocking"), make_board(enemy, mover, "blocking")
    np.testing.assert_array_equal(turn(board, "blocking"), turned)


@given(long_placements())
def test_turning_goes_by_the_opponents_numbers(board):
    before = board.copy()
    turned = turn(board, "blocking")
    for point in range(1, 25):
        assert turned[other(point)] == -board[point]
    np.testing.assert_array_equal(turn(turned, "blocking"), board)
    np.testing.assert_array_equal(board, before)
    assert turned.dtype == np.int8 and turned.flags.c_contiguous


def test_a_batch_turns_each_board():
    boards = np.stack([start_board(LONG), make_board({6: 2}, {5: 1}, "blocking")])
    expected = [turn(board, "blocking") for board in boards]
    np.testing.assert_array_equal(turn(boards, "blocking"), expected)


def test_turn_of_the_hitting_family_is_flip():
    board = make_board({25: 1, 6: 2}, {25: 3, 1: 4})
    np.testing.assert_array_equal(turn(board, "hitting"), flip(board))


@given(long_placements())
def test_pip_counts_by_hand(board):
    mover = sum(point * board[point].item() for point in range(1, 25) if board[point] > 0)
    opponent = sum(other(p) * -board[p].item() for p in range(1, 25) if board[p] < 0)
    assert pip_counts(board, "blocking") == (mover, opponent)
    assert pip_counts(turn(board, "blocking"), "blocking") == (opponent, mover)


# ---- how a game ends (D11, D13)

# mover's and enemy's checkers left, whether the mover began the game: over and his points
WITHOUT_LAST_ROLL = {
    (3, 5, True): (False, 0),
    (0, 5, True): (True, 1),
    (0, 5, False): (True, 1),
    (0, 15, True): (True, 2),
    (0, 15, False): (True, 2),
}
WITH_LAST_ROLL = {
    (3, 5, True): (False, 0),
    (3, 5, False): (False, 0),
    (0, 5, True): (False, 0),  # the second player has one more turn
    (0, 15, True): (False, 0),
    (0, 5, False): (True, 1),  # the first mover has had his turns
    (0, 15, False): (True, 2),
    (3, 0, False): (True, -1),  # the last turn did not suffice
    (14, 0, False): (True, -1),  # it saved the mars
    (15, 0, False): (True, -2),
    (0, 0, False): (True, 0),  # a draw
}


@pytest.mark.parametrize("last_roll", ["off", "second_player"])
def test_endings(last_roll):
    game = variant("long", last_roll=last_roll)
    table = WITHOUT_LAST_ROLL if last_roll == "off" else WITH_LAST_ROLL
    for (mine, theirs, starter), expected in table.items():
        board = make_board({3: mine}, {4: theirs}, "blocking")
        over, points = ending(board, game, np.bool_(starter))
        assert (bool(over), int(points)) == expected, (mine, theirs, starter)
        assert long_referee.ending(board, 15, starter, last_roll) == expected


def test_no_koks():
    """A loser in the winner's home pays two points (D11), in nardgammon as well."""
    board = make_board({}, {14: 14, 18: 1}, "blocking")
    assert points_won(board, LONG) == points_won(board, variant("nardgammon")) == 2
    assert points_won(board, SHORT) == 3


def test_endings_of_a_batch():
    table = list(WITH_LAST_ROLL.items())
    boards = np.stack([make_board({3: m}, {4: t}, "blocking") for (m, t, _), _ in table])
    starter = np.array([began for (_, _, began), _ in table])
    over, points = ending(boards, LAST_ROLL, starter)
    marked = boards.copy()
    marked[:, 25], marked[:, 0] = starter, np.where(starter, 0, -1)
    assert (ending(marked, LAST_ROLL)[0] == over).all()
    assert (ending(marked, LAST_ROLL)[1] == points).all()
    assert over.dtype == np.bool_ and points.dtype == np.int8
    assert list(zip(over.tolist(), points.tolist(), strict=True)) == [e for _, e in table]


@given(long_placements())
def test_ending_is_points_won_where_nobody_has_a_last_roll(board):
    for game in (LONG, SHORT):
        for boards in (board, np.minimum(board, 0)):
            over, points = ending(boards, game, np.bool_(True))
            assert points == points_won(boards, game) and over == (points > 0)


def test_points_alone_do_not_tell_the_end_of_a_game_with_draws():
    with pytest.raises(ValueError, match="^with last_roll='second_player' points alone do not"):
        points_won(start_board(LAST_ROLL), LAST_ROLL)


# ---- what is refused


@pytest.mark.parametrize("cell", [0, 25])
def test_a_checker_on_a_bar(cell):
    board = start_board(LONG).tolist()
    board[cell] = -1 if cell == 0 else 1
    shown = "-1 and 0" if cell == 0 else "0 and 1"
    message = f"^long has no bar: cells 0 and 25 are empty, not {shown}$"
    with pytest.raises(ValueError, match=message):
        check_board(board, LONG)


def test_boards_that_are_over():
    finished = make_board({6: 3}, {}, "blocking")
    with pytest.raises(ValueError, match="^the opponent has no checker left: the game is over$"):
        check_board(finished, LONG)
    finished[0] = -1  # the opponent began, and the mover has the last roll
    np.testing.assert_array_equal(check_board(finished, LAST_ROLL), finished)
    with pytest.raises(ValueError, match="^the mover has no checker left: the game is over$"):
        check_board(turn(finished, "blocking"), LAST_ROLL)
    finished[[0, 25]] = 0, 1  # the mover began, so that the opponent finished last
    with pytest.raises(ValueError, match="^the opponent has no checker left: the game is over$"):
        check_board(finished, LAST_ROLL)


@pytest.mark.parametrize("ends", [(0, 0), (-1, 1), (0, 2), (-2, 0)])
def test_boards_that_do_not_say_who_began(ends):
    board = start_board(LAST_ROLL)
    board[[0, 25]] = ends
    message = f"cell 25 is 1 where the mover began the game, .*, not {ends[0]} and {ends[1]}$"
    with pytest.raises(ValueError, match=message):
        check_board(board, LAST_ROLL)


def test_who_began_is_kept_and_is_no_checker():
    """Turning and playing leave it where it belongs; nothing counts it (D13)."""
    game = variant("long", last_roll="second_player", head_exception_players="first")
    bare = variant("long", head_exception_players="first")
    board = start_board(game)
    assert board[25] == 1 and turn(board, "blocking")[0] == -1
    np.testing.assert_array_equal(checkers_only(board, "blocking"), start_board(LONG))
    assert pip_counts(board, "blocking") == (360, 360)
    for dice in ROLLS:
        after = afterstates(board[None], dice[None], game).boards
        plain = afterstates(start_board(bare)[None], dice[None], bare).boards
        assert (after[:, 25] == 1).all()
        np.testing.assert_array_equal(checkers_only(after, "blocking"), plain)
        second = turn(after[:1], "blocking")
        replies = afterstates(second, dice[None], game).boards
        plain = afterstates(checkers_only(second, "blocking"), dice[None], bare).boards
        assert (replies[:, 0] == -1).all()
        np.testing.assert_array_equal(checkers_only(replies, "blocking"), plain)


# ---- whole games of random play


def play(game: Variant, number: int) -> int:
    """Points of the starter in random game `number`; every play is checked on the way."""
    rng = np.random.default_rng(number)
    board = start_board(game)
    for ply in range(2000):
        dice = roll(0, [number], [ply], game.opening)
        found = afterstates(board[None], dice, game).boards
        after = found[rng.integers(len(found))]
        check_play(board, after, dice[0].tolist())
        starter = ply % 2 == 0
        over, points = ending(after, game, np.bool_(starter))
        expected = long_referee.ending(after, game.checkers, starter, game.last_roll)
        assert (over, points) == expected == ending(after, game)
        if over:
            return int(points) if starter else -int(points)
        board = check_board(turn(after, game.family), game)
    raise AssertionError(f"game {number} goes on after 2000 plies")


def check_play(board: np.ndarray, after: np.ndarray, dice: list[int]) -> None:
    """The enemy stays where he is and pips fit the dice; a bear-off may waste some (K11)."""
    np.testing.assert_array_equal(np.minimum(after, 0), np.minimum(board, 0))
    whole = {0, *dice, sum(dice)} if dice[0] != dice[1] else {dice[0] * n for n in range(5)}
    spent = pip_counts(board, "blocking")[0] - pip_counts(after, "blocking")[0]
    borne_off = np.maximum(board, 0).sum() - np.maximum(after, 0).sum()
    assert spent in whole or (borne_off and 0 < spent < max(whole))
    assert board[24] - after[24] <= (2 if board[24] == 15 else 1)  # D4, D5


def test_random_games():
    points = [play(LONG, number) for number in range(40)]
    assert set(points) <= {-2, -1, 1, 2} and {-1, 1} <= set(points)


def test_random_games_with_a_last_roll_are_sometimes_drawn():
    game = variant("long", start={6: 3, 3: 2}, last_roll="second_player")
    points = [play(game, number) for number in range(300)]
    assert set(points) == {-2, -1, 0, 1, 2}
