"""Charts drawn by the calculator, served as virtual files; each follows the palette and the width of the page.

A page names a chart once, as an ordinary image: ``![what it shows](figures/roofline.svg)``. The drawing takes a
while, so it goes on while the pages are rendered.
"""

import json
import re
from pathlib import Path

from calculator_process import CHARTS, Calculator, ComputationError, Pending
from project import PageError

REFERENCE = re.compile(r"\(figures/(?P<name>[\w-]+)\.svg\)")
IMAGE = re.compile(r'<img alt="(?P<alt>[^"]*)" src="(?P<src>[^"]*figures/[\w-]+)\.svg"\s*/?>')
VARIANTS = ("", ".dark", ".narrow", ".narrow.dark")
PHONE = "(max-width: 36em)"


def begin(calculator: Calculator) -> Pending:
    """Start drawing every chart of both languages."""
    return calculator.begin(CHARTS)


def named_in(markdown: str) -> set[str]:
    """The charts that a page shows."""
    return {reference["name"] for reference in REFERENCE.finditer(markdown)}


def files_of(chart: str) -> list[str]:
    """A chart's variants, as the site has them."""
    return [f"figures/{chart}{variant}.svg" for variant in VARIANTS]


def picture(image: re.Match[str]) -> str:
    """The four variants of a chart in place of its image; CSS shows one palette, the browser takes one width."""
    alt, src = image["alt"], image["src"]

    def variant(palette: str, suffix: str) -> str:
        return (
            f'<picture class="on-{palette}">'
            f'<source media="{PHONE}" srcset="{src}.narrow{suffix}.svg" width="390" height="480">'
            f'<img alt="{alt}" src="{src}{suffix}.svg" width="720" height="440" loading="lazy"></picture>'
        )

    return variant("light", "") + variant("dark", ".dark")


def with_pictures(content: str) -> str:
    """A page whose charts follow the palette and the width."""
    return IMAGE.sub(picture, content)


def put(drawn: Pending, wanted: dict[str, str], language: str, site: Path) -> None:
    """Put the charts that the pages show where their empty files stand.

    Raises:
        PageError: there is no such chart, or they cannot be drawn.
    """
    try:
        charts = json.loads(drawn.result())[language]
    except ComputationError as error:
        raise ComputationError(f"the charts cannot be drawn: {error}") from error
    for name, page in wanted.items():
        if name not in charts:
            known = ", ".join(other for other in charts if "." not in other)
            raise PageError(f"{page}: there is no chart {name!r}; snippets/figures.py draws {known}")
        for variant in VARIANTS:
            (site / "figures" / f"{name}{variant}.svg").write_text(charts[name + variant], encoding="utf-8")
