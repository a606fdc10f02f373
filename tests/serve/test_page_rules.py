"""The rules that the page has in JavaScript, against the Python ones."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nardy.match.score import match_score
from nardy.notation.moves import parse_move
from nardy.rules.variants import variant

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
