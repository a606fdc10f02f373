"""Makes the match equity table: from how often games are gammons and how the cube is used.

    python -m nardy.match.met_make                                  # writes nardy/data/met.xml
    python -m nardy.match.met_make --to mine.xml --length 15 --against Kazaross-XG2.xml

A game is a walk of the chance p of winning it. With p = Φ(z) a roll turns z into √(1 + s²) z + s ξ,
ξ standard normal: p is then a martingale, and s says how much one roll may change. Both sides
double and take as is best for them, found by value iteration backwards from the ends of the
match, so market losers, free drops and cubes that are dead for one side come out of themselves.
The table up to (i, j) needs only scores nearer the end.

Gammons are the same share of both sides' wins where no cube is live. With one they are fewer, since
gammonish games are cashed, and the share moves by PER_VALUE for each stake by which a gammon is
worth more to one side than to the other. Shares and spreads were fitted by hand to the published
table that tests/match/test_met.py compares with.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nardy.match.janowski import payoffs
from nardy.match.met import SHIPPED, MatchEquity
from nardy.match.score import MAX_LENGTH, Score

Floats = NDArray[np.float64]

GAMMONS, GAMMONS_WITH_CUBE, PER_VALUE = 0.29, 0.22, 0.06
"""Shares of wins that are gammons or better."""
BACKGAMMONS = 0.012
SPREAD, OPENING_SPREAD = 0.33, 0.07
"""s of a roll, and of the first roll of each player."""

_REACH, _STEP = 3.2, 0.1
_PRECISE, _SWEEPS = 1e-6, 1000
_OTHER = [0, 2, 1]  # the owner (middle, mine, theirs) seen by the other player


def make_table(length: int = MAX_LENGTH) -> MatchEquity:
    """The table for matches to `length` points. Raises ValueError for a length out of range."""
    if length not in range(1, MAX_LENGTH + 1):
        raise ValueError(f"a match is played to 1 to {MAX_LENGTH} points, not {length!r}")
    before, after = np.full((length, length), 0.5), np.full(length, 0.5)
    table = MatchEquity("nardy", before, after)
    for mine in range(2, length + 1):
        after[mine - 1] = start_value(Score(away=(mine, 1), length=length), table)
    for total in range(3, 2 * length + 1):
        for mine in range(max(1, total - length), (total + 1) // 2):
            theirs = total - mine
            score = Score(away=(mine, theirs), length=length, crawford=mine == 1)
            before[mine - 1, theirs - 1] = start_value(score, table)
            before[theirs - 1, mine - 1] = 1 - before[mine - 1, theirs - 1]
    return table


def start_value(score: Score, table: MatchEquity) -> float:
    """My chance of winning the match before a game at `score`, either player being as likely to
    start. `table` must hold the scores that the game can lead to."""
    pay = payoffs.__wrapped__(score, table)  # not remembered: the table grows
    value = _solved(pay)
    starts = []
    for player in (0, 1):  # neither may double before the opening roll (K16)
        reply = _rolled(_OPENING_WALK, value[player])
        answered = _with_double(reply, pay, 1 - player)
        starts.append(_rolled(_OPENING_WALK, answered)[0, 0, len(_CHANCES) // 2])
    return float(starts[0] + 1 - starts[1]) / 2


def _solved(pay: Floats) -> Floats:
    """float64[2, J, 3, G]: the chance of winning the match of the player on roll (me, the other),
    at each level of the cube, owner and chance of winning the game, before he may double."""
    value = np.empty((2, len(pay), 3, len(_CHANCES)))
    for player in (0, 1):
        lost, won = _ends(pay, player)
        value[player] = (lost + _CHANCES * (won - lost))[:, None]
    for _ in range(_SWEEPS if len(pay) > 1 else 0):
        old = value.copy()
        for player in (0, 1):
            value[player] = _with_double(_rolled(_WALK, value[1 - player]), pay, player)
        if np.abs(value - old).max() < _PRECISE:
            break
    return value


def _rolled(walk: Floats, theirs: Floats) -> Floats:
    """The value of a roll to the player who makes it, from the other's values after it."""
    return (1 - theirs[:, _OTHER, ::-1]) @ walk.T


def _with_double(stay: Floats, pay: Floats, player: int) -> Floats:
    """The value with the cube at hand, max(N, min(N doubled and theirs, cash)), from N (K16)."""
    value = stay.copy()
    cash = pay[:-1, 3] if player == 0 else 1 - pay[:-1, 2]
    doubled = np.minimum(stay[1:, 2], cash[:, None])
    value[:-1, :2] = np.maximum(stay[:-1, :2], doubled[:, None])
    return value


def _ends(pay: Floats, player: int) -> tuple[Floats, Floats]:
    """float64[J, 1] each: what a game lost and a game won are worth to `player` on average."""
    stake = pay[:, 3] - pay[:, 2]
    more = (pay[:, 4] - pay[:, 3] - pay[:, 2] + pay[:, 1]) / stake  # of a gammon to me, less his
    cubed = len(pay) > 1 and not _free(pay[:, :3]) and not _free(pay[:, 3:])
    mine = GAMMONS_WITH_CUBE + PER_VALUE * more if cubed else np.full(len(pay), GAMMONS)
    his = GAMMONS_WITH_CUBE - PER_VALUE * more if cubed else mine
    won, lost = _mean(pay[:, 3:], mine)[:, None], _mean(pay[:, 2::-1], his)[:, None]
    return (lost, won) if player == 0 else (1 - won, 1 - lost)


def _free(pay: Floats) -> bool:
    """Whether one side doubles at once, since the lost games it could pay for are lost anyway."""
    return bool((pay[0] == pay[1]).all())


def _mean(pay: Floats, gammons: Floats) -> Floats:
    """float64[J]: the mean of single game, gammon and backgammon, float64[J, 3]."""
    shares = np.stack([1 - gammons, gammons - BACKGAMMONS, np.full_like(gammons, BACKGAMMONS)], -1)
    return np.asarray((pay * shares).sum(-1))


def _normal(z: Floats) -> Floats:
    return np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in z.ravel()]).reshape(z.shape)


_Z = np.linspace(-_REACH, _REACH, round(2 * _REACH / _STEP) + 1)
_CHANCES = np.concatenate([[0.0], _normal(_Z), [1.0]])


def _walk(spread: float) -> Floats:
    """float64[G, G]: from each of _CHANCES to each in one roll, the mean kept exactly."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    after = _normal(_Z[:, None] * math.sqrt(1 + spread**2) + spread * nodes)
    # a chance between two of the grid is shared between them so that the mean stays
    left = np.clip(np.searchsorted(_CHANCES, after) - 1, 0, len(_CHANCES) - 2)
    right = (after - _CHANCES[left]) / (_CHANCES[left + 1] - _CHANCES[left])
    walk = np.zeros((len(_CHANCES), len(_CHANCES)))
    walk[0, 0] = walk[-1, -1] = 1
    rows = np.arange(1, len(_CHANCES) - 1)[:, None]
    np.add.at(walk, (rows, left), (1 - right) * weights / weights.sum())
    np.add.at(walk, (rows, left + 1), right * weights / weights.sum())
    return walk


_WALK, _OPENING_WALK = _walk(SPREAD), _walk(OPENING_SPREAD)


def provenance() -> str:
    """How the table was made, in one line."""
    return (
        f"python -m nardy.match.met_make: gammons {GAMMONS}, with a live cube {GAMMONS_WITH_CUBE} "
        f"+ {PER_VALUE} a stake, backgammons {BACKGAMMONS}, "
        f"spread {SPREAD}, opening {OPENING_SPREAD}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a table; 0, or 2 where something is wrong with what was asked."""
    parser = argparse.ArgumentParser(
        prog="python -m nardy.match.met_make", description="Make the match equity table."
    )
    parser.add_argument("--to", type=Path, default=SHIPPED, help="the file to write, gnubg's XML")
    parser.add_argument("--length", type=int, default=MAX_LENGTH, help="the longest match")
    parser.add_argument("--against", type=Path, help="a table in gnubg's XML to compare with")
    options = parser.parse_args(arguments)
    try:
        table = make_table(options.length)
        part = options.to.with_name(options.to.name + ".part")
        part.write_text(table.xml(provenance()), encoding="utf-8")
        part.replace(options.to)
        print(f"{options.to}: {options.length} points")
        if options.against:
            print(_comparison(table, MatchEquity.load(options.against)))
    except (ValueError, OSError) as error:
        print(f"nardy: {error}", file=sys.stderr)
        return 2
    return 0


def _comparison(table: MatchEquity, other: MatchEquity) -> str:
    n = min(table.length, other.length)
    apart = 100 * np.abs(table.before[:n, :n] - other.before[:n, :n])
    return f"{other.name}: apart by {apart.mean():.3f} % on average, {apart.max():.3f} % at most"


if __name__ == "__main__":
    sys.exit(main())
