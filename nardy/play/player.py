"""A player: ranks the legal plays of a position by a net.

    player = Player("checkpoints/short-01", ply=1)
    player.best(board, dice)[0].text       # the move it makes

Where a bear-off table reaches (see nardy.play.bearoff) its exact chances stand for the net's.
Deeper than 0-ply it looks at the few plays that come out in front (see nardy.play.search).
One net, board and roll always give one ranking. numpy is enough.

    player.best(board, dice, score=match_score(7, 3, 2))   # ranked with the cube, at the score
    player.cube("XGID=...")                                # no double, double/take, double/pass
    player.best("XGID=...")                                # a position with its dice and score

In a notebook a ranking shows itself as a table beside its board.

The cube is priced over the chances that the search finds: by what the net has learnt of it, or a
formula where it has learnt nothing, and exactly where the two-sided bear-off table reaches
(nardy.play.cubeful, nardy.play.cube_head).

    Player("checkpoints/short-01", level="casual", seed=7)

A level below `expert` misjudges plays: each afterstate by an error of its own that depends on the
seed and the board alone, so that the same player makes the same mistake again.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy.match.cube import Offer, Reply
from nardy.match.score import Score
from nardy.net.net import Floats, Net
from nardy.notation.board_svg import board_svg
from nardy.notation.moves import move_texts
from nardy.notation.points import from_points
from nardy.notation.positions import read_position
from nardy.notation.state import Position
from nardy.play.bearoff import tables_for
from nardy.play.cube_head import CubeHead, own_cube
from nardy.play.cubeful import (
    FREE,
    CubeDecision,
    after_equities,
    check_game,
    decide,
    free_resignation,
    right_reply,
    six,
)
from nardy.play.nets import find_net
from nardy.play.search import Rows, Search, Worth
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, check_board, check_dice
from nardy.rules.dice import random_words
from nardy.rules.variants import Variant

NOISE_STREAM = 3
"""The stream of random_words, and the one after it, that noise reads."""


class Level(NamedTuple):
    """How well a player plays."""

    ply: int
    noise: float  # standard deviation of the error with which each play is priced, in points


LEVELS = {
    "beginner": Level(0, 0.30),
    "casual": Level(0, 0.15),
    "intermediate": Level(0, 0.08),
    "advanced": Level(0, 0.04),
    "expert": Level(0, 0.0),
    "master": Level(1, 0.0),
    "world": Level(2, 0.0),
}
"""Levels for humans, weakest first."""

_SHOWN = 10
"""Plays of a ranking that a notebook shows."""


@dataclass(frozen=True, repr=False)
class RankedPlay:
    """One legal play.

    text: the written move (see notation.moves).
    board: int8[26], the afterstate in the mover's view.
    equity: the mover's mean points, cubeless.
    chances: float32[K], of the variant's outcomes, for the mover.
    ply: the depth at which it was priced.
    cubeful: with the cube at the score that was asked for, a single game won at this cube being
        1 (EMG); None where none was.
    """

    text: str
    board: Boards
    equity: float
    chances: Floats
    ply: int
    cubeful: float | None = None

    def __repr__(self) -> str:
        cubeful = "" if self.cubeful is None else f", {self.cubeful:+.4f} with the cube"
        return f"<{self.text}: {self.equity:+.4f}{cubeful}, {self.ply}-ply>"


class Ranking(list[RankedPlay]):
    """The plays of a roll, best first; a notebook shows the board and a table.

    board: int8[26], mover's view, before the roll that dice, uint8[2], are; game: what is played.
    """

    def __init__(
        self, plays: Iterable[RankedPlay], board: Boards, dice: NDArray[np.uint8], game: Variant
    ) -> None:
        super().__init__(plays)
        self.board, self.dice, self.game = board, dice, game

    def _repr_html_(self) -> str:
        dice = sorted(self.dice.tolist(), reverse=True)
        board = board_svg(self.board, self.game.family, checkers=self.game.checkers, dice=dice)
        cubeful = "<th>cubeful" if self and self[0].cubeful is not None else ""
        head = f"<tr><th>move<th>equity{cubeful}<th>win<th>gammon<th>lose gammon<th>ply</tr>"
        return f"<div>{board}<table>{head}{''.join(map(self._row, self[:_SHOWN]))}</table></div>"

    def _row(self, play: RankedPlay) -> str:
        chances = cumulative(play.chances, self.game.outcomes)
        names = ("win", "win_gammon", "lose_gammon")
        cells = [play.text, f"{play.equity:+.3f}"]
        cells += [] if play.cubeful is None else [f"{play.cubeful:+.3f}"]
        cells += [*(f"{chances[name]:.1%}" for name in names), str(play.ply)]
        return f"<tr><td>{'<td>'.join(cells)}</tr>"


class Player:
    """Chooses plays from an exported net. One object serves one thread."""

    def __init__(
        self,
        net: Net | str | Path | None = None,
        ply: int = 0,
        tables: bool = True,
        *,
        level: str | None = None,
        seed: int = 0,
        threads: int = 1,
        head: CubeHead | None = None,
    ) -> None:
        """net: a Net, or the folder of an exported one; None for that of nets.find_net.
        tables: whether to use bear-off tables.
        head: the cube that a Net has learnt; with a folder comes its own.
        level: one of LEVELS, which sets the depth; seed: of its noise.
        threads: that share a search; they change nothing but the time.

        Raises ValueError naming a bad value.
        """
        if level is not None and level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}, not {level!r}")
        net = find_net() if net is None else net
        self.net = net if isinstance(net, Net) else Net.load(net)
        self.head = head if isinstance(net, Net) else CubeHead.load(net)
        self.level = LEVELS[level] if level else Level(ply, 0.0)
        self.seed = seed
        self.tables = tables_for(self.net.variant) if tables else None
        self._cube = own_cube(self.net, self.head, self.tables)
        self._search = Search(self.net, self.level.ply, tables=self.tables, threads=threads)

    def __repr__(self) -> str:
        noise = f", misjudging by {self.level.noise} points" if self.level.noise else ""
        return f"<Player of {self.net.variant.name} nardy, {self.level.ply}-ply{noise}>"

    def best(
        self,
        board: Position | Boards | str,
        dice: ArrayLike | None = None,
        seconds: float | None = None,
        score: Score | None = None,
    ) -> Ranking:
        """Every legal play, best first; a forced pass is the one play "Cannot Move".

        board: int8[26], mover's view, or a Position, which brings its dice and its score, or the
        text of one (see read_position; of long nardy checkers by point); dice: two of 1 to 6.
        Plays that were searched less deeply follow those that were searched more, whatever their
        equity. A level's noise changes the order, so that the first is what it plays; equities are
        those of the net.
        seconds: go no deeper than that time is expected to allow, at least 0-ply. The depth then
        depends on the clock.
        score: what the game is played for, in the mover's view; plays are then ranked by their
        cubeful equity at it, and None by cubeless points.
        Raises ValueError for an impossible board or dice, or a score in a game without the cube.
        """
        board = self._read(board) if isinstance(board, str) else board
        if isinstance(board, Position):
            dice = board.state.dice if dice is None else dice
            score = board.state.score if score is None else score
            board = board.board
        if dice is None:
            raise ValueError("dice are needed: the position has none")
        board, dice = check_board(board, self.net.variant), check_dice(dice)
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds must be above 0, not {seconds!r}")
        results = afterstates(board[None], dice[None], self.net.variant)
        worth = None if score is None else self._worth(results.boards, score)
        priced = self._search.price(results, seconds, worth)
        points = priced.chances @ np.array(self.net.variant.outcomes, np.float32)
        seen = priced.values + self._errors(results.boards)
        order = np.lexsort((-seen, -priced.plies))
        texts = move_texts(board, dice, results.boards, self.net.variant.family)
        plays = (
            RankedPlay(
                texts[i],
                results.boards[i],
                float(priced.values[i] if worth is None else points[i]),
                priced.chances[i],
                int(priced.plies[i]),
                None if worth is None else float(priced.values[i]),
            )
            for i in order.tolist()
        )
        return Ranking(plays, board, dice, self.net.variant)

    def cube(self, position: Position | Boards | str, score: Score | None = None) -> CubeDecision:
        """What the cube's actions are worth to the player on roll before his roll, and a verdict.

        position: int8[26] in his view, or a Position or its text, which bring their score; score:
        another one, for a bare board money by default. The cube (see above) is applied to the
        chances at the player's depth.
        Raises ValueError where the position cannot be, the dice have been rolled (K16), or the
        formula does not price the game.
        """
        check_game(self.net.variant)
        position = self._read(position) if isinstance(position, str) else position
        if isinstance(position, Position):
            if position.state.dice is not None:
                thrown = "-".join(map(str, position.state.dice))
                raise ValueError(f"no double now: {thrown} has been rolled")
            score = score or position.state.score
            position = position.board
        board = check_board(position, self.net.variant)
        chances, family = self._before_roll(board), self.net.variant.family
        return decide(board, chances, score or Score(), self.level.ply, self._cube, family)

    def reply(self, board: Boards, offer: Offer) -> Reply:
        """What it answers to an offer of the cube, or upon a beaver of its own double.

        board: int8[26] in the view of the player on roll, whoever has to answer. Raises
        ValueError as `cube`.
        """
        check_game(self.net.variant)
        board = check_board(board, self.net.variant)
        return right_reply(board, self._before_roll(board), offer, self._cube)

    def resigns(self, board: Boards, score: Score | None = None) -> int:
        """How many games the player on roll may give up at no cost, 0 for none.

        board: int8[26] in his view; score: as in `best`. Raises ValueError as `best`.
        """
        board = check_board(board, self.net.variant)
        if score is not None:
            check_game(self.net.variant)
            return free_resignation(board, self._before_roll(board), score, self._cube)
        sure = np.flatnonzero(self._search.before_roll(board[None])[0] >= 1 - FREE).tolist()
        return max(-self.net.variant.outcomes[sure[0]], 0) if sure else 0

    def _read(self, text: str) -> Position | Boards:
        """A written position; checkers by point tell of no dice and no score."""
        blocking = self.net.variant.family == "blocking"
        return from_points(text, "blocking") if blocking else read_position(text)

    def _before_roll(self, board: Boards) -> NDArray[np.float64]:
        """float64[6]: the chances of the player on roll as the cube's formula reads them."""
        return six(self._search.before_roll(board[None])[0], self.net.variant)

    def _worth(self, results: Boards, score: Score) -> Worth:
        """What the plays to `results`, int8[N, 26], are worth with the cube."""
        game = self.net.variant
        check_game(game)

        def worth(rows: Rows, chances: Floats) -> NDArray[np.float64]:
            scores = [score] * len(rows)
            return after_equities(
                results[rows], six(chances, game), scores, self._cube, game.family
            )

        return worth

    def _errors(self, results: Boards) -> NDArray[np.float64]:
        """float64[N], points by which this level misjudges each afterstate: normal, by Box and
        Muller's transform of two uniform words."""
        if self.level.noise == 0:
            return np.zeros(len(results))
        names = np.array([zlib.crc32(board.tobytes()) for board in results], np.int64)
        first, second = (
            (random_words(self.seed, names, 0, NOISE_STREAM + n) >> np.uint64(11)) / 2.0**53
            for n in (0, 1)
        )
        normal = np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * np.pi * second)
        errors: NDArray[np.float64] = self.level.noise * normal
        return errors


def cumulative(chances: Floats, outcomes: tuple[int, ...]) -> dict[str, float]:
    """The five numbers that other engines use, from the chances of `outcomes` (float32[K]).

    Each includes the greater wins: win counts gammons, win_gammon counts backgammons. Where a game
    may be drawn (D13) a sixth, `draw`, comes first.
    """
    points = np.array(outcomes)
    drawn = {"draw": float(chances[points == 0].sum())} if 0 in outcomes else {}
    return drawn | {
        "win": float(chances[points >= 1].sum()),
        "win_gammon": float(chances[points >= 2].sum()),
        "win_backgammon": float(chances[points >= 3].sum()),
        "lose_gammon": float(chances[points <= -2].sum()),
        "lose_backgammon": float(chances[points <= -3].sum()),
    }
