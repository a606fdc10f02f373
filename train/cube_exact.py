"""The cube against exact values: the formula's and the learned head's, over one outcome head.

    python -m train.cube_exact net=checkpoints/short-02
    python -m train.cube_exact net=checkpoints/short-01 cube=runs/cube json=exact.json

Two games whose cubeful values are known for money (K16):

bear-off    random positions of the two-sided table, one to six checkers a side. What plays takes
            the cube from that very table there (nardy.play.cube_head.own_cube); here it is told
            nothing of it. Chances are the table's, and in a second line the net's own.
endgame     every position of two checkers a side, one or two left and the others borne off, on any
            points and the bar: with contact, hits and long races, and no gammons, since both have
            borne off thirteen. It is solved with the cube by value iteration (train.solve) as that
            very game. Self-play hardly ever comes there, so the net's chances are a guess; formula
            and head both get the exact ones, and in a second line the net's. The head sees the
            position through the net's first layer: what is measured is whether what it has learnt
            of the cube carries to positions that it has hardly met.

For each: mean |error| of equity before the roll by who owns the cube, nobody having doubled; what
the cube errors cost, millipoints a decision, of the player on roll and of the one who is doubled;
which share of the positions that are rightly doubled and taken is called no double, and which
share of those rightly not doubled is doubled.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.match.score import Owner, Score
from nardy.net.net import Net
from nardy.net.weights import write_whole
from nardy.play.bearoff import Bearoff, tables_for
from nardy.play.cube_head import CubeHead, learned
from nardy.play.cubeful import Cube, check_learnt, formula
from nardy.play.possible import possible
from nardy.rules.board import Boards, flip
from nardy.rules.variants import variant
from train.checkpoint import resolve
from train.command_line import answer
from train.config import about, help_text, parse_keys
from train.solve import game_folder, solve, space
from train.solved import SolvedGame

Floats = NDArray[np.float64]

OWNERS: tuple[Owner, ...] = ("centre", "mine", "theirs")
ENDGAME = variant("hyper", start={24: 2})
CLEAR = 1e-4
"""Points by which a double must be right or wrong to be counted: tables are float32."""


@dataclass
class ExactConfig:
    """Arguments of `python -m train.cube_exact`."""

    net: str = about("the net: run, checkpoint or exported folder", "")
    cube: str | None = about("folder of the learned cube; by default the net's own", None)
    positions: int = about("of the bear-off", 20_000)
    seed: int = about("of these positions", 5)
    folder: str = about("where the solved endgame is kept, or made: seconds", "runs/exact")
    json: str | None = about("file to write the figures to", None)

    def __post_init__(self) -> None:
        """Refuse impossible values, by name."""
        if not self.net:
            raise ValueError("net= is missing")
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or above, not {self.seed!r}")
        if self.positions < 1:
            raise ValueError(f"positions must be at least 1, not {self.positions!r}")


class Known(NamedTuple):
    """Positions with what is known of them.

    boards: int8[N, 26], before the roll; exact: float[N, 3], money points a unit of the cube by
    OWNERS, nobody having doubled now; chances: float[N, 6], exact.
    """

    boards: Boards
    exact: Floats
    chances: Floats


class Measured(NamedTuple):
    """How a cube compares with what is known; see the module's docstring.

    error: by OWNERS; the others of a centred cube and of the player's own. missed, rash: NaN where
    there is no such position.
    """

    error: list[float]
    doubling: list[float]
    taking: list[float]
    missed: list[float]
    rash: list[float]


def bearoff(tables: Bearoff, count: int, seed: int) -> Known:
    """Random positions of the two-sided table, 1 to all its checkers a side."""
    rng = np.random.default_rng(seed)
    boards = np.zeros((count, 26), np.int8)
    for board in boards:
        for home, sign in ((range(1, 7), 1), (range(19, 25), -1)):
            points = rng.choice(home, rng.integers(1, tables.two_sided_checkers + 1))
            np.add.at(board, points, sign)
    exact = tables.equities(boards)[:, 1:].astype(float)
    return Known(boards, exact, tables.outcomes(boards).astype(float))


def endgame(folder: str | Path) -> Known:
    """Every position with one or two checkers a side, in a game where no gammon is possible.

    It is solved into `folder` where it is not there yet.
    """
    cubeless, cubeful = (_solved(folder, cube) for cube in (False, True))
    states = space(ENDGAME.checkers)
    apart = (states.own_mask[:, None] & states.other_mask) == 0
    apart[0] = apart[:, 0] = False
    own, other = np.nonzero(apart)
    boards = states.sides[own] + flip(states.sides[other])
    exact = np.stack([cubeful.equity(boards, kind) for kind in range(len(OWNERS))], -1)
    win = (1 + cubeless.equity(boards).astype(float)) / 2
    chances = np.zeros((len(boards), 6))
    chances[:, 2], chances[:, 3] = 1 - win, win
    return Known(boards, exact.astype(float), chances)


def _solved(folder: str | Path, cube: bool) -> SolvedGame:
    place = game_folder(folder, ENDGAME, cube, gammons=False)
    if not (place / "meta.json").exists():
        solve(ENDGAME.checkers, cube, 1e-5, place, gammons=False)
    return SolvedGame.load(place, ENDGAME)


def measure(cube: Cube, known: Known, chances: Floats) -> Measured:
    """How `cube` fares with float[N, 6] chances; see Measured."""
    boards, exact, _ = known
    centre, mine = (cube(boards, chances, score) for score in (Score(), _at("mine")))
    theirs = cube(boards, chances, _at("theirs")).no_double / 2
    found = np.stack([centre.no_double, mine.no_double / 2, theirs], -1)
    error = np.abs(found - exact).mean(0).tolist()
    told = [(centre, 1), (mine, 2)]
    actions = [
        _actions(values.no_double / unit, values.double_take / unit, exact, column)
        for column, (values, unit) in enumerate(told)
    ]
    return Measured(error, *([figures[n] for figures in actions] for n in range(4)))


def _actions(
    stay: Floats, taken: Floats, exact: Floats, column: int
) -> tuple[float, float, float, float]:
    """(doubling, taking, missed, rash) with the cube of OWNERS[column]; values a unit of it."""
    right_stay, right_taken = exact[:, column], 2 * exact[:, OWNERS.index("theirs")]
    right_doubled = np.minimum(right_taken, 1)
    doubles, takes = np.minimum(taken, 1) > stay, taken <= 1
    lost = np.maximum(right_stay, right_doubled) - np.where(doubles, right_doubled, right_stay)
    answer = np.where(takes, right_taken, 1) - right_doubled
    gain = right_doubled - right_stay
    double_take = (gain > CLEAR) & (right_taken <= 1)
    return (
        float(1000 * lost.mean()),
        float(1000 * answer.mean()),
        _share(~doubles, double_take),
        _share(doubles, gain < -CLEAR),
    )


def _share(of: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
    return float(of[among].mean()) if among.any() else float("nan")


def _at(owner: Owner) -> Score:
    return Score(cube=2, owner=owner)


def race_errors(net: Net, head: CubeHead | None, count: int, seed: int) -> float:
    """Mean |error| of equity over `count` positions of the bear-off and the three owners of the
    cube, exact chances, of a head or None for the formula; NaN for a game without its table."""
    tables = tables_for(net.variant)
    if tables is None:
        return float("nan")
    known = _some_bearoff(net.variant.name, count, seed)
    cube = formula if head is None else learned(net, head)
    return float(np.mean(measure(cube, known, known.chances).error))


@lru_cache(1)
def _some_bearoff(name: str, count: int, seed: int) -> Known:
    tables = tables_for(variant(name))
    assert tables is not None
    return bearoff(tables, count, seed)


def _chances(net: Net, boards: Boards) -> Floats:
    """float64[N, 6], the net's, as in play."""
    return possible(net.outcomes(boards), boards, net.variant).astype(float)


def compare(
    net: Net, head: CubeHead | None, config: ExactConfig
) -> Iterator[tuple[str, int, str, str, Measured]]:
    """(game, positions, whose chances, cube, how it fares) for each line of the result."""
    cubes = {"formula": formula} | ({} if head is None else {"head": learned(net, head)})
    tables = tables_for(net.variant)
    if tables is None:
        raise ValueError(f"there is no bear-off table for {net.variant.name}")
    short = bearoff(tables, config.positions, config.seed)
    lines = [("bear-off", short, "exact", short.chances)]
    lines += [("bear-off", short, "net", _chances(net, short.boards))]
    whole = endgame(config.folder)
    lines += [("endgame", whole, "exact", whole.chances)]
    lines += [("endgame", whole, "net", _chances(net, whole.boards))]
    for game, known, whose, chances in lines:
        for name, cube in cubes.items():
            yield game, len(known.boards), whose, name, measure(cube, known, chances)


def run(config: ExactConfig) -> None:
    """Print the comparison, and write it where asked. Raises ValueError, OSError."""
    folder = resolve(config.net)
    net = Net.load(folder)
    check_learnt(net.variant)
    place = folder if config.cube is None else resolve(config.cube)
    head = CubeHead.load(place)
    if head is None and config.cube is not None:
        raise ValueError(f"there is no cube head in {config.cube!r}")
    print(_TITLES)
    rows: list[dict[str, Any]] = []
    for game, count, chances, name, figures in compare(net, head, config):
        print(_line(game, chances, name, figures), flush=True)
        where = {"game": game, "positions": count, "chances": chances, "cube": name}
        rows.append(where | figures._asdict())
    if head is None:
        print(f"{str(place)!r} has learnt no cube: the formula alone")
    if config.json is not None:
        found = {"net": config.net, "cube": config.cube, "owners": OWNERS, "rows": rows}
        write_whole(config.json, (json.dumps(found, indent=1) + "\n").encode())


_TITLES = (
    "                           error of equity           doubling     taking       missed       "
    "rash\n"
    "game     chances cube      centred    own  other's  millipoints, centred cube and own  "
    "  share, likewise"
)


def _line(game: str, chances: str, name: str, figures: Measured) -> str:
    errors = " ".join(f"{value:8.4f}" for value in figures.error)
    costs = "  ".join(f"{a:5.2f} {b:5.2f}" for a, b in (figures.doubling, figures.taking))
    shares = "  ".join(f"{a:5.1%} {b:5.1%}" for a, b in (figures.missed, figures.rash))
    return f"{game:9}{chances:8}{name:8}{errors}  {costs}  {shares}"


def main(arguments: list[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    example = "python -m train.cube_exact net=checkpoints/short-01 cube=runs/cube"
    return answer(
        "train.cube_exact",
        lambda: run(parse_keys(ExactConfig, arguments)),
        arguments,
        help_text(
            ExactConfig,
            "python -m train.cube_exact net=PATH [cube=FOLDER] [key=value …]",
            [example],
        ),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
