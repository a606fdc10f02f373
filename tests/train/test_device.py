"""The device path, run on the CPU, gives what the CPU path gives."""

import numpy as np
import pytest
import torch

from nardy.net.features import FEATURES, cells_of, feature_rows, phases_of, table_index
from nardy.net.net import Evaluator, Net
from nardy.rules.batch import afterstates
from nardy.rules.dice import roll
from nardy.rules.variants import variant
from train.device import DeviceEvaluator, encode_on, race_rows, table_rows
from train.encode import encode
from train.export import reference_positions
from train.network import ValueNetwork, to_net
from train.selfplay import Games

GAME = variant("short")
BOARDS = reference_positions(GAME, 500, seed=3)


@pytest.fixture(scope="module", params=[1, 2])
def net(request: pytest.FixtureRequest) -> Net:
    torch.manual_seed(5)
    network = ValueNetwork(48, [16, 8], request.param, 6)
    for tail in network.tails:
        torch.nn.init.normal_(tail[-1].weight)  # the last layer starts at zero
    return to_net(network, GAME)


def test_rows_features_and_phases() -> None:
    on_device = torch.from_numpy(BOARDS)
    assert (table_rows(on_device, 15).numpy() == table_index(cells_of(BOARDS, 15))).all()
    assert (race_rows(on_device).numpy() == phases_of(BOARDS, 2)).all()
    rows = torch.from_numpy(feature_rows().reshape(-1, FEATURES))
    np.testing.assert_allclose(encode_on(on_device, 15, rows).numpy(), encode(BOARDS, 15))


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
