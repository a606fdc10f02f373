"""A position drawn with characters, for terminals.

print(draw(board, 15, note="you rolled 3-1"))
"""

import numpy as np

from nardy.rules.board import Boards, checkers_only, pip_counts

_ROWS = 5
_TOP = (range(13, 19), range(19, 25))
_BOTTOM = (range(12, 6, -1), range(6, 0, -1))


def draw(
    board: Boards,
    checkers: int,
    names: tuple[str, str] = ("you", "opponent"),
    note: str = "",
    family: str = "hitting",
) -> str:
    """Several lines: both sides' checkers, bars, checkers off and pips left.

    In long nardy (family "blocking") there is no bar; X's head is the upper right corner, his 24,
    O's the lower left one.

    board: int8[26]. The player whose view it is plays X, in his own numbering, and the other O;
    names: what to call the two; note: a text beside the board, such as whose roll it is.
    checkers: how many each side started with.
    """
    board = checkers_only(board, family)
    own_pips, other_pips = pip_counts(board, family)
    own_off = checkers - int(np.maximum(board, 0).sum())
    other_off = checkers + int(np.minimum(board, 0).sum())
    lines = [_edge(_TOP)]
    lines += [_row(board, _TOP, int(board[0]), row) for row in range(_ROWS)]
    lines += [f"|{'':18}|{'BAR' if family == 'hitting' else '':3}|{'':18}|"]
    lines += [_row(board, _BOTTOM, int(board[25]), row) for row in reversed(range(_ROWS))]
    lines += [_edge(_BOTTOM)]
    lines[1] += f"  O {names[1]}: {other_pips} pips, {other_off} off"
    lines[_ROWS + 1] += f"  {note}"
    lines[-2] += f"  X {names[0]}: {own_pips} pips, {own_off} off"
    return "\n".join(line.rstrip() for line in lines)


def _edge(halves: tuple[range, range]) -> str:
    left, right = ("".join(f"{point:-^3}" for point in half) for half in halves)
    return f"+{left}-----{right}+"


def _row(board: Boards, halves: tuple[range, range], bar: int, row: int) -> str:
    left, right = ("".join(_mark(int(board[point]), row) for point in half) for half in halves)
    return f"|{left}|{_mark(bar, row)}|{right}|"


def _mark(count: int, row: int) -> str:
    """What a stack shows in its row, counted from the edge; its last says how many it holds."""
    height = abs(count)
    if height <= row:
        return "   "
    if height > _ROWS and row == _ROWS - 1:
        return f"{height:^3}"
    return " X " if count > 0 else " O "
