"""What a program prints in aligned columns, as a page shows it: its tables as tables, their verdict first.

A terminal is as wide as its table; a phone shows the first columns of it. A page may name those that shall come there.
"""

import html
import re
from dataclasses import dataclass

from calculator_process import ComputationError

REGIMES = {"memory-bound": ' class="memory"', "compute-bound": ' class="compute"'}
RIGHT = ' style="text-align: right"'  # as Markdown writes it
NUMBER = re.compile(r"[\d.,]+|-|")


@dataclass(frozen=True)
class Column:
    """A title, a unit or none, and what stands beneath; numbers stand to the right."""

    title: str
    unit: str
    cells: list[str]

    @property
    def aligned(self) -> str:
        return RIGHT if all(NUMBER.fullmatch(cell) for cell in self.cells) else ""

    @property
    def head(self) -> str:
        unit = f" <small>{html.escape(self.unit)}</small>" if self.unit else ""
        return f'<th scope="col"{self.aligned}>{html.escape(self.title)}{unit}</th>'


def are_in(text: str) -> bool:
    """Whether any of it is a table in aligned columns. CSV may be aligned too: each line has as many commas."""
    data = text.partition("\n\n")[0].splitlines()
    commas = {line.count(",") for line in data}
    csv = len(data) > 2 and len(commas) == 1 and commas != {0}
    return not csv and any(len(_fields(block)) > 2 for block in _blocks(text))


def shown(text: str, command: str, first: list[str]) -> str:
    """An output as HTML: tables, terms with what is said of each, and other lines as they are.

    Args:
        first: titles of columns that stand right after the rows' names.

    Raises:
        ComputationError: no table has such a column.
    """
    parts, missing = [], set(first)
    for block in _blocks(text):
        fields = _fields(block)
        if len(fields) > 2:
            names, *columns = _columns(fields)
            missing -= {column.title for column in columns}
            columns.sort(key=lambda column: first.index(column.title) if column.title in first else len(first))
            parts.append(_table(names, columns))
        elif len(fields) == 2 and not any(line.startswith(" ") for line in block):
            said = (f"<dt>{_text(term)}</dt><dd>{_text(about)}</dd>" for term, about in zip(*fields, strict=True))
            parts.append(f"<dl>{''.join(said)}</dl>")
        else:
            parts.append(f"<pre>{_text(chr(10).join(block))}</pre>")
    if missing:
        raise ComputationError(f"`{command}` prints no table with a column {min(missing)!r}")
    title = f"<p><code>$ {_text(command)}</code></p>"
    return f'<div class="printed" data-search-exclude>{title}{"".join(parts)}</div>'


def _blocks(text: str) -> list[list[str]]:
    return [block.split("\n") for block in re.split(r"\n{2,}", text.strip("\n"))]


def _fields(block: list[str]) -> list[list[str]]:
    """The columns, from top to bottom: two blanks or more stand between them in every line."""
    width = max(map(len, block))
    padded = [line.ljust(width) for line in block]
    taken = "".join("x" if any(line[i] != " " for line in padded) else " " for i in range(width))
    spans = [found.span() for found in re.finditer(r"x+(?: x+)*", taken)]
    return [[line[start:end].strip() for line in padded] for start, end in spans] if len(block) > 1 else []


def _columns(fields: list[list[str]]) -> list[Column]:
    """Where the rows' names have a gap beneath their title, the others have their units."""
    if fields[0][1]:
        return [Column(title, "", cells) for title, *cells in fields]
    return [Column(title, unit, cells) for title, unit, *cells in fields]


def _table(names: Column, columns: list[Column]) -> str:
    head = "".join(column.head for column in (names, *columns))
    rows = (
        f'<tr>{_name(name)}{"".join(map(_cell, columns, cells))}</tr>'
        for name, *cells in zip(names.cells, *(column.cells for column in columns), strict=True)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _name(text: str) -> str:
    """Hyphens are no place to break a name, as long as a phone has room beside it."""
    tied = ' class="tied"' if "-" in text and len(text) <= 20 else ""
    return f'<th scope="row"{tied}>{_text(text)}</th>'


def _cell(column: Column, text: str) -> str:
    return f"<td{REGIMES.get(text, column.aligned)}>{_text(text)}</td>"


def _text(text: str) -> str:
    return html.escape(text, quote=False)
