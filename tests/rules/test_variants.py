"""Starts and options of the variants."""

import numpy as np
import pytest

from nardy.rules.board import check_board, make_board, pip_counts, start_board, turn
from nardy.rules.variants import OPTIONS, names, variant


@pytest.mark.parametrize(
    ("name", "points", "pips"),
    [
        ("short", {24: 2, 13: 5, 8: 3, 6: 5}, 167),
        ("nack", {24: 2, 23: 2, 13: 4, 8: 3, 6: 4}, 194),
        ("hyper", {24: 1, 23: 1, 22: 1}, 69),
    ],
)
def test_starts(name, points, pips):
    game = variant(name)
    board = start_board(game)
    assert board.dtype == np.int8
    np.testing.assert_array_equal(board, make_board(points, points))
    assert pip_counts(board) == (pips, pips)
    assert game.checkers == sum(points.values())
    assert game.family == "hitting"
    assert game.outcomes == (-3, -2, -1, 1, 2, 3)
    assert game.opening == "play_opening_dice"
    assert game.cube == "on"


@pytest.mark.parametrize(("name", "cube"), [("long", "off"), ("nardgammon", "on")])
def test_starts_of_the_blocking_family(name, cube):
    game = variant(name)
    board = start_board(game)
    assert board.dtype == np.int8
    np.testing.assert_array_equal(board, make_board({24: 15}, {24: 15}, "blocking"))
    assert np.flatnonzero(board).tolist() == [12, 24]
    assert pip_counts(board, "blocking") == (360, 360)
    assert game.checkers == 15
    assert game.family == "blocking"
    assert game.outcomes == (-2, -1, 1, 2)
    assert game.cube == cube


def test_names_are_what_variant_knows():
    assert set(names()) == {"short", "nack", "hyper", "long", "nardgammon"}
    for name in names():
        assert variant(name).name == name


@pytest.mark.parametrize("name", names())
def test_a_start_is_a_legal_board_and_the_same_for_both(name):
    game = variant(name)
    board = start_board(game)
    check_board(board, game)
    np.testing.assert_array_equal(board, turn(board, game.family))


def test_a_start_of_ones_own():
    game = variant("short", start={6: 1, 3: 1}, opening="reroll")
    assert game.checkers == 2
    assert game.opening == "reroll"
    np.testing.assert_array_equal(start_board(game), make_board({6: 1, 3: 1}, {6: 1, 3: 1}))


def test_a_long_start_of_ones_own():
    game = variant("long", start={6: 2, 3: 1})
    assert game.checkers == 3
    sides = {6: 2, 3: 1}
    np.testing.assert_array_equal(start_board(game), make_board(sides, sides, "blocking"))


@pytest.mark.parametrize("name", ["long", "nardgammon"])
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_sets_its_field_and_nothing_else(name, option):
    default = variant(name)
    for value in OPTIONS[option]:
        game = variant(name, **{option: value})
        assert getattr(game, option) == value
        other = {**vars(default), option: value}
        if (option, value) == ("last_roll", "second_player"):
            other["outcomes"] = (-2, -1, 0, 1, 2)  # a draw (D13)
        assert vars(game) == other


def test_the_default_of_an_option_is_its_first_value():
    for option, values in OPTIONS.items():
        assert getattr(variant("nardgammon"), option) == values[0]


@pytest.mark.parametrize("option", OPTIONS)
def test_short_games_take_the_defaults_of_every_option(option):
    assert variant("short", **{option: OPTIONS[option][0]}) == variant("short")


def test_variants_are_values():
    assert variant("short") == variant("short")
    assert variant("short") != variant("short", opening="reroll")
    assert hash(variant("hyper")) == hash(variant("hyper"))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("shrt", {}, "^unknown variant 'shrt'; known are short, nack, hyper, long, nardgammon$"),
        (
            "short",
            {"opening": "doubles"},
            "^opening must be one of play_opening_dice, reroll, not 'doubles'$",
        ),
        (
            "long",
            {"prime_rule": "never"},
            "^prime_rule must be one of front_checker_ahead, forbid, enemy_home, allow, "
            "not 'never'$",
        ),
        (
            "short",
            {"prime_rule": "allow"},
            "^prime_rule='allow' is of long nardy; short has no such rule$",
        ),
        ("long", {"colour": "red"}, "^unknown option 'colour'; known are opening, cube, head_"),
        ("long", {"start": {18: 1, 6: 1}}, "^both sides start on point 18$"),
        ("long", {"start": {25: 1}}, "^a start cannot have 1 checkers on point 25$"),
        ("short", {"start": {25: 1}}, "^a start cannot have 1 checkers on point 25$"),
        ("short", {"start": {0: 2}}, "^a start cannot have 2 checkers on point 0$"),
        ("short", {"start": {6: -1}}, "^a start cannot have -1 checkers on point 6$"),
        ("short", {"start": {}}, "^a start has 1 to 15 checkers, not 0$"),
        ("short", {"start": {6: 16}}, "^a start has 1 to 15 checkers, not 16$"),
        ("short", {"start": {13: 1, 12: 1}}, "^both sides start on point 13$"),
    ],
)
def test_bad_variants(name, options, message):
    with pytest.raises(ValueError, match=message):
        variant(name, **options)
