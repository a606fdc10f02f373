"""A crowd of nearly right requests: whatever is asked, nothing breaks inside the server.

The full count is slow: make test-slow. schemathesis asks what the OpenAPI document allows and
forbids; tests/serve/fuzz.py makes questions from good ones.
"""

import asyncio
import json
import socket
from collections import Counter
from collections.abc import Iterator
from typing import Any

import fuzz
import pytest
from hypothesis import HealthCheck, given, settings
from served import served

from nardy.net.net import Net

pytest.importorskip("fastapi", reason="the HTTP door needs fastapi")
pytest.importorskip("uvicorn", reason="the HTTP door needs uvicorn")

from nardy.serve.http import make_app  # noqa: E402

OURS, THEIRS = 80_000, 2_500
"""Requests of the slow tests: by fuzz.py, and by schemathesis for each operation; some 100,000."""
ANSWERS = {200, 400, 404, 405, 413}


class Door:
    """Asks an ASGI application without a network. What breaks inside is raised here."""

    def __init__(self, net: Net) -> None:
        self.app = make_app(net)
        self.runner = asyncio.Runner()

    def ask(self, asked: fuzz.Asked) -> tuple[int, bytes]:
        return self.runner.run(self._ask(asked))

    async def _ask(self, asked: fuzz.Asked) -> tuple[int, bytes]:
        parts = [{"type": "http.request", "body": asked.body, "more_body": False}]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return parts.pop() if parts else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(_scope(asked), receive, send)
        return sent[0]["status"], b"".join(part.get("body", b"") for part in sent[1:])


def _scope(asked: fuzz.Asked) -> dict[str, Any]:
    headers = [(b"host", b"fuzz"), (b"content-length", str(len(asked.body)).encode())]
    if asked.kind:
        headers.append((b"content-type", asked.kind.encode()))
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": asked.method,
        "scheme": "http",
        "path": asked.path,
        "raw_path": asked.path.encode(),
        "query_string": asked.query,
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("fuzz", 80),
    }


@pytest.fixture(scope="module")
def door(net: Net) -> Iterator[Door]:
    door = Door(net)
    yield door
    door.runner.close()


def check(door: Door, seed: int, number: int) -> Counter[int]:
    """Ask so many questions; how often each status came."""
    seen: Counter[int] = Counter()
    for asked in fuzz.questions(seed, number):
        status, body = door.ask(asked)
        seen[status] += 1
        assert status in ANSWERS, asked
        if status != 200 and asked.method != "HEAD":
            answer = json.loads(body)
            sentence = answer.get("message")
            assert isinstance(sentence, str) and sentence and "\n" not in sentence, (asked, answer)
            assert "JSON compliant" not in sentence, asked  # a number that should not have come
    return seen


def test_nearly_right_questions(door: Door) -> None:
    seen = check(door, seed=1, number=600)
    assert seen[200] > 200 and seen[400] > 100


@pytest.mark.slow
def test_a_crowd_of_nearly_right_questions(door: Door) -> None:
    print(dict(check(door, seed=2, number=OURS)))


@pytest.mark.slow
def test_what_the_description_allows_and_forbids(door: Door) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis makes the questions")
    schema = schemathesis.openapi.from_asgi("/openapi.json", door.app)
    seen: Counter[int] = Counter()
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(max_examples=THEIRS, suppress_health_check=list(HealthCheck), database=None)
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            response = case.call()
            seen[response.status_code] += 1
            assert response.status_code < 500, case

        ask()
    print(dict(seen))
    assert sum(seen.values()) > THEIRS


@pytest.mark.parametrize(
    "sent",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /health HTTP/1.1\r\n: x\r\n\r\n",
        b"POST /v1/move HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n{}",
        b"POST /v1/move HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n{}",
        b"POST /v1/move HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nz\r\n",
        b"\x16\x03\x01\x00\xff",
        b"x" * 100_000,
    ],
)
def test_what_is_hardly_http(port: int, sent: bytes) -> None:
    """The server hangs up or refuses, and answers the next one."""
    with socket.create_connection(("127.0.0.1", port), 10) as line:
        line.settimeout(0.5)
        answer = b""
        try:
            line.sendall(sent)
            answer = line.recv(1 << 16)
        except OSError:
            pass  # it has hung up, or waits for more
    assert not answer.startswith(b"HTTP/1.1 5")
    with socket.create_connection(("127.0.0.1", port), 10) as line:
        line.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        assert line.recv(1 << 16).startswith(b"HTTP/1.1 200")


@pytest.fixture(scope="module")
def port(net: Net) -> Iterator[int]:
    """The port of a running server."""
    with served(make_app(net)) as number:
        yield number
