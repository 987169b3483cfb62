"""The reference pages: every public name once, as the sources define it, in words of the page's language as well."""

import doctest
import inspect
import re

import pages
import pytest
import reference
from bs4 import BeautifulSoup
from support import LANGUAGES

import roofline_calc

PAGES = ("reference.md", "reference-models.md")
HAN = re.compile(r"[\u4e00-\u9fff]")


def directives(language: str) -> dict[str, str]:
    """What each page says of its names itself."""
    text = "".join(pages.source(language, page) + "\n" for page in PAGES)
    return {found["name"]: found["own"] for found in reference.DIRECTIVE.finditer(text)}


def write(name: str, own: str = "", language: str = "en") -> str:
    return reference.entry(name, own, language, lambda mentioned: f"#{mentioned}" if mentioned == "attention" else None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_public_name_has_one_entry(language):
    named = [name for page in PAGES for name in re.findall(r"^::: (\w+)", pages.source(language, page), re.MULTILINE)]
    assert sorted(named) == sorted(roofline_calc.__all__)


def test_the_chinese_pages_say_in_chinese_what_each_function_does():
    for name, own in directives("zh").items():
        said = dict(reference.OF_MEMBER.findall(re.sub(r"^ +", "", own, flags=re.MULTILINE)))
        assert said.keys() == reference.public()[name].members.keys(), name
        for words in (own, *said.values()):
            assert HAN.search(words), name


@pytest.mark.parametrize("name", roofline_calc.__all__)
def test_a_signature_read_from_the_source_is_the_one_python_sees(name):
    entry, value = reference.public()[name], getattr(roofline_calc, name)
    if callable(value):
        assert entry.parameters == tuple(inspect.signature(value).parameters)
    if inspect.isclass(value):
        kinds = [kind for kind in value.__mro__ if kind.__module__.startswith("roofline_calc")]
        members = {member for kind in kinds for member in vars(kind) if not member.startswith("_")}
        members -= set(entry.parameters)
        members -= {"count", "index"}
        assert entry.members.keys() == members


@pytest.mark.parametrize("name", roofline_calc.__all__)
def test_arguments_are_described_under_names_that_exist(name):
    for described in re.findall(r"^(`.*)\n:   ", write(name), re.MULTILINE):
        for term in re.findall(r"`(\w+)`", described):
            known = {*reference.public()[name].parameters, "ValueError", "OSError"}
            known |= {p for member in reference.public()[name].members.values() for p in member.parameters}
            assert term in known


def test_several_arguments_on_one_line_of_a_docstring_are_told_apart():
    text = write("quantised_width")
    assert "`bits`\n:   of one weight.\n" in text
    assert "`zero_bits`\n:   of one zero point" in text


def test_a_docstring_keeps_its_formula_its_stars_and_its_links():
    assert "$I^* = P/B$" in write("ridge_point")
    assert r"the tokens in flight M\*, not rounded" in write("gemm_crossing").replace("The tokens", "the tokens")
    assert "[`attention`](#attention)" in write("window_attention")
    assert "`gemm`" in write("residual")
    assert "[`gemm`]" not in write("residual")


def test_the_page_speaks_before_the_docstring_and_its_labels_are_in_its_language():
    text = write("ridge_point", "拐点在哪里。", "zh")
    assert text.index("拐点在哪里。") < text.index('lang="en"') < text.index("**参数**{ .label lang=zh-Hans }")
    assert "**Arguments**{ .label }" in write("ridge_point")


def test_an_unknown_name_or_member_is_refused_with_a_hint():
    with pytest.raises(reference.UnknownNameError, match=r"::: gemmm is no public name.*'gemm'"):
        write("gemmm")
    with pytest.raises(reference.UnknownNameError, match="::: Cost has no public member 'byte'"):
        write("Cost", ".byte all of them")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_the_built_page_has_each_id_once_and_no_markup_left(site, language, page):
    folder = site / ("en" if language == "en" else "") / page.removesuffix(".md")
    soup = BeautifulSoup((folder / "index.html").read_text(encoding="utf-8"), "html.parser")
    article = soup.article
    ids = [tag["id"] for tag in soup.find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert not re.search(r"\$[^$]*[\\^_][^$]*\$|:::|`", article.text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_formula_is_typeset(site, language):
    folder = site / ("en" if language == "en" else "") / "reference"
    soup = BeautifulSoup((folder / "index.html").read_text(encoding="utf-8"), "html.parser")
    assert soup.select("h3.api")
    for heading in soup.select("h3.api"):
        shown = []
        for part in heading.find_next_siblings():
            if part.name in ("h2", "h3"):
                break
            shown.append(part)
        if heading["id"] not in ("RIDGE", "regime_of", "first_whole", "first_compute_bound"):
            assert any(part.name == "math" or part.find("math") for part in shown), heading["id"]


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_own_example_runs(page):
    for language in LANGUAGES:
        test = doctest.DocTestParser().get_doctest(pages.source(language, page).replace("```", ""), {}, page, None, 0)
        assert test.examples
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
