"""What plays and the cube are worth, of many positions at scores of their own: nardy.play.cubeful
in bulk.

    worth = CubeWorth(net, head, tables)
    kinds, stakes = stakes_of(scores)
    worth.choices(boards, chances, kinds, stakes)

There each score is a question of its own. Here what does not hang on the score, the head's look at
a board, is done for all at once, and the rest in one call for each different score.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy.match.janowski import CubeActions, CubeValues, cube_actions, payoffs
from nardy.match.score import Score
from nardy.net.net import Net
from nardy.play.bearoff import Bearoff
from nardy.play.cube_head import CubeHead
from nardy.play.cubeful import NEAR, Cube, exact, formula_of, six
from nardy.play.look import Look
from nardy.rules.board import Boards, turn

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Bools = NDArray[np.bool_]

_LOSS, _WIN = 2, 3  # columns of a single game among the outcomes


class Stakes(NamedTuple):
    """Different scores, and what they say of outcomes without the cube's turns."""

    scores: tuple[Score, ...]
    payoffs: Floats  # float64[K, 6], points or the chance of winning the match
    money: Bools  # bool[K]
    useful: Bools  # bool[K], Score.useful

    def flip(self) -> "Stakes":
        """The same seen by the other players."""
        return _stakes([score.flip() for score in self.scores])

    def normalised(self, values: Floats, kinds: Rows) -> Floats:
        """float64[N], as janowski.normalised, of values at scores number `kinds`."""
        lose, win = self.payoffs[kinds, _LOSS], self.payoffs[kinds, _WIN]
        equities: Floats = 2 * (values - lose) / (win - lose) - 1
        return equities


def stakes_of(scores: Sequence[Score]) -> tuple[Rows, Stakes]:
    """(int64[N], which of the stakes each score is, and the stakes).

    Told apart as objects, which is quick: equal ones that are two count twice, to no harm.
    """
    names = np.fromiter(map(id, scores), np.int64, len(scores))
    _, firsts, kinds = np.unique(names, return_index=True, return_inverse=True)
    return kinds, _stakes([scores[i] for i in firsts.tolist()])


def _stakes(scores: Sequence[Score]) -> Stakes:
    return Stakes(
        tuple(scores),
        np.array([payoffs(score)[0] for score in scores]).reshape(-1, 6),
        np.array([score.money for score in scores], np.bool_),
        np.array([score.useful for score in scores], np.bool_),
    )


def cube_at(looks: NDArray[np.float32], head: CubeHead, tables: Bearoff | None = None) -> Cube:
    """A Cube for the boards that the head has looked at already, in their order.

    looks: float32[N, U], see CubeHead.looks. As nardy.play.cube_head.own_cube otherwise.
    """

    def values(boards: Boards, chances: ArrayLike, score: Score) -> CubeValues:
        return head.values(boards, looks, chances, score)

    return values if tables is None else exact(values, tables)


class CubeWorth:
    """Values by what a net has learnt of the cube, or the formula, and by tables where they reach.
    An object serves one thread."""

    def __init__(self, net: Net, head: CubeHead | None, tables: Bearoff | None) -> None:
        """As nardy.play.cube_head.own_cube. Raises ValueError where head and net do not fit."""
        if head is not None:
            head.check(net)
        self._head, self._tables, self._look = head, tables, Look(net)
        self._game, self._formula = net.variant, formula_of(net.variant.family)

    def values(self, boards: Boards, chances: ArrayLike, kinds: Rows, stakes: Stakes) -> CubeValues:
        """As cubeful.cube_values_at: of the player on roll, who is in view."""
        given, looks = self._six(chances), None
        if self._head is not None:
            looks = self._head.looks(self._look.activations(boards))
        found = np.empty((len(CubeValues._fields), len(boards)))
        order = np.argsort(kinds, kind="stable")
        ends = np.cumsum(np.bincount(kinds, minlength=len(stakes.scores)))
        for score, rows in zip(stakes.scores, np.split(order, ends[:-1]), strict=True):
            if len(rows):
                cube = self._cube(None if looks is None else looks[rows])
                found[:, rows] = cube(boards[rows], given[rows], score)
        return CubeValues(*found)

    def _cube(self, looks: NDArray[np.float32] | None) -> Cube:
        if self._head is not None and looks is not None:
            return cube_at(looks, self._head, self._tables)
        return self._formula if self._tables is None else exact(self._formula, self._tables)

    def _six(self, chances: ArrayLike) -> Floats:
        """float64[N, 6], of the game's outcomes or of six already."""
        given = np.asarray(chances, float)
        return given if given.shape[-1] == 6 else six(given, self._game)

    def actions(
        self, boards: Boards, chances: ArrayLike, kinds: Rows, stakes: Stakes
    ) -> tuple[Bools, Bools, Bools]:
        """(double, take, beaver), bool[N] each, of players who may double, and what the others
        answer (K16)."""
        values = self.values(boards, chances, kinds, stakes)
        found = np.zeros((3, len(boards)), np.bool_)
        useful = stakes.useful[kinds]
        for some in (False, True):  # all that the actions ask of a score
            rows = np.flatnonzero(useful == some)
            if len(rows):
                score = stakes.scores[kinds[rows[0]]]
                actions: CubeActions = cube_actions(CubeValues(*np.array(values)[:, rows]), score)
                found[:, rows] = actions.double, actions.take, actions.beaver
        return found[0], found[1], found[2]

    def after(self, results: Boards, chances: ArrayLike, kinds: Rows, stakes: Stakes) -> Floats:
        """As cubeful.after_values: of the player who moved, who is in view."""
        theirs = np.asarray(chances, float)[:, ::-1]
        best = self.values(turn(results, self._game.family), theirs, kinds, stakes.flip()).best
        return np.where(stakes.money[kinds], -best, 1 - best)

    def near(
        self, results: Boards, chances: ArrayLike, owners: Rows, kinds: Rows, stakes: Stakes
    ) -> Floats:
        """As cubeful.after_equities where a play may be its board's best, and −inf elsewhere: what
        it is worth without the cube's turns is a dot product, cheap beside a Cube, and those
        further than NEAR behind by it are left out.

        owners: int64[N], the board of each, ascending; kinds: of each play's score.
        """
        given = self._six(chances)
        rough = stakes.normalised(np.einsum("nk,nk->n", given, stakes.payoffs[kinds]), kinds)
        firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        top = np.repeat(np.maximum.reduceat(rough, firsts), np.diff(firsts, append=len(rough)))
        rows = np.flatnonzero(rough >= top - NEAR)
        found = np.full(len(results), -np.inf)
        worth = self.after(results[rows], given[rows], kinds[rows], stakes)
        found[rows] = stakes.normalised(worth, kinds[rows])
        return found
