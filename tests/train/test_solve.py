"""Solved games against a dictionary swept by the referee's rules, gnubg's solver, and play."""

import json
import subprocess
from pathlib import Path

import exact
import numpy as np
import pytest
import referee
from random_nets import make_net, play_out

from nardy.play.possible import possible
from nardy.rules import kernel
from nardy.rules.batch import afterstates
from nardy.rules.board import flip, make_board, start_board
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.variants import Variant, variant
from train import small_games, solve
from train.luck import LuckJudge
from train.match import play_match
from train.players import NetPlayer, PipsPlayer, player
from train.solved import SolvedGame, TablePlayer, TableRolls, decisions, judged

pytestmark = pytest.mark.skipif(not kernel.jit_enabled, reason="too slow without numba")
ONE = variant("hyper", start={24: 1}, opening="reroll")
TWO = variant("hyper", start={24: 2}, opening="reroll")
CUBES = len(solve.CUBES)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games of one and two checkers, solved with and without a cube."""
    folder = tmp_path_factory.mktemp("exact")
    for game in (ONE, TWO):
        for cube in (False, True):
            solve.solve(game.checkers, cube, 1e-5, solve.game_folder(folder, game, cube))
    return folder


def solved(folder: Path, game: Variant, cube: bool = False) -> SolvedGame:
    return SolvedGame.load(solve.game_folder(folder, game, cube), game)


# ---------------------------------------------------------------- against slow twins


@pytest.mark.parametrize("start", [{24: 1}, {6: 1}])
def test_one_checker_is_the_dictionarys(folder: Path, start: dict[int, int]) -> None:
    game = variant("hyper", start=start)
    values = exact.solve(tuple(start_board(game).tolist()), 1)
    boards = np.array(list(values), np.int8)
    assert len(boards) > 10
    found = solved(folder, game).equity(boards)
    np.testing.assert_allclose(found, list(values.values()), atol=1e-5)


def test_two_checkers_at_home_are_the_dictionarys(folder: Path) -> None:
    game = variant("hyper", start={6: 1, 4: 1})
    values = exact.solve(tuple(start_board(game).tolist()), 2)
    found = solved(folder, game).equity(np.array(list(values), np.int8))
    np.testing.assert_allclose(found, list(values.values()), atol=1e-5)


def slow_backup(found: SolvedGame, board: np.ndarray) -> list[float]:
    """What the values of what follows give this board, for each cube state, by the referee."""
    totals = np.zeros(len(found.cubes))
    for chance, dice in zip(ROLL_CHANCES, ROLLS.tolist(), strict=True):
        worth = []
        for after in sorted(referee.results(board, dice)):
            points = referee.points_won(after, found.game.checkers)
            next_board = flip(np.array(after, np.int8))[None]
            kinds = range(len(found.cubes))
            theirs = [points or float(found.equity(next_board, k)[0]) for k in kinds]
            if points:
                worth.append(theirs)
            elif len(theirs) == 1:
                worth.append([-theirs[0]])
            else:
                centred, own, other = theirs
                doubled = min(2 * other, 1)
                worth.append([-max(centred, doubled), -other, -max(own, doubled)])
        totals += chance * np.max(worth, 0)
    return totals.tolist()


@pytest.mark.parametrize("cube", [False, True])
@pytest.mark.parametrize("game", [ONE, TWO], ids=["one", "two"])
def test_values_obey_their_equation(folder: Path, game: Variant, cube: bool) -> None:
    found = solved(folder, game, cube)
    for board in play_out(game, 8, 60)[0][::16]:
        values = [float(found.equity(board[None], k)[0]) for k in range(len(found.cubes))]
        assert values == pytest.approx(slow_backup(found, board), abs=2e-5)


def test_known_values(folder: Path) -> None:
    """An ace against anything wins a gammon; with a cube too, and before: a pass costs one."""
    board = make_board({1: 1}, {6: 1})[None]
    assert solved(folder, ONE).equity(board) == pytest.approx([2])
    cubeful = solved(folder, ONE, cube=True)
    assert [float(cubeful.equity(board, k)[0]) for k in range(CUBES)] == pytest.approx([2] * 3)
    # on the bar against a closed 20 point, 5-5 only passes
    shut = make_board({25: 1}, {5: 2})
    bearing = solved(folder, TWO).equity(shut[None])
    assert bearing == pytest.approx(slow_backup(solved(folder, TWO), shut), abs=2e-5)


@pytest.mark.skipif(not Path("/usr/games/makehyper").exists(), reason="gnubg is not installed")
def test_one_checker_is_gnubgs(folder: Path, tmp_path: Path) -> None:
    """gnubg's makehyper: five chances, then equities owned, centred, centred with Jacoby, the
    opponent's, all in three bytes. Of two checkers and more its forced passes forget the cube."""
    path = tmp_path / "hyper1.bd"
    make = ["/usr/games/makehyper", "-c", "1", "-n", "-f", str(path)]
    subprocess.run(make, check=True, capture_output=True, timeout=60, cwd=tmp_path)
    records = np.fromfile(path, np.uint8, offset=40).reshape(26, 26, 28)[..., :27].astype(float)
    numbers = records.reshape(26, 26, 9, 3) @ [1, 256, 65536] / (2**24 - 1)
    win, gammon, backgammon, lost, deep = numbers[..., :5].transpose(2, 0, 1)
    cubeless = 2 * win - 1 + gammon + backgammon - lost - deep
    cubeful = 6 * numbers[..., [6, 5, 8]].transpose(2, 0, 1) - 3
    points = np.arange(26)
    apart = points[:, None] + points != 25  # else both would stand on one point
    apart |= (points == 25) | (points[:, None] == 25)
    apart[0] = apart[:, 0] = False
    ours = solved(folder, ONE).values, solved(folder, ONE, cube=True).values
    np.testing.assert_allclose(ours[0][0][apart], cubeless[apart], atol=1e-5)
    np.testing.assert_allclose(ours[1][:, apart], cubeful[:, apart], atol=1e-5)


# ---------------------------------------------------------------- plays and bounds


@pytest.mark.parametrize("checkers", [1, 2, 3])
def test_listed_plays_are_the_referees(checkers: int) -> None:
    """Following a list, with the blots that are there, gives the referee's results."""
    game = variant("hyper", start={24: checkers})
    states = solve.space(checkers)
    ranks = {side.tobytes(): rank for rank, side in enumerate(states.sides)}
    for board, dice, _ in zip(*play_out(game, 12, 40), strict=True):
        own = ranks[np.maximum(board, 0).tobytes()]
        other = ranks[np.maximum(flip(board), 0).tobytes()]
        roll = [tuple(r) for r in ROLLS.tolist()].index(tuple(sorted(dice.tolist())[::-1]))
        first = (own * small_games.CLOSED + states.closed[other]) * 21 + roll
        found = set()
        for play in range(states.offsets[first], states.offsets[first + 1]):
            bits = [int(states.touched[play]) >> int(blot) & 1 for blot in states.blots[other]]
            left = states.hit[other, bits[0] + 2 * bits[1] + 4 * bits[2]]
            after = states.sides[states.after[play]] + flip(states.sides[left])
            found.add(tuple(after.tolist()))
        assert found == referee.results(board, dice)


@pytest.mark.parametrize("cube", [False, True])
def test_bounds_hold_from_the_first_sweep(folder: Path, cube: bool) -> None:
    final = solved(folder, ONE, cube).values
    states = solve.space(1)
    bounds = solve.first_bounds(states, cube)
    legal = (states.own_mask[:, None] & states.other_mask) == 0
    legal[0] = legal[:, 0] = False
    gaps = []
    for _ in range(8):
        gaps.append(solve.sweep(states, bounds, 0.0)[0])
        assert (bounds[:, 0, legal] <= final[:, legal] + 2e-5).all()
        assert (bounds[:, 1, legal] >= final[:, legal] - 2e-5).all()
        assert gaps[-1] == pytest.approx((bounds[:, 1] - bounds[:, 0])[:, legal].max())
    assert gaps == sorted(gaps, reverse=True) and gaps[-1] < 0.1


def test_an_uncompiled_sweep_is_the_compiled_one(monkeypatch: pytest.MonkeyPatch) -> None:
    states, found = solve.space(1), []
    for enabled in (True, False):
        monkeypatch.setattr(kernel, "jit_enabled", enabled)
        bounds = solve.first_bounds(states, cube=True)
        for _ in range(2):
            told = solve.sweep(states, bounds, 0.0)
        json.dumps(told)  # what solve keeps
        found.append(bounds)
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_sweeps_end_where_float32_does(tmp_path: Path) -> None:
    """Bounds asked to meet come as near as their rounding lets them."""
    assert 0 <= float(str(solve.solve(2, True, 0.0, tmp_path)["gap"])) < 2e-6


@pytest.mark.parametrize("cube", [False, True])
def test_a_killed_run_goes_on_from_its_bounds(folder: Path, tmp_path: Path, cube: bool) -> None:
    class Killed(Exception):
        pass

    place = tmp_path / "game"
    with pytest.MonkeyPatch.context() as patch:
        sweep, done = solve.sweep, []

        def three(*arguments: object) -> tuple[float, float]:
            if len(done) == 3:
                raise Killed
            done.append(1)
            return sweep(*arguments)  # type: ignore[arg-type]

        patch.setattr(solve, "sweep", three)
        with pytest.raises(Killed):
            solve.solve(1, cube, 1e-5, place, save_seconds=0)
    assert not (place / "values.npy").exists() and (place / "bounds.npy").exists()
    meta = solve.solve(1, cube, 1e-5, place)
    whole = json.loads((solve.game_folder(folder, ONE, cube) / "meta.json").read_text())
    assert meta["sweeps"] == whole["sweeps"]
    assert (np.load(place / "values.npy") == solved(folder, ONE, cube).values).all()
    assert sorted(path.name for path in place.iterdir()) == ["meta.json", "values.npy"]


# ---------------------------------------------------------------- players and judgement


def test_the_exact_player_beats_the_others(folder: Path) -> None:
    table = TablePlayer(solved(folder, TWO))
    match = play_match(table, PipsPlayer(), TWO, pairs=400, seed=1)
    assert match.ppg - match.ci95 > 0
    assert play_match(table, table, TWO, pairs=20, seed=1).ppg == 0


def test_the_arena_knows_the_exact_player(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    with pytest.raises(ValueError, match="python -m train.solve"):
        player("exact", TWO)
    (folder.parent / "runs").mkdir(exist_ok=True)
    place = folder.parent / "runs" / "exact"
    if not place.exists():
        place.symlink_to(folder)
    assert player("exact", TWO).name == "exact"


def test_judgement_is_the_slow_one(folder: Path) -> None:
    truth = solved(folder, TWO)
    asked = decisions(truth, 60, seed=3)
    assert (len(asked.boards), asked.boards.dtype) == (60, np.int8)
    net = make_net(8, game=TWO)
    found = judged(NetPlayer(net, "net"), truth, asked)
    losses, errors = [], []
    for board, dice in zip(asked.boards, asked.dice, strict=True):
        results = afterstates(board[None], dice[None], TWO).boards
        assert len(results) > 1
        worth = truth.after(results)
        going, after = (results > 0).any(-1), flip(results)
        theirs = possible(net.outcomes(after), after, TWO) @ np.array(TWO.outcomes)
        prices = np.where(going, -theirs, worth)
        losses.append(worth.max() - worth[prices.argmax()])
        errors.append(abs(net.equity(board[None])[0] - truth.equity(board[None])[0]))
    assert found.loss == pytest.approx(np.mean(losses), abs=1e-5) and found.loss > 0
    assert found.error == pytest.approx(np.mean(errors), abs=1e-5)
    perfect = judged(TablePlayer(truth), truth, asked)
    assert (perfect.loss, perfect.error) == (0, None)


def test_first_player(folder: Path) -> None:
    """With doubles it is the mean over all rolls, which is the start's value before the roll."""
    for cube in (False, True):
        truth = solved(folder, TWO, cube)
        start = float(truth.equity(start_board(TWO)[None])[0])
        assert truth.first_player() == pytest.approx(start, abs=2e-5)
    unequal = SolvedGame(
        variant("hyper", start={24: 2}), truth.values, {"cubes": truth.cubes, "gap": 0}
    )
    assert abs(unequal.first_player() - start) > 1e-3


def test_the_command_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [f"folder={folder}", "variant.start={24:2}", "variant.opening=reroll"]
    assert solve.main(asked) == 0
    assert "first player's equity" in capsys.readouterr().out
    path = tmp_path / "loss.json"
    assert solve.main([*asked, "against=pips", "decisions=500", f"json={path}"]) == 0
    assert "± " in capsys.readouterr().out
    assert json.loads(path.read_text())["rows"][0]["loss"] > 0
    for wrong, why in (
        ("variant.start={24:4}", "not 4"),
        ("against=nowhere", "'nowhere'"),
        ("nonsense=1", "nonsense"),
        ("decisions=0", "not 0"),
        ("within=nan", "not nan"),
        ("within=-1", "not -1"),
        (f"folder={tmp_path}/none against=pips", "none/2-checkers"),
    ):
        assert solve.main([*asked, *wrong.split()]) == 2
        said = capsys.readouterr()
        assert not said.out and why in said.err and said.err.count("\n") == 1
    (folder / "2-checkers" / "meta.json").rename(tmp_path / "meta.json")
    assert solve.main(asked) == 0  # killed between its last two files, it is solved again
    assert (folder / "2-checkers" / "meta.json").exists()


def test_a_solved_game_judges_luck(folder: Path) -> None:
    """By exact values the luck of a roll is what it changes, and its mean is nothing."""
    game = ONE
    known = solved(folder, game)
    judge = LuckJudge(TableRolls(known), "exact")
    board = start_board(game)
    boards = np.repeat(board[None], 21, 0)
    luck = judge.luck(boards, ROLLS, np.ones(21, np.int64))
    assert abs(float(luck @ ROLL_CHANCES)) < 1e-6
    value = float(known.equity(board[None])[0])
    for i, roll in enumerate(ROLLS):
        results = afterstates(board[None], roll[None], game).boards
        assert luck[i] == pytest.approx(float(known.after(results).max()) - value, abs=1e-4)
