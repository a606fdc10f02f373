"""The cube in play: Player.cube, plays ranked at a score, many positions at once."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from random_nets import play_out
from slow_cube import cube_choices, near_equities

from nardy.cli import main
from nardy.match.janowski import cube_actions, cube_values, efficiency, normalised, payoffs, window
from nardy.match.met import MatchEquity, default_table
from nardy.match.score import Score, match_score
from nardy.net.net import Net
from nardy.notation.state import MatchState, Position
from nardy.notation.xgid import format as xgid_of
from nardy.play.cubeful import (
    NEAR,
    after_equities,
    after_values,
    cube_values_at,
)
from nardy.play.player import Player
from nardy.play.search import Search
from nardy.rules.batch import afterstates
from nardy.rules.board import flip, make_board, start_board
from nardy.rules.variants import variant

SHORT = variant("short")
POINTS = np.array(SHORT.outcomes)
SCORES = (
    Score(),
    Score(cube=2, owner="mine"),
    Score(cube=4, owner="theirs"),
    Score(jacoby=True),
    Score(beavers=True),
    match_score(7, 3, 2),
    match_score(7, 6, 2, crawford=True),
    match_score(7, 6, 2),
    match_score(7, 2, 6),
    Score((3, 2), 7, False, 2, "theirs"),
    match_score(1),
)


@pytest.fixture(scope="module")
def some() -> tuple[np.ndarray, np.ndarray, list[Score]]:
    """Boards, chances and scores, 110 of each."""
    boards = play_out(SHORT, 11, 10)[0]
    chances = np.random.default_rng(1).dirichlet(np.ones(6), len(boards))
    return boards, chances, [SCORES[i % len(SCORES)] for i in range(len(boards))]


def roll(*dice: int) -> np.ndarray:
    return np.array(dice, np.uint8)


# ---------------------------------------------------------------- many at once


def test_groups_are_the_formula_one_by_one(some) -> None:
    boards, chances, scores = some
    values = cube_values_at(boards, chances, scores)
    double, take = cube_choices(boards, chances, scores)
    for i, (board, score) in enumerate(zip(boards, scores, strict=True)):
        one = cube_values(chances[i : i + 1], score, efficiency(board))
        actions = cube_actions(one, score)
        np.testing.assert_allclose([v[i] for v in values], [v[0] for v in one])
        assert double[i] == (score.may_double and actions.double[0])
        assert take[i] == actions.take[0]
    assert double.any() and not double.all() and take.any() and not take.all()


def test_an_afterstate_is_what_the_other_side_leaves(some) -> None:
    """His value before his double, turned round; a game that is over pays what it pays."""
    boards, chances, scores = some
    values = after_values(boards, chances, scores)
    for i, score in enumerate(scores):
        theirs = cube_values(
            chances[i : i + 1, ::-1], score.flip(), efficiency(flip(boards[i]))
        ).best[0]
        assert values[i] == pytest.approx(-theirs if score.money else 1 - theirs)
    over = make_board({}, {3: 2, 25: 1})
    for score in SCORES:
        for k in range(6):
            chance = np.eye(6)[k : k + 1]
            value = after_values(over[None], chance, [score])[0]
            assert value == pytest.approx(payoffs(score)[0, k]), (score, k)


def test_equities_put_a_single_game_at_one(some) -> None:
    boards, chances, scores = some
    equities, values = after_equities(boards, chances, scores), after_values(*some)
    for i, score in enumerate(scores):
        assert equities[i] == pytest.approx(float(normalised(values[i], score)))


def test_near_equities_find_the_best_play(some) -> None:
    """Against every play priced: the same best one, and a part of the work."""
    boards, dice, _ = play_out(SHORT, 12, 8)
    results = afterstates(boards, dice, SHORT)
    counts = np.diff(results.offsets)
    owners = np.repeat(np.arange(len(boards)), counts)
    rng = np.random.default_rng(2)
    base = rng.dirichlet(np.full(6, 3.0), len(boards))[owners]
    chances = 0.8 * base + 0.2 * rng.dirichlet(np.ones(6), len(owners))  # plays of a board alike
    scores = [SCORES[owner % len(SCORES)] for owner in owners]
    whole = after_equities(results.boards, chances, scores)
    near = near_equities(results.boards, chances, scores, owners)
    priced = np.isfinite(near)
    assert (near[priced] == whole[priced]).all() and priced.mean() < 0.8
    best = [np.maximum.reduceat(values, results.offsets[:-1]) for values in (whole, near)]
    assert (best[0] - best[1] < NEAR).all() and (best[0] == best[1]).mean() > 0.95


# ---------------------------------------------------------------- the player


@pytest.mark.parametrize("ply", [0, 1])
@pytest.mark.parametrize("score", SCORES, ids=str)
def test_plays_are_ranked_with_the_cube(net: Net, score: Score, ply: int) -> None:
    board, dice = make_board({13: 1, 8: 1, 2: 2}, {20: 2, 6: 1}), roll(4, 2)
    plays = Player(net, ply, tables=False).best(board, dice, score=score)
    deep = [play for play in plays if play.ply == ply]
    for play in deep:
        worth = after_equities(play.board[None], play.chances[None], [score])[0]
        assert play.cubeful == pytest.approx(worth, abs=1e-5)
        assert play.equity == pytest.approx(float(play.chances @ POINTS), abs=1e-5)
    cubeful = [play.cubeful for play in deep]
    assert cubeful == sorted(cubeful, reverse=True)
    assert {play.text for play in plays} == {p.text for p in Player(net).best(board, dice)}


def test_without_a_score_nothing_is_cubeful(net: Net) -> None:
    plays = Player(net).best(start_board(SHORT), roll(3, 1))
    assert all(play.cubeful is None for play in plays)


def test_at_double_match_point_wins_alone_count(net: Net) -> None:
    """Gammons are worth nothing, so the play of most wins is the best (K17)."""
    plays = Player(net).best(start_board(SHORT), roll(6, 4), score=match_score(1))
    wins = [float(play.chances[3:].sum()) for play in plays]
    assert wins == sorted(wins, reverse=True)
    for play, win in zip(plays, wins, strict=True):
        assert play.cubeful == pytest.approx(2 * win - 1, abs=1e-5)


def test_search_in_bulk_ranks_as_one_by_one(net: Net) -> None:
    boards, dice, _ = play_out(SHORT, 6, 5)
    results, search = afterstates(boards, dice, SHORT), Search(net, 0)
    owners = np.repeat(np.arange(len(boards)), np.diff(results.offsets))
    scores = [SCORES[i % len(SCORES)] for i in range(len(boards))]

    def worth(rows: np.ndarray, chances: np.ndarray) -> np.ndarray:
        return after_equities(results.boards[rows], chances, [scores[i] for i in owners[rows]])

    rows = search.best(boards, results, worth)
    for i in range(len(boards)):
        ranked = Player(net, tables=False).best(boards[i], dice[i], score=scores[i])
        assert np.array_equal(results.boards[rows[i]], ranked[0].board)


@pytest.mark.parametrize("ply", [0, 1])
def test_cube_decisions_are_the_formula_on_the_searched_chances(net: Net, ply: int) -> None:
    board = make_board({8: 3, 6: 4, 3: 2, 1: 1}, {20: 2, 6: 5, 4: 2})
    search = Search(net, ply)
    chances = search.chances(flip(board[None]), ply)[0, ::-1].astype(float)
    for score in SCORES:
        decision = Player(net, ply, tables=False).cube(board, score)
        np.testing.assert_allclose(decision.chances, chances, atol=1e-6)
        values = cube_values(chances[None], score, efficiency(board))
        for ours, raw, formula in zip(decision.equities, decision.values, values, strict=True):
            assert (ours is None) == bool(np.isnan(formula[0]))
            if ours is not None:
                assert raw == pytest.approx(formula[0], abs=1e-5)
                assert ours == pytest.approx(float(normalised(formula[0], score)), abs=1e-4)
        actions = cube_actions(values, score)
        assert decision.verdict == actions.verdict[0] and decision.take == actions.take[0]
        np.testing.assert_allclose(
            [w or 0 for w in decision.window],
            [w or 0 for w in window(chances, score, float(efficiency(board)))],
            atol=1e-4,
        )


def test_a_position_brings_its_score(net: Net) -> None:
    board, player = start_board(SHORT), Player(net)
    state = MatchState(length=5, points=(2, 4), cube=2, owner=1)
    one, other = player.cube(Position(board, state)), player.cube(board, state.score)
    assert (one.equities, one.verdict, one.score) == (other.equities, other.verdict, state.score)
    assert player.cube(board).score == Score()
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:2:4:0:5:10"
    assert player.cube(xgid).score == match_score(5, 2, 4)


def test_a_decision_says_what_it_is(net: Net) -> None:
    found = Player(net).cube(start_board(SHORT))
    stay, taken, passed, _ = found.equities
    assert repr(found) == (
        f"<{found.verdict}: no double {stay:+.4f}, double take {taken:+.4f}, "
        f"double pass {passed:+.4f}, 0-ply>"
    )


def test_nobody_doubles_after_the_roll_nor_out_of_turn(net: Net) -> None:
    board, player = start_board(SHORT), Player(net)
    with pytest.raises(ValueError, match="no double now: 3-1 has been rolled"):
        player.cube(Position(board, MatchState(dice=(3, 1))))
    for score in (Score(cube=2, owner="theirs"), match_score(5, 4, 0, crawford=True)):
        decision = player.cube(board, score)
        assert decision.verdict.startswith("no cube") and not decision.double
        assert decision.equities[1:] == (None, None, None)


def test_games_without_the_cube_are_refused(net: Net) -> None:
    other = Player(replace(net, variant=variant("short", cube="off")), tables=False)
    for ask in (other.cube, lambda board: other.best(board, [3, 1], score=Score())):
        with pytest.raises(ValueError, match="^short is played without the cube$"):
            ask(start_board(SHORT))


# ---------------------------------------------------------------- command line


def test_nardy_cube(net_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = xgid_of(Position(start_board(SHORT), MatchState(length=7, points=(2, 4))))
    asked = ["--net", str(net_folder), "--xgid", text]
    assert main(["cube", *asked]) == 0
    printed = capsys.readouterr().out
    assert main(["cube", *asked, "--json", "--ply", "1"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["ply"] == 1 and answer["away"] == [3, 5]
    assert set(answer["equities"]) == {"no_double", "double_take", "double_pass", "double_beaver"}
    expected = Player(net_folder).cube(start_board(SHORT), match_score(7, 4, 2))
    for name, equity in zip(("no double", "double, take"), expected.equities, strict=False):
        assert f"{name:16}{equity:+.4f}" in printed
    assert f"verdict         {expected.verdict}" in printed and "window" in printed


def test_nardy_cube_takes_the_options_of_money_play(
    net_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = xgid_of(Position(start_board(SHORT)))
    asked = ["cube", "--net", str(net_folder), "--xgid", text]
    options = ["--jacoby", "--beavers", "--stake-cap", "3"]
    assert main([*asked, *options]) == 0
    assert "; Jacoby; beavers; at most 3 points\n" in capsys.readouterr().out
    told = xgid_of(Position(start_board(SHORT), MatchState(jacoby=True)))
    assert main([*asked[:-1], told, *options]) == 0  # what the position tells is said once
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "X is on roll; money, Jacoby; cube 1; beavers; at most 3 points"
    assert main([*asked, *options, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    score = Score(jacoby=True, beavers=True, stake_cap=3)
    expected = Player(net_folder).cube(start_board(SHORT), score)
    assert answer["equities"] == pytest.approx(expected.equities._asdict())
    assert (answer["jacoby"], answer["beavers"], answer["stake_cap"]) == (True, True, 3)
    in_a_match = xgid_of(Position(start_board(SHORT), MatchState(length=7)))
    assert main([*asked[:-1], in_a_match, "--jacoby"]) == 2
    said = "nardy: jacoby is an option of money play, not of matches\n"
    assert capsys.readouterr().err == said


def test_nardy_cube_says_why_there_is_no_cube(
    net_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawford = MatchState(length=5, points=(2, 4), crawford=True)
    text = xgid_of(Position(start_board(SHORT), crawford))
    assert main(["cube", "--net", str(net_folder), "--xgid", text]) == 0
    assert "no cube: this is the Crawford game" in capsys.readouterr().out
    rolled = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:3:0:10"
    assert main(["cube", "--net", str(net_folder), "--xgid", rolled]) == 2
    assert "has been rolled" in capsys.readouterr().err


def test_nardy_met(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["met", "--length", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7 and lines[2].split() == [
        "1", *(f"{100 * v:.1f}" for v in default_table().before[0, :3]),
    ]  # fmt: skip
    file = tmp_path / "met.xml"
    assert main(["met", "--to", str(file)]) == 0
    np.testing.assert_allclose(MatchEquity.load(file).before, default_table().before, atol=1e-6)
    capsys.readouterr()
    assert main(["met", "--table", str(file), "--length", "99"]) == 2
    assert capsys.readouterr().err == "nardy: length must be 1 to 25, not 99\n"


@pytest.mark.parametrize("ply", [0, 1])
def test_a_net_without_numbers_is_named_with_the_cube_too(net: Net, ply: int) -> None:
    """The formula would take what is no number for a certain loss."""
    tails = [[*tail[:-1], (tail[-1][0], np.full(6, np.nan, np.float32))] for tail in net.tails]
    broken = Net.build(net.variant, net.table, net.bias, tails)
    board, dice = start_board(SHORT)[None], roll(3, 1)[None]
    results = afterstates(board, dice, SHORT)
    owners = np.zeros(len(results.boards), np.int64)

    def worth(rows: np.ndarray, chances: np.ndarray) -> np.ndarray:
        return near_equities(results.boards[rows], chances, [Score()] * len(rows), owners[rows])

    with pytest.raises(ValueError, match="values that are not numbers"):
        Search(broken, ply).best(board, results, worth)
