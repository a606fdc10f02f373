"""Truncated rollouts as targets: right in the mean whatever the net believes."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from random_nets import SHORT, make_net

from nardy.net.exact import ExactTail
from nardy.net.net import Evaluator
from nardy.play import rollout
from nardy.play.bearoff import SHIPPED, Bearoff, read_one_sided, read_two_sided
from nardy.play.search import Search
from nardy.rules.batch import Workspace
from nardy.rules.board import make_board, start_board
from train.config import Config, parse
from train.export import reference_positions
from train.selfplay import Games
from train.targets import one_roll, rolled_out
from train.trainer import Trainer

POINTS = np.array(SHORT.outcomes)
NET = make_net(8, seed=3)
FORCED = np.stack(
    [
        make_board({1: 3}, {1: 3}),
        make_board({1: 2}, {1: 3}),
        make_board({1: 3}, {1: 1}),
        make_board({1: 4}, {1: 3}),
    ]
)
"""Every play is forced, so that a value does not depend on how it is played."""


@pytest.fixture(scope="module")
def tables() -> Bearoff:
    """Those of the package."""
    one = read_one_sided(SHIPPED / "one-sided-6x15.npy", 6)
    return Bearoff(SHORT, one, read_two_sided(SHIPPED / "two-sided-6x3.npy"))


def many(search: Search, plies: int, board: np.ndarray, count: int) -> np.ndarray:
    """float64[count, K]: the targets of one board with as many dice."""
    numbers = np.arange(count) * 7919  # as those of positions that have nothing to do with others
    return rolled_out(search, 1, plies, np.repeat(board[None], count, 0), numbers).astype(float)


def test_the_mean_is_the_tables_value(tables: Bearoff) -> None:
    """The games end within six turns, and no table is asked on the way."""
    search = Search(NET, 0)
    for board in FORCED:
        targets = many(search, 6, board, 800)
        exact = tables.outcomes(board[None])[0]
        np.testing.assert_allclose(targets.sum(1), 1, atol=1e-5)
        stderrs = targets.std(0) / np.sqrt(len(targets)) + 2e-5  # what a table rounds
        assert (np.abs(targets.mean(0) - exact) < 4.5 * stderrs).all()
        equity, spread = targets @ POINTS, (targets @ POINTS).std() / np.sqrt(len(targets))
        assert abs(equity.mean() - exact @ POINTS) < 4 * spread + 1e-4
    assert (targets.min(0) < -1e-3).any() or (targets.max(0) > 1 + 1e-3).any()  # nothing is clipped


def test_positions_a_turn_before_a_table_have_its_mean_without_noise(tables: Bearoff) -> None:
    """Whatever is thrown the last checker comes home, and a table knows the rest."""
    boards = np.stack([make_board({8: 1}, {5: 3}), make_board({7: 1}, {6: 2, 3: 1})])
    found = rolled_out(Search(NET, 0, tables=tables), 1, 3, boards, np.arange(2))
    exact = one_roll(Evaluator(NET, ExactTail(NET)), boards, SHORT, Workspace(), tables)
    np.testing.assert_allclose(found, exact, atol=1e-5)
    noisy = rolled_out(Search(NET, 0), 1, 3, boards, np.arange(2))
    assert np.abs(noisy - exact).max() > 1e-3


def test_one_turn_is_the_one_roll_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollout, "LOOK", 1000)
    boards = reference_positions(SHORT, 12, seed=2)
    found = rolled_out(Search(NET, 0), 1, 1, boards, np.arange(12))
    expected = one_roll(Evaluator(NET, ExactTail(NET)), boards, SHORT, Workspace())
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_more_turns_are_the_mean_of_one_roll_targets_after_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two turns: the mean over dice is the explicit one over the first roll's best replies."""
    monkeypatch.setattr(rollout, "LOOK", 1000)
    board = reference_positions(SHORT, 40, seed=2)[21]
    search = Search(NET, 0)
    targets = many(search, 2, board, 800) @ POINTS
    expected = float((search.chances(-board[::-1][None], 2)[0, ::-1]) @ POINTS)
    assert abs(targets.mean() - expected) < 4 * targets.std() / np.sqrt(len(targets))
    assert targets.std() > 1e-4


# ---------------------------------------------------------------- in self-play


def test_self_play_labels_its_positions_so() -> None:
    games = Games(SHORT, 5, 0.7, 60, 8, np.arange(8), label=0.5)
    seen = []

    def roll_out(boards: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        seen.append((boards.copy(), numbers.copy()))
        return rolled_out(Search(NET, 0), 5, 2, boards, numbers)

    sample, tally = games.play(Evaluator(NET, ExactTail(NET)), 12, None, roll_out)
    boards = np.concatenate([boards for boards, _ in seen])
    numbers = np.concatenate([numbers for _, numbers in seen])
    assert (sample.boards == boards).all() and tally.positions == len(boards) > 20
    assert len(set(numbers.tolist())) == len(numbers)  # dice of their own
    assert not (boards == start_board(SHORT)).all(-1).any()
    again = rolled_out(Search(NET, 0), 5, 2, boards[:30], numbers[:30])
    np.testing.assert_allclose(sample.targets[:30], again, atol=1e-5)


def test_a_run_learns_from_them() -> None:
    overrides = ["algo=one_roll", "algo.targets=rollout", "algo.rollout_plies=2", "threads=1",
                 "net.hidden=8", "net.tail=[4]", "algo.games_in_flight=8", "algo.memory=1000",
                 "algo.longest_game=60", "algo.minibatch=64", "algo.tables=true"]  # fmt: skip
    trainer = Trainer(parse("train", Config, overrides))
    with ThreadPoolExecutor(1) as pool:
        done = [trainer.round(pool) for _ in range(4)]
    assert done[-1].fit.steps > 0 and np.isfinite(done[-1].fit.loss)
    assert (trainer.pending.targets.sum(1) - 1 < 1e-4).all() and len(trainer.pending.boards) > 10
    price = trainer._roll_out(trainer.net())
    assert isinstance(price, partial) and price.args[2] == 2
