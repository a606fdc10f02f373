"""Analysis of recorded games: every play and cube decision judged, and the luck of every roll.

    analysis = analyze(read_mat(text), Net.load("checkpoints/short-01"), ply=1)
    analysis.tallies[0].pr
    [decision for decision in analysis.decisions if decision.error >= BLUNDER]

How a decision is judged is told in nardy.play.judge, what the sums mean in nardy.play.tally; they
are written out by nardy.play.analysis_text. Raccoons, answers to beavers and rolls that nobody
played are not judged.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from nardy.net.net import Net
from nardy.notation.record import CubeAction, GameRecord, MatchRecord, Roll
from nardy.play.bearoff import tables_for
from nardy.play.cube_head import CubeHead, own_cube
from nardy.play.cubeful import check_game
from nardy.play.judge import CubeAsked, Decision, Judge, RollAsked
from nardy.play.search import Search
from nardy.play.tally import Tally, tally

CHUNK = 32
"""Decisions judged together."""

Progress = Callable[[float], None]

_ORDER = {"double": 0, "answer": 1, "play": 2}
_ANSWERS = {"take": "take", "drop": "pass", "beaver": "beaver"}
_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Analysis:
    """A match judged; tallies are of players 0 and 1."""

    match: MatchRecord
    ply: int
    decisions: Sequence[Decision]
    tallies: tuple[Tally, Tally]


def analyze(
    match: MatchRecord,
    net: Net,
    ply: int = 0,
    threads: int = 1,
    progress: Progress = lambda share: None,
    head: CubeHead | None = None,
) -> Analysis:
    """Judge all that was decided in `match`, by `net` at `ply`; threads share the search.

    head: the cube that the net has learnt, None for the formula.
    progress: is told the share that is done, up to 1.
    Raises ValueError for another game than the net's, a match longer than the table of match
    equities reaches, or a bad depth.
    """
    if net.variant.family != "hitting":
        raise ValueError(
            f"games are recorded and analysed of short nardy, not of {net.variant.name}"
        )
    check_game(net.variant)
    if match.variant.name != net.variant.name:
        raise ValueError(f"the net plays {net.variant.name}, the games are {match.variant.name}")
    tables = tables_for(net.variant)
    search = Search(net, ply, tables=tables, threads=threads)
    judge = Judge(search, own_cube(net, head, tables))
    rolls, cubes = list(_rolls(match)), list(_cubes(match))
    decisions: list[Decision] = []
    done, everything = 0, len(rolls) + len(cubes)
    for part in _parts(rolls):
        decisions += judge.rolls(part)
        done += len(part)
        progress(done / everything)
    for some in _parts(cubes):
        decisions += judge.cubes(some)
        done += len(some)
        progress(done / everything)
    decisions.sort(key=lambda decision: (decision.game, decision.turn, _ORDER[decision.kind]))
    return Analysis(match, ply, decisions, (tally(decisions, 0), tally(decisions, 1)))


def _parts(questions: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for begin in range(0, len(questions), CHUNK):
        yield questions[begin : begin + CHUNK]


def _rolls(match: MatchRecord) -> Iterator[RollAsked]:
    for number, game in enumerate(match.games, start=1):
        first = True
        for turn, action in enumerate(game.actions):
            if isinstance(action, Roll):
                yield RollAsked(number, turn, action, match.score(game, action), first)
                first = False


def _cubes(match: MatchRecord) -> Iterator[CubeAsked]:
    """Every double, and every roll before which there might have been one (K16)."""
    for number, game in enumerate(match.games, start=1):
        opening, doubler = True, None
        for turn, action in enumerate(game.actions):
            score = match.score(game, action)
            asked = (number, turn, action.player, action.board, score)
            if isinstance(action, Roll):
                if not opening and doubler != action.player and score.may_double:
                    yield CubeAsked(*asked, doubled=False, answer=None)
                opening, doubler = False, None
            elif action.deed == "double":
                yield CubeAsked(*asked, doubled=True, answer=_answer(game, turn))
                doubler = action.player


def _answer(game: GameRecord, turn: int) -> str | None:
    """What was answered to the double that is action `turn`."""
    following = game.actions[turn + 1 : turn + 2]
    if following and isinstance(following[0], CubeAction):
        return _ANSWERS.get(following[0].deed)
    return None
