"""FIBS board strings: gnubg's own dialogue, round trips, sides, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from notation.games import positions

from nardy.notation import fibs
from nardy.notation.state import MatchState, Position
from nardy.rules.board import flip, make_board, start_board
from nardy.rules.variants import variant

OPENING = (
    "board:p0:p1:0:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    ":-1:5:2:5:2:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1"
)
LATER = "-2:2:0:2:0:0:3:0:1:0:0:0:-4:5:0:0:0:-4:0:-5:0:0:0:0:2:0"
TO_DOUBLE = f"board:p0:p1:0:0:0:{LATER}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1"
TO_TAKE = f"board:p1:p0:0:0:0:{LATER}:1:0:0:0:0:1:1:1:1:1:-1:0:25:0:0:0:0:0:0:0:1"


def test_an_opening_roll() -> None:
    position = fibs.parse(OPENING)
    np.testing.assert_array_equal(position.board, start_board(variant("short")))
    # turn -1 with colour 1: the opponent is on roll
    assert position.state == MatchState(on_roll=0, dice=(5, 2))
    assert position.names == ("p1", "p0")


def test_a_double_is_told_from_the_doublers_side() -> None:
    before, offered = fibs.parse(TO_DOUBLE), fibs.parse(TO_TAKE)
    np.testing.assert_array_equal(before.board, offered.board)
    assert before.state == MatchState()
    assert offered.state == MatchState(doubled=True)
    assert (offered.state.on_roll, offered.state.turn) == (1, 0)
    assert offered.names == ("p0", "p1")


def test_colour_and_direction_turn_the_board() -> None:
    """The same position told to O going down, to X going down and to X going up."""
    board = make_board({6: 2, 13: 1, 25: 1}, {24: 3, 25: 2})
    own = ":".join(map(str, board.tolist()))
    negative = ":".join(map(str, (-board).tolist()))
    reverse = ":".join(map(str, (-board[::-1]).tolist()))
    tail = "3:1:0:0:2:1:0:0"
    ways = (f"{own}:1:{tail}:1:-1:0:25", f"{negative}:-1:{tail}:-1:-1:0:25")
    for way in (*ways, f"{reverse}:-1:{tail}:-1:1:25:0"):
        position = fibs.parse(f"board:you:him:7:2:4:{way}:0:0:0:0:0:0:0:0")
        np.testing.assert_array_equal(position.board, board)
        assert position.state == MatchState(
            on_roll=1, dice=(3, 1), cube=2, owner=1, length=7, points=(4, 2)
        )


def test_the_opponent_on_roll_has_the_other_view() -> None:
    text = OPENING.replace(":0:-2:0:0", ":-1:-1:0:0", 1)
    board = fibs.parse(text).board
    assert board[25] == 1 and board[24] == 1
    assert fibs.parse(text.replace(":-1:5:2:5:2", ":1:5:2:5:2")).board.tolist() == (
        flip(board).tolist()
    )


@pytest.mark.parametrize(
    ("score", "last", "crawford"),
    [
        ("5:4:2", "0:0", True),
        ("5:4:2", "1:0", False),
        ("5:4:2", "0:3", False),
        ("5:3:2", "0:0", False),
        ("9999:4:2", "0:0", False),
    ],
)
def test_the_crawford_game(score: str, last: str, crawford: bool) -> None:
    text = TO_DOUBLE.replace("p1:0:0:0", f"p1:{score}").removesuffix("0:1") + last
    assert fibs.parse(text).state.crawford == crawford


def test_gnubgs_words_after_it() -> None:
    state = fibs.parse(f"{TO_DOUBLE} jacobyrule on beavers on resignation 2").state
    assert (state.jacoby, state.beavers, state.resigned) == (True, True, 2)
    crawford = TO_DOUBLE.replace("p1:0:0:0", "p1:5:4:0").removesuffix("0:1") + "0:0"
    assert not fibs.parse(f"{crawford} crawfordrule off").state.crawford
    with pytest.raises(ValueError, match="'sometimes'"):
        fibs.parse(f"{TO_DOUBLE} jacobyrule sometimes".replace("jacobyrule ", ""))


@settings(max_examples=60)
@given(positions())
def test_round_trip(position: Position) -> None:
    """Of what the string has no place for nothing is kept, nor who owns a cube just offered."""
    old = position.state
    owner = old.owner
    if old.doubled:
        owner = old.on_roll if old.cube > 1 else None
    state = MatchState(
        cube=old.cube,
        owner=owner,
        on_roll=old.on_roll,
        dice=old.dice,
        doubled=old.doubled,
        length=old.length if old.length < 9999 else 0,
        points=old.points if old.length < 9999 else (0, 0),
        crawford=old.crawford and old.length < 9999,
    )
    again = fibs.parse(fibs.format(Position(position.board, state, ("him", "you"))))
    np.testing.assert_array_equal(again.board, position.board)
    assert (again.state, again.names) == (state, ("him", "you"))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("board:", "bored:", "two names and 50 numbers"),
        ("p1:0:0:0:", "p1:0:0:", "two names and 50 numbers"),
        ("p1:0:", "p1:x:", "not 'x'"),
        ("p1:0:0:0:", "p1:5:5:0:", "over at 0-5"),
        (":-1:5:2", ":0:5:2", "turn and colour"),
        (":5:2:5:2:", ":5:2:7:2:", "dice show 1 to 6"),
        (":5:2:5:2:1", ":5:2:5:2:3", "a cube shows"),
        (":0:-2:0", ":1:-2:0", "bars"),
        (":0:-2:0", ":0:-99:0", "up to 15 checkers, not 99"),
        (":0:-2:0", ":0:-9:0", "up to 15 checkers, not 22"),
        (":1:-1:0:25", ":1:3:0:25", "a direction is 1 or -1, not 3"),
        (":1:1:1:0:1", ":1:1:1:1:1", "before the roll"),
    ],
)
def test_refused_in_one_sentence(old: str, new: str, why: str) -> None:
    assert old in OPENING
    with pytest.raises(ValueError, match=why) as refusal:
        fibs.parse(OPENING.replace(old, new, 1))
    assert "\n" not in str(refusal.value)


def test_sixteen_checkers_have_no_string() -> None:
    with pytest.raises(ValueError, match="not 16"):
        fibs.format(Position(make_board({6: 15, 5: 1}, {1: 1})))
