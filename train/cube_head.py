"""The learned cube: a head that is fitted to what the cube is worth one roll later.

    python -m train.cube_head net=runs/pairs/net to=checkpoints/short-02 minutes=30

The net itself stays as it is, so its moves without the cube do too. Games are played without a
cube; each of their positions is priced in several contexts: money or a match score, and who owns
the cube. The price is the exact mean over the 21 rolls of the best reply's, where the value of a
reply is that before the other side's cube decision, by the formula and what the head adds to it by
now (nardy.play.cube_head); where the two-sided bear-off table reaches, its cubeful equities.
A copy of the head that is averaged over its steps gives the prices and is what is written.
"""

import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from tqdm import tqdm

from nardy.match.janowski import Cubeful, efficiency, payoffs
from nardy.match.score import Owner, Score, match_score
from nardy.net.net import Evaluator, Net
from nardy.net.weights import write_tensors
from nardy.play.bearoff import Bearoff, tables_for
from nardy.play.cube_head import FILE, TERMS, CubeHead, dead, terms, unit
from nardy.play.look import Look
from nardy.rules.batch import Afterstates, Workspace, afterstates
from nardy.rules.board import Boards, flip, points_won, start_board
from nardy.rules.dice import ROLL_CHANCES, ROLLS, random_words, roll
from train.checkpoint import resolve
from train.config import about, help_text, parse_keys
from train.network import TorchTail, resolve_precision

Floats = NDArray[np.float64]
GROUPS = 8
"""Scores among which the positions of a turn are divided."""
REPLIES = 12
"""Replies to a roll that are priced, by a cheap look."""
LONGEST = 400
_EQUITY_COLUMN: dict[Owner, int] = {"centre": 1, "mine": 2, "theirs": 3}


@dataclass
class HeadConfig:
    """Arguments of `python -m train.cube_head`."""

    net: str = about("the net whose cube is learnt: run, checkpoint or exported folder", "")
    to: str = about("folder to write, a copy of the net with the head", "")
    init: str | None = about("folder with a head to start from, of this net or one near it", None)
    minutes: float = about("how long to learn", 30.0)
    games: int = about("games in lock step that give the positions", 256)
    memory: int = about("newest prices to draw from", 400_000)
    reuse: float = about("how often a price is learnt from, on average", 4.0)
    minibatch: int = about("prices a gradient step", 1024)
    rate: float = about("Adam's step size at the start", 1e-3)
    final_rate: float = about("and at the end, falling geometrically", 2e-5)
    hot: float = about("share of the time at the first rate", 0.3)
    units: int = about("units of the head's first layer", 96)
    inner: int = about("and of its second", 32)
    average: int = about("steps over which the head's weights are averaged", 500)
    seed: int = about("of the dice, the scores, the weights and the shuffling", 1)
    json: str | None = about("file to write what was learnt to", None)

    def __post_init__(self) -> None:
        """Refuse impossible values, by name."""
        for name in ("net", "to"):
            if not getattr(self, name):
                raise ValueError(f"{name}= is missing")
        for name in ("minutes", "games", "memory", "reuse", "minibatch", "rate", "final_rate",
                     "units", "inner", "average"):  # fmt: skip
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)!r}")
        if self.games < GROUPS:
            raise ValueError(f"games must be at least {GROUPS}, not {self.games!r}")
        if not 0 <= self.hot < 1:
            raise ValueError(f"hot must lie between 0 and 1, not {self.hot!r}")
        if self.memory < self.minibatch:
            raise ValueError(f"memory ({self.memory!r}) must reach minibatch ({self.minibatch})")


class HeadNetwork(nn.Module):
    """The head in torch; its last layer begins at 0, so that it adds nothing."""

    def __init__(self, hidden: int, units: int, inner: int) -> None:
        super().__init__()
        self.seen = nn.Linear(hidden, units)
        self.terms = nn.Linear(TERMS, units, bias=False)
        self.inner = nn.Linear(units, inner)
        self.last = nn.Linear(inner, 1)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, hidden: torch.Tensor, terms: torch.Tensor) -> torch.Tensor:
        """float32[M]: equity to add, of float32[M, H] and float32[M, TERMS]."""
        x = torch.relu(self.seen(hidden) + self.terms(terms))
        values: torch.Tensor = self.last(torch.relu(self.inner(x)))[:, 0]
        return values

    def take(self, head: CubeHead) -> None:
        """Start from a head's weights. Raises ValueError where they are of another shape."""
        arrays = {"seen.weight": head.seen.T, "seen.bias": head.bias, "terms.weight": head.terms.T}
        for name, (weight, bias) in zip(("inner", "last"), head.layers, strict=True):
            arrays |= {f"{name}.weight": weight.T, f"{name}.bias": bias}
        try:
            self.load_state_dict({name: torch.tensor(values) for name, values in arrays.items()})
        except RuntimeError:
            shape = (*head.terms.shape[1:], *head.layers[0][1].shape)
            raise ValueError(f"the head to start from has another shape: units {shape}") from None

    def head(self) -> CubeHead:
        """Its present weights."""

        def array(values: torch.Tensor) -> NDArray[np.float32]:
            return np.array(values.detach().numpy(), np.float32, order="C")

        layers = [(array(x.weight.T), array(x.bias)) for x in (self.inner, self.last)]
        return CubeHead(
            array(self.seen.weight.T),
            array(self.terms.weight.T),
            array(self.seen.bias),
            tuple(layers),
        )


def random_score(rng: np.random.Generator) -> Score:
    """Something to play for, for the player on roll: money for two in five, else a match score.

    In a match of up to 15 points any score before or after the Crawford game; the cube at 1, 2 or
    4, with any owner it may have. Money with its cube in the middle or turned, Jacoby now and then.
    """
    owners: tuple[Owner | None, ...] = (None, "mine", "theirs")
    owner = owners[rng.integers(3)]
    if rng.random() < 0.4:
        jacoby = bool(rng.random() < 0.2)
        if owner is None:
            return Score(jacoby=jacoby)
        return Score(cube=2, owner=owner, jacoby=jacoby)
    while True:
        length = int(rng.integers(2, 16))
        mine, theirs = (int(length - away) for away in rng.integers(1, length + 1, 2))
        cube = 1 if owner is None else int(rng.choice([2, 4]))
        score = replace(match_score(length, mine, theirs), cube=cube, owner=owner or "centre")
        if len(payoffs(score)) > 1:  # otherwise the cube is dead: nothing to learn
            return score


class Prices:
    """Prices positions in contexts, with a head as it stands."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.look = Look(net)
        tail = TorchTail(net, resolve_precision("auto", "cpu"))
        self.evaluator = Evaluator(net, tail, 4096)
        self.tables: Bearoff | None = tables_for(net.variant)
        self.memory = Workspace()

    def replies(self, boards: Boards) -> Afterstates:
        """The few best replies, by a cheap look, to each of the 21 rolls of each board."""
        parents, dice = np.repeat(boards, len(ROLLS), 0), np.tile(ROLLS, (len(boards), 1))
        results = afterstates(parents, dice, self.net.variant, self.memory)
        return self.look.few(boards, results, most=REPLIES)

    def chances(self, boards: Boards) -> NDArray[np.float32]:
        """float32[N, 6], cubeless, exact where a table reaches."""
        chances = self.evaluator.outcomes(boards)
        if self.tables is not None:
            self.tables.settle(boards, chances)
        return chances

    def one_roll(self, head: CubeHead, replies: Afterstates, scores: Sequence[Score]) -> Floats:
        """float64[C, B]: for each of the scores, what the boards that `replies` are of are worth:
        points for money, else the chance of winning the match; for the player on roll."""
        after = flip(replies.boards)
        won = points_won(replies.boards, self.net.variant)
        looks = head.looks(self.look.activations(after))
        chances = self.chances(after)
        prices = []
        for score in scores:
            theirs = head.values(after, looks, chances, score.flip()).best
            mine = -theirs if score.money else 1 - theirs
            mine = np.where(won > 0, payoffs(score)[0][2 + np.maximum(won, 1)], mine)
            best = np.maximum.reduceat(mine, replies.offsets[:-1])
            prices.append(best.reshape(-1, len(ROLLS)) @ ROLL_CHANCES)
        return np.array(prices)


@dataclass
class Lessons:
    """Boards, what the head is told of a context, and the equity it should add there."""

    boards: Boards  # int8[N, 26]
    terms: NDArray[np.float32]  # [N, TERMS]
    added: NDArray[np.float32]  # [N]


def lessons(prices: Prices, head: CubeHead, boards: Boards, score: Score) -> Lessons:
    """One lesson for each board and each owner that the cube of `score` can have."""
    owners: tuple[Owner, ...] = ("centre",) if score.owner == "centre" else ("mine", "theirs")
    x, chances = efficiency(boards), prices.chances(boards)
    scores = [replace(score, owner=owner) for owner in owners]
    worth = prices.one_roll(head, prices.replies(boards), scores)
    found = []
    for owner, context, values in zip(owners, scores, worth, strict=True):
        cube = Cubeful(chances, payoffs(context), x)
        if dead(cube, 0):
            continue
        if prices.tables is not None and context.money and not context.jacoby:
            exact = prices.tables.covers_exactly(boards)
            column = _EQUITY_COLUMN[owner]
            values[exact] = score.cube * prices.tables.equities(boards[exact])[:, column]
        added = (values - cube.value(0, owner)) / unit(cube, 0)
        found.append((terms(cube, chances, 0, owner), added.astype(np.float32)))
    if not found:
        return Lessons(boards[:0], np.empty((0, TERMS), np.float32), np.empty(0, np.float32))
    told, added_all = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Lessons(np.tile(boards, (len(found), 1)), told, added_all)


class Games:
    """Games without a cube, in lock step, for their positions."""

    def __init__(self, net: Net, count: int, seed: int) -> None:
        self.game, self.seed = net.variant, seed
        self.numbers, self.plies = np.arange(count), np.zeros(count, np.int64)
        self.boards = np.repeat(start_board(self.game)[None], count, 0)
        self.memory = Workspace()

    def turn(self, evaluator: Evaluator) -> Boards:
        """Play a turn of every game; the positions before it, int8[B, 26]."""
        before = self.boards
        dice = roll(self.seed, self.numbers, self.plies, self.game.opening)
        results = afterstates(before, dice, self.game, self.memory)
        best, _ = evaluator.choose(before, results)
        chosen = results.boards[best]
        self.plies += 1
        over = (points_won(chosen, self.game) > 0) | (self.plies == LONGEST)
        self.boards = np.where(over[:, None], start_board(self.game), flip(chosen))
        self.numbers[over] += len(self.numbers)
        self.plies[over] = 0
        return before


class Ring:
    """The newest lessons, to draw minibatches from."""

    def __init__(self, size: int) -> None:
        self.boards = np.zeros((size, 26), np.int8)
        self.terms = np.zeros((size, TERMS), np.float32)
        self.targets = np.zeros(size, np.float32)
        self.added = 0

    def __len__(self) -> int:
        """How many there are."""
        return min(self.added, len(self.targets))

    def add(self, new: Lessons) -> None:
        """Take new lessons in the place of the oldest."""
        rows = (self.added + np.arange(len(new.added))) % len(self.targets)
        self.boards[rows], self.terms[rows], self.targets[rows] = new.boards, new.terms, new.added
        self.added += len(new.added)


class Trainer:
    """The head, its average, and Adam."""

    def __init__(self, net: Net, config: HeadConfig) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(config.seed)
        self.config = config
        self.network = HeadNetwork(len(net.bias), config.units, config.inner)
        if config.init is not None:
            self.network.take(_head_in(config.init))
        decay = get_ema_multi_avg_fn(1 - 1 / config.average)
        self.averaged = AveragedModel(self.network, multi_avg_fn=decay)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.rate, fused=True)
        self.look = Look(net)
        self.rng = np.random.default_rng(config.seed)

    def head(self) -> CubeHead:
        """The averaged head."""
        module = self.averaged.module
        assert isinstance(module, HeadNetwork)
        return module.head()

    def step(self, ring: Ring, rate: float) -> float:
        """One gradient step; the mean square of what the head was off by, equity squared."""
        rows = self.rng.integers(len(ring), size=self.config.minibatch)
        hidden = torch.from_numpy(self.look.activations(ring.boards[rows]))
        found = self.network(hidden, torch.from_numpy(ring.terms[rows]))
        loss = functional.mse_loss(found, torch.from_numpy(ring.targets[rows]))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()
        self.averaged.update_parameters(self.network)
        return loss.item()


def learn(net: Net, config: HeadConfig, clock: Callable[[], float] = time.perf_counter) -> CubeHead:
    """A head for `net`, learnt for config.minutes of `clock`, which counts seconds."""
    prices, trainer, ring = Prices(net), Trainer(net, config), Ring(config.memory)
    games = Games(net, config.games, config.seed)
    begin, owed, turns = clock(), 0.0, 0
    losses: list[float] = []
    with tqdm(total=100.0, unit="%", mininterval=0.5 if sys.stderr.isatty() else 30) as bar:
        while (done := (clock() - begin) / (60 * config.minutes)) < 1:
            boards = games.turn(prices.evaluator)
            head = trainer.head()
            words = random_words(config.seed, np.arange(1), np.array([turns]), stream=5)
            rng = np.random.default_rng(words)
            for part in range(GROUPS):
                new = lessons(prices, head, boards[part::GROUPS], random_score(rng))
                ring.add(new)
                owed += config.reuse * len(new.added) / config.minibatch
            turns += 1
            cooled = max(done - config.hot, 0) / (1 - config.hot)
            rate = config.rate * (config.final_rate / config.rate) ** cooled
            while owed >= 1 and len(ring) >= config.minibatch:
                losses.append(trainer.step(ring, rate))
                owed -= 1
            bar.update(min(100 * done, 100) - bar.n)
            if losses and turns % 50 == 0:
                formula = float(np.mean(ring.targets[: len(ring)] ** 2)) ** 0.5
                ours = float(np.mean(losses[-200:])) ** 0.5
                bar.set_postfix_str(f"{ring.added:,d} prices, off by {ours:.4f} of {formula:.4f}")
    return trainer.head()


def _head_in(folder: str) -> CubeHead:
    head = CubeHead.load(folder)
    if head is None:
        raise ValueError(f"there is no cube head in {folder!r}")
    return head


def write(head: CubeHead, source: Path, to: Path) -> None:
    """A copy of the net's folder with the head in it, all of it or nothing."""
    if to.exists():
        raise ValueError(f"{str(to)!r} exists already; nothing was overwritten")
    temporary = to.with_name(f".{to.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    shutil.copytree(source, temporary, ignore=shutil.ignore_patterns("state.*"))
    write_tensors(temporary / FILE, head.tensors())
    temporary.rename(to)


def main(arguments: list[str]) -> int:
    """The command line; its exit code."""
    if "--help" in arguments or "-h" in arguments:
        usage = "usage: python -m train.cube_head net=PATH to=FOLDER [key=value …]"
        example = "python -m train.cube_head net=runs/pairs/net to=checkpoints/short-02 minutes=30"
        print(help_text(HeadConfig, usage, [example]))
        return 0
    try:
        config = parse_keys(HeadConfig, arguments)
        source, to = resolve(config.net), Path(config.to)
        if to.exists():
            raise ValueError(f"{config.to!r} exists already; nothing was overwritten")
        head = learn(Net.load(source), config)
        write(head, source, to)
    except (ValueError, OSError) as error:
        print(f"train.cube_head: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("train.cube_head: stopped; nothing was written", file=sys.stderr)
        return 130
    if config.json:
        Path(config.json).write_text(json.dumps(vars(config)))
    print(f"{config.to}: the net of {config.net} with a learned cube")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
