"""Judging decisions: what was played or doubled, beside what should have been.

    judge = Judge(search)
    judge.rolls(questions)         # plays, and the luck of their rolls
    judge.cubes(questions)         # doubles made and not made, answers to them

Errors are in equity with the cube and at the score, normalised so that a single game lost and won
at the cube's value are −1 and 1 (nardy.match.janowski.normalised); `loss` is the same in points,
or in a match in chances of winning it. Doubles are judged against the other side's right answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.match.janowski import normalised
from nardy.match.score import Score
from nardy.net.net import Floats
from nardy.notation.moves import move_texts
from nardy.notation.record import Roll
from nardy.play.cubeful import Cube, after_equities, cube_values_at, formula
from nardy.play.search import Priced, Search
from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import Boards
from nardy.rules.dice import ROLL_CHANCES, ROLLS

CANDIDATES = 4
"""Plays listed with each decision, beside the one that was made."""

NOT_PLAYED = "(not played)"

_SPREAD = 0.001  # between the best ten plays: below it there was nothing to decide
_CLOSE = 0.16  # gnubg's isCloseCubedecision
_FAR = 0.2  # by which no double beats both answers where doubling is no question
_TIE = 1e-6
_UNEQUAL = ROLLS[:, 0] != ROLLS[:, 1]
_OPENING = _UNEQUAL / _UNEQUAL.sum()  # the first roll is no double (K3)

Kind = Literal["play", "double", "answer"]
Values = NDArray[np.float64]
Rows = NDArray[np.int64]


class Option(NamedTuple):
    """One thing that could be done."""

    text: str
    equity: float  # normalised, for the player who decides
    chances: Floats | None  # float32[6], his after it; None for the cube


@dataclass(frozen=True, eq=False)
class Decision:
    """One decision as it was taken and as it should have been.

    game: from 1; turn: rolls and cube actions of the game before it; player: who took it.
    board: int8[26] in the view of the player on roll; dice: None before the roll.
    score: what it was for, in the view of the player who decides, before any double.
    chosen, best: texts of two of the options, the same where there is no error.
    error: normalised, 0 or more; loss: the same in points, or chances of winning the match.
    luck: of the roll, normalised; None for the cube.
    free: whether there was more than one thing to do; counts: whether it counts for PR;
    close: of a double that was not made, whether the question was a near one.
    """

    game: int
    turn: int
    player: int
    kind: Kind
    board: Boards
    dice: NDArray[np.uint8] | None
    score: Score
    chosen: str
    best: str
    options: Sequence[Option]
    error: float
    loss: float
    luck: float | None
    free: bool
    counts: bool
    close: bool


class RollAsked(NamedTuple):
    """A roll to judge."""

    game: int
    turn: int
    roll: Roll
    score: Score  # of the player who rolled
    first: bool  # the first roll of the game


class CubeAsked(NamedTuple):
    """A double made, or one that could have been; and what the other side answered."""

    game: int
    turn: int
    player: int  # on roll
    board: Boards  # int8[26], his
    score: Score  # his
    doubled: bool
    answer: str | None  # "take", "pass" or "beaver"; None where there is none to judge


class Judge:
    """Prices decisions by a search and a cube. Serves one thread."""

    def __init__(self, search: Search, cube: Cube = formula) -> None:
        self.search, self.cube = search, cube

    def rolls(self, asked: Sequence[RollAsked]) -> list[Decision]:
        """The plays, one for each roll that is asked about."""
        boards = np.stack([question.roll.board for question in asked])
        dice = np.stack([question.roll.dice for question in asked])
        luck = self._luck(boards, dice, asked)
        results = afterstates(boards, dice, self.search.net.variant)
        scores = [question.score for question in asked]
        played = [_row(results, i, question.roll) for i, question in enumerate(asked)]
        priced = self._priced(results, scores, [row for row in played if row is not None])
        return [
            _play(question, results, priced, i, played[i], luck[i])
            for i, question in enumerate(asked)
        ]

    def cubes(self, asked: Sequence[CubeAsked]) -> list[Decision]:
        """The doubles, made or not, and the answers to those that were made."""
        boards = np.stack([question.board for question in asked])
        chances = self.search.before_roll(boards)
        scores = [question.score for question in asked]
        values = cube_values_at(boards, chances, scores, self.cube)
        decisions = []
        for i, question in enumerate(asked):
            options = [float(normalised(value[i], question.score)) for value in values]
            if np.isnan(options[1]):
                continue  # a double that the rules do not know, as with a dead cube
            decisions.append(_double(question, options))
            if question.answer is not None:
                decisions.append(_answer(question, options))
        return decisions

    def _priced(self, results: Afterstates, scores: Sequence[Score], played: list[int]) -> Priced:
        """Every result; those that were played as deep as the best, whatever the filters thought
        of them."""
        owners = np.repeat(np.arange(len(scores)), np.diff(results.offsets))

        def worth(rows: Rows, chances: Floats) -> Values:
            wanted = [scores[owner] for owner in owners[rows].tolist()]
            return after_equities(results.boards[rows], chances, wanted, self.cube)

        priced = self.search.price(results, None, worth)
        rows = np.array(played, np.int64)
        rows = rows[priced.plies[rows] < self.search.ply]
        if len(rows):
            priced.chances[rows] = self.search.chances(results.boards[rows], self.search.ply)
            priced.values[rows] = worth(rows, priced.chances[rows])
            priced.plies[rows] = self.search.ply
        return priced

    def _luck(
        self, boards: Boards, dice: NDArray[np.uint8], asked: Sequence[RollAsked]
    ) -> list[float]:
        """What each roll was worth to the player who threw it, by static values: its best play
        less the mean over all rolls (K3 for the first of a game)."""
        replies = self.search.replies(boards).reshape(-1, 26)
        scores = [question.score for question in asked for _ in ROLLS]
        values = after_equities(replies, self.search.chances(replies, 0), scores, self.cube)
        by_roll = values.reshape(len(boards), len(ROLLS))
        opening = self.search.net.variant.opening == "play_opening_dice"
        first = np.array([question.first and opening for question in asked])
        means = (by_roll * np.where(first[:, None], _OPENING, ROLL_CHANCES)).sum(1)
        high, low = dice.max(-1).astype(np.int64), dice.min(-1).astype(np.int64)
        thrown = by_roll[np.arange(len(boards)), high * (high - 1) // 2 + low - 1]
        luck: list[float] = (thrown - means).tolist()
        return luck


def _row(results: Afterstates, i: int, roll: Roll) -> int | None:
    """The row of `results` that was played with roll i; None where it was not played."""
    if roll.after is None:
        return None
    begin, end = results.offsets[i : i + 2]
    return int(begin + np.flatnonzero((results.boards[begin:end] == roll.after).all(-1))[0])


def _play(
    asked: RollAsked,
    results: Afterstates,
    priced: Priced,
    i: int,
    played: int | None,
    luck: float,
) -> Decision:
    begin, end = results.offsets[i : i + 2].tolist()
    rows = begin + np.lexsort((-priced.values[begin:end], -priced.plies[begin:end]))
    best = int(rows[0])
    shown = [best] if played is None else list(dict.fromkeys([*rows[:CANDIDATES].tolist(), played]))
    roll = asked.roll
    texts = move_texts(roll.board, roll.dice, results.boards[shown])
    options = [
        Option(text, float(priced.values[row]), priced.chances[row].copy())
        for text, row in zip(texts, shown, strict=True)
    ]
    chosen = best if played is None else played
    error = max(float(priced.values[best] - priced.values[chosen]), 0.0)
    top = priced.values[rows[:10]]
    free = played is not None and end - begin > 1
    return Decision(
        asked.game,
        asked.turn,
        roll.player,
        "play",
        roll.board,
        roll.dice,
        asked.score,
        NOT_PLAYED if played is None else texts[shown.index(chosen)],
        texts[0],
        options,
        error,
        _loss(error, asked.score),
        luck,
        free,
        free and float(top.max() - top.min()) >= _SPREAD,
        False,
    )


def _double(asked: CubeAsked, values: list[float]) -> Decision:
    """values: of CubeValues' four actions, normalised, for the player on roll."""
    stay, taken, passed, beavered = values
    doubled = min(value for value in (taken, passed, beavered) if not np.isnan(value))
    word = "double" if asked.score.owner == "centre" else "redouble"
    names = {True: word, False: f"no {word}"}
    best = doubled > stay + _TIE
    error = abs(doubled - stay) if asked.doubled != best else 0.0
    error = error if error > _TIE else 0.0
    trivial = (
        abs(stay - doubled) < _SPREAD
        or (stay - taken > _FAR and stay - passed > _FAR)
        or max(stay, doubled) < -0.9
    )
    return _cube_decision(
        asked,
        "double",
        names[asked.doubled],
        names[best if error else asked.doubled],
        [
            Option(f"no {word}", stay, None),
            Option(f"{word}/take", taken, None),
            Option(f"{word}/pass", passed, None),
        ],
        error,
        counts=asked.doubled or error > 0 or not trivial,
        close=asked.doubled or error > 0 or abs(stay - min(taken, 1.0)) < _CLOSE,
    )


def _answer(asked: CubeAsked, values: list[float]) -> Decision:
    """values: as in _double; the options are turned to the view of who answers."""
    answers = zip(("take", "pass", "beaver"), values[1:], strict=True)
    options = [Option(name, -value, None) for name, value in answers if not np.isnan(value)]
    worth = {option.text: option.equity for option in options}
    chosen = asked.answer or ""
    best = max(options, key=lambda option: option.equity)
    error = best.equity - worth.get(chosen, best.equity)
    if error <= _TIE:
        best, error = Option(chosen, 0.0, None), 0.0
    return _cube_decision(asked, "answer", chosen, best.text, options, error, True, True)


def _cube_decision(
    asked: CubeAsked,
    kind: Kind,
    chosen: str,
    best: str,
    options: Sequence[Option],
    error: float,
    counts: bool,
    close: bool,
) -> Decision:
    mine = kind == "double"
    return Decision(
        asked.game,
        asked.turn,
        asked.player if mine else 1 - asked.player,
        kind,
        asked.board,
        None,
        asked.score if mine else asked.score.flip(),
        chosen,
        best,
        options,
        error,
        _loss(error, asked.score),
        None,
        True,
        counts,
        close,
    )


def _loss(error: float, score: Score) -> float:
    """An error in points, or in chances of winning the match."""
    zero, one = normalised([0.0, 1.0], score).tolist()
    return float(error / (one - zero))
