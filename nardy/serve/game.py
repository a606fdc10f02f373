"""The web page's own doors: which games are offered, plays ranked, chances and cube of a position.

    app.include_router(page_router(nets, heads))           # its doors in an application
    app.router.default = page_files()                      # its files, where no route is

The page knows the rules itself and sends boards in the mover's view. Needs fastapi.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field, StrictInt
from starlette.types import Scope

from nardy.match.score import Owner, Score
from nardy.net.net import Net
from nardy.play.cube_head import CubeHead
from nardy.play.cubeful import columns_of
from nardy.play.player import LEVELS, Player
from nardy.rules.board import check_board
from nardy.serve.bot import Bot
from nardy.serve.static import WEB

DEFAULT_LEVEL = "expert"
_ASKED: dict[str, Any] = {
    "variant": "short",
    "board": [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0],
    "level": DEFAULT_LEVEL,
    "score": {"length": 3, "points": [1, 0], "cube": 2, "owner": "mine"},
}


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ScoreAsked(_Asked):
    """The score in the view of the player who moves; length 0: for points, without end."""

    length: StrictInt = Field(default=0, ge=0, le=25)
    points: tuple[StrictInt, StrictInt] = (0, 0)
    crawford: bool = False
    cube: StrictInt = 1
    owner: Owner = "centre"
    doubling: bool = True

    def score(self) -> Score:
        """Raises ValueError where the values do not go together."""
        away = None
        if self.length:
            away = (self.length - self.points[0], self.length - self.points[1])
        return Score(
            away, self.length, self.crawford, self.cube, self.owner, doubling=self.doubling
        )


class PositionAsked(_Asked):
    """A board of 26 numbers, its mover on roll."""

    model_config = ConfigDict(json_schema_extra={"examples": [_ASKED]})

    variant: str
    board: list[StrictInt] = Field(min_length=26, max_length=26)
    level: str = DEFAULT_LEVEL
    score: ScoreAsked = ScoreAsked()


class RollAsked(PositionAsked):
    """A board and the roll to be played."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_ASKED, "dice": [3, 1]}]})

    dice: tuple[StrictInt, StrictInt]


class Play(BaseModel):
    """A legal play: the afterstate, its equity and chances for the player who moves.

    equity: cubeful at the score, a single game at this cube being 1; points in games without cube.
    """

    board: list[int]
    equity: float
    chances: list[float]


class CubeAdvice(BaseModel):
    """Equities of the cube actions in the unit of a single game at the cube as it lies (also in a
    match: EMG), and the verdict for both sides."""

    no_double: float
    double_take: float
    double_pass: float
    double: bool
    take: bool


class PositionAnswer(BaseModel):
    """Chances of the game's outcomes for the player on roll; cube: None where he may not double."""

    chances: list[float]
    cube: CubeAdvice | None


class _Tables:
    """A bot for each variant, and its players by level; one request at a time uses them."""

    def __init__(self, nets: Sequence[Net], heads: Mapping[str, CubeHead]) -> None:
        self.bots = {net.variant.name: Bot(net, head=heads.get(net.variant.name)) for net in nets}
        self._players: dict[tuple[str, str], Player] = {}
        self._lock = threading.Lock()

    def bot(self, variant: str) -> Bot:
        if variant not in self.bots:
            raise ValueError(f"no game {variant!r} here; there are {', '.join(self.bots)}")
        return self.bots[variant]

    def rank(self, asked: RollAsked) -> list[Play]:
        board, dice = np.array(asked.board), np.array(asked.dice)
        bot, score = self.bot(asked.variant), asked.score.score()
        with self._lock:
            player = self._players.get((asked.variant, asked.level))
            if player is None:
                player = Player(bot.net, level=asked.level, head=bot.head)
                self._players[asked.variant, asked.level] = player
            plays = player.best(board, dice, score=score if bot.cube_known else None)
        return [
            Play(
                board=play.board.tolist(),
                equity=play.equity if play.cubeful is None else play.cubeful,
                chances=play.chances.tolist(),
            )
            for play in plays
        ]

    def position(self, asked: PositionAsked) -> PositionAnswer:
        bot, score = self.bot(asked.variant), asked.score.score()
        board = check_board(np.array(asked.board), bot.game)
        with self._lock:
            if not (bot.cube_known and score.may_double):
                return PositionAnswer(chances=bot.chances(board).tolist(), cube=None)
            found = bot.cube(board, score)
        stay, taken, passed, _ = found.equities
        assert taken is not None and passed is not None
        cube = CubeAdvice(
            no_double=stay,
            double_take=taken,
            double_pass=passed,
            double=found.double,
            take=found.take,
        )
        chances = found.chances[columns_of(bot.game)].tolist()
        return PositionAnswer(chances=chances, cube=cube)


def offer(nets: Sequence[Net]) -> dict[str, Any]:
    """What the page reads as games.json: the games with their rules, and the levels."""
    games = [asdict(game) for game in {net.variant.name: net.variant for net in nets}.values()]
    return {"engine": "server", "games": games, "levels": list(LEVELS)}


def page_router(nets: Sequence[Net], heads: Mapping[str, CubeHead] | None = None) -> APIRouter:
    """The doors of the page for these nets, one of each variant (the last counts).

    heads: by variant, of the nets that have learnt the cube.
    What cannot be answered gets status 400, and a sentence as the application writes it.
    """
    tables = _Tables(nets, heads or {})
    games = offer(nets)
    router = APIRouter(tags=["page"])

    @router.get("/games.json")
    def games_json() -> dict[str, Any]:
        """The games offered here, their rules and the levels of the bot."""
        return games

    @router.post("/play/rank")
    def rank(asked: RollAsked) -> list[Play]:
        """Every legal play of a roll, the one that this level makes first."""
        try:
            return tables.rank(asked)
        except ValueError as error:
            raise HTTPException(400, str(error)) from None

    @router.post("/play/position")
    def position(asked: PositionAsked) -> PositionAnswer:
        """The chances of the player on roll, and whether to double and take."""
        try:
            return tables.position(asked)
        except ValueError as error:
            raise HTTPException(400, str(error)) from None

    return router


class _Files(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        if scope["method"] in ("GET", "HEAD"):
            return await super().get_response(path, scope)
        if self.lookup_path(path)[1] is None:
            raise HTTPException(404)
        raise HTTPException(405, headers={"Allow": "GET, HEAD"})


def page_files() -> StaticFiles:
    """The files of the page. Mounted at "/" they would also take a wrong method of another door."""
    return _Files(directory=WEB, html=True)
