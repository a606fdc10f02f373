"""What the page keeps over a reload, and what it does with a match that was not kept whole."""

from typing import Any

from nardy.rules.variants import variant

START = list(variant("short").start)


def begin(page: Any) -> None:
    """Come to where you have to move: by the seed of these tests you begin."""
    page.click("[data-action=throwForStart]")
    assert page.evaluate("nardy.game.phase") == "move"


def test_a_reload_changes_nothing(page: Any) -> None:
    begin(page)
    source = page.evaluate("nardy.sources()[0]")
    page.evaluate(f"nardy.play({source}, [...nardy.targets({source}).keys()][0])")
    state = page.evaluate("nardy.state")
    page.reload()
    page.wait_for_selector("[data-action=undo]")
    assert page.evaluate("nardy.state") == state


BREAK = """([state, change]) => {
  new Function("state", change)(state);
  localStorage.setItem("nardy.state", JSON.stringify(state));
}"""


def test_broken_storage_is_left_behind(page: Any) -> None:
    begin(page)
    page.evaluate("nardy.playTo(nardy.turn.results()[0].board)")
    state = page.evaluate("nardy.state")
    for change in (
        "delete state.match",
        "delete state.game",
        "state.game.board = 7",
        "state.game.board = []",
        "state.game.board[6] = 1e9",
        "state.game.board[6] = 0.5",
        "state.game.hops = null",
        "state.game.hops[0].after = {}",
        "state.game.hops[0].after.cells[3] = null",
        "state.game.dice = null",
        "state.game.dice = [9, 'x']",
        "state.game.phase = 'tea'",
        "state.game.phase = 'over'",
        "state.game.log = {}",
        "state.game.log = [{ kind: 'move' }]",
        "state.match.points = null",
    ):
        page.evaluate(BREAK, [state, change])
        page.reload()
        page.wait_for_selector("[data-action=throwForStart]")
        assert page.evaluate("nardy.shown") == START, change
    for text in ("{oh", "[]", "null", "7"):
        page.evaluate("text => localStorage.setItem('nardy.state', text)", text)
        page.evaluate("text => localStorage.setItem('nardy.settings', text)", text)
        page.reload()
        page.wait_for_selector("[data-action=throwForStart]")


def test_a_level_that_is_gone_is_left_behind(page: Any) -> None:
    begin(page)
    page.evaluate(BREAK, [page.evaluate("nardy.state"), "state.level = 'god'"])
    page.reload()
    page.wait_for_selector("[data-action=undo], [data-action=hint]")
    assert page.evaluate("nardy.state.level") == "expert"
