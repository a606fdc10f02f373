"""Games as .mat: the layout by hand, and whole games read back."""

import re

import numpy as np
import pytest

from nardy.notation.matfile import Game, Turn, write_mat
from nardy.notation.moves import parse_move
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, flip, make_board, points_won, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import Variant, variant

SHORT = variant("short")


def played(game: Variant, number: int, starter: int) -> Game:
    """A game in which the middle one of the results is always taken."""
    board, turns = start_board(game), []
    while True:
        dice = roll(2, number, len(turns), game.opening).reshape(2)
        results = afterstates(board[None], dice[None], game).boards
        after = results[len(results) // 2]
        turns.append(Turn(board, dice, after))
        points = int(points_won(after, game))
        if points:
            first_won = (len(turns) - 1 + starter) % 2 == 0
            return Game(starter, turns, points if first_won else -points)
        board = flip(after)


def turn(board: Boards, dice: tuple[int, int], text: str) -> Turn:
    numbers = np.array(dice, np.uint8)
    return Turn(board, numbers, parse_move(text, board, numbers, SHORT))


@pytest.mark.parametrize(
    ("player", "name"),
    [
        ("gnubg-nn", "gnubg-nn"),
        ("work/with/runs/quick-2ply", "with/runs/quick-2ply"),
        ("some/where/runs/quick-2ply", "runs/quick-2ply"),
        ("a name that is longer than its column", "nger than its column"),
    ],
)
def test_names_are_cut_between_the_parts_of_a_path(player: str, name: str) -> None:
    text = write_mat((player, ""), [Game(0, [], 1)], SHORT)
    assert f" {name} : 0 " in text and "nobody : 0" in text


def test_layout() -> None:
    first = turn(start_board(SHORT), (3, 1), "8/5 6/5")
    second = turn(flip(first.after), (4, 2), "8/4 6/4")
    shut = make_board({25: 1, 6: 1}, {25 - p: 2 for p in range(19, 25)})
    stuck = turn(shut, (6, 6), "pass")
    last = turn(make_board({1: 2}, {13: 3}), (5, 4), "1/off(2)")
    games = [Game(0, [first, second, last], 1), Game(1, [first, stuck, last], -3)]
    assert write_mat(("ann", "bob: x"), games, SHORT).split("\n") == [
        " 0 point match",
        "",
        " Game 1",
        " ann : 0                        bob- x : 0",
        "  1) 31: 8/5 6/5                 42: 8/4 6/4",
        "  2) 54: 1/off(2)",
        "      Wins 1 point",
        "",
        " Game 2",
        " ann : 1                        bob- x : 0",
        "  1)                             31: 8/5 6/5",
        "  2) 66:                         54: 1/off(2)",
        "                                  Wins 3 points",
        "",
        "",
    ]


@pytest.mark.parametrize("starter", [0, 1])
def test_games_can_be_played_again_from_the_text(starter: int) -> None:
    game = played(SHORT, 5, starter)
    lines = write_mat(("left", "right"), [game], SHORT).splitlines()
    rows = [line for line in lines if re.match(r" *\d+\) ", line)]
    cells = [cell for row in rows for cell in (row[5:33].strip(), row[33:].strip()) if cell]
    board = start_board(SHORT)
    assert len(cells) == len(game.turns)
    for cell, played_turn in zip(cells, game.turns, strict=True):
        dice = np.array([int(cell[0]), int(cell[1])], np.uint8)
        board = parse_move(cell[3:].strip(), board, dice, SHORT)
        assert board.tolist() == played_turn.after.tolist()
        board = flip(board)
    assert bool(rows[0][5:33].strip()) == (starter == 0)


def test_scores_add_up_and_names_are_cut() -> None:
    games = [played(SHORT, number, 0) for number in range(4)]
    lines = write_mat(("runs/" + "x" * 40, "b"), games, SHORT).splitlines()
    scores = [line for line in lines if " : " in line]
    left = right = 0
    for line, game in zip(scores, games, strict=True):
        assert line == f" {'x' * 20 + f' : {left}':<31}b : {right}"
        left, right = left + max(game.points, 0), right + max(-game.points, 0)


def test_other_variants_are_named() -> None:
    hyper = variant("hyper")
    text = write_mat(("a", "b"), [played(hyper, 1, 0)], hyper)
    assert text.startswith('; [Variation "HyperGammon (3)"]\n\n 0 point match\n')


def test_an_impossible_turn_is_refused() -> None:
    wrong = Turn(start_board(SHORT), np.array([6, 5], np.uint8), start_board(SHORT) * 0 + 1)
    with pytest.raises(ValueError, match="6-5 cannot lead to the board"):
        write_mat(("a", "b"), [Game(0, [wrong], 1)], SHORT)
