"""The law of the cube: doubling, taking, passing, beavers, automatic doubles, resigning (K16..K18).

    offer = double(score)              # the player on roll, before his roll
    replies(offer)                     # ("take", "pass"), with beavers also "beaver"
    score = take(offer)                # or points = refuse(offer), or offer = beaver(offer)

Scores are in the view of the player on roll throughout, also while the other has to answer. What
is wise is for nardy.match.janowski to say.
"""

from dataclasses import dataclass, replace
from typing import Literal

from nardy.match.score import MAX_CUBE, Score

Reply = Literal["take", "pass", "beaver", "raccoon"]


@dataclass(frozen=True)
class Offer:
    """A double that has not been answered.

    score: before the double, in the view of the player on roll.
    cube: what the cube shows once the offer is taken; it then belongs to the player not on roll.
    """

    score: Score
    cube: int

    @property
    def beavered(self) -> bool:
        """Whether it is the player on roll who has to answer, the other having beavered."""
        return self.cube == 4 * self.score.cube


def double(score: Score, rolled: bool = False) -> Offer:
    """The offer of the player on roll to double, or to redouble the cube that is his (K16).

    Raises ValueError saying why he may not.
    """
    reason = "the dice have been rolled" if rolled else why_not(score)
    if reason:
        raise ValueError(f"no double now: {reason}")
    return Offer(score, 2 * score.cube)


def why_not(score: Score) -> str:
    """Why the player in view may not double before his roll; "" where he may (K16, K17)."""
    if score.may_double:
        return ""
    if not score.doubling:
        return "the game is played without the cube"
    if score.crawford:
        return "this is the Crawford game"
    if score.owner == "theirs":
        return "the cube is the other player's"
    if score.cube == MAX_CUBE:
        return f"the cube is on {MAX_CUBE} already"
    return f"with the cube on {score.cube} a higher stake changes nothing"


def replies(offer: Offer) -> tuple[Reply, ...]:
    """What the player who has to answer may do. Beavers and raccoons are options of money play."""
    if not offer.score.beavers or 2 * offer.cube > MAX_CUBE or offer.cube >= 8 * offer.score.cube:
        return ("take", "pass")
    return ("take", "pass", "raccoon" if offer.beavered else "beaver")


def take(offer: Offer) -> Score:
    """The score after a take: the stake is higher, the cube belongs to the player not on roll."""
    return replace(offer.score, cube=offer.cube, owner="theirs")


def refuse(offer: Offer) -> int:
    """Points that the player on roll wins when the offer is passed: the stake before it (K16).

    Negative where he himself passes a beaver.
    """
    if offer.cube == 2 * offer.score.cube:
        return offer.score.points(1)
    stake = replace(offer.score, cube=offer.cube // 2, owner="theirs").points(1)
    return -stake if offer.beavered else stake


def beaver(offer: Offer) -> Offer:
    """The offer doubled at once by the player who has to answer: a beaver, or the doubler's raccoon
    upon it. The cube stays with the player not on roll.

    Raises ValueError where it is not allowed.
    """
    if not {"beaver", "raccoon"} & set(replies(offer)):
        raise ValueError(f"the cube offered at {offer.cube} cannot be doubled at once")
    return Offer(offer.score, 2 * offer.cube)


def automatic_double(score: Score) -> Score:
    """The score after equal opening dice: a centred cube is doubled while the option allows it."""
    doubled = 2 * score.cube
    if score.owner != "centre" or doubled > 2**score.auto_doubles:
        return score
    return replace(score, cube=doubled)


def resign(score: Score, multiple: int) -> int:
    """Points for the player in view when he resigns a single game, gammon or backgammon (1, 2, 3).

    Negative. The other player may refuse, and the game goes on. Raises ValueError for another
    multiple.
    """
    return -score.points(multiple)
