"""Boards to feature vectors, for the learner."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.net.features import FEATURES, feature_rows
from nardy.net.kernels import borne_off
from nardy.rules.board import Boards
from nardy.rules.kernel import kernel


class SparseRows(NamedTuple):
    """feature_rows() without its zeros: row r holds columns[begin[r] : begin[r + 1]]."""

    begin: NDArray[np.int64]  # [28 * 31 + 1]
    columns: NDArray[np.int64]
    values: NDArray[np.float32]


@cache
def sparse_rows() -> SparseRows:
    """The feature rows, sparse."""
    rows = feature_rows().reshape(-1, FEATURES)
    begin = np.concatenate([[0], np.cumsum((rows != 0).sum(-1))])
    return SparseRows(begin, np.nonzero(rows)[1], rows[rows != 0])


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


def encode(boards: Boards, checkers: int, out: NDArray[np.float32] | None = None) -> Any:
    """float32[N, FEATURES] of int8[N, 26] boards in the view of the player on roll."""
    features = np.empty((len(boards), FEATURES), np.float32) if out is None else out
    # int64: uncompiled, numpy's int8 would overflow in the row numbers
    _encode(boards.astype(np.int64), checkers, *sparse_rows(), features)
    return features
