"""Checkpoints: whole or not there, whatever is killed or broken, and one sentence for the rest."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_nets import make_net

from nardy.net.net import Net
from train import checkpoint

ROOT = Path(__file__).parents[2]


def save(run: Path, number: int) -> Path:
    """A checkpoint whose parts all tell its number."""
    meta = {"games": number, "state": {"config": {}, "best": 0.0, "rounds": number}}
    arrays = {"weight": np.full((50, 40), number, np.float32), "empty": np.empty((0, 26), np.int8)}
    return checkpoint.save(run, number, make_net(8, seed=number), meta, arrays)


def whole(run: Path) -> int:
    """The number of the run's latest checkpoint, after reading all of it."""
    meta, state, arrays = checkpoint.load(run)
    number = int(state["rounds"])
    assert meta["games"] == number
    assert (arrays["weight"] == number).all() and arrays["weight"].shape == (50, 40)
    # another process may sum its products with other threads, so to within their rounding
    table = Net.load(checkpoint.resolve(run)).table
    np.testing.assert_allclose(table, make_net(8, seed=number).table, atol=1e-5)
    return number


# ---------------------------------------------------------------- keeping


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    written = save(tmp_path, 7)
    assert whole(tmp_path) == 7
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-00000007", "latest"]
    assert sorted(path.name for path in written.iterdir()) == [
        "meta.json", "net.safetensors", "state.json", "state.safetensors",
    ]  # fmt: skip
    assert "state" not in json.loads((written / "meta.json").read_text())


def test_a_checkpoint_of_the_same_round_is_replaced(tmp_path: Path) -> None:
    save(tmp_path, 7)
    save(tmp_path, 7)
    assert whole(tmp_path) == 7


def test_every_way_to_name_a_net(tmp_path: Path) -> None:
    first, second = save(tmp_path, 1), save(tmp_path, 2)
    checkpoint.mark_best(tmp_path, first)
    assert checkpoint.resolve(tmp_path) == second
    assert checkpoint.resolve(tmp_path / "latest") == second
    assert checkpoint.resolve(tmp_path / "best") == first
    assert checkpoint.resolve(first) == first
    assert checkpoint.resolve(str(second)) == second


def test_pruning_keeps_the_newest_the_latest_and_the_best(tmp_path: Path) -> None:
    for number in range(1, 7):
        save(tmp_path, number)
    checkpoint.mark_best(tmp_path, tmp_path / "checkpoint-00000002")
    checkpoint.mark_latest(tmp_path, tmp_path / "checkpoint-00000003")
    checkpoint.prune(tmp_path, 2)
    left = sorted(int(path.name[-1]) for path in tmp_path.glob("checkpoint-*"))
    assert left == [2, 3, 5, 6]
    assert whole(tmp_path) == 3
    checkpoint.prune(tmp_path, 2)
    assert len(list(tmp_path.glob("checkpoint-*"))) == 4


# ---------------------------------------------------------------- kill -9

KILLED_AT_EACH_STEP = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = sys.argv[1:3]
import shutil
import test_checkpoint
from nardy.net import weights

target, before = Path(sys.argv[3]), int(sys.argv[4])

def die_at(step):
    '''Dies before the step-th change to the disk; a file is cut in half first.'''
    done = 0
    def wrap(module, name):
        real = getattr(module, name)
        def counted(*args, **named):
            nonlocal done
            done += 1
            if done == step:
                if name == "write_whole":
                    Path(str(args[0]) + ".tmp").write_bytes(args[1][: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **named)
        setattr(module, name, counted)
    import train.checkpoint, train.export
    for module in (weights, train.checkpoint, train.export):
        if hasattr(module, "write_whole"):
            wrap(module, "write_whole")
    for name in ("fsync", "replace", "rename"):
        wrap(os, name)
    wrap(shutil, "rmtree")

for step in range(1, 100):
    run = target / f"{step:02d}"
    run.mkdir()
    if before:
        test_checkpoint.save(run, 1)
    child = os.fork()
    if child == 0:
        die_at(step)
        test_checkpoint.save(run, 2)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
"""


def killed_runs(tmp_path: Path, before: int) -> list[Path]:
    """Run folders of which the one but last was killed at each step of writing checkpoint 2."""
    subprocess.run(
        [sys.executable, "-c", KILLED_AT_EACH_STEP, str(Path(__file__).parent),
         str(Path(__file__).parents[1]), str(tmp_path), str(before)],
        cwd=ROOT, check=True,
    )  # fmt: skip
    runs = sorted(tmp_path.iterdir())
    assert len(runs) > 15
    return runs


def test_a_kill_at_any_step_leaves_the_last_checkpoint_whole(tmp_path: Path) -> None:
    runs = killed_runs(tmp_path, before=1)
    found = [whole(run) for run in runs]
    assert found == sorted(found) and found[0] == 1 and found[-1] == 2
    for run in runs:
        save(run, 2)  # what a resumed run does next, whatever lies about
        assert whole(run) == 2
        names = {path.name for path in run.iterdir() if path.suffix != ".tmp"}
        assert names == {"checkpoint-00000001", "checkpoint-00000002", "latest"}


def test_a_kill_in_the_first_checkpoint_leaves_none_or_a_whole_one(tmp_path: Path) -> None:
    for run in killed_runs(tmp_path, before=0):
        for folder in run.glob("checkpoint-*"):
            checkpoint.mark_latest(run, folder)
            assert whole(run) == 2
        save(run, 3)
        assert whole(run) == 3


SAVES_FOR_EVER = """
import itertools, sys
from pathlib import Path
sys.path[:0] = sys.argv[1:3]
import test_checkpoint
from train import checkpoint

for number in itertools.count(1):
    test_checkpoint.save(Path(sys.argv[3]), number)
    checkpoint.prune(Path(sys.argv[3]), 3)
"""


@pytest.mark.parametrize("seed", range(3))
def test_a_kill_at_any_moment_leaves_the_last_checkpoint_whole(tmp_path: Path, seed: int) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", SAVES_FOR_EVER, str(Path(__file__).parent),
         str(Path(__file__).parents[1]), str(tmp_path)],
        cwd=ROOT,
    )  # fmt: skip
    try:
        while not (tmp_path / "latest").exists() and child.poll() is None:
            time.sleep(0.01)
        time.sleep(random.Random(seed).uniform(0, 0.3))
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert child.returncode == -signal.SIGKILL
    assert whole(tmp_path) >= 1


# ---------------------------------------------------------------- broken folders


@pytest.mark.parametrize("name", ["state.safetensors", "state.json", "meta.json"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_truncated_file_is_named_in_a_sentence(tmp_path: Path, name: str, share: float) -> None:
    file = save(tmp_path, 1) / name
    data = file.read_bytes()
    file.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ValueError, match="checkpoint-00000001' is not whole") as caught:
        checkpoint.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_truncated_net_is_named_in_a_sentence(tmp_path: Path) -> None:
    file = save(tmp_path, 1) / "net.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match="not a whole safetensors file"):
        Net.load(checkpoint.resolve(tmp_path))


@pytest.mark.parametrize("name", ["state.safetensors", "state.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (save(tmp_path, 1) / name).unlink()
    with pytest.raises(ValueError, match="is not whole"):
        checkpoint.load(tmp_path)


@pytest.mark.parametrize("text", ["{}", "[]", '{"config": {}}'])
def test_a_state_without_its_entries_is_not_whole(tmp_path: Path, text: str) -> None:
    (save(tmp_path, 1) / "state.json").write_text(text)
    with pytest.raises(ValueError, match="is not whole: state.json lacks"):
        checkpoint.load(tmp_path)


@pytest.mark.parametrize("text", ["", "latest", ".", "checkpoint-00000009", "../elsewhere"])
def test_a_pointer_to_nothing_is_refused(tmp_path: Path, text: str) -> None:
    save(tmp_path, 1)
    (tmp_path / "latest").write_text(text)
    with pytest.raises(ValueError) as caught:
        checkpoint.load(tmp_path)
    assert text in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("path", ["nowhere", "empty"])
def test_a_path_that_is_no_net_is_named(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=f"{path}' is neither a run folder"):
        checkpoint.resolve(tmp_path / path)


def test_a_checkpoint_that_cannot_be_written_leaves_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, 1)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path, 2)
    monkeypatch.undo()
    assert whole(tmp_path) == 1
    assert [path.name for path in tmp_path.glob("checkpoint-*")] == ["checkpoint-00000001"]
