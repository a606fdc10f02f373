"""Variants: which checkers stand where, and each rule on which sources disagree.

variant("short")                          the start of rule K1
variant("short", start={6: 1})            a one-checker game, for tests
variant("short", opening="reroll")
"""

from collections.abc import Mapping
from dataclasses import dataclass

OPENINGS = ("play_opening_dice", "reroll")
SHORT_OUTCOMES = (-3, -2, -1, 1, 2, 3)

_STARTS: dict[str, dict[int, int]] = {
    "short": {24: 2, 13: 5, 8: 3, 6: 5},
    "nack": {24: 2, 23: 2, 13: 4, 8: 3, 6: 4},
    "hyper": {24: 1, 23: 1, 22: 1},
}


@dataclass(frozen=True)
class Variant:
    """One game.

    start: 26 cells in the mover's view (see board.py); the game begins with it for both players.
    checkers: how many each side has, 1..15.
    family: "hitting" (rules K1..K18).
    outcomes: points a game may pay, from the mover's side, symmetric and ascending (K14).
    opening: "play_opening_dice": the starter plays the two dice thrown for the start, never a
        double (K3); "reroll": he throws both dice anew.
    """

    name: str
    start: tuple[int, ...]
    checkers: int
    family: str = "hitting"
    outcomes: tuple[int, ...] = SHORT_OUTCOMES
    opening: str = "play_opening_dice"


def names() -> tuple[str, ...]:
    """The names `variant` knows."""
    return tuple(_STARTS)


def variant(
    name: str,
    *,
    start: Mapping[int, int] | None = None,
    opening: str = "play_opening_dice",
) -> Variant:
    """The variant called `name`, with options.

    start: checkers by point, in each player's own numbering (24 the farthest), instead of the
        variant's own; the number of checkers follows from it.
    Raises ValueError naming the value that is wrong.
    """
    if name not in _STARTS:
        raise ValueError(f"unknown variant {name!r}; known are {', '.join(_STARTS)}")
    if opening not in OPENINGS:
        raise ValueError(f"opening must be one of {', '.join(OPENINGS)}, not {opening!r}")
    points = dict(_STARTS[name] if start is None else start)
    return Variant(name, _start_cells(points), sum(points.values()), opening=opening)


def _start_cells(points: Mapping[int, int]) -> tuple[int, ...]:
    cells = [0] * 26
    for point, count in points.items():
        if not 1 <= point <= 24 or count < 0:
            raise ValueError(f"a start cannot have {count!r} checkers on point {point!r}")
        cells[point] += count
    if not 1 <= sum(cells) <= 15:
        raise ValueError(f"a start has 1 to 15 checkers, not {sum(cells)}")
    for point in points:
        if cells[point] and points.get(25 - point, 0):
            raise ValueError(f"both sides start on point {point!r}")
    return tuple(own - opponent for own, opponent in zip(cells, reversed(cells), strict=True))
