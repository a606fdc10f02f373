"""wildbg's two queries, as its clients send and read them (wildbg, crates/web).

    move(bot, board({"p24": "2", ...}), dice, score(0, 0))
    evaluate(bot, board(...), score(0, 0))

x is on roll and moves from 24 to 1, his checkers are positive; p25 is his bar, p0 that of o.
x_away and o_away are both 0 for money.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.match.score import Score
from nardy.net.net import Floats
from nardy.play.player import cumulative
from nardy.rules.board import Boards
from nardy.rules.variants import SHORT_OUTCOMES
from nardy.serve.bot import Bot

_NAMES = {
    "win": "win",
    "win_gammon": "winG",
    "win_backgammon": "winBg",
    "lose_gammon": "loseG",
    "lose_backgammon": "loseBg",
}
_CHANCES = {"win": 0.55, "winG": 0.17, "winBg": 0.008, "loseG": 0.12, "loseBg": 0.005}
MOVE_EXAMPLE = {
    "moves": [
        {"play": [{"from": 8, "to": 5}, {"from": 6, "to": 5}], "probabilities": _CHANCES},
    ]
}
_START = {24: 2, 19: -5, 17: -3, 13: 5, 12: -5, 8: 3, 6: 5, 1: -2}
PARAMETERS = [
    {
        "name": f"p{point}",
        "in": "query",
        "description": {25: "the bar of x", 0: "the bar of o"}.get(point, f"point {point}"),
        "schema": {"type": "integer", "minimum": -15, "maximum": 15, "default": 0},
        "example": _START.get(point, 0),
    }
    for point in range(25, -1, -1)
]
"""The points of a query as OpenAPI describes them, the start as their example."""

EVAL_EXAMPLE = {"cube": {"double": False, "accept": True}, "probabilities": _CHANCES}


def board(points: Mapping[str, str]) -> list[int]:
    """26 cells from a query's p0 to p25; those that are missing are empty.

    Raises ValueError naming what is no count of checkers.
    """
    cells = [0] * 26
    for name, text in points.items():
        if re.fullmatch(r"[+-]?\d{1,2}", text, re.ASCII) is None or abs(int(text)) > 15:
            raise ValueError(f"{name} is a count of -15 to 15 checkers, not {text[:40]!r}")
        cells[int(name[1:])] = int(text)
    return cells


def score(x_away: int, o_away: int) -> Score:
    """What is played for, in x's view; Crawford where one player needs one point, as wildbg has it.

    Raises ValueError where only one of the two is 0.
    """
    if x_away == o_away == 0:
        return Score()
    if not x_away or not o_away:
        raise ValueError(f"x_away and o_away are both 0 or both more, not {x_away} and {o_away}")
    length = max(x_away, o_away)
    return Score((x_away, o_away), length, crawford=1 in (x_away, o_away))


def move(bot: Bot, board: Boards, dice: NDArray[np.uint8], score: Score) -> dict[str, Any]:
    """Every legal move, the best first."""
    plays = bot.plays(board, dice, score)
    hops = bot.hops(board, dice, plays)
    return {
        "moves": [
            {
                "play": [{"from": hop.source, "to": hop.target} for hop in way],
                "probabilities": _probabilities(play.chances, bot.game.outcomes),
            }
            for play, way in zip(plays, hops, strict=True)
        ]
    }


def evaluate(bot: Bot, board: Boards, score: Score) -> dict[str, Any]:
    """The chances of x before his roll, whether he doubles and whether o accepts."""
    if not bot.cube_known:
        cube = {"double": False, "accept": True}
        return {
            "cube": cube,
            "probabilities": _probabilities(bot.chances(board), bot.game.outcomes),
        }
    decision = bot.cube(board, score)
    cube = {"double": decision.double, "accept": decision.take or not score.may_double}
    chances = np.asarray(decision.chances, np.float32)
    return {"cube": cube, "probabilities": _probabilities(chances, SHORT_OUTCOMES)}


def _probabilities(chances: Floats, outcomes: tuple[int, ...]) -> dict[str, float]:
    numbers = cumulative(chances, outcomes)
    return {theirs: numbers[ours] for ours, theirs in _NAMES.items()}
