"""The rules of long nardy as they read, and nothing clever: the slow twin of nardy.rules.blocking.

It shares no code with what it judges. A position is two tuples of 25, the mover's checkers and
the enemy's, each in its owner's numbering: 1..24 the points, 0 unused. The mover's point p is the
enemy's p + 12 (p up to 12) or p - 12. Tests call `results` and `ending`, which take boards as
nardy has them; options have the names and values of the rules.
"""

from collections.abc import Iterable
from typing import NamedTuple

Cells = tuple[int, ...]  # 26 cells in the mover's view, as in nardy.rules.board


class Way(NamedTuple):
    """Some dice played: which, how many checkers left the head, where it led."""

    dice: tuple[int, ...]
    heads: int
    mover: Cells
    enemy: Cells


def results(
    board: Iterable[int],
    dice: Iterable[int],
    first_turn: bool = False,
    starter: bool = True,
    head_exception_players: str = "both",
    head_exception_rolls: str = "336644",
    prime_rule: str = "front_checker_ahead",
    prime_check: str = "each_step",
) -> set[Cells]:
    """The boards in which a turn may end (D2..D10), in the mover's view; a pass is the board.

    board: 26 cells in the mover's view; dice: two, in either order; first_turn: whether it is the
    mover's first; starter: whether he began the game.
    """
    first, second = (int(die) for die in dice)
    rules = (prime_rule, prime_check)
    most, ends = _turns(board, first, second, 1, rules)
    who = {"both": True, "first": starter, "second": not starter, "none": False}
    rolls = {
        "336644": first == second and first in (3, 4, 6),
        "doubles_if_stuck": first == second,
        "any_if_stuck": True,
    }
    if first_turn and who[head_exception_players] and rolls[head_exception_rolls]:  # D5
        more, other_ends = _turns(board, first, second, 2, rules)
        if more > most:
            return other_ends
    return ends


def ending(
    board: Iterable[int], checkers: int, starter: bool, last_roll: str = "off"
) -> tuple[bool, int]:
    """Whether the game is over after a turn, and the points of the player who made it.

    board: in his view; starter: whether he began the game (D11, D13).
    """
    mover, enemy = _position(board)
    mine, theirs = sum(mover), sum(enemy)
    if last_roll == "off" or not starter:
        if mine == 0 and theirs == 0:
            return True, 0
        if mine == 0:
            return True, 2 if theirs == checkers else 1
        if theirs == 0:
            return True, -2 if mine == checkers else -1
    return False, 0


def has_forbidden_six(mover: Cells, enemy: Cells, rule: str) -> bool:
    """Whether six own points in a row stand where the rule does not let them (D8)."""
    standing = [point for point in range(1, 25) if enemy[point]]
    for lowest in range(1, 20):  # six in the enemy's numbering, so not across his seam
        row = range(lowest, lowest + 6)
        if not all(mover[_other(point)] for point in row):
            continue
        if rule == "forbid":
            return True
        if rule == "front_checker_ahead" and standing and min(standing) > max(row):
            return True
        if rule == "enemy_home" and standing and min(standing) > 6:
            return True
    return False


def _turns(
    board: Iterable[int], first: int, second: int, heads: int, rules: tuple[str, str]
) -> tuple[int, set[Cells]]:
    """The most dice that can be played with so many checkers from the head; the turns' ends."""
    orders = {(first, second), (second, first)} if first != second else {(first,) * 4}  # D6
    ways = {way for order in orders for way in _ways(board, order, heads, rules)}
    most = max(len(way.dice) for way in ways)
    ways = {way for way in ways if len(way.dice) == most}  # D7
    if first != second and most == 1:
        larger = max(way.dice for way in ways)  # D7
        ways = {way for way in ways if way.dice == larger}
    return most, {_cells(way) for way in ways}


def _ways(
    board: Iterable[int], order: tuple[int, ...], heads: int, rules: tuple[str, str]
) -> set[Way]:
    """Every turn that plays none, one or more dice in this order."""
    rule, check = rules
    latest = {Way((), 0, *_position(board))}
    ways = set(latest)
    for die in order:
        latest = {after for way in latest for after in _single_moves(way, die, heads)}
        legal = {way for way in latest if not has_forbidden_six(way.mover, way.enemy, rule)}
        if check == "each_step":  # D9
            latest = legal
        ways |= legal
    return ways


def _single_moves(way: Way, die: int, heads: int) -> Iterable[Way]:
    for point in range(1, 25):
        if way.mover[point] and _may_move(way, point, die, heads):
            own = list(way.mover)
            own[point] -= 1
            if point > die:
                own[point - die] += 1
            left_head = way.heads + (point == 24)
            yield Way((*way.dice, die), left_head, tuple(own), way.enemy)


def _may_move(way: Way, point: int, die: int, heads: int) -> bool:
    if point == 24 and way.heads == heads:
        return False  # D4
    target = point - die
    if target >= 1:
        return way.enemy[_other(target)] == 0  # D2
    if any(way.mover[p] for p in range(7, 25)):
        return False  # D10
    return target == 0 or not any(way.mover[p] for p in range(point + 1, 7))  # D10


def _other(point: int) -> int:
    return point + 12 if point <= 12 else point - 12


def _position(board: Iterable[int]) -> tuple[Cells, Cells]:
    cells = [int(cell) for cell in board]
    mover = [0] + [max(cells[point], 0) for point in range(1, 25)]
    enemy = [0] + [max(-cells[_other(point)], 0) for point in range(1, 25)]
    return tuple(mover), tuple(enemy)


def _cells(way: Way) -> Cells:
    points = [way.mover[cell] - way.enemy[_other(cell)] for cell in range(1, 25)]
    return (0, *points, 0)
