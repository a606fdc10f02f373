"""A player: ranks the legal plays of a position by a net.

    player = Player("checkpoints/short-01", ply=1)
    player.best(board, dice)[0].text       # the move it makes

0-ply prices each afterstate by the net. 1-ply takes the exact mean over the opponent's 21 rolls,
each answered by the reply that the net likes best, for the few plays that 0-ply puts in front.
Nothing is random: one net, board and roll always give one ranking. numpy is enough.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Evaluator, Floats, Net
from nardy.notation.moves import move_texts
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, check_board, check_dice, flip, points_won
from nardy.rules.dice import ROLL_CHANCES, ROLLS

PLIES = (0, 1)

SEARCHED_PLAYS = 8
SEARCHED_MARGIN = 0.2
"""1-ply looks at no more than so many plays, and at none that 0-ply puts further behind the best
(in points); much as gnubg's "normal" move filter, which takes 8 within 0.16."""


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

    def __init__(self, net: Net | str | Path, ply: int = 0) -> None:
        """net: a Net, or the folder of an exported one. Raises ValueError naming a bad value."""
        if ply not in PLIES:
            raise ValueError(f"ply must be 0 or 1, not {ply!r}")
        self.net = net if isinstance(net, Net) else Net.load(net)
        self.ply = ply
        self._evaluator = Evaluator(self.net)
        self._points = np.array(self.net.variant.outcomes, np.float32)

    def best(self, board: Boards, dice: NDArray[np.uint8]) -> list[RankedPlay]:
        """Every legal play, best first; a forced pass is the one play "Cannot Move".

        board: int8[26], mover's view; dice: uint8[2]. At 1-ply the plays that were not searched
        follow those that were, in the order of their 0-ply equity.
        Raises ValueError for an impossible board or dice.
        """
        board, dice = check_board(board, self.net.variant), check_dice(dice)
        results = afterstates(board[None], dice[None], self.net.variant).boards
        chances = self._static_chances(results)
        order = np.argsort(-(chances @ self._points), kind="stable")
        depths = np.zeros(len(results), np.int64)
        if self.ply == 1:
            searched = self._worth_searching(chances, order)
            chances[searched] = self._searched_chances(results[searched])
            depths[searched] = 1
        equities = chances @ self._points
        order = np.lexsort((-equities, -depths))
        texts = move_texts(board, dice, results)
        return [
            RankedPlay(texts[i], results[i], float(equities[i]), chances[i], int(depths[i]))
            for i in order.tolist()
        ]

    def _static_chances(self, results: Boards) -> Floats:
        """float32[N, K]: chances after each afterstate for the player who moved, by the net;
        exact where he has finished (K14)."""
        chances = self._evaluator.outcomes(flip(results))[:, ::-1].copy()
        won = points_won(results, self.net.variant)
        chances[won > 0] = self._points == won[won > 0, None]
        return chances

    def _worth_searching(self, chances: Floats, order: NDArray[np.int64]) -> NDArray[np.int64]:
        equities = (chances @ self._points)[order]
        near = int((equities >= equities[0] - SEARCHED_MARGIN).sum())
        return order[: min(near, SEARCHED_PLAYS)]

    def _searched_chances(self, results: Boards) -> Floats:
        """float32[N, K]: the mean over the opponent's rolls of the chances his best reply leaves.

        chances(s) = Σ_r p(r) · chances(best reply to r), exact where s or the reply ends the game.
        """
        chances = self._static_chances(results)
        going = points_won(results, self.net.variant) == 0
        parents = np.repeat(flip(results[going]), len(ROLLS), 0)
        rolls = np.tile(ROLLS, (int(going.sum()), 1))
        replies = afterstates(parents, rolls, self.net.variant)
        rows, after = self._evaluator.choose(parents, replies)
        lost = points_won(replies.boards[rows], self.net.variant)
        after[lost > 0] = self._points == -lost[lost > 0, None]
        by_roll = after.reshape(-1, len(ROLLS), len(self._points))
        chances[going] = np.einsum("r,nrk->nk", ROLL_CHANCES, by_roll)
        return chances


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
