"""Positions as checkers by point, for games that no other format here has, such as long nardy.

    board = from_points("24:13,18:2 24:14,20:1", "blocking")
    to_points(board, "blocking")                     # "24:13,18:2 24:14,20:1"

The player on roll, then his opponent, each in his own numbering: 24 the farthest point, 25 the
bar. A side without a checker is "-". In long nardy, where there is no bar, "25:1" beside a side's
checkers says that it began the game, which matters where the last roll is given (D13).
"""

import re

from nardy.rules.board import OPPOSITE, Boards, make_board

_PAIR = r"\d{1,2}:\d{1,2}"
_SIDE = rf"(?:-|{_PAIR}(?:,{_PAIR})*)"
_TEXT = re.compile(rf"({_SIDE})\s+({_SIDE})", re.ASCII)


def from_points(text: str, family: str) -> Boards:
    """int8[26], the board in the view of the player on roll; family: of the variant.

    Raises ValueError naming what is wrong.
    """
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"cannot read the position {text!r}: write checkers by point, the player on roll "
            "first, as 24:13,18:2 24:14,20:1"
        )
    mover, enemy = (_points(side) for side in match.groups())
    if family == "hitting":
        return make_board(mover, enemy, family)
    if mover.get(25) == enemy.get(25) == 1:
        raise ValueError(f"only one side can have begun the game (25:1), not both as in {text!r}")
    began = [side.get(25) == 1 and side.pop(25) == 1 for side in (mover, enemy)]
    board = make_board(mover, enemy, family)
    board[25], board[0] = began[0], -int(began[1])
    return board


def _points(side: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for pair in side.split(",") if side != "-" else ():
        point, count = (int(number) for number in pair.split(":"))
        if point in found:
            raise ValueError(f"point {point} comes twice in {side!r}")
        found[point] = count
    return found


def to_points(board: Boards, family: str) -> str:
    """The text of int8[26], the board in the view of the player on roll."""
    mover = {cell: int(board[cell]) for cell in range(26) if board[cell] > 0}
    enemy = {
        int(OPPOSITE[family][cell]): -int(board[cell]) for cell in range(26) if board[cell] < 0
    }
    sides = (
        ",".join(f"{point}:{side[point]}" for point in sorted(side, reverse=True)) or "-"
        for side in (mover, enemy)
    )
    return " ".join(sides)
