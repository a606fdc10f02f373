"""A run, or several side by side, as one HTML page with its plots inside.

    python -m train.report run=runs/quick
    python -m train.report runs=[runs/a,runs/b] out=compare.html
    python -m train.report sweep=runs/lambda ratings=ratings.json bench=bench.json

Shows strength against games and against seconds, learning curves, error by phase and calibration
on the decision benchmark, and on request ratings (the JSON of a round robin in the arena) and
speed (the JSON of the bench), with the command that repeats each run.
"""

import base64
import html
import io
import json
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from nardy.net.weights import write_whole
from train.arena import check_writable
from train.benchmark_files import FOLDER
from train.benchmark_scores import CHANCES
from train.command_line import answer
from train.config import about, help_text, parse_keys
from train.metrics import TAGS
from train.report_runs import Run, command, read_run, sweep_folders

EXAMPLES = (
    "python -m train.report run=runs/quick",
    "python -m train.report runs=[runs/a,runs/b] out=compare.html",
    "python -m train.report sweep=runs/lambda",
)


@dataclass
class ReportConfig:
    """What to show and where."""

    run: str | None = about("one run folder", None)
    runs: list[str] | None = about("several run folders, laid over each other", None)
    sweep: str | None = about("folder of a sweep, all of whose runs are shown", None)
    out: str = about("the page to write", "report.html")
    ratings: str | None = about("JSON of a round robin (train.arena players=… json=…)", None)
    bench: str | None = about("JSON of speeds (train.bench json=…)", None)
    data: str | None = about("folder of benchmark files, by default the repository's", None)

    def __post_init__(self) -> None:
        """Exactly one of run, runs and sweep."""
        if sum(bool(given) for given in (self.run, self.runs, self.sweep)) != 1:
            raise ValueError("give one of run=, runs= and sweep=")


# --- plots -----------------------------------------------------------------------------------


def picture(draw: Callable[[Any], None], title: str, **labels: Any) -> str:
    """An <img> with a plot inside; `draw` gets the axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.subplots()
    draw(axes)
    axes.set(title="\n".join(textwrap.wrap(title, 66)), **labels)
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)
    memory = io.BytesIO()
    figure.savefig(memory, format="svg")
    text = base64.b64encode(memory.getvalue()).decode()
    return f'<img alt="{html.escape(title)}" src="data:image/svg+xml;base64,{text}">'


def strength(runs: Sequence[Run], against: str, label: str) -> str:
    """Points a game against the strongest fixed opponent that every run has met, leaving out
    runs that have just begun and met none."""
    tags = ("arena/gnubg-nn", "arena/heuristic", "arena/pips", "arena/random")
    gauged = [run for run in runs if run.curve(tags[-1], against)[0]]
    tag = next((t for t in tags if all(run.curve(t, against)[0] for run in gauged)), tags[-1])

    def draw(axes: Any) -> None:
        for run in runs:
            x, y = run.curve(tag, against)
            interval = run.curve(f"{tag}_ci95", against)[1]
            axes.errorbar(x, y, yerr=interval or None, fmt="o-", ms=3, lw=1, label=run.name)

    opponent = tag.removeprefix("arena/")
    return picture(
        draw, f"strength against {opponent}", xlabel=label, ylabel="points a game, ± 95 %"
    )


def curves(runs: Sequence[Run], tag: str) -> str:
    """One tag against games."""

    def draw(axes: Any) -> None:
        for run in runs:
            axes.plot(*run.curve(tag, "games"), label=run.name)
            if tag == "learn/rate":
                axes.set_yscale("log")

    return picture(draw, f"{tag}: {TAGS[tag]}", xlabel="games")


def bars(groups: Sequence[str], series: dict[str, list[float]], title: str, unit: str) -> str:
    """Bars side by side, a group for each name and a colour for each series."""

    def draw(axes: Any) -> None:
        width = 0.8 / len(series)
        for number, (name, values) in enumerate(series.items()):
            places = [group + number * width for group in range(len(groups))]
            axes.bar(places, values, width, label=name)
        axes.set_xticks([g + 0.4 - width / 2 for g in range(len(groups))], groups, rotation=30)
        axes.tick_params(axis="x", labelsize=8)

    return picture(draw, title, ylabel=unit)


def error_by_phase(runs: Sequence[Run]) -> str:
    """Loss a decision by phase, for each run and judge."""
    judged = [run for run in runs if run.references]
    if not judged:
        return ""
    phases = list(next(iter(judged[0].references.values()))["by_phase"])
    series = {
        f"{run.name}, {name}": [score["by_phase"][phase]["loss"] for phase in phases]
        for run in judged
        for name, score in run.references.items()
        if list(score["by_phase"]) == phases  # long nardy has others than short
    }
    return bars(phases, series, "decision benchmark: loss by phase", "millipoints a decision")


def calibration(runs: Sequence[Run], what: str) -> str:
    """Bias, or mean error, of each outcome chance, for each run and judge."""
    judged = [run for run in runs if run.calibration]
    if not judged:
        return ""
    series = {
        f"{run.name}, {name}": [100 * score[what][chance] for chance in CHANCES]
        for run in judged
        for name, score in run.calibration.items()
    }
    groups = [chance.replace("_", " ") for chance in CHANCES]
    return bars(groups, series, f"calibration: {what} of the chances", "percent")


# --- the page --------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table."""
    lines = [f"<tr>{''.join(f'<th>{html.escape(cell)}</th>' for cell in head)}</tr>"]
    for row in rows:
        lines.append(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def summary(runs: Sequence[Run]) -> str:
    """What each run is, how strong it is, and how to repeat it."""
    rows = []
    for run in runs:
        losses = [f"{s['loss']:.2f} ± {s['ci95']:.2f}" for s in run.references.values()]
        points = run.meta["strength"]
        against = [
            f"{name.removeprefix('arena/')} {value:+.3f} ± {points[f'{name}_ci95']:.3f}"
            for name, value in points.items()
            if not name.endswith("_ci95")
        ]
        rows.append(
            [
                run.name,
                run.meta["variant"],
                f"{run.meta['games']:,d}",
                f"{run.meta['seconds'] / 60:.1f}",
                ", ".join(against),
                " / ".join(losses) or "not judged",
                run.meta["commit"],
                command(run.meta),
            ]
        )
    judges = " / ".join(next((list(run.references) for run in runs if run.references), []))
    loss = f"millipoints lost a decision by {judges}" if judges else "decision benchmark"
    return table(
        ["run", "game", "games", "minutes", "points a game", loss, "commit", "to repeat"], rows
    )


def ratings_table(path: str) -> str:
    """Ratings of a round robin, drawn and as a table. Raises ValueError for any other file."""
    found = _figures("ratings", path, "players", ("name", "elo", "ci95", "ppg", "games"))
    players = sorted(found["players"], key=lambda p: -p["elo"])

    def draw(axes: Any) -> None:
        places = range(len(players), 0, -1)
        intervals = [p["ci95"] for p in players]
        axes.errorbar([p["elo"] for p in players], places, xerr=intervals, fmt="o", ms=4)
        axes.set_yticks(places, [p["name"] for p in players])

    rows = [
        [p["name"], f"{p['elo']:+.0f} ± {p['ci95']:.0f}", f"{p['ppg']:+.3f}", f"{p['games']:,d}"]
        for p in players
    ]
    drawn = picture(draw, "ratings", xlabel="Elo from wins, ± 95 %")
    cells = table(["player", "Elo ± 95 %", "points a game", "games"], rows)
    return f"<h2>Ratings</h2>{drawn}{cells}"


def speed_table(path: str) -> str:
    """Speeds of a bench. Raises ValueError for any other file."""
    figures = _figures("bench", path, "stages", ("rate", "unit", "peer", "ratio"))
    rows = [
        [
            name,
            f"{stage['rate']:,.1f} {stage['unit']}",
            ", ".join(f"{peer} {rate:,.0f}" for peer, rate in stage["peer"].items()),
            f"{stage['ratio']:.1f} ×" if stage["ratio"] else "",
        ]
        for name, stage in figures["stages"].items()
    ]
    title = f"<h2>Speed on {html.escape(figures['machine'])}, {figures['threads']} cores</h2>"
    return title + table(["stage", "ours", "peers", "ratio"], rows)


def _figures(key: str, path: str, part: str, names: Sequence[str]) -> Any:
    """What the JSON file of the argument `key` holds.

    Raises ValueError for one without `part`, or where something there lacks one of `names`.
    """
    try:
        found = json.loads(Path(path).read_text())
        there = found[part].values() if isinstance(found[part], dict) else found[part]
        whole = all(name in one for one in there for name in names)
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise ValueError(f"{key}={path!r} is no JSON file with {part!r}")
    return found


STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:1320px;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;font-size:13px}td,th{border:1px solid #ccc;padding:.3em .6em;
text-align:left;vertical-align:top}h1,td:last-child{overflow-wrap:anywhere}img{width:49%;min-width:380px}"""


def page(runs: Sequence[Run], config: ReportConfig) -> str:
    """The whole page."""
    title = "nardy: " + ", ".join(run.name for run in runs)
    learning = [
        curves(runs, tag)
        for tag in ("learn/loss", "learn/td_error", "learn/rate", "play/length", "play/gammons",
                    "play/games_per_s", "system/memory_mb")
    ]  # fmt: skip
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        summary(runs),
        "<h2>Strength</h2>",
        strength(runs, "games", "games of self-play"),
        strength(runs, "system/seconds", "seconds of training"),
        "<h2>Errors</h2>",
        error_by_phase(runs),
        calibration(runs, "bias"),
        calibration(runs, "error"),
        "<h2>Learning</h2>",
        *learning,
        ratings_table(config.ratings) if config.ratings else "",
        speed_table(config.bench) if config.bench else "",
    ]
    body = "\n".join(part for part in parts if part)
    head = f"<meta charset=utf-8><title>{html.escape(title)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang=en><head>{head}</head><body>{body}</body></html>\n"


def folders(config: ReportConfig) -> list[tuple[Path, str]]:
    """The run folders asked for and what to call each. Raises ValueError for no sweep.

    A run is called as its folder is, or by its path where two folders are called alike.
    """
    if config.sweep is not None:
        return sweep_folders(Path(config.sweep))
    paths = [Path(path) for path in dict.fromkeys(config.runs or [config.run or ""])]
    alike = Counter(path.name for path in paths)
    return [(path, path.name if alike[path.name] == 1 else str(path)) for path in paths]


def run(config: ReportConfig) -> None:
    """Write the page. Raises ValueError or OSError naming what is wrong."""
    check_writable("out", config.out)
    data = FOLDER if config.data is None else Path(config.data)
    if config.data is not None and not data.is_dir():
        raise ValueError(f"data={config.data!r} is no folder")
    asked = folders(config)
    runs = [read_run(path, name, data) for path, name in tqdm(asked, unit="run", delay=3)]
    write_whole(config.out, page(runs, config).encode())
    print(config.out)


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer(
        "train.report",
        lambda: run(parse_keys(ReportConfig, arguments)),
        arguments,
        help_text(ReportConfig, "usage: python -m train.report [key=value …]", EXAMPLES),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
