"""Bear-off tables: exact chances of a race in which both sides have their checkers home.

    tables = Bearoff.load(variant("short"))
    tables.covers(boards)            # bool[N]
    tables.settle(boards, chances)   # puts exact chances where a table reaches, says where

The one-sided table has the distribution of rolls that one side needs to bear off, up to 15
checkers, and to bear off the first of them, which saves the gammon. Two of them give the chances
of a race very nearly: each side plays for the fewest rolls, whatever the other has left. The
two-sided table has equities of both sides together, cubeless and with a cube, and is exact.

The package brings a one-sided table of six points and a two-sided one of three checkers. Where
numba is installed a two-sided table of six checkers is made, in seconds, when first needed, and
kept in the folder that `cache_folder` names. `nardy tables --points 8` makes a larger one-sided
table, which is used from then on. All are memory-mapped. Rules K10..K16.

Long nardy bears off by the same rules (D10): where both sides have come home its race is the
short one, seen with the opponent's half of the board turned round.
"""

import os
import sys
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Floats
from nardy.net.weights import whole_file
from nardy.play import bearoff_kernels as kernels
from nardy.play.bearoff_make import POINTS, SCALE, Progress, make_one_sided, make_two_sided
from nardy.rules import kernel
from nardy.rules.board import Boards, pip_counts
from nardy.rules.variants import LONG_OUTCOMES, SHORT_OUTCOMES, Variant

CHECKERS = 15
SHIPPED = Path(__file__).parents[1] / "data"
TWO_SIDED = (3, 6)
"""Checkers a side of the two-sided table that is shipped, and of the one that is made."""

_SHORT_CELLS = np.array([0, *range(1, 13), *range(24, 12, -1), 25])
"""The cells of a long race in the order of the short one."""

PIPS_A_ROLL = 49 / 6
"""Mean pips of a roll, doubles played four times (K6)."""


class Wastage(NamedTuple):
    """How one side's race compares with a race of pips alone."""

    mean_rolls: float  # to bear all off
    effective_pips: float  # the pip count of a race without waste that takes as many rolls
    wastage: float  # effective pips less pips


class Bearoff:
    """The tables, for the games of one variant. Look-ups share no memory: any thread may ask."""

    def __init__(
        self, game: Variant, one_sided: NDArray[np.void], two_sided: Floats, points: int = 6
    ) -> None:
        """one_sided, two_sided: see bearoff_make. Raises ValueError where the game pays otherwise
        than K14, so that the tables do not fit it."""
        if not fits(game):
            raise ValueError(f"the bear-off tables are for games of rule K14, not {game.name!r}")
        self.game = game
        self.points = points
        self._first, self._rolls, self._save = (
            np.asarray(one_sided[name]) for name in ("first", "rolls", "save")
        )
        self._two = np.asarray(two_sided)
        self.two_sided_checkers = _checkers_of(len(two_sided), 6)

    @staticmethod
    def load(game: Variant, points: int | None = None) -> "Bearoff":
        """The tables from the cache folder or the package; see `table_files` for which.

        points: of the one-sided table; by default the most for which one has been made (`nardy
        tables --points 8`), at least 6.
        Raises ValueError naming a table that is not there or not whole.
        """
        if points is None:
            points = max(p for p in POINTS if p == POINTS[0] or _one_sided(p).exists())
        one, two = table_files(points)
        return Bearoff(game, read_one_sided(one, points), read_two_sided(two), points)

    def _as_short(self, boards: Boards) -> Boards:
        """Races as those of the short game; other positions stay such that no table reaches."""
        if self.game.family == "hitting":
            return boards
        return np.ascontiguousarray(boards[:, _SHORT_CELLS])

    def covers(self, boards: Boards) -> NDArray[np.bool_]:
        """bool[N], where `outcomes` answers; boards int8[N, 26] before a roll, both sides on."""
        boards = self._as_short(boards)
        found = np.empty(len(boards), np.bool_)
        kernels.covered(boards, self.points, CHECKERS, found)
        return found

    def covers_exactly(self, boards: Boards) -> NDArray[np.bool_]:
        """bool[N], where `equities` answers: the two-sided table, and no gammon possible."""
        boards = self._as_short(boards)
        found = np.empty(len(boards), np.bool_)
        kernels.covered_by_two(boards, self.two_sided_checkers, self.game.checkers, found)
        return found

    def settle(self, boards: Boards, chances: Floats) -> NDArray[np.bool_]:
        """Overwrite the rows of `chances` that a table knows; bool[N], which they are.

        boards: int8[N, 26], in the view of the player on roll; chances: float32[N, K], of the
        game's outcomes, for him.
        """
        if self.game.family != "hitting":  # no backgammon is won in a race of the tables
            wide = np.zeros((len(boards), 6), np.float32)
            known = self._settle(self._as_short(boards), wide)
            chances[known] = wide[known, 1:5]
            return known
        return self._settle(boards, chances)

    def _settle(self, boards: Boards, chances: Floats) -> NDArray[np.bool_]:
        """As `settle`, of the short game."""
        found = np.empty(len(boards), np.bool_)
        kernels.look_up(
            boards, self.game.checkers, CHECKERS, self.points, self._first, self._rolls,
            self._save, self.two_sided_checkers, self._two, chances, found,
        )  # fmt: skip
        return found

    def outcomes(self, boards: Boards) -> Floats:
        """float32[N, K]: chances of the game's outcomes for the player on roll.

        Raises ValueError where no table reaches a board.
        """
        chances = np.empty((len(boards), len(self.game.outcomes)), np.float32)
        found = self.settle(boards, chances)
        if not found.all():
            missing = boards[int(found.argmin())].tolist()
            raise ValueError(f"no bear-off table reaches the board {missing}")
        return chances

    def equities(self, boards: Boards) -> Floats:
        """float32[N, 4], in money points for the player on roll, exact: cubeless; cube centred;
        he owns it; the opponent owns it. The unit is the cube as it stands.

        With a cube: after he has declined to double, before his roll (K16). With access, his value
        is max(value, min(2 · value where the opponent owns, 1)).
        Raises ValueError where the two-sided table does not reach a board.
        """
        found = self.covers_exactly(boards)
        if not found.all():
            missing = boards[int(found.argmin())].tolist()
            raise ValueError(f"the two-sided table does not reach the board {missing}")
        ranks = np.empty((len(boards), 2), np.int64)
        kernels.rank_pairs(self._as_short(boards), 6, ranks)
        values: Floats = self._two[ranks[:, 0], ranks[:, 1]]
        return values

    def wastage(self, board: Boards) -> tuple[Wastage, Wastage]:
        """Of the mover and of the opponent; int8[26], one that is covered.

        EPC = mean rolls · 49 / 6 (Trice, Backgammon Boot Camp).
        """
        pips = pip_counts(board, self.game.family)
        ranks = np.empty((1, 2), np.int64)
        kernels.rank_pairs(self._as_short(board[None]), self.points, ranks)
        mover, opponent = ranks[0].tolist()
        return self._wastage(mover, int(pips[0])), self._wastage(opponent, int(pips[1]))

    def _wastage(self, rank: int, pips: int) -> Wastage:
        chances = self._rolls[rank].astype(np.float64) / SCALE
        mean = float(chances @ (int(self._first[rank]) + np.arange(len(chances))))
        return Wastage(mean, mean * PIPS_A_ROLL, mean * PIPS_A_ROLL - pips)


def tables_for(game: Variant) -> Bearoff | None:
    """The tables of a game; None where they do not fit it."""
    return Bearoff.load(game) if fits(game) else None


def fits(game: Variant) -> bool:
    """Whether the tables are for this game: paid as K14 or D11 says, and a row of six at home is
    nowhere forbidden (D8)."""
    if game.family == "hitting":
        return game.outcomes == SHORT_OUTCOMES
    return game.outcomes == LONG_OUTCOMES and game.prime_rule in ("front_checker_ahead", "allow")


def cache_folder() -> Path:
    """Where tables that were made are kept: nardy/tables below XDG_CACHE_HOME or ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "nardy" / "tables"


def file_name(kind: str, points: int, checkers: int) -> str:
    """The name of a table's file, such as one-sided-6x15.npy."""
    return f"{kind}-sided-{points}x{checkers}.npy"


def table_files(points: int) -> tuple[Path, Path]:
    """The files of the one-sided table of so many points, and of the two-sided one.

    Where numba is installed and the larger two-sided table is not there yet, it is made now.
    """
    one = _one_sided(points)
    if not one.exists():
        raise ValueError(f"{str(one)!r} is missing: make it with `nardy tables --points {points}`")
    small, large = (file_name("two", 6, checkers) for checkers in TWO_SIDED)
    made = cache_folder() / large
    if not made.exists() and kernel.jit_enabled:
        print("nardy: making the 6 × 6 bear-off table; only this once", file=sys.stderr)
        try:
            make_two_sided_file(_silent)
        except OSError:  # a folder that cannot be written: the shipped table has to do
            return one, SHIPPED / small
    return one, made if made.exists() else SHIPPED / small


def _one_sided(points: int) -> Path:
    shipped = SHIPPED / file_name("one", points, CHECKERS)
    return shipped if shipped.exists() else cache_folder() / shipped.name


def make_two_sided_file(progress: Progress) -> Path:
    """Make the larger two-sided table and keep it; its path. Raises OSError."""
    target = cache_folder() / file_name("two", 6, TWO_SIDED[1])
    _write(target, lambda: make_two_sided(TWO_SIDED[1], progress))
    return target


def make_one_sided_file(points: int, progress: Progress) -> Path:
    """Make a one-sided table and keep it; its path. Raises ValueError, OSError."""
    target = cache_folder() / file_name("one", points, CHECKERS)
    _write(target, lambda: make_one_sided(points, CHECKERS, progress))
    return target


def read_one_sided(path: Path, points: int) -> NDArray[np.void]:
    """A one-sided table, memory-mapped. Raises ValueError naming a file that is not one."""
    table = _read(path)
    wanted = comb(points + CHECKERS, points)
    if table.dtype.names != ("first", "rolls", "save") or table.shape != (wanted,):
        raise ValueError(f"{str(path)!r} is no one-sided table of {points} points")
    return table


def read_two_sided(path: Path) -> Floats:
    """A two-sided table, memory-mapped. Raises ValueError naming a file that is not one."""
    table = _read(path)
    size = len(table) if table.ndim else 0
    if table.dtype != np.float32 or table.shape != (size, size, 4) or not _checkers_of(size, 6):
        raise ValueError(f"{str(path)!r} is no two-sided table")
    return table


def _read(path: Path) -> NDArray[Any]:
    try:
        table: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return table
    except (OSError, ValueError, EOFError) as error:
        cure = "" if path.parent == SHIPPED else ", delete it"
        raise ValueError(f"the table {str(path)!r} cannot be read{cure}: {error}") from None


def _write(target: Path, make: Callable[[], NDArray[Any]]) -> None:
    """The file is opened first: a folder that cannot be written costs no work."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as file:
        np.save(file, make())


def _checkers_of(size: int, points: int) -> int:
    """The checkers of a table with so many positions a side; 0 where there is no such table."""
    return next((n for n in range(1, 16) if comb(points + n, points) == size), 0)


def _silent(share: float) -> None:
    pass
