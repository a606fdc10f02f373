"""Configuration: the dataclasses below are its schema and the only home of its defaults.

Files in configs/ and `key=value` arguments override them through Hydra. A misspelt key, a value
of the wrong type or an impossible one is a ValueError of one sentence.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from nardy.rules.variants import OPTIONS, Variant, variant

CONFIGS = Path(__file__).parents[1] / "configs"
Schema = TypeVar("Schema")


def about(text: str, default: Any) -> Any:
    """A dataclass field with a line of help."""
    if isinstance(default, (list, dict)):
        return field(default_factory=lambda: type(default)(default), metadata={"help": text})
    if isinstance(default, type) and is_dataclass(default):
        return field(default_factory=default, metadata={"help": text})
    return field(default=default, metadata={"help": text})


@dataclass
class VariantConfig:
    """Which game (nardy.rules.variants)."""

    name: str = about("short, nack, hyper, long or nardgammon", "short")
    opening: str = about("play_opening_dice or reroll (rule K3)", "play_opening_dice")
    cube: str | None = about("on or off; where nothing is said, the variant's own (D12)", None)
    head_exception_players: str | None = about("long: both, first, second or none (D5)", None)
    head_exception_rolls: str | None = about(
        "long: 336644, doubles_if_stuck or any_if_stuck (D5)", None
    )
    prime_rule: str | None = about(
        "long: front_checker_ahead, forbid, enemy_home or allow (D8)", None
    )
    prime_check: str | None = about("long: each_step or end_of_turn (D9)", None)
    last_roll: str | None = about("long: off or second_player (D13)", None)
    # Any, because Hydra cannot put a map in the place of None where the type says map
    start: Any = about("checkers by point, as {24:2,6:1}, instead of the variant's own", None)

    def make(self) -> Variant:
        """The variant described. Raises ValueError naming what is wrong."""
        if self.start is not None and not (
            isinstance(self.start, dict)
            and all(type(number) is int for pair in self.start.items() for number in pair)
        ):
            raise ValueError(
                f"variant.start maps points to checkers, as {{24:2,6:1}}, not {self.start!r}"
            )
        said = {name: getattr(self, name) for name in OPTIONS if getattr(self, name) is not None}
        return variant(self.name, start=self.start, **said)


@dataclass
class NetConfig:
    """The network: a wide additive first layer and a tail for each phase."""

    hidden: int = about("units of the first layer", 512)
    tail: list[int] = about("widths of the layers between it and the outcomes", [32, 32])
    pairs: int = about("units of the first layer that see pairs of cells up to six apart", 0)
    phases: int = about("1: one tail; 2: contact and race have their own", 2)


@dataclass
class AlgoConfig:
    """How a stage of the run learns from self-play."""

    targets: str = about(
        "td: returns of whole games; one_roll: exact means over 21 rolls; rollout: some turns "
        "later, luck taken out",
        "td",
    )
    share: float = about("of the run that the stage takes, beside those of the other stages", 1.0)
    label: float = about("one_roll, rollout: share of the positions played that get a target", 0.5)
    replies: int = about("one_roll: replies to a roll that are priced, by a cheap look; 0: all", 0)
    rollout_plies: int = about("rollout: turns after which a game is cut off", 3)
    reuse: float = about("how often a position is learnt from, on average", 1.0)
    memory: int = about("newest positions to draw from; 0: each once, in the next round", 0)
    balance: float = about("phases drawn from it: 0 as they come, 1 equally often", 0.0)
    starts: float = about(
        "share of the games begun elsewhere than at the opening: with remembered positions of all "
        "phases, or random ones where there is no memory",
        0.0,
    )
    start_file: str | None = about("or with those of this file, a Position ID a line", None)
    lam: float = about("lambda of the returns, 0 to 1", 0.7)
    games_in_flight: int = about("games played in lock step", 1024)
    plies_per_round: int = about("turns of each game between two refreshes of the net", 16)
    longest_game: int = about("turns after which a game is cut off at the net's own value", 1000)
    minibatch: int = about("positions a gradient step", 1024)
    rate: float = about("Adam's step size at the start", 1e-3)
    final_rate: float = about("and at the end, falling geometrically", 1e-5)
    hot: float = about("share of the run at the first rate before it starts to fall", 0.2)
    equity_weight: float = about("of the squared error of equity, beside the cross-entropy", 0.0)
    average: int = about("steps over which the weights played with are averaged; 0: none", 0)
    tables: bool = about("target the exact chances where a bear-off table reaches", False)


@dataclass
class Config:
    """One training run."""

    variant: VariantConfig = about("the game", VariantConfig)
    net: NetConfig = about("the network", NetConfig)
    algo: AlgoConfig = about("the learning", AlgoConfig)
    stages: dict[str, AlgoConfig] = about(
        "in a file of configs/exp, or as {a:{targets:td},b:{…}}: stages in order, each as algo", {}
    )
    init: str | None = about("run, checkpoint or exported net whose weights to start from", None)
    init_memory: str | None = about("run whose remembered positions to begin with", None)
    follow: list[str] = about("runs whose positions are learnt as they price them; none played", [])
    name: str = about("the run folder is runs/NAME", "run")
    seed: int = about("of the dice, the weights and the shuffling", 1)
    games: int = about("length of the run in games", 1_000_000)
    minutes: float = about("length of the run in minutes, where that comes first", math.inf)
    threads: int = about("threads that play; learning adds one where it is over 1", 2)
    device: str = about("cpu or cuda: where the net is evaluated and learns", "cpu")
    precision: str = about("of matrix products: auto, float32 or bfloat16", "auto")
    gauge_minutes: float = about("between two matches against the fixed opponents", 1.0)
    gauge_pairs: int = about(
        "pairs of games in such a match; the file `best` follows its result", 200
    )
    checkpoint_minutes: float = about("between two checkpoints", 5.0)
    keep: int = about("newest checkpoints that are kept, besides the best", 3)
    resume: str = about("auto: go on from the run folder's latest; never: refuse one", "never")

    def __post_init__(self) -> None:
        """Refuse impossible values, by name."""
        self._check_positive()
        self._check_choices()
        self._check_followed()
        self._check_stages()
        self._check_ranges()
        self.variant.make()

    def _check_positive(self) -> None:
        positive: dict[str, float] = {
            "games": self.games,
            "minutes": self.minutes,
            "threads": self.threads,
            "keep": self.keep,
            "net.hidden": self.net.hidden,
        }
        for stage, algo in self.schedule().items():
            for name in (
                "games_in_flight", "plies_per_round", "longest_game", "minibatch", "rate",
                "final_rate", "share", "label", "reuse", "rollout_plies",
            ):  # fmt: skip
                positive[f"{stage}.{name}"] = getattr(algo, name)
        for name, value in positive.items():
            if not value > 0:
                raise ValueError(f"{name} must be above 0, not {value!r}")
        for name in ("gauge_minutes", "checkpoint_minutes"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be 0 or above, not {getattr(self, name)!r}")

    def _check_followed(self) -> None:
        if self.follow and math.isinf(self.minutes):
            raise ValueError("follow= needs minutes=: a run that plays no games ends by time alone")
        if self.follow and self.init_memory is not None:
            raise ValueError("follow= and init_memory= exclude each other: one plays no games")

    def _check_choices(self) -> None:
        choices: dict[str, tuple[object, tuple[object, ...]]] = {
            "device": (self.device, ("cpu", "cuda")),
            "precision": (self.precision, ("auto", "float32", "bfloat16")),
            "resume": (self.resume, ("auto", "never")),
            "net.phases": (self.net.phases, (1, 2)),
        }
        for stage, algo in self.schedule().items():
            choices[f"{stage}.targets"] = (algo.targets, ("td", "one_roll", "rollout"))
        for name, (chosen, allowed) in choices.items():
            if chosen not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, not {chosen!r}")

    def schedule(self) -> dict[str, AlgoConfig]:
        """The stages by the name of their key, in order; without any, the one stage `algo`."""
        named = {f"stages.{name}": algo for name, algo in self.stages.items()}
        return named or {"algo": self.algo}

    def _check_stages(self) -> None:
        for stage, algo in self.schedule().items():
            if not 0 <= algo.lam <= 1:
                raise ValueError(f"{stage}.lam must lie between 0 and 1, not {algo.lam!r}")
            if not 0 <= algo.hot < 1:
                raise ValueError(f"{stage}.hot must lie between 0 and 1, not {algo.hot!r}")
            if algo.label > 1:
                raise ValueError(f"{stage}.label must lie between 0 and 1, not {algo.label!r}")
            self._check_sources(stage, algo)
            if algo.games_in_flight < self.threads:
                raise ValueError(
                    f"{stage}.games_in_flight ({algo.games_in_flight}) must reach threads "
                    f"({self.threads})"
                )
            for name in ("replies", "average", "equity_weight"):
                if getattr(algo, name) < 0:
                    raise ValueError(
                        f"{stage}.{name} must be 0 or above, not {getattr(algo, name)!r}"
                    )
            if algo.memory < 0 or (algo.reuse != 1 and algo.memory < algo.minibatch):
                raise ValueError(
                    f"{stage}.memory must reach a minibatch ({algo.minibatch}) where reuse is not "
                    f"1, not {algo.memory!r}"
                )

    def _check_sources(self, stage: str, algo: AlgoConfig) -> None:
        """Which positions a stage begins games with and draws."""
        hitting = self.variant.make().family == "hitting"
        for name in ("starts", "balance"):
            if not 0 <= getattr(algo, name) <= 1:
                raise ValueError(
                    f"{stage}.{name} must lie between 0 and 1, not {getattr(algo, name)!r}"
                )
        if algo.balance and not (algo.memory and hitting):
            raise ValueError(
                f"{stage}.balance ({algo.balance!r}) needs a memory and a game of the hitting "
                f"family, not memory={algo.memory!r} and {self.variant.name!r}"
            )
        if algo.start_file is not None and not (algo.starts and hitting):
            raise ValueError(
                f"{stage}.start_file ({algo.start_file!r}) needs starts above 0 and a game of the "
                f"hitting family, not starts={algo.starts!r} and {self.variant.name!r}"
            )

    def _check_ranges(self) -> None:
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must be 0 or above and below 2**63, not {self.seed!r}")
        if self.gauge_pairs < 2:
            raise ValueError(f"gauge_pairs must be at least 2, not {self.gauge_pairs!r}")
        if not 0 <= self.net.pairs <= self.net.hidden:
            raise ValueError(
                f"net.pairs must lie between 0 and net.hidden ({self.net.hidden}), "
                f"not {self.net.pairs!r}"
            )
        if any(width < 1 for width in self.net.tail):
            raise ValueError(f"net.tail has widths above 0, not {list(self.net.tail)!r}")
        if not self.name or "/" in self.name or self.name.startswith("."):
            raise ValueError(f"name must be usable as a folder's name, not {self.name!r}")


def parse(name: str, schema: type[Schema], overrides: Sequence[str]) -> Schema:
    """configs/NAME.yaml with `key=value` overrides, as an object of `schema`.

    Raises ValueError with one sentence where a key is unknown or a value does not fit.
    """
    for override in overrides:
        if override.startswith(("+", "~")) or "=" not in override:
            raise ValueError(f"arguments have the form key=value, not {override!r}")
    if not any(override.startswith("exp=") for override in overrides):
        # to Hydra stages are new keys of a map, where no file has them
        overrides = [f"++{one}" if one.startswith("stages={") else one for one in overrides]
    ConfigStore.instance().store(name="schema", node=schema)
    try:
        GlobalHydra.instance().clear()
        with initialize_config_dir(str(CONFIGS), version_base=None):
            composed = compose(name, overrides=list(overrides))
        return to_object(composed, schema)
    except (HydraException, OmegaConfBaseException, TypeError) as error:
        raise ValueError(_sentence(error, overrides)) from None


def parse_keys(schema: type[Schema], arguments: Sequence[str]) -> Schema:
    """`key=value` arguments alone as an object of `schema`, without groups or a file in configs/.

    For commands that have no groups; to Hydra a key such as net= would mean a file of configs/net.
    Raises ValueError with one sentence.
    """
    for argument in arguments:
        if "=" not in argument:
            raise ValueError(f"arguments have the form key=value, not {argument!r}")
    try:
        given = OmegaConf.from_dotlist(list(arguments))
        return to_object(OmegaConf.merge(schema, given), schema)
    except (OmegaConfBaseException, YAMLError) as error:
        reason = _plainly(str(error).splitlines()[0])
        raise ValueError(f"the arguments {' '.join(arguments)!r} are wrong: {reason}") from None


def to_object(composed: Any, schema: type[Schema]) -> Schema:
    """The dataclass that a composed configuration describes."""
    result = OmegaConf.to_object(composed)
    assert isinstance(result, schema)
    return result


def flatten(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """A configuration as a flat map from dotted key to value."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict) and key != "start":
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _sentence(error: Exception, overrides: Sequence[str]) -> str:
    lines = [line.strip() for line in str(error.__cause__ or error).splitlines() if line.strip()]
    first = next((line for line in lines if "Key '" in line or "'$" in line), lines[0])
    if "Could not find" in first:  # the lines after "Available options" name them
        known = itertools.takewhile(lambda line: "Config search path" not in line, lines[2:])
        first += f"; there are {', '.join(known)}"
    return f"the configuration {' '.join(overrides)!r} is wrong: {_plainly(first)}"


def _plainly(reason: str) -> str:
    """OmegaConf's reason, where its own types tell a user nothing in words that do."""
    return "a list is written [a,b]" if "is not a ListConfig" in reason else reason


def help_text(schema: type[Any], usage: str, examples: Sequence[str]) -> str:
    """What --help prints: groups, keys with their defaults, examples."""
    lines = [usage, "", "examples:", *(f"  {example}" for example in examples), ""]
    groups = sorted(path for path in CONFIGS.iterdir() if path.is_dir())
    group_names = {part.name for part in fields(schema) if is_dataclass(part.default_factory)}
    if schema is Config:
        group_names.add("exp")
    choices = [
        f"  {group.name}={'|'.join(sorted(file.stem for file in group.glob('*.yaml')))}"
        for group in groups
        if group.name in group_names
    ]
    if choices:
        lines += ["groups (files in configs/):", *choices, ""]
    lines += ["keys:", *_key_lines(schema, "")]
    return "\n".join(lines)


def _key_lines(schema: type[Any], prefix: str) -> list[str]:
    lines = []
    for part in fields(schema):
        default = part.default_factory() if callable(part.default_factory) else part.default
        if is_dataclass(default):
            lines += _key_lines(type(default), f"{prefix}{part.name}.")
        else:
            key = f"{prefix}{part.name}={default}"
            lines.append(f"  {key:36s} {part.metadata.get('help', '')}")
    return lines
