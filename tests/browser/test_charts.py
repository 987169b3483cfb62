"""Every chart of every page, on phones and beside text, measured in Chromium: no label lies on anything."""

import itertools
import math
import re
from pathlib import Path
from typing import Any

import pytest
from support import LANGUAGES, ROOT, ROOTS

from roofline_calc.figure import PALETTE, in_dark

MEASURE = (ROOT / "tests" / "helpers" / "charts.js").read_text(encoding="utf-8")
GRID = "rgb({}, {}, {})".format(*(int(PALETTE["grid"][0][at : at + 2], 16) for at in (1, 3, 5)))
WIDTHS = (320, 390, 430, 577, 1024, 1440)  # phones, and where wide charts are smallest and largest
SHOWN = """() => [...document.querySelectorAll("figure img")]
  .filter((image) => image.closest(".on-light"))
  .map((image) => {
    const source = image.parentElement.querySelector("source");  // the image itself is loaded when it comes near
    const address = source && matchMedia(source.media).matches ? source.srcset : image.getAttribute("src");
    const { width, height, right } = image.getBoundingClientRect();
    return [address, width, height, right];
  })"""
OPERATORS = ("q_proj, M = 1", "decode attention", "k_proj, M = 256", "q_proj, M = 256", "prefill attention")


def pages(site: Path, language: str) -> list[str]:
    """The pages that show a chart."""
    folder = site / ROOTS[language]
    found = [page.parent.relative_to(folder) for page in folder.rglob("index.html")
             if '<figure' in (text := page.read_text(encoding="utf-8")) and ".svg" in text]
    return sorted(path.as_posix().removeprefix(".") for path in found if language == "en" or path.parts[:1] != ("en",))


@pytest.fixture(scope="module", params=LANGUAGES)
def charts(request, browser, site, served) -> dict[str, dict[str, Any]]:
    """What was measured of each chart at each width at which one of the pages shows it."""
    context = browser.new_context()
    context.route(re.compile(r"\.js$"), lambda route: route.abort())
    page, blank = context.new_page(), context.new_page()
    measured = {}
    for path in pages(site, request.param):
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(f"{served}{ROOTS[request.param]}{path}{'/' if path else ''}", wait_until="domcontentloaded")
            for address, shown, high, right in page.evaluate(SHOWN):
                source = (site / ROOTS[request.param] / path / address).read_text(encoding="utf-8")
                found = blank.evaluate(MEASURE, [source, shown, GRID])
                about = {"beyond": right - width, "high": high}
                measured[f"{path} {Path(address).name} at {width}"] = found | about
    context.close()
    assert len(measured) >= 4 * len(WIDTHS)
    return measured


def apart(one: list[list[float]], other: list[list[float]]) -> bool:
    """Whether a line separates two convex shapes, given by their corners."""
    for shape in (one, other):
        for (x, y), (further, higher) in itertools.pairwise([*shape, shape[0]]):
            across, up = y - higher, further - x
            here, there = ([across * a + up * b for a, b in corners] for corners in (one, other))
            if max(here) <= min(there) + 1e-6 or max(there) <= min(here) + 1e-6:
                return True
    return False


def distance(point: list[float], shape: list[list[float]]) -> float:
    """From a point to a rectangle with these corners, turned or not; negative within."""
    (x, y), (right, higher), _, (left, lower) = shape
    found = []
    for a, b in ((right - x, higher - y), (left - x, lower - y)):
        length = math.hypot(a, b)
        along = ((point[0] - x) * a + (point[1] - y) * b) / length
        found.append(max(-along, along - length))
    return max(found) if max(found) < 0 else math.hypot(*(max(part, 0) for part in found))


def test_no_label_lies_on_another_or_on_anything_that_is_drawn(charts):
    for name, chart in charts.items():
        texts = chart["texts"]
        for one, other in itertools.combinations(texts, 2):
            assert apart(one["corners"], other["corners"]), (name, one["words"], other["words"])
        for text in texts:
            for mark in chart["marks"]:
                assert apart(text["corners"], mark["corners"]), (name, text["words"], "on a mark or tick")
            for line in chart["lines"]:
                nearest = min(distance(point, text["corners"]) for point in line["points"])
                assert nearest >= line["thickness"] / 2 - 0.1, (name, text["words"], "on a line")


def test_no_label_leaves_the_picture_or_is_small(charts):
    for name, chart in charts.items():
        (left, top), _, (right, bottom), _ = chart["picture"]
        for text in chart["texts"]:
            for x, y in text["corners"]:
                assert left <= x <= right, (name, text["words"])
                assert top <= y <= bottom, (name, text["words"])
            assert text["size"] >= 11, (name, text["words"])


def test_a_chart_is_as_high_as_the_page_says_before_it_is_there(charts):
    for name, chart in charts.items():
        (_, top), _, (_, bottom), _ = chart["picture"]
        assert bottom - top == pytest.approx(chart["high"], abs=1), name


def test_no_chart_scrolls(charts):
    assert [name for name, chart in charts.items() if chart["beyond"] > 0] == []


def test_no_computed_mark_lies_on_another(charts):
    """Measured ones may: two measurements can come out alike."""
    for name, chart in charts.items():
        if "lab" not in name:
            marks = [mark["corners"] for mark in chart["marks"] if not mark["tick"]]
            assert marks, name
            assert all(apart(one, other) for one, other in itertools.combinations(marks, 2)), name


def lines_of(texts: list[dict[str, Any]], label: str) -> list[list[list[float]]]:
    """The corners of a label's lines: one, or two that follow each other."""
    for count in (1, 2):
        for lines in zip(*(texts[start:] for start in range(count)), strict=False):
            if " ".join(line["words"] for line in lines) == label:
                return [line["corners"] for line in lines]
    raise AssertionError(label)


def test_a_label_is_next_to_its_own_mark_or_a_line_leads_there(charts):
    operators = {name: chart for name, chart in charts.items() if " roofline." in name}
    assert operators
    for name, chart in operators.items():
        marks = sorted(mark["corners"] for mark in chart["marks"] if not mark["tick"])
        centres = [[(low + high) / 2 for low, high in zip(mark[0], mark[2], strict=True)] for mark in marks]
        for own, operator in zip(centres, OPERATORS, strict=True):
            lines = lines_of(chart["texts"], operator)
            near, *others = sorted(centres, key=lambda centre: gap(centre, lines))
            led = any(math.dist(own, line["points"][0]) < 8 and gap(line["points"][-1], lines) < 4
                      for line in chart["lines"])
            assert led or (near == own and gap(others[0], lines) > 1.3 * gap(own, lines)), (name, operator)


def gap(point: list[float], lines: list[list[list[float]]]) -> float:
    return min(distance(point, line) for line in lines)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_dark_charts_are_the_light_ones_in_other_colours(site, language):
    light = [chart for chart in (site / ROOTS[language] / "figures").glob("*.svg") if ".dark" not in chart.name]
    assert light
    for chart in light:
        dark = chart.with_suffix(".dark.svg").read_text(encoding="utf-8")
        assert dark == in_dark(chart.read_text(encoding="utf-8"))
