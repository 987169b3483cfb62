"""A fenced block ```` ```output ```` holds a command; the page shows the command and what it prints.

What a program prints as CSV or in aligned columns, ```` ```output-table ```` shows as a table. Of aligned columns those
come first that it names: ```` ```output-table first="regime, time" ````. Beneath CSV comes what follows an empty line.
"""

import csv
import html
import re
from functools import partial
from typing import Any

import printed_tables
from calculator_process import Calculator, ComputationError
from pymdownx.superfences import SuperFencesException

COLUMN, ROW = ' scope="col"', ' scope="row"'


def fences(calculator: Calculator) -> list[dict[str, Any]]:
    """The fenced blocks, as SuperFences wants them named."""
    names = ("output", "output-table")
    return [
        {"name": name, "class": name, "format": partial(output_block, calculator), "validator": known} for name in names
    ]


def known(language: str, inputs: dict[str, str], options: dict[str, Any], attrs: Any, md: Any) -> bool:
    """Take what stands behind the block's name, as SuperFences asks."""
    if wrong := inputs.keys() - ({"first"} if language == "output-table" else set()):
        raise SuperFencesException(f'```{language}: {min(wrong)} is no option; an output-table has first="title, …"')
    options.update(inputs)
    return True


def output_block(
    calculator: Calculator, source: str, language: str, class_name: str, options: Any, md: Any, **kwargs: Any
) -> str:
    """Format one output block, as SuperFences asks."""
    try:
        text = calculator.printed(source.strip())
        if language == "output-table":
            first = [title for title in re.split(r",\s*", options.get("first", "")) if title]
            if printed_tables.are_in(text) or first:
                return printed_tables.shown(text, source.strip(), first)
            return table(text, source.strip())
    except ComputationError as error:  # SuperFences swallows any other exception, and shows the raw fence
        raise SuperFencesException(f"```output: {error}") from error
    fence = md.preprocessors["fenced_code_block"]
    block: str = fence.highlight(src=text, language="text", options={"title": f"$ {source.strip()}"}, md=md, **kwargs)
    return block


def table(printed: str, command: str) -> str:
    """The table of a CSV text whose first line is its head and whose first column names its rows.

    Raises:
        ComputationError: a row has more or fewer fields than the head.
    """
    data, _, beneath = printed.partition("\n\n")
    heads, *rows = ([field.strip() for field in row] for row in csv.reader(data.splitlines()))
    for row in rows:
        if len(row) != len(heads):
            raise ComputationError(f"`{command}` prints no table: {row} has {len(row)} fields, its head {len(heads)}")
    head = "".join(_cell(name, "th", COLUMN) for name in heads)
    body = "".join(
        f"<tr>{_cell(name, 'th', ROW)}{''.join(_cell(_grouped(field), 'td') for field in fields)}</tr>"
        for name, *fields in rows
    )
    others = "".join(_cell(line, "p") for line in beneath.splitlines())
    caption = f"<caption><code>$ {html.escape(command)}</code></caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{others}"


def _grouped(field: str) -> str:
    """A number with its thousands apart; anything else as it is."""
    return re.sub(r"^\d+(?=\.|$)", lambda whole: f"{int(whole[0]):,}", field)


def _cell(text: str, tag: str, attributes: str = "") -> str:
    return f"<{tag}{attributes}>{html.escape(text)}</{tag}>"
