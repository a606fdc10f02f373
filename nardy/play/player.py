"""A player: ranks the legal plays of a position by a net.

    player = Player("checkpoints/short-01", ply=1)
    player.best(board, dice)[0].text       # the move it makes

Where a bear-off table reaches (see nardy.play.bearoff) its exact chances stand for the net's.
Deeper than 0-ply it looks at the few plays that come out in front (see nardy.play.search).
Nothing is random: one net, board and roll always give one ranking. numpy is enough.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Floats, Net
from nardy.notation.moves import move_texts
from nardy.play.bearoff import tables_for
from nardy.play.search import Search
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, check_board, check_dice


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

    def __init__(self, net: Net | str | Path, ply: int = 0, tables: bool = True) -> None:
        """net: a Net, or the folder of an exported one; tables: whether to use bear-off tables.

        Raises ValueError naming a bad value.
        """
        self.net = net if isinstance(net, Net) else Net.load(net)
        exact = tables_for(self.net.variant) if tables else None
        self._search = Search(self.net, ply, tables=exact)

    def best(self, board: Boards, dice: NDArray[np.uint8]) -> list[RankedPlay]:
        """Every legal play, best first; a forced pass is the one play "Cannot Move".

        board: int8[26], mover's view; dice: uint8[2]. Plays that were searched less deeply
        follow those that were searched more, whatever their equity.
        Raises ValueError for an impossible board or dice.
        """
        board, dice = check_board(board, self.net.variant), check_dice(dice)
        results = afterstates(board[None], dice[None], self.net.variant)
        priced = self._search.price(results)
        order = np.lexsort((-priced.values, -priced.plies))
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
