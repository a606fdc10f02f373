"""Prices with the cube: what positions are worth one roll later, each in several contexts.

    prices = Prices(net)
    lessons(prices, head, boards, scores)     # what the head should add to the formula there

A context is a score and who owns the cube. The price is the exact mean over the 21 rolls of the
best reply's, where the value of a reply is that before the other side's cube decision: by the
formula and what the head adds to it by now (nardy.play.cube_head), or, for money, by the two-sided
bear-off table where that reaches. What costs is the net; it looks at a reply once, and its first
layer serves the outcomes and the head in all contexts.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from nardy.match.janowski import Cubeful, efficiency, normalised, payoffs
from nardy.match.score import Owner, Score, match_score
from nardy.net import kernels
from nardy.net.features import CELLS, COUNTS
from nardy.net.net import Evaluator, Net
from nardy.play.bearoff import Bearoff, tables_for
from nardy.play.cube_head import TERMS, CubeHead, dead, terms, unit
from nardy.play.cubeful import NEAR, exact, formula
from nardy.play.look import Look
from nardy.play.possible import possible
from nardy.rules.batch import Afterstates, Workspace, afterstates
from nardy.rules.board import Boards, flip, points_won
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from train.cube_worth import cube_at
from train.network import GRAIN, TorchTail, resolve_precision

Floats = NDArray[np.float64]
Small = NDArray[np.float32]

REPLIES = 12
"""Replies to a roll that are priced, by a cheap look."""
BOARDS = 4
"""Boards whose replies go through the net together: some thousand rows stay in the cache."""
LONGEST_MATCH = 15


def random_score(rng: np.random.Generator) -> Score:
    """Something to play for, for the player on roll: money for two in five, else a match score.

    In a match of up to 15 points any score before or after the Crawford game; the cube at 1, 2 or
    4, with any owner it may have. Money with its cube in the middle or turned, Jacoby now and then.
    """
    owners: tuple[Owner | None, ...] = (None, "mine", "theirs")
    owner = owners[rng.integers(3)]
    if rng.random() < 0.4:
        jacoby = bool(rng.random() < 0.2)
        if owner is None:
            return Score(jacoby=jacoby)
        return Score(cube=2, owner=owner, jacoby=jacoby)
    while True:
        length = int(rng.integers(2, LONGEST_MATCH + 1))
        mine, theirs = (int(length - away) for away in rng.integers(1, length + 1, 2))
        cube = 1 if owner is None else int(rng.choice([2, 4]))
        score = replace(match_score(length, mine, theirs), cube=cube, owner=owner or "centre")
        if len(payoffs(score)) > 1:  # otherwise the cube is dead: nothing to learn
            return score


class Prices:
    """Prices positions in contexts, with a head as it stands. An object serves one thread."""

    def __init__(self, net: Net, precision: str = "auto") -> None:
        """precision: see train.network.resolve_precision."""
        self.net = net
        self.look = Look(net)
        self.precision = resolve_precision(precision, "cpu")
        self.evaluator = Evaluator(net, TorchTail(net, self.precision), 4096)
        self.tables: Bearoff | None = tables_for(net.variant)
        self.memory = Workspace()
        self._after = _AfterNet(net, self.precision)

    def replies(self, boards: Boards) -> Afterstates:
        """The few best replies, by a cheap look, to each of the 21 rolls of each board."""
        parents, dice = np.repeat(boards, len(ROLLS), 0), np.tile(ROLLS, (len(boards), 1))
        results = afterstates(parents, dice, self.net.variant, self.memory)
        known = None if self.tables is None else self.tables.covers(results.boards)
        return self.look.few(boards, results, REPLIES, known)

    def chances(self, boards: Boards) -> Small:
        """float32[N, 6], cubeless, as they are in play: without gammons that the rules exclude,
        and exact where a table reaches."""
        return self._known(self.evaluator.outcomes(boards), boards)

    def _known(self, chances: Small, boards: Boards) -> Small:
        chances = possible(chances, boards, self.net.variant)
        if self.tables is not None:
            self.tables.settle(boards, chances)
        return chances

    def one_roll(
        self, head: CubeHead, boards: Boards, replies: Afterstates, scores: Sequence[Score]
    ) -> Floats:
        """float64[C, B]: for each of the scores, what the boards that `replies` are of are worth:
        points for money, else the chance of winning the match; for the player on roll.

        Of the replies to a roll those that are far behind without the cube's turns are left out,
        as in play (train.cube_worth.CubeWorth.near).
        """
        after = flip(replies.boards)
        chances, looks = self._after(boards, replies, head)
        chances = self._known(chances, after)
        won = points_won(replies.boards, self.net.variant)
        over = won > 0
        chances[over] = np.array(self.net.variant.outcomes) == -won[over, None]
        prices = []
        for score in scores:
            theirs = score.flip()
            rows = _near(chances, theirs, replies.offsets[:-1])
            cube = cube_at(looks[rows], head, self.tables)
            value = cube(after[rows], chances[rows], theirs).best
            mine = -value if score.money else 1 - value
            mine = np.where(over[rows], payoffs(score)[0][2 + np.maximum(won[rows], 1)], mine)
            firsts = np.searchsorted(rows, replies.offsets[:-1])
            best = np.maximum.reduceat(mine, firsts)
            prices.append(best.reshape(-1, len(ROLLS)) @ ROLL_CHANCES)
        return np.array(prices)


def _near(chances: Small, theirs: Score, firsts: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n], the rows that may be the best of their group with the cube; some of each group.

    chances: float32[N, 6], of the player on roll after the reply, whom `theirs` is for.
    """
    rough = normalised(chances @ payoffs(theirs)[0], theirs)
    low = np.minimum.reduceat(rough, firsts)
    return np.flatnonzero(rough <= np.repeat(low + NEAR, np.diff(firsts, append=len(rough))))


class _AfterNet:
    """The net at replies: its outcomes and what a head sees, from one pass of the first layer.

    Evaluator does the same for outcomes alone.
    """

    def __init__(self, net: Net, precision: torch.dtype) -> None:
        self.net, self.precision = net, precision
        self.tail = TorchTail(net, precision)
        width = len(net.bias)
        self._totals = tuple(np.empty((3, width), np.float32))
        self._changes = np.empty((2, 32), np.int64)
        self._pair_memory = kernels.pair_memory(net.pairs.shape[1], width)
        self._counts = np.zeros(len(net.tails), np.int64)
        self._room(1024)

    def _room(self, rows: int) -> None:
        """Make room for a block of so many rows."""
        rows = -(-rows // GRAIN) * GRAIN
        width, half = len(self.net.bias), self.tail.half
        self._floats = np.zeros((0 if half else rows, width), np.float32)
        self._halves = np.zeros((rows if half else 0, width), np.uint16)
        self._logits = np.empty((rows, len(self.net.variant.outcomes)), np.float32)
        self._slots, self._won = np.empty(rows, np.int64), np.empty(rows, np.int8)

    def __call__(self, boards: Boards, replies: Afterstates, head: CubeHead) -> tuple[Small, Small]:
        """float32[N, 6], chances of the player on roll after each reply, and float32[N, U], what
        the head sees there (CubeHead.looks).

        boards: int8[B, 26], before the roll; replies: group 21 i + j is of boards[i], ROLLS[j].
        """
        count = len(replies.boards)
        chances = np.empty((count, self._logits.shape[1]), np.float32)
        looks = np.empty((count, len(head.bias)), np.float32)
        seen, bias = (torch.from_numpy(x).to(self.precision) for x in (head.seen, head.bias))
        offsets = replies.offsets[:: len(ROLLS)]
        for begin in range(0, len(boards), BOARDS):
            block = offsets[begin : begin + BOARDS + 1]
            rows = slice(block[0], block[-1])
            slots = self._first_layer(boards[begin : begin + BOARDS], replies.boards[rows], block)
            chances[rows] = self._outcomes(len(slots))[slots]
            looks[rows] = self._seen(seen, bias, len(slots))[slots]
        return chances, looks

    def _first_layer(
        self, boards: Boards, children: Boards, offsets: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Fill a row of activations for each child; int64[n], which row is whose, by phase."""
        net, count = self.net, len(children)
        if count > len(self._slots):
            self._room(count)
        slots, kind = self._slots[:count], (net.variant.checkers, net.blocking)
        kernels.sort_rows(children, *kind, len(net.tails), slots, self._counts, self._won)
        kernels.first_layer_of_afterstates(
            boards,
            children,
            offsets,
            *kind,
            net.turned.reshape(CELLS * COUNTS, -1),
            net.step.reshape(CELLS * COUNTS, -1),
            net.bias,
            net.turned_pairs,
            self._pair_memory,
            slots,
            self._totals,
            *self._changes,
            self.tail.half,
            self._floats,
            self._halves,
        )
        return slots

    def _outcomes(self, count: int) -> Small:
        """float32[>= count, 6], chances by row."""
        begin = 0
        activations = self._halves if self.tail.half else self._floats
        for phase, rows in enumerate(self._counts.tolist()):
            if rows:
                self.tail(activations, slice(begin, begin + rows), phase, self._logits)
            begin += rows
        kernels.softmax(self._logits, self._logits.ravel(), count)
        return self._logits

    @torch.inference_mode()
    def _seen(self, seen: torch.Tensor, bias: torch.Tensor, count: int) -> Small:
        """float32[>= count, U], what the head sees by row."""
        padded = -(-count // GRAIN) * GRAIN  # see TorchTail
        if self.tail.half:
            x = torch.from_numpy(self._halves[:padded]).view(torch.bfloat16)
        else:
            x = torch.from_numpy(self._floats[:padded])
        looks: Small = torch.addmm(bias, x, seen).float().numpy()
        return looks


class Lessons(NamedTuple):
    """Boards, what the head is told of a context, and the equity it should add there."""

    boards: Boards  # int8[N, 26]
    terms: Small  # [N, TERMS]
    added: Small  # [N]


def lessons(prices: Prices, head: CubeHead, boards: Boards, scores: Sequence[Score]) -> Lessons:
    """One lesson for each board, each of the scores and each owner that its cube can have."""
    x, chances = efficiency(boards), prices.chances(boards)
    contexts = [replace(score, owner=owner) for score in scores for owner in _owners(score)]
    worth = prices.one_roll(head, boards, prices.replies(boards), contexts)
    told, added = [], []
    for context, values in zip(contexts, worth, strict=True):
        cube = Cubeful(chances, payoffs(context), x)
        if dead(cube, 0):
            continue
        if context.money and prices.tables is not None:
            known = prices.tables.covers_exactly(boards)
            table = exact(formula, prices.tables)(boards[known], chances[known], context)
            values[known] = table.no_double
        told.append(terms(cube, chances, 0, context.owner))
        added.append((values - cube.value(0, context.owner)) / unit(cube, 0))
    if not told:
        return Lessons(boards[:0], np.empty((0, TERMS), np.float32), np.empty(0, np.float32))
    return Lessons(
        np.tile(boards, (len(told), 1)),
        np.concatenate(told),
        np.concatenate(added).astype(np.float32),
    )


def _owners(score: Score) -> tuple[Owner, ...]:
    return ("centre",) if score.owner == "centre" else ("mine", "theirs")
