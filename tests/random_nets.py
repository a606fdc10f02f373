"""Nets of random weights and any shape, and positions met in random play."""

from collections.abc import Sequence

import numpy as np

from nardy.net.features import FEATURES, PAIR_ROWS, feature_rows
from nardy.net.net import Layer, Net
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, ending, start_board, turn
from nardy.rules.dice import random_words, roll
from nardy.rules.variants import Variant, variant

SHORT = variant("short")


def make_net(
    width: int,
    tail: Sequence[int] = (16,),
    phases: int = 2,
    seed: int = 0,
    game: Variant = SHORT,
    pairs: int | None = None,
) -> Net:
    """A net of random weights, biases included; a third of its units see pairs unless told."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.3, shape).astype(np.float32)

    features = feature_rows(game.family).reshape(-1, FEATURES)
    table = (features @ normal(FEATURES, width)).reshape(28, 31, width)
    sizes = (width, *tail, len(game.outcomes))
    tails: list[list[Layer]] = [
        [(normal(a, b), normal(b)) for a, b in zip(sizes, sizes[1:], strict=False)]
        for _ in range(phases)
    ]
    seen = normal(PAIR_ROWS, width // 3 if pairs is None else pairs)
    return Net.build(game, table, normal(width), tails, pairs=seen)


def play_out(game: Variant, games: int, turns: int) -> tuple[Boards, np.ndarray, Boards]:
    """Boards before the roll, dice, and boards chosen at random: every turn of `games` games.

    A game that ends begins anew, so its dice may repeat; each array has games * turns rows.
    """
    numbers, boards = np.arange(games), np.repeat(start_board(game)[None], games, 0)
    found = []
    for ply in range(turns):
        plies = np.full(games, ply)
        dice = roll(3, numbers, plies, "reroll")
        results = afterstates(boards, dice, game)
        words = random_words(3, numbers, plies, stream=1)
        choice = (words % np.diff(results.offsets).astype(np.uint64)).astype(np.int64)
        chosen = results.boards[results.offsets[:-1] + choice]
        found.append((boards, dice, chosen))
        over = ending(chosen, game)[0]
        boards = np.where(over[:, None], start_board(game), turn(chosen, game.family))
    before, rolls, after = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return before, rolls, after
