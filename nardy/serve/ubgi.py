"""UBGI, the Universal Backgammon Interface, on standard input and output.

    nardy ubgi --net checkpoints/short-01
    Dialogue(Bot(net)).replies("ubgi")        # lines, one by one, for tests and other streams

Three drafts of it are in use, and all are answered. By draft 0.01 (O. Schønning-Johansen, 2025) a
line that is a FIBS board string or an XGID gets one line: a move, `roll`, `double`, `take`, `drop`,
an empty line where no move is possible, or `sorry`. By 0.1 and 0.2 (bgci) a position and dice are
set first and `go` asks: `bestmove 8/5 6/5`, `bestcube nodouble`, `bestturn cube=... move=...`;
what cannot be done gets `error CODE sentence`. Moves are written hop by hop, without stars.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TextIO

import numpy as np

from nardy import __version__
from nardy.notation.ids import from_position_id, position_id
from nardy.notation.moves import BAR, OFF, Hop
from nardy.notation.positions import read_position
from nardy.notation.state import MatchState, Position
from nardy.play.player import RankedPlay
from nardy.play.search import PLIES
from nardy.rules.board import Boards, check_board, check_dice, start_board
from nardy.serve.bot import Action, Bot, playable_score

_IDENTITY = ("id name nardy", "id author the nardy project", f"id version {__version__}")
_OWNERS = {"center": None, "p0": 0, "p1": 1}
_PLAYERS = {"p0": 0, "p1": 1}
_ROLES = ("chequer", "cube", "turn")
_IGNORED = ("threads", "seed", "deterministic", "evalmode")


class _Refused(Exception):
    """A line that is not done: code and sentence."""

    def __init__(self, code: str, sentence: object) -> None:
        super().__init__(f"{code} {sentence}")


@dataclass
class _Table:
    """What has been set. board: int8[26] in the view of the player on roll."""

    board: Boards | None
    state: MatchState


class Dialogue:
    """One engine and what it has been told. Serves one thread."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.table = _Table(None, MatchState())
        self.over = False
        self._commands: dict[str, Callable[[list[str]], Iterable[str]]] = {
            "ubgi": lambda words: (*_IDENTITY, *_options(self.bot), "readyok", "ubgiok"),
            "isready": lambda words: ("readyok",),
            "stop": lambda words: (),
            "quit": self._quit,
            "newgame": self._new_game,
            "newsession": self._new_session,
            "setscore": self._set_score,
            "setcube": self._set_cube,
            "setturn": self._set_turn,
            "setoption": self._set_option,
            "set": self._set,
            "get": self._get,
            "keys": lambda words: (f"key engine.ply int 0..{PLIES[-1]} {self.bot.ply} depth",),
            "position": self._position,
            "dice": self._dice,
            "go": self._go,
        }

    def replies(self, line: str) -> Iterator[str]:
        """The lines that answer `line`, none for most settings."""
        words = line.split()
        if not words:
            return
        if words[0].lower().startswith(("board:", "xgid=")):
            yield self._best_action(line.strip())
            return
        try:
            command = self._commands.get(words[0])
            if command is None:
                raise _Refused("unknown_command", f"{words[0][:40]!r} is no command")
            yield from command(words[1:])
        except _Refused as refused:
            yield f"error {refused}"
        except ValueError as error:
            yield f"error bad_argument {error}"

    # --- draft 0.01

    def _best_action(self, text: str) -> str:
        try:
            return spoken(self.bot.action(read_position(text)))
        except ValueError:
            return "sorry"

    # --- what is set

    def _quit(self, words: list[str]) -> Iterable[str]:
        self.over = True
        return ()

    def _new_game(self, words: list[str]) -> Iterable[str]:
        old = self.table.state
        state = replace(old, cube=1, owner=None, dice=None, doubled=False, turn=None)
        self.table = _Table(start_board(self.bot.game), state)
        return ()

    def _new_session(self, words: list[str]) -> Iterable[str]:
        given = dict(zip(words[::2], words[1::2], strict=False))
        kind = given.get("type")
        if kind not in ("money", "match"):
            raise ValueError(f"a session's type is money or match, not {kind!r}")
        length = _whole(given.get("length", "0")) if kind == "match" else 0
        if kind == "match" and not length:
            raise ValueError("a match needs its length")
        jacoby = kind == "money" and given.get("jacoby") == "on"
        self.table.state = MatchState(length=length, jacoby=jacoby)
        return ()

    def _set_score(self, words: list[str]) -> Iterable[str]:
        first, second = (_whole(word) for word in _exactly(2, words))
        old = self.table.state
        one_away = old.length > 0 and max(first, second) == old.length - 1
        self.table.state = replace(old, points=(first, second), crawford=old.crawford and one_away)
        return ()

    def _set_cube(self, words: list[str]) -> Iterable[str]:
        given = dict(zip(words[::2], words[1::2], strict=False))
        owner = given.get("owner", "center")
        if owner not in _OWNERS:
            raise ValueError(f"a cube's owner is center, p0 or p1, not {owner!r}")
        cube = _whole(given.get("value", "1"))
        self.table.state = replace(self.table.state, cube=cube, owner=_OWNERS[owner])
        return ()

    def _set_turn(self, words: list[str]) -> Iterable[str]:
        (player,) = _exactly(1, words)
        if player not in _PLAYERS:
            raise ValueError(f"it is p0's or p1's turn, not {player!r}")
        self.table.state = replace(self.table.state, on_roll=_PLAYERS[player], turn=None)
        return ()

    def _set_option(self, words: list[str]) -> Iterable[str]:
        if len(words) != 4 or words[0] != "name" or words[2] != "value":
            raise ValueError("write setoption name NAME value VALUE")
        return self._option(words[1].lower(), words[3])

    def _set(self, words: list[str]) -> Iterable[str]:
        key, value = _exactly(2, words)
        return self._option(key.removeprefix("engine.").removeprefix("game."), value)

    def _option(self, name: str, value: str) -> Iterable[str]:
        if name in ("ply", "plies"):
            ply = _whole(value)
            if ply not in PLIES:
                raise ValueError(f"ply is {', '.join(map(str, PLIES))}, not {ply}")
            self.bot.ply = ply
        elif name == "variant":
            if value.lower() not in (self.bot.game.name, _VARIANTS.get(self.bot.game.name)):
                raise ValueError(f"the net plays {self.bot.game.name}, not {value[:40]!r}")
        elif name not in _IGNORED:
            raise _Refused("unsupported_feature", f"there is no option {name[:40]!r}")
        return ()

    def _get(self, words: list[str]) -> Iterable[str]:
        (key,) = _exactly(1, words)
        if key != "engine.ply":
            raise _Refused("unsupported_feature", f"there is no key {key[:40]!r}")
        return (f"value engine.ply {self.bot.ply}",)

    def _position(self, words: list[str]) -> Iterable[str]:
        form, text = _exactly(2, words)
        if form == "gnubgid":
            board, state = from_position_id(text), replace(self.table.state, dice=None)
        elif form == "xgid":
            board, state, _ = read_position(text)
        else:
            raise _Refused("unsupported_feature", f"positions are gnubgid or xgid, not {form!r}")
        self.table = _Table(check_board(board, self.bot.game), state)
        return ()

    def _dice(self, words: list[str]) -> Iterable[str]:
        first, second = check_dice([_whole(word) for word in _exactly(2, words)]).tolist()
        self.table.state = replace(self.table.state, dice=(first, second), doubled=False, turn=None)
        return ()

    # --- what is asked

    def _go(self, words: list[str]) -> Iterator[str]:
        role = next((word for word in words if word in _ROLES), "chequer")
        depth = words[words.index("depth") + 1 :] if "depth" in words else []
        ply = min(_whole(depth[0]), PLIES[-1]) if depth else None
        if self.table.board is None:
            raise _Refused("missing_context", "a position is needed before go")
        board, state = self.table.board, self.table.state
        if role == "cube":
            yield f"bestcube {self._cube(board, state, ply)}"
            return
        if state.dice is None:
            raise _Refused("missing_context", "dice are needed before go")
        play, move = self._play(board, state, ply)
        if role == "turn":
            cube = self._cube(board, state, ply)
            yield f"bestturn cube={cube} moveid={_turned_id(play.board)} move={move}"
            return
        yield f"bestmove {move}"
        if self.bot.game.family == "hitting":
            yield f"bestmoveid {_turned_id(play.board)}"

    def _play(self, board: Boards, state: MatchState, ply: int | None) -> tuple[RankedPlay, str]:
        dice = np.array(state.dice, np.uint8)
        best = self.bot.plays(board, dice, playable_score(state), ply)[0]
        hops = self.bot.hops(board, dice, [best])[0]
        return best, _hop_text(hops, "pass")

    def _cube(self, board: Boards, state: MatchState, ply: int | None) -> str:
        before = replace(state, dice=None, doubled=False)
        action = self.bot.action(Position(board, before), ply)
        return "double" if action.verb == "double" else "nodouble"


_VARIANTS = {"short": "backgammon", "nack": "nackgammon", "hyper": "hypergammon"}


def spoken(action: Action) -> str:
    """An action in the words of draft 0.01; it has none for beavers and resignations."""
    words = {"beaver": "take", "accept": "take", "reject": "drop"}
    if action.verb != "move":
        return words.get(action.verb, action.verb)
    return _hop_text(action.hops, "")


def converse(bot: Bot, lines: TextIO, out: TextIO) -> None:
    """Answer line by line until `quit` or the end of the input."""
    dialogue = Dialogue(bot)
    for line in lines:
        for reply in dialogue.replies(line):
            print(reply, file=out, flush=True)
        if dialogue.over:
            break


def _options(bot: Bot) -> Iterator[str]:
    yield f"option name Ply type spin default {bot.ply} min 0 max {PLIES[-1]}"
    yield "option name Threads type spin default 1 min 1 max 1"


def _hop_text(hops: tuple[Hop, ...], none: str) -> str:
    names = {BAR: "bar", OFF: "off"}
    words = (
        f"{names.get(hop.source, hop.source)}/{names.get(hop.target, hop.target)}" for hop in hops
    )
    return " ".join(words) or none


def _turned_id(after: Boards) -> str:
    """The Position ID after a play: the other player is on roll."""
    return position_id(np.ascontiguousarray(-after[::-1]))


def _exactly(count: int, words: list[str]) -> list[str]:
    if len(words) != count:
        raise ValueError(f"{count} word{'s' * (count > 1)} must follow, not {len(words)}")
    return words


def _whole(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 6):
        raise ValueError(f"a whole number is needed, not {word[:40]!r}")
    return int(word)
