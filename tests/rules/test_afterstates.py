"""Afterstates of random positions against the referee, and of batches against single boards."""

import numpy as np
import pytest
import referee
from hypothesis import given, settings
from strategies import VARIANTS, placements, positions_in_play, random_position

from nardy.rules import kernel
from nardy.rules.batch import Afterstates, Workspace, afterstates
from nardy.rules.board import make_board, start_board
from nardy.rules.dice import ROLLS
from nardy.rules.variants import Variant, variant

SHORT = variant("short")


def check_all_rolls(board: np.ndarray) -> None:
    """All 21 rolls of one board: the referee's results, each once; the board left as it was."""
    boards = np.tile(board, (21, 1))
    found, offsets = afterstates(boards, ROLLS, SHORT)
    assert (boards == board).all()
    assert offsets[0] == 0 and offsets[-1] == len(found)
    for i, dice in enumerate(ROLLS):
        rows = [tuple(row) for row in found[offsets[i] : offsets[i + 1]].tolist()]
        expected = referee.results(board, dice)
        assert set(rows) == expected, (board.tolist(), dice.tolist())
        assert len(rows) == len(expected), (board.tolist(), dice.tolist())


@settings(max_examples=600)
@given(placements())
def test_placed_checkers_agree_with_the_referee(board):
    check_all_rolls(board)


@settings(max_examples=300)
@given(positions_in_play())
def test_positions_in_play_agree_with_the_referee(board):
    check_all_rolls(board)


@pytest.mark.parametrize("game", VARIANTS, ids=lambda game: f"{game.name}-{game.checkers}")
def test_starts_agree_with_the_referee(game, kernels):
    check_all_rolls(start_board(game))


def test_a_forced_pass_is_the_board_itself(kernels):
    board = make_board({25: 1, 6: 14}, {point: 2 for point in range(1, 7)})
    found, offsets = afterstates(np.tile(board, (21, 1)), ROLLS, SHORT)
    np.testing.assert_array_equal(offsets, np.arange(22))
    assert (found == board).all()


# ---- batches


def batch(size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Boards from random play of every variant, and dice for them."""
    rng = np.random.default_rng(seed)
    boards = [
        random_position(VARIANTS[i % len(VARIANTS)], seed + i, int(rng.integers(80)))
        for i in range(size)
    ]
    return np.array(boards, np.int8).reshape(size, 26), rng.integers(1, 7, (size, 2)).astype(
        np.uint8
    )


def copied(results: Afterstates) -> Afterstates:
    return Afterstates(results.boards.copy(), results.offsets.copy())


def one_by_one(boards: np.ndarray, dice: np.ndarray, game: Variant = SHORT) -> Afterstates:
    parts = [afterstates(boards[i : i + 1], dice[i : i + 1], game).boards for i in range(len(dice))]
    return Afterstates(np.concatenate(parts), np.cumsum([0] + [len(part) for part in parts]))


def assert_same(a: Afterstates, b: Afterstates) -> None:
    np.testing.assert_array_equal(a.offsets, b.offsets)
    np.testing.assert_array_equal(a.boards, b.boards)


def test_types_and_shapes(kernels):
    boards, dice = batch(7, seed=1)
    found, offsets = afterstates(boards, dice, SHORT)
    assert found.dtype == np.int8 and found.shape == (offsets[-1], 26)
    assert offsets.dtype == np.int64 and offsets.shape == (8,)


def test_a_batch_is_its_boards_one_by_one():
    boards, dice = batch(300, seed=2)
    assert_same(afterstates(boards, dice, SHORT), one_by_one(boards, dice))


@pytest.mark.skipif(not kernel.jit_enabled, reason="needs numba")
def test_compiled_and_uncompiled_give_the_same_rows(monkeypatch):
    boards, dice = batch(100, seed=3)
    first = afterstates(boards, dice, SHORT)
    monkeypatch.setattr(kernel, "jit_enabled", False)
    assert_same(first, afterstates(boards, dice, SHORT))


def test_the_order_of_the_batch_does_not_matter():
    boards, dice = batch(200, seed=4)
    order = np.random.default_rng(4).permutation(200)
    assert_same(
        afterstates(boards[order], dice[order], SHORT), one_by_one(boards[order], dice[order])
    )


def test_a_workspace_can_be_used_again():
    workspace = Workspace()
    for size, seed in ((5, 5), (200, 6), (1, 7), (60, 8), (0, 9), (200, 10)):
        boards, dice = batch(size, seed)
        mine = copied(afterstates(boards, dice, SHORT, workspace))
        assert_same(mine, afterstates(boards, dice, SHORT))


def test_the_memory_of_a_workspace_is_the_result():
    workspace = Workspace()
    boards, dice = batch(3, seed=11)
    first = afterstates(boards, dice, SHORT, workspace)
    assert np.shares_memory(first.boards, workspace.out)
    fresh = afterstates(boards, dice, SHORT)
    assert not np.shares_memory(fresh.boards, workspace.out)


def test_an_empty_batch_has_no_results():
    found, offsets = afterstates(np.empty((0, 26), np.int8), np.empty((0, 2), np.uint8), SHORT)
    assert found.shape == (0, 26)
    assert offsets.tolist() == [0]


def test_boards_of_other_types_and_strides():
    boards, dice = batch(20, seed=12)
    wide = np.repeat(boards.astype(np.int64), 2, 0)[::2]
    assert_same(afterstates(wide, dice.astype(np.int64), SHORT), afterstates(boards, dice, SHORT))


# ---- more results than the memory was made for

# fifteen blots in a row with room below them: about as many results as a roll can have
SPREAD = make_board({point: 1 for point in range(10, 25)}, {20: 2, 17: 1})


def test_the_output_grows(kernels):
    boards = np.tile(SPREAD, (6, 1))
    dice = np.array([[1, 1], [2, 2], [1, 1], [3, 1], [2, 2], [1, 1]], np.uint8)
    workspace = Workspace()
    workspace.reserve(len(boards))
    reserved = len(workspace.out)
    found, offsets = afterstates(boards, dice, SHORT, workspace)
    assert len(found) > 2 * reserved, "the memory must have grown twice for this test to be one"
    expected = {tuple(pair): referee.results(SPREAD, pair) for pair in dice.tolist()}
    for i, pair in enumerate(dice.tolist()):
        rows = [tuple(row) for row in found[offsets[i] : offsets[i + 1]].tolist()]
        assert len(rows) == len(expected[tuple(pair)])
        assert set(rows) == expected[tuple(pair)]


def test_whose_first_turn_it_is_does_not_matter():
    boards, dice = batch(20, seed=13)
    flags = np.ones(20, np.bool_)
    assert_same(afterstates(boards, dice, SHORT, flags), afterstates(boards, dice, SHORT))
