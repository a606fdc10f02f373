"""The commands that ask a net: nardy move | cube | rollout.

They are added to the command line of nardy.cli, which says how a net is found.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.match.score import STAKE_CAPS, Score
from nardy.notation.ids import from_position_id
from nardy.notation.points import from_points
from nardy.notation.positions import describe, read_position
from nardy.play.bearoff_make import Progress
from nardy.play.cube_text import decision_json, decision_text
from nardy.play.cubeful import check_game
from nardy.play.player import Player, cumulative
from nardy.play.rollout import GAMES, RolledOut, rollout, rollout_plays
from nardy.play.terminal import ranked_line
from nardy.rules.board import Boards, check_board, check_dice
from nardy.rules.variants import Variant

_POSITION = (
    "Position ID, ID:MatchID, XGID or FIBS board string; in long nardy checkers by point, as "
    "'24:15 24:15'"
)
_DICE = "the roll, two digits, unless the position has it"

Dice = NDArray[np.uint8]
MakePlayer = Callable[[argparse.Namespace], Player]
Bar = Callable[[str], Progress]


def add_commands(
    commands: "argparse._SubParsersAction[Any]",
    add_player: Callable[..., None],
    make_player: MakePlayer,
    bar: Bar,
) -> None:
    """Add the questions to `commands`.

    add_player: adds what make_player, which gives the player that is meant, reads; with
    level=True also how well it plays; bar: a progress bar by its name.
    """
    cube = commands.add_parser(
        "cube",
        help="price the cube's actions in a position",
        epilog="example: nardy cube --position 4HPwATDgc/ABMA:cIkFAAAAAAAA --ply 1",
    )
    named = cube.add_mutually_exclusive_group(required=True)
    named.add_argument("--xgid", dest="position", metavar="XGID", help="the same as --position")
    named.add_argument("--position", metavar="ID", help=_POSITION)
    add_player(cube)
    add_money_options(cube)
    cube.add_argument("--threads", type=int, default=1, help="that share the search")
    cube.add_argument("--json", action="store_true", help="print one JSON object")
    cube.set_defaults(run=lambda options: _cube(options, make_player(options)))

    move = commands.add_parser(
        "move",
        help="rank the plays of a position",
        epilog="example: nardy move --position 4HPwATDgc/ABMA --dice 31 --ply 1",
    )
    move.add_argument("--position", required=True, metavar="ID", help=_POSITION)
    move.add_argument("--dice", metavar="31", help=_DICE)
    move.add_argument("--seconds", type=float, help="look no deeper than this time allows")
    add_player(move, level=True)
    move.add_argument("--threads", type=int, default=1, help="that share the search")
    move.add_argument("--seed", type=int, default=0, help="of a level's errors")
    move.add_argument("--json", action="store_true", help="print one JSON object")
    move.set_defaults(run=lambda options: _move(options, make_player(options)))

    games = commands.add_parser(
        "rollout",
        help="play a position, or the best plays of a roll, out many times",
        epilog="example: nardy rollout --position 4HPwATDgc/ABMA --dice 31 --plies 7",
    )
    games.add_argument("--position", required=True, metavar="ID", help=_POSITION)
    games.add_argument("--dice", metavar="31", help="roll out the best plays of this roll")
    games.add_argument("--plays", type=int, default=3, help="how many plays, the best by the net")
    games.add_argument("--games", type=int, default=GAMES, help="for each, at most")
    games.add_argument("--plies", type=int, help="turns after which games are cut off")
    games.add_argument("--stderr", type=float, help="standard error at which to stop, in points")
    games.add_argument("--seed", type=int, default=0, help="of the dice")
    games.add_argument("--threads", type=int, default=1, help="that share the games")
    add_player(games)
    games.add_argument("--json", action="store_true", help="print one JSON object")
    games.set_defaults(run=lambda options: _rollout(options, make_player(options), bar))


def add_money_options(command: argparse.ArgumentParser) -> None:
    """Options of money play, fields of a Score."""
    command.add_argument("--jacoby", action="store_true", help="money: gammons after a turned cube")
    command.add_argument("--beavers", action="store_true", help="money: a double doubled at once")
    command.add_argument(
        "--stake-cap", type=int, choices=STAKE_CAPS, help="money: no game costs more points"
    )


def _cube(options: argparse.Namespace, player: Player) -> None:
    game = player.net.variant
    check_game(game)
    names = ("jacoby", "beavers", "stake_cap")
    asked_for = {name: getattr(options, name) for name in names if getattr(options, name)}
    if game.family == "hitting":
        position = read_position(options.position)
        score = replace(position.state.score, **asked_for)
        decision, described = player.cube(position, score), describe(position)
        told = {name for name in asked_for if getattr(position.state, name, False)}
    else:  # checkers by point say nothing of the cube: it is centred, and for money
        board = read_board(options.position, game)
        decision, described = player.cube(board, Score(**asked_for)), "money, cube on 1"
        told = set()
    described += "".join(f"; {option}" for option in _said(asked_for, told))
    if options.json:
        asked = {"variant": game.name, "position": options.position}
        print(json.dumps({**asked, **decision_json(decision)}))
        return
    print(described)
    print(decision_text(decision))


def _said(asked_for: dict[str, Any], told: set[str]) -> list[str]:
    """Options of money play in words, without those that the position has told."""
    words = {"jacoby": "Jacoby", "beavers": "beavers", "stake_cap": "at most {} points"}
    return [words[name].format(asked_for[name]) for name in asked_for if name not in told]


def _move(options: argparse.Namespace, player: Player) -> None:
    game = player.net.variant
    board, thrown, score = _asked(options.position, game)
    dice = thrown if options.dice is None else read_dice(options.dice)
    if dice is None:
        raise ValueError("--dice are needed: the position has none")
    ranked = player.best(board, dice, options.seconds, score)
    if not options.json:
        for number, play in enumerate(ranked, 1):
            depth = f"  {play.ply}-ply" if player.level.ply else ""
            print(f"{number:3}. {ranked_line(play, game.outcomes)}{depth}")
        return
    plays = [
        {
            "move": play.text,
            "board": play.board.tolist(),
            "equity": play.equity,
            "cubeful": play.cubeful,
            "ply": play.ply,
            **cumulative(play.chances, game.outcomes),
        }
        for play in ranked
    ]
    asked = {"variant": game.name, "position": options.position, "dice": dice.tolist()}
    print(json.dumps({**asked, "plays": plays}))


def _rollout(options: argparse.Namespace, player: Player, bar: Bar) -> None:
    names, result = _rolled_out(player, options, bar)
    rows = [
        {
            "name": names[i],
            "equity": float(result.equities[i]),
            "stderr": float(result.stderrs[i]),
            "games": int(result.games[i]),
            **cumulative(result.chances[i].astype(np.float32), player.net.variant.outcomes),
        }
        for i in np.argsort(-result.equities, kind="stable").tolist()
    ]
    if options.json:
        asked = {name: getattr(options, name) for name in ("position", "dice", "plies", "seed")}
        print(json.dumps({"variant": player.net.variant.name, **asked, "rollouts": rows}))
        return
    for row in rows:
        drawn = f"draw {row['draw']:6.1%}  " if "draw" in row else ""
        print(
            f"{row['name']:<24} {row['equity']:+.4f} ± {row['stderr']:.4f}  win {row['win']:6.1%}  "
            f"{drawn}gammon {row['win_gammon']:6.1%}  {row['games']} games"
        )


def _rolled_out(
    player: Player, options: argparse.Namespace, bar: Bar
) -> tuple[list[str], RolledOut]:
    """What was rolled out, the position or the best plays of a roll, and the result."""
    board, thrown, _ = _asked(options.position, player.net.variant)
    dice = thrown if options.dice is None else read_dice(options.dice)
    asked = {name: getattr(options, name) for name in ("plies", "stderr", "seed", "threads")}
    asked |= {"tables": player.tables, "progress": bar("rollout")}
    if dice is None:
        board = check_board(board, player.net.variant)
        return ["on roll"], rollout(player.net, board[None], options.games, **asked)
    if options.plays < 1:
        raise ValueError(f"plays must be 1 or more, not {options.plays!r}")
    plays = player.best(board, dice)[: options.plays]
    results = np.stack([play.board for play in plays])
    result = rollout_plays(player.net, results, options.games, **asked)
    return [play.text for play in plays], result


def _asked(text: str, game: Variant) -> tuple[Boards, Dice | None, Score | None]:
    """The board that --position names, in the view of the player on roll; its dice and score where
    the text tells of them."""
    if game.family != "hitting" or ":" not in text:
        return read_board(text, game), None, None
    position = read_position(text)
    thrown = position.state.dice
    dice = None if thrown is None else np.array(thrown, np.uint8)
    return position.board, dice, position.state.score


def likely_game(text: str | None) -> str | None:
    """The game whose newest net is to answer where none is named: short nardy's, where a position
    is given by its ID, which says nothing of the game."""
    return None if text is None or " " in text.strip() else "short"


def read_board(text: str, game: Variant) -> Boards:
    """The board, int8[26] in the view of the player on roll, of a Position ID or checkers by point.

    Raises ValueError naming what is wrong.
    """
    return from_position_id(text) if game.family == "hitting" else from_points(text, game.family)


def read_dice(text: str) -> Dice:
    """uint8[2] of 31, 3-1 or the like. Raises ValueError where it is no roll."""
    digits = [int(character) for character in text if character in "0123456789"]
    if len(digits) != 2 or set(text) - set("0123456789 -,"):
        raise ValueError(f"two dice of 1 to 6 are needed, such as 31, not {text!r}")
    return check_dice(digits)
