"""The rules of short nardy as they read, and nothing clever: the slow twin of nardy.rules.

It shares no code with what it judges. A position is two tuples of 26, the mover's checkers and
the enemy's, each in its owner's numbering: 1..24 the points, 25 the bar. The mover's point p is
the enemy's 25 - p. Tests call `results` and `points_won`, which take boards as nardy has them.
"""

from collections.abc import Iterable, Iterator

Cells = tuple[int, ...]  # 26 cells in the mover's view, as in nardy.rules.board
Position = tuple[Cells, Cells]

BAR = 25


def results(board: Iterable[int], dice: Iterable[int]) -> set[Cells]:
    """The boards in which a turn may end (K4..K13), in the mover's view.

    board: 26 cells in the mover's view; dice: two, in either order. A forced pass is the board.
    """
    first, second = (int(die) for die in dice)
    position = _position(board)
    if first == second:
        ways = _ways(position, (first,) * 4)  # K6
    else:
        ways = _ways(position, (first, second)) | _ways(position, (second, first))  # K4
    most = max(len(played) for played, _ in ways)
    ways = {(played, end) for played, end in ways if len(played) == most}  # K7: all that can be
    if first != second and most == 1:
        larger = max(played for played, _ in ways)  # K7: either but not both
        ways = {(played, end) for played, end in ways if played == larger}
    return {_cells(end) for _, end in ways}


def points_won(board: Iterable[int], checkers: int) -> int:
    """Points of the player who has just moved, 0 while he has a checker left (K14)."""
    mover, enemy = _position(board)
    if sum(mover) > 0:
        return 0
    if sum(enemy) < checkers:
        return 1
    in_winners_home = any(enemy[25 - point] for point in range(1, 7))
    return 3 if enemy[BAR] or in_winners_home else 2


def _ways(position: Position, dice: tuple[int, ...]) -> set[tuple[tuple[int, ...], Position]]:
    """Every way to play none, one or more of `dice` in this order: the dice played, the end.

    The dice are kept beside the position: one position can be reached with one die and with two.
    """
    latest = {((), position)}
    ways = set(latest)
    for die in dice:
        latest = {
            ((*played, die), after)
            for played, before in latest
            for after in _single_moves(before, die)
        }
        ways |= latest
    return ways


def _single_moves(position: Position, die: int) -> Iterator[Position]:
    """The positions after one checker has been moved by `die`."""
    mover, enemy = position
    for point in range(1, 26):
        if mover[point] and _may_move(mover, enemy, point, die):
            yield _moved(mover, enemy, point, point - die)


def _may_move(mover: Cells, enemy: Cells, point: int, die: int) -> bool:
    if mover[BAR] and point != BAR:
        return False  # K9
    target = point - die
    if target >= 1:
        return enemy[25 - target] < 2  # K5
    if any(mover[p] for p in range(7, 26)):
        return False  # K10
    return target == 0 or not any(mover[p] for p in range(point + 1, 7))  # K10, K11


def _moved(mover: Cells, enemy: Cells, point: int, target: int) -> Position:
    own, other = list(mover), list(enemy)
    own[point] -= 1
    if target >= 1:
        own[target] += 1
        if other[25 - target] == 1:  # K8
            other[25 - target] = 0
            other[BAR] += 1
    return tuple(own), tuple(other)


def _position(board: Iterable[int]) -> Position:
    cells = [int(cell) for cell in board]
    mover = tuple(max(cells[point], 0) for point in range(26))
    enemy = tuple(max(-cells[25 - point], 0) for point in range(26))
    return mover, enemy


def _cells(position: Position) -> Cells:
    mover, enemy = position
    return tuple(mover[cell] - enemy[25 - cell] for cell in range(26))
