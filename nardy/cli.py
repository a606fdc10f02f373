"""The command line: nardy play | move | cube | met | rollout | show | tables | analyze | serve | ….

    nardy play --net checkpoints/short-01 --ply 1
    nardy play --level casual
    nardy move --position 4HPwATDgc/ABMA --dice 31
    nardy move --position "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:3:0:10" --seconds 2
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
import os
import secrets
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

# the threads of a search and of `serve` are its own; numpy's would only fight for the same cores
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from nardy import __version__
from nardy.match.met import MatchEquity, default_table
from nardy.match.score import Score, match_score
from nardy.notation.positions import describe, read_position
from nardy.play import bearoff, terminal
from nardy.play import commands as questions
from nardy.play.bearoff_make import POINTS, Progress
from nardy.play.board_text import draw
from nardy.play.cube_head import CubeHead
from nardy.play.nets import find_net, load_by_rules, read_rules
from nardy.play.player import LEVELS, Player, cumulative
from nardy.play.search import PLIES
from nardy.rules.board import check_board, flip
from nardy.rules.variants import names, variant
from nardy.serve import commands as doors


class _Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line gets one sentence instead of the usage text."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"nardy: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0, or 2 where something is wrong with what was asked."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads the output has had enough, as in nardy move … | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
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
        "play", help="play in the terminal", epilog="example: nardy play --level casual --seed 7"
    )
    _add_player(play, level=True)
    play.add_argument("--threads", type=int, default=1, help="that share a search")
    play.add_argument("--seed", type=int, help="dice to play with; the same seed, the same dice")
    stake = play.add_mutually_exclusive_group()
    stake.add_argument("--match", type=int, metavar="N", help="a match to N points")
    stake.add_argument("--money", action="store_true", help="for money")
    play.add_argument("--cube", action="store_true", help="with the cube; a match always has it")
    questions.add_money_options(play)
    play.add_argument(
        "--auto-doubles", type=int, default=0, metavar="N", help="money: by equal opening dice"
    )
    play.set_defaults(run=_play)

    met = commands.add_parser(
        "met", help="show or write the match equity table", epilog="example: nardy met --length 7"
    )
    met.add_argument("--length", type=int, default=9, help="show up to so many points away")
    met.add_argument("--table", metavar="FILE", help="another table, in gnubg's XML")
    met.add_argument("--to", metavar="FILE", help="write it there in gnubg's XML")
    met.set_defaults(run=_met)

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
    questions.add_commands(commands, _add_player, _player, _bar)
    doors.add_commands(
        commands, partial(_add_player, rules=False), lambda o: find_net(o.net, o.variant), _bar
    )
    return parser


def _add_player(command: argparse.ArgumentParser, level: bool = False, rules: bool = True) -> None:
    """What _player reads; level: also how well it plays; rules: also by which rules."""
    command.add_argument("--net", metavar="PATH", help="folder of an exported net")
    depth = command.add_mutually_exclusive_group() if level else command
    depth.add_argument("--ply", type=int, choices=PLIES, default=0, help="depth of search")
    if level:
        depth.add_argument("--level", choices=LEVELS, help="how well it plays, instead of --ply")
    command.add_argument("--variant", choices=names(), help="the game; refuse a net of another")
    if rules:
        command.add_argument(
            "--rule",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="play by another rule than the net has learnt: opening, cube; long: "
            "head_exception_players, head_exception_rolls, prime_rule, prime_check",
        )


def _play(options: argparse.Namespace) -> None:
    if options.seed is None:
        options.seed = secrets.randbelow(2**32)
    terminal.play(_player(options), options.seed, score=_stake(options))


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


def _met(options: argparse.Namespace) -> None:
    table = default_table() if options.table is None else MatchEquity.load(options.table)
    if not 1 <= options.length <= table.length:
        raise ValueError(f"length must be 1 to {table.length}, not {options.length!r}")
    if options.to is not None:
        Path(options.to).write_text(table.xml(table.name), encoding="utf-8")
        print(f"{options.to}: {table.length} points")
        return
    print(table.text(options.length))


def _show(options: argparse.Namespace) -> None:
    game = variant(options.variant)
    if game.family == "blocking":
        board = questions.read_board(options.position, game)
        if board[0] or board[25]:  # it says who began (D13)
            game = variant(options.variant, last_roll="second_player")
        board = check_board(board, game)
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


def _player(options: argparse.Namespace) -> Player:
    likely = questions.likely_game(getattr(options, "position", None))
    folder = find_net(options.net, options.variant or likely)
    net = load_by_rules(folder, options.variant, read_rules(options.rule))
    head = CubeHead.load(folder)
    level, seed = getattr(options, "level", None), getattr(options, "seed", 0)
    threads = options.threads
    return Player(net, options.ply, level=level, seed=seed, threads=threads, head=head)
