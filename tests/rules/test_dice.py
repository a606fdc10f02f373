"""Dice: the same for the same (seed, game, ply), fair, and unrelated otherwise.

Seeds are fixed, so every verdict here is the same on every run.
"""

from itertools import product

import numpy as np
import pytest

from nardy.rules.dice import ROLL_CHANCES, ROLLS, random_words, roll

MANY = 72_000
KNOWN = "566132536455451554142363"
# chi-square beyond which one fair sample in a thousand falls, by degrees of freedom
CHI_SQUARE = {29: 58.3, 35: 66.6}


def chi_square(counts: np.ndarray) -> float:
    """How far `counts` are from being equal."""
    mean = counts.mean()
    return float(((counts - mean) ** 2 / mean).sum())


def pair_counts(dice: np.ndarray) -> np.ndarray:
    """int[6, 6], how often each ordered pair fell."""
    counts = np.zeros((6, 6), int)
    np.add.at(counts, (dice[:, 0] - 1, dice[:, 1] - 1), 1)
    return counts


def test_rolls_and_chances():
    assert ROLLS.shape == (21, 2) and ROLLS.dtype == np.uint8
    assert len({tuple(dice) for dice in ROLLS.tolist()}) == 21
    assert (ROLLS[:, 0] >= ROLLS[:, 1]).all()
    assert ROLL_CHANCES.sum() == pytest.approx(1, abs=1e-15)
    counts = dict.fromkeys(map(tuple, ROLLS.tolist()), 0)
    for pair in product(range(1, 7), repeat=2):
        counts[tuple(sorted(pair, reverse=True))] += 1
    np.testing.assert_allclose(ROLL_CHANCES * 36, list(counts.values()))


def test_dice_are_pairs_of_one_to_six():
    dice = roll(1, np.arange(1000), np.arange(1000) % 50)
    assert dice.shape == (1000, 2) and dice.dtype == np.uint8
    assert dice.min() == 1 and dice.max() == 6


def test_dice_depend_on_seed_game_and_ply_alone():
    games = np.arange(40).repeat(25)
    plies = np.tile(np.arange(25), 40)
    dice = roll(7, games, plies)
    order = np.random.default_rng(0).permutation(len(games))
    np.testing.assert_array_equal(roll(7, games[order], plies[order]), dice[order])
    for i in range(0, 1000, 37):
        np.testing.assert_array_equal(roll(7, games[i : i + 1], plies[i : i + 1])[0], dice[i])


def test_known_dice():
    # recorded: a seed must mean the same games in every later version
    dice = roll(2026, np.arange(4).repeat(3), np.tile(np.arange(3), 4))
    assert "".join(map(str, dice.ravel())) == KNOWN


def test_single_numbers_are_taken_as_well_as_arrays():
    dice = roll(3, np.arange(5), np.full(5, 2))
    np.testing.assert_array_equal(roll(3, range(5), 2), dice)
    np.testing.assert_array_equal(roll(3, 4, [2])[0], dice[4])


def test_the_opening_is_never_a_double_and_its_thirty_pairs_are_equally_likely():
    counts = pair_counts(roll(11, np.arange(MANY), np.zeros(MANY, int)))
    assert (np.diag(counts) == 0).all()
    assert chi_square(counts[~np.eye(6, dtype=bool)]) < CHI_SQUARE[29]


@pytest.mark.parametrize(("opening", "ply"), [("play_opening_dice", 1), ("reroll", 0)])
def test_other_rolls_are_uniform_over_thirty_six_pairs(opening, ply):
    counts = pair_counts(roll(12, np.arange(MANY), np.full(MANY, ply), opening))
    assert chi_square(counts.ravel()) < CHI_SQUARE[35]


def test_the_opening_rule_changes_ply_0_alone():
    games, plies = np.arange(600), np.arange(600) % 3
    played, thrown = roll(5, games, plies), roll(5, games, plies, "reroll")
    np.testing.assert_array_equal(played[plies > 0], thrown[plies > 0])
    assert (played[plies == 0] != thrown[plies == 0]).any()


def test_the_plies_of_one_game_are_uniform():
    counts = pair_counts(roll(13, np.zeros(MANY, int), np.arange(1, MANY + 1)))
    assert chi_square(counts.ravel()) < CHI_SQUARE[35]


OTHERS = {
    "next seed": (2, 0, 0, 0),
    "negative seed": (-1, 0, 0, 0),
    "next game": (1, 1, 0, 0),
    "next ply": (1, 0, 1, 0),
    "other stream": (1, 0, 0, 1),
}


@pytest.mark.parametrize(("seed", "game", "ply", "stream"), OTHERS.values(), ids=OTHERS.keys())
def test_other_words_are_unrelated(seed, game, ply, stream):
    games, plies = np.arange(20_000), np.arange(20_000) % 60
    mine = random_words(1, games, plies, stream=0)
    other = random_words(seed, games + game, plies + ply, stream)
    differing = np.bitwise_count(mine ^ other)
    # each of 64 bits differs with chance 1/2: 20,000 words have a standard error of 0.028
    assert abs(differing.mean() - 32) < 0.12
    assert abs(differing.std() - 4) < 0.12


def test_words_do_not_repeat():
    words = random_words(1, np.arange(300)[:, None], np.arange(100), stream=0)
    assert words.shape == (300, 100) and words.dtype == np.uint64
    assert len(np.unique(words)) == words.size
