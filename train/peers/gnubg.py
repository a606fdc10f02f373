"""GNU Backgammon, the program, as a player and a judge: cubeless moves, outcomes and its cube.

    apt-get install gnubg
    python -m train.benchmark net=gnubg ply=1

    peer = GnubgProgram(variant("short"), ply=1)
    peer.probabilities(boards)     # float64[N, 5]

It is for games of fifteen checkers a side. It runs headless, a process for each player object,
and is asked through pipes (see gnubg_worker.py). Only boards cross the border. gnubg itself polls
for answers every 10 ms; where a C compiler is found, fastpoll.c shortens that a hundredfold.
"""

import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
import threading
import weakref
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards
from nardy.rules.variants import Variant
from train.peers import NotInstalledError, check_asked, name_at
from train.peers.gnubg_nn import rows_of

_HERE = Path(__file__).parent
_HEAD = struct.Struct("<cBBI")
_CHUNK = 256  # records a question: question and answer each fit into a pipe's buffer
# what gnubg 1.07 loses for each answer, measured
_LEAK_KB = {b"M": 25.0, b"P": 25.0, b"E": 0.75, b"C": 1.0}
_MOST_LEAKED_KB = 500_000.0

_build = threading.Lock()


class GnubgProgram:
    """GNU Backgammon at a fixed depth, deterministic and without noise. One object a thread."""

    def __init__(self, game: Variant, ply: int = 0) -> None:
        """ply: 0 looks at the board, 1 and 2 search, with gnubg's own move filter.

        Raises ValueError where gnubg is not installed, or does not know the game or the depth.
        """
        check_asked("gnubg", game, ply)
        self._program = program()
        self.name = name_at("gnubg", ply)
        self.ply = ply
        self._game = game
        self._process: _Process | None = None

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: NDArray[np.int64],
        plies: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """See train.players.Player.choose. Raises ValueError where its move is not in `results`."""
        records = np.hstack([np.asarray(boards, np.int8).view(np.uint8), dice])
        moved = self._ask(b"M", records, 26).view(np.int8)
        return rows_of(moved, boards, dice, results, "gnubg")

    def choose_at(
        self, boards: Boards, dice: NDArray[np.uint8], results: Afterstates, terms: Any
    ) -> NDArray[np.int64]:
        """As choose, with the cube and at the score: terms, see train.cube_players.Terms."""
        context = np.column_stack([*terms, dice]).astype(np.uint8)
        records = np.hstack([np.asarray(boards, np.int8).view(np.uint8), context])
        moved = self._ask(b"P", records, 26).view(np.int8)
        return rows_of(moved, boards, dice, results, "gnubg")

    def probabilities(self, boards: Boards, prune: bool = True) -> NDArray[np.float64]:
        """float64[N, 5] for the player on roll: win, win gammon, win backgammon, lose gammon, lose
        backgammon, each including the greater ones.

        prune: use gnubg's pruning nets at 2-ply, as it does in play; False searches every reply.
        """
        records = np.ascontiguousarray(boards, np.int8).view(np.uint8)
        answers = self._ask(b"E", records, 20, prune)
        return answers.view("<f4").astype(float)

    def cube_values(
        self,
        boards: Boards,
        owned: NDArray[np.bool_],
        cube: NDArray[np.int64],
        away: NDArray[np.int64],
        crawford: NDArray[np.bool_],
        jacoby: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:
        """float64[N, 3] for the player on roll: no double, double and take, double and pass (K16).

        owned: he owns the cube, else it is in the middle; cube: its value; away: int64[N, 2],
        points he and the opponent need, 0 and 0 for money; crawford: K17; jacoby: by default
        without. In units of the present cube for money, in a unit that grows with the chance of
        the match otherwise.
        """
        plain = np.zeros(len(boards)) if jacoby is None else jacoby
        context = np.column_stack([cube, owned, away, crawford, plain]).astype(np.uint8)
        cells = np.asarray(boards, np.int8).view(np.uint8)
        answers = self._ask(b"C", np.hstack([cells, context]), 12, prune=False)
        return answers.view("<f4").astype(float)

    def for_thread(self) -> "GnubgProgram":
        """See train.players.Player.for_thread: with a process of its own."""
        return GnubgProgram(self._game, self.ply)

    def close(self) -> None:
        """End the process; a later call starts another. The end of the object does the same."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _ask(
        self, kind: bytes, records: NDArray[np.uint8], size: int, prune: bool = True
    ) -> NDArray[np.uint8]:
        """uint8[N, size], an answer for each record uint8[N, ...].

        Raises OSError where gnubg ends without an answer.
        """
        answers = np.empty((len(records), size), np.uint8)
        for begin in range(0, len(records), _CHUNK):
            part = np.ascontiguousarray(records[begin : begin + _CHUNK])
            if self._process is None:
                self._process = _Process(self._program)
            head = _HEAD.pack(kind, self.ply, prune, len(part))
            data = self._process.ask(head + part.tobytes(), size * len(part))
            answers[begin : begin + len(part)] = np.frombuffer(data, np.uint8).reshape(-1, size)
            self._process.leaked_kb += _LEAK_KB[kind] * len(part)
            if self._process.leaked_kb > _MOST_LEAKED_KB:
                self.close()
        return answers


class _Process:
    """A running gnubg and the pipes to it."""

    def __init__(self, gnubg: str) -> None:
        self.leaked_kb = 0.0
        home = tempfile.TemporaryDirectory(prefix="nardy-gnubg-")  # keeps it off the user's own
        asked, questions = os.pipe()
        answers, answered = os.pipe()
        self._questions, self._answers = os.fdopen(questions, "wb"), os.fdopen(answers, "rb")
        process = subprocess.Popen(
            [gnubg, "-t", "-q", "-r", "-p", str(_HERE / "gnubg_worker.py")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment(home.name, asked, answered),
            pass_fds=(asked, answered),
            cwd=home.name,
        )
        os.close(asked)
        os.close(answered)
        self.end = weakref.finalize(self, _end, process, self._questions, self._answers, home)

    def ask(self, question: bytes, size: int) -> bytes:
        """`size` bytes of answer."""
        try:
            self._questions.write(question)
            self._questions.flush()
            answer = self._answers.read(size)
        except BrokenPipeError:
            answer = b""
        if len(answer) != size:
            raise OSError("gnubg ended without an answer")
        return answer


def _end(
    process: "subprocess.Popen[bytes]",
    questions: IO[bytes],
    answers: IO[bytes],
    home: "tempfile.TemporaryDirectory[str]",
) -> None:
    """End a process by closing the pipe it reads, and clean up."""
    try:
        questions.close()
    except BrokenPipeError:
        pass  # it has ended already
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    answers.close()
    home.cleanup()


def program() -> str:
    """The path of the program. Raises NotInstalledError where there is none."""
    # Debian installs games where a server's PATH may not look
    path = shutil.which("gnubg", path=os.environ.get("PATH", os.defpath) + ":/usr/games")
    if path is None:
        raise NotInstalledError("gnubg is not installed: apt-get install gnubg")
    return path


def _environment(home: str, asked: int, answered: int) -> dict[str, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment |= {
        "HOME": home,
        "NARDY_GNUBG_ASK": str(asked),
        "NARDY_GNUBG_ANSWER": str(answered),
    }
    library = fastpoll()
    if library is not None:
        environment["LD_PRELOAD"] = str(library)
    return environment


def fastpoll() -> Path | None:
    """fastpoll.c as a shared library, compiled into the user's cache folder on first use.

    None where it cannot be: gnubg then answers a hundred questions a second.
    """
    source = _HERE / "fastpoll.c"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nardy"
    library = cache / f"fastpoll-{hashlib.sha256(source.read_bytes()).hexdigest()[:12]}.so"
    compiler = shutil.which("gcc") or shutil.which("cc")
    with _build:
        if library.exists():
            return library
        if compiler is None:
            return None
        try:
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache) as folder:
                built = Path(folder) / "fastpoll.so"
                command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(built), str(source)]
                subprocess.run(command, check=True, capture_output=True)
                built.replace(library)  # whole or not at all, whoever else builds it
        except (OSError, subprocess.CalledProcessError):
            return None
    return library
