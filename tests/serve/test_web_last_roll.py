"""Long nardy with the last roll for the second player (D13) in the page: who began is no checker,
the second player's turn after the first has finished, draws."""

import functools
import itertools
import os
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_nets import make_net, play_out

from nardy.net.net import Net
from nardy.play.player import Player
from nardy.rules.batch import afterstates
from nardy.rules.board import ending, start_board, turn
from nardy.rules.variants import variant
from nardy.serve.game import PositionAsked, RollAsked, _Tables
from nardy.serve.static import write_static
from train.export import export

GAME = variant("long", start={5: 2, 3: 1}, last_roll="second_player", opening="reroll")
DRIVE = Path(__file__).with_name("drive.js").read_text()

# you, who are second, have a checker left and the bot, who began, none: you are on roll
LAST = np.zeros(26, np.int8)
LAST[[0, 1]] = -1, 1
LAST_TURN = """async (board) => {
  const fresh = { dice: null, hops: [], chances: null, couldDouble: false };
  Object.assign(nardy.game, { board, mover: "you", phase: "roll", ...fresh });
  await nardy.go();
  nardy.changed();
}"""


@pytest.fixture(scope="module")
def page_nets() -> list[Net]:
    """The page offers such a game alone."""
    return [make_net(8, game=GAME, pairs=0)]


def check_game(game: dict[str, Any]) -> None:
    """Every move is legal and follows from the one before, and the game ends when Python says."""
    board = start_board(GAME)
    for move, following in itertools.pairwise([*game["log"], None]):
        assert move["board"] == board.tolist()
        dice = np.array([move["dice"]], np.uint8)
        assert move["result"] in afterstates(board[None], dice, GAME).boards.tolist()
        result = np.array(move["result"], np.int8)
        over, points = ending(result, GAME)
        assert bool(over) == (following is None)
        board = turn(result, GAME.family)
    winner = {1: move["who"], -1: {"you": "bot", "bot": "you"}[move["who"]], 0: None}
    assert game["result"]["winner"] == winner[int(np.sign(points))]
    assert game["result"]["points"] == abs(int(points))


def test_a_whole_match(page: Any) -> None:
    asked = {"variant": "long", "level": "expert", "length": 5, "doubling": False, "seed": 5}
    page.evaluate("asked => nardy.newMatch(asked)", asked)
    assert page.locator(".checker").count() == 2 * GAME.checkers
    assert page.inner_text("#you-line .pips") == "13 pips"
    page.add_script_tag(content=DRIVE)
    points = {"you": 0, "bot": 0}
    for game in page.evaluate("playMatch()"):
        check_game(game)
        if game["result"]["winner"]:
            points[game["result"]["winner"]] += game["result"]["points"]
        assert game["match"]["points"] == points
    assert max(points.values()) >= 5
    page.click("[data-action=analyse]")
    page.wait_for_selector("#review-errors li")
    assert page.locator(".checker").count() == 2 * GAME.checkers


def test_a_draw(page: Any) -> None:
    page.click("[data-action=throwForStart]")
    page.wait_for_function("!['opening', 'bot'].includes(nardy.game.phase)")
    page.evaluate("Object.assign(nardy.game, { log: [] }), nardy.state.match.points.bot = 1")
    page.evaluate(LAST_TURN, LAST.tolist())
    assert page.locator(".checker").count() == 2 * GAME.checkers
    assert page.locator(".checker.off").count() == 2 * GAME.checkers - 1
    assert page.inner_text("#you-line .pips") == "1 pip"
    assert page.inner_text("#bot-line .pips") == "0 pips"
    page.reload()  # also this position is kept
    page.click("[data-action=roll]")
    assert "a draw " in page.locator("#bar").get_attribute("aria-label")
    page.evaluate("nardy.play(1, 0)")
    page.click("[data-action=undo]")
    assert page.evaluate("nardy.shown") == LAST.tolist()
    page.evaluate("nardy.play(1, 0)")
    page.click("[data-action=done]")
    assert "A draw: both have borne off" in page.inner_text("#status")
    assert page.evaluate("nardy.state.match.points") == {"you": 0, "bot": 1}
    page.reload()
    page.wait_for_selector("[data-action=analyse]")
    page.click("#language")
    assert "Ничья" in page.inner_text("#status")
    page.click("[data-action=analyse]")
    page.wait_for_selector("#review-errors li")
    page.click("[data-action=next]")
    assert page.evaluate("nardy.state.match.points") == {"you": 0, "bot": 1}
    assert page.evaluate("nardy.game.board") == start_board(GAME).tolist()


def test_a_match_kept_from_other_rules_is_left_behind(page: Any) -> None:
    page.click("[data-action=throwForStart]")
    page.wait_for_function("!['opening', 'bot'].includes(nardy.game.phase)")
    page.evaluate("nardy.game.board[0] = nardy.game.board[25] = 0, nardy.changed()")
    page.reload()
    page.wait_for_selector("[data-action=throwForStart]")


def test_the_page_is_told_draws() -> None:
    tables = _Tables([make_net(8, game=GAME, pairs=0)], {})
    told = tables.position(PositionAsked(variant="long", board=LAST.tolist()))
    assert len(told.chances) == 5 and told.chances[2] > 0 and told.cube is None
    (play,) = tables.rank(RollAsked(variant="long", board=LAST.tolist(), dice=(2, 1)))
    assert play.chances == [0, 0, 1, 0, 0] and play.equity == 0


@pytest.mark.skipif("NARDY_ORT" not in os.environ, reason="NARDY_ORT names no onnxruntime-web dist")
def test_static_page_plays_as_python_does(page: Any, tmp_path: Path) -> None:
    export(make_net(8, game=GAME, pairs=0), {}, tmp_path / "net")
    write_static(tmp_path / "site", [tmp_path / "net"], Path(os.environ["NARDY_ORT"]))
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "site"))
    boards, dice = (part[::5] for part in play_out(GAME, 10, 6)[:2])
    boards, dice = np.append(boards, LAST[None], 0), np.append(dice, dice[:1], 0)
    rank = """async ({ boards, dice }) => {
      const score = { length: 0, points: [0, 0], cube: 1 };
      const asked = { game: nardy.rules, level: "expert", score };
      const found = [];
      for (const [i, board] of boards.entries()) {
        const { chances } = await nardy.bot.position({ ...asked, board });
        found.push([chances, await nardy.bot.rank({ ...asked, board, dice: dice[i] })]);
      }
      return found;
    }"""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page.goto(f"http://127.0.0.1:{server.server_port}/?pause=0")
        page.wait_for_selector("[data-action=throwForStart]")
        found = page.evaluate(rank, {"boards": boards.tolist(), "dice": dice.tolist()})
        page.add_script_tag(content=DRIVE)
        games = page.evaluate("playMatch()")
        server.shutdown()
    for game in games:
        check_game(game)
    net, ended = make_net(8, game=GAME, pairs=0), set()
    tables, player = _Tables([net], {}), Player(net, tables=False)
    for board, roll, (chances, plays) in zip(boards, dice, found, strict=True):
        asked = PositionAsked(variant="long", board=board.tolist())
        np.testing.assert_allclose(chances, tables.position(asked).chances, atol=1e-4)
        ours = {tuple(play.board.tolist()): play for play in player.best(board, roll)}
        assert {tuple(play["board"]) for play in plays} == set(ours)
        for play in plays:
            known = ours[tuple(play["board"])]
            assert play["equity"] == pytest.approx(known.equity, abs=2e-3)
            np.testing.assert_allclose(play["chances"], known.chances, atol=1e-3)
            ended |= {play["equity"]} if 1 in play["chances"] else set()
    assert {-1, 0, 1} <= ended
