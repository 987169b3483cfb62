"""What a reader with a phone sees: lines that break where they may, words that stay whole, nothing beyond the edge."""

import json
from pathlib import Path

import pytest
from lines import BREAKS, BROKEN_WORDS, wrong
from support import LANGUAGES, NOTEBOOKS, PAGES

PATHS = [Path(name).stem.removesuffix("index") for name in PAGES + NOTEBOOKS]
WIDTHS = (320, 390, 430)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PATHS)
def test_lines_break_where_they_may(watch, language, path):
    page, found = watch.open(language, path), {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        breaks = json.loads(page.evaluate(BREAKS))
        assert len(breaks) > 5
        found[width] = wrong(breaks), page.evaluate(BROKEN_WORDS), page.evaluate("document.body.scrollWidth") - width
    assert found == dict.fromkeys(WIDTHS, ([], [], 0))
