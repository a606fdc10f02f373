"""The score: what a game is played for, seen by one player.

Score()                                        money, cube in the middle
Score(away=(3, 5), length=7, cube=2, owner="mine")
Score(stake_cap=10, jacoby=True, beavers=True)

It knows no board. A cube is turned with nardy.match.cube, a game is settled and the next begun
here (rules K14..K18).
"""

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

Owner = Literal["centre", "mine", "theirs"]

MAX_CUBE = 64
MAX_LENGTH = 25
STAKE_CAPS = (3, 10)

_OWNERS: tuple[Owner, ...] = get_args(Owner)
_OTHER: dict[Owner, Owner] = {"centre": "centre", "mine": "theirs", "theirs": "mine"}
_CUBES = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Score:
    """What a game is played for, in the view of one player ("me").

    away: points that I and the other player still need; None for money.
    length: points the match is played to, 1..25; 0 for money.
    crawford: this is the Crawford game (K17).
    cube: 1..64. A centred cube above 1 comes from automatic doubles.
    owner: "centre", "mine" or "theirs".
    jacoby, beavers: options of money play.
    auto_doubles: how often equal opening dice may double a game's stake; money.
    stake_cap: no game costs more points than this; None for no bound (K18); money.
    doubling: False where the game is played without the cube (K16).

    Raises ValueError, in one sentence, where the values do not go together.
    """

    away: tuple[int, int] | None = None
    length: int = 0
    crawford: bool = False
    cube: int = 1
    owner: Owner = "centre"
    jacoby: bool = False
    beavers: bool = False
    auto_doubles: int = 0
    stake_cap: int | None = None
    doubling: bool = True

    def __post_init__(self) -> None:
        _check_cube(self)
        if self.away is None:
            _check_money(self)
        else:
            object.__setattr__(self, "away", tuple(self.away))
            _check_match(self)

    @property
    def money(self) -> bool:
        """Whether points are counted for themselves rather than towards a match."""
        return self.away is None

    @property
    def post_crawford(self) -> bool:
        """Whether the Crawford game has been played, so that the leader needs one point (K17)."""
        return self.away is not None and self.length > 1 and 1 in self.away and not self.crawford

    @property
    def may_double(self) -> bool:
        """Whether I may double before my roll, wise or not (K16, K17)."""
        return (
            self.doubling
            and not self.crawford
            and self.owner != "theirs"
            and self.cube < MAX_CUBE
            and not self.dead
        )

    @property
    def useful(self) -> bool:
        """Whether a game won could bring me more if the stake were higher."""
        return self.cube < self._needed(0)

    @property
    def dead(self) -> bool:
        """Whether no higher stake could change what either player wins or loses."""
        return self.cube >= max(self._needed(0), self._needed(1))

    def flip(self) -> "Score":
        """The same score seen by the other player."""
        away = self.away and (self.away[1], self.away[0])
        return replace(self, away=away, owner=_OTHER[self.owner])

    def points(self, multiple: int) -> int:
        """Points that a game won `multiple`-fold pays at this cube (K14, K18).

        multiple: 1 single, 2 gammon, 3 backgammon. With Jacoby gammons count only after the cube
        has been turned. Raises ValueError for another multiple.
        """
        if multiple not in (1, 2, 3):
            raise ValueError(f"a game is won 1-, 2- or 3-fold, not {multiple!r}")
        if self.jacoby and self.owner == "centre":
            multiple = 1
        paid = self.cube * multiple
        return paid if self.stake_cap is None else min(paid, self.stake_cap)

    def next_game(self, points: int) -> "Score | None":
        """The score after a game that brought me `points` (negative: the other player).

        Still in my view, the cube in the middle at 1; None when the match is over. The game after
        a player first stands one point from winning is the Crawford game (K17).
        Raises ValueError for 0 points: there are no draws (K15).
        """
        if points == 0:
            raise ValueError("a game pays at least 1 point, not 0")
        if self.away is None:
            return replace(self, cube=1, owner="centre")
        mine, theirs = self.away[0] - max(points, 0), self.away[1] - max(-points, 0)
        if min(mine, theirs) <= 0:
            return None
        first = 1 in (mine, theirs) and 1 not in self.away
        return replace(self, away=(mine, theirs), crawford=first, cube=1, owner="centre")

    def _needed(self, player: int) -> float:
        """The cube from which on a player (0 me, 1 the other) gains nothing by a higher one."""
        if self.away is not None:
            return self.away[player]
        return float("inf") if self.stake_cap is None else self.stake_cap


def match_score(length: int, mine: int = 0, theirs: int = 0, crawford: bool = False) -> Score:
    """The score before a game of a match to `length`, from points won so far."""
    return Score(away=(length - mine, length - theirs), length=length, crawford=crawford)


def _check_cube(score: Score) -> None:
    if score.cube not in _CUBES:
        raise ValueError(f"the cube shows 1, 2, 4, ... 64, not {score.cube!r}")
    if score.owner not in _OWNERS:
        raise ValueError(f"the cube's owner is one of {', '.join(_OWNERS)}, not {score.owner!r}")
    if score.cube == 1 and score.owner != "centre":
        raise ValueError(f"a cube on 1 lies in the centre, it is not {score.owner!r}")
    if score.cube > 1 and not score.doubling:
        raise ValueError(f"a game without the cube has no stake of {score.cube}")


def _check_money(score: Score) -> None:
    if score.length != 0 or score.crawford:
        raise ValueError("money play has neither a length nor a Crawford game")
    if score.stake_cap is not None and score.stake_cap not in STAKE_CAPS:
        raise ValueError(f"stake_cap is none, 3 or 10, not {score.stake_cap!r}")
    if score.auto_doubles not in range(7):
        raise ValueError(f"there may be 0 to 6 automatic doubles, not {score.auto_doubles!r}")
    if score.owner == "centre" and score.cube > 2**score.auto_doubles:
        raise ValueError(
            f"a centred cube on {score.cube} needs automatic doubles, of which "
            f"{score.auto_doubles} are allowed"
        )


def _check_match(score: Score) -> None:
    assert score.away is not None
    if score.length not in range(1, MAX_LENGTH + 1):
        raise ValueError(f"a match is played to 1 to {MAX_LENGTH} points, not {score.length!r}")
    if len(score.away) != 2 or not all(n in range(1, score.length + 1) for n in score.away):
        raise ValueError(
            f"two players of a match to {score.length} need 1 to {score.length} points each, "
            f"not {score.away!r}"
        )
    for field in fields(score):
        if field.name in ("jacoby", "beavers", "auto_doubles", "stake_cap"):
            if getattr(score, field.name) != field.default:
                raise ValueError(f"{field.name} is an option of money play, not of matches")
    if score.crawford and (1 not in score.away or score.cube > 1):
        raise ValueError(
            f"at {score.away[0]} away, {score.away[1]} away with the cube on {score.cube} "
            "this is no Crawford game"
        )
    if score.owner == "centre" and score.cube > 1:
        raise ValueError(f"in a match a cube on {score.cube} has an owner")
