"""Positions for hypothesis: checkers put down anywhere, and positions met in random play."""

import numpy as np
from hypothesis import strategies as st

from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, flip, points_won, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import Variant, variant

VARIANTS = (
    variant("short"),
    variant("nack"),
    variant("hyper"),
    variant("short", start={6: 1}),
    variant("short", start={24: 1, 3: 1}),
)


@st.composite
def placements(draw: st.DrawFn) -> Boards:
    """int8[26], at least one checker a side, at most fifteen, on any points and both bars.

    Small `top` makes bear-offs, enemy stacks near the mover's home make closed boards.
    """
    top = draw(st.sampled_from((6, 6, 12, 24)))
    mover = draw(st.lists(st.integers(1, top), min_size=1, max_size=12))
    mover += [25] * draw(st.sampled_from((0, 0, 0, 1, 2, 3)))
    free = sorted(set(range(25)) - set(mover))
    lowest = draw(st.sampled_from((0, 19)))
    cells = [cell for cell in free if cell == 0 or cell >= lowest]
    stacks = draw(
        st.lists(st.tuples(st.sampled_from(cells), st.integers(1, 3)), min_size=1, max_size=15)
    )
    enemy = [cell for cell, count in stacks for _ in range(count)][:15]
    board = np.zeros(26, np.int8)
    np.add.at(board, mover, 1)
    np.subtract.at(board, enemy, 1)
    return board


@st.composite
def positions_in_play(draw: st.DrawFn) -> Boards:
    """int8[26], a position met in a game of random moves of one of VARIANTS, mover to roll."""
    game = draw(st.sampled_from(VARIANTS))
    return random_position(game, draw(st.integers(0, 2**32)), draw(st.integers(0, 120)))


def random_position(game: Variant, seed: int, plies: int) -> Boards:
    """int8[26], the position after `plies` random plays, or the last one before the game ends."""
    rng = np.random.default_rng(seed)
    board = start_board(game)
    for ply in range(plies):
        found = afterstates(board[None], roll(seed, [0], [ply]), game).boards
        after = found[rng.integers(len(found))]
        if points_won(after, game):
            break
        board = flip(after)
    return board


def positions() -> st.SearchStrategy[Boards]:
    """Either kind."""
    return placements() | positions_in_play()
