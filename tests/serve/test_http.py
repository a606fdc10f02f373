"""The HTTP door through its ASGI application: answers, refusals, and a crowd of bad questions."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy.cli import main
from nardy.match.score import Score
from nardy.net.net import Net
from nardy.notation.ids import from_position_id
from nardy.play.player import Player, cumulative

pytest.importorskip("fastapi", reason="the HTTP door needs fastapi")
httpx = pytest.importorskip("httpx", reason="httpx asks the application")

from nardy.serve.gate import MAX_BODY  # noqa: E402
from nardy.serve.http import make_app  # noqa: E402
from train.export import export  # noqa: E402

START = "4HPwATDgc/ABMA"
POINTS = "p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2"
MAT = (Path(__file__).parents[1] / "data" / "mat" / "gnubg.mat").read_text()


class Client:
    """Asks the application without a network."""

    def __init__(self, net: Net) -> None:
        # an error inside would be raised here, not turned into a 500
        transport = httpx.ASGITransport(make_app(net))
        self.client = httpx.AsyncClient(transport=transport, base_url="http://t")
        self.runner = asyncio.Runner()

    def __call__(self, method: str, path: str, **how: Any) -> Any:
        return self.runner.run(self.client.request(method, path, **how))

    def close(self) -> None:
        self.runner.run(self.client.aclose())
        self.runner.close()

    def post(self, path: str, **question: Any) -> Any:
        return self("POST", path, json=question)


@pytest.fixture(scope="module")
def client(net: Net) -> Iterator[Client]:
    client = Client(net)
    yield client
    client.close()


def test_moves_are_the_players(client: Client, net: Net) -> None:
    for asked, score in (({}, Score()), ({"away": [3, 5]}, Score((3, 5), 5))):
        answer = client.post("/v1/move", position=START, dice=[3, 1], plays=100, **asked).json()
        plays = Player(net).best(from_position_id(START), np.array([3, 1], np.uint8), score=score)
        assert [play["move"] for play in answer["plays"]] == [play.text for play in plays]
        assert answer["legal"] == len(plays) == 16
        for told, play in zip(answer["plays"], plays, strict=True):
            assert told["board"] == play.board.tolist()
            assert told["cubeful"] == pytest.approx(play.cubeful)
            numbers = cumulative(play.chances, net.variant.outcomes)
            assert {name: told[name] for name in numbers} == pytest.approx(numbers)


def test_a_board_and_a_text_are_one_position(client: Client) -> None:
    board = from_position_id(START).tolist()
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    first = client.post("/v1/move", position=START, dice=[3, 1]).json()
    assert client.post("/v1/move", board=board, dice=[3, 1]).json() == first
    assert client.post("/v1/move", position=xgid).json() == first


def test_the_cube_is_the_players(client: Client, net: Net) -> None:
    score = Score((2, 4), 4, cube=2, owner="mine")
    asked = {"away": [2, 4], "cube": 2, "owner": "mine", "ply": 1}
    answer = client.post("/v1/cube", position=START, **asked).json()
    found = Player(net, 1).cube(from_position_id(START), score)
    assert answer["verdict"] == found.verdict and answer["double"] == found.double
    assert answer["equities"] == pytest.approx(found.equities._asdict())


def test_a_gammon_that_cannot_be_is_not_told(client: Client) -> None:
    """The loser has borne one off (K14)."""
    for path in ("/v1/evaluate", "/v1/cube"):
        answer = client.post(path, position="mxmAQ4PbAQAAAA").json()
        assert answer["win_gammon"] == answer["win_backgammon"] == 0
    plays = client.post("/v1/move", position="mxmAQ4PbAQAAAA", dice=[2, 1]).json()["plays"]
    assert {play["win_gammon"] for play in plays} == {0}


def test_wildbgs_clients_are_understood(client: Client) -> None:
    moves = client("GET", f"/move?die1=3&die2=1&{POINTS}").json()["moves"]
    ours = client.post("/v1/move", position=START, dice=[3, 1], plays=100).json()["plays"]
    assert [[[hop["from"], hop["to"]] for hop in move["play"]] for move in moves] == [
        play["hops"] for play in ours
    ]
    assert set(moves[0]["probabilities"]) == {"win", "winG", "winBg", "loseG", "loseBg"}
    answer = client("GET", f"/eval?{POINTS}&x_away=1&o_away=1").json()
    assert set(answer["cube"]) == {"double", "accept"} and answer["cube"]["double"] is False
    stuck = "p25=1&p6=14&p19=-2&p20=-2&p21=-2&p22=-2&p23=-2&p24=-2&p18=-3"
    assert client("GET", f"/move?die1=6&die2=6&{stuck}").json()["moves"][0]["play"] == []


def test_games_are_analysed(client: Client) -> None:
    answer = client.post("/v1/analyze", text=MAT)
    assert answer.status_code == 200 and answer.json()["players"] == ["gnubg", "root"]


def test_health_metrics_and_description(client: Client) -> None:
    assert client("GET", "/health").json()["variant"] == "short"
    client.post("/v1/move", position=START, dice=[3, 1])
    metrics = client("GET", "/metrics").text
    assert 'nardy_requests_total{path="/v1/move",status="200"}' in metrics
    described = client("GET", "/openapi.json").json()
    assert {"/v1/move", "/v1/cube", "/v1/evaluate", "/v1/analyze", "/move", "/eval"} <= set(
        described["paths"]
    )
    examples = described["components"]["schemas"]["MoveQuestion"]["examples"]
    for question in examples:  # what the description shows is answered
        assert client.post("/v1/move", **question).status_code == 200
    for path, name in (("/play/rank", "RollAsked"), ("/play/position", "PositionAsked")):
        for question in described["components"]["schemas"][name]["examples"]:
            assert client.post(path, **question).status_code == 200
    for path in ("/move", "/eval"):
        told = described["paths"][path]["get"]["parameters"]
        points = {one["name"]: one["example"] for one in told if "example" in one}
        assert len(points) == 26
        asked = points | ({"die1": 3, "die2": 1} if path == "/move" else {})
        assert client("GET", path, params=asked).status_code == 200


def shape(value: Any) -> Any:
    """The keys of an answer; of a list those of its first element."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return [shape(inner) for inner in value[:1]] if isinstance(value, list) else None


def test_described_answers_are_those_given(client: Client) -> None:
    described = client("GET", "/openapi.json").json()["paths"]
    games = " 7 point match\n\n Game 1\n anna : 0     boris : 0\n  1) 31: 8/5 6/5\n"
    start = {"position": START}
    for path, reply in (
        ("/v1/move", client.post("/v1/move", **start, dice=[3, 1])),
        ("/v1/cube", client.post("/v1/cube", **start)),
        ("/v1/evaluate", client.post("/v1/evaluate", **start)),
        ("/v1/analyze", client.post("/v1/analyze", text=games)),
        ("/move", client("GET", f"/move?die1=3&die2=1&{POINTS}")),
        ("/eval", client("GET", f"/eval?{POINTS}")),
    ):
        (told,) = described[path].values()
        answer = told["responses"]["200"]["content"]["application/json"]["example"]
        assert shape(answer) == shape(reply.json()), path
    for operations in described.values():
        for told in operations.values():  # every refusal is {"message": ...}, none FastAPI's own
            assert "422" not in told["responses"]


def test_pages_of_other_sites_may_ask(client: Client) -> None:
    origin = {"origin": "https://elsewhere.example"}
    wanted = {"access-control-request-method": "POST"}
    wanted |= {"access-control-request-headers": "content-type"}
    for path in ("/v1/move", "/v1/cube", "/v1/evaluate", "/v1/analyze"):
        before = client("OPTIONS", path, headers=origin | wanted)
        assert before.status_code == 200
        assert before.headers["access-control-allow-origin"] == "*"
        assert "POST" in before.headers["access-control-allow-methods"]
        assert "content-type" in before.headers["access-control-allow-headers"].lower()
        refused = client("POST", path, json={}, headers=origin)  # its sentence can be read, too
        assert refused.status_code == 400
        assert refused.headers["access-control-allow-origin"] == "*"
    answer = client("GET", f"/move?die1=3&die2=1&{POINTS}", headers=origin)
    assert answer.status_code == 200 and answer.headers["access-control-allow-origin"] == "*"


def test_a_body_that_is_no_json_is_told_so(client: Client) -> None:
    kind = {"content-type": "application/x-www-form-urlencoded"}  # curl -d, without -H
    body = json.dumps({"position": START, "dice": [3, 1]}).encode()
    said = client("POST", "/v1/move", content=body, headers=kind).json()["message"]
    assert said == "the body must be JSON, the header content-type: application/json"
    kind = {"content-type": "application/json"}
    said = client("POST", "/v1/move", content=b'{"position": }', headers=kind).json()["message"]
    assert said.startswith("the body is no JSON: ")


def test_health_by_head(client: Client) -> None:
    answer = client("HEAD", "/health")
    assert answer.status_code == 200 and answer.content == b""


@pytest.mark.parametrize(
    ("path", "question", "words"),
    [
        ("/v1/move", {"position": START}, "dice"),
        ("/v1/move", {"dice": [3, 1]}, "either `position` or `board`"),
        ("/v1/move", {"position": START, "dice": [7, 1]}, "dice.0"),
        ("/v1/move", {"position": "nonsense", "dice": [3, 1]}, "'nonsense'"),
        ("/v1/move", {"board": [0] * 26, "dice": [3, 1]}, "no checker left"),
        ("/v1/move", {"board": [99] * 26, "dice": [3, 1]}, "board.0"),
        ("/v1/move", {"position": START, "dice": [3, 1], "ply": 7}, "ply"),
        ("/v1/move", {"position": START, "dice": [3, 1], "colour": 1}, "colour"),
        ("/v1/cube", {"position": START, "cube": 3}, "cube"),
        ("/v1/cube", {"position": START, "away": [1, 30]}, "away.1"),
        ("/v1/cube", {"position": START, "away": [3, 3], "jacoby": True}, "jacoby"),
        ("/v1/analyze", {"text": "hello"}, "7 point match"),
    ],
)
def test_bad_questions_get_a_sentence(
    client: Client, path: str, question: dict[str, Any], words: str
) -> None:
    answer = client.post(path, **question)
    assert answer.status_code == 400
    message = answer.json()["message"]
    assert words in message and "\n" not in message


def test_bad_requests_get_a_sentence(client: Client) -> None:
    for method, path, body, status in (
        ("GET", "/nowhere", b"", 404),
        ("POST", "/v1/moves", b"{}", 404),
        ("POST", "/v1/move", b"{", 400),
        ("POST", "/v1/move", b"\xff", 400),
        ("POST", "/v1/move", b"[" * 100_000, 400),
        ("POST", "/v1/move", b'{"position": "\\ud800", "dice": [1, 2]}', 400),
        ("POST", "/v1/analyze", b'"' + b"x" * MAX_BODY + b'"', 413),
        ("GET", "/move?die1=3", b"", 400),
        ("GET", f"/move?die1=3&die2=1&{POINTS}&p1=x", b"", 400),
        ("GET", f"/eval?{POINTS}&x_away=1", b"", 400),
    ):
        answer = client(method, path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == status and isinstance(answer.json()["message"], str), path


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/move", "POST"),
        ("HEAD", "/v1/cube", "POST"),
        ("PUT", "/v1/analyze", "POST"),
        ("GET", "/play/rank", "POST"),
        ("POST", "/move", "GET"),
        ("POST", "/health", "GET, HEAD"),
        ("DELETE", "/games.json", "GET"),
        ("POST", "/", "GET, HEAD"),
        ("POST", "/main.js", "GET, HEAD"),
        ("OPTIONS", "/v1/move", "POST"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(
    client: Client, method: str, path: str, allowed: str
) -> None:
    answer = client(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == allowed
    if method != "HEAD":
        assert answer.json() == {"message": f"'{path}' takes {allowed}, not {method}"}


def test_the_page_is_where_no_door_is(client: Client) -> None:
    for path in ("/", "/main.js"):
        assert client("GET", path).status_code == 200
        assert client("HEAD", path).content == b""
    assert client("GET", "/v1/move/").status_code == 404


NUMBERS = st.integers() | st.integers(-16, 16) | st.floats() | st.booleans()
WORDS = st.text(max_size=30) | st.sampled_from([START, "XGID=-", "board:a:b:1", START + ":x"])
ANYTHING = st.recursive(
    st.none() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
BOARDS = st.lists(st.integers(-15, 15) | NUMBERS, min_size=24, max_size=27)
FIELDS = {
    "position": WORDS | ANYTHING,
    "board": BOARDS | ANYTHING,
    "dice": st.lists(st.integers(0, 7), min_size=1, max_size=3) | ANYTHING,
    "away": st.lists(st.integers(0, 26), min_size=2, max_size=2) | ANYTHING,
    "cube": st.sampled_from([1, 2, 64, 3, 128]) | ANYTHING,
    "owner": st.sampled_from(["centre", "mine", "theirs"]) | ANYTHING,
    "crawford": ANYTHING,
    "jacoby": ANYTHING,
    "beavers": ANYTHING,
    "ply": st.integers(-1, 1) | ANYTHING,
    "plays": ANYTHING,
    "text": WORDS | ANYTHING,
}


@settings(max_examples=80)
@given(
    path=st.sampled_from(["/v1/move", "/v1/cube", "/v1/evaluate", "/v1/analyze"]),
    question=st.fixed_dictionaries({}, optional=FIELDS) | ANYTHING,
)
def test_no_question_breaks_the_server(client: Client, path: str, question: Any) -> None:
    body = json.dumps(question).encode()
    answer = client("POST", path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400)
    if answer.status_code == 400:
        assert set(answer.json()) == {"message"}


@settings(max_examples=50)
@given(
    path=st.sampled_from(["/move", "/eval"]),
    query=st.dictionaries(
        st.sampled_from(
            [f"p{point}" for point in range(27)] + ["die1", "die2", "x_away", "o_away"]
        ),
        st.integers(-3, 6).map(str) | st.text(max_size=5),
    ),
)
def test_no_query_breaks_the_server(client: Client, path: str, query: dict[str, str]) -> None:
    assert client("GET", path, params=query).status_code in (200, 400)


def test_without_fastapi_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "nardy.serve.http")
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert main(["serve", "--net", "anywhere"]) == 2
    assert capsys.readouterr().err == (
        "nardy: the HTTP door needs fastapi and uvicorn: pip install 'nardy[serve]'\n"
    )


def test_a_static_page_without_its_runtime_is_refused_in_a_sentence(
    tmp_path: Path, net: Net, capsys: pytest.CaptureFixture
) -> None:
    export(net, {}, tmp_path / "net")
    asked = ["serve", "--net", str(tmp_path / "net"), "--static", str(tmp_path / "site")]
    assert main([*asked, "--ort", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "npm install onnxruntime-web" in said and said.count("\n") == 1
    assert not (tmp_path / "site").exists()
