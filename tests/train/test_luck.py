"""Luck against its definition, and adjusted results against what is known of them."""

import numpy as np
import pytest
from nets import HYPER, positions, random_net
from random_nets import SHORT

from nardy.play.search import Search
from nardy.rules.batch import afterstates
from nardy.rules.board import start_board
from nardy.rules.dice import ROLLS
from nardy.rules.variants import Variant, variant
from train.luck import FEWEST_PAIRS, LuckJudge, NetRolls, adjust, mean_and_ci95, roll_index

NET = random_net(7)


def slow_luck(game: Variant, board: np.ndarray, dice: tuple[int, int], first: bool) -> float:
    """One roll's value less the mean over the 36 (or, at first, the 30 unequal) throws."""
    search = Search(random_net(7, game), 0)

    def value(one: int, two: int) -> float:
        results = afterstates(board[None], np.array([[one, two]], np.uint8), game)
        return float(search.static_values(results.boards).max())

    throws = [(i, j) for i in range(1, 7) for j in range(1, 7) if not first or i != j]
    return value(*dice) - float(np.mean([value(*throw) for throw in throws]))


@pytest.mark.parametrize("dice", [(3, 1), (1, 3), (6, 6)])
def test_luck_of_a_roll(dice: tuple[int, int]) -> None:
    boards = positions(4, 18)
    rolls = np.tile(np.array(dice, np.uint8), (4, 1))
    luck = LuckJudge(NetRolls(NET), "net").luck(boards, rolls, np.full(4, 18))
    slow = [slow_luck(SHORT, board, dice, first=False) for board in boards]
    np.testing.assert_allclose(luck, slow, atol=1e-5)


@pytest.mark.parametrize("opening", ["play_opening_dice", "reroll"])
def test_luck_of_the_first_roll(opening: str) -> None:
    """K3: where the opening dice are played, doubles are no part of its mean."""
    game = variant("short", opening=opening)
    judge = LuckJudge(NetRolls(random_net(7, game)), "net")
    rolls = np.array([[6, 5]], np.uint8)
    luck = judge.luck(start_board(game)[None], rolls, np.zeros(1, np.int64))[0]
    unequal = opening == "play_opening_dice"
    slow = slow_luck(game, start_board(game), (6, 5), unequal)
    assert luck == pytest.approx(slow, abs=1e-5)
    assert abs(slow - slow_luck(game, start_board(game), (6, 5), not unequal)) > 1e-4


def test_luck_has_mean_zero_over_the_rolls() -> None:
    boards = np.repeat(positions(3, 25), len(ROLLS), 0)
    rolls = np.tile(ROLLS, (3, 1))
    luck = (
        LuckJudge(NetRolls(NET), "net").luck(boards, rolls, np.full(len(boards), 25)).reshape(3, -1)
    )
    chances = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1, 2) / 36
    np.testing.assert_allclose(luck @ chances, 0, atol=1e-6)
    assert np.abs(luck).max() > 0.01


def test_roll_index() -> None:
    for i, (high, low) in enumerate(ROLLS.tolist()):
        assert roll_index(np.array([[high, low], [low, high]], np.uint8)).tolist() == [i, i]


def test_other_variants_are_judged() -> None:
    judge = LuckJudge(NetRolls(random_net(1, HYPER)), "net")
    rolls = np.array([[6, 5]], np.uint8)
    assert judge.luck(start_board(HYPER)[None], rolls, np.zeros(1, np.int64)).shape == (1,)


# ---------------------------------------------------------------- adjusting


def made_up(pairs: int, seed: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Points of mean 0.1, most of whose spread is luck, told `scale` times too large."""
    rng = np.random.default_rng(seed)
    luck = rng.normal(0, 1, pairs)
    return 0.1 + luck + rng.normal(0, 0.2, pairs), scale * luck


@pytest.mark.parametrize("scale", [1.0, 3.0, 0.2])
def test_adjusting_narrows_the_interval_around_the_same_mean(scale: float) -> None:
    points, luck = made_up(2000, 1, scale)
    adjusted = adjust(points, luck)
    assert adjusted.ci95 == pytest.approx(1.96 * 0.2 / 2000**0.5, rel=0.1)
    assert adjusted.ci95 < mean_and_ci95(points)[1] / 4
    assert abs(adjusted.ppg - 0.1) < 2 * adjusted.ci95
    assert adjusted.coefficients == pytest.approx((1 / scale, 1 / scale), rel=0.05)


def test_coefficients_are_the_other_halfs() -> None:
    """Even pairs have luck at its worth, odd ones at half: each half is adjusted by the other."""
    points, luck = made_up(4000, 2, 1.0)
    luck[1::2] *= 2
    adjusted = adjust(points, luck)
    assert adjusted.coefficients == pytest.approx((0.5, 1.0), abs=0.05)


def test_adjusting_is_unbiased_even_in_small_matches() -> None:
    """Fitted to all pairs at once, c would pull heavy-tailed results towards nought."""
    rng = np.random.default_rng(3)
    means = []
    for _ in range(2000):
        luck = rng.exponential(1, 2 * FEWEST_PAIRS) - 1
        points = luck**2 - 1  # luck explains it badly, and leans on the fit where it is large
        means.append(adjust(points, luck).ppg)
    error = np.std(means) / len(means) ** 0.5
    assert abs(np.mean(means)) < 4 * error


def test_few_pairs_and_no_luck_are_not_fitted() -> None:
    points, luck = made_up(2 * FEWEST_PAIRS - 2, 4, 3.0)
    assert adjust(points, luck).coefficients == (1, 1)
    points, _ = made_up(1000, 4, 1.0)
    adjusted = adjust(points, np.zeros(1000))
    assert adjusted.coefficients == (1, 1)
    assert (adjusted.ppg, adjusted.ci95) == mean_and_ci95(points)


def test_no_replies_are_too_few_to_look_at() -> None:
    with pytest.raises(ValueError, match="luck_looks must be at least 1, not 0"):
        NetRolls(random_net(1), 0)


def test_mean_and_interval() -> None:
    mean, half = mean_and_ci95(np.array([-0.5, 1.5, 1.5]))
    assert mean == pytest.approx(5 / 6)
    assert half == pytest.approx(1.96 * 1.154700538 / 3**0.5)
