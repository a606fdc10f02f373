"""The preflight: what it counts, which part it calls the limit, and the command on the CPU."""

import threading
from dataclasses import replace

import pytest

from train import preflight
from train.config import AlgoConfig, Config, parse
from train.preflight import Batch, Rates, boards_a_turn, learnt_a_turn, main, rate

SMALL = [
    "exp=gpu_quarter_hour", "device=cpu", "precision=float32", "threads=2", "net.hidden=8",
    "net.tail=[4]",
    *(f"stages.{stage}.{key}" for stage in ("td", "polish")
      for key in ("games_in_flight=8", "plies_per_round=2", "minibatch=64")),
    "stages.polish.memory=1000",
]  # fmt: skip
PARTS = {"rules": 40.0, "transfer": 30.0, "net": 10.0, "learner": 20.0}


def test_the_recipe_is_one_large_run_on_a_device() -> None:
    config = parse("train", Config, ["exp=gpu_quarter_hour"])
    assert (config.device, config.threads, config.minutes) == ("cuda", 16, 13)
    assert [algo.targets for algo in config.stages.values()] == ["td", "one_roll"]


@pytest.mark.parametrize(("whole", "limit"), [(9.0, "net"), (5.0, "net"), (4.9, "between")])
def test_the_slowest_part_is_the_limit_unless_the_whole_is_far_below(
    whole: float, limit: str
) -> None:
    assert Rates(PARTS, whole).limit() == limit
    assert Rates({**PARTS, "learner": 9.0}, 9.0).limit() == "learner"


def test_what_a_turn_costs() -> None:
    td = AlgoConfig(reuse=1)
    assert boards_a_turn(td) == 1 and learnt_a_turn(td) == 1
    one_roll = replace(td, targets="one_roll", label=0.5, reuse=8)
    assert boards_a_turn(one_roll) == 1 + 0.5 * 21 and learnt_a_turn(one_roll) == 4


def test_a_rate_counts_every_thread() -> None:
    both = threading.Barrier(2, timeout=20)
    calls = [0, 0]

    def work(number: int) -> int:
        calls[number] += 1
        if calls[number] == 2:  # after the first call, which is not timed
            both.wait()  # they run side by side, or this breaks
        return 10

    assert rate([lambda: work(0), lambda: work(1)], 1e-9) > 0
    assert calls == [2, 2]


def test_batches_are_those_of_the_stage() -> None:
    config = parse("train", Config, SMALL)
    game = config.variant.make()
    td = Batch.of(game, config.stages["td"], 2, 0)
    assert len(td.boards) == 4 and len(td.results.offsets) == 5
    polish = Batch.of(game, config.stages["polish"], 2, 0)
    assert len(polish.boards) == 21 * preflight.CHUNK
    assert len({tuple(dice) for dice in polish.dice[:21].tolist()}) == 21


def test_whole_rounds_learn_too() -> None:
    """The games of a TD stage end within what is timed, so that the learner has its share."""
    config = parse("train", Config, SMALL)
    short = replace(config.stages["td"], longest_game=preflight.LENGTH)
    trainer = preflight.Trainer(replace(config, stages={}, algo=short))
    assert preflight.rounds(trainer, 1e-9) > 0
    assert trainer.games >= 16  # 8 games, twice
    assert trainer.learner.steps > 0


def test_it_runs_slowly_on_the_cpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(preflight, "SECONDS", 0.1)
    monkeypatch.setattr(preflight, "CHUNK", 4)
    assert main(SMALL) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "turns a second on cpu, 2 threads"
    assert [row.split()[0] for row in lines[1:]] == ["stage", "stages.td", "stages.polish"]
    for row in lines[2:]:
        assert all(float(cell.replace(",", "")) > 0 for cell in row.split()[1:6])
        assert any(row.endswith(text) for text in preflight.LIMITS.values())


def test_what_is_wrong_is_one_sentence(capsys: pytest.CaptureFixture) -> None:
    assert main(["exp=gpu_quarter_hour", "threads=0"]) == 2
    error = capsys.readouterr().err
    assert "threads" in error and error.count("\n") == 1
