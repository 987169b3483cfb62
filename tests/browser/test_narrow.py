"""What a reader with a phone sees: lines that break where they may, words that stay whole, nothing beyond the edge."""

import json
from pathlib import Path

import pytest
from lines import BREAKS, BROKEN_WORDS, wrong
from support import LANGUAGES, NOTEBOOKS, PAGES

PATHS = [Path(name).stem.removesuffix("index") for name in PAGES + NOTEBOOKS]
WIDTHS = (320, 390, 430)
WIDE_FORMULAS = """
() => [...document.querySelectorAll("article .formula")].filter((formula) => formula.scrollWidth > formula.clientWidth)
  .map((formula) => formula.textContent)
"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PATHS)
def test_lines_break_where_they_may_and_formulas_fit(watch, language, path):
    page, found = watch.open(language, path), {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        breaks = json.loads(page.evaluate(BREAKS, "article"))
        assert len(breaks) > 5
        beyond = page.evaluate("document.body.scrollWidth") - width
        found[width] = wrong(breaks), page.evaluate(BROKEN_WORDS), page.evaluate(WIDE_FORMULAS), beyond
    assert found == dict.fromkeys(WIDTHS, ([], [], [], 0))


@pytest.mark.parametrize("language", LANGUAGES)
def test_titles_in_the_table_of_contents_break_where_they_may(watch, language):
    breaks = json.loads(watch.open(language, "lesson").evaluate(BREAKS, ".md-sidebar--secondary"))
    assert len(breaks) > 3
    assert wrong(breaks) == []
