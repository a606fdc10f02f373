"""XGID, the position text of eXtreme Gammon.

    parse("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:3:0:10")    # the start, X rolled 3-1
    format(Position(board, MatchState(length=7, points=(2, 4))))

Ten fields, parted by colons: 26 places (O's bar, points 1 to 24 of X, X's bar; A to O are 1 to 15
checkers of X, small letters those of O), log2 of the cube, its owner (1 X, -1 O, 0 the middle),
the player on roll (1 X, -1 O), dice (00 before the roll, D where he offers a double), the points
of X and of O, rules (in a match 1 for the Crawford game; for money 1 Jacoby, 2 beavers, 3 both),
length of the match (0 for money), and log2 of the highest cube. The places are always X's view.
"""

import re

import numpy as np

from nardy.notation.state import MatchState, Position, cube_log
from nardy.rules.board import Boards, flip

_FIELDS = ("cube", "owner", "turn", "dice", "X", "O", "rules", "length", "limit")
_FORM = re.compile(
    r"(?:XGID=)?(?P<places>[^:]*)"
    r":(?P<cube>\d{1,2}):(?P<owner>-1|0|1):(?P<turn>-1|1):(?P<dice>00?|[1-6]{2}|D)"
    r":(?P<X>\d{1,5}):(?P<O>\d{1,5}):(?P<rules>[0-3]):(?P<length>\d{1,5}):(?P<limit>\d{1,2})",
    re.ASCII | re.IGNORECASE,
)
_LETTERS = "-ABCDEFGHIJKLMNO"
_X, _O = 1, 0


def parse(text: str) -> Position:
    """The position of an XGID, with or without `XGID=` before it.

    Raises ValueError naming what is wrong. Beavers that are offered (dice B or R) are not read.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"cannot read the XGID {text!r}: {_what_is_wrong(text)}")
    number = {name: int(found[name]) for name in _FIELDS if name != "dice"}
    if max(number["cube"], number["limit"]) > 15:
        raise ValueError(f"the XGID {text!r} has a cube above 2 to the power of 15")
    money, dice = number["length"] == 0, found["dice"].upper()
    if not money and number["rules"] > 1:
        raise ValueError(f"the XGID {text!r} has money rules {number['rules']} in a match")
    board = _board(found["places"], text)
    on_roll = _X if number["turn"] == 1 else _O
    try:
        state = MatchState(
            cube=1 << number["cube"],
            owner={1: _X, -1: _O, 0: None}[number["owner"]],
            on_roll=on_roll,
            dice=(int(dice[0]), int(dice[1])) if dice[0] in "123456" else None,
            doubled=dice == "D",
            length=number["length"],
            points=(number["O"], number["X"]),
            crawford=not money and number["rules"] == 1,
            jacoby=money and bool(number["rules"] & 1),
            beavers=money and bool(number["rules"] & 2),
            max_cube=1 << number["limit"],
        )
    except ValueError as error:
        raise ValueError(f"the XGID {text!r}: {error}") from None
    return Position(board if on_roll == _X else flip(board), state)


def format(position: Position) -> str:
    """The XGID of `position`, `XGID=` included. It has no place for a resignation.

    Raises ValueError where a point holds more than 15 checkers.
    """
    state = position.state
    board = position.board if state.on_roll == _X else flip(position.board)
    rules = int(state.crawford) if state.length else state.jacoby + 2 * state.beavers
    fields = (
        "XGID=" + "".join(_letter(count) for count in board.tolist()),
        cube_log(state.cube),
        {_X: 1, _O: -1, None: 0}[state.owner],
        1 if state.on_roll == _X else -1,
        "D" if state.doubled else "".join(map(str, state.dice or (0, 0))),
        state.points[_X],
        state.points[_O],
        rules,
        state.length,
        cube_log(state.max_cube),
    )
    return ":".join(map(str, fields))


def _letter(count: int) -> str:
    if abs(count) > 15:
        raise ValueError(f"an XGID holds up to 15 checkers on a point, not {abs(count)}")
    letter = _LETTERS[abs(count)]
    return letter.lower() if count < 0 else letter


def _board(places: str, text: str) -> Boards:
    """int8[26] in X's view."""
    if len(places) != 26 or set(places.upper()) - set(_LETTERS) or not places.isascii():
        raise ValueError(
            f"the XGID {text!r} needs 26 places of -, A to O and a to o, not {places!r}"
        )
    counts = [_LETTERS.index(c) if c == c.upper() else -_LETTERS.index(c.upper()) for c in places]
    if counts[0] > 0 or counts[25] < 0:
        raise ValueError(f"the XGID {text!r} has a checker on the other player's bar")
    for side, sign in (("X", 1), ("O", -1)):
        checkers = sum(max(sign * count, 0) for count in counts)
        if checkers > 15:
            raise ValueError(f"the XGID {text!r} has {checkers} checkers of {side}")
    return np.array(counts, np.int8)


def _what_is_wrong(text: str) -> str:
    fields = text.strip().split(":")
    if len(fields) != 1 + len(_FIELDS):
        return f"it has {len(fields)} fields between its colons, not {1 + len(_FIELDS)}"
    if fields[4].upper() in ("B", "R"):
        return f"positions where a beaver is offered, dice {fields[4]!r}, are not read"
    for name, allowed, value in zip(_FIELDS, _ALLOWED, fields[1:], strict=True):
        if re.fullmatch(allowed[0], value, re.ASCII | re.IGNORECASE) is None:
            return f"{name} must be {allowed[1]}, not {value!r}"
    return "it has a sign too many"


_COUNT = (r"\d{1,5}", "a whole number")
_SMALL = (r"\d{1,2}", "a power of two from 0 to 15")
_ALLOWED = (
    _SMALL,
    (r"-1|0|1", "-1, 0 or 1"),
    (r"-1|1", "-1 or 1"),
    (r"00?|[1-6]{2}|D", "two dice, 00 or D"),
    _COUNT,
    _COUNT,
    (r"[0-3]", "0 to 3"),
    _COUNT,
    _SMALL,
)
