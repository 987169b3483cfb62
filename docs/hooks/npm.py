"""What comes from npm (package.json), and the cure where it has not come."""

import json
from pathlib import Path
from typing import Any

from project import ROOT, PageError

MODULES = ROOT / "node_modules"
CURE = (
    "is missing. `make serve` and `make build` install it; so does `npm ci --ignore-scripts`, where there is no npm "
    "after `pip install -r requirements/npm.txt`."
)


def package(name: str, purpose: str) -> dict[str, Any]:
    """What an installed package says of itself.

    Raises:
        PageError: it is not installed.
    """
    path = MODULES / name / "package.json"
    if not path.is_file():
        raise PageError(f"node_modules/{name}, which {purpose}, {CURE}")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def esbuild() -> Path:
    """The bundler, a program by itself for this machine: it needs no Node.

    Raises:
        PageError: it is not installed.
    """
    found = [*MODULES.glob("@esbuild/*/bin/esbuild"), *MODULES.glob("@esbuild/*/esbuild.exe")]
    if not found:
        raise PageError(f"node_modules/@esbuild, which puts the pages' editor together, {CURE}")
    return found[0]
