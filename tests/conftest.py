import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright
from support import CHROMIUM, DESKTOP, QUIET, ROOT, SITE_PARTS, Watch, mkdocs_build


@pytest.fixture(scope="session")
def oracles() -> dict[str, Any]:
    """Values worked out with exact rational arithmetic by other hands than the calculator's."""
    return json.loads((ROOT / "tests" / "calculator" / "oracles.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="session")
def served(folder: Path) -> Iterator[str]:
    """The address at which the site is served, and for which it is built: canonical links must lead there."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def site(folder: Path, served: str) -> Path:
    """The strict build of both languages."""
    done = mkdocs_build(ROOT, folder, served)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of all that the build reads, for a test to break."""
    for part in SITE_PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / part)
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    return tmp_path


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    assert CHROMIUM, "Chromium is missing; on Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def watch(browser: Browser, site: Path, served: str, request: pytest.FixtureRequest) -> Iterator[Watch]:
    """A fresh context; parametrize indirectly to set its options, such as a palette or a phone."""
    context = browser.new_context(**{"viewport": DESKTOP, **getattr(request, "param", {})})
    watch = Watch(context, served)
    yield watch
    context.close()
