"""Runs as train.report shows them: what their folders hold, and the command that repeats each."""

import json
import re
import shlex
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nardy.rules.variants import variant
from train.benchmark_files import (
    benchmark_files,
    kind_of,
    read_decisions,
    read_values,
    variant_of,
)
from train.benchmark_players import game_of, subject
from train.benchmark_scores import score_decisions, score_values
from train.checkpoint import resolve
from train.config import AlgoConfig, Config, flatten

INDEX = "index.jsonl"
"""Written into a sweep's folder by `python -m train -m …`: a line of JSON for each run."""


@dataclass
class Run:
    """A run folder as the report sees it.

    rows: its metrics.jsonl; meta: of its latest checkpoint; references: the decision benchmark's
    scores by judge; calibration: the same of its outcome chances.
    """

    folder: Path
    name: str
    rows: list[dict[str, Any]]
    meta: dict[str, Any]
    references: dict[str, Any]
    calibration: dict[str, Any]

    def curve(self, tag: str, against: str) -> tuple[list[float], list[float]]:
        """Values of two tags, of the rows that have both."""
        both = [(row[against], row[tag]) for row in self.rows if tag in row and against in row]
        return [x for x, _ in both], [y for _, y in both]


def read_run(folder: Path, name: str, data: Path) -> Run:
    """Read a run folder and judge its latest net by the benchmark files in `data`.

    Raises ValueError naming a folder that is not a run.
    """
    try:
        lines = (folder / "metrics.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        meta = json.loads((resolve(folder) / "meta.json").read_text())
    except OSError:
        raise ValueError(f"{str(folder)!r} is no run folder: it has no metrics.jsonl") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{str(folder)!r} has figures that are not JSON: {error}") from None
    references, calibration = judge(folder, meta, data)
    return Run(folder, name, rows, meta, references, calibration)


def judge(folder: Path, meta: dict[str, Any], data: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Scores of a net by its game's first file of moves and first of values; empty without them."""
    game = variant(meta["variant"])
    if not data.is_dir():
        return {}, {}
    files = [path for path in benchmark_files(data, None) if variant_of(path) == game.name]
    # subject refuses long nardy by other rules than the file's
    if not files or (game.family == "blocking" and game_of(str(folder)) != game):
        return {}, {}
    player = subject(str(folder), 0, game=game)
    moves: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for path in files:
        if kind_of(path) == "decisions" and not moves:
            decisions = read_decisions(path)
            moves = score_decisions(decisions, player.play(decisions))
        if kind_of(path) == "values" and not values and player.chances is not None:
            known = read_values(path)
            values = score_values(known, player.chances(known.boards))
    return moves, values


def command(meta: dict[str, Any]) -> str:
    """The command line that repeats a run, from the configuration in its checkpoint."""
    config = dict(meta["config"])
    stages = {name: changed(algo, AlgoConfig()) for name, algo in config.pop("stages", {}).items()}
    ours = changed(config, Config()) | ({"stages": stages} if stages else {})
    arguments = [f"{key}={_argument(value)}" for key, value in ours.items()]
    return shlex.join(["python", "-m", "train", *arguments])


def changed(config: dict[str, Any], default: Any) -> dict[str, Any]:
    """What a configuration has other than a default, by dotted key."""
    defaults = flatten(asdict(default))
    return {
        key: value
        for key, value in flatten(config).items()
        if value not in (None, defaults.get(key))  # None: minutes without a limit, in JSON
    }


def _argument(value: Any) -> str:
    """A value as Hydra reads it."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_argument(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return f"[{','.join(map(_argument, value))}]"
    return str(value)


def sweep_folders(sweep: Path) -> list[tuple[Path, str]]:
    """The run folders of a sweep, each called by those of its overrides that not all have.

    Raises ValueError for a folder that is no sweep.
    """
    try:
        lines = (sweep / INDEX).read_text().splitlines()
    except OSError:
        raise ValueError(f"{str(sweep)!r} is no sweep: it has no {INDEX}") from None
    # the last of a run counts, which may have been begun again
    index = {entry["folder"]: entry["overrides"] for entry in map(json.loads, lines)}
    common = Counter(item for overrides in index.values() for item in _items(overrides))
    return [
        (
            sweep / folder,
            ", ".join(item for item in _items(overrides) if common[item] < len(index)) or overrides,
        )
        for folder, overrides in index.items()
    ]


def _items(overrides: str) -> list[str]:
    """`a=1,b=[2,3]` as its parts."""
    return re.split(r",(?=[^,=\[\]]+=)", overrides)
