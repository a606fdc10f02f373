"""Reading games from Jellyfish text, `.mat`, as gnubg, XG, Jellyfish and the servers write it.

    match = read_mat(Path("match.mat").read_text())

Columns may stand anywhere and comments (`;` or `#`) between any lines; moves may be merged or not,
lack their stars, use 25 and 0 or words. What is played must be legal. A file may break off, and
a roll that nobody played (XG writes `????`) may end a game. Writing is in nardy.notation.matfile.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from nardy.notation.record import Deed, GameRecord, MatchRecord, Recorder, crawford_games
from nardy.rules.variants import Variant, variant

_TAG = re.compile(r"[;#]\s*\[(?P<name>[^\"\]]+?)\s+\"(?P<value>[^\"]*)\"\]")
_LENGTH = re.compile(r"(\d{1,4})[\s-]*points?\s+match\b.*|(unlimited|money)\b.*", re.A | re.I)
_GAME = re.compile(r"game\s+\d+\s*:?", re.A | re.I)
_SCORE = re.compile(
    r"(?P<left>\S.*?)\s*:\s*(?P<first>\d{1,5})\s+(?P<right>\S.*?)\s*:\s*(?P<second>\d{1,5})", re.A
)
_ROW = re.compile(r"\s*\d{1,4}\s*\)", re.A)
_CELL = re.compile(
    r"(?<!\S)(?:(?P<dice>[1-6][1-6])\s*:|(?P<word>double|redouble|take|accept|drop|reject|beaver"
    r"|raccoon|win|resign)[a-z]*\b)",
    re.A | re.I,
)
_WON = re.compile(r"\D*(\d{1,6})?.*", re.A)
_RATING = re.compile(r",\s*\d[\d.]*(\s*\(.*\))?$", re.A)  # GamesGrid's, after a name
_UNPLAYED = re.compile(r"\?{3,}")

_VARIATIONS = {"backgammon": "short", "nackgammon": "nack", "hypergammon (3)": "hyper"}
_WORDS: dict[str, Deed] = {
    "take": "take",
    "accept": "take",
    "drop": "drop",
    "reject": "drop",
    "beaver": "beaver",
    "raccoon": "raccoon",
}

_RIGHT_ROW, _RIGHT_BARE = 8, 20  # spaces before a lone cell of the right column


class _Line(NamedTuple):
    number: int
    text: str  # neither empty nor a comment


class _Cell(NamedTuple):
    player: int
    kind: str  # "dice", or the first letters of a word
    text: str  # what follows


def read_mat(text: str) -> MatchRecord:
    """The games of a .mat file.

    Raises ValueError, in one sentence with the number of the line, for what cannot be read or
    cannot have happened.
    """
    lines, tags = _lines(text)
    length, start = _length(lines)
    game = _variant(tags)
    chapters = _chapters(lines[start:])
    if not chapters:
        raise ValueError("the .mat file has no game in it: there is no line 'Game 1'")
    heads = [_score(chapter, length) for chapter in chapters]
    rule = length > 0 and tags.get("Crawford", "On").lower() != "off"
    scores = [score for _, score in heads]
    crawford = crawford_games(scores, length if rule else 0)
    jacoby = not length and tags.get("Jacoby", "Off").lower() == "on"
    return MatchRecord(
        players=heads[0][0],
        length=length,
        variant=game,
        games=[
            _game(chapter[2:], Recorder(game, jacoby), score, first)
            for chapter, score, first in zip(chapters, scores, crawford, strict=True)
        ],
        jacoby=jacoby,
        beavers=not length and tags.get("Beaver", "Off").lower() == "on",
        crawford=rule or not length,
        tags=tags,
    )


def _lines(text: str) -> tuple[list[_Line], dict[str, str]]:
    lines, tags = [], {}
    plain = text.removeprefix("\ufeff").replace("\u00a0", " ")  # as pages on the web space columns
    for number, line in enumerate(plain.splitlines(), start=1):
        bare = line.strip()
        if bare.startswith((";", "#")):
            tag = _TAG.match(bare)
            if tag:
                tags[tag["name"]] = tag["value"]
            elif re.match(r";\s*Set Pos=", bare):
                raise ValueError(f"line {number} sets up a position, which is not read: {bare!r}")
        elif bare:
            lines.append(_Line(number, line.expandtabs(8).rstrip()))
    return lines, tags


def _length(lines: list[_Line]) -> tuple[int, int]:
    """Points played to, and the number of lines up to there."""
    for place, line in enumerate(lines):
        found = _LENGTH.fullmatch(line.text.strip())
        if found:
            return int(found[1] or 0), place + 1
        if _GAME.fullmatch(line.text.strip()):
            break
    raise ValueError("the .mat file does not say what is played to: a line '7 point match'")


def _variant(tags: dict[str, str]) -> Variant:
    name = tags.get("Variation", "Backgammon")
    if name.lower() not in _VARIATIONS:
        raise ValueError(f"the variation {name!r} is not known here")
    return variant(_VARIATIONS[name.lower()])


def _chapters(lines: list[_Line]) -> list[list[_Line]]:
    """The lines of each game, from `Game 1` on."""
    starts = [at for at, line in enumerate(lines) if _GAME.fullmatch(line.text.strip())]
    return [lines[a:b] for a, b in pairwise([*starts, len(lines)])]


def _score(chapter: list[_Line], length: int) -> tuple[tuple[str, str], tuple[int, int]]:
    """The players' names and points, from the second line of a game; length: 0 for money."""
    found = _SCORE.fullmatch(chapter[1].text.strip()) if len(chapter) > 1 else None
    if found is None:
        raise ValueError(
            f"line {chapter[0].number}: after {chapter[0].text.strip()!r} come both players and "
            "their points, as in 'anna : 0   boris : 0'"
        )
    names = (_RATING.sub("", found["left"]), _RATING.sub("", found["right"]))
    points = (int(found["first"]), int(found["second"]))
    if max(points) >= length > 0:
        line = chapter[1].number
        raise ValueError(f"line {line}: at {points[0]}-{points[1]} a match to {length} is over")
    return names, points


def _game(
    lines: list[_Line], recorder: Recorder, score: tuple[int, int], crawford: bool
) -> GameRecord:
    winner = points = None
    for line in lines:
        try:
            for cell in _cells(line):
                if winner is not None:
                    raise ValueError("the game is over already")
                if cell.kind == "win":
                    winner, points = _winner(cell, recorder)
                else:
                    _play(cell, recorder)
        except ValueError as error:
            raise ValueError(f"line {line.number}, {line.text.strip()!r}: {error}") from None
    try:
        return recorder.finished(score, crawford, winner, points)
    except ValueError as error:
        where = f" before line {lines[-1].number + 1}" if lines else ""
        raise ValueError(f"the game{where}: {error}") from None


def _play(cell: _Cell, recorder: Recorder) -> None:
    if cell.kind[0] in "123456":
        text = None if _UNPLAYED.fullmatch(cell.text) else cell.text
        recorder.roll(cell.player, (int(cell.kind[0]), int(cell.kind[1])), text)
    elif cell.kind in ("double", "redouble"):
        recorder.double(cell.player)
    elif cell.kind in _WORDS:
        recorder.answer(cell.player, _WORDS[cell.kind])
    # a resignation is told by the line with the points won


def _winner(cell: _Cell, recorder: Recorder) -> tuple[int, int | None]:
    """Who won, and how much: the column says who where neither board nor drop does."""
    winner = cell.player if recorder.winner is None else recorder.winner
    found = _WON.match(cell.text)
    points = int(found[1]) if found and found[1] else None
    return winner, points


def _cells(line: _Line) -> Iterator[_Cell]:
    """The cells of a row; which column a lone one stands in shows in the space before it."""
    row = _ROW.match(line.text)
    rest = re.split(r"\s;", line.text[row.end() if row else 0 :])[0]
    found = list(_CELL.finditer(rest))
    if not rest.strip():
        return
    if not found or rest[: found[0].start()].strip() or len(found) > 2:
        raise ValueError("a row has one or two of 31: 8/5 6/5, Doubles => 2, Takes, Drops, Wins 1")
    right = found[0].start() >= (_RIGHT_ROW if row else _RIGHT_BARE)
    ends = [cell.start() for cell in found[1:]] + [len(rest)]
    for number, (cell, end) in enumerate(zip(found, ends, strict=True)):
        player = int(right) if len(found) == 1 else number
        yield _Cell(player, (cell["dice"] or cell["word"]).lower(), rest[cell.end() : end].strip())
