"""Starts and options of the variants."""

import numpy as np
import pytest

from nardy.rules.board import check_board, flip, make_board, pip_counts, start_board
from nardy.rules.variants import names, variant


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


def test_names_are_what_variant_knows():
    assert set(names()) == {"short", "nack", "hyper"}
    for name in names():
        assert variant(name).name == name


@pytest.mark.parametrize("name", names())
def test_a_start_is_a_legal_board_and_the_same_for_both(name):
    board = start_board(variant(name))
    check_board(board, variant(name))
    np.testing.assert_array_equal(board, flip(board))


def test_a_start_of_ones_own():
    game = variant("short", start={6: 1, 3: 1}, opening="reroll")
    assert game.checkers == 2
    assert game.opening == "reroll"
    np.testing.assert_array_equal(start_board(game), make_board({6: 1, 3: 1}, {6: 1, 3: 1}))


def test_variants_are_values():
    assert variant("short") == variant("short")
    assert variant("short") != variant("short", opening="reroll")
    assert hash(variant("hyper")) == hash(variant("hyper"))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("shrt", {}, "^unknown variant 'shrt'; known are short, nack, hyper$"),
        (
            "short",
            {"opening": "doubles"},
            "^opening must be one of play_opening_dice, reroll, not 'doubles'$",
        ),
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
