"""The learned cube as a part of the ONNX graph: formula, match equities and head.

    cubeful(graph, head, hidden)       # reads boards, outcomes and context; gives cubeful

It follows nardy.match.janowski and nardy.play.cube_head step by step, in float64 as they do, for
N contexts at once: each row has a cube, a score and so a number of levels of its own. LEVELS of
them are laid out, and those that a row has not are masked.
"""

from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto

from nardy.match.janowski import BEAROFF, CONTACT, LOW_CUBE, TURN
from nardy.match.met import default_table
from nardy.match.score import MAX_CUBE, MAX_LENGTH
from nardy.play.cube_head import CLIP, CONTEXT, CubeHead
from train.onnx_nodes import Graph, Number, joined

BEYOND = 13
"""Levels above 64 that the formula looks at for money (janowski.payoffs)."""
LEVELS = 7 + BEYOND


class _Context(NamedTuple):
    """Columns of the context, [N, 1] each; `centre`: nobody owns the cube."""

    mine: Number
    theirs: Number
    cube: Number
    away: Number
    their_away: Number
    no_cube: Number
    jacoby: Number
    centre: Number

    @property
    def money(self) -> Number:
        return self.away < 1


class _Cube(NamedTuple):
    """As janowski.Cubeful: lists have a column [N, 1] for each level.

    losses, wins: of 1, 2 and 3 games at the first two levels, [N, 3]. more: whether there is a
    level above.
    """

    win: Number
    x: Number
    losses: tuple[Number, Number]
    wins: tuple[Number, Number]
    lost: list[Number]
    won: list[Number]
    passed: list[Number]
    cash: list[Number]
    more: list[Number]


def cubeful(graph: Graph, head: CubeHead, hidden: str) -> None:
    """Add the output "cubeful", float32[N]: the value before the roll, nobody doubling now.

    Points for money, else the chance of winning the match. hidden: float32[N, H], the first layer.
    """
    context = _context(graph)
    told = _Told(graph, head, _looks(graph, head, hidden), Number.of(graph, "outcomes"))
    x = _efficiency(graph)
    cube = _cube(context, told.chances, x)
    never, always = context.cube < 0, context.cube > 0
    doubled = context._replace(mine=never, theirs=always, centre=never, cube=context.cube * 2)
    taken = _value(told, doubled, _cube(doubled, told.chances, x))
    stay = _value(told, context, cube)
    free = cube.more[0] & ~context.theirs & _same(*cube.losses)  # cube_head.free
    value = free.where(stay.min(taken), stay).cast(TensorProto.FLOAT)
    graph.node("Squeeze", value, graph.constant([1], np.int64), name="cubeful")


class _Told(NamedTuple):
    """What is the same in all contexts of a position. looks: its name in the graph."""

    graph: Graph
    head: CubeHead
    looks: str
    chances: Number


def _value(told: _Told, context: _Context, cube: _Cube) -> Number:
    """[N, 1]: CubeHead._value at the first level of a context."""
    takes, cashes = _live_points(cube)
    dead = _dead(cube, context)
    live = _live(cube, context, takes, cashes)
    formula = (1 - cube.x) * dead + cube.x * live
    terms = _terms(cube, context, told.chances, [formula, dead, live], takes, cashes)
    added = _added(told, terms.clip(-CLIP, CLIP).cast(TensorProto.FLOAT))
    unit = (cube.cash[0] - cube.passed[0]) * 0.5
    open_ = cube.more[0] & (cube.win > 0) & (cube.win < 1)
    value = formula + added * unit
    # of cube_head.bounds; for money they are far away, as no chance of a softmax is nought
    value = context.money.where(value, value.clip(0, 1))
    return open_.where(value, formula)


def _context(graph: Graph) -> _Context:
    columns = Number.of(graph, "context").split(len(CONTEXT))
    mine, theirs, cube, away, their_away, no_cube, jacoby = columns
    centre = (mine + theirs) < 0.5
    return _Context(
        mine > 0.5, theirs > 0.5, cube, away, their_away, no_cube > 0.5, jacoby > 0.5, centre
    )


def _efficiency(graph: Graph) -> Number:
    """[N, 1]: janowski.efficiency."""
    boards = Number.of(graph, "boards")
    points = boards.constant(np.arange(26)[None])
    rearmost = (boards > 0).where(points, 0).greatest(1)
    theirs = (boards < 0).where(points, 25).least(1)
    pips = (boards.max(0) * points).sum(1, keep=True)
    race = (pips * 0.00125 + 0.55).clip(0.6, 0.7)
    bearoff = (rearmost < 6.5) & (theirs > 18.5)
    return (theirs < rearmost).where(CONTACT, bearoff.where(BEAROFF, race))


def _cube(context: _Context, chances: Number, x: Number) -> _Cube:
    losses, wins, more = *_payoffs(context), _more(context)
    lose, win = chances.columns(2, 1, 0), chances.columns(3, 4, 5)  # single games first
    lost, won = _means(lose, losses), _means(win, wins)
    both = [[side.columns(level).shaped(0, 3) for level in (0, 1)] for side in (losses, wins)]
    firsts = [
        side.shaped(0, 3 * LEVELS).columns(*range(0, 3 * LEVELS, 3)) for side in (losses, wins)
    ]
    passed, cash = (first.split(LEVELS) for first in firsts)
    return _Cube(
        win.sum(1, keep=True),
        x,
        (both[0][0], both[0][1]),
        (both[1][0], both[1][1]),
        lost.split(LEVELS),
        won.split(LEVELS),
        passed,
        cash,
        more,
    )


def _more(context: _Context) -> list[Number]:
    """bool[N, 1] for each level: whether the cube may be turned once more, with some effect."""
    highest = (context.cube < LOW_CUBE + 0.5).where(float(MAX_CUBE * 2**BEYOND), float(MAX_CUBE))
    needed = context.away.max(context.their_away).min(MAX_CUBE)
    limit = context.no_cube.where(0, context.money.where(highest, needed))
    return [context.cube * 2.0**level < limit for level in range(LEVELS)]


def _payoffs(context: _Context) -> tuple[Number, Number]:
    """[N, LEVELS, 3] each: what 1, 2 and 3 games lost and won are worth at every level."""
    factors = 2.0 ** np.arange(LEVELS)[:, None] * np.arange(1, 4)
    without = factors.copy()
    without[0] = 1  # Jacoby: gammons count after a turn of the cube
    usual, fewer = (context.cube.constant(rows.reshape(1, -1)) for rows in (factors, without))
    points = context.cube * (context.jacoby & context.centre & context.money).where(fewer, usual)
    away, theirs = context.away, context.their_away
    over = (away.equals(1) | theirs.equals(1)).where(1.0, 0.0)  # the Crawford game has begun
    won = _chance(over, (away - points).max(0), theirs)
    lost = _chance(over, away, (theirs - points).max(0))
    shape = (0, LEVELS, 3)
    losses = context.money.where(points * -1, lost).shaped(*shape)
    return losses, context.money.where(points, won).shaped(*shape)


def _chance(over: Number, away: Number, their_away: Number) -> Number:
    """The chance of winning the match, by points needed; over: 1 where Crawford's game is over."""
    size = MAX_LENGTH + 1
    place = ((over * size + away) * size + their_away).cast(TensorProto.INT64)
    table = over.constant(_match_equities().ravel())
    return Number(over.graph, over.graph.node("Gather", table.name, place))


def _match_equities() -> np.ndarray[Any, np.dtype[np.float64]]:
    """float64[2, 26, 26] by whether Crawford's game is over and the points needed; 0: won."""
    table = default_table()
    found = np.zeros((2, MAX_LENGTH + 1, MAX_LENGTH + 1))
    found[:, 1:, 1:] = table.before
    found[1, 1, 2:] = 1 - table.after_crawford[1:]
    found[1, 1:, 1] = table.after_crawford
    found[:, 0] = 1
    return found


def _means(chances: Number, payoffs: Number) -> Number:
    """[N, LEVELS]: the mean payoff of one side's outcomes, [N, 3]; janowski._means."""
    total = chances.sum(1, keep=True)
    sums = (chances.shaped(0, 1, 3) * payoffs).sum(2)
    single = payoffs.shaped(0, 3 * LEVELS).columns(*range(0, 3 * LEVELS, 3))
    some = total > 0
    return some.where(sums / some.where(total, 1), single)


def _live_points(cube: _Cube) -> tuple[Number, Number]:
    """[N, 1] each, take and cash point of the first level; janowski.Cubeful._live_points."""
    take, cash = cube.win * 0, cube.win * 0 + 1
    for level in range(LEVELS - 2, -1, -1):
        above, more, higher = level + 1, cube.more[level], cube.more[level + 1]
        low = higher.where(cube.passed[above], cube.lost[above])
        high = higher.where(cube.cash[above], cube.won[above])
        lost, won = cube.lost[above], cube.won[above]
        share = _ratio(cube.passed[level] - lost, high - lost)
        taken = (cash * share).clip(0, 1)
        share = _ratio(cube.cash[level] - low, won - low)
        cashed = (take + (1 - take) * share).clip(0, 1)
        take, cash = more.where(taken, 0), more.where(cashed, 1)
    return take, cash.max(take)


def _ratio(part: Number, whole: Number) -> Number:
    """part / whole, 1 where whole is 0; janowski._ratio."""
    some = whole.abs() > 1e-12
    return some.where(part / some.where(whole, 1), 1)


def _dead(cube: _Cube, context: _Context) -> Number:
    """[N, 1]: janowski.Cubeful.dead at the first level. Where a turn is free for both in
    succession the second level is the last, so that it needs no turns of its own."""
    value = _mean(cube, 0, cube.win)
    moved = cube.win.min(1 - cube.win).min(TURN)
    turned = [_mean(cube, 1, cube.win - moved), _mean(cube, 1, cube.win + moved)]
    lower = (turned[0].min(cube.cash[0]) + turned[1].min(cube.cash[0])) * 0.5
    free = cube.more[0] & ~context.theirs & _same(*cube.losses)
    value = free.where(value.max(lower), value)
    upper = (turned[0].max(cube.passed[0]) + turned[1].max(cube.passed[0])) * 0.5
    free = cube.more[0] & ~context.mine & _same(*cube.wins)
    return free.where(value.min(upper), value)


def _mean(cube: _Cube, level: int, win: Number) -> Number:
    return cube.lost[level] + win * (cube.won[level] - cube.lost[level])


def _same(first: Number, second: Number) -> Number:
    return (first - second).abs().sum(1, keep=True).equals(0)


def _live(cube: _Cube, context: _Context, take: Number, cash: Number) -> Number:
    """[N, 1]: janowski.Cubeful.live at the first level; a knot that there is not is put upon the
    end next to it."""
    low = cube.more[0] & ~context.mine
    high = cube.more[0] & ~context.theirs
    zero = cube.win * 0
    knots = [
        (zero, cube.lost[0]),
        (low.where(take, 0), low.where(cube.passed[0], cube.lost[0])),
        (high.where(cash, 1), high.where(cube.cash[0], cube.won[0])),
        (zero + 1, cube.won[0]),
    ]
    value = knots[0][1]
    for (p, v), (q, w) in zip(knots, knots[1:], strict=False):
        share = _ratio(cube.win - p, q - p).clip(0, 1)
        value = (cube.win < p).where(value, v + share * (w - v))
    return value


def _terms(
    cube: _Cube,
    context: _Context,
    chances: Number,
    values: list[Number],
    take: Number,
    cash: Number,
) -> Number:
    """[N, TERMS]: nardy.play.cube_head.terms at the first level; values: formula, dead, live."""
    middle = (cube.cash[0] + cube.passed[0]) * 0.5
    half = (cube.cash[0] - cube.passed[0]) * 0.5
    prices = [
        cube.losses[0].columns(2, 1),
        cube.wins[0].columns(1, 2),
        cube.losses[1].columns(2, 1, 0),
        cube.wins[1],
    ]
    owners = [owner.where(1.0, 0.0) for owner in (context.centre, context.mine, context.theirs)]
    return joined(
        [
            chances,
            *((value - middle) / half for value in values),
            take,
            cash,
            cube.win - take,
            cube.win - cash,
            *((price - middle) / half for price in prices),
            *owners,
            cube.x + cube.win * 0,
        ]
    )


def _looks(graph: Graph, head: CubeHead, hidden: str) -> str:
    """[N, U]: CubeHead.looks."""
    looks = graph.node("MatMul", hidden, graph.constant(head.seen, np.float32))
    return graph.node("Add", looks, graph.constant(head.bias, np.float32))


def _added(told: _Told, terms: str) -> Number:
    """[N, 1]: what the head adds, equity of this cube; CubeHead.added."""
    graph, head = told.graph, told.head
    x = graph.node("MatMul", terms, graph.constant(head.terms, np.float32))
    x = graph.node("Add", x, told.looks)
    for weight, bias in head.layers:
        x = graph.node("MatMul", graph.node("Relu", x), graph.constant(weight, np.float32))
        x = graph.node("Add", x, graph.constant(bias, np.float32))
    return Number.of(graph, x)
