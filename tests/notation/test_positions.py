"""Any written position: which of the formats it is, how it is described, and `nardy show`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation.games import positions
from notation.test_fibs import TO_TAKE

from nardy.cli import main
from nardy.notation import fibs, xgid
from nardy.notation.ids import from_match_id, match_id, position_id
from nardy.notation.positions import describe, read_position
from nardy.notation.state import MatchState, Position
from nardy.rules.board import points_won, start_board
from nardy.rules.variants import variant

START = "4HPwATDgc/ABMA"
XGID = "XGID=-b----E-C---eE---c-e----B-:1:-1:-1:52:2:4:0:9:10"


def test_each_format_is_known() -> None:
    board = start_board(variant("short"))
    for text, state in (
        (START, MatchState()),
        (f" {START}:QYkqASAAIAAA\n", from_match_id("QYkqASAAIAAA")),
        (f"{START} : cIkFAAAAAAAA", from_match_id("cIkFAAAAAAAA")),
        (XGID, xgid.parse(XGID).state),
        (XGID.removeprefix("XGID="), xgid.parse(XGID).state),
        ("xgid" + XGID[4:], xgid.parse(XGID).state),
    ):
        position = read_position(text)
        np.testing.assert_array_equal(position.board, board)
        assert position.state == state
    assert read_position(TO_TAKE.upper()).state == MatchState(doubled=True)


@settings(max_examples=50)
@given(positions())
def test_every_format_is_told_from_the_others(position: Position) -> None:
    ids = f"{position_id(position.board)}:{match_id(position.state)}"
    for text in (ids, xgid.format(position), fibs.format(position)):
        np.testing.assert_array_equal(read_position(text).board, position.board)
    assert read_position(ids).state == position.state


def test_descriptions() -> None:
    board = start_board(variant("short"))
    for state, said in (
        (MatchState(), "X is on roll; money; cube 1"),
        (
            MatchState(cube=2, owner=0, dice=(5, 2), length=9, points=(2, 4)),
            "X has rolled 5-2; match to 9: X 4, O 2; cube 2, O's",
        ),
        (
            MatchState(on_roll=0, doubled=True, jacoby=True, beavers=True, points=(3, 0)),
            "O doubles to 2; money, Jacoby, beavers: O 3, X 0; cube 1",
        ),
        (
            MatchState(resigned=2, length=3, points=(2, 0), crawford=True),
            "X is on roll; X offers to resign a gammon; match to 3: X 0, O 2 (Crawford game); "
            "cube 1",
        ),
    ):
        assert describe(Position(board, state)) == said


def test_scores_of_states() -> None:
    match = MatchState(cube=2, owner=0, on_roll=1, length=9, points=(2, 4)).score
    assert (match.away, match.owner, match.cube) == ((5, 7), "theirs", 2)
    assert MatchState(cube=1, owner=0, length=9).score.owner == "centre"
    centred = MatchState(cube=4, jacoby=True).score
    assert (centred.cube, centred.owner, centred.auto_doubles) == (4, "centre", 2)
    with pytest.raises(ValueError, match="1 to 25 points"):
        _ = MatchState(length=99).score


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"cube": 3}, "not 3"),
        ({"on_roll": 2}, "2 \\(on roll\\)"),
        ({"dice": (3, 7)}, "\\(3, 7\\)"),
        ({"resigned": 4}, "not 4"),
        ({"game": "lost"}, "'lost'"),
        ({"length": 2**15}, "32768"),
        ({"crawford": True}, "no Crawford game"),
        ({"length": 3, "jacoby": True}, "not to a match"),
    ],
)
def test_impossible_states_are_refused(values: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        MatchState(**values)  # type: ignore[arg-type]


# --- nardy show ------------------------------------------------------------------------------


def test_show_says_what_surrounds_the_board(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--position", f"{START}:QYkqASAAIAAA"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "X has rolled 5-2; match to 9: X 4, O 2; cube 2, O's"
    assert "X on roll: 167 pips" in lines[-3]


def test_show_leaves_x_at_the_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    places = "a-B--------------------cA-"
    for turn, own in ((1, "X on roll"), (-1, "X opponent")):
        assert main(["show", "--position", f"XGID={places}:0:0:{turn}:00:0:0:0:0:10"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert f"{own}: 28 pips, 12 off" in lines[11]
        assert "O " + ("on roll" if turn < 0 else "opponent") + ": 31 pips" in lines[1]
        assert lines[10].endswith(" X    |")  # on X's 2


def test_show_reads_fibs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--position", TO_TAKE]) == 0
    assert "p1 doubles to 2; money; cube 1" in capsys.readouterr().out


@pytest.mark.parametrize("text", [f"{START}:AA", "XGID=abc", "board:a:b", "", ":", "x:y:z"])
def test_show_refuses_in_one_sentence(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--position", text]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("nardy: ") and said.err.count("\n") == 1


def test_gammons_and_backgammons_need_a_loser_who_has_borne_none_off() -> None:
    """`mxmAQ4PbAQAAAA`: both have borne off, so whoever wins, wins one point (K14)."""
    board = read_position("mxmAQ4PbAQAAAA").board
    for view in (board, -board[::-1]):
        won = np.minimum(view, 0).astype(np.int8)  # the mover has borne off all
        assert points_won(won, variant("short")) == 1


# --- anything at all -------------------------------------------------------------------------

WORDS = st.sampled_from(
    [START, "cAkAAAAAAAAA", "XGID=", "board:", XGID, TO_TAKE, ":", "-1", "D", " "]
)


@settings(max_examples=200)
@given(st.lists(WORDS | st.text(max_size=5), max_size=8).map("".join))
def test_nothing_but_a_sentence_escapes(text: str) -> None:
    try:
        read_position(text)
    except ValueError as error:
        assert str(error)


@settings(max_examples=200)
@given(st.data())
def test_a_spoilt_text_is_read_or_refused(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([f"{START}:cAkAAAAAAAAA", XGID, TO_TAKE + " beavers on"]))
    start = data.draw(st.integers(0, len(text) - 1))
    end = start + data.draw(st.integers(0, 3))
    try:
        read_position(text[:start] + data.draw(st.text(max_size=3)) + text[end:])
    except ValueError as error:
        assert str(error)
