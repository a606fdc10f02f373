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
from nardy.play.cube_head import CubeHead, learned
from nardy.play.cubeful import check_game, cube_choices, formula, near_equities
from nardy.play.search import Search
from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards
from nardy.rules.variants import Variant
from train.checkpoint import resolve
from train.players import PEERS, Rows, load_net

Bools = NDArray[np.bool_]
Scores = Sequence[Score]
"""What each game is played for, in the view of the player on roll."""

FORMULA = ":formula"
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

    def takes(self, boards: Boards, scores: Scores) -> Bools:
        """bool[B]: whether it takes when it has been doubled. Boards and scores are those of the
        player who doubled, the score as it was before."""

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
        self._search = Search(net, ply, tables=tables_for(net.variant) if tables else None)
        self._head, self._cube = head, formula if head is None else learned(net, head)

    def choose(
        self, boards: Boards, dice: NDArray[np.uint8], results: Afterstates, scores: Scores
    ) -> Rows:
        """See CubePlayer.choose: the play of the highest cubeful equity, the first of equals."""
        owners = np.repeat(np.arange(len(boards)), np.diff(results.offsets))

        def worth(rows: Rows, chances: Floats) -> NDArray[np.float64]:
            played = owners[rows]
            asked = [scores[board] for board in played.tolist()]
            return near_equities(results.boards[rows], chances, asked, played, self._cube)

        return self._search.best(boards, results, worth)

    def doubles(self, boards: Boards, scores: Scores) -> Bools:
        """See CubePlayer.doubles."""
        return cube_choices(boards, self._search.before_roll(boards), scores, self._cube)[0]

    def takes(self, boards: Boards, scores: Scores) -> Bools:
        """See CubePlayer.takes."""
        return cube_choices(boards, self._search.before_roll(boards), scores, self._cube)[1]

    def for_thread(self) -> "NetCube":
        """See CubePlayer.for_thread."""
        return NetCube(self.net, self.net_name, self.ply, self._tables, self._head)


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

    def takes(self, boards: Boards, scores: Scores) -> Bools:
        """See CubePlayer.takes."""
        _, taken, passed = self._values(boards, scores)
        return taken <= passed

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
    name: str, game: Variant, ply: int = 0, tables: bool = False, jacoby: bool = False
) -> CubePlayer:
    """The player called `name`: one of WITH_CUBE, or a path to a net; PATH:formula is that net
    with the formula's cube although it has learnt one.

    ply, tables: as in train.players.player; jacoby: whether games are played with it.
    Raises ValueError naming a player that has no cube, and as train.players.player does.
    """
    check_game(game)
    if name in WITH_CUBE:
        if jacoby and name != "gnubg":
            raise ValueError(f"jacoby=true is not for {name}: its cube here knows no Jacoby rule")
        return PeerCube(PEERS[name](game, ply))
    if name in PEERS or name in ("random", "pips"):
        raise ValueError(f"{name!r} has no cube: with it play nets, {' and '.join(WITH_CUBE)}")
    by_formula = name.endswith(FORMULA)
    path = name.removesuffix(FORMULA)
    head = None if by_formula else CubeHead.load(resolve(path))
    return NetCube(load_net(path, game), name, ply, tables, head)
