"""UBGI by a scripted dialogue, in each of its drafts."""

import io

import numpy as np
import pytest

from nardy.match.score import Score
from nardy.net.net import Net
from nardy.notation.ids import from_position_id, position_id
from nardy.notation.moves import parse_move
from nardy.play.player import Player
from nardy.rules.board import flip
from nardy.serve.bot import Bot
from nardy.serve.ubgi import Dialogue, converse

START = "4HPwATDgc/ABMA"
XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:{}:0:0:3:0:10"


def said(bot: Bot, *lines: str) -> list[str]:
    out = io.StringIO()
    converse(bot, io.StringIO("\n".join(lines) + "\n"), out)
    return out.getvalue().splitlines()


def test_it_says_who_it_is_and_that_it_is_ready(bot: Bot) -> None:
    lines = said(bot, "ubgi", "isready", "quit", "isready")
    assert lines[0] == "id name nardy" and lines[1].startswith("id author")
    assert "ubgiok" in lines and lines.count("readyok") == 2 and lines[-1] == "readyok"


def test_a_position_alone_gets_its_action(bot: Bot, net: Net) -> None:
    """Draft 0.01: hops in full, no stars, no parentheses; double or roll before the dice."""
    board, dice = from_position_id(START), np.array([4, 4], np.uint8)
    (move,) = said(bot, XGID.format("44"))
    assert set(move) <= set("0123456789/ baroff") and len(move.split()) == 4
    best = Player(net).best(board, dice, score=Score(jacoby=True, beavers=True))[0]
    assert np.array_equal(parse_move(move, board, dice, net.variant), best.board)
    assert said(bot, XGID.format("00"))[0] in ("roll", "double")
    assert said(bot, XGID.format("D"))[0] in ("take", "drop")
    assert said(bot, "XGID=nonsense", "board:1:2") == ["sorry", "sorry"]


def test_no_move_is_a_blank_line_or_pass(bot: Bot) -> None:
    closed = "XGID=-BBBBBBC-----------------a:0:0:-1:66:0:0:0:0:10"
    assert said(bot, closed) == [""] or said(bot, closed) == ["sorry"]
    barred = "XGID=-bbbbbbc-----N----------A:0:0:1:66:0:0:0:0:10"
    (line,) = said(bot, barred)
    assert line in ("", "sorry")


def test_go_answers_what_was_set(bot: Bot, net: Net) -> None:
    lines = said(
        bot, "newgame", f"position gnubgid {START}", "dice 3 1", "go role chequer", "go role cube"
    )
    board, dice = from_position_id(START), np.array([3, 1], np.uint8)
    best = Player(net).best(board, dice, score=Score())[0]
    assert lines[0].startswith("bestmove ")
    after = parse_move(lines[0].removeprefix("bestmove "), board, dice, net.variant)
    assert np.array_equal(after, best.board)
    assert lines[1] == f"bestmoveid {position_id(flip(best.board))}"
    assert lines[2] in ("bestcube double", "bestcube nodouble")
    (turn,) = said(bot, f"position gnubgid {START}", "dice 3 1", "go turn")
    assert turn.startswith("bestturn cube=") and " move=" in turn and " moveid=" in turn


def test_score_and_cube_are_remembered(bot: Bot) -> None:
    dialogue = Dialogue(bot)
    for line in (
        "newsession type match length 7",
        "setscore 3 4",
        "setcube value 2 owner p1",
        "setturn p1",
        f"position gnubgid {START}",
    ):
        assert list(dialogue.replies(line)) == []
    state = dialogue.table.state
    assert (state.length, state.points, state.cube, state.owner) == (7, (3, 4), 2, 1)
    assert state.score == Score((3, 4), 7, cube=2, owner="mine")


def test_depth_is_an_option(bot: Bot) -> None:
    assert said(bot, "set engine.ply 1", "get engine.ply") == ["value engine.ply 1"]
    assert said(bot, "setoption name Ply value 0", "get engine.ply") == ["value engine.ply 0"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("hello", "error unknown_command"),
        ("position fen x", "error unsupported_feature"),
        ("position gnubgid x", "error bad_argument"),
        ("dice 7 1", "error bad_argument"),
        ("dice 1", "error bad_argument"),
        ("go", "error missing_context"),
        ("setoption name Hash value 1", "error unsupported_feature"),
        ("setoption name Ply value 9", "error bad_argument"),
        ("setoption name Variant value hypergammon", "error bad_argument"),
        ("newsession type match", "error bad_argument"),
        ("setcube value 3 owner p0", "error bad_argument"),
        ("setturn x", "error bad_argument"),
        ("setscore 1 x", "error bad_argument"),
        ("get x", "error unsupported_feature"),
        ("go depth", "error missing_context"),
    ],
)
def test_what_cannot_be_done_is_said(bot: Bot, line: str, answer: str) -> None:
    (reply,) = said(bot, line)
    assert reply.startswith(answer) and said(bot, line, "isready")[-1] == "readyok"
