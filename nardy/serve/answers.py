"""The questions of the HTTP door, and what a bot answers them.

    MoveQuestion(position="4HPwATDgc/ABMA", dice=(3, 1)).answer(bot)

pydantic checks kinds and ranges, the rules check the rest; either raises a ValueError.
"""

from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from nardy.match.score import Owner, Score
from nardy.notation.ids import from_position_id
from nardy.notation.points import from_points
from nardy.notation.positions import read_position
from nardy.play.player import RankedPlay, cumulative
from nardy.rules.board import Boards, check_board, check_dice
from nardy.rules.variants import SHORT_OUTCOMES
from nardy.serve.bot import Bot, playable_score

MAX_PLY = 2

_Cell = Annotated[int, Field(ge=-15, le=15)]
_Die = Annotated[int, Field(ge=1, le=6)]
_Away = Annotated[int, Field(ge=1, le=25)]
_START = "4HPwATDgc/ABMA"
_CHANCES = {
    "win": 0.55,
    "win_gammon": 0.17,
    "win_backgammon": 0.008,
    "lose_gammon": 0.12,
    "lose_backgammon": 0.005,
}
MOVE_EXAMPLE = {
    "dice": [3, 1],
    "legal": 16,
    "plays": [
        {"move": "8/5 6/5", "hops": [[8, 5], [6, 5]], "equity": 0.16, "cubeful": 0.22, "ply": 0}
        | {"board": [0, -2, 0, 0, 0, 7, 4] + [0] * 19, **_CHANCES}
    ],
}
_ACTIONS = {"no_double": 0.12, "double_take": -0.4, "double_pass": 1.0, "double_beaver": -0.8}
CUBE_EXAMPLE = {
    "verdict": "no double/take",
    "double": False,
    "take": True,
    "beaver": False,
    "too_good": False,
    "equities": _ACTIONS,
    "values": _ACTIONS,
    "unit": "points",
    "ply": 0,
    "window": {"take": 0.27, "double": 0.65, "cash": 0.73, "too_good": 0.82},
    **_CHANCES,
}
VALUE_EXAMPLE = {"equity": 0.07, "cubeful": 0.12, "ply": 0, **_CHANCES}
_TOTALS = {
    **{"plays": 1, "unforced": 1, "cubes": 0, "play_error": 0.147, "cube_error": 0.0},
    **{"loss": 0.011, "missed": 0, "wrong_doubles": 0, "wrong_takes": 0, "wrong_passes": 0},
    **{"marks": [0, 1, 0], "luck": 0.5, "error_rate": 147.0, "snowie": 73.5, "pr": 73.5},
}
ANALYSIS_EXAMPLE = {
    "players": ["anna", "boris"],
    "variant": "short",
    "length": 7,
    "ply": 0,
    "unit": "chance of winning the match",
    "totals": [_TOTALS, _TOTALS],
    "games": [{"score": [0, 0], "crawford": False, "winner": 0, "points": 2}],
    "decisions": [
        {
            **{"game": 1, "turn": 2, "player": 0, "kind": "play"},
            "position_id": _START,
            "board": from_position_id(_START).tolist(),
            **{"dice": [6, 6], "cube": 1, "owner": "centre", "away": [7, 7], "crawford": False},
            **{"chosen": "24/18 13/7(3)", "best": "24/18(2) 13/7(2)", "error": 0.147},
            **{"loss": 0.011, "mark": "?", "luck": 0.5},
            "options": [{"text": "24/18(2) 13/7(2)", "equity": 0.63, **_CHANCES}],
        }
    ],
}


class Question(BaseModel):
    """A position, and what it is played for unless its text says so."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"position": _START}, {"position": _START, "ply": 1}]},
    )

    position: str | None = Field(
        None,
        max_length=400,
        description="Position ID, ID:MatchID, XGID or FIBS board string; in long nardy checkers "
        "by point, as 24:15 24:15",
    )
    board: Annotated[list[_Cell], Field(min_length=26, max_length=26)] | None = Field(
        None, description="26 cells in the view of the player on roll, instead of `position`"
    )
    away: tuple[_Away, _Away] | None = Field(
        None, description="points that the player on roll and the other need; without it, money"
    )
    crawford: bool = False
    cube: int = Field(1, ge=1, le=64)
    owner: Owner = Field("centre", description="of the cube, for the player on roll")
    jacoby: bool = False
    beavers: bool = False
    ply: int | None = Field(None, ge=0, le=MAX_PLY)

    def asked(self, bot: Bot) -> tuple[Boards, Score, tuple[int, int] | None]:
        """The board in the view of the player on roll, his score, and dice that are thrown.

        Raises ValueError, in one sentence, for what cannot be.
        """
        given = {name: getattr(self, name) for name in self.model_fields_set & _OF_SCORE}
        if (self.position is None) == (self.board is None):
            raise ValueError("either `position` or `board` is needed, and not both")
        if self.board is not None:
            return check_board(np.array(self.board), bot.game), _score(given), None
        if bot.game.family == "blocking":
            board = from_points(self.position or "", bot.game.family)
            return check_board(board, bot.game), _score(given), None
        position = read_position(self.position or "")
        board = check_board(position.board, bot.game)
        score = _score(given) if given else playable_score(position.state)
        return board, score, position.state.dice

    def cube_answer(self, bot: Bot) -> dict[str, Any]:
        """What the cube's actions are worth. Raises ValueError as `asked`, and after the roll."""
        board, score, dice = self.asked(bot)
        if dice is not None:
            raise ValueError(f"no double now: {dice[0]}-{dice[1]} has been rolled")
        found = bot.cube(board, score, self.ply)
        names = ("verdict", "double", "take", "beaver", "too_good", "ply")
        return {
            **{name: getattr(found, name) for name in names},
            "equities": found.equities._asdict(),
            "values": found.values._asdict(),
            "unit": "points" if score.money else "chance of winning the match",
            "window": found.window._asdict(),
            **cumulative(np.asarray(found.chances, np.float32), SHORT_OUTCOMES),
        }

    def value_answer(self, bot: Bot) -> dict[str, Any]:
        """The chances of the player on roll. Raises ValueError as `asked`."""
        board, score, _ = self.asked(bot)
        chances = bot.chances(board, self.ply)
        answer: dict[str, Any] = {
            "equity": float(chances @ np.array(bot.game.outcomes, np.float32)),
            "ply": bot.ply if self.ply is None else self.ply,
            **cumulative(chances, bot.game.outcomes),
        }
        if bot.cube_known:
            answer["cubeful"] = bot.cube(board, score, self.ply).equities.no_double
        return answer


class MoveQuestion(Question):
    """A position and a roll."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"position": _START, "dice": [3, 1]},
                {"position": "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:3:0:10", "plays": 3},
                {"position": _START, "dice": [6, 5], "away": [3, 5], "ply": 1},
            ]
        }
    )

    dice: tuple[_Die, _Die] | None = Field(None, description="unless the position has them")
    plays: int = Field(5, ge=1, le=2000, description="how many plays to tell, the best ones")

    def answer(self, bot: Bot) -> dict[str, Any]:
        """The best plays. Raises ValueError as `asked`, and where there are no dice."""
        board, score, thrown = self.asked(bot)
        dice = self.dice or thrown
        if dice is None:
            raise ValueError("`dice` are needed: the position has none")
        roll = check_dice(dice)
        plays = bot.plays(board, roll, score, self.ply)
        shown = plays[: self.plays]
        hops = bot.hops(board, roll, shown)
        return {
            "dice": list(dice),
            "legal": len(plays),
            "plays": [
                {"move": play.text, "hops": [[hop.source, hop.target] for hop in way]}
                | _numbers(play, bot)
                for play, way in zip(shown, hops, strict=True)
            ],
        }


class AnalyzeQuestion(BaseModel):
    """Recorded games."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "text": " 7 point match\n\n Game 1\n anna : 0          boris : 0\n"
                    "  1) 31: 8/5 6/5              52: 24/22 13/8\n",
                    "ply": 0,
                }
            ]
        },
    )

    text: str = Field(max_length=300_000, description="a .mat or gnubg's .sgf")
    ply: int = Field(0, ge=0, le=1)


_OF_SCORE = {"away", "crawford", "cube", "owner", "jacoby", "beavers"}


def _score(given: dict[str, Any]) -> Score:
    """A score from the fields that were given; automatic doubles are allowed for a centred cube."""
    away = given.get("away")
    if away is not None:
        return Score(**given, length=max(away))
    if given.get("owner", "centre") == "centre":
        return Score(**given, auto_doubles=min(given.get("cube", 1).bit_length() - 1, 6))
    return Score(**given)


def _numbers(play: RankedPlay, bot: Bot) -> dict[str, Any]:
    return {
        "equity": play.equity,
        "cubeful": play.cubeful,
        "ply": play.ply,
        "board": play.board.tolist(),
        **cumulative(play.chances, bot.game.outcomes),
    }
