"""The cube that players and doors use: exact where the table reaches, else learnt, else formula."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from races import random_boards, slow_equities
from random_heads import make_head
from random_nets import make_net, play_out

from nardy.cli import main
from nardy.match.cube import beaver, double, take
from nardy.match.janowski import cube_actions
from nardy.match.score import Score, match_score
from nardy.net.weights import write_tensors
from nardy.notation.games import games_from_text
from nardy.notation.ids import position_id
from nardy.notation.state import MatchState, Position
from nardy.play.analyze import analyze
from nardy.play.bearoff import Bearoff
from nardy.play.cube_head import FILE, context_of, learned, own_cube
from nardy.play.cubeful import decide, exact, formula, free_resignation, right_reply
from nardy.play.player import Player
from nardy.rules.batch import afterstates
from nardy.rules.board import flip, make_board, start_board
from nardy.rules.variants import variant
from nardy.serve.bot import Bot, Bots
from train.net_folder import write_net

SHORT = variant("short")
NET = make_net(12, seed=4)
HEAD = make_head(NET)
CENTRE, MINE, THEIRS = Score(), Score(cube=2, owner="mine"), Score(cube=2, owner="theirs")


def slow(board: np.ndarray) -> tuple[float, float, float, float]:
    """Of the player on roll, by recursion over all rolls."""
    sides = (board[1:7], flip(board)[1:7])
    return slow_equities(*(tuple(side.tolist()) for side in sides))


def made_up(count: int) -> np.ndarray:
    """Chances that a net might give, float64[N, 6]."""
    return np.random.default_rng(0).dirichlet(np.ones(6), count)


# ---------------------------------------------------------------- the two-sided table


def test_money_values_are_the_tables(tables: Bearoff) -> None:
    """Whatever the net or its head say; with Jacoby and beavers as without."""
    boards = random_boards(3, 40, seed=2)
    known = np.array([slow(board) for board in boards])
    wrong = 0.0
    for score in (CENTRE, MINE, THEIRS, replace(CENTRE, jacoby=True), replace(MINE, beavers=True)):
        found = exact(learned(NET, HEAD), tables)(boards, made_up(40), score)
        column = {"centre": 1, "mine": 2, "theirs": 3}[score.owner]
        np.testing.assert_allclose(found.no_double, score.cube * known[:, column], atol=1e-6)
        plain = formula(boards, tables.outcomes(boards), score)
        wrong = max(wrong, np.abs(plain.no_double - found.no_double).max())
        if score.owner == "theirs":
            assert np.isnan(found.double_take).all()
            continue
        np.testing.assert_allclose(found.double_take, 2 * score.cube * known[:, 3], atol=1e-6)
        np.testing.assert_allclose(found.double_pass, score.cube)
        if score.beavers:
            np.testing.assert_allclose(found.double_beaver, 2 * found.double_take)
        else:
            assert np.isnan(found.double_beaver).all()
    assert wrong > 0.05  # the formula errs, so that this was worth doing


# ---------------------------------------------------------------- what no head can be right about


def test_no_learned_value_leaves_what_the_game_can_pay() -> None:
    """No chance of winning a match above 1, no loss above the bound (K18), whatever the head."""
    boards, chances = play_out(SHORT, 8, 30)[0][-200:], made_up(200)
    bold = replace(HEAD, layers=(HEAD.layers[0], tuple(40 * x for x in HEAD.layers[1])))
    scores = [match_score(5, 3, 1), match_score(25), Score((4, 2), 7, False, 2, "mine")]
    ends = [(0.0, 1.0)] * 3 + [(-3.0, 3.0), (-10.0, 10.0)]
    reached = 0
    for score, (low, high) in zip(
        [*scores, Score(stake_cap=3), Score(stake_cap=10)], ends, strict=True
    ):
        for values in learned(NET, bold)(boards, chances, score)[:2]:
            assert values.min() >= low and values.max() <= high
            reached += int((values == low).sum() + (values == high).sum())
    assert reached > 50  # the bounds had something to do


@pytest.mark.parametrize(
    "score",
    [Score(), Score(cube=4, owner="mine"), Score(cube=2, owner="theirs"), Score(jacoby=True)],
    ids=str,
)
def test_without_gammons_nothing_is_worth_more_than_a_pass(score: Score) -> None:
    """Who may pass a double loses no more than this cube where he loses no gammon: in money play
    the learned cube told 1.015 for `mxmAQ4PbAQAAAA`, from which no gammon can be won."""
    boards, chances = play_out(SHORT, 8, 30)[0][-200:], made_up(200)
    plain = np.zeros_like(chances)
    plain[:, 2], plain[:, 3] = chances[:, :3].sum(1), chances[:, 3:].sum(1)
    for sign in (1, -1):
        bold = replace(HEAD, layers=(HEAD.layers[0], tuple(40 * sign * x for x in HEAD.layers[1])))
        values = learned(NET, bold)(boards, plain, score).no_double
        assert values.min() >= -score.cube and values.max() <= score.cube
        assert (np.abs(values) == score.cube).any()
    values = learned(NET, bold)(boards, chances, replace(score, jacoby=False)).no_double
    assert np.abs(values).max() > score.cube  # with gammons there is more to win and lose


@pytest.mark.parametrize(
    "score",
    [
        match_score(7, 3, 6),  # after the Crawford game: a game lost is the match lost (K17)
        match_score(7, 4, 6),
        Score((3, 2), 7, False, 2, "mine"),
        Score((7, 3), 25, False, 4, "mine"),
    ],
    ids=str,
)
def test_a_double_that_costs_nothing_is_not_held_back(score: Score) -> None:
    """Whatever may be won by waiting may be won with the higher cube too, so that waiting is worth
    no more than a double that is taken; where it is rightly taken a double is never wrong."""
    boards, chances = play_out(SHORT, 8, 30)[0][-200:], made_up(200)
    waits = replace(HEAD, layers=(HEAD.layers[0], tuple(-x for x in HEAD.layers[1])))
    values = learned(NET, waits)(boards, chances, score)
    assert (values.no_double <= values.double_take).all()
    actions = cube_actions(values, score)
    assert actions.take.any() and actions.double[actions.take].all()
    dearer = Score((7, 5), 25, False, 4, "mine")  # a game lost at 8 costs more than one at 4
    values = learned(NET, waits)(boards, chances, dearer)
    assert (values.no_double > values.double_take).any()


@pytest.mark.parametrize(
    "score",
    [
        match_score(5),
        Score(stake_cap=3),
        Score(doubling=False),
        Score(cube=32, owner="mine"),
        Score((3, 2), 5, cube=2, owner="mine"),
    ],
)
def test_elsewhere_the_inner_cube_has_its_say(tables: Bearoff, score: Score) -> None:
    inner = learned(NET, HEAD)
    for boards in (random_boards(3, 10, seed=3), play_out(SHORT, 2, 5)[0]):
        chances = made_up(10)
        for old, new in zip(
            inner(boards, chances, score), exact(inner, tables)(boards, chances, score), strict=True
        ):
            np.testing.assert_array_equal(old, new)


def test_only_positions_that_the_table_has_are_changed(tables: Bearoff) -> None:
    """Among others too, and after the end of a game, when nobody is left to double."""
    over = make_board({1: 2}, {})
    boards = np.array([start_board(SHORT), make_board({2: 1}, {1: 3}), over, flip(over)], np.int8)
    chances, inner = made_up(4), learned(NET, HEAD)
    old, new = inner(boards, chances, CENTRE), exact(inner, tables)(boards, chances, CENTRE)
    assert (np.asarray(old.no_double == new.no_double) == [True, False, True, True]).all()
    assert new.double_take[1] == 2.0 and new.no_double[1] == 1.0


def test_the_player_decides_as_the_table_does() -> None:
    """Plays by cubeful value, doubles and takes, against the recursion."""
    player = Player(NET, head=HEAD)
    for board in random_boards(3, 15, seed=5):
        cubeless, centred, own, theirs = slow(board)
        found = player.cube(board)
        assert found.values.no_double == pytest.approx(centred, abs=1e-6)
        assert found.cubeless == pytest.approx(cubeless, abs=1e-5)
        doubled = min(2 * theirs, 1)
        if abs(doubled - centred) > 1e-5:  # else a double is optional
            assert found.double == (doubled > centred)
        assert found.take == (2 * theirs <= 1)
        dice = np.array([2, 1], np.uint8)
        plays = player.best(board, dice, score=MINE)
        worth = {}
        for after in afterstates(board[None], dice[None], SHORT).boards:
            other = slow(flip(after)) if after.max() > 0 else None
            worth[after.tobytes()] = -other[3] if other else 1.0
        for play in plays:
            assert play.cubeful == pytest.approx(worth[play.board.tobytes()], abs=1e-6)
        assert plays[0].cubeful == max(play.cubeful for play in plays)


# ---------------------------------------------------------------- who uses it


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported net with its cube."""
    to = tmp_path_factory.mktemp("nets")
    write_net(to, NET, {})
    write_tensors(to / FILE, HEAD.tensors())
    return to


def differing() -> np.ndarray:
    """A board, no race, where the formula and the head call for different actions."""
    cube = own_cube(NET, HEAD)
    for board in play_out(SHORT, 40, 20)[0][::9]:
        chances = Player(NET).cube(board).chances
        plain, ours = decide(board, chances, Score()), decide(board, chances, Score(), cube=cube)
        if plain.double != ours.double and plain.take == ours.take:
            return board
    raise AssertionError("no such board")


def test_bots_and_players_use_what_was_learnt(folder: Path) -> None:
    board = differing()
    plain = Player(NET).cube(board)
    wanted = decide(board, plain.chances, Score(), cube=learned(NET, HEAD))
    assert wanted.double != plain.double
    for found in (
        Player(folder).cube(board),
        Player(NET, head=HEAD).cube(board),
        Bot(NET, head=HEAD).cube(board, Score()),
        Bots(NET, head=HEAD).mine().cube(board, Score()),
    ):
        assert found.equities == pytest.approx(wanted.equities, abs=1e-6, nan_ok=True)
        assert found.verdict == wanted.verdict
    position = Position(board, MatchState())
    verb = {True: "double", False: "roll"}
    assert Bot(NET).action(position).verb == verb[plain.double]
    assert Bot(NET, head=HEAD).action(position).verb == verb[wanted.double]
    dice = np.array([3, 1], np.uint8)
    found = [play.cubeful for play in Bot(NET, head=HEAD).plays(board, dice, Score())]
    assert found == [play.cubeful for play in Player(folder).best(board, dice, score=Score())]
    assert found != [play.cubeful for play in Bot(NET).plays(board, dice, Score())]


def test_the_command_uses_what_was_learnt(folder: Path, capsys: pytest.CaptureFixture) -> None:
    board = differing()
    assert main(["cube", "--net", str(folder), "--position", position_id(board)]) == 0
    said = capsys.readouterr().out
    wanted = Player(NET, head=HEAD).cube(board)
    assert f"no double       {wanted.equities.no_double:+.4f}" in said
    assert wanted.verdict in said


def test_analysis_judges_by_what_was_learnt() -> None:
    text = " 7 point match\n\n Game 1\n anna : 0          boris : 0\n"
    text += "  1) 31: 8/5 6/5   52: 24/22 13/8\n  2) 64: 24/14\n"
    match = games_from_text(text)
    judged, plain = analyze(match, NET, head=HEAD), analyze(match, NET)
    cube = learned(NET, HEAD)
    asked = next(decision for decision in judged.decisions if decision.kind == "double")
    chances = Player(NET).cube(asked.board).chances
    wanted = decide(asked.board, chances, asked.score, cube=cube).equities
    worth = [option.equity for option in asked.options]
    assert worth == pytest.approx([wanted.no_double, wanted.double_take, wanted.double_pass])
    first = next(decision for decision in plain.decisions if decision.kind == "double")
    assert worth != pytest.approx([option.equity for option in first.options])


def test_a_head_of_another_net_is_one_sentence() -> None:
    other = make_net(9)
    for make in (Player, Bot):
        with pytest.raises(ValueError, match="sees 12 units, the net's first layer has 9"):
            make(other, head=HEAD)


def test_contexts_say_what_is_played_for() -> None:
    assert context_of(Score(cube=4, owner="theirs", jacoby=True)).tolist() == [0, 1, 4, 0, 0, 0, 1]
    assert context_of(match_score(7, 6, 2, crawford=True)).tolist() == [0, 0, 1, 1, 5, 1, 0]
    assert context_of(match_score(7, 6, 2)).tolist() == [0, 0, 1, 1, 5, 0, 0]
    assert context_of(Score(doubling=False)).tolist() == [0, 0, 1, 0, 0, 1, 0]
    with pytest.raises(ValueError, match="no stake_cap, here 3"):
        context_of(Score(stake_cap=3))


# ---------------------------------------------------------------- replies and resignations


def certain(**chances: float) -> np.ndarray:
    """float64[6] from chances by name."""
    names = ("lose3", "lose2", "lose1", "win1", "win2", "win3")
    return np.array([chances.get(name, 0.0) for name in names])


def test_replies_are_those_of_the_decision() -> None:
    """Beavers included, at every chance of winning."""
    board, seen = start_board(SHORT), set()
    for score in (Score(), Score(beavers=True), Score((3, 5), 7), replace(MINE, beavers=True)):
        for wins in np.linspace(0.05, 0.95, 19):
            chances = certain(win1=wins, lose1=1 - wins)
            found = decide(board, chances, score)
            wanted = "beaver" if found.beaver else "take" if found.take else "pass"
            assert right_reply(board, chances, double(score)) == wanted
            seen.add(wanted)
    assert seen == {"take", "pass", "beaver"}


@pytest.mark.parametrize(("wins", "reply"), [(0.7, "raccoon"), (0.45, "take"), (0.1, "pass")])
def test_a_beaver_is_answered_by_what_it_is_worth(wins: float, reply: str) -> None:
    """By the doubler, whose chance it is; a raccoon is taken or passed by the other."""
    board, score = start_board(SHORT), Score(beavers=True)
    chances = certain(win1=wins, lose1=1 - wins)
    answer = beaver(double(score))
    assert right_reply(board, chances, answer) == reply
    worth = {
        "take": formula(board[None], chances[None], take(answer)).no_double[0],
        "raccoon": formula(board[None], chances[None], take(beaver(answer))).no_double[0],
        "pass": -2.0,
    }
    assert worth[reply] == max(worth.values())
    assert right_reply(board, chances, beaver(answer)) == ("pass" if wins > 0.8 else "take")


def test_a_game_is_given_up_only_where_it_costs_nothing() -> None:
    board = start_board(SHORT)
    for score in (Score(), Score((3, 5), 7), Score(cube=2, owner="theirs")):
        for games in (1, 2, 3):
            assert free_resignation(board, certain(**{f"lose{games}": 1.0}), score) == games
        for chances in (
            certain(lose1=0.99, win1=0.01),
            certain(lose1=0.99, lose2=0.01),
            certain(win1=0.1, lose1=0.8, lose2=0.1),  # worth a point lost, and yet not over
            certain(win1=1.0),
        ):
            assert free_resignation(board, chances, score) == 0
    # a gammon costs no more than a single game
    gammonish = certain(lose1=0.5, lose2=0.5)
    assert free_resignation(board, gammonish, Score(jacoby=True)) == 1
    assert free_resignation(board, gammonish, match_score(5, 4, 4)) == 1
    assert free_resignation(board, gammonish, Score()) == 0


def test_the_player_resigns_a_lost_race() -> None:
    player = Player(NET)
    lost = make_board({6: 4, 5: 3}, {1: 2})
    for score in (None, Score(), Score(cube=2, owner="theirs"), match_score(5)):
        assert player.resigns(lost, score) == 1
        assert player.resigns(start_board(SHORT), score) == 0
    perhaps_a_gammon = make_board({6: 14, 5: 1}, {1: 1})
    assert player.resigns(perhaps_a_gammon) == player.resigns(perhaps_a_gammon, Score()) == 0
