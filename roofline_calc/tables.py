"""Tables: aligned text with scaled units for people; CSV in base units for programs."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}


class Column(NamedTuple):
    """A column: its key in a row, its title, and its unit ("" for words and counts).

    ``prefixed`` units are scaled by powers of a thousand, one for the whole column: True for the one that suits it, or
    a power of ten such as 9. ``missing`` stands for None.
    """

    key: str
    title: str
    unit: str = ""
    prefixed: bool | int = False
    missing: str = "-"


def significant(value: float, digits: int = 4) -> str:
    """A number with so many significant digits, thousands apart; whole numbers in full.

    >>> significant(162.909), significant(0.05), significant(15231233024)
    ('162.9', '0.05000', '15,231,233,024')
    """
    if value == 0 or float(value).is_integer():
        return f"{value:,.0f}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def _exponent(values: Sequence[float]) -> int:
    """The power of a thousand that brings the middle one of some values between 1 and 1000."""
    sizes = sorted(abs(value) for value in values if 0 < abs(value) < math.inf)
    if not sizes:
        return 0
    typical = sizes[(len(sizes) - 1) // 2]
    return min(max(3 * math.floor(math.log10(typical) / 3), min(_PREFIXES)), max(_PREFIXES))


def scaled(value: float, unit: str) -> str:
    """A quantity with the prefix that suits it.

    >>> scaled(15231233024, "byte")
    '15.23 Gbyte'
    """
    exponent = _exponent([value])
    return f"{value / 10**exponent:.4g} {_PREFIXES[exponent]}{unit}"


def _cell(value: Any, exponent: int | None, missing: str) -> str:
    if value is None:
        return missing
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    return significant(value) if exponent is None else significant(float(f"{value / 10**exponent:.4g}"))


def text_table(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], paint: Mapping[str, str]) -> str:
    """Aligned text: titles, units, rows. Words that ``paint`` names are set in its terminal colour."""
    lines: list[list[str]] = [[column.title for column in columns], [], *([] for _ in rows)]
    numeric = []
    for column in columns:
        values = [row[column.key] for row in rows]
        numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
        exponent = _exponent(numbers) if column.prefixed is True else column.prefixed or None
        lines[1].append(_PREFIXES[exponent or 0] + column.unit)
        numeric.append(bool(numbers))
        for line, value in zip(lines[2:], values, strict=True):
            line.append(_cell(value, exponent, column.missing))
    if not any(lines[1]):
        del lines[1]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    out = []
    for line in lines:
        cells = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, numeric, strict=True)
        ]
        painted = [
            f"\x1b[{paint[plain]}m{cell}\x1b[0m" if plain in paint else cell
            for cell, plain in zip(cells, line, strict=True)
        ]
        out.append("  ".join(painted).rstrip())
    return "\n".join(out)


def csv_table(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> str:
    """CSV with a header that names the units; quantities in base units, None left empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([f"{column.key} [{column.unit}]" if column.unit else column.key for column in columns])
    writer.writerows([["" if row[c.key] is None else row[c.key] for c in columns] for row in rows])
    return out.getvalue().rstrip("\n")
