"""Where lines break, what stays whole and what fits: on phones above all, and in a wide window."""

import json
import re
from pathlib import Path

import pytest
from lines import BREAKS, BROKEN_WORDS, LAID_OUT, wrong
from support import LANGUAGES, NOTEBOOKS, PAGES

PATHS = [Path(name).stem.removesuffix("index") for name in PAGES + NOTEBOOKS]
WIDTHS = (320, 390, 430)
WIDE_FORMULAS = """
() => [...document.querySelectorAll("article .formula")]
  .filter((formula) => formula.scrollWidth > formula.clientWidth).map((formula) => formula.textContent)
"""

# What scrolls sideways without a shadow at its edge, or cannot be scrolled with the keyboard.
UNSEEN = """
() => [...document.querySelectorAll("article *")].filter((box) => {
  const style = getComputedStyle(box);
  if (box.scrollWidth <= box.clientWidth + 1 || style.overflowX !== "auto" || box.closest(".explorer")) return false;
  box.focus({ preventScroll: true });
  return !/local.*scroll/.test(style.backgroundAttachment) || document.activeElement !== box;
}).map((box) => box.outerHTML.slice(0, 80))
"""
OVERPRINTED = """
() => [...document.querySelectorAll("article :is(td, th) math")].filter((formula) =>
  formula.getBoundingClientRect().right > formula.closest("td, th").getBoundingClientRect().right + 1
).map((formula) => formula.textContent)
"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PATHS)
def test_lines_break_where_they_may_and_nothing_is_lost_at_the_edge(watch, language, path):
    page, found = watch.open(language, path), {}
    page.add_style_tag(content=LAID_OUT)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        breaks = json.loads(page.evaluate(BREAKS, "article"))
        assert len(breaks) > 5
        beyond = page.evaluate("document.body.scrollWidth") - width
        others = [page.evaluate(script) for script in (BROKEN_WORDS, WIDE_FORMULAS, UNSEEN, OVERPRINTED)]
        found[width] = wrong(breaks), *others, beyond
    assert found == dict.fromkeys(WIDTHS, ([], [], [], [], [], 0))


@pytest.mark.parametrize("language", LANGUAGES)
def test_titles_in_the_table_of_contents_break_where_they_may(watch, language):
    breaks = json.loads(watch.open(language, "lesson").evaluate(BREAKS, ".md-sidebar--secondary"))
    assert len(breaks) > 3
    assert wrong(breaks) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_time_and_regime_of_every_operator_are_in_sight(watch, language):
    """Of the command line's widest table, on the narrowest phone, without scrolling it."""
    page = watch.open(language, "command-line")
    page.add_style_tag(content=LAID_OUT)
    page.set_viewport_size({"width": 320, "height": 640})
    table = page.locator("table", has=page.get_by_role("rowheader", name="gate_up_proj")).first
    for title in ("time", "regime"):
        head = table.get_by_role("columnheader", name=re.compile(rf"^{title}\b")).bounding_box()
        assert head["x"] + head["width"] <= 320
    table.evaluate("table => table.closest('.scroll').scrollTo(1000, 0)")
    assert table.get_by_role("rowheader", name="gate_up_proj").bounding_box()["x"] >= 0  # the name stays


LAST_OF_REGIMES = """
(code) => {
  const text = document.createTreeWalker(code, NodeFilter.SHOW_TEXT), rights = [];
  for (let node; (node = text.nextNode()); )
    for (const { index, 0: word } of node.data.matchAll(/(memory|compute)-bound/g)) {
      const range = new Range();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      rights.push(range.getBoundingClientRect().right);
    }
  return Math.max(...rights);
}
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_calculator_prints_regimes_where_a_phone_shows_them(watch, language):
    page = watch.open(language, "lesson")
    page.add_style_tag(content=LAID_OUT)
    page.set_viewport_size({"width": 320, "height": 640})
    output = page.locator(".highlight", has_text="$ python snippets/calculator.py").locator("pre > code")
    assert 100 < output.evaluate(LAST_OF_REGIMES) <= 320


EDGES = """
() => {
  const right = (selector) =>
    Math.max(...[...document.querySelectorAll(selector)].map((box) => box.getBoundingClientRect().right));
  const contents = document.querySelector(".md-sidebar--secondary").getBoundingClientRect().left;
  const blocks = right("article > :is(.printed, .highlight, .scroll)");
  return { text: right("article > :is(p, ul)"), blocks, contents };
}
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_wide_outputs_take_the_room_that_a_wide_window_has(watch, language):
    """And nothing else does; no output reaches the table of contents."""
    page = watch.open(language, "command-line")
    page.add_style_tag(content=LAID_OUT)
    edges = {}
    for width in (1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        edges[width] = page.evaluate(EDGES)
        assert edges[width]["blocks"] <= edges[width]["contents"]
        assert page.evaluate("document.body.scrollWidth") == width
    assert edges[1280]["blocks"] == pytest.approx(edges[1280]["text"], abs=1)
    assert edges[1440]["blocks"] > edges[1440]["text"] + 100
