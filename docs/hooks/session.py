"""What outlives a build, as long as the process lives, and what belongs to the build of one site."""

import tempfile
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from calculator_process import Calculator, Pending
from reference import Entry


@dataclass
class Build:
    """The building of one language's site, from its configuration to its last file."""

    language: str
    charts: dict[str, str] = field(default_factory=dict)  # each that the pages show, and a page that shows it
    drawn: Pending | None = None
    traced: Pending | None = None
    letters: set[str] = field(default_factory=set)  # that the formulas show
    aside: BaseProcess | None = None  # builds the English site meanwhile


@dataclass
class Session:
    """All that the hooks remember. ``mkdocs build`` needs it for one build, ``mkdocs serve`` for every rebuild."""

    serving: bool = False
    calculator: Calculator = field(default_factory=Calculator)
    builds: dict[str, Build] = field(default_factory=dict)  # the one under way, by language
    dictionary: Path | None = None  # that jieba has loaded
    entries: dict[str, Entry] = field(default_factory=dict)  # of the reference
    entries_digest: str = ""  # of the sources that they were read from
    templates: dict[str, bytes] = field(default_factory=dict)  # compiled
    folders: dict[str, list[str]] = field(default_factory=dict)  # of installed themes, with their templates
    rendered: dict[tuple[str, str], Any] = field(default_factory=dict)  # pages, by language and file
    indexed: dict[tuple[str, str], Any] = field(default_factory=dict)  # pages' search entries, by language and address
    english: Any = field(default_factory=lambda: tempfile.TemporaryDirectory(prefix="english-"))  # the last such site
    english_digest: str = ""  # of all that it was built from
