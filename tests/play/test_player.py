"""The player against slow and obvious expectations."""

from pathlib import Path

import numpy as np
import pytest
from random_nets import play_out

from nardy.match.score import Score
from nardy.net.net import Net, outcomes_by_numpy
from nardy.notation.positions import read_position
from nardy.notation.state import MatchState, Position
from nardy.play.player import LEVELS, Player, cumulative
from nardy.play.possible import possible
from nardy.play.search import FILTERS, Filter, Search
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, flip, make_board, points_won, start_board
from nardy.rules.dice import ROLLS
from nardy.rules.variants import variant

SHORT = variant("short")
POINTS = np.array(SHORT.outcomes)
BEAR_OFF = make_board({3: 1, 2: 2}, {2: 1, 1: 2})
LAST = make_board({2: 1, 1: 1}, {13: 15})
CONTACT = make_board({13: 1, 8: 1, 1: 1}, {20: 2, 6: 1})
HIT = make_board({25: 1, 6: 2}, {24: 1, 5: 2})


def roll(*dice: int) -> np.ndarray:
    return np.array(dice, np.uint8)


def slow_chances(net: Net, result: Boards, plies: int) -> np.ndarray:
    """float64[6]: chances for the player who moved to `result`, one position at a time."""
    points = int(points_won(result, SHORT))
    if points:
        return (points == POINTS).astype(float)
    turned = flip(result)
    if plies == 0:
        chances = possible(outcomes_by_numpy(net, turned[None]), turned[None], SHORT)
        return chances[0, ::-1].astype(float)
    total = np.zeros(6)
    for high, low in ROLLS.tolist():
        replies = afterstates(turned[None], roll(high, low)[None], SHORT).boards
        best = max((slow_chances(net, reply, 0) for reply in replies), key=lambda c: c @ POINTS)
        total += (1 if high == low else 2) / 36 * best[::-1]
    return total


@pytest.mark.parametrize("board", [BEAR_OFF, LAST, CONTACT, HIT, start_board(SHORT)])
def test_static_values_are_the_nets(net: Net, board: Boards, kernels: str) -> None:
    ranked = Player(net, tables=False).best(board, roll(3, 1))
    results = afterstates(board[None], roll(3, 1)[None], SHORT).boards
    assert sorted(play.board.tolist() for play in ranked) == sorted(results.tolist())
    for play in ranked:
        expected = slow_chances(net, play.board, 0)
        np.testing.assert_allclose(play.chances, expected, atol=1e-5)
        assert play.equity == pytest.approx(expected @ POINTS, abs=1e-5)
    equities = [play.equity for play in ranked]
    assert equities == sorted(equities, reverse=True)


@pytest.mark.parametrize("board", [BEAR_OFF, CONTACT, HIT])
@pytest.mark.parametrize("dice", [(2, 1), (6, 4)])
def test_one_ply_is_the_mean_over_rolls(
    net: Net, board: Boards, dice: tuple[int, int], kernels: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = Player(net, ply=1, tables=False)
    monkeypatch.setattr(player._search, "filters", (Filter(8, 10.0),))
    ranked = player.best(board, roll(*dice))
    for play in ranked[:8]:
        assert play.ply == 1
        expected = slow_chances(net, play.board, 1)
        np.testing.assert_allclose(play.chances, expected, atol=1e-5)
        assert play.equity == pytest.approx(expected @ POINTS, abs=1e-5)


def test_only_the_front_is_searched_and_stays_in_front(net: Net) -> None:
    board = start_board(SHORT)
    static = Player(net).best(board, roll(3, 1))
    ranked = Player(net, ply=1).best(board, roll(3, 1))
    bound = static[0].equity - FILTERS[0].margin
    front = [p.text for p in static if p.equity >= bound][: FILTERS[0].plays]
    assert 1 < len(front) < len(static)
    searched = [play for play in ranked if play.ply == 1]
    assert ranked[: len(searched)] == searched
    assert {play.text for play in searched} == set(front)
    rest = [play.text for play in static if play.text not in front]
    assert [play.text for play in ranked[len(searched) :]] == rest


def test_a_searched_play_that_turns_out_badly_stays_before_the_rest(
    net: Net, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Depths are not compared: what looks bad at 1-ply may still beat what looked worse at 0."""
    lost = (POINTS == -3).astype(np.float32)
    static = Search.chances

    def chances(search: Search, rows: Boards, ply: int) -> np.ndarray:
        return np.tile(lost, (len(rows), 1)) if ply else static(search, rows, 0)

    monkeypatch.setattr(Search, "chances", chances)
    ranked = Player(net, ply=1).best(start_board(SHORT), roll(3, 1))
    depths = [play.ply for play in ranked]
    assert ranked[0].equity == -3 < ranked[-1].equity
    assert depths == sorted(depths, reverse=True) and len(set(depths)) == 2


@pytest.mark.parametrize("ply", [0, 1])
def test_a_finished_game_is_exact(net: Net, ply: int) -> None:
    """K14: a gammon, as the other side has none off and nobody on the bar or in my home."""
    for enemy, points in (({13: 15}, 2), ({24: 15}, 3), ({13: 14}, 1)):
        ranked = Player(net, ply).best(make_board({2: 1, 4: 1}, enemy), roll(6, 6))
        assert [play.text for play in ranked] == ["4/off 2/off"]
        assert ranked[0].equity == points
        assert ranked[0].chances.tolist() == (points == POINTS).tolist()


def test_one_ply_sees_that_the_opponent_finishes(net: Net) -> None:
    """One checker of mine stays behind and every roll of his bears off his last one."""
    ranked = Player(net, ply=1).best(make_board({6: 2, 5: 1}, {1: 1}), roll(2, 1))
    assert ranked[0].equity == pytest.approx(-1, abs=1e-6)


def test_a_forced_pass_is_one_play(net: Net) -> None:
    board = make_board({25: 1, 6: 14}, {point: 2 for point in range(1, 7)})
    (play,) = Player(net, ply=1).best(board, roll(6, 6))
    assert play.text == "Cannot Move"
    np.testing.assert_array_equal(play.board, board)


def test_a_folder_plays_like_its_net(net: Net, net_folder: Path) -> None:
    board = start_board(SHORT)
    ours = Player(net, ply=1).best(board, roll(6, 5))
    theirs = Player(str(net_folder), ply=1).best(board, roll(5, 6))
    assert [(p.text, p.equity) for p in ours] == [(p.text, p.equity) for p in theirs]


def test_bad_input_is_named(net: Net) -> None:
    with pytest.raises(ValueError, match="ply must be 0, 1, 2 or 3, not 4"):
        Player(net, ply=4)
    with pytest.raises(ValueError, match="level must be one of beginner, .*, world, not 'poor'"):
        Player(net, level="poor")
    with pytest.raises(ValueError, match="seconds must be above 0, not 0"):
        Player(net).best(start_board(SHORT), roll(3, 1), seconds=0)
    with pytest.raises(ValueError, match="two dice"):
        Player(net).best(start_board(SHORT), roll(0, 7))
    with pytest.raises(ValueError, match="opponent has no checker left"):
        Player(net).best(make_board({6: 1}, {}), roll(2, 1))


# ---------------------------------------------------------------- positions and notebooks


def test_a_position_brings_its_dice_and_score(net: Net) -> None:
    state = MatchState(length=7, points=(2, 4), dice=(5, 2), cube=2, owner=0)
    asked = Position(start_board(SHORT), state)
    ranked = Player(net).best(asked)
    score = Score((3, 5), 7, cube=2, owner="theirs")
    expected = Player(net).best(start_board(SHORT), roll(5, 2), score=score)
    assert [play.text for play in ranked] == [play.text for play in expected]
    assert [play.cubeful for play in ranked] == [play.cubeful for play in expected]
    money = Player(net).best(start_board(SHORT), roll(3, 1), score=Score())
    assert Player(net).best(asked, [3, 1], score=Score())[0].text == money[0].text
    with pytest.raises(ValueError, match="dice are needed: the position has none"):
        Player(net).best(Position(start_board(SHORT)))


def test_a_text_is_the_position_that_it_names(net: Net) -> None:
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:2:4:0:7:10"
    first, second = Player(net).best(xgid), Player(net).best(read_position(xgid))
    assert [play.cubeful for play in first] == [play.cubeful for play in second]
    with pytest.raises(ValueError, match="14 characters, not 'nonsense'"):
        Player(net).best("nonsense", [3, 1])


def test_a_notebook_sees_the_board_and_the_best_plays(net: Net) -> None:
    player = Player(net, level="master")
    assert repr(player) == "<Player of short nardy, 1-ply>"
    ranked = player.best(start_board(SHORT), roll(1, 3), score=Score())
    best = ranked[0]
    assert (
        repr(best) == f"<{best.text}: {best.equity:+.4f}, {best.cubeful:+.4f} with the cube, 1-ply>"
    )
    shown = ranked._repr_html_()
    assert shown.count("<circle") == 30 + 4  # checkers, and the pips of 3 and 1
    assert shown.count("<tr><td>") == 10 < len(ranked)
    assert f"<tr><td>{best.text}<td>{best.equity:+.3f}<td>{best.cubeful:+.3f}<td>" in shown
    assert "cubeful" not in player.best(start_board(SHORT), roll(1, 3))._repr_html_()


# ---------------------------------------------------------------- levels


def test_levels_ascend() -> None:
    levels = list(LEVELS.values())
    assert levels == sorted(levels, key=lambda level: (level.ply, -level.noise))
    assert len(set(levels)) == len(levels)


def test_a_weaker_level_gives_away_more(net: Net) -> None:
    """By the judgement of the net itself, over the plays of 60 positions."""
    boards, dice, _ = play_out(SHORT, 60, 12)
    boards, dice = boards[-60:], dice[-60:]
    top = [Player(net).best(b, d)[0].equity for b, d in zip(boards, dice, strict=True)]
    lost = []
    for name, level in LEVELS.items():
        if level.ply == 0:
            player = Player(net, level=name, seed=3)
            played = [player.best(b, d)[0].equity for b, d in zip(boards, dice, strict=True)]
            lost.append(float(np.mean(np.subtract(top, played))))
    assert lost == sorted(lost, reverse=True) and lost[0] > lost[1] > lost[2] > lost[-1] == 0


def test_noise_is_normal_and_depends_on_seed_and_board_alone(net: Net) -> None:
    boards = play_out(SHORT, 200, 12)[0]
    player = Player(net, level="casual", seed=1)
    errors = player._errors(boards)
    _, firsts = np.unique(boards, axis=0, return_index=True)
    spread = errors[firsts] / LEVELS["casual"].noise
    assert len(firsts) > 1500
    assert abs(spread.mean()) < 0.1 and abs(spread.std() - 1) < 0.1
    assert (np.abs(spread) < 1).mean() == pytest.approx(0.683, abs=0.05)
    assert (player._errors(boards[7:8]) == errors[7]).all()
    assert (Player(net, level="casual", seed=2)._errors(boards) != errors).any()


def test_a_level_ranks_alike_each_time_and_shows_the_nets_equities(net: Net) -> None:
    board = start_board(SHORT)
    honest = {play.text: play.equity for play in Player(net).best(board, roll(3, 1))}
    ranked = Player(net, level="beginner", seed=5).best(board, roll(3, 1))
    again = Player(net, level="beginner", seed=5).best(board, roll(1, 3))
    assert [play.text for play in ranked] == [play.text for play in again]
    assert {play.text: play.equity for play in ranked} == honest
    assert [play.text for play in ranked] != list(honest)


def test_threads_and_time(net: Net) -> None:
    board = start_board(SHORT)
    one = Player(net, ply=1).best(board, roll(6, 2))
    two = Player(net, ply=1, threads=2).best(board, roll(6, 2), seconds=1e9)
    assert [(p.text, p.equity, p.ply) for p in one] == [(p.text, p.equity, p.ply) for p in two]
    hurried = Player(net, ply=1).best(board, roll(6, 2), seconds=1e-9)
    assert {play.ply for play in hurried} == {0}


def test_cumulative_numbers_nest() -> None:
    chances = np.array([0.05, 0.1, 0.25, 0.3, 0.2, 0.1], np.float32)
    assert cumulative(chances, SHORT.outcomes) == pytest.approx(
        {
            "win": 0.6,
            "win_gammon": 0.3,
            "win_backgammon": 0.1,
            "lose_gammon": 0.15,
            "lose_backgammon": 0.05,
        }
    )
