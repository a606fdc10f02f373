"""Games with the cube and matches: the law, slow twins, independence of batch and threads."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from nets import random_net, save_net
from random_nets import SHORT, play_out
from slow_cube import cube_choices, near_equities

from nardy.match.cube import beaver, double, refuse, replies, take
from nardy.match.score import Score, match_score
from nardy.notation.matfile import write_match
from nardy.notation.matread import read_mat
from nardy.notation.record import CubeAction, Roll
from nardy.play.bearoff import tables_for
from nardy.play.cube_head import CubeHead, own_cube
from nardy.play.cubeful import (
    after_values,
    cube_values_at,
)
from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import Boards, flip, make_board, points_won, start_board
from nardy.rules.dice import ROLLS, random_words, roll
from nardy.rules.variants import variant
from train import arena
from train.cube_match import play_cube_match
from train.cube_players import BEAVER, PASS, TAKE, CubePlayer, NetCube, PeerCube, cube_player
from train.cube_result import CubeJudge, CubeResult, cube_record
from train.cube_trainer import HeadNetwork
from train.cube_worth import CubeWorth, stakes_of
from train.luck import OPENING_CHANCES, NetRolls
from train.match import play_match
from train.players import PipsPlayer, Rows


def random_head() -> CubeHead:
    torch.manual_seed(1)
    network = HeadNetwork(len(random_net(1).bias), 6, 5)
    torch.nn.init.normal_(network.last.weight, 0, 0.3)
    return network.head()


class Wild:
    """Moves greedily by pips and turns the cube at random, told by the position alone."""

    ply = 0

    def __init__(self, name: str, doubles: float, takes: float, seed: int = 0) -> None:
        self.name, self._chances, self._seed = name, (doubles, takes, 0.4), seed

    def choose(
        self, boards: Boards, dice: np.ndarray, results: Afterstates, scores: Sequence[Score]
    ) -> Rows:
        none = np.zeros(len(boards), np.int64)
        return PipsPlayer().choose(boards, dice, results, none, none)

    def _often(self, boards: Boards, scores: Sequence[Score], stream: int) -> np.ndarray:
        assert all(score.may_double for score in scores)  # K16, K17: nobody else is asked
        names = np.array([zlib.crc32(b.tobytes(), self._seed) for b in boards], np.int64)
        words = random_words(0, names, 0, 7 + stream) >> np.uint64(11)
        return words / 2.0**53 < self._chances[stream]

    def doubles(self, boards: Boards, scores: Sequence[Score]) -> np.ndarray:
        return self._often(boards, scores, 0)

    def answers(self, boards: Boards, scores: Sequence[Score]) -> np.ndarray:
        """Of the takes some are beavers, where the score has them."""
        takes = self._often(boards, scores, 1)
        may = np.array(["beaver" in replies(double(score)) for score in scores])
        return np.where(takes, np.where(may & self._often(boards, scores, 2), BEAVER, TAKE), PASS)

    def for_thread(self) -> "Wild":
        return self


WILD = Wild("wild", 0.5, 0.8), Wild("mild", 0.2, 0.5)
BEAVERS = Score(beavers=True, jacoby=True, auto_doubles=2)
STARTS = (
    Score(),
    Score(jacoby=True),
    BEAVERS,
    Score(stake_cap=3),
    Score(stake_cap=10),
    match_score(1),
    match_score(3),
    match_score(7, 6, 2, True),
)


# ---------------------------------------------------------------- the law


def test_without_a_double_it_is_money_play_without_the_cube() -> None:
    calm = Wild("calm", 0.0, 1.0), Wild("other", 0.0, 1.0)
    result = play_cube_match(*calm, SHORT, Score(), 20, seed=4)
    plain = play_match(PipsPlayer(), PipsPlayer(), SHORT, 20, seed=4)
    assert result.points.tolist() == plain.points.tolist()
    assert [result.won(name) for name in ("wins", "gammons", "backgammons", "passes")] == [
        *(plain.won(k) for k in (1, 2, 3)), 0,
    ]  # fmt: skip


def test_double_then_pass_pays_the_old_stake() -> None:
    """Whoever may doubles, and it is passed: the second turn ends every game at 1 (K16)."""
    eager = Wild("a", 1.0, 0.0), Wild("b", 1.0, 0.0)
    result = play_cube_match(*eager, SHORT, Score(), 10, save=20)
    # who does not start doubles first
    assert result.points.tolist() == [[-1, 1]] * 10
    for (game,) in result.saved:
        roll_, offer, answer = game.actions
        assert isinstance(roll_, Roll) and isinstance(offer, CubeAction)
        assert (offer.deed, answer.deed, game.points) == ("double", "drop", 1)
        assert offer.player == 1 - roll_.player == game.winner


@pytest.mark.parametrize("start", STARTS, ids=str)
def test_games_keep_the_law(start: Score) -> None:
    result = play_cube_match(*WILD, SHORT, start, 8, seed=2, save=16)
    for unit, games in enumerate(result.saved):
        score, seen = start, [0, 0]
        for game in games:
            assert list(game.score) == seen
            points = check_game(game, score)
            seen[points < 0] += abs(points)
            after = score.next_game(points)
            assert (after is None) == (game is games[-1]) or start.money
            score = after or score
        assert seen[0] - seen[1] == result.points[unit // 2, unit % 2]  # sums of points agree
        assert len(games) == result.games[unit // 2, unit % 2]
        if not start.money:
            assert max(seen) >= start.length or start.away != (start.length, start.length)
            assert len(games) <= 2 * start.length - 1  # a match always ends


def check_game(game: Any, score: Score) -> int:
    """Replay a record by the rules alone; a's points."""
    assert game.crawford == score.crawford
    view, rolled, board = replace(score, cube=game.actions[0].cube), 0, start_board(SHORT)
    assert view.cube <= 2**score.auto_doubles
    player = game.actions[0].player
    view = view if player == 0 else view.flip()
    offer = None
    for action in game.actions:
        assert action.board.tolist() == board.tolist()
        if isinstance(action, Roll):
            assert action.player == player and offer is None
            assert rolled or action.dice[0] != action.dice[1]  # K3
            board, player, rolled, view = flip(action.after), 1 - player, rolled + 1, view.flip()
        elif action.deed == "double":
            assert action.player == player and rolled and view.may_double
            offer = double(view)
            assert action.offered == offer.cube <= 64
        elif action.deed == "beaver":
            assert action.player == 1 - player and offer is not None
            assert "beaver" in replies(offer)
            offer = beaver(offer)
            assert action.offered == offer.cube
        else:
            assert offer is not None
            assert action.player == (player if offer.beavered else 1 - player)
            if action.deed == "drop":
                points = refuse(offer)
                assert action is game.actions[-1]
                assert points == min(view.cube, view.stake_cap or 64)
                return points if player == 0 else -points
            view, offer = take(offer), None
    multiple = int(points_won(flip(board), SHORT))
    points = view.flip().points(multiple)
    return points if player == 1 else -points


def test_nobody_doubles_in_the_crawford_game() -> None:
    eager = Wild("a", 1.0, 1.0), Wild("b", 1.0, 1.0)
    crawford = match_score(7, 6, 2, crawford=True)
    result = play_cube_match(*eager, SHORT, crawford, 6, save=12)
    for games in result.saved:
        assert all(isinstance(action, Roll) for action in games[0].actions)
        for later in games[1:]:  # afterwards the cube is live again (K17)
            assert any(isinstance(action, CubeAction) for action in later.actions)


def test_the_cube_stops_at_64_and_where_it_is_dead() -> None:
    eager = Wild("a", 1.0, 1.0), Wild("b", 1.0, 1.0)
    for start, highest in ((Score(), 64), (match_score(3), 4)):
        games = [g for unit in play_cube_match(*eager, SHORT, start, 3, save=6).saved for g in unit]
        cubes = [a.offered for g in games for a in g.actions if isinstance(a, CubeAction)]
        assert max(cubes) == highest


def test_jacoby_pays_one_for_a_gammon_at_a_centred_cube() -> None:
    calm = Wild("a", 0.0, 1.0), Wild("b", 0.0, 1.0)
    plain = play_cube_match(*calm, SHORT, Score(), 30)
    jacoby = play_cube_match(*calm, SHORT, Score(jacoby=True), 30)
    assert (np.abs(plain.points) > 1).any()
    assert jacoby.points.tolist() == np.sign(plain.points).tolist()


# ---------------------------------------------------------------- slow twin, independence


def slow_unit(players: Sequence[CubePlayer], start: Score, unit: int, seed: int) -> int:
    """One unit by itself, a step at a time; a's points."""
    total, score, number = 0, start, 0  # score: a's view
    most = max(2 * start.length - 1, 1)
    while True:
        dice_number = unit // 2 * most + number
        first = unit % 2
        if not start.money:
            one, other = roll(seed, [dice_number], [0])[0]
            first = (first + (other > one)) % 2
        points = slow_game(players, score, first, dice_number, seed)
        total, following = total + points, score.next_game(points)
        if following is None or start.money:
            return total
        score, number = following, number + 1


def slow_game(
    players: Sequence[CubePlayer], score: Score, seat: int, number: int, seed: int
) -> int:
    board, ply, view = start_board(SHORT), 0, score.flip() if seat else score
    while True:
        sign = -1 if seat else 1
        if ply and view.may_double and players[seat].doubles(board[None], [view])[0]:
            answer = players[1 - seat].answers(board[None], [view])[0]
            if answer == PASS:
                return sign * old_stake(view)
            view = replace(view, cube=view.cube * (4 if answer == BEAVER else 2), owner="theirs")
        dice = roll(seed, [number], [ply])
        results = afterstates(board[None], dice, SHORT)
        board = results.boards[players[seat].choose(board[None], dice, results, [view])[0]]
        won = int(points_won(board, SHORT))
        if won:
            return sign * view.points(won)
        board, ply, seat, view = flip(board), ply + 1, 1 - seat, view.flip()


def old_stake(view: Score) -> int:
    """What a pass costs: the stake as it was (K16), no more than the bound (K18)."""
    return min(view.cube, view.stake_cap or view.cube)


def nets() -> tuple[NetCube, NetCube]:
    return NetCube(random_net(1), "one"), NetCube(random_net(2, last=0.3), "two")


@pytest.mark.parametrize(
    "start", [Score(), Score(beavers=True), Score(stake_cap=3), match_score(3)], ids=str
)
def test_slow_twin(start: Score) -> None:
    for players, pairs in ((WILD, 12), (nets(), 3)):
        slow = [[slow_unit(players, start, 2 * p + leg, 5) for leg in (0, 1)] for p in range(pairs)]
        result = play_cube_match(*players, SHORT, start, pairs, 5, batch=5, threads=2)
        assert result.points.tolist() == slow


def test_swapping_the_players_negates_the_result() -> None:
    for start in (Score(), match_score(3)):
        one = play_cube_match(*WILD, SHORT, start, 10)
        other = play_cube_match(*WILD[::-1], SHORT, start, 10)
        assert (one.points == -other.points[:, ::-1]).all()
        assert (one.endings == other.endings[::-1]).all()
        assert one.mean == (-other.mean if start.money else pytest.approx(1 - other.mean))


def test_a_player_against_itself_is_even() -> None:
    net = NetCube(random_net(1), "one")
    judge = CubeJudge(NetRolls(random_net(2)), "judge")
    result = play_cube_match(net, net, SHORT, match_score(2), 3, judge=judge)
    assert result.adjusted is not None
    assert (result.mean, result.ci95) == (0.5, 0)
    assert result.adjusted.ppg == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize("with_head", [False, True])
@pytest.mark.parametrize("with_tables", [False, True])
def test_worth_in_bulk_is_the_slow_one(with_head: bool, with_tables: bool) -> None:
    """Every position at a score of its own, by nardy.play.cubeful."""
    net, head = random_net(1), random_head() if with_head else None
    tables = tables_for(SHORT) if with_tables else None
    boards = np.concatenate([play_out(SHORT, 12, 30)[0][::5], [make_board({2: 2}, {3: 2})] * 3])
    chances, rng = net.outcomes(boards), np.random.default_rng(1)
    kinds = [Score(), Score(cube=2, owner="mine", beavers=True), match_score(5, 3, 4),
             Score((2, 4), 5, cube=2, owner="mine"), Score(jacoby=True)]  # fmt: skip
    scores = [kinds[i] for i in rng.integers(len(kinds), size=len(boards))]
    worth, cube = CubeWorth(net, head, tables), own_cube(net, head, tables)
    places, stakes = stakes_of(scores)
    found = worth.values(boards, chances, places, stakes)
    for ours, slow in zip(found, cube_values_at(boards, chances, scores, cube), strict=True):
        np.testing.assert_allclose(ours, slow, atol=1e-5)
    double, take, _ = worth.actions(boards, chances, places, stakes)
    may = np.array([score.may_double for score in scores])
    slow_double, slow_take = cube_choices(boards, chances, scores, cube)
    assert may.sum() > 20
    assert (double[may] == slow_double[may]).all() and (take[may] == slow_take[may]).all()
    owners = np.arange(len(boards)) // 3
    near = worth.near(boards, chances, owners, places, stakes)
    slow_near = near_equities(boards, chances, scores, owners, cube)
    np.testing.assert_allclose(near, slow_near, atol=1e-5)
    assert np.isinf(near).any()


# ---------------------------------------------------------------- luck


def test_luck_has_the_mean_zero_at_every_roll() -> None:
    """Whatever the score: the sum over the rolls by their chances; the opening has no doubles."""
    judge = CubeJudge(NetRolls(random_net(3)), "judge")
    few = CubeJudge(NetRolls(random_net(3), most=2), "judge", random_head())
    boards = np.repeat(start_board(SHORT)[None], len(ROLLS), 0)
    plies = np.zeros(len(ROLLS), np.int64)
    for score in (Score(cube=4, owner="mine"), match_score(5, 3, 4)):
        for one in (judge, few):
            luck = one.luck(boards, ROLLS, plies, [score] * len(ROLLS))
            assert luck @ OPENING_CHANCES == pytest.approx(0, abs=1e-6)
            assert np.abs(luck).max() > 1e-4


def test_luck_is_told_by_the_cubeful_value() -> None:
    """One roll by hand: value after the best reply less the mean of such values."""
    net, score = random_net(3), Score(cube=2, owner="theirs")
    board, dice = start_board(SHORT), np.array([[6, 5]], np.uint8)
    rolls = NetRolls(net)
    replies, chances = rolls.chances(board[None])
    values = after_values(replies[0], chances[0], [score] * len(ROLLS))
    weights = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1, 2) / 36
    row = next(i for i, (high, low) in enumerate(ROLLS.tolist()) if (high, low) == (6, 5))
    luck = CubeJudge(rolls, "judge").luck(board[None], dice, np.array([3]), [score])
    assert luck[0] == pytest.approx(values[row] - values @ weights, abs=1e-6)


def test_equal_opening_dice_double_the_stake() -> None:
    """A sixth of the games at 2, a thirty-sixth at 4 with two allowed; twins alike."""
    calm = Wild("a", 0.0, 1.0), Wild("b", 0.0, 1.0)
    plain = play_cube_match(*calm, SHORT, Score(), 80)
    doubled = play_cube_match(*calm, SHORT, Score(auto_doubles=2), 80)
    stakes = doubled.points / plain.points
    assert (stakes[:, 0] == stakes[:, 1]).all() and set(stakes[:, 0]) == {1.0, 2.0, 4.0}
    assert 0.05 < (stakes[:, 0] > 1).mean() < 0.3


def test_figures() -> None:
    points = np.array([[2, -4], [1, 1]])
    money = CubeResult("x", "y", "short", 0, Score(), points, np.ones((2, 2)), np.ones((2, 4)), 1.0)
    # pairs -1 and 1: standard deviation √2, of their mean 1
    assert money.mean == money.ppg == 0 and money.ci95 == pytest.approx(1.96)
    match = replace(money, start=match_score(3), games=np.array([[3, 2], [4, 1]]))
    assert match.mean == 0.75 and match.ppg == 0


# ---------------------------------------------------------------- command line, peers


def test_the_arena_plays_for_money_and_matches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [save_net(tmp_path / name, random_net(n)) for n, name in enumerate("ab")]
    for asked, kind in (
        (["cube=money", "jacoby=true", "beavers=true"], "money"),
        (["length=2"], "match"),
    ):
        file, mat = tmp_path / f"{kind}.json", tmp_path / f"{kind}.mat"
        keys = [f"a={folders[0]}", f"b={folders[1]}", "pairs=2", "threads=1", "luck=true"]
        assert arena.main([*keys, *asked, f"json={file}", f"mat={mat}"]) == 0
        written, printed = json.loads(file.read_text()), capsys.readouterr().out
        assert written["cube"] == kind and written["adjusted"]["judge"] == str(folders[0])
        assert (written["mwc"] is None) == (kind == "money") and written["pairs"] == 2
        assert ("with the luck taken out" in printed) and written["length"] == 2 * (kind == "match")
        record = read_mat(mat.read_text())
        assert record.length == written["length"] and record.games
        assert record.jacoby == (kind == "money")


def test_a_written_match_reads_back(tmp_path: Path) -> None:
    result = play_cube_match(*WILD, SHORT, match_score(5), 2, save=1)
    record = cube_record(result, SHORT)
    again = read_mat(write_match(record))
    assert [game.points for game in again.games] == [game.points for game in record.games]
    assert [len(game.actions) for game in again.games] == [len(g.actions) for g in record.games]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["cube=on"], "cube must be off or money, not 'on'"),
        (["length=99"], "a match is played to 1 to 25 points, not 99"),
        (["length=3", "cube=money"], "length=3 is for a match"),
        (["jacoby=true"], "jacoby=true needs cube=money"),
        (["length=3", "stake_cap=10"], "stake_cap=10 needs cube=money"),
        (["cube=money", "stake_cap=5"], "stake_cap is none, 3 or 10, not 5"),
        (["cube=money", "auto_doubles=9"], "0 to 6 automatic doubles, not 9"),
        (["cube=money", "auto_doubles=1", "mat=x.mat"], "the format has no automatic doubles"),
        (["cube=money"], "'random' has no cube"),
        (["cube=money", "variant=hyper"], "'random' has no cube"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert arena.main(["a=random", "b=pips", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and sentence in err and len(err.splitlines()) == 1


def test_numbers_and_games_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="pairs must be at least 2, not 1"):
        play_cube_match(*WILD, SHORT, Score(), 1)
    with pytest.raises(ValueError, match="short is played without the cube"):
        play_cube_match(*WILD, variant("short", cube="off"), Score(), 2)
    with pytest.raises(ValueError, match="^long is played without the cube$"):
        cube_player("gnubg", variant("long"))


def test_peers_refuse_options_that_they_do_not_know() -> None:
    for name, start, word in (
        ("gnubg", Score(beavers=True), "beavers=true is not for gnubg"),
        ("bgsage", Score(jacoby=True), "jacoby=true is not for bgsage"),
        ("gnubg", Score(stake_cap=10), "stake_cap=10 is not for gnubg"),
    ):
        with pytest.raises(ValueError, match=word):
            cube_player(name, SHORT, start=start)


@pytest.mark.parametrize("name", ["gnubg", "bgsage"])
def test_peers_play_with_their_own_cube(name: str) -> None:
    try:
        peer = cube_player(name, SHORT)
    except ValueError as error:
        pytest.skip(str(error))
    assert isinstance(peer, PeerCube)
    start = start_board(SHORT)
    gammon = np.zeros(26, np.int8)
    gammon[[1, 24]] = 2, -15  # certain to win a gammon: too good, or a pass
    boards, scores = np.stack([start, gammon]), [Score(), Score()]
    assert not peer.doubles(boards, scores)[0]
    assert peer.answers(boards, scores).tolist() == [TAKE, PASS]
    helpless = NetCube(random_net(1), "net")
    assert play_cube_match(peer, helpless, SHORT, match_score(2), 2).mean == 1.0
