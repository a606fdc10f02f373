"""The drawing, character by character where it matters."""

from nardy.play.board_text import draw
from nardy.rules.board import make_board, start_board
from nardy.rules.variants import variant


def test_the_start() -> None:
    assert draw(start_board(variant("short")), 15, note="you roll 3-1").splitlines() == [
        "+13-14-15-16-17-18------19-20-21-22-23-24-+",
        "| X           O    |   | O              X |  O opponent: 167 pips, 0 off",
        "| X           O    |   | O              X |",
        "| X           O    |   | O                |",
        "| X                |   | O                |",
        "| X                |   | O                |",
        "|                  |BAR|                  |  you roll 3-1",
        "| O                |   | X                |",
        "| O                |   | X                |",
        "| O           X    |   | X                |",
        "| O           X    |   | X              O |",
        "| O           X    |   | X              O |  X you: 167 pips, 0 off",
        "+12-11-10--9--8--7-------6--5--4--3--2--1-+",
    ]


def test_bars_high_stacks_and_checkers_off() -> None:
    board = make_board({25: 2, 6: 12}, {25: 1, 24: 7})
    lines = draw(board, 15, ("me", "bot")).splitlines()
    assert lines[1].startswith("|                  | O |   ")
    assert lines[1].endswith("O bot: 193 pips, 7 off")
    assert lines[11] == "|                  | X | X              O |  X me: 122 pips, 1 off"
    assert lines[10] == "|                  | X | X              O |"
    # the innermost row of a stack of more than five says how many it holds
    assert lines[7] == "|                  |   |12              7 |"
