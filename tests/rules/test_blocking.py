"""Legal results of long nardy against files of known answers and against the referee."""

import json
from collections.abc import Iterable
from pathlib import Path

import long_referee
import numpy as np
import pytest
from hypothesis import given, settings
from long_strategies import (
    LONG,
    first_turns,
    long_placements,
    long_positions_in_play,
    options,
    random_long_position,
)

from nardy.rules import kernel
from nardy.rules.batch import Workspace, afterstates
from nardy.rules.board import make_board
from nardy.rules.dice import ROLLS
from nardy.rules.variants import variant

DATA = Path(__file__).parents[1] / "data"
CHECKS = {"each_step": "each", "end_of_turn": "end"}


def rows(boards: Iterable[np.ndarray]) -> list[bytes]:
    """Boards as sorted bytes: equal lists are equal results, repeats included."""
    return sorted(np.asarray(board, np.int8).tobytes() for board in boards)


def check_rolls(board: np.ndarray, chosen: dict[str, str], first_turn: bool = False) -> None:
    """All 21 rolls of one board: the referee's results, each once; the board left as it was."""
    boards, flags = np.tile(board, (21, 1)), np.full(21, first_turn)
    found, offsets = afterstates(boards, ROLLS, variant("long", **chosen), flags)
    assert (boards == board).all()
    starter = bool(board[12] == -15)
    for i, dice in enumerate(ROLLS):
        expected = long_referee.results(board, dice, first_turn, starter, **chosen)
        assert rows(found[offsets[i] : offsets[i + 1]]) == rows(expected), (
            board.tolist(), dice.tolist(), chosen,
        )  # fmt: skip


# ---- files of known answers


@pytest.fixture(scope="module")
def golden() -> dict[str, np.ndarray]:
    with np.load(DATA / "legal_long.npz") as file:
        return dict(file)


def wrong(golden: dict[str, np.ndarray], check: str, picked: np.ndarray, told: bool) -> list:
    """The positions of `picked` whose results differ; told: whether first turns are passed on."""
    boards, dice = golden["boards"][picked], golden["dice"][picked]
    first = golden["first_turn"][picked] if told else None
    found, offsets = afterstates(boards, dice, variant("long", prime_check=check), first)
    known, expected = golden[f"offsets_{CHECKS[check]}"], golden[f"results_{CHECKS[check]}"]
    return [
        (boards[i].tolist(), dice[i].tolist())
        for i, row in enumerate(picked)
        if rows(found[offsets[i] : offsets[i + 1]]) != rows(expected[known[row] : known[row + 1]])
    ]


@pytest.mark.parametrize("check", CHECKS)
def test_3600_positions_agree_with_the_file(golden, check):
    everyone = np.arange(len(golden["boards"]))
    assert len(everyone) == 3600
    for told in (True, False):  # first turns are seen on the board as well
        differ = wrong(golden, check, everyone, told)
        assert not differ, f"{len(differ)} positions differ, the first {differ[0]}"


@pytest.mark.parametrize("check", CHECKS)
def test_a_sample_agrees_without_the_compiler(golden, check, monkeypatch):
    monkeypatch.setattr(kernel, "jit_enabled", False)
    different = np.diff(golden["offsets_each"]) != np.diff(golden["offsets_end"])
    picked = np.flatnonzero(different | (np.arange(3600) % 12 == 0) | golden["first_turn"])
    assert not wrong(golden, check, picked, told=True)


@pytest.mark.parametrize("check", CHECKS)
def test_the_referee_agrees_with_the_file(golden, check):
    known, expected = golden[f"offsets_{CHECKS[check]}"], golden[f"results_{CHECKS[check]}"]
    for i in range(0, 3600, 4):
        board, dice = golden["boards"][i], golden["dice"][i]
        judged = long_referee.results(board, dice, bool(golden["first_turn"][i]), prime_check=check)
        assert rows(judged) == rows(expected[known[i] : known[i + 1]]), (board.tolist(), dice)


def test_the_order_of_the_dice_does_not_matter(golden):
    boards, dice = golden["boards"], golden["dice"]
    found, offsets = afterstates(boards, dice, LONG)
    turned, turned_offsets = afterstates(boards, dice[:, ::-1], LONG)
    np.testing.assert_array_equal(offsets, turned_offsets)
    np.testing.assert_array_equal(found, turned)


def counts_of(points: dict[str, int]) -> dict[int, int]:
    return {int(point): count for point, count in points.items()}


def load_positions() -> list[dict]:
    positions = json.loads((DATA / "positions.json").read_text())
    return [position for position in positions if position["game"] == "long"]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("position", load_positions(), ids=lambda position: position["id"])
def test_long_rows_of_the_positions_file(position, check, kernels):
    enemy = counts_of(position["enemy"])
    board = make_board(counts_of(position["mover"]), enemy, "blocking")
    first = np.array([position["first_turn"]])
    dice = np.array([position["dice"]], np.uint8)
    found = afterstates(board[None], dice, variant("long", prime_check=check), first).boards
    expected = [
        make_board(counts_of(mover), enemy, "blocking") for mover in position[check]["finals"]
    ]
    assert rows(found) == rows(expected)


# ---- the referee


@settings(max_examples=250)
@given(long_placements(), options())
def test_placed_checkers_agree_with_the_referee(board, chosen):
    check_rolls(board, chosen)


@settings(max_examples=80)
@given(long_positions_in_play(), options())
def test_positions_in_play_agree_with_the_referee(board, chosen):
    check_rolls(board, chosen)


@settings(max_examples=150)
@given(first_turns(), options())
def test_first_turns_agree_with_the_referee(board, chosen):
    check_rolls(board, chosen, first_turn=True)


# ---- batches


def batch(size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    boards = [random_long_position(LONG, seed + i, int(rng.integers(120))) for i in range(size)]
    return np.array(boards, np.int8), rng.integers(1, 7, (size, 2)).astype(np.uint8)


def test_a_batch_is_its_boards_one_by_one():
    boards, dice = batch(100, seed=2)
    found, offsets = afterstates(boards, dice, LONG)
    assert found.dtype == np.int8 and offsets.dtype == np.int64
    for i in range(100):
        one = afterstates(boards[i : i + 1], dice[i : i + 1], LONG).boards
        np.testing.assert_array_equal(found[offsets[i] : offsets[i + 1]], one)


def test_compiled_and_uncompiled_give_the_same_rows(monkeypatch):
    if not kernel.jit_enabled:
        pytest.skip("nothing is compiled")
    boards, dice = batch(60, seed=3)
    first = afterstates(boards, dice, LONG)
    monkeypatch.setattr(kernel, "jit_enabled", False)
    second = afterstates(boards, dice, LONG)
    np.testing.assert_array_equal(first.boards, second.boards)
    np.testing.assert_array_equal(first.offsets, second.offsets)


def test_the_output_grows_and_a_workspace_can_come_fourth_or_by_name():
    board = make_board({point: 1 for point in range(10, 25)}, {21: 1}, "blocking")
    boards = np.tile(board, (8, 1))
    dice = np.array([[1, 1], [2, 2], [3, 1], [1, 1]] * 2, np.uint8)
    game, workspace = variant("long", prime_rule="allow"), Workspace()
    workspace.reserve(len(boards))
    reserved = len(workspace.out)
    found, offsets = afterstates(boards, dice, game, workspace=workspace)
    assert len(found) > reserved, "the memory must have grown for this test to be one"
    assert np.shares_memory(found, workspace.out)
    for i, pair in enumerate(dice[:4]):
        expected = long_referee.results(board, pair, prime_rule="allow")
        assert rows(found[offsets[i] : offsets[i + 1]]) == rows(expected)
    again = afterstates(boards, dice, game, workspace)
    assert np.shares_memory(again.boards, workspace.out) and len(again.boards) == offsets[-1]


def test_an_empty_batch_has_no_results():
    found, offsets = afterstates(np.empty((0, 26), np.int8), np.empty((0, 2), np.uint8), LONG)
    assert found.shape == (0, 26) and offsets.tolist() == [0]
