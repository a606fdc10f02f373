"""A small random net, a door's bot with it, and the page in a real browser."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from random_nets import make_net
from served import served

from nardy.net.net import Net
from nardy.rules.variants import variant
from nardy.serve.bot import Bot

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
SECONDS = 60  # for the slowest machine


@pytest.fixture(scope="session")
def net() -> Net:
    return make_net(12, (8,), seed=4)


@pytest.fixture
def bot(net: Net) -> Bot:
    return Bot(net)


@pytest.fixture(scope="module")
def page_nets() -> list[Net]:
    """Nets of random weights of the four games that the page offers."""
    names = ("short", "hyper", "long", "nardgammon")
    return [make_net(8, game=variant(name), pairs=0) for name in names]


@pytest.fixture(scope="module")
def site(page_nets: list[Net]) -> Iterator[str]:
    """The address of a page with the games of these nets."""
    pytest.importorskip("fastapi", reason="the page needs fastapi")
    pytest.importorskip("uvicorn", reason="the page needs uvicorn")
    from nardy.serve.http import make_app

    app = make_app(page_nets[0], others=[(net, None) for net in page_nets[1:]])
    with served(app) as port:
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    if CHROMIUM is None:
        pytest.skip("no chromium here")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any, site: str) -> Iterator[Any]:
    """The page as it first opens; errors in it fail the test."""
    context = browser.new_context(
        viewport={"width": 1000, "height": 900}, locale="en-GB", reduced_motion="reduce"
    )
    opened = context.new_page()
    opened.set_default_timeout(1000 * SECONDS)
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda line: line.type == "error" and errors.append(line.text))
    opened.goto(f"{site}?seed=5&pause=0")
    opened.wait_for_selector("[data-action=throwForStart]")
    yield opened
    context.close()
    assert errors == []
