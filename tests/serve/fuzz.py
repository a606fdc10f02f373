"""HTTP questions that are nearly right, made without end from a seed.

    for asked in questions(seed=1, number=1000):
        asked.method, asked.path, asked.query, asked.body, asked.kind

Each begins as a question that is answered, and in half of them up to three things go wrong: a field
is lost, strange or new, a character of a text is another, a list is longer, bytes are no JSON.
"""

import json
import random
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote_from_bytes, urlencode

import numpy as np
from random_nets import SHORT, play_out

from nardy.notation.ids import position_id

START = "4HPwATDgc/ABMA"
XGIDS = (
    "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:3:0:10",
    "XGID=-b----E-C---eE---c-e----B-:1:-1:1:00:3:2:0:7:10",
    "XGID=-a-B--C-dE---eD---d-e----A-:2:1:-1:52:0:0:1:5:10",
)
TEXTS = (
    *XGIDS,
    f"{START}:cAkAAAAAAAAA",
    "board:a:b:7:2:3:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:6:2:0:0:1:1:1:0:1"
    ":-1:0:25:0:0:0:0:2:0:0:0",
    "mxmAQ4PbAQAAAA",
)
DATA = Path(__file__).parents[1] / "data"
GAMES = [
    path.read_text(errors="replace")[:1200]
    for path in [*sorted(DATA.glob("mat/*.mat")), *sorted(DATA.glob("sgf/*.sgf"))]
]
STRANGE: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3, 7, 25, 26, 64, 128, 2**31, -(2**63), 10**400, 0.5, -0.0,
    1e308, float("nan"), float("inf"), "", "1", "mine", "\x00", "\ud800", "é", "א", "x" * 500, [],
    [0] * 26, [[[[]]]], [1, 2], {}, {"position": START}, START,
]  # fmt: skip
"""Values for any field."""
ALPHABET = string.ascii_letters + string.digits + ":/=+-*[]();,. \n\t\x00\x7fé١"
POINTS = {24: 2, 19: -5, 17: -3, 13: 5, 12: -5, 8: 3, 6: 5, 1: -2}


class Asked(NamedTuple):
    """One request."""

    method: str
    path: str
    query: bytes
    body: bytes
    kind: str  # of content


def questions(seed: int, number: int) -> Iterator[Asked]:
    """So many requests, always the same for a seed."""
    chance = random.Random(seed)
    boards, dice, _ = play_out(SHORT, 4, 50)
    maker = _Maker(chance, boards.tolist(), dice.tolist())
    for _ in range(number):
        yield maker.request()


class _Maker:
    def __init__(
        self, chance: random.Random, boards: list[list[int]], dice: list[list[int]]
    ) -> None:
        self.chance, self.boards, self.dice = chance, boards, dice

    def request(self) -> Asked:
        chance = self.chance
        kind = "application/json"
        if chance.random() < 0.15:
            return self._wildbg()
        path, question = chance.choice((self._move, self._cube, self._games, self._page))()
        if chance.random() < 0.5:
            for _ in range(chance.randint(1, 3)):
                question = self._spoilt(question)
        body = json.dumps(question).encode()
        if chance.random() < 0.05:
            body = self._broken(body)
        if chance.random() < 0.02:
            kind = chance.choice(("", "text/plain", "application/xml", "multipart/form-data; x"))
        method = "POST" if chance.random() < 0.98 else chance.choice(("GET", "PUT", "HEAD", "X"))
        if chance.random() < 0.02:
            path += chance.choice(("/", "/..", "%00", "/%ff", "?", "x"))
        return Asked(method, path, b"", body, kind)

    # --- what is right -----------------------------------------------------------------------

    def _position(self) -> dict[str, Any]:
        board = self.chance.choice(self.boards)
        match self.chance.randrange(3):
            case 0:
                return {"board": board}
            case 1:
                return {"position": position_id(np.array(board, np.int8))}
            case _:
                return {"position": self.chance.choice(TEXTS)}

    def _stake(self) -> dict[str, Any]:
        chance = self.chance
        asked: dict[str, Any] = {}
        if chance.random() < 0.5:
            asked["away"] = [chance.randint(1, 9), chance.randint(1, 9)]
            asked["crawford"] = chance.random() < 0.2
        elif chance.random() < 0.5:
            asked["jacoby"] = chance.random() < 0.5
            asked["beavers"] = chance.random() < 0.5
        if chance.random() < 0.3:
            asked["cube"] = 2 ** chance.randint(0, 6)
            asked["owner"] = chance.choice(("centre", "mine", "theirs"))
        return asked

    def _move(self) -> tuple[str, dict[str, Any]]:
        asked = {**self._position(), **self._stake(), "dice": self.chance.choice(self.dice)}
        if self.chance.random() < 0.3:
            asked["plays"] = self.chance.choice((1, 3, 2000))
        if self.chance.random() < 0.02:
            asked["ply"] = 1
        return "/v1/move", asked

    def _cube(self) -> tuple[str, dict[str, Any]]:
        path = self.chance.choice(("/v1/cube", "/v1/evaluate"))
        return path, {**self._position(), **self._stake()}

    def _games(self) -> tuple[str, dict[str, Any]]:
        if self.chance.random() < 0.8:  # judging games takes long
            return self._move()
        return "/v1/analyze", {"text": self.chance.choice(GAMES), "ply": 0}

    def _page(self) -> tuple[str, dict[str, Any]]:
        chance = self.chance
        asked: dict[str, Any] = {"variant": "short", "board": chance.choice(self.boards)}
        if chance.random() < 0.5:
            length = chance.randint(0, 9)
            points = [chance.randint(0, length), chance.randint(0, length)]
            asked["score"] = {"length": length, "points": points}
        if chance.random() < 0.5:
            return "/play/position", asked
        return "/play/rank", asked | {"dice": chance.choice(self.dice), "level": "beginner"}

    def _wildbg(self) -> Asked:
        chance = self.chance
        query = {f"p{point}": str(count) for point, count in POINTS.items()}
        path = chance.choice(("/move", "/eval"))
        if path == "/move":
            query |= {"die1": str(chance.randint(1, 6)), "die2": str(chance.randint(1, 6))}
        if chance.random() < 0.5:
            query |= {"x_away": str(chance.randint(1, 5)), "o_away": str(chance.randint(1, 5))}
        for _ in range(chance.randint(0, 3) if chance.random() < 0.5 else 0):
            name = chance.choice([*query, f"p{chance.randint(0, 27)}", "x"])
            query[name] = chance.choice((self._text(query.get(name, "")), "-1", "16", "", "1e1"))
        asked = urlencode(query, errors="backslashreplace").encode()
        if chance.random() < 0.05:
            asked = quote_from_bytes(self._broken(asked), safe="%&=").encode()
        return Asked("GET", path, asked, b"", "")

    # --- what is wrong -----------------------------------------------------------------------

    def _spoilt(self, value: Any) -> Any:
        """`value` with one thing changed, somewhere within."""
        chance = self.chance
        if chance.random() < 0.1:
            return chance.choice(STRANGE)
        match value:
            case dict():
                return self._spoilt_fields(value)
            case list() if value:
                place, changed = chance.randrange(len(value)), list(value)
                match chance.randrange(3):
                    case 0:
                        del changed[place]
                    case 1:
                        changed.insert(place, chance.choice(value))
                    case _:
                        changed[place] = self._spoilt(value[place])
                return changed
            case str():
                return self._text(value)
            case int():
                return value + chance.choice((-26, -2, -1, 1, 2, 26))
        return chance.choice(STRANGE)

    def _spoilt_fields(self, value: dict[str, Any]) -> dict[str, Any]:
        changed, chance = dict(value), self.chance
        name = chance.choice([*value, "board", "position", "ply", "x"])
        if name in value and chance.random() < 0.2:
            del changed[name]
        else:
            changed[name] = self._spoilt(value.get(name))
        if changed.get("ply") in (1, 2) and chance.random() < 0.9:
            del changed["ply"]  # a search takes long
        return changed

    def _text(self, text: str) -> str:
        chance = self.chance
        for _ in range(chance.randint(1, 3)):
            place = chance.randint(0, len(text))
            match chance.randrange(4):
                case 0:
                    text = text[:place] + text[place + 1 :]
                case 1:
                    text = text[:place] + chance.choice(ALPHABET) + text[place:]
                case 2:
                    text = text[:place] + chance.choice(ALPHABET) + text[place + 1 :]
                case _:
                    other = chance.randint(0, len(text))
                    low, high = sorted((place, other))
                    text = text[:low] + text[high:] if chance.random() < 0.3 else text[low:] + text
        return text[: chance.choice((1, 50, 4000))]

    def _broken(self, body: bytes) -> bytes:
        place = self.chance.randint(0, len(body))
        extra = bytes(self.chance.randrange(256) for _ in range(self.chance.randint(0, 3)))
        return body[:place] + extra + body[place + self.chance.randint(0, 2) :]
