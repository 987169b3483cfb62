"""Run the project's code for the build, in a subprocess that always sees the sources as they are now.

An in-process import would go stale under ``mkdocs serve``; a subprocess memoised on a digest of the sources
is fresh after every edit and costs nothing in between. What it printed is kept in ``.cache/`` for the next build.
"""

import hashlib
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("roofline_calc", "snippets", "docs/hooks", "requirements")


class ComputationError(Exception):
    """The project's code could not be run, or failed; the message is for the author of the page."""


def source_digest() -> str:
    """Changes when, and only when, a file that computed content depends on changes."""
    digest = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".json", ".py", ".toml", ".txt"}:
                digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def kept(path: Path, make: Callable[[], bytes]) -> Path:
    """A file, made when it is first asked for: by one of the builds that ask at once, as both languages' do."""
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            if not path.is_file():
                unfinished = path.with_suffix(".unfinished")
                unfinished.write_bytes(make())
                unfinished.replace(path)
    return path


def python(*arguments: str, stdin: str = "") -> str:
    """What ``python ARGUMENTS`` prints, run at the top of the repository; from any thread, once for all of them."""
    key = source_digest(), arguments, stdin
    with _lock:
        for other in [other for other in _runs if other[0] != key[0]]:
            del _runs[other]  # of sources that have changed since
        mine = key not in _runs
        run = _runs.setdefault(key, Future())
    if mine:
        try:
            run.set_result(_kept(key))
        except BaseException as error:
            run.set_exception(error)
    return run.result()


_lock = threading.Lock()
_runs: dict[tuple[str, tuple[str, ...], str], Future[str]] = {}


def _kept(key: tuple[str, tuple[str, ...], str]) -> str:
    """What an earlier build found for the same sources, or what the run prints now."""
    name = hashlib.sha256(repr((key, sys.version)).encode()).hexdigest()
    return kept(ROOT / ".cache" / "computed" / name, lambda: _python(*key[1:]).encode()).read_text(encoding="utf-8")


def _python(arguments: tuple[str, ...], stdin: str) -> str:
    # Bytecode written into the watched folders would make the server rebuild once more.
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, env=environment, input=stdin, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    if done.returncode:
        raise ComputationError(
            f"`{shlex.join(['python', *arguments])}` ended with status {done.returncode}:\n{done.stderr.strip()}"
        )
    return done.stdout
