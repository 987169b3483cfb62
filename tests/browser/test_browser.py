"""The built site in a real browser: what a reader sees, on a desktop and on a phone, in both languages and palettes."""

import re
from pathlib import Path

import pytest
from chromium import COLOURS, PHONE, SCHEMES, violations
from playwright.sync_api import expect
from support import LANGUAGES, NOTEBOOKS, PAGES, ROOTS

PATHS = [Path(name).stem.removesuffix("index") for name in PAGES + NOTEBOOKS]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PATHS)
def test_a_page_asks_no_other_host_and_raises_no_complaint(watch, language, path):
    page = watch.open(language, path)
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")  # lazy images too
    watch.settle()
    assert [url for url in watch.requests if not url.startswith(watch.root)] == []
    assert watch.complaints == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_switch_keeps_the_page_and_the_section(watch, language):
    page = watch.open(language, "lesson")
    page.evaluate("location.hash = '#vllm'")
    other, button = ("English", "选择当前语言") if language == "zh" else ("简体中文", "Select language")
    page.get_by_role("button", name=button).hover()
    there = "en" if language == "zh" else "zh"
    with page.expect_navigation():
        page.get_by_role("link", name=other).first.click()
    assert re.fullmatch(rf"{watch.root}{ROOTS[there]}lesson/#[\w-]+", page.url)
    assert page.locator("html").get_attribute("lang") == there
    assert 0 <= page.locator(page.url[page.url.index("#") :]).bounding_box()["y"] < 300
    assert page.locator("#vllm").is_visible()


WORDS = {
    "zh": ("算术强度", "拐点", "roofline", "attention", "FlashAttention"),
    "en": ("arithmetic intensity", "ridge point", "roofline", "attention", "FlashAttention"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_finds_the_lesson(watch, language):
    page = watch.open(language, "")
    hits = page.locator(".md-search-result__link")
    page.keyboard.press("/")
    for word in WORDS[language]:
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.press("Delete")
        expect(hits).to_have_count(0)
        page.keyboard.type(word)
        page.keyboard.press("End")  # the theme listens to keys; a Chinese word comes without any
        expect(hits.and_(page.locator("[href*='lesson']")).first, word).to_be_visible()
    assert watch.complaints == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_finds_the_lesson_from_where_there_is_no_page(watch, language):
    """That page tells its reader to search; its scripts have other addresses than a page's."""
    page = watch.page
    page.goto(f"{watch.root}{ROOTS[language]}404.html")
    page.keyboard.press("/")
    page.keyboard.type("roofline")
    expect(page.locator(".md-search-result__link[href*='lesson']").first).to_be_visible()


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_loads_no_words_before_the_first_question(watch, language):
    page = watch.open(language, "lesson")
    page.keyboard.press("/")
    watch.settle()
    words = f"{watch.root}{ROOTS[language]}search/words.json"
    assert words not in watch.requests
    page.keyboard.type("r")
    expect(page.locator(".md-search-result__link").first).to_be_visible()
    assert watch.requests.count(words) == 1


@pytest.mark.parametrize("watch", SCHEMES, indirect=True, ids=["light", "dark"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_charts_and_maths_show_in_each_palette(watch, language):
    page = watch.open(language, "lesson")
    dark = page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    assert dark == page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    shown = page.locator("picture img:visible")
    assert shown.count() == 3
    for i in range(3):
        image = shown.nth(i)
        image.scroll_into_view_if_needed()
        page.wait_for_function("i => i.complete && i.naturalWidth > 300", arg=image.element_handle())
        assert image.evaluate("i => i.currentSrc").endswith(".dark.svg") == dark
        assert len(image.get_attribute("alt")) > 60
    fraction = page.locator("math[display=block]").first
    assert fraction.bounding_box()["height"] > 30  # a fraction stands on two lines
    assert page.evaluate("document.fonts.ready.then((fonts) => fonts.check('16px \"STIX Two Math\"'))")
    assert page.locator("article").inner_text().count("\\(") == 0


# Where the charts that show come from, once they are there; the explorer may take its own away meanwhile.
CHARTS = """
async () => {
  const charts = [...document.querySelectorAll("picture img")].filter((image) => image.checkVisibility());
  for (const image of charts) {
    image.loading = "eager";
    await image.decode();
  }
  return charts.map((image) => image.currentSrc);
}
"""


@pytest.mark.parametrize(
    "watch", [{"viewport": PHONE, "has_touch": True, "is_mobile": True}], indirect=True, ids=["phone"]
)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PATHS)
def test_a_phone_scrolls_in_one_direction_only(watch, language, path):
    page = watch.open(language, path)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert [source for source in page.evaluate(CHARTS) if ".narrow" not in source] == []


@pytest.mark.parametrize(
    ("watch", "rules"), [*zip(SCHEMES, [(), COLOURS], strict=True)], indirect=["watch"], ids=["light", "dark"]
)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PATHS)
def test_axe_finds_nothing(watch, rules, language, path):
    page = watch.open(language, path)
    for details in page.locator("article details").all():
        details.evaluate("d => d.open = true")
    assert violations(page, rules=rules) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_copy_button_takes_the_whole_listing(watch, language):
    page = watch.open(language, "lesson")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    block = page.locator("div.highlight", has=page.locator(".filename", has_text=re.compile(r"^calculator\.py$")))
    block.scroll_into_view_if_needed()
    block.hover()
    block.locator("button[data-md-type=copy], .md-clipboard").first.click()
    page.wait_for_timeout(300)
    assert page.evaluate("navigator.clipboard.readText()").strip() == block.locator("code").inner_text().strip()
