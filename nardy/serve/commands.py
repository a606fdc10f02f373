"""The commands that open doors: nardy analyze | serve | gnubg-socket | ubgi.

They are added to the command line of nardy.cli, which says how a net is found.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nardy.net.net import Net
from nardy.play.bearoff_make import Progress
from nardy.play.cube_head import CubeHead
from nardy.play.nets import load_by_rules, read_rules

FindNet = Callable[[argparse.Namespace], Path]
Bar = Callable[[str], Progress]


def add_commands(
    commands: "argparse._SubParsersAction[Any]",
    add_player: Callable[..., None],
    find_net: FindNet,
    bar: Bar,
) -> None:
    """Add the doors to `commands`.

    add_player: adds --net, --ply and --variant, with rules=True also --rule; find_net: the folder
    they mean; bar: a progress bar by its name.
    """
    analyze = commands.add_parser(
        "analyze",
        help="judge recorded games",
        epilog="example: nardy analyze match.mat --ply 1 --html report.html",
    )
    analyze.add_argument("file", type=Path, help="a .mat or gnubg's .sgf")
    analyze.add_argument("--threads", type=int, default=1, help="that share the search")
    analyze.add_argument("--json", metavar="FILE", help="also write JSON; - for the output instead")
    analyze.add_argument("--html", type=Path, metavar="FILE", help="also write a page")
    analyze.set_defaults(run=lambda options: _analyze(options, find_net(options), bar("analyze")))

    serve = commands.add_parser(
        "serve",
        help="answer over HTTP, with a page to play on, or write that page as files",
        epilog="example: nardy serve --port 8000, then http://localhost:8000 and /docs",
    )
    serve.add_argument("--port", type=int, default=8000)
    serve.add_argument("--workers", type=int, default=1, help="processes, one for each core")
    serve.add_argument(
        "--static", type=Path, metavar="FOLDER", help="write files for a site that hosts the page"
    )
    serve.add_argument(
        "--ort",
        type=Path,
        default=Path("node_modules/onnxruntime-web/dist"),
        help="with --static: dist of the npm package onnxruntime-web",
    )
    serve.set_defaults(run=lambda options: _serve(options, find_net(options)))

    gnubg = commands.add_parser(
        "gnubg-socket",
        help="be gnubg's external player",
        epilog="in gnubg: set player 0 external localhost:1234",
    )
    gnubg.add_argument("--port", type=int, default=1234)
    gnubg.set_defaults(run=lambda options: _gnubg(options, find_net(options)))

    ubgi = commands.add_parser("ubgi", help="speak UBGI on standard input and output")
    ubgi.set_defaults(run=lambda options: _ubgi(options, find_net(options)))
    for command in (serve, gnubg):
        command.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets other machines ask")
    for command in (analyze, gnubg, ubgi):
        add_player(command)
    add_player(serve, rules=True)


def _analyze(options: argparse.Namespace, folder: Path, progress: Progress) -> None:
    from nardy.notation.games import read_games
    from nardy.play.analysis_text import as_html, as_json, as_text
    from nardy.play.analyze import analyze

    for path in (options.html, options.json if options.json != "-" else None):
        if path and not Path(path).parent.is_dir():  # better said before all is judged
            raise ValueError(f"there is no folder {str(Path(path).parent)!r} to write into")
    match = read_games(options.file)
    net, head = _net(options, folder), CubeHead.load(folder)
    analysis = analyze(match, net, options.ply, options.threads, progress, head)
    if options.html:
        _write(options.html, as_html(analysis))
    if options.json == "-":
        print(json.dumps(as_json(analysis)))
        return
    if options.json:
        _write(Path(options.json), json.dumps(as_json(analysis)) + "\n")
    print(as_text(analysis))


def _write(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _serve(options: argparse.Namespace, folder: Path) -> None:
    from nardy.serve.http import Served, run
    from nardy.serve.static import static_nets, write_static

    if options.workers < 1:
        raise ValueError(f"workers must be 1 or more, not {options.workers!r}")
    rules = read_rules(options.rule)
    # what is wrong with it is better said before the workers start
    game = load_by_rules(folder, options.variant, rules).variant
    if options.static is not None:
        write_static(options.static, static_nets(folder), options.ort, game)
        print(f"{options.static}: serve it as files, say with python -m http.server")
        return
    served = Served(str(folder), options.ply, options.variant, rules)
    run(served, options.host, _port(options), options.workers)


def _gnubg(options: argparse.Namespace, folder: Path) -> None:
    import asyncio

    from nardy.serve import gnubg
    from nardy.serve.bot import Bots

    net = _net(options, folder)
    if net.variant.family != "hitting":
        raise ValueError(f"gnubg does not play {net.variant.name}, as {str(folder)!r} does")
    bots = Bots(net, options.ply, CubeHead.load(folder))

    def ready(port: int) -> None:
        print(f"set player 0 external {options.host}:{port}", flush=True)

    asyncio.run(gnubg.serve(bots, options.host, _port(options), ready))


def _ubgi(options: argparse.Namespace, folder: Path) -> None:
    from nardy.serve.bot import Bot
    from nardy.serve.ubgi import converse

    bot = Bot(_net(options, folder), options.ply, CubeHead.load(folder))
    converse(bot, sys.stdin, sys.stdout)


def _net(options: argparse.Namespace, folder: Path) -> Net:
    return load_by_rules(folder, options.variant, {})


def _port(options: argparse.Namespace) -> int:
    port: int = options.port
    if not 0 <= port <= 65535:
        raise ValueError(f"a port is 0 to 65535, not {port}")
    return port
