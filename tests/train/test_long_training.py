"""Long nardy in training and in the arena: self-play, targets, runs, export, the fixed players."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from random_nets import make_net, play_out
from toy import arguments, files

from nardy.match.score import Score, match_score
from nardy.net.features import phases_of
from nardy.net.net import Evaluator, Net, outcomes_by_numpy
from nardy.play.cubeful import after_equities, cube_values_at, formula_of, six
from nardy.rules.batch import Workspace, afterstates
from nardy.rules.board import ending, make_board, points_won, start_board, turn
from nardy.rules.dice import ROLL_CHANCES, ROLLS, roll
from nardy.rules.variants import Variant, variant
from train import arena, solve
from train.__main__ import main
from train.config import Config, parse
from train.cube_worth import CubeWorth, stakes_of
from train.encode import encode, encode_pairs
from train.export import export, reference_positions
from train.heuristic import HeuristicPlayer, row_values, scores
from train.learner import Fit
from train.loop import Window
from train.match import play_match
from train.net_folder import net_meta
from train.network import ValueNetwork, to_net
from train.players import PipsPlayer, RandomPlayer, installed_opponents, load_net, player
from train.selfplay import Games, Tally
from train.targets import one_roll
from train.trainer import Round, Trainer

LONG = variant("long")
FAMILY = LONG.family
POINTS = np.array(LONG.outcomes)
DRAWS = variant("long", last_roll="second_player")
OPTIONS = {"prime_check": "end_of_turn", "head_exception_rolls": "any_if_stuck", "cube": "on"}


# ---------------------------------------------------------------- self-play and targets


def test_returns_follow_the_game_to_its_end() -> None:
    """With lambda 1 every position's return is the game's outcome, from its mover's side."""
    net = make_net(12, game=LONG)
    games = Games(LONG, 1, 1.0, 1000, 4, np.arange(4))
    sample, tally = games.play(Evaluator(net), 250)
    assert tally.games >= 4 and tally.backgammons == tally.draws == tally.cut_off == 0
    assert sample.targets.shape == (tally.positions, 4)
    assert set(sample.targets.max(1).tolist()) == {1.0}
    ends = [i for i, board in enumerate(sample.boards) if follows_none(i, sample.boards)]
    assert len(ends) == tally.games
    for i in ends:  # whoever was on roll last has won
        assert sample.targets[i, 2:].sum() == 1
    assert (sample.targets[1:] == sample.targets[:-1, ::-1]).all(1).mean() > 0.9


def follows_none(i: int, boards: np.ndarray) -> bool:
    """Whether position i is the last of its game: the next one is not from its opponent's side."""
    if i + 1 == len(boards):
        return True
    seen = turn(boards[i + 1], FAMILY)
    return bool((np.minimum(seen, 0) != np.minimum(boards[i], 0)).any())


def test_one_roll_targets_are_means_over_rolls() -> None:
    net = make_net(12, game=LONG)
    boards = play_out(LONG, games=4, turns=160)[0][::60]
    targets = one_roll(Evaluator(net), boards, LONG, Workspace())
    for board, target in zip(boards, targets, strict=True):
        slow = np.zeros(4)
        for chance, dice in zip(ROLL_CHANCES, ROLLS, strict=True):
            after = afterstates(board[None], dice[None], LONG).boards
            won = points_won(after, LONG)
            theirs = outcomes_by_numpy(net, turn(after, FAMILY))
            values = np.where(won > 0, won, -(theirs @ POINTS))
            best = int(values.argmax())
            slow += chance * (POINTS == won[best] if won[best] else theirs[best, ::-1])
        np.testing.assert_allclose(target, slow, atol=1e-5)


def test_draws_and_losses_count_as_ends() -> None:
    """The window leaves out what a game never pays, and draws count as games that ended."""
    games = Games(DRAWS, 1, 0.7, 50, 3, np.arange(3))
    tally = Tally()
    for points in (0, -2, None):
        games._begin_next(0, points, tally)
    assert (tally.games, tally.draws, tally.gammons, tally.cut_off) == (3, 1, 1, 1)
    for game, tag in ((LONG, "play/backgammons"), (LONG, "play/draws")):
        assert np.isnan(shown(game, tally)[tag])
    assert shown(DRAWS, tally)["play/draws"] == pytest.approx(1 / 3)
    assert shown(variant("short"), tally)["play/backgammons"] == 0


def shown(game: Variant, tally: Tally) -> dict[str, float]:
    """What a line of figures says of a tally."""
    window = Window(game.outcomes)
    window.add(Round(tally, Fit(0, 0.0), 1e-3), 1.0)
    return window.values()


# ---------------------------------------------------------------- runs


RUN = (
    "variant=long", "net.hidden=16", "net.tail=[8]", "net.pairs=4", "algo.games_in_flight=16",
    "algo.minibatch=128", "games=40", "seed=3",
)  # fmt: skip


def test_a_run_from_start_to_export_and_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    chosen = [f"variant.{name}={value}" for name, value in OPTIONS.items()]
    assert main(arguments(*RUN, *chosen, "name=whole")) == 0
    said = capsys.readouterr().out
    assert "against heuristic" in said and "gnubg" not in said
    net = Net.load("runs/whole/net")
    assert net.variant == variant("long", **OPTIONS)
    assert load_net("runs/whole", net.variant).variant == net.variant
    rows = [json.loads(line) for line in Path("runs/whole/metrics.jsonl").read_text().splitlines()]
    assert "arena/heuristic" in rows[-1] and "play/backgammons" not in rows[-1]

    assert main(arguments(*RUN, *chosen, "name=halves", "games=20")) == 0
    assert main(arguments(*RUN, *chosen, "name=halves", "games=40", "resume=auto")) == 0
    whole, halves = (files(Path("runs", name, "net")) for name in ("whole", "halves"))
    assert set(whole) == set(halves)
    assert json.loads(halves["meta.json"])["games"] >= 40
    other = [*chosen, "variant.prime_rule=forbid"]
    assert main(arguments(*RUN, *other, "name=halves", "games=60", "resume=auto")) == 2
    assert "cannot go on with variant.prime_rule='forbid'" in capsys.readouterr().err


def test_one_roll_runs_learn_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overrides = [*RUN, "algo=one_roll", "algo.label=0.1", "threads=1"]
    trainer = Trainer(parse("train", Config, overrides))
    with ThreadPoolExecutor(1) as pool:
        for _ in range(8):
            done = trainer.round(pool)
    assert done.tally.positions > 0 and trainer.learner.steps > 0


def test_options_reach_the_variant() -> None:
    overrides = [f"variant.{name}={value}" for name, value in OPTIONS.items()]
    config = parse("train", Config, ["variant=long", *overrides])
    assert config.variant.make() == variant("long", **OPTIONS)
    assert parse("train", Config, ["variant=long"]).variant.make() == LONG
    for wrong, says in (
        ("variant.prime_rule=maybe", "'maybe'"),
        ("variant.colour=red", "'colour'"),
        ("variant=short variant.prime_rule=forbid", "prime_rule='forbid' is of long nardy"),
    ):
        with pytest.raises(ValueError, match=says) as caught:
            parse("train", Config, wrong.split(" "))
        assert "\n" not in str(caught.value)


def test_the_learner_sees_what_the_net_computes() -> None:
    """torch's network on features, and the folded net on boards, are one function."""
    torch.manual_seed(2)
    network = ValueNetwork(24, [16], 2, 4, pairs=8)
    assert network.pairs is not None
    torch.nn.init.normal_(network.pairs.weight, std=0.2)
    for tail in network.tails:
        torch.nn.init.normal_(tail[-1].weight)
    boards = play_out(LONG, games=8, turns=200)[0][::9]
    phases = phases_of(boards, 2, FAMILY)
    order = np.argsort(phases, kind="stable")
    rows, begin = encode_pairs(boards[order], FAMILY)
    with torch.no_grad():
        logits = network(
            torch.from_numpy(encode(boards[order], 15, family=FAMILY)),
            np.bincount(phases, minlength=2).tolist(),
            (torch.from_numpy(rows), torch.from_numpy(begin)),
        )
    expected = np.empty((len(boards), 4), np.float32)
    expected[order] = torch.softmax(logits, -1).numpy()
    np.testing.assert_allclose(to_net(network, LONG).outcomes(boards), expected, atol=1e-5)


@pytest.mark.parametrize("phases", [1, 2])
def test_the_graph_computes_what_the_net_does(phases: int, tmp_path: Path) -> None:
    net = make_net(24, (8,), phases, game=variant("long", **OPTIONS))
    export(net, {}, tmp_path / "net")
    shipped = Net.load(tmp_path / "net")
    assert shipped.variant == net.variant
    before, _, after = play_out(LONG, games=20, turns=220)
    finished = turn(after[points_won(after, LONG) > 0], FAMILY)[:5]
    boards = np.concatenate([before[::9], finished])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(tmp_path / "net/net.onnx", options)
    (found,) = session.run(None, {"boards": boards})
    np.testing.assert_allclose(found, outcomes_by_numpy(shipped, boards), atol=1e-5)
    reference = json.loads((tmp_path / "net/reference.json").read_text())
    assert len(reference["boards"]) == 50 and len(reference["expected"][0]) == 4


def test_meta_says_what_is_not_as_usual() -> None:
    assert net_meta(make_net(4, game=LONG))["variant_options"] == {"start": {24: 15}}
    told = net_meta(make_net(4, game=variant("long", **OPTIONS)))["variant_options"]
    assert told == {"start": {24: 15}, **OPTIONS}
    boards = reference_positions(LONG, 60)
    assert not boards[:, [0, 25]].any() and len(np.unique(boards, axis=0)) > 40


# ---------------------------------------------------------------- players


def test_heuristic_knows_what_holds() -> None:
    prime = {18: 2, 17: 2, 16: 2, 15: 2, 14: 2, 24: 5}
    free = {18: 2, 17: 2, 16: 2, 15: 2, 9: 2, 24: 5}
    boards = np.array([make_board(own, {24: 15}, FAMILY) for own in (prime, free)])
    # the rows lie on the enemy's 6..2 and stop all that is behind them
    assert row_values(boards)[0] > row_values(boards)[1] > 0
    far = make_board({12: 2, 11: 2, 10: 2, 9: 2, 8: 2, 1: 5}, {19: 15}, FAMILY)
    assert row_values(far[None])[0] == 0  # those rows are on his 20..24, which he has left
    assert scores(boards, 15)[0] > scores(boards, 15)[1]


def slow_row_value(board: np.ndarray) -> float:
    """The worth of each whole row by its length and by the enemies behind it."""
    worth = (0.0, 0.0, 0.1, 0.4, 1.0, 2.2, 4.0)
    his = {(c + 12 if c <= 12 else c - 12): int(-board[c]) for c in range(1, 25) if board[c] < 0}
    mine = {c + 12 if c <= 12 else c - 12 for c in range(1, 25) if board[c] > 0}
    total = 0.0
    for first in mine:
        if first - 1 in mine:
            continue
        last = first
        while last + 1 in mine:
            last += 1
        behind = sum(count for number, count in his.items() if number > last)
        total += worth[min(last - first + 1, 6)] * behind / 15
    return total


def test_rows_are_weighed_as_written() -> None:
    boards = play_out(LONG, games=5, turns=150)[0][::8]
    found = row_values(boards)
    assert found.max() > 0.3
    np.testing.assert_allclose(found, [slow_row_value(board) for board in boards], atol=1e-9)


def test_the_fixed_opponents_of_long() -> None:
    assert installed_opponents(LONG) == ["random", "pips", "heuristic"]
    assert "heuristic" not in installed_opponents(variant("short"))
    with pytest.raises(ValueError, match="is for long nardy, not 'short'"):
        player("heuristic", variant("short"))
    match = play_match(HeuristicPlayer(LONG), RandomPlayer(1), LONG, pairs=30, seed=2)
    assert match.ppg > 0.5 and match.won(3) == 0


def test_pips_counts_along_the_players_own_way() -> None:
    """Two checkers alone differ in pips where one bears off with a larger die than it needs."""
    board = make_board({6: 1, 1: 1}, {6: 15}, FAMILY)
    dice = np.array([[6, 5]], np.uint8)
    results = afterstates(board[None], dice, LONG)
    none = np.zeros(1, np.int64)
    chosen = results.boards[PipsPlayer(FAMILY).choose(board[None], dice, results, none, none)]
    assert not np.maximum(chosen, 0).any()


# ---------------------------------------------------------------- matches


def test_draws_end_games_and_are_counted() -> None:
    """Two checkers a side near their ends: with the last roll for the second player many games
    are drawn, and who began is not cheated of a win (D13)."""
    start = {2: 2}
    with_draws = variant("long", start=start, last_roll="second_player", opening="reroll")
    pips = PipsPlayer(FAMILY)
    match = play_match(pips, pips, with_draws, pairs=200, seed=1)
    assert set(match.points.ravel().tolist()) == {-2, 0, 2} or match.draws > 0.3
    slow = [slow_game(with_draws, 1, pair) for pair in range(200)]
    assert match.points[:, 0].tolist() == slow
    assert (match.points[:, 0] == -match.points[:, 1]).all()  # one player, one dice, seats swapped
    assert "draws" in arena.report(match)


def slow_game(game, seed: int, pair: int) -> int:  # type: ignore[no-untyped-def]
    """Points of the starter when both play the fewest pips, one turn at a time."""
    board, ply = start_board(game), 0
    while True:
        dice = roll(seed, [pair], [ply], game.opening)
        results = afterstates(board[None], dice, game)
        none = np.zeros(1, np.int64)
        row = PipsPlayer(game.family).choose(board[None], dice, results, none, none)[0]
        over, points = ending(results.boards[row], game, np.array(ply % 2 == 0))
        if over:
            return int(points) if ply % 2 == 0 else -int(points)
        board, ply = turn(results.boards[row], game.family), ply + 1


def test_the_arena_of_two_long_nets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in (1, 2):
        export(make_net(12, (8,), seed=seed, game=LONG), {}, tmp_path / f"net{seed}")
    asked = [f"a={tmp_path}/net1", f"b={tmp_path}/net2", "variant=long", "pairs=4", "threads=1"]
    assert arena.main([*asked, "luck=true", f"json={tmp_path}/result.json"]) == 0
    said = capsys.readouterr().out
    assert "gammons" in said and "backgammons" not in said
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["backgammons"] == 0 and result["variant"] == "long"
    assert arena.main([*asked, "ply=1", "pairs=2"]) == 0
    capsys.readouterr()
    for wrong, says in (
        (f"mat={tmp_path}/games.mat", "the format has no long nardy"),
        (
            "variant.prime_rule=forbid",
            "plays long with prime_rule=front_checker_ahead, and this match is long with "
            "prime_rule=forbid\n",
        ),
        ("judge=exact", "long nardy cannot be solved here"),
    ):
        assert arena.main([*asked, wrong]) == 2
        error = capsys.readouterr().err
        assert says in error and error.count("\n") == 1


def test_a_long_net_plays_nardgammon_with_the_cube(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The games differ by the cube alone, so that one net serves both."""
    export(make_net(12, (8,), game=LONG), {}, tmp_path / "net")
    asked = [f"a={tmp_path}/net", f"b={tmp_path}/net", "threads=1", "pairs=2"]
    for how in (["cube=money", "luck=true"], ["length=2"]):
        assert arena.main([*asked, "variant=nardgammon", *how, f"json={tmp_path}/out.json"]) == 0
        result = json.loads((tmp_path / "out.json").read_text())
        assert result["variant"] == "nardgammon" and result["pairs"] == 2
        assert result["backgammons"] == 0
    capsys.readouterr()
    assert arena.main([*asked, "variant=long", "cube=money"]) == 2
    assert capsys.readouterr().err == "train.arena: long is played without the cube\n"


def test_worth_in_bulk_is_the_slow_one_for_nardgammon() -> None:
    """Of train.cube_worth, which the arena asks, and nardy.play.cubeful."""
    game = variant("nardgammon")
    net, scores = make_net(12, (8,), game=game), (Score(), match_score(5, 3, 1))
    boards, dice, _ = play_out(LONG, games=3, turns=90)
    boards, dice = boards[::20], dice[::20]
    asked = [scores[i % 2] for i in range(len(boards))]
    worth, (kinds, stakes) = CubeWorth(net, None, None), stakes_of(asked)
    chances = net.outcomes(boards)
    cube = formula_of(game.family)
    slow = cube_values_at(boards, six(chances, game), asked, cube)
    np.testing.assert_allclose(worth.values(boards, chances, kinds, stakes), slow, atol=1e-9)
    results = afterstates(boards, dice, game)
    owners = np.repeat(np.arange(len(boards)), np.diff(results.offsets))
    chances = net.outcomes(results.boards)
    wanted = [asked[i] for i in owners.tolist()]
    found = worth.near(results.boards, chances, owners, kinds[owners], stakes)
    slow = after_equities(results.boards, six(chances, game), wanted, cube, game.family)
    near = np.isfinite(found)
    assert near.any() and not near.all()
    np.testing.assert_allclose(found[near], slow[near], atol=1e-9)


def test_small_games_of_long_are_not_solved(capsys: pytest.CaptureFixture[str]) -> None:
    assert solve.main(["variant=long", "variant.start={24:2}"]) == 2
    assert "long nardy cannot be solved here" in capsys.readouterr().err
