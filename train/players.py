"""Who plays in the arena: `random`, `pips`, `heuristic` (long nardy), a net, or a peer engine.

    player("random", variant("short"), seed=1)
    player("runs/quick", variant("short"), ply=1)

A player picks afterstates for many boards at once. What it picks for a board depends on that
board, the roll and the game's number alone, never on the batch it came in or on the thread, so
that a match is a function of its seed.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Net
from nardy.play.bearoff import tables_for
from nardy.play.player import Player as OnePlayer
from nardy.play.search import Search, first_best
from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards, pip_counts
from nardy.rules.dice import random_words
from nardy.rules.variants import OPTIONS, Variant
from train.checkpoint import resolve

Rows = NDArray[np.int64]

RANDOM_STREAM = 1
"""The stream of random_words that random play reads; the dice are stream 0."""


class Player(Protocol):
    """Chooses afterstates."""

    @property
    def name(self) -> str:
        """What results call it."""

    @property
    def ply(self) -> int:
        """How many plies it looks ahead."""

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: Rows,
        plies: Rows,
    ) -> Rows:
        """int64[B]: for each board the row of `results.boards` that it plays.

        boards: int8[B, 26], mover's view; dice: uint8[B, 2]; results: their legal afterstates,
        also in the mover's view, valid until this returns. games: int64[B], two games played
        with the same dice have one number; plies: int64[B], turns played before this one.
        """

    def for_thread(self) -> "Player":
        """The same player with memory of its own, for one more thread."""


class RandomPlayer:
    """Every distinct result is equally likely."""

    ply = 0

    def __init__(self, seed: int, name: str = "random") -> None:
        """seed: two random players with one seed play alike."""
        self.name = name
        self._seed = seed

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: Rows,
        plies: Rows,
    ) -> Rows:
        """See Player.choose."""
        high = random_words(self._seed, games, plies, RANDOM_STREAM) >> np.uint64(32)
        counts = np.diff(results.offsets).astype(np.uint64)
        # the high half times n, shifted down: uniform over n to within 2**-20 (Lemire 2019)
        return results.offsets[:-1] + ((high * counts) >> np.uint64(32)).astype(np.int64)

    def for_thread(self) -> "RandomPlayer":
        """See Player.for_thread."""
        return self


class PipsPlayer:
    """Greedy on pip count: its own less the opponent's, so that it runs and hits; then by row."""

    name = "pips"
    ply = 0

    def __init__(self, family: str = "hitting") -> None:
        """family: of the game."""
        self._family = family

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: Rows,
        plies: Rows,
    ) -> Rows:
        """See Player.choose."""
        own, other = pip_counts(results.boards, self._family)
        return first_best(other - own, results.offsets)

    def for_thread(self) -> "PipsPlayer":
        """See Player.for_thread."""
        return self


class NetPlayer:
    """A net that searches: the afterstate of the highest equity, the first of equals."""

    def __init__(self, net: Net, name: str, ply: int = 0, tables: bool = False) -> None:
        """name: of the net; ply: see nardy.play.search; tables: whether bear-off tables take its
        place where they reach. Raises ValueError for a depth unknown."""
        self.name = name if ply == 0 else f"{name}-{ply}ply"
        self.net_name = name
        self.ply = ply
        self.net = net
        self._tables = tables
        self._search = Search(net, ply, tables=tables_for(net.variant) if tables else None)

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: Rows,
        plies: Rows,
    ) -> Rows:
        """See Player.choose. Raises ValueError where the net's values are not numbers."""
        try:
            return self._search.best(boards, results)
        except ValueError as error:
            raise ValueError(f"{self.net_name!r}: {error}") from None

    def for_thread(self) -> "NetPlayer":
        """See Player.for_thread."""
        return NetPlayer(self.net, self.net_name, self.ply, self._tables)


class LevelPlayer:
    """A net at one of the levels for humans: the very plays that nardy.play.Player picks."""

    def __init__(self, net: Net, name: str, level: str, seed: int = 0) -> None:
        """level: one of nardy.play.player.LEVELS; seed: of its noise. Raises ValueError for a
        level unknown."""
        self.name = name
        self._player = OnePlayer(net, level=level, seed=seed)
        self.ply = self._player.level.ply
        self._made = (net, name, level, seed)

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: Rows,
        plies: Rows,
    ) -> Rows:
        """See Player.choose."""
        rows = []
        for board, rolled, begin, end in zip(
            boards, dice, results.offsets, results.offsets[1:], strict=False
        ):
            played = self._player.best(board, rolled)[0].board
            rows.append(begin + (results.boards[begin:end] == played).all(1).argmax())
        return np.array(rows, np.int64)

    def for_thread(self) -> "LevelPlayer":
        """See Player.for_thread."""
        return LevelPlayer(*self._made)


def player(name: str, game: Variant, seed: int = 0, ply: int = 0, tables: bool = False) -> Player:
    """The player called `name`: one of NAMES, or a path to a net (see resolve), or PATH@LEVEL.

    seed: of the random player and of a level's noise; the others have no use for it. ply: how many
    plies it looks ahead; random, pips and heuristic look at the board alone, whatever it is, and a
    level has a depth of its own. tables: for nets, see NetPlayer.
    Raises ValueError naming a net of another variant, a missing peer, a path that is no net, or
    a depth that it cannot reach.
    """
    if name == "random":
        return RandomPlayer(seed)
    if name == "pips":
        return PipsPlayer(game.family)
    if name in PEERS:
        return PEERS[name](game, ply)
    path, _, level = name.partition("@")
    if level:
        return LevelPlayer(load_net(path, game), name, level, seed)
    return NetPlayer(load_net(name, game), name, ply, tables)


def _heuristic(game: Variant, ply: int) -> Player:
    from train.heuristic import HeuristicPlayer

    return HeuristicPlayer(game)


def _gnubg_nn(game: Variant, ply: int) -> Player:
    from train.peers.gnubg_nn import GnubgPlayer

    return GnubgPlayer(game, ply)


def _gnubg(game: Variant, ply: int) -> Player:
    from train.peers.gnubg import GnubgProgram

    return GnubgProgram(game, ply)


def _bgsage(game: Variant, ply: int) -> Player:
    from train.peers.bgsage import SagePlayer

    return SagePlayer(game, ply)


def _exact(game: Variant, ply: int) -> Player:
    from train.solved import exact_player

    return exact_player(game, ply)


PEERS: dict[str, Callable[[Variant, int], Player]] = {
    "heuristic": _heuristic,
    "gnubg-nn": _gnubg_nn,
    "gnubg": _gnubg,
    "bgsage": _bgsage,
    "exact": _exact,
}
"""The hand-written player of long nardy, engines of others, and a solved game's table; each
imported when it is asked for."""

NAMES = ("random", "pips", *PEERS)
"""What a player may be called that is no path."""


def installed_opponents(game: Variant) -> list[str]:
    """The fixed opponents that can play `game` here, weakest first."""
    if game.family == "blocking":
        return ["random", "pips", "heuristic"]
    names = ["random", "pips", "gnubg-nn"]
    try:
        player("gnubg-nn", game)
    except ValueError:
        names.pop()
    return names


def load_net(name: str, game: Variant) -> Net:
    """The net at a path. Raises ValueError where there is none, or it plays another game.

    One of a game that differs by the cube alone will do, as long nardy's for nardgammon.
    """
    if not Path(name).exists():
        raise ValueError(f"{name!r} is neither {', '.join(NAMES)} nor a path that exists")
    net = Net.load(resolve(name))
    learnt = net.variant
    if replace(learnt, name=game.name, cube=game.cube) == game:
        return replace(net, variant=game)
    ours, theirs = game.name, learnt.name
    if ours == theirs:
        ours, theirs = _differing(game, learnt), _differing(learnt, game)
    raise ValueError(f"the net in {name!r} plays {theirs}, and this match is {ours}")


def _differing(game: Variant, other: Variant) -> str:
    """The game's name with what it does otherwise than the other, of the same name."""
    told: dict[str, object] = {option: getattr(game, option) for option in OPTIONS}
    told["start"] = {point: count for point, count in enumerate(game.start) if count > 0}
    shown = [f"{name}={told[name]}" for name in told if getattr(game, name) != getattr(other, name)]
    return f"{game.name} with {', '.join(shown)}"
