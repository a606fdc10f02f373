"""Search: a net's values of many positions at once, at 0 to 3 plies.

    search = Search(net, ply=1)
    results = afterstates(boards, dice, net.variant)
    search.best(boards, results)             # int64[B], the row that each board plays
    search.price(results)                    # every row's value, and how deep it was looked at

Plies are counted as gnubg does. 0-ply is the net's static value of the position after the move.
n-ply is the exact mean over the opponent's 21 rolls of the position after his reply to each, at
n - 1 plies; he replies by static value. All is cubeless and from the mover's side; with a `Worth`
the plays are ranked by what their chances are worth with the cube and at the score.

At 2 plies and more the reply is chosen among the few that a cheap look finds promising (look.py,
LOOKS), and the replies of a search are kept until it ends, as every depth meets those of the one
before it. At 1-ply every reply is priced.

With `tables` a position that a bear-off table reaches has its exact chances at any ply; elsewhere
gammons that the rules exclude are taken out of the net's (possible.py).

Values do not depend on the batch or the thread: what is kept is evaluated by ExactTail, and a
BLAS only finds the replies that come near the best. Evaluator memory does not grow with the batch:
CHUNK boards are rolled at a time at each depth. An object serves one thread, and may have helpers.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.net.exact import ExactTail
from nardy.net.net import Evaluator, Floats, Net
from nardy.play.bearoff import Bearoff
from nardy.play.look import Look
from nardy.play.possible import possible, with_off
from nardy.rules.batch import Afterstates, Workspace, afterstates
from nardy.rules.board import Boards, ending, turn
from nardy.rules.dice import ROLL_CHANCES, ROLLS

PLIES = (0, 1, 2, 3)
CLOSE = 1e-4
"""Points of equity within which a static choice is settled by `ExactTail`. Summing in another
order moves a value by some 1e-6."""

CHUNK = 64
"""Boards rolled together: 64 * 21 rolls have some 27,000 results."""

Rows = NDArray[np.int64]
Worth = Callable[[Rows, Floats], NDArray[np.float64]]
"""float64[n], the equity of some rows of the results in hand, int64[n], from the chances there,
float32[n, K], of the player who moved. A single game won is 1: filters measure with that."""


class Filter(NamedTuple):
    """Which plays are looked at one ply deeper: no more than `plays`, none that is more than
    `margin` points behind the best."""

    plays: int
    margin: float


FILTERS: tuple[Filter, ...] = (Filter(8, 0.16), Filter(3, 0.05), Filter(2, 0.03))
"""FILTERS[n] picks the plays that go from n to n + 1 plies. gnubg's "normal" filter takes 8
within 0.16 from 0 to 2 plies at once."""


LOOKS = (6, 3)
"""How many replies to each roll are priced at 2 plies and more: by the next player, and below."""

GROWTH = 21
"""How much longer than the last a next ply may take for each play: so many rolls."""


class Priced(NamedTuple):
    """Afterstates priced for the player who moved; exact where the game is over."""

    values: Floats  # float32[N], points, or by a Worth
    chances: Floats  # float32[N, K], of the variant's outcomes
    plies: NDArray[np.int8]  # int8[N], the depth at which each was priced


class Search:
    """A net that looks `ply` plies ahead."""

    def __init__(
        self,
        net: Net,
        ply: int,
        filters: tuple[Filter, ...] | None = FILTERS,
        tables: Bearoff | None = None,
        looks: tuple[int, ...] | None = LOOKS,
        threads: int = 1,
    ) -> None:
        """filters: one for each ply, or None to look at every play in full depth.
        tables: of the net's game; they take the net's place where they reach.
        looks: see LOOKS; None to price every reply.
        threads: that share the plays which are looked at deeper; the values are the same.

        Raises ValueError naming a depth that is not in PLIES, or a bad number of threads.
        """
        if ply not in PLIES:
            raise ValueError(f"ply must be 0, 1, 2 or 3, not {ply!r}")
        if threads < 1:
            raise ValueError(f"threads must be 1 or more, not {threads!r}")
        self.net = net
        self.ply = ply
        self.filters = filters
        self.tables = tables
        self._looks = looks if ply >= 2 else None
        self._look = Look(net)
        self._fast = Evaluator(net)
        self._exact = Evaluator(net, ExactTail(net))
        self._points = np.array(net.variant.outcomes, np.float32)
        self._memory = Workspace()
        self._known: dict[tuple[int | None, bytes], Boards] = {}
        others = (Search(net, ply, filters, tables, looks) for _ in range(threads - 1))
        self._team = [self, *others]

    def best(self, parents: Boards, results: Afterstates, worth: Worth | None = None) -> Rows:
        """int64[B], the row in `results` of each board's best play; the first of equals.

        parents: int8[B, 26], mover's view; results: their afterstates; worth: what to rank by.
        Raises ValueError where the net's values are not numbers.
        """
        if self.ply == 0:
            return self._static_best(parents, results, worth)
        priced, offsets = self._price(results, True, None, worth), results.offsets
        deepest = np.maximum.reduceat(priced.plies, offsets[:-1])
        in_front = priced.plies == np.repeat(deepest, np.diff(offsets))
        return first_best(np.where(in_front, priced.values, -np.inf), offsets)

    def price(
        self, results: Afterstates, seconds: float | None = None, worth: Worth | None = None
    ) -> Priced:
        """Every row of `results`, at the depth to which its play was looked at.

        The best play is the best of the deepest: values of two depths are not to be compared.
        seconds: no deeper ply is begun that is expected to end later; how deep it goes then
        depends on the clock. worth: what to rank by.
        Raises ValueError as `best` does.
        """
        return self._price(results, False, seconds, worth)

    def before_roll(self, boards: Boards) -> Floats:
        """float32[N, K]: chances for the player on roll, before his roll, at `ply`.

        boards: int8[N, 26] in his view, no game being over.
        """
        chances: Floats = self._deeper(self._turn(boards), self.ply)[:, ::-1]
        self._forget()
        return chances

    def chances(self, results: Boards, ply: int) -> Floats:
        """float32[N, K]: chances of `net.variant.outcomes` for the player who moved, at `ply`.

        results: int8[N, 26], afterstates in his view; exact where he has finished (K14).
        chances(s, n) = Σ_r p(r) · chances of the other side (best static reply to r, n - 1).
        """
        return self._chances(results, ply, 0)

    def _chances(self, results: Boards, ply: int, depth: int) -> Floats:
        """As `chances`, of positions that lie `depth` turns below those that are asked for."""
        if ply == 0:
            return self._static_chances(self._exact, results)
        chances, going = self._known_chances(results)
        most = self._looks[min(depth, len(self._looks) - 1)] if self._looks else None
        for begin in range(0, len(going), CHUNK):
            rows = going[begin : begin + CHUNK]
            boards = self._turn(results[rows])
            # those of the last depth are too many to keep, and are not met again
            kept = depth + 1 < self.ply
            replies = self._kept_replies(boards, most) if kept else self.replies(boards, most)
            theirs = self._chances(replies.reshape(-1, 26), ply - 1, depth + 1)
            by_roll = theirs[:, ::-1].reshape(*replies.shape[:2], -1)
            chances[rows] = (by_roll * ROLL_CHANCES[:, None]).sum(1)
        return chances

    def _static_chances(self, evaluator: Evaluator, results: Boards) -> Floats:
        """As `chances`, at 0-ply by `evaluator`."""
        chances, going = self._known_chances(results)
        found: Floats = evaluator.outcomes(self._turn(results[going]))[:, ::-1]
        chances[going] = possible(found, results[going], self.net.variant)
        return chances

    def _known_chances(self, results: Boards) -> tuple[Floats, Rows]:
        """float32[N, K], exact where a game is over or a table reaches, and the other rows."""
        over, won = ending(results, self.net.variant)
        chances: Floats = ((self._points == won[:, None]) & over[:, None]).astype(np.float32)
        return chances, np.flatnonzero(~over & ~self._settle(results, chances))

    def replies(self, boards: Boards, most: int | None = None) -> Boards:
        """int8[B, 21, 26]: where the player on roll goes with each of dice.ROLLS, by static value.

        boards: int8[B, 26] in his view, before the roll; so are the results.
        most: price only so many replies to each roll, those that a cheap look finds promising.
        """
        moved = np.empty((len(boards) * len(ROLLS), 26), np.int8)
        for begin in range(0, len(boards), CHUNK):
            part = boards[begin : begin + CHUNK]
            parents, results = self.every_roll(part, most)
            first = begin * len(ROLLS)
            rows = self._static_best(parents, results, None)
            moved[first : first + len(parents)] = results.boards[rows]
        return moved.reshape(len(boards), len(ROLLS), 26)

    def every_roll(self, boards: Boards, most: int | None = None) -> tuple[Boards, Afterstates]:
        """The boards, int8[21 B, 26], each repeated for dice.ROLLS, and the results of each.

        most: as in `replies`. The results are good until the next call of this object.
        """
        parents, dice = np.repeat(boards, len(ROLLS), 0), np.tile(ROLLS, (len(boards), 1))
        results = afterstates(parents, dice, self.net.variant, self._memory)
        if most is not None:
            known = None if self.tables is None else self.tables.covers(results.boards)
            results = self._look.few(boards, results, most, known)
        return parents, results

    def choose(self, parents: Boards, results: Afterstates) -> tuple[Rows, Floats]:
        """The best row for each parent by static value, and the mover's chances there.

        int64[B]; float32[B, K], exact where the game is over or a table reaches. For play in
        bulk: last bits, and with them near ties, depend on the batch.
        """
        best, theirs = self._fast.choose(parents, results)
        chances: Floats = np.ascontiguousarray(theirs[:, ::-1])
        special = self._special(parents, results)
        if special.any():
            counts = np.diff(results.offsets)
            near = np.flatnonzero(np.logical_or.reduceat(special, results.offsets[:-1]))
            rows = np.flatnonzero(np.repeat(np.isin(np.arange(len(counts)), near), counts))
            some = Afterstates(results.boards[rows], _offsets(counts[near]))
            values = self._values(self._fast, parents[near], some, rows, None)
            best[near] = rows[first_best(values, some.offsets)]
            chances[near] = self._static_chances(self._fast, results.boards[best[near]])
        over, won = ending(results.boards[best], self.net.variant)
        chances[over] = self._points == won[over, None]
        return best, chances

    def _kept_replies(self, boards: Boards, most: int | None) -> Boards:
        """As `replies`; what this search has met before is not worked out again."""
        keys = [(most, board.tobytes()) for board in boards]
        new = {key: i for i, key in enumerate(keys) if key not in self._known}
        if new:
            found = self.replies(boards[list(new.values())], most)
            self._known.update(zip(new, found, strict=True))
        return np.stack([self._known[key] for key in keys])

    def _turn(self, boards: Boards) -> Boards:
        """The same positions seen by the other player."""
        return turn(boards, self.net.variant.family)

    def static_values(self, results: Boards) -> Floats:
        """float32[N]: static values of afterstates, int8[N, 26], for the player who moved."""
        values: Floats = (self.chances(results, 0) * self._points).sum(-1)
        return values

    def _settle(self, results: Boards, chances: Floats) -> NDArray[np.bool_]:
        """Put exact chances into the rows of afterstates that a table reaches; which they are."""
        if self.tables is None:
            return np.zeros(len(results), np.bool_)
        known = self.tables.covers(results)  # the same from either side
        if known.any():
            chances[known] = self.tables.outcomes(self._turn(results[known]))[:, ::-1]
        return known

    def _values(
        self,
        evaluator: Evaluator,
        parents: Boards,
        results: Afterstates,
        rows: Rows,
        worth: Worth | None,
    ) -> NDArray[Any]:
        """[N]: static values of afterstates, as Evaluator.values, or of `rows` by `worth`."""
        if worth is not None:
            chances = self._static_chances(evaluator, results.boards)
            _check_numbers(chances)
            return worth(rows, chances)
        values = evaluator.values(parents, results)
        special = self._special(parents, results)
        if special.any():
            chances = self._static_chances(evaluator, results.boards[special])
            values[special] = (chances * self._points).sum(-1)
        return values

    def _special(self, parents: Boards, results: Afterstates) -> NDArray[np.bool_]:
        """bool[N]: the results whose chances are not simply the net's."""
        special = with_off(parents, results, self.net.variant)
        return special if self.tables is None else special | self.tables.covers(results.boards)

    def _static_best(self, parents: Boards, results: Afterstates, worth: Worth | None) -> Rows:
        """As `best`, at 0-ply."""
        everywhere, offsets = np.arange(len(results.boards)), results.offsets
        values = self._values(self._fast, parents, results, everywhere, worth)
        top = np.maximum.reduceat(values, offsets[:-1])
        _check_numbers(top)
        counts = np.diff(offsets)
        rows = np.flatnonzero(values >= np.repeat(top - np.float32(CLOSE), counts))
        owners = np.repeat(np.arange(len(parents)), counts)[rows]
        near = np.bincount(owners, minlength=len(parents))
        best = np.empty(len(parents), np.int64)
        best[owners] = rows  # right where one comes near; the others follow
        tied = np.flatnonzero(near > 1)
        if len(tied):
            rows = rows[near[owners] > 1]
            close = Afterstates(results.boards[rows], _offsets(near[tied]))
            values = self._values(self._exact, parents[tied], close, rows, worth)
            best[tied] = rows[first_best(values, close.offsets)]
        return best

    def _price(
        self, results: Afterstates, contested: bool, seconds: float | None, worth: Worth | None
    ) -> Priced:
        """contested: a board with one play left in front is not looked at any deeper."""
        began = time.perf_counter()
        worth = worth or self._points_of
        chances = self.chances(results.boards, 0)
        _check_numbers(chances)
        values: Floats = worth(np.arange(len(chances)), chances).astype(np.float32)
        priced = Priced(values, chances, np.zeros(len(values), np.int8))
        counts = np.diff(results.offsets)
        owners, rows = np.repeat(np.arange(len(counts)), counts), np.arange(len(values))
        spent = time.perf_counter() - began
        for ply in range(1, self.ply + 1):
            before = len(rows)
            if self.filters is not None:
                rows = _promising(values, owners, rows, self.filters[ply - 1])
            elif ply < self.ply:
                continue
            if contested:
                rows = rows[np.bincount(owners[rows], minlength=len(counts))[owners[rows]] > 1]
            ply_began = time.perf_counter()
            expected = GROWTH * spent * len(rows) / max(before, 1)
            if seconds is not None and ply_began - began + expected > seconds:
                break
            chances[rows] = self._deeper(results.boards[rows], ply)
            values[rows] = worth(rows, chances[rows])
            priced.plies[rows] = ply
            spent = time.perf_counter() - ply_began
        self._forget()
        return priced

    def _points_of(self, rows: Rows, chances: Floats) -> NDArray[Any]:
        """float32[n]: mean points, cubeless; a Worth."""
        points: Floats = (chances * self._points).sum(-1)
        return points

    def _forget(self) -> None:
        for search in self._team:
            search._known.clear()

    def _deeper(self, results: Boards, ply: int) -> Floats:
        """As `chances`, by all threads."""
        team = self._team[: len(results)]
        if len(team) < 2:
            return self.chances(results, ply)
        parts = [results[number :: len(team)] for number in range(len(team))]
        chances = np.empty((len(results), len(self._points)), np.float32)
        with ThreadPoolExecutor(len(team)) as pool:
            found = pool.map(lambda search, part: search.chances(part, ply), team, parts)
            for number, part in enumerate(found):
                chances[number :: len(team)] = part
        return chances


def _check_numbers(values: Floats) -> None:
    if np.isnan(values).any():
        raise ValueError("the net gives values that are not numbers")


def first_best(values: NDArray[Any], offsets: Rows) -> Rows:
    """int64[B]: for each board the row of the highest of its values, the first of equals.

    values: [N], of any number type; offsets: int64[B + 1], as in Afterstates.
    """
    top = np.maximum.reduceat(values, offsets[:-1])
    rows = np.flatnonzero(values == np.repeat(top, np.diff(offsets)))
    best: Rows = rows[np.searchsorted(rows, offsets[:-1])]
    return best


def _promising(values: Floats, owners: Rows, rows: Rows, bound: Filter) -> Rows:
    """Those of `rows` that `bound` lets through; ascending, as `rows` are.

    values: float32[N]; owners: int64[N], the board of each row, ascending.
    """
    if not len(rows):
        return rows
    order = rows[np.lexsort((-values[rows], owners[rows]))]  # by board, the best first
    firsts = np.flatnonzero(np.diff(owners[order], prepend=-1))
    counts = np.diff(firsts, append=len(order))
    place = np.arange(len(order)) - np.repeat(firsts, counts)
    behind = np.repeat(values[order[firsts]], counts) - values[order]
    return np.sort(order[(place < bound.plays) & (behind <= bound.margin)])


def _offsets(counts: Rows) -> Rows:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
