"""A command's answer, and the forms in which it is shown: text for people, JSON or CSV for programs."""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from .setting import RefusedError
from .tables import Column, csv_table, text_table

PAINT = {"memory-bound": "34", "compute-bound": "33"}  # blue and yellow; the words say the same


class Answer:
    """A command's answer: data and rows for programs; for people, a total and lines around the table as well.

    ``text``, if there is any, is shown to people in the table's place.
    """

    def __init__(self, data: Any, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]],
                 above: Sequence[str] = (), below: Sequence[str] = (),
                 total: Sequence[Mapping[str, Any]] = (), text: str = "") -> None:
        self.data, self.columns, self.rows, self.text = data, columns, rows, text
        self.above, self.below, self.total = above, below, total

    def show(self, options: argparse.Namespace) -> str:
        """The answer in the form the options ask for."""
        if options.json:
            return json.dumps(self.data, indent=2, ensure_ascii=False)
        if options.csv:
            return csv_table(self.columns, self.rows)
        paint = PAINT if _colourful() else {}
        table = self.text or text_table(self.columns, [*self.rows, *self.total], paint)
        blocks = ["\n".join(self.above), table, "\n".join(self.below)]
        return "\n\n".join(block for block in blocks if block)


def _colourful() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def figure_module(option: str, output: str, kinds: tuple[str, ...] = (".svg",)) -> Any:
    """The module that draws, an optional extra: it needs matplotlib."""
    try:
        figure = import_module(".figure", __package__)
    except ImportError as error:
        raise RefusedError(f"plot needs matplotlib: pip install 'roofline-calc[figure]' ({error})") from None
    if Path(output).suffix not in kinds:
        raise RefusedError(f"{option} {output}: must end in {' or '.join(kinds)}")
    return figure
