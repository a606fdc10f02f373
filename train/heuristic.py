"""A hand-written player of long nardy, of the kind that people program: to measure nets against.

    python -m train.arena a=heuristic b=pips variant=long pairs=500

It looks at the afterstate alone. It builds rows in front of the opponent's checkers, the more so
the longer they are and the more checkers they hold, and stays out of his; takes its checkers from
the head, keeps stairs, does not stack, and brings the last ones on, the more so when it is ahead.
"""

import numpy as np
from numpy.typing import NDArray

from nardy.play.search import first_best
from nardy.rules.batch import Afterstates
from nardy.rules.blocking import HEAD
from nardy.rules.board import Boards, checkers_only, pip_counts, turn
from nardy.rules.variants import Variant

Floats64 = NDArray[np.float64]

FAMILY = "blocking"
ROW_WORTH = np.array([0.0, 0.0, 0.1, 0.4, 1.0, 2.2, 4.0])
"""By the length of a row of points, up to six: what it is worth where it holds all checkers."""

# the weights below are in the unit of ROW_WORTH
PIP = 0.03
BACK, LEADERS_BACK = 0.1, 0.2
"""For each checker in the first half of its way; the second where the lead is more than a roll."""
ROLL = 49 / 6
HEAD_LEFT = 0.05
STACKED = 0.05
"""For each checker beyond two on a point outside home that is not the head."""
POINT, STAIR = 0.2, 0.04
"""For each point held outside home, and for each two neighbouring ones."""
OFF = 0.3


def row_values(boards: Boards) -> Floats64:
    """float64[N]: what the mover's rows hold of the opponent; int8[N, 26] in the mover's view."""
    theirs = turn(boards, FAMILY)[:, 1:25]  # by the opponent's numbers: his are positive
    his = np.maximum(theirs, 0)
    behind = his.sum(1, keepdims=True) - np.cumsum(his, 1)
    value, length = np.zeros(len(boards)), np.zeros(len(boards), np.int64)
    for number in range(24):
        ends = length * (theirs[:, number] >= 0)  # a row that his next number does not carry on
        if number:
            value += ROW_WORTH[np.minimum(ends, 6)] * behind[:, number - 1] / 15
        length = np.where(theirs[:, number] < 0, length + 1, 0)
    return value


def scores(boards: Boards, checkers: int) -> Floats64:
    """float64[N], higher is better: int8[N, 26], afterstates in the view of who moved."""
    boards = checkers_only(boards, FAMILY)
    own = np.maximum(boards, 0).astype(np.int64)
    mine, theirs = pip_counts(boards, FAMILY)
    back = np.where(theirs - mine > ROLL, LEADERS_BACK, BACK)
    away, held = own[:, 7:HEAD], own[:, 7 : HEAD + 1] > 0
    total: Floats64 = (
        row_values(boards)
        - row_values(turn(boards, FAMILY))
        - PIP * mine
        - back * own[:, 13:].sum(1)
        - HEAD_LEFT * own[:, HEAD]
        - STACKED * np.maximum(away - 2, 0).sum(1)
        + POINT * held[:, :-1].sum(1)
        + STAIR * (held[:, :-1] & held[:, 1:]).sum(1)
        + OFF * (checkers - own.sum(1))
    )
    return total


class HeuristicPlayer:
    """See train.players.Player."""

    name = "heuristic"
    ply = 0

    def __init__(self, game: Variant) -> None:
        """Raises ValueError where the game is not of the family of long nardy."""
        if game.family != FAMILY:
            raise ValueError(f"the heuristic player is for long nardy, not {game.name!r}")
        self._checkers = game.checkers

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: NDArray[np.int64],
        plies: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """See Player.choose."""
        return first_best(scores(results.boards, self._checkers), results.offsets)

    def for_thread(self) -> "HeuristicPlayer":
        """See Player.for_thread."""
        return self
