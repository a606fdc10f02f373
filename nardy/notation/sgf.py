"""Reading gnubg's own files, SGF of game type 6 (`GM[6]`).

    match = read_sgf(Path("match.sgf").read_text())

Each game is a tree whose root names length, score and rules and whose other nodes are the actions
of W (player 0) and B (player 1): `;W[31hefe]`, `;B[double]`, `;W[take]`. Points are letters, a..x,
player 0's 1..24 (for B the same letters count from the other end); y is the bar and z off.
Analyses are skipped. Positions set up by hand (AE, AW, AB) are not read (gnubg, sgf.c).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nardy.notation.record import GameRecord, MatchRecord, Recorder
from nardy.rules.variants import Variant, variant

_TOKEN = re.compile(
    r"\s*(?:(?P<sign>[();])|(?P<name>[A-Za-z]+)|\[(?P<value>(?:\\.|[^\]\\])*)\])", re.S
)
_INFO = re.compile(r"(length|game|ws|bs):(\d{1,5})", re.A)
_RESULT = re.compile(r"([WB])\+(\d{1,6})(R?)", re.A)
_PLAY = re.compile(r"(?P<dice>[1-6]{2})(?P<hops>(?:[a-y][a-z]){0,4})", re.A)
_VARIATIONS = {"nackgammon": "nack", "hypergammon3": "hyper"}
_UNREAD = ("hypergammon1", "hypergammon2")

_Node = dict[str, list[str]]  # property to values


class _Root(NamedTuple):
    """What the first node of a game says."""

    length: int
    score: tuple[int, int]
    players: tuple[str, str]
    rules: list[str]
    result: tuple[int, int] | None  # winner, points


def read_sgf(text: str) -> MatchRecord:
    """The games of a gnubg SGF file.

    Raises ValueError, in one sentence, for what cannot be read or cannot have happened.
    """
    trees = list(_trees(text.removeprefix("\ufeff")))
    if not trees:
        raise ValueError("the SGF file has no game in it")
    roots = [_root(tree[0]) for tree in trees]
    first = roots[0]
    game = _variant(first.rules)
    return MatchRecord(
        players=first.players,
        length=first.length,
        variant=game,
        games=[
            _game(tree[1:], root, game, number)
            for number, (tree, root) in enumerate(zip(trees, roots, strict=True), start=1)
        ],
        jacoby=not first.length and "jacoby" in first.rules,
        crawford=not first.length or "crawford" in first.rules,
        tags={
            name: trees[0][0][name][0]
            for name in ("DT", "EV", "RO", "PC", "AN")
            if name in trees[0][0]
        },
    )


def _trees(text: str) -> Iterator[list[_Node]]:
    """The nodes of each game's main line."""
    nodes: list[_Node] = []
    name, depth, left = "", 0, False  # left: the main line has ended, variations follow
    place = 0
    while place < len(text.rstrip()):
        token = _TOKEN.match(text, place)
        if token is None:
            raise ValueError(f"the SGF file cannot be read from {text[place : place + 20]!r} on")
        place = token.end()
        if token["sign"] == "(":
            depth += 1
        elif token["sign"] == ")":
            depth, left = depth - 1, True
            if depth < 0:
                raise ValueError("the SGF file closes a game that it did not open")
            if depth == 0:
                if nodes:
                    yield nodes
                nodes, left = [], False
        elif depth == 0:
            raise ValueError(f"the SGF file has {token[0].strip()!r} outside a game")
        elif not left:
            name = _add(nodes, name, token)
    if depth:
        raise ValueError("the SGF file breaks off inside a game")


def _add(nodes: list[_Node], name: str, token: re.Match[str]) -> str:
    """Put a token into the last node; the property that values now belong to."""
    if token["sign"] == ";":
        nodes.append({})
        return ""
    if not nodes:
        raise ValueError(f"the SGF file has {token[0].strip()!r} before a node")
    if token["name"] is not None:
        nodes[-1].setdefault(token["name"], [])
        return token["name"]
    if not name:
        raise ValueError(f"the SGF file has the value {token[0].strip()[:20]!r} without a name")
    nodes[-1][name].append(re.sub(r"\\(.)", r"\1", token["value"], flags=re.S))
    return name


def _root(node: _Node) -> _Root:
    if node.get("GM") != ["6"]:
        raise ValueError(f"the SGF file is of game {node.get('GM', [])}, not 6, backgammon")
    info = {match[1]: int(match[2]) for match in map(_INFO.fullmatch, node.get("MI", [])) if match}
    result = None
    if node.get("RE"):
        found = _RESULT.fullmatch(node["RE"][0])
        if found is None:
            raise ValueError(f"the SGF file has the result {node['RE'][0]!r}, not W+2 or B+1R")
        result = ("WB".index(found[1]), int(found[2]))
    rules = ":".join(node.get("RU", [])).lower().split(":")
    return _Root(
        info.get("length", 0),
        (info.get("ws", 0), info.get("bs", 0)),
        (_first(node, "PW", "white"), _first(node, "PB", "black")),
        rules,
        result,
    )


def _first(node: _Node, name: str, default: str) -> str:
    return node[name][0] if node.get(name) else default


def _variant(rules: list[str]) -> Variant:
    for rule in rules:
        if rule in _UNREAD:
            raise ValueError(f"the variation {rule!r} is not known here")
        if rule in _VARIATIONS:
            return variant(_VARIATIONS[rule])
    return variant("short")


def _game(nodes: list[_Node], root: _Root, game: Variant, number: int) -> GameRecord:
    recorder = Recorder(game, "jacoby" in root.rules)
    for place, node in enumerate(nodes, start=1):
        try:
            _act(node, recorder)
        except ValueError as error:
            raise ValueError(f"game {number}, node {place} of the SGF file: {error}") from None
    winner, points = root.result or (None, None)
    try:
        return recorder.finished(root.score, "crawfordgame" in root.rules, winner, points)
    except ValueError as error:
        raise ValueError(f"game {number} of the SGF file: {error}") from None


def _act(node: _Node, recorder: Recorder) -> None:
    if {"AE", "AW", "AB", "CV", "CP"} & node.keys():
        raise ValueError("a position or cube that is set up by hand is not read")
    if "DI" in node:
        player = {"W": 0, "B": 1}.get(_first(node, "PL", ""))
        dice = _PLAY.fullmatch(_first(node, "DI", ""))
        if player is None or dice is None:
            raise ValueError(f"cannot read the roll {node!r}")
        recorder.roll(player, _dice(dice), None)
    for player, colour in enumerate("WB"):
        for value in node.get(colour, []):
            _move(player, value, recorder)


def _move(player: int, value: str, recorder: Recorder) -> None:
    if value == "double":
        if recorder.offer is None:
            recorder.double(player)
        else:
            recorder.answer(player, "beaver" if recorder.offer.deed == "double" else "raccoon")
    elif value in ("take", "drop"):
        recorder.answer(player, "take" if value == "take" else "drop")
    else:
        play = _PLAY.fullmatch(value)
        if play is None:
            raise ValueError(f"cannot read the play {value!r}")
        stops = [_stop(letter, player) for letter in play["hops"]]
        hops = [f"{a}/{b}" for a, b in zip(stops[::2], stops[1::2], strict=True)]
        recorder.roll(player, _dice(play), " ".join(hops) or "pass")


def _dice(match: re.Match[str]) -> tuple[int, int]:
    return int(match["dice"][0]), int(match["dice"][1])


def _stop(letter: str, player: int) -> str:
    if letter in "yz":
        return "bar" if letter == "y" else "off"
    point = ord(letter) - ord("a") + 1
    return str(point if player == 0 else 25 - point)
