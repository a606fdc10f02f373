"""Variants: which checkers stand where, and each rule on which sources disagree.

variant("short")                          the start of rule K1
variant("short", start={6: 1})            a one-checker game, for tests
variant("short", opening="reroll")
variant("long", prime_check="end_of_turn")
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

SHORT_OUTCOMES = (-3, -2, -1, 1, 2, 3)
LONG_OUTCOMES = (-2, -1, 1, 2)
LONG_OUTCOMES_WITH_DRAW = (-2, -1, 0, 1, 2)

OPENINGS = ("play_opening_dice", "reroll")
CUBES = ("on", "off")
HEAD_EXCEPTION_PLAYERS = ("both", "first", "second", "none")
HEAD_EXCEPTION_ROLLS = ("336644", "doubles_if_stuck", "any_if_stuck")
PRIME_RULES = ("front_checker_ahead", "forbid", "enemy_home", "allow")
PRIME_CHECKS = ("each_step", "end_of_turn")
LAST_ROLLS = ("off", "second_player")

_COMMON = {"opening": OPENINGS, "cube": CUBES}
_BLOCKING = {
    "head_exception_players": HEAD_EXCEPTION_PLAYERS,
    "head_exception_rolls": HEAD_EXCEPTION_ROLLS,
    "prime_rule": PRIME_RULES,
    "prime_check": PRIME_CHECKS,
    "last_roll": LAST_ROLLS,
}
OPTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(_COMMON | _BLOCKING)
"""Every option and its values, the default first."""

_LONG_START = {24: 15}  # D1
_STARTS: dict[str, dict[int, int]] = {
    "short": {24: 2, 13: 5, 8: 3, 6: 5},
    "nack": {24: 2, 23: 2, 13: 4, 8: 3, 6: 4},
    "hyper": {24: 1, 23: 1, 22: 1},
    "long": _LONG_START,
    "nardgammon": _LONG_START,
}
_BLOCKING_NAMES = ("long", "nardgammon")
_OTHER_DEFAULTS = {"long": {"cube": "off"}}  # D12


@dataclass(frozen=True)
class Variant:
    """One game.

    start: 26 cells in the mover's view (see board.py); the game begins with it for both players.
    checkers: how many each side has, 1..15.
    family: "hitting" (rules K1..K18) or "blocking" (D1..D13).
    outcomes: points a game may pay, from the mover's side, symmetric and ascending (K14, D11); 0
        where there are draws (D13).
    opening: "play_opening_dice": the starter plays the two dice thrown for the start, never a
        double (K3, D3); "reroll": he throws both dice anew.
    cube: whether the game is played with the doubling cube (K16, D12).

    The others are of the blocking family alone.
    head_exception_players: whose first turn may let a second checker leave the head (D5).
    head_exception_rolls: "336644": on these rolls; "doubles_if_stuck": on any double;
        "any_if_stuck": on any roll. Always only where it lets more dice be played.
    prime_rule: when six own points in a row may stand (D8): "front_checker_ahead": if an enemy
        checker is ahead of them; "enemy_home": if one has come to its home; "forbid": never;
        "allow": always.
    prime_check: "each_step": after each single move (D9); "end_of_turn": only then.
    last_roll: "second_player": when the first mover has finished, the second has one more turn;
        both finished is a draw (D13). "off": who finishes first wins.
    """

    name: str
    start: tuple[int, ...]
    checkers: int
    family: str = "hitting"
    outcomes: tuple[int, ...] = SHORT_OUTCOMES
    opening: str = OPENINGS[0]
    cube: str = CUBES[0]
    head_exception_players: str = HEAD_EXCEPTION_PLAYERS[0]
    head_exception_rolls: str = HEAD_EXCEPTION_ROLLS[0]
    prime_rule: str = PRIME_RULES[0]
    prime_check: str = PRIME_CHECKS[0]
    last_roll: str = LAST_ROLLS[0]


def names() -> tuple[str, ...]:
    """The names `variant` knows."""
    return tuple(_STARTS)


def variant(name: str, *, start: Mapping[int, int] | None = None, **options: str) -> Variant:
    """The variant called `name`, with options.

    start: checkers by point, in each player's own numbering (24 the farthest), instead of the
        variant's own; the number of checkers follows from it.
    options: see Variant and OPTIONS; those of the blocking family only with their default
        where the variant is of the other.
    Raises ValueError naming the value that is wrong.
    """
    if name not in _STARTS:
        raise ValueError(f"unknown variant {name!r}; known are {', '.join(_STARTS)}")
    family = "blocking" if name in _BLOCKING_NAMES else "hitting"
    for option, value in options.items():
        _check_option(name, family, option, value)
    points = dict(_STARTS[name] if start is None else start)
    cells = _start_cells(points, family)
    outcomes: tuple[int, ...] = SHORT_OUTCOMES
    if family == "blocking":
        draws = options.get("last_roll", LAST_ROLLS[0]) != "off"
        outcomes = LONG_OUTCOMES_WITH_DRAW if draws else LONG_OUTCOMES
    chosen = _OTHER_DEFAULTS.get(name, {}) | options
    return Variant(name, cells, sum(points.values()), family, outcomes, **chosen)


def _check_option(name: str, family: str, option: str, value: str) -> None:
    if option not in OPTIONS:
        raise ValueError(f"unknown option {option!r}; known are {', '.join(OPTIONS)}")
    values = OPTIONS[option]
    if value not in values:
        raise ValueError(f"{option} must be one of {', '.join(values)}, not {value!r}")
    if family == "hitting" and option in _BLOCKING and value != values[0]:
        raise ValueError(f"{option}={value!r} is of long nardy; {name} has no such rule")


def _start_cells(points: Mapping[int, int], family: str) -> tuple[int, ...]:
    cells = [0] * 26
    for point, count in points.items():
        if not 1 <= point <= 24 or count < 0:
            raise ValueError(f"a start cannot have {count!r} checkers on point {point!r}")
        cells[point] += count
    if not 1 <= sum(cells) <= 15:
        raise ValueError(f"a start has 1 to 15 checkers, not {sum(cells)}")
    other = [0] * 26
    for point in range(1, 25):
        other[25 - point if family == "hitting" else (point + 11) % 24 + 1] = cells[point]
    for point in points:
        if cells[point] and other[point]:
            raise ValueError(f"both sides start on point {point!r}")
    return tuple(own - opponent for own, opponent in zip(cells, other, strict=True))
