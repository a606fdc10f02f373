"""gnubg's external-player lines; and gnubg itself, where it is installed, playing against them."""

import asyncio
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nardy.match.score import Score
from nardy.net.net import Net
from nardy.notation import fibs
from nardy.notation.games import read_games
from nardy.notation.ids import from_position_id
from nardy.notation.state import MatchState, Position
from nardy.play.analyze import analyze
from nardy.play.player import Player
from nardy.rules.board import make_board
from nardy.serve import gnubg
from nardy.serve.bot import Bot, Bots

GNUBG = shutil.which("gnubg", path=os.environ.get("PATH", "") + ":/usr/games")

# gnubg's own dialogue, from external.h: an opening 5-2, the cube, and a double to be answered
OPENING = (
    "board:p0:p1:0:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:"
    "-1:5:2:5:2:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1"
)
ROLL = (
    "board:p0:p1:0:0:0:-2:2:0:2:0:0:3:0:1:0:0:0:-4:5:0:0:0:-4:0:-5:0:0:0:0:2:0:"
    "-1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1"
)
TAKE = (
    "board:p1:p0:0:0:0:-2:2:0:2:0:0:3:0:1:0:0:0:-4:5:0:0:0:-4:0:-5:0:0:0:0:2:0:"
    "1:0:0:0:0:1:1:1:1:1:-1:0:25:0:0:0:0:0:0:0:1"
)


class Listener:
    """The socket in a thread of its own, on a port that was free."""

    def __init__(self, net: Net) -> None:
        self.loop = asyncio.new_event_loop()
        self.port, ready = 0, threading.Event()

        def listening(port: int) -> None:
            self.port = port
            ready.set()

        async def main() -> None:
            self.task = asyncio.current_task()
            await gnubg.serve(Bots(net), "127.0.0.1", 0, listening)

        def run() -> None:
            try:
                self.loop.run_until_complete(main())
            except asyncio.CancelledError:
                pass
            self.loop.close()

        self.thread = threading.Thread(target=run)
        self.thread.start()
        assert ready.wait(60)

    def close(self) -> None:
        assert self.task is not None
        self.loop.call_soon_threadsafe(self.task.cancel)
        self.thread.join(60)


@pytest.fixture
def listener(net: Net) -> Iterator[Listener]:
    found = Listener(net)
    yield found
    found.close()


def test_gnubgs_own_dialogue_is_answered(bot: Bot, net: Net) -> None:
    start, dice = from_position_id("4HPwATDgc/ABMA"), np.array([5, 2], np.uint8)
    best = Player(net).best(start, dice, score=Score())[0]
    assert gnubg.answer(OPENING + "\n\0", bot) == best.text
    assert gnubg.answer(ROLL, bot) in ("roll", "double")
    assert gnubg.answer(TAKE, bot) in ("take", "drop")
    assert gnubg.answer(f"FIBSBOARD {OPENING}", bot) == best.text


def test_the_double_is_seen_by_the_one_who_has_to_answer(net: Net) -> None:
    """The doubler's winning position is dropped, his losing one is taken, whoever he is."""
    bot = Bot(net)
    decision = bot.cube(gnubg._position(TAKE).board, gnubg._position(TAKE).state.score)
    assert gnubg.answer(TAKE, bot) == ("take" if decision.take else "drop")
    assert gnubg._position(TAKE).state.on_roll == 1 and gnubg._position(ROLL).state.on_roll == 0


def test_points_are_those_of_the_names() -> None:
    at_2_5 = OPENING.replace("p0:p1:0:0:0:", "p0:p1:7:2:5:")
    assert gnubg._position(at_2_5).state.points == (2, 5)
    assert gnubg._position(TAKE.replace("p1:p0:0:0:0:", "p1:p0:7:5:2:")).state.points == (2, 5)


# five checkers cannot be borne off in one roll, the other side's last one will be
LOST = fibs.format(Position(make_board({6: 2, 5: 3}, {1: 1}), MatchState(), ("p1", "p0")))


def test_a_lost_game_is_resigned(bot: Bot) -> None:
    assert gnubg.answer(LOST, bot) == "resign 1"
    assert gnubg.answer(LOST, bot, resign=False) == "roll"
    assert gnubg.answer(ROLL, bot) in ("roll", "double")


def test_a_resignation_that_is_declined_is_not_offered_again(listener: Listener) -> None:
    with socket.create_connection(("127.0.0.1", listener.port), 60) as ours:
        ours.sendall(f"{LOST}\n\0{LOST}\n\0{ROLL}\n\0{LOST}\nexit\n".encode("latin-1"))
        lines = ours.makefile("rb").read().decode().splitlines()
    assert [lines[0], lines[1], lines[3]] == ["resign 1", "roll", "resign 1"]


def test_nothing_to_play_is_an_empty_line(bot: Bot) -> None:
    closed = make_board({25: 1, 6: 14}, {point: 2 for point in range(1, 7)} | {7: 3})
    line = fibs.format(Position(closed, MatchState(dice=(6, 6))))
    assert gnubg.answer(line, bot) == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("version", "nardy"),
        ("HELP", "fibsboard"),
        ("set debug on", ""),
        ("nonsense", "Error: 'nonsense'"),
        ("board:a:b:1:2", "Error: a FIBS string is"),
        (f"evaluation fibsboard {ROLL} plies 9", "Error: plies are 0, 1, 2, 3, not '9'"),
        ("evaluation xgid", "Error: an evaluation is of a fibsboard"),
    ],
)
def test_words_and_errors(bot: Bot, line: str, said: str) -> None:
    answer = gnubg.answer(line, bot)
    assert answer is not None and said in answer and (said or not answer)
    assert said.startswith("Error") == answer.startswith("Error")


def test_an_evaluation_has_six_numbers(bot: Bot) -> None:
    for words in ("", " plies 1 cubeless", " PLIES 0 CUBEFUL"):
        said = gnubg.answer(f"evaluation fibsboard {ROLL}{words}", bot)
        win, gammon, backgammon, lost, lost_twice, equity = map(float, (said or "").split())
        assert 1 >= win >= gammon >= backgammon >= 0 and 1 - win >= lost >= lost_twice >= 0
        assert -3 <= equity <= 3


def test_lines_come_and_go_over_the_socket(listener: Listener, bot: Bot) -> None:
    with socket.create_connection(("127.0.0.1", listener.port), 60) as ours:
        ours.sendall(f"{OPENING}\n\0{ROLL}\n\0\xff\xfe\nexit\n".encode("latin-1"))
        lines = ours.makefile("rb").read().decode().splitlines()
    assert lines[:2] == [gnubg.answer(OPENING, bot), gnubg.answer(ROLL, bot)]
    assert len(lines) == 3 and lines[2].startswith("Error: ")


def test_a_line_without_end_closes_the_connection(listener: Listener) -> None:
    with socket.create_connection(("127.0.0.1", listener.port), 60) as ours:
        ours.sendall(b"x" * (4 * gnubg.MAX_LINE))
        try:
            assert ours.recv(10) == b""
        except ConnectionResetError:
            pass


@pytest.mark.skipif(GNUBG is None, reason="gnubg is not installed")
@pytest.mark.parametrize(("seat", "length"), [(0, 7), (1, 3)])
def test_gnubg_plays_a_match_with_the_cube(
    listener: Listener, net: Net, tmp_path: Path, seat: int, length: int
) -> None:
    """To its end, without a word of protest; and by our own judgement the door errs nowhere, so
    that board, dice, cube and score were all understood."""
    commands = [
        "set automatic game on",
        "set display off",
        "set seed 11",
        f"set player {seat} external 127.0.0.1:{listener.port}",
        f"set player {1 - seat} gnubg",
        f"set player {1 - seat} chequerplay evaluation plies 0",
        f"set player {1 - seat} cubedecision evaluation plies 0",
        f"new match {length}",
        'export match mat "match.mat"',
        "quit",
        "y",
    ]
    assert GNUBG is not None
    done = subprocess.run(
        [GNUBG, "-t", "-q", "-r"],
        input="\n".join(commands) + "\n",
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env=dict(os.environ, HOME=str(tmp_path)),
    )
    said = done.stdout + done.stderr
    assert "has won the match" in said and "Warning" not in said and "Error" not in said, said
    judged = analyze(read_games(tmp_path / "match.mat"), net)
    ours = [decision for decision in judged.decisions if decision.player == seat]
    assert sum(decision.error for decision in ours) == pytest.approx(0, abs=1e-4)
    assert len(ours) > 10 and any(decision.kind != "play" for decision in ours)
