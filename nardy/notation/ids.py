"""gnubg Position IDs: a position in fourteen characters.

    position_id(start_board(variant("short")))     # "4HPwATDgc/ABMA"
    from_position_id("4HPwATDgc/ABMA")             # int8[26], mover's view

Layout: for the player not on roll, then for the player on roll, his points 1..24 and his bar, each
in his own numbering: as many one-bits as checkers, then a zero. The bits fill ten bytes, lowest
first, and these are written in base64 without padding (gnubg manual, "A technical description of
the Position ID"). An ID holds no dice and no score; checkers that are missing have been borne off.
"""

import base64
import binascii

import numpy as np

from nardy.rules.board import Boards, flip

_BYTES = 10
_CHARACTERS = 14
_CHECKERS = 15


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


def _counts(text: str) -> list[int]:
    """The fifty counts of an ID, 25 of the player not on roll and 25 of the player on roll."""
    if len(text) != _CHARACTERS:
        raise ValueError(f"a Position ID has {_CHARACTERS} characters, not {text!r}")
    try:
        data = base64.b64decode(text + "==", validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"{text!r} is not a Position ID: use A-Z a-z 0-9 + /") from None
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    zeros = np.flatnonzero(bits == 0)[:50]
    if len(zeros) < 50:
        raise ValueError(f"Position ID {text!r} has more checkers than a board holds")
    return [int(gap) - 1 for gap in np.diff(zeros, prepend=-1)]
