"""Recorded games: what was rolled, played and doubled, and how each game ended.

    match = read_mat(text)                     # nardy.notation.matread; read_sgf in .sgf
    for game in match.games:
        for action in game.actions:
            match.score(game, action)          # what it was played for, in the actor's view

Players are numbered 0 and 1: the left and the right column of a .mat file, W and B of gnubg's SGF.
`Recorder` puts games together; a reader tells it what its file says, in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nardy.match.score import Owner, Score
from nardy.notation.moves import parse_move
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, check_dice, flip, points_won, start_board
from nardy.rules.variants import Variant

Deed = Literal["double", "take", "drop", "beaver", "raccoon"]


@dataclass(frozen=True, eq=False)
class Roll:
    """A roll and what was made of it."""

    player: int
    board: Boards  # int8[26] before, in his view
    dice: NDArray[np.uint8]  # uint8[2], as thrown
    after: Boards | None  # int8[26], still in his view; None: thrown, then resigned or left
    cube: int = 1
    owner: int | None = None  # of the cube; None in the middle


@dataclass(frozen=True, eq=False)
class CubeAction:
    """A double or an answer to it."""

    player: int
    deed: Deed
    on_roll: int  # who doubled first
    board: Boards  # int8[26], in the view of the player on roll
    cube: int  # as it lies: what a drop loses
    owner: int | None  # of the cube as it lies
    offered: int  # what the cube will show if it is taken


@dataclass(frozen=True, eq=False)
class GameRecord:
    """One game; not necessarily finished."""

    score: tuple[int, int]  # points of players 0 and 1 before it
    crawford: bool
    actions: Sequence[Roll | CubeAction]
    winner: int | None  # None: the record breaks off
    points: int  # won by the winner
    resigned: bool = False  # it ended neither by bearing off nor by a drop


@dataclass(frozen=True, eq=False)
class MatchRecord:
    """A match, or a session for money."""

    players: tuple[str, str]
    length: int  # 0: money
    variant: Variant
    games: Sequence[GameRecord]
    jacoby: bool = False
    beavers: bool = False
    crawford: bool = True  # whether a Crawford game is played (K17)
    tags: dict[str, str] = field(default_factory=dict)  # such as EventDate, as the file has them

    def score(self, game: GameRecord, action: Roll | CubeAction) -> Score:
        """What `action` was played for, in the view of the player whose action it is.

        Raises ValueError for matches longer than nardy.match.score knows.
        """
        me = action.player
        owner: Owner = "centre"
        if action.owner is not None:
            owner = "mine" if action.owner == me else "theirs"
        if not self.length:
            return Score(cube=action.cube, owner=owner, jacoby=self.jacoby, beavers=self.beavers)
        away = (self.length - game.score[me], self.length - game.score[1 - me])
        return Score(away, self.length, game.crawford, action.cube, owner)


class Recorder:
    """One game under way, checked action by action against the rules.

    Every method raises ValueError, in one sentence, for what cannot have happened.
    """

    def __init__(self, variant: Variant, jacoby: bool = False) -> None:
        self.variant = variant
        self.jacoby = jacoby
        self.actions: list[Roll | CubeAction] = []
        self.mover: int | None = None  # whose turn it is; None before the first roll
        self.board = start_board(variant)  # in the mover's view
        self.cube = 1
        self.owner: int | None = None
        self.offer: CubeAction | None = None  # a double that waits for its answer
        self.winner: int | None = None
        self.won = 0  # points

    def roll(self, player: int, dice: tuple[int, int], text: str | None) -> None:
        """`player` throws `dice` and plays `text`; None: he does not play them.

        An empty text is the only result there is (a pass, above all), or where there are several
        none: the game is about to end.
        """
        if self.offer is not None and self.offer.deed != "double" and player == self.offer.on_roll:
            self.answer(1 - self.offer.player, "take")  # beavers are often taken without a word
        self._check_turn(player)
        thrown = check_dice(dice)
        after = None if text is None else self._after(thrown, text)
        roll = Roll(player, self.board, thrown, after, self.cube, self.owner)
        self.actions.append(roll)
        if after is None:
            self.mover = player
            return
        self.board, self.mover = flip(after), 1 - player
        multiple = int(points_won(after, self.variant))
        if multiple:
            plain = self.jacoby and self.owner is None
            self.winner, self.won = player, self.cube * (1 if plain else multiple)

    def double(self, player: int) -> None:
        """`player` doubles before his roll (K16)."""
        self._check_turn(player)
        if self.owner == 1 - player:
            raise ValueError("a player cannot double: the cube is the other's")
        self.mover = player
        self._offer(player, "double", self.cube, 2 * self.cube)

    def answer(self, player: int, deed: Deed) -> None:
        """`player` answers a double: takes, drops, beavers or, to a beaver, raccoons."""
        offer = self.offer
        if offer is None:
            raise ValueError(f"there is no double for the {deed}")
        if player == offer.player:
            raise ValueError(f"the {deed} is the other player's")
        if deed == "beaver" and offer.deed == "beaver":
            deed = "raccoon"  # gnubg has one word for both
        if (offer.deed, deed) in (("double", "beaver"), ("beaver", "raccoon")):
            self._offer(player, deed, offer.offered, 2 * offer.offered)
            return
        if deed not in ("take", "drop"):
            raise ValueError(f"a {deed} does not answer a {offer.deed}")
        self.actions.append(
            CubeAction(
                player, deed, offer.on_roll, self.board, offer.cube, offer.owner, offer.offered
            )
        )
        self.offer = None
        if deed == "drop":
            self.winner, self.won = 1 - player, offer.cube
        else:
            # the beaver's cube stays his, whatever it shows
            self.cube, self.owner = offer.offered, 1 - offer.on_roll

    def _offer(self, player: int, deed: Deed, cube: int, offered: int) -> None:
        if offered > 2**15:
            raise ValueError(f"a cube does not show {offered}")
        on_roll, owner = player, self.owner
        if self.offer is not None:  # who beavers has taken
            on_roll, owner = self.offer.on_roll, 1 - self.offer.on_roll
        self.offer = CubeAction(player, deed, on_roll, self.board, cube, owner, offered)
        self.actions.append(self.offer)

    def finished(
        self,
        score: tuple[int, int],
        crawford: bool,
        winner: int | None = None,
        points: int | None = None,
    ) -> GameRecord:
        """The record; winner and points as a file states them.

        Where the board or a drop decides the winner, the file's must be the same. A file's points
        count: what gammons pay is the table's affair. A game in which the cube was turned is
        no Crawford game: a file may begin after it.
        """
        doubled = any(isinstance(action, CubeAction) for action in self.actions)
        if self.winner is not None and winner not in (None, self.winner):
            raise ValueError("the game is won by the other player than the file says")
        if winner is not None and self.winner is None and not points:
            raise ValueError("a game that is resigned needs the points it is resigned for")
        return GameRecord(
            score,
            crawford and not doubled,
            tuple(self.actions),
            self.winner if winner is None else winner,
            points or self.won,
            resigned=self.winner is None and winner is not None,
        )

    def _check_turn(self, player: int) -> None:
        if self.winner is not None:
            raise ValueError("the game is over already")
        if self.offer is not None:
            raise ValueError(f"a {self.offer.deed} waits for its answer")
        last = self.actions[-1] if self.actions else None
        if isinstance(last, Roll) and last.after is None:
            raise ValueError(f"the roll {last.dice[0]}-{last.dice[1]} before was not played")
        if self.mover not in (None, player):
            raise ValueError("it is the other player's turn")

    def _after(self, dice: NDArray[np.uint8], text: str) -> Boards | None:
        if text.strip():
            return parse_move(text, self.board, dice, self.variant)
        results = afterstates(self.board[None], dice[None], self.variant).boards
        return results[0].copy() if len(results) == 1 else None


def crawford_games(scores: Sequence[tuple[int, int]], length: int) -> list[bool]:
    """Of games by the scores before them, which is the Crawford game (K17).

    It is the first in which exactly one player is a point from winning: of a match to one point
    none is.
    """
    near = [(first == length - 1) != (second == length - 1) for first, second in scores]
    first = near.index(True) if length and True in near else -1
    return [number == first for number in range(len(scores))]
