"""Exact targets in self-play: where a bear-off table reaches, its chances are the target."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from random_nets import make_net

from nardy.net.exact import ExactTail
from nardy.net.net import Evaluator, outcomes_by_numpy
from nardy.play.bearoff import Bearoff
from nardy.rules.variants import variant
from train.config import Config, parse
from train.selfplay import Games, Sample
from train.trainer import Trainer

GAME = variant("short", start={8: 1, 5: 2}, opening="reroll")
HOME = variant("short", start={5: 2, 3: 1}, opening="reroll")
NET = make_net(16, game=GAME)
LAM = 0.7


def one_game(number: int, tables: Bearoff | None, game: object = GAME) -> Sample:
    games = Games(game, 5, LAM, 200, 12, np.array([number]), tables)  # type: ignore[arg-type]
    while True:
        sample, tally = games.play(Evaluator(NET, ExactTail(NET)), 1)
        if tally.games:
            return sample


@pytest.mark.parametrize("number", range(6))
def test_targets_are_exact_from_the_first_position_a_table_reaches(number: int) -> None:
    """The same game is played; G_t = flip((1 − λ) V + λ G) before it, V and G exact there."""
    tables = Bearoff.load(GAME)
    plain, found = one_game(number, None), one_game(number, tables)
    assert (plain.boards == found.boards).all()
    covered = tables.covers(found.boards)
    first = int(covered.argmax())
    assert 0 < first and covered[first:].all()
    exact = tables.outcomes(found.boards[first:])
    np.testing.assert_allclose(found.targets[first:], exact, atol=1e-6)
    values = outcomes_by_numpy(NET, found.boards[:first]).astype(float)
    expected = [exact[0, ::-1]]
    for following in values[:0:-1]:
        expected.insert(0, ((1 - LAM) * following + LAM * expected[0])[::-1])
    np.testing.assert_allclose(found.targets[:first], expected, atol=1e-5)
    assert np.abs(plain.targets - found.targets).max() > 1e-3


def test_a_game_that_begins_in_the_tables_has_exact_targets_alone() -> None:
    tables = Bearoff.load(HOME)
    found = one_game(3, tables, HOME)
    np.testing.assert_allclose(found.targets, tables.outcomes(found.boards), atol=1e-6)


def test_a_run_uses_them_when_told() -> None:
    overrides = ["variant.start={5:2,3:1}", "variant.opening=reroll", "threads=1", "net.hidden=8",
                 "net.tail=[8]", "algo.games_in_flight=32", "precision=float32"]  # fmt: skip
    for told in (False, True):
        trainer = Trainer(parse("train", Config, [*overrides, f"algo.tables={told}"]))
        with ThreadPoolExecutor(1) as pool:
            trainer.round(pool)
        boards, targets = trainer.pending
        exact = Bearoff.load(trainer.variant).outcomes(boards)
        assert np.allclose(targets, exact, atol=1e-6) == told
