"""Janowski's formula: published check values, a slow twin, and what must hold at any score."""

import json
from pathlib import Path

import numpy as np
import pytest

from nardy.match.janowski import (
    TURN,
    Cubeful,
    cube_actions,
    cube_values,
    efficiency,
    normalised,
    payoffs,
    window,
)
from nardy.match.met import default_table
from nardy.match.score import Score, match_score
from nardy.rules.board import make_board, start_board
from nardy.rules.variants import variant

HIGHEST = 2e-5
"""The formulas know no highest cube; ours, far away, moves a take point by less than this."""

SCORES = [
    Score(),
    Score(cube=2, owner="mine"),
    Score(cube=2, owner="theirs"),
    Score(cube=32, owner="mine"),
    Score(cube=64, owner="mine"),
    Score(jacoby=True, beavers=True),
    Score(stake_cap=3),
    Score(stake_cap=10, cube=4, owner="mine"),
    Score(doubling=False),
    match_score(5),
    match_score(9, 2, 5),
    Score(away=(4, 5), length=7, cube=2, owner="mine"),
    Score(away=(5, 2), length=7, cube=2, owner="theirs"),
    match_score(5, 4, 2, crawford=True),
    match_score(5, 4, 2),
    match_score(5, 1, 4),
]


def gammonless(p):
    """float64[N, 6] for chances of winning."""
    p = np.atleast_1d(p)
    zero = np.zeros_like(p)
    return np.stack([zero, zero, 1 - p, p, zero, zero], -1)


def random_chances(rng, n):
    return rng.dirichlet([0.3, 1, 3, 3, 1, 0.3], n)


@pytest.mark.parametrize(
    ("chances", "dead", "live"),
    [([0, 0, 0.7, 0.3, 0, 0], 0.25, 0.20), ([0, 0, 0.7, 0, 0.3, 0], 1 / 6, 1 / 7)],
    ids=["gammonless", "W=2, L=1"],
)
def test_take_points_of_money(chances, dead, live):
    assert window(chances, Score(), 0.0).take == pytest.approx(dead, abs=1e-6)
    assert window(chances, Score(), 1.0).take == pytest.approx(live, abs=HIGHEST)


@pytest.mark.parametrize("x", [0.0, 0.5, 0.68, 1.0])
def test_partial_take_and_cash_points(x):
    """TP = (L − ½) / (W + L + x/2), CP = (L + ½ + x/2) / (W + L + x/2)."""
    chances = [0.01, 0.1, 0.39, 0.35, 0.13, 0.02]
    won, lost = (0.35 + 0.26 + 0.06) / 0.5, (0.39 + 0.2 + 0.03) / 0.5
    at = window(chances, Score(), x)
    assert at.take == pytest.approx((lost - 0.5) / (won + lost + x / 2), abs=HIGHEST)
    assert at.cash == pytest.approx((lost + 0.5 + x / 2) / (won + lost + x / 2), abs=HIGHEST)


def test_the_window_opens_and_closes_in_order():
    at = window([0, 0.1, 0.3, 0.4, 0.2, 0], Score(), 0.68)
    assert at.take < 0.5 < at.double < at.cash < at.too_good < 1
    # who redoubles gives up the cube, so he needs more; without gammons nothing is too good
    assert window([0, 0, 0.5, 0.5, 0, 0], Score(), 0.68).too_good is None
    owned = window([0, 0.1, 0.3, 0.4, 0.2, 0], Score(cube=2, owner="mine"), 0.68)
    assert owned.double > at.double and owned.take is None
    assert window(gammonless(0.5)[0], match_score(3, 2, 0, crawford=True), 0.68) == (None,) * 4


class LiveTwin:
    """The live cube by its definition: doubled exactly where the other side is indifferent."""

    def __init__(self, chances, pay):
        self.lost = pay[:, :3] @ chances[:3] / chances[:3].sum()
        self.won = pay[:, 3:] @ chances[3:] / chances[3:].sum()
        self.passed, self.cash = pay[:, 2], pay[:, 3]
        self.points = {}

    def value(self, p, level, owner):
        knots = [(0, self.lost[level]), (1, self.won[level])]
        if owner != "mine" and level + 1 < len(self.lost):
            knots.append((self.indifferent(level, "mine", self.passed), self.passed[level]))
        if owner != "theirs" and level + 1 < len(self.lost):
            knots.append((self.indifferent(level, "theirs", self.cash), self.cash[level]))
        return float(np.interp(p, *zip(*sorted(knots), strict=True)))

    def indifferent(self, level, taker, stake):
        """Where owning the doubled cube is worth as much as a pass."""
        if (level, taker) not in self.points:
            self.points[level, taker] = root(
                lambda q: self.value(q, level + 1, taker) - stake[level]
            )
        return self.points[level, taker]


def root(rising):
    low, high = 0.0, 1.0
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return high


@pytest.mark.parametrize(
    "score",
    [
        Score(cube=32, owner="mine"),
        Score(stake_cap=3),
        match_score(5),
        match_score(7, 4, 3),
        Score(away=(4, 3), length=7, cube=2, owner="mine"),
        Score(away=(5, 4), length=7, cube=2, owner="theirs"),
    ],
    ids=str,
)
def test_the_live_cube_is_that_of_its_slow_twin(score):
    chances = random_chances(np.random.default_rng(3), 4)
    pay = payoffs(score)
    live = Cubeful(chances, pay, 1.0).live(0, score.owner)
    for row, value in zip(chances, live, strict=True):
        expected = LiveTwin(row, pay).value(row[3:].sum(), 0, score.owner)
        assert value == pytest.approx(expected, abs=1e-6)


def test_gnubg_says_the_same(kazaross):
    """gnubg_cubes.json: gnubg 1.07's cubeful values at 0-ply, no double, double/take and pass, for
    positions of benchmarks/cube_*.npz, with the chances that gnubg-nn 1.1 gives them: almost, but
    not quite, those gnubg had. Where a double is free gnubg knows it not, and these differ."""
    path = Path(__file__).parents[1] / "data" / "gnubg_cubes.json"
    apart = {True: [], False: []}
    for row in json.loads(path.read_text()):
        away = row["away"] and tuple(row["away"])
        score = Score(away, length=25 if away else 0, cube=row["cube"], owner=row["owner"])
        values = cube_values(row["chances"], score, row["x"], kazaross)[:3]
        unit = score.cube if score.money else 1
        apart[score.money].append(np.abs(np.array(values) / unit - row["values"]))
    assert len(apart[True]) >= 25 and len(apart[False]) >= 40
    assert (np.median(apart[True], 0) < [0.002, 0.004, 1e-9]).all()
    assert (np.median(apart[False], 0) < [0.0005, 0.0005, 1e-4]).all()


def test_the_highest_cube_is_dead():
    chances = random_chances(np.random.default_rng(9), 50)
    points = np.array([-3, -2, -1, 1, 2, 3])
    values = cube_values(chances, Score(cube=32, owner="mine"), 1.0)
    np.testing.assert_allclose(values.double_take, 64 * chances @ points)
    assert len(payoffs(Score(cube=64, owner="mine"))) == 1


def test_the_dead_cube_is_the_cubeless_mean():
    chances = random_chances(np.random.default_rng(4), 50)
    points = np.array([-3, -2, -1, 1, 2, 3])
    for score in (Score(), Score(cube=4, owner="theirs")):
        values = cube_values(chances, score, 0.0)
        np.testing.assert_allclose(values.no_double, score.cube * chances @ points)
    jacoby = cube_values(chances, Score(jacoby=True), 0.0)
    np.testing.assert_allclose(jacoby.no_double, chances @ np.sign(points))
    np.testing.assert_allclose(jacoby.double_take, 2 * chances @ points)


def test_payoffs_by_hand():
    table = default_table()
    capped = payoffs(Score(stake_cap=3))
    np.testing.assert_array_equal(capped[:, 3:], [[1, 2, 3], [2, 3, 3], [3, 3, 3]])
    rows = payoffs(match_score(5, 3, 2))  # 2 away, 3 away
    b = table.before
    after = [0, b[1, 0], b[1, 1], b[0, 2], 1, 1]
    np.testing.assert_allclose(rows[0], after)
    np.testing.assert_allclose(rows[1], [0, 0, b[1, 0], 1, 1, 1])
    np.testing.assert_allclose(rows[2], [0, 0, 0, 1, 1, 1])
    assert len(rows) == 3


@pytest.mark.parametrize("score", SCORES, ids=str)
def test_both_players_see_the_same_value(score):
    chances = random_chances(np.random.default_rng(5), 200)
    mine = Cubeful(chances, payoffs(score), 0.68).value(0, score.owner)
    other = score.flip()
    theirs = Cubeful(chances[:, ::-1], payoffs(other), 0.68).value(0, other.owner)
    np.testing.assert_allclose(mine, -theirs if score.money else 1 - theirs, atol=1e-12)


@pytest.mark.parametrize("score", SCORES, ids=str)
def test_values_at_any_score(score):
    chances = random_chances(np.random.default_rng(6), 500)
    values = cube_values(chances, score, 0.68)
    actions = cube_actions(values, score)
    pay = payoffs(score)
    assert (pay.min() <= values.best).all() and (values.best <= pay.max()).all()
    if not score.may_double:
        assert np.isnan(values.double_take).all() and not actions.double.any()
        assert (actions.verdict == "no cube").all()
        return
    np.testing.assert_array_equal(values.double_pass, pay[0, 3])
    answered = np.fmin(np.fmin(values.double_take, values.double_beaver), values.double_pass)
    clear = np.abs(answered - values.no_double) > 1e-8
    assert (actions.double == (answered > values.no_double))[clear].all()
    assert not (actions.double & actions.too_good).any()
    assert not score.jacoby or score.owner != "centre" or not actions.too_good.any()  # K14
    # one position at a time gives the same
    for i in range(5):
        one = cube_values(chances[i], score, 0.68)
        np.testing.assert_allclose(one.no_double, values.no_double[i])
        np.testing.assert_allclose(one.double_take, values.double_take[i])


def test_a_cube_of_ones_own_is_worth_having():
    gammonish = random_chances(np.random.default_rng(7), 300)
    plain = gammonless(np.linspace(0, 1, 101))
    for score, chances in (
        (Score(), gammonish),
        (match_score(9), plain),
        (match_score(7, 2, 4), plain),
    ):
        cube = Cubeful(chances, payoffs(score), 0.68)
        mine, centre, theirs = (cube.value(0, owner) for owner in ("mine", "centre", "theirs"))
        assert (mine >= centre - 1e-12).all() and (centre >= theirs - 1e-12).all()


def verdict(chances, score=None, x=0.68):
    score = score or Score()
    return str(cube_actions(cube_values(chances, score, x), score).verdict)


def test_verdicts_of_money():
    assert verdict(gammonless(0.6)[0]) == "no double/take"
    assert verdict(gammonless(0.75)[0]) == "double/take"
    assert verdict(gammonless(0.85)[0]) == "double/pass"
    assert verdict(gammonless(0.75)[0], Score(cube=2, owner="mine")) == "redouble/take"
    assert verdict(gammonless(0.66)[0], Score(cube=2, owner="mine")) == "no redouble/take"
    assert verdict([0, 0, 0.2, 0.2, 0.6, 0]) == "too good/pass"
    assert verdict([0, 0, 0.2, 0.2, 0.6, 0], Score(jacoby=True)) == "double/pass"
    assert verdict(gammonless(0.75)[0], Score(cube=2, owner="theirs")) == "no cube"
    assert verdict(gammonless(0.4)[0], Score(beavers=True)) == "no double/beaver"


def test_a_beaver_is_right_where_the_doubler_is_the_underdog():
    """Beaver iff DT < 0; it doubles what a take is worth."""
    score = Score(beavers=True)
    values = cube_values(random_chances(np.random.default_rng(8), 500), score, 0.68)
    actions = cube_actions(values, score)
    clear = np.abs(values.double_take) > 0.001
    np.testing.assert_array_equal((values.double_take < 0)[clear], actions.beaver[clear])
    np.testing.assert_allclose(values.double_beaver, 2 * values.double_take, atol=0.001)


def test_a_bound_on_losses_is_known_to_the_decision():  # K18
    # at 8 the game pays at most 10 more: a double wins little and gives the cube away
    chances = gammonless(0.75)[0]
    capped = cube_values(chances, Score(cube=8, owner="mine", stake_cap=10), 0.68)
    free = cube_values(chances, Score(cube=8, owner="mine"), 0.68)
    assert capped.double_take < 10 * 0.5 + 1e-9 < free.double_take
    assert verdict(gammonless(0.82)[0], Score(cube=8, owner="mine")) == "redouble/pass"
    # taking risks 2 more points to win 18: the take point sinks from a fifth to a tenth
    at = window(chances, Score(cube=8, owner="theirs", stake_cap=10), 0.68)
    assert at.take == pytest.approx(0.1, abs=1e-6)
    with_gammons = [0, 0, 0.3, 0.1, 0.6, 0]
    bounded = cube_values(with_gammons, Score(stake_cap=3), 0.68)
    assert bounded.double_take < cube_values(with_gammons, Score(), 0.68).double_take - 0.2


def test_no_cube_in_the_crawford_game_and_a_free_double_after_it():  # K17
    crawford = match_score(5, 2, 4, crawford=True)
    assert verdict(gammonless(0.9)[0], crawford) == "no cube"
    trailer = match_score(5, 2, 4)  # 3 away
    assert verdict(gammonless(0.3)[0], trailer) == "optional double/take"
    assert verdict(gammonless(0.5)[0], trailer) == "optional double/take"
    values = cube_values(gammonless(0.3)[0], trailer, 0.68)
    assert values.no_double == pytest.approx(values.double_take, abs=1e-12)
    # 2 away: a drop costs the leader nothing, so he takes only as the favourite
    two_away = match_score(5, 3, 4)
    assert verdict(gammonless(0.49)[0], two_away).endswith("double/take")
    assert verdict(gammonless(0.51)[0], two_away) == "double/pass"
    # the leader has no use for the cube
    leader = match_score(5, 4, 2)
    actions = cube_actions(cube_values(gammonless(np.linspace(0, 1, 101)), leader, 0.68), leader)
    assert not actions.double.any()
    assert window(gammonless(0.5)[0], leader, 0.68)[1:] == (None, None, None)


def test_a_free_double_waits_for_the_next_turn():
    """Where the other side would drop, half of what may happen until then is lost again."""
    score = match_score(5, 3, 4)
    cube = Cubeful(gammonless(0.5)[0], payoffs(score), 0.0)
    assert cube.value(0, "centre") == pytest.approx(0.5 * ((0.5 - TURN) + 0.5))


def test_the_leader_at_2_away_redoubles_nothing_he_cannot_use():
    # 2 away owning 2: winning is the match; 4 away the other side takes with a live redouble
    score = Score(away=(2, 4), length=5, cube=2, owner="mine")
    actions = cube_actions(cube_values(gammonless(np.linspace(0, 0.99, 50)), score, 0.68), score)
    assert not actions.double.any()


def test_2_away_2_away_doubles_at_any_market_loser():
    values = cube_values(gammonless(np.array([0.5, 0.55, 0.65])), match_score(3, 1, 1), 0.68)
    np.testing.assert_allclose(values.double_take, [0.5, 0.55, 0.65])
    table = default_table()
    at = window(gammonless(0.5)[0], match_score(3, 1, 1), 0.68)
    assert at.take == pytest.approx(table.before[1, 0], abs=1e-6)


def test_normalised_is_one_for_a_game_won():
    for score in (Score(cube=4, owner="mine"), match_score(7, 2, 3)):
        pay = payoffs(score)[0]
        np.testing.assert_allclose(normalised(pay[[2, 3]], score), [-1, 1], atol=1e-12)
    np.testing.assert_allclose(normalised([2.0, -6.0], Score(cube=4, owner="mine")), [0.5, -1.5])


def test_certain_results():
    for score in SCORES:
        values = cube_values(np.eye(6), score, 0.68)
        assert np.isfinite(values.no_double).all()
        assert values.no_double[0] == payoffs(score)[0, 0]


def test_efficiency_by_phase():
    contact = start_board(variant("short"))
    bearoff = make_board({6: 5, 3: 5}, {6: 5, 3: 5})
    short, middle = make_board({7: 1, 1: 1}, {6: 15}), make_board({12: 8}, {6: 15})
    np.testing.assert_allclose(
        efficiency(np.stack([contact, bearoff, short, middle])), [0.68, 0.6, 0.6, 0.67]
    )
    assert efficiency(make_board({12: 10, 11: 5}, {6: 15})) == 0.7
