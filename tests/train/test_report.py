"""The report of a toy run, of two, and of a sweep."""

import json
import re
import shlex
from dataclasses import asdict
from pathlib import Path

import pytest
from random_nets import make_net

from nardy.rules.variants import variant
from train.benchmark_files import FOLDER
from train.config import Config, parse
from train.export import export
from train.loop import run
from train.report import ReportConfig, folders, main, strength
from train.report_runs import INDEX, Run, command, judge, read_run

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


def test_a_net_is_judged_by_the_files_of_its_game(tmp_path: Path) -> None:
    short = {"gnubg2", "sage3"}
    for number, (game, expected) in enumerate(
        (
            (variant("short"), short),
            (variant("short", opening="reroll"), short),
            (variant("long"), {"rollout"}),
            (variant("long", prime_rule="forbid"), set()),
            (variant("hyper"), set()),
        )
    ):
        net = tmp_path / str(number)
        export(make_net(8, game=game, pairs=0), {}, net)
        moves, values = judge(net, {"variant": game.name}, FOLDER)
        assert set(moves) == expected
        assert bool(values) == (game.name == "short")


def test_ratings_are_drawn(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, ratings = tmp_path / "page.html", tmp_path / "ratings.json"
    players = [
        {"name": n, "elo": e, "ci95": 9, "ppg": 0, "games": 4} for n, e in (("x", 1), ("y", 2))
    ]
    ratings.write_text(json.dumps({"players": players}))
    assert main([f"run={folder}", f"out={out}", f"ratings={ratings}"]) == 0
    text = out.read_text()
    assert 'alt="ratings"' in text and text.index("<td>y</td>") < text.index("<td>x</td>")
    for other in ("{}", "[1]", '{"players": [{"name": "x"}]}', '{"players": 1}', "not JSON"):
        ratings.write_text(other)
        assert main([f"run={folder}", f"out={out}", f"ratings={ratings}"]) == 2
        assert "is no JSON file with 'players'" in capsys.readouterr().err


def test_runs_are_told_apart(tmp_path: Path) -> None:
    assert folders(ReportConfig(runs=["a/one", "b/one", "b/two", "b/two"])) == [
        (Path("a/one"), "a/one"), (Path("b/one"), "b/one"), (Path("b/two"), "two"),
    ]  # fmt: skip
    lines = [
        {"folder": str(seed), "overrides": f"games=6,net.tail=[4,2],seed={seed}"}
        for seed in (1, 2, 1)  # one was begun again
    ]
    (tmp_path / INDEX).write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert folders(ReportConfig(sweep=str(tmp_path))) == [
        (tmp_path / "1", "seed=1"), (tmp_path / "2", "seed=2"),
    ]  # fmt: skip


def test_a_run_that_has_just_begun_does_not_choose_the_opponent() -> None:
    row = {"games": 1, "arena/random": 2.0, "arena/pips": 2.0, "arena/gnubg-nn": -1.0}
    runs = [Run(Path(), name, rows, {}, {}, {}) for name, rows in (("old", [row]), ("new", []))]
    assert "strength against gnubg-nn" in strength(runs, "games", "games")


def test_two_runs_and_a_sweep_are_laid_over_each_other(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "two.html"
    assert main([f"runs=[{folder},{folder}]", f"out={out}"]) == 0
    (folder.parent / INDEX).write_text(json.dumps({"folder": "toy", "overrides": "seed=1"}) + "\n")
    assert main([f"sweep={folder.parent}", f"out={out}"]) == 0
    assert "seed=1" in out.read_text()


def test_the_command_repeats_the_configuration(folder: Path) -> None:
    meta = read_run(folder, "toy", FOLDER).meta
    words = shlex.split(command(meta))
    assert words[:3] == ["python", "-m", "train"]
    again = parse("train", Config, words[3:])
    assert again == parse("train", Config, [*TOY, "name=toy"])


@pytest.mark.parametrize(
    "given",
    [
        "exp=quick",
        "exp=short_strong threads=1 net.tail=[4,2] stages.td.starts=0.1 stages.td.start_file=a/b",
        "exp=hyper variant.start={24:2,6:1} init=runs/x algo.tables=true",
        "exp=gpu_quarter_hour device=cpu",
        "follow=[runs/a,runs/b] minutes=5",
    ],
)
def test_the_command_repeats_stages_and_maps(given: str) -> None:
    config = parse("train", Config, given.split())
    stored = json.loads(json.dumps({"config": asdict(config)}))
    assert parse("train", Config, shlex.split(command(stored))[3:]) == config


def test_a_run_of_stages_is_shown(folder: Path, tmp_path: Path) -> None:
    toy = [*TOY, "stages={td:{games_in_flight:4,plies_per_round:40,longest_game:60}}"]
    run(parse("train", Config, toy), tmp_path / "run")
    assert main([f"run={tmp_path / 'run'}", f"out={tmp_path / 'page.html'}"]) == 0
    assert "stages={td:{" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "give one of run=, runs= and sweep="),
        (["run=nowhere"], "'nowhere' is no run folder"),
        (["sweep=nowhere"], "'nowhere' is no sweep"),
        (["runs=[]"], "give one of run=, runs= and sweep="),
        (["run=x", "out=no/such/folder/x.html"], "out='no/such/folder/x.html' is not a file"),
        (["run=x", "colour=red"], "colour"),
    ],
)
def test_bad_input(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err
