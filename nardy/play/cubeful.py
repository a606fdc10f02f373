"""What plays and the cube are worth with the cube.

    decision = decide(board, chances, score)            # one position, for a reader
    cube_values_at(boards, chances, scores)             # many, each played for something else
    after_values(results, chances, scores)              # afterstates, for the player who moved

Chances are cubeless and may come from any depth of search. The other side is taken to double,
and the player to answer, as a `Cube` has it, which each function takes: the formula
(nardy.match.janowski), or what the net has learnt and the bear-off tables know
(nardy.play.cube_head.own_cube).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy.match.cube import Offer, Reply, beaver, refuse, replies, take
from nardy.match.janowski import (
    LOW_CUBE,
    CubeValues,
    Window,
    cube_actions,
    cube_values,
    efficiency,
    normalised,
    payoffs,
    window,
)
from nardy.match.score import Owner, Score
from nardy.play.bearoff import Bearoff
from nardy.rules.board import Boards, turn
from nardy.rules.variants import SHORT_OUTCOMES, Variant

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


Cube = Callable[[Boards, ArrayLike, Score], CubeValues]
"""What the actions are worth at positions, int8[N, 26], with chances float[N, 6], of the player on
roll, for whom the score is: see janowski.CubeValues."""


def formula(boards: Boards, chances: ArrayLike, score: Score) -> CubeValues:
    """A Cube: Janowski's formula, the efficiency by each position's phase."""
    return cube_values(chances, score, efficiency(boards))


def formula_of(family: str) -> Cube:
    """`formula` for the boards of a family."""
    if family == "hitting":
        return formula
    return lambda boards, chances, score: cube_values(chances, score, efficiency(boards, family))


def six(chances: ArrayLike, game: Variant) -> Floats:
    """float64[..., 6]: chances of a game's outcomes, float[..., K], as those of K14, which the
    formula reads: nobody wins or loses three points in long nardy (D11)."""
    given = np.asarray(chances, float)
    wide = np.zeros((*given.shape[:-1], len(SHORT_OUTCOMES)))
    wide[..., columns_of(game)] = given
    return wide


def columns_of(game: Variant) -> list[int]:
    """Where each of a game's outcomes is among those of K14."""
    return [SHORT_OUTCOMES.index(points) for points in game.outcomes]


def exact(cube: Cube, tables: Bearoff) -> Cube:
    """A Cube: in money play the values of the two-sided bear-off table where it reaches, and
    `cube`'s elsewhere.

    No gammon is possible there, so that Jacoby changes nothing, and nobody doubles where he could
    be beavered. The table knows neither a bound on losses (K18) nor a highest cube, from which the
    game is far up to LOW_CUBE; beyond them, and in matches, `cube` has its say.
    """

    def values(boards: Boards, chances: ArrayLike, score: Score) -> CubeValues:
        found = cube(boards, chances, score)
        unbounded = score.stake_cap is None and score.cube <= LOW_CUBE
        if not (score.money and score.doubling and unbounded):
            return found
        known, table = tables.covers_exactly(boards), np.zeros((len(boards), 4))
        table[known] = score.cube * tables.equities(boards[known])
        stay, theirs = table[:, _COLUMNS[score.owner]], table[:, _COLUMNS["theirs"]]
        true = CubeValues(stay, 2 * theirs, found.double_pass, 4 * theirs)
        # an action that there is not stays NaN
        pairs = zip(true, found, strict=True)
        return CubeValues(*(np.where(known & ~np.isnan(old), new, old) for new, old in pairs))

    return values


_COLUMNS: dict[Owner, int] = {"centre": 1, "mine": 2, "theirs": 3}  # of Bearoff.equities

FREE = 0.001
"""Equity that counts as nothing where a game is given up."""

NEAR = 0.1
"""Equity without the cube's turns, a single game being 1, by which a play may be behind the best
and yet be the best with the cube."""


class Options(NamedTuple):
    """What each action is worth to the player on roll; None where he may not double."""

    no_double: float
    double_take: float | None
    double_pass: float | None
    double_beaver: float | None


@dataclass(frozen=True, repr=False)
class CubeDecision:
    """The cube in one position, for the player on roll before his roll.

    chances: float64[6], cubeless, of −3, −2, −1, 1, 2, 3; cubeless: their mean points.
    values: points for money, else chances of winning the match.
    equities: the same with a single game lost and won at this cube as −1 and 1 (EMG).
    window: by the formula, whoever gave the values.
    double, take, beaver, too_good: what is right; take and beaver are the other side's.
    """

    score: Score
    ply: int
    chances: Floats
    cubeless: float
    values: Options
    equities: Options
    window: Window
    double: bool
    take: bool
    beaver: bool
    too_good: bool
    verdict: str

    def __repr__(self) -> str:
        worth = (
            f"{name.replace('_', ' ')} {equity:+.4f}"
            for name, equity in self.equities._asdict().items()
            if equity is not None
        )
        return f"<{self.verdict}: {', '.join(worth)}, {self.ply}-ply>"


def check_game(game: Variant) -> None:
    """Raises ValueError for a game that has no cube (K16, D12), or draws, which the formula does
    not price."""
    if game.cube == "off":
        raise ValueError(f"{game.name} is played without the cube")
    if 0 in game.outcomes:
        raise ValueError(f"the cube's formula knows no draws, as {game.name} has them here")


def check_learnt(game: Variant) -> None:
    """Raises ValueError for a game whose cube cannot be learnt, or held against exact tables."""
    check_game(game)
    if game.outcomes != SHORT_OUTCOMES:
        raise ValueError(f"the cube is learnt of short nardy, not of {game.name}")


def decide(
    board: Boards,
    chances: ArrayLike,
    score: Score,
    ply: int = 0,
    cube: Cube = formula,
    family: str = "hitting",
) -> CubeDecision:
    """The cube of one position, int8[26] in the view of the player on roll, who `score` is for.

    chances: float[6] as in CubeDecision, found at `ply`; family: of the game, whose `cube` it is.
    """
    given = np.asarray(chances, float)
    values = cube(board[None], given[None], score)
    actions = cube_actions(values, score)
    return CubeDecision(
        score,
        ply,
        given,
        float(given @ np.array(SHORT_OUTCOMES)),
        _options(values),
        _options(CubeValues(*(normalised(value, score) for value in values))),
        window(given, score, float(efficiency(board, family))),
        bool(actions.double[0]),
        bool(actions.take[0]),
        bool(actions.beaver[0]),
        bool(actions.too_good[0]),
        str(actions.verdict[0]),
    )


def right_reply(board: Boards, chances: ArrayLike, offer: Offer, cube: Cube = formula) -> Reply:
    """What is best for the player who has to answer an offer, the other taking what he then is
    offered.

    board: int8[26] and chances: float[6] of the player on roll, whoever has to answer.
    """

    def worth(taken: Offer) -> float:
        return float(cube(board[None], np.asarray(chances, float)[None], take(taken)).no_double[0])

    score = offer.score
    passed = refuse(offer) if score.money else payoffs(score)[0, SHORT_OUTCOMES.index(1)]
    values: dict[Reply, float] = {"take": worth(offer), "pass": float(passed)}
    for further in replies(offer)[2:]:
        values[further] = worth(beaver(offer))
    sign = 1 if offer.beavered else -1
    return max(values, key=lambda reply: sign * values[reply])


def free_resignation(board: Boards, chances: ArrayLike, score: Score, cube: Cube = formula) -> int:
    """The fewest games, 1 to 3, that the player on roll may give up at no cost, as he wins no more
    and loses no more; 0 for none. board, chances: as in right_reply."""
    given = np.asarray(chances, float)
    stays = cube(board[None], given[None], score).no_double[0]
    lost = normalised(payoffs(score)[0, 2::-1], score)
    nothing = (np.abs(normalised(stays, score) - lost) <= FREE) & (given[3:].sum() <= FREE)
    return int(nothing.argmax()) + 1 if nothing.any() else 0


def cube_values_at(
    boards: Boards, chances: ArrayLike, scores: Sequence[Score], cube: Cube = formula
) -> CubeValues:
    """As janowski.cube_values, each position at a score of its own.

    boards: int8[N, 26] and chances, float[N, 6], of the player on roll; scores: N in his view.
    """
    given = np.asarray(chances, float)
    values = np.empty((len(CubeValues._fields), len(boards)))
    for score, rows in by_score(scores):
        values[:, rows] = cube(boards[rows], given[rows], score)
    return CubeValues(*values)


def after_values(
    results: Boards,
    chances: ArrayLike,
    scores: Sequence[Score],
    cube: Cube = formula,
    family: str = "hitting",
) -> Floats:
    """float64[N]: afterstates, int8[N, 26], for the player who moved; before the other doubles.

    Points for money, else his chance of winning the match; exact where the game is over (K14).
    chances: float[N, 6], his; scores: N in his view; family: of the game, whose `cube` it is.
    """
    theirs, boards = np.asarray(chances, float)[:, ::-1], turn(results, family)
    values = np.empty(len(results))
    for score, rows in by_score(scores):
        best = cube(boards[rows], theirs[rows], score.flip()).best
        values[rows] = -best if score.money else 1 - best
    return values


def after_equities(
    results: Boards,
    chances: ArrayLike,
    scores: Sequence[Score],
    cube: Cube = formula,
    family: str = "hitting",
) -> Floats:
    """float64[N]: as after_values, a single game lost and won at this cube being −1 and 1."""
    values = after_values(results, chances, scores, cube, family)
    for score, rows in by_score(scores):
        values[rows] = normalised(values[rows], score)
    return values


def by_score(scores: Sequence[Score]) -> list[tuple[Score, Rows]]:
    """Each distinct score with the places, int64[n], where it stands."""
    found: dict[Score, list[int]] = {}
    for place, score in enumerate(scores):
        found.setdefault(score, []).append(place)
    return [(score, np.array(places)) for score, places in found.items()]


def _options(values: CubeValues) -> Options:
    first, *others = (float(value.item()) for value in values)
    return Options(first, *(None if np.isnan(value) else value for value in others))
