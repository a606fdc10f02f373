"""The report of a toy run, of two, and of a sweep."""

import json
import re
from pathlib import Path

import pytest

from train.benchmark_files import FOLDER
from train.config import Config, parse
from train.loop import run
from train.report import INDEX, command, main, read_run

TOY = [
    "games=6",
    "threads=1",
    "gauge_pairs=2",
    "gauge_minutes=0.0001",
    "net.hidden=8",
    "net.tail=[4]",
    "algo.games_in_flight=4",
    "algo.longest_game=60",
    "algo.plies_per_round=40",
    "algo.minibatch=64",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs") / "toy"
    run(parse("train", Config, [*TOY, "name=toy"]), place)
    return place


def test_one_page_with_its_plots_inside(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert main([f"run={folder}", f"out={out}"]) == 0
    text = out.read_text()
    assert text.count("<img") >= 11 and "gnubg2" in text
    assert not re.search(r'(src|href)="(?!data:)', text)  # nothing is fetched
    assert "net.hidden=8" in text and "toy" in text


def test_two_runs_and_a_sweep_are_laid_over_each_other(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "two.html"
    assert main([f"runs=[{folder},{folder}]", f"out={out}"]) == 0
    (folder.parent / INDEX).write_text(json.dumps({"folder": "toy", "overrides": "seed=1"}) + "\n")
    assert main([f"sweep={folder.parent}", f"out={out}"]) == 0
    assert "seed=1" in out.read_text()


def test_the_command_repeats_the_configuration(folder: Path) -> None:
    meta = read_run(folder, "toy", FOLDER).meta
    words = command(meta).split()
    assert words[:3] == ["python", "-m", "train"]
    again = parse("train", Config, words[3:])
    assert again == parse("train", Config, [*TOY, "name=toy"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "give one of run=, runs= and sweep="),
        (["run=nowhere"], "'nowhere' is no run folder"),
        (["sweep=nowhere"], "'nowhere' is no sweep"),
        (["run=x", "colour=red"], "colour"),
    ],
)
def test_bad_input(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err
