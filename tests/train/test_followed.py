"""A run that learns from what other runs remember."""

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from random_nets import SHORT
from test_one_roll import TOY

from nardy.rules.variants import variant
from train import checkpoint
from train.config import Config, parse
from train.followed import Followed, draw
from train.loop import Window, run
from train.trainer import FOLLOWED_STEPS, Trainer

PRICED = [*TOY, "algo=one_roll", "algo.memory=500", "algo.reuse=2", "net.pairs=0", "algo.average=0"]


def follow(*names: str, of: Path) -> list[str]:
    return [f"follow=[{','.join(str(of / name) for name in names)}]", "minutes=1"]


def known(sample) -> set[tuple[bytes, bytes]]:
    return {(b.tobytes(), t.tobytes()) for b, t in zip(sample.boards, sample.targets, strict=True)}


def test_a_run_learns_from_what_others_remember(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("two", 2)):
        run(parse("train", Config, [*PRICED, "games=6", f"seed={seed}"]), tmp_path / name)
    runs = [Followed(tmp_path / name, SHORT) for name in ("one", "two")]
    for there in runs:
        assert len(there) == len(there.all().boards) > 100 and there.games >= 6
    drawn = draw(runs, 20_000, np.random.default_rng(1))
    assert known(drawn) == known(runs[0].all()) | known(runs[1].all())
    shares = [len(known(there.all()) & known(drawn)) for there in runs]
    assert min(shares) > 0
    trainer = Trainer(parse("train", Config, [*PRICED, *follow("one", "two", of=tmp_path)]))
    before = trainer.net().table.copy()
    with ThreadPoolExecutor(1) as pool:
        done = trainer.round(pool)
    assert done.fit.steps == FOLLOWED_STEPS and done.tally.turns == 0
    assert done.tally.followed == 0  # of the games before its own time
    assert trainer.progress() < 1 and trainer.rate() == trainer.algo.rate  # theirs are not its own
    assert trainer.games == sum(there.games for there in runs)
    assert not (trainer.net().table == before).all()


def test_games_are_those_of_the_runs_that_are_followed(tmp_path: Path) -> None:
    config = parse("train", Config, [*PRICED, "games=6"])
    run(config, tmp_path / "one")
    trainer = Trainer(parse("train", Config, [*PRICED, *follow("one", of=tmp_path)]))
    first = trainer.games
    config.resume, config.games = "auto", 14
    run(config, tmp_path / "one")
    window = Window(SHORT.outcomes)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            window.add(trainer.round(pool), 2.0)
    assert trainer.games >= 14 > first >= 6
    values = window.values()
    assert values["play/games_per_s"] == (trainer.games - first) / 4
    unknown = {tag for tag, value in values.items() if math.isnan(value)}
    assert unknown >= {"play/length", "play/gammons", "play/cut_off", "play/other_starts"}
    assert unknown >= {"play/positions_per_s", "learn/td_error"} and "learn/loss" not in unknown


def test_positions_are_seen_once_a_checkpoint_knows_them(tmp_path: Path) -> None:
    config = parse("train", Config, [*PRICED, "games=6"])
    run(config, tmp_path / "one")
    there = Followed(tmp_path / "one", SHORT)
    few = len(there)
    config.resume, config.games = "auto", 14
    run(config, tmp_path / "one")
    assert len(there) > few  # the newer checkpoint's
    assert known(there.draw(100, np.random.default_rng(1))) <= known(there.all())


def test_what_may_be_overwritten_meanwhile_is_not_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("train.memory.SLACK", 800)
    monkeypatch.setattr("train.followed.SLACK", 800)
    monkeypatch.setattr("train.memory.CLAIM", 16)
    monkeypatch.setattr("train.followed.CLAIM", 16)
    config = parse("train", Config, [*PRICED, "games=60"])
    run(config, tmp_path / "one")
    there = Followed(tmp_path / "one", SHORT)
    added = checkpoint.load(tmp_path / "one")[2]["memory.added"][0]
    assert added > 1300 and 500 <= len(there) <= 1300 - 16
    assert (there.all().boards != 0).any(1).all()
    # the other run has written so far beyond its checkpoint that nothing of that is left
    np.memmap(tmp_path / "one" / "memory-0.bin", np.int64, "r+", shape=(1,))[0] = added + 1400
    assert len(there) == 0
    with pytest.raises(ValueError, match="overwrites its positions faster than"):
        draw([there], 10, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["follow=[x]"], "follow= needs minutes="),
        (["follow=[x]", "minutes=1", "init_memory=x"], "exclude each other"),
        (["algo.equity_weight=-1"], "algo.equity_weight must be 0 or above, not -1"),
    ],
)
def test_what_cannot_be(arguments: list[str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        parse("train", Config, arguments)


def test_a_run_that_remembers_nothing_cannot_be_followed(tmp_path: Path) -> None:
    run(parse("train", Config, [*TOY, "games=4"]), tmp_path / "one")
    with pytest.raises(ValueError, match="remembers no positions"):
        run(parse("train", Config, [*PRICED, *follow("one", of=tmp_path)]), tmp_path / "two")
    with pytest.raises(ValueError, match="plays short, this run hyper"):
        Followed(tmp_path / "one", variant("hyper"))
    run(parse("train", Config, [*PRICED, "games=4"]), tmp_path / "three")
    (tmp_path / "three" / "memory-0.bin").unlink()
    with pytest.raises(ValueError, match=r"memory-0\.bin' holds no positions"):
        Followed(tmp_path / "three", SHORT)
    assert not (tmp_path / "two").exists()
