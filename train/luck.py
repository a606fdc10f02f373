"""Luck: what the dice gave, told by a judge, and a result with it taken out.

The luck of a roll is the judge's value of its best play less the exact mean of such values over
all rolls. Given the board its mean is zero whatever the judge believes, so

    adjusted = points - c * (luck of a's rolls - luck of b's)

has the mean that `points` has, for any constant c; the better the judge, the narrower it is. This
is a control variate, as in Veness, Lanctot and Bowling, "Variance reduction in Monte-Carlo tree
search" (2011), and in gnubg's rollouts. c is fitted to the match, each half of its pairs with the
coefficient of the other half, so that no pair has a say in its own (cross-fitting) and the
adjusted result stays unbiased.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Net
from nardy.play.bearoff import tables_for
from nardy.play.search import Search
from nardy.rules.board import Boards
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.variants import Variant

FEWEST_PAIRS = 50
"""A half with fewer pairs is too few to fit c to: then c = 1, which a perfect judge would have."""

CHUNK = 256
"""Boards of which all replies to all rolls are held at a time: some hundred thousand."""

_UNEQUAL = ROLLS[:, 0] != ROLLS[:, 1]
OPENING_CHANCES: NDArray[np.float64] = _UNEQUAL / _UNEQUAL.sum()
"""float64[21], the chance of each of ROLLS where the opening is no double (K3)."""

Floats64 = NDArray[np.float64]


class RollValues(Protocol):
    """Values what a position becomes by each roll: a net's opinion, or a table's knowledge."""

    @property
    def game(self) -> Variant:
        """The game it knows."""

    def values(self, boards: Boards) -> NDArray[Any]:
        """[B, 21] floats, points after the best play of each of dice.ROLLS, for the player on roll.

        boards: int8[B, 26], in his view.
        """

    def for_thread(self) -> "RollValues":
        """The same with memory of its own, for one more thread."""


class NetRolls:
    """A net at 0-ply, with the bear-off tables where they reach."""

    def __init__(self, net: Net, most: int | None = None) -> None:
        """most: replies to a roll that are priced, by a cheap look (nardy.play.look): the luck is
        still that of the roll alone, told a little worse in a third of the time. None: all.
        Raises ValueError where it is below 1."""
        if most is not None and most < 1:
            raise ValueError(f"luck_looks must be at least 1, not {most!r}")
        self.net = net
        self.game = net.variant
        self.most = most
        self._search = Search(net, 0, tables=tables_for(self.game))

    def values(self, boards: Boards) -> NDArray[Any]:
        """See RollValues."""
        replies = self._search.replies(boards, self.most)
        return self._search.static_values(replies.reshape(-1, 26)).reshape(len(boards), -1)

    def chances(self, boards: Boards) -> tuple[Boards, NDArray[Any]]:
        """int8[B, 21, 26], where the player on roll goes with each of dice.ROLLS, and his chances
        there, float32[B, 21, K]; last bits depend on the batch."""
        replies = np.empty((len(boards), len(ROLLS), 26), np.int8)
        chances = np.empty((*replies.shape[:2], len(self.game.outcomes)), np.float32)
        for begin in range(0, len(boards), CHUNK):
            part = slice(begin, begin + CHUNK)
            parents, results = self._search.every_roll(boards[part], self.most)
            best, theirs = self._search.choose(parents, results)
            replies[part] = results.boards[best].reshape(-1, len(ROLLS), 26)
            chances[part] = theirs.reshape(-1, *chances.shape[1:])
        return replies, chances

    def for_thread(self) -> "NetRolls":
        """See RollValues."""
        return NetRolls(self.net, self.most)


class LuckJudge:
    """Tells the luck of rolls. An object serves one thread."""

    def __init__(self, rolls: RollValues, name: str) -> None:
        """name: what results call it."""
        self.name = name
        self._rolls = rolls

    def luck(self, boards: Boards, dice: NDArray[np.uint8], plies: NDArray[np.int64]) -> Floats64:
        """float64[B], points that each roll was worth to the player who threw it.

        boards: int8[B, 26] in his view, before the roll; dice: uint8[B, 2]; plies: int64[B], turns
        played before, as the first of a game has other chances (K3). Costs 21 times a move.
        """
        return luck_of(self._rolls.values(boards), dice, plies, self._rolls.game)

    def for_thread(self) -> "LuckJudge":
        """The same judge with memory of its own, for one more thread."""
        return LuckJudge(self._rolls.for_thread(), self.name)


def luck_of(
    values: NDArray[Any], dice: NDArray[np.uint8], plies: NDArray[np.int64], game: Variant
) -> Floats64:
    """float64[B], the value of each roll that came less the mean over the rolls that could.

    values: [B, 21], after each of dice.ROLLS; dice: uint8[B, 2]; plies: int64[B], turns played.
    """
    first = (plies == 0) & (game.opening == "play_opening_dice")
    chances = np.where(first[:, None], OPENING_CHANCES, ROLL_CHANCES)
    # summed along rows, in an order that does not depend on the batch
    means: Floats64 = (values.astype(np.float64) * chances).sum(1)
    return values[np.arange(len(dice)), roll_index(dice)] - means


def roll_index(dice: NDArray[np.uint8]) -> NDArray[np.int64]:
    """int64[B], the row of dice.ROLLS that each uint8[B, 2] is, in either order."""
    high, low = dice.max(-1).astype(np.int64), dice.min(-1).astype(np.int64)
    return high * (high - 1) // 2 + low - 1


class Adjusted(NamedTuple):
    """A result without its luck."""

    ppg: float
    ci95: float  # half the width of the 95 % interval
    coefficients: tuple[float, float]  # c of even pairs, and of odd ones


def adjust(points: Floats64, luck: Floats64) -> Adjusted:
    """The mean of points with luck as a control variate.

    points, luck: float64[pairs], each the mean over a pair's games, both from a's side.
    """
    even = np.arange(len(points)) % 2 == 0
    of_even, of_odd = (
        _coefficient(points[~even], luck[~even]),
        _coefficient(points[even], luck[even]),
    )
    values = points - np.where(even, of_even, of_odd) * luck
    return Adjusted(*mean_and_ci95(values), (of_even, of_odd))


def mean_and_ci95(values: Floats64) -> tuple[float, float]:
    """The mean of independent values, and half the width of its 95 % interval."""
    return float(values.mean()), float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))


def _coefficient(points: Floats64, luck: Floats64) -> float:
    """cov(points, luck) / var(luck), by which luck explains points best."""
    spread = luck - luck.mean() if len(luck) else luck
    variance = float(spread @ spread)
    # below rounding there is no luck: both players moved alike and had the same dice
    if len(luck) < FEWEST_PAIRS or variance < 1e-9 * len(luck):
        return 1.0
    return float(spread @ points) / variance
