"""A browser for each process of the tests, and a fresh window for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import CHROMIUM, needed
from chromium import DESKTOP, QUIET, Watch
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = needed(CHROMIUM)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def watch(browser: Browser, site: Path, served: str, request: pytest.FixtureRequest) -> Iterator[Watch]:
    """A fresh context; parametrize indirectly to set its options, such as a palette or a phone."""
    context = browser.new_context(**{"viewport": DESKTOP, **getattr(request, "param", {})})
    watch = Watch(context, served)
    yield watch
    context.close()
