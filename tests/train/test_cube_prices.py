"""Prices with the cube: against a slow twin, where tables know better, and what is left out."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from random_nets import make_net, play_out

from nardy.match.janowski import payoffs
from nardy.match.score import Score
from nardy.net.net import first_layer, outcomes_by_numpy
from nardy.play.bearoff import tables_for
from nardy.play.cube_head import CubeHead, own_cube
from nardy.play.cubeful import formula
from nardy.play.possible import possible
from nardy.rules.batch import afterstates
from nardy.rules.board import flip, make_board, points_won
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.variants import variant
from train.cube_prices import Prices, lessons, random_score
from train.cube_trainer import HeadNetwork

SHORT = variant("short")
NET = make_net(12, seed=4)
SCORES = [
    Score(),
    Score(jacoby=True),
    Score(cube=2, owner="mine"),
    Score((3, 5), 7),
    Score((4, 2), 7, cube=2, owner="theirs"),
    Score((1, 3), 5),
]
TABLES = tables_for(SHORT)
assert TABLES is not None


def random_head(seed: int = 0) -> CubeHead:
    torch.manual_seed(seed)
    network = HeadNetwork(12, 6, 5)
    torch.nn.init.normal_(network.last.weight, 0, 0.3)
    return network.head()


def positions() -> np.ndarray:
    """Some contact and, to the end, some of the bear-off."""
    boards = [make_board({1: 1, 2: 1}, {3: 2}), make_board({6: 3, 5: 4, 2: 1}, {6: 2, 1: 6})]
    boards += [make_board({23: 1, 6: 3, 5: 4, 2: 1}, {6: 2, 1: 6})]  # contact, checkers are off
    return np.concatenate([play_out(SHORT, 40, 30)[0][::7][:3], boards]).astype(np.int8)


def slow_price(head: CubeHead, board: np.ndarray, score: Score) -> float:
    """The mean over 21 rolls of the best of all replies, one at a time."""
    total = 0.0
    cube = own_cube(NET, head, TABLES)
    for dice, chance in zip(ROLLS, ROLL_CHANCES, strict=True):
        best = -np.inf
        for result in afterstates(board[None], dice[None], SHORT).boards:
            won = int(points_won(result[None], SHORT)[0])
            if won:
                value = payoffs(score)[0][2 + won]
            else:
                after = flip(result[None])
                chances = possible(NET.outcomes(after), after, SHORT)
                TABLES.settle(after, chances)
                theirs = cube(after, chances, score.flip()).best[0]
                value = -theirs if score.money else 1 - theirs
            best = max(best, float(value))
        total += chance * best
    return total


def test_prices_equal_the_slow_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("train.cube_prices.REPLIES", 1000)
    monkeypatch.setattr("train.cube_prices.NEAR", np.inf)
    head, boards = random_head(), positions()
    prices = Prices(NET, "float32")
    found = prices.one_roll(head, boards, prices.replies(boards), SCORES)
    for score, row in zip(SCORES, found, strict=True):
        wanted = [slow_price(head, board, score) for board in boards]
        np.testing.assert_allclose(row, wanted, atol=2e-5)


def test_one_pass_gives_outcomes_and_what_the_head_sees() -> None:
    head, boards = random_head(), positions()
    prices = Prices(NET, "float32")
    replies = prices.replies(boards)
    chances, looks = prices._after(boards, replies, head)
    after = flip(replies.boards)
    on = points_won(replies.boards, SHORT) == 0
    np.testing.assert_allclose(chances[on], outcomes_by_numpy(NET, after)[on], atol=1e-5)
    np.testing.assert_allclose(looks, head.looks(first_layer(NET, after)), atol=1e-4)


def test_replies_left_out_are_seldom_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """The formula's own prices, with and without what is far behind cubeless."""
    boards = play_out(SHORT, 40, 30)[0][::7][:12]
    prices, head = Prices(NET, "float32"), HeadNetwork(12, 6, 5).head()
    replies = prices.replies(boards)
    pruned = prices.one_roll(head, boards, replies, SCORES)
    monkeypatch.setattr("train.cube_prices.NEAR", np.inf)
    whole = prices.one_roll(head, boards, replies, SCORES)
    assert (pruned <= whole + 1e-12).all()
    assert (whole - pruned).max() < 0.005


def test_lessons_are_exact_where_the_table_reaches() -> None:
    boards = np.array([make_board({1: 2, 5: 1}, {6: 2}), make_board({6: 2}, {4: 2})], np.int8)
    assert TABLES.covers_exactly(boards).all()
    score = Score(cube=2, owner="mine")
    new = lessons(Prices(NET), HeadNetwork(12, 6, 5).head(), boards, [score])
    assert len(new.added) == 4  # each board with either owner
    chances = TABLES.outcomes(boards)
    for part, owner, column in ((slice(0, 2), "mine", 2), (slice(2, 4), "theirs", 3)):
        plain = formula(boards, chances, replace(score, owner=owner)).no_double / 2
        exact = TABLES.equities(boards)[:, column]
        np.testing.assert_allclose(plain + new.added[part], exact, atol=1e-5)


def test_random_scores_are_all_live_and_of_every_kind() -> None:
    rng = np.random.default_rng(1)
    scores = [random_score(rng) for _ in range(300)]
    assert all(len(payoffs(score)) > 1 for score in scores)
    assert {score.owner for score in scores} == {"centre", "mine", "theirs"}
    assert {score.money for score in scores} == {True, False}
    assert any(score.jacoby for score in scores) and any(score.post_crawford for score in scores)
    assert {score.cube for score in scores if not score.money} == {1, 2, 4}
