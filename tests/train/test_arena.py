"""Matches: exact symmetries, independence of batch and threads, a slow twin, the command line."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nardy.net.features import FEATURES, feature_rows
from nardy.net.net import Evaluator, Net
from nardy.net.weights import write_tensors
from nardy.rules.batch import afterstates
from nardy.rules.board import flip, pip_counts, points_won, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import Variant, variant
from train import arena
from train.arena import MatchResult, play_match
from train.players import (
    CLOSE,
    ExactTail,
    NetPlayer,
    PipsPlayer,
    Player,
    RandomPlayer,
    first_best,
    player,
)

SHORT = variant("short")
HYPER = variant("hyper")
ROOT = Path(__file__).parents[2]


def random_net(seed: int, game: Variant = SHORT, last: float = 1.0) -> Net:
    """A net of random weights; `last` scales those of its last layer."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, 0.3, (FEATURES, 64)).astype(np.float32)
    table = (feature_rows().reshape(-1, FEATURES) @ weights).reshape(28, 31, 64)
    hidden = rng.normal(0, 0.2, (2, 64, 16)).astype(np.float32)
    final = last * rng.normal(0, 0.3, (2, 16, 6)).astype(np.float32)
    tails = [
        [(hidden[p], np.zeros(16, np.float32)), (final[p].astype(np.float32), np.zeros(6, "f4"))]
        for p in range(2)
    ]
    return Net.build(game, table, np.zeros(64, np.float32), tails)


def net_player(seed: int, game: Variant = SHORT) -> NetPlayer:
    return NetPlayer(random_net(seed, game), f"net {seed}")


def save_net(folder: Path, net: Net) -> Path:
    """The least that Net.load reads."""
    folder.mkdir(parents=True)
    tensors = {"table": net.table, "bias": net.bias}
    for p, tail in enumerate(net.tails):
        for i, (weight, bias) in enumerate(tail):
            tensors |= {f"tail.{p}.{i}.weight": weight, f"tail.{p}.{i}.bias": bias}
    write_tensors(folder / "net.safetensors", tensors)
    meta = {"format": 1, "features": 1, "variant": net.variant.name, "phases": 2, "tail_layers": 2}
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def positions(games: int, plies: int) -> np.ndarray:
    """int8[games, 26] met in random play after `plies` turns, none of them over."""
    chooser, numbers = RandomPlayer(5), np.arange(games)
    boards = np.tile(start_board(SHORT), (games, 1))
    for ply in range(plies):
        turn = np.full(games, ply)
        dice = roll(9, numbers, turn)
        results = afterstates(boards, dice, SHORT)
        boards = flip(results.boards[chooser.choose(boards, dice, results, numbers, turn)])
    return boards


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
    assert (rows == first_best(exact, results.offsets)).all()


def test_net_of_nans_is_refused() -> None:
    net = random_net(2)
    net.table[:] = np.nan
    broken = NetPlayer(Net.build(SHORT, net.table, net.bias, net.tails), "broken")
    with pytest.raises(ValueError, match="the net 'broken' gives values that are not numbers"):
        play_match(broken, RandomPlayer(1), SHORT, 2)


# ---------------------------------------------------------------- the fixed players


def test_first_best_takes_the_first_of_equals() -> None:
    values = np.array([3, 5, 5, 7, 1, 5, 1])
    assert first_best(values, np.array([0, 3, 4, 7])).tolist() == [1, 3, 5]


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
    monkeypatch.setattr(arena, "MAX_PLIES", 20)
    with pytest.raises(ValueError, match=r"a game of pair \d+ is not over after 20 plies"):
        play_match(RandomPlayer(1), RandomPlayer(2), SHORT, 4, threads=2)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"pairs": 1}, "pairs must be at least 2, not 1"),
        ({"pairs": 4, "batch": 0}, "batch must be at least 1, not 0"),
        ({"pairs": 4, "threads": 0}, "threads must be at least 1, not 0"),
    ],
)
def test_numbers_too_small(wrong: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        play_match(RandomPlayer(1), PipsPlayer(), SHORT, **wrong)


def test_player_by_path(tmp_path: Path) -> None:
    folder = save_net(tmp_path / "run" / "one", random_net(1))
    (tmp_path / "run" / "latest").write_text("one\n")
    expected = play_match(net_player(1), PipsPlayer(), SHORT, 10).points
    for path in (folder, tmp_path / "run", tmp_path / "run" / "latest"):
        assert (
            play_match(player(str(path), SHORT), PipsPlayer(), SHORT, 10).points == expected
        ).all()
    with pytest.raises(ValueError, match="one' plays short, and this match is hyper"):
        player(str(folder), HYPER)
    with pytest.raises(ValueError, match="opening='play_opening_dice'.*opening='reroll'"):
        player(str(folder), variant("short", opening="reroll"))
    with pytest.raises(ValueError, match="'nobody' is neither random, pips, gnubg-nn nor a path"):
        player("nobody", SHORT)


# ---------------------------------------------------------------- the command line


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "train.arena", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_command_line_at_toy_size(tmp_path: Path) -> None:
    folder, file = save_net(tmp_path / "one", random_net(1)), tmp_path / "result.json"
    done = command(f"a={folder}", "b=random", "pairs=5", "seed=3", f"json={file}", "threads=2")
    assert done.returncode == 0 and done.stderr == ""
    written = json.loads(file.read_text())
    assert (
        list(written)
        == (
            "a b variant ply cube pairs ppg ci95 wins gammons backgammons draws games_per_s seed"
        ).split()
    )
    expected = play_match(net_player(1), RandomPlayer(4), SHORT, 5, seed=3)
    assert (written["a"], written["b"], written["variant"]) == (str(folder), "random", "short")
    assert (written["pairs"], written["seed"], written["draws"]) == (5, 3, 0)
    assert (written["ppg"], written["ci95"]) == (expected.ppg, expected.ci95)
    assert [written[k] for k in ("wins", "gammons", "backgammons")] == [
        expected.won(k) for k in (1, 2, 3)
    ]
    assert written["games_per_s"] > 0
    assert f"{expected.ppg:+.4f} ± {expected.ci95:.4f} points a game" in done.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one", "result.json"]


PLAYERS = ["a=random", "b=pips"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*PLAYERS, "pairz=3"], "'pairz'"),
        ([*PLAYERS, "pairs=many"], "'many'"),
        ([*PLAYERS, "pairs=1"], "pairs must be at least 2, not 1"),
        ([*PLAYERS, "variant=chess"], "chess"),
        ([*PLAYERS, "json=no/such/folder/x.json"], "'no/such/folder/x.json'"),
        (["a=random", "b=nobody"], "'nobody'"),
        (["a=random"], "missing mandatory value: b"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert arena.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and sentence in err and len(err.splitlines()) == 1


def test_bad_input_from_the_shell() -> None:
    done = command(*PLAYERS, "pairz=3")
    assert done.returncode == 2 and done.stdout == ""
    assert "'pairz'" in done.stderr and len(done.stderr.splitlines()) == 1


def test_help_names_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert arena.main(["--help"]) == 0
    text = capsys.readouterr().out
    for key in ("a=", "b=", "pairs=", "seed=", "batch=", "threads=", "json=", "variant.name="):
        assert f"\n  {key}" in text
