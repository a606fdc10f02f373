"""Runs that were killed, stopped or finished go on as if nothing had happened."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from toy import arguments, files, start

from train import checkpoint
from train.__main__ import main
from train.trainer import Trainer


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def latest_round(run: Path) -> int:
    """The number of its latest checkpoint, 0 without one."""
    try:
        return int((run / "latest").read_text().split("-")[1])
    except FileNotFoundError:
        return 0


def killed(folder: Path, rounds: int, *others: str) -> None:
    """A run, saved after every round, killed when `rounds` are on the disk."""
    process = start(folder, *arguments("checkpoint_minutes=0", *others))
    try:
        while process.poll() is None and latest_round(folder / "runs/toy") < rounds:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        _, said = process.communicate()
    finally:
        process.kill()
    assert process.returncode == -signal.SIGKILL, said
    assert not (folder / "runs/toy/net").exists()


def last_state(run: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    folder = checkpoint.resolve(run)
    counters = json.loads((folder / "state.json").read_text())
    return counters, load_file(folder / "state.safetensors")


REMEMBERING = (
    "algo=one_roll", "algo.memory=700", "algo.starts=0.3", "algo.balance=0.5", "games=150",
)  # fmt: skip
"""Positions in a file of the run folder, drawn by phase, and games that begin with some of them."""


@pytest.mark.parametrize(
    "others",
    [("games=1000",), ("games=1000", "threads=2"), REMEMBERING],
    ids=["one thread", "two threads", "remembering"],
)
def test_a_killed_run_ends_with_the_bits_of_an_uninterrupted_one(
    tmp_path: Path, others: tuple[str, ...]
) -> None:
    others = (*others, "algo.average=20", "net.pairs=3")
    assert main(arguments(*others, "name=whole")) == 0
    killed(tmp_path, 4, *others)
    assert main(arguments(*others, "resume=auto")) == 0
    whole, toy = Path("runs/whole"), Path("runs/toy")
    expected, arrays = last_state(whole)
    found, arrays_again = last_state(toy)
    assert expected["games"] == found["games"] >= 150
    assert (expected["rounds"], expected["steps"]) == (found["rounds"], found["steps"])
    assert expected["steps"] > 100 and latest_round(toy) == expected["rounds"]
    assert arrays.keys() == arrays_again.keys()
    for name, values in arrays.items():
        assert values.tobytes() == arrays_again[name].tobytes(), name
    for name in ("net.safetensors", "net.onnx", "reference.json"):
        assert (whole / "net" / name).read_bytes() == (toy / "net" / name).read_bytes(), name


def test_a_run_whose_memory_is_gone_goes_on(capfd: Any) -> None:
    assert main(arguments(*REMEMBERING)) == 0
    before = last_state(Path("runs/toy"))[0]["games"]
    Path("runs/toy/memory-0.bin").unlink()
    capfd.readouterr()
    assert main(arguments(*REMEMBERING[:-1], "games=300", "resume=auto")) == 0
    assert "700 remembered positions are lost" in capfd.readouterr().err
    assert last_state(Path("runs/toy"))[0]["games"] >= 300 > before


def test_a_run_killed_between_its_first_checkpoint_and_latest_goes_on(tmp_path: Path) -> None:
    assert main(arguments()) == 0
    expected = files(tmp_path / "runs/toy/net")
    Path("runs/toy/latest").unlink()
    assert main(arguments("resume=auto")) == 0
    assert files(tmp_path / "runs/toy/net") == expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_saves_and_goes_on(
    number: int, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(arguments("name=whole", "games=300")) == 0
    real = Trainer.round

    def signalled(trainer: Trainer, pool: Any) -> Any:
        if trainer.rounds == 5:
            os.kill(os.getpid(), number)
        return real(trainer, pool)

    monkeypatch.setattr(Trainer, "round", signalled)
    capfd.readouterr()
    assert main(arguments("games=300")) == 130
    assert "train: stopped; resume=auto goes on" in capfd.readouterr().err
    assert latest_round(Path("runs/toy")) == 6 and not Path("runs/toy/net").exists()
    assert main(arguments("games=300", "resume=auto")) == 0
    for name in ("net.safetensors", "reference.json"):
        assert Path("runs/toy/net", name).read_bytes() == Path("runs/whole/net", name).read_bytes()


# ---------------------------------------------------------------- a run that is there already


@pytest.fixture
def finished(in_a_folder_of_its_own: None) -> Path:
    assert main(arguments()) == 0
    return Path("runs/toy")


def lasting(run: Path) -> dict[str, bytes]:
    """The files of a run but for its logs."""
    return {
        name: data
        for name, data in files(run).items()
        if "events" not in name and name != "metrics.jsonl"
    }


def test_a_finished_run_is_left_as_it_is(finished: Path) -> None:
    before = lasting(finished)
    assert main(arguments("resume=auto")) == 0
    assert lasting(finished) == before


def test_a_finished_run_may_go_on_for_more_games(finished: Path) -> None:
    before = latest_round(finished)
    assert main(["name=toy", "games=120", "resume=auto"]) == 0
    assert latest_round(finished) > before
    assert last_state(finished)[0]["games"] >= 120


@pytest.mark.parametrize(
    ("others", "says"),
    [
        (("resume=auto", "net.hidden=8"), "net.hidden=16"),
        (("resume=auto", "net=small"), "net."),
        (("resume=auto", "variant=short"), "variant.name='hyper'"),
        (("resume=auto", "threads=2"), "threads=1"),
        ((), "holds a run already; resume=auto goes on with it"),
    ],
)
def test_another_run_is_refused_in_a_sentence(
    finished: Path, others: tuple[str, ...], says: str, capfd: Any
) -> None:
    before = files(finished)
    capfd.readouterr()
    assert main(["name=toy", *others]) == 2
    said = capfd.readouterr().err
    assert says in said and said.count("\n") == 1 and said.startswith("train: ")
    assert files(finished) == before


@pytest.mark.parametrize("name", ["state.safetensors", "state.json", "meta.json"])
def test_a_broken_checkpoint_is_refused_in_a_sentence(
    finished: Path, name: str, capfd: Any
) -> None:
    file = checkpoint.resolve(finished) / name
    file.write_bytes(file.read_bytes()[:-20])
    before = files(finished)
    capfd.readouterr()
    assert main(arguments("resume=auto")) == 2
    said = capfd.readouterr().err
    assert "is not whole" in said and said.count("\n") == 1
    assert files(finished) == before


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("algo", {"lamda": 0.7}, "'lamda'"),
        ("algo", {"lam": "x"}, "'x'"),
        ("games_to_play", 7, "'games_to_play'"),
    ],
)
def test_a_configuration_of_other_code_is_refused_in_a_sentence(
    finished: Path, key: str, value: object, says: str, capfd: Any
) -> None:
    file = checkpoint.resolve(finished) / "state.json"
    state = json.loads(file.read_text())
    state["config"][key] = value
    file.write_text(json.dumps(state))
    capfd.readouterr()
    assert main(arguments("resume=auto")) == 2
    said = capfd.readouterr().err
    assert "not one of this code" in said and says in said and said.count("\n") == 1


def test_a_state_that_does_not_fit_is_refused_in_a_sentence(finished: Path, capfd: Any) -> None:
    file = checkpoint.resolve(finished) / "state.json"
    state = json.loads(file.read_text())
    state["config"]["net"]["hidden"] = 24
    file.write_text(json.dumps(state))
    capfd.readouterr()
    assert main(arguments("resume=auto", "net.hidden=24")) == 2
    said = capfd.readouterr().err
    assert "does not fit this run" in said and said.count("\n") == 1
