"""Several processes behind one port."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nardy.cli import main
from nardy.net.net import Net
from nardy.serve import workers
from nardy.serve.workers import keep, reserved
from train.export import export

CLIENTS = 32


def test_a_taken_port_is_refused_in_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ValueError, match=f"cannot listen at 127.0.0.1:{port}: "):
            with reserved("127.0.0.1", port):
                pass
    with reserved("127.0.0.1", 0) as free:
        assert free > 0


def _fail() -> None:
    sys.exit(3)


def test_a_worker_that_does_not_come_up_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(ValueError, match="a worker ended at once, with code 3"):
        keep(2, _fail, ())


@pytest.fixture
def server(net: Net, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    export(net, {}, tmp_path / "net")
    command = [sys.executable, "-m", "nardy", "serve", "--port", "0", "--workers", "2"]
    server = subprocess.Popen(
        [*command, "--net", str(tmp_path / "net")],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"NARDY_JIT": "0"},
    )
    yield server
    server.kill()
    server.wait()
    assert server.stdout is not None
    server.stdout.close()


@pytest.mark.skipif(not workers.deals_out(), reason="connections are dealt out on Linux alone")
def test_connections_are_dealt_out(server: subprocess.Popen[str]) -> None:
    pytest.importorskip("fastapi", reason="the HTTP door needs fastapi")
    assert server.stdout is not None
    port = int(server.stdout.readline().split(":")[2].split(",")[0])
    pids: set[int] = set()
    for _ in range(200):  # until the second has come up, too
        pids |= answering(port, 4)
        if len(pids) == 2:
            break
    assert server.pid not in pids
    assert answering(port, CLIENTS) == pids and len(pids) == 2
    server.send_signal(signal.SIGTERM)
    assert server.wait(60) == 0
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def answering(port: int, clients: int) -> set[int]:
    """The processes that answer so many clients at once."""
    lines = [connected(port) for _ in range(clients)]
    pids = {health(line) for line in lines}
    for line in lines:
        line.close()
    time.sleep(0.1)
    return pids


def connected(port: int) -> socket.socket:
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 60)
        except ConnectionRefusedError:  # none has come up yet
            time.sleep(0.1)


def health(line: socket.socket) -> int:
    """The process that answers at the other end."""
    line.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
    answer = b""
    while not answer.endswith(b"}"):
        answer += line.recv(4096)
    return int(json.loads(answer.split(b"\r\n\r\n")[1])["pid"])


def test_the_command_tells_that_its_port_is_taken(
    net: Net, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("fastapi", reason="the HTTP door needs fastapi")
    export(net, {}, tmp_path / "net")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        assert main(["serve", "--port", port, "--net", str(tmp_path / "net")]) == 2
    said = capsys.readouterr().err
    assert "cannot listen at" in said and said.count("\n") == 1
