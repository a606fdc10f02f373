"""The probe: its positions, its labels, the fit, and the command."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from nets import random_net, save_net

from nardy.net.features import FEATURES
from nardy.net.net import Evaluator, outcomes_by_numpy
from nardy.rules.board import check_board
from nardy.rules.variants import variant
from train import probe
from train.benchmark_players import cumulative_chances
from train.config import NetConfig
from train.probe import (
    ProbeConfig,
    cross_entropy,
    distribution,
    fit,
    main,
    parse_shapes,
    self_play,
    split,
    step_size,
)
from train.selfplay import Sample

GAME = variant("short")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_net(tmp_path_factory.mktemp("nets") / "net", random_net(1, last=0.2))


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return self_play(random_net(1), 3000, seed=4)


def test_positions_of_self_play_are_different_legal_and_in_order(boards: np.ndarray) -> None:
    assert boards.shape == (3000, 26) and len(np.unique(boards, axis=0)) == 3000
    for board in boards[::50]:
        check_board(board, GAME)
    # the first are one turn old: whoever is to move stands as at the start, or was hit (K1)
    mine = np.maximum(boards[:20], 0)
    assert (np.abs(mine - np.maximum(np.array(GAME.start), 0)).sum(-1) <= 4).all()
    assert (self_play(random_net(1), 500, seed=4) == boards[:500]).all()
    assert (self_play(random_net(1), 500, seed=5) != boards[:500]).any()


def test_distribution_undoes_cumulative_chances() -> None:
    chances = np.random.default_rng(3).dirichlet(np.ones(6), 50).astype(np.float32)
    found = distribution(cumulative_chances(chances, GAME.outcomes))
    np.testing.assert_allclose(found, chances, atol=1e-6)
    # a judge that contradicts itself: more gammons than wins
    odd = distribution(np.array([[0.1, 0.2, 0.0, 0.3, 0.0]]))
    assert (odd >= 0).all() and odd.sum() == pytest.approx(1)


def test_what_is_held_out_was_played_last(boards: np.ndarray) -> None:
    data = split(Sample(boards, np.zeros((3000, 6), np.float32)))
    assert len(data.held_out.boards) == len(data.held_out.targets) == 150
    assert (np.concatenate([data.training.boards, data.held_out.boards]) == boards).all()


def test_the_loss_is_the_cross_entropy(boards: np.ndarray) -> None:
    net, targets = random_net(2), Evaluator(random_net(3)).outcomes(boards[:40])
    each = [
        -sum(float(t * np.log(p)) for t, p in zip(wanted, chances, strict=True))
        for wanted, chances in zip(targets, outcomes_by_numpy(net, boards[:40]), strict=True)
    ]
    assert cross_entropy(net, Sample(boards[:40], targets)) == pytest.approx(np.mean(each), 1e-4)


def test_the_rate_is_level_and_then_falls() -> None:
    config = ProbeConfig(rate=1e-2, final_rate=1e-4, hot=0.2)
    rates = [step_size(done, config) for done in (0, 0.2, 0.6, 1, 1.5)]
    assert rates == pytest.approx([1e-2, 1e-2, 1e-3, 1e-4, 1e-4])


def test_a_fit_imitates_its_judge(boards: np.ndarray) -> None:
    torch.set_num_threads(1)
    targets = Evaluator(random_net(1, last=0.2)).outcomes(boards)
    data = split(Sample(boards, targets))
    config = ProbeConfig(minutes=0.02, minibatch=128, positions=3000, precision="float32")
    learner, epochs = fit("32+8-16", NetConfig(32, [16], pairs=8), data, config)
    assert learner.steps > 0
    assert epochs == pytest.approx(learner.steps * 128 / 2850)
    mean = data.training.targets.mean(0)
    guess = -float((data.held_out.targets * np.log(mean)).sum(-1).mean())
    net = probe.to_net(learner.network, GAME)
    assert cross_entropy(net, data.held_out) < guess


def test_the_command_ranks_shapes_and_uses_its_labels_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(probe, "SPEED_SECONDS", 0.01)
    keys = [
        f"judge={folder}", f"net={folder}", f"labels={tmp_path / 'labels.npz'}", "minutes=0.005",
        "positions=600", "minibatch=64", f"json={tmp_path / 'probe.json'}",
    ]  # fmt: skip
    assert main([*keys, "shapes=8-4,16"]) == 0
    said = capsys.readouterr().out
    assert "570 positions" in said and "\n8-4 " in said and "\n16 " in said and "less" in said
    found = json.loads((tmp_path / "probe.json").read_text())
    assert sorted(shape["shape"] for shape in found["shapes"]) == ["16", "8-4"]
    errors = [np.mean([s["loss"] for s in x["references"].values()]) for x in found["shapes"]]
    assert errors == sorted(errors)
    assert all(shape["loss"] > found["entropy"] for shape in found["shapes"])
    # one tail of 16 for contact and one for races: features, units and outcomes
    small = next(shape for shape in found["shapes"] if shape["shape"] == "16")
    assert small["parameters"] == 16 * (FEATURES + 1) + 2 * 6 * 17
    with np.load(tmp_path / "labels.npz") as file:
        boards, targets = file["boards"], file["targets"]
    expected = outcomes_by_numpy(random_net(1, last=0.2), boards)
    np.testing.assert_allclose(targets, expected, atol=1e-4)
    before = (tmp_path / "labels.npz").stat().st_mtime_ns
    assert main([*keys, "shapes=8"]) == 0
    assert (tmp_path / "labels.npz").stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.npz", "probe.json"]
    capsys.readouterr()
    for wrong, says in (
        (f"judge={folder.parent}/other", "labels="),
        ("positions=5000", "600 positions"),
        ("labels=" + str(tmp_path / "probe.json"), "no labelled positions"),
    ):
        others = [key for key in keys if key.split("=")[0] != wrong.split("=")[0]]
        assert main([*others, wrong]) == 2
        error = capsys.readouterr().err
        assert says in error and error.count("\n") == 1


WRONG = [
    ("shapes=512-x", "'512-x'"),
    ("shapes=0-4", "'0-4'"),
    ("shapes=8,,4", "''"),
    ("shapes=8+-4", "'8+-4'"),
    ("shapes=8+9-4", "'8+9-4'"),
    ("minutes=0", "minutes"),
    ("hot=1", "hot"),
    ("positions=100", "positions"),
    ("phases=3", "phases"),
    ("precision=int8", "int8"),
    ("nonsense=1", "nonsense"),
    ("judge=pips labels=no-such-file.npz", "pips"),
    ("net=nowhere judge=random labels=no-such-file.npz", "random"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG, ids=[wrong for wrong, _ in WRONG])
def test_what_is_wrong_is_one_sentence(
    arguments: str, says: str, capsys: pytest.CaptureFixture
) -> None:
    assert main(arguments.split(" ")) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1 and error.startswith("train.probe: ")


def test_shapes_are_read() -> None:
    assert parse_shapes("512-256-64, 16,32+8-4") == {
        "512-256-64": NetConfig(512, [256, 64]),
        "16": NetConfig(16, []),
        "32+8-4": NetConfig(32, [4], pairs=8),
    }
