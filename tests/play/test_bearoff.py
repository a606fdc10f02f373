"""Bear-off tables against slow, obvious twins, known values, and gnubg's own tables."""

import functools
import subprocess
from math import comb
from pathlib import Path

import numpy as np
import pytest
import referee
from hypothesis import given
from hypothesis import strategies as st
from races import (
    Side,
    after_sides,
    all_sides,
    board_of,
    random_boards,
    slow_all_off_within,
    slow_equities,
    slow_mean,
    slow_race,
)
from random_nets import make_net, play_out

from nardy.notation.ids import from_position_id
from nardy.play import bearoff, bearoff_kernels, bearoff_make
from nardy.play.bearoff import Bearoff
from nardy.play.search import Search
from nardy.rules import kernel
from nardy.rules.batch import afterstates
from nardy.rules.board import flip, make_board, points_won
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.variants import variant

SHORT = variant("short")
POINTS = np.array(SHORT.outcomes)


# ---------------------------------------------------------------- ranks


def slow_rank(side: Side, most: int) -> int:
    """A side's place among all, compared by how many stand on or above 1, then 2, …"""
    return sorted_sides(len(side), most).index(tuple(np.cumsum(side[::-1])[::-1].tolist()))


@functools.cache
def sorted_sides(points: int, most: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for _ in range(points):
        found = [(n, *rest) for rest in found for n in range(rest[0] if rest else 0, most + 1)]
    return sorted(found)


def test_ranks_count_every_side_once(kernels: str) -> None:
    boards = np.zeros((comb(6 + 4, 6), 26), np.int8)
    bearoff_kernels.unrank_all(6, boards)
    ranks = np.zeros((len(boards), 2), np.int64)
    bearoff_kernels.rank_pairs(boards, 6, ranks)
    assert ranks[:, 0].tolist() == list(range(len(boards)))
    assert len({board.tobytes() for board in boards}) == len(boards)
    bearoff_kernels.rank_pairs(flip(boards), 6, ranks)
    assert ranks[:, 1].tolist() == list(range(len(boards)))
    slow = [slow_rank(tuple(board[1:7].tolist()), 4) for board in boards]
    assert slow == list(range(len(boards)))


@given(st.lists(st.integers(1, 25), max_size=15), st.sampled_from([6, 7, 8, 25]))
def test_unrank_undoes_rank(where: list[int], points: int) -> None:
    board = np.zeros((1, 26), np.int8)
    for point in where:
        board[0, min(point, points)] += 1
    found = np.zeros(26, np.int8)
    bearoff_kernels.unrank(bearoff_kernels.rank_own(board, 0, points), points, found)
    assert found.tolist() == board[0].tolist()


# ---------------------------------------------------------------- one-sided


def table_means(table: np.ndarray) -> np.ndarray:
    """float64[M], mean rolls to bear off."""
    columns = table["first"][:, None] + np.arange(table["rolls"].shape[1])
    return (table["rolls"] / bearoff_make.SCALE * columns).sum(-1)


def test_means_of_a_table_of_four_checkers_are_the_slow_ones() -> None:
    mean, spread, mean1, spread1 = bearoff_make.one_sided_floats(6, 4, lambda share: None)
    sides = all_sides(4)
    np.testing.assert_allclose(mean, [slow_mean(side, False) for side in sides], atol=1e-12)
    np.testing.assert_allclose(mean1, [slow_mean(side, True) for side in sides], atol=1e-12)
    for chances, means in ((spread, mean), (spread1, mean1)):
        np.testing.assert_allclose(chances.sum(-1), 1, atol=1e-12)
        np.testing.assert_allclose(chances @ np.arange(chances.shape[1]), means, atol=1e-12)
    # no play is likelier to be off within t rolls than the best one for that t
    for side, row in list(zip(sides, spread, strict=True))[::7]:
        for rolls in range(1, 5):
            assert row[: rolls + 1].sum() <= slow_all_off_within(side, rolls) + 1e-12


def test_the_shipped_table_begins_with_the_table_of_four_checkers(tables: Bearoff) -> None:
    whole = np.load(bearoff.SHIPPED / "one-sided-6x15.npy")
    small = bearoff_make.make_one_sided(6, 4, lambda share: None)
    assert len(whole) == 54_264
    assert (whole["first"][: len(small)] == small["first"]).all()
    for name in ("rolls", "save"):
        width = small[name].shape[1]
        assert (whole[name][: len(small), :width] == small[name]).all()
        assert not whole[name][: len(small), width:].any()
        assert (whole[name].sum(-1, dtype=np.int64)[1:] == bearoff_make.SCALE).all()


def test_means_of_the_shipped_table_obey_their_recursion() -> None:
    """E(s) = 1 + Σ p(roll) min E(after), by the referee, on forty sides of 15 checkers."""
    table = np.load(bearoff.SHIPPED / "one-sided-6x15.npy")
    means = table_means(table)
    rng = np.random.default_rng(5)
    for rank in rng.integers(38_760, 54_264, 40):
        board = np.zeros(26, np.int8)
        bearoff_kernels.unrank(int(rank), 6, board)
        total = 1.0
        for chance, ways in zip(ROLL_CHANCES, after_sides(tuple(board[1:7].tolist())), strict=True):
            boards = np.array([board_of(side, (0,) * 6) for side in ways])
            ranks = np.zeros((len(boards), 2), np.int64)
            bearoff_kernels.rank_pairs(boards, 6, ranks)
            total += chance * means[ranks[:, 0]].min()
        assert means[rank] == pytest.approx(total, abs=2e-3)


def test_a_table_of_seven_points_agrees_where_six_suffice() -> None:
    six = bearoff_make.one_sided_floats(6, 3, lambda share: None)[0]
    seven = bearoff_make.one_sided_floats(7, 3, lambda share: None)[0]
    boards = np.zeros((len(six), 26), np.int8)
    bearoff_kernels.unrank_all(6, boards)
    ranks = np.zeros((len(boards), 2), np.int64)
    bearoff_kernels.rank_pairs(boards, 7, ranks)
    assert seven[ranks[:, 0]].tolist() == six.tolist()
    board = make_board({7: 1, 2: 1}, {})
    expected = 1.0
    for chance, dice in zip(ROLL_CHANCES, ROLLS.tolist(), strict=True):
        after = np.array(sorted(referee.results(board, dice)), np.int8)
        ranks = [bearoff_kernels.rank_own(after, i, 7) for i in range(len(after))]
        expected += chance * seven[ranks].min()
    assert seven[bearoff_kernels.rank_own(board[None], 0, 7)] == pytest.approx(expected, abs=1e-12)


# ---------------------------------------------------------------- two-sided


def test_equities_of_two_checkers_are_the_slow_ones(tables: Bearoff) -> None:
    sides = [side for side in all_sides(2) if any(side)]
    pairs = [(mover, enemy) for mover in sides for enemy in sides]
    boards = np.array([board_of(*pair) for pair in pairs])
    expected = [slow_equities(*pair) for pair in pairs]
    np.testing.assert_allclose(tables.equities(boards), expected, atol=1e-6)


def test_equities_of_three_checkers_are_the_slow_ones(tables: Bearoff) -> None:
    sides = all_sides(3)
    rng = np.random.default_rng(2)
    pairs = [(sides[i], sides[j]) for i, j in rng.integers(40, 84, (20, 2))]
    boards = np.array([board_of(*pair) for pair in pairs])
    expected = [slow_equities(*pair) for pair in pairs]
    np.testing.assert_allclose(tables.equities(boards), expected, atol=1e-6)


def test_known_equities(tables: Bearoff) -> None:
    """5 and 4 against an ace: ten rolls of 36 bear both off. A sure win is 1 with any cube, and a
    last roll is doubled from an even chance up: 3/4 to win is worth 1 with a centred cube."""
    board = from_position_id("AQAAoAAAAAAAAA")
    assert tables.equities(board[None])[0] == pytest.approx([-16 / 36] * 4)
    won = from_position_id("AQAABAAAAAAAAA")
    assert tables.equities(won[None])[0].tolist() == [1, 1, 1, 1]
    # 6 against an ace: 27 of 36 win at once; who waits a roll has lost
    board = make_board({6: 1}, {1: 1})[None]
    assert tables.equities(board)[0] == pytest.approx([0.5, 0.5, 0.5, 0.5])
    # three aces against that 6: a double wins; else he doubles if he may, and it is a pass
    board = make_board({1: 3}, {6: 1})[None]
    assert tables.equities(board)[0] == pytest.approx([-1 / 4, -2 / 3, -1 / 4, -2 / 3])


@pytest.mark.skipif(not Path("/usr/games/makebearoff").exists(), reason="gnubg is not installed")
def test_equities_are_those_of_gnubgs_table(tables: Bearoff, tmp_path: Path) -> None:
    """gnubg writes the same ranks in the same order: cubeless, owned, centred, the opponent's."""
    path = tmp_path / "ts.bd"
    make = ["/usr/games/makebearoff", "-t", "6x3", "-f", str(path)]
    subprocess.run(make, check=True, capture_output=True, timeout=60)
    theirs = np.fromfile(path, "<u2", offset=40).reshape(84, 84, 4) / 32767.5 - 1
    ours = np.load(bearoff.SHIPPED / "two-sided-6x3.npy")
    for mine, its in enumerate((0, 2, 1, 3)):
        np.testing.assert_allclose(ours[1:, 1:, mine], theirs[1:, 1:, its], atol=1e-4)


# ---------------------------------------------------------------- look-ups


@pytest.mark.parametrize("checkers", [3, 15])
def test_outcomes_are_the_double_sums(checkers: int, kernels: str) -> None:
    game = SHORT if checkers == 15 else variant("hyper")
    table = np.load(bearoff.SHIPPED / "one-sided-6x15.npy")
    nothing = np.zeros((1, 1, 4), np.float32)
    boards = random_boards(checkers, 60, seed=1)
    uneven = [board_of((1, 1, 0, 0, 0, 0), (0, 0, 0, 0, 0, checkers)),
              board_of((0, 0, 0, 0, 1, checkers - 1), (0, 2, 0, 0, 0, 0))]  # fmt: skip
    boards = np.concatenate([boards, uneven])
    found = Bearoff(game, table, nothing).outcomes(boards)
    expected = [slow_race(table, board, checkers) for board in boards]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found[-2, 4] > 0.01 and found[-1, 1] > 0.01  # gammons are among them


def test_two_distributions_come_near_the_exact_chances(tables: Bearoff) -> None:
    one = Bearoff(SHORT, np.load(bearoff.SHIPPED / "one-sided-6x15.npy"), tables._two[:1, :1])
    boards = random_boards(3, 300, seed=3)
    exact, nearly = tables.outcomes(boards), one.outcomes(boards)
    np.testing.assert_allclose(exact @ POINTS, tables.equities(boards)[:, 0], atol=1e-6)
    assert 0 < np.abs(exact - nearly).max() < 5e-3


def test_one_sided_play_loses_next_to_nothing() -> None:
    """By the two-sided table, points a decision on races of up to six checkers."""
    if not kernel.jit_enabled:
        pytest.skip("too slow without numba")
    one = np.load(bearoff.SHIPPED / "one-sided-6x15.npy")
    both = Bearoff(SHORT, one, bearoff_make.make_two_sided(6, lambda share: None))
    single = Bearoff(SHORT, one, both._two[:1, :1])
    search = Search(make_net(8), 0, tables=single)
    boards = np.repeat(random_boards(6, 300, seed=9), 21, 0)
    results = afterstates(boards, np.tile(ROLLS, (300, 1)), SHORT)
    worth = points_won(results.boards, SHORT).astype(np.float32)
    going = worth == 0
    assert single.covers(results.boards[going]).all()
    assert not single.covers_exactly(results.boards[going]).any()
    worth[going] = -both.equities(flip(results.boards[going]))[:, 0]
    best = np.maximum.reduceat(worth, results.offsets[:-1])
    loss = best - worth[search.best(boards, results)]
    assert 0 < loss[np.diff(results.offsets) > 1].mean() < 3e-5


def slow_covers(board: np.ndarray) -> bool:
    sides = [[p for p in range(1, 26) if b[p] > 0] for b in (board, flip(board))]
    return all(side and max(side) <= 6 for side in sides)


def test_what_is_covered(tables: Bearoff, kernels: str) -> None:
    boards = np.concatenate([play_out(SHORT, 20, 150)[0][::7], random_boards(15, 20, seed=4)])
    ends = np.zeros((2, 26), np.int8)
    ends[0, 3], ends[1, 22] = 2, -2  # one side has finished
    boards = np.concatenate([boards, ends])
    expected = [slow_covers(board) for board in boards]
    assert 20 <= sum(expected) < len(boards)
    assert tables.covers(boards).tolist() == expected
    assert tables.covers(flip(boards)).tolist() == expected
    chances = np.full((len(boards), 6), 7, np.float32)
    assert tables.settle(boards, chances).tolist() == expected
    assert (chances[~np.array(expected)] == 7).all()
    np.testing.assert_allclose(chances[expected].sum(-1), 1, atol=1e-5)
    assert (chances[expected] >= 0).all()


def test_gammons_leave_the_two_sided_table_out(tables: Bearoff) -> None:
    """In a game of three checkers a side that has all three may still lose two points."""
    hyper = Bearoff(variant("hyper"), np.load(bearoff.SHIPPED / "one-sided-6x15.npy"), tables._two)
    boards = np.array([board_of((1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, n)) for n in (2, 3)])
    assert hyper.covers_exactly(boards).tolist() == [True, False]
    assert hyper.outcomes(boards)[:, 4].tolist() == [0, 1]


def test_seven_points_reach_farther() -> None:
    table = bearoff_make.make_one_sided(7, 15, lambda share: None)
    six = np.load(bearoff.SHIPPED / "one-sided-6x15.npy")
    two = np.load(bearoff.SHIPPED / "two-sided-6x3.npy")
    wide, narrow = Bearoff(SHORT, table, two, points=7), Bearoff(SHORT, six, two)
    boards = random_boards(15, 200, seed=7)
    np.testing.assert_allclose(wide.outcomes(boards), narrow.outcomes(boards), atol=1e-6)
    far = make_board({7: 1, 3: 4}, {7: 2, 1: 3})[None]
    assert wide.covers(far)[0] and not narrow.covers(far)[0]
    assert 0.5 < wide.outcomes(far)[0, 3:].sum() < 1
    with pytest.raises(ValueError, match="no bear-off table reaches"):
        narrow.outcomes(far)


def test_wastage(tables: Bearoff) -> None:
    """One checker on the ace point takes one roll; seven pips of 49/6 are wasted."""
    mover, opponent = tables.wastage(make_board({1: 1}, {6: 15}))
    assert (mover.mean_rolls, mover.wastage) == pytest.approx((1, 49 / 6 - 1))
    assert opponent.effective_pips == pytest.approx(90 + opponent.wastage)
    assert 5 < opponent.wastage < 12
