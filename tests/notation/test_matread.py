"""Reading .mat: ten files of many hands, whole matches back again, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation.games import facts, made_up

from nardy.notation.games import read_games
from nardy.notation.matfile import write_match
from nardy.notation.matread import read_mat
from nardy.notation.record import CubeAction, MatchRecord, Roll
from nardy.rules.board import flip, start_board
from nardy.rules.variants import variant

FILES = Path(__file__).parents[1] / "data" / "mat"

# file: players, length, variant; of each game the score before, Crawford, winner, points,
# resigned, rolls, doubles (of any kind)
EXPECTED = {
    "gnubg": (
        ("gnubg", "root"),
        3,
        "short",
        [
            ((0, 0), False, 1, 1, False, 8, 1),
            ((0, 1), False, 0, 2, True, 52, 1),
            ((2, 1), True, 1, 1, False, 51, 0),
        ],
    ),
    "gnubg-money": (
        ("gnubg", "root"),
        0,
        "short",
        [((0, 0), False, 0, 2, False, 42, 2), ((2, 0), False, 0, 2, False, 31, 2)],
    ),
    "xg": (
        ("Anna", "XG-Expert"),
        5,
        "short",
        [((0, 0), False, 1, 2, True, 46, 1), ((0, 2), False, 0, 4, False, 91, 1)],
    ),
    "xg-money": (
        ("Boris", "Anna"),
        0,
        "short",
        [((0, 0), False, 1, 32, True, 10, 5), ((0, 32), False, 0, 2, False, 31, 2)],
    ),
    "jellyfish": (
        ("Jellyfish", "Guest"),
        7,
        "short",
        [((0, 0), False, 1, 1, False, 28, 1), ((0, 1), False, 0, 2, False, 48, 2)],
    ),
    "fibs": (("anna_p", "boris_k"), 1, "short", [((0, 0), False, 1, 1, False, 41, 0)]),
    "gridgammon": (
        ("grid anna", "b.k"),
        7,
        "short",
        [((2, 1), False, 0, 2, True, 40, 1), ((4, 1), False, 0, 1, False, 17, 1)],
    ),
    "gamesgrid": (
        ("anna", "boris"),
        3,
        "short",
        [((0, 1), False, 1, 1, False, 26, 1), ((0, 2), True, 1, 2, True, 30, 0)],
    ),
    "nack": (("a", "b"), 1, "nack", [((0, 0), False, 0, 1, False, 61, 0)]),
    "broken-off": (("odd   name", "other"), 0, "short", [((0, 0), False, None, 0, False, 26, 1)]),
}


def read(name: str) -> MatchRecord:
    return read_mat((FILES / f"{name}.mat").read_text(encoding="utf-8"))


def test_every_file_is_expected() -> None:
    assert sorted(path.stem for path in FILES.glob("*.mat")) == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_files_of_many_hands(name: str) -> None:
    match = read(name)
    games = [
        (
            game.score,
            game.crawford,
            game.winner,
            game.points,
            game.resigned,
            sum(isinstance(action, Roll) for action in game.actions),
            sum(
                isinstance(action, CubeAction) and action.deed not in ("take", "drop")
                for action in game.actions
            ),
        )
        for game in match.games
    ]
    assert (match.players, match.length, match.variant.name, games) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_the_boards_of_a_record_follow_each_other(name: str) -> None:
    match = read(name)
    for game in match.games:
        board, mover = start_board(match.variant), game.actions[0].player
        for action in game.actions:
            on_roll = action.player if isinstance(action, Roll) else action.on_roll
            assert on_roll == mover
            np.testing.assert_array_equal(action.board, board)
            if isinstance(action, Roll) and action.after is not None:
                board, mover = flip(action.after), 1 - mover


@pytest.mark.parametrize("name", EXPECTED)
def test_files_are_written_again(name: str) -> None:
    match = read(name)
    assert facts(read_mat(write_match(match))) == facts(match)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from((0, 1, 3, 7)), st.sampled_from(("short", "hyper")))
def test_whole_matches_go_round(seed: int, length: int, name: str) -> None:
    match = made_up(seed, length, variant(name), jacoby=length == 0 and seed % 2 == 1)
    again = read_mat(write_match(match))
    assert facts(again) == facts(match)
    assert (again.jacoby, again.players) == (match.jacoby, match.players)


def test_beavers_and_raccoons() -> None:
    game = read("xg-money").games[0]
    turns = [a for a in game.actions if isinstance(a, CubeAction)]
    assert [(a.player, a.deed, a.cube, a.offered, a.owner) for a in turns] == [
        (1, "double", 1, 2, None),
        (0, "beaver", 2, 4, 0),
        (1, "raccoon", 4, 8, 0),
        (0, "take", 4, 8, 0),
        (0, "double", 8, 16, 0),
        (1, "beaver", 16, 32, 1),
        (0, "take", 16, 32, 1),  # without a word, by rolling
    ]
    last = game.actions[-1]
    assert isinstance(last, Roll) and last.after is None
    assert (last.dice.tolist(), last.cube, last.owner) == ([5, 5], 32, 1)


def test_the_score_an_action_was_played_for() -> None:
    match = read("gnubg")
    game = match.games[2]
    scores = [match.score(game, action) for action in game.actions[:2]]
    assert {score.away for score in scores} == {(1, 2), (2, 1)}
    assert all(score.crawford and score.length == 3 for score in scores)
    money = read("gnubg-money")
    take = next(a for a in money.games[0].actions if isinstance(a, CubeAction) and a.deed == "take")
    after = money.games[0].actions[money.games[0].actions.index(take) + 1]
    assert money.score(money.games[0], take).owner == "centre"
    assert (after.player, after.cube, after.owner) == (1 - take.player, 2, take.player)
    assert money.score(money.games[0], after).owner == "theirs"


@pytest.mark.parametrize("name", EXPECTED)
def test_every_action_has_a_score(name: str) -> None:
    match = read(name)
    for game in match.games:
        for action in game.actions:
            score = match.score(game, action)
            assert score.cube == action.cube
            assert (score.owner == "mine") == (action.owner == action.player)
            assert score.money == (match.length == 0)


HEAD = " 5 point match\n\n Game 1\n anna : 0                       boris : 0\n"


def one(rows: str, head: str = HEAD) -> MatchRecord:
    return read_mat(head + rows)


def test_tags_and_comments() -> None:
    text = (
        '\ufeff; [Event "Club"]\n# a note\n; [Crawford "Off"]\n 3 point match\n; more\n Game 1\n'
        ' a : 2   b : 0\n; [EventDate "2020.01.02"]\n  1) 31: 8/5 6/5   42: 8/4 6/4 ; good\n'
    )
    match = read_mat(text)
    assert match.tags == {"Event": "Club", "Crawford": "Off", "EventDate": "2020.01.02"}
    assert not match.crawford and not match.games[0].crawford
    assert len(match.games[0].actions) == 2
    assert read_mat(text.replace("Off", "On")).games[0].crawford
    assert not read_mat(write_match(match)).games[0].crawford


def test_a_cube_turned_shows_that_crawford_is_past() -> None:
    head = HEAD.replace("boris : 0", "boris : 4")
    rows = "  1) 31: 8/5 6/5               42: 8/4 6/4\n  2)  Doubles => 2   Drops\n"
    assert not one(rows, head).games[0].crawford
    assert one("  1) 31: 8/5 6/5\n", head).games[0].crawford


def test_a_lone_cell_belongs_to_its_column() -> None:
    left, right = one("  1) 31: 8/5 6/5\n"), one("  1)                 31: 8/5 6/5\n")
    assert [match.games[0].actions[0].player for match in (left, right)] == [0, 1]


def test_a_roll_without_a_play() -> None:
    """One result: it is played. Several, or ????: the game ended there."""
    stuck = one("  1) 31: 8/5 6/5               42:\n      Wins 1 point\n").games[0]
    assert isinstance(stuck.actions[1], Roll) and stuck.actions[1].after is None
    assert (stuck.winner, stuck.points, stuck.resigned) == (0, 1, True)
    forced = one("  1) 31: ????\n                                Wins 2 points\n").games[0]
    assert (forced.winner, forced.points, len(forced.actions)) == (1, 2, 1)


def test_gammons_pay_single_by_jacoby_while_the_cube_lies_in_the_middle() -> None:
    """Where the file does not say how much was won."""
    game = next(
        game
        for seed in range(100)
        for game in made_up(seed, 0, variant("hyper")).games
        if game.points > 1
        and all(a.owner is None and a.cube == 1 for a in game.actions)
        and not game.resigned
    )
    match = MatchRecord(("a", "b"), 0, variant("hyper"), [game], jacoby=True)
    text = write_match(match).partition("      Wins")[0]
    assert read_mat(text).games[0].points == 1
    assert read_mat(text.replace('Jacoby "On"', 'Jacoby "Off"')).games[0].points == game.points


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "what is played to"),
        (" Game 1\n a : 0  b : 0\n", "what is played to"),
        (" 5 point match\n", "no game in it"),
        (" 5 point match\n Game 1\n", "both players"),
        (" 5 point match\n Game 1\n a 0   b 0\n", "line 2: after 'Game 1' come both players"),
        ('; [Variation "Acey"]\n' + HEAD, "'Acey'"),
        (HEAD + "; Set Pos=-b----E-C---eE---c-e----B-/0\n", "line 5 sets up a position"),
        (HEAD + "  1) 31: 8/5 6/5   42: 8/4 6/4   21: 6/4 6/5\n", "line 5.*a row has one or two"),
        (HEAD + "  1) hello\n", "line 5, '1\\) hello'"),
        (HEAD + "  1) 31: 8/2 6/5\n", "8/2 is 6 pips, which 3-1 does not give"),
        (HEAD + "  1) 31: hop\n", "cannot read 'hop'"),
        (HEAD + "  1) 31: 8/5 6/5\n  2) 42: 8/4 6/4\n", "line 6.*the other player's turn"),
        (HEAD + "  1) 31: 8/5 6/5    Takes\n", "no double for the take"),
        (HEAD + "  1) 31: 8/5 6/5    Doubles => 2\n  2) 42: 8/4 6/4\n", "waits for its answer"),
        (HEAD + "  1) 31: 8/5 6/5    Doubles => 2\n  2) Raccoons\n", "does not answer a double"),
        (HEAD + "  1) 31:   42: 8/4 6/4\n", "the roll 3-1 before was not played"),
        (HEAD + "  1) 31: 8/5 6/5   Doubles => 2\n  2) Drops\n  3) 31: 8/5 6/5\n", "over already"),
        (HEAD + "  1) 31: 8/5 6/5\n      Wins\n", "needs the points"),
        (HEAD + "      Wins 1\n      Wins 1\n", "over already"),
    ],
)
def test_refused_in_one_sentence(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as refusal:
        read_mat(text)
    assert "\n" not in str(refusal.value)


def test_the_cube_is_its_owners() -> None:
    rows = (
        "  1) 31: 8/5 6/5                Doubles => 2\n"
        "  2)  Takes                     42: 8/4 6/4\n"
        "  3) 31: 6/5 8/5                Doubles => 4\n"
    )
    with pytest.raises(ValueError, match="the cube is the other's"):
        one(rows)


PIECES = st.sampled_from(
    [
        "31:",
        "66:",
        " 8/5",
        " 6/5*",
        " bar/20",
        "Doubles => 2",
        " Takes",
        "Drops",
        "Beavers",
        "Wins 2",
    ]
    + ["\n", "  1) ", " Game 2\n", " a : 0   b : 1\n", "????", "     ", "13/7(2)", "off", "\t", ";"]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join), st.booleans())
def test_nothing_but_a_sentence_escapes(text: str, headed: bool) -> None:
    try:
        read_mat(HEAD + text if headed else text)
    except ValueError as error:
        assert str(error)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_spoilt_file_is_read_or_refused(data: st.DataObject) -> None:
    text = (FILES / "xg-money.mat").read_text().partition(" Game 2")[0]
    start = data.draw(st.integers(0, len(text) - 1))
    end = start + data.draw(st.integers(0, 9))
    try:
        read_mat(text[:start] + data.draw(st.text(max_size=5)) + text[end:])
    except ValueError as error:
        assert str(error)


def test_bear_offs_end_games_for_the_winner_on_the_board() -> None:
    """A 'Wins' in the wrong column is corrected by the board."""
    game = read("nack").games[0]
    last = game.actions[-1]
    assert isinstance(last, Roll) and last.after is not None
    assert (last.after > 0).sum() == 0 and last.player == game.winner


def test_a_score_that_ends_the_match_is_refused() -> None:
    text = (FILES / "gnubg.mat").read_text().replace("gnubg : 0 ", "gnubg : 3 ", 1)
    with pytest.raises(ValueError, match="line 6: at 3-0 a match to 3 is over"):
        read_mat(text)


def test_files_of_every_encoding_are_read(tmp_path: Path) -> None:
    """Byte order marks, Windows' letters (85 is a line's end in Latin-1), spaces of web pages."""
    plain = (FILES / "gnubg.mat").read_text()
    named = plain.replace("gnubg :", "Jos\u00e9\u2026 :")
    rows = [len(game.actions) for game in read_mat(plain).games]
    for text, encoding, name in (
        (named, "cp1252", "Jos\u00e9\u2026"),
        (named, "utf-8-sig", "Jos\u00e9\u2026"),
        (named, "utf-16", "Jos\u00e9\u2026"),
        (plain.replace("  1) ", "\u00a0 1)\u00a0").replace("\n", "\r\n"), "utf-8", "gnubg"),
    ):
        path = tmp_path / "match.mat"
        path.write_bytes(text.encode(encoding))
        match = read_games(path)
        assert match.players == (name, "root"), encoding
        assert [len(game.actions) for game in match.games] == rows, encoding
