"""The explorer's generated files: its arithmetic and the catalogue."""

import json
from pathlib import Path

from calculator_process import EXPLORER, Calculator, ComputationError, Pending

NAMES = ("calc.js", "presets.json")


def begin(calculator: Calculator) -> Pending:
    """Start tracing, which takes a while."""
    return calculator.begin(EXPLORER)


def put(traced: Pending, assets: Path) -> None:
    """Put the files where their empty ones stand.

    Raises:
        ComputationError: a function cannot be traced; says which.
    """
    try:
        contents = json.loads(traced.result())
    except ComputationError as error:
        raise ComputationError(f"the explorer's JavaScript cannot be generated: {error}") from error
    for name in NAMES:
        (assets / name).write_text(contents[name], encoding="utf-8")
