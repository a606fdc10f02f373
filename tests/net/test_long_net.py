"""Nets of long nardy: every fast path against plain numpy, and both sides' views against each
other."""

import numpy as np
import pytest
import torch
from random_nets import make_net, play_out

from nardy.net import kernels as net_kernels
from nardy.net.features import (
    CODES,
    FEATURES,
    PAIR_REACH,
    PAIR_ROWS,
    PAIR_SHAPE,
    cells_of,
    feature_names,
    feature_rows,
    pair_index,
    phases_of,
    table_index,
    turn_pairs,
    turn_table,
)
from nardy.net.net import Evaluator, Net, outcomes_by_numpy
from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import Boards, make_board, pip_counts, points_won, start_board, turn
from nardy.rules.variants import variant
from train.device import DeviceEvaluator, encode_on, pair_rows, points_on, race_rows
from train.encode import encode, encode_pairs

LONG = variant("long")
FAMILY = LONG.family
POINTS = np.array(LONG.outcomes, np.float32)
Turns = tuple[Boards, np.ndarray]


@pytest.fixture(scope="module")
def turns() -> Turns:
    """1,000 boards with a roll for each, from every stage of random games."""
    boards, dice, _ = play_out(LONG, games=50, turns=200)
    return boards[::10], dice[::10]


@pytest.fixture(scope="module")
def finished() -> Boards:
    """Boards on which the player who moved has borne off all, in his view."""
    _, _, chosen = play_out(LONG, games=100, turns=250)
    return chosen[points_won(chosen, LONG) > 0]


def other(point: int) -> int:
    """Where the opponent counts a point of the mover's (rules.md)."""
    return point + 12 if point <= 12 else point - 12


def test_the_positions_are_of_every_kind(turns: Turns, finished: Boards) -> None:
    boards, dice = turns
    assert len(boards) == 1000 and not boards[:, [0, 25]].any()
    assert 20 < phases_of(boards, 2, FAMILY).sum() < 900
    assert (np.maximum(boards, 0).sum(-1) < 15).sum() > 50
    assert (dice[:, 0] == dice[:, 1]).sum() > 100
    assert set(points_won(finished, LONG).tolist()) == {1, 2}


def test_pips_are_counted_along_each_players_own_way(turns: Turns) -> None:
    boards, names = turns[0], feature_names()
    vectors = encode(boards, 15, family=FAMILY)
    mine, theirs = pip_counts(boards, FAMILY)
    np.testing.assert_allclose(vectors[:, names.index("own pips")], mine / 50, rtol=1e-5)
    np.testing.assert_allclose(vectors[:, names.index("opponent pips")], theirs / 50, rtol=1e-5)
    start = encode(start_board(LONG)[None], 15, family=FAMILY)[0]
    assert start[-2] == start[-1] == pytest.approx(360 / 50)


def test_a_turned_table_prices_the_other_side(turns: Turns) -> None:
    table = make_net(5, game=LONG).table

    def sums(table: np.ndarray, boards: Boards) -> np.ndarray:
        rows = table.reshape(-1, table.shape[-1])
        return rows[table_index(cells_of(boards, 15))].sum(1)

    boards = turns[0]
    found = sums(turn_table(table, FAMILY), boards)
    np.testing.assert_allclose(found, sums(table, turn(boards, FAMILY)), atol=1e-4)
    assert (turn_table(turn_table(table, FAMILY), FAMILY) == table).all()


def pairs_seen(board: np.ndarray) -> set[tuple[int, int, int, int]]:
    """(lower cell, distance - 1, code of it, code of the upper), walking on from each cell."""

    def code(cell: int) -> int:
        return (0 if board[cell] > 0 else 2) + (abs(board[cell]) > 1)

    found = set()
    for lower in range(1, 25):
        upper = lower
        for distance in range(PAIR_REACH):
            upper = 1 if upper == 24 else upper + 1
            if board[lower] and board[upper]:
                found.add((lower, distance, code(lower), code(upper)))
    return found


def test_pairs_run_on_over_the_seams(turns: Turns) -> None:
    boards = turns[0][::10]
    for board, index in zip(boards, pair_index(boards, FAMILY), strict=True):
        rows = index[index < PAIR_ROWS]
        found = list(zip(*np.array(np.unravel_index(rows, PAIR_SHAPE)).tolist(), strict=True))
        assert set(found) == pairs_seen(board) and len(set(found)) == len(found)
        listed, begin = encode_pairs(board[None], FAMILY)
        assert sorted(listed.tolist()) == sorted(rows.tolist()) and begin.tolist() == [0]
    seam = make_board({24: 2, 1: 1}, {}, FAMILY)
    assert pairs_seen(seam) == {(24, 0, 1, 0)}


def test_turned_pairs_price_the_other_side(turns: Turns) -> None:
    boards, pairs = turns[0][::20], make_net(9, game=LONG).pairs

    def sums(table: np.ndarray, boards: Boards) -> np.ndarray:
        padded = np.concatenate([table, np.zeros((1, 3), np.float32)])
        return padded[pair_index(boards, FAMILY)].sum(1)

    found = sums(turn_pairs(pairs, FAMILY), boards)
    np.testing.assert_allclose(found, sums(pairs, turn(boards, FAMILY)), atol=1e-4)
    assert CODES == 4 and np.abs(found).max() > 1


def test_a_race_is_where_neither_can_come_in_the_others_way(turns: Turns) -> None:
    """A side may yet stand on its checkers' points and on all below; in a race no point may be
    both sides'. Beyond, a side that blocks the first point of another's way is contact."""
    boards = turns[0]
    slow = []
    for board in boards.tolist():
        mine = max(cell for cell in range(1, 25) if board[cell] > 0)
        his = max(other(cell) for cell in range(1, 25) if board[cell] < 0)
        shared = set(range(1, mine + 1)) & {other(point) for point in range(1, his + 1)}
        slow.append(int(not shared))
    assert phases_of(boards, 2, FAMILY).tolist() == slow
    assert phases_of(turn(boards, FAMILY), 2, FAMILY).tolist() == slow
    assert [int(net_kernels.standing(boards, i, True)) for i in range(len(boards))] == slow
    assert not phases_of(boards, 1, FAMILY).any()


def test_known_races() -> None:
    boards = [
        make_board({12: 1}, {12: 1}, FAMILY),
        make_board({13: 1}, {12: 1}, FAMILY),
        make_board({12: 1}, {14: 1}, FAMILY),
        make_board({24: 1}, {6: 1}, FAMILY),
    ]
    assert phases_of(np.array(boards), 2, FAMILY).tolist() == [1, 0, 0, 0]


SHAPES = ((16, (16,), 1), (33, (5, 3), 2))


@pytest.mark.parametrize(("width", "tail", "phases"), SHAPES)
def test_outcomes_values_and_choice_equal_the_numpy_twin(
    turns: Turns, width: int, tail: tuple[int, ...], phases: int, kernels: str
) -> None:
    step = 1 if kernels == "numba" else 25
    boards, dice = turns[0][::step], turns[1][::step]
    net = make_net(width, tail, phases, game=LONG)
    chances = net.outcomes(boards)
    assert chances.shape == (len(boards), 4)
    np.testing.assert_allclose(chances, outcomes_by_numpy(net, boards), atol=2e-6)
    results = afterstates(boards, dice, LONG)
    values = Evaluator(net).values(boards, results)
    np.testing.assert_allclose(values, slow_values(net, results), atol=1e-5)
    best, after = Evaluator(net).choose(boards, results)
    firsts = [
        begin + values[begin:end].argmax()
        for begin, end in zip(results.offsets, results.offsets[1:], strict=False)
    ]
    assert best.tolist() == firsts
    on = points_won(results.boards[best], LONG) == 0
    twin = outcomes_by_numpy(net, turn(results.boards[best[on]], FAMILY))
    np.testing.assert_allclose(after[on], twin, atol=2e-6)


def slow_values(net: Net, results: Afterstates) -> np.ndarray:
    """float32[N] for the player who moved: points where he has finished, else minus the next's."""
    points = points_won(results.boards, LONG).astype(np.float32)
    theirs = outcomes_by_numpy(net, turn(results.boards, FAMILY)) @ POINTS
    return np.where(points > 0, points, -theirs)


def test_a_finished_game_is_worth_one_or_two(turns: Turns, finished: Boards) -> None:
    parents = turns[0][: len(finished)]
    results = Afterstates(finished[: len(parents)], np.arange(len(parents) + 1))
    values = Evaluator(make_net(7, game=LONG)).values(parents, results)
    assert (values == points_won(results.boards, LONG)).all()


def test_the_device_path(turns: Turns, finished: Boards) -> None:
    boards, dice = turns
    on_device = torch.from_numpy(boards)
    assert (pair_rows(on_device, FAMILY).numpy() == pair_index(boards, FAMILY)).all()
    assert (race_rows(on_device, FAMILY).numpy() == phases_of(boards, 2, FAMILY)).all()
    rows = torch.from_numpy(feature_rows(FAMILY).reshape(-1, FEATURES))
    encoded = encode(boards, 15, family=FAMILY)
    np.testing.assert_allclose(encode_on(on_device, 15, rows).numpy(), encoded, atol=1e-5)
    some = np.concatenate([boards, finished])
    won = points_on(torch.from_numpy(some), 15, FAMILY).numpy()
    assert (won == points_won(some, LONG)).all()
    net = make_net(24, game=LONG)
    device = DeviceEvaluator(net, "cpu", torch.float32)
    np.testing.assert_allclose(device.outcomes(boards), net.outcomes(boards), atol=1e-5)
    results = afterstates(boards, dice, LONG)
    values = Evaluator(net).values(boards, results)
    best, _ = device.choose(boards, results)
    tops = np.maximum.reduceat(values, results.offsets[:-1])
    np.testing.assert_allclose(values[best], tops, atol=1e-4)
