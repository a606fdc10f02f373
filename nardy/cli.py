"""The command line: nardy play | move | cube | met | rollout | show | tables | analyze | serve | ….

    nardy play --net checkpoints/short-01 --ply 1
    nardy move --position 4HPwATDgc/ABMA --dice 31
    nardy show --position "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:3:0:10"
    nardy rollout --position 4HPwATDgc/ABMA --dice 31 --plies 7
    nardy move --variant long --position "24:15 24:15" --dice 31
    nardy cube --xgid "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:7:10" --ply 1
    nardy play --match 7
    nardy tables --points 8
    nardy analyze match.mat --ply 1 --html report.html
    nardy serve | gnubg-socket | ubgi

Without --net the folder in NARDY_NET is used, else the newest net in checkpoints/ and runs/, with
--variant the newest of that game, else the one that is shipped (nardy.play.nets). Positions of long
nardy are written as checkers by point, those of the player on roll first (nardy.notation.points).
Bad input ends with one sentence on stderr and exit code 2.
"""

import argparse
import json
import os
import secrets
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

# the threads of a search and of `serve` are its own; numpy's would only fight for the same cores
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from nardy import __version__
from nardy.match.met import MatchEquity, default_table
from nardy.match.score import STAKE_CAPS, Score, match_score
from nardy.notation.ids import from_position_id
from nardy.notation.points import from_points
from nardy.notation.positions import describe, read_position
from nardy.play import bearoff, terminal
from nardy.play.bearoff_make import POINTS, Progress
from nardy.play.board_text import draw
from nardy.play.cube_text import decision_json, decision_text
from nardy.play.nets import find_net
from nardy.play.player import Player, cumulative
from nardy.play.rollout import GAMES, RolledOut, rollout, rollout_plays
from nardy.play.search import PLIES
from nardy.rules.board import Boards, check_board, check_dice, flip
from nardy.rules.variants import Variant, names, variant
from nardy.serve.commands import add_commands


class _Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line gets one sentence instead of the usage text."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"nardy: {message}\n")


_POSITION = "gnubg Position ID; in long nardy checkers by point, as '24:15 24:15'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0, or 2 where something is wrong with what was asked."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (ValueError, OSError) as error:
        print(f"nardy: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="nardy", description="Play nardy against a net, or ask it.")
    parser.add_argument("--version", action="version", version=f"nardy {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    play = commands.add_parser(
        "play", help="play in the terminal", epilog="example: nardy play --ply 1 --seed 7"
    )
    _add_player(play)
    play.add_argument("--seed", type=int, help="dice to play with; the same seed, the same dice")
    stake = play.add_mutually_exclusive_group()
    stake.add_argument("--match", type=int, metavar="N", help="a match to N points")
    stake.add_argument("--money", action="store_true", help="for money")
    play.add_argument("--cube", action="store_true", help="with the cube; a match always has it")
    play.add_argument("--jacoby", action="store_true", help="money: gammons after a turned cube")
    play.add_argument("--beavers", action="store_true", help="money: a double doubled at once")
    play.add_argument(
        "--auto-doubles", type=int, default=0, metavar="N", help="money: by equal opening dice"
    )
    play.add_argument(
        "--stake-cap", type=int, choices=STAKE_CAPS, help="money: no game costs more points"
    )
    play.set_defaults(run=_play)

    cube = commands.add_parser(
        "cube",
        help="price the cube's actions in a position",
        epilog="example: nardy cube --position 4HPwATDgc/ABMA:cIkFAAAAAAAA --ply 1",
    )
    named = cube.add_mutually_exclusive_group(required=True)
    named.add_argument("--xgid", dest="position", metavar="XGID", help="XGID of the position")
    named.add_argument(
        "--position", metavar="ID", help="Position ID (money) or Position ID:Match ID"
    )
    _add_player(cube)
    cube.add_argument("--json", action="store_true", help="print one JSON object")
    cube.set_defaults(run=_cube)

    met = commands.add_parser(
        "met", help="show or write the match equity table", epilog="example: nardy met --length 7"
    )
    met.add_argument("--length", type=int, default=9, help="show up to so many points away")
    met.add_argument("--table", metavar="FILE", help="another table, in gnubg's XML")
    met.add_argument("--to", metavar="FILE", help="write it there in gnubg's XML")
    met.set_defaults(run=_met)

    move = commands.add_parser(
        "move",
        help="rank the plays of a position",
        epilog="example: nardy move --position 4HPwATDgc/ABMA --dice 31 --ply 1",
    )
    move.add_argument("--position", required=True, metavar="ID", help=_POSITION)
    move.add_argument("--dice", required=True, metavar="31", help="the roll, two digits")
    _add_player(move)
    move.add_argument("--json", action="store_true", help="print one JSON object")
    move.set_defaults(run=_move)

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
    games.add_argument("--threads", type=int, default=1)
    _add_player(games)
    games.add_argument("--json", action="store_true", help="print one JSON object")
    games.set_defaults(run=_rollout)

    show = commands.add_parser(
        "show", help="draw a position", epilog="example: nardy show --position 4HPwATDgc/ABMA"
    )
    show.add_argument(
        "--position",
        required=True,
        metavar="TEXT",
        help="Position ID, Position ID:Match ID, XGID, FIBS board string; long: '24:15 24:15'",
    )
    show.add_argument("--variant", choices=names(), default="short", help="sets the checker count")
    show.set_defaults(run=_show)

    tables = commands.add_parser(
        "tables", help="make bear-off tables", epilog="example: nardy tables --points 8"
    )
    tables.add_argument(
        "--points", type=int, choices=POINTS, default=6, help="of the one-sided table, 15 checkers"
    )
    tables.set_defaults(run=_tables)
    add_commands(commands, _add_player, lambda o: find_net(o.net, o.variant), _bar)
    return parser


def _add_player(command: argparse.ArgumentParser) -> None:
    command.add_argument("--net", metavar="PATH", help="folder of an exported net")
    command.add_argument("--ply", type=int, choices=PLIES, default=0, help="depth of search")
    command.add_argument("--variant", choices=names(), help="the game; refuse a net of another")


def _play(options: argparse.Namespace) -> None:
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    terminal.play(_player(options), seed, score=_stake(options))


def _stake(options: argparse.Namespace) -> Score | None:
    """What is played for: None where points are only counted."""
    names = ("jacoby", "beavers", "auto_doubles", "stake_cap")
    asked = {name: getattr(options, name) for name in names}
    if options.match is not None:
        return replace(match_score(options.match), **asked)
    about_the_cube = options.cube or options.jacoby or options.beavers or options.auto_doubles
    if options.money or about_the_cube or options.stake_cap:
        return Score(doubling=bool(about_the_cube), **asked)
    return None


def _cube(options: argparse.Namespace) -> None:
    player, position = _player(options), read_position(options.position)
    decision = player.cube(position)
    if options.json:
        asked = {"variant": player.net.variant.name, "position": options.position}
        print(json.dumps({**asked, **decision_json(decision)}))
        return
    print(describe(position))
    print(decision_text(decision))


def _met(options: argparse.Namespace) -> None:
    table = default_table() if options.table is None else MatchEquity.load(options.table)
    if not 1 <= options.length <= table.length:
        raise ValueError(f"length must be 1 to {table.length}, not {options.length!r}")
    if options.to is not None:
        Path(options.to).write_text(table.xml(table.name), encoding="utf-8")
        print(f"{options.to}: {table.length} points")
        return
    print(table.text(options.length))


def _move(options: argparse.Namespace) -> None:
    player, dice = _player(options), _dice(options.dice)
    game = player.net.variant
    board = _board(options.position, game)
    ranked = player.best(board, dice)
    if not options.json:
        for number, play in enumerate(ranked, 1):
            depth = f"  {play.ply}-ply" if options.ply else ""
            print(f"{number:3}. {terminal.ranked_line(play, game.outcomes)}{depth}")
        return
    plays = [
        {
            "move": play.text,
            "board": play.board.tolist(),
            "equity": play.equity,
            "ply": play.ply,
            **cumulative(play.chances, game.outcomes),
        }
        for play in ranked
    ]
    asked = {"variant": game.name, "position": options.position, "dice": dice.tolist()}
    print(json.dumps({**asked, "plays": plays}))


def _rollout(options: argparse.Namespace) -> None:
    player = _player(options)
    names, result = _rolled_out(player, options)
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
        print(
            f"{row['name']:<24} {row['equity']:+.4f} ± {row['stderr']:.4f}  win {row['win']:6.1%}  "
            f"gammon {row['win_gammon']:6.1%}  {row['games']} games"
        )


def _rolled_out(player: Player, options: argparse.Namespace) -> tuple[list[str], RolledOut]:
    """What was rolled out, the position or the best plays of a roll, and the result."""
    board = check_board(_board(options.position, player.net.variant), player.net.variant)
    asked = {name: getattr(options, name) for name in ("plies", "stderr", "seed", "threads")}
    asked |= {"tables": player.tables, "progress": _bar("rollout")}
    if options.dice is None:
        return ["on roll"], rollout(player.net, board[None], options.games, **asked)
    if options.plays < 1:
        raise ValueError(f"plays must be 1 or more, not {options.plays!r}")
    plays = player.best(board, _dice(options.dice))[: options.plays]
    results = np.stack([play.board for play in plays])
    result = rollout_plays(player.net, results, options.games, **asked)
    return [play.text for play in plays], result


def _show(options: argparse.Namespace) -> None:
    game = variant(options.variant)
    if game.family == "blocking":
        board = check_board(_board(options.position, game), game)
        print(draw(board, game.checkers, ("on roll", "opponent"), family=game.family))
        return
    position = read_position(options.position)
    board, state = check_board(position.board, game), position.state
    if state.on_roll == 1:
        print(draw(board, game.checkers, ("on roll", "opponent")))
    else:  # X stays X, at the bottom and with his own numbers
        print(draw(flip(board), game.checkers, ("opponent", "on roll")))
    if ":" in options.position:
        print(describe(position))
    if bearoff.fits(game):
        tables = bearoff.Bearoff.load(game)
        if tables.covers(board[None])[0]:
            print(_race_text(tables, board))


def _race_text(tables: bearoff.Bearoff, board: NDArray[np.int8]) -> str:
    """What the tables know of a race, a few lines; int8[26], a board that they reach."""
    lines = [
        f"{name:9}{side.effective_pips:7.2f} effective pips, {side.wastage:5.2f} of them waste; "
        f"{side.mean_rolls:.2f} rolls"
        for name, side in zip(("on roll", "opponent"), tables.wastage(board), strict=True)
    ]
    chances = cumulative(tables.outcomes(board[None])[0], tables.game.outcomes)
    exact = tables.covers_exactly(board[None])[0]
    lines.append(
        f"on roll wins {chances['win']:.2%}, gammons {chances['win_gammon']:.2%}; "
        f"loses gammons {chances['lose_gammon']:.2%}{' (exact)' if exact else ''}"
    )
    if exact:
        cubeless, *cubeful = tables.equities(board[None])[0].tolist()
        names = ("cube centred", "own cube", "opponent's cube")
        values = (f"{name} {value:+.4f}" for name, value in zip(names, cubeful, strict=True))
        lines.append(f"equity {cubeless:+.4f} cubeless; not doubled: {', '.join(values)}")
    return "\n".join(lines)


def _tables(options: argparse.Namespace) -> None:
    for path in (
        bearoff.make_one_sided_file(options.points, _bar(f"one-sided, {options.points} points")),
        bearoff.make_two_sided_file(_bar("two-sided, 6 points")),
    ):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def _bar(name: str) -> Progress:
    """A progress bar on stderr, on a terminal alone."""
    if not sys.stderr.isatty():
        return lambda share: None

    def show(share: float) -> None:
        filled = round(40 * share)
        end = "\n" if share >= 1 else ""
        print(f"\r{name} [{'#' * filled:40}] {share:4.0%}", end=end, file=sys.stderr, flush=True)

    return show


def _board(text: str, game: Variant) -> Boards:
    """The board that --position names, in the view of the player on roll."""
    return from_position_id(text) if game.family == "hitting" else from_points(text, game.family)


def _dice(text: str) -> NDArray[np.uint8]:
    digits = [int(character) for character in text if character in "0123456789"]
    if len(digits) != 2 or set(text) - set("0123456789 -,"):
        raise ValueError(f"two dice of 1 to 6 are needed, such as 31, not {text!r}")
    return check_dice(digits)


def _player(options: argparse.Namespace) -> Player:
    folder = find_net(options.net, options.variant)
    player = Player(folder, options.ply)
    if options.variant not in (None, player.net.variant.name):
        raise ValueError(
            f"the net in {str(folder)!r} plays {player.net.variant.name}, not {options.variant}"
        )
    return player
