"""Players: what each chooses, by itself and in a batch."""

from pathlib import Path

import numpy as np
import pytest
from nets import HYPER, net_player, positions, random_net, save_net
from random_nets import SHORT

from nardy.net.exact import ExactTail
from nardy.net.net import Evaluator, Net
from nardy.play.player import Player
from nardy.play.possible import possible
from nardy.play.search import CLOSE, first_best
from nardy.rules.batch import afterstates
from nardy.rules.board import flip, pip_counts, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import variant
from train.match import play_match
from train.players import NetPlayer, PipsPlayer, RandomPlayer, player


@pytest.mark.parametrize("last", [1.0, 1e-6])
def test_net_choice_does_not_depend_on_the_batch(last: float) -> None:
    """With last = 1e-6 all values lie within rounding of each other."""
    chooser = NetPlayer(random_net(1, last=last), "net")
    boards = positions(300, 20)
    dice = roll(3, np.arange(300), np.full(300, 20))
    results = afterstates(boards, dice, SHORT)
    unused = np.zeros(300, np.int64)
    rows = chooser.choose(boards, dice, results, unused, unused)
    for i in range(300):
        one = afterstates(boards[i : i + 1], dice[i : i + 1], SHORT)
        row = chooser.choose(boards[i : i + 1], dice[i : i + 1], one, unused[:1], unused[:1])[0]
        assert rows[i] - results.offsets[i] == row


def test_net_choice_is_the_best_value() -> None:
    net = random_net(2)
    boards = positions(200, 30)
    dice = roll(3, np.arange(200), np.full(200, 30))
    results = afterstates(boards, dice, SHORT)
    rows = NetPlayer(net, "net").choose(boards, dice, results, np.arange(200), np.arange(200))
    fast = Evaluator(net).values(boards, results)
    exact = Evaluator(net, ExactTail(net)).values(boards, results)
    assert np.abs(fast - exact).max() < CLOSE / 4
    # in play no gammon is told against a player who has borne one off
    after = flip(results.boards)
    chances = possible(Evaluator(net, ExactTail(net)).outcomes(after), after, SHORT)
    told = np.where(exact == np.round(exact), exact, -(chances @ np.array(SHORT.outcomes)))
    assert (told != exact).any()
    assert (rows == first_best(told, results.offsets)).all()


def test_net_of_nans_is_refused() -> None:
    net = random_net(2)
    net.table[:] = np.nan
    broken = NetPlayer(Net.build(SHORT, net.table, net.bias, net.tails), "broken")
    with pytest.raises(ValueError, match="'broken': the net gives values that are not numbers"):
        play_match(broken, RandomPlayer(1), SHORT, 2)


def test_pips_is_greedy() -> None:
    boards = positions(100, 15)
    dice = roll(3, np.arange(100), np.full(100, 15))
    results = afterstates(boards, dice, SHORT)
    rows = PipsPlayer().choose(boards, dice, results, np.arange(100), np.arange(100))
    for i in range(100):
        options = results.boards[results.offsets[i] : results.offsets[i + 1]]
        scores = [int(own) - int(other) for own, other in map(pip_counts, options)]
        assert rows[i] - results.offsets[i] == scores.index(min(scores))


def test_random_chooses_each_result_equally_often() -> None:
    n = 20_000
    boards = np.tile(start_board(HYPER), (n, 1))
    dice = np.tile(np.array([2, 1], np.uint8), (n, 1))
    results = afterstates(boards, dice, HYPER)
    count = int(results.offsets[1])
    rows = RandomPlayer(1).choose(boards, dice, results, np.arange(n), np.zeros(n, np.int64))
    seen = np.bincount(rows - results.offsets[:-1], minlength=count)
    assert count > 2 and len(seen) == count
    assert ((seen - n / count) ** 2 / (n / count)).sum() < 3 * count + 10


def test_pips_beats_random() -> None:
    assert play_match(RandomPlayer(1), PipsPlayer(), SHORT, 50).ppg < -2


def test_player_by_path(tmp_path: Path) -> None:
    folder = save_net(tmp_path / "run" / "checkpoint-00000001", random_net(1))
    (tmp_path / "run" / "latest").write_text("checkpoint-00000001\n")
    expected = play_match(net_player(1), PipsPlayer(), SHORT, 10).points
    for path in (folder, tmp_path / "run", tmp_path / "run" / "latest"):
        assert (
            play_match(player(str(path), SHORT), PipsPlayer(), SHORT, 10).points == expected
        ).all()
    with pytest.raises(ValueError, match="01' plays short, and this match is hyper"):
        player(str(folder), HYPER)
    says = "with opening=play_opening_dice, and this match is short with opening=reroll$"
    with pytest.raises(ValueError, match=says):
        player(str(folder), variant("short", opening="reroll"))
    with pytest.raises(
        ValueError,
        match="'nobody' is neither random, pips, heuristic, gnubg-nn, .*exact nor a path",
    ):
        player("nobody", SHORT)


def test_a_level_plays_what_humans_meet(tmp_path: Path) -> None:
    folder = save_net(tmp_path / "net", random_net(2))
    boards = positions(60, 10)
    dice = roll(3, np.arange(60), np.full(60, 10))
    results = afterstates(boards, dice, SHORT)
    unused = np.zeros(60, np.int64)
    weak = player(f"{folder}@beginner", SHORT, seed=4)
    rows = weak.choose(boards, dice, results, unused, unused)
    human = Player(folder, level="beginner", seed=4)
    for row, board, rolled in zip(rows, boards, dice, strict=True):
        assert (results.boards[row] == human.best(board, rolled)[0].board).all()
    assert (rows >= results.offsets[:-1]).all() and (rows < results.offsets[1:]).all()
    assert (weak.for_thread().choose(boards, dice, results, unused, unused) == rows).all()
    assert player(f"{folder}@master", SHORT).ply == 1
    with pytest.raises(ValueError, match="level must be one of beginner, .*, not 'genius'"):
        player(f"{folder}@genius", SHORT)
