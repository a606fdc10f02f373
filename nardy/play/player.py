"""A player: ranks the legal plays of a position by a net.

    player = Player("checkpoints/short-01", ply=1)
    player.best(board, dice)[0].text       # the move it makes

Where a bear-off table reaches (see nardy.play.bearoff) its exact chances stand for the net's.
Deeper than 0-ply it looks at the few plays that come out in front (see nardy.play.search).
One net, board and roll always give one ranking. numpy is enough.

    Player("checkpoints/short-01", level="casual", seed=7)

A level below `expert` misjudges plays: each afterstate by an error of its own that depends on the
seed and the board alone, so that the same player makes the same mistake again.
"""

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Floats, Net
from nardy.notation.moves import move_texts
from nardy.play.bearoff import tables_for
from nardy.play.search import Search
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, check_board, check_dice
from nardy.rules.dice import random_words

NOISE_STREAM = 3
"""The stream of random_words, and the one after it, that noise reads."""


class Level(NamedTuple):
    """How well a player plays."""

    ply: int
    noise: float  # standard deviation of the error with which each play is priced, in points


LEVELS = {
    "beginner": Level(0, 0.30),
    "casual": Level(0, 0.15),
    "intermediate": Level(0, 0.08),
    "advanced": Level(0, 0.04),
    "expert": Level(0, 0.0),
    "master": Level(1, 0.0),
    "world": Level(2, 0.0),
}
"""Levels for humans, weakest first."""


@dataclass(frozen=True)
class RankedPlay:
    """One legal play.

    text: the written move (see notation.moves).
    board: int8[26], the afterstate in the mover's view.
    equity: the mover's mean points, cubeless.
    chances: float32[K], of the variant's outcomes, for the mover.
    ply: the depth at which it was priced.
    """

    text: str
    board: Boards
    equity: float
    chances: Floats
    ply: int


class Player:
    """Chooses plays from an exported net. One object serves one thread."""

    def __init__(
        self,
        net: Net | str | Path,
        ply: int = 0,
        tables: bool = True,
        *,
        level: str | None = None,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        """net: a Net, or the folder of an exported one; tables: whether to use bear-off tables.
        level: one of LEVELS, which sets the depth; seed: of its noise.
        threads: that share a search; they change nothing but the time.

        Raises ValueError naming a bad value.
        """
        if level is not None and level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}, not {level!r}")
        self.net = net if isinstance(net, Net) else Net.load(net)
        self.level = LEVELS[level] if level else Level(ply, 0.0)
        self.seed = seed
        self.tables = tables_for(self.net.variant) if tables else None
        self._search = Search(self.net, self.level.ply, tables=self.tables, threads=threads)

    def best(
        self, board: Boards, dice: NDArray[np.uint8], seconds: float | None = None
    ) -> list[RankedPlay]:
        """Every legal play, best first; a forced pass is the one play "Cannot Move".

        board: int8[26], mover's view; dice: uint8[2]. Plays that were searched less deeply
        follow those that were searched more, whatever their equity. A level's noise changes the
        order, so that the first is what it plays; equities are those of the net.
        seconds: go no deeper than that time is expected to allow, at least 0-ply. The depth then
        depends on the clock.
        Raises ValueError for an impossible board or dice.
        """
        board, dice = check_board(board, self.net.variant), check_dice(dice)
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds must be above 0, not {seconds!r}")
        results = afterstates(board[None], dice[None], self.net.variant)
        priced = self._search.price(results, seconds)
        seen = priced.values + self._errors(results.boards)
        order = np.lexsort((-seen, -priced.plies))
        texts = move_texts(board, dice, results.boards)
        return [
            RankedPlay(
                texts[i],
                results.boards[i],
                float(priced.values[i]),
                priced.chances[i],
                int(priced.plies[i]),
            )
            for i in order.tolist()
        ]

    def _errors(self, results: Boards) -> NDArray[np.float64]:
        """float64[N], points by which this level misjudges each afterstate: normal, by Box and
        Muller's transform of two uniform words."""
        if self.level.noise == 0:
            return np.zeros(len(results))
        names = np.array([zlib.crc32(board.tobytes()) for board in results], np.int64)
        first, second = (
            (random_words(self.seed, names, 0, NOISE_STREAM + n) >> np.uint64(11)) / 2.0**53
            for n in (0, 1)
        )
        normal = np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * np.pi * second)
        errors: NDArray[np.float64] = self.level.noise * normal
        return errors


def cumulative(chances: Floats, outcomes: tuple[int, ...]) -> dict[str, float]:
    """The five numbers that other engines use, from the chances of `outcomes` (float32[K]).

    Each includes the greater wins: win counts gammons, win_gammon counts backgammons.
    """
    points = np.array(outcomes)
    return {
        "win": float(chances[points >= 1].sum()),
        "win_gammon": float(chances[points >= 2].sum()),
        "win_backgammon": float(chances[points >= 3].sum()),
        "lose_gammon": float(chances[points <= -2].sum()),
        "lose_backgammon": float(chances[points <= -3].sum()),
    }
