"""Nardgammon, long nardy with the cube, and games by other rules than a net has learnt."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from random_nets import make_net, play_out

from nardy.cli import main
from nardy.match.janowski import cube_actions, cube_values, efficiency, normalised
from nardy.match.score import Score, match_score
from nardy.net.features import phases_of
from nardy.net.net import Net
from nardy.notation.points import from_points
from nardy.play.bearoff import Bearoff
from nardy.play.cubeful import check_game, check_learnt, columns_of, six
from nardy.play.nets import find_net, load_by_rules
from nardy.play.player import Player
from nardy.play.search import Search
from nardy.play.terminal import play
from nardy.rules.board import make_board, start_board, turn
from nardy.rules.variants import variant
from train.net_folder import write_net

GAME = variant("nardgammon")
LONG = variant("long")
FAMILY = GAME.family
SCORES = (Score(), Score(cube=2, owner="mine"), match_score(5, 3, 1), match_score(7, 6, 3, True))


@pytest.fixture(scope="module")
def net() -> Net:
    return make_net(12, (8,), game=GAME)


def saved(net: Net, folder: Path) -> Path:
    folder.mkdir(parents=True)
    write_net(folder, net, {})
    return folder


# ---------------------------------------------------------------- the cube


def test_four_outcomes_are_six_of_which_two_never_come() -> None:
    given = np.array([[0.1, 0.2, 0.3, 0.4]])
    assert six(given, GAME).tolist() == [[0, 0.1, 0.2, 0.3, 0.4, 0]]
    assert columns_of(GAME) == [1, 2, 3, 4]
    assert columns_of(variant("short")) == list(range(6))


@pytest.mark.parametrize(
    ("mover", "enemy", "expected"),
    [
        ({24: 15}, {24: 15}, 0.68),
        ({13: 1, 6: 14}, {6: 15}, 0.68),  # one has still to come through the other's home
        ({6: 15}, {13: 1, 6: 14}, 0.68),
        ({12: 15}, {12: 15}, 0.7),  # 0.55 + 0.00125 · 180 = 0.775, at most 0.7
        ({8: 4, 6: 8}, {12: 1, 6: 14}, 0.65),  # 80 pips
        ({7: 1, 1: 14}, {6: 15}, 0.6),  # 21 pips, at least 0.6
        ({6: 15}, {6: 15}, 0.6),
    ],
)
def test_the_efficiency_of_long_nardy(mover, enemy, expected) -> None:  # type: ignore[no-untyped-def]
    assert efficiency(make_board(mover, enemy, FAMILY), FAMILY) == pytest.approx(expected)


def test_what_is_no_race_to_the_net_is_contact_to_the_cube() -> None:
    boards, _, _ = play_out(LONG, games=10, turns=160)
    contact = efficiency(boards, FAMILY) == 0.68
    assert (contact == (phases_of(boards, 2, FAMILY) == 0)).all()
    assert 0 < contact.sum() < len(boards)
    theirs = efficiency(turn(boards, FAMILY), FAMILY)
    assert (contact == (theirs == 0.68)).all()


@pytest.mark.parametrize("score", SCORES)
def test_a_decision_is_the_formula_on_the_nets_chances(net: Net, score: Score) -> None:
    boards, _, _ = play_out(LONG, games=2, turns=90)
    player, search = Player(net, tables=False), Search(net, 0)
    for board in boards[::25]:
        chances = np.concatenate([[0], search.before_roll(board[None])[0], [0]])
        values = cube_values(chances[None], score, efficiency(board, FAMILY))
        found = player.cube(board, score)
        np.testing.assert_allclose(found.chances, chances, atol=1e-6)
        assert found.values.no_double == pytest.approx(float(values.no_double[0]), abs=1e-5)
        assert found.verdict == cube_actions(values, score).verdict[0]
        assert (found.values.double_take is None) == (not score.may_double)


@pytest.mark.parametrize("score", SCORES)
def test_plays_are_ranked_with_the_cube(net: Net, score: Score) -> None:
    boards, dice, _ = play_out(LONG, games=2, turns=90)
    player = Player(net, tables=False)
    for board, thrown in zip(boards[7::30], dice[7::30], strict=True):
        ranked = player.best(board, thrown, score=score)
        for ranking in ranked:
            turned = turn(ranking.board, FAMILY)
            theirs = six(ranking.chances[::-1], GAME)
            best = cube_values(theirs[None], score.flip(), efficiency(turned, FAMILY)).best[0]
            worth = float(normalised(-best if score.money else 1 - best, score))
            assert ranking.cubeful == pytest.approx(worth, abs=1e-5)
        cubeful = [ranking.cubeful for ranking in ranked]
        assert cubeful == sorted(cubeful, reverse=True)


def test_the_two_sided_table_prices_its_cube(net: Net) -> None:
    """No mars is possible in it, so that a race is worth what it is in the short game."""
    sides = {6: 2, 3: 1}, {5: 2, 2: 1}
    found = Player(net).cube(make_board(*sides, FAMILY))
    known = Bearoff.load(variant("short")).equities(make_board(*sides)[None])[0]
    assert found.values.no_double == pytest.approx(known[1], abs=1e-6)
    assert found.values.double_take == pytest.approx(2 * known[3], abs=1e-6)


def test_what_has_no_cube_is_refused(net: Net) -> None:
    with pytest.raises(ValueError, match="^long is played without the cube$"):
        check_game(LONG)
    with pytest.raises(ValueError, match="^the cube's formula knows no draws, as nardgammon has"):
        check_game(variant("nardgammon", last_roll="second_player"))
    with pytest.raises(ValueError, match="^the cube is learnt of short nardy, not of nardgammon$"):
        check_learnt(GAME)
    check_game(GAME)
    with pytest.raises(ValueError, match="^long is played without the cube$"):
        Player(make_net(12, (8,), game=LONG)).cube(start_board(LONG))


# ---------------------------------------------------------------- the terminal and the commands


def test_a_match_in_the_terminal(net: Net) -> None:
    shown: list[str] = []

    def answers() -> Iterator[str]:
        yield from ("hint", "1", "hint", "double")
        while True:
            yield from ("take", "roll", "hint", "1", "y")

    given = answers()

    def ask(prompt: str) -> str:
        shown.append(prompt + next(given))
        assert len(shown) < 20_000
        return shown[-1][len(prompt) :]

    play(Player(net), 4, ask, shown.append, match_score(3))
    text = "\n".join(shown)
    assert "with the cube" in text and "verdict" in text and "the match." in shown[-2]
    # two heads in every picture, 24 and 12; before the roll too
    boards = [line for line in shown if line.startswith("+13-14")]
    assert boards and any("your turn" in line for line in boards)
    assert all("BAR" not in line for line in boards)


def test_a_net_of_long_nardy_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long_net = make_net(12, (8,), game=LONG)
    folder = saved(long_net, tmp_path / "checkpoints/one")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NARDY_NET", raising=False)
    assert find_net(game="nardgammon").resolve() == folder
    loaded = load_by_rules(folder, "nardgammon", {})
    assert loaded.variant == GAME
    start = start_board(GAME)[None]
    np.testing.assert_array_equal(loaded.outcomes(start), long_net.outcomes(start))
    asked = ["cube", "--variant", "nardgammon", "--position", "24:15 24:15", "--json"]
    assert main(asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["variant"] == "nardgammon" and found["win_backgammon"] == 0
    assert found["cubeless"] == pytest.approx(
        float(long_net.outcomes(start)[0] @ np.array(LONG.outcomes)), abs=1e-5
    )
    saved(make_net(12, (8,), seed=2, game=GAME), tmp_path / "checkpoints/two")
    assert find_net(game="nardgammon").name == "two"


def test_long_nardy_has_no_cube_to_ask_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = saved(make_net(12, (8,), game=LONG), tmp_path / "long")
    for command in (
        ["cube", "--position", "24:15 24:15"],
        ["play", "--match", "3"],
        ["play", "--money"],
    ):
        assert main([*command, "--net", str(folder)]) == 2
        assert capsys.readouterr().err == "nardy: long is played without the cube\n"


# ---------------------------------------------------------------- other rules


SIX = "23:1,6:1,5:2,4:1,2:1,1:9 24:14,1:1"
"""6-2 may make six in a row, 23/17 5/3, if one enemy checker ahead is enough."""


def test_a_net_plays_by_another_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = saved(make_net(12, (8,), game=LONG), tmp_path / "long")
    asked = ["move", "--net", str(folder), "--position", SIX, "--dice", "62", "--json"]

    def moves(*more: str) -> set[str]:
        assert main([*asked, *more]) == 0
        return {play["move"] for play in json.loads(capsys.readouterr().out)["plays"]}

    assert moves() - moves("--rule", "prime_rule=forbid") == {"23/17 5/3"}
    assert moves("--rule", "prime_rule=allow", "--rule", "prime_check=end_of_turn") == moves()


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("prime_rule=often", "prime_rule must be one of front_checker_ahead, forbid"),
        ("gravity=off", "unknown option 'gravity'; known are opening, cube"),
        ("prime_rule", "a rule has the form name=value, not 'prime_rule'"),
        ("last_roll=second_player", "plays long, not long last_roll=second_player"),
    ],
)
def test_a_rule_that_cannot_be(
    rule: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = saved(make_net(12, (8,), game=LONG), tmp_path / "long")
    asked = ["move", "--net", str(folder), "--position", SIX, "--dice", "62"]
    assert main([*asked, "--rule", rule]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_the_nets_own_rules_stay_where_none_is_named(tmp_path: Path) -> None:
    game = variant("long", start={6: 3, 5: 2}, prime_rule="forbid", opening="reroll")
    folder = saved(make_net(12, (8,), game=game), tmp_path / "ends")
    assert load_by_rules(folder, None, {}).variant == game
    other = load_by_rules(folder, "long", {"prime_rule": "allow"}).variant
    assert other == variant("long", start={6: 3, 5: 2}, prime_rule="allow", opening="reroll")
    with pytest.raises(ValueError, match="ends' plays long, not nardgammon$"):
        load_by_rules(folder, "nardgammon", {})


def test_a_position_that_says_who_began_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--variant", "long", "--position", "24:15 24:15"]) == 0
    drawn = capsys.readouterr().out
    assert main(["show", "--variant", "long", "--position", "25:1,24:15 24:15"]) == 0
    assert capsys.readouterr().out == drawn
    assert from_points("25:1,24:15 24:15", FAMILY)[25] == 1
