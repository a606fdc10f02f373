"""The learned cube: what Janowski's formula lacks, for a position and what it is played for.

    head = CubeHead.load("checkpoints/short-02")    # None where the net has learnt none
    cube = own_cube(net, head, tables_for(net.variant))
    cube(boards, chances, score).double_take        # janowski.CubeValues

The head is a small network beside the outcome head. It sees the net's first layer, which knows
the position, and some numbers that the formula uses or gives (`terms`), which know the cube and
the score. What it adds to the formula is nothing until it has learnt, and nothing where the cube
is dead or the winner certain; no value leaves the range of what the game can pay. Several contexts
of one position share the first layer and its product with `seen`.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy.match.janowski import Cubeful, CubeValues, efficiency, payoffs
from nardy.match.met import MatchEquity
from nardy.match.score import MAX_CUBE, Owner, Score
from nardy.net.net import Net
from nardy.net.weights import read_tensors
from nardy.play.bearoff import Bearoff
from nardy.play.cubeful import Cube, exact, formula_of
from nardy.play.look import Look
from nardy.rules.board import Boards

Floats = NDArray[np.float64]
FILE = "cube.safetensors"
OWNERS: tuple[Owner, ...] = ("centre", "mine", "theirs")
TERMS = 27
"""How many numbers `terms` gives."""
EQUAL = 1e-9
"""Within which two payoffs are the same."""
CLIP = 6.0
"""What `terms` gives lies within it."""
CONTEXT = ("mine", "theirs", "cube", "away", "their_away", "no_cube", "jacoby")
"""What the numbers of a context are; see `context_of`."""


@dataclass(frozen=True, eq=False)
class CubeHead:
    """Weights: float32 arrays.

    seen: [H, U], of the net's first layer; terms: [TERMS, U]; bias: [U]; layers: (weight, bias) of
    the layers after it, the last with one unit: equity to add, a single game lost and won at the
    cube of the context being −1 and 1.
    """

    seen: NDArray[np.float32]
    terms: NDArray[np.float32]
    bias: NDArray[np.float32]
    layers: tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]

    @staticmethod
    def load(folder: str | Path) -> "CubeHead | None":
        """The head in an exported net's folder; None where there is none.

        Raises ValueError, in one sentence, where the file is not whole.
        """
        path = Path(folder) / FILE
        if not path.is_file():
            return None
        arrays = {name: value.astype(np.float32) for name, value in read_tensors(path).items()}
        try:
            count = sum(name.endswith(".weight") for name in arrays)
            layers = [(arrays[f"{n}.weight"], arrays[f"{n}.bias"]) for n in range(count)]
            return CubeHead(arrays["seen"], arrays["terms"], arrays["bias"], tuple(layers))
        except KeyError as error:
            raise ValueError(f"the cube head in {str(folder)!r} lacks {error}") from None

    def check(self, net: Net) -> None:
        """Raise ValueError where it is for a net of another shape."""
        if len(self.seen) != len(net.bias):
            raise ValueError(
                f"the cube head sees {len(self.seen)} units, "
                f"the net's first layer has {len(net.bias)}"
            )

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """The arrays by name, as `load` reads them."""
        named = {"seen": self.seen, "terms": self.terms, "bias": self.bias}
        for number, (weight, bias) in enumerate(self.layers):
            named |= {f"{number}.weight": weight, f"{number}.bias": bias}
        return named

    def looks(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """float32[N, U]: what the head sees of positions, whatever they are played for.

        hidden: float32[N, H], the net's first layer after its ReLU.
        """
        return hidden @ self.seen + self.bias

    def added(self, looks: NDArray[np.float32], terms: NDArray[np.float32]) -> Floats:
        """float64[N]: equity to add to the formula's. terms: float32[N, TERMS]."""
        x = np.maximum(looks + terms @ self.terms, 0)
        *inner, (weight, bias) = self.layers
        for inner_weight, inner_bias in inner:
            x = np.maximum(x @ inner_weight + inner_bias, 0)
        return np.asarray((x @ weight + bias)[:, 0], float)

    def values(
        self,
        boards: Boards,
        looks: NDArray[np.float32],
        chances: ArrayLike,
        score: Score,
        table: MatchEquity | None = None,
    ) -> CubeValues:
        """The values of the cube actions, as janowski.cube_values gives the formula's.

        boards: int8[N, 26], player on roll; looks: see `looks`; chances: float[N, 6], his.
        """
        cube = Cubeful(chances, payoffs(score, table), efficiency(boards))
        none = np.full_like(cube.win, np.nan)
        stay = self._value(cube, looks, chances, 0, score.owner)
        if not score.may_double:
            return CubeValues(stay, none, none, none)
        beaver = none
        if score.beavers and 4 * score.cube <= MAX_CUBE:
            beaver = self._value(cube, looks, chances, 2, "theirs")
        taken = self._value(cube, looks, chances, 1, "theirs")
        if free(cube):  # then waiting can gain nothing
            stay = np.minimum(stay, taken)
        return CubeValues(stay, taken, np.full_like(stay, cube.cash[0]), beaver)

    def _value(
        self,
        cube: Cubeful,
        looks: NDArray[np.float32],
        chances: ArrayLike,
        level: int,
        owner: Owner,
    ) -> Floats:
        formula = cube.value(level, owner)
        if dead(cube, level):
            return formula
        added = self.added(looks, terms(cube, chances, level, owner))
        open_ = (cube.win > 0) & (cube.win < 1)
        value = np.where(open_, formula + added * unit(cube, level), formula)
        return np.asarray(np.clip(value, *bounds(cube, level)))


def dead(cube: Cubeful, level: int) -> bool:
    """Whether the cube at that level cannot be turned to any effect."""
    return level + 1 >= cube.levels


def bounds(cube: Cubeful, level: int) -> tuple[Floats, Floats]:
    """float64[N] each: what a position can be worth at the least and at the most. Who loses no
    gammon loses no more than this cube, as he may pass; and the same of the other."""
    least, most = cube.payoffs[-1, [0, -1]]
    loses_two = cube.lost[level] < cube.passed[level] - EQUAL
    wins_two = cube.won[level] > cube.cash[level] + EQUAL
    return (
        np.where(loses_two, least, cube.passed[level]),
        np.where(wins_two, most, cube.cash[level]),
    )


def free(cube: Cubeful) -> bool:
    """Whether twice the cube costs the player on roll nothing, as the games lost are lost anyway:
    the trailer's double after the Crawford game, say. It costs the other nothing to leave it."""
    return bool((cube.payoffs[0, :3] == cube.payoffs[1, :3]).all())


def unit(cube: Cubeful, level: int) -> float:
    """What one of equity is at a level of the cube: half a single game won rather than lost."""
    return float(cube.cash[level] - cube.passed[level]) / 2


def terms(cube: Cubeful, chances: ArrayLike, level: int, owner: Owner) -> NDArray[np.float32]:
    """float32[N, TERMS]: what the head is told of a context. level, owner: as Cubeful.value's.

    The outcome chances; the formula's value, dead and live; the live cube's take and cash points
    and how far the chance of winning lies from them; what gammons and backgammons are worth at this
    level and all outcomes at the next, in equity of this one; who owns the cube; the efficiency.
    """
    given = np.asarray(chances, float)
    level = min(level, cube.levels - 1)
    above = min(level + 1, cube.levels - 1)
    middle, half = (cube.cash[level] + cube.passed[level]) / 2, unit(cube, level)
    prices = np.concatenate([cube.payoffs[level][[0, 1, 4, 5]], cube.payoffs[above]])
    prices = (prices - middle) / half
    take, cash = cube.take_points[level], cube.cash_points[level]
    formula = [cube.value(level, owner), cube.dead(level, owner), cube.live(level, owner)]
    rows: list[ArrayLike] = [
        *given.T,
        *((value - middle) / half for value in formula),
        take,
        cash,
        cube.win - take,
        cube.win - cash,
        *prices,
        *(float(owner == name) for name in OWNERS),
        cube.x,
    ]
    wide = np.broadcast_arrays(*rows, cube.win)[:-1]
    clipped: NDArray[np.float32] = np.clip(np.stack(wide, -1), -CLIP, CLIP).astype(np.float32)
    return clipped


def context_of(score: Score) -> NDArray[np.float32]:
    """float32[7]: a score as net.onnx reads it, in the view of the player on roll.

    Whether he owns the cube, whether the other does; what it shows; the points that both need, 0
    for money; 1 in the Crawford game, or where there is no cube; Jacoby. After the Crawford game
    somebody needs one point and the cube is there (K17).
    Raises ValueError for a bound on losses, which a context does not know.
    """
    if score.stake_cap is not None:
        raise ValueError(f"a context has no stake_cap, here {score.stake_cap}")
    owned = [score.owner == "mine", score.owner == "theirs"]
    no_cube = score.crawford or not score.doubling
    return np.array([*owned, score.cube, *(score.away or (0, 0)), no_cube, score.jacoby], "f4")


def cube_of(folder: str | Path, net: Net) -> Cube:
    """The cube of the net in an exported folder: its own where it has learnt one."""
    return own_cube(net, CubeHead.load(folder))


def own_cube(net: Net, head: CubeHead | None, tables: Bearoff | None = None) -> Cube:
    """The best that is known of the cube: exact values where `tables` have them, else those of
    the head, else the formula's. One for each thread. Raises ValueError as `learned`."""
    cube = formula_of(net.variant.family) if head is None else learned(net, head)
    return cube if tables is None else exact(cube, tables)


def learned(net: Net, head: CubeHead) -> Cube:
    """A Cube: the head over a net's first layer. It has memory of its own: one for each thread.

    Raises ValueError where head and net do not fit together.
    """
    head.check(net)
    look = Look(net)

    def values(boards: Boards, chances: ArrayLike, score: Score) -> CubeValues:
        return head.values(boards, head.looks(look.activations(boards)), chances, score)

    return values
