"""Writing games as Jellyfish text, `.mat`, which most backgammon programs read.

    text = write_match(match)                  # a MatchRecord of nardy.notation.record
    text = write_mat(("white", "red"), [Game(starter=0, turns=turns, points=2)], variant("short"))

The layout is that of gnubg's own export: the first player's plays in the left column from the
sixth character, the second's in the right one from the 34th, a row for a turn of both. A forced
pass is the roll alone, a roll that was not played `????` as XG has it. A money session is written
as a match to 0 points. Reading is in nardy.notation.matread.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.notation.moves import CANNOT_MOVE, move_texts
from nardy.notation.record import CubeAction, GameRecord, MatchRecord, Roll
from nardy.rules.board import Boards
from nardy.rules.variants import Variant

_LEFT, _RIGHT = 27, 33  # width of the left column, and where the right one begins
_NAME = 20  # the most letters of a name
_VARIATIONS = {"nack": "NackGammon", "hyper": "HyperGammon (3)"}


class Turn(NamedTuple):
    """One roll and what was made of it, in the mover's view."""

    board: Boards  # int8[26], before
    dice: NDArray[np.uint8]  # uint8[2]
    after: Boards  # int8[26]


class Game(NamedTuple):
    """One finished game without the cube."""

    starter: int  # 0: the first player; 1: the second
    turns: Sequence[Turn]
    points: int  # won by the first player; negative: by the second


def write_mat(players: tuple[str, str], games: Sequence[Game], variant: Variant) -> str:
    """The text of a money session without the cube; scores are the points won so far.

    Raises ValueError for a turn that its dice do not allow.
    """
    records, score = [], (0, 0)
    for game in games:
        rolls = [Roll((game.starter + n) % 2, *turn) for n, turn in enumerate(game.turns)]
        winner = 0 if game.points > 0 else 1
        records.append(GameRecord(score, False, rolls, winner, abs(game.points)))
        score = (score[0] + max(game.points, 0), score[1] + max(-game.points, 0))
    return write_match(MatchRecord(players, 0, variant, records))


def write_match(match: MatchRecord) -> str:
    """The text of a match or a session.

    Raises ValueError for a game that the format does not have, long nardy, or a play that its dice
    do not allow.
    """
    if match.variant.family != "hitting":
        raise ValueError(f".mat files have no {match.variant.name} nardy")
    lines = [f'; [{name} "{value}"]' for name, value in _tags(match).items()]
    lines += [""] * bool(lines) + [f" {match.length} point match", ""]
    names = [_name(player) for player in match.players]
    for number, game in enumerate(match.games, start=1):
        left, right = (f"{name} : {score}" for name, score in zip(names, game.score, strict=True))
        lines += [f" Game {number}", f" {left:<{_LEFT + 4}}{right}"]
        lines += [*_rows(game, _won(game, match)), ""]
    return "\n".join(lines) + "\n"


def _tags(match: MatchRecord) -> dict[str, str]:
    tags = {}
    if match.variant.name in _VARIATIONS:
        tags["Variation"] = _VARIATIONS[match.variant.name]
    if match.length and not match.crawford:
        tags["Crawford"] = "Off"
    if match.jacoby:
        tags["Jacoby"] = "On"
    if match.beavers:
        tags["Beaver"] = "On"
    return tags


def _rows(game: GameRecord, won: str) -> list[str]:
    cells = [""] * (game.actions[0].player if game.actions else 0)
    for action in game.actions:
        if len(cells) % 2 != action.player:
            cells.append("")  # after a take the doubler rolls in a row of his own
        cells.append(_cell(action))
    # gnubg reads a drop alone in its row, the winner in the next one, as a beaver
    beside = len(cells) % 2 == 1 and game.winner == 1
    if beside:
        cells.append(f" {won}")
    rows = [
        f"{row // 2 + 1:3d}) {cells[row]:<{_LEFT}} {''.join(cells[row + 1 : row + 2])}".rstrip()
        for row in range(0, len(cells), 2)
    ]
    if game.winner is not None and not beside:
        rows.append(" " * (6 if game.winner == 0 else _RIGHT + 1) + won)
    return rows


def _won(game: GameRecord, match: MatchRecord) -> str:
    won = f"Wins {game.points} point{'s' * (game.points > 1)}"
    over = game.winner is not None and game.score[game.winner] + game.points >= match.length > 0
    return won + " and the match" * over


def _cell(action: Roll | CubeAction) -> str:
    if isinstance(action, CubeAction):
        stake = f" => {action.offered}" if action.deed not in ("take", "drop") else ""
        return f" {action.deed.capitalize()}s{stake}"
    dice = f"{action.dice[0]}{action.dice[1]}:"
    if action.after is None:
        return f"{dice} ????"
    text = move_texts(action.board, action.dice, action.after[None])[0]
    return f"{dice} {'' if text == CANNOT_MOVE else text}"


def _name(player: str) -> str:
    """A name that fits its column; a colon would end it, and of a path the last parts say most."""
    whole = player.replace(":", "-")
    cut = whole[-_NAME:]
    if whole[-_NAME - 1 : -_NAME].strip("/") and "/" in cut[:-1]:
        cut = cut.partition("/")[2]  # no part of a path is cut in two
    return cut.strip() or "nobody"
