"""Judge a player by decisions whose value is known: what its moves, chances and cube cost.

    python -m train.benchmark net=checkpoints/short-01
    python -m train.benchmark net=runs/quick other=runs/quick/best json=result.json
    python -m train.benchmark net=gnubg ply=1 files=[benchmarks/decisions_short.npz,contact.bm]
    python -m train.benchmark make=decisions_mine.npz engine=gnubg decisions=200 seed=1

net and other: random, pips, heuristic (long nardy), gnubg-nn, gnubg, bgsage, or a run folder,
checkpoint or exported net; each is judged by the files of its game. BenchmarkConfig lists the keys;
benchmarks/README.md the files and the baselines. Never train on these files. Nothing here is random
except what make= samples. Files judged by a net, as of long nardy: train.benchmark_rollout.
"""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from nardy.net.weights import write_whole
from nardy.notation.moves import move_texts
from nardy.play.board_text import draw
from nardy.rules.variants import variant
from train.arena import check_writable
from train.benchmark_files import (
    FOLDER,
    Decisions,
    benchmark_files,
    kind_of,
    read_cubes,
    read_decisions,
    read_values,
    variant_of,
)
from train.benchmark_players import Subject, game_of, subject
from train.benchmark_scores import (
    BLUNDER,
    CHANCES,
    CLOSE,
    PR_FACTOR,
    Rows,
    Score,
    cube_actions,
    score_cubes,
    score_decisions,
    score_difference,
    score_values,
    worst,
)
from train.command_line import answer
from train.config import about, help_text, parse_keys

EXAMPLES = (
    "python -m train.benchmark net=checkpoints/short-01",
    "python -m train.benchmark net=runs/quick other=runs/quick/best json=result.json",
    "python -m train.benchmark net=gnubg ply=1 worst=0",
    "python -m train.benchmark make=decisions_mine.npz engine=gnubg decisions=200 seed=1",
)
CHECKERS = 15


@dataclass
class BenchmarkConfig:
    """One judgement, or with `make` one new file."""

    net: str | None = about(
        "random, pips, heuristic, gnubg-nn, gnubg, bgsage, or a path to a net", None
    )
    other: str | None = about("whom to compare it with, decision by decision", None)
    ply: int = about("how many plies both look ahead: 0, 1 or 2", 0)
    tables: bool = about("nets use the bear-off tables, as nardy play does", False)
    files: list[str] | None = about("files to judge by, instead of all in `data`", None)
    data: str | None = about("folder of benchmark files, by default the repository's", None)
    worst: int = about("worst positions to draw for each file of moves", 20)
    json: str | None = about("file to write the scores to", None)
    make: str | None = about("file to make, decisions_*.npz, instead of judging", None)
    engine: str = about("who makes it: gnubg-nn, gnubg or bgsage", "gnubg-nn")
    decisions: int = about("how many decisions to make", 200)
    seed: int = about("of the games that make= plays", 0)

    def __post_init__(self) -> None:
        """Refuse what cannot be done, by name."""
        if (self.net is None) == (self.make is None):
            raise ValueError("give either net=, whom to judge, or make=, the file to make")
        if self.worst < 0:
            raise ValueError(f"worst must be at least 0, not {self.worst!r}")


def run(config: BenchmarkConfig) -> None:
    """Judge or make, print, and write the scores where `json` says.

    Raises ValueError or OSError naming what is wrong, before the judging where it can.
    """
    if config.make is not None:
        from train.benchmark_make import make_file

        count = make_file(config.make, config.engine, config.decisions, config.seed)
        print(f"{config.make}: {count} decisions judged by {config.engine}")
        return
    check_writable("json", config.json)
    assert config.net is not None
    files, name = files_to_judge(config)
    game = variant(name)
    judged = subject(config.net, config.ply, config.tables, game)
    other = None if config.other is None else subject(config.other, config.ply, config.tables, game)
    scores = [_judge(path, judged, other, config.worst) for path in files]
    for each in (judged, other):
        if each is not None:
            each.close()
    if config.json is not None:
        write_whole(config.json, as_json(config, scores))


def files_to_judge(config: BenchmarkConfig) -> tuple[list[Path], str]:
    """The files, and the name of the game that they are all of: that of the files where they are
    named, else that of the players, and of the folder's files those of that game.

    Raises ValueError naming files of several games, or a game that there are no files of.
    """
    folder = FOLDER if config.data is None else Path(config.data)
    files = benchmark_files(folder, config.files)
    games = [variant_of(path) for path in files]
    if config.files is not None:
        if len(set(games)) > 1:
            raise ValueError(f"files are of {' and '.join(sorted(set(games)))}; judge by one game")
        return files, games[0]
    played = (_nardy_of(player) for player in (config.net, config.other) if player)
    name = next((game for game in played if game), "short")
    if name not in games:
        raise ValueError(f"{str(folder)!r} holds no benchmark file of {name} nardy")
    return [path for path, game in zip(files, games, strict=True) if game == name], name


def _nardy_of(player: str) -> str | None:
    """long or short, by the game that a player knows; None for those who are not nets."""
    if player == "heuristic":
        return "long"
    game = game_of(player)
    return None if game is None else "long" if game.family == "blocking" else "short"


def _judge(path: Path, judged: Subject, other: Subject | None, show: int) -> Score:
    """Score one file, printing the scores; {"kind", "file", ...}."""
    kind = kind_of(path)
    if kind == "decisions":
        return judge_decisions(read_decisions(path), judged, other, show)
    score: Score = {"kind": kind, "file": path.name}
    if kind == "values":
        if judged.chances is None:
            print(f"\n{path.name}: {judged.name} has no outcome chances to judge")
            return score
        values = read_values(path)
        score["references"] = score_values(values, judged.chances(values.boards))
        print(values_text(judged.name, path.name, len(values.boards), score["references"]))
        return score
    if judged.cube_values is None:
        print(f"\n{path.name}: {judged.name} has no cube actions to judge")
        return score
    cubes = read_cubes(path)
    actions = cube_actions(judged.cube_values(cubes))
    score["references"] = score_cubes(cubes, *actions)
    print(cubes_text(judged.name, path.name, cubes.match, score["references"]))
    return score


def judge_decisions(
    decisions: Decisions, judged: Subject, other: Subject | None = None, show: int = 0
) -> Score:
    """Score a file of moves and print it: {"kind", "file", "decisions", "references"}, and with
    `other` for each reference also "difference", judged less other."""
    rows = judged.play(decisions)
    references = score_decisions(decisions, rows)
    print(decisions_text(judged.name, decisions, references))
    if other is not None:
        apart = score_difference(decisions, rows, other.play(decisions))
        print(difference_text(judged.name, other.name, apart))
        for name, score in apart.items():
            references[name]["difference"] = {"other": other.name, **score}
    if rows is not None and show:
        print(worst_text(decisions, rows, show))
    count = len(decisions.boards)
    return {
        "kind": "decisions",
        "file": decisions.file,
        "decisions": count,
        "references": references,
    }


def as_json(config: BenchmarkConfig, scores: list[Score]) -> bytes:
    """One object: net, ply, then the first file of moves as `file`, `decisions` and `references`
    (losses in millipoints a decision), and every file as `files`."""
    moves = [score for score in scores if score["kind"] == "decisions"]
    top = {key: value for key, value in (moves or [{}])[0].items() if key != "kind"}
    values: dict[str, Any] = {"net": config.net, "ply": config.ply, **top, "files": scores}
    return (json.dumps(values, indent=2) + "\n").encode()


# --- text ------------------------------------------------------------------------------------


def decisions_text(name: str, decisions: Decisions, references: Score) -> str:
    """What moves cost, for a reader: overall, by phase and by the size of the error."""
    count, games = len(decisions.boards), len(np.unique(decisions.games))
    lines = [
        f"\n{decisions.file}: {count} decisions of {games} games, played by {name}",
        _row("millipoints lost a decision ± 95 %", "decisions", references),
        _row("all", str(count), [_interval(score) for score in references.values()]),
    ]
    first = next(iter(references.values()))
    for phase, part in first["by_phase"].items():
        cells = [_interval(score["by_phase"][phase]) for score in references.values()]
        lines.append(_row(f"  {phase}", str(part["decisions"]), cells))
    prs = [f"{score['pr']:.2f}" for score in references.values()]
    blunders = [f"{score['blunders']:.2%}" for score in references.values()]
    lines.append(_row(f"PR ({PR_FACTOR:.0f} points lost a decision)", "", prs))
    lines.append(_row(f"blunders (above {BLUNDER})", "", blunders))
    lines.append(_row("error in points: share, millipoints", "", [""] * len(prs)))
    for size in first["by_size"]:
        parts = [score["by_size"][size] for score in references.values()]
        lines.append(_row(f"  {size}", "", [f"{p['share']:.1%} {p['loss']:7.2f}" for p in parts]))
    return "\n".join(line.rstrip() for line in lines)


def difference_text(name: str, other: str, apart: Score) -> str:
    """The paired difference between two players, one line for each reference."""
    lines = [f"{name} less {other}, paired, millipoints a decision (below 0: {name} is better):"]
    for reference, score in apart.items():
        lines.append(f"  {reference:10} {score['loss']:+.2f} ± {score['ci95']:.2f}")
    return "\n".join(lines)


def worst_text(decisions: Decisions, rows: Rows, count: int) -> str:
    """The decisions that cost most, each drawn, with the move played and the best by each judge."""
    parts = []
    for place, i in enumerate(worst(decisions, rows, count).tolist(), 1):
        begin, end = decisions.results.offsets[i : i + 2].tolist()
        board, dice = decisions.boards[i], decisions.dice[i]
        texts = move_texts(board, dice, decisions.results.boards[begin:end], decisions.family)
        roll = "-".join(map(str, sorted(dice.tolist(), reverse=True)))
        title = f"\n{place}. decision {i} of {decisions.file}: played {texts[rows[i] - begin]}"
        for name, losses in decisions.losses.items():
            best = texts[int(losses[begin:end].argmin())]
            title += f"\n   {name}: best {best}, lost {losses[rows[i]]:.3f}"
        picture = draw(board, CHECKERS, ("to move", "opponent"), f"rolls {roll}", decisions.family)
        parts.append(f"{title}\n{picture}")
    return "\n".join(parts)


def values_text(name: str, file: str, count: int, references: Score) -> str:
    """How far outcome chances are off, in percent, and the equity that follows from them."""
    lines = [
        f"\n{file}: {count} positions, chances by {name}",
        _row("percent: bias, mean error", "", references),
    ]
    for chance in CHANCES:
        cells = [
            f"{100 * s['bias'][chance]:+.2f} {100 * s['error'][chance]:6.2f}"
            for s in references.values()
        ]
        lines.append(_row(f"  {chance.replace('_', ' ')}", "", cells))
    errors = [f"{score['equity_error']:.1f}" for score in references.values()]
    lines.append(_row("equity, mean error in millipoints", "", errors))
    for phase in next(iter(references.values()))["by_phase"]:
        cells = [f"{score['by_phase'][phase]:.1f}" for score in references.values()]
        lines.append(_row(f"  {phase}", "", cells))
    return "\n".join(line.rstrip() for line in lines)


def cubes_text(name: str, file: str, match: bool, references: Score) -> str:
    """What cube actions cost a position."""
    unit = "hundredths of a percent of the match" if match else "millipoints"
    count = next(iter(references.values()))["doubling"]["decisions"]
    lines = [
        f"\n{file}: {count} positions, cube by {name}",
        _row(f"{unit} ± 95 %", "", references),
    ]
    for part in ("doubling", "taking"):
        cells = [_interval(score[part]) for score in references.values()]
        lines.append(_row(f"  {part}", "", cells))
    lines.append(_row(f"agrees where actions are within {CLOSE}: share, of how many", "", []))
    for part in ("doubling", "taking"):
        close = [score[part]["close"] for score in references.values()]
        cells = [f"{c['agrees'] or 0:.1%} of {c['decisions']}" for c in close]
        lines.append(_row(f"  {part}", "", cells))
    return "\n".join(line.rstrip() for line in lines)


def _interval(score: Score) -> str:
    return f"{score['loss']:.2f} ± {score['ci95']:.2f}"


def _row(title: str, count: str, cells: Any) -> str:
    return f"{title:38}{count:>9}" + "".join(f"{cell:>18}" for cell in cells)


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer(
        "train.benchmark",
        lambda: run(parse_keys(BenchmarkConfig, arguments)),
        arguments,
        help_text(
            BenchmarkConfig, "python -m train.benchmark net=PLAYER [key=value ...]", EXAMPLES
        ),
        stopped="interrupted, no result",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
