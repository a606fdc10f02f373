"""XGIDs: published ones, round trips, sides, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation.games import positions

from nardy.notation import xgid
from nardy.notation.ids import match_id, position_id
from nardy.notation.state import MatchState, Position
from nardy.rules.board import flip, make_board, start_board
from nardy.rules.variants import variant

START = "-b----E-C---eE---c-e----B-"


@pytest.mark.parametrize(
    ("text", "match"),
    [  # what gnubg 1.07 shows for them, but for the bit that says nothing of a match
        (f"XGID={START}:0:0:1:31:0:0:3:0:10", "cIkFAAAAAAAA"),
        (f"XGID={START}:0:0:-1:52:2:1:0:7:10", "MIHqABAAEAAA"),
        (f"XGID={START}:1:1:1:00:0:0:0:0:10", "UQkAAAAAAAAE"),
        (f"XGID={START}:0:0:1:00:2:6:1:7:10", "8AngAGAAEAAA"),
        (f"XGID={START}:0:0:1:D:0:0:0:5:10", "cBGgAAAAAAAA"),
    ],
)
def test_published(text: str, match: str) -> None:
    position = xgid.parse(text)
    assert position_id(position.board) == "4HPwATDgc/ABMA"
    assert match_id(position.state) == match
    assert xgid.format(position) == text


def test_the_places_are_those_of_x_whoever_is_on_roll() -> None:
    places = "a-B--------------------cA-"
    x, o = (xgid.parse(f"{places}:1:1:{turn}:00:2:4:0:9:10") for turn in ("1", "-1"))
    np.testing.assert_array_equal(x.board, make_board({2: 2, 24: 1}, {25: 1, 2: 3}))
    np.testing.assert_array_equal(o.board, flip(x.board))
    assert (x.state.points, o.state.points) == ((4, 2), (4, 2))
    assert (x.state.score.away, x.state.score.owner) == ((7, 5), "mine")
    assert (o.state.score.away, o.state.score.owner) == ((5, 7), "theirs")


def test_rules_of_money_and_of_matches() -> None:
    for rules, jacoby, beavers in ((0, False, False), (1, True, False), (2, False, True)):
        state = xgid.parse(f"{START}:0:0:1:00:0:0:{rules}:0:10").state
        assert (state.jacoby, state.beavers, state.crawford) == (jacoby, beavers, False)
    crawford = xgid.parse(f"{START}:0:0:1:00:6:0:1:7:10").state
    assert crawford.crawford and not crawford.jacoby


@settings(max_examples=60)
@given(positions(), st.integers(0, 15), st.booleans())
def test_round_trip(position: Position, limit: int, beavers: bool) -> None:
    """Of what an XGID has no place for nothing is kept."""
    old = position.state
    state = MatchState(
        cube=old.cube,
        owner=old.owner,
        on_roll=old.on_roll,
        dice=old.dice,
        doubled=old.doubled,
        length=old.length,
        points=old.points,
        crawford=old.crawford,
        jacoby=old.jacoby,
        beavers=beavers and not old.length,
        max_cube=1 << limit,
    )
    text = xgid.format(Position(position.board, state))
    again = xgid.parse(text)
    np.testing.assert_array_equal(again.board, position.board)
    assert again.state == state
    assert xgid.format(again) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("XGID=", "1 fields"),
        (f"{START}:0:0:1:31:0:0:3:0", "9 fields"),
        (f"{START}:0:0:1:31:0:0:3:0:10:1", "11 fields"),
        (f"{START[:-1]}:0:0:1:31:0:0:3:0:10", "26 places"),
        (f"{START[:-1]}P:0:0:1:31:0:0:3:0:10", "26 places"),
        ("B-------------------------:0:0:1:31:0:0:3:0:10", "other player's bar"),
        ("-OA----------------------a:0:0:1:31:0:0:3:0:10", "other player's bar"),
        ("-OA-----------------------:0:0:1:31:0:0:3:0:10", "16 checkers of X"),
        (f"{START}:x:0:1:31:0:0:3:0:10", "cube must be a power of two from 0 to 15, not 'x'"),
        (f"{START}:16:0:1:31:0:0:3:0:10", "2 to the power of 15"),
        (f"{START}:0:2:1:31:0:0:3:0:10", "owner must be -1, 0 or 1, not '2'"),
        (f"{START}:0:0:0:31:0:0:3:0:10", "turn must be -1 or 1, not '0'"),
        (f"{START}:0:0:1:37:0:0:3:0:10", "two dice, 00 or D, not '37'"),
        (f"{START}:0:0:1:B:0:0:3:0:10", "beaver"),
        (f"{START}:0:0:1:31:0:0:4:0:10", "0 to 3, not '4'"),
        (f"{START}:0:0:1:31:0:0:2:5:10", "money rules 2 in a match"),
        (f"{START}:0:0:1:31:5:0:0:5:10", "over at 0-5"),
        (f"{START}:0:0:1:31:3:0:1:5:10", "no Crawford game"),
    ],
)
def test_refused_in_one_sentence(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as refusal:
        xgid.parse(text)
    assert repr(text) in str(refusal.value) and "\n" not in str(refusal.value)


def test_the_start_is_written() -> None:
    board = start_board(variant("short"))
    assert xgid.format(Position(board)) == f"XGID={START}:0:0:1:00:0:0:0:0:10"
