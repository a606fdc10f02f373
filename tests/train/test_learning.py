"""Learning: the learner's step, the schedule, and games small enough to know the exact answer."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import exact
import numpy as np
import pytest
import torch
from random_nets import SHORT, play_out

from nardy.net.features import phases_of
from nardy.rules.board import start_board
from train.config import Config, parse
from train.encode import encode
from train.learner import Learner, rows_by_phase
from train.network import ValueNetwork
from train.selfplay import Sample
from train.trainer import Trainer


def trained(*overrides: str) -> Trainer:
    """A run to its end, without the loop around it."""
    trainer = Trainer(parse("train", Config, ["threads=1", "precision=float32", *overrides]))
    with ThreadPoolExecutor(1) as pool:
        while trainer.progress() < 1:
            trainer.round(pool)
    return trainer


# ---------------------------------------------------------------- against exact values


def test_the_exact_solution_of_a_game_of_one_roll() -> None:
    """Both have one checker on the ace point: whoever rolls first bears off and wins a gammon,
    because the other has borne none off."""
    board = tuple(1 if cell == 1 else -1 if cell == 24 else 0 for cell in range(26))
    assert exact.solve(board, checkers=1) == {board: pytest.approx(2.0)}


def test_the_exact_solution_of_a_game_of_two_turns() -> None:
    """One checker on 6 against one on the ace point: he who misses loses a gammon, and 27 rolls
    of 36 bear off (11 with a 6; 5-1 5-2 5-3 5-4 4-2 4-3 two each; 2-2 3-3 4-4 5-5)."""
    board = tuple(1 if cell == 6 else -1 if cell == 24 else 0 for cell in range(26))
    found = exact.solve(board, checkers=1)[board]
    assert found == pytest.approx(2 * 27 / 36 - 2 * 9 / 36)


@pytest.mark.parametrize(
    ("start", "games"), [({24: 1}, 150_000), ({6: 2}, 150_000)], ids=["one checker", "two checkers"]
)
def test_self_play_finds_the_exact_equities(start: dict[int, int], games: int) -> None:
    """Mean error over the positions that occur below 0.03 points; equities spread by 0.75."""
    points = ",".join(f"{point}:{count}" for point, count in start.items())
    trainer = trained(
        f"variant.start={{{points}}}", "variant.opening=reroll", f"games={games}",
        "net.hidden=32", "net.tail=[32]", "algo.games_in_flight=256", "algo.minibatch=256",
        "algo.rate=1e-2", "algo.final_rate=1e-4",
    )  # fmt: skip
    board = start_board(trainer.variant)
    values = exact.solve(tuple(board.tolist()), trainer.variant.checkers)
    seen = trainer.pending.boards
    expected = np.array([values[tuple(row)] for row in seen.tolist()])
    assert np.abs(expected - expected.mean()).mean() > 0.7
    found = trainer.net().equity(seen)
    assert np.abs(found - expected).mean() < 0.03
    assert abs(trainer.net().equity(board[None])[0] - values[tuple(board.tolist())]) < 0.03


# ---------------------------------------------------------------- the learner


def sample_of(count: int) -> Sample:
    """Positions of random play with the targets of a rule that a net can learn."""
    boards = play_out(SHORT, games=20, turns=200)[0]
    boards = boards[:: len(boards) // count][:count]
    targets = np.zeros((len(boards), 6), np.float32)
    targets[np.arange(len(boards)), np.where(boards[:, 25] > 0, 0, 5)] = 1
    return Sample(boards, targets)


def new_learner(minibatch: int, phases: int = 2, precision: torch.dtype = torch.float32) -> Learner:
    torch.manual_seed(0)
    return Learner(ValueNetwork(16, [8], phases, 6), 15, minibatch, precision)


def weights(learner: Learner) -> list[np.ndarray]:
    return [values.detach().numpy().copy() for values in learner.network.parameters()]


def slow_loss(learner: Learner, sample: Sample) -> float:
    """Mean cross-entropy, position by position."""
    losses = []
    for board, target in zip(sample.boards, sample.targets, strict=True):
        counts = [0] * len(learner.network.tails)
        counts[int(phases_of(board[None], len(counts))[0])] = 1
        with torch.no_grad():
            logits = learner.network(torch.from_numpy(encode(board[None], 15)), counts)
        losses.append(-float((torch.log_softmax(logits, -1) * torch.from_numpy(target)).sum()))
    return float(np.mean(losses))


@pytest.mark.parametrize("phases", [1, 2])
def test_the_loss_is_the_mean_cross_entropy(phases: int) -> None:
    sample, learner = sample_of(200), new_learner(200, phases)
    assert phases == 1 or phases_of(sample.boards, 2).any()
    rng = np.random.default_rng(0)
    assert learner.learn(sample, rng, lambda: 1e-2).loss == pytest.approx(np.log(6), abs=1e-5)
    expected = slow_loss(learner, sample)
    assert expected < np.log(6)
    assert learner.learn(sample, rng, lambda: 1e-2).loss == pytest.approx(expected, abs=1e-5)


def test_the_error_of_equity_is_learnt_besides() -> None:
    """A step is that of the whole loss, written out; what is told stays the cross-entropy."""
    sample, learner, points = sample_of(200), new_learner(200), torch.tensor(SHORT.outcomes).float()
    learner.learn(sample, np.random.default_rng(0), lambda: 1e-2)
    twin = new_learner(200)
    twin.network.load_state_dict(learner.network.state_dict())
    order = np.argsort(phases_of(sample.boards, 2), kind="stable")
    counts = np.bincount(phases_of(sample.boards, 2), minlength=2).tolist()
    logits = twin.network(torch.from_numpy(encode(sample.boards[order], 15)), counts)
    wanted = torch.from_numpy(sample.targets[order])
    errors = (torch.softmax(logits, 1) - wanted) @ points
    entropy = -(torch.log_softmax(logits, 1) * wanted).sum(1).mean()
    (entropy + 7 * (errors**2).mean()).backward()
    learner.weigh_equity(7, SHORT.outcomes)
    told = learner.learn(sample, np.random.default_rng(0), lambda: 0.0).loss
    assert told == pytest.approx(entropy.item(), abs=1e-5)
    for mine, theirs in zip(learner.network.parameters(), twin.network.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad, atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_what_can_be_learnt_is_learnt(precision: torch.dtype) -> None:
    sample, learner = sample_of(1000), new_learner(100, precision=precision)
    rng = np.random.default_rng(0)
    losses = [learner.learn(sample, rng, lambda: 1e-2).loss for _ in range(30)]
    assert losses[0] > 0.5 and losses[-1] < 0.05


def test_a_rest_smaller_than_a_minibatch_waits() -> None:
    learner = new_learner(64)
    fit = learner.learn(sample_of(200), np.random.default_rng(0), lambda: 1e-3)
    assert fit.steps == 3 == learner.steps
    before = weights(learner)
    fit = learner.learn(sample_of(63), np.random.default_rng(0), lambda: 1e-3)
    assert fit.steps == 0 and np.isnan(fit.loss)
    assert all((old == new).all() for old, new in zip(before, weights(learner), strict=True))


def test_a_rate_of_zero_changes_nothing() -> None:
    learner = new_learner(64)
    before = weights(learner)
    learner.learn(sample_of(200), np.random.default_rng(0), lambda: 0.0)
    assert all((old == new).all() for old, new in zip(before, weights(learner), strict=True))


@pytest.mark.parametrize("phases", [[0, 1, 0, 0, 1], [1, 1], [0], []])
def test_rows_are_grouped_and_filled_up(phases: Sequence[int]) -> None:
    rows, counts = rows_by_phase(np.array(phases, np.int64), 2, grain=4)
    assert sum(counts) == len(rows) and all(count % 4 == 0 for count in counts)
    begin = 0
    for phase, count in enumerate(counts):
        members = [row for row in rows[begin : begin + count].tolist() if row >= 0]
        assert members == [i for i, own in enumerate(phases) if own == phase]
        begin += count


# ---------------------------------------------------------------- the schedule


def test_the_rate_is_level_and_then_falls_geometrically() -> None:
    trainer = Trainer(
        parse(
            "train",
            Config,
            ["games=1000", "net.hidden=4", "threads=1", "algo.games_in_flight=1",
             "algo.rate=1e-2", "algo.final_rate=1e-4", "algo.hot=0.2"],
        )
    )  # fmt: skip
    rates = {}
    for games in (0, 100, 200, 600, 1000, 1200):
        trainer.games = games
        rates[games] = trainer.rate()
    assert rates[0] == rates[100] == rates[200] == 1e-2
    assert rates[600] == pytest.approx(1e-3)
    assert rates[1000] == rates[1200] == pytest.approx(1e-4)


def test_progress_is_by_games_or_by_minutes_whichever_is_further() -> None:
    trainer = Trainer(parse("train", Config, ["games=100", "minutes=2", "net.hidden=4"]))
    trainer.games = 25
    assert trainer.progress() == 0.25
    trainer.seconds = 60.0
    assert trainer.progress() == 0.5


def test_averaged_weights_are_the_exponential_mean_of_those_after_each_step() -> None:
    torch.manual_seed(1)
    network = ValueNetwork(8, [4], 2, 6, pairs=3)
    learner = Learner(network, 15, 32, torch.float32)
    learner.average_over(4)
    assert learner.played() is network  # nothing learnt, nothing to average
    boards, _, _ = play_out(SHORT, 8, 20)
    targets = np.full((len(boards), 6), 1 / 6, np.float32)
    targets[:, 3] += 0.1
    targets /= targets.sum(1, keepdims=True)
    mean: dict[str, torch.Tensor] = {}
    for begin in range(0, 160, 32):
        part = Sample(boards[begin : begin + 32], targets[begin : begin + 32])
        learner.learn(part, np.random.default_rng(begin), lambda: 1e-2)
        for name, values in network.named_parameters():
            now = values.detach().clone()
            mean[name] = now if name not in mean else 0.75 * mean[name] + 0.25 * now
    for name, values in learner.played().named_parameters():
        torch.testing.assert_close(values.detach(), mean[name])
    assert not torch.equal(learner.played().first.weight, network.first.weight)
