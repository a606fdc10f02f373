"""Boards to feature vectors, for the learner."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.net.features import FEATURES, PAIR_REACH, feature_rows
from nardy.net.kernels import borne_off, cell_at, pair_code, pair_row
from nardy.rules.board import Boards, checkers_only
from nardy.rules.kernel import kernel


class SparseRows(NamedTuple):
    """feature_rows() without its zeros: row r holds columns[begin[r] : begin[r + 1]]."""

    begin: NDArray[np.int64]  # [28 * 31 + 1]
    columns: NDArray[np.int64]
    values: NDArray[np.float32]


@cache
def sparse_rows(family: str = "hitting") -> SparseRows:
    """The feature rows, sparse."""
    rows = feature_rows(family).reshape(-1, FEATURES)
    begin = np.concatenate([[0], np.cumsum((rows != 0).sum(-1))])
    return SparseRows(begin, np.nonzero(rows)[1], rows[rows != 0])


@cache
def dense_rows(family: str) -> NDArray[np.float32]:
    """feature_rows(family), made once."""
    return feature_rows(family)


@kernel
def _add_row(row, begin, columns, values, features):
    for k in range(begin[row], begin[row + 1]):
        features[columns[k]] += values[k]


@kernel
def _encode(boards, checkers, begin, columns, values, features):
    for i in range(boards.shape[0]):
        out = features[i]
        out[:] = 0
        for cell in range(26):
            if boards[i, cell] != 0:
                _add_row(cell * 31 + boards[i, cell] + 15, begin, columns, values, out)
        _add_row(26 * 31 + borne_off(boards[i], checkers, 1) + 15, begin, columns, values, out)
        _add_row(27 * 31 + borne_off(boards[i], checkers, -1) + 15, begin, columns, values, out)


def encode(
    boards: Boards,
    checkers: int,
    out: NDArray[np.float32] | None = None,
    family: str = "hitting",
) -> Any:
    """float32[N, FEATURES] of int8[N, 26] boards in the view of the player on roll."""
    features = np.empty((len(boards), FEATURES), np.float32) if out is None else out
    bare = checkers_only(boards, family)
    # int64: uncompiled, numpy's int8 would overflow in the row numbers
    _encode(bare.astype(np.int64), checkers, *sparse_rows(family), features)
    if family == "blocking":
        for cell, count in ((25, 1), (0, -1)):  # who began the game, where it matters (D13)
            marked = np.flatnonzero(boards[:, cell] == count)
            if len(marked):
                features[marked] += dense_rows(family)[cell, count + 15]
    return features


@kernel
def _list_pairs(boards, blocking, codes, rows, begin):
    n = 0
    for i in range(boards.shape[0]):
        begin[i] = n
        for cell in range(26):
            codes[cell] = pair_code(boards[i, cell])
        for a in range(26):
            for step in range(1, PAIR_REACH + 1):
                b = cell_at(a, step, blocking)
                if codes[a] >= 0 and b >= 0 and codes[b] >= 0:
                    rows[n] = pair_row(a, codes[a], step, codes[b])
                    n += 1
    return n


def encode_pairs(
    boards: Boards, family: str = "hitting"
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the pair table of int8[N, 26] boards, int64[P], and where each board's begin,
    int64[N] (features.pair_index without its empty pairs)."""
    rows = np.empty(len(boards) * 26 * PAIR_REACH, np.int64)
    begin = np.empty(len(boards), np.int64)
    boards = checkers_only(boards, family)
    n = _list_pairs(boards, family == "blocking", np.empty(26, np.int64), rows, begin)
    return rows[:n], begin
