"""The clients that docs/doors.md and the README print, run as they stand.

Only the port is another, and match.mat a file that is here.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import served

from nardy.net.net import Net
from nardy.play.cube_head import CubeHead
from nardy.play.nets import shipped
from nardy.serve import gnubg
from nardy.serve.bot import Bots

ROOT = Path(__file__).parents[2]
DOORS = (ROOT / "docs" / "doors.md").read_text()
README = (ROOT / "README.md").read_text()
MAT = ROOT / "tests" / "data" / "mat" / "jellyfish.mat"
NET = shipped().get("short", Path("nowhere"))
pytestmark = pytest.mark.skipif(not NET.is_dir(), reason="no net is shipped here")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def shell_lines(start: str) -> list[str]:
    """The commands of doors.md that begin so, continued lines joined."""
    text = re.sub(r"\\\n\s*", "", DOORS)
    return [line.strip() for line in text.splitlines() if re.match(rf"    {start}", line)]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    pytest.importorskip("fastapi", reason="the HTTP door needs fastapi")
    pytest.importorskip("uvicorn", reason="the HTTP door needs uvicorn")
    from nardy.serve.http import make_app

    with served(make_app(Net.load(NET), head=CubeHead.load(NET))) as number:
        yield number


def run(command: list[str], port: int = 0) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    here = [
        part.replace("localhost:8000", f"127.0.0.1:{port}").replace("match.mat", str(MAT))
        for part in command
    ]
    # Node 18 warns of fetch, which it has
    world = {**os.environ, "PATH": path, "NARDY_NET": str(NET), "NODE_NO_WARNINGS": "1"}
    done = subprocess.run(here, cwd=ROOT, env=world, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_python_clients(port: int) -> None:
    pytest.importorskip("onnxruntime", reason="one client needs onnxruntime")
    said = [run([sys.executable, "-c", code], port) for code in blocks(DOORS + README, "python")]
    assert len(said) == 5
    assert sum("8/5 6/5" in text for text in said) == 3  # HTTP, Player, the README's


@pytest.mark.skipif(not shutil.which("curl") or not shutil.which("jq"), reason="no curl or jq")
def test_curl_clients(port: int) -> None:
    lines = shell_lines("(curl|jq)")
    answers = [json.loads(run(["bash", "-c", line], port)) for line in lines]
    some = ["plays", "verdict", "cubeful", "decisions", "moves"]
    assert [key for key, answer in zip(some, answers, strict=True) if key in answer] == some


@pytest.mark.skipif(not shutil.which("node"), reason="no node")
def test_javascript_client(port: int) -> None:
    (code,) = blocks(DOORS, "js")
    assert run(["node", "--input-type=module", "--eval", code], port) == "8/5 6/5\n"


def test_ubgi_clients() -> None:
    drafts, line = (run(["bash", "-c", text]) for text in shell_lines(r"(printf 'ubgi|echo 'XGID)"))
    assert "bestmove 8/5 6/5\n" in drafts and drafts.endswith("bestcube nodouble\n")
    assert line == "8/5 6/5\n"


def test_the_line_for_gnubgs_socket() -> None:
    (line,) = shell_lines("printf 'board:")
    sent = re.fullmatch(r"printf '(.*)' \| nc localhost 1234", line)
    assert sent is not None

    async def asked() -> bytes:
        ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        bots = Bots(Net.load(NET), head=CubeHead.load(NET))
        server = asyncio.create_task(gnubg.serve(bots, "127.0.0.1", 0, ready.set_result))
        reader, writer = await asyncio.open_connection("127.0.0.1", await ready)
        writer.write(sent[1].replace(r"\n", "\n").encode())
        said = await reader.read()
        writer.close()
        server.cancel()
        return said

    assert asyncio.run(asked()) == b"24/22 13/8\n"
