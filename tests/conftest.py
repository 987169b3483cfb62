import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ROOT = Path(__file__).parent.parent

LANGUAGES = ("zh", "en")
PAGES = sorted(path.name for path in (ROOT / "docs" / "zh").glob("*.md"))
NOTEBOOKS = sorted(path.name for path in (ROOT / "docs" / "zh").glob("*.ipynb"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Chromium's own background services would ask other hosts; the site must not.
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
ROOTS = {"zh": "", "en": "en/"}
PHONE, DESKTOP = {"width": 320, "height": 640}, {"width": 1280, "height": 900}
SCHEMES = [{"color_scheme": scheme} for scheme in ("light", "dark")]
SITE_PARTS = ("docs", "roofline_calc", "snippets", "mkdocs.yml", "mkdocs.en.yml")


def mkdocs_build(root: Path, into: Path, site_url: str = "https://operator-roofline.example/"):
    """`mkdocs build --strict` of the repository at root; the finished process, with its output as text."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(into)],
        cwd=root, capture_output=True, text=True, encoding="utf-8",
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "SITE_URL": site_url},
    )  # fmt: skip


def drop_questions(root: Path) -> None:
    """Take the questions out of a copy's pages: they insist on the formulas as they are."""
    for page in root.glob("docs/??/*.md"):
        text = page.read_text(encoding="utf-8")
        kept = re.sub(r"^```quiz\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        if kept != text:
            page.write_text(kept, encoding="utf-8")


@pytest.fixture(scope="session")
def oracles() -> dict[str, Any]:
    """Values worked out with exact rational arithmetic by other hands than the calculator's."""
    return json.loads((ROOT / "tests" / "oracles.json").read_text(encoding="utf-8"))


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


class Watch:
    """Opens pages and remembers every request and every complaint."""

    def __init__(self, context: BrowserContext, root: str) -> None:
        self.root, self.page = root, context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("response", lambda got: self.complaints.append(got.url) if got.status >= 400 else None)

    def open(self, language: str, path: str) -> Page:
        self.page.goto(f"{self.root}{ROOTS[language]}{path}{'/' if path else ''}", wait_until="networkidle")
        return self.page


@pytest.fixture
def watch(browser: Browser, site: Path, served: str, request: pytest.FixtureRequest) -> Iterator[Watch]:
    """A fresh context; parametrize indirectly to set its options, such as a palette or a phone."""
    context = browser.new_context(**{"viewport": DESKTOP, **getattr(request, "param", {})})
    watch = Watch(context, served)
    yield watch
    context.close()
