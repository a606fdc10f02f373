"""The learned cube: a head that is fitted to what the cube is worth one roll later.

    python -m train.cube_head net=checkpoints/short-01 minutes=30
    python -m train.cube_head net=checkpoints/short-01 name=more init=runs/cube resume=auto

The net itself stays as it is, so its moves without the cube do too. Games are played without a
cube; each of their positions is priced in several contexts: money or a match score, and who owns
the cube (train.cube_prices). A copy of the head that is averaged over its steps gives the prices
and is what is written. The run's folder holds what one of `python -m train` does: checkpoints, each
a net with its cube, metrics.jsonl, TensorBoard's files, and at the end `net`.
"""

import json
import math
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf
from tqdm import tqdm

from nardy.net.net import Net
from nardy.net.weights import write_whole
from nardy.play.cube_head import FILE
from nardy.play.cubeful import check_learnt
from train import checkpoint
from train.arena import check_writable
from train.command_line import answer
from train.config import help_text, parse_keys
from train.cube_exact import race_errors
from train.cube_trainer import Figures, HeadConfig, Trainer
from train.export import export
from train.loop import BAR, RUNS, commit, stop_signals
from train.metrics import Metrics, memory_mb

LIBERTIES = ("to", "minutes", "report_minutes", "checkpoint_minutes", "keep", "resume", "json")
"""What a resumed run may change."""
EXAMPLES = (
    "python -m train.cube_head net=checkpoints/short-01 minutes=30",
    "python -m train.cube_head net=checkpoints/short-01 minutes=60 resume=auto",
    "python -m train.cube_head net=runs/two/net name=cube2 init=runs/cube to=checkpoints/short-02",
)

Clock = Callable[[], float]
"""Counts seconds."""


def run(
    config: HeadConfig,
    folder: Path,
    overrides: Sequence[str] = (),
    clock: Clock = time.perf_counter,
) -> dict[str, Any]:
    """Learn, or go on learning, in `folder`; what its card needs. overrides: keys given by hand.

    Raises ValueError where something is wrong, and FloatingPointError where the loss stops being a
    number.
    """
    commit()  # now: files may change while the run goes on with the code it has read
    target = folder / "net" if config.to is None else Path(config.to)
    if config.to is not None and target.exists():
        raise ValueError(f"{config.to!r} exists already; nothing was overwritten")
    trainer = _start(config, folder, overrides)
    if trainer.progress >= 1 and target.exists():  # done before
        said: dict[str, Any] = json.loads((target / "meta.json").read_text())["cube"]
        return said
    metrics = Metrics(folder, OmegaConf.to_yaml(OmegaConf.structured(trainer.config)))
    try:
        with stop_signals() as stopped:
            figures = _turns(trainer, folder, metrics, stopped, clock)
        if stopped:
            raise KeyboardInterrupt
    finally:
        metrics.close()
    if config.to is None:
        shutil.rmtree(target, ignore_errors=True)
    return write(trainer, target, figures)


def _start(config: HeadConfig, folder: Path, overrides: Sequence[str]) -> Trainer:
    net = Net.load(checkpoint.resolve(config.net))
    check_learnt(net.variant)
    if not any(folder.glob("checkpoint-*")):
        trainer = Trainer(net, config, folder)  # first: where it refuses, no folder is left behind
        folder.mkdir(parents=True, exist_ok=True)
        return trainer
    if config.resume != "auto":
        raise ValueError(f"{str(folder)!r} holds a run already; resume=auto goes on with it")
    checkpoint.mark_latest(folder, max(folder.glob("checkpoint-*")))
    meta, state, arrays = checkpoint.load(folder)
    trainer = Trainer(net, merge(config, state["config"], overrides), folder)
    if not _same(net, Net.load(checkpoint.resolve(folder))):
        raise ValueError(f"{config.net!r} is not the net whose cube the run learns")
    trainer.restore(state, arrays)
    return trainer


def merge(asked: HeadConfig, stored: dict[str, Any], overrides: Sequence[str]) -> HeadConfig:
    """The stored configuration with what may change taken from `asked`.

    Raises ValueError where an override asks for another value of what may not change.
    """
    for name in {override.split("=")[0] for override in overrides} - {*LIBERTIES, "net"}:
        if stored.get(name) != getattr(asked, name):
            raise ValueError(
                f"the run has {name}={stored.get(name)!r}; "
                f"it cannot go on with {name}={getattr(asked, name)!r}"
            )
    known = {name: value for name, value in stored.items() if name not in LIBERTIES}
    try:
        return replace(asked, **known)
    except TypeError as error:
        raise ValueError(f"the run's configuration is not one of this code: {error}") from None


def _same(one: Net, other: Net) -> bool:
    if one.table.shape != other.table.shape or len(one.tails) != len(other.tails):
        return False
    arrays = [(one.table, other.table), (one.pairs, other.pairs), (one.bias, other.bias)]
    for tail, other_tail in zip(one.tails, other.tails, strict=True):
        for layer, other_layer in zip(tail, other_tail, strict=True):
            arrays += list(zip(layer, other_layer, strict=True))
    return all(np.array_equal(a, b) for a, b in arrays)


def _turns(
    trainer: Trainer, folder: Path, metrics: Metrics, stopped: list[int], clock: Clock
) -> dict[str, float]:
    """Turns until the run is done or stopped; the last figures, by tag."""
    config, figures = trainer.config, Figures()
    now = last_report = last_save = clock()
    begun, saved, values = trainer.seconds, -1, dict[str, float]()
    done = 100 * min(trainer.progress, 1)
    every = 0.5 if sys.stderr.isatty() else 30
    with tqdm(total=100.0, initial=done, unit="%", bar_format=BAR, mininterval=every) as bar:
        while trainer.progress < 1 and not stopped:
            figures += trainer.turn()
            if not math.isfinite(figures.loss):
                raise FloatingPointError(f"the loss became {figures.loss} in turn {trainer.turns}")
            before, now = now, clock()
            trainer.seconds += now - before
            bar.update(min(100 * trainer.progress, 100) - bar.n)
            if now - last_report >= 60 * config.report_minutes or trainer.progress >= 1:
                values = report(trainer, figures, trainer.seconds - begun, metrics)
                figures, begun, last_report = Figures(), trainer.seconds, now
            if now - last_save >= 60 * config.checkpoint_minutes:
                save(trainer, folder, metrics)
                saved, last_save = trainer.turns, now
    if saved != trainer.turns:
        save(trainer, folder, metrics)
    return values


def report(
    trainer: Trainer, figures: Figures, seconds: float, metrics: Metrics
) -> dict[str, float]:
    """Write down the figures of the last `seconds`; by tag (metrics.TAGS)."""
    prices, tally = max(figures.prices, 1), figures.tally
    head = trainer.head()
    values = {
        "cube/off_by": math.sqrt(figures.ours / prices),
        "cube/formula_off_by": math.sqrt(figures.formula / prices),
        "cube/race_error": race_errors(trainer.net, head, 2000, trainer.config.seed),
        "cube/race_error_formula": race_errors(trainer.net, None, 2000, trainer.config.seed),
        "cube/prices": trainer.memory.added,
        "cube/prices_per_s": figures.prices / seconds if seconds else math.nan,
        "learn/loss": figures.loss / figures.steps if figures.steps else math.nan,
        "learn/rate": trainer.rate,
        "learn/steps": trainer.steps,
        "play/games": trainer.played,
        "play/positions_per_s": tally.turns / seconds if seconds else math.nan,
        "system/memory_mb": memory_mb(),
        "system/seconds": trainer.seconds,
    }
    metrics.write(trainer.played, values)
    shown = (
        f"{trainer.seconds / 60:6.1f} min",
        f"{trainer.memory.added:11,d} prices",
        f"{values['cube/prices_per_s']:6.0f} prices/s",
        f"off by {values['cube/off_by']:.4f} of {values['cube/formula_off_by']:.4f}",
        f"races {values['cube/race_error']:.4f} of {values['cube/race_error_formula']:.4f}",
        f"rate {trainer.rate:.1e}",
    )
    tqdm.write("  ".join(shown))
    return values


def save(trainer: Trainer, folder: Path, metrics: Metrics) -> None:
    """Write a checkpoint: the net with the head as it stands, and what a resumed run needs."""
    state, arrays = trainer.state()
    meta = {**trainer.net.meta, "cube": card(trainer, {}), "state": state}
    head = {FILE: trainer.head().tensors()}
    checkpoint.save(folder, trainer.turns, trainer.net, meta, arrays, head)
    checkpoint.prune(folder, trainer.config.keep)
    metrics.histograms(trainer.played, trainer.network)


def card(trainer: Trainer, figures: dict[str, float]) -> dict[str, Any]:
    """What a card says of a learned cube."""
    config = {k: v for k, v in asdict(trainer.config).items() if v != getattr(HeadConfig, k)}
    keys = " ".join(
        f"{key}={value}" for key, value in config.items() if key not in ("resume", "json")
    )
    return {
        "command": f"python -m train.cube_head {keys}",
        "seed": trainer.config.seed,
        "commit": commit(),
        "minutes": round(trainer.seconds / 60, 2),
        "games": trainer.played,
        "prices": trainer.memory.added,
        "steps": trainer.steps,
        "figures": {k: round(v, 5) for k, v in figures.items() if k.startswith("cube/")},
    }


def write(trainer: Trainer, to: Path, figures: dict[str, float]) -> dict[str, Any]:
    """Export the net that the head was learnt on with the head, all of it or nothing; its card."""
    said = card(trainer, figures)
    export(trainer.net, {**trainer.net.meta, "cube": said}, to, head=trainer.head())
    return said


def _learn(config: HeadConfig, arguments: list[str]) -> None:
    """Learn, write what was asked for, and say where the net is."""
    check_writable("json", config.json)
    said = run(config, RUNS / config.name, arguments)
    if config.json:
        write_whole(config.json, json.dumps(said, indent=1).encode())
    where = config.to or str(RUNS / config.name / "net")
    print(f"{where}: the net of {config.net} with a learned cube, {said['prices']:,d} prices")


def main(arguments: list[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer(
        "train.cube_head",
        lambda: _learn(parse_keys(HeadConfig, arguments), arguments),
        arguments,
        help_text(HeadConfig, "python -m train.cube_head net=PATH [key=value …]", EXAMPLES),
        stopped="stopped; resume=auto goes on from here",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
