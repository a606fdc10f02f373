"""Strength against seconds of training: a run's checkpoints against a fixed opponent.

    python -m train.curve runs=[runs/quick,runs/short_strong] json=curve.json plot=curve.png
    python -m train.curve runs=[runs/quick] pairs=10000 most=6 tables=true
    python -m train.curve runs=[runs/a+runs/b]          # b went on from a (init=runs/a): one curve
    python -m train.curve runs=[runs/long_strong] json=curve.json plot=curve.png    # long nardy

Each checkpoint plays the same pairs of games against `against`, by default gnubg-nn at 0-ply with
the luck of the dice taken out (train.luck; one judge for all), in long nardy the hand-written
player, as the dice fall; and is judged by the decision benchmark of its game. Prints and writes
points a game with their 95 % interval by seconds of training, and when the curve reaches each of
LEVELS. Seconds are the run's own, and those of the runs named before it with +; the time of gauges
and checkpoints is not in them.

With json= each checkpoint is written as soon as it is measured, and a later call with the same keys
measures only those that the file lacks. CurveConfig lists the keys.
"""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from nardy.net.net import Net
from nardy.net.weights import write_whole
from nardy.rules.variants import Variant
from train.arena import check_writable, cores, progress_bar
from train.benchmark_players import decision_scores
from train.checkpoint import resolve
from train.command_line import answer
from train.config import about, help_text, parse_keys
from train.luck import LuckJudge, NetRolls
from train.match import play_match
from train.players import NetPlayer, load_net, player
from train.ratings import check_picture

EXAMPLES = (
    "python -m train.curve runs=[runs/quick,runs/short_strong] json=curve.json plot=curve.png",
    "python -m train.curve runs=[runs/quick] pairs=10000 most=6",
)
LEVELS = {"hitting": (-0.10, -0.05, 0.0), "blocking": (1.0, 1.5, 1.6)}
"""By family: points a game that the table says when they were reached."""

OPPONENTS = {"hitting": "gnubg-nn", "blocking": "heuristic"}

Row = dict[str, Any]


@dataclass
class CurveConfig:
    """Which runs to measure, and how closely."""

    runs: list[str] = about("run folders, each a curve", [])
    against: str | None = about(
        "the opponent, at 0-ply: a name or path as in train.arena; by default gnubg-nn, heuristic "
        "in long nardy",
        None,
    )
    pairs: int = about("pairs of games a checkpoint, the same for all", 1000)
    most: int = about("checkpoints of a run, chosen evenly from first to last", 12)
    luck: bool | None = about(
        "take the luck of the dice out; by default so, but in long nardy, where the same time "
        "spent on more pairs tells more, only with judge=",
        None,
    )
    judge: str | None = about("net that tells luck, by default the first run's newest", None)
    tables: bool = about("nets use the bear-off tables, as nardy play does", False)
    seed: int = about("of the dice", 0)
    threads: int | None = about("threads that play, by default one a core", None)
    json: str | None = about("file of the figures, gone on with where it is there", None)
    plot: str | None = about("picture to write", None)

    def __post_init__(self) -> None:
        """Refuse what cannot be measured, by name."""
        if not self.runs:
            raise ValueError("runs is missing: name run folders, runs=[runs/a,runs/b]")
        for name, least in (("pairs", 2), ("most", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if self.luck is False and self.judge is not None:
            raise ValueError(f"judge={self.judge!r} tells luck, and luck=false leaves it in")


# --- measuring -------------------------------------------------------------------------------


def checkpoints(runs: str, most: int) -> list[tuple[Path, float]]:
    """At most `most` checkpoints of a run, evenly from its first to its newest, and the seconds
    that went before it: those of the runs before it, joined by + in the order of training.

    Raises ValueError naming a folder that has none.
    """
    found: list[tuple[Path, float]] = []
    before = 0.0
    for run in runs.split("+"):
        paths = [path for path in sorted(Path(run).glob("checkpoint-*")) if path.is_dir()]
        if not paths:
            raise ValueError(f"{run!r} is no run folder: it holds no checkpoint")
        found += [(path, before) for path in paths]
        before += _seconds(paths[-1])
    if len(found) <= most:
        return found
    chosen = np.linspace(len(found) - 1, 0, most).round().astype(int)  # the newest always
    return [found[i] for i in sorted(set(chosen.tolist()))]


def _seconds(path: Path) -> float:
    return float(json.loads((path / "meta.json").read_text())["seconds"])


def measure(
    path: Path, before: float, config: CurveConfig, judge: LuckJudge | None, game: Variant
) -> Row:
    """A checkpoint's seconds of training, `before` seconds before its run included, its run's
    games, its points a game and its errors."""
    meta = json.loads((path / "meta.json").read_text())
    mine = NetPlayer(load_net(str(path), game), str(path), tables=config.tables)
    other = player(str(config.against), game, config.seed, tables=config.tables)
    threads = cores() if config.threads is None else config.threads
    with progress_bar(2 * config.pairs) as bar:
        match = play_match(
            mine, other, game, config.pairs, config.seed, threads=threads,
            finished=bar.update, judge=judge,
        )  # fmt: skip
    told = match.adjusted or match
    return {
        "checkpoint": str(path),
        "seconds": before + float(meta["seconds"]),
        "games": int(meta["games"]),
        "ppg": told.ppg,
        "ci95": told.ci95,
        "raw": {"ppg": match.ppg, "ci95": match.ci95},
        "errors": errors(path, game, config.tables),
    }


def errors(path: Path, game: Variant, tables: bool) -> dict[str, Row]:
    """Millipoints lost a decision of the benchmark, by judge; empty for a game that it has not."""
    scores = decision_scores(str(path), game, tables)
    return {name: {part: s[part] for part in ("loss", "ci95")} for name, s in scores.items()}


def settings(config: CurveConfig, judge: str | None) -> Row:
    """What two measurements must share to stand in one file; judge: None where luck is left in."""
    return {
        "against": config.against,
        "pairs": config.pairs,
        "judge": judge,
        "tables": config.tables,
        "seed": config.seed,
    }


def measured(path: str | None, asked: Row) -> dict[str, list[Row]]:
    """By run, what a file of an earlier call holds. Raises ValueError where it has other settings
    or is none."""
    if path is None or not Path(path).exists():
        return {}
    try:
        found = json.loads(Path(path).read_text())
        theirs, runs = {key: found[key] for key in asked}, found["runs"]
        rows = {run: curve["checkpoints"] for run, curve in runs.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"json={path!r} is there and holds no curve") from None
    for key, value in asked.items():
        if theirs[key] != value:
            raise ValueError(f"json={path!r} was measured with {key}={theirs[key]}, not {value}")
    return rows


# --- when a level is reached -----------------------------------------------------------------


def reached(seconds: Sequence[float], points: Sequence[float], level: float) -> float | None:
    """When a curve, linear between its points, first comes up to `level`: seconds, None for never.

    A curve that begins above it gives its first point's seconds, the latest that it can have been.
    """
    if points and points[0] >= level:
        return float(seconds[0])
    for i in range(1, len(points)):
        if points[i] >= level:
            share = (level - points[i - 1]) / (points[i] - points[i - 1])
            return float(seconds[i - 1] + share * (seconds[i] - seconds[i - 1]))
    return None


def times(rows: Sequence[Row], levels: Sequence[float] = LEVELS["hitting"]) -> dict[str, Row]:
    """For each level seconds, and the earliest and latest of them: when the upper and the lower
    ends of the intervals come up to it. None where that is not yet."""
    rows = sorted(rows, key=lambda row: row["seconds"])
    seconds = [row["seconds"] for row in rows]
    shifts = {"seconds": 0, "earliest": 1, "latest": -1}
    return {
        f"{level:+.2f}": {
            name: reached(seconds, [row["ppg"] + sign * row["ci95"] for row in rows], level)
            for name, sign in shifts.items()
        }
        for level in levels
    }


# --- the command -----------------------------------------------------------------------------


def run(config: CurveConfig) -> None:
    """Measure, print, and write the table and the picture where asked.

    Raises ValueError or OSError naming what is wrong, before anything is played.
    """
    for name in ("json", "plot"):
        check_writable(name, getattr(config, name))
    if config.plot is not None:
        check_picture(config.plot)
    todo = {name: checkpoints(name, config.most) for name in config.runs}
    newest = config.judge or str(todo[config.runs[0]][-1][0])
    game = Net.load(resolve(newest)).variant
    judge = None
    if config.luck or (config.luck is None and (config.judge or game.family == "hitting")):
        judge = LuckJudge(NetRolls(load_net(newest, game)), newest)
    if config.against is None:
        config = replace(config, against=OPPONENTS[game.family])
    levels = LEVELS[game.family]
    player(str(config.against), game)
    for paths in todo.values():
        for path, _ in paths:
            load_net(str(path), game)
    asked = settings(config, None if judge is None else judge.name)
    curves = measured(config.json, asked)
    for name, paths in todo.items():
        rows = curves.setdefault(name, [])
        known = {row["checkpoint"] for row in rows}
        print(f"{name} against {config.against}")
        for path, before in paths:
            if str(path) not in known:
                rows.append(measure(path, before, config, judge, game))
                rows.sort(key=lambda row: row["seconds"])
                if config.json is not None:
                    write_whole(config.json, as_json(asked, curves, levels))
            print(line(next(row for row in rows if row["checkpoint"] == str(path))), flush=True)
        print(times_text(times(rows, levels)))
    if config.json is not None:
        write_whole(config.json, as_json(asked, curves, levels))
    if config.plot is not None:
        plot(curves, config, config.plot, levels)


def line(row: Row) -> str:
    """A checkpoint for a reader."""
    losses = " / ".join(f"{score['loss']:.2f}" for score in row["errors"].values())
    text = (
        f"  {row['seconds']:9,.0f} s {row['games']:11,d} games  "
        f"{row['ppg']:+.4f} ± {row['ci95']:.4f} points a game"
    )
    return f"{text}  error {losses}" if losses else text


def times_text(found: dict[str, Row]) -> str:
    """When each level was reached, for a reader."""
    parts = []
    for level, when in found.items():
        at, early, late = (
            "not yet" if when[name] is None else f"{when[name]:,.0f} s"
            for name in ("seconds", "earliest", "latest")
        )
        parts.append(f"  {level} points a game: {at} (interval: {early} to {late})")
    return "\n".join(parts)


def as_json(
    asked: Row, curves: dict[str, list[Row]], levels: Sequence[float] = LEVELS["hitting"]
) -> bytes:
    """The settings, and each run's checkpoints and times."""
    runs = {
        name: {"checkpoints": rows, "times": times(rows, levels)} for name, rows in curves.items()
    }
    return (json.dumps({**asked, "runs": runs}, indent=2) + "\n").encode()


def label(runs: str) -> str:
    """What the picture calls a curve: the names of its runs, a line each."""
    return "\n+ ".join(Path(run).name for run in runs.split("+"))


def plot(
    curves: dict[str, list[Row]],
    config: CurveConfig,
    path: str,
    levels: Sequence[float] = LEVELS["hitting"],
) -> None:
    """Points a game by minutes, with the benchmark's error dashed on a second axis."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    beside: Any = None
    for number, name in enumerate(config.runs):
        rows, colour = curves[name], f"C{number}"
        minutes = [row["seconds"] / 60 for row in rows]
        points, intervals = ([row[part] for row in rows] for part in ("ppg", "ci95"))
        axes.errorbar(
            minutes, points, yerr=intervals, fmt="o-", ms=3, color=colour, label=label(name)
        )
        if all(row["errors"] for row in rows):
            beside = beside or axes.twinx()
            losses = [np.mean([s["loss"] for s in row["errors"].values()]) for row in rows]
            beside.plot(minutes, losses, "--", lw=1, color=colour)
    for level in levels:
        axes.axhline(level, color="grey", lw=0.5)
    axes.set(xlabel="minutes of training", ylabel=f"points a game against {config.against}, ± 95 %")
    if beside is not None:
        beside.set_ylabel("millipoints lost a decision, mean of the judges (dashed)")
    axes.legend(fontsize=8)
    figure.savefig(path)


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer(
        "train.curve",
        lambda: run(parse_keys(CurveConfig, arguments)),
        arguments,
        help_text(CurveConfig, "usage: python -m train.curve [key=value …]", EXAMPLES),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
