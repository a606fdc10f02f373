"""HTTP: plays, cube, values and analyses as JSON, and the two queries of wildbg's clients.

    nardy serve --port 8000 --workers 2    # http://localhost:8000/docs describes everything
    app = make_app(Net.load("checkpoints/short-01"))     # for another ASGI server

Every question that cannot be answered gets a status of 4xx and {"message": a sentence}. Pages of
any site may ask: there is nothing here that not everybody may read (CORS). Questions
at 0-ply are answered in the event loop, as handing them to a thread would take longer; deeper
ones by threads. Importing this module needs fastapi and uvicorn, of nardy[serve].
"""

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np

try:
    import uvicorn
    from fastapi import FastAPI, Query, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.middleware.cors import CORSMiddleware
    from fastapi.responses import JSONResponse, PlainTextResponse
    from starlette.exceptions import HTTPException
except ImportError:
    raise ValueError(
        "the HTTP door needs fastapi and uvicorn: pip install 'nardy[serve]'"
    ) from None

from nardy import __version__
from nardy.net.net import Net
from nardy.notation.games import games_from_text
from nardy.play.analysis_text import as_json
from nardy.play.analyze import analyze
from nardy.play.cube_head import CubeHead
from nardy.play.nets import load_by_rules
from nardy.rules.board import check_board, check_dice
from nardy.serve import answers, wildbg
from nardy.serve.answers import AnalyzeQuestion, MoveQuestion, Question
from nardy.serve.bot import Bot, Bots
from nardy.serve.game import page_files, page_router
from nardy.serve.gate import Gate
from nardy.serve.offered import other_nets
from nardy.serve.workers import deals_out, keep, listener, reserved

_SERVED = "NARDY_SERVED"
"""Where a worker process finds in its environment what it serves, as JSON."""

_T = TypeVar("_T")
_DESCRIPTION = (
    "A position is a gnubg Position ID, `ID:MatchID`, an XGID or a FIBS board string; or `board`, "
    "26 numbers in the view of the player on roll: 1 to 24 are points from his home, his checkers "
    "positive, 25 is his bar, 0 the opponent's (0 or negative). Equities are points; `cubeful` and "
    "those of the cube take a single game at the cube's value as 1."
)
_SENTENCE = {
    "example": {"message": "two dice of 1 to 6 are needed"},
    "schema": {
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
    },
}
_REFUSED: dict[int | str, dict[str, Any]] = {
    # all of them, which keeps FastAPI from telling of a 422 that it would answer itself
    "4XX": {
        "description": "One sentence saying what is wrong",
        "content": {"application/json": _SENTENCE},
    }
}


def _example(value: Any) -> dict[int | str, dict[str, Any]]:
    content = {"application/json": {"example": value, "schema": {"type": "object"}}}
    return {200: {"description": "The answer", "content": content}, **_REFUSED}


class _Desk:
    """Who answers: a bot in the event loop for what is quick, threads for the rest."""

    def __init__(self, net: Net, ply: int, head: CubeHead | None) -> None:
        self.bots = Bots(net, ply, head)
        self.ply = ply
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, "nardy")

    async def ask(self, ply: int | None, work: Callable[[Bot], _T]) -> _T:
        """What `work` makes of a bot of the thread that it runs in."""
        if (self.ply if ply is None else ply) == 0:
            return work(self.bots.mine())
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: work(self.bots.mine()))

    async def slowly(self, work: Callable[[Bot], _T]) -> _T:
        """As `ask`, always by a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: work(self.bots.mine()))


def make_app(
    net: Net,
    ply: int = 0,
    name: str = "net",
    head: CubeHead | None = None,
    others: Sequence[tuple[Net, CubeHead | None]] = (),
) -> FastAPI:
    """The ASGI application. ply: depth where a question names none; name: of the net, for /health;
    head: the cube that it has learnt; others: nets of other games that the page offers too.

    Raises ValueError for a bad depth.
    """
    desk, gate = _Desk(net, ply, head), Gate()
    desk.bots.mine()
    app = FastAPI(
        title="nardy", version=__version__, description=_DESCRIPTION, redirect_slashes=False
    )
    gate.guard(app)
    methods, headers = ["GET", "POST"], ["content-type"]
    app.add_middleware(
        CORSMiddleware, allow_origins=["*"], allow_methods=methods, allow_headers=headers
    )
    app.exception_handler(ValueError)(_refused)
    app.exception_handler(RequestValidationError)(_unreadable)
    app.exception_handler(HTTPException)(_not_here)
    _add_questions(app, desk)
    _add_wildbg(app, desk)

    @app.get("/health", tags=["server"])  # told, while the one below answers
    @app.api_route("/health", methods=["GET", "HEAD"], include_in_schema=False)
    async def health() -> JSONResponse:
        """Whether the server answers, and with what."""
        facts = {"status": "ok", "version": __version__, "variant": net.variant.name}
        return JSONResponse({**facts, "net": name, "ply": ply, "pid": os.getpid()})

    @app.get("/metrics", tags=["server"])
    async def metrics() -> PlainTextResponse:
        """Requests and seconds by path, for Prometheus; of this worker alone."""
        return PlainTextResponse(gate.metrics())

    page = [(net, head), *others]
    heads = {one.variant.name: known for one, known in page if known}
    app.include_router(page_router([one for one, _ in page], heads), responses=_REFUSED)
    app.router.default = page_files()  # what no door has taken
    return app


def _add_questions(app: FastAPI, desk: _Desk) -> None:
    @app.post("/v1/move", tags=["play"], responses=_example(answers.MOVE_EXAMPLE))
    async def move(question: MoveQuestion) -> JSONResponse:
        """The legal plays of a roll, best first."""
        return JSONResponse(await desk.ask(question.ply, question.answer))

    @app.post("/v1/cube", tags=["play"], responses=_example(answers.CUBE_EXAMPLE))
    async def cube(question: Question) -> JSONResponse:
        """What the cube's actions are worth before the roll, and what is right."""
        return JSONResponse(await desk.ask(question.ply, question.cube_answer))

    @app.post("/v1/evaluate", tags=["play"], responses=_example(answers.VALUE_EXAMPLE))
    async def evaluate(question: Question) -> JSONResponse:
        """The chances of the player on roll, before his roll."""
        return JSONResponse(await desk.ask(question.ply, question.value_answer))

    @app.post("/v1/analyze", tags=["play"], responses=_example(answers.ANALYSIS_EXAMPLE))
    async def analyse(question: AnalyzeQuestion) -> JSONResponse:
        """Recorded games, a .mat or gnubg's .sgf, judged decision by decision."""

        def work(bot: Bot) -> dict[str, Any]:
            match = games_from_text(question.text)
            return as_json(analyze(match, bot.net, question.ply, head=bot.head))

        return JSONResponse(await desk.slowly(work))


def _add_wildbg(app: FastAPI, desk: _Desk) -> None:
    points = {f"p{point}" for point in range(26)}

    def board_of(request: Request) -> list[int]:
        given = {name: value for name, value in request.query_params.items() if name in points}
        return wildbg.board(given)

    Away = Annotated[int, Query(ge=0, le=25)]
    Die = Annotated[int, Query(ge=1, le=6, examples=[3])]

    told = {"parameters": wildbg.PARAMETERS}

    @app.get("/move", tags=["wildbg"], responses=_example(wildbg.MOVE_EXAMPLE), openapi_extra=told)
    async def wildbg_move(
        request: Request, die1: Die, die2: Die, x_away: Away = 0, o_away: Away = 0
    ) -> JSONResponse:
        """wildbg's query: points as p0 to p25, positive those of x, who is on roll."""
        board = check_board(np.array(board_of(request)), desk.bots.net.variant)
        dice, score = check_dice([die1, die2]), wildbg.score(x_away, o_away)
        return JSONResponse(await desk.ask(None, lambda bot: wildbg.move(bot, board, dice, score)))

    @app.get("/eval", tags=["wildbg"], responses=_example(wildbg.EVAL_EXAMPLE), openapi_extra=told)
    async def wildbg_eval(request: Request, x_away: Away = 0, o_away: Away = 0) -> JSONResponse:
        """wildbg's query: chances and cube of x, who is on roll."""
        board = check_board(np.array(board_of(request)), desk.bots.net.variant)
        score = wildbg.score(x_away, o_away)
        return JSONResponse(await desk.ask(None, lambda bot: wildbg.evaluate(bot, board, score)))


# --- what cannot be answered -------------------------------------------------------------------


def _message(status: int, sentence: str) -> JSONResponse:
    safe = sentence.encode("utf-8", "backslashreplace").decode()
    return JSONResponse({"message": safe}, status)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    return _message(400, str(error))


async def _unreadable(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return _message(400, f"the body is no JSON: {first['ctx']['error']}")
    if first["loc"] == ("body",) and isinstance(first.get("input"), bytes):
        return _message(400, "the body must be JSON, the header content-type: application/json")
    where = ".".join(str(part) for part in first["loc"][1:]) or "the body"
    if first["type"] == "missing":
        return _message(400, f"{where} is missing")
    given = repr(first.get("input"))
    shown = given if len(given) <= 60 else f"{given[:57]}..."
    return _message(400, f"{where}: {first['msg']}, not {shown}")


async def _not_here(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code != 405 or not error.headers:
        return _message(error.status_code, str(error.detail))
    allowed = ", ".join(sorted(error.headers["Allow"].split(", ")))
    answer = _message(405, f"{request.url.path!r} takes {allowed}, not {request.method}")
    answer.headers["Allow"] = allowed
    return answer


# --- starting ----------------------------------------------------------------------------------


_APP = "nardy.serve.http:from_environment"
_SERVER: dict[str, Any] = {"factory": True, "access_log": False}


class Served(NamedTuple):
    """What is served: the folder of a net, its depth, and game and rules as load_by_rules has
    them."""

    folder: str
    ply: int
    variant: str | None
    rules: dict[str, str]


def run(served: Served, host: str, port: int, workers: int) -> None:
    """Serve until interrupted, with so many processes; the page also offers other games, see
    offered.other_nets. Raises ValueError where the port is taken."""
    os.environ[_SERVED] = json.dumps(served)
    with reserved(host, port) as free:
        if workers > 1 and deals_out():
            print(f"http://{host}:{free}, {workers} processes", flush=True)
            keep(workers, _work, (host, free))
            return
    uvicorn.run(_APP, host=host, port=port, workers=workers, log_level="info", **_SERVER)


def _work(host: str, port: int) -> None:
    """One of several processes."""
    config = uvicorn.Config(_APP, log_level="warning", **_SERVER)
    uvicorn.Server(config).run(sockets=[listener(host, port)])


def from_environment() -> FastAPI:
    """The application that `run` has described to its workers."""
    served = Served(*json.loads(os.environ[_SERVED]))
    folder = Path(served.folder)
    net = load_by_rules(folder, served.variant, served.rules)
    others = other_nets(folder, net.variant.name)
    return make_app(net, served.ply, folder.name, CubeHead.load(folder), others)
