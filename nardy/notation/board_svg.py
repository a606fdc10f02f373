"""A position drawn as SVG, for notebooks and reports.

    Path("start.svg").write_text(board_svg(start_board(variant("short")), dice=(3, 1)))

The player whose view it is has the light checkers, at the bottom, and his own numbering. The
picture holds all it needs: no style sheet, no font file.
"""

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from nardy.rules.board import Boards, checkers_only, pip_counts

_STEP = 30  # width of a point
_RADIUS = 13
_MOST = 5  # checkers of a pile that are drawn; a number tells of more
_TOP, _BOTTOM = 20, 340
_LEFT, _BAR = 8, 8 + 6 * _STEP
_WIDTH, _HEIGHT = _BAR + 7 * _STEP + 92, _BOTTOM + 20
_LIGHT, _DARK = ("#f6efe0", "#2b2b2b"), ("#6b2f24", "#ffffff")  # a checker's colour, its number's
_PIPS = ("", "4", "08", "048", "0268", "02468", "023568")  # places in a grid of 3 by 3


def board_svg(
    board: Boards,
    family: str = "hitting",
    *,
    checkers: int | None = None,
    dice: Sequence[int] | None = None,
    title: str = "",
) -> str:
    """An `<svg>` element of `board`, int8[26], mover's view.

    family: of the variant; checkers: of each side at the start, to tell how many are off; dice: of
    the player whose view it is; title: what a screen reader says besides the pips.
    """
    bare = checkers_only(board, family)
    own, other = (int(pips) for pips in pip_counts(bare, family))
    words = escape(f"{title}{'; ' if title else ''}light {own} pips, dark {other} pips")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" role="img" aria-label="{words}" '
        'font-family="sans-serif" font-size="11" text-anchor="middle">',
        *_ground(family),
    ]
    for cell, count in enumerate(bare.tolist()):
        parts += _pile(cell, count)
    for place, die in enumerate(dice or ()):
        parts += _die(int(die), _BAR + _STEP * (2 + 1.5 * place))
    sides = ((_TOP + 20, other, np.minimum(bare, 0)), (_BOTTOM - 20, own, np.maximum(bare, 0)))
    for y, pips, side in sides:
        parts.append(_text(_WIDTH - 44, y, f"{pips} pips"))
        if checkers is not None:
            parts.append(_text(_WIDTH - 44, y + 15, f"{checkers - abs(int(side.sum()))} off"))
    return "".join([*parts, "</svg>"])


def _ground(family: str) -> Iterator[str]:
    yield f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="8" fill="#d9c7a3"/>'
    for x in (_LEFT, _BAR + _STEP):
        yield _rect(x, _TOP, 6 * _STEP, _BOTTOM - _TOP, "#efe4cb")
    if family == "hitting":
        yield _rect(_BAR, _TOP, _STEP, _BOTTOM - _TOP, "#b79f74")
    for point in range(1, 25):
        x, y, way = _x(point), _edge(point), _way(point)
        corners = f"{x - 14},{y} {x + 14},{y} {x},{y + 132 * way}"
        yield f'<polygon points="{corners}" fill="{"#c79a63" if point % 2 else "#a9764a"}"/>'
        yield _text(x, _TOP - 6 if point > 12 else _BOTTOM + 14, point)


def _x(cell: int) -> int:
    """The middle of a cell's pile; both bars lie in the middle."""
    if cell in (0, 25):
        return _BAR + _STEP // 2
    column = cell - 13 if cell > 12 else 12 - cell
    return _LEFT + _STEP // 2 + _STEP * (column + (column > 5))


def _way(cell: int) -> int:
    """1 where a pile grows downwards. The mover's bar is the upper one: he enters there."""
    return 1 if cell > 12 else -1


def _edge(cell: int) -> int:
    return _TOP if cell > 12 else _BOTTOM


def _pile(cell: int, count: int) -> Iterator[str]:
    fill, ink = _LIGHT if count > 0 else _DARK
    x, y = _x(cell), 0
    for place in range(min(abs(count), _MOST)):
        y = _edge(cell) + _way(cell) * (_RADIUS + 1 + 2 * _RADIUS * place)
        yield f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="{fill}" stroke="#2b2b2b"/>'
    if abs(count) > _MOST:
        yield _text(x, y + 4, abs(count), ink)


def _die(value: int, x: float) -> Iterator[str]:
    y = (_TOP + _BOTTOM) / 2 - 12
    yield f'<rect x="{x}" y="{y}" width="24" height="24" rx="5" fill="#fff" stroke="#2b2b2b"/>'
    for pip in map(int, _PIPS[value]):
        yield f'<circle cx="{x + 6 + 6 * (pip % 3)}" cy="{y + 6 + 6 * (pip // 3)}" r="2.2"/>'


def _rect(x: int, y: int, width: int, height: int, fill: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"/>'


def _text(x: int, y: int, words: object, fill: str = "#2b2b2b") -> str:
    return f'<text x="{x}" y="{y}" fill="{fill}">{words}</text>'
