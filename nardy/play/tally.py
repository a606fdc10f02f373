"""What a player's decisions come to: errors, luck, and the rates that programs print.

    tally(analysis.decisions, player=0).pr

error_rate is gnubg's: a thousand times the mean error of unforced plays and cube decisions, where
a double not made counts if the question was close. snowie is Snowie's: a thousand times the error
over the rolls of both players. pr is XG's performance rating: five hundred times the mean error
of what counts as a decision (nardy.play.judge).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nardy.play.judge import Decision

DOUBTFUL, BAD, BLUNDER = 0.04, 0.08, 0.16
"""Errors, normalised, from which on a decision is marked ?!, ? and ??."""


@dataclass(frozen=True)
class Tally:
    """One player's sums; equities are normalised.

    plays, unforced, cubes: how many rolls he played, how many with a choice, and his decisions
    about the cube that were made or close.
    play_error, cube_error: sums. loss: of both, in points or chances of winning the match.
    missed, wrong_doubles, wrong_takes, wrong_passes: errors at the cube by kind.
    marks: decisions marked ?!, ? and ??. luck: the sum of his rolls'.
    error_rate, snowie, pr: see above; None where nothing was decided.
    """

    plays: int
    unforced: int
    cubes: int
    play_error: float
    cube_error: float
    loss: float
    missed: int
    wrong_doubles: int
    wrong_takes: int
    wrong_passes: int
    marks: tuple[int, int, int]
    luck: float
    error_rate: float | None
    snowie: float | None
    pr: float | None


def mark(error: float) -> str:
    """`??`, `?`, `?!` or nothing, by the size of a normalised error."""
    return "??" if error >= BLUNDER else "?" if error >= BAD else "?!" if error >= DOUBTFUL else ""


def tally(decisions: Sequence[Decision], player: int) -> Tally:
    """The sums of `player`, 0 or 1, over the decisions of both."""
    mine = [decision for decision in decisions if decision.player == player]
    plays = [decision for decision in mine if decision.kind == "play"]
    cubes = [decision for decision in mine if decision.kind != "play"]
    unforced = sum(decision.free for decision in plays)
    close = sum(decision.close for decision in cubes)
    wrong = [decision.chosen for decision in cubes if decision.error]
    marks = [mark(decision.error) for decision in mine]
    error = sum(decision.error for decision in mine)
    rolls = sum(decision.kind == "play" for decision in decisions)
    return Tally(
        plays=len(plays),
        unforced=unforced,
        cubes=close,
        play_error=sum(decision.error for decision in plays),
        cube_error=sum(decision.error for decision in cubes),
        loss=sum(decision.loss for decision in mine),
        missed=sum(chosen.startswith("no ") for chosen in wrong),
        wrong_doubles=sum(chosen in ("double", "redouble") for chosen in wrong),
        wrong_takes=sum(chosen in ("take", "beaver") for chosen in wrong),
        wrong_passes=wrong.count("pass"),
        marks=(marks.count("?!"), marks.count("?"), marks.count("??")),
        luck=sum(decision.luck or 0.0 for decision in plays),
        error_rate=_rate(1000 * error, unforced + close),
        snowie=_rate(1000 * error, rolls),
        pr=_rate(500 * error, sum(decision.counts for decision in mine)),
    )


def _rate(error: float, decisions: int) -> float | None:
    return error / decisions if decisions else None
