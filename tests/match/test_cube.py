"""The law of the cube, on worked examples and in games played at random (rules K16..K18)."""

from dataclasses import replace

import numpy as np
import pytest

from nardy.match.cube import (
    automatic_double,
    beaver,
    double,
    refuse,
    replies,
    resign,
    take,
    why_not,
)
from nardy.match.score import Score, match_score


def test_a_pass_pays_the_old_stake():  # worked position 14
    assert refuse(double(Score())) == 1
    taken = take(double(Score()))
    assert (taken.cube, taken.owner) == (2, "theirs")
    redouble = double(taken.flip())
    assert redouble.cube == 4 and refuse(redouble) == 2


@pytest.mark.parametrize("cube", [1, 2, 4, 8, 16, 32])
def test_a_pass_pays_the_old_stake_at_every_cube(cube):
    score = Score(cube=cube, owner="centre" if cube == 1 else "mine")
    assert refuse(double(score)) == cube
    assert take(double(score)).cube == 2 * cube


@pytest.mark.parametrize(
    ("score", "reason"),
    [
        (Score(cube=2, owner="theirs"), "the cube is the other player's"),
        (Score(cube=64, owner="mine"), "the cube is on 64 already"),
        (Score(doubling=False), "without the cube"),
        (match_score(5, 4, 2, crawford=True), "this is the Crawford game"),
        (Score(away=(2, 4), length=5, cube=4, owner="mine"), "changes nothing"),
        (Score(stake_cap=10, cube=16, owner="mine"), "changes nothing"),
    ],
)
def test_nobody_doubles_when_he_may_not(score, reason):
    with pytest.raises(ValueError, match=reason):
        double(score)


def test_nobody_doubles_after_the_roll():
    with pytest.raises(ValueError, match="the dice have been rolled"):
        double(Score(), rolled=True)


def test_a_higher_dead_cube_would_change_nothing():
    for away in ((1, 1), (2, 1), (3, 4), (4, 4)):
        for cube in (1, 2, 4, 8):
            score = Score(away=away, length=7, cube=cube, owner="centre" if cube == 1 else "mine")
            if score.dead:
                higher = replace(score, cube=2 * cube, owner="mine")
                for sign in (-1, 1):
                    for multiple in (1, 2, 3):
                        assert score.next_game(sign * score.points(multiple)) is None
                        assert higher.next_game(sign * higher.points(multiple)) is None


def test_beavers_and_raccoons_keep_the_cube_with_the_taker():
    score = Score(beavers=True)
    offer = double(score)
    assert replies(offer) == ("take", "pass", "beaver")
    answer = beaver(offer)
    assert replies(answer) == ("take", "pass", "raccoon")
    assert take(answer) == Score(beavers=True, cube=4, owner="theirs")
    assert refuse(answer) == -2  # the doubler passes and loses the doubled stake
    last = beaver(answer)
    assert replies(last) == ("take", "pass")
    assert take(last) == Score(beavers=True, cube=8, owner="theirs") and refuse(last) == 4


def test_no_beaver_without_the_option_or_past_64():
    assert replies(double(Score())) == ("take", "pass")
    assert replies(double(match_score(7))) == ("take", "pass")
    high = double(Score(beavers=True, cube=32, owner="mine"))
    assert replies(high) == ("take", "pass")
    with pytest.raises(ValueError, match="the cube offered at 64"):
        beaver(high)


def test_a_bound_on_losses_bounds_passes_too():  # K18
    assert refuse(double(Score(stake_cap=3, cube=2, owner="mine"))) == 2
    beavered = beaver(double(Score(stake_cap=3, beavers=True, cube=2, owner="mine")))
    assert refuse(beavered) == -3


def test_automatic_doubles_stop_at_their_number():
    score = Score(auto_doubles=2)
    cubes = []
    for _ in range(4):
        score = automatic_double(score)
        cubes.append(score.cube)
    assert cubes == [2, 4, 4, 4] and score.owner == "centre"
    assert automatic_double(Score()) == Score()
    owned = Score(auto_doubles=3, cube=2, owner="mine")
    assert automatic_double(owned) == owned


def test_resignation_pays_one_two_or_three_stakes():
    score = Score(cube=2, owner="theirs")
    assert [resign(score, n) for n in (1, 2, 3)] == [-2, -4, -6]
    assert resign(Score(jacoby=True), 3) == -1
    with pytest.raises(ValueError, match="not 0"):
        resign(score, 0)


SCORES = [
    Score(),
    Score(beavers=True, jacoby=True, auto_doubles=3),
    Score(stake_cap=3),
    Score(stake_cap=10, beavers=True),
    Score(doubling=False),
    match_score(3),
    match_score(7, 6, 2, crawford=True),
    match_score(25),
]


@pytest.mark.parametrize("score", SCORES, ids=str)
def test_games_at_random_keep_the_law(score):
    rng = np.random.default_rng(0)
    for _ in range(300):
        points, view = play(score, rng)
        assert points != 0
        if score.crawford or not score.doubling:
            assert view.cube == 1
        if score.stake_cap:
            assert abs(points) <= score.stake_cap
        after, other = score.next_game(points), score.flip().next_game(-points)
        assert other == (after and after.flip())


def play(score, rng):
    """A game with actions at random: points for the player of `score`, and its last score."""
    start, sign = score, 1  # score: in the view of the player on roll
    score = automatic_double(score) if rng.random() < 0.3 else score
    for _ in range(100):
        before = score.cube
        if rng.random() < 0.7:
            if why_not(score):
                with pytest.raises(ValueError):
                    double(score)
            else:
                offer = double(score)
                assert offer.cube <= 64 and offer.cube == 2 * score.cube
                while (reply := rng.choice(replies(offer))) in ("beaver", "raccoon"):
                    offer = beaver(offer)
                if reply == "pass":
                    points = refuse(offer)
                    assert abs(points) == min(offer.cube // 2, score.stake_cap or 64)
                    return sign * points, score
                score = take(offer)
                assert score.owner == "theirs" and not score.may_double
        assert before <= score.cube <= 64
        if rng.random() < 0.2:
            return sign * int(rng.choice([-1, 1])) * score.points(int(rng.integers(1, 4))), score
        score, sign = score.flip(), -sign
    return sign * resign(score, 1), start
