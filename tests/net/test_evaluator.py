"""The evaluator's kernels, blocks and differences against plain numpy."""

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import torch
from random_nets import SHORT, make_net

from nardy.net import kernels as net_kernels
from nardy.net.features import phases_of
from nardy.net.net import Evaluator, Net, outcomes_by_numpy
from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import Boards, flip, make_board, points_won
from nardy.rules.variants import variant
from train.network import TorchTail

POINTS = np.array(SHORT.outcomes, np.float32)
SHAPES = (
    (16, (16,), 1),
    (16, (16,), 2),
    (7, (), 2),
    (33, (5, 3), 2),
    (100, (24, 8), 1),
)  # first layer, tail, phases: with and without a rest beyond whole vectors
Turns = tuple[Boards, np.ndarray]


def slow_values(net: Net, results: Afterstates) -> np.ndarray:
    """float32[N] for the player who moved: points where he has finished, else minus the next's."""
    points = points_won(results.boards, SHORT).astype(np.float32)
    return np.where(points > 0, points, -(outcomes_by_numpy(net, flip(results.boards)) @ POINTS))


def with_finished(boards: Boards, finished: Boards) -> tuple[Boards, Afterstates]:
    """Parents whose two children each are themselves and a finished board: large differences."""
    parents = boards[: len(finished)]
    children = np.stack([parents, finished[: len(parents)]], 1).reshape(-1, 26)
    return parents, Afterstates(children, np.arange(0, len(children) + 1, 2))


def test_the_positions_are_of_every_kind(turns: Turns, finished: Boards) -> None:
    boards, dice = turns
    assert len(boards) == 1000
    assert 20 < phases_of(boards, 2).sum() < 500
    assert (boards[:, 25] > 0).sum() > 50 and (boards[:, 0] < 0).sum() > 50
    assert (np.maximum(boards, 0).sum(-1) < 15).sum() > 50
    assert (dice[:, 0] == dice[:, 1]).sum() > 100
    assert len(finished) > 20 and (points_won(finished, SHORT) > 1).any()


@pytest.mark.parametrize(("width", "tail", "phases"), SHAPES)
def test_outcomes_equal_the_numpy_twin(
    turns: Turns, width: int, tail: tuple[int, ...], phases: int
) -> None:
    net = make_net(width, tail, phases)
    found = net.outcomes(turns[0])
    assert found.dtype == np.float32 and found.shape == (1000, 6)
    np.testing.assert_allclose(found, outcomes_by_numpy(net, turns[0]), atol=2e-6)
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(net.equity(turns[0]), found @ POINTS, atol=1e-5)


@pytest.mark.parametrize(("width", "tail", "phases"), SHAPES)
def test_values_and_choice_equal_the_numpy_twin(
    turns: Turns, width: int, tail: tuple[int, ...], phases: int
) -> None:
    boards, dice = turns
    net = make_net(width, tail, phases)
    results = afterstates(boards, dice, SHORT)
    expected = slow_values(net, results)
    values = Evaluator(net).values(boards, results)
    np.testing.assert_allclose(values, expected, atol=1e-5)
    best, chances = Evaluator(net).choose(boards, results)
    for i, row in enumerate(best.tolist()):
        begin, end = results.offsets[i], results.offsets[i + 1]
        assert begin <= row < end
        assert row == begin + values[begin:end].argmax()  # the first of equals
    on = points_won(results.boards[best], SHORT) == 0
    twin = outcomes_by_numpy(net, flip(results.boards[best[on]]))
    np.testing.assert_allclose(chances[on], twin, atol=2e-6)


def test_equal_values_go_to_the_first(turns: Turns) -> None:
    boards, dice = turns
    net = make_net(16)
    flat = Net.build(
        SHORT, 0 * net.table, net.bias, [[(0 * w, b) for w, b in tail] for tail in net.tails]
    )
    on = phases_of(boards, 2) == 0
    results = afterstates(boards[on][:50], dice[on][:50], SHORT)
    best, _ = Evaluator(flat).choose(boards[on][:50], results)
    values = slow_values(flat, results)
    firsts = [
        begin + values[begin:end].argmax()
        for begin, end in zip(results.offsets, results.offsets[1:], strict=False)
    ]
    assert best.tolist() == firsts
    assert any(first == begin for first, begin in zip(firsts, results.offsets, strict=False))


@pytest.mark.parametrize("block", [1, 7, 1024])
def test_blocks_change_nothing(turns: Turns, block: int) -> None:
    boards, dice = turns[0][:100], turns[1][:100]
    net = make_net(33, (5, 3))
    results = afterstates(boards, dice, SHORT)
    evaluator = Evaluator(net, block=block)
    np.testing.assert_allclose(
        evaluator.values(boards, results), slow_values(net, results), atol=1e-5
    )
    best, chances = evaluator.choose(boards, results)
    again, chances_again = Evaluator(net, block=50).choose(boards, results)
    assert (best == again).all()
    np.testing.assert_allclose(chances, chances_again, atol=2e-6)
    np.testing.assert_allclose(
        evaluator.outcomes(boards), outcomes_by_numpy(net, boards), atol=2e-6
    )


def test_differences_may_be_as_large_as_a_whole_board(turns: Turns, finished: Boards) -> None:
    net = make_net(33)
    parents, results = with_finished(turns[0], finished)
    values = Evaluator(net).values(parents, results)
    np.testing.assert_allclose(values, slow_values(net, results), atol=1e-5)


def test_a_finished_game_is_worth_its_points_exactly(turns: Turns, finished: Boards) -> None:
    parents, results = with_finished(turns[0], finished)
    values = Evaluator(make_net(16)).values(parents, results)[1::2]
    assert (values == points_won(finished[: len(parents)], SHORT)).all()


def test_finished_games_have_the_phase_of_a_race(finished: Boards) -> None:
    """Nobody needs their outcomes, but every way to evaluate gives the same ones."""
    net = make_net(16)
    for boards in (finished, flip(finished)):
        assert phases_of(boards, 2).all()
        np.testing.assert_allclose(net.outcomes(boards), outcomes_by_numpy(net, boards), atol=2e-6)


def test_other_weights_take_the_place_of_the_first(turns: Turns) -> None:
    boards = turns[0][:100]
    evaluator = Evaluator(make_net(16, seed=1))
    evaluator.load(make_net(16, seed=2))
    assert (evaluator.outcomes(boards) == Evaluator(make_net(16, seed=2)).outcomes(boards)).all()


def test_games_with_fewer_checkers(kernels: str) -> None:
    game = variant("hyper")
    net = make_net(9, game=game)
    boards = np.array([make_board({24: 1, 3: 1}, {25: 1}), make_board({1: 1}, {2: 1})])
    np.testing.assert_allclose(net.outcomes(boards), outcomes_by_numpy(net, boards), atol=2e-6)


def test_uncompiled_evaluation_agrees(turns: Turns, kernels: str) -> None:
    boards, dice = turns[0][::20], turns[1][::20]
    net = make_net(33, (5, 3))
    results = afterstates(boards, dice, SHORT)
    evaluator = Evaluator(net)
    np.testing.assert_allclose(
        evaluator.outcomes(boards), outcomes_by_numpy(net, boards), atol=2e-6
    )
    expected = slow_values(net, results)
    np.testing.assert_allclose(evaluator.values(boards, results), expected, atol=1e-5)
    best, _ = evaluator.choose(boards, results)
    top = np.maximum.reduceat(expected, results.offsets[:-1])
    np.testing.assert_allclose(expected[best], top, atol=1e-5)


def test_bfloat16_tails_come_close_either_way(turns: Turns, kernels: str) -> None:
    boards = turns[0][::20]
    net = make_net(33, (16,))
    evaluator = Evaluator(net, TorchTail(net, torch.bfloat16))
    np.testing.assert_allclose(
        evaluator.outcomes(boards), outcomes_by_numpy(net, boards), atol=0.03
    )


def test_nothing_is_compiled_where_the_environment_says_so() -> None:
    code = (
        "import sys, numpy as np, nardy.net.net as n; from nardy.rules import kernel;"
        "from nardy.rules.board import start_board; from nardy.rules.variants import variant;"
        "net = n.Net.build(variant('short'), np.zeros((28, 31, 4), 'f4'), np.zeros(4, 'f4'),"
        " [[(np.zeros((4, 6), 'f4'), np.zeros(6, 'f4'))]]);"
        "print(net.equity(start_board(net.variant)[None]), 'numba' in sys.modules)"
    )
    environment = {**os.environ, "NARDY_JIT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[0.] False\n"


# ---------------------------------------------------------------- bfloat16


def bfloat16_twin(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0).astype(ml_dtypes.bfloat16).view(np.uint16)


def floats() -> np.ndarray:
    rng = np.random.default_rng(0)
    scale = np.exp(rng.uniform(-20, 20, 2000))
    x = (rng.normal(0, 1, 2000) * scale).astype(np.float32)
    return np.concatenate([x, np.float32([0, -0.0, 1, -1, 255, np.inf, -np.inf, 1e-30])])


def test_rounding_to_bfloat16_is_to_the_nearest(kernels: str) -> None:
    x = floats()
    x = x[x.view(np.uint32) & 0xFFFF != 0x8000]
    found = np.array([net_kernels.relu_bfloat16(value) for value in x], np.uint16)
    assert (found == bfloat16_twin(x)).all()


def test_halfway_bfloat16_goes_up(kernels: str) -> None:
    """ml_dtypes and torch go to the even neighbour; both neighbours are equally near."""
    bits = np.arange(0x3F80, 0x3FA0, dtype=np.uint32)
    halfway = (bits << 16 | 0x8000).view(np.float32)
    found = [int(net_kernels.relu_bfloat16(value)) for value in halfway]
    assert found == (bits + 1).tolist()
    assert (np.abs(np.array(found) - bfloat16_twin(halfway).astype(int)) <= 1).all()
