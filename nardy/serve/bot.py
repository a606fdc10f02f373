"""What every door asks: the plays of a roll, a position's value, the cube, and what to do next.

    bot = Bot(Net.load("checkpoints/short-02"), head=CubeHead.load("checkpoints/short-02"))
    bot.action(read_position(text))            # Action("move", "8/5 6/5", ...), "roll", "take", ...

One object serves one thread; nets are shared.
"""

import threading
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.match.janowski import payoffs
from nardy.match.score import MAX_LENGTH, Owner, Score
from nardy.net.net import Floats, Net
from nardy.notation.moves import Hop, move_hops
from nardy.notation.state import MatchState, Position
from nardy.play.bearoff import tables_for
from nardy.play.cube_head import CubeHead, own_cube
from nardy.play.cubeful import CubeDecision, check_game, decide, six
from nardy.play.player import Player, RankedPlay
from nardy.play.search import Search
from nardy.rules.board import Boards, check_board, turn
from nardy.rules.variants import SHORT_OUTCOMES, Variant

Verb = Literal["move", "roll", "double", "take", "drop", "beaver", "accept", "reject"]


class Action(NamedTuple):
    """What the player who has to decide does."""

    verb: Verb
    text: str = ""  # of a move
    hops: tuple[Hop, ...] = ()  # of a move, in the order of play; none where he cannot move


class Bot:
    """Answers by one net at any depth. Serves one thread."""

    def __init__(self, net: Net, ply: int = 0, head: CubeHead | None = None) -> None:
        """ply: where a question does not say; head: the cube that the net has learnt, None for
        the formula. Raises ValueError for a bad depth, or a head of another net."""
        self.net, self.ply, self.head = net, ply, head
        self._tables = tables_for(self.game)
        self._cube = own_cube(net, head, self._tables)
        self._players: dict[int, Player] = {}
        self._searches: dict[int, Search] = {}
        self._player(ply)

    @property
    def game(self) -> Variant:
        """What the net plays."""
        return self.net.variant

    @property
    def cube_known(self) -> bool:
        """Whether the cube of the net's game can be priced."""
        return self.game.cube == "on" and 0 not in self.game.outcomes

    def plays(
        self,
        board: Boards,
        dice: NDArray[np.uint8],
        score: Score | None = None,
        ply: int | None = None,
    ) -> list[RankedPlay]:
        """Every legal play, best first; see Player.best. A game without a cube has no score.

        Raises ValueError for an impossible board, dice or depth.
        """
        return self._player(ply).best(board, dice, score=score if self.cube_known else None)

    def hops(
        self, board: Boards, dice: NDArray[np.uint8], plays: Sequence[RankedPlay]
    ) -> list[tuple[Hop, ...]]:
        """The single hops of each play, in an order in which they can be played."""
        results = np.stack([play.board for play in plays])
        return move_hops(board, dice, results, self.game.family)

    def chances(self, board: Boards, ply: int | None = None) -> Floats:
        """float32[K]: chances of the game's outcomes for the player on roll, before his roll.

        board: int8[26] in his view. Raises ValueError for an impossible board or depth.
        """
        depth = self.ply if ply is None else ply
        if depth not in self._searches:
            self._searches[depth] = Search(self.net, depth, tables=self._tables)
        board = check_board(board, self.game)
        chances: Floats = self._searches[depth].before_roll(board[None])[0]
        return chances

    def cube(self, board: Boards, score: Score, ply: int | None = None) -> CubeDecision:
        """The cube before the roll, for the player on roll, whose view board and score are.

        Raises ValueError for an impossible board or depth, or a game without the cube.
        """
        check_game(self.game)
        depth = self.ply if ply is None else ply
        chances = six(self.chances(board, depth), self.game)
        return decide(board, chances, score, depth, self._cube, self.game.family)

    def action(self, position: Position, ply: int | None = None) -> Action:
        """What to do in `position`, for the player who has to decide.

        Raises ValueError for an impossible board or depth.
        """
        board, state = check_board(position.board, self.game), position.state
        score = playable_score(state)
        if state.resigned:
            return Action(self._resignation(board, state, score, ply))
        if state.dice is not None:
            dice = np.array(state.dice, np.uint8)
            best = self.plays(board, dice, score, ply)[0]
            return Action("move", best.text, self.hops(board, dice, [best])[0])
        if not self.cube_known or not score.may_double:
            # a double that changes nothing loses nothing either
            return Action("take" if state.doubled else "roll")
        decision = self.cube(board, score, ply)
        if not state.doubled:
            return Action("double" if decision.double else "roll")
        if decision.beaver:
            return Action("beaver")
        return Action("take" if decision.take else "drop")

    def resigns(self, position: Position, ply: int | None = None) -> int:
        """How many games the player on roll may give up at no cost before his roll, 0 for none,
        and where he has something else to decide.

        Raises ValueError for an impossible board or depth.
        """
        board, state = check_board(position.board, self.game), position.state
        if state.dice is not None or state.doubled or state.resigned:
            return 0
        score = playable_score(state) if self.cube_known else None
        # a look at 0-ply first, as most positions are not lost
        quick = self._player(0).resigns(board, score)
        return quick and self._player(ply).resigns(board, score)

    def _resignation(self, board: Boards, state: MatchState, score: Score, ply: int | None) -> Verb:
        """Whether what is offered is at least what the game is worth to the one it is offered."""
        if state.turn == state.on_roll:  # the player on roll has to answer
            board, score = turn(board, self.game.family), score.flip()
        if not self.cube_known:
            points = np.array(self.game.outcomes)
            lost = -float(self.chances(board, ply) @ points)
            return "accept" if state.resigned >= lost else "reject"
        lost_row = payoffs(score)[0, : len(SHORT_OUTCOMES) // 2][::-1]
        stays = self.cube(board, score, ply).values.no_double
        return "accept" if lost_row[state.resigned - 1] <= stays else "reject"

    def _player(self, ply: int | None) -> Player:
        depth = self.ply if ply is None else ply
        if depth not in self._players:
            self._players[depth] = Player(self.net, depth, head=self.head)
        return self._players[depth]


class Bots:
    """A Bot for each thread that asks."""

    def __init__(self, net: Net, ply: int = 0, head: CubeHead | None = None) -> None:
        """As Bot."""
        self.net, self.ply, self.head = net, ply, head
        self._own = threading.local()

    def mine(self) -> Bot:
        """The one of this thread."""
        bot: Bot | None = getattr(self._own, "bot", None)
        if bot is None:
            bot = self._own.bot = Bot(self.net, self.ply, self.head)
        return bot


def playable_score(state: MatchState) -> Score:
    """What the game is played for, in the view of the player on roll.

    Match equities are known up to MAX_LENGTH points away; beyond them points are played for as
    for money. Raises ValueError for a cube or score that cannot be.
    """
    if state.length <= MAX_LENGTH:
        return state.score
    away = [state.length - state.points[player] for player in (state.on_roll, 1 - state.on_roll)]
    owner: Owner = "centre"
    if state.owner is not None and state.cube > 1:
        owner = "mine" if state.owner == state.on_roll else "theirs"
    if max(away) > MAX_LENGTH:
        return Score(cube=state.cube, owner=owner)
    return Score((away[0], away[1]), MAX_LENGTH, state.crawford, state.cube, owner)
