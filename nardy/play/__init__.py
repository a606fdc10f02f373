"""What a front end calls: a player that chooses moves from an exported net."""

from nardy.play.player import Player

__all__ = ["Player"]
