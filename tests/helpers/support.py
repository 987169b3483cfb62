"""What the tests share: where the repository's parts are, its languages and pages, a build, a watched browser."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import BrowserContext, Page

ROOT = Path(__file__).parent.parent.parent

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
