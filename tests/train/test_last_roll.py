"""Nets of long nardy with the last roll for the second player (D13): their value hangs on who
began, and a game may be drawn. From the net's kernels to training, export, play and the arena."""

import functools
import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from random_nets import make_net, play_out
from toy import arguments

from nardy import cli
from nardy.net.features import phases_of
from nardy.net.net import Evaluator, Net, outcomes_by_numpy
from nardy.notation.moves import parse_move
from nardy.notation.points import from_points, to_points
from nardy.play import Player
from nardy.play.board_text import draw
from nardy.play.player import cumulative
from nardy.play.possible import possible
from nardy.play.rollout import rollout, rollout_plays
from nardy.play.search import Search
from nardy.play.terminal import ranked_line
from nardy.rules.batch import Workspace, afterstates
from nardy.rules.board import ending, start_board, turn
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.variants import Variant, variant
from nardy.serve.answers import MoveQuestion, Question
from nardy.serve.bot import Bot
from train import arena
from train.__main__ import main
from train.device import DeviceEvaluator
from train.encode import encode
from train.export import export, reference_positions
from train.net_folder import write_net
from train.network import ValueNetwork, to_net
from train.targets import one_roll

DRAWS = variant("long", last_roll="second_player")
FAMILY = DRAWS.family
POINTS = np.array(DRAWS.outcomes, np.float32)
SHORT_GAME = variant("long", start={5: 2, 3: 1}, last_roll="second_player", opening="reroll")


@functools.cache
def met() -> tuple[np.ndarray, np.ndarray]:
    """Boards of whole games and of their ends, with a roll each."""
    long_ones = [part[::11] for part in play_out(DRAWS, 8, 150)[:2]]
    ends = play_out(SHORT_GAME, 30, 8)[:2]
    return tuple(np.concatenate(parts) for parts in zip(long_ones, ends, strict=True))  # type: ignore[return-value]


def worth(net: Net, after: np.ndarray) -> float:
    """Points of the player who moved, by plain numpy."""
    over, points = ending(after, net.variant)
    if over:
        return float(points)
    return -float((outcomes_by_numpy(net, turn(after, FAMILY)[None]) @ POINTS)[0])


# ---------------------------------------------------------------- nets


def test_every_path_prices_alike(kernels: str) -> None:
    net = make_net(24, game=DRAWS)
    boards, dice = met()
    expected = outcomes_by_numpy(net, boards)
    assert expected.shape[1] == 5
    np.testing.assert_allclose(Evaluator(net, block=64).outcomes(boards), expected, atol=1e-5)
    results = afterstates(boards[::5], dice[::5], DRAWS)
    values = Evaluator(net, block=64).values(boards[::5], results)
    slow = [worth(net, after) for after in results.boards]
    np.testing.assert_allclose(values, slow, atol=1e-4)
    over, points = ending(results.boards, DRAWS)
    assert {-2, 0, 2} & set(points[over].tolist()) and (values[over] == points[over]).all()
    best, chances = Evaluator(net, block=64).choose(boards[::5], results)
    np.testing.assert_allclose(
        values[best], np.maximum.reduceat(values, results.offsets[:-1]), atol=1e-5
    )
    on = ~over[best]
    theirs = outcomes_by_numpy(net, turn(results.boards[best], FAMILY))
    np.testing.assert_allclose(chances[on], theirs[on], atol=1e-5)


def test_who_began_matters() -> None:
    net = make_net(24, game=DRAWS)
    boards = met()[0][:20]
    other = boards.copy()
    other[:, 25], other[:, 0] = -boards[:, 0], -boards[:, 25]
    assert (np.abs(net.outcomes(boards) - net.outcomes(other)).max(1) > 1e-4).all()
    assert (phases_of(boards, 2, FAMILY) == phases_of(other, 2, FAMILY)).all()


def test_the_network_that_learns_is_the_net_that_plays() -> None:
    torch.manual_seed(5)
    network = ValueNetwork(16, (8,), 2, 5)
    with torch.no_grad():
        for values in network.parameters():
            values.normal_(0, 0.3)
    boards = met()[0]
    boards = boards[np.argsort(phases_of(boards, 2, FAMILY), kind="stable")]
    counts = np.bincount(phases_of(boards, 2, FAMILY), minlength=2).tolist()
    features = torch.from_numpy(encode(boards, 15, family=FAMILY))
    with torch.no_grad():
        chances = torch.softmax(network(features, counts), -1).numpy()
    np.testing.assert_allclose(to_net(network, DRAWS).outcomes(boards), chances, atol=1e-5)


def test_export_carries_it(tmp_path: Path) -> None:
    export(make_net(16, game=DRAWS), {}, tmp_path / "net")
    net = Net.load(tmp_path / "net")
    assert net.variant == DRAWS
    boards = met()[0]
    session = onnxruntime.InferenceSession(tmp_path / "net" / "net.onnx")
    (found,) = session.run(None, {"boards": boards})
    np.testing.assert_allclose(found, net.outcomes(boards), atol=1e-5)
    reference = json.loads((tmp_path / "net" / "reference.json").read_text())
    began = np.array(reference["boards"])[:, [0, 25]]
    assert set(map(tuple, began.tolist())) == {(0, 1), (-1, 0)}
    assert (reference_positions(DRAWS, 50) == np.array(reference["boards"])).all()


def test_a_device_refuses_it() -> None:
    with pytest.raises(ValueError, match="^last_roll='second_player' is learnt on the CPU alone$"):
        DeviceEvaluator(make_net(4, game=DRAWS), "cpu", torch.float32)


# ---------------------------------------------------------------- targets, search, rollouts


def rolled(net: Net, board: np.ndarray, fold: bool) -> np.ndarray:
    """float64[5]: the mean over the rolls of the chances after the best play, one by one.

    fold: whether impossible mars is counted as a single game, as a search does.
    """
    mean = np.zeros(5)
    for chance, dice in zip(ROLL_CHANCES, ROLLS, strict=True):
        results = afterstates(board[None], dice[None], net.variant).boards
        over, points = ending(results, net.variant)
        chances = outcomes_by_numpy(net, turn(results, FAMILY))[:, ::-1]
        if fold:
            chances = possible(chances, results, net.variant)
        chances[over] = points[over, None] == POINTS
        mean += chance * chances[int((chances @ POINTS).argmax())]
    return mean


@pytest.mark.parametrize("game", [DRAWS, SHORT_GAME], ids=["long", "ends"])
def test_a_roll_ahead(game: Variant) -> None:
    """One-roll targets and 1-ply search are means over rolls, exact where a game is over."""
    net = make_net(12, game=game, pairs=0)
    boards = met()[0][3:60:20] if game is DRAWS else met()[0][-4:]
    targets = one_roll(Evaluator(net), boards, game, Workspace())
    expected = [rolled(net, board, fold=False) for board in boards]
    np.testing.assert_allclose(targets, expected, atol=1e-5)
    expected = [rolled(net, board, fold=True) for board in boards]
    before = turn(boards, FAMILY)  # as if the other had just moved here
    chances = Search(net, 1).chances(before, 1)
    np.testing.assert_allclose(chances[:, ::-1], expected, atol=1e-5)


LONG = variant("long")
ASKED = from_points("25:1,3:1 4:1", FAMILY), np.array([2, 1], np.uint8)
ONE = variant("long", start={12: 1}, last_roll="second_player", opening="reroll")


@functools.cache
def exact(cells: tuple[int, ...]) -> np.ndarray:
    """float64[5]: chances of the player on roll where each has a checker and no choice."""
    mean = np.zeros(5)
    board = np.array(cells, np.int8)
    for chance, dice in zip(ROLL_CHANCES, ROLLS, strict=True):
        after = afterstates(board[None], dice[None], ONE).boards[0]
        over, points = ending(after, ONE)
        mean += chance * (
            points == POINTS if over else exact(tuple(turn(after, FAMILY).tolist()))[::-1]
        )
    return mean


def test_rollouts_of_a_game_that_is_known() -> None:
    net = make_net(8, game=ONE, pairs=0)
    first = start_board(ONE)
    last = from_points("9:1 25:1", FAMILY)  # the other began and has finished
    boards = np.stack([first, last])
    known = np.stack([exact(tuple(board.tolist())) for board in boards])
    assert known[0, 2] > 0.1 and known[1, 4] == 0 and known[1, 2] > 0.1
    found = rollout(net, boards, 1296, seed=2)
    assert (np.abs(found.equities - known @ POINTS) < 4 * found.stderrs + 1e-6).all()
    assert (np.abs(found.chances - known) < 0.05).all()
    plays = rollout_plays(net, turn(boards[1:], FAMILY), 1296, seed=2)
    np.testing.assert_allclose(plays.equities, -found.equities[1:])


def test_rollouts_tell_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_net(tmp_path, make_net(8, game=ONE, pairs=0), {})
    asked = ["rollout", "--net", str(tmp_path), "--position", "9:1 25:1", "--games", "36"]
    assert cli.main([*asked, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rollouts"]
    assert row["draw"] > 0.1  # he may still bear off: test_rollouts_of_a_game_that_is_known
    assert cli.main(asked) == 0
    assert f"win {row['win']:6.1%}  draw {row['draw']:6.1%}  gammon" in capsys.readouterr().out


def test_no_mars_against_who_has_a_checker_off() -> None:
    board = from_points("24:14,25:1 3:15", FAMILY)
    even = np.full((1, 5), 0.2, np.float32)
    left = possible(even, board[None], DRAWS)
    np.testing.assert_allclose(left, [[0, 0.4, 0.2, 0.2, 0.2]], atol=1e-6)


# ---------------------------------------------------------------- a run, play, the arena


def test_a_tiny_run_to_play_and_arena(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["variant=long", "variant.last_roll=second_player", "variant.start={5:2,3:1}"]
    asked = [*options, "algo.minibatch=128", "games=1500", "algo.lam=0.9", "name=draws"]
    assert main(arguments(*asked)) == 0
    capsys.readouterr()
    net = Net.load("runs/draws/net")
    assert net.variant.outcomes == (-2, -1, 0, 1, 2)
    start = start_board(net.variant)
    assert net.outcomes(start[None])[0, 2] > 0.05  # it has seen draws
    ranked = Player(net, ply=1).best(start, np.array([3, 1], np.uint8))
    assert len(ranked) > 1 and all("25" not in play.text for play in ranked)
    dice = np.array([3, 1], np.uint8)
    for play in ranked:
        assert (parse_move(play.text, start, dice, net.variant) == play.board).all()
        told = cumulative(play.chances, net.variant.outcomes)
        assert list(told)[0] == "draw" and told["draw"] == play.chances[2] > 0
        assert f"  draw {told['draw']:6.1%}  gammon" in ranked_line(play, net.variant.outcomes)
    match = ["a=runs/draws", "b=random", *options, "pairs=100", "threads=1"]
    assert arena.main([*match, "json=result.json", "luck=true"]) == 0
    result = json.loads(Path("result.json").read_text())
    assert result["draws"] > 0.02 and "draws" in capsys.readouterr().out
    assert result["adjusted"]["ci95"] < result["ci95"]


def test_http_tells_draws() -> None:
    bot = Bot(make_net(8, game=ONE))
    answer = MoveQuestion(position="25:1,3:1 4:1", dice=(2, 1)).answer(bot)
    (play,) = answer["plays"]
    assert play["move"] == "3/off" and play["draw"] > 0
    assert play["draw"] == pytest.approx(float(bot.plays(*ASKED)[0].chances[2]))
    value = Question(position="25:1,3:1 4:1").value_answer(bot)
    assert value["draw"] == pytest.approx(float(bot.chances(ASKED[0])[2]))
    assert "cubeful" not in value and play["cubeful"] is None
    long_ones = MoveQuestion(position="24:15 24:15", dice=(2, 1)).answer(
        Bot(make_net(8, game=LONG))
    )
    assert "draw" not in long_ones["plays"][0]


def test_positions_say_who_began() -> None:
    text = "25:1,24:15 24:15"
    board = from_points(text, FAMILY)
    assert (board == start_board(DRAWS)).all() and to_points(board, FAMILY) == text
    assert to_points(turn(board, FAMILY), FAMILY) == "24:15 25:1,24:15"
    picture = draw(board, 15, family=FAMILY)
    assert picture == draw(from_points("24:15 24:15", FAMILY), 15, family=FAMILY)
