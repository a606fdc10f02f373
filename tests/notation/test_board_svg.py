"""Positions drawn as SVG: every checker is there, and nothing from elsewhere."""

from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest

from nardy.notation.board_svg import board_svg
from nardy.notation.state import MatchState, Position
from nardy.rules.board import make_board, start_board
from nardy.rules.variants import variant

NS = "{http://www.w3.org/2000/svg}"
LIGHT, DARK = "#f6efe0", "#6b2f24"
PIPS = 2.2  # radius


def circles(svg: str) -> list[dict[str, str]]:
    return [element.attrib for element in ElementTree.fromstring(svg).iter(f"{NS}circle")]


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{NS}text")]


@pytest.mark.parametrize("name", ["short", "hyper"])
def test_every_checker_is_drawn_on_its_side(name: str) -> None:
    game = variant(name)
    board = start_board(game)
    found = Counter(circle["fill"] for circle in circles(board_svg(board)))
    assert found == {LIGHT: game.checkers, DARK: game.checkers}


def test_a_pile_tells_its_height() -> None:
    board = make_board({6: 7, 25: 1}, {6: 8, 25: 2})
    svg = board_svg(board, checkers=15)
    found = Counter(circle["fill"] for circle in circles(svg))
    assert found == {LIGHT: 5 + 1, DARK: 5 + 2}
    said = texts(svg)
    assert said.count("7") == said.count("8") == 2  # the point's number, and the pile's
    assert ["98 pips", "5 off"] == said[-4:-2] and ["67 pips", "7 off"] == said[-2:]


def test_points_lie_where_the_terminal_has_them() -> None:
    """13 to 24 above from left to right, 12 to 1 below."""
    places = {}
    for point in range(1, 25):
        board = np.zeros(26, np.int8)
        board[point] = 1
        (circle,) = circles(board_svg(board))
        places[point] = (float(circle["cy"]), float(circle["cx"]))
    upper = [places[point] for point in range(13, 25)]
    lower = [places[point] for point in range(12, 0, -1)]
    assert upper == sorted(upper) and lower == sorted(lower)
    assert [x for _, x in upper] == [x for _, x in lower]
    assert {y for y, _ in upper} == {34.0} and {y for y, _ in lower} == {326.0}


@pytest.mark.parametrize("die", range(1, 7))
def test_dice_have_their_pips(die: int) -> None:
    empty = np.zeros(26, np.int8)
    assert len(circles(board_svg(empty, dice=(die, 6)))) == die + 6


def test_titles_cannot_break_the_picture() -> None:
    root = ElementTree.fromstring(board_svg(start_board(variant("short")), title='<a> & "b"'))
    assert root.attrib["aria-label"] == '<a> & "b"; light 167 pips, dark 167 pips'


def test_long_nardy_has_no_bar_and_its_own_pips() -> None:
    game = variant("long", last_roll="second_player")
    svg = board_svg(start_board(game), game.family)
    assert Counter(circle["fill"] for circle in circles(svg)) == {LIGHT: 5, DARK: 5}
    assert "light 360 pips, dark 360 pips" in svg


def test_a_position_shows_itself() -> None:
    board = start_board(variant("short"))
    assert Position(board, MatchState(dice=(6, 5)))._repr_svg_() == board_svg(board, dice=(6, 5))
