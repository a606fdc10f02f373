"""Features: what a row says, the turned and the step table, phases."""

import numpy as np
import pytest
from random_nets import SHORT, make_net

from nardy.net import kernels as net_kernels
from nardy.net.features import (
    CELLS,
    COUNTS,
    FEATURES,
    OPPONENT_OFF,
    OWN_OFF,
    PAIR_REACH,
    PAIR_ROWS,
    PAIR_SHAPE,
    cells_of,
    feature_names,
    feature_rows,
    pair_index,
    phases_of,
    step_table,
    table_index,
    turn_pairs,
    turn_table,
)
from nardy.rules.board import Boards, flip, make_board, pip_counts, start_board
from train.encode import encode_pairs

Turns = tuple[Boards, np.ndarray]


def first_sums(table: np.ndarray, boards: Boards) -> np.ndarray:
    """float64[N, H]: the table's rows summed cell by cell."""
    total = np.zeros((len(boards), table.shape[-1]))
    for i, cells in enumerate(cells_of(boards, SHORT.checkers).tolist()):
        for cell, count in enumerate(cells):
            total[i] += table[cell, count + 15]
    return total


def test_each_feature_has_a_name_of_its_own() -> None:
    assert len(set(feature_names())) == FEATURES == feature_rows().shape[-1]


def test_features_of_the_start_read_as_the_board() -> None:
    names = feature_names()
    vector = first_sums(feature_rows(), start_board(SHORT)[None])[0]
    said = dict(zip(names, vector.tolist(), strict=True))
    assert said["own >=4 on 13"] == 1 and said["own over on 13"] == 0.25
    assert said["own >=2 on 24"] == 1 and said["own >=3 on 24"] == 0
    assert said["opponent >=2 on 1"] == 1 and said["opponent >=4 on 12"] == 1
    assert said["own off >=1"] == 0 and said["opponent off share"] == 0
    assert said["own pips"] == said["opponent pips"] == pytest.approx(167 / 50)


def test_pips_and_borne_off_are_counted(turns: Turns) -> None:
    boards = turns[0][::10]
    names = feature_names()
    vectors = first_sums(feature_rows(), boards)
    own, other = pip_counts(boards)
    np.testing.assert_allclose(vectors[:, names.index("own pips")], own / 50, atol=1e-4)
    np.testing.assert_allclose(vectors[:, names.index("opponent pips")], other / 50, atol=1e-4)
    off = 15 - np.maximum(boards, 0).sum(-1)
    assert off.max() > 0
    np.testing.assert_allclose(vectors[:, names.index("own off share")], off / 15, atol=1e-5)
    steps = [names.index(f"own off >={step}") for step in range(1, 16)]
    np.testing.assert_allclose(vectors[:, steps].sum(-1), off)


def test_an_empty_cell_adds_nothing() -> None:
    assert not feature_rows()[:, 15].any()


def test_cells_end_with_what_is_borne_off(turns: Turns) -> None:
    cells = cells_of(turns[0], 15)
    assert (np.maximum(cells[:, :26], 0).sum(-1) + cells[:, OWN_OFF] == 15).all()
    assert (np.minimum(cells[:, :26], 0).sum(-1) - cells[:, OPPONENT_OFF] == -15).all()
    index = table_index(cells)
    assert (index // COUNTS == np.arange(CELLS)).all() and (index % COUNTS - 15 == cells).all()


def test_the_turned_table_prices_the_other_side(turns: Turns) -> None:
    boards, table = turns[0][::20], make_net(5).table
    np.testing.assert_allclose(
        first_sums(turn_table(table), boards), first_sums(table, flip(boards)), atol=1e-5
    )
    assert (turn_table(turn_table(table)) == table).all()


def test_steps_add_up_to_the_differences_of_rows() -> None:
    table = make_net(5).table
    step = step_table(table)
    assert not step[:, 0].any()
    for count in range(1, COUNTS):
        assert (step[:, count] == table[:, count - 1] - table[:, count]).all()
    np.testing.assert_allclose(step[:, 1:].sum(1), table[:, 0] - table[:, -1], atol=1e-4)


def pairs_seen(board: np.ndarray) -> set[tuple[int, int, int, int]]:
    """(lower cell, distance - 1, code of it, code of the upper), by the words of features.py."""

    def code(count: int) -> int:
        return (0 if count > 0 else 2) + (abs(count) > 1)

    return {
        (a, b - a - 1, code(int(board[a])), code(int(board[b])))
        for a in range(26)
        for b in range(a + 1, 26)
        if b - a <= PAIR_REACH and board[a] and board[b]
    }


def test_pairs_are_those_of_two_cells_near_each_other(turns: Turns) -> None:
    boards = turns[0][::10]
    for board, index in zip(boards, pair_index(boards), strict=True):
        rows = index[index < PAIR_ROWS]
        assert len(set(rows.tolist())) == len(rows)
        found = set(zip(*np.array(np.unravel_index(rows, PAIR_SHAPE)).tolist(), strict=True))
        assert found == pairs_seen(board)
        listed, begin = encode_pairs(board[None])
        assert sorted(listed.tolist()) == sorted(rows.tolist()) and begin.tolist() == [0]
    listed, begin = encode_pairs(boards)
    assert np.diff([*begin, len(listed)]).tolist() == [len(pairs_seen(board)) for board in boards]


def test_turned_pairs_price_the_other_side(turns: Turns) -> None:
    boards, pairs = turns[0][::20], make_net(9).pairs

    def sums(table: np.ndarray, boards: Boards) -> np.ndarray:
        return np.concatenate([table, np.zeros((1, 3), np.float32)])[pair_index(boards)].sum(1)

    found = sums(turn_pairs(pairs), boards)
    np.testing.assert_allclose(found, sums(pairs, flip(boards)), atol=1e-4)


def test_a_race_is_contact_no_more(turns: Turns) -> None:
    boards = turns[0]
    slow = []
    for board in boards.tolist():
        own = [cell for cell in range(26) if board[cell] > 0]
        enemy = [cell for cell in range(26) if board[cell] < 0]
        slow.append(int(max(own) < min(enemy)))
    assert phases_of(boards, 2).tolist() == slow
    assert phases_of(flip(boards), 2).tolist() == slow
    assert not phases_of(boards, 1).any()
    assert [int(net_kernels.standing(boards, i, False)) for i in range(len(boards))] == slow


def test_known_races() -> None:
    boards = [
        make_board({6: 1}, {6: 1}),
        make_board({13: 1}, {13: 1}),
        make_board({12: 1}, {12: 1}),
        make_board({6: 1}, {25: 1}),
    ]
    assert phases_of(np.array(boards), 2).tolist() == [1, 0, 1, 0]
