"""A probe of shapes: which net holds most of the game for its cost, in minutes.

    python -m train.probe shapes=512-256-64,512-512-256 minutes=3
    python -m train.probe shapes=256-32,512-32-32 judge=checkpoints/short-01 labels=runs/own.npz

A judge, by default gnubg-nn's static evaluation, labels positions of a net's self-play; each shape
is fitted to the labels by the project's own learner for the same processor time on one thread. A
line a shape then says how well it imitates the judge on positions held out, what its choices lose
on the decision benchmark, how large it is and how fast.

The labels serve the probe only: what it fits is never saved, and no net that is kept learns from
another engine. A shape is the first layer's units and the tail's widths; 512+128-64 has 128 of the
512 units see pairs of cells too. ProbeConfig lists the keys; the file of labels is made once and
used again.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from nardy.net.net import Evaluator, Floats, Net
from nardy.net.weights import write_whole
from nardy.play.search import Search
from nardy.rules.batch import Workspace, afterstates
from nardy.rules.board import Boards, flip, points_won, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import variant
from train.arena import check_writable
from train.benchmark import difference_text
from train.benchmark_files import FOLDER, Decisions, read_decisions
from train.benchmark_players import Chances, subject
from train.benchmark_scores import score_decisions, score_difference
from train.command_line import answer
from train.config import NetConfig, about, help_text, parse_keys
from train.encode import encode, encode_pairs
from train.learner import Learner
from train.loop import BAR
from train.network import TorchTail, ValueNetwork, resolve_precision, to_net
from train.players import load_net
from train.selfplay import Sample
from train.trainer import BLOCK

EXAMPLES = (
    "python -m train.probe shapes=512-256-64,512-512-256 minutes=3 positions=1_000_000",
    "python -m train.probe judge=checkpoints/short-01 labels=runs/own.npz json=probe.json",
)
GAME = variant("short")
GAMES = 1024
"""Games of self-play in lock step."""
HELD_OUT = 0.05
"""Share of the positions, the last that were played, that the loss is measured on."""
CHUNK = 32
"""Gradient steps between two looks at the clock."""
SPEED_SECONDS = 1.0


@dataclass
class ProbeConfig:
    """What to fit, to what, and for how long."""

    shapes: str = about("units and widths of each, as 512-256-64,512+128-256", "512-256-64")
    minutes: float = about("processor minutes that each shape is fitted for", 3.0)
    judge: str = about("who labels: gnubg-nn, gnubg, bgsage or a path to a net", "gnubg-nn")
    net: str = about("path to the net whose self-play gives the positions", "checkpoints/short-01")
    positions: int = about("how many to label and fit to, all of them different", 1_000_000)
    labels: str = about("file of labelled positions, made where it is missing", "runs/labels.npz")
    phases: int = about("1: one tail; 2: contact and race have their own", 2)
    minibatch: int = about("positions a gradient step", 1024)
    rate: float = about("Adam's step size at the start", 1e-3)
    final_rate: float = about("and at the end, falling geometrically", 1e-5)
    hot: float = about("share of the time at the first rate before it starts to fall", 0.3)
    precision: str = about("of matrix products: auto, float32 or bfloat16", "auto")
    seed: int = about("of the games, the weights and the shuffling", 1)
    json: str | None = about("file to write the figures to", None)

    def __post_init__(self) -> None:
        """Refuse what cannot be fitted, by name."""
        for name in ("minutes", "rate", "final_rate", "minibatch"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)!r}")
        if not 0 <= self.hot < 1:
            raise ValueError(f"hot must lie between 0 and 1, not {self.hot!r}")
        if self.positions < 2 * self.minibatch:
            raise ValueError(
                f"positions must be two minibatches ({2 * self.minibatch}) or more, "
                f"not {self.positions!r}"
            )
        for name, allowed in (("phases", (1, 2)), ("precision", ("auto", "float32", "bfloat16"))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, not {getattr(self, name)!r}")
        parse_shapes(self.shapes)


def parse_shapes(text: str) -> dict[str, NetConfig]:
    """`512-256-64,512+128-32` as networks by name. Raises ValueError naming what is no shape."""
    shapes = {}
    for name in (part.strip() for part in text.split(",")):
        first, *tail = name.split("-")
        units, plus, pairs = first.partition("+")
        numbers = [units, *([pairs] if plus else []), *tail]
        if not all(number.isdecimal() and int(number) > 0 for number in numbers):
            raise ValueError(f"a shape is widths above 0, as 512-256-64, not {name!r}")
        shapes[name] = NetConfig(int(units), [int(width) for width in tail], pairs=int(pairs or 0))
        if shapes[name].pairs > shapes[name].hidden:
            raise ValueError(f"{name!r} has fewer units than units that see pairs")
    return shapes


# --- labels ----------------------------------------------------------------------------------


def labelled(config: ProbeConfig) -> Sample:
    """The positions and their labels, from the file or made and written there.

    Raises ValueError where the file is by another judge or too short, before anything is made.
    """
    path = Path(config.labels)
    if path.exists():
        return _read_labels(path, config)
    check_writable("labels", config.labels)
    chances = _judge(config.judge)
    boards = self_play(load_net(config.net, GAME), config.positions, config.seed)
    targets = np.empty((len(boards), len(GAME.outcomes)), np.float32)
    with tqdm(total=len(boards), unit="label", delay=2, leave=False) as bar:
        for begin in range(0, len(boards), 8192):
            part = slice(begin, begin + 8192)
            targets[part] = distribution(chances(boards[part]))
            bar.update(len(boards[part]))
    with open(path.with_name(f".{path.name}.tmp"), "wb") as file:
        np.savez(file, boards=boards, targets=targets, judge=np.array(config.judge))
    os.replace(file.name, path)
    return Sample(boards, targets)


def _read_labels(path: Path, config: ProbeConfig) -> Sample:
    try:
        with np.load(path, allow_pickle=False) as file:
            judge, boards, targets = (file[name] for name in ("judge", "boards", "targets"))
    except Exception as error:
        # numpy raises whatever a broken archive makes its readers raise
        raise ValueError(f"labels={str(path)!r} holds no labelled positions: {error}") from None
    if str(judge) != config.judge:
        raise ValueError(f"labels={str(path)!r} are by {judge}, not by judge={config.judge!r}")
    if len(boards) < config.positions:
        raise ValueError(
            f"labels={str(path)!r} holds {len(boards)} positions, not positions={config.positions}"
        )
    return Sample(boards[: config.positions], targets[: config.positions])


def _judge(name: str) -> Chances:
    chances = subject(name).chances
    if chances is None:
        raise ValueError(f"judge={name!r} has no outcome chances to label with")
    return chances


def self_play(net: Net, count: int, seed: int) -> Boards:
    """int8[count, 26]: positions before the roll, mover's view, that `net` meets in games against
    itself, in the order they were played; each once."""
    torch.set_num_threads(1)
    evaluator = Evaluator(net, TorchTail(net, resolve_precision("auto", "cpu")), BLOCK)
    memory, start = Workspace(), start_board(GAME)
    numbers, plies = np.arange(GAMES), np.zeros(GAMES, np.int64)
    boards, seen = np.repeat(start[None], GAMES, 0), dict[bytes, None]()
    with tqdm(total=count, unit="position", delay=2, leave=False) as bar:
        while len(seen) < count:
            dice = roll(seed, numbers, plies, GAME.opening)
            results = afterstates(boards, dice, GAME, memory)
            chosen = results.boards[evaluator.choose(boards, results)[0]]
            over = points_won(chosen, GAME) > 0
            boards = np.where(over[:, None], start, flip(chosen))
            numbers, plies = numbers + GAMES * over, np.where(over, 0, plies + 1)
            seen.update(dict.fromkeys(row.tobytes() for row in boards[plies > 0]))
            bar.update(min(len(seen), count) - bar.n)
    return np.frombuffer(b"".join(list(seen)[:count]), np.int8).reshape(count, 26)


def distribution(chances: NDArray[np.float64]) -> Floats:
    """float32[N, 6] over GAME.outcomes from float64[N, 5] chances, each of which includes the
    greater (benchmark_files.Values); small contradictions of a judge are evened out."""
    win, gammon, backgammon, lose_gammon, lose_backgammon = chances.T
    parts = [
        lose_backgammon, lose_gammon - lose_backgammon, 1 - win - lose_gammon,
        win - gammon, gammon - backgammon, backgammon,
    ]  # fmt: skip
    exclusive = np.stack(parts, -1).clip(0)
    whole: Floats = (exclusive / exclusive.sum(-1, keepdims=True)).astype(np.float32)
    return whole


# --- fitting ---------------------------------------------------------------------------------


@dataclass
class Fitted:
    """What a shape gave. loss: cross-entropy on the positions held out, nats; references: scores
    of the decision benchmark by judge; rows: its choices there; speed: afterstates evaluated a
    second, one thread, when the net is exported."""

    shape: str
    epochs: float
    loss: float
    references: dict[str, Any]
    parameters: int
    speed: float
    rows: NDArray[np.int64] = field(repr=False)

    def error(self) -> float:
        """Millipoints lost a decision, the mean of the judges."""
        return float(np.mean([score["loss"] for score in self.references.values()]))


class Split(NamedTuple):
    """Positions to fit to, and later ones to be judged by."""

    training: Sample
    held_out: Sample


def split(sample: Sample) -> Split:
    """The last positions of the games held out: those before are of other games, nearly all."""
    first = len(sample.boards) - max(round(HELD_OUT * len(sample.boards)), 1)
    return Split(rows_of(sample, slice(first)), rows_of(sample, slice(first, None)))


def rows_of(sample: Sample, rows: Any) -> Sample:
    """Some rows of a sample."""
    return Sample(sample.boards[rows], sample.targets[rows])


def fit(name: str, shape: NetConfig, data: Split, config: ProbeConfig) -> tuple[Learner, float]:
    """A learner that had its minutes, and how often it saw each position."""
    torch.manual_seed(config.seed)
    precision = resolve_precision(config.precision, "cpu")
    network = ValueNetwork(shape.hidden, shape.tail, config.phases, len(GAME.outcomes), shape.pairs)
    learner = Learner(network, GAME.checkers, config.minibatch, precision)
    encode(data.training.boards[:1], GAME.checkers)  # compile outside the time that counts
    encode_pairs(data.training.boards[:1])
    rng = np.random.default_rng(config.seed)
    size, began = CHUNK * config.minibatch, time.process_time()

    def done() -> float:
        return (time.process_time() - began) / 60 / config.minutes

    with tqdm(total=100.0, desc=name, bar_format=BAR, delay=2, leave=False) as bar:
        while done() < 1:
            order = rng.permutation(len(data.training.boards))
            for begin in range(0, len(order) - config.minibatch + 1, size):
                part = rows_of(data.training, order[begin : begin + size])
                loss = learner.learn(part, rng, lambda: step_size(done(), config)).loss
                if not np.isfinite(loss):
                    raise ValueError(f"the loss of {name} became {loss}: lower rate={config.rate}")
                bar.update(min(100 * done(), 100) - bar.n)
                if done() >= 1:
                    break
    return learner, learner.steps * config.minibatch / len(data.training.boards)


def step_size(done: float, config: ProbeConfig) -> float:
    """Adam's step size after a share `done` of the time: level, then falling geometrically."""
    cooled = max(min(done, 1.0) - config.hot, 0.0) / (1 - config.hot)
    return float(config.rate * (config.final_rate / config.rate) ** cooled)


def cross_entropy(net: Net, sample: Sample) -> float:
    """Mean cross-entropy of a net's chances to the labels, nats."""
    chances = Evaluator(net).outcomes(sample.boards)
    each = -(sample.targets * np.log(np.maximum(chances, 1e-12))).sum(-1)
    return float(each.mean(dtype=float))


def speed(net: Net, boards: Boards, precision: torch.dtype) -> float:
    """Afterstates evaluated a second of processor time, as in self-play: one thread."""
    boards = boards[:1024]
    results = afterstates(boards, roll(1, np.arange(len(boards)), np.ones(len(boards))), GAME)
    evaluator = Evaluator(net, TorchTail(net, precision), BLOCK)
    evaluator.values(boards, results)
    began, count = time.process_time(), 0
    while (spent := time.process_time() - began) < SPEED_SECONDS:
        evaluator.values(boards, results)
        count += len(results.boards)
    return count / spent


def probe(
    name: str, shape: NetConfig, data: Split, decisions: Decisions, config: ProbeConfig
) -> Fitted:
    """Fit one shape and measure what came of it."""
    learner, epochs = fit(name, shape, data, config)
    net = to_net(learner.network, GAME)
    rows = Search(net, 0).best(decisions.boards, decisions.results)
    return Fitted(
        name,
        epochs,
        cross_entropy(net, data.held_out),
        score_decisions(decisions, rows),
        sum(values.numel() for values in learner.network.parameters()),
        speed(net, data.held_out.boards, learner.precision),
        rows,
    )


# --- the command -----------------------------------------------------------------------------


def run(config: ProbeConfig) -> list[Fitted]:
    """Fit every shape and print a line for each; the best first.

    Raises ValueError or OSError naming what is wrong.
    """
    check_writable("json", config.json)
    torch.set_num_threads(1)
    decisions = read_decisions(FOLDER / "decisions_short.npz")
    data = split(labelled(config))
    targets = data.held_out.targets
    entropy = -float((targets * np.log(np.maximum(targets, 1e-12))).sum(-1).mean(dtype=float))
    print(
        f"{len(data.training.boards):,d} positions labelled by {config.judge}, "
        f"{config.minutes:g} processor minutes a shape; a perfect imitation has loss {entropy:.4f}"
    )
    judges = " / ".join(decisions.losses)
    print(
        f"{'shape':16} {'epochs':>6} {'loss':>7}  {'error by ' + judges:30} "
        f"{'parameters':>10} {'evaluations/s':>13}"
    )
    fitted = []
    for name, shape in parse_shapes(config.shapes).items():
        fitted.append(probe(name, shape, data, decisions, config))
        print(line(fitted[-1]), flush=True)
    fitted.sort(key=Fitted.error)
    for other in fitted[1:]:
        apart = score_difference(decisions, other.rows, fitted[0].rows)
        print(difference_text(other.shape, fitted[0].shape, apart))
    if config.json is not None:
        write_whole(config.json, as_json(config, entropy, fitted))
    return fitted


def line(fitted: Fitted) -> str:
    """A shape's figures for a reader; errors in millipoints a decision."""
    losses = [f"{s['loss']:.2f} ± {s['ci95']:.2f}" for s in fitted.references.values()]
    return (
        f"{fitted.shape:16} {fitted.epochs:6.1f} {fitted.loss:7.4f}  {' / '.join(losses):30} "
        f"{fitted.parameters:10,d} {fitted.speed:13,.0f}"
    )


def as_json(config: ProbeConfig, entropy: float, fitted: Sequence[Fitted]) -> bytes:
    """The figures, the best shape first; entropy: the loss of a perfect imitation, nats."""
    names = ("shape", "epochs", "loss", "references", "parameters", "speed")
    values = {
        "judge": config.judge,
        "minutes": config.minutes,
        "positions": config.positions,
        "entropy": entropy,
        "shapes": [{name: getattr(one, name) for name in names} for one in fitted],
    }
    return (json.dumps(values, indent=2) + "\n").encode()


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer(
        "train.probe",
        lambda: run(parse_keys(ProbeConfig, arguments)),
        arguments,
        help_text(ProbeConfig, "usage: python -m train.probe [key=value …]", EXAMPLES),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
