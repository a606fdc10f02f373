"""Ratings from a round robin: the Bradley-Terry model fitted to wins, on Elo's scale.

    elo, ci95 = fit(wins)                  # wins[i, j]: games that i won against j
    print(text(names, matches))            # a cross table

It counts wins alone: a gammon weighs as much as a plain game, as in the ratings of servers. The
intervals come from the Fisher information and take games as independent, which is on the safe
side where the two games of a pair share their dice.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from train.match import MatchResult

ELO = 400 / np.log(10)
"""Elo points in a factor of e of the odds."""

VIRTUAL = 0.5
"""Wins added to each side of each match, so that a player who won or lost every game has a finite
rating; after hundreds of games it moves the others' by nothing that shows."""

Matches = Mapping[tuple[int, int], MatchResult]
"""By the numbers of its players, the first of whom is its a."""


class Ratings(NamedTuple):
    """Of players in their order."""

    elo: NDArray[np.float64]  # float64[n]; their mean is 0
    ci95: NDArray[np.float64]  # float64[n], half the width of the 95 % interval


def fit(wins: NDArray[np.float64]) -> Ratings:
    """The most likely ratings under P(i beats j) = 1 / (1 + 10 ** ((R_j - R_i) / 400)).

    wins: float64[n, n], a draw being half a win for each. Newton's method on the log-likelihood,
    which is concave (Bradley and Terry 1952; Hunter 2004). Raises ValueError where two groups of
    players never met, as nothing then compares them.
    """
    met = wins + wins.T > 0
    if (np.linalg.matrix_power(met + np.eye(len(wins)), len(wins)) == 0).any():
        raise ValueError("some players are linked by no game: they cannot be compared")
    wins = wins + VIRTUAL * met
    games = wins + wins.T
    strength = np.zeros(len(wins))
    for _ in range(1000):
        chance = 1 / (1 + np.exp(strength[None] - strength[:, None]))
        slope = (wins - games * chance).sum(1)
        weight = games * chance * (1 - chance)
        information = np.diag(weight.sum(1)) - weight
        inverse = np.linalg.pinv(information, hermitian=True)  # a common shift has none
        step = np.clip(inverse @ slope, -1, 1)  # from afar a whole step would overshoot
        strength = strength + step - step.mean()
        if np.abs(step).max() < 1e-10:
            break
    return Ratings(ELO * strength, 1.96 * ELO * np.sqrt(np.diag(inverse)))


def wins_of(players: int, matches: Matches) -> NDArray[np.float64]:
    """float64[n, n] for `fit`."""
    wins = np.zeros((players, players))
    for (i, j), match in matches.items():
        wins[i, j] += (match.points > 0).sum() + (match.points == 0).sum() / 2
        wins[j, i] += (match.points < 0).sum() + (match.points == 0).sum() / 2
    return wins


def points_of(players: int, matches: Matches) -> NDArray[np.float64]:
    """float64[n, n]: points a game of the row's player against the column's; nan without games.

    Luck is taken out where the match had a judge.
    """
    points = np.full((players, players), np.nan)
    for (i, j), match in matches.items():
        points[i, j] = match.ppg if match.adjusted is None else match.adjusted.ppg
        points[j, i] = 0.0 - points[i, j]  # no minus before a nought
    return points


def text(names: Sequence[str], matches: Matches) -> str:
    """The cross table for a reader, the strongest first: ratings, and points a game."""
    wins, points = wins_of(len(names), matches), points_of(len(names), matches)
    ratings = fit(wins)
    order = np.argsort(-ratings.elo, kind="stable")
    width = max(len(name) for name in names)
    columns = "".join(f"{place:>8d}" for place in range(1, len(names) + 1))
    head = f"{'Elo':>8}{'± 95 %':>8}{'games':>9}{'wins':>8}{'points':>9}"
    lines = [f"{'':{width + 4}}{head}{columns}"]
    for place, i in enumerate(order, start=1):
        games = wins[i].sum() + wins[:, i].sum()
        cells = "".join(f"{'':>8}" if np.isnan(p) else f"{p:>+8.3f}" for p in points[i, order])
        lines.append(
            f"{place:3d} {names[i]:{width}}{ratings.elo[i]:>+8.1f}{ratings.ci95[i]:>8.1f}"
            f"{games:>9.0f}{wins[i].sum() / games:>8.1%}{np.nanmean(points[i]):>+9.3f}{cells}"
        )
    return "\n".join([*lines, "Elo from wins, its mean 0; points a game of row against column"])


def as_dict(names: Sequence[str], matches: Matches) -> list[dict[str, Any]]:
    """The players' figures, for JSON, in their own order."""
    wins, points = wins_of(len(names), matches), points_of(len(names), matches)
    ratings = fit(wins)
    return [
        {
            "name": name,
            "elo": float(ratings.elo[i]),
            "ci95": float(ratings.ci95[i]),
            "games": int(wins[i].sum() + wins[:, i].sum()),
            "wins": float(wins[i].sum() / (wins[i].sum() + wins[:, i].sum())),
            "ppg": float(np.nanmean(points[i])),
        }
        for i, name in enumerate(names)
    ]


def check_picture(path: str | Path) -> None:
    """Raises ValueError for a path whose ending names no format of pictures that `plot` writes."""
    from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if Path(path).suffix[1:].lower() not in known:
        raise ValueError(f"a picture ends in one of {', '.join(known)}, not {str(path)!r}")


def plot(names: Sequence[str], matches: Matches, path: str | Path) -> None:
    """Draw the ratings with their intervals into a picture; its ending names its format."""
    from matplotlib.figure import Figure

    ratings = fit(wins_of(len(names), matches))
    order = np.argsort(ratings.elo, kind="stable")
    figure = Figure(figsize=(8, 1.2 + 0.4 * len(names)), layout="constrained")
    axes = figure.subplots()
    axes.errorbar(ratings.elo[order], np.arange(len(names)), xerr=ratings.ci95[order], fmt="o")
    axes.set_yticks(np.arange(len(names)), [names[i] for i in order])
    axes.set_xlabel("Elo from wins, with 95 % intervals")
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(path)
