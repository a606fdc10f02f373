"""Gammons that the rules exclude, against the rule read one position at a time."""

import numpy as np
import pytest
from random_nets import make_net, play_out

from nardy.net.net import Floats
from nardy.notation.ids import from_position_id
from nardy.play.player import Player, cumulative
from nardy.play.possible import possible, with_off
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, points_won
from nardy.rules.variants import Variant, variant

SHORT, LONG = variant("short"), variant("long")


def slow_possible(chances: Floats, board: Boards, game: Variant) -> list[float]:
    """Gammons are won against a side that has all its checkers on the board (K14)."""
    left = dict.fromkeys(game.outcomes, 0.0)
    for points, chance in zip(game.outcomes, chances.tolist(), strict=True):
        loser = board < 0 if points > 0 else board > 0
        bound = 3 if abs(board[loser].sum()) == game.checkers else 1
        left[max(-bound, min(bound, points))] += chance
    return list(left.values())


@pytest.mark.parametrize("game", [SHORT, LONG])
def test_chances_and_rows_are_those_of_the_rule(game: Variant) -> None:
    boards, dice, _ = play_out(game, 6, 150)
    chances = make_net(8, game=game, pairs=0).outcomes(boards)
    found = possible(chances, boards, game)
    slow = [slow_possible(*row, game) for row in zip(chances, boards, strict=True)]
    np.testing.assert_allclose(found, slow, atol=1e-6)
    assert (found != chances).any(-1).sum() > 20  # or nothing was tested

    results = afterstates(boards, dice, game)
    counts = [(np.abs(row[row > 0].sum()), np.abs(row[row < 0].sum())) for row in results.boards]
    assert with_off(boards, results, game).tolist() == [min(n) < game.checkers for n in counts]


@pytest.mark.parametrize("ply", [0, 1])
def test_a_player_tells_no_gammon_that_cannot_be(ply: int) -> None:
    board = from_position_id("mxmAQ4PbAQAAAA")
    assert -board[board < 0].sum() < SHORT.checkers
    for play in Player(make_net(8), ply).best(board, np.array([2, 1], np.uint8)):
        told = cumulative(play.chances, SHORT.outcomes)
        assert told["win_gammon"] == told["win_backgammon"] == 0
        assert points_won(play.board, SHORT) or 0 < told["win"] < 1
        points = np.array(SHORT.outcomes)
        assert play.equity == pytest.approx(float(play.chances @ points), abs=1e-5)
