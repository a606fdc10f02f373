"""How many moves a second the HTTP door gives, and how long they take.

    nardy serve --port 8000 --workers 2        # in one terminal
    python -m nardy.serve.load --port 8000 --clients 32 --seconds 10

Each client asks for the move of a random position as soon as it has its last answer, over one
connection that stays open. It uses the standard library alone, and shares the machine's cores
with the server.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence

import numpy as np

from nardy.notation.ids import position_id
from nardy.rules.batch import afterstates
from nardy.rules.board import flip, points_won, start_board
from nardy.rules.dice import random_words, roll
from nardy.rules.variants import variant


def questions(number: int, ply: int) -> list[bytes]:
    """HTTP requests for moves in positions of random games of short nardy."""
    game = variant("short")
    board, found = start_board(game), []
    for turn in range(number):
        dice = roll(7, [0], [turn], "reroll")
        asked = {"position": position_id(board), "dice": dice[0].tolist(), "ply": ply, "plays": 1}
        body = json.dumps(asked).encode()
        head = (
            "POST /v1/move HTTP/1.1\r\nHost: load\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        found.append(head.encode() + body)
        results = afterstates(board[None], dice, game).boards
        chosen = results[int(random_words(7, [0], [turn], 1)[0]) % len(results)]
        board = start_board(game) if points_won(chosen, game) else flip(chosen)
    return found


async def _client(
    host: str, port: int, requests: list[bytes], until: float, times: list[float]
) -> int:
    """Ask until the time is up; how many answers were not 200."""
    reader, writer = await asyncio.open_connection(host, port)
    bad = turn = 0
    while time.perf_counter() < until:
        began = time.perf_counter()
        writer.write(requests[turn % len(requests)])
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        bad += not head.startswith(b"HTTP/1.1 200")
        times.append(time.perf_counter() - began)
        turn += 1
    writer.close()
    return bad


async def load(host: str, port: int, clients: int, seconds: float, ply: int) -> dict[str, float]:
    """Moves a second, and milliseconds for half, 99 % and all of them.

    Raises OSError where nobody listens.
    """
    requests, times = questions(400, ply), list[float]()
    began = time.perf_counter()
    until = began + seconds
    bad = await asyncio.gather(
        *(
            _client(host, port, requests[13 * i :] + requests[: 13 * i], until, times)
            for i in range(clients)
        )
    )
    took = 1000 * np.array(times)
    return {
        "moves_per_s": len(times) / (time.perf_counter() - began),
        "p50_ms": float(np.percentile(took, 50)),
        "p99_ms": float(np.percentile(took, 99)),
        "max_ms": float(took.max()),
        "refused": sum(bad),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one JSON object; 2 where nobody listens."""
    parser = argparse.ArgumentParser(prog="python -m nardy.serve.load", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--ply", type=int, default=0)
    asked = parser.parse_args(arguments)
    try:
        print(json.dumps(asyncio.run(load(**vars(asked)))))
    except OSError as error:
        print(f"nardy: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
