"""The learned cube: what it is told, what it adds, its prices against a slow twin, and learning."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from random_nets import make_net, play_out

from nardy.match.janowski import Cubeful, cube_values, efficiency, payoffs
from nardy.match.score import Score
from nardy.net.net import Net, first_layer
from nardy.play.bearoff import tables_for
from nardy.play.cube_head import FILE, TERMS, CubeHead, cube_of, learned, terms
from nardy.play.cubeful import formula
from nardy.play.player import Player
from nardy.rules.batch import afterstates
from nardy.rules.board import flip, make_board, points_won
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.variants import variant
from train.cube_head import HeadConfig, HeadNetwork, Prices, learn, lessons, main, random_score
from train.export import export

SHORT = variant("short")
NET = make_net(12, seed=4)
SCORES = [
    Score(),
    Score(jacoby=True),
    Score(cube=2, owner="mine", beavers=True),
    Score((3, 5), 7),
    Score((4, 2), 7, cube=2, owner="theirs"),
    Score((1, 3), 5),
]


def random_head(seed: int = 0, width: int = 12) -> tuple[HeadNetwork, CubeHead]:
    torch.manual_seed(seed)
    network = HeadNetwork(width, 6, 5)
    torch.nn.init.normal_(network.last.weight, 0, 0.3)
    return network, network.head()


def positions(count: int) -> np.ndarray:
    return play_out(SHORT, 40, 30)[0][::7][:count]


def test_a_head_adds_what_the_network_says() -> None:
    network, head = random_head()
    boards = positions(30)
    hidden, chances = first_layer(NET, boards), NET.outcomes(boards)
    for score in SCORES:
        cube = Cubeful(chances, payoffs(score), efficiency(boards))
        told = terms(cube, chances, 0, score.owner)
        assert told.shape == (30, TERMS) and np.isfinite(told).all()
        with torch.inference_mode():
            wanted = network(torch.from_numpy(hidden), torch.from_numpy(told)).numpy()
        np.testing.assert_allclose(head.added(head.looks(hidden), told), wanted, atol=1e-5)
        found = learned(NET, head)(boards, chances, score)
        plain = cube_values(chances, score, efficiency(boards))
        # equity of this cube; a chance of winning the match is half of it between two scores
        half = (payoffs(score)[0][3] - payoffs(score)[0][2]) / 2
        np.testing.assert_allclose(found.no_double, plain.no_double + wanted * half, atol=1e-5)
        assert np.isnan(found.double_take).all() == np.isnan(plain.double_take).all()
        np.testing.assert_allclose(found.double_pass, plain.double_pass)


@pytest.mark.parametrize("score", SCORES)
def test_a_head_that_has_learnt_nothing_is_the_formula(score: Score) -> None:
    boards = positions(20)
    head = HeadNetwork(12, 6, 5).head()
    chances = NET.outcomes(boards)
    for ours, plain in zip(
        learned(NET, head)(boards, chances, score), formula(boards, chances, score), strict=True
    ):
        np.testing.assert_allclose(ours, plain)


def test_nothing_is_added_to_a_dead_cube_or_a_game_that_is_won() -> None:
    _, head = random_head()
    boards = positions(20)
    chances = NET.outcomes(boards)
    dead = Score((2, 2), 5, cube=2, owner="mine")
    crawford = Score((1, 3), 5, crawford=True)
    for score in (dead, crawford):
        found = learned(NET, head)(boards, chances, score)
        np.testing.assert_allclose(found.no_double, formula(boards, chances, score).no_double)
    certain = np.zeros_like(chances)
    certain[:, 4] = 1
    np.testing.assert_allclose(learned(NET, head)(boards, certain, Score()).no_double, 2)


def slow_price(head: CubeHead, board: np.ndarray, score: Score) -> float:
    """The mean over 21 rolls of the best of all replies, one at a time."""
    total = 0.0
    cube = learned(NET, head)
    tables = tables_for(SHORT)
    assert tables is not None
    for dice, chance in zip(ROLLS, ROLL_CHANCES, strict=True):
        best = -np.inf
        for result in afterstates(board[None], dice[None], SHORT).boards:
            won = int(points_won(result[None], SHORT)[0])
            if won:
                value = payoffs(score)[0][2 + won]
            else:
                after = flip(result[None])
                chances = NET.outcomes(after)
                tables.settle(after, chances)
                theirs = cube(after, chances, score.flip()).best[0]
                value = -theirs if score.money else 1 - theirs
            best = max(best, float(value))
        total += chance * best
    return total


def test_prices_equal_the_slow_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("train.cube_head.REPLIES", 1000)
    monkeypatch.setattr("train.cube_head.resolve_precision", lambda *_: torch.float32)
    _, head = random_head()
    boards = np.concatenate([positions(3), [make_board({1: 1, 2: 1}, {3: 2})]]).astype(np.int8)
    prices = Prices(NET)
    found = prices.one_roll(head, prices.replies(boards), SCORES)
    for score, row in zip(SCORES, found, strict=True):
        wanted = [slow_price(head, board, score) for board in boards]
        np.testing.assert_allclose(row, wanted, atol=2e-4)


def test_lessons_are_exact_where_the_table_reaches() -> None:
    boards = np.array([make_board({1: 2, 5: 1}, {6: 2}), make_board({6: 2}, {4: 2})], np.int8)
    tables = tables_for(SHORT)
    assert tables is not None and tables.covers_exactly(boards).all()
    score = Score(cube=2, owner="mine")
    new = lessons(Prices(NET), HeadNetwork(12, 6, 5).head(), boards, score)
    assert len(new.added) == 4  # each board with either owner
    chances = tables.outcomes(boards)
    for part, owner, column in ((slice(0, 2), "mine", 2), (slice(2, 4), "theirs", 3)):
        plain = formula(boards, chances, replace(score, owner=owner)).no_double / 2
        exact = tables.equities(boards)[:, column]
        np.testing.assert_allclose(plain + new.added[part], exact, atol=1e-5)


def test_random_scores_are_all_live_and_of_every_kind() -> None:
    rng = np.random.default_rng(1)
    scores = [random_score(rng) for _ in range(300)]
    assert all(len(payoffs(score)) > 1 for score in scores)
    assert {score.owner for score in scores} == {"centre", "mine", "theirs"}
    assert {score.money for score in scores} == {True, False}
    assert any(score.jacoby for score in scores) and any(score.post_crawford for score in scores)
    assert {score.cube for score in scores if not score.money} == {1, 2, 4}


def ticks(step: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step


def test_learning_brings_the_prices_nearer(tmp_path: Path) -> None:
    keys = {"net": "x", "to": "y", "games": 32, "minibatch": 64, "average": 5, "hot": 0.5}
    config = HeadConfig(**keys, minutes=1, memory=20_000, units=16, inner=8, rate=1e-2, reuse=8)
    clock = ticks(60 / 150)
    head = learn(NET, config, clock=lambda: next(clock))
    prices, boards = Prices(NET), positions(60)
    rest = []
    for score in SCORES:
        new = lessons(prices, head, boards, score)
        hidden = first_layer(NET, np.tile(boards, (len(new.added) // len(boards), 1)))
        rest.append([new.added, new.added - head.added(head.looks(hidden), new.terms)])
    plain, ours = (np.concatenate(parts) for parts in zip(*rest, strict=True))
    assert (ours**2).mean() < 0.9 * (plain**2).mean()


def test_the_command_writes_a_net_with_its_cube(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    export(NET, {}, tmp_path / "net")
    to = tmp_path / "with"
    keys = [f"net={tmp_path / 'net'}", "games=8", "minibatch=8", "memory=100", "minutes=0.01"]
    assert main([*keys, f"to={to}", f"json={tmp_path / 'said.json'}"]) == 0
    assert json.loads((tmp_path / "said.json").read_text())["games"] == 8
    net = Net.load(to)
    boards = positions(5)
    assert (net.outcomes(boards) == NET.outcomes(boards)).all()
    assert cube_of(tmp_path / "net", net) is formula and cube_of(to, net) is not formula
    decision = Player(to, tables=False).cube(boards[0], Score())
    wanted = cube_of(to, net)(boards[:1], net.outcomes(boards[:1]), Score())
    assert decision.values.no_double == pytest.approx(float(wanted.no_double[0]), abs=1e-6)
    assert main([*keys, f"to={tmp_path / 'on'}", f"init={to}"]) == 0
    capsys.readouterr()
    for bad, sentence in (
        ([*keys, f"to={to}"], "exists already"),
        ([*keys, f"to={tmp_path / 'z'}", f"init={tmp_path / 'net'}"], "no cube head"),
        ([*keys], "to= is missing"),
        ([*keys, f"to={tmp_path / 'z'}", "games=3"], "games must be at least 8"),
        ([*keys, f"to={tmp_path / 'z'}", f"init={to}", "units=7"], "another shape"),
    ):
        assert main(bad) == 2
        said = capsys.readouterr().err
        assert sentence in said and said.count("\n") == 1
    (to / FILE).write_bytes((to / FILE).read_bytes()[:-5])
    with pytest.raises(ValueError, match="cube"):
        CubeHead.load(to)
