"""Both languages have the same sections, anchors, code, figures, links, marks and expressions, in the same order."""

import re

import pages
import pytest
from support import LANGUAGES, PAGES, ROOT


def test_both_languages_have_the_same_pages():
    names = [{path.name for path in (ROOT / "docs" / language).iterdir()} for language in LANGUAGES]
    assert names[0] == names[1] != set()


@pytest.mark.parametrize("page", PAGES)
def test_both_languages_have_the_same_structure(page):
    chinese, english = (pages.structure(language, page) for language in LANGUAGES)
    assert len(chinese) > 5
    assert chinese == english


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_every_heading_pins_its_anchor(language, page):
    parts = pages.structure(language, page)
    assert [text for kind, text in parts if kind == "unanchored"] == []
    anchors = [text for kind, text in parts if re.fullmatch("h[1-6]", kind)]
    assert len(anchors) == len(set(anchors)) > 0


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda text: re.sub(r"^## .*\n", "", text, count=1, flags=re.MULTILINE), "section"),
        (lambda text: text.replace("{ #gemm }", "{ #gemms }"), "anchor"),
        (lambda text: text.replace('--8<-- "roofline_calc/roofline.py:regime"', ""), "snippet"),
        (lambda text: text.replace("(figures/gemm-knob.svg)", "(figures/roofline.svg)"), "figure"),
        (lambda text: text.replace("{{ gemm_limit(3584, 512):.0f }}", "448"), "expression"),
        (lambda text: text.replace("#L589", "#L590"), "link"),
    ],
)
def test_a_difference_in_one_language_is_seen(change, kind, monkeypatch):
    chinese = pages.structure("zh", "lesson.md")
    whole = pages.source("en", "lesson.md")
    assert change(whole) != whole
    monkeypatch.setattr(pages, "source", lambda *_: change(whole))
    assert pages.structure("en", "lesson.md") != chinese, kind
