"""A position with all that decides its play: board, dice, cube and score.

    Position(board)                                        # money, cube in the middle, to roll
    Position(board, MatchState(length=7, points=(2, 4), dice=(5, 2)))

Text formats number the players: 0 is gnubg's upper player and the O of an XGID, 1 the lower one
and X. So does this module; `MatchState.score` gives the view of the player on roll.
"""

from dataclasses import dataclass
from typing import NamedTuple

from nardy.match.score import Owner, Score
from nardy.notation.board_svg import board_svg
from nardy.rules.board import Boards

GAMES = ("none", "playing", "over", "resigned", "dropped")

Dice = tuple[int, int]

_LARGEST = 2**15 - 1  # what the fifteen bits of a Match ID hold


@dataclass(frozen=True)
class MatchState:
    """Dice, cube and score, by player number.

    cube: 1, 2, 4, ... as it lies, before a double that is offered is taken.
    owner: the cube's owner, None where it is in the middle.
    on_roll: the player who rolls, has rolled or has doubled.
    dice: as they are written, None before the roll.
    doubled: the player on roll offers a double.
    resigned: 1, 2 or 3 where a single game, a gammon or a backgammon is offered for the game.
    turn: who has to decide; by default the player on roll, or the other one once the player on
        roll has offered a double or his resignation.
    length: points the match is played to, 0 for money; points: won so far by players 0 and 1.
    game: one of GAMES.
    max_cube: the highest cube that XGID's last field allows.

    Raises ValueError, in one sentence, where the values do not go together.
    """

    cube: int = 1
    owner: int | None = None
    on_roll: int = 1
    dice: Dice | None = None
    doubled: bool = False
    resigned: int = 0
    turn: int | None = None
    length: int = 0
    points: tuple[int, int] = (0, 0)
    crawford: bool = False
    jacoby: bool = False
    beavers: bool = False
    game: str = "playing"
    max_cube: int = 1024

    def __post_init__(self) -> None:
        if self.turn is None:
            offered = self.doubled or self.resigned > 0
            object.__setattr__(self, "turn", 1 - self.on_roll if offered else self.on_roll)
        _check(self)

    @property
    def score(self) -> Score:
        """What the game is played for, in the view of the player on roll.

        Raises ValueError where no game is played for it: a match that is over, or longer than
        nardy.match.score knows.
        """
        mine, theirs = self.on_roll, 1 - self.on_roll
        owner: Owner = "centre"
        if self.owner is not None and self.cube > 1:
            owner = "mine" if self.owner == mine else "theirs"
        if self.length:
            away = (self.length - self.points[mine], self.length - self.points[theirs])
            return Score(away, self.length, self.crawford, self.cube, owner)
        doubles = min(self.cube.bit_length() - 1, 6) if owner == "centre" else 0
        return Score(
            cube=self.cube,
            owner=owner,
            jacoby=self.jacoby,
            beavers=self.beavers,
            auto_doubles=doubles,
        )


def cube_log(cube: int) -> int:
    """The exponent of a cube's value: 3 for 8."""
    return cube.bit_length() - 1


def _check(state: MatchState) -> None:
    for name in ("cube", "max_cube"):
        value = getattr(state, name)
        if not 1 <= value <= 2**15 or value & (value - 1):
            raise ValueError(f"a cube shows 1, 2, 4, ... 32768, not {value!r}")
    if state.owner not in (None, 0, 1) or state.on_roll not in (0, 1) or state.turn not in (0, 1):
        raise ValueError(
            "players are numbered 0 and 1, not "
            f"{state.owner!r} (cube), {state.on_roll!r} (on roll), {state.turn!r} (to decide)"
        )
    if state.dice is not None and not all(1 <= die <= 6 for die in state.dice):
        raise ValueError(f"dice show 1 to 6, not {state.dice!r}")
    if state.doubled and state.dice is not None:
        raise ValueError(f"a double is offered before the roll, not with {state.dice!r} thrown")
    if state.resigned not in range(4):
        raise ValueError(f"1, 2 or 3 games are resigned, not {state.resigned!r}")
    if state.game not in GAMES:
        raise ValueError(f"a game's state is one of {', '.join(GAMES)}, not {state.game!r}")
    _check_points(state)


def _check_points(state: MatchState) -> None:
    if not all(0 <= value <= _LARGEST for value in (state.length, *state.points)):
        raise ValueError(
            f"lengths and scores are 0 to {_LARGEST}, not {state.length!r} and {state.points!r}"
        )
    if not state.length:
        if state.crawford:
            raise ValueError("a game for money is no Crawford game")
        return
    if state.jacoby or state.beavers:
        raise ValueError("Jacoby and beavers belong to money play, not to a match")
    if state.game != "playing":
        return
    if max(state.points) >= state.length:
        raise ValueError(f"a match to {state.length} is over at {_score_text(state)}")
    if state.crawford and max(state.points) != state.length - 1:
        raise ValueError(f"{_score_text(state)} of {state.length} is no Crawford game")


def _score_text(state: MatchState) -> str:
    return f"{state.points[0]}-{state.points[1]}"


class Position(NamedTuple):
    """A board and what surrounds it."""

    board: Boards  # int8[26], in the view of the player on roll
    state: MatchState = MatchState()
    names: tuple[str, str] = ("O", "X")  # of players 0 and 1

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        return board_svg(self.board, dice=self.state.dice)
