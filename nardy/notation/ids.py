"""gnubg's IDs: a position in fourteen characters, dice, cube and score in twelve.

    position_id(start_board(variant("short")))     # "4HPwATDgc/ABMA"
    from_position_id("4HPwATDgc/ABMA")             # int8[26], mover's view
    match_id(MatchState(length=7))                 # "cAngAAAAAAAA"
    from_match_id("QYkqASAAIAAA")                  # cube 2, player 1 rolled 5-2, 2-4 of 9

Position ID: for the player not on roll, then for the player on roll, his points 1..24 and his bar,
each in his own numbering: as many one-bits as checkers, then a zero. The bits fill ten bytes,
lowest first, and these are written in base64 without padding (gnubg manual, "A technical
description of the Position ID"). Checkers that are missing have been borne off.

Match ID: 67 bits, lowest first, in nine bytes of base64: log2 of the cube (4), its owner (2; 3 the
middle), player on roll (1), Crawford (1), state of the game (3), who decides (1), doubled (1),
resignation (2), dice (3 + 3), length (15), scores of players 0 and 1 (15 + 15), and whether
Jacoby's rule is off (1). The manual lists 66; gnubg's code writes the last one.
"""

import base64
import binascii

import numpy as np

from nardy.notation.state import GAMES, MatchState, cube_log
from nardy.rules.board import Boards, flip

_BYTES = 10
_CHARACTERS = 14
_CHECKERS = 15
_MATCH_BYTES = 9
_MATCH_CHARACTERS = 12
_MATCH_FIELDS = (4, 2, 1, 1, 3, 1, 1, 2, 3, 3, 15, 15, 15, 1)  # their widths in bits
_CENTRE = 3


def position_id(board: Boards) -> str:
    """The Position ID of `board`, int8[26] in the view of the player on roll.

    Raises ValueError where a side has more than 15 checkers, which an ID cannot hold.
    """
    bits: list[int] = []
    for side in (flip(board), board):
        counts = np.maximum(side[1:], 0).tolist()
        if sum(counts) > _CHECKERS:
            raise ValueError(f"a Position ID holds up to 15 checkers a side, not {sum(counts)}")
        for count in counts:
            bits += [1] * count + [0]
    bits += [0] * (8 * _BYTES - len(bits))
    data = np.packbits(np.array(bits, np.uint8), bitorder="little").tobytes()
    return base64.b64encode(data).decode()[:_CHARACTERS]


def from_position_id(text: str) -> Boards:
    """int8[26], the board of a Position ID in the view of the player on roll.

    Raises ValueError naming `text` where it is not the ID of a board.
    """
    counts = _counts(text)
    opponent, mover = counts[:25], counts[25:]
    if max(sum(opponent), sum(mover)) > _CHECKERS:
        raise ValueError(f"Position ID {text!r} has more than 15 checkers on one side")
    board = np.zeros(26, np.int8)
    board[1:] = mover
    for point, count in enumerate(opponent, 1):
        if count and board[25 - point]:
            raise ValueError(f"Position ID {text!r} has both sides on point {25 - point}")
        board[25 - point] -= count
    if position_id(board) != text:
        raise ValueError(f"{text!r} is not a Position ID: bits are left over at its end")
    return board


def match_id(state: MatchState) -> str:
    """The Match ID of `state`. It has no place for beavers, nor for a limit of the cube."""
    dice = state.dice or (0, 0)
    values = (
        cube_log(state.cube),
        _CENTRE if state.owner is None else state.owner,
        state.on_roll,
        state.crawford,
        GAMES.index(state.game),
        state.turn or 0,
        state.doubled,
        state.resigned,
        *dice,
        state.length,
        *state.points,
        # of a match the bit says nothing; published IDs have 0 there
        state.length == 0 and not state.jacoby,
    )
    number = place = 0
    for value, width in zip(values, _MATCH_FIELDS, strict=True):
        number |= int(value) << place
        place += width
    return base64.b64encode(number.to_bytes(_MATCH_BYTES, "little")).decode()


def from_match_id(text: str) -> MatchState:
    """What a Match ID says; Jacoby's rule is that of money play alone.

    Raises ValueError naming `text` where it is not a Match ID.
    """
    if len(text) != _MATCH_CHARACTERS:
        raise ValueError(f"a Match ID has {_MATCH_CHARACTERS} characters, not {text!r}")
    number = int.from_bytes(_decoded(text, "Match ID"), "little")
    values = []
    for width in _MATCH_FIELDS:
        values.append(number & (1 << width) - 1)
        number >>= width
    if number:
        raise ValueError(f"{text!r} is not a Match ID: bits are left over at its end")
    log, owner, on_roll, crawford, game, turn, doubled, resigned, die1, die2 = values[:10]
    length, first, second, no_jacoby = values[10:]
    if game >= len(GAMES):
        raise ValueError(f"Match ID {text!r} has a game in the unknown state {game}")
    try:
        return MatchState(
            cube=1 << log,
            owner=None if owner == _CENTRE else owner,
            on_roll=on_roll,
            dice=(die1, die2) if die1 or die2 else None,
            doubled=bool(doubled),
            resigned=resigned,
            turn=turn,
            length=length,
            points=(first, second),
            crawford=bool(crawford),
            jacoby=length == 0 and not no_jacoby,
            game=GAMES[game],
        )
    except ValueError as error:
        raise ValueError(f"Match ID {text!r}: {error}") from None


def _counts(text: str) -> list[int]:
    """The fifty counts of an ID, 25 of the player not on roll and 25 of the player on roll."""
    if len(text) != _CHARACTERS:
        raise ValueError(f"a Position ID has {_CHARACTERS} characters, not {text!r}")
    data = _decoded(text, "Position ID")
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    zeros = np.flatnonzero(bits == 0)[:50]
    if len(zeros) < 50:
        raise ValueError(f"Position ID {text!r} has more checkers than a board holds")
    return [int(gap) - 1 for gap in np.diff(zeros, prepend=-1)]


def _decoded(text: str, kind: str) -> bytes:
    try:
        if "=" not in text:
            return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        pass
    raise ValueError(f"{text!r} is not a {kind}: use A-Z a-z 0-9 + /")
