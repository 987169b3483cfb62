"""No digit of a computed result is typed in a page: what remains is named here, with the reason."""

import re

import expressions
import pages
import pytest
from conftest import LANGUAGES, PAGES

# (pattern, why it may be typed)
ALLOWED = [
    (r"Qwen2\.5-7B", "a model's name"),
    (r"RTX 4090|\b4090\b|H100|A100|SM89", "a card's name"),
    (r"vLLM 0\.26\.0|v0\.26\.0|FlashAttention 2", "a version"),
    (r"\b(?:BF|FP|INT)\d+\b|W4A16", "a data type"),
    (r"\bL[12]\b|GDDR6X", "a memory"),
    (r"24 GB", "memory of the card, NVIDIA Ada whitepaper"),
    (r"\b330\b|82\.6", "peaks in circulation that are not dense BF16, NVIDIA Ada whitepaper: quoted as wrong"),
    (r"1 TB/s", "the bandwidth as the lesson rounds it"),
    (r"CACM 52\(4\), 2009|2022|arXiv:2205\.14135", "a publication"),
    (r"^\#+ \d(?:\.\d)?\.? ", "a section's number"),
    (r"第 ?[45] ?节|section [45]|3\.[12] ?节|of 3\.[12]", "a section's number in a reference"),
    (r"\b(?:M|S|B|L|batch|r) ?(?:=|为|of) ?\d+|N = 128|M 从 1 拧到 256|batch 从 1|batch 1\b", "an input"),
    (r"^\|? ?(?:2048|8192|32768) \|", "an input, the context in a table's first column"),
    (r"128 个(?:专家|权重)|128 (?:experts|weights)", "an input"),
    (r"^\d+\. ", "a list's number"),
    (r"1 GiB", "a unit"),
    (r"1～2|1 to 2", "FLOPs per element moved by an element-wise operator: a bound, not a result"),
    (r"(?:约为|约|达到|都是|强度是|都钉在) ?[17]\b|线性层 1、attention 7|attention 是 7|权重的 1", "the two intensities"),
    (r"about [17]\b|at [17]\b|intensity (?:is |of )?(?:about )?1\b|rows of 7|weights' 1|from 1 into", "the same in English"),
    (r"I ≈ [17]", "the same, as a profile shows it"),
    (r"离 1 越远|further from 1", "a ratio of one: as predicted"),
    (r"（1 ?，|是 2）|: 2\)|decode 是 1|1 in decode|b = 2|2 FLOPs|仍是 2 字节|still 2\b", "the definition of a unit"),
]
COEFFICIENTS = re.compile(r"(?<![\d.])(?:[12478]|256|3584|2048|10\^\{\d+\})(?![\d.])")


def prose(language: str, page: str) -> str:
    """The page without what is not typed prose: code, expressions, links' targets, tags, attributes."""
    text = pages.source(language, page)
    for pattern in (
        r"^[ ]*```.*?^[ ]*```$", r"`[^`]*`", r"\{\{.*?\}\}", r"\]\([^)]*\)", r"\{ ?[#.][^}]*\}", r"<[^>]*>",
    ):  # fmt: skip
        text = re.sub(pattern, " ", text, flags=re.MULTILINE | re.DOTALL)
    # In a formula, its own coefficients and inputs; results are expressions there too.
    return re.sub(r"\\\[.*?\\\]|\\\(.*?\\\)", lambda maths: COEFFICIENTS.sub(" ", maths[0]), text, flags=re.DOTALL)


def typed_numbers(language: str, page: str) -> list[str]:
    text = prose(language, page)
    for pattern, _ in ALLOWED:
        text = re.sub(pattern, " ", text, flags=re.MULTILINE)
    return [text[max(0, n.start() - 30) : n.end() + 20].strip() for n in re.finditer(r"\d[\d.,]*", text)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_no_computed_number_is_typed(language, page):
    assert typed_numbers(language, page) == [], "make it an expression, {{ … }}, or allow it above with its reason"


def test_a_typed_result_is_seen(monkeypatch):
    monkeypatch.setattr(pages, "source", lambda *_: r"k_proj has an intensity of 162.9, and \(I = 224\).")
    assert len(typed_numbers("en", "lesson.md")) == 2


def test_expressions_are_found_where_the_build_finds_them():
    assert expressions.TOKEN.flags & re.DOTALL
    assert pages.fields("en", "lesson.md").count("RIDGE") > 5
