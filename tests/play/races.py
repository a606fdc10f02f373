"""Bear-off races by the referee's rules and recursion alone: the slow twin of the tables."""

import functools
from math import comb

import numpy as np
import referee

from nardy.play import bearoff_kernels
from nardy.rules.board import flip, make_board
from nardy.rules.dice import ROLL_CHANCES, ROLLS

Side = tuple[int, ...]
"""Checkers on points 1..6."""


def board_of(mover: Side, enemy: Side) -> np.ndarray:
    return make_board(*({p: n for p, n in enumerate(side, 1) if n} for side in (mover, enemy)))


def random_boards(most: int, count: int, seed: int, points: int = 6) -> np.ndarray:
    """Races with up to `most` checkers a side on each side's points 1..points."""
    rng = np.random.default_rng(seed)
    boards = np.zeros((count, 26), np.int8)
    for board in boards:
        for sign in (1, -1):
            for point in rng.integers(1, points + 1, rng.integers(1, most + 1)):
                board[point if sign > 0 else 25 - point] += sign
    return boards


def all_sides(checkers: int) -> list[Side]:
    boards = np.zeros((comb(6 + checkers, 6), 26), np.int8)
    bearoff_kernels.unrank_all(6, boards)
    return [tuple(board[1:7].tolist()) for board in boards]


@functools.cache
def after_sides(side: Side) -> list[list[Side]]:
    """For each of ROLLS what a side can become, by the referee."""
    board = board_of(side, (0,) * 6)
    return [
        [cells[1:7] for cells in sorted(referee.results(board, dice))] for dice in ROLLS.tolist()
    ]


@functools.cache
def slow_mean(side: Side, one: bool) -> float:
    """Mean rolls to bear all off, or `one`, under the play that takes the fewest."""
    if not any(side):
        return 0.0
    total = 0.0
    for chance, ways in zip(ROLL_CHANCES, after_sides(side), strict=True):
        total += chance * min(
            0.0 if one and sum(after) < sum(side) else slow_mean(after, one) for after in ways
        )
    return 1 + total


@functools.cache
def slow_all_off_within(side: Side, rolls: int) -> float:
    """The highest chance to bear all off within so many rolls."""
    if not any(side):
        return 1.0
    if rolls == 0:
        return 0.0
    return sum(
        chance * max(slow_all_off_within(after, rolls - 1) for after in ways)
        for chance, ways in zip(ROLL_CHANCES, after_sides(side), strict=True)
    )


@functools.cache
def slow_equities(mover: Side, enemy: Side) -> tuple[float, float, float, float]:
    """Cubeless; with a cube that is centred, the mover's, the opponent's, not doubled (K16)."""
    totals = np.zeros(4)
    for chance, ways in zip(ROLL_CHANCES, after_sides(mover), strict=True):
        worth = []
        for after in ways:
            if not any(after):
                worth.append((1.0, 1.0, 1.0, 1.0))
                continue
            cubeless, centred, own, theirs = slow_equities(enemy, after)
            take_or_pass = min(2 * theirs, 1.0)
            worth.append((-cubeless, -max(centred, take_or_pass), -theirs, -max(own, take_or_pass)))
        totals += chance * np.max(worth, 0)
    return tuple(totals.tolist())


def slow_worth(after: np.ndarray) -> float:
    """Cubeless equity of the player who moved."""
    mover, enemy = after[1:7].tolist(), flip(after)[1:7].tolist()
    return -slow_equities(tuple(enemy), tuple(mover))[0] if any(mover) else 1.0


def slow_race(table: np.ndarray, board: np.ndarray, checkers: int) -> np.ndarray:
    """float64[6], outcome chances from two distributions, by double sums."""
    ranks = np.zeros((1, 2), np.int64)
    bearoff_kernels.rank_pairs(board[None], 6, ranks)
    rows = [table[rank] for rank in ranks[0]]
    rolls = [{int(r["first"]) + t: p / 65535 for t, p in enumerate(r["rolls"])} for r in rows]
    save = [{1 + t: p / 65535 for t, p in enumerate(r["save"])} for r in rows]
    sides = [int(np.maximum(b, 0).sum()) for b in (board, flip(board))]
    win = sum(p * q for t, p in rolls[0].items() for u, q in rolls[1].items() if u >= t)
    gammon = lost = 0.0
    if sides[1] == checkers:
        gammon = sum(p * q for t, p in rolls[0].items() for u, q in save[1].items() if u >= t)
    if sides[0] == checkers:
        lost = sum(p * q for t, p in rolls[1].items() for u, q in save[0].items() if u > t)
    return np.array([0, lost, 1 - win - lost, win - gammon, gammon, 0])
