"""The loop of a run: rounds, figures, matches, checkpoints, and the end."""

import json
import math
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from tqdm import tqdm

from nardy.net.net import Net
from train import checkpoint
from train.config import Config, flatten, to_object
from train.export import export
from train.match import play_match
from train.metrics import Metrics, memory_mb
from train.players import NetPlayer, installed_opponents, player
from train.selfplay import Tally
from train.trainer import Round, Trainer

RUNS = Path("runs")
LIBERTIES = (
    "name", "games", "minutes", "device", "precision", "gauge_minutes", "gauge_pairs",
    "checkpoint_minutes", "keep", "resume",
)  # fmt: skip
"""What a resumed run may change."""
SHOWN = (
    ("loss", "learn/loss", ".4f"),
    ("td", "learn/td_error", ".3f"),
    ("rate", "learn/rate", ".1e"),
)
"""What a line says of the learning, where it is known."""
BAR = "{l_bar}{bar}| {elapsed} gone, {remaining} left"


class Window:
    """Figures summed since the last line was written."""

    def __init__(self, outcomes: tuple[int, ...]) -> None:
        """outcomes: of the game; what it never pays is left out."""
        self.outcomes = outcomes
        self.tally = Tally()
        self.losses: list[tuple[int, float]] = []
        self.rate = math.nan
        self.seconds = 0.0

    def add(self, done: Round, seconds: float) -> None:
        """Count one round, which took so long."""
        self.tally += done.tally
        self.seconds += seconds
        self.rate = done.rate
        if done.fit.steps:
            self.losses.append((done.fit.steps, done.fit.loss))

    def values(self) -> dict[str, float]:
        """By tag (metrics.TAGS); what there was nothing to measure by is not a number."""
        tally, seconds = self.tally, self.seconds
        games, positions = tally.games or math.nan, tally.positions or math.nan
        begun = tally.games + tally.others
        steps = sum(steps for steps, _ in self.losses)
        loss = sum(steps * loss for steps, loss in self.losses) / steps if steps else math.nan
        return {
            "play/length": tally.length / games,
            "play/gammons": tally.gammons / games,
            "play/backgammons": tally.backgammons / games if 3 in self.outcomes else math.nan,
            "play/draws": tally.draws / games if 0 in self.outcomes else math.nan,
            "play/cut_off": tally.cut_off / games,
            "play/other_starts": tally.others / (begun or math.nan),
            "play/games_per_s": (begun + tally.followed) / seconds,
            "play/positions_per_s": positions / seconds,
            "learn/loss": loss,
            "learn/td_error": tally.td_error / positions,
            "learn/rate": self.rate,
            "system/memory_mb": memory_mb(),
        }


def run(config: Config, folder: Path, overrides: Sequence[str] = ()) -> Path:
    """Train, or go on training, in `folder`; the folder of the exported net.

    Raises ValueError where the folder holds a run that cannot be gone on with, and
    FloatingPointError where the loss stops being a number.
    """
    commit()  # now: files may change while the run goes on with the code it has read
    trainer, best = _start(config, folder, overrides)
    config = trainer.config
    text = OmegaConf.to_yaml(OmegaConf.structured(config))
    metrics = Metrics(folder, text)
    try:
        with ThreadPoolExecutor(config.threads) as pool, stop_signals() as stopped:
            best = _rounds(trainer, folder, metrics, pool, best, stopped)
        if stopped:
            raise KeyboardInterrupt
        return _finish(trainer, folder, metrics)
    finally:
        metrics.close()


def _start(config: Config, folder: Path, overrides: Sequence[str]) -> tuple[Trainer, float]:
    if not (folder / "latest").exists() and not any(folder.glob("checkpoint-*")):
        trainer = Trainer(config, folder)  # first: where it refuses, no folder is left behind
        if config.init is not None:
            trainer.take_weights(Path(config.init))
        if config.init_memory is not None:
            trainer.take_memory(Path(config.init_memory))
        folder.mkdir(parents=True, exist_ok=True)
        return trainer, -math.inf
    if config.resume != "auto":
        raise ValueError(f"{str(folder)!r} holds a run already; resume=auto goes on with it")
    if not (folder / "latest").exists():
        # killed between the first checkpoint's renaming and `latest`: what has its name is whole
        checkpoint.mark_latest(folder, max(folder.glob("checkpoint-*")))
    _, state, arrays = checkpoint.load(folder)
    trainer = Trainer(merge(config, state["config"], overrides), folder)
    trainer.restore(state, arrays)
    if trainer.memory is not None and trainer.memory.lost:
        print(
            f"train: {trainer.memory.lost:,d} remembered positions are lost; new ones will take "
            "their places",
            file=sys.stderr,
        )
    return trainer, state["best"] if state["best"] is not None else -math.inf


def merge(asked: Config, stored: dict[str, Any], overrides: Sequence[str]) -> Config:
    """The stored configuration with what may change taken from `asked`.

    Raises ValueError where an override asks for another value of what may not change, or what is
    stored is no configuration of this code.
    """
    if start := stored.get("variant", {}).get("start"):  # JSON has no numbers as keys
        start = {int(point): count for point, count in start.items()}
        stored = {**stored, "variant": {**stored["variant"], "start": start}}
    new, old = flatten(asdict(asked)), flatten(stored)
    named = {override.lstrip("+~").split("=")[0] for override in overrides}
    for key, value in new.items():
        asked_for = key in named or key.split(".")[0] in named  # by itself or with its group
        if key in old and old[key] != value and asked_for and key not in LIBERTIES:
            raise ValueError(
                f"the run has {key}={old[key]!r}; it cannot go on with {key}={value!r}"
            )
    whole = {**stored, **{key: getattr(asked, key) for key in LIBERTIES}}
    try:
        return to_object(OmegaConf.merge(OmegaConf.structured(Config), whole), Config)
    except OmegaConfBaseException as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"the run's configuration is not one of this code: {reason}") from None


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Collects SIGINT and SIGTERM, so that the round in hand ends and is saved."""
    received: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: received.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _rounds(
    trainer: Trainer,
    folder: Path,
    metrics: Metrics,
    pool: ThreadPoolExecutor,
    best: float,
    stopped: list[int],
) -> float:
    """Rounds until the run is done or stopped; the best gauge so far."""
    config = trainer.config
    clock = last_gauge = last_save = time.perf_counter()
    window = Window(trainer.variant.outcomes)
    unfinished = trainer.progress() < 1
    saved = -1
    done_before = 100 * min(trainer.progress(), 1)
    with tqdm(
        total=100.0,
        initial=done_before,
        unit="%",
        bar_format=BAR,
        mininterval=0.5 if sys.stderr.isatty() else 30,
    ) as bar:
        while trainer.progress() < 1 and not stopped:
            done = trainer.round(pool)
            if done.fit.steps and not math.isfinite(done.fit.loss):
                raise FloatingPointError(
                    f"the loss became {done.fit.loss} in round {trainer.rounds}"
                )
            now = time.perf_counter()
            window.add(done, now - clock)
            trainer.seconds += now - clock
            clock = now
            bar.update(min(100 * trainer.progress(), 100) - bar.n)
            if now - last_gauge >= 60 * config.gauge_minutes:
                values = window.values() | gauge(trainer, config.gauge_pairs)
                _report(trainer, metrics, values)
                window, clock = Window(trainer.variant.outcomes), time.perf_counter()
                last_gauge = clock
            if now - last_save >= 60 * config.checkpoint_minutes:
                best = save(trainer, folder, best, config.gauge_pairs)
                saved = trainer.rounds
                metrics.histograms(trainer.games, trainer.network)
                last_save = clock = time.perf_counter()
    if unfinished and saved != trainer.rounds:
        save(trainer, folder, best, config.gauge_pairs)
    return best


def _report(trainer: Trainer, metrics: Metrics, values: dict[str, float]) -> None:
    values |= {
        "play/games": trainer.games,
        "learn/steps": trainer.learner.steps,
        "system/seconds": trainer.seconds,
    }
    metrics.write(trainer.games, values)
    shown = [
        f"{trainer.seconds / 60:6.1f} min",
        f"{trainer.games:9,d} games",
        f"{values['play/games_per_s']:6.0f} games/s",
        *(
            f"{name} {values[tag]:{form}}"
            for name, tag, form in SHOWN
            if math.isfinite(values[tag])
        ),
        *(
            f"{name} {values[f'arena/{name}']:+.3f}"
            for name in installed_opponents(trainer.variant)
        ),
    ]
    tqdm.write("  ".join(shown))


def gauge(
    trainer: Trainer, pairs: int, finished: Callable[[int], Any] | None = None
) -> dict[str, float]:
    """Points a game of the net as it stands against each fixed opponent, by tag.

    finished: called with a number of games that have just ended.
    """
    values = {}
    mine = NetPlayer(trainer.net(), "net")
    for name in installed_opponents(trainer.variant):
        match = play_match(
            mine, player(name, trainer.variant, seed=trainer.config.seed), trainer.variant,
            pairs=pairs, seed=trainer.config.seed, threads=trainer.config.threads,
            finished=finished,
        )  # fmt: skip
        values[f"arena/{name}"] = match.ppg
        values[f"arena/{name}_ci95"] = match.ci95
    return values


def save(trainer: Trainer, folder: Path, best: float, pairs: int) -> float:
    """Write a checkpoint; the best gauge so far. `best` points to the checkpoint that has it."""
    strength = gauge(trainer, pairs)
    judge = installed_opponents(trainer.variant)[-1]  # the strongest comes last
    points = strength[f"arena/{judge}"]
    state, arrays = trainer.state()
    state["best"] = max(points, best)
    meta = {
        "games": trainer.games,
        "seconds": round(trainer.seconds, 1),
        "strength": strength,
        "config": _json_values(asdict(trainer.config)),
        "commit": commit(),
        "state": state,
    }
    written = checkpoint.save(folder, trainer.rounds, trainer.net(), meta, arrays)
    trainer.forget_stages()
    if points >= best:
        checkpoint.mark_best(folder, written)
    checkpoint.prune(folder, trainer.config.keep)
    return max(points, best)


def _json_values(values: dict[str, Any]) -> dict[str, Any]:
    """`values` with null for what is infinite, which JSON cannot say."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in values.items()
    }


@cache
def commit() -> str:
    """The commit of the code when this was first asked, with "+" where files differ from it;
    "unknown" outside git."""
    try:
        said = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--dirty=+"],
            cwd=Path(__file__).parent, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return said.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _finish(trainer: Trainer, folder: Path, metrics: Metrics) -> Path:
    """Export the net, measure it, and say how to play it."""
    target = folder / "net"
    shutil.rmtree(target, ignore_errors=True)
    meta = json.loads((checkpoint.resolve(folder) / "meta.json").read_text())
    export(trainer.net(), meta, target, weights=trainer.weights())
    print(f"{trainer.games:,d} games in {trainer.seconds / 60:.1f} minutes; net in {target}")
    opponents, pairs = installed_opponents(trainer.variant), 5 * trainer.config.gauge_pairs
    with tqdm(total=2 * pairs * len(opponents), unit="game", delay=2, leave=False) as bar:
        strength = gauge(trainer, pairs, bar.update)
    metrics.write(trainer.games, strength)
    for name in opponents:
        points, interval = strength[f"arena/{name}"], strength[f"arena/{name}_ci95"]
        print(f"  against {name:9s} {points:+.3f} ± {interval:.3f} points a game")
    print(f"play against it:  .venv/bin/nardy play --net {target}")
    Net.load(target)
    return target
