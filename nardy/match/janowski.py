"""Janowski's cubeful value of a position, from its outcome chances, for money and at any score.

    values = cube_values(chances, score, efficiency(boards))
    actions = cube_actions(values, score)
    window(chances[0], score, 0.68).take

The truth lies between a dead cube, which is never turned again, and a live one, which is turned
at the very point where the other side is indifferent: E(x) = (1 − x) E_dead + x E_live
(R. Janowski, "Take-Points in Money Games", 1993). Both are worked out here level by level from
the highest cube downwards, in the unit of the score: points, or the chance of winning the match.
So a bound on losses (K18), Jacoby, a cube that is dead for one side and the free drop need no
case of their own.
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy.match.met import MatchEquity, default_table
from nardy.match.score import MAX_CUBE, Owner, Score
from nardy.rules.board import OPPOSITE, Boards, pip_counts

Floats = NDArray[np.float64]

CONTACT, BEAROFF = 0.68, 0.6
"""Efficiencies by gnubg 1.07's eval.c; see efficiency."""
LOW_CUBE = 8
"""Up to this cube the formula for money knows no highest one."""
TURN = 0.08
"""By how much the chance of winning moves, up or down, until a player's next turn."""

_LOSS, _WIN = 2, 3  # columns of a single game among the outcomes (−3, −2, −1, 1, 2, 3)
_TIE = 1e-9
_BEYOND = 14  # levels above 64, of which each matters about a third as much as the one below
_GRID = 2001


class CubeValues(NamedTuple):
    """What the actions of the player on roll are worth to him, float64[N] each.

    Points for money, else chances of winning the match. Where he may not double (K16, K17) the
    last three are NaN; `double_beaver` is NaN too without beavers.
    """

    no_double: Floats  # also the value of a position where he may not double
    double_take: Floats
    double_pass: Floats
    double_beaver: Floats

    @property
    def best(self) -> Floats:
        """float64[N]: the value with the right actions of both sides."""
        answered = np.fmin(np.fmin(self.double_take, self.double_beaver), self.double_pass)
        return np.fmax(self.no_double, answered)


class CubeActions(NamedTuple):
    """The right actions: bool[N] for each, and text[N], the verdict in words."""

    double: NDArray[np.bool_]
    take: NDArray[np.bool_]  # of the other side, were it doubled
    beaver: NDArray[np.bool_]
    too_good: NDArray[np.bool_]
    verdict: NDArray[np.str_]


class Window(NamedTuple):
    """Chances of winning the game, 0 to 1, at which the right action changes; None: never.

    For the player on roll, gammons in proportion. take: from here on he takes when doubled;
    double: from here on he doubles; cash: the other side passes; too_good: he plays on instead.
    """

    take: float | None
    double: float | None
    cash: float | None
    too_good: float | None


def efficiency(boards: Boards, family: str = "hitting") -> Floats:
    """float64[...]: how live the cube is in each position, from 0 dead to 1 live, by its phase.

    boards: int8[..., 26], the player on roll. Contact 0.68; races 0.55 + 0.00125 a pip of his,
    between 0.6 and 0.7; both sides bearing off 0.6: the figures of gnubg 1.07. They serve long
    nardy too, for which there are none; a race is there what its nets take for one, both sides in
    the second halves of their ways.
    """
    points = np.arange(26)
    rearmost = np.where(boards > 0, points, 0).max(-1)
    if family == "hitting":
        their_rearmost = np.where(boards < 0, points, 25).min(-1)
        contact = their_rearmost < rearmost
        bearoff = (rearmost <= 6) & (their_rearmost >= 19)
    else:
        their_rearmost = np.where(boards < 0, OPPOSITE[family], 0).max(-1)
        contact = np.maximum(rearmost, their_rearmost) > 12
        bearoff = np.maximum(rearmost, their_rearmost) <= 6
    race = np.clip(0.55 + 0.00125 * pip_counts(boards, family)[0], 0.6, 0.7)
    return np.where(contact, CONTACT, np.where(bearoff, BEAROFF, race))


@lru_cache(4096)
def payoffs(score: Score, table: MatchEquity | None = None) -> Floats:
    """float64[J, 6], read-only: what each outcome brings me at this cube, at twice it, and so on.

    In points for money, else the chance of winning the match by `table` (None: the shipped one).
    The last row is the highest cube, or the first that no further double could change. In money
    play it is far above 64 while the cube is low: that games seldom get so far the formula does
    not know, and it would make too much of the end.
    """
    rows, level = [_payoff(score, table)], score
    while level.doubling and not level.crawford and not level.dead and level.cube < MAX_CUBE:
        level = replace(level, cube=2 * level.cube, owner="mine")
        rows.append(_payoff(level, table))
    if score.money and score.stake_cap is None and score.doubling and score.cube <= LOW_CUBE:
        rows += [[2**n * value for value in rows[-1]] for n in range(1, _BEYOND)]
    array = np.array(rows)
    array.flags.writeable = False
    return array


def _payoff(score: Score, table: MatchEquity | None) -> list[float]:
    points = [score.points(multiple) for multiple in (1, 2, 3)]
    signed = [-p for p in reversed(points)] + points
    if score.money:
        return [float(p) for p in signed]
    table = table or default_table()
    return [table.after(score, p) for p in signed]


def normalised(values: ArrayLike, score: Score, table: MatchEquity | None = None) -> Floats:
    """float64[...]: equities, in which a single game lost and won at this cube are −1 and 1.

    For money that is points a unit of the cube; in a match EMG, 2 (v − v_lose) / (v_win − v_lose)
    − 1. values: as in CubeValues.
    """
    row = _payoff(score, table)
    return np.asarray(2 * (np.asarray(values) - row[_LOSS]) / (row[_WIN] - row[_LOSS]) - 1)


def cube_values(
    chances: ArrayLike, score: Score, x: ArrayLike, table: MatchEquity | None = None
) -> CubeValues:
    """The values of the cube actions of the player on roll, before his roll.

    chances: float[N, 6], cubeless, of the outcomes (−3, −2, −1, 1, 2, 3) for him; x: float[N] or
    a number, see efficiency; table: match equity, None for the shipped one.
    """
    cube = Cubeful(chances, payoffs(score, table), x)
    none = np.full_like(cube.win, np.nan)
    stay = cube.value(0, score.owner)
    if not score.may_double:
        return CubeValues(stay, none, none, none)
    beaver = cube.value(2, "theirs") if score.beavers and 4 * score.cube <= MAX_CUBE else none
    return CubeValues(stay, cube.value(1, "theirs"), np.full_like(stay, cube.cash[0]), beaver)


def cube_actions(values: CubeValues, score: Score) -> CubeActions:
    """What the values call for: double where min(DT, DP) > ND, take where DT <= DP, beaver where
    that leaves the doubler less than a take.

    A double that costs nothing, as the trailer's after the Crawford game, is made: "optional".
    """
    stay, taken, passed, beavered = values
    beaver = beavered < taken - _TIE
    taken = np.fmin(taken, beavered)
    take = taken <= passed
    gain = np.fmin(taken, passed) - stay
    optional = (np.abs(gain) <= _TIE) & score.useful
    double = (gain > _TIE) | optional
    too_good = ~take & (stay > passed + _TIE)
    answer = np.where(beaver, "beaver", np.where(take, "take", "pass"))
    if not score.may_double:
        return CubeActions(double, take, beaver, too_good, np.full(stay.shape, "no cube"))
    name = "double" if score.owner == "centre" else "redouble"
    action = np.where(optional, f"optional {name}", np.where(double, name, f"no {name}"))
    action = np.where(too_good, "too good", action)
    verdict = np.char.add(np.char.add(action, "/"), answer)
    return CubeActions(double, take, beaver, too_good, verdict)


def window(chances: ArrayLike, score: Score, x: float, table: MatchEquity | None = None) -> Window:
    """Where the right action changes if only the chance of winning does.

    chances: float[6]; both sides win their gammons in the same proportion throughout.
    """
    given = np.asarray(chances, float)
    p = np.linspace(0, 1, _GRID)[:, None]
    lose, win = given[:_WIN], given[_WIN:]
    single = np.array([1.0, 0, 0])
    lose = lose / lose.sum() if lose.any() else single[::-1]
    win = win / win.sum() if win.any() else single
    cube = Cubeful(np.hstack([lose * (1 - p), win * p]), payoffs(score, table), x)
    take = None
    if score.flip().may_double:
        take = _crossing(cube.value(1, "mine") - cube.passed[0])
    if not score.may_double:
        return Window(take, None, None, None)
    stay, doubled, cash = cube.value(0, score.owner), cube.value(1, "theirs"), cube.cash[0]
    return Window(
        take,
        _crossing(np.minimum(doubled, cash) - stay + _TIE),
        _crossing(doubled - cash),
        _crossing(stay - cash - _TIE),
    )


def _crossing(values: Floats) -> float | None:
    """The chance of winning at which values over the grid first turn from below to above 0; None
    where they do so nowhere, or only where the game is won."""
    above = values > 0
    if not above[:-1].any():
        return None
    i = int(above.argmax())
    if i == 0:
        return 0.0
    low, high = values[i - 1], values[i]
    return float((i - 1 - low / (high - low)) / (len(values) - 1))


class Cubeful:
    """Cubeful values of N positions at one score.

    chances: as in cube_values; payoffs: see payoffs; x: float[N] or a number, the efficiency.
    Levels count doublings from the score's own cube; all values are the player on roll's.
    """

    def __init__(self, chances: ArrayLike, payoffs: Floats, x: ArrayLike) -> None:
        chances = np.asarray(chances, float)
        self.payoffs, self.x = payoffs, np.asarray(x, float)
        self.levels = len(payoffs)
        self.passed, self.cash = payoffs[:, _LOSS], payoffs[:, _WIN]
        self.win = np.asarray(chances[..., _WIN:].sum(-1))
        self.lost = _means(chances[..., :_WIN], payoffs[:, :_WIN], self.passed)
        self.won = _means(chances[..., _WIN:], payoffs[:, _WIN:], self.cash)
        self.take_points, self.cash_points = self._live_points()

    def value(self, level: int, owner: Owner) -> Floats:
        """float64[N]: E(x) at a level of the cube before the roll, no double being made now."""
        level = min(level, self.levels - 1)
        return np.asarray((1 - self.x) * self.dead(level, owner) + self.x * self.live(level, owner))

    def dead(self, level: int, owner: Owner) -> Floats:
        """float64[N]: the value if the cube is turned no more, save where that risks nothing:
        then it is turned at the next turn, from where the chance of winning has moved to."""
        return self._dead(level, owner, self.win)

    def _dead(self, level: int, owner: Owner, win: Floats) -> Floats:
        value = np.asarray(self.lost[level] + win * (self.won[level] - self.lost[level]))
        if level + 1 == self.levels:
            return value
        moved = np.minimum(TURN, np.minimum(win, 1 - win))
        places = (win - moved, win + moved)
        if owner != "theirs" and self._free(level, slice(0, _WIN)):
            turned = [self._dead(level + 1, "theirs", place) for place in places]
            value = np.maximum(value, np.minimum(turned, self.cash[level]).mean(0))
        if owner != "mine" and self._free(level, slice(_WIN, None)):
            turned = [self._dead(level + 1, "mine", place) for place in places]
            value = np.minimum(value, np.maximum(turned, self.passed[level]).mean(0))
        return value

    def live(self, level: int, owner: Owner) -> Floats:
        """float64[N]: the value with a live cube, linear in the chance of winning between
        (0, lost), (take point, passed) where the other side may double, (cash point, cash) where
        the player on roll may, and (1, won)."""
        zero, one = np.zeros_like(self.win), np.ones_like(self.win)
        knots = [(zero, self.lost[level])]
        if level + 1 < self.levels and owner != "mine":
            knots.append((self.take_points[level], zero + self.passed[level]))
        if level + 1 < self.levels and owner != "theirs":
            knots.append((self.cash_points[level], zero + self.cash[level]))
        knots.append((one, self.won[level]))
        value = knots[0][1]
        for (p, v), (q, w) in zip(knots, knots[1:], strict=False):
            share = np.clip(_ratio(self.win - p, q - p), 0, 1)
            value = np.where(self.win >= p, v + share * (w - v), value)
        return np.asarray(value)

    def _live_points(self) -> tuple[Floats, Floats]:
        """float64[J, N] each: the chance of winning at which the player on roll is indifferent
        between a pass and a take when doubled from each level, and that at which the other is."""
        takes, cashes = np.zeros_like(self.won), np.ones_like(self.won)
        column = (-1, *(1,) * self.win.ndim)
        passed, cash = self.passed.reshape(column), self.cash.reshape(column)
        lost, won = self.lost[1:], self.won[1:]  # with the cube one level above
        low, high = lost.copy(), won.copy()
        low[:-1], high[:-1] = passed[1:-1], cash[1:-1]
        # with the cube above he goes from (0, lost) to (cash point, high)
        to_take = _ratio(passed[:-1] - lost, high - lost)
        # without it from (take point, low) to (1, won)
        to_cash = _ratio(cash[:-1] - low, won - low)
        for level in range(self.levels - 2, -1, -1):
            take, point = takes[level + 1], cashes[level + 1]
            takes[level] = np.minimum(np.maximum(point * to_take[level], 0), 1)
            cashes[level] = np.minimum(np.maximum(take + (1 - take) * to_cash[level], 0), 1)
        return takes, np.maximum(cashes, takes)

    def _free(self, level: int, outcomes: slice) -> bool:
        """Whether twice the cube changes nothing about these outcomes."""
        return bool((self.payoffs[level, outcomes] == self.payoffs[level + 1, outcomes]).all())


def _means(chances: Floats, payoffs: Floats, single: Floats) -> Floats:
    """float64[J, N]: the mean payoff of one side's outcomes; `single` where it has no chance."""
    total = chances.sum(-1)
    sums = np.einsum("...k,jk->j...", chances, payoffs)
    level = np.expand_dims(single, tuple(range(1, sums.ndim)))
    return np.asarray(np.where(total > 0, sums / np.where(total > 0, total, 1), level))


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, 1 where whole is 0."""
    return np.asarray(np.divide(part, whole, out=np.ones_like(part), where=np.abs(whole) > 1e-12))
