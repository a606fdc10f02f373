"""Every door prices the cube by what the net has learnt, where it has learnt something."""

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_heads import make_head
from random_nets import play_out

from nardy.cli import main
from nardy.match.score import Score
from nardy.net.net import Net
from nardy.net.weights import write_tensors
from nardy.notation.ids import position_id
from nardy.notation.state import MatchState, Position
from nardy.notation.xgid import format as xgid_of
from nardy.play.cube_head import FILE, CubeHead
from nardy.play.player import Player
from nardy.rules.variants import variant
from nardy.serve import gnubg
from nardy.serve.bot import Bot, Bots
from train.net_folder import write_net

SHORT = variant("short")


@pytest.fixture(scope="module")
def head(net: Net) -> CubeHead:
    return make_head(net)


@pytest.fixture(scope="module")
def board(net: Net, head: CubeHead) -> np.ndarray:
    """Where the formula and the head do not agree whether to double."""
    formula, learnt = Bot(net), Bot(net, head=head)
    for board in play_out(SHORT, 40, 20)[0][::9]:
        plain, ours = (bot.cube(board, Score()) for bot in (formula, learnt))
        if plain.double != ours.double:
            return board
    raise AssertionError("no such board")


@pytest.fixture(scope="module")
def folder(net: Net, head: CubeHead, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("nets")
    write_net(to, net, {})
    write_tensors(to / FILE, head.tensors())
    return to


def test_http_and_the_page(net: Net, head: CubeHead, board: np.ndarray, folder: Path) -> None:
    pytest.importorskip("fastapi", reason="the HTTP door needs fastapi")
    httpx = pytest.importorskip("httpx", reason="httpx asks the application")
    from nardy.serve import http

    def post(app: Any, path: str, question: dict[str, Any]) -> Any:
        async def ask() -> Any:
            client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://t")
            return (await client.post(path, json=question)).json()

        return asyncio.run(ask())

    wanted = Bot(net, head=head).cube(board, Score())
    asked = {"board": board.tolist()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NARDY_SERVED", json.dumps(http.Served(str(folder), 0, None, {})))
        started = http.from_environment()
    for app in (http.make_app(net, head=head), started):
        answer = post(app, "/v1/cube", asked)
        assert answer["equities"] == pytest.approx(wanted.equities._asdict(), nan_ok=True)
        page = post(app, "/play/position", {"variant": "short", **asked})
        assert page["chances"] == pytest.approx(wanted.chances.tolist())
        assert page["cube"]["double"] == wanted.double and page["cube"]["take"] == wanted.take
        assert page["cube"]["double_take"] == pytest.approx(wanted.equities.double_take)
        rolled = {"variant": "short", "dice": [3, 1], **asked}
        plays = post(app, "/play/rank", rolled)
        best = Player(net, head=head).best(board, np.array([3, 1], np.uint8), score=Score())
        assert [play["equity"] for play in plays] == pytest.approx([x.cubeful for x in best])
    plain = post(http.make_app(net), "/v1/cube", asked)
    assert plain["double"] != wanted.double


def test_gnubgs_socket(net: Net, head: CubeHead, board: np.ndarray) -> None:
    cells = ":".join(str(count) for count in board.tolist())
    line = f"board:you:me:0:0:0:{cells}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:0"
    said = {gnubg.answer(line, Bots(net, head=maybe).mine()) for maybe in (None, head)}
    assert said == {"roll", "double"}


def test_commands_take_the_folders_cube(
    net: Net,
    head: CubeHead,
    board: np.ndarray,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    wanted = Bot(net, head=head).cube(board, Score())
    lines = f"position gnubgid {position_id(board)}\ngo role cube\nquit\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    assert main(["ubgi", "--net", str(folder)]) == 0
    assert capsys.readouterr().out.split()[-1] == ("double" if wanted.double else "nodouble")
    xgid = xgid_of(Position(board, MatchState()))
    assert main(["cube", "--net", str(folder), "--xgid", xgid]) == 0
    assert wanted.verdict in capsys.readouterr().out
