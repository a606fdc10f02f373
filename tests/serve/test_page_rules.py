"""The rules that the page has in JavaScript, against the Python ones."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_nets import play_out

from nardy.match.score import match_score
from nardy.notation.moves import parse_move
from nardy.rules.batch import afterstates
from nardy.rules.board import checkers_only, ending, pip_counts, start_board, turn
from nardy.rules.dice import ROLLS
from nardy.rules.variants import Variant, variant

DATA = Path(__file__).parents[1] / "data"
EVERY = 30  # of the golden positions, to be quick

RESULTS = """async ({ game, boards, dice }) => {
  const { Turn } = await import("/rules.js");
  return boards.map((board, i) => new Turn(board, dice[i], game).results().map((r) => r.board));
}"""


@pytest.mark.parametrize(
    ("name", "results", "options"),
    [
        ("short", "", {}),
        ("long", "_each", {}),
        ("long", "_end", {"prime_check": "end_of_turn"}),
    ],
)
def test_legal_plays(page: Any, name: str, results: str, options: dict[str, str]) -> None:
    cases = np.load(DATA / f"legal_{name}.npz")
    offsets, boards = cases[f"offsets{results}"], cases[f"results{results}"]
    rows = range(0, len(cases["boards"]), EVERY)
    asked = {
        "game": dataclasses.asdict(variant(name, **options)),
        "boards": cases["boards"][rows].tolist(),
        "dice": cases["dice"][rows].tolist(),
    }
    for row, found in zip(rows, page.evaluate(RESULTS, asked), strict=True):
        expected = boards[offsets[row] : offsets[row + 1]].tolist()
        assert sorted(found) == sorted(expected), (row, cases["boards"][row])


DRAWS = variant("long", last_roll="second_player")
SHORT_GAME = variant("long", start={5: 2, 3: 1}, last_roll="second_player")


def compare_plays(page: Any, game: Variant, boards: np.ndarray, dice: np.ndarray) -> None:
    asked = {"boards": boards.tolist(), "dice": dice.tolist()}
    found = page.evaluate(RESULTS, {"game": dataclasses.asdict(game), **asked})
    expected = afterstates(boards, dice, game)
    for row, plays in enumerate(found):
        legal = expected.boards[expected.offsets[row] : expected.offsets[row + 1]].tolist()
        assert sorted(plays) == sorted(legal), boards[row]


@pytest.mark.parametrize(("game", "turns"), [(DRAWS, 150), (SHORT_GAME, 8)], ids=["long", "ends"])
def test_legal_plays_where_boards_say_who_began(page: Any, game: Variant, turns: int) -> None:
    boards, dice, _ = play_out(game, 6, turns)
    compare_plays(page, game, boards[::7], dice[::7])


@pytest.mark.parametrize("players", ["both", "first", "second", "none"])
def test_first_turns_where_boards_say_who_began(page: Any, players: str) -> None:
    """Who may take two from the head (D5)."""
    game = variant("long", last_roll="second_player", head_exception_players=players)
    start = start_board(game)
    first = afterstates(start[None], np.array([[2, 1]], np.uint8), game).boards[0]
    for board in (start, turn(first, game.family)):
        compare_plays(page, game, np.repeat(board[None], len(ROLLS), 0), ROLLS)


ENDS = """async ({ game, boards }) => {
  const { ending, onBoard, pips, stands, startBoard, turnBoard } = await import("/rules.js");
  return {
    start: startBoard(game),
    stands: boards.every((board) => stands(board, game)),
    ends: boards.map((board) => ending(board, game)),
    left: boards.map((board) => onBoard(board, game.family)),
    pips: boards.map((board) =>
      [board, turnBoard(board, game.family)].map((view) => pips(view, game.family))),
  };
}"""


@pytest.mark.parametrize(
    ("game", "turns"),
    [
        (variant("hyper"), 60),
        (variant("short", start={6: 2}), 6),
        (variant("long", start={5: 2, 3: 1}), 8),
        (SHORT_GAME, 8),
        (DRAWS, 200),
    ],
    ids=["hyper", "short", "long", "ends", "draws"],
)
def test_how_a_game_ends(page: Any, game: Variant, turns: int) -> None:
    after = np.unique(play_out(game, 2400 // turns, turns)[2], axis=0)
    found = page.evaluate(ENDS, {"game": dataclasses.asdict(game), "boards": after.tolist()})
    over, points = ending(after, game)
    expected = [int(won) if end else None for end, won in zip(over, points, strict=True)]
    assert found["ends"] == expected
    if game == SHORT_GAME:
        assert {-2, -1, 0, 1, 2, None} == set(found["ends"])
    assert over.any() and found["stands"] and found["start"] == start_board(game).tolist()
    bare = checkers_only(after, game.family)
    counts = np.stack([np.maximum(bare, 0).sum(-1), -np.minimum(bare, 0).sum(-1)], -1)
    assert found["left"] == counts.tolist()
    assert found["pips"] == np.stack(pip_counts(after, game.family), -1).tolist()


@pytest.mark.parametrize("last_roll", ["off", "second_player"])
def test_boards_that_cannot_be(page: Any, last_roll: str) -> None:
    game = variant("long", last_roll=last_roll)
    asked = "async ({ game, boards }) => (await import('/rules.js')).stands(boards[0], game)"
    for theirs, mine in itertools.product((-1, 0, 1), repeat=2):
        board = np.array(game.start)
        board[[0, 25]] = theirs, mine
        marked = (theirs, mine) in ((-1, 0), (0, 1))
        stands = (theirs, mine) == (0, 0) if last_roll == "off" else marked
        told = {"game": dataclasses.asdict(game), "boards": [board.tolist()]}
        assert page.evaluate(asked, told) == stands
    board = start_board(game)
    board[3] += 1  # a sixteenth
    told = {"game": dataclasses.asdict(game), "boards": [board.tolist()]}
    assert not page.evaluate(asked, told)


TEXTS = """async ({ game, boards, dice }) => {
  const { Turn, moveText } = await import("/rules.js");
  return boards.map((board, i) =>
    new Turn(board, dice[i], game).results().map((r) => [r.board, moveText(r.hops)]));
}"""


def test_written_moves_mean_their_results(page: Any) -> None:
    cases = np.load(DATA / "legal_short.npz")
    boards, dice = cases["boards"][::40], cases["dice"][::40]
    asked = {"game": dataclasses.asdict(variant("short")), "boards": boards.tolist()}
    found = page.evaluate(TEXTS, {**asked, "dice": dice.tolist()})
    for board, roll, plays in zip(boards, dice, found, strict=True):
        for result, text in plays:
            assert parse_move(text, board, roll, variant("short")).tolist() == result


MAY_DOUBLE = """async (cases) => {
  const { mayDouble, newMatch } = await import("/score.js");
  return cases.map((match) => mayDouble({ ...newMatch(match.length, true), ...match }, "you"));
}"""


def test_who_may_double(page: Any) -> None:
    cases, expected = [], []
    for length, cube, owner in itertools.product((1, 3, 5), (1, 2, 4), (None, "you", "bot")):
        if (cube == 1) != (owner is None):
            continue
        for mine, theirs in itertools.product(range(length), repeat=2):
            crawford_can_be = length > 1 and length - 1 in (mine, theirs) and cube == 1
            for crawford in {False, crawford_can_be}:
                points = {"you": mine, "bot": theirs}
                case = {"length": length, "points": points, "crawford": crawford}
                cases.append({**case, "cube": cube, "owner": owner})
                score = match_score(length, mine, theirs, crawford)
                owned = {None: "centre", "you": "mine", "bot": "theirs"}[owner]
                expected.append(dataclasses.replace(score, cube=cube, owner=owned).may_double)
    assert page.evaluate(MAY_DOUBLE, cases) == expected
    assert {True, False} == set(expected)
