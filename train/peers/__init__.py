"""Other engines as players, each an optional adapter."""

from nardy.rules.variants import Variant

PLIES = (0, 1, 2)


class NotInstalledError(ValueError):
    """An engine that was asked for is not on this machine; the message says how to get it."""


def check_asked(engine: str, game: Variant, ply: int) -> None:
    """Raises ValueError where an engine is asked for a game or a depth that it does not know."""
    if game.family != "hitting" or game.checkers != 15:
        raise ValueError(
            f"{engine} plays short nardy with 15 checkers, not {game.name} with {game.checkers}"
        )
    if ply not in PLIES:
        raise ValueError(f"{engine}'s ply must be 0, 1 or 2, not {ply!r}")


def name_at(engine: str, ply: int) -> str:
    """What an engine at a depth is called."""
    return engine if ply == 0 else f"{engine}-{ply}ply"
