"""Scores: settlement, the next game, Crawford, and what a score may not be (rules K14..K18)."""

import numpy as np
import pytest

from nardy.match.score import Score, match_score


def test_a_backgammon_with_the_cube_on_4_pays_12():  # worked position 12
    assert Score(cube=4, owner="mine").points(3) == 12


def test_crawford_comes_once_and_then_the_cube_is_live():  # worked position 13, K17
    before = match_score(5, 3, 2)
    crawford = before.next_game(1)
    assert crawford == match_score(5, 4, 2, crawford=True)
    assert not crawford.may_double and not crawford.flip().may_double
    after = crawford.next_game(-1)
    assert after == match_score(5, 4, 3)
    assert after.post_crawford and after.may_double and after.flip().may_double
    assert after.next_game(-1) == match_score(5, 4, 4)  # no second Crawford game


def test_a_match_of_one_point_has_no_use_for_the_cube():
    score = match_score(1)
    assert score.dead and not score.may_double and not score.post_crawford
    assert score.next_game(1) is None


def test_a_match_ends_when_nothing_is_needed_any_more():
    assert match_score(7, 5, 0).next_game(2) is None
    assert match_score(7, 5, 0).next_game(-8) is None
    assert Score(cube=8, owner="theirs").next_game(16) == Score()


def test_jacoby_pays_gammons_only_after_a_turn_of_the_cube():
    assert Score(jacoby=True).points(3) == 1
    assert Score(jacoby=True, cube=2, owner="theirs").points(3) == 6
    # an automatic double turns no cube
    assert Score(jacoby=True, cube=2, auto_doubles=1).points(2) == 2


@pytest.mark.parametrize(("cap", "cube", "multiple", "paid"), [(3, 1, 3, 3), (3, 4, 1, 3)])
def test_no_game_costs_more_than_three_stakes(cap, cube, multiple, paid):  # K18
    owner = "centre" if cube == 1 else "mine"
    assert Score(stake_cap=cap, cube=cube, owner=owner).points(multiple) == paid


def test_no_game_costs_more_than_ten_stakes():  # K18
    assert [Score(stake_cap=10, cube=4, owner="mine").points(m) for m in (1, 2, 3)] == [4, 8, 10]
    assert not Score(stake_cap=10, cube=8, owner="mine").dead  # a single game pays 8, then 10
    assert Score(stake_cap=10, cube=16, owner="mine").dead
    assert not Score(stake_cap=10, cube=16, owner="mine").may_double


def test_who_may_double():  # K16
    assert Score().may_double and Score(cube=32, owner="mine").may_double
    assert not Score(cube=2, owner="theirs").may_double
    assert not Score(cube=64, owner="mine").may_double
    assert not Score(doubling=False).may_double
    assert match_score(5, 4, 3).may_double  # legal for the leader, though of no use
    assert not match_score(5, 4, 3).useful and match_score(5, 3, 4).useful
    assert not Score(away=(4, 3), length=5, cube=4, owner="mine").may_double


def test_flip_is_the_other_players_view():
    score = Score(away=(2, 5), length=7, cube=2, owner="mine")
    assert score.flip() == Score(away=(5, 2), length=7, cube=2, owner="theirs")
    assert score.flip().flip() == score
    assert Score(jacoby=True).flip() == Score(jacoby=True)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 25])
def test_a_match_ends_and_both_sides_agree_on_it(length):
    rng = np.random.default_rng(length)
    for _ in range(200):
        mine, theirs = match_score(length), match_score(length)
        won, crawfords, games = [0, 0], 0, 0
        while mine is not None:
            crawfords += mine.crawford
            assert mine.away == (length - won[0], length - won[1])
            assert mine.crawford or (1 not in mine.away) or mine.post_crawford or length == 1
            points = int(rng.choice([1, 2, 3, 4])) * int(rng.choice([-1, 1]))
            won[points < 0] += abs(points)
            mine, theirs = mine.next_game(points), theirs.next_game(-points)
            assert theirs == (mine and mine.flip())
            games += 1
        assert max(won) >= length and games < 2 * length and crawfords <= 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"cube": 3}, "the cube shows 1, 2, 4, ... 64, not 3"),
        ({"cube": 128, "owner": "mine"}, "not 128"),
        ({"owner": "nobody"}, "not 'nobody'"),
        ({"owner": "mine"}, "a cube on 1 lies in the centre, it is not 'mine'"),
        ({"cube": 2}, "a centred cube on 2 needs automatic doubles"),
        ({"cube": 2, "owner": "mine", "doubling": False}, "without the cube has no stake of 2"),
        ({"stake_cap": 5}, "stake_cap is none, 3 or 10, not 5"),
        ({"auto_doubles": -1}, "not -1"),
        ({"crawford": True}, "money play has neither"),
        ({"away": (3, 3)}, "1 to 25 points, not 0"),
        ({"away": (3, 3), "length": 26}, "not 26"),
        ({"away": (0, 3), "length": 7}, r"not \(0, 3\)"),
        ({"away": (8, 3), "length": 7}, r"not \(8, 3\)"),
        ({"away": (2, 3), "length": 7, "crawford": True}, "no Crawford game"),
        ({"away": (2, 3), "length": 7, "jacoby": True}, "jacoby is an option of money play"),
        ({"away": (2, 3), "length": 7, "stake_cap": 10}, "stake_cap is an option of money"),
        ({"away": (2, 3), "length": 7, "cube": 2}, "a cube on 2 has an owner"),
    ],
)
def test_what_does_not_go_together_is_named(values, message):
    with pytest.raises(ValueError, match=message):
        Score(**values)


def test_results_that_cannot_be_are_named():
    with pytest.raises(ValueError, match="not 4"):
        Score().points(4)
    with pytest.raises(ValueError, match="not 0"):  # K15
        Score().next_game(0)
