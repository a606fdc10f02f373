"""The device path, run on the CPU, gives what the CPU path gives."""

import numpy as np
import pytest
import torch

from nardy.net.features import (
    FEATURES,
    cells_of,
    feature_rows,
    pair_index,
    phases_of,
    table_index,
)
from nardy.net.net import Evaluator, Net
from nardy.play.search import first_best
from nardy.rules.batch import afterstates
from nardy.rules.board import points_won
from nardy.rules.dice import roll
from nardy.rules.variants import variant
from train.device import (
    DeviceEvaluator,
    encode_on,
    first_best_on,
    pair_rows,
    points_on,
    race_rows,
    table_rows,
)
from train.encode import encode
from train.export import reference_positions
from train.network import ValueNetwork, to_net
from train.selfplay import Games

GAME = variant("short")
BOARDS = reference_positions(GAME, 500, seed=3)


@pytest.fixture(scope="module", params=[(1, 0), (2, 0), (2, 16)], ids=str)
def net(request: pytest.FixtureRequest) -> Net:
    phases, pairs = request.param
    torch.manual_seed(5)
    network = ValueNetwork(48, [16, 8], phases, 6, pairs)
    if network.pairs is not None:
        torch.nn.init.normal_(network.pairs.weight, std=0.1)
    for tail in network.tails:
        torch.nn.init.normal_(tail[-1].weight)  # the last layer starts at zero
    return to_net(network, GAME)


def test_rows_features_and_phases() -> None:
    on_device = torch.from_numpy(BOARDS)
    assert (table_rows(on_device, 15).numpy() == table_index(cells_of(BOARDS, 15))).all()
    assert (pair_rows(on_device).numpy() == pair_index(BOARDS)).all()
    assert (race_rows(on_device).numpy() == phases_of(BOARDS, 2)).all()
    rows = torch.from_numpy(feature_rows().reshape(-1, FEATURES))
    np.testing.assert_allclose(encode_on(on_device, 15, rows).numpy(), encode(BOARDS, 15))


def test_points_of_ended_games() -> None:
    rng = np.random.default_rng(0)
    boards = BOARDS.copy()
    boards[rng.random(boards.shape) < 0.3] = 0
    ended = rng.random(len(boards)) < 0.5
    boards[ended] = np.minimum(boards[ended], 0)
    boards[ended, :7] *= rng.integers(0, 2, (int(ended.sum()), 1), np.int8)
    whole = np.zeros((2, 26), np.int8)
    whole[0, 24], whole[1, 0] = -15, -15  # all fifteen left: a gammon, and a backgammon (K14)
    boards = np.concatenate([boards, whole])
    expected = points_won(boards, GAME)
    assert set(expected.tolist()) == {0, 1, 2, 3}
    assert (points_on(torch.from_numpy(boards), 15).numpy() == expected).all()


def test_the_first_of_the_best() -> None:
    rng = np.random.default_rng(1)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 9, 200))])
    values = rng.integers(-3, 3, offsets[-1]).astype(np.float32)  # equals abound
    found = first_best_on(torch.from_numpy(values), torch.from_numpy(offsets)).numpy()
    assert (found == first_best(values, offsets)).all()
    lost = first_best_on(torch.full((5,), torch.nan), torch.tensor([0, 2, 5])).numpy()
    assert ((lost >= 0) & (lost < 5)).all()


def test_a_net_travels_once_and_another_takes_its_place(net: Net) -> None:
    one, two = (DeviceEvaluator(net, "cpu", torch.float32) for _ in range(2))
    assert one.weights is two.weights
    other = to_net(ValueNetwork(48, [16, 8], len(net.tails), 6), GAME)
    two.load(other)
    np.testing.assert_allclose(two.outcomes(BOARDS), other.outcomes(BOARDS), atol=1e-5)
    np.testing.assert_allclose(one.outcomes(BOARDS), net.outcomes(BOARDS), atol=1e-5)


def test_outcomes_and_choices(net: Net) -> None:
    device = DeviceEvaluator(net, "cpu", torch.float32)
    np.testing.assert_allclose(device.outcomes(BOARDS), net.outcomes(BOARDS), atol=1e-5)
    dice = roll(7, np.arange(len(BOARDS)), np.ones(len(BOARDS)))
    results = afterstates(BOARDS, dice, GAME)
    values = Evaluator(net).values(BOARDS, results)
    best, chances = device.choose(BOARDS, results)
    # near ties may fall either way
    np.testing.assert_allclose(
        values[best], np.maximum.reduceat(values, results.offsets[:-1]), atol=1e-4
    )
    _, chances_on_cpu = Evaluator(net).choose(BOARDS, results)
    same = best == Evaluator(net).choose(BOARDS, results)[0]
    assert same.mean() > 0.95
    np.testing.assert_allclose(chances[same], chances_on_cpu[same], atol=1e-3)


def test_self_play_runs_on_it(net: Net) -> None:
    device = DeviceEvaluator(net, "cpu", torch.float32)
    games = [Games(GAME, 1, 0.7, 40, 8, np.arange(8)) for _ in range(2)]
    on_device, tally = games[0].play(device, 150)
    on_cpu, tally_cpu = games[1].play(Evaluator(net), 150)
    assert tally.games > 4 and tally.turns == tally_cpu.turns
    common = min(len(on_device.boards), len(on_cpu.boards), 20)
    assert (on_device.boards[:common] == on_cpu.boards[:common]).all()
    np.testing.assert_allclose(on_device.targets[:common], on_cpu.targets[:common], atol=1e-3)
