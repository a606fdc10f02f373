"""Targets: what positions were worth, as distributions over outcomes.

`lambda_returns` asks the game that was played; `one_roll` asks the net, one roll later;
`rolled_out` some turns later, in a game of its own without luck.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Floats
from nardy.play.bearoff import Bearoff
from nardy.play.look import Look
from nardy.play.rollout import play_out
from nardy.play.search import Search
from nardy.rules.batch import Afterstates, Workspace, afterstates
from nardy.rules.board import Boards, ending, turn
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.kernel import float_kernel
from nardy.rules.variants import Variant

CHUNK = 128
"""Positions rolled together: 128 * 21 rolls have some 54,000 results."""


Prune = Callable[[Boards, Afterstates], Afterstates]
"""Fewer results for boards that were each rolled all of ROLLS: nardy.play.look.Look.few."""


def pruned(look: Look, boards: Boards, results: Afterstates, most: int) -> Afterstates:
    """The `most` replies to each roll that look best; all in a race, where the one that saves a
    gammon or a backgammon may be worth a point more than a slope can tell.

    boards: int8[B, 26], each rolled all of ROLLS, mover's view.
    """
    races = np.repeat(look.races(boards), len(ROLLS))
    return look.few(boards, results, most, np.repeat(races, np.diff(results.offsets)))


RollOut = Callable[[Boards, NDArray[np.int64]], Floats]
"""Targets of boards by `rolled_out`, each with the number that its dice depend on."""

ROLLOUT_SEED = 1_000_033
"""Added to the seed, so that rollouts have other dice than the games."""


class Chooser(Protocol):
    """Picks afterstates: nardy.net.net.Evaluator on the CPU, train.device's on a device."""

    def choose(self, parents: Boards, results: Afterstates) -> tuple[NDArray[np.int64], Floats]:
        """See Evaluator.choose."""


def one_roll(
    chooser: Chooser,
    boards: Boards,
    game: Variant,
    memory: Workspace,
    tables: Bearoff | None = None,
    prune: Prune | None = None,
) -> Floats:
    """The exact mean, over the mover's 21 rolls, of what the best reply to each leaves.

        G(s) = Σ_r p(r) · flip(V(best afterstate of s and r)),   exact where it ends the game

    The dice of one turn are no longer noise; what is left is the net's own error after the turn.

    boards: int8[N, 26], mover's view, before the roll; tables: replace V where they reach;
    prune: drops replies that need not be evaluated.
    Returns float32[N, K] for the mover.
    """
    points = np.array(game.outcomes)
    targets = np.empty((len(boards), len(points)), np.float32)
    for begin in range(0, len(boards), CHUNK):
        part = boards[begin : begin + CHUNK]
        parents = np.repeat(part, len(ROLLS), 0)
        results = afterstates(parents, np.tile(ROLLS, (len(part), 1)), game, memory)
        if prune is not None:
            results = prune(part, results)
        best, chances = chooser.choose(parents, results)
        over, won = ending(results.boards[best], game)
        if tables is not None:
            tables.settle(turn(results.boards[best], game.family), chances)
        after = chances[:, ::-1].copy()
        after[over] = points == won[over, None]
        by_roll = after.reshape(len(part), len(ROLLS), -1)
        targets[begin : begin + CHUNK] = np.einsum("r,nrk->nk", ROLL_CHANCES, by_roll)
    return targets


def rolled_out(
    search: Search, seed: int, plies: int, boards: Boards, numbers: NDArray[np.int64]
) -> Floats:
    """What one game from each board leaves after `plies` turns, luck taken out of each roll
    (nardy.play.rollout, where the formula stands).

    The mean over dice is that of the net's values `plies` turns later, with replies by static
    value; exact where a game is over or a table of `search` reaches before. One game for a
    position: many positions with a little noise teach more than few with less.

    boards: int8[N, 26], mover's view, before the roll; numbers: int64[N], by which dice are drawn.
    Returns float32[N, K] for the mover, which sum to 1 and may lie a little outside 0..1; clipped,
    they would not be unbiased.
    """
    adjusted, _ = play_out(search, boards, numbers, seed + ROLLOUT_SEED, plies)
    return adjusted.astype(np.float32)


@float_kernel
def lambda_returns(chances, final, lam, returns):
    """Forward-view lambda-returns over one episode, as distributions over outcomes.

        G_T = final,   G_t = flip((1 - lam) V(s_{t+1}) + lam G_{t+1})

    where flip reverses the outcomes, because the next position is the other player's to move
    (Sutton and Barto, Reinforcement Learning, 2nd edition, section 12.1).

    chances: float32[T + 1, K], V(s_t) for the player on roll at t; row 0 is not read.
    final: float32[K], the return of the last position, for the player on roll there.
    returns: float32[T + 1, K], written.
    """
    last = returns.shape[0] - 1
    outcomes = returns.shape[1]
    for k in range(outcomes):
        returns[last, k] = final[k]
    for t in range(last - 1, -1, -1):
        for k in range(outcomes):
            turned = outcomes - 1 - k
            returns[t, k] = (1 - lam) * chances[t + 1, turned] + lam * returns[t + 1, turned]
