"""Long nardy and nardgammon at the HTTP door: positions as checkers by point, moves in the mover's
numbers, chances of a game without backgammons, the cube where there is one."""

import numpy as np
import pytest
from pydantic import ValidationError
from random_nets import make_net

from nardy.match.score import Score
from nardy.play.player import Player
from nardy.rules.board import start_board
from nardy.rules.variants import Variant, variant
from nardy.serve.answers import MoveQuestion, Question
from nardy.serve.bot import Bot
from nardy.serve.game import PositionAsked, RollAsked, _Tables

LONG, NARDGAMMON = variant("long"), variant("nardgammon")
START = "24:15 24:15"


def bot_of(game: Variant) -> Bot:
    return Bot(make_net(12, (8,), game=game))


def test_a_text_and_a_board_are_one_position() -> None:
    bot, board = bot_of(LONG), start_board(LONG).tolist()
    by_text = MoveQuestion(position=START, dice=(6, 6)).answer(bot)
    assert by_text == MoveQuestion(board=board, dice=(6, 6)).answer(bot)
    (play,) = by_text["plays"]
    assert play["move"] == "24/18(2)" and play["hops"] == [[24, 18], [24, 18]]
    assert play["cubeful"] is None and play["win_backgammon"] == 0
    value = Question(position=START).value_answer(bot)
    assert "cubeful" not in value and 0 < value["win"] < 1


@pytest.mark.parametrize("text", ["4HPwATDgc/ABMA", "24:15", "", "25:1,24:14 24:15"])
def test_what_is_no_position_is_said_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        Question(position=text).value_answer(bot_of(LONG))
    assert "\n" not in str(caught.value)


def test_the_cube_is_nardgammons_alone() -> None:
    with pytest.raises(ValueError, match="^long is played without the cube$"):
        Question(position=START).cube_answer(bot_of(LONG))
    bot = bot_of(NARDGAMMON)
    answer = Question(position=START, away=(3, 5)).cube_answer(bot)
    found = Player(bot.net).cube(start_board(NARDGAMMON), Score((3, 5), 5))
    assert answer["verdict"] == found.verdict
    assert answer["equities"]["no_double"] == pytest.approx(found.equities.no_double)
    assert answer["lose_backgammon"] == 0
    chances = bot.chances(start_board(NARDGAMMON))
    assert answer["win"] == pytest.approx(float(chances[2:].sum()))
    assert answer["lose_gammon"] == pytest.approx(float(chances[0]))


def test_the_page_is_told_as_many_chances_as_there_are_outcomes() -> None:
    tables = _Tables([make_net(12, (8,), game=game) for game in (LONG, NARDGAMMON)], {})
    board = start_board(LONG).tolist()
    for game in (LONG, NARDGAMMON):
        told = tables.position(PositionAsked(variant=game.name, board=board))
        np.testing.assert_allclose(told.chances, bot_of(game).chances(start_board(game)), atol=1e-6)
        assert (told.cube is not None) == (game is NARDGAMMON)
        (play,) = tables.rank(RollAsked(variant=game.name, board=board, dice=(3, 1)))
        assert len(play.chances) == 4


def test_a_long_board_has_26_cells() -> None:
    with pytest.raises(ValidationError):
        Question(board=[0] * 25)
