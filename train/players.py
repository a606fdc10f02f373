"""Who plays in the arena: `random`, `pips`, a net, or a peer engine.

    player("random", variant("short"), seed=1)
    player("runs/quick", variant("short"))

A player picks afterstates for many boards at once. What it picks for a board depends on that
board, the roll and the game's number alone, never on the batch it came in or on the thread, so
that a match is a function of its seed.
"""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Evaluator, Floats, Net
from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards, pip_counts
from nardy.rules.dice import random_words
from nardy.rules.kernel import kernel
from nardy.rules.variants import Variant
from train.checkpoint import resolve

Rows = NDArray[np.int64]

RANDOM_STREAM = 1
"""The stream of random_words that random play reads; the dice are stream 0."""

CLOSE = 1e-4
"""Points of equity within which a net's choice is settled by `ExactTail`. Summing in another
order moves a value by some 1e-6."""


class Player(Protocol):
    """Chooses afterstates."""

    @property
    def name(self) -> str:
        """What results call it."""

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

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: Rows,
        plies: Rows,
    ) -> Rows:
        """See Player.choose."""
        own, other = pip_counts(results.boards)
        return first_best(other - own, results.offsets)

    def for_thread(self) -> "PipsPlayer":
        """See Player.for_thread."""
        return self


class NetPlayer:
    """A net at 0-ply: the afterstate of the highest equity, the first of equals."""

    def __init__(self, net: Net, name: str) -> None:
        self.name = name
        self._net = net
        self._fast = Evaluator(net)
        self._exact = Evaluator(net, ExactTail(net))

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: Rows,
        plies: Rows,
    ) -> Rows:
        """See Player.choose. Raises ValueError where the net's values are not numbers."""
        values = self._fast.values(boards, results)
        top = np.maximum.reduceat(values, results.offsets[:-1])
        if np.isnan(top).any():
            raise ValueError(f"the net {self.name!r} gives values that are not numbers")
        counts = np.diff(results.offsets)
        rows = np.flatnonzero(values >= np.repeat(top - np.float32(CLOSE), counts))
        owners = np.repeat(np.arange(len(boards)), counts)[rows]
        candidates = np.bincount(owners, minlength=len(boards))
        best = np.empty(len(boards), np.int64)
        best[owners] = rows  # right where there is one candidate; the others follow
        tied = np.flatnonzero(candidates > 1)
        if len(tied):
            rows = rows[candidates[owners] > 1]
            offsets = np.concatenate([[0], np.cumsum(candidates[tied])])
            close = Afterstates(results.boards[rows], offsets)
            best[tied] = rows[first_best(self._exact.values(boards[tied], close), offsets)]
        return best

    def for_thread(self) -> "NetPlayer":
        """See Player.for_thread."""
        return NetPlayer(self._net, self.name)


def first_best(values: NDArray[Any], offsets: Rows) -> Rows:
    """int64[B]: for each board the row of the highest of its values, the first of equals.

    values: [N], of any number type; offsets: int64[B + 1], as in Afterstates.
    """
    top = np.maximum.reduceat(values, offsets[:-1])
    rows = np.flatnonzero(values == np.repeat(top, np.diff(offsets)))
    best: Rows = rows[np.searchsorted(rows, offsets[:-1])]
    return best


@kernel
def dense(x, weight, bias, out):
    """out = x @ weight + bias, each row summed in one fixed order."""
    for i in range(x.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = bias[j]
        for k in range(x.shape[1]):
            if x[i, k] != 0:
                for j in range(out.shape[1]):
                    out[i, j] += x[i, k] * weight[k, j]


class ExactTail:
    """A net's tail whose values do not depend on the rows evaluated beside them.

    A BLAS sums a row's products in an order that depends on the shape of the product and on the
    row's place in it. The last bit of a value then depends on the batch, and a near tie could be
    broken differently in a game and in its twin.
    """

    half = False

    def __init__(self, net: Net) -> None:
        self.tails = net.tails

    def __call__(self, activations: Floats, rows: slice, phase: int, logits: Floats) -> None:
        """See nardy.net.net.Tail."""
        x = activations[rows]
        *hidden, (weight, bias) = self.tails[phase]
        for hidden_weight, hidden_bias in hidden:
            out = np.empty((len(x), len(hidden_bias)), np.float32)
            dense(x, hidden_weight, hidden_bias, out)
            x = np.maximum(out, 0, out=out)
        dense(x, weight, bias, logits[rows])


def player(name: str, game: Variant, seed: int = 0) -> Player:
    """The player called `name`: random, pips, gnubg-nn, or a path to a net (see resolve).

    seed: of the random player; the others have no use for it.
    Raises ValueError naming a net of another variant, a missing peer or a path that is no net.
    """
    if name == "random":
        return RandomPlayer(seed)
    if name == "pips":
        return PipsPlayer()
    if name == "gnubg-nn":
        from train.peers.gnubg_nn import GnubgPlayer

        return GnubgPlayer(game)
    return NetPlayer(_load(name, game), name)


def installed_opponents(game: Variant) -> list[str]:
    """The fixed opponents that can play `game` here, weakest first."""
    names = ["random", "pips", "gnubg-nn"]
    try:
        player("gnubg-nn", game)
    except ValueError:
        names.pop()
    return names


def _load(name: str, game: Variant) -> Net:
    if not Path(name).exists():
        raise ValueError(f"{name!r} is neither random, pips, gnubg-nn nor a path that exists")
    net = Net.load(resolve(name))
    if net.variant != game:
        ours, theirs = game.name, net.variant.name
        if ours == theirs:  # they differ in an option
            ours, theirs = repr(game), repr(net.variant)
        raise ValueError(f"the net in {name!r} plays {theirs}, and this match is {ours}")
    return net
