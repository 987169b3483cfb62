"""The project's code, asked by the build: numbers, outputs, charts and the explorer's JavaScript.

The code runs in processes of its own (programs/answer.py) that stay for the next build, and read the sources again when
they have changed; imported here it would go stale under ``mkdocs serve``. An answer is kept in ``.cache/`` for the next
build, under a digest of what it depends on.
"""

import ast
import contextlib
import functools
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout
from project import ROOT, PageError, write

LIMIT = 60  # seconds for one answer: the slowest takes a few on a busy machine
PROGRAM = "docs/hooks/programs/answer.py"
CHARTS, EXPLORER = "python snippets/figures.py", "python docs/hooks/programs/explorer_js.py"

# What an answer depends on: of some Python sources the code alone, so that a comment changes nothing.
ALWAYS = ("docs/hooks/programs/*.py", "requirements/*.txt")
CATALOGUE = "roofline_calc/*.toml"
FORMULAS = ("roofline_calc/**/*.py",)


class Sources(NamedTuple):
    """Patterns of the files that an answer depends on: of some the code, of others the whole text."""

    code: tuple[str, ...]
    text: tuple[str, ...]


SLOW = {  # each in a process of its own, so that nothing waits behind it
    CHARTS: Sources(FORMULAS, (CATALOGUE, "snippets/figures.py", "snippets/results/*.json", "docs/*/*.ipynb")),
    EXPLORER: Sources(FORMULAS, (CATALOGUE, "snippets/explorer.py")),
}
ALL = Sources((), ("roofline_calc/**/*.py", CATALOGUE, "snippets/**/*"))
SOURCES = {
    "number": Sources((*FORMULAS, "snippets/published/*.py"), (
        CATALOGUE, "snippets/explorer.py",  # which tells where the explorer's knobs begin
        "snippets/results/*.json", "snippets/published/*.csv",
    )),
    "printed": ALL,  # --help shows docstrings
}


class ComputationError(PageError):
    """The project's code could not be run, or failed; the message is for the author of the page."""


class Process:
    """One Python process with the project's code in it, started when it is first asked."""

    def __init__(self) -> None:
        self._running: subprocess.Popen[str] | None = None
        self._about = ""

    def send(self, question: dict[str, str]) -> None:
        """Put a question; `receive` gives its answer."""
        if self._running is None:
            # Bytecode written into the watched folders would make the server rebuild once more.
            environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
            self._running = subprocess.Popen(
                [sys.executable, str(ROOT / PROGRAM)], cwd=ROOT, env=environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
            )
        self._about = question["about"]
        assert self._running.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # `receive` finds that there is no answer
            print(json.dumps(question), file=self._running.stdin, flush=True)

    def receive(self) -> Any:
        """The answer to the question put last.

        Raises:
            ComputationError: it cannot be answered, or the process ended over it.
        """
        assert self._running is not None
        assert self._running.stdout is not None
        patience = threading.Timer(LIMIT, self._running.kill)
        patience.start()
        line = self._running.stdout.readline()
        patience.cancel()
        if not line:
            self.close()
            ended = f"`{self._about}` ended the calculator's process, or took over {LIMIT} seconds"
            raise ComputationError(f"{ended} and was stopped")
        said = json.loads(line)
        if "error" in said:
            raise ComputationError(said["error"])
        return said["answer"]

    def close(self) -> None:
        """End the process."""
        if self._running is not None:
            with self._running as running:
                running.kill()
            self._running = None


class Calculator:
    """Answers about the sources as they were when `look` was last called; each question is put once for them."""

    def __init__(self) -> None:
        self._processes: dict[str, Process] = {}
        self._pending: dict[str, Pending] = {}
        self._answers: dict[Path, Any] = {}
        self._asked: list[tuple[str, str, Any]] | None = None
        self.look()

    def look(self) -> None:
        """Take the sources as they are now."""
        self._digests = {ask: digest_of(sources) for ask, sources in (SOURCES | SLOW).items()}
        self._sources = digest_of(ALL)

    def digest(self) -> str:
        """Changes when anything does that an answer may depend on."""
        return self._sources

    def number(self, field: str) -> dict[str, str]:
        """What a replacement field is; see programs/evaluate.py."""
        found: dict[str, str] = self.ask("number", field)
        return found

    def printed(self, command: str) -> str:
        """What a ``python …`` command prints.

        Raises:
            ComputationError: it is no such command, or it failed.
        """
        return str(self.ask("printed", command))

    def ask(self, ask: str, about: str) -> Any:
        """One question's answer: remembered, kept by an earlier build, or worked out now.

        Raises:
            ComputationError: there is none.
        """
        path = self._path(ask, about)
        if path not in self._answers:
            question = {"ask": ask, "about": about, "sources": self._sources}
            self._answers[path] = Pending(path, question, self._process("")).result()
        if self._asked is not None:
            self._asked.append((ask, about, self._answers[path]))
        return self._answers[path]

    def begin(self, command: str) -> "Pending":
        """One of the `SLOW` commands, whose output can wait: `Pending.result` gives it."""
        path = self._path("printed", command)
        before = self._pending.get(command)
        if before is not None and before.path == path:
            return before  # asked for by a build that failed, or known
        if before is not None:
            before.drop()
        question = {"ask": "printed", "about": command, "sources": self._sources}
        self._pending[command] = Pending(path, question, self._process(command))
        return self._pending[command]

    def _path(self, ask: str, about: str) -> Path:
        """Where an answer is kept."""
        digest = self._digests[about if about in SLOW else ask]
        return ROOT / ".cache" / "computed" / hashlib.sha256(f"{digest} {ask} {about}".encode()).hexdigest()

    def _process(self, name: str) -> Process:
        return self._processes.setdefault(name, Process())

    @contextmanager
    def noting(self) -> Iterator[list[tuple[str, str, Any]]]:
        """Note what is asked and answered meanwhile."""
        self._asked = []
        try:
            yield self._asked
        finally:
            self._asked = None

    def close(self) -> None:
        """End the processes."""
        for pending in self._pending.values():
            pending.drop()
        for process in self._processes.values():
            process.close()
        self._pending.clear()


class Pending:
    """An answer that may still be in the making: here, or in the build of the other language.

    Whoever holds the lock has put the question to its process, and takes the answer from it.
    """

    def __init__(self, path: Path, question: dict[str, str], process: Process) -> None:
        self.path, self._question, self._process = path, question, process
        self._lock = FileLock(f"{path}.lock")
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(Timeout):  # then the other language's build is at it
                self._put(wait=0)

    def result(self) -> Any:
        """The answer.

        Raises:
            ComputationError: there is none.
        """
        if not self._lock.is_locked and not self.path.is_file():
            self._put(wait=-1)
        if self._lock.is_locked:
            try:
                write(self.path, json.dumps(self._process.receive()).encode())
            finally:
                self._lock.release()
        return json.loads(self.path.read_bytes())

    def _put(self, wait: float) -> None:
        """Put the question, unless it has been answered by the time that the lock is ours."""
        self._lock.acquire(timeout=wait)
        if self.path.is_file():
            self._lock.release()
        else:
            self._process.send(self._question)

    def drop(self) -> None:
        """Do without the answer."""
        if self._lock.is_locked:
            self._process.close()
            self._lock.release()


def digest_of(sources: Sources) -> str:
    """Changes when anything does that an answer depends on."""
    digest = hashlib.sha256(sys.version.encode())
    for patterns, content in ((sources.code, code), (sources.text + ALWAYS, Path.read_bytes)):
        for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{path.relative_to(ROOT)}\0".encode() + content(path))
    return digest.hexdigest()


def code(path: Path) -> bytes:
    """A Python source without comments, docstrings and layout."""
    return _code(path.read_bytes())


@functools.lru_cache(maxsize=256)
def _code(source: bytes) -> bytes:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source  # the run will say where
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        match body:
            case [ast.Expr(value=ast.Constant()), *_]:
                del body[0]
    return ast.dump(tree).encode()
