"""Ratings fitted to results whose true ratings are known."""

import numpy as np
import pytest

from train.match import MatchResult
from train.ratings import ELO, as_dict, fit, points_of, text, wins_of

TRUE = np.array([150.0, 60.0, 0.0, -210.0])


def chance(i: int, j: int) -> float:
    return 1 / (1 + 10 ** ((TRUE[j] - TRUE[i]) / 400))


def played(games: int, rng: np.random.Generator | None = None) -> np.ndarray:
    """float64[4, 4]: wins, drawn at random or, without `rng`, exactly as expected."""
    wins = np.zeros((4, 4))
    for i in range(4):
        for j in range(i):
            p = chance(i, j)
            wins[i, j] = games * p if rng is None else rng.binomial(games, p)
            wins[j, i] = games - wins[i, j]
    return wins


def test_expected_results_give_the_true_ratings() -> None:
    np.testing.assert_allclose(fit(played(1_000_000)).elo, TRUE, atol=0.01)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    held = []
    for _ in range(500):
        ratings = fit(played(400, rng))
        held.append(np.abs(ratings.elo - TRUE) < ratings.ci95)
    assert 0.93 < np.mean(held) < 0.97


def test_interval_of_two_players() -> None:
    """Half the difference of two: its variance is 1 / (4 n p q), on Elo's scale."""
    ratings = fit(np.array([[0, 600.0], [400, 0]]))
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(ELO * np.log(600.5 / 400.5))
    p = 600.5 / 1001
    assert ratings.ci95[0] == pytest.approx(1.96 * ELO / 2 / (1001 * p * (1 - p)) ** 0.5)


def test_a_player_who_won_every_game_has_a_finite_rating() -> None:
    ratings = fit(np.array([[0, 2000.0, 2000], [0, 0, 1000], [0, 1000, 0]]))
    assert 1200 < ratings.elo[0] - ratings.elo[1] < 1600
    assert ratings.elo[1] == pytest.approx(ratings.elo[2])
    assert ratings.ci95[0] == pytest.approx(2 * ratings.ci95[1], rel=0.02)


def test_players_who_never_met_are_refused() -> None:
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[1, 0] = wins[2, 3] = 5
    with pytest.raises(ValueError, match="linked by no game"):
        fit(wins)


def result(*points: tuple[int, int], luck: float | None = None) -> MatchResult:
    array = np.array(points, np.int8)
    told = None if luck is None else np.full(array.shape, luck)
    return MatchResult("x", "y", "short", 0, array, 1.0, luck=told)


MATCHES = {
    (0, 1): result((1, -2), (3, 0)),
    (0, 2): result((-1, -1), (-1, -2), luck=0.25),
    (1, 2): result((1, -1), (1, -1)),
}


def test_wins_and_points_of_matches() -> None:
    assert wins_of(3, MATCHES).tolist() == [[0, 2.5, 0], [1.5, 0, 2], [4, 2, 0]]
    points = points_of(3, MATCHES)
    assert points[0, 1] == 0.5 and points[1, 0] == -0.5
    assert points[0, 2] == -1.25 - 0.25  # the luck that it had is taken from it
    assert np.isnan(points).tolist() == np.eye(3, dtype=bool).tolist()


def test_cross_table() -> None:
    lines = text(["left", "middle", "right"], MATCHES).splitlines()
    assert [line.split()[1] for line in lines[1:4]] == ["right", "middle", "left"]
    assert lines[0].split() == ["Elo", "±", "95", "%", "games", "wins", "points", "1", "2", "3"]
    right = lines[1].split()
    assert right[4:] == ["8", "75.0%", "+0.750", "+0.000", "+1.500"]
    assert lines[1].endswith("+0.000  +1.500")
    assert lines[2].split()[4:] == ["8", "43.8%", "-0.250", "+0.000", "-0.500"]
    figures = as_dict(["left", "middle", "right"], MATCHES)
    assert [one["games"] for one in figures] == [8, 8, 8]
    assert figures[2]["wins"] == 0.75 and figures[2]["ppg"] == 0.75
    assert figures[2]["elo"] == max(one["elo"] for one in figures)
