"""One-roll targets against the explicit expectation; stages of a run."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import referee
from random_nets import make_net

from nardy.net.net import Evaluator, Net, outcomes_by_numpy
from nardy.play.look import Look
from nardy.rules.batch import Workspace, afterstates
from nardy.rules.board import flip, make_board
from nardy.rules.dice import ROLLS
from nardy.rules.variants import variant
from train import checkpoint
from train.config import Config, parse
from train.export import reference_positions
from train.loop import run
from train.targets import one_roll, pruned
from train.trainer import PATIENCE, Trainer

GAME = variant("short")
TOY = [
    "threads=1",
    "net.hidden=8",
    "net.tail=[4]",
    "gauge_pairs=2",
    "gauge_minutes=1000",
    "algo.games_in_flight=4",
    "algo.longest_game=60",
    "algo.minibatch=64",
]


def slow_one_roll(net, board) -> np.ndarray:
    """The mean over all 36 throws, each answered by the best of the referee's results."""
    total = np.zeros(6)
    points = np.array(GAME.outcomes)
    for first in range(1, 7):
        for second in range(1, 7):
            best = None
            for result in sorted(referee.results(board.tolist(), (first, second))):
                after = np.array(result, np.int8)
                won = referee.points_won(result, GAME.checkers)
                if won:
                    chances = (points == won).astype(float)
                else:
                    chances = outcomes_by_numpy(net, flip(after)[None])[0, ::-1].astype(float)
                if best is None or chances @ points > best @ points + 1e-6:
                    best = chances
            total += best / 36
    return total


def test_the_mean_over_the_rolls_is_the_explicit_one() -> None:
    net = make_net(16, seed=3)
    boards = np.concatenate(
        [
            reference_positions(GAME, 6, seed=2),
            [make_board({1: 2}, {6: 15}), make_board({1: 1, 2: 3}, {25: 1, 6: 14})],
        ]
    ).astype(np.int8)
    found = one_roll(Evaluator(net), boards, GAME, Workspace())
    slow = np.array([slow_one_roll(net, board) for board in boards])
    points = np.array(GAME.outcomes)
    np.testing.assert_allclose(found @ points, slow @ points, atol=1e-4)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)
    assert found[-2, -2] == pytest.approx(1)  # two men on the ace point against none off: a gammon


def test_a_schedule_of_stages() -> None:
    config = parse("train", Config, TOY)
    assert list(config.schedule()) == ["algo"]
    config.games = 40
    config.stages = {
        "first": parse("train", Config, [*TOY, "algo.rate=1e-2"]).algo,
        "then": parse("train", Config, ["algo=one_roll", *TOY, "algo.memory=500"]).algo,
    }
    trainer = Trainer(config)
    seen = []
    with ThreadPoolExecutor(1) as pool:
        while trainer.progress() < 1:
            done = trainer.round(pool)
            seen.append((trainer.algo.targets, done.tally.positions, done.fit.steps))
    assert [kind for kind, _, _ in seen] == sorted((k for k, _, _ in seen), reverse=True)
    assert {kind for kind, _, _ in seen} == {"td", "one_roll"}
    priced = [(positions, steps) for kind, positions, steps in seen if kind == "one_roll"]
    learnt = sum(steps for _, steps in priced[1:]) * 64
    new = sum(positions for positions, _ in priced[:-1])
    assert abs(learnt - 6 * new) <= 64  # each position is learnt from `reuse` times


def test_init_takes_the_weights_of_another_run(tmp_path: Path) -> None:
    run(parse("train", Config, [*TOY, "games=4", "seed=5"]), tmp_path / "one")
    trainer = Trainer(parse("train", Config, TOY))
    fresh = trainer.net()
    trainer.take_weights(tmp_path / "one")
    wanted = Net.load(tmp_path / "one" / "net")
    assert (trainer.net().table == wanted.table).all() and not (fresh.table == wanted.table).all()
    exported = Trainer(parse("train", Config, TOY))
    exported.take_weights(tmp_path / "one" / "net")
    assert (exported.net().table == wanted.table).all()
    other = parse("train", Config, [*TOY, f"init={tmp_path / 'one'}", "net.hidden=7"])
    with pytest.raises(ValueError, match="is another network"):
        run(other, tmp_path / "two")
    assert not (tmp_path / "two").exists()
    for game in ("variant=long", "variant=long variant.last_roll=second_player"):
        other = parse("train", Config, [*TOY, *game.split(), f"init={tmp_path / 'one'}"])
        with pytest.raises(ValueError, match="plays short, this run long"):
            run(other, tmp_path / "two")
    assert not (tmp_path / "two").exists()
    shutil.move(tmp_path / "one", tmp_path / "away")
    again = parse("train", Config, [*TOY, "games=4", f"init={tmp_path / 'away'}"])
    run(again, tmp_path / "three")
    shutil.rmtree(tmp_path / "away")  # a run that has begun needs it no more
    again.resume, again.games = "auto", 8
    run(again, tmp_path / "three")


def test_a_run_begins_with_what_another_remembers(tmp_path: Path) -> None:
    priced = [*TOY, "algo=one_roll", "algo.memory=500", "algo.reuse=3", "net.pairs=0"]
    run(parse("train", Config, [*priced, "games=6"]), tmp_path / "one")
    first = Trainer(parse("train", Config, priced), tmp_path / "one")
    first.restore(*checkpoint.load(tmp_path / "one")[1:])
    known = first.memory.draw(10_000, np.random.default_rng(1))
    trainer = Trainer(parse("train", Config, [*priced, "algo.memory=5000"]), tmp_path / "two")
    trainer.take_memory(tmp_path / "one")
    assert len(trainer.memory) == first.memory.added == trainer.memory.added  # none overwritten yet
    owed, steps = trainer.owed, trainer.learner.steps
    assert owed == 3 * len(trainer.memory)
    mine = trainer.memory.draw(20_000, np.random.default_rng(1))
    pairs = {(b.tobytes(), t.tobytes()) for b, t in zip(mine.boards, mine.targets, strict=True)}
    theirs = zip(known.boards, known.targets, strict=True)
    assert {(b.tobytes(), t.tobytes()) for b, t in theirs} <= pairs
    with ThreadPoolExecutor(1) as pool:
        learnt, new = [], []
        while trainer.owed >= 64 or len(learnt) < 3:
            done = trainer.round(pool)
            learnt.append(64 * done.fit.steps)
            new.append(done.tally.positions)
            assert learnt[-1] <= max(PATIENCE * 3 * ([0, *new][-2]), 64)
    assert abs(sum(learnt) - owed - 3 * sum(new[:-1])) <= 64
    assert trainer.learner.steps == steps + sum(learnt) // 64


def test_rounds_smaller_than_a_minibatch_are_learnt_too() -> None:
    small = ["algo=one_roll", "algo.memory=500", "algo.reuse=1", "algo.plies_per_round=1"]
    trainer = Trainer(parse("train", Config, [*TOY, *small, "net.pairs=0"]))
    with ThreadPoolExecutor(1) as pool:
        rounds = [trainer.round(pool) for _ in range(60)]
    assert all(done.tally.positions <= 4 for done in rounds)
    assert trainer.learner.steps == sum(d.tally.positions for d in rounds[:-1]) // 64 > 1


def test_what_is_not_remembered_cannot_be_begun_with(tmp_path: Path) -> None:
    run(parse("train", Config, [*TOY, "games=4"]), tmp_path / "one")
    priced = [*TOY, "algo=one_roll", "net.pairs=0", f"init_memory={tmp_path / 'one'}"]
    with pytest.raises(ValueError, match="remembers no positions"):
        run(parse("train", Config, [*priced, "algo.memory=500"]), tmp_path / "two")
    with pytest.raises(ValueError, match=r"wants algo.memory above 0"):
        run(parse("train", Config, [*TOY, priced[-1]]), tmp_path / "two")
    assert not (tmp_path / "two").exists()


def test_a_wider_network_takes_a_narrower_one_s_values(tmp_path: Path) -> None:
    small = [*TOY, "net.tail=[4,3]", "games=4"]
    run(parse("train", Config, small), tmp_path / "one")
    net = Net.load(tmp_path / "one" / "net")
    boards = reference_positions(GAME, 20, seed=2)
    wide = [*TOY, "net.hidden=12", "net.tail=[9,5]", "net.pairs=6", "seed=3"]
    trainer = Trainer(parse("train", Config, wide))
    trainer.take_weights(tmp_path / "one")
    grown = trainer.net()
    assert grown.table.shape[2] == 12 and grown.pairs.shape[1] == 6
    np.testing.assert_allclose(grown.outcomes(boards), net.outcomes(boards), atol=1e-6)
    with ThreadPoolExecutor(1) as pool:
        while not trainer.learner.steps:
            trainer.round(pool)
    learnt = dict(trainer.network.named_parameters())
    assert learnt["pairs.weight"].abs().sum() > 0  # the new parts take part in learning
    assert learnt["tails.0.0.weight"][:4, 8:].abs().sum() > 0
    wider = Trainer(parse("train", Config, [*wide, "net.pairs=9"]))
    for name, values in trainer.weights().items():
        assert values.shape <= wider.weights()[name].shape
    narrow = Trainer(parse("train", Config, [*TOY, "net.tail=[2,3]"]))
    with pytest.raises(ValueError, match="is another network"):
        narrow.take_weights(tmp_path / "one")


def test_a_cheap_look_leaves_out_few_that_matter() -> None:
    net = make_net(16, seed=3)
    boards = reference_positions(GAME, 40, seed=2)
    points = np.array(GAME.outcomes)
    whole = one_roll(Evaluator(net), boards, GAME, Workspace()) @ points
    for most in (1, 3, 1000):
        prune = partial(pruned, Look(net), most=most)
        found = one_roll(Evaluator(net), boards, GAME, Workspace(), prune=prune) @ points
        assert (found <= whole + 1e-5).all()  # a reply that is left out cannot be the best one
        assert np.abs(found - whole).mean() < {1: 0.2, 3: 0.05, 1000: 1e-6}[most]


def test_in_a_race_every_reply_is_priced() -> None:
    """One that saves a backgammon is worth a point, of which a slope may tell nothing."""
    net = make_net(16, seed=3)
    saved = make_board({22: 1, 19: 1, 17: 1, 16: 1, 12: 1, 6: 3, 5: 3, 4: 2, 2: 2}, {1: 1})
    boards = np.stack([saved, make_board({24: 2, 6: 13}, {24: 2, 6: 13})])
    results = afterstates(np.repeat(boards, 21, 0), np.tile(ROLLS, (2, 1)), GAME)
    left = pruned(Look(net), boards, results, most=2)
    race, contact = results.offsets[21], results.offsets[42]
    assert left.offsets[21] == race and (left.boards[:race] == results.boards[:race]).all()
    assert left.offsets[42] - left.offsets[21] <= 21 * 2 < contact - race


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("algo.replies=-1", "algo.replies must be 0 or above"),
        ("net.pairs=999", "net.pairs must lie between 0 and net.hidden"),
        ("algo.targets=guess", "algo.targets must be one of"),
        ("algo.label=2", "algo.label must lie between 0 and 1"),
        ("algo.reuse=3", "algo.memory must reach a minibatch"),
    ],
)
def test_bad_values(argument: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        parse("train", Config, [argument])
