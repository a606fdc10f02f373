"""Slow twins of train.cube_worth: what plays and the cube are worth, score by score."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy.match.janowski import CubeValues, cube_actions, normalised, payoffs
from nardy.match.score import Score
from nardy.play.cubeful import (
    NEAR,
    Cube,
    Floats,
    Rows,
    after_equities,
    by_score,
    cube_values_at,
    formula,
)
from nardy.rules.board import Boards


def cube_choices(
    boards: Boards, chances: ArrayLike, scores: Sequence[Score], cube: Cube = formula
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(double, take), bool[N] each: what the player on roll does, and what the other answers (K16).

    As cube_values_at. False in `double` where he may not.
    """
    values = cube_values_at(boards, chances, scores, cube)
    double, take = np.zeros((2, len(boards)), np.bool_)
    for score, rows in by_score(scores):
        actions = cube_actions(CubeValues(*(value[rows] for value in values)), score)
        double[rows], take[rows] = actions.double & score.may_double, actions.take
    return double, take


def near_equities(
    results: Boards,
    chances: ArrayLike,
    scores: Sequence[Score],
    owners: Rows,
    cube: Cube = formula,
) -> Floats:
    """float64[N]: as after_equities where a play may be the best of its board, and −inf elsewhere.

    owners: int64[N], the board of each, ascending. Without the cube's turns a play's value is a
    dot product, cheap beside the formula; those further than NEAR behind by it are left out.
    """
    given, rough = np.asarray(chances, float), np.empty(len(results))
    for score, rows in by_score(scores):
        rough[rows] = normalised(given[rows] @ payoffs(score)[0], score)
    firsts = np.flatnonzero(np.diff(owners, prepend=-1))
    top = np.repeat(np.maximum.reduceat(rough, firsts), np.diff(firsts, append=len(rough)))
    near = np.flatnonzero(rough >= top - NEAR)
    values = np.full(len(results), -np.inf)
    asked = [scores[i] for i in near.tolist()]
    values[near] = after_equities(results[near], given[near], asked, cube)
    return values
