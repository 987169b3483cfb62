"""Where the project lies, how a step says what is wrong with a page, and how it keeps a file that is costly to make."""

from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]


class PageError(Exception):
    """A page holds a mistake; the message says which, why, and what to do. `site` adds the page's name."""


def kept(path: Path, make: Callable[[], bytes]) -> Path:
    """A file, made when it is first asked for: by one of the builds that ask at once, as both languages' do."""
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            if not path.is_file():
                write(path, make())
    return path


def write(path: Path, content: bytes) -> None:
    """Write a file that is there in full or not at all."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(content)
    unfinished.replace(path)
