"""What a search's shortcuts lose a decision: its move filter, and replies picked by a cheap look.

    python -m train.search_loss net=checkpoints/short-02
    python -m train.search_loss net=runs/quick ply=2 positions=50 seed=3

Positions are those of games that the net plays against itself at 0-ply. A decision's loss is what
the search without any shortcut makes of its own choice less what it makes of the other's: 0 where
both choose alike. Looking at every play in full depth costs some 100,000 evaluations a decision at
2-ply.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Net
from nardy.play.bearoff import tables_for
from nardy.play.search import Search
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, points_won, start_board, turn
from nardy.rules.dice import roll
from train.arena import progress_bar
from train.checkpoint import resolve
from train.command_line import answer
from train.config import about, help_text, parse_keys
from train.luck import mean_and_ci95

EXAMPLES = ("python -m train.search_loss net=checkpoints/short-02",)


@dataclass
class SearchLossConfig:
    """Which net, and how many decisions."""

    net: str | None = about("run folder, checkpoint or exported net", None)
    ply: int = about("the search's depth, 1 to 3", 2)
    positions: int = about("decisions between two plays or more", 200)
    tables: bool = about("use the bear-off tables, as nardy play does", True)
    seed: int = about("of the dice", 0)

    def __post_init__(self) -> None:
        """Refuse what cannot be measured, by name."""
        if self.net is None:
            raise ValueError("net is missing: name a run folder, a checkpoint or an exported net")
        if self.ply not in (1, 2, 3):
            raise ValueError(f"ply must be 1, 2 or 3, not {self.ply!r}")
        if self.positions < 2:
            raise ValueError(f"positions must be at least 2, not {self.positions!r}")


def decisions(net: Net, count: int, seed: int) -> tuple[Boards, NDArray[np.uint8]]:
    """int8[count, 26], uint8[count, 2]: a position of each of `count` games, before a roll that
    leaves a choice; after a number of turns that is drawn anew for each."""
    search, game = Search(net, 0), net.variant
    rng = np.random.default_rng(seed)
    boards = np.repeat(start_board(game)[None], count, 0)
    when = rng.integers(0, 50, count)
    found, rolled = np.zeros_like(boards), np.zeros((count, 2), np.uint8)
    games, plies = np.arange(count), np.zeros(count, np.int64)
    while len(games):
        dice = roll(seed, games, plies)
        results = afterstates(boards, dice, game)
        take = (plies >= when[games % count]) & (np.diff(results.offsets) > 1)
        found[games[take] % count], rolled[games[take] % count] = boards[take], dice[take]
        chosen = results.boards[search.best(boards, results)]
        over = (points_won(chosen, game) > 0) & ~take
        boards = turn(chosen, game.family)
        boards[over] = start_board(game)  # too short a game: another one in its place
        plies = np.where(over, 0, plies + 1)
        games = np.where(over, games + count, games)
        boards, games, plies = boards[~take], games[~take], plies[~take]
    return found, rolled


def losses(
    net: Net, ply: int, boards: Boards, dice: NDArray[np.uint8], tables: bool = True
) -> NDArray[np.float64]:
    """float64[B]: points that the search of `ply` plies loses at each decision by its shortcuts.

    boards: int8[B, 26], mover's view; dice: uint8[B, 2]. Raises ValueError as Search does.
    """
    known = tables_for(net.variant) if tables else None
    quick = Search(net, ply, tables=known)
    whole = Search(net, ply, filters=None, tables=known, looks=None)
    lost = np.zeros(len(boards))
    with progress_bar(len(boards), "decision") as bar:
        for i in range(len(boards)):
            results = afterstates(boards[i : i + 1], dice[i : i + 1], net.variant)
            values = whole.price(results).values
            lost[i] = values.max() - values[quick.best(boards[i : i + 1], results)[0]]
            bar.update()
    return lost


def run(config: SearchLossConfig) -> None:
    """Measure and print. Raises ValueError naming what is wrong."""
    assert config.net is not None
    net = Net.load(resolve(config.net))
    boards, dice = decisions(net, config.positions, config.seed)
    lost = 1000 * losses(net, config.ply, boards, dice, config.tables)
    mean, ci95 = mean_and_ci95(lost)
    print(
        f"{mean:.3f} ± {ci95:.3f} millipoints a decision lost by the shortcuts of {config.ply}-ply "
        f"(95 %, {len(lost)} decisions, of them {(lost > 0).sum()} at a cost, "
        f"{lost.max():.1f} at most)"
    )


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer(
        "train.search_loss",
        lambda: run(parse_keys(SearchLossConfig, arguments)),
        arguments,
        help_text(SearchLossConfig, "python -m train.search_loss net=NET [key=value …]", EXAMPLES),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
