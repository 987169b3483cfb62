"""The built site in a real browser: what a reader sees, on a desktop and on a phone, in both languages and palettes."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import LANGUAGES, NOTEBOOKS, PAGES
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Chromium's own background services would ask other hosts; the site must not.
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
PATHS = [Path(name).stem.removesuffix("index") for name in PAGES + NOTEBOOKS]
ROOTS = {"zh": "", "en": "en/"}
PHONE, DESKTOP = {"width": 320, "height": 640}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM, "Chromium is missing; on Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


class Watch:
    """Opens pages and remembers every request and every complaint."""

    def __init__(self, context: BrowserContext, root: str) -> None:
        self.root, self.page = root, context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("response", lambda got: self.complaints.append(got.url) if got.status >= 400 else None)

    def open(self, language: str, path: str) -> Page:
        self.page.goto(f"{self.root}{ROOTS[language]}{path}{'/' if path else ''}", wait_until="networkidle")
        return self.page


@pytest.fixture
def watch(browser: Browser, site: Path, served: str, request: pytest.FixtureRequest) -> Iterator[Watch]:
    """A fresh context; parametrize indirectly to set its options, such as a palette or a phone."""
    context = browser.new_context(**{"viewport": DESKTOP, **getattr(request, "param", {})})
    watch = Watch(context, served)
    yield watch
    context.close()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PATHS)
def test_a_page_asks_no_other_host_and_raises_no_complaint(watch, language, path):
    page = watch.open(language, path)
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")  # lazy images too
    page.wait_for_load_state("networkidle")
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


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("word", ["算术强度", "拐点", "roofline", "attention", "FlashAttention"])
def test_search_finds_the_lesson(watch, language, word):
    if language == "en" and not word.isascii():
        word = {"算术强度": "arithmetic intensity", "拐点": "ridge point"}[word]
    page = watch.open(language, "")
    page.keyboard.press("/")
    page.keyboard.type(word)
    page.keyboard.press("End")  # the theme listens to keys; a Chinese word comes without any
    hit = page.locator(".md-search-result__link[href*='lesson']").first
    hit.wait_for(timeout=10_000)
    assert watch.complaints == []


SCHEMES = [{"color_scheme": scheme} for scheme in ("light", "dark")]


@pytest.mark.parametrize("watch", SCHEMES, indirect=True, ids=["light", "dark"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_charts_and_maths_show_in_each_palette(watch, language):
    page = watch.open(language, "lesson")
    dark = page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    assert dark == page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    shown = page.locator("picture img:visible")
    assert shown.count() == 3
    for i in range(3):
        shown.nth(i).scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")
    for i in range(3):
        image = shown.nth(i)
        assert image.evaluate("i => i.complete && i.naturalWidth > 300")
        assert image.evaluate("i => i.currentSrc").endswith(".dark.svg") == dark
        assert len(image.get_attribute("alt")) > 60
    fraction = page.locator("math[display=block]").first
    assert fraction.bounding_box()["height"] > 30  # a fraction stands on two lines
    assert page.evaluate("document.fonts.check('16px \"STIX Two Math\"')")
    assert page.locator("article").inner_text().count("\\(") == 0


@pytest.mark.parametrize(
    "watch", [{"viewport": PHONE, "has_touch": True, "is_mobile": True}], indirect=True, ids=["phone"]
)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PATHS)
def test_a_phone_scrolls_in_one_direction_only(watch, language, path):
    page = watch.open(language, path)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for image in page.locator("picture img:visible").all():
        image.scroll_into_view_if_needed()
        page.wait_for_load_state("networkidle")
        assert ".narrow" in image.evaluate("i => i.currentSrc")


@pytest.mark.parametrize("watch", SCHEMES, indirect=True, ids=["light", "dark"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PATHS)
def test_axe_finds_nothing(watch, language, path):
    page = watch.open(language, path)
    for details in page.locator("article details").all():
        details.evaluate("d => d.open = true")
    found = Axe().run(page).response["violations"]
    assert [(v["id"], [node["html"][:120] for node in v["nodes"][:3]]) for v in found] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_tells_its_expression_to_mouse_and_keyboard(watch, language):
    page = watch.open(language, "lesson")
    number = page.locator("article data.computed").first
    number.scroll_into_view_if_needed()
    tooltip = page.locator(".md-tooltip2__inner", has_text="attn_intensity(28, 4, 'decode', 2048)")
    number.hover()
    tooltip.wait_for(state="visible")
    page.mouse.move(0, 0)
    tooltip.wait_for(state="hidden")
    number.focus()
    tooltip.wait_for(state="visible")


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
