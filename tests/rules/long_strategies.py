"""Positions of long nardy for hypothesis: made to press on its rules, and met in random play."""

import numpy as np
from hypothesis import strategies as st

from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, ending, make_board, start_board, turn
from nardy.rules.dice import roll
from nardy.rules.variants import OPTIONS, Variant, variant

LONG = variant("long")
BLOCKING_OPTIONS = ("head_exception_players", "head_exception_rolls", "prime_rule", "prime_check")


def other(point: int) -> int:
    """The opponent's number of a point."""
    return (point + 11) % 24 + 1


@st.composite
def options(draw: st.DrawFn) -> dict[str, str]:
    """The options that decide which plays are legal, each with any of its values."""
    return {name: draw(st.sampled_from(OPTIONS[name])) for name in BLOCKING_OPTIONS}


@st.composite
def long_placements(draw: st.DrawFn) -> Boards:
    """int8[26]: rows of six less a few points, full heads, bear-offs, or checkers put anywhere."""
    kind = draw(st.sampled_from(("six", "six", "heads", "bear-off", "any")))
    mover: list[int] = []
    if kind == "six":
        # in the enemy's numbering, so that rows lie over the mover's seam too
        lowest = draw(st.integers(1, 19))
        row = draw(st.lists(st.integers(lowest, lowest + 5), min_size=4, max_size=6, unique=True))
        near = st.integers(lowest - 4, lowest + 12).map(lambda point: other((point - 1) % 24 + 1))
        mover = [other(point) for point in row] + draw(st.lists(near, max_size=8))
    elif kind == "heads":
        mover = [24] * draw(st.integers(3, 13)) + draw(st.lists(st.integers(1, 24), max_size=2))
    elif kind == "bear-off":
        mover = draw(st.lists(st.integers(1, 6), min_size=1, max_size=13))
        mover += draw(st.lists(st.integers(7, 12), max_size=2))
    else:
        mover = draw(st.lists(st.integers(1, 24), min_size=1, max_size=10))
    free = sorted(set(range(1, 25)) - set(mover))
    front = draw(st.integers(1, 24))  # all enemies stand on this point of theirs or behind it
    cells = [cell for cell in free if other(cell) >= front] or free
    enemy = draw(st.lists(st.sampled_from(cells), min_size=1, max_size=10))
    board = np.zeros(26, np.int8)
    np.add.at(board, mover, 1)
    np.subtract.at(board, enemy, 1)
    return board


@st.composite
def long_positions_in_play(draw: st.DrawFn) -> Boards:
    """int8[26], a position met in a game of random moves, mover to roll."""
    return random_long_position(LONG, draw(st.integers(0, 2**32)), draw(st.integers(0, 150)))


@st.composite
def first_turns(draw: st.DrawFn) -> Boards:
    """int8[26], the start, or the second player's first turn after any play of the starter."""
    board = start_board(LONG)
    if draw(st.booleans()):
        return board
    game = variant("long", opening="reroll", head_exception_rolls="any_if_stuck")
    found = afterstates(board[None], roll(draw(st.integers(0, 999)), [0], [1]), game).boards
    after = found[draw(st.integers(0, len(found) - 1))]
    if draw(st.booleans()):  # or a reply that cannot follow one turn, but blocks more
        ahead = draw(st.lists(st.integers(1, 23), min_size=1, max_size=4))
        points = {point: ahead.count(point) for point in ahead if point != 12}
        after = make_board({24: 15 - sum(points.values()), **points}, {24: 15}, "blocking")
    return turn(after, "blocking")


def random_long_position(game: Variant, seed: int, plies: int) -> Boards:
    """int8[26], the position after `plies` random plays, or the last one before the game ends."""
    rng = np.random.default_rng(seed)
    board = start_board(game)
    for ply in range(plies):
        found = afterstates(board[None], roll(seed, [0], [ply]), game).boards
        after = found[rng.integers(len(found))]
        if ending(after, game, np.bool_(ply % 2 == 0))[0]:
            break
        board = turn(after, game.family)
    return board
