"""The arithmetic of the decision benchmark: what choices cost, with 95 % intervals.

    score_decisions(decisions, rows)["gnubg2"]["loss"]      # millipoints a decision

Scores are plain dictionaries, ready to be written as JSON. Decisions of one game are one cluster
of the intervals. A row of None means that every result is equally likely.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from train.benchmark_files import Cubes, Decisions, Floats, Values
from train.benchmark_phases import DECISION_PHASES, VALUE_PHASES

Rows = NDArray[np.int64]
Score = dict[str, Any]

MILLI = 1000.0
BLUNDER = 0.08
"""Points; an error above it is a blunder."""

CLOSE = 0.04
"""Equity by which the better of two cube actions is ahead where the decision is close."""

PR_FACTOR = 500.0
"""PR = 500 · points lost a decision."""

SIZES = (0.0, 0.02, 0.04, 0.08, 0.16, np.inf)
SIZE_NAMES = ("none", "to 0.02", "to 0.04", "to 0.08", "to 0.16", "above 0.16")

CHANCES = ("win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon")


def mean_of(values: Floats, games: NDArray[np.int64]) -> Score:
    """How many, their mean, and half the width of its 95 % interval.

    values: float64[N]; games: int64[N], the cluster of each. With s_g the sum of a game's
    deviations from the mean and G games, se = √(Σ_g s_g² · G / (G − 1)) / N; ci95 = 1.96 se.
    """
    mean = float(values.mean())
    sums = np.bincount(np.unique(games, return_inverse=True)[1], values - mean)
    error = np.sqrt((sums**2).sum() * len(sums) / max(len(sums) - 1, 1)) / len(values)
    return {"decisions": len(values), "loss": mean, "ci95": float(1.96 * error)}


def losses_of(decisions: Decisions, rows: Rows | None) -> dict[str, Floats]:
    """For each reference float64[N], points lost in each decision.

    rows: int64[N], the row of `decisions.results` played in each; None for the mean over all.
    """
    if rows is not None:
        return {name: losses[rows] for name, losses in decisions.losses.items()}
    offsets = decisions.results.offsets
    counts = np.diff(offsets)
    return {
        name: np.add.reduceat(losses, offsets[:-1]) / counts
        for name, losses in decisions.losses.items()
    }


def score_decisions(decisions: Decisions, rows: Rows | None) -> dict[str, Score]:
    """For each reference: loss and ci95 in millipoints a decision, pr, the share of blunders,
    by_phase (decisions, loss, ci95) and by_size (share of decisions, millipoints that they add).
    """
    return {
        name: {
            **_overall(decisions, lost),
            "pr": PR_FACTOR * float(lost.mean()),
            "blunders": float((lost > BLUNDER).mean()),
            "by_phase": _by_phase(
                MILLI * lost, decisions.phases, decisions.games, decisions.phase_names
            ),
            "by_size": _by_size(lost),
        }
        for name, lost in losses_of(decisions, rows).items()
    }


def score_difference(
    decisions: Decisions, rows: Rows | None, other: Rows | None
) -> dict[str, Score]:
    """For each reference: loss and ci95 of the paired difference, `rows` minus `other`, in
    millipoints a decision; below 0 where `rows` lose less."""
    theirs = losses_of(decisions, other)
    return {
        name: _overall(decisions, lost - theirs[name])
        for name, lost in losses_of(decisions, rows).items()
    }


def worst(decisions: Decisions, rows: Rows, count: int) -> Rows:
    """int64[count]: the decisions that lose most by the mean of the references, worst first."""
    lost = np.mean(list(losses_of(decisions, rows).values()), 0)
    order: Rows = np.argsort(-lost, kind="stable")[:count]
    return order[lost[order] > 0]


def score_values(values: Values, chances: Floats) -> dict[str, Score]:
    """For each reference: bias (mean difference, ours less the reference's) and error (mean
    absolute difference) of each of CHANCES; the mean absolute difference of the equity in
    millipoints, overall and by_phase.

    chances: float64[N, 5] of the player on roll, as in Values.
    """
    scores = {}
    for name, reference in values.chances.items():
        apart = chances - reference
        equity = MILLI * np.abs(equities(chances) - equities(reference))
        scores[name] = {
            "bias": dict(zip(CHANCES, apart.mean(0).tolist(), strict=True)),
            "error": dict(zip(CHANCES, np.abs(apart).mean(0).tolist(), strict=True)),
            "equity_error": float(equity.mean()),
            "by_phase": {
                phase: float(equity[values.phases == number].mean())
                for number, phase in enumerate(VALUE_PHASES)
                if (values.phases == number).any()
            },
        }
    return scores


def equities(chances: Floats) -> Floats:
    """float64[N]: cubeless points from float64[N, 5] chances (K14)."""
    win, gammon, backgammon, lose_gammon, lose_backgammon = chances.T
    value: Floats = 2 * win - 1 + gammon + backgammon - lose_gammon - lose_backgammon
    return value


def score_cubes(cubes: Cubes, double: NDArray[np.bool_], take: NDArray[np.bool_]) -> Score:
    """For each reference the cost of `doubling` and of `taking` a position: decisions, loss,
    ci95 and by_phase, in millipoints (money) or hundredths of a percent of the match; and `close`:
    how many decisions the reference holds to be within CLOSE, and which share `agrees` with it
    (None of none).

    double, take: bool[N], the actions judged (K16). After a double the other side answers as the
    reference would. Crawford games, where no one doubles (K17), are left out.
    """
    live, unit = ~cubes.crawford, 10_000.0 if cubes.match else MILLI
    games, phases = cubes.games[live], cubes.phases[live]
    scores: Score = {}
    for name, actions in cubes.actions.items():
        stay, taken, passed = np.nan_to_num(actions).T
        doubled = np.minimum(taken, passed)
        right_double, right_take = cube_actions(np.nan_to_num(actions))
        parts = {
            "doubling": (np.where(double, doubled, stay), np.maximum(stay, doubled)),
            "taking": (doubled, np.where(take, taken, passed)),
        }
        agree = {"doubling": double == right_double, "taking": take == right_take}
        apart = {"doubling": stay - doubled, "taking": taken - passed}
        scores[name] = {
            part: {
                **mean_of(unit * (best - worth)[live], games),
                "by_phase": _by_phase(unit * (best - worth)[live], phases, games),
                "close": _close(agree[part], np.abs(apart[part]) <= CLOSE * cubes.unit, live),
            }
            for part, (worth, best) in parts.items()
        }
    return scores


def _close(
    agree: NDArray[np.bool_], close: NDArray[np.bool_], live: NDArray[np.bool_]
) -> dict[str, float | None]:
    counted = agree[close & live]
    share = float(counted.mean()) if len(counted) else None
    return {"decisions": len(counted), "agrees": share}


def cube_actions(values: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(double, take), bool[N] each, that float64[N, 3] values (no double, double and take, double
    and pass) call for: double where min(DT, DP) > ND, take where DT <= DP."""
    stay, taken, passed = values.T
    return np.minimum(taken, passed) > stay, taken <= passed


def _overall(decisions: Decisions, lost: Floats) -> Score:
    score = mean_of(MILLI * lost, decisions.games)
    return {"loss": score["loss"], "ci95": score["ci95"]}


def _by_phase(
    values: Floats,
    phases: NDArray[np.int64],
    games: NDArray[np.int64],
    names: tuple[str, ...] = DECISION_PHASES,
) -> Score:
    return {
        phase: mean_of(values[phases == number], games[phases == number])
        for number, phase in enumerate(names)
        if (phases == number).any()
    }


def _by_size(lost: Floats) -> Score:
    size = np.searchsorted(SIZES, lost, "left")
    return {
        name: {
            "share": float((size == number).mean()),
            "loss": MILLI * float(lost[size == number].sum()) / len(lost),
        }
        for number, name in enumerate(SIZE_NAMES)
    }
