"""The files of the decision benchmark: what they hold and how they are read.

    decisions = read_decisions("benchmarks/decisions_short.npz")
    decisions = read_decisions("benchmarks/decisions_long.npz")
    decisions = read_decisions("contact.bm")

Three kinds, told apart by name: decisions_*.npz and gnubg's *.bm (checker plays), values_*.npz
(outcome chances) and cube_*.npz (cube actions). benchmarks/README.md has the format. What is
wrong with a file is a ValueError of one sentence that names it.
"""

import base64
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.notation.ids import from_position_id
from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import Boards, flip
from nardy.rules.variants import variant
from train.benchmark_phases import (
    DECISION_PHASES,
    LONG_PHASES,
    OPENING_PLIES,
    VALUE_PHASES,
    Array,
    phases_of,
)

Floats = NDArray[np.float64]

FOLDER = Path(__file__).parents[1] / "benchmarks"

KINDS = ("decisions", "values", "cube")

_MATCH_TERMS = ("away_me", "away_opp", "cube", "crawford", "mwc_win", "mwc_lose")

REFERENCES = ("gnubg2", "sage3", "gnubgnn2", "rollout")
"""Judges whose searched equities a file may hold, as eq_gnubg2 and so on."""

_KEY_LETTERS = "ABCDEFGHIJKLMNOP"


@dataclass(frozen=True)
class Decisions:
    """Positions with their roll, every legal result, and what each result loses.

    file: its name. boards: int8[N, 26]; dice: uint8[N, 2]; results: in the mover's view, at least
    one each. losses: for each reference float64[M], points lost by each result.
    phases: int64[N] into phase_names; games: int64[N], decisions of one game share a number;
    plies: int64[N], turns played before. variant: the game's name, with the rules' defaults.
    """

    file: str
    boards: Boards
    dice: NDArray[np.uint8]
    results: Afterstates
    losses: dict[str, Floats]
    phases: NDArray[np.int64]
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    variant: str = "short"

    @property
    def family(self) -> str:
        """Of the game."""
        return variant(self.variant).family

    @property
    def phase_names(self) -> tuple[str, ...]:
        """What `phases` count."""
        return DECISION_PHASES if self.family == "hitting" else LONG_PHASES


@dataclass(frozen=True)
class Values:
    """Positions before the roll and their outcome chances.

    chances: for each reference float64[N, 5]: win, win gammon, win backgammon, lose gammon, lose
    backgammon of the player on roll, each including the greater; phases: into VALUE_PHASES.
    """

    file: str
    boards: Boards
    chances: dict[str, Floats]
    phases: NDArray[np.int64]


@dataclass(frozen=True)
class Cubes:
    """Positions before the roll, and what each cube action is worth to the player on roll.

    owned: bool[N], he owns the cube, else it is in the middle; cube: int64[N]; away: int64[N, 2],
    points he and the opponent need, 0 and 0 for money; crawford: bool[N].
    unit: float64[N], what one of equity is: half of what a single game won rather than lost at the
    present cube is worth, 1 for money.
    actions: for each reference float64[N, 3]: no double, double and take, double and pass; for
    money in units of the present cube, in a match his chance of winning it.
    """

    file: str
    boards: Boards
    owned: NDArray[np.bool_]
    cube: NDArray[np.int64]
    away: NDArray[np.int64]
    crawford: NDArray[np.bool_]
    unit: Floats
    actions: dict[str, Floats]
    phases: NDArray[np.int64]
    games: NDArray[np.int64]

    @property
    def match(self) -> bool:
        """Whether the positions stand in matches."""
        return bool(self.away.any())


def benchmark_files(folder: Path, files: Sequence[str] | None) -> list[Path]:
    """`files`, or else every benchmark file of `folder`, by kind and name.

    Raises ValueError naming a file that is missing, or not named as one of the three kinds.
    """
    if files is not None:
        paths = [Path(name) for name in files]
    else:
        paths = [
            path for kind in KINDS for path in sorted(folder.glob("*.*")) if kind_of(path) == kind
        ]
    if not paths:
        raise ValueError(f"{str(folder)!r} holds no benchmark file such as decisions_short.npz")
    for path in paths:
        if not kind_of(path):
            raise ValueError(
                f"{str(path)!r} is not named decisions_*.npz, values_*.npz, cube_*.npz or *.bm"
            )
        if not path.is_file():
            raise ValueError(f"{str(path)!r} is not a file that exists")
    return paths


def kind_of(path: Path) -> str | None:
    """ "decisions", "values" or "cube", by the file's name; None for any other file."""
    if path.suffix == ".bm":
        return "decisions"
    first = path.name.split("_")[0]
    return first if path.suffix == ".npz" and first in KINDS else None


def variant_of(path: Path) -> str:
    """The name of the game that a benchmark file is of. Raises ValueError as read_decisions."""
    if kind_of(path) != "decisions" or path.suffix == ".bm":
        return "short"
    return _variant_in(path, _load(path, ()))


def _variant_in(path: str | Path, arrays: dict[str, Array]) -> str:
    """What `meta`, a text of JSON, says; files of short nardy need none."""
    if "meta" not in arrays:
        return "short"
    try:
        name = json.loads(str(arrays["meta"]))["variant"]
        variant(name)
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{str(path)!r} has a meta that names no game") from None
    return str(name)


def read_decisions(path: str | Path) -> Decisions:
    """A file of checker plays. A result that was not searched loses as much as the worst that was.

    Raises ValueError naming the file and what is wrong in it.
    """
    if Path(path).suffix == ".bm":
        return _read_bm(Path(path))
    arrays = _load(path, ("boards", "dice", "offsets", "results", "phase", "game", "ply"))
    results = Afterstates(arrays["results"], arrays["offsets"].astype(np.int64))
    names = _references(path, arrays, "eq_")
    _check_offsets(path, len(arrays["boards"]), results)
    _check_lengths(path, arrays, ("dice", "phase", "game", "ply"), len(arrays["boards"]))
    _check_lengths(path, arrays, [f"eq_{name}" for name in names], len(results.boards))
    _check_numbers(path, "dice", arrays["dice"], 1, 6)
    game = _variant_in(path, arrays)
    phases = DECISION_PHASES if variant(game).family == "hitting" else LONG_PHASES
    _check_numbers(path, "phase", arrays["phase"], 0, len(phases) - 1)
    for name in names:
        searched = ~np.isnan(arrays[f"eq_{name}"])
        if not np.logical_or.reduceat(searched, results.offsets[:-1]).all():
            raise ValueError(f"{str(path)!r} has a decision without a number in eq_{name}")
    return Decisions(
        Path(path).name,
        arrays["boards"],
        arrays["dice"],
        results,
        {name: filled_losses(arrays[f"eq_{name}"], results.offsets) for name in names},
        arrays["phase"].astype(np.int64),
        arrays["game"].astype(np.int64),
        arrays["ply"].astype(np.int64),
        game,
    )


def filled_losses(equities: Array, offsets: NDArray[np.int64]) -> Floats:
    """float64[M]: what each result loses against the best of its decision.

    equities: [M], the mover's points, NaN where a result was not searched, which then loses as
    much as the worst of its decision that was; offsets: int64[N + 1].
    """
    values, counts = equities.astype(float), np.diff(offsets)
    best = np.repeat(np.fmax.reduceat(values, offsets[:-1]), counts)
    worst = np.repeat(np.fmin.reduceat(values, offsets[:-1]), counts)
    return best - np.where(np.isnan(values), worst, values)


def read_values(path: str | Path) -> Values:
    """A file of outcome chances. Raises ValueError naming the file and what is wrong in it."""
    arrays = _load(path, ("boards", "phase"))
    names = _references(path, arrays, "probs_")
    columns = ["phase", *(f"probs_{name}" for name in names)]
    _check_lengths(path, arrays, columns, len(arrays["boards"]))
    _check_numbers(path, "phase", arrays["phase"], 0, len(VALUE_PHASES) - 1)
    chances = {name: arrays[f"probs_{name}"].astype(float) for name in names}
    if any(rows.shape[1:] != (5,) for rows in chances.values()):
        raise ValueError(f"{str(path)!r} has probs_ that are not [N, 5]")
    return Values(Path(path).name, arrays["boards"], chances, arrays["phase"].astype(np.int64))


def read_cubes(path: str | Path) -> Cubes:
    """A file of cube actions, for money or, where it has away_me, for matches.

    Raises ValueError naming the file and what is wrong in it.
    """
    arrays = _load(path, ("boards", "owner", "phase", "game"))
    count, names = len(arrays["boards"]), _references(path, arrays, "nd_")
    terms = _MATCH_TERMS if "away_me" in arrays else ()
    columns = [f"{action}_{name}" for name in names for action in ("nd", "dt", "dp")]
    _check_lengths(path, arrays, ("owner", "phase", "game", *terms, *columns), count)
    actions = np.column_stack([arrays[column] for column in columns]).astype(float)
    if terms:
        away = np.column_stack([arrays["away_me"], arrays["away_opp"]]).astype(np.int64)
        cube, crawford = arrays["cube"].astype(np.int64), arrays["crawford"]
        unit = (arrays["mwc_win"].astype(float) - arrays["mwc_lose"]) / 2
    else:
        away, cube = np.zeros((count, 2), np.int64), np.ones(count, np.int64)
        crawford, unit = np.zeros(count, bool), np.ones(count)
    return Cubes(
        Path(path).name,
        arrays["boards"],
        arrays["owner"] == 1,
        cube,
        away,
        crawford,
        unit,
        {name: actions[:, 3 * i : 3 * i + 3] for i, name in enumerate(names)},
        arrays["phase"].astype(np.int64),
        arrays["game"].astype(np.int64),
    )


def _load(path: str | Path, needed: tuple[str, ...]) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{str(path)!r} cannot be read as .npz: {error}") from None
    _check_there(path, arrays, needed)
    for name in {"boards", "results"} & set(arrays):
        if arrays[name].dtype != np.int8 or arrays[name].shape[1:] != (26,):
            found = f"{arrays[name].dtype}{list(arrays[name].shape)}"
            raise ValueError(f"{str(path)!r} has {name} of {found} instead of int8[N, 26]")
    return arrays


def _references(path: str | Path, arrays: dict[str, Array], prefix: str) -> list[str]:
    names = [name for name in REFERENCES if prefix + name in arrays]
    if not names:
        raise ValueError(f"{str(path)!r} has none of {', '.join(prefix + r for r in REFERENCES)}")
    return names


def _check_there(path: str | Path, arrays: dict[str, Array], names: Sequence[str]) -> None:
    for name in names:
        if name not in arrays:
            raise ValueError(f"{str(path)!r} lacks the array {name!r}")


def _check_lengths(
    path: str | Path, arrays: dict[str, Array], names: Sequence[str], count: int
) -> None:
    _check_there(path, arrays, names)
    for name in names:
        if len(arrays[name]) != count:
            raise ValueError(f"{str(path)!r} has {len(arrays[name])} {name} instead of {count}")


def _check_numbers(path: str | Path, name: str, values: Array, least: int, most: int) -> None:
    wrong = values[(values < least) | (values > most)]
    if len(wrong):
        raise ValueError(f"{str(path)!r} has a {name} of {wrong[0]}, not {least} to {most}")


def _check_offsets(path: str | Path, count: int, results: Afterstates) -> None:
    offsets = results.offsets
    if (
        len(offsets) != count + 1
        or offsets[0] != 0
        or offsets[-1] != len(results.boards)
        or (np.diff(offsets) < 1).any()
    ):
        raise ValueError(f"{str(path)!r} has offsets that do not divide its results")


# --- gnubg's .bm files -----------------------------------------------------------------------


def _read_bm(path: Path) -> Decisions:
    """gnubg's rolled out checker plays: the lines "m KEY DIE DIE RESULT EQUITY RESULT LOSS ...".

    The best result comes first, with its equity; the others with what they lose. A result that
    is not listed loses as much as the worst that is. Keys hold the bits of a Position ID as 20
    letters A..P, four bits each; that of a result is in the view of the next player. Lines of
    other kinds (comments, settings, seeds, rolled out positions) are passed over.
    Source: the output of gnubg's rollout program, sagnubg.
    """
    lines = enumerate(path.read_text(errors="replace").splitlines(), 1)
    plays = [_bm_play(path, number, line) for number, line in lines if line.startswith("m ")]
    if not plays:
        raise ValueError(f"{str(path)!r} has no line of a checker play, which begins with 'm'")
    boards = np.array([play.board for play in plays], np.int8)
    dice = np.array([play.dice for play in plays], np.uint8)
    results = afterstates(boards, dice, variant("short"))
    bounds = zip(results.offsets[:-1], results.offsets[1:], strict=True)
    losses = [
        _bm_losses(path, play, results.boards[begin:end])
        for play, (begin, end) in zip(plays, bounds, strict=True)
    ]
    plies = np.full(len(boards), OPENING_PLIES)  # they are not told; none is called an opening
    phases, games = phases_of(boards, plies), np.arange(len(boards))
    lost = {"rollout": np.concatenate(losses)}
    return Decisions(path.name, boards, dice, results, lost, phases, games, plies)


class _BmPlay(NamedTuple):
    line: int
    board: Boards
    dice: list[int]
    listed: dict[bytes, float]  # points lost, by the bytes of the result in the mover's view


def _bm_play(path: Path, number: int, line: str) -> _BmPlay:
    words = line.split()
    try:
        board, dice = _from_key(words[1]), [int(words[2]), int(words[3])]
        if not all(1 <= die <= 6 for die in dice):
            raise ValueError(f"dice are 1 to 6, not {words[2]} and {words[3]}")
        results = [flip(_from_key(key)).tobytes() for key in words[4::2]]
        losses = [0.0, *map(float, words[7::2])]
        if len(words) < 6 or len(results) != len(losses) or not np.isfinite(losses).all():
            raise ValueError("each result needs a number after it")
    except (ValueError, IndexError) as error:
        raise ValueError(f"line {number} of {str(path)!r} is wrong: {error}") from None
    return _BmPlay(number, board, dice, dict(zip(results, losses, strict=True)))


def _bm_losses(path: Path, play: _BmPlay, results: Boards) -> list[float]:
    """What each of `results`, int8[K, 26] in the mover's view, loses."""
    keys = [result.tobytes() for result in results]
    if not set(play.listed) <= set(keys):
        raise ValueError(f"line {play.line} of {str(path)!r} lists a result that is not legal")
    worst = max(play.listed.values())
    return [play.listed.get(key, worst) for key in keys]


def _from_key(key: str) -> Boards:
    """int8[26] in the view of the player whose turn it is."""
    if len(key) != 20 or not set(key) <= set(_KEY_LETTERS):
        raise ValueError(f"a position is 20 letters A to P, not {key!r}")
    half = [_KEY_LETTERS.index(letter) for letter in key]
    data = bytes(high << 4 | low for high, low in zip(half[::2], half[1::2], strict=True))
    return from_position_id(base64.b64encode(data).decode()[:14])
