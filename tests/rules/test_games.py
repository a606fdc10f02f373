"""Whole games of random play: they end, they pay 1 to 3 points, and no checker is lost."""

import numpy as np
import pytest
from strategies import VARIANTS

from nardy.rules.batch import afterstates
from nardy.rules.board import check_board, flip, pip_counts, points_won, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import Variant

GAMES = 60
MOST_PLIES = 3000


def play(game: Variant, number: int) -> int:
    """Points the winner of random game `number` got; every play is checked on the way."""
    rng = np.random.default_rng(number)
    board = start_board(game)
    for ply in range(MOST_PLIES):
        dice = roll(0, [number], [ply], game.opening)
        found = afterstates(board[None], dice, game).boards
        after = found[rng.integers(len(found))]
        check_play(board, after, dice[0].tolist())
        points = int(points_won(after, game))
        if points:
            return points
        board = check_board(flip(after), game)
    raise AssertionError(f"game {number} of {game.name} goes on after {MOST_PLIES} plies")


def check_play(board: np.ndarray, after: np.ndarray, dice: list[int]) -> None:
    """No enemy leaves the board, none of the mover's comes back, and pips fit the dice."""
    first, second = dice
    moves = 4 if first == second else 2
    assert np.minimum(after, 0).sum() == np.minimum(board, 0).sum()
    borne_off = np.maximum(board, 0).sum() - np.maximum(after, 0).sum()
    assert 0 <= borne_off <= moves
    (own, enemy), (own_after, enemy_after) = pip_counts(board), pip_counts(after)
    spent = own - own_after
    if first == second:
        whole = {first * n for n in range(5)}
    else:
        whole = {0, first, second, first + second}
    # only a checker borne off may leave a part of its die unused (K11)
    assert spent in whole or (borne_off and 0 < spent < max(whole))
    hits = board[0] - after[0]
    assert 0 <= hits <= moves
    assert (enemy_after > enemy) == (hits > 0)


@pytest.mark.parametrize("game", VARIANTS, ids=lambda game: f"{game.name}-{game.checkers}")
def test_random_games(game):
    points = [play(game, number) for number in range(GAMES)]
    assert set(points) <= {1, 2, 3}
    if game.checkers == 15:
        assert set(points) == {1, 2, 3}


def test_the_same_seed_is_the_same_game():
    assert [play(VARIANTS[2], n) for n in range(20)] == [play(VARIANTS[2], n) for n in range(20)]
