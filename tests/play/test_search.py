"""The batched search against one position at a time, written out."""

import numpy as np
import pytest

from nardy.net.net import Net, outcomes_by_numpy
from nardy.play.bearoff import Bearoff
from nardy.play.look import Look
from nardy.play.possible import possible
from nardy.play.search import CHUNK, LOOKS, Filter, Search, first_best
from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import Boards, flip, make_board, points_won, start_board
from nardy.rules.dice import ROLLS, random_words, roll
from nardy.rules.variants import variant

SHORT = variant("short")
POINTS = np.array(SHORT.outcomes)


def positions(count: int, plies: int) -> Boards:
    """int8[count, 26], met after `plies` turns of random plays."""
    games = np.arange(count)
    boards = np.tile(start_board(SHORT), (count, 1))
    for ply in range(plies):
        results = afterstates(boards, roll(4, games, np.full(count, ply)), SHORT)
        words = random_words(5, games, np.full(count, ply), stream=1)
        counts = np.diff(results.offsets).astype(np.uint64)
        boards = flip(results.boards[results.offsets[:-1] + (words % counts).astype(np.int64)])
    return boards


def results_of(boards: Boards) -> Afterstates:
    return afterstates(boards, roll(6, np.arange(len(boards)), np.full(len(boards), 9)), SHORT)


def plays_of(results: Afterstates, i: int) -> Boards:
    return results.boards[results.offsets[i] : results.offsets[i + 1]]


def slow_value(net: Net, result: Boards, ply: int) -> float:
    """Points for the player who moved to `result`: the definition, one position at a time."""
    if points_won(result, SHORT):
        return float(points_won(result, SHORT))
    turned = flip(result)
    if ply == 0:
        chances = possible(outcomes_by_numpy(net, turned[None]), turned[None], SHORT)
        return -float(chances[0].astype(float) @ POINTS)
    total = 0.0
    for dice in ROLLS:
        replies = afterstates(turned[None], dice[None], SHORT).boards
        static = [slow_value(net, reply, 0) for reply in replies]
        reply = replies[int(np.argmax(static))]
        total -= (1 if dice[0] == dice[1] else 2) / 36 * slow_value(net, reply, ply - 1)
    return total


RACE_END = make_board({3: 1, 2: 2}, {2: 1, 1: 2})
CONTACT = make_board({13: 1, 8: 1, 1: 1}, {20: 2, 6: 1})
LAST_ROLL = make_board({2: 1, 1: 1}, {13: 15})


@pytest.mark.parametrize("ply", [0, 1])
def test_every_play_is_priced_as_defined(net: Net, ply: int, kernels: str) -> None:
    count = 3 if kernels == "numba" else 1
    boards = np.concatenate([np.stack([RACE_END, CONTACT, LAST_ROLL]), positions(count, 12)])
    results = results_of(boards)
    priced = Search(net, ply, filters=None).price(results)
    slow = [slow_value(net, result, ply) for result in results.boards]
    np.testing.assert_allclose(priced.values, slow, atol=1e-5)
    np.testing.assert_allclose(priced.chances @ POINTS, slow, atol=1e-5)
    np.testing.assert_allclose(priced.chances.sum(-1), 1, atol=1e-5)
    assert (priced.plies == ply).all()


@pytest.mark.parametrize("board", [RACE_END, CONTACT])
def test_two_plies(net: Net, board: Boards) -> None:
    """His reply is chosen by static value and priced at 1-ply."""
    results = afterstates(board[None], np.array([[2, 1]], np.uint8), SHORT)
    some = Afterstates(results.boards[:2], np.array([0, 2]))
    priced = Search(net, 2, filters=None, looks=None).price(some)
    np.testing.assert_allclose(
        priced.values, [slow_value(net, result, 2) for result in some.boards], atol=1e-5
    )


def slow_best(net: Net, plays: Boards, filters: tuple[Filter, ...]) -> int:
    """The play chosen when each filter in turn lets plays through to the next depth."""
    left = list(range(len(plays)))
    values = [slow_value(net, plays[i], 0) for i in left]
    for ply, bound in enumerate(filters, start=1):
        ranked = sorted(zip(values, left, strict=True), key=lambda pair: (-pair[0], pair[1]))
        left = [i for v, i in ranked[: bound.plays] if v >= ranked[0][0] - bound.margin]
        values = [slow_value(net, plays[i], ply) for i in left]
    return left[int(np.argmax(values))]


def mean_over_rolls(net: Net, result: Boards) -> float:
    """As slow_value at 1-ply, with the replies to a roll priced together."""
    total = 0.0
    for dice in ROLLS:
        replies = afterstates(flip(result)[None], dice[None], SHORT).boards
        won = points_won(replies, SHORT)
        chances = possible(outcomes_by_numpy(net, flip(replies)), flip(replies), SHORT)
        static = -(chances.astype(float) @ POINTS)
        total -= (1 if dice[0] == dice[1] else 2) / 36 * np.where(won > 0, won, static).max()
    return total


def test_one_ply_on_two_hundred_positions(net: Net) -> None:
    boards = np.concatenate([positions(80, plies) for plies in (6, 30, 60)])
    boards = boards[(boards < 0).any(1) & (boards > 0).any(1)][:200]
    assert len(boards) == 200
    slow = [mean_over_rolls(net, board) for board in boards]
    values = Search(net, 1).chances(boards, 1) @ POINTS
    np.testing.assert_allclose(values, slow, atol=1e-5)


def slow_value_of_few(net: Net, result: Boards, ply: int, most: int) -> float:
    """As slow_value, where replies are chosen among the `most` that score best and those that the
    look cannot score."""
    if ply == 0 or points_won(result, SHORT):
        return slow_value(net, result, 0)
    total, turned = 0.0, flip(result)[None]
    every = afterstates(np.repeat(turned, 21, 0), ROLLS, SHORT)
    scores = Look(net).scores(turned, every)
    for i, dice in enumerate(ROLLS):
        rows = list(range(every.offsets[i], every.offsets[i + 1]))
        judged = sorted((r for r in rows if np.isfinite(scores[r])), key=lambda r: -scores[r])
        front = sorted(judged[:most] + [r for r in rows if np.isinf(scores[r])])
        static = [slow_value(net, every.boards[row], 0) for row in front]
        reply = every.boards[front[int(np.argmax(static))]]
        worth = slow_value_of_few(net, reply, ply - 1, LOOKS[1])
        total -= (1 if dice[0] == dice[1] else 2) / 36 * worth
    return total


def test_two_plies_with_a_look(net: Net) -> None:
    """A look of two replies and then three, and one so wide that it changes nothing."""
    results = results_of(CONTACT[None])
    some = Afterstates(results.boards[:2], np.array([0, 2]))
    narrow = Search(net, 2, filters=None, looks=(2, LOOKS[1])).price(some)
    slow = [slow_value_of_few(net, result, 2, 2) for result in some.boards]
    np.testing.assert_allclose(narrow.values, slow, atol=1e-5)
    wide = Search(net, 2, filters=None, looks=(999,)).price(some)
    whole = Search(net, 2, filters=None, looks=None).price(some)
    np.testing.assert_array_equal(wide.values, whole.values)
    assert (narrow.values != whole.values).any()  # or nothing was left out


def test_three_plies(net: Net) -> None:
    result = make_board({6: 1, 5: 1}, {6: 1, 2: 1})
    some = Afterstates(result[None], np.array([0, 1]))
    priced = Search(net, 3, filters=None, looks=None).price(some)
    assert priced.plies.tolist() == [3]
    assert priced.values[0] == pytest.approx(slow_value(net, result, 3), abs=1e-5)


def test_a_search_forgets_and_threads_change_nothing(net: Net) -> None:
    boards = positions(3, 20)
    results = results_of(boards)
    one, three = Search(net, 2), Search(net, 2, threads=3)
    first, again, shared = one.price(results), one.price(results), three.price(results)
    for other in (again, shared):
        for ours, theirs in zip(first, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert not one._known and not any(search._known for search in three._team)
    assert three.best(boards, results).tolist() == one.best(boards, results).tolist()


def test_time_decides_how_deep_it_goes(net: Net) -> None:
    results = results_of(positions(1, 12))
    search = Search(net, 2)
    assert search.price(results, seconds=1e-9).plies.max() == 0
    assert search.price(results, seconds=1e9).plies.max() == 2


def test_choosing_in_bulk(net: Net, tables: Bearoff) -> None:
    """The same plays as one at a time, with the chances of what was chosen."""
    boards = np.concatenate([np.stack([RACE_END, CONTACT, LAST_ROLL]), positions(20, 30)])
    parents, results = Search(net, 0).every_roll(boards)
    assert parents.shape == (21 * len(boards), 26)
    for exact in (None, tables):
        search = Search(net, 0, tables=exact)
        rows, chances = search.choose(parents, results)
        values = search.chances(results.boards, 0) @ POINTS
        chosen = search.chances(results.boards[rows], 0)
        np.testing.assert_allclose(chances, chosen, atol=1e-5)
        top = np.maximum.reduceat(values, results.offsets[:-1])
        np.testing.assert_allclose(values[rows], top, atol=1e-5)


def test_best_follows_the_filters(net: Net) -> None:
    boards = positions(12, 14)
    results = results_of(boards)
    filters = (Filter(3, 0.1),)
    rows = Search(net, 1, filters).best(boards, results)
    slow = [slow_best(net, plays_of(results, i), filters) for i in range(len(boards))]
    assert (rows - results.offsets[:-1]).tolist() == slow
    static = Search(net, 0).best(boards, results) - results.offsets[:-1]
    assert (static != np.array(slow)).any()  # or looking deeper was not tested


def test_depths_of_a_filtered_search(net: Net) -> None:
    boards = np.stack([RACE_END, CONTACT])
    results = afterstates(boards, np.array([[2, 1], [6, 1]], np.uint8), SHORT)
    priced = Search(net, 2, (Filter(3, 9.0), Filter(1, 9.0))).price(results)
    for i, plays in enumerate(np.diff(results.offsets)):
        depths = np.sort(priced.plies[results.offsets[i] : results.offsets[i + 1]])[::-1]
        assert depths.tolist() == [2, 1, 1, *[0] * (plays - 3)]
        front = results.offsets[i] + int(
            np.argmax(priced.plies[results.offsets[i] : results.offsets[i + 1]])
        )
        expected = slow_value(net, results.boards[front], 2)
        assert priced.values[front] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("ply", [0, 1, 2])
def test_values_do_not_depend_on_the_batch(net: Net, ply: int) -> None:
    boards = positions((CHUNK + 6, 12, 3)[ply], 16)
    results = results_of(boards)
    search = Search(net, ply)
    rows, priced = search.best(boards, results), search.price(results)
    for i in range(len(boards)):
        one = Afterstates(plays_of(results, i), results.offsets[[i, i + 1]] - results.offsets[i])
        assert search.best(boards[i : i + 1], one)[0] == rows[i] - results.offsets[i]
        alone = search.price(one)
        span = slice(results.offsets[i], results.offsets[i + 1])
        assert (alone.values == priced.values[span]).all()
        assert (alone.plies == priced.plies[span]).all()


def test_chunks_do_not_change_replies(net: Net) -> None:
    boards = positions(CHUNK + 3, 10)
    search = Search(net, 0)
    replies = search.replies(boards)
    for i in (0, CHUNK - 1, CHUNK, CHUNK + 2):
        for j, dice in enumerate(ROLLS):
            plays = afterstates(boards[i : i + 1], dice[None], SHORT).boards
            static = [slow_value(net, play, 0) for play in plays]
            chosen = slow_value(net, replies[i, j], 0)
            assert chosen == pytest.approx(max(static), abs=1e-5)
            assert replies[i, j].tolist() in plays.tolist()


def test_first_best_takes_the_first_of_equals() -> None:
    values = np.array([3, 5, 5, 7, 1, 5, 1])
    assert first_best(values, np.array([0, 3, 4, 7])).tolist() == [1, 3, 5]


@pytest.mark.parametrize("ply", [0, 1])
def test_nans_are_refused(net: Net, ply: int) -> None:
    broken = Net.build(SHORT, net.table * np.float32(np.nan), net.bias, net.tails)
    boards = start_board(SHORT)[None]
    results = afterstates(boards, np.array([[3, 1]], np.uint8), SHORT)
    with pytest.raises(ValueError, match="the net gives values that are not numbers"):
        Search(broken, ply).best(boards, results)


def test_unknown_depth_is_named(net: Net) -> None:
    with pytest.raises(ValueError, match="ply must be 0, 1, 2 or 3, not 4"):
        Search(net, 4)
    with pytest.raises(ValueError, match="threads must be 1 or more, not 0"):
        Search(net, 1, threads=0)
