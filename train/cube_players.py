"""Who plays with the cube: nets by what they learnt or the formula, gnubg and bgsage by their own.

    one = cube_player("runs/quick", variant("short"), ply=1)
    one.doubles(boards, scores)        # bool[B], before the roll

Each decides for many positions at once, every one played for something of its own. What is
decided depends on that position and score alone, never on the batch or the thread.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nardy.match.score import Score
from nardy.net.net import Floats, Net
from nardy.play.bearoff import tables_for
from nardy.play.cube_head import CubeHead
from nardy.play.cubeful import check_game
from nardy.play.search import Search
from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards
from nardy.rules.variants import Variant
from train.checkpoint import resolve
from train.cube_worth import CubeWorth, stakes_of
from train.players import PEERS, Rows, load_net

Bools = NDArray[np.bool_]
Scores = Sequence[Score]
"""What each game is played for, in the view of the player on roll."""

FORMULA = ":formula"
PASS, TAKE, BEAVER = range(3)
WITH_CUBE = ("gnubg", "bgsage")
"""Peers whose cube is asked."""


class CubePlayer(Protocol):
    """Plays and handles the cube."""

    @property
    def name(self) -> str:
        """What results call it."""

    @property
    def ply(self) -> int:
        """How many plies it looks ahead."""

    def choose(
        self, boards: Boards, dice: NDArray[np.uint8], results: Afterstates, scores: Scores
    ) -> Rows:
        """int64[B]: for each board the row of `results.boards` that it plays.

        As train.players.Player.choose; scores: B, in the view of the player on roll.
        """

    def doubles(self, boards: Boards, scores: Scores) -> Bools:
        """bool[B]: whether it doubles before its roll. Asked only where it may (K16, K17)."""

    def answers(self, boards: Boards, scores: Scores) -> Rows:
        """int64[B]: PASS, TAKE or, where the score has beavers, BEAVER, when it has been doubled.

        Boards and scores are those of the player who doubled, the score as it was before.
        """

    def for_thread(self) -> "CubePlayer":
        """The same player with memory of its own, for one more thread."""


class NetCube:
    """A net that searches, with the cube that it has learnt or else by the formula."""

    def __init__(
        self,
        net: Net,
        name: str,
        ply: int = 0,
        tables: bool = False,
        head: CubeHead | None = None,
    ) -> None:
        """As train.players.NetPlayer; head: the cube that it has learnt, None for the formula.

        Raises ValueError for a game that the formula knows not.
        """
        check_game(net.variant)
        self.name = name if ply == 0 else f"{name}-{ply}ply"
        self.net_name, self.ply, self.net, self._tables = name, ply, net, tables
        known = tables_for(net.variant) if tables else None
        self._search = Search(net, ply, tables=known)
        self.head, self._worth = head, CubeWorth(net, head, known)

    def choose(
        self, boards: Boards, dice: NDArray[np.uint8], results: Afterstates, scores: Scores
    ) -> Rows:
        """See CubePlayer.choose: the play of the highest cubeful equity, the first of equals."""
        owners = np.repeat(np.arange(len(boards)), np.diff(results.offsets))
        kinds, stakes = stakes_of(scores)

        def worth(rows: Rows, chances: Floats) -> NDArray[np.float64]:
            of = owners[rows]
            return self._worth.near(results.boards[rows], chances, of, kinds[of], stakes)

        return self._search.best(boards, results, worth)

    def doubles(self, boards: Boards, scores: Scores) -> Bools:
        """See CubePlayer.doubles."""
        return self._worth.actions(boards, self._search.before_roll(boards), *stakes_of(scores))[0]

    def answers(self, boards: Boards, scores: Scores) -> Rows:
        """See CubePlayer.answers."""
        chances = self._search.before_roll(boards)
        _, take, beaver = self._worth.actions(boards, chances, *stakes_of(scores))
        return np.where(beaver, BEAVER, np.where(take, TAKE, PASS))

    def for_thread(self) -> "NetCube":
        """See CubePlayer.for_thread."""
        return NetCube(self.net, self.net_name, self.ply, self._tables, self.head)


class PeerCube:
    """A peer with its own cube. Where it can, it also moves with an eye to cube and score."""

    def __init__(self, engine: Any) -> None:
        """engine: a player of train.peers with cube_values."""
        self._engine = engine
        self.name, self.ply = engine.name, engine.ply

    def choose(
        self, boards: Boards, dice: NDArray[np.uint8], results: Afterstates, scores: Scores
    ) -> Rows:
        """See CubePlayer.choose; bgsage moves as without the cube."""
        if hasattr(self._engine, "choose_at"):
            rows: Rows = self._engine.choose_at(boards, dice, results, terms_of(scores))
            return rows
        numbers = np.zeros(len(boards), np.int64)
        rows = self._engine.choose(boards, dice, results, numbers, numbers)
        return rows

    def doubles(self, boards: Boards, scores: Scores) -> Bools:
        """See CubePlayer.doubles: also where it is indifferent, as gnubg does."""
        stay, taken, passed = self._values(boards, scores)
        return np.minimum(taken, passed) >= stay

    def answers(self, boards: Boards, scores: Scores) -> Rows:
        """See CubePlayer.answers: no beavers."""
        _, taken, passed = self._values(boards, scores)
        return np.where(taken <= passed, TAKE, PASS)

    def for_thread(self) -> "PeerCube":
        """See CubePlayer.for_thread."""
        return PeerCube(self._engine.for_thread())

    def _values(self, boards: Boards, scores: Scores) -> NDArray[np.float64]:
        """float64[3, B]: no double, double and take, double and pass."""
        terms = terms_of(scores)
        # gnubg alone gets here with Jacoby, see cube_player
        jacoby = (terms.jacoby,) if terms.jacoby.any() else ()
        asked = (terms.owner == 1, terms.cube, terms.away, terms.crawford, *jacoby)
        values: NDArray[np.float64] = self._engine.cube_values(boards, *asked).T
        return values


class Terms(NamedTuple):
    """Scores as the peers are told them, an array for each of a Score's fields."""

    cube: Rows
    owner: Rows  # 0 the middle, 1 the player on roll, 2 the other
    away: Rows  # int64[B, 2], of the player on roll and the other; 0 and 0 for money
    crawford: Bools
    jacoby: Bools


def terms_of(scores: Scores) -> Terms:
    """The scores in arrays."""
    owners = ("centre", "mine", "theirs")
    return Terms(
        np.array([score.cube for score in scores]),
        np.array([owners.index(score.owner) for score in scores]),
        np.array([score.away or (0, 0) for score in scores]).reshape(-1, 2),
        np.array([score.crawford for score in scores], np.bool_),
        np.array([score.jacoby for score in scores], np.bool_),
    )


def cube_player(
    name: str, game: Variant, ply: int = 0, tables: bool = False, start: Score | None = None
) -> CubePlayer:
    """The player called `name`: one of WITH_CUBE, or a path to a net; PATH:formula is that net
    with the formula's cube although it has learnt one.

    ply, tables: as in train.players.player; start: the score that games begin with, None for any
    without options.
    Raises ValueError naming a player that has no cube or does not know an option of `start`, and
    as train.players.player does.
    """
    check_game(game)
    if name in WITH_CUBE:
        _check_options(name, start or Score())
        return PeerCube(PEERS[name](game, ply))
    if name in PEERS or name in ("random", "pips"):
        raise ValueError(f"{name!r} has no cube: with it play nets, {' and '.join(WITH_CUBE)}")
    by_formula = name.endswith(FORMULA)
    path = name.removesuffix(FORMULA)
    head = None if by_formula else CubeHead.load(resolve(path))
    return NetCube(load_net(path, game), name, ply, tables, head)


def _check_options(name: str, start: Score) -> None:
    """Raises ValueError for what a peer's cube, as it is asked here, does not know."""
    for option in ("jacoby", "beavers", "auto_doubles", "stake_cap"):
        value = getattr(start, option)
        if value and (name, option) != ("gnubg", "jacoby"):
            raise ValueError(f"{option}={str(value).lower()} is not for {name}, whose cube here "
                             "does not know it")  # fmt: skip
