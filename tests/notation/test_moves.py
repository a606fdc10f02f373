"""Written moves: what is written, what is understood, and why a wrong move is wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules.strategies import placements

from nardy.notation.moves import _sources, fault, move_texts, parse_move
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, make_board, start_board
from nardy.rules.variants import variant

SHORT = variant("short")
START = start_board(SHORT)
START_POINTS = {24: 2, 13: 5, 8: 3, 6: 5}


def texts_of(board: Boards, *dice: int) -> list[str]:
    roll = np.array(dice, np.uint8)
    return move_texts(board, roll, afterstates(board[None], roll[None], SHORT).boards)


def parse(text: str, board: Boards, *dice: int) -> Boards:
    return parse_move(text, board, np.array(dice, np.uint8), SHORT)


# --- writing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mover", "enemy", "dice", "texts"),
    [
        ({25: 2, 13: 5, 8: 3, 6: 5}, START_POINTS, (6, 4), ["bar/21"]),
        (
            {25: 1, 6: 7, 5: 7},
            {24: 3, 13: 6, 8: 4, 3: 2},
            (3, 1),
            ["bar/21", "bar/24 5/2", "bar/24 6/3"],
        ),
        ({25: 1, 6: 14}, {p: 2 for p in range(1, 7)}, (6, 6), ["Cannot Move"]),
        ({20: 1, 1: 14}, {16: 2, 13: 5, 8: 3, 6: 5}, (6, 5), ["20/14"]),
        ({13: 2, 1: 13}, {20: 2, 13: 5, 8: 3, 6: 5}, (4, 4), ["13/9(2)"]),
        ({5: 1, 4: 1}, {1: 1}, (6, 4), ["5/1 4/off", "5/off 4/off"]),
        ({24: 1, 2: 14}, {2: 1, 3: 1, 24: 13}, (1, 1), ["24/23*/22*/20"]),
        (
            {24: 2},
            {2: 1, 24: 14},
            (1, 1),
            ["24/23*/20", "24/23*/21 24/23", "24/23*/22 24/22"],
        ),
        ({24: 2}, {10: 1, 24: 2}, (3, 3), ["24/15*/12", "24/15* 24/21", "24/18(2)"]),
    ],
)
def test_what_is_written(
    mover: dict[int, int], enemy: dict[int, int], dice: tuple[int, int], texts: list[str]
) -> None:
    assert sorted(texts_of(make_board(mover, enemy), *dice)) == sorted(texts)


def test_a_result_of_other_dice_is_refused() -> None:
    results = afterstates(START[None], np.array([[6, 5]], np.uint8), SHORT).boards
    with pytest.raises(ValueError, match="3-1 cannot lead to"):
        move_texts(START, np.array([3, 1], np.uint8), results)


@settings(max_examples=100)
@given(placements(), st.integers(1, 6))
def test_sources_are_where_no_fault_is_found(board: Boards, die: int) -> None:
    cells = tuple(board.tolist())
    slowly = [point for point in range(25, 0, -1) if not fault(cells, point, die)]
    assert _sources(cells, die) == slowly


# --- both ways -------------------------------------------------------------------------------


@settings(max_examples=60)
@given(placements(), st.integers(1, 6), st.integers(1, 6))
def test_every_text_is_read_back(board: Boards, die1: int, die2: int) -> None:
    """Also without stars unless they tell two results apart, and with the words turned round."""
    roll = np.array([die1, die2], np.uint8)
    results = afterstates(board[None], roll[None], SHORT).boards
    texts = move_texts(board, roll, results)
    assert len(set(texts)) == len(texts)
    for text, result in list(zip(texts, results, strict=True))[:40]:
        for typed in (text, text.replace("*", ""), " ".join(reversed(text.upper().split()))):
            if typed == "MOVE CANNOT":
                continue
            np.testing.assert_array_equal(parse(typed, board, die1, die2), result, err_msg=typed)


# --- reading ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dice", "typings"),
    [
        ((3, 1), ["8/5 6/5", "6/5 8/5", "8-5, 6-5", " 8/5  6/5 ", "8/5(1) 6/5(1)"]),
        ((6, 4), ["24/14", "24/20/14", "24/18 18/14", "18/14 24/18", "24/14(1)"]),
        ((3, 3), ["13/7(2)", "13/10(2) 10/7(2)", "13/7 13/7", "13/10/7 13/10 10/7"]),
        ((2, 2), ["24/22(2) 6/4(2)", "6/4 24/22 6/4 24/22"]),
    ],
)
def test_one_play_has_many_spellings(dice: tuple[int, int], typings: list[str]) -> None:
    first, *others = (parse(text, START, *dice) for text in typings)
    assert not np.array_equal(first, START)
    for text, other in zip(typings[1:], others, strict=True):
        np.testing.assert_array_equal(other, first, err_msg=text)


def test_bar_and_off_have_names_and_numbers() -> None:
    entering = make_board({25: 1, 6: 2}, {24: 15})
    expected = make_board({21: 1, 6: 1, 3: 1}, {24: 15})
    for text in ("bar/21 6/3", "BAR/21 6/3", "25/21 6/3", "b/21 6/3"):
        np.testing.assert_array_equal(parse(text, entering, 4, 3), expected)
    leaving = make_board({6: 2, 3: 1}, {24: 15})
    for text in ("6/off 3/off", "6/0 3/0", "3/Off 6/o"):
        np.testing.assert_array_equal(
            parse(text, leaving, 6, 3), make_board({6: 1}, {24: 15}), err_msg=text
        )


def test_a_forced_pass_is_said_in_words() -> None:
    board = make_board({25: 1, 6: 14}, {point: 2 for point in range(1, 7)})
    for text in ("pass", "Cannot Move", ""):
        np.testing.assert_array_equal(parse(text, board, 6, 6), board)


def test_the_way_that_hits_nothing_unnamed_is_meant() -> None:
    """13/9 with 3-1 passes 10 or 12; a blot stands on 10 (K8)."""
    board = make_board({13: 2}, {15: 1, 24: 2})
    past = make_board({13: 1, 9: 1}, {15: 1, 24: 2})
    hitting = make_board({13: 1, 9: 1}, {25: 1, 24: 2})
    np.testing.assert_array_equal(parse("13/9", board, 3, 1), past)
    for text in ("13/10*/9", "13/10/9"):
        np.testing.assert_array_equal(parse(text, board, 3, 1), hitting, err_msg=text)


@pytest.mark.parametrize(
    ("mover", "enemy", "dice", "text", "why"),
    [
        (START_POINTS, START_POINTS, (3, 1), "9/6 6/5", "you have no checker on point 9"),
        (START_POINTS, START_POINTS, (3, 1), "bar/22 6/5", "no checker on the bar"),
        (START_POINTS, START_POINTS, (6, 5), "24/19 13/7", "point 19 is closed by 5 checkers"),
        (START_POINTS, START_POINTS, (3, 1), "8/4 6/5", "leave|used up"),
        (START_POINTS, START_POINTS, (3, 1), "8/3", "8/3 is 5 pips, which 3-1 does not give"),
        (START_POINTS, START_POINTS, (3, 1), "8/5", "you must play both dice of 3-1"),
        (START_POINTS, START_POINTS, (3, 3), "8/5(2)", "you must play 4 of the four 3s, not 2"),
        (START_POINTS, START_POINTS, (3, 1), "8/5 6/5 6/5", "used up by your other moves"),
        (START_POINTS, START_POINTS, (6, 1), "13/7* 8/7", "no checker to hit on point 7"),
        (START_POINTS, START_POINTS, (3, 1), "pass", "you cannot pass: 3-1 can be played"),
        (START_POINTS, START_POINTS, (3, 1), "6/off", "6/off is 6 pips, which 3-1 does not give"),
        (START_POINTS, START_POINTS, (6, 1), "6/off 8/7", "until|outside home"),
        (START_POINTS, START_POINTS, (3, 1), "hello 6/5", "cannot read 'hello'"),
        (START_POINTS, START_POINTS, (3, 1), "8", "cannot read '8'"),
        (START_POINTS, START_POINTS, (3, 1), "8/5(9)", "cannot read '8/5\\(9\\)'"),
        (START_POINTS, START_POINTS, (3, 1), "5/8 6/5", "'5/8' is not a move"),
        (START_POINTS, START_POINTS, (3, 1), "26/23", "there is no point 26"),
        ({25: 1, 6: 2}, {24: 2}, (3, 1), "6/3 6/5", "on the bar must enter first"),
        ({25: 1, 6: 2}, {3: 2, 23: 2}, (3, 1), "bar/22 6/5", "point 22 is closed by 2"),
        ({20: 1, 1: 14}, {16: 2, 13: 5}, (6, 5), "20/15", "must be the larger, the 6"),
        ({13: 2, 1: 13}, {20: 2, 13: 5}, (4, 4), "13/9", "you must play 2 of the four 4s, not 1"),
        ({25: 1, 6: 14}, {p: 2 for p in range(1, 7)}, (6, 6), "bar/19", "no move is possible"),
        ({5: 2, 4: 1}, {1: 1}, (6, 1), "4/off 5/4", "a 6 cannot bear off from 4"),
        ({13: 2}, {15: 1, 13: 1, 24: 2}, (3, 1), "13/9", "can hit on 1[02] or 1[02]"),
    ],
)
def test_a_wrong_move_is_explained(
    mover: dict[int, int], enemy: dict[int, int], dice: tuple[int, int], text: str, why: str
) -> None:
    board = make_board(mover, enemy)
    with pytest.raises(ValueError, match=why) as refusal:
        parse(text, board, *dice)
    assert "\n" not in str(refusal.value)


@settings(max_examples=60)
@given(
    placements(),
    st.lists(st.integers(1, 6), min_size=2, max_size=2),
    st.lists(st.tuples(st.integers(1, 25), st.integers(1, 6)), min_size=1, max_size=4),
)
def test_what_is_typed_leads_to_a_legal_result_or_a_sentence(
    board: Boards, dice: list[int], hops: list[tuple[int, int]]
) -> None:
    """Never to a board that the rules do not know."""
    text = " ".join(f"{source}/{max(source - pips, 0)}" for source, pips in hops)
    legal = afterstates(board[None], np.array([dice], np.uint8), SHORT).boards
    try:
        result = parse(text, board, *dice)
    except ValueError as error:
        assert str(error)
    else:
        assert (legal == result).all(1).any()
