"""What the site costs, as ratios and counts: building it, rebuilding it, growing it, and reading its first page.

    python bench/site.py

Every build runs in a process of its own on a copy, so that nothing is warm but the disk. The stock build has the same
pages and extensions without hooks, in the plain theme. Needs Chromium for the weight of the lesson; prints only.
"""

import gzip
import http.server
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers"))

from support import LANGUAGES, copy_into, drop_questions

COPIES = (1, 4, 32)
TIMES = 3
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def build(root: Path, *options: str) -> float:
    """Seconds of one build in a fresh process."""
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-d", str(root / "site"), *options]
    start = time.perf_counter()
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return time.perf_counter() - start


def without_hooks(root: Path) -> None:
    """Turn a copy into the same pages with the stock theme, one configuration for each language."""
    settings = (root / "mkdocs.yml").read_text(encoding="utf-8")
    settings = re.sub(r"^hooks:.*\n", "", settings, flags=re.MULTILINE)
    ours = r"^(?:  custom_dir|  logo|  favicon|  alternate|extra_css|extra_javascript):.*\n"
    settings = re.sub(ours, "", settings, flags=re.MULTILINE)
    (root / "mkdocs.yml").write_text(settings, encoding="utf-8")


def importing(module: str) -> float:
    """Seconds that a module's import adds to MkDocs'."""
    idle = "import mkdocs.commands.build, material"
    times = [[_seconds([sys.executable, "-c", code]) for code in (idle, f"{idle}, {module}")] for _ in range(TIMES)]
    return statistics.median(more - less for less, more in times)


def medians(*measures: partial[float]) -> list[float]:
    """Median of each measure, taken in turns so that a busy spell of the machine falls on all of them."""
    rounds = [[measure() for measure in measures] for _ in range(TIMES)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def stock(root: Path) -> float:
    """Both languages without hooks: two processes' work less one start, as the real build has one."""
    idle = statistics.median(
        [_seconds([sys.executable, "-c", "import mkdocs.commands.build, material"]) for _ in range(TIMES)]
    )
    return build(root) + build(root, "-f", "mkdocs.en.yml") - idle


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


REBUILD = """
import sys, time
from pathlib import Path
from mkdocs.commands.build import build
from mkdocs.config import load_config

def once():
    start = time.perf_counter()
    config = load_config("mkdocs.yml", site_dir="site")
    config.plugins.on_startup(command="serve", dirty=False)
    build(config)
    return time.perf_counter() - start

edits = {"nothing yet": None, **EDITS}
for what, edit in edits.items():
    seconds = []
    for turn in range(3 if edit else 1):
        if edit:
            path, old, new = edit
            page = Path(path)
            text = page.read_text(encoding="utf-8")
            assert old in text, old
            page.write_text(text.replace(old, new + old, 1), encoding="utf-8")
        seconds.append(once())
    print(what, sorted(seconds)[len(seconds) // 2], sep="\\t")
"""
EDITS = {  # what is put before what, in which file; each is made three times
    "a sentence of the Chinese lesson": ("docs/zh/lesson.md", "\n## ", "\n多一句话。\n"),
    "a sentence of the English lesson": ("docs/en/lesson.md", "\n## ", "\nOne more sentence.\n"),
    "a formula": ("roofline_calc/operators.py", "2 * M * K * N", "2 * "),
    "a chart's program": ("snippets/figures.py", "def operators(", "CONTEXTS = 2048\n\n\n"),
    "a docstring of the calculator": ("roofline_calc/roofline.py", "The two roofs", "Of both: "),
}


def rebuilds(root: Path) -> dict[str, float]:
    """Seconds of a process's first build and of those after each edit, both languages, as under `mkdocs serve`."""
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    program = REBUILD.replace("EDITS", repr(EDITS))
    done = subprocess.run([sys.executable, "-c", program], cwd=root, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return {what: float(seconds) for what, seconds in (line.split("\t") for line in done.stdout.splitlines())}


def grown(copies: int) -> float:
    """Seconds for each lesson when there are so many of it in both languages, all other pages left out."""
    with tempfile.TemporaryDirectory() as folder:
        root = copy_into(Path(folder))
        for language in LANGUAGES:
            pages = root / "docs" / language
            lesson = re.sub(r"\]\((?!figures/|http)[\w-]+\.md(?:#[\w-]+)?\)", "](#code)",
                            (pages / "lesson.md").read_text(encoding="utf-8"))
            for page in pages.glob("*.md"):
                page.unlink()
            for i in range(copies):
                name = "index.md" if i == 0 else f"lesson-{i}.md"
                (pages / name).write_text(lesson, encoding="utf-8")
        settings = root / "mkdocs.yml"
        text = settings.read_text(encoding="utf-8")
        settings.write_text(re.sub(r"^nav:.*\n(?:  - .*\n)+", "", text, flags=re.MULTILINE), encoding="utf-8")
        return build(root) / copies


class _Compressing(http.server.SimpleHTTPRequestHandler):
    """Serves text gzipped, as any real server does."""

    def do_GET(self) -> None:
        """Answer with the file, gzipped where that pays."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            return self.send_error(404)
        body = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if path.suffix not in (".woff2", ".png"):
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def first_view(site: Path, path: str) -> tuple[int, int, int]:
    """Bytes over the wire, requests, and requests to other hosts, when a page is first opened."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Compressing, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{server.server_port}/"
    asked: list[str] = []
    weighed: list[int] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("requestfinished", lambda request: weighed.append(request.sizes()["responseBodySize"]))
        with page.expect_response("**/search_index.json"):  # every page loads it, some time after the rest
            page.goto(here + path)
        page.wait_for_load_state("networkidle")
        browser.close()
    server.shutdown()
    server.server_close()
    return sum(weighed), len(asked), sum(not url.startswith((here, "data:")) for url in asked)


def show(what: str, value: str) -> None:
    """One measurement."""
    print(f"{what:60} {value}", flush=True)


def main() -> None:
    """Print what was measured."""
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        mine, plain = copy_into(Path(ours)), copy_into(Path(theirs))
        without_hooks(plain)
        first = build(mine)
        built, bare = medians(partial(build, mine), partial(stock, plain))
        show("clean build of both languages", f"{built:.1f} s")
        show("  the first one in a clone, nothing computed yet", f"{first:.1f} s, {first / built:.2f} of that")
        show("  ratio to the same pages, stock theme, no hooks", f"{built / bare:.2f}")
        show("  of which importing mkdocs-jupyter", f"{importing('mkdocs_jupyter.plugin'):.2f} s")
        pages = len(list((mine / "site").rglob("index.html")))
        show(f"  for each of {pages} pages", f"{built / pages * 1e3:.0f} ms")
        for language, folder in zip(LANGUAGES, ("", "en/"), strict=True):
            weight, requests, foreign = first_view(mine / "site", f"{folder}lesson/")
            show(f"the lesson's first view ({language}), gzipped", f"{weight / 1e3:.0f} KB in {requests} requests, "
                 f"{foreign} of them to third parties")
        drop_questions(mine)
        for what, seconds in rebuilds(mine).items():
            show(f"a server's rebuild, {what} edited", f"{seconds:.2f} s, {seconds / built:.2f} of a clean one")
    each = [grown(copies) for copies in COPIES]
    for copies, seconds in zip(COPIES, each, strict=True):
        show(f"build time for each lesson, {copies} of them", f"{seconds:.2f} s, {seconds / each[1]:.2f} of that at 4")


if __name__ == "__main__":
    main()
