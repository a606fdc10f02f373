"""Dice that depend on (seed, game, ply) alone.

A game's dice are a function of its number, so they are the same for any batch size, order of
play or number of threads. The generator is counter-based: SplitMix64's finaliser (Steele, Lea
and Flood, "Fast splittable pseudorandom number generators", 2014) applied to a counter.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROLLS: NDArray[np.uint8] = np.array(
    [(high, low) for high in range(1, 7) for low in range(1, high + 1)], np.uint8
)
"""uint8[21, 2], the distinct rolls, higher die first."""

ROLL_CHANCES: NDArray[np.float64] = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1, 2) / 36
"""float64[21], the chance of each of ROLLS."""

_GOLDEN = 0x9E3779B97F4A7C15
_WORD = 0xFFFFFFFFFFFFFFFF


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def random_words(seed: int, games: ArrayLike, plies: ArrayLike, stream: int) -> NDArray[np.uint64]:
    """uint64[...] uniform words for (seed, game, ply); `stream` separates uses of one triple."""
    golden = np.uint64(_GOLDEN)
    # the arithmetic is meant to wrap round; numpy warns of that where a number is no array
    with np.errstate(over="ignore"):
        key = _mix(np.array([(seed * _GOLDEN + stream) & _WORD], np.uint64))[0]
        game_key = _mix(np.asarray(games).astype(np.uint64) * golden + key)
        return _mix(game_key + (np.asarray(plies).astype(np.uint64) + np.uint64(1)) * golden)


def roll(
    seed: int, games: ArrayLike, plies: ArrayLike, opening: str = "play_opening_dice"
) -> NDArray[np.uint8]:
    """uint8[B, 2], the dice of each game at each ply (turns played before this roll).

    With opening "play_opening_dice" the roll at ply 0 is never a double (K3, D3); the thirty
    unequal pairs are then equally likely.
    """
    words = random_words(seed, games, plies, stream=0)
    # the high half times n, shifted down: uniform over n to within 2**-32 (Lemire 2019)
    high = words >> np.uint64(32)
    pair = (high * np.uint64(36)) >> np.uint64(32)
    dice = np.stack([pair // np.uint64(6), pair % np.uint64(6)], -1).astype(np.uint8) + 1
    if opening == "play_opening_dice":
        pair = (high * np.uint64(30)) >> np.uint64(32)
        first, second = pair // np.uint64(5), pair % np.uint64(5)
        second = second + (second >= first)
        unequal = np.stack([first, second], -1).astype(np.uint8) + 1
        dice = np.where(np.asarray(plies)[..., None] == 0, unequal, dice)
    return dice.astype(np.uint8)
