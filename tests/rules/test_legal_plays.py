"""Legal results against files of known answers and against the referee, with and without numba."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import referee

from nardy.rules.batch import afterstates
from nardy.rules.board import make_board, start_board
from nardy.rules.dice import ROLLS
from nardy.rules.variants import variant

DATA = Path(__file__).parents[1] / "data"
SHORT = variant("short")

# worked position 1: distinct results from the start, as roll:count
OPENING_COUNTS = (
    "11:42 21:15 22:75 31:16 32:17 33:73 41:14 42:18 43:17 44:52 51:8 52:8 53:9 54:9 55:4 "
    "61:10 62:14 63:14 64:14 65:7 66:11"
)


def load_positions() -> list[dict]:
    positions = json.loads((DATA / "positions.json").read_text())
    return [position for position in positions if position["game"] == "short"]


def counts_of(points: dict[str, int]) -> dict[int, int]:
    return {int(point): count for point, count in points.items()}


def rows(boards: Iterable[np.ndarray]) -> list[bytes]:
    """Boards as sorted bytes: equal lists are equal results, repeats included."""
    return sorted(board.tobytes() for board in boards)


@pytest.fixture(scope="module")
def golden() -> dict[str, np.ndarray]:
    with np.load(DATA / "legal_short.npz") as file:
        return dict(file)


def test_1400_positions_agree_with_the_file(golden, kernels):
    found, offsets = afterstates(golden["boards"], golden["dice"], SHORT)
    expected = golden["offsets"]
    assert len(golden["boards"]) == 1400
    wrong = [
        (golden["boards"][i].tolist(), golden["dice"][i].tolist())
        for i in range(1400)
        if rows(found[offsets[i] : offsets[i + 1]])
        != rows(golden["results"][expected[i] : expected[i + 1]])
    ]
    assert not wrong, f"{len(wrong)} positions differ, the first {wrong[0]}"


def test_the_order_of_the_dice_does_not_matter(golden):
    found, offsets = afterstates(golden["boards"], golden["dice"], SHORT)
    turned, turned_offsets = afterstates(golden["boards"], golden["dice"][:, ::-1], SHORT)
    np.testing.assert_array_equal(offsets, turned_offsets)
    for begin, end in zip(offsets[:-1], offsets[1:], strict=True):
        assert rows(found[begin:end]) == rows(turned[begin:end])


def test_the_referee_agrees_with_the_file(golden):
    offsets = golden["offsets"]
    for i, (board, dice) in enumerate(zip(golden["boards"], golden["dice"], strict=True)):
        expected = {tuple(row) for row in golden["results"][offsets[i] : offsets[i + 1]].tolist()}
        assert referee.results(board, dice) == expected, (board.tolist(), dice.tolist())


@pytest.mark.parametrize("position", load_positions(), ids=lambda position: position["id"])
def test_short_rows_of_the_positions_file(position, kernels):
    board = make_board(counts_of(position["mover"]), counts_of(position["enemy"]))
    found = afterstates(board[None], np.array([position["dice"]], np.uint8), SHORT).boards
    expected = [
        make_board(counts_of(mover), counts_of(enemy)) for mover, enemy in position["finals"]
    ]
    assert rows(found) == rows(expected)


def test_opening_counts(kernels):
    expected = {
        tuple(int(die) for die in roll): int(count)
        for roll, count in (item.split(":") for item in OPENING_COUNTS.split())
    }
    _, offsets = afterstates(np.tile(start_board(SHORT), (21, 1)), ROLLS, SHORT)
    found = {
        tuple(roll): count
        for roll, count in zip(ROLLS.tolist(), np.diff(offsets).tolist(), strict=True)
    }
    assert found == expected
    assert sum(found.values()) == 447
