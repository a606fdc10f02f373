"""The options of long nardy: each changes what it should and nothing else.

`PROBES` are positions in which exactly one option can matter. For each option and value the
results of every probe are compared with those of the defaults: only the probes named may differ,
and those must.
"""

import long_referee
import numpy as np
import pytest
from long_strategies import LONG, random_long_position
from test_long_worked_positions import HEAD, ROW_BESIDE_18, played, plays, results

from nardy.rules.batch import afterstates
from nardy.rules.board import checkers_only, make_board, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import OPTIONS, variant

OTHER_OPTIONS = ("opening", "last_roll", "cube")  # those that no play depends on

# a first turn is seen on the board; the starter's is where the enemy has his head full too
PROBES = {
    "first, 4-4": (HEAD, HEAD, "44"),
    "second, 4-4": (HEAD, {24: 14, 4: 1}, "44"),
    "second, 5-5": (HEAD, {24: 14, 21: 1}, "55"),
    "second, 6-5 stuck": (HEAD, {24: 14, 1: 1}, "65"),
    "later, 6-6": ({24: 13, 18: 2}, {24: 14, 20: 1}, "66"),
    "row, nobody ahead": (ROW_BESIDE_18, HEAD, "64"),
    "row, one ahead": (ROW_BESIDE_18, {24: 14, 11: 1}, "64"),
    "row, one ahead and home": (ROW_BESIDE_18, {24: 14, 5: 1}, "64"),
    "row on the way": ({12: 1, 5: 2, 4: 1, 3: 1, 2: 1, 1: 9}, {23: 1, 22: 14}, "64"),
    "no row": ({13: 5, 6: 5, 1: 5}, {24: 10, 14: 5}, "52"),
    "bear-off": ({6: 1, 3: 1}, {1: 5}, "41"),
}
NOBODY_AHEAD = {"row, nobody ahead", "row on the way"}
ROWS = NOBODY_AHEAD | {"row, one ahead", "row, one ahead and home"}
CHANGED = {
    ("head_exception_players", "first"): {"second, 4-4"},
    ("head_exception_players", "second"): {"first, 4-4"},
    ("head_exception_players", "none"): {"first, 4-4", "second, 4-4"},
    ("head_exception_rolls", "doubles_if_stuck"): {"second, 5-5"},
    ("head_exception_rolls", "any_if_stuck"): {"second, 5-5", "second, 6-5 stuck"},
    ("prime_rule", "forbid"): ROWS - NOBODY_AHEAD,
    ("prime_rule", "enemy_home"): {"row, one ahead"},
    ("prime_rule", "allow"): NOBODY_AHEAD,
    ("prime_check", "end_of_turn"): {"row on the way"},
}
CHANGED |= {(option, value): set() for option in OTHER_OPTIONS for value in OPTIONS[option]}
CHANGED |= {(option, values[0]): set() for option, values in OPTIONS.items()}


@pytest.mark.parametrize(("option", "value"), [(o, v) for o in OPTIONS for v in OPTIONS[o]])
def test_an_option_changes_these_plays_and_no_others(option, value, kernels):
    changed = set()
    for name, (mover, enemy, dice) in PROBES.items():
        board = make_board(mover, enemy, "blocking")
        if results(board, dice, **{option: value}) != results(board, dice):
            changed.add(name)
    assert changed == CHANGED[option, value]


def probe(name: str, **options: str) -> tuple[np.ndarray, list[bytes]]:
    mover, enemy, dice = PROBES[name]
    board = make_board(mover, enemy, "blocking")
    return board, results(board, dice, **options)


def judged(board: np.ndarray, dice: tuple[int, int], **options: str) -> list[bytes]:
    """The referee's results of a later turn."""
    found = long_referee.results(board, dice, **options)
    return sorted(np.array(cells, np.int8).tobytes() for cells in found)


def test_head_exceptions():
    board, found = probe("first, 4-4", head_exception_players="second")
    assert found == plays(board, "24/16")
    board, found = probe("second, 4-4", head_exception_players="first")
    assert found == plays(board, "24/20")
    board, found = probe("second, 5-5", head_exception_rolls="doubles_if_stuck")
    assert found == plays(board, "24/14(2)")
    board, found = probe("second, 6-5 stuck")
    assert found == plays(board, "24/18")
    board, found = probe("second, 6-5 stuck", head_exception_rolls="any_if_stuck")
    assert found == plays(board, "24/18 24/19")


def test_no_exception_where_it_lets_no_more_dice_be_played():
    board = make_board(HEAD, HEAD, "blocking")
    for dice, play in (("11", "24/20"), ("22", "24/16"), ("55", "24/4"), ("65", "24/13")):
        assert results(board, dice, head_exception_rolls="any_if_stuck") == plays(board, play)


def test_first_turn_can_be_told():
    """Where the board alone would be read otherwise."""
    dice = np.array([[4, 4]], np.uint8)
    head = make_board(HEAD, HEAD, "blocking")
    later = afterstates(head[None], dice, LONG, np.array([False])).boards
    assert sorted(row.tobytes() for row in later) == plays(head, "24/16")
    board = make_board({24: 14, 6: 1}, {24: 14, 4: 1}, "blocking")
    first = afterstates(board[None], dice, LONG, np.array([True])).boards
    told = sorted(row.tobytes() for row in first)
    assert told == plays(board, "24/20(2) 6/2")
    assert results(board, "44") == plays(board, "24/20 6/2")


def test_prime_rules():
    board, found = probe("row, one ahead", prime_rule="enemy_home")
    assert found == plays(board, "18/14/8", "8/2 5/1", "8/2 6/2")
    board, found = probe("row, one ahead and home", prime_rule="enemy_home")
    assert found == plays(board, "18/14/8", "8/2 5/1", "8/2 6/2", "18/14 8/2")
    board, found = probe("row, one ahead and home", prime_rule="forbid")
    assert found == plays(board, "18/14/8", "8/2 5/1", "8/2 6/2")
    board, found = probe("row, nobody ahead", prime_rule="allow")
    assert found == plays(board, "18/14/8", "8/2 5/1", "8/2 6/2", "18/14 8/2")


@pytest.mark.parametrize("rule", OPTIONS["prime_rule"])
def test_six_may_stand_when_the_enemy_has_finished(rule):
    """On the last roll (D13) nobody is left to be held up; only `forbid` asks for nobody."""
    board = make_board({9: 1, 5: 1, 4: 1, 3: 1, 2: 1, 1: 1}, {}, "blocking")
    found = results(board, "21", prime_rule=rule, last_roll="second_player")
    assert (played(board, "9/6") in found) == (rule != "forbid")
    assert found == judged(board, (2, 1), prime_rule=rule)


def test_a_double_that_has_to_be_played_in_another_order(kernels):
    """7/6 makes six, unless 2/1 has been played before it."""
    board = make_board({7: 1, 5: 1, 4: 1, 3: 1, 2: 1, 1: 9}, HEAD, "blocking")
    found = results(board, "11")
    assert played(board, "7/6/5/4 2/1") in found
    assert found == judged(board, (1, 1))


def test_opening():
    plies = np.zeros(4000, np.int64)
    for option, doubles in (("play_opening_dice", False), ("reroll", True)):
        dice = roll(5, np.arange(4000), plies, variant("long", opening=option).opening)
        assert (dice[:, 0] == dice[:, 1]).any() == doubles


@pytest.mark.parametrize("seed", [7, 8])
def test_games_are_the_same_with_options_that_no_play_depends_on(seed):
    other = variant("nardgammon", opening="reroll", last_roll="second_player")
    boards = random_long_position(LONG, seed, 60), random_long_position(other, seed, 60)
    assert (boards[0] != start_board(LONG)).any()
    # who began is written on the board where it matters (D13)
    np.testing.assert_array_equal(boards[0], checkers_only(boards[1], "blocking"))
