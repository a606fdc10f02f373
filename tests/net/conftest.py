"""Positions of short nardy that the tests of nets share."""

import numpy as np
import pytest
from random_nets import SHORT, play_out

from nardy.rules.board import Boards, points_won


@pytest.fixture(scope="session")
def turns() -> tuple[Boards, np.ndarray]:
    """1,000 boards with a roll for each, from every stage of random games."""
    boards, dice, _ = play_out(SHORT, games=50, turns=200)
    return boards[::10], dice[::10]


@pytest.fixture(scope="session")
def finished() -> Boards:
    """Boards on which the player who moved has borne off all, in his view."""
    _, _, chosen = play_out(SHORT, games=50, turns=200)
    return chosen[points_won(chosen, SHORT) > 0]
