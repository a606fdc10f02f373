"""Rollouts against games played one at a time, exact values, and what is told of them."""

import numpy as np
import pytest
from random_nets import make_net, play_out

from nardy.net.features import FEATURES, feature_rows
from nardy.net.net import Net, outcomes_by_numpy
from nardy.play import rollout as module
from nardy.play.bearoff import Bearoff
from nardy.play.possible import possible
from nardy.play.rollout import ROUND, rolled, rollout
from nardy.play.search import Search
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, flip, make_board, points_won
from nardy.rules.dice import ROLL_CHANCES, ROLLS, roll
from nardy.rules.variants import variant

SHORT = variant("short")
POINTS = np.array(SHORT.outcomes)
CONTACT = make_board({13: 1, 8: 1, 1: 1}, {20: 2, 6: 1})
RACE = make_board({6: 2, 4: 1}, {5: 2, 3: 1, 2: 1})
ON_ONES = make_board({1: 3}, {1: 3})
"""Every play is forced, so that it has one value however it is played."""


def pips_net() -> Net:
    """A net that believes in the pip count: the chance to win is logistic in the difference."""
    weights = np.zeros((FEATURES, 1), np.float32)
    weights[-2:, 0] = -1, 1
    table = (feature_rows().reshape(-1, FEATURES) @ weights).reshape(28, 31, 1)
    towards = np.array([[0, 0, -5, 5, 0, 0]], np.float32)
    level = np.array([-20, -20, 50, -50, -20, -20], np.float32)  # at activation 10, no difference
    return Net.build(SHORT, table, np.array([10], np.float32), [[(towards, level)]])


def slow_best(net: Net, board: Boards, dice: Boards, tables: Bearoff | None) -> tuple:
    """The afterstate of the highest static value, and the mover's chances there."""
    plays = afterstates(board[None], dice[None], SHORT).boards
    chances = []
    for play in plays:
        if points_won(play, SHORT):
            chances.append((POINTS == points_won(play, SHORT)).astype(float))
        elif tables and tables.covers(play[None])[0]:
            chances.append(tables.outcomes(flip(play)[None])[0, ::-1])
        else:
            theirs = outcomes_by_numpy(net, flip(play)[None])
            chances.append(possible(theirs, flip(play)[None], SHORT)[0, ::-1])
    best = int(np.argmax([row @ POINTS for row in chances]))
    return plays[best], chances[best].astype(float)


def slow_game(
    net: Net, board: Boards, game: int, seed: int, plies: int, tables: Bearoff | None
) -> tuple[np.ndarray, np.ndarray]:
    """One game's outcome with the luck of each roll taken from it, and as it was."""
    luck = np.zeros(6)
    for turn in range(plies):
        found = [slow_best(net, board, dice, tables) for dice in ROLLS]
        came = int(rolled(seed, np.array([game]), turn)[0])
        mean = sum(p * chances for p, (_, chances) in zip(ROLL_CHANCES, found, strict=True))
        play, chances = found[came]
        turned = slice(None, None, -1 if turn % 2 else 1)
        luck += (chances - mean)[turned]
        covered = tables is not None and bool(tables.covers(play[None])[0])
        if points_won(play, SHORT) or covered or turn + 1 == plies:
            return chances[turned] - luck, chances[turned]
        board = flip(play)
    raise AssertionError("unreachable")


@pytest.mark.parametrize("with_tables", [False, True])
def test_games_are_as_defined(
    with_tables: bool, tables: Bearoff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK", 1000)  # every reply
    net, exact = make_net(8), tables if with_tables else None
    boards = np.stack([CONTACT, make_board({8: 1, 1: 1}, {7: 1, 2: 1})])
    boards = np.repeat(boards, 3, 0)
    games, plies = np.arange(6), 4
    search = Search(net, 0, tables=exact)
    adjusted, raw = module.play_out(search, boards, games, 5, plies)
    for i, board in enumerate(boards):
        slow = slow_game(net, board, int(games[i]), 5, plies, exact)
        np.testing.assert_allclose(adjusted[i], slow[0], atol=2e-5)
        np.testing.assert_allclose(raw[i], slow[1], atol=2e-5)


def policy_value(net: Net, board: Boards, known: dict[bytes, float]) -> float:
    """Exact mean points of the player on roll where both play by static value."""
    key = board.tobytes()
    if key not in known:
        known[key] = 0.0
        for chance, dice in zip(ROLL_CHANCES, ROLLS, strict=True):
            play, _ = slow_best(net, board, dice, None)
            won = int(points_won(play, SHORT))
            known[key] += chance * (won or -policy_value(net, flip(play), known))
    return known[key]


def test_the_mean_is_right_whatever_the_net_believes() -> None:
    """A random net's opinion of luck is noise, and is taken out without a trace."""
    net = make_net(8, seed=3)
    board = make_board({5: 1, 2: 1}, {4: 1, 3: 1})
    exact = policy_value(net, board, {})
    result = rollout(net, board, games=720, seed=2)
    assert abs(result.equities[0] - exact) < 4 * result.stderrs[0]
    assert abs(result.raw_equities[0] - exact) < 4 * result.raw_stderrs[0]
    np.testing.assert_allclose(result.chances.sum(1), 1, atol=1e-4)
    assert result.chances[0] @ POINTS == pytest.approx(result.equities[0], abs=1e-5)


def test_the_tables_value_is_met(tables: Bearoff) -> None:
    boards = np.stack([ON_ONES, make_board({1: 2}, {1: 3}), make_board({1: 3}, {1: 1})])
    result = rollout(pips_net(), boards, games=360, seed=4)
    exact = tables.equities(boards)[:, 0]
    assert 0.1 < exact[0] < 0.9
    assert (np.abs(result.equities - exact) <= 4 * result.stderrs + 1e-5).all()


def test_luck_that_is_known_makes_results_narrow() -> None:
    boards = np.stack([RACE, make_board({10: 5, 8: 5, 6: 5}, {11: 5, 8: 5, 6: 5})])
    result = rollout(pips_net(), boards, games=288, plies=8, seed=1)
    assert (result.stderrs < 0.7 * result.raw_stderrs).all()
    gap = np.hypot(result.stderrs, result.raw_stderrs)
    assert (np.abs(result.equities - result.raw_equities) < 4 * gap).all()


def test_one_turn_is_the_exact_mean_over_rolls(monkeypatch: pytest.MonkeyPatch) -> None:
    """After one turn nothing is left of luck: every game gives the 1-ply value."""
    monkeypatch.setattr(module, "LOOK", 1000)
    net = make_net(8)
    boards = np.concatenate([np.stack([CONTACT, RACE]), play_out(SHORT, 8, 9)[0][-8:]])
    result = rollout(net, boards, games=2, plies=1)
    expected = Search(net, 1).chances(flip(boards), 1)[:, ::-1]
    np.testing.assert_allclose(result.chances, expected, atol=1e-5)
    assert (result.stderrs < 1e-6).all()


def test_plays_are_turned_and_finished_ones_exact() -> None:
    results = np.stack([RACE, make_board({}, {13: 15})])
    theirs = rollout(pips_net(), flip(RACE), games=36, plies=3, seed=1)
    ours = module.rollout_plays(pips_net(), results, 36, plies=3, seed=1)
    np.testing.assert_array_equal(ours.chances[0], theirs.chances[0, ::-1])
    assert ours.equities.tolist() == [-theirs.equities[0], 2]
    assert ours.stderrs.tolist() == [theirs.stderrs[0], 0]
    assert ours.games.tolist() == [36, 0]
    assert ours.chances[1].tolist() == (POINTS == 2).tolist()


def test_dice_are_stratified() -> None:
    even = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1, 2)
    games = np.arange(2 * 1296)
    first, second = rolled(3, games, 0), rolled(3, games, 1)
    for begin in range(0, len(games), 36):
        for rolls in (first, second):
            counts = np.bincount(rolls[begin : begin + 36], minlength=21)
            np.testing.assert_array_equal(counts, even)
    for block in (slice(0, 1296), slice(1296, None)):
        pairs = np.bincount(21 * first[block] + second[block], minlength=441)
        np.testing.assert_array_equal(pairs, np.outer(even, even).ravel())
    assert (first[:1296] != first[1296:]).any() and (first != rolled(4, games, 0)).any()


def test_later_dice_are_those_of_the_game() -> None:
    games = np.array([7, 1_000_000])
    for turn in (2, 9):
        dice = roll(3, games, np.full(2, turn), "reroll")
        chosen = ROLLS[rolled(3, games, turn)]
        np.testing.assert_array_equal(np.sort(chosen), np.sort(dice))


def test_seed_decides_and_threads_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOT", 20)
    boards = np.stack([RACE, CONTACT])
    one = rollout(make_net(8), boards, games=40, plies=3, seed=1)
    two = rollout(make_net(8), boards, games=40, plies=3, seed=1, threads=3)
    other = rollout(make_net(8), boards, games=40, plies=3, seed=2)
    for ours, theirs in zip(one, two, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert (one.equities != other.equities).all()


def test_a_position_has_the_same_games_alone() -> None:
    boards = np.stack([RACE, CONTACT])
    both = rollout(pips_net(), boards, games=72, plies=4)
    for i, board in enumerate(boards):
        alone = rollout(pips_net(), board, games=72, plies=4)
        assert alone.equities[0] == pytest.approx(both.equities[i], abs=1e-6)


def test_sums_are_means_and_standard_errors() -> None:
    rng = np.random.default_rng(0)
    sums = module._Sums(2, POINTS.astype(float))
    adjusted, raw = rng.dirichlet(np.ones(6), (2, 50))
    owners = rng.integers(0, 2, 50)
    for part in (slice(0, 20), slice(20, 50)):
        sums.add(owners[part], adjusted[part], raw[part])
    result = sums.result()
    for i in (0, 1):
        for chances, mean, error in (
            (adjusted, result.equities, result.stderrs),
            (raw, result.raw_equities, result.raw_stderrs),
        ):
            equity = chances[owners == i] @ POINTS
            assert mean[i] == pytest.approx(equity.mean())
            assert error[i] == pytest.approx(equity.std(ddof=1) / np.sqrt(len(equity)))
        np.testing.assert_allclose(result.chances[i], adjusted[owners == i].mean(0))
        assert result.games[i] == (owners == i).sum()


def test_it_stops_at_the_standard_error() -> None:
    boards = np.stack([ON_ONES, RACE])
    result = rollout(pips_net(), boards, games=6 * ROUND, stderr=0.02, plies=6)
    all_of_it = rollout(pips_net(), boards, games=6 * ROUND, plies=6)
    assert set((result.games % ROUND).tolist()) == {0}
    assert (all_of_it.games == 6 * ROUND).all()
    for i in (0, 1):
        assert result.stderrs[i] <= 0.02 or result.games[i] == 6 * ROUND
        fewer = int(result.games[i]) - ROUND
        if fewer:  # a round earlier it was still too wide
            before = rollout(pips_net(), boards[i], games=fewer, plies=6)
            assert before.stderrs[0] > 0.02
    assert len(set(result.games.tolist())) == 2  # or the rule was not tested


def test_what_a_table_knows_is_not_played(tables: Bearoff) -> None:
    told: list[float] = []
    boards = np.stack([ON_ONES, make_board({7: 1}, {1: 2})])
    result = rollout(make_net(8), boards, games=36, tables=tables, progress=told.append)
    assert result.games.tolist() == [0, 36]
    assert result.stderrs[0] == 0
    np.testing.assert_allclose(result.chances[0], tables.outcomes(boards[:1])[0], atol=1e-6)
    # he comes home or wins at once, and then the table has the word: nothing is left to chance
    assert result.stderrs[1] < 1e-6
    assert told[-1] == 1 and told == sorted(told)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"games": 1}, "games must be 2 or more, not 1"),
        ({"plies": 0}, "plies must be 1 or more, not 0"),
        ({"stderr": 0.0}, "stderr must be above 0, not 0.0"),
        ({"threads": 0}, "threads must be 1 or more, not 0"),
    ],
)
def test_bad_input_is_named(wrong: dict, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        rollout(make_net(8), RACE, **wrong)
    with pytest.raises(ValueError, match="the opponent has no checker left"):
        rollout(make_net(8), make_board({1: 1}, {}))
