"""A fenced block ```` ```output ```` holds a command; the page shows the command and what it prints.

What a program prints in columns, ```` ```output-table ```` shows as a table, which a screen reader can read as one.
"""

import html
import re
from functools import partial
from typing import Any

from calculator_process import Calculator, ComputationError
from pymdownx.superfences import SuperFencesException

COLUMN, ROW = ' scope="col"', ' scope="row"'


def fences(calculator: Calculator) -> list[dict[str, Any]]:
    """The fenced blocks, as SuperFences wants them named."""
    names = ("output", "output-table")
    return [{"name": name, "class": name, "format": partial(output_block, calculator)} for name in names]


def output_block(
    calculator: Calculator, source: str, language: str, class_name: str, options: Any, md: Any, **kwargs: Any
) -> str:
    """Format one output block, as SuperFences asks."""
    try:
        text = calculator.printed(source.strip())
    except ComputationError as error:  # SuperFences swallows any other exception, and shows the raw fence
        raise SuperFencesException(f"```output: {error}") from error
    if language == "output-table":
        return table(text, source.strip())
    fence = md.preprocessors["fenced_code_block"]
    block: str = fence.highlight(src=text, language="text", options={"title": f"$ {source.strip()}"}, md=md, **kwargs)
    return block


def table(printed: str, command: str) -> str:
    """Columns, two spaces or more apart, as a table; lines that have no such columns stand beneath it."""
    heads, *lines = (re.split(r" {2,}", line.rstrip()) for line in printed.splitlines())
    rows = [line for line in lines if len(line) == len(heads)]
    head = "".join(_cell(cell, "th", COLUMN) if cell else "<td></td>" for cell in heads)
    body = "".join(
        f"<tr>{_cell(first, 'th', ROW)}{''.join(_cell(cell, 'td') for cell in cells)}</tr>" for first, *cells in rows
    )
    others = "".join(_cell("  ".join(line), "p") for line in lines if line not in rows)
    caption = f"<caption><code>$ {html.escape(command)}</code></caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{others}"


def _cell(text: str, tag: str, attributes: str = "") -> str:
    return f"<{tag}{attributes}>{html.escape(text)}</{tag}>"
