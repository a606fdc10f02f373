"""The learned cube: what it is told, what it adds, learning, and a run that is killed."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from random_nets import make_net, play_out

from nardy.match.janowski import Cubeful, cube_values, efficiency, payoffs
from nardy.match.score import Score
from nardy.net.net import Net, first_layer
from nardy.play.cube_head import FILE, TERMS, CubeHead, cube_of, learned, terms
from nardy.play.cubeful import formula
from nardy.play.player import Player
from nardy.rules.board import check_board
from nardy.rules.variants import variant
from train import checkpoint
from train.cube_head import main, run
from train.cube_prices import Prices, lessons
from train.cube_trainer import HeadConfig, HeadNetwork, Trainer, endings
from train.export import export
from train.metrics import TAGS

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


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An exported net, in a folder of its own with `runs`."""
    monkeypatch.setattr("train.memory.SLACK", 4096)
    monkeypatch.setattr("train.memory.CLAIM", 16)
    monkeypatch.chdir(tmp_path)
    export(NET, {"mark": 7}, tmp_path / "net")
    return "net"


def ticks(step: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step


def config(**more: object) -> HeadConfig:
    keys = {"net": "net", "games": 32, "minibatch": 64, "average": 5, "hot": 0.5, "minutes": 1.0}
    keys |= {"memory": 20_000, "units": 16, "inner": 8, "rate": 1e-2, "reuse": 8.0, "scores": 1}
    return HeadConfig(**(keys | more))


def off_by(trainer: Trainer, head: CubeHead) -> float:
    """Root mean square of what a head is off by at positions and scores that do not change."""
    prices, boards = Prices(trainer.net), positions(60)
    new = lessons(prices, head, boards, SCORES)
    hidden = first_layer(NET, new.boards)
    return float(((new.added - head.added(head.looks(hidden), new.terms)) ** 2).mean())


def test_learning_brings_the_prices_nearer() -> None:
    trainer = Trainer(NET, config())
    fresh = off_by(trainer, trainer.head())
    first = trainer.turn()
    assert first.ours == pytest.approx(first.formula) and first.prices >= 32
    for _ in range(50):
        trainer.seconds += 1.2
        trainer.turn()
    assert off_by(trainer, trainer.head()) < 0.9 * fresh


def test_figures_tell_old_prices_from_new_ones() -> None:
    trainer = Trainer(NET, config(reuse=1.0))
    total = trainer.turn() + trainer.turn()
    assert total.prices == trainer.memory.added and total.tally.turns == 64
    assert total.steps == trainer.steps == total.prices // 64


def test_games_may_begin_with_few_checkers() -> None:
    boards = endings(200, np.random.default_rng(1))
    for board in boards:
        check_board(board, SHORT)
    for counts in (np.maximum(boards, 0).sum(1), -np.minimum(boards, 0).sum(1)):
        assert set(counts) == {1, 2, 3, 4, 5, 6}
    for share in (0.0, 0.9):
        trainer = Trainer(NET, config(endings=share))
        _, tally = trainer.games.play(trainer.prices.evaluator, 200)
        assert tally.games > 5 and (tally.others > tally.games) == (share > 0)


def weights(head: CubeHead) -> np.ndarray:
    return np.concatenate([values.ravel() for values in head.tensors().values()])


def test_a_killed_run_goes_on_as_if_nothing_had_happened(net: str) -> None:
    """By a clock that ticks once a turn: 30 turns, or 10, a kill 4 turns later, and 20."""
    folder = Path("runs/whole")
    clock = ticks(2.0)
    run(config(), folder, clock=lambda: next(clock))
    whole = checkpoint.load(folder)
    clock = ticks(2.0)
    killed = Path("runs/killed")
    begun = run(config(minutes=1 / 3), killed, clock=lambda: next(clock))
    assert begun["minutes"] == pytest.approx(1 / 3, abs=0.01)
    trainer = Trainer(NET, config(), killed)  # what a kill leaves: turns that nobody knows of
    trainer.restore(*checkpoint.load(killed)[1:])
    for _ in range(4):
        trainer.turn()
    clock = ticks(2.0)
    overrides = ["minutes=1", "resume=auto"]
    run(config(resume="auto"), killed, overrides, clock=lambda: next(clock))
    counters, arrays = checkpoint.load(killed)[1:]
    assert counters["turns"] == whole[1]["turns"] == 30
    # the step size hangs on the minutes, so the two part; games and prices' number do not
    assert counters["steps"] == whole[1]["steps"]
    for name in ("numbers", "plies", "boards"):
        np.testing.assert_array_equal(arrays[f"games.{name}"], whole[2][f"games.{name}"])


def test_a_state_is_gone_on_from_bit_for_bit(net: str) -> None:
    one = Trainer(NET, config(), Path("."))
    for _ in range(5):
        one.turn()
    state = one.state()
    two = Trainer(NET, config(), Path("."))
    two.restore(*json.loads(json.dumps(state[:1])), state[1])
    Path("memory.bin").rename("elsewhere.bin")  # the first goes on with the file that it has open
    Path("memory.bin").write_bytes(Path("elsewhere.bin").read_bytes())
    two.memory.restore({"added": np.array([one.memory.added])})
    for trainer in (one, two):
        for _ in range(3):
            trainer.turn()
    np.testing.assert_array_equal(weights(one.head()), weights(two.head()))
    np.testing.assert_array_equal(weights(one.network.head()), weights(two.network.head()))


def test_the_command_writes_a_net_with_its_cube(
    net: str, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = ["net=net", "games=8", "minibatch=8", "memory=2000", "minutes=0.02"]
    assert main([*keys, "to=with", "json=said.json", "seed=3"]) == 0
    said = json.loads(Path("said.json").read_text())
    assert said["command"] == (
        "python -m train.cube_head net=net to=with minutes=0.02 games=8 memory=2000 minibatch=8 "
        "seed=3"
    )
    assert said["seed"] == 3 and said["minutes"] >= 0.02 and said["commit"]
    meta = json.loads(Path("with/meta.json").read_text())
    assert meta["cube"] == said and meta["mark"] == 7
    rows = [json.loads(line) for line in Path("runs/cube/metrics.jsonl").read_text().splitlines()]
    assert {"cube/off_by", "cube/race_error", "learn/rate"} <= set(rows[-1])
    assert set(rows[-1]) - {"games", "time"} <= set(TAGS)
    assert list(Path("runs/cube").glob("events*"))
    loaded, boards = Net.load("with"), positions(5)
    assert (loaded.outcomes(boards) == NET.outcomes(boards)).all()
    for folder in ("with", checkpoint.resolve("runs/cube")):
        assert cube_of(folder, loaded) is not formula
        decision = Player(folder, tables=False).cube(boards[0], Score())
        wanted = cube_of(folder, loaded)(boards[:1], loaded.outcomes(boards[:1]), Score())
        assert decision.values.no_double == pytest.approx(float(wanted.no_double[0]), abs=1e-6)
    assert cube_of("net", loaded) is formula
    assert main([*keys, "name=more", "init=runs/cube"]) == 0
    assert (Path("runs/more/net") / FILE).exists()
    assert "context" in json.loads(Path("runs/more/net/meta.json").read_text())  # of net.onnx
    assert main([*keys, "name=more", "init=runs/cube", "resume=auto", "json=again.json"]) == 0
    assert json.loads(Path("again.json").read_text())["figures"]  # it was done: nothing is lost
    assert main([*keys, "name=more", "init=runs/cube", "minutes=0.03", "resume=auto"]) == 0


def test_bad_input_is_refused_in_one_sentence(net: str, capsys: pytest.CaptureFixture) -> None:
    keys = ["net=net", "games=8", "minibatch=8", "memory=2000", "minutes=0.005"]
    assert main([*keys, "to=with"]) == 0
    export(make_net(12, seed=5), {}, Path("other"))
    export(make_net(8, game=variant("long"), pairs=0), {}, Path("long"))
    capsys.readouterr()
    for bad, sentence in (
        ([*keys, "to=with"], "exists already"),
        (keys, "holds a run already; resume=auto"),
        ([*keys, "name=a", "init=net"], "no cube head in 'net'"),
        (keys[1:], "net= is missing"),
        ([*keys[1:], "name=a", "net=long"], "cube"),
        ([*keys, "name=a", "seed=-1"], "seed must be 0 or above, not -1"),
        ([*keys, "name=a", "json=nowhere/x.json"], "nowhere"),
        ([*keys, "name=a", "endings=1.5"], "endings must lie between 0 and 1, not 1.5"),
        ([*keys, "name=a", "games=3"], "games must be at least 8"),
        ([*keys, "name=a", "init=with", "units=7"], "another shape"),
        ([*keys, "resume=auto", "units=7"], "units=96; it cannot go on with units=7"),
        ([*keys, "resume=auto", "net=other"], "'other' is not the net whose cube the run learns"),
        ([*keys, "resume=yes please"], "resume must be auto or never, not 'yes please'"),
        ([*keys, "name=a/b"], "usable as a folder's name, not 'a/b'"),
    ):
        assert main(bad) == 2, bad
        said = capsys.readouterr().err
        assert sentence in said and said.count("\n") == 1, said
    assert not Path("runs/a").exists()
    Path("with", FILE).write_bytes(Path("with", FILE).read_bytes()[:-5])
    with pytest.raises(ValueError, match="cube"):
        CubeHead.load("with")
