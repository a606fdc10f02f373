"""Reading gnubg's SGF: files that gnubg saved, and what is refused."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation.games import facts

from nardy.notation.games import games_from_text
from nardy.notation.matread import read_mat
from nardy.notation.record import CubeAction, Roll
from nardy.notation.sgf import read_sgf

DATA = Path(__file__).parents[1] / "data"
ROOT = "(;GM[6]MI[length:5][game:0][ws:1][bs:4]PW[anna]PB[boris]RU[Crawford]"


def test_a_match_is_that_of_the_mat_file() -> None:
    saved = read_sgf((DATA / "sgf" / "match.sgf").read_text())
    exported = read_mat((DATA / "mat" / "gnubg.mat").read_text())
    assert facts(saved) == facts(exported)
    assert saved.players == exported.players
    assert [game.crawford for game in saved.games] == [False, False, True]


def test_what_begins_with_room_is_still_sgf() -> None:
    saved = (DATA / "sgf" / "match.sgf").read_text()
    spaced = "\ufeff\r\n" + saved.replace("(;", "(\r\n ;", 1)
    assert facts(games_from_text(spaced)) == facts(read_sgf(saved))


def test_a_session_is_that_of_the_mat_file() -> None:
    saved = read_sgf((DATA / "sgf" / "money.sgf").read_text())
    assert facts(saved) == facts(read_mat((DATA / "mat" / "gnubg-money.mat").read_text()))
    assert saved.jacoby and saved.length == 0


def test_analyses_are_skipped() -> None:
    match = read_sgf((DATA / "sgf" / "analysed.sgf").read_text())
    assert [game.winner for game in match.games] == [None]
    assert [type(action) for action in match.games[0].actions] == [Roll]


def test_actions() -> None:
    text = f"{ROOT}RE[W+2];W[31hefe];B[double]C[a \\] in a comment];W[take];B[42qusu](;W[21fdfe]))"
    match = read_sgf(text)
    game = match.games[0]
    assert (match.players, match.length, game.score) == (("anna", "boris"), 5, (1, 4))
    rolls = [action for action in game.actions if isinstance(action, Roll)]
    assert [roll.player for roll in rolls] == [0, 1, 0]
    assert [roll.after[4] if roll.after is not None else None for roll in rolls[1:]] == [2, 1]
    deeds = [action.deed for action in game.actions if isinstance(action, CubeAction)]
    assert deeds == ["double", "take"]
    assert (game.winner, game.points, game.resigned) == (0, 2, True)


def test_the_main_line_alone_is_read() -> None:
    text = f"{ROOT};W[31hefe](;B[42qusu];W[66xrxrmgmg])(;B[51lqlm]))"
    dice = [a.dice.tolist() for a in read_sgf(text).games[0].actions if isinstance(a, Roll)]
    assert dice == [[3, 1], [4, 2], [6, 6]]


def test_a_roll_that_was_not_played() -> None:
    action = read_sgf(f"{ROOT};PL[B]DI[42])").games[0].actions[0]
    assert isinstance(action, Roll)
    assert (action.player, action.dice.tolist(), action.after) == (1, [4, 2], None)


@pytest.mark.parametrize(("rule", "name"), [("Nackgammon", "nack"), ("Hypergammon3", "hyper")])
def test_variants(rule: str, name: str) -> None:
    assert read_sgf(ROOT.replace("RU[Crawford]", f"RU[{rule}]") + ")").variant.name == name


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no game in it"),
        ("hello", "'hello' outside a game"),
        ("(;GM[1])", "not 6, backgammon"),
        (ROOT, "breaks off"),
        (ROOT + "))", "did not open"),
        ("(GM[6])", "before a node"),
        ("(;[6])", "without a name"),
        (ROOT + ";W[31])", "game 1, node 1 of the SGF file: you cannot pass"),
        (ROOT + ";W[31hehe!])", "cannot read the play '31hehe!'"),
        (ROOT + ";W[31hea])", "cannot read the play '31hea'"),
        (ROOT + ";W[take])", "no double for the take"),
        (ROOT + ";W[31hefe];W[31hefe])", "the other player's turn"),
        (ROOT + ";AE[a:y]AW[a])", "set up by hand"),
        (ROOT + ";DI[31])", "cannot read the roll"),
        (ROOT + "RE[draw])", "'draw'"),
        (ROOT.replace("Crawford", "Hypergammon1") + ")", "'hypergammon1'"),
        (ROOT + "\\", "cannot be read from"),
    ],
)
def test_refused_in_one_sentence(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as refusal:
        read_sgf(text)
    assert "\n" not in str(refusal.value)


PIECES = st.sampled_from(
    [";", "(", ")", "W", "B", "[31hefe]", "[double]", "[take]", "[drop]", "[42qusu]", "RE[W+1]"]
    + ["PL[W]DI[21]", "C[", "]", "\\", ROOT, "MI[length:0]", "[66]"]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join), st.booleans())
def test_nothing_but_a_sentence_escapes(text: str, headed: bool) -> None:
    try:
        read_sgf(ROOT + text if headed else text)
    except ValueError as error:
        assert str(error)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_spoilt_file_is_read_or_refused(data: st.DataObject) -> None:
    text = (DATA / "sgf" / "money.sgf").read_text()[:1000] + ")"
    start = data.draw(st.integers(0, len(text) - 1))
    end = start + data.draw(st.integers(0, 9))
    try:
        read_sgf(text[:start] + data.draw(st.text(max_size=5)) + text[end:])
    except ValueError as error:
        assert str(error)
