"""The explorer, the questions and the numbers in Firefox ESR too: by mouse, keyboard and touch, wide and narrow.

What they compute is tested in Chromium and in Python; here, that the same pages work in the other browser.
"""

import json
from collections.abc import Iterator

import pytest
from firefox import Firefox, firefox
from lines import BREAKS, LAID_OUT, wrong
from support import ROOTS

WAYS = [("zh", False, 320, "touch"), ("en", True, 1440, "mouse")]  # language, dark, width, pointer
WORDS = {
    "zh": {"memory": "访存受限", "compute": "算力受限", "unmoved": "M 不改变它的强度", "wrong": "「many」不是数",
           "right": "对。", "slip": "因子 2"},
    "en": {"memory": "memory-bound", "compute": "compute-bound", "unmoved": "M does not change its intensity",
           "wrong": "“many” is not a number", "right": "Right.", "slip": "factor of 2"},
}
ERRORS = "globalThis.complaints = []; addEventListener('error', (event) => complaints.push(event.message)); true"


@pytest.fixture(scope="module", params=WAYS, ids=["zh light 320 touch", "en dark 1440 mouse"])
def way(request: pytest.FixtureRequest) -> Iterator[tuple[Firefox, str, int, str]]:
    language, dark, width, pointer = request.param
    with firefox(dark) as tab:
        yield tab, language, width, pointer


def only(selector: str) -> str:
    return f"document.querySelector({selector!r})"


def text(tab: Firefox, selector: str) -> str:
    return str(tab.evaluate(f"{only(selector)}.textContent"))


def opened(way: tuple[Firefox, str, int, str], served: str, page: str) -> tuple[Firefox, dict[str, str], str]:
    tab, language, width, pointer = way
    tab.open(f"{served}{ROOTS[language]}{page}", width, 800)
    tab.evaluate(ERRORS)
    return tab, WORDS[language], pointer


def sound(tab: Firefox, width: int, part: str) -> None:
    """Nothing was thrown, nothing came from elsewhere, nothing runs out of the window, and axe is content."""
    assert tab.evaluate("complaints.join()") == ""
    loaded = "performance.getEntriesByType('resource').every((entry) => entry.name.startsWith(location.origin))"
    assert tab.evaluate(loaded)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.violations(part) == ""


def test_the_explorer(way, site, served):
    tab, words, pointer = opened(way, served, "explorer/")
    tab.wait(only(".explorer .chart .point"))
    field, detail = only(".explorer input[type=text]"), ".explorer .detail"
    tab.tap(only(".point[data-operator=attention] .hit"), pointer)
    assert words["unmoved"] in text(tab, detail)
    assert tab.evaluate("location.search") == "?operator=attention"

    tab.tap(only(".explorer input[type=range]"), pointer)  # the middle of the batch's slider
    assert 128 < int(tab.evaluate(f"{field}.value")) < 512
    tab.evaluate(f"{only('.explorer input[type=range]')}.focus()")
    tab.press("Home")
    assert tab.evaluate(f"{field}.value") == "1"
    tab.tap(only("tbody tr:nth-child(2) th button"), pointer)
    assert "k_proj" in text(tab, detail)
    assert "0.9978" in text(tab, detail)
    assert words["memory"] in text(tab, detail)
    tab.evaluate(f"{only('tbody th button')}.focus()")
    tab.press("Shift", "Tab")
    tab.press("Shift", "Tab")  # past the table that scrolls, to the last point of the chart
    assert tab.evaluate("document.activeElement.dataset.operator") == "lm_head"

    before = tab.evaluate(f"{only('.explorer .chart')}.outerHTML")
    tab.tap(field, pointer)
    tab.press("Control", "a")
    tab.type("many")
    assert words["wrong"] in text(tab, ".explorer .error:not(:empty)")
    assert tab.evaluate(f"{only('.explorer .chart')}.outerHTML") == before
    tab.press("Control", "a")
    tab.type("256\n")
    assert words["compute"] in text(tab, "tbody tr:first-child")
    tab.evaluate("history.back()")
    tab.wait(f"{field}.value == '1'")
    sound(tab, way[2], ".explorer")


def test_a_question(way, site, served):
    tab, words, pointer = opened(way, served, "lesson/")
    tab.evaluate("localStorage.clear()")
    tab.evaluate(f"{only('#quiz-q-proj-64')}.scrollIntoView()")
    tab.wait(only("#quiz-q-proj-64 form"))
    for answer, said in (("30.9", words["slip"]), ("６１.8 FLOP/byte", words["right"])):
        tab.tap(only("#quiz-q-proj-64 input"), pointer)
        tab.press("Control", "a")
        tab.type(answer)
        tab.tap(only("#quiz-q-proj-64 form button"), pointer)
        tab.wait(f"{only('#quiz-q-proj-64 .feedback')}.textContent.includes({said!r})")
    assert "q-proj-64" in tab.evaluate("localStorage.getItem('operator-roofline-quiz')")
    sound(tab, way[2], "#quiz-q-proj-64")


def test_a_number(way, site, served):
    tab, _, pointer = opened(way, served, "lesson/")
    number = only("article li data[title='gemm_intensity(1, 3584, 512)']")
    tab.evaluate(f"globalThis.asked = {number}; true")
    tab.tap("asked", pointer)
    tab.wait(only(".calculation:popover-open"))
    assert "gemm_intensity(1, 3584, 512)" in text(tab, ".calculation")
    assert "0.9977728285077951" in text(tab, ".calculation")
    sound(tab, way[2], ".calculation")
    tab.evaluate("asked.focus()")
    tab.press("Tab")
    assert tab.evaluate("document.activeElement.matches('.calculation a')")
    tab.press("Enter")
    tab.wait("location.pathname.endsWith('/explorer/') && document.querySelector('.explorer .detail')")
    tab.wait(f"{only('.explorer .detail')}.textContent.includes('k_proj')")
    assert tab.evaluate("location.search") == "?batch=1&operator=k_proj"
    assert tab.evaluate("document.querySelector('.explorer input[type=text]').value") == "1"


def test_lines_break_where_they_may(way, site, served):
    """Firefox has its own rules for what may follow a formula."""
    tab, _, _ = opened(way, served, "lesson/")
    for width in (320, 390):
        tab.open(tab.evaluate("location.href"), width, 800)
        tab.evaluate(f"document.head.appendChild(document.createElement('style')).textContent = {LAID_OUT!r}")
        breaks = json.loads(tab.evaluate(f"({BREAKS})('article')"))
        assert len(breaks) > 100
        assert wrong(breaks) == []
