"""Self-play: games in lock step against one game at a time, their targets, tallies and state."""

import numpy as np
import pytest
import referee
from random_nets import SHORT, make_net, play_out

from nardy.net.exact import ExactTail
from nardy.net.features import FEATURES, cells_of, feature_rows, table_index
from nardy.net.net import Evaluator, Net, outcomes_by_numpy
from nardy.rules.board import flip, points_won, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import Variant, variant
from train.encode import encode
from train.selfplay import Games, Sample, Tally

HYPER = variant("hyper")
REROLL = variant("hyper", opening="reroll")
POINTS = np.array(SHORT.outcomes)
NET = make_net(16, game=HYPER)


def evaluator(net: Net = NET) -> Evaluator:
    """One whose values do not depend on what is evaluated beside."""
    return Evaluator(net, ExactTail(net))


def new_games(
    slots: np.ndarray, game: Variant = HYPER, stride: int = 12, lam: float = 0.7, longest: int = 200
) -> Games:
    return Games(game, 5, lam, longest, stride, slots.astype(np.int64))


def rows(sample: Sample) -> list[bytes]:
    """Each position with its target, in an order that does not depend on when games ended."""
    pairs = zip(sample.boards, sample.targets, strict=True)
    return sorted(board.tobytes() + target.tobytes() for board, target in pairs)


def joined(samples: list[Sample]) -> Sample:
    return Sample(*(np.concatenate(parts) for parts in zip(*samples, strict=True)))


# ---------------------------------------------------------------- the same games however divided


@pytest.mark.parametrize("groups", [2, 3, 12])
def test_groups_play_the_games_of_one_group(groups: int) -> None:
    slots = np.arange(12)
    whole, tally = new_games(slots).play(evaluator(), 60)
    parts = [new_games(part).play(evaluator(), 60) for part in np.array_split(slots, groups)]
    assert tally.games > 12
    assert rows(joined([sample for sample, _ in parts])) == rows(whole)
    total = sum((part for _, part in parts), Tally())
    assert total.td_error == pytest.approx(tally.td_error)
    total.td_error = tally.td_error
    assert total == tally


def test_equal_values_are_settled_alike_in_every_group() -> None:
    """A net that gives every position the same value makes every choice a tie."""
    flat = Net.build(HYPER, 0 * NET.table, NET.bias, NET.tails[:1])
    slots = np.arange(12)
    whole, _ = new_games(slots).play(evaluator(flat), 80)
    parts = [new_games(part).play(evaluator(flat), 80)[0] for part in np.array_split(slots, 4)]
    assert rows(joined(parts)) == rows(whole)


def test_a_round_may_be_cut_anywhere() -> None:
    whole, tally = new_games(np.arange(12)).play(evaluator(), 60)
    games = new_games(np.arange(12))
    first, second = games.play(evaluator(), 23), games.play(evaluator(), 37)
    assert rows(joined([first[0], second[0]])) == rows(whole)
    assert (first[1] + second[1]).games == tally.games


def test_other_seeds_play_other_games() -> None:
    one, _ = new_games(np.arange(12)).play(evaluator(), 60)
    games = new_games(np.arange(12))
    games.seed = 6
    assert rows(games.play(evaluator(), 60)[0]) != rows(one)


# ---------------------------------------------------------------- one game at a time


def next_sample(games: Games) -> tuple[Sample, Tally]:
    """The next game of a group of one slot."""
    while True:
        sample, tally = games.play(evaluator(), 1)
        if tally.games:
            return sample, tally


def slow_returns(boards: np.ndarray, final: np.ndarray, lam: float) -> np.ndarray:
    """The recursion of train.targets, from its definition."""
    values = outcomes_by_numpy(NET, boards).astype(float)
    returns = [final]
    for following in values[:0:-1]:
        returns.append(((1 - lam) * following + lam * returns[-1])[::-1])
    return np.array(returns[::-1])


@pytest.mark.parametrize("number", range(8))
def test_a_game_is_legal_greedy_and_gives_its_returns(number: int) -> None:
    games = new_games(np.array([number]), REROLL)
    sample, tally = next_sample(games)
    boards = sample.boards
    assert (boards[0] == start_board(REROLL)).all()
    for ply, board in enumerate(boards):
        dice = roll(5, [number], [ply])[0] if ply else roll(5, [number], [0], "reroll")[0]
        legal = np.array(sorted(referee.results(board, dice)), np.int8)
        points = points_won(legal, REROLL)
        values = np.where(points > 0, points, -NET.equity(flip(legal)))
        if ply + 1 < len(boards):
            played = np.flatnonzero((flip(legal) == boards[ply + 1]).all(-1))
            assert len(played) == 1 and values[played[0]] >= values.max() - 1e-5
        else:
            final = (POINTS == points[values.argmax()]).astype(float)
            assert points[values.argmax()] > 0
    assert (tally.games, tally.positions, tally.cut_off) == (1, len(boards), 0)
    assert tally.length == len(boards)
    np.testing.assert_allclose(sample.targets, slow_returns(boards, final, 0.7), atol=1e-5)
    assert (games.numbers == number + 12).all()  # the slot goes on with its next game


def test_the_position_before_a_roll_that_cannot_be_a_double_is_left_out() -> None:
    with_start, _ = next_sample(new_games(np.array([3]), REROLL))
    without, tally = next_sample(new_games(np.array([3]), HYPER))
    start = start_board(HYPER)
    assert (with_start.boards[0] == start).all()
    assert not (without.boards[0] == start).all()
    assert tally.positions == len(without.boards) == tally.length - 1


# ---------------------------------------------------------------- targets and tallies


def test_checkers_are_conserved_and_targets_are_distributions() -> None:
    sample, tally = new_games(np.arange(12)).play(evaluator(), 100)
    own, other = np.maximum(sample.boards, 0).sum(-1), -np.minimum(sample.boards, 0).sum(-1)
    assert own.min() >= 1 and own.max() == 3 and other.min() >= 1 and other.max() == 3
    assert sample.boards.dtype == np.int8 and sample.targets.dtype == np.float32
    assert (sample.targets >= 0).all()
    np.testing.assert_allclose(sample.targets.sum(-1), 1, atol=1e-5)
    assert tally.turns == 1200
    assert tally.positions == len(sample.boards)
    assert tally.cut_off == 0


@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_the_tally_counts_what_the_games_paid(lam: float) -> None:
    sample, tally = new_games(np.arange(12), lam=lam).play(evaluator(), 150)
    ends = sample.targets[(sample.targets == 1).any(-1)]  # the last position of each game
    assert len(ends) == tally.games
    points = ends @ POINTS
    assert (points == 2).sum() == tally.gammons > 0
    assert (points == 3).sum() == tally.backgammons
    errors = np.abs((outcomes_by_numpy(NET, sample.boards) - sample.targets) @ POINTS)
    assert tally.td_error == pytest.approx(errors.sum(), rel=1e-3)


def test_a_game_cut_off_is_worth_what_the_net_says() -> None:
    """With λ = 1 every target of a game is its end: V of the position it was cut off before."""
    cut = new_games(np.array([4]), REROLL, lam=1.0, longest=3)
    whole = new_games(np.array([4]), REROLL, lam=1.0)
    sample, tally = next_sample(cut)
    boards = next_sample(whole)[0].boards
    assert (tally.games, tally.cut_off, tally.turns) == (1, 1, 1)
    assert (sample.boards == boards[:3]).all()
    value = outcomes_by_numpy(NET, boards[3:4])[0]
    expected = [value[::-1], value, value[::-1]]
    np.testing.assert_allclose(sample.targets, expected, atol=1e-6)


def test_games_that_end_on_the_last_turn_allowed_are_not_cut_off() -> None:
    length = len(next_sample(new_games(np.array([4]), REROLL))[0].boards)
    _, tally = next_sample(new_games(np.array([4]), REROLL, longest=length))
    assert (tally.games, tally.cut_off) == (1, 0)
    _, tally = next_sample(new_games(np.array([4]), REROLL, longest=length - 1))
    assert (tally.games, tally.cut_off) == (1, 1)


# ---------------------------------------------------------------- state


@pytest.mark.parametrize("turns", [0, 1, 37])
def test_restored_games_go_on_identically(turns: int) -> None:
    games = new_games(np.arange(12))
    games.play(evaluator(), turns)
    state = {name: values.copy() for name, values in games.state().items()}
    expected, tally = games.play(evaluator(), 50)
    other = new_games(np.arange(12))
    other.play(evaluator(), 10)
    other.restore(state)
    found, tally_again = other.play(evaluator(), 50)
    assert (found.boards == expected.boards).all() and (found.targets == expected.targets).all()
    assert tally == tally_again
    assert all((games.state()[name] == values).all() for name, values in other.state().items())


# ---------------------------------------------------------------- features


@pytest.mark.parametrize("game", [SHORT, HYPER])
def test_encoding_is_the_sum_of_feature_rows(game: Variant, kernels: str) -> None:
    boards = play_out(game, games=20, turns=100)[0][::20]
    found = encode(boards, game.checkers)
    index = table_index(cells_of(boards, game.checkers))
    slow = feature_rows().reshape(-1, FEATURES)[index].sum(1)
    assert found.dtype == np.float32 and found.shape == (len(boards), FEATURES)
    np.testing.assert_allclose(found, slow, atol=1e-5)
    memory = np.full((len(boards), FEATURES), 7, np.float32)
    assert (encode(boards, game.checkers, memory) == found).all()
    assert (memory == found).all()
