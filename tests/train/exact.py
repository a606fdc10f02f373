"""Small games solved exactly: value iteration over a dictionary of boards. Slow and obvious.

The rules are the referee's, so nothing is shared with what the tests judge.
"""

import referee
from referee import Cells

ROLLS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]
CHANCES = [(1 if high == low else 2) / 36 for high, low in ROLLS]


def turned(board: Cells) -> Cells:
    """The board seen by the other player."""
    return tuple(-count for count in reversed(board))


Replies = list[list[tuple[int, Cells]]]
"""For each of ROLLS the ways to play it: points won, and the next board where there are none."""


def replies(board: Cells, checkers: int) -> Replies:
    """What a player can do from `board` (before the roll, his view)."""
    return [
        [
            (referee.points_won(after, checkers), turned(after))
            for after in referee.results(board, dice)
        ]
        for dice in ROLLS
    ]


def reachable(start: Cells, checkers: int) -> dict[Cells, Replies]:
    """Every board that can stand before a roll, and what can follow it."""
    found: dict[Cells, Replies] = {}
    waiting = [start]
    while waiting:
        board = waiting.pop()
        if board in found:
            continue
        found[board] = replies(board, checkers)
        waiting += [after for ways in found[board] for points, after in ways if not points]
    return found


def solve(start: Cells, checkers: int, within: float = 1e-9) -> dict[Cells, float]:
    """Equity of the player on roll, in points, of every reachable board under best play.

    V(s) = Σ p(roll) max over replies of its points, or −V of the next player's board; swept
    until no value moves by more than `within`.
    """
    game = reachable(start, checkers)
    values = dict.fromkeys(game, 0.0)
    moved = 1.0
    while moved > within:
        moved = 0.0
        for board, rolls in game.items():
            value = sum(
                chance * max(points or -values[after] for points, after in ways)
                for chance, ways in zip(CHANCES, rolls, strict=True)
            )
            moved = max(moved, abs(value - values[board]))
            values[board] = value
    return values
