"""Written moves: `8/5 6/5`, `bar/24*/18`, `6/off`, `24/22(2)`.

    results = afterstates(board[None], dice[None], variant).boards
    move_texts(board, dice, results, variant.family)    # one text for each result
    parse_move("24/23 13/10", board, dice, variant)     # the result that a person asked for

The rest of the code compares afterstates; moves exist only here, where people read and type
them. What is legal is decided by nardy.rules; `fault` says in words why a single hop is not.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.rules.batch import afterstates
from nardy.rules.blocking import HEAD
from nardy.rules.board import Boards, check_board, check_dice, checkers_only
from nardy.rules.variants import Variant

CANNOT_MOVE = "Cannot Move"
BAR, OFF = 25, 0

Cells = tuple[int, ...]  # a board's 26 cells, mover's view, hashable
Dice = tuple[int, ...]  # the numbers still to be played, larger first
Leg = tuple[int, int]  # source and target as typed; one to four hops

_CLOSED_BY = {"hitting": 2, "blocking": 1}
"""How many of the opponent's checkers close a point, by family (K5, D2)."""

_PASS_WORDS = ("", "pass", "cannot move", "no move")
_STOP = r"(?:bar|b|off|o|\d{1,2})"
_WORD = re.compile(rf"(?P<path>{_STOP}(?:[/-]{_STOP}\*?)+)(?:\((?P<times>[1-4])\))?", re.ASCII)


class Hop(NamedTuple):
    """One checker played with one die."""

    source: int
    target: int
    hit: bool


class _End(NamedTuple):
    """Where a typed move leads when its hops are played in some order."""

    cells: Cells
    left: Dice
    hits: frozenset[int]


class _State(NamedTuple):
    """A typed move half played: the dice left and the legs not yet played."""

    cells: Cells
    left: Dice
    legs: tuple[Leg, ...]
    family: str


# --- writing ---------------------------------------------------------------------------------


def move_texts(
    board: Boards, dice: NDArray[np.uint8], results: Boards, family: str = "hitting"
) -> list[str]:
    """The written move of each result, in order.

    board: int8[26], mover's view; dice: uint8[2]; results: int8[N, 26], its afterstates; family:
    of the variant. Points are in the mover's numbering; every point on which he hits is named and
    starred, so that no two results have one text. A pass is "Cannot Move".
    Raises ValueError for a result that these dice cannot reach.
    """
    return [_text(hops) for hops in move_hops(board, dice, results, family)]


def move_hops(
    board: Boards, dice: NDArray[np.uint8], results: Boards, family: str = "hitting"
) -> list[tuple[Hop, ...]]:
    """The single hops that lead to each result, in an order in which they can be played.

    Arguments, and what is raised, as of move_texts; a pass has no hops.
    """
    board, results = checkers_only(board, family), checkers_only(results, family)
    ways, found = _ways(_cells(board), _numbers(dice), family), []
    for result in results.tolist():
        if tuple(result) not in ways:
            raise ValueError(f"{_roll(_numbers(dice))} cannot lead to the board {result}")
        found.append(ways[tuple(result)])
    return found


@lru_cache(8)  # who asks for a roll's texts asks for its hops next
def _ways(cells: Cells, dice: Dice, family: str) -> dict[Cells, tuple[Hop, ...]]:
    """Every board that some of the dice can reach, with hops that lead there.

    Of ways with different numbers of hops the longest is kept (K7). Which of equally long ways
    to one board is kept makes no difference to what is hit, as that is on the board.
    """
    found: dict[Cells, tuple[Hop, ...]] = {}
    level: dict[tuple[Cells, Dice], tuple[Hop, ...]] = {(cells, dice): ()}
    double = dice[0] == dice[-1]
    while level:
        deeper: dict[tuple[Cells, Dice], tuple[Hop, ...]] = {}
        for (at, left), hops in level.items():
            found[at] = hops
            # a double's hops can always be played farthest first, so no other order is tried
            nearest = hops[-1].source if double and hops else BAR
            for die in dict.fromkeys(left):
                rest = _without(left, die)
                for source in _sources(at, die, family):
                    if source <= nearest:
                        hop, after = _play(at, source, die)
                        deeper.setdefault((after, rest), (*hops, hop))
        level = deeper
    return found


def _text(hops: Iterable[Hop]) -> str:
    chains: list[list[Hop]] = []
    for hop in hops:
        for chain in chains:
            if chain[-1].target == hop.source:
                chain.append(hop)
                break
        else:
            chains.append([hop])
    times: dict[str, int] = {}
    starred = set()
    for way in sorted([_way(tuple(chain)) for chain in chains], key=_reading_order):
        times[way.path] = times.get(way.path, 0) + 1
        if way.hit:
            starred.add(way.path)
    words = [
        path + "*" * (path in starred) + (f"({count})" if count > 1 else "")
        for path, count in times.items()
    ]
    return " ".join(words) or CANNOT_MOVE


class _Way(NamedTuple):
    """One checker's way as it is written."""

    order: tuple[int, bool, int]
    path: str  # the first point, those between on which it hits, the last
    hit: bool  # at the end


_reading_order = itemgetter(0)
"""The farthest checker first; of two from one point the one that hits."""


@cache
def _way(chain: tuple[Hop, ...]) -> _Way:
    """The way of one checker; there are some ten thousand."""
    order = (-chain[0].source, not any(hop.hit for hop in chain), -chain[-1].target)
    hits = "".join(f"/{hop.target}*" for hop in chain[:-1] if hop.hit)
    path = f"{_name(chain[0].source)}{hits}/{_name(chain[-1].target)}"
    return _Way(order, path, chain[-1].hit)


# --- single hops -----------------------------------------------------------------------------


def fault(cells: Cells, source: int, die: int, family: str = "hitting") -> str:
    """Why one checker cannot be played from `source` with `die`; empty where it can (K4..K11, D2
    and D10)."""
    target = source - die
    if cells[source] <= 0:
        return "you have no checker on " + ("the bar" if source == BAR else f"point {source}")
    if cells[BAR] > 0 and source != BAR:
        return "your checker on the bar must enter first"
    if target > 0:
        if cells[target] <= -_CLOSED_BY[family]:
            checkers = f"{-cells[target]} checker{'s' * (cells[target] < -1)}"
            return f"point {target} is closed by {checkers} of the opponent"
        return ""
    farthest = max(point for point in range(1, BAR) if cells[point] > 0)
    if farthest > 6:
        return f"you cannot bear off while you have a checker on point {farthest}, outside home"
    if target < 0 and farthest > source:
        return f"a {die} cannot bear off from {source} while you have a checker on {farthest}"
    return ""


def _sources(cells: Cells, die: int, family: str = "hitting") -> list[int]:
    """The points that `die` can be played from, the farthest first: where `fault` finds none."""
    if cells[BAR] > 0:
        return [BAR] if cells[BAR - die] > -2 else []
    closed = -_CLOSED_BY[family]
    found = [p for p in range(BAR - 1, die, -1) if cells[p] > 0 and cells[p - die] > closed]
    if max(cells[7:BAR]) <= 0:
        home = [point for point in range(6, 0, -1) if cells[point] > 0]
        if home and (cells[die] > 0 or home[0] < die):
            found.append(min(die, home[0]))
    return found


def _play(cells: Cells, source: int, die: int) -> tuple[Hop, Cells]:
    """The hop and the board after it, a blot being hit (K8)."""
    after = list(cells)
    target = max(source - die, OFF)
    hit = target > 0 and cells[target] == -1
    after[source] -= 1
    if hit:
        after[target] = 0
        after[0] -= 1
    if target > 0:
        after[target] += 1
    return Hop(source, target, hit), tuple(after)


# --- reading ---------------------------------------------------------------------------------


def parse_move(text: str, board: Boards, dice: NDArray[np.uint8], variant: Variant) -> Boards:
    """int8[26], the afterstate that a typed move leads to, in the mover's view.

    board: int8[26], mover's view; dice: uint8[2]. Hops may come in any order, be merged (`24/14`)
    or lack their stars; 25 is the bar and 0 is off; `pass` says that no move is possible. Where
    passing points decide what is hit, the way that hits nothing unnamed is meant.
    Raises ValueError, in one sentence, for what cannot be read, is illegal or has two meanings.
    """
    bare = checkers_only(check_board(board, variant), variant.family)
    cells, numbers = _cells(bare), _numbers(check_dice(dice))
    legs, starred = _read(text)
    results = afterstates(board[None], np.asarray(dice)[None], variant).boards
    legal = {tuple(row) for row in checkers_only(results, variant.family).tolist()}
    if not legs or legal == {cells}:
        _check_pass(legs, legal == {cells}, numbers)
        return board.copy()
    _check_lengths(legs, numbers)
    ends: list[_End] = []
    _play_out(_State(cells, numbers, legs, variant.family), frozenset(), ends, [])
    if not ends:
        raise ValueError(_why_stuck(cells, numbers, legs, variant.family))
    allowed = [end for end in ends if end.cells in legal]
    if not allowed:
        raise ValueError(_why_incomplete(cells, numbers, legal, ends[0], variant.family))
    return np.array(_meant(allowed, legs, starred), np.int8) + (board - bare)


def _read(text: str) -> tuple[tuple[Leg, ...], set[int]]:
    """The typed legs and the points typed with a star."""
    legs: list[Leg] = []
    starred: set[int] = set()
    words = text.lower().replace(",", " ").split()
    if " ".join(words) in _PASS_WORDS:
        return (), starred
    for word in words:
        match = _WORD.fullmatch(word)
        if match is None:
            raise ValueError(f"cannot read {word!r}: write moves like 8/5 6/5, bar/21 or 6/off")
        stops = re.split("[/-]", match["path"])
        points = [_point(stop.rstrip("*"), word) for stop in stops]
        if points != sorted(set(points), reverse=True):
            raise ValueError(f"{word!r} is not a move: checkers go from a higher point to a lower")
        starred.update(
            point for stop, point in zip(stops, points, strict=True) if stop.endswith("*")
        )
        legs += list(zip(points, points[1:], strict=False)) * int(match["times"] or 1)
    return tuple(legs), starred


def _point(stop: str, word: str) -> int:
    if stop in ("bar", "b"):
        return BAR
    if stop in ("off", "o"):
        return OFF
    if int(stop) > BAR:
        raise ValueError(f"{word!r} is not a move: there is no point {stop}")
    return int(stop)


def _check_pass(legs: tuple[Leg, ...], forced: bool, dice: Dice) -> None:
    if legs and forced:
        raise ValueError(f"no move is possible with {_roll(dice)}: type pass")
    if not forced:
        raise ValueError(f"you cannot pass: {_roll(dice)} can be played")


def _check_lengths(legs: tuple[Leg, ...], dice: Dice) -> None:
    sums = {sum(dice[:n]) for n in range(1, len(dice) + 1)} | set(dice)
    for source, target in legs:
        pips = source - target
        if pips > max(sums) or (target > OFF and pips not in sums):
            raise ValueError(
                f"{_name(source)}/{_name(target)} is {pips} pip{'s' * (pips > 1)}, "
                f"which {_roll(dice)} does not give"
            )


def _play_out(state: _State, hits: frozenset[int], ends: list[_End], stuck: list[_State]) -> None:
    """Play the legs hop by hop in every order; collect where all are played, and dead ends."""
    cells, left, legs, family = state
    if not legs:
        ends.append(_End(cells, left, hits))
        return
    moved = False
    for source, target in dict.fromkeys(legs):
        for die in dict.fromkeys(left):
            if max(source - die, OFF) < target or fault(cells, source, die, family):
                continue
            moved = True
            hop, after = _play(cells, source, die)
            rest = list(legs)
            rest.remove((source, target))
            if hop.target > target:
                rest.insert(0, (hop.target, target))
            here = hits | {hop.target} if hop.hit else hits
            _play_out(_State(after, _without(left, die), tuple(rest), family), here, ends, stuck)
    if not moved:
        stuck.append(state)


def _why_stuck(cells: Cells, dice: Dice, legs: tuple[Leg, ...], family: str) -> str:
    """Why the legs cannot all be played: the first that fails, from the bar inwards."""
    left = dice
    for source, target in sorted(legs, reverse=True):
        name = f"you cannot play {_name(source)}/{_name(target)}"
        if not left:
            return f"{name}: {_roll(dice)} is used up by your other moves"
        # a leg as long as a die is meant as that die, whatever the others could do on the way
        numbers = (source - target,) if source - target in left else left
        ends: list[_End] = []
        stuck: list[_State] = []
        _play_out(_State(cells, numbers, ((source, target),), family), frozenset(), ends, stuck)
        if not ends:
            reason = _why_leg_fails(min(stuck, key=lambda state: len(state.left)))
            return f"{name}: {reason}" if reason else f"{name} with the dice left of {_roll(dice)}"
        cells = ends[0].cells
        for die in (Counter(numbers) - Counter(ends[0].left)).elements():
            left = _without(left, die)
    raise AssertionError(f"{legs} can be played with {dice}")


def _why_leg_fails(state: _State) -> str:
    """What stops the one leg left, empty where every die is too large."""
    source, target = state.legs[0]
    short = [die for die in state.left if max(source - die, OFF) >= target]
    return fault(state.cells, source, short[0], state.family) if short else ""


def _why_incomplete(cells: Cells, dice: Dice, legal: set[Cells], end: _End, family: str) -> str:
    """Why playable hops are no legal play: too few dice, or the smaller alone (K7); in long nardy
    also too many from the head, or a row of six (D4, D8)."""
    most = max(len(hops) for board, hops in _ways(cells, dice, family).items() if board in legal)
    if family == "blocking" and len(dice) - len(end.left) >= most:
        heads = cells[HEAD] - end.cells[HEAD]
        if heads > max(cells[HEAD] - board[HEAD] for board in legal):
            return f"{heads} checkers cannot leave the head in this turn"
        if len(dice) == 4 or end.left[:1] != dice[:1]:
            return "that makes six points in a row where they may not stand"
    if len(dice) - len(end.left) == most:
        return f"only one die can be played here, and it must be the larger, the {dice[0]}"
    if len(dice) == 2:
        return f"you must play both dice of {_roll(dice)}"
    return f"you must play {most} of the four {dice[0]}s, not {len(dice) - len(end.left)}"


def _meant(ends: list[_End], legs: tuple[Leg, ...], starred: set[int]) -> Cells:
    """The board meant, of those that the typed move can lead to."""
    fitting = [end for end in ends if starred <= end.hits]
    if not fitting:
        point = max(starred - ends[0].hits)
        raise ValueError(f"there is no checker to hit on point {point} in that move")
    named = {point for leg in legs for point in leg}
    fewest = min(len(end.hits - named) for end in fitting)
    meant = {end.cells: end for end in fitting if len(end.hits - named) == fewest}
    if len(meant) > 1:
        ways = " or ".join(str(max(end.hits - named)) for end in meant.values())
        raise ValueError(f"that move can hit on {ways}: name the point, as in 24/23*/22")
    return next(iter(meant))


# --- small words -----------------------------------------------------------------------------


def _cells(board: Boards) -> Cells:
    return tuple(board.tolist())


def _numbers(dice: NDArray[np.uint8]) -> Dice:
    high, low = sorted((int(dice[0]), int(dice[1])), reverse=True)
    return (high,) * 4 if high == low else (high, low)


def _without(dice: Dice, die: int) -> Dice:
    at = dice.index(die)
    return dice[:at] + dice[at + 1 :]


def _roll(dice: Dice) -> str:
    return f"{dice[0]}-{dice[1]}"


def _name(point: int) -> str:
    return "bar" if point == BAR else "off" if point == OFF else str(point)
