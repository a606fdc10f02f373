"""Games for money with the cube, and matches: each played twice, with the same dice and the
seats swapped.

    a, b = cube_player("runs/quick", game), cube_player("gnubg", game)
    play_cube_match(a, b, game, Score(), pairs=1000).ppg          # points a game
    play_cube_match(a, b, game, match_score(7), pairs=1000).mwc   # a's chance to win a match

A unit is one game for money, or one match, which goes on until somebody has his points. In money
play a starts the first game of a pair and b its twin; in a match the opening dice tell who
starts (K3), those of both players swapped in the twin. Nobody doubles before the first roll of a
game. As in train.match the result depends on players, game, score and seed alone; the last bits of
luck on the batch too.

Options of money play are those of the Score: Jacoby, beavers, a bound on losses (K18) and automatic
doubles, which a game and its twin have alike.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from nardy.match.cube import Offer, automatic_double, beaver, double, refuse, take
from nardy.match.score import Score
from nardy.notation.record import CubeAction, Deed, GameRecord, Roll
from nardy.rules.batch import Workspace, afterstates
from nardy.rules.board import Boards, points_won, start_board, turn
from nardy.rules.dice import random_words, roll
from nardy.rules.variants import Variant
from train import match
from train.cube_players import BEAVER, PASS, CubePlayer, NetCube
from train.cube_result import ENDINGS, CubeJudge, CubeResult, Rows
from train.match import MAX_PLIES, How, Plan, Progress, batch_number, plan_of, play_stages

BATCHES = (8192, 256, 32)
"""As train.match.BATCHES, larger: what hangs on the score is asked once for each different one.
Between nets alone; a peer is no faster for it."""

_TIES = 5
"""Stream of the random words that tell how often the opening dice were equal."""


def play_cube_match(
    a: CubePlayer,
    b: CubePlayer,
    game: Variant,
    start: Score,
    pairs: int,
    seed: int = 0,
    *,
    judge: CubeJudge | None = None,
    **how: Unpack[How],
) -> CubeResult:
    """Play up to `pairs` pairs of units from the score `start`, which is the same for both sides.

    As train.match.play_match otherwise: `finished` is told of units, `until` is in points or in the
    chance of winning a match, `save` counts units; the batch is by default one of BATCHES.
    Raises ValueError naming a number that is too small, or a game without the cube.
    """
    if game.cube != "on":
        raise ValueError(f"{game.name} is played without the cube")
    batches = BATCHES if isinstance(a, NetCube) and isinstance(b, NetCube) else match.BATCHES
    usual = batches[batch_number(a.ply, b.ply, judge is not None)]
    plan = plan_of(pairs, seed, usual, how)
    table = _Table(game, start, plan, judge is not None)
    crews = [
        _Crew((a.for_thread(), b.for_thread()), judge.for_thread() if judge else None)
        for _ in range(plan.crews)
    ]
    return play_stages(
        plan,
        table.progress,
        table.play,
        crews,
        lambda: table.result(a, b, judge),
        lambda result: (result.adjusted or result).ci95,
    )


class _Crew(NamedTuple):
    """Who plays and judges in one thread."""

    players: tuple[CubePlayer, CubePlayer]
    judge: CubeJudge | None


@dataclass
class _Games:
    """Games under way, a row for each.

    units: by number, 2 * pair or its twin; numbers: of the game in its unit; plies: turns played
    in it. seats: who is on roll, 0 for a. boards: int8[B, 26] and scores, a Score each, in the
    view of the player on roll.
    """

    units: Rows
    numbers: Rows
    plies: Rows
    seats: Rows
    boards: Boards
    scores: NDArray[Any]

    def keep(self, rows: NDArray[Any]) -> None:
        """Leave only some of the rows."""
        for name in ("units", "numbers", "plies", "seats", "boards", "scores"):
            setattr(self, name, getattr(self, name)[rows])


class _Table:
    """What the threads share. Unit 2 * pair has a in the first seat, 2 * pair + 1 has b."""

    def __init__(self, game: Variant, start: Score, plan: Plan, judged: bool) -> None:
        self.game, self.start, self.seed, self.batch = game, start, plan.seed, plan.batch
        units = 2 * plan.pairs
        # a thread writes the units that it plays
        self.points, self.games = np.zeros((2, units), np.int64)
        self.over = np.zeros(units, np.bool_)
        self.endings = np.zeros((units, 2, len(ENDINGS)), np.int64)
        self.luck = np.zeros(units) if judged else None
        self.records: list[list[GameRecord]] = [[] for _ in range(min(plan.save, units))]
        self.progress = Progress(plan)
        self._most = max(2 * start.length - 1, 1)  # games in a unit: each pays a point or more

    def play(self, crew: _Crew, pairs: Rows) -> None:
        """Play `pairs` in lock-step; the place of a finished unit is taken by the next one."""
        units = (2 * pairs[:, None] + np.arange(2)).ravel()
        live, waiting = self._open(units[: self.batch]), units[self.batch :]
        memory = Workspace()
        while len(live.units) and not self.progress.stop.is_set():
            won, multiples = self._turn(crew, live, memory)
            done = self._settle(live, won, multiples)
            if self.progress.late():  # no new pair, but the twin of a unit that was begun
                waiting = waiting[: int(len(waiting) > 0 and waiting[0] % 2)]
            taken = np.flatnonzero(done)[: len(waiting)]
            if len(taken):
                self._begin(live, taken, waiting[: len(taken)], np.zeros(len(taken), np.int64))
                live.scores[taken] = self._opening_scores(live, taken)
                waiting, done[taken] = waiting[len(taken) :], False
            live.keep(~done)
            if len(live.units) and live.plies.max() >= MAX_PLIES:
                pair = live.units[live.plies.argmax()] // 2
                raise ValueError(f"a game of pair {pair} is not over after {MAX_PLIES} plies")

    def result(self, a: CubePlayer, b: CubePlayer, judge: CubeJudge | None) -> CubeResult:
        """What has been played so far, by whole pairs."""
        whole: NDArray[np.bool_] = np.asarray(self.over.reshape(-1, 2).all(1))
        if whole.sum() < 2:
            raise ValueError("no two pairs of games could be begun in these seconds")
        shape = (-1, 2)
        return CubeResult(
            a.name,
            b.name,
            self.game.name,
            self.seed,
            self.start,
            self.points.reshape(shape)[whole],
            self.games.reshape(shape)[whole],
            self.endings[np.repeat(whole, 2)].sum(0),
            self.progress.rate(self.games.sum()),
            a.ply,
            b.ply,
            None if judge is None else judge.name,
            None if self.luck is None else self.luck.reshape(shape)[whole],
            tuple(tuple(games) for unit, games in enumerate(self.records) if whole[unit // 2]),
        )

    # ------------------------------------------------------------ a game's beginning

    def _open(self, units: Rows) -> _Games:
        count = len(units)
        none, boards = np.zeros(count, np.int64), np.zeros((count, 26), np.int8)
        live = _Games(units.copy(), none, none.copy(), none.copy(), boards, np.empty(count, object))
        everyone = np.arange(count)
        self._begin(live, everyone, units, none)
        live.scores[:] = self._opening_scores(live, everyone)
        return live

    def _begin(self, live: _Games, rows: Rows, units: Rows, numbers: Rows) -> None:
        """Set up games, all but their scores."""
        live.units[rows], live.numbers[rows], live.plies[rows] = units, numbers, 0
        live.boards[rows] = start_board(self.game)
        second = np.zeros(len(rows), np.int64)
        if not self.start.money:
            dice = self._opening_dice(units, numbers)
            second = (dice[:, 0] < dice[:, 1]).astype(np.int64)
        live.seats[rows] = (units + second) % 2
        for i in rows[units < len(self.records)].tolist():
            self._note_start(self.records[live.units[i]])

    def _opening_scores(self, live: _Games, rows: Rows) -> list[Score]:
        """What games are begun for: with automatic doubles for equal opening dice before (K3)."""
        scores = []
        for i in rows.tolist():
            score = self.start
            for _ in range(self._ties(live, i)):
                score = automatic_double(score)
            scores.append(_turned(score) if live.seats[i] else _shared(score))
        return scores

    def _ties(self, live: _Games, i: int) -> int:
        """How often the opening dice were equal, up to what is allowed; the same in the twin."""
        if not self.start.auto_doubles:
            return 0
        number = self._dice_number(live.units[i], live.numbers[i])
        share = float(random_words(self.seed, number, 0, _TIES)) / 2.0**64
        return sum(share < 6.0**-n for n in range(1, self.start.auto_doubles + 1))

    def _opening_dice(self, units: Rows, numbers: Rows) -> NDArray[np.uint8]:
        """uint8[B, 2], thrown by the player in the first seat and the other, never equal (K3)."""
        return roll(self.seed, self._dice_number(units, numbers), np.zeros(len(units), np.int64))

    def _dice_number(self, units: Rows, numbers: Rows) -> Rows:
        """int64[B], the same for a unit and its twin."""
        return (units // 2) * self._most + numbers

    # ------------------------------------------------------------ a turn

    def _turn(self, crew: _Crew, live: _Games, memory: Workspace) -> tuple[Rows, Rows]:
        """Doubles, answers, rolls and moves: one turn of every game.

        int64[B] each: the points won by the player on roll, 0 while the game goes on, and what he
        won them with: 1 to 3, or 0 for a pass.
        """
        won = self._cube(crew, live)
        rows = np.flatnonzero(won == 0)
        multiples = np.zeros(len(won), np.int64)
        dice = roll(
            self.seed,
            self._dice_number(live.units[rows], live.numbers[rows]),
            live.plies[rows],
            self.game.opening,
        )
        before = live.boards[rows]
        if crew.judge is not None and self.luck is not None and len(rows):
            asked = live.scores[rows].tolist()
            luck = crew.judge.luck(before, dice, live.plies[rows], asked)
            self.luck[live.units[rows]] += (1 - 2 * live.seats[rows]) * luck
        moved = np.empty_like(before)
        for seat, player in enumerate(crew.players):
            part = np.flatnonzero(live.seats[rows] == seat)
            if len(part):
                results = afterstates(before[part], dice[part], self.game, memory)
                scores = live.scores[rows[part]].tolist()
                chosen = player.choose(before[part], dice[part], results, scores)
                moved[part] = results.boards[chosen]
        self._note_rolls(live, rows, dice, moved)
        live.boards[rows] = moved
        multiples[rows] = points_won(moved, self.game)
        for i in np.flatnonzero(multiples).tolist():
            won[i] = live.scores[i].points(int(multiples[i]))
        return won, multiples

    def _cube(self, crew: _Crew, live: _Games) -> Rows:
        """int64[B]: points won by a double that was passed (K16). Scores change with takes."""
        won = np.zeros(len(live.units), np.int64)
        may = np.array([score.may_double for score in live.scores], np.bool_) & (live.plies > 0)
        for seat, player in enumerate(crew.players):
            rows = np.flatnonzero(may & (live.seats == seat))
            if not len(rows):
                continue
            rows = rows[player.doubles(live.boards[rows], live.scores[rows].tolist())]
            if not len(rows):
                continue
            other = crew.players[1 - seat]
            answers = other.answers(live.boards[rows], live.scores[rows].tolist())
            for i, answer in zip(rows.tolist(), answers.tolist(), strict=True):
                won[i] = self._answered(live, i, answer)
        return won

    def _answered(self, live: _Games, i: int, answer: int) -> int:
        """Points won by the double of the player on roll, 0 where it is taken. A beaver is taken:
        nobody here passes one, or raccoons."""
        offer, seat = double(live.scores[i]), int(live.seats[i])
        self._note_cube(live, i, seat, "double", offer)
        if answer == PASS:
            self._note_cube(live, i, 1 - seat, "drop", offer)
            return refuse(offer)
        if answer == BEAVER:
            offer = beaver(offer)
            self._note_cube(live, i, 1 - seat, "beaver", offer)
        self._note_cube(live, i, seat if offer.beavered else 1 - seat, "take", offer)
        live.scores[i] = _shared(take(offer))
        return 0

    def _settle(self, live: _Games, won: Rows, multiples: Rows) -> NDArray[np.bool_]:
        """Turn to the other player, or begin the next game of a match; bool[B], finished units."""
        done = np.zeros(len(won), np.bool_)
        going = won == 0
        live.boards[going] = turn(live.boards[going], self.game.family)
        live.plies[going] += 1
        live.seats[going] = 1 - live.seats[going]
        for i in np.flatnonzero(going).tolist():
            live.scores[i] = _turned(live.scores[i])
        for i in np.flatnonzero(~going).tolist():
            done[i] = self._end_game(live, i, int(won[i]), int(multiples[i]))
        if done.any():
            self.over[live.units[done]] = True
            self.progress.tell(int(done.sum()))
        return done

    def _end_game(self, live: _Games, i: int, points: int, multiple: int) -> bool:
        """Book a game that the player on roll has won; whether its unit is over."""
        unit, seat, score = int(live.units[i]), int(live.seats[i]), live.scores[i]
        self.points[unit] += -points if seat else points
        self.games[unit] += 1
        self.endings[unit, seat, : max(multiple, 1)] += 1
        self.endings[unit, seat, ENDINGS.index("passes")] += multiple == 0
        if unit < len(self.records):
            played = self.records[unit].pop()
            over = replace(played, crawford=score.crawford, winner=seat, points=points)
            self.records[unit].append(over)
        following = None if score.money else score.next_game(points)
        if following is None:
            return True
        row = np.array([i])
        self._begin(live, row, live.units[row], live.numbers[row] + 1)
        live.scores[i] = _shared(following) if live.seats[i] == seat else _turned(following)
        return False

    # ------------------------------------------------------------ games that are kept

    @staticmethod
    def _note_start(games: list[GameRecord]) -> None:
        points = [0, 0]
        for played in games:
            assert played.winner is not None
            points[played.winner] += played.points
        games.append(GameRecord((points[0], points[1]), False, [], None, 0))

    def _note(self, unit: int, action: Roll | CubeAction) -> None:
        actions = self.records[unit][-1].actions
        assert isinstance(actions, list)
        actions.append(action)

    def _note_rolls(self, live: _Games, rows: Rows, dice: NDArray[np.uint8], moved: Boards) -> None:
        for place in np.flatnonzero(live.units[rows] < len(self.records)).tolist():
            i = int(rows[place])
            seat, score = int(live.seats[i]), live.scores[i]
            thrown = Roll(
                seat,
                live.boards[i].copy(),
                dice[place].copy(),
                moved[place].copy(),
                score.cube,
                _owner(score, seat),
            )
            self._note(int(live.units[i]), thrown)

    def _note_cube(self, live: _Games, i: int, actor: int, deed: Deed, offer: Offer) -> None:
        if live.units[i] >= len(self.records):
            return
        seat, board = int(live.seats[i]), live.boards[i].copy()
        owner = 1 - seat if offer.beavered else _owner(offer.score, seat)
        action = CubeAction(actor, deed, seat, board, offer.cube // 2, owner, offer.cube)
        self._note(int(live.units[i]), action)


@lru_cache(4096)
def _turned(score: Score) -> Score:
    """The score as the other player sees it, as `_shared`."""
    return _shared(score.flip())


@lru_cache(4096)
def _shared(score: Score) -> Score:
    """The one object that stands for all equal scores, so that players tell them apart quickly."""
    return score


def _owner(score: Score, seat: int) -> int | None:
    """Whose the cube is, 0 a's and 1 b's; score in the view of `seat`."""
    return None if score.owner == "centre" else seat if score.owner == "mine" else 1 - seat
