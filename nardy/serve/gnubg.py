"""The socket that gnubg's external player asks, and any front end that speaks its lines.

    nardy gnubg-socket --port 1234       # in gnubg: set player 0 external localhost:1234
    asyncio.run(serve(Bots(net), "localhost", 1234))

One line asks, one line answers: a FIBS board string (see nardy.notation.fibs) gets a move, an
empty line where none is possible, `roll`, `double`, `take`, `drop`, `beaver`, `accept`, `reject`
or, in a game that is lost, `resign 1` (2: a gammon, 3: a backgammon; gnubg, play.c), after which
the same line asked again says that the other side plays on. `version`, `help`, `exit`, `evaluation
fibsboard board:... plies 1` and the settings that gnubg's own server takes are answered as it does
(gnubg, external.c). gnubg ends its lines with a NUL byte beside the newline; bytes that are no text
are ignored. What cannot be answered gets a line `Error: ` and a sentence.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace

from nardy import __version__
from nardy.notation import fibs
from nardy.notation.state import Position
from nardy.play.player import cumulative
from nardy.play.search import PLIES
from nardy.serve.bot import Action, Bot, Bots, playable_score

MAX_LINE = 4096  # bytes; gnubg's own lines have some 200

_PLIES = re.compile(r"\bplies\s+(\S+)", re.I)
_HELP = (
    "board:... [jacobyrule on] [crawfordrule on] [beavers on] [resignation 1] | "
    "evaluation fibsboard board:... [plies 1] [cubeful] | version | help | exit"
)


def answer(line: str, bot: Bot, resign: bool = True) -> str | None:
    """The answer to one line; None asks to close the connection.

    resign: whether the bot may give the game up where that costs nothing, as `resign 1`.
    """
    words = line.replace("\0", "").strip()
    command, _, rest = words.partition(" ")
    command = command.lower()
    if command in ("exit", "quit"):
        return None
    try:
        return _answer(command, rest.strip(), words, bot, resign)
    except ValueError as error:
        return f"Error: {error}"


def _answer(command: str, rest: str, line: str, bot: Bot, resign: bool) -> str:
    if command.startswith("board:"):
        return _decided(line, bot, resign)
    if command == "fibsboard":
        return _decided(rest, bot, resign)
    if command == "evaluation":
        return _evaluation(rest, bot)
    if command == "version":
        return f"nardy {__version__}, external interface version 2"
    if command in ("", "help"):
        return _HELP if command else ""
    if command == "set":
        return ""
    raise ValueError(f"{line[:60]!r} is none of: {_HELP}")


def _position(text: str) -> Position:
    """A board string as gnubg writes it: the places are those of its player 1, but the names and
    points are told from player 0, save where a double waits for its answer (gnubg, play.c)."""
    position = fibs.parse(text)
    if position.state.doubled:
        return position
    state = replace(position.state, points=position.state.points[::-1])
    return position._replace(state=state, names=position.names[::-1])


def _decided(text: str, bot: Bot, resign: bool) -> str:
    position = _position(text)
    games = bot.resigns(position) if resign else 0
    return f"resign {games}" if games else _spoken(bot.action(position))


def _spoken(action: Action) -> str:
    """A move without its words where there is none; gnubg knows the other words as they are."""
    if action.verb != "move":
        return action.verb
    return action.text if action.hops else ""


def _evaluation(rest: str, bot: Bot) -> str:
    """Six numbers: win, gammon and backgammon, those lost, and the equity."""
    kind, _, board = rest.partition(" ")
    if kind.lower() != "fibsboard":
        raise ValueError(f"an evaluation is of a fibsboard, not of {kind[:20]!r}")
    string, _, options = board.strip().partition(" ")
    position = _position(string)
    ply = _ply(options)
    chances = bot.chances(position.board, ply)
    numbers = cumulative(chances, bot.game.outcomes)
    equity = sum(float(p) * points for p, points in zip(chances, bot.game.outcomes, strict=True))
    if re.search(r"\bcube(ful|\s+on)\b", options, re.I) and bot.cube_known:
        equity = bot.cube(position.board, playable_score(position.state), ply).equities.no_double
    return " ".join(f"{value:.6f}" for value in (*numbers.values(), equity))


def _ply(options: str) -> int | None:
    found = _PLIES.search(options)
    if found is None:
        return None
    if found[1] not in map(str, PLIES):
        raise ValueError(f"plies are {', '.join(map(str, PLIES))}, not {found[1][:20]!r}")
    return int(found[1])


async def serve(
    bots: Bots, host: str, port: int, ready: Callable[[int], None] = lambda port: None
) -> None:
    """Answer until cancelled. port: 0 for any; ready: is told the one that is listened to."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _talk(reader, writer, bots)
        except (ConnectionError, asyncio.LimitOverrunError, ValueError):
            pass  # the other side has gone, or sent a line without end
        finally:
            writer.close()

    server = await asyncio.start_server(connected, host, port, limit=MAX_LINE)
    async with server:
        ready(server.sockets[0].getsockname()[1])
        await server.serve_forever()


async def _talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bots: Bots) -> None:
    refused = None  # the last line that was answered by resigning: asked again, it was declined
    while line := await reader.readline():
        text = line.decode("utf-8", "replace").replace("\0", "")
        said = await asyncio.to_thread(_answer_in_thread, text, bots, text != refused)
        if said is None:
            return
        refused = text if said.startswith("resign") else None
        writer.write(f"{said}\n".encode())
        await writer.drain()


def _answer_in_thread(line: str, bots: Bots, resign: bool) -> str | None:
    return answer(line, bots.mine(), resign)
