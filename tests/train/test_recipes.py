"""The large recipes of short nardy, shrunk: from nothing through both stages, and after a crash."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from train import checkpoint
from train.config import Config, parse
from train.loop import run
from train.trainer import Round, Trainer

SHRUNK = [
    "device=cpu", "precision=float32", "threads=2", "minutes=1e9", "games=24", "gauge_pairs=2",
    "gauge_minutes=1e9", "net.hidden=8", "net.tail=[4]", "net.pairs=2", "stages.polish.memory=500",
    "stages.td.share=1", "stages.polish.share=1",
    *(f"stages.{stage}.{key}" for stage in ("td", "polish")
      for key in ("games_in_flight=8", "plies_per_round=20", "longest_game=60", "minibatch=64")),
]  # fmt: skip
CRASH = 2
"""Rounds of the second stage before the crash, the last of them saved."""


@pytest.mark.parametrize("recipe", ["short_strong", "gpu_quarter_hour"])
def test_a_recipe_runs_through_its_stages_and_over_a_crash(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = parse("train", Config, [f"exp={recipe}", *SHRUNK])
    assert config.resume == "auto" and list(config.stages) == ["td", "polish"]
    stages: list[tuple[int, int]] = []  # and steps of each round
    round_of = Trainer.round

    def watched(trainer: Trainer, pool: object) -> Round:
        done = round_of(trainer, pool)
        stages.append((trainer.stage, done.fit.steps))
        return done

    monkeypatch.setattr("train.loop.installed_opponents", lambda game: ["random"])
    monkeypatch.setattr(Trainer, "round", watched)
    run(config, tmp_path / "whole")
    assert all(any(s == stage and steps for s, steps in stages) for stage in (0, 1))

    def crashing(trainer: Trainer, pool: object) -> Round:
        if [stage for stage, _ in stages].count(1) == CRASH:
            raise RuntimeError("the power is gone")
        return watched(trainer, pool)

    stages.clear()
    monkeypatch.setattr(Trainer, "round", crashing)
    with pytest.raises(RuntimeError, match="power"):
        run(replace(config, checkpoint_minutes=0), tmp_path / "crashed")
    monkeypatch.setattr(Trainer, "round", watched)
    run(config, tmp_path / "crashed")
    whole, crashed = (checkpoint.load(tmp_path / name) for name in ("whole", "crashed"))
    assert whole[1]["games"] == crashed[1]["games"] and whole[1]["steps"] == crashed[1]["steps"]
    for name, values in whole[2].items():
        assert np.array_equal(values, crashed[2][name]), name
