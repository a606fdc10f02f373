"""FIBS board strings, as FIBS and gnubg's external player send them.

    parse("board:you:opponent:5:0:0:0:-2:...")
    format(Position(board, MatchState(length=5), ("opponent", "you")))

After `board:` and two names come fifty whole numbers, parted by colons: length of the match (9999
or, from gnubg, 0 for money), your points, the opponent's, 26 places (positive for O), whose turn
(1 O, -1 X, as are the colours), your two dice and his two, the cube, whether you may double and
whether he may, whether a double is offered, your colour, your direction (-1 from 24 to 1), your
home and bar, checkers off and on the bar of both, moves you can make, a forced move, whether the
Crawford game is over, and one that gnubg sets where none is played (fibs.com, "The Interface";
gnubg, external.h). "You" is player 1 here, the opponent player 0.

A doubled position is told from the doubler's side, and it is he who is on roll (gnubg,
drawboard.c, ProcessFIBSBoardInfo).
"""

import re

import numpy as np

from nardy.notation.state import MatchState, Position
from nardy.rules.board import Boards, flip

_NUMBERS = 50
_UNLIMITED = 9999
_YOU, _OPPONENT = 1, 0
_OPTION = re.compile(r"(jacobyrule|crawfordrule|beavers)\s+(on|off)|resignation\s+([0-3])")


def parse(text: str) -> Position:
    """The position of a FIBS board string.

    gnubg's words after it (`jacobyrule on`, `crawfordrule off`, `beavers on`, `resignation 2`) are
    read too. Raises ValueError naming what is wrong.
    """
    board, _, words = text.strip().partition(" ")
    head, *fields = board.split(":")
    if head.lower() != "board" or len(fields) != 2 + _NUMBERS:
        raise ValueError(
            f"a FIBS string is board:, two names and {_NUMBERS} numbers parted by colons, "
            f"not {text!r}"
        )
    wrong = [field for field in fields[2:] if re.fullmatch(r"-?\d{1,5}", field, re.ASCII) is None]
    if wrong:
        raise ValueError(f"a FIBS string holds whole numbers, not {wrong[0]!r}")
    numbers = [int(field) for field in fields[2:]]
    state = _state(numbers, _options(words))
    own = _board(numbers)
    names = (fields[1], fields[0])
    return Position(own if state.on_roll == _YOU else flip(own), state, names)


def format(position: Position) -> str:
    """The FIBS string of `position`, player 1 being "you" and O, moving from 24 to 1.

    It has no place for a resignation, Jacoby's rule or beavers.
    Raises ValueError where a side has more than 15 checkers.
    """
    state = position.state
    board = position.board if state.on_roll == _YOU else flip(position.board)
    off = [15 - int(np.maximum(side, 0).sum()) for side in (board, -board)]
    if min(off) < 0:
        raise ValueError(f"a FIBS string holds up to 15 checkers a side, not {15 - min(off)}")
    dice = state.dice or (0, 0)
    thrown = (*dice, 0, 0) if state.on_roll == _YOU else (0, 0, *dice)
    may = [state.owner in (None, player) for player in (_YOU, _OPPONENT)]
    one_away = state.length > 0 and max(state.points) == state.length - 1
    numbers = (
        state.length or _UNLIMITED,
        state.points[_YOU],
        state.points[_OPPONENT],
        *board.tolist(),
        1 if state.on_roll == _YOU else -1,
        *thrown,
        state.cube,
        *may,
        state.doubled,
        *(1, -1, 0, 25),
        *off,
        board[25],
        -board[0],
        *(0, 0),
        one_away and not state.crawford,
        0,
    )
    names = (name.replace(":", "_").replace(" ", "_") or "_" for name in reversed(position.names))
    return ":".join(["board", *names, *(str(int(number)) for number in numbers)])


def _options(words: str) -> dict[str, str]:
    """gnubg's words after the string, and what each is set to."""
    found = {}
    for match in _OPTION.finditer(words.lower()):
        found[match[1] or "resignation"] = match[2] or match[3]
    left = _OPTION.sub("", words.lower()).split()
    if left:
        raise ValueError(f"after a FIBS string comes jacobyrule on or the like, not {left[0]!r}")
    return found


def _state(numbers: list[int], options: dict[str, str]) -> MatchState:
    length, mine, theirs = numbers[:3]
    turn, *dice = numbers[29:34]
    cube, may, other_may, doubled, colour = numbers[34:39]
    over, none_played = numbers[48:50]
    if turn not in (1, -1) or colour not in (1, -1):
        raise ValueError(f"turn and colour are 1 or -1, not {turn} and {colour}: no game goes on")
    if length == _UNLIMITED:
        length = 0
    on_roll = _YOU if turn == colour else _OPPONENT
    rolled = dice[:2] if on_roll == _YOU else dice[2:]
    if not any(rolled):
        rolled = dice[2:] if on_roll == _YOU else dice[:2]
    # FIBS lets nobody double while a double waits for its answer
    offered = bool(doubled) or not (may or other_may or any(rolled))
    owner = None if bool(may) == bool(other_may) else _YOU if may else _OPPONENT
    one_away = length > 0 and length - 1 in (mine, theirs)
    rule = options.get("crawfordrule") != "off"
    return MatchState(
        cube=cube,
        owner=on_roll if offered and cube > 1 else owner,
        on_roll=on_roll,
        dice=(rolled[0], rolled[1]) if any(rolled) else None,
        doubled=offered,
        resigned=int(options.get("resignation", 0)),
        length=length,
        points=(theirs, mine),
        # both may double there by the string, so only the score and the last two numbers tell
        crawford=one_away and rule and not over and not none_played,
        jacoby=length == 0 and options.get("jacobyrule") == "on",
        beavers=length == 0 and options.get("beavers") == "on",
    )


def _board(numbers: list[int]) -> Boards:
    """int8[26] in your view."""
    places, (colour, direction) = numbers[3:29], numbers[38:40]
    if direction not in (1, -1):
        raise ValueError(f"a direction is 1 or -1, not {direction}")
    if max(map(abs, places)) > 15:
        raise ValueError(f"a place holds up to 15 checkers, not {max(map(abs, places))}")
    own = colour * np.array(places, np.int8)
    if direction == 1:
        own = own[::-1]
    if own[0] > 0 or own[25] < 0:
        raise ValueError(
            f"places 0 and 25 are the players' bars, not for {places[0]} and {places[25]}"
        )
    checkers = max(int(np.maximum(own, 0).sum()), int(np.maximum(-own, 0).sum()))
    if checkers > 15:
        raise ValueError(f"a side has up to 15 checkers, not {checkers}")
    return np.ascontiguousarray(own)
