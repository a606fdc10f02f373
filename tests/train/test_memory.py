"""Remembered positions: which there are, how they are drawn, and what of them survives."""

import inspect
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from random_nets import SHORT
from toy import ROOT

from nardy.rules.board import flip, make_board
from train import memory as module
from train.benchmark_phases import DECISION_PHASES, OPENING_PLIES, phases_of
from train.export import reference_positions
from train.memory import MOST, Memory, phase_shares
from train.phases import BEAR_OFF, CONTACT, fast_phases
from train.selfplay import Sample

APART = make_board({5: 2}, {13: 15})
TOGETHER = make_board({24: 2, 6: 13}, {24: 2, 6: 13})


def numbered(first: int, count: int) -> Sample:
    """Positions that tell their number, and targets that tell it too."""
    numbers = np.arange(first, first + count)
    boards = np.zeros((count, 26), np.int8)
    for cell in range(4):
        boards[:, 1 + cell] = numbers // 100**cell % 100
    return Sample(boards, np.repeat(numbers[:, None], 6, 1).astype(np.float32))


def numbers_in(memory: Memory) -> list[int]:
    """The numbers of the positions that are drawn, each board with its own target."""
    boards, targets = memory.draw(40 * len(memory), np.random.default_rng(1))
    numbers = boards[:, 1:5].astype(int) @ 100 ** np.arange(4)
    assert (targets == numbers[:, None]).all()
    return sorted(set(numbers.tolist()))


@pytest.fixture(params=[False, True], ids=["in memory", "in a file"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "memory.bin" if request.param else None


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for 8 positions more than are drawn from, noted two at a time."""
    monkeypatch.setattr(module, "SLACK", 8)
    monkeypatch.setattr(module, "CLAIM", 1)


# ---------------------------------------------------------------- the ring


def test_the_newest_are_kept(path: Path | None) -> None:
    memory = Memory(5, 6, path)
    assert len(memory) == 0 and len(memory.draw(3, np.random.default_rng(1)).boards) == 0
    added = 0
    for count in (3, 0, 3, 4, 1, 2, 5, 3, 3, 3):
        memory.add(numbered(added, count))
        added += count
        assert numbers_in(memory) == list(range(max(added - 5, 0), added))


def test_of_more_than_there_is_room_for_the_newest_are_kept(path: Path | None) -> None:
    memory = Memory(5, 6, path)
    memory.add(numbered(0, 12))
    assert numbers_in(memory) == [7, 8, 9, 10, 11]


@pytest.mark.parametrize("added", [0, 3, 5, 23])
def test_a_restored_memory_has_the_same(added: int, path: Path | None) -> None:
    memory = Memory(5, 6, path)
    for number in range(added):
        memory.add(numbered(number, 1))
    state = {name: values.copy() for name, values in memory.state().items()}
    other = Memory(5, 6, path)
    other.restore(state)
    assert other.lost == 0 and len(other) == min(added, 5)
    one, again = (m.draw(50, np.random.default_rng(2)) for m in (memory, other))
    assert (one.boards == again.boards).all() and (one.targets == again.targets).all()
    other.add(numbered(added, 2))
    assert numbers_in(other) == list(range(max(added - 3, 0), added + 2))


def test_a_checkpoint_holds_no_positions_that_lie_in_a_file(tmp_path: Path) -> None:
    memory = Memory(5, 6, tmp_path / "memory.bin")
    memory.add(numbered(0, 5))
    assert list(memory.state()) == ["added"]
    assert list(Memory(5, 6).state()) == ["added", "boards", "targets"]


def test_positions_of_a_checkpoint_are_taken_into_a_file(tmp_path: Path) -> None:
    plain = Memory(5, 6)
    for number in range(13):
        plain.add(numbered(number, 1))
    memory = Memory(5, 6, tmp_path / "memory.bin")
    memory.restore(plain.state())
    assert memory.lost == 0 and numbers_in(memory) == [8, 9, 10, 11, 12]


# ---------------------------------------------------------------- what was added after the state


@pytest.mark.parametrize("more", [0, 1, 6, 7, 8, 9, 11, 12, 13, 40])
def test_what_came_after_the_checkpoint_is_forgotten_and_overwrites_no_more_than_it_must(
    more: int, tmp_path: Path
) -> None:
    """5 positions are drawn from and there are 13 places: up to 8 more do no harm, and each one
    further costs the oldest. Places are noted two at a time, so one more may be given up."""
    memory = Memory(5, 6, tmp_path / "memory.bin")
    for number in range(20):
        memory.add(numbered(number, 1))
    state = memory.state()
    for number in range(20, 20 + more):
        memory.add(numbered(number + 100, 1))  # of a run that went another way
    other = Memory(5, 6, tmp_path / "memory.bin")
    other.restore(state)
    overwritten = min(max(more - 8, 0), 5)
    assert overwritten <= other.lost <= min(overwritten + 1, 5)
    assert numbers_in(other) == list(range(15 + other.lost, 20))
    if more <= 7:
        assert other.lost == 0
    for number in range(20, 20 + 9):
        other.add(numbered(number, 1))
        assert numbers_in(other) == list(range(max(number - 4, 15 + other.lost), number + 1))


@pytest.mark.parametrize("harm", ["gone", "short"])
def test_without_its_file_a_run_goes_on_with_new_positions(harm: str, tmp_path: Path) -> None:
    file = tmp_path / "memory.bin"
    memory = Memory(5, 6, file)
    memory.add(numbered(0, 4))
    state = memory.state()
    if harm == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-1])
    other = Memory(5, 6, file)
    other.restore(state)
    assert other.lost == 4 and len(other) == 0
    assert len(other.draw(3, np.random.default_rng(1)).boards) == 0
    drawn, weights = other.draw_by_phase(3, np.random.default_rng(1), 0.5)
    assert len(drawn.boards) == len(weights) == 0
    other.add(numbered(4, 2))
    assert numbers_in(other) == [4, 5]
    again = Memory(5, 6, file)
    again.restore(other.state())
    assert numbers_in(again) == [4, 5]


def test_a_new_run_begins_with_a_new_file(tmp_path: Path) -> None:
    Memory(5, 6, tmp_path / "memory.bin").add(numbered(50, 5))
    memory = Memory(5, 6, tmp_path / "memory.bin")
    memory.add(numbered(0, 2))
    assert numbers_in(memory) == [0, 1]


WRITER = """
import sys
from pathlib import Path
sys.path[:0] = [{root!r}]
import numpy as np
import train.memory as module
from train.selfplay import Sample
module.SLACK, module.CLAIM = 50, 16
module.fast_phases = lambda boards: np.zeros(len(boards), np.uint8)  # nothing to compile
{numbered}
memory = module.Memory(300, 6, Path(sys.argv[1]))
memory.add(numbered(0, 1000))
np.save(sys.argv[2], memory.state()["added"])
print("ready", flush=True)
while True:
    memory.add(numbered(int(memory.added), 37))
"""


def test_a_killed_writer_leaves_whole_positions(tmp_path: Path) -> None:
    """Killed at any moment, half way through a position too: none is drawn whose board and target
    do not belong together, and none that came after the checkpoint."""
    script = WRITER.format(root=str(ROOT), numbered=inspect.getsource(numbered))
    file, count = tmp_path / "memory.bin", tmp_path / "added.npy"
    for wait in (0.002, 0.05):
        process = subprocess.Popen(
            [sys.executable, "-c", script, file, count], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "SLACK", 50)
            memory = Memory(300, 6, file)
            memory.restore({"added": np.load(count)})
            assert memory.added == 300 and memory.lost + len(memory) == 300
            if len(memory):
                assert numbers_in(memory) == list(range(700 + memory.lost, 1000))


# ---------------------------------------------------------------- phases


@pytest.fixture(scope="module")
def met() -> np.ndarray:
    """Positions of random play, made once and with compiled kernels."""
    return reference_positions(SHORT, 200, seed=4)


def test_fast_phases_are_those_of_the_benchmark(met: np.ndarray, kernels: str) -> None:
    made = [APART, TOGETHER, make_board({6: 3, 2: 1}, {6: 2}), make_board({6: 2}, {25: 1, 6: 2})]
    back = make_board({24: 2, 22: 2, 6: 5, 5: 2, 4: 2, 8: 2}, {13: 5, 8: 5, 7: 3, 6: 2})
    crashed = make_board({24: 2, 2: 6, 1: 7}, {13: 5, 8: 5, 7: 3, 6: 2})
    prime = {24: 2, 7: 2, 6: 3, 5: 2, 4: 2, 8: 4}
    boards = np.concatenate([met, made, [back, crashed, make_board(prime, prime)]])
    boards = np.concatenate([boards, flip(boards)]).astype(np.int8)
    slow = phases_of(boards, np.full(len(boards), OPENING_PLIES))
    assert (fast_phases(boards) == slow).all()
    assert set(slow.tolist()) == set(range(1, len(DECISION_PHASES)))


def two_phases(rare: int, common: int) -> Memory:
    """A memory of bear-offs and of contact positions; targets tell them apart."""
    memory = Memory(1000, 6)
    boards = np.stack([APART] * rare + [TOGETHER] * common)
    targets = np.zeros((len(boards), 6), np.float32)
    targets[:rare] = 1
    memory.add(Sample(boards, targets))
    assert set(fast_phases(boards).tolist()) == {BEAR_OFF, CONTACT}
    return memory


@pytest.mark.parametrize(("balance", "share"), [(0.0, 0.2), (0.5, 0.35), (1.0, 0.5)])
def test_balance_goes_from_natural_to_equal_shares(balance: float, share: float) -> None:
    memory = two_phases(100, 400)
    drawn, weights = memory.draw_by_phase(20_000, np.random.default_rng(3), balance)
    rare = drawn.targets[:, 0] == 1
    assert ((drawn.boards == APART).all(-1) == rare).all()
    assert abs(rare.mean() - share) < 0.015
    # what is weighted is natural again: a fifth is rare
    assert abs((weights * rare).mean() - 0.2) < 0.01
    assert abs(weights.mean() - 1) < 0.02


def test_none_may_be_drawn() -> None:
    """A round whose games have not ended yet owes less than a minibatch."""
    memory = Memory(100, 6)
    memory.add(numbered(0, 10))
    sample, weights = memory.draw_by_phase(0, np.random.default_rng(1), balance=0.5)
    assert len(sample.boards) == len(sample.targets) == len(weights) == 0


def test_within_a_phase_every_position_is_as_likely() -> None:
    memory = Memory(40, 6)
    boards = np.repeat(TOGETHER[None], 40, 0)
    memory.add(Sample(boards, np.repeat(np.arange(40, dtype=np.float32)[:, None], 6, 1)))
    drawn, _ = memory.draw_by_phase(40_000, np.random.default_rng(3), 1.0)
    counts = np.bincount(drawn.targets[:, 0].astype(int), minlength=40)
    assert counts.min() > 850 and counts.max() < 1150


def test_a_phase_of_a_few_positions_is_not_learnt_by_heart() -> None:
    shares = phase_shares(np.array([0.0, 0.001, 0.4, 0.599]), 1.0)
    assert shares.sum() == pytest.approx(1) and shares[0] == 0
    assert 0.001 * MOST <= shares[1] < 0.001 * MOST * 1.6
    assert shares[2] == shares[3]
