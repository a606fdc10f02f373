"""Against gnubg itself: it reads what is written here, and what it writes is read here."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from notation.games import facts, made_up

from nardy.notation import xgid
from nardy.notation.ids import from_match_id, position_id
from nardy.notation.matfile import write_match
from nardy.notation.matread import read_mat
from nardy.notation.record import MatchRecord
from nardy.notation.sgf import read_sgf
from nardy.notation.state import MatchState, Position
from nardy.rules.board import make_board
from nardy.rules.variants import variant

GNUBG = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")
FILES = Path(__file__).parents[1] / "data" / "mat"
UNREAD = ("broken-off", "fibs")  # too odd for it: no length, comments between the rows

pytestmark = pytest.mark.skipif(GNUBG is None, reason="gnubg is not installed")


def gnubg(folder: Path, *commands: str) -> str:
    """What gnubg prints for these commands, given in `folder`."""
    assert GNUBG is not None
    script = folder / "commands"
    script.write_text("\n".join(commands) + "\n")
    asked = [GNUBG, "-t", "-q", "-r", "-c", script.name]
    done = subprocess.run(
        asked, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    return done.stdout + done.stderr


def through_gnubg(folder: Path, text: str) -> tuple[MatchRecord, MatchRecord]:
    """A .mat file read by gnubg: as it exports it again, and as it saves it."""
    (folder / "in.mat").write_text(text)
    said = gnubg(folder, "import mat in.mat", "export match mat out.mat", "save match out.sgf")
    assert "WARNING" not in said and "Unrecogni" not in said and "garbage" not in said, said
    return (
        read_mat((folder / "out.mat").read_text()),
        read_sgf((folder / "out.sgf").read_text()),
    )


@pytest.mark.parametrize(
    ("seed", "length", "name"),
    [(1, 5, "short"), (2, 1, "short"), (3, 0, "short"), (4, 3, "nack"), (5, 7, "hyper")],
)
def test_it_reads_what_is_written(seed: int, length: int, name: str, tmp_path: Path) -> None:
    match = made_up(seed, length, variant(name))
    exported, saved = through_gnubg(tmp_path, write_match(match))
    assert facts(exported) == facts(match)
    assert facts(saved) == facts(match)
    assert exported.players == match.players == saved.players


@pytest.mark.parametrize("name", sorted({path.stem for path in FILES.glob("*.mat")} - set(UNREAD)))
def test_files_are_read_as_it_reads_them(name: str, tmp_path: Path) -> None:
    match = read_mat((FILES / f"{name}.mat").read_text(encoding="utf-8"))
    exported, saved = through_gnubg(tmp_path, (FILES / f"{name}.mat").read_text(encoding="utf-8"))
    assert facts(exported) == facts(match)
    assert facts(saved) == facts(match)


@pytest.mark.parametrize(
    "state",
    [
        MatchState(),
        MatchState(jacoby=True, dice=(3, 1)),
        MatchState(length=9, points=(2, 4), cube=2, owner=0, dice=(5, 2)),
        MatchState(length=9, points=(2, 4), cube=4, owner=1),
        MatchState(length=5, points=(1, 4), crawford=True),
        MatchState(length=5, points=(1, 4), dice=(6, 6)),
    ],
)
def test_ids_are_those_that_it_shows(state: MatchState, tmp_path: Path) -> None:
    board = make_board({13: 3, 8: 4, 6: 5, 5: 2, 25: 1}, {24: 2, 13: 4, 8: 3, 6: 5, 1: 1})
    text = xgid.format(Position(board, state))
    said = gnubg(
        tmp_path,
        "set player 0 human",
        "set player 1 human",
        "set automatic roll off",
        "set jacoby off",
        f"set xgid {text}",
    )
    board_id = re.findall(r"Position ID: (\S+)", said)[-1]
    match_id = re.findall(r"Match ID +: (\S+)", said)[-1]
    assert board_id == position_id(board)
    shown = from_match_id(match_id)
    assert shown == state
    assert np.array_equal(xgid.parse(text).board, board)
