"""What learns the cube: the head as a network, its games, prices and memory.

A turn plays one turn of every game, prices the positions before it (train.cube_prices) and fits
the head to as many of the newest prices as `reuse` asks. What a turn computes depends on the state
and the configuration, and through the step size on how much of the time has gone.
"""

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from nardy.net.net import Net
from nardy.play.cube_head import TERMS, CubeHead
from nardy.play.look import Look
from nardy.rules.board import Boards
from train import checkpoint
from train.config import about
from train.cube_prices import Lessons, Prices, lessons, random_score
from train.memory import Memory
from train.selfplay import Games, Sample, Tally

GROUPS = 8
"""Parts among which the positions of a turn are divided, each priced at scores of its own."""
LONGEST = 400
ENDINGS = 4096
"""Positions with few checkers of which games may begin."""
_ADAM = ("exp_avg", "exp_avg_sq")


@dataclass
class HeadConfig:
    """Arguments of `python -m train.cube_head`."""

    net: str = about("the net whose cube is learnt: run, checkpoint or exported folder", "")
    name: str = about("folder below runs/", "cube")
    to: str | None = about("folder to write, a copy of the net with the head; runs/NAME/net", None)
    init: str | None = about("folder with a head to start from, of this net or one near it", None)
    minutes: float = about("how long to learn", 30.0)
    games: int = about("games in lock step that give the positions", 256)
    scores: int = about("scores that a position is priced at", 4)
    endings: float = about("share of the games that begin with few checkers, anywhere", 0.0)
    memory: int = about("newest prices to draw from", 1_000_000)
    reuse: float = about("how often a price is learnt from, on average", 4.0)
    minibatch: int = about("prices a gradient step", 1024)
    rate: float = about("Adam's step size at the start", 1e-3)
    final_rate: float = about("and at the end, falling geometrically", 2e-5)
    hot: float = about("share of the time at the first rate", 0.3)
    units: int = about("units of the head's first layer", 96)
    inner: int = about("and of its second", 32)
    average: int = about("steps over which the head's weights are averaged", 500)
    seed: int = about("of the dice, the scores, the weights and the shuffling", 1)
    report_minutes: float = about("between two lines of figures", 1.0)
    checkpoint_minutes: float = about("between two checkpoints", 5.0)
    keep: int = about("checkpoints kept besides the latest", 2)
    resume: str = about("auto: go on from the run folder's latest; never: refuse one", "never")
    json: str | None = about("file to write what was learnt to", None)

    def __post_init__(self) -> None:
        """Refuse impossible values, by name."""
        if not self.net:
            raise ValueError("net= is missing")
        for name in ("minutes", "games", "scores", "memory", "reuse", "minibatch", "rate", "keep",
                     "final_rate", "units", "inner", "average", "report_minutes",
                     "checkpoint_minutes"):  # fmt: skip
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)!r}")
        if self.games < GROUPS:
            raise ValueError(f"games must be at least {GROUPS}, not {self.games!r}")
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or above, not {self.seed!r}")
        for name in ("hot", "endings"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must lie between 0 and 1, not {getattr(self, name)!r}")
        if self.memory < self.minibatch:
            raise ValueError(f"memory ({self.memory!r}) must reach minibatch ({self.minibatch})")
        if self.resume not in ("auto", "never"):
            raise ValueError(f"resume must be auto or never, not {self.resume!r}")
        if not self.name or "/" in self.name or self.name.startswith("."):
            raise ValueError(f"name must be usable as a folder's name, not {self.name!r}")


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
        layers = [(_array(x.weight.T), _array(x.bias)) for x in (self.inner, self.last)]
        seen, terms = _array(self.seen.weight.T), _array(self.terms.weight.T)
        return CubeHead(seen, terms, _array(self.seen.bias), tuple(layers))


def head_in(folder: str) -> CubeHead:
    """The head in a folder. Raises ValueError where there is none."""
    head = CubeHead.load(checkpoint.resolve(folder))
    if head is None:
        raise ValueError(f"there is no cube head in {folder!r}")
    return head


def _array(values: torch.Tensor) -> NDArray[np.float32]:
    return np.array(values.detach().numpy(), np.float32, order="C")


@dataclass
class Figures:
    """Sums since the last line was written. Of prices when they were new: how far the averaged
    head was off, and the formula; equity squared."""

    tally: Tally = field(default_factory=Tally)
    prices: int = 0
    ours: float = 0.0
    formula: float = 0.0
    loss: float = 0.0
    steps: int = 0

    def __add__(self, other: "Figures") -> "Figures":
        names = [part.name for part in fields(self)]
        return Figures(**{name: getattr(self, name) + getattr(other, name) for name in names})


def endings(count: int, rng: np.random.Generator) -> Boards:
    """int8[count, 26]: one to six checkers a side, on any points. The opening leads to few such
    positions with contact, or with far to go (see train.cube_exact)."""
    boards = np.zeros((count, 26), np.int8)
    for board in boards:
        for sign in (1, -1):
            free = np.flatnonzero(board[1:25] == 0) + 1
            np.add.at(board, rng.choice(free, rng.integers(1, 7)), sign)
    return boards


class Trainer:
    """The state of a run. `turn` advances it; `state` and `restore` carry it over a kill."""

    def __init__(self, net: Net, config: HeadConfig, folder: Path | None = None) -> None:
        """folder: where prices are remembered in a file, see train.memory."""
        torch.set_num_threads(1)
        torch.manual_seed(config.seed)
        self.net, self.config = net, config
        self.network = HeadNetwork(len(net.bias), config.units, config.inner)
        if config.init is not None:
            self.network.take(head_in(config.init))
        decay = get_ema_multi_avg_fn(1 - 1 / config.average)
        self.averaged = AveragedModel(self.network, multi_avg_fn=decay)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.rate, fused=True)
        self.prices, self.look = Prices(net), Look(net)
        count = config.games
        self.games = Games(
            net.variant, config.seed, 1.0, LONGEST, count, np.arange(count), starts=config.endings
        )
        self.games.pool = endings(ENDINGS, np.random.default_rng([config.seed, 0, 2]))
        self.memory = Memory(config.memory, TERMS + 1, folder and folder / "memory.bin")
        self.turns = self.steps = self.played = 0
        self.seconds = self.owed = 0.0

    @property
    def progress(self) -> float:
        """How much of the run is done, 0 to 1 and beyond."""
        return self.seconds / 60 / self.config.minutes

    @property
    def rate(self) -> float:
        """Adam's step size now: level while the run is hot, then falling geometrically."""
        config = self.config
        cooled = max(min(self.progress, 1.0) - config.hot, 0.0) / (1 - config.hot)
        return float(config.rate * (config.final_rate / config.rate) ** cooled)

    def head(self) -> CubeHead:
        """The averaged head."""
        module = self.averaged.module
        assert isinstance(module, HeadNetwork)
        return module.head()

    def turn(self) -> Figures:
        """Play a turn of every game, price the positions before it, and learn."""
        boards = self.games.boards[np.arange(self.config.games), self.games.plies].copy()
        _, tally = self.games.play(self.prices.evaluator, 1)
        figures, head = Figures(tally), self.head()
        rng = np.random.default_rng([self.config.seed, self.turns])
        for part in range(GROUPS):
            scores = [random_score(rng) for _ in range(self.config.scores)]
            self._add(lessons(self.prices, head, boards[part::GROUPS], scores), head, figures)
        self.turns += 1
        self.played += tally.games + tally.others
        while self.owed >= 1 and len(self.memory) >= self.config.minibatch:
            figures.loss += self.step()
            figures.steps += 1
            self.owed -= 1
        return figures

    def _add(self, new: Lessons, head: CubeHead, figures: Figures) -> None:
        """Remember prices, and count how far they are from what was known before."""
        self.memory.add(Sample(new.boards, np.column_stack([new.terms, new.added])))
        self.owed += self.config.reuse * len(new.added) / self.config.minibatch
        known = head.added(head.looks(self.look.activations(new.boards)), new.terms)
        figures.prices += len(new.added)
        figures.formula += float((new.added**2).sum())
        figures.ours += float(((new.added - known) ** 2).sum())

    def step(self) -> float:
        """One gradient step; the mean square of what the head was off by, equity squared."""
        rng = np.random.default_rng([self.config.seed, self.steps, 1])
        boards, told = self.memory.draw(self.config.minibatch, rng)
        hidden = torch.from_numpy(self.look.activations(boards))
        found = self.network(hidden, torch.from_numpy(told[:, :TERMS].copy()))
        loss = functional.mse_loss(found, torch.from_numpy(told[:, TERMS].copy()))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.param_groups[0]["lr"] = self.rate
        self.optimizer.step()
        self.averaged.update_parameters(self.network)
        self.steps += 1
        return loss.item()

    def state(self) -> tuple[dict[str, Any], checkpoint.Arrays]:
        """(JSON, arrays) from which `restore` goes on."""
        names = ("turns", "steps", "played", "seconds", "owed")
        counters = {name: getattr(self, name) for name in names}
        counters |= {"config": asdict(self.config), "best": None}
        arrays: checkpoint.Arrays = {}
        averages = dict(self.averaged.module.named_parameters())
        for name, values in self.network.named_parameters():
            arrays[f"head.{name}"] = _array(values)
            arrays[f"average_head.{name}"] = _array(averages[name])
            moments = self.optimizer.state.get(values, {})
            arrays |= {f"{m}.{name}": _array(moments[m]) for m in _ADAM if m in moments}
        arrays |= {f"games.{key}": values for key, values in self.games.state().items()}
        arrays |= {f"memory.{key}": values for key, values in self.memory.state().items()}
        return counters, arrays

    def restore(self, counters: dict[str, Any], arrays: checkpoint.Arrays) -> None:
        """Go on where `state` was taken. Raises ValueError where the arrays do not fit."""
        try:
            for name in ("turns", "steps", "played", "seconds", "owed"):
                setattr(self, name, counters[name])
            self._restore_weights(arrays)
            for name, part in (("games", self.games), ("memory", self.memory)):
                below = {k: v for k, v in arrays.items() if k.startswith(f"{name}.")}
                part.restore({k.removeprefix(f"{name}."): v for k, v in below.items()})
        except (KeyError, RuntimeError, ValueError) as error:
            raise ValueError(f"the checkpoint does not fit this run: {error}") from None

    def _restore_weights(self, arrays: checkpoint.Arrays) -> None:
        averages = dict(self.averaged.module.named_parameters())
        self.averaged.n_averaged.fill_(self.steps)
        with torch.no_grad():
            for name, values in self.network.named_parameters():
                values.copy_(torch.from_numpy(arrays[f"head.{name}"]))
                averages[name].copy_(torch.from_numpy(arrays[f"average_head.{name}"]))
                if f"{_ADAM[0]}.{name}" in arrays:
                    moments = self.optimizer.state[values]
                    moments["step"] = torch.tensor(float(self.steps))
                    moments |= {m: torch.from_numpy(arrays[f"{m}.{name}"].copy()) for m in _ADAM}
