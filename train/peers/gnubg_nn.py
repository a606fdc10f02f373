"""gnubg-nn (PyPI), GNU Backgammon's evaluator, as a player: cubeless money equity.

    pip install gnubg-nn
    python -m train.arena a=gnubg-nn b=random pairs=300

It is for games of fifteen checkers a side. Only boards cross the border: it is asked for the
position after its move, which is then looked for among the legal results. The engine keeps
global state, so all threads take turns at it.
"""

import importlib.util
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards
from nardy.rules.variants import Variant
from train.peers import NotInstalledError, check_asked, name_at

_TURN = threading.Lock()


class GnubgPlayer:
    """gnubg-nn's best move."""

    def __init__(self, game: Variant, ply: int = 0) -> None:
        """ply: 0 is its static evaluation, 1 and 2 its search.

        Raises ValueError where gnubg-nn is not installed, or does not know the game or the depth.
        """
        check_asked("gnubg-nn", game, ply)
        if importlib.util.find_spec("gnubg_nn") is None:
            raise NotInstalledError("gnubg-nn is not installed: pip install gnubg-nn")
        import gnubg_nn

        self._engine: Any = gnubg_nn
        self.name = name_at("gnubg-nn", ply)
        self.ply = ply

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: NDArray[np.int64],
        plies: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """See Player.choose. Raises ValueError where its move is not among `results`."""
        with _TURN:
            moved = [
                self._after(board, *roll)
                for board, roll in zip(boards.tolist(), dice.tolist(), strict=True)
            ]
        return rows_of(np.array(moved, np.int8), boards, dice, results)

    def for_thread(self) -> "GnubgPlayer":
        """See Player.for_thread."""
        return self

    def _after(self, board: list[int], die1: int, die2: int) -> list[int]:
        """26 cells after its move, in the mover's view like `board`."""
        _, key = self._engine.best_move(sides(board), die1, die2, n=self.ply, b=1)
        mover, opponent = self._engine.board_from_position_key(key)
        return from_sides(opponent, mover)


def sides(board: list[int]) -> tuple[list[int], list[int]]:
    """(opponent, mover): checkers on points 1..24 from the own home and on the bar, 25 each."""
    return [max(-count, 0) for count in board[24::-1]], [max(count, 0) for count in board[1:]]


def from_sides(opponent: list[int], mover: list[int]) -> list[int]:
    """26 cells in the mover's view: the inverse of `sides`."""
    cells = [0, *mover]
    for point, count in enumerate(opponent, start=1):
        cells[25 - point] -= count
    return cells


def rows_of(
    moved: Boards,
    boards: Boards,
    dice: NDArray[np.uint8],
    results: Afterstates,
    engine: str = "gnubg-nn",
) -> NDArray[np.int64]:
    """int64[B]: the row of each int8[B, 26] `moved` among the results of its board.

    All in the mover's view. engine: who moved, for the message.
    Raises ValueError naming the first position where it is missing.
    """
    counts = np.diff(results.offsets)
    rows = np.flatnonzero((results.boards == np.repeat(moved, counts, 0)).all(-1))
    owners = np.searchsorted(results.offsets, rows, "right") - 1
    found = np.full(len(boards), -1)
    found[owners] = rows
    if (found < 0).any():
        i = int(np.argmax(found < 0))
        raise ValueError(
            f"{engine} made a move that is not legal from {boards[i].tolist()} "
            f"with {dice[i].tolist()}, to {moved[i].tolist()}"
        )
    return found
