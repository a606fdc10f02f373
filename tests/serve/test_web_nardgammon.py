"""Nardgammon in the page: the cube of long nardy, doubled, taken, passed, redoubled, Crawford."""

from typing import Any

import numpy as np
from random_nets import make_net

from nardy.match.score import match_score
from nardy.play.player import Player
from nardy.rules.board import make_board
from nardy.rules.variants import variant

GAME = variant("nardgammon")

# races to the end, whose chances the bear-off table knows: the random net has no say in them
EQUAL = make_board({6: 5, 5: 5, 4: 5}, {6: 5, 5: 5, 4: 5}, GAME.family)
AHEAD = make_board({5: 3, 4: 3, 3: 3, 2: 3}, {6: 5, 5: 3, 4: 2, 3: 3}, GAME.family)
LAST = make_board({1: 1}, {6: 14}, GAME.family)

STAGE = """async ([board, mover]) => {
  const phase = mover === "you" ? "roll" : "bot";
  const fresh = { dice: null, hops: [], chances: null, couldDouble: false, declined: false };
  Object.assign(nardy.game, { board, mover, phase, ...fresh });
  await nardy.go();
  nardy.changed();
}"""
RESTS = "!['bot', 'offered'].includes(nardy.game.phase)"


def begin(page: Any, length: int) -> None:
    """A new match by the dialog, and on to where the first player has to do something."""
    page.click("#new")
    page.select_option("#new-variant", "long")
    assert page.locator("#new-cube").is_hidden()  # D12
    page.select_option("#new-variant", GAME.name)
    assert page.locator("#new-cube").is_visible()
    page.select_option("#new-length", str(length))
    page.click("#new-start")
    press(page, "throwForStart")


def press(page: Any, action: str) -> None:
    """Press a button, and wait while the bot is at it."""
    page.click(f"[data-action={action}]")
    page.wait_for_function(RESTS)


def stage(page: Any, board: np.ndarray, mover: str) -> None:
    """A position, its mover (whose view it is) to double or roll."""
    page.evaluate(STAGE, [board.tolist(), mover])
    page.wait_for_function(RESTS)


def offers(page: Any, action: str) -> bool:
    return bool(page.locator(f"[data-action={action}]").count())


def cube(page: Any) -> str | None:
    """What the board says of the cube, None where it shows none."""
    box = page.locator(".cubebox")
    return str(box.get_attribute("aria-label")) if box.count() else None


def test_a_match_with_redouble_and_crawford(page: Any) -> None:
    begin(page, 3)
    assert cube(page) == "Cube on 1, in the middle"
    stage(page, EQUAL, "you")
    press(page, "double")
    assert "The bot takes; the cube is on 2." in page.inner_text("#status")
    assert cube(page) == "Cube on 2, the bot's" and not offers(page, "double")
    stage(page, AHEAD, "bot")
    assert "The bot doubles to 4. Do you take?" in page.inner_text("#status")
    press(page, "drop")  # the stake before this double is lost (K16)
    assert "double passed, 2 points" in page.inner_text("#status")

    press(page, "next")
    assert "Crawford" in page.inner_text("#what") and cube(page) is None  # K17
    press(page, "throwForStart")
    stage(page, EQUAL, "you")
    assert offers(page, "roll") and not offers(page, "double")
    stage(page, AHEAD, "bot")  # where it doubled before
    assert "The bot rolled" in page.inner_text("#status") and offers(page, "roll")
    stage(page, LAST, "you")
    press(page, "roll")
    page.evaluate("nardy.play(1, 0)")
    press(page, "done")
    assert page.evaluate("nardy.state.match.points") == {"you": 1, "bot": 2}

    press(page, "next")
    assert "Crawford" not in page.inner_text("#what") and cube(page) is not None
    press(page, "throwForStart")
    stage(page, EQUAL, "you")
    press(page, "double")
    took = "The bot takes" in page.inner_text("#status")
    assert took == Player(make_net(8, game=GAME)).cube(EQUAL, match_score(3, 1, 2)).take


def test_money_with_take_redouble_and_analysis(page: Any) -> None:
    begin(page, 0)
    stage(page, AHEAD, "you")
    press(page, "double")
    assert "You win: double passed, 1 point." in page.inner_text("#status")
    press(page, "next")
    press(page, "throwForStart")
    stage(page, AHEAD, "bot")
    assert "The bot doubles to 2. Do you take?" in page.inner_text("#status")
    press(page, "take")
    assert cube(page) == "Cube on 2, yours"
    stage(page, AHEAD, "you")
    press(page, "double")
    assert "You win: double passed, 2 points." in page.inner_text("#status")
    assert page.evaluate("nardy.state.match.points") == {"you": 3, "bot": 0}

    press(page, "analyse")
    page.wait_for_selector("#review-errors button")
    assert "You: took, should pass" in page.inner_text("#review-errors")
