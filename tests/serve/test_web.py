"""The web page in a real browser, against the Python rules."""

import functools
import itertools
import json
import os
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nardy.match.janowski import payoffs
from nardy.match.score import MAX_LENGTH, Score
from nardy.play.cube_head import context_of
from nardy.play.nets import shipped
from nardy.play.player import Player
from nardy.rules.batch import afterstates
from nardy.rules.board import make_board, points_won, turn
from nardy.rules.variants import variant
from nardy.serve.static import RUNTIME, WEB, match_equities, write_static

DRIVE = Path(__file__).with_name("drive.js").read_text()
GAMES = {name: variant(name) for name in ("short", "hyper", "long")}
NET = shipped().get("short", Path("nowhere"))
needs_net = pytest.mark.skipif(not (NET / "net.onnx").is_file(), reason="no net.onnx is here")


def start(page: Any, name: str, length: int = 1, cube: bool = False, seed: int = 5) -> None:
    page.evaluate(
        "asked => nardy.newMatch(asked)",
        {"variant": name, "level": "expert", "length": length, "doubling": cube, "seed": seed},
    )


# --- playing ---------------------------------------------------------------------------------


def check_game(name: str, game: dict[str, Any]) -> None:
    """Every move of a game's log is legal, each follows from the one before, and the end is won."""
    rules = GAMES[name]
    moves = [entry for entry in game["log"] if entry["kind"] == "move"]
    assert moves[0]["board"] == list(rules.start)
    assert moves[0]["dice"][0] != moves[0]["dice"][1]  # K3
    for move, following in itertools.pairwise([*moves, None]):
        board, dice = np.array(move["board"], np.int8), np.array(move["dice"], np.uint8)
        legal = afterstates(board[None], dice[None], rules).boards.tolist()
        assert move["result"] in legal
        result = np.array(move["result"], np.int8)
        multiple = int(points_won(result[None], rules)[0])
        if following is not None:
            assert multiple == 0
            assert following["board"] == turn(result, rules.family).tolist()
            assert following["who"] != move["who"]
        elif game["result"]["how"] is None:
            assert game["result"]["multiple"] == multiple
            assert game["result"]["winner"] == move["who"]


@pytest.mark.parametrize(
    ("name", "length", "cube"), [("short", 1, False), ("hyper", 3, True), ("long", 1, False)]
)
def test_a_whole_match(page: Any, name: str, length: int, cube: bool) -> None:
    start(page, name, length, cube)
    page.add_script_tag(content=DRIVE)
    games = page.evaluate("playMatch()")
    points = {"you": 0, "bot": 0}
    for game in games:
        check_game(name, game)
        points[game["result"]["winner"]] += game["result"]["points"]
        assert game["match"]["points"] == points
        stake = 2 ** sum(entry["kind"] == "double" and entry["take"] for entry in game["log"])
        assert game["result"]["points"] == stake * game["result"]["multiple"]  # K14, K16
    assert max(points.values()) >= length > min(points.values())
    assert "match" in page.inner_text("#status")
    if games[-1]["result"]["how"] is None:  # the board shows the last move, too
        last = games[-1]["log"][-1]
        shown = last["result"] if last["who"] == "you" else other_view(last["result"], name)
        assert page.evaluate("nardy.shown") == shown

    page.click("[data-action=analyse]")
    page.wait_for_selector("#review-errors li")
    decisions = page.evaluate("nardy.game.log.filter((entry) => entry.kind === 'move').length")
    assert decisions > 10
    errors = page.locator("#review-errors button")
    if errors.count():
        errors.last.press("Enter")
        assert errors.last.evaluate("(element) => element === document.activeElement")
        errors.first.click()
        assert errors.first.get_attribute("aria-pressed") == "true"
        assert page.locator("#bar").is_hidden()  # its chances are of another position
        live = page.evaluate("nardy.state.match.doubling && !nardy.state.match.crawford")
        assert page.locator(".cubebox").count() == live
        page.click("[data-action=backToGame]")
        assert page.locator("#bar").is_visible() == page.evaluate("nardy.game.chances !== null")


def other_view(board: list[int], name: str) -> list[int]:
    turned: list[int] = turn(np.array(board, np.int8), GAMES[name].family).tolist()
    return turned


def test_a_single_point_has_no_cube(page: Any) -> None:
    start(page, "short", 1, True)
    assert page.locator(".cubebox").count() == 0


def test_the_crawford_game_has_no_cube(page: Any) -> None:
    start(page, "short", 3, True)
    page.evaluate("Object.assign(nardy.state.match.points, { you: 2, bot: 0 })")
    page.evaluate("Object.assign(nardy.game, { phase: 'over' }); nardy.nextGame()")
    assert page.evaluate("nardy.state.match.crawford")
    assert "Crawford" in page.inner_text("#what")
    assert page.locator(".cubebox").count() == 0
    page.evaluate("Object.assign(nardy.game, { phase: 'over' }); nardy.nextGame()")
    assert not page.evaluate("nardy.state.match.crawford")  # it comes once (K17)
    assert page.locator(".cubebox").count() == 1


def to_move(page: Any) -> None:
    """Come to a position in which you have to move."""
    for seed in range(1, 30):
        start(page, "short", seed=seed)
        page.click("[data-action=throwForStart]")
        if page.evaluate("nardy.game.phase === 'move'"):
            return
    raise AssertionError("the bot began every game")


def test_pointer_keys_undo_and_hint(page: Any) -> None:
    to_move(page)
    before = page.evaluate("nardy.shown")
    source = page.evaluate("nardy.sources()[0]")
    page.click(f'[data-cell="{source}"]')
    goal = page.locator(".cells .goal").first
    target = int(goal.get_attribute("data-cell"))
    assert "can go here" in goal.get_attribute("aria-label")
    box, goal_box = page.locator(f'[data-cell="{source}"]').bounding_box(), goal.bounding_box()
    page.keyboard.press("Escape")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(goal_box["x"] + 20, goal_box["y"] + 60, steps=4)
    page.mouse.up()
    after = page.evaluate("nardy.shown")
    assert after[target] == before[target] + 1 and after[source] == before[source] - 1
    page.click("[data-action=undo]")
    assert page.evaluate("nardy.shown") == before

    page.focus("[data-action=hint]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#hint-list button")
    assert page.locator("#hint-list button").count() == 3
    assert page.evaluate("document.activeElement.closest('#hint-list') !== null")
    page.locator("#hint-list button").first.press("Enter")
    assert page.evaluate("nardy.complete")
    assert page.evaluate("document.activeElement.dataset.action") == "done"


def test_arrow_keys_go_round_the_board(page: Any) -> None:
    page.focus('[data-cell="24"]')
    walk = (("ArrowDown", 1), ("ArrowRight", 0), ("ArrowLeft", 1), ("ArrowUp", 24))
    # the bar and the place for checkers that are off belong to both rows
    walk += (("ArrowRight", 0), ("ArrowLeft", 24), *(("ArrowLeft", n) for n in range(23, 18, -1)))
    walk += (("ArrowLeft", 25), ("ArrowLeft", 18), ("ArrowRight", 25), ("ArrowRight", 19))
    walk += (("ArrowLeft", 25), ("ArrowDown", 25), ("ArrowRight", 6), ("ArrowLeft", 25))
    walk += (("ArrowLeft", 7), ("ArrowUp", 18))
    for key, cell in walk:
        page.keyboard.press(key)
        assert page.evaluate("Number(document.activeElement.dataset.cell)") == cell
    assert page.locator('.cells [tabindex="0"]').count() == 1


def test_resigning(page: Any) -> None:
    to_move(page)
    page.click("[data-action=resign]")
    page.click('#resign-kinds button[value="3"]')
    page.wait_for_function("nardy.game.phase === 'over'")
    assert page.evaluate("nardy.game.result") == {
        "winner": "bot",
        "multiple": 3,
        "how": "resigned",
        "points": 3,
    }


def test_russian(page: Any) -> None:
    names = "(name) => import('/text.js').then((text) => text.textNames(name))"
    assert page.evaluate(names, "ru") == page.evaluate(names, "en")
    page.click("#language")
    assert page.inner_text("h1") == "нарды"
    assert page.evaluate("document.documentElement.lang") == "ru"
    assert "Короткие нарды" in page.inner_text("#what")
    page.reload()
    page.wait_for_selector("#actions button")
    assert page.inner_text("h1") == "нарды"


def test_phone_width_has_no_sideways_scroll(page: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_nothing_comes_from_other_hosts(page: Any, site: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.wait_for_selector("[data-action=throwForStart]")
    assert len(asked) > 5
    assert all(url.startswith(site) for url in asked)


def test_the_page_opened_as_a_file_says_what_to_do(browser: Any) -> None:
    opened = browser.new_page()
    opened.goto((WEB / "index.html").as_uri())
    assert "python -m http.server" in opened.inner_text("#status")
    opened.close()


# --- the page's doors ------------------------------------------------------------------------

GOOD = {"variant": "short", "board": list(GAMES["short"].start), "dice": [3, 1]}


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({}, 200, ""),
        ({"variant": "chess"}, 400, "'chess'"),
        ({"dice": [0, 7]}, 400, "two dice of 1 to 6"),
        ({"board": [0] * 26}, 400, "no checker left"),
        ({"board": [0] * 25}, 400, "board: List should have at least 26 items"),
        ({"level": "god"}, 400, "'god'"),
        ({"score": {"length": 3, "points": [3, 0]}}, 400, "need 1 to 3 points"),
        ({"extra": 1}, 400, "extra: Extra inputs"),
    ],
)
def test_bad_questions_get_a_sentence(
    page: Any, site: str, change: dict[str, Any], status: int, words: str
) -> None:
    response = page.context.request.post(f"{site}play/rank", data={**GOOD, **change})
    assert response.status == status
    assert words in response.text()


# --- the page as files -----------------------------------------------------------------------


def fake_runtime(folder: Path) -> Path:
    for name in RUNTIME:
        (folder / name).write_text("")
    return folder


@needs_net
def test_static_files(tmp_path: Path) -> None:
    runtime = tmp_path / "dist"
    runtime.mkdir()
    with pytest.raises(ValueError, match=r"holds no ort\.wasm\.min\.mjs: npm install"):
        write_static(tmp_path / "out", [NET], runtime)
    assert not (tmp_path / "out").exists()
    write_static(tmp_path / "out", [NET], fake_runtime(runtime))
    offer = json.loads((tmp_path / "out" / "games.json").read_text())
    assert offer["engine"] == "onnx"
    assert offer["games"][0]["learnt"] == (NET / "cube.safetensors").is_file()
    assert len(offer["met"]["before"]) == len(offer["met"]["after_crawford"]) == MAX_LENGTH
    for name in ("index.html", "main.js", offer["games"][0]["net"], "ort/ort.wasm.min.mjs"):
        assert (tmp_path / "out" / name).is_file()


SCORES = [
    Score(),
    Score(cube=2, owner="mine"),
    Score((3, 5), 7),
    Score((2, 4), 7, cube=2, owner="theirs"),
    Score((1, 3), 5, crawford=True),
    Score((3, 1), 5),
    Score(doubling=False),
]
STRONG = make_board({6: 4, 5: 4, 4: 4, 8: 3}, {24: 2, 13: 5, 8: 3, 6: 5}).tolist()
CUBES = [(board, score) for board in (list(GAMES["short"].start), STRONG) for score in SCORES]


def as_page(score: Score) -> dict[str, Any]:
    """As the page tells it, see scoreFor of score.js."""
    points = [score.length - need for need in score.away] if score.away else [0, 0]
    names = ("length", "crawford", "cube", "owner", "doubling")
    return {"points": points} | {name: getattr(score, name) for name in names}


ASKED_OF_CUBE = """async ([score, met, values]) => {
  const cube = await import("/cube.js");
  return {
    may: cube.mayDouble(score),
    context: cube.context(score),
    paid: [-3, -2, -1, 1, 2, 3].map((multiple) => cube.settledValue(score, multiple, met)),
    actions: cube.actions(values, score, met),
  };
}"""


@pytest.mark.parametrize("score", SCORES)
def test_the_cube_in_the_browser_is_that_of_python(page: Any, score: Score) -> None:
    paid = payoffs(score)[0]
    middle, half = (paid[2] + paid[3]) / 2, (paid[3] - paid[2]) / 2
    stay, taken = middle + 0.3 * half, middle + 0.5 * half  # equities 0.3 and 0.5
    values = {"stay": stay, "taken": taken}
    found = page.evaluate(ASKED_OF_CUBE, [as_page(score), match_equities(), values])
    assert found["may"] == score.may_double
    assert found["context"] == context_of(score).tolist()
    np.testing.assert_allclose(found["paid"], paid, atol=1e-6)
    if not score.may_double:
        assert found["actions"] is None
        return
    free = score.away == (3, 1)  # then waiting gains nothing
    wanted = {"no_double": 0.3, "double_take": 0.5, "double_pass": 1.0}
    assert found["actions"] == pytest.approx(wanted | {"double": True, "take": True}, abs=1e-5)
    values["stay"] = middle + 0.7 * half
    found = page.evaluate(ASKED_OF_CUBE, [as_page(score), match_equities(), values])
    assert found["actions"]["double"] == free


@needs_net
@pytest.mark.skipif("NARDY_ORT" not in os.environ, reason="NARDY_ORT names no onnxruntime-web dist")
def test_static_page_plays_as_python_does(page: Any, tmp_path: Path) -> None:
    write_static(tmp_path, [NET], Path(os.environ["NARDY_ORT"]))
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address, asked = f"http://127.0.0.1:{server.server_port}/", list[str]()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}?pause=0")
        page.wait_for_selector("[data-action=throwForStart]")
        board = list(GAMES["short"].start)
        asked_of = "asked => nardy.bot.{}({{ ...asked, game: nardy.rules, level: 'expert' }})"
        found = [
            page.evaluate(
                asked_of.format("rank"),
                {"board": board, "dice": [6, 4], "score": as_page(score)},
            )
            for score in SCORES
        ]
        cubes = [
            page.evaluate(asked_of.format("position"), {"board": board, "score": as_page(score)})
            for board, score in CUBES
        ]
        start(page, "short", 3, cube=True)
        page.add_script_tag(content=DRIVE)
        games = page.evaluate("playMatch()")
        server.shutdown()
    assert any("ort-wasm" in url for url in asked)
    assert all(url.startswith(address) for url in asked)  # nothing comes from other hosts
    player = Player(NET, tables=False)
    for score, plays in zip(SCORES, found, strict=True):
        ours = {
            tuple(play.board.tolist()): play.cubeful
            for play in player.best(np.array(board, np.int8), [6, 4], score=score)
        }
        theirs = {tuple(play["board"]): play["equity"] for play in plays}
        assert theirs == pytest.approx(ours, abs=2e-3)
        equities = [play["equity"] for play in plays]
        assert equities == sorted(equities, reverse=True)
    for (cells, score), answer in zip(CUBES, cubes, strict=True):
        decision = player.cube(np.array(cells, np.int8), score)
        np.testing.assert_allclose(answer["chances"], decision.chances, atol=1e-4)
        if not score.may_double:
            assert answer["cube"] is None
            continue
        wanted = decision.equities._asdict()
        del wanted["double_beaver"]
        assert (answer["cube"]["double"], answer["cube"]["take"]) == (
            decision.double,
            decision.take,
        )
        assert {name: answer["cube"][name] for name in wanted} == pytest.approx(wanted, abs=2e-3)
    assert any(answer["cube"] and answer["cube"]["double"] for answer in cubes)
    for game in games:
        check_game("short", game)
    assert games[0]["match"]["doubling"]
