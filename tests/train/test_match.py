"""Matches: exact symmetries, independence of batch and threads, slow twins, when they stop."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from nets import HYPER, net_player, random_net
from random_nets import SHORT

from nardy.rules.batch import afterstates
from nardy.rules.board import flip, points_won, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import Variant, variant
from train import match
from train.luck import LuckJudge, NetRolls
from train.match import MatchResult, play_match
from train.players import NetPlayer, PipsPlayer, Player, RandomPlayer

# ---------------------------------------------------------------- symmetries


def test_net_against_itself_is_exactly_zero() -> None:
    result = play_match(net_player(1), net_player(1), SHORT, 40)
    assert result.ppg == 0 and result.ci95 == 0
    assert (result.points[:, 0] == -result.points[:, 1]).all()
    assert (result.points != 0).all()  # K15


def test_random_players_of_two_seeds_are_two_players() -> None:
    result = play_match(RandomPlayer(1), RandomPlayer(2), SHORT, 60)
    assert (result.points.sum(1) != 0).any()


@pytest.mark.parametrize("game", [SHORT, HYPER, variant("short", opening="reroll")])
def test_swapping_the_players_negates_the_result(game: Variant) -> None:
    for a, b in ((RandomPlayer(3), PipsPlayer()), (net_player(1, game), net_player(2, game))):
        one, other = play_match(a, b, game, 30), play_match(b, a, game, 30)
        # the game that a starts is the twin's second game
        assert (one.points == -other.points[:, ::-1]).all()
        assert one.ppg == -other.ppg


def test_a_player_against_itself_plays_one_game_of_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin is a copy, and the result that of two players who are alike."""
    judge, net, counts = LuckJudge(NetRolls(random_net(3)), "judge"), net_player(1), list[int]()
    two = play_match(net_player(1), net_player(1), SHORT, 5, seed=2, judge=judge, save=9)
    monkeypatch.setattr(match, "roll", lambda seed, games, *rest: counts.append(len(games)) or
                        roll(seed, games, *rest))  # fmt: skip
    told: list[int] = []
    for threads in (1, 2):
        counts.clear()
        how = {"threads": threads, "batch": 2, "finished": told.append}
        one = play_match(net, net, SHORT, 5, 2, judge=judge, save=9, **how)
        assert (one.points == two.points).all() and (one.luck == two.luck).all()
        assert [game.starter for game in one.saved] == [0, 1] * 4 + [0]
        lengths = [len(game.turns) for game in one.saved]
        assert lengths == [len(game.turns) for game in two.saved]
        assert [game.points for game in one.saved] == [game.points for game in two.saved]
        assert sum(counts) == sum(lengths[::2])
    assert sum(told) == 20


# ---------------------------------------------------------------- independence of the batch


def test_batch_and_threads_do_not_change_the_result() -> None:
    players = net_player(1), RandomPlayer(4)
    results = [
        play_match(*players, SHORT, 40, seed=6, batch=batch, threads=threads)
        for batch, threads in ((512, 1), (7, 1), (1, 1), (7, 2), (512, 2), (3, 50))
    ]
    for result in results[1:]:
        assert (result.points == results[0].points).all()
    assert (play_match(*players, SHORT, 40, seed=7).points != results[0].points).any()


def slow_points(a: Player, b: Player, game: Variant, pair: int, leg: int, seed: int) -> int:
    """One game by itself, told from the board alone; a's points."""
    board, ply = start_board(game), 0
    while True:
        dice = roll(seed, [pair], [ply], game.opening)
        mover, sign = (a, 1) if (ply + leg) % 2 == 0 else (b, -1)
        results = afterstates(board[None], dice, game)
        row = mover.choose(board[None], dice, results, np.array([pair]), np.array([ply]))[0]
        points = int(points_won(results.boards[row], game))
        if points:
            return sign * points
        board, ply = flip(results.boards[row]), ply + 1


@pytest.mark.parametrize(
    ("a", "b"),
    [(net_player(1), net_player(2)), (RandomPlayer(8), PipsPlayer())],
    ids=["nets", "random and pips"],
)
def test_slow_twin(a: Player, b: Player) -> None:
    pairs, seed = 50, 11
    slow = [[slow_points(a, b, SHORT, pair, leg, seed) for leg in (0, 1)] for pair in range(pairs)]
    assert play_match(a, b, SHORT, pairs, seed, batch=16).points.tolist() == slow


# ---------------------------------------------------------------- depth


def test_a_player_sees_as_far_as_asked() -> None:
    net = random_net(1, HYPER)
    deep, flat = NetPlayer(net, "n", 1), NetPlayer(net, "n")
    result = play_match(deep, flat, HYPER, 20, threads=2)
    assert (result.a, result.b, result.a_ply, result.b_ply) == ("n-1ply", "n", 1, 0)
    slow = [[slow_points(deep, flat, HYPER, pair, leg, 0) for leg in (0, 1)] for pair in range(20)]
    assert result.points.tolist() == slow
    assert (result.points.sum(1) != 0).any()  # they do not move alike


def test_looking_ahead_helps() -> None:
    """A net without an opinion sees at one ply who can end the game at once."""
    net = random_net(1, HYPER, last=0.0)
    assert play_match(NetPlayer(net, "n", 1), NetPlayer(net, "n"), HYPER, 100).ppg > 0.2


# ---------------------------------------------------------------- luck


def slow_luck(judge: LuckJudge, a: Player, b: Player, pair: int, leg: int, seed: int) -> float:
    """The luck of one game by itself, a's less b's."""
    board, ply, total = start_board(SHORT), 0, 0.0
    while True:
        turn = np.array([ply])
        dice = roll(seed, [pair], [ply])
        seat = (ply + leg) % 2
        total += (1 - 2 * seat) * judge.luck(board[None], dice, turn)[0]
        results = afterstates(board[None], dice, SHORT)
        row = (a, b)[seat].choose(board[None], dice, results, np.array([pair]), turn)[0]
        if points_won(results.boards[row], SHORT):
            return total
        board, ply = flip(results.boards[row]), ply + 1


def test_luck_of_a_match() -> None:
    a, b, judge = net_player(1), RandomPlayer(2), LuckJudge(NetRolls(random_net(3)), "judge")
    result = play_match(a, b, SHORT, 4, seed=5, batch=3, threads=2, judge=judge)
    slow = [[slow_luck(judge, a, b, pair, leg, 5) for leg in (0, 1)] for pair in range(4)]
    assert result.luck is not None and result.judge == "judge"
    np.testing.assert_allclose(result.luck, slow, atol=1e-9)
    other = play_match(a, b, SHORT, 4, seed=5, judge=judge)
    assert (other.luck == result.luck).all() and other.adjusted == result.adjusted


def test_judging_does_not_change_the_games() -> None:
    judge = LuckJudge(NetRolls(random_net(3)), "judge")
    judged = play_match(net_player(1), PipsPlayer(), SHORT, 4, judge=judge)
    plain = play_match(net_player(1), PipsPlayer(), SHORT, 4)
    assert (judged.points == plain.points).all() and plain.adjusted is None


def test_a_net_against_itself_has_no_luck() -> None:
    judge = LuckJudge(NetRolls(random_net(1)), "net")
    result = play_match(net_player(1), net_player(1), SHORT, 4, judge=judge)
    assert result.adjusted is not None
    assert (result.adjusted.ppg, result.adjusted.ci95) == (0, 0)


# ---------------------------------------------------------------- when to stop


def test_until_stops_at_the_first_stage_that_is_narrow_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(match, "STAGE", 10)
    players = RandomPlayer(1), RandomPlayer(2)
    whole = play_match(*players, HYPER, 95)
    widths = [
        MatchResult("", "", "", 0, whole.points[:n], 1.0).ci95 for n in (*range(10, 91, 10), 95)
    ]
    until = sorted(widths)[4]
    stopped = next(i for i, width in enumerate(widths) if width <= until)
    for batch, threads in ((None, 1), (3, 2)):
        result = play_match(*players, HYPER, 95, batch=batch, threads=threads, until=until)
        assert result.pairs == 10 * (stopped + 1)
        assert (result.points == whole.points[: result.pairs]).all()
    assert play_match(*players, HYPER, 95, until=1e-9).pairs == 95


def test_seconds_finish_the_pairs_that_were_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands at its limit from the first game's end on: no pair is begun after it, and
    none is left with one game."""
    players = RandomPlayer(1), PipsPlayer()
    whole = play_match(*players, HYPER, 200)
    monkeypatch.setattr(match.time, "monotonic", iter([0.0, *[9.0] * 10_000]).__next__)
    for batch, pairs in ((8, 4), (7, 4)):
        result = play_match(*players, HYPER, 200, batch=batch, seconds=5.0)
        assert result.pairs == pairs
        assert (result.points == whole.points[:pairs]).all()
        monkeypatch.setattr(match.time, "monotonic", iter([0.0, *[9.0] * 10_000]).__next__)


def test_memory_stays_flat() -> None:
    """Ten times the games take no more memory than their points."""
    peaks = []
    net = net_player(1, HYPER)
    play_match(net, RandomPlayer(1), HYPER, 20)
    for pairs in (100, 1000):
        tracemalloc.start()
        play_match(net, RandomPlayer(1), HYPER, pairs, batch=64)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] + 100 * 1000


# ---------------------------------------------------------------- games that are kept


def test_saved_games_are_the_ones_played() -> None:
    players = net_player(1), RandomPlayer(4)
    result = play_match(*players, SHORT, 6, batch=5, threads=2, save=3)
    assert len(result.saved) == 3
    for number, game in enumerate(result.saved):
        assert game.starter == number % 2
        assert game.points == result.points[number // 2, number % 2]
        board = start_board(SHORT)
        for ply, turn in enumerate(game.turns):
            assert turn.board.tolist() == board.tolist()
            assert turn.dice.tolist() == roll(0, [number // 2], [ply])[0].tolist()
            board = flip(turn.after)
        assert points_won(game.turns[-1].after, SHORT) == abs(game.points)


# ---------------------------------------------------------------- figures and errors


def test_figures_of_a_match() -> None:
    points = np.array([[1, -2], [3, 0], [2, 1]], np.int8)
    result = MatchResult("x", "y", "short", 1, points, 10.0)
    assert result.pairs == 3
    assert result.ppg == pytest.approx(5 / 6)
    # pairs -0.5, 1.5, 1.5 : standard deviation 1.1547
    assert result.ci95 == pytest.approx(1.96 * 1.154700538 / 3**0.5)
    assert [result.won(k) for k in (1, 2, 3)] == pytest.approx([4 / 6, 2 / 6, 1 / 6])
    assert [result.won(-k) for k in (1, 2, 3)] == pytest.approx([1 / 6, 1 / 6, 0])
    assert result.draws == pytest.approx(1 / 6)


def test_finished_counts_every_game() -> None:
    counts: list[int] = []
    play_match(RandomPlayer(1), PipsPlayer(), HYPER, 30, batch=4, threads=2, finished=counts.append)
    assert sum(counts) == 60 and len(counts) > 2


def test_endless_game_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "MAX_PLIES", 20)
    with pytest.raises(ValueError, match=r"a game of pair \d+ is not over after 20 plies"):
        play_match(RandomPlayer(1), RandomPlayer(2), SHORT, 4, threads=2)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"pairs": 1}, "pairs must be at least 2, not 1"),
        ({"pairs": 4, "batch": 0}, "batch must be at least 1, not 0"),
        ({"pairs": 4, "threads": 0}, "threads must be at least 1, not 0"),
        ({"pairs": 4, "until": 0.0}, "until must be above 0, not 0.0"),
        ({"pairs": 4, "seconds": -1.0}, "seconds must be above 0, not -1.0"),
    ],
)
def test_numbers_too_small(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        play_match(RandomPlayer(1), PipsPlayer(), SHORT, **wrong)
