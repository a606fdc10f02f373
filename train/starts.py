"""Positions that games of self-play may begin with, besides the opening.

They come from a file of positions (`algo.start_file`), one a line, in any of the notations of
nardy.notation.positions; or, phase by phase, from those that the run remembers; or, where it
remembers none, from games of random moves. A game that begins so has its first roll from all 36.
"""

from pathlib import Path

import numpy as np

from nardy.notation.positions import read_position
from nardy.rules.board import Boards, check_board, start_board
from nardy.rules.variants import Variant
from train.export import reference_positions
from train.memory import Memory

RANDOM = 1024
"""Random positions made for a stage."""

DRAWN = 256
"""Remembered positions drawn for a round: more than games begin in one."""


def read_starts(path: Path, game: Variant) -> Boards:
    """int8[N, 26], the positions of a file, each in the view of its player on roll.

    Empty lines and those that begin with # are passed over; dice and score are not used.
    Raises ValueError naming the file, and the line that is no position of the game.
    """
    try:
        lines = list(enumerate(path.read_text().splitlines(), 1))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the positions in {str(path)!r} cannot be read: {error}") from None
    boards = []
    for number, line in lines:
        if line.strip() and not line.startswith("#"):
            try:
                boards.append(check_board(read_position(line).board, game))
            except ValueError as error:
                raise ValueError(f"line {number} of {str(path)!r}: {error}") from None
    if not boards:
        raise ValueError(f"{str(path)!r} holds no position")
    return np.stack(boards)


def random_starts(game: Variant, seed: int) -> Boards:
    """int8[N, 26], up to RANDOM positions of games of random moves, none of them the start."""
    boards = reference_positions(game, RANDOM, seed)
    return boards[(boards != start_board(game)).any(-1)]


def remembered_starts(memory: Memory, game: Variant, rng: np.random.Generator) -> Boards:
    """int8[N, 26], DRAWN positions of a memory, each phase as often as the others; N = 0 where
    there are none. Phases are those of the hitting family; of another each position is as likely.
    """
    if game.family != "hitting":
        return memory.draw(DRAWN, rng).boards
    return memory.draw_by_phase(DRAWN, rng, balance=1.0)[0].boards
