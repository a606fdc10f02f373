"""Position and Match IDs: published strings, round trips, and what is refused."""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notation.games import states
from rules.strategies import placements

from nardy.notation.ids import from_match_id, from_position_id, match_id, position_id
from nardy.notation.state import MatchState
from nardy.rules.board import Boards, make_board, start_board
from nardy.rules.variants import variant


@pytest.mark.parametrize(
    ("text", "board"),
    [
        ("4HPwATDgc/ABMA", start_board(variant("short"))),
        ("AQAAIAAAAAAAAA", make_board({4: 1}, {1: 1})),
    ],
)
def test_published_ids(text: str, board: Boards) -> None:
    assert position_id(board) == text
    np.testing.assert_array_equal(from_position_id(text), board)


def test_the_player_on_roll_comes_second() -> None:
    """One checker of the mover on his bar is the last bit before the last zero."""
    board = make_board({25: 1}, {1: 1})
    bits = [1] + [0] * 25 + [0] * 24 + [1]
    data = sum(bit << place for place, bit in enumerate(bits)).to_bytes(10, "little")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    number = int.from_bytes(data + b"\0\0", "big")
    sextets = [number >> (96 - 6 * (place + 1)) & 63 for place in range(14)]
    assert position_id(board) == "".join(alphabet[sextet] for sextet in sextets)


@given(placements())
def test_round_trip(board: Boards) -> None:
    text = position_id(board)
    assert len(text) == 14
    np.testing.assert_array_equal(from_position_id(text), board)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("4HPwATDgc/ABM", "14 characters"),
        ("4HPwATDgc/ABMAA", "14 characters"),
        ("4HPwATDgc_ABMA", "A-Z a-z 0-9"),
        ("4HPwATDgc/ABM\u00e9", "A-Z a-z 0-9"),
        ("//////////////", "more checkers"),
        ("4HPwATDgc/ABMB", "left over"),
        ("AQAAIAAAAAAAgA", "left over"),
        ("//8AAAAAAAAAAA", "more than 15"),
    ],
)
def test_refused_in_one_sentence(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as refusal:
        from_position_id(text)
    assert repr(text) in str(refusal.value)


def test_both_sides_on_one_point_is_refused() -> None:
    # the opponent's 1 and the mover's 24 are one point
    bits = [1] + [0] * 25 + [0] * 23 + [1]
    data = sum(bit << place for place, bit in enumerate(bits)).to_bytes(10, "little")
    with pytest.raises(ValueError, match="both sides on point 24"):
        from_position_id(base64.b64encode(data).decode()[:14])


def test_sixteen_checkers_have_no_id() -> None:
    with pytest.raises(ValueError, match="not 16"):
        position_id(make_board({6: 15, 5: 1}, {1: 1}))


# --- Match IDs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (
            "QYkqASAAIAAA",
            MatchState(cube=2, owner=0, on_roll=1, dice=(5, 2), length=9, points=(2, 4)),
        ),
        ("cAkAAAAAAAAA", MatchState(on_roll=1, jacoby=True)),
        ("MIEFAAAAAAAA", MatchState(on_roll=0, dice=(3, 1), jacoby=True)),
        ("cIgUAAAAAAAA", MatchState(on_roll=1, dice=(1, 5), jacoby=True, game="none")),
        # shown by gnubg 1.07: Jacoby off, a double offered, a gammon resigned after 4-2
        ("UQkAAAAAAAAE", MatchState(cube=2, owner=1, on_roll=1)),
        ("cBGgAAAAAAAA", MatchState(on_roll=1, doubled=True, length=5)),
        (
            "QUGqAAAAAAAA",
            MatchState(cube=2, owner=0, on_roll=1, dice=(4, 2), resigned=2, length=5),
        ),
    ],
)
def test_published_match_ids(text: str, state: MatchState) -> None:
    assert from_match_id(text) == state
    assert match_id(state) == text


def test_the_last_bit_says_nothing_of_a_match() -> None:
    assert from_match_id("cAngABAAEAAE") == from_match_id("cAngABAAEAAA")


@given(states())
def test_match_ids_go_round(state: MatchState) -> None:
    text = match_id(state)
    assert len(text) == 12
    assert from_match_id(text) == state


@given(st.binary(min_size=9, max_size=9))
def test_any_nine_bytes_are_a_match_id_or_refused(data: bytes) -> None:
    text = base64.b64encode(data).decode()
    try:
        state = from_match_id(text)
    except ValueError as error:
        assert repr(text) in str(error)
    else:
        assert from_match_id(match_id(state)) == state


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("QYkqASAAIAA", "12 characters"),
        ("QYkqASAAIAA=", "A-Z a-z 0-9"),
        ("QYkqASAAIAA?", "A-Z a-z 0-9"),
        ("QYkqASAAIAD4", "left over"),
        ("cAcAAAAAAAAA", "unknown state"),
        ("YAkAAAAAAAAA", "numbered 0 and 1"),
        ("cAk+AAAAAAAA", "dice show 1 to 6"),
        ("cAkEAAAAAAAA", "dice show 1 to 6"),
        ("8AkAAAAAAAAA", "no Crawford game"),
    ],
)
def test_match_ids_refused_in_one_sentence(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as refusal:
        from_match_id(text)
    assert repr(text) in str(refusal.value)
