"""What the tests share: the repository's parts, its languages and pages, and the build of a site."""

import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

LANGUAGES = ("zh", "en")
ROOTS = {"zh": "", "en": "en/"}  # of each language's site
PAGES = sorted(path.name for path in (ROOT / "docs" / "zh").glob("*.md"))
NOTEBOOKS = sorted(path.name for path in (ROOT / "docs" / "zh").glob("*.ipynb"))
SITE_PARTS = ("docs", "roofline_calc", "snippets", "mkdocs.yml", "mkdocs.en.yml")


def mkdocs_build(
    root: Path, into: Path, site_url: str = "https://operator-roofline.example/", **environment: str
) -> subprocess.CompletedProcess[str]:
    """`mkdocs build --strict` of the repository at root; the finished process, with its output as text."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(into)],
        cwd=root, capture_output=True, text=True, encoding="utf-8",
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "SITE_URL": site_url} | environment,
    )


def copy_into(folder: Path) -> Path:
    """Copy all that the build reads."""
    for part in SITE_PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return folder


def drop_questions(root: Path) -> None:
    """Take the questions out of a copy's pages: they insist on the formulas as they are."""
    for page in root.glob("docs/??/*.md"):
        text = page.read_text(encoding="utf-8")
        kept = re.sub(r"^```quiz\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        if kept != text:
            page.write_text(kept, encoding="utf-8")


class Files(http.server.SimpleHTTPRequestHandler):
    """Answers with a folder's files, and says nothing."""

    def log_message(self, *_: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder from a thread of this process, at `address`."""

    def __init__(self, folder: Path, handler: type[Files] = Files) -> None:
        super().__init__(("127.0.0.1", 0), partial(handler, directory=str(folder)))
        self.address = f"http://127.0.0.1:{self.server_port}/"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_: object) -> None:
        """A reader who leaves before a file has come whole is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            raise

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
