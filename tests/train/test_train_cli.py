"""`python -m train` at toy size: what it leaves, what it prints, and how it fails."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from toy import arguments, start

from nardy.net.net import Net
from train.__main__ import combinations, main
from train.config import Config, parse
from train.metrics import TAGS, Metrics, memory_mb
from train.network import ValueNetwork
from train.report_runs import INDEX


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# ---------------------------------------------------------------- a run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that gauges and saves after every round."""
    folder = tmp_path_factory.mktemp("cli")
    process = start(folder, *arguments("gauge_minutes=0", "checkpoint_minutes=0", "games=150"))
    out, err = process.communicate()
    assert process.returncode == 0, err
    (folder / "out").write_text(out)
    (folder / "err").write_text(err)
    return folder / "runs" / "toy"


def test_a_run_leaves_a_net_checkpoints_and_logs(run: Path) -> None:
    names = {path.name for path in run.iterdir() if not path.name.startswith("events")}
    checkpoints = {name for name in names if name.startswith("checkpoint-")}
    assert names - checkpoints == {"net", "latest", "best", "metrics.jsonl"}
    assert 3 <= len(checkpoints) <= 4  # the best stays, besides the newest three
    assert (run / "latest").read_text() in checkpoints
    assert (run / "best").read_text() in checkpoints
    for folder in (run / "net", *(run / name for name in checkpoints)):
        assert Net.load(folder).variant.name == "hyper"


def test_what_is_said_of_a_net_is_json_in_any_language(run: Path) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    for path in run.rglob("meta.json"):
        meta = json.loads(path.read_text(), parse_constant=refuse)
        assert meta["games"] > 0 and meta["config"]["net"]["hidden"] == 16
        assert meta["commit"]


def test_the_end_says_how_strong_it_is_and_how_to_play(run: Path) -> None:
    said = (run.parents[1] / "out").read_text()
    assert "against random" in said and "against pips" in said
    assert "nardy play --net" in said and str(Path("runs/toy/net")) in said
    assert "Traceback" not in (run.parents[1] / "err").read_text()


def test_every_figure_is_explained(run: Path) -> None:
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    tags = {tag for row in rows for tag in row} - {"games", "time"}
    assert tags <= TAGS.keys()
    assert tags >= {"learn/loss", "learn/td_error", "learn/rate", "play/length", "play/gammons"}
    assert tags >= {"play/games_per_s", "play/positions_per_s", "arena/random", "arena/pips"}
    assert [row["games"] for row in rows] == sorted(row["games"] for row in rows)
    assert all(math.isfinite(value) for row in rows for value in row.values())


def test_figures_are_plausible(run: Path) -> None:
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    losses = [row["learn/loss"] for row in rows if "learn/loss" in row]
    assert losses and all(0 < loss < 2 for loss in losses)
    for row in rows:
        assert -3 <= row["arena/random"] <= 3 and row["arena/random_ci95"] >= 0
        assert 0 <= row.get("play/gammons", 0) <= 1
        assert row.get("learn/rate", 1e-3) <= 1e-3
    assert rows[-2]["learn/steps"] > 10


def test_tensorboard_has_the_configuration_scalars_and_histograms(run: Path) -> None:
    events = EventAccumulator(str(run), size_guidance={"scalars": 0}).Reload()
    tags = events.Tags()
    assert set(tags["scalars"]) <= TAGS.keys()
    assert "learn/loss" in tags["scalars"] and "arena/random" in tags["scalars"]
    assert "weights/first.weight" in tags["histograms"]
    text = events.Tensors("configuration/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "hidden: 16" in text and "games_in_flight: 32" in text and "name: hyper" in text
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    losses = {row["games"]: row["learn/loss"] for row in rows if "learn/loss" in row}
    found = {event.step: event.value for event in events.Scalars("learn/loss")}
    assert found == pytest.approx(losses, abs=1e-5)


def test_a_tag_that_is_not_explained_is_refused(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path, "a: 1")
    try:
        with pytest.raises(KeyError, match="play/mood"):
            metrics.write(1, {"play/mood": 1.0})
        metrics.write(2, {"learn/loss": math.nan, "learn/rate": 0.5})
        metrics.histograms(2, ValueNetwork(4, [], 1, 6))
    finally:
        metrics.close()
    (row,) = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert row.keys() == {"games", "time", "learn/rate"}


def test_memory_is_measured() -> None:
    assert 20 < memory_mb() < 100_000


# ---------------------------------------------------------------- how it fails


@pytest.mark.parametrize(
    "wrong",
    ["nonsense=1", "games=many", "algo.lam=2", "exp=nowhere", "exp quick", "variant.name=chess",
     "-m nonsense=1", "-m seed=1,2 games=0", "-m seed=1,2 algo.lam=0.5,2", "-m exp=nowhere",
     "-m exp quick", "-m games={"],
)  # fmt: skip
def test_wrong_arguments_leave_nothing_behind(wrong: str, tmp_path: Path, capfd: Any) -> None:
    assert main(wrong.split(" ")) == 2
    said = capfd.readouterr()
    assert said.err.startswith("train: ") and said.err.count("\n") == 1 and said.out == ""
    assert not list(tmp_path.iterdir())


def test_a_process_with_wrong_arguments_fails_with_a_sentence(tmp_path: Path) -> None:
    process = start(tmp_path, "games=0")
    out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert err == "train: games must be above 0, not 0\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_is_printed(word: str, tmp_path: Path, capfd: Any) -> None:
    assert main([word]) == 0
    said = capfd.readouterr()
    assert "python -m train exp=quick" in said.out and "algo.lam" in said.out and said.err == ""
    assert not list(tmp_path.iterdir())


def test_a_gpu_that_is_not_there_is_missed_in_a_sentence(
    tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main(arguments("device=cuda")) == 2
    assert capfd.readouterr().err == (
        "train: device='cuda' needs a GPU that torch can use; there is none\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("blocked", ["runs", "runs/toy"])
def test_an_unwritable_run_folder_is_named(blocked: str, tmp_path: Path, capfd: Any) -> None:
    """A file in its place, because permissions do not bind every user."""
    Path(blocked).parent.mkdir(exist_ok=True)
    Path(blocked).write_text("a file")
    before = sorted(tmp_path.rglob("*"))
    assert main(arguments()) == 2
    said = capfd.readouterr().err
    assert blocked in said and said.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before and Path(blocked).read_text() == "a file"


def test_a_loss_that_is_no_number_stops_the_run(capfd: Any) -> None:
    assert main(arguments("games=3000", "algo.rate=1e30", "algo.hot=0.9")) == 1
    said = capfd.readouterr().err
    assert "train: the loss became nan in round" in said and "Traceback" not in said
    assert not list(Path("runs/toy").glob("checkpoint-*")) and not Path("runs/toy/net").exists()


# ---------------------------------------------------------------- sweeps


def test_a_sweep_is_split_into_its_runs() -> None:
    found = combinations(["seed=1,2", "algo.lam=0,1", "name=x"])
    assert sorted(found) == [
        [f"seed={seed}", f"algo.lam={lam}", "name=x"] for seed in (1, 2) for lam in (0, 1)
    ]
    assert all(isinstance(parse("train", Config, one), Config) for one in found)


def test_a_sweep_makes_a_folder_for_each_run(tmp_path: Path) -> None:
    process = start(tmp_path, "-m", *arguments("seed=1,2"))
    _, err = process.communicate()
    assert process.returncode == 0, err
    runs = [path.parent for path in tmp_path.glob("runs/toy/*/net")]
    assert sorted(run.name.split("seed=")[1][0] for run in runs) == ["1", "2"]
    one, other = (Net.load(run / "net") for run in runs)
    assert not np.array_equal(one.table, other.table)
    index = (tmp_path / "runs/toy" / INDEX).read_text().splitlines()
    assert [json.loads(line)["folder"] for line in index] == [run.name for run in sorted(runs)]
