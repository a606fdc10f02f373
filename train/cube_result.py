"""What came of games with the cube: points, chances of winning a match, endings, luck.

    result = play_cube_match(a, b, game, match_score(7), pairs=1000)
    result.mean, result.ci95           # points a game, or the chance of winning the match

Games are played in train.cube_match.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.match.score import Score
from nardy.notation.record import GameRecord, MatchRecord
from nardy.play.bearoff import tables_for
from nardy.play.cube_head import CubeHead
from nardy.rules.board import Boards
from nardy.rules.variants import Variant
from train.cube_worth import CubeWorth, stakes_of
from train.luck import Adjusted, NetRolls, adjust, luck_of, mean_and_ci95

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

OPTIONS = ("jacoby", "beavers", "auto_doubles", "stake_cap")
"""Of money play (train.arena): fields of a Score."""

ENDINGS = ("wins", "gammons", "backgammons", "passes")
"""How a game was won; gammons and backgammons are wins too, each within the last."""


class CubeJudge:
    """Tells the luck of rolls where the cube is in play: what a roll changes of a net's cubeful
    value, in points or in the chance of winning the match; by what the net has learnt of the cube,
    else by the formula.

    That value is fixed by board, score and roll, so that luck has the mean zero at every roll,
    whatever the net believes (see train.luck); it need not be the true one.
    An object serves one thread.
    """

    def __init__(self, rolls: NetRolls, name: str, head: CubeHead | None = None) -> None:
        """name: what results call it; head: of the net of `rolls`."""
        self.name = name
        self._rolls, self._head = rolls, head
        self._worth = CubeWorth(rolls.net, head, tables_for(rolls.game))

    def luck(
        self, boards: Boards, dice: NDArray[np.uint8], plies: Rows, scores: Sequence[Score]
    ) -> Floats:
        """float64[B], as LuckJudge.luck, at the scores of the players on roll."""
        results, chances = self._rolls.chances(boards)
        kinds, stakes = stakes_of(scores)
        asked = np.repeat(kinds, results.shape[1])
        flat = results.reshape(-1, 26), chances.reshape(len(asked), -1)
        values = self._worth.after(*flat, asked, stakes)
        return luck_of(values.reshape(results.shape[:2]), dice, plies, self._rolls.game)

    def for_thread(self) -> "CubeJudge":
        """The same judge with memory of its own, for one more thread."""
        return CubeJudge(self._rolls.for_thread(), self.name, self._head)


@dataclass(frozen=True)
class CubeResult:
    """The outcome of games with the cube.

    start: the score each unit began with.
    points: int64[pairs, 2], points won by a less those of b, in a unit and in its twin.
    games: int64[pairs, 2], games played in each.
    endings: int64[2, 4], how many games a and b won in each of ENDINGS.
    luck: float64[pairs, 2], of a's rolls less b's, by `judge`; points, or chance of the match.
    saved: the games of each of the first units.
    """

    a: str
    b: str
    variant: str
    seed: int
    start: Score
    points: Rows = field(repr=False)
    games: Rows = field(repr=False)
    endings: Rows
    games_per_s: float
    a_ply: int = 0
    b_ply: int = 0
    judge: str | None = None
    luck: Floats | None = field(default=None, repr=False)
    saved: tuple[tuple[GameRecord, ...], ...] = field(default=(), repr=False)

    @property
    def pairs(self) -> int:
        """How many pairs of units were played."""
        return len(self.points)

    @property
    def value(self) -> Floats:
        """float64[pairs, 2]: what is counted: a's points, or whether a won the match."""
        return self.points.astype(float) if self.start.money else (self.points > 0).astype(float)

    @property
    def mean(self) -> float:
        """Points a game from a's side, or a's share of the matches."""
        return mean_and_ci95(self.value.mean(1))[0]

    @property
    def ci95(self) -> float:
        """Half the width of the 95 % interval around `mean`, pairs being independent."""
        return mean_and_ci95(self.value.mean(1))[1]

    @property
    def ppg(self) -> float:
        """Points a game, from a's side."""
        return float(self.points.sum() / self.games.sum())

    @property
    def adjusted(self) -> Adjusted | None:
        """`mean` without its luck, where there was a judge."""
        return None if self.luck is None else adjust(self.value.mean(1), self.luck.mean(1))

    def won(self, ending: str, player: int = 0) -> float:
        """Share of games that player 0 (a) or 1 (b) won in one of ENDINGS."""
        return float(self.endings[player, ENDINGS.index(ending)] / self.games.sum())


def cube_report(result: CubeResult) -> str:
    """The result for a reader, a few lines."""
    money = result.start.money
    what = "points a game for a" if money else f"of matches to {result.start.length} won by a"

    def shown(mean: float, ci95: float) -> str:
        return f"{mean:+.4f} ± {ci95:.4f}" if money else f"{mean:.2%} ± {ci95:.2%}"

    kind = ", ".join(["money with the cube", *_options(result.start)])
    lines = [
        f"{shown(result.mean, result.ci95)} {what} "
        f"(95 %, {result.pairs} pairs of {result.variant}{f', {kind}' if money else ''})"
    ]
    if result.adjusted is not None:
        mean, ci95, _ = result.adjusted
        lines.append(f"{shown(mean, ci95)} with the luck taken out, as {result.judge} tells it")
    if not money:
        lines.append(f"{result.ppg:+.4f} points a game for a, {int(result.games.sum())} games")
    lines.append(f"{'':4}" + "".join(f"{ending:>13}" for ending in ENDINGS))
    for player, name in enumerate((result.a, result.b)):
        shares = "".join(f"{result.won(ending, player):13.1%}" for ending in ENDINGS)
        lines.append(f"{'ab'[player]:4}{shares}   {name}")
    return "\n".join([*lines, f"{result.games_per_s:.1f} games/s"])


def _options(start: Score) -> list[str]:
    """The options of money play that are on."""
    words = ["Jacoby"] * start.jacoby + ["beavers"] * start.beavers
    if start.auto_doubles:
        words.append(f"{start.auto_doubles} automatic doubles")
    if start.stake_cap is not None:
        words.append(f"no more than {start.stake_cap} points a game")
    return words


def cube_dict(result: CubeResult) -> dict[str, Any]:
    """The result for JSON: the keys of train.arena.as_dict and, beside them, length (0 for money),
    OPTIONS, mwc (a's share of the matches; null for money), passes and games.

    In a match ci95 and adjusted are of mwc, and ppg has no interval.
    """
    adjusted, money = result.adjusted, result.start.money
    return {
        "a": result.a,
        "b": result.b,
        "variant": result.variant,
        "ply": result.a_ply if result.a_ply == result.b_ply else None,
        "a_ply": result.a_ply,
        "b_ply": result.b_ply,
        "cube": "money" if money else "match",
        **{name: getattr(result.start, name) for name in OPTIONS},
        "length": result.start.length,
        "pairs": result.pairs,
        "games": int(result.games.sum()),
        "ppg": result.ppg,
        "mwc": None if money else result.mean,
        "ci95": result.ci95,
        "adjusted": None
        if adjusted is None
        else {
            ("ppg" if money else "mwc"): adjusted.ppg,
            "ci95": adjusted.ci95,
            "judge": result.judge,
        },
        **{ending: result.won(ending) for ending in ENDINGS},
        "draws": 0.0,
        "games_per_s": result.games_per_s,
        "seed": result.seed,
    }


def cube_record(result: CubeResult, game: Variant) -> MatchRecord:
    """The games that were kept: a session for money, or the first match."""
    start = result.start
    games: list[GameRecord] = []
    points = [0, 0]
    for unit in result.saved if start.money else result.saved[:1]:
        for played in unit:
            games.append(replace(played, score=(points[0], points[1])))
            if played.winner is not None:
                points[played.winner] += played.points
    return MatchRecord(
        (result.a, result.b),
        start.length,
        game,
        games,
        jacoby=start.jacoby,
        beavers=start.beavers,
    )
