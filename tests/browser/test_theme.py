"""The theme's own parts, as this site mends them: the palette's button and the way through a page by keyboard."""

import pytest
from chromium import SCHEMES
from playwright.sync_api import Page, expect
from support import LANGUAGES

IS = {
    "zh": {"system": "配色：跟随系统", "light": "配色：浅色", "dark": "配色：深色"},
    "en": {"system": "Colours follow the system", "light": "Light colours", "dark": "Dark colours"},
}
PRESS = {
    "zh": {"system": "；点按改为跟随系统", "light": "；点按改为浅色", "dark": "；点按改为深色"},
    "en": {"system": "; press to follow the system", "light": "; press for light", "dark": "; press for dark"},
}
OTHER = {"light": "dark", "dark": "light"}


def palette(page: Page) -> str:
    """What a page is painted in, said by its ground, its charts and the browser's own parts."""
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    palette = {"rgb(255, 255, 255)": "light", "rgb(22, 27, 34)": "dark"}[ground]
    expect(page.locator(f"picture.on-{palette}").first).not_to_have_css("display", "none")
    expect(page.locator(f"picture.on-{OTHER[palette]}").first).to_have_css("display", "none")
    assert page.locator("meta[name=color-scheme]").get_attribute("content") == palette
    return palette


@pytest.mark.parametrize("watch", SCHEMES, indirect=True, ids=["light", "dark"])
def test_the_palettes_button_goes_round_by_keyboard_for_both_languages(watch):
    """System, then the palette that the system has not, then the one it has, then the system again."""
    page = watch.open("zh", "")
    system = palette(page)
    rounds = [("Space", OTHER[system]), ("Enter", system), ("Space", "system"), ("Enter", OTHER[system])]
    states = ["system", *(state for _, state in rounds)]
    for (key, state), following in zip(rounds, [*states[2:], system], strict=True):
        page.locator(".palette").press(key)
        for language in (*LANGUAGES, "zh"):
            button = page.get_by_role("button", name=IS[language][state] + PRESS[language][following], exact=True)
            expect(button).to_have_attribute("title", IS[language][state] + PRESS[language][following])
            assert palette(page) == (system if state == "system" else state)
            watch.open("en" if language == "zh" else "zh", "")
        watch.open("zh", "")
    assert watch.complaints == []


def test_the_palette_follows_the_system_until_the_reader_chooses(watch):
    page, second = watch.open("en", ""), watch.page.context.new_page()
    second.goto(watch.root)
    for system in ("dark", "light", "dark"):
        page.emulate_media(color_scheme=system)
        name = IS["en"]["system"] + PRESS["en"][OTHER[system]]
        expect(page.locator(".palette")).to_have_attribute("title", name)
        assert palette(page) == system
    page.locator(".palette").click()
    expect(second.locator(".palette")).to_have_attribute("data-choice", "light")  # an open page of the other language
    for system in ("light", "dark"):
        page.emulate_media(color_scheme=system)
        page.evaluate("new Promise(requestAnimationFrame)")  # by when the page has heard of it
        assert palette(page) == "light"


# The palette of every frame that is painted; while style sheets are awaited there is none.
FRAMES = """
window.frames_seen = new Set();
const look = () => {
  if (document.body) frames_seen.add(document.body.dataset.mdColorScheme);
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


@pytest.mark.parametrize("watch", [{"color_scheme": "dark"}], indirect=True, ids=["dark"])
def test_no_frame_is_painted_in_the_other_palette(watch):
    watch.page.add_init_script(FRAMES)
    for language, palette in (("zh", "slate"), ("en", "default")):
        page = watch.open(language, "lesson")
        watch.settle()
        assert page.evaluate("[...frames_seen]") == [palette]
        page.locator(".palette").click()


@pytest.mark.parametrize("watch", SCHEMES, indirect=True, ids=["light", "dark"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_header_shows_its_focus_and_colours_the_browsers_own_bar(watch, language):
    page = watch.open(language, "")
    for button in page.locator("button.md-header__button:visible").all():
        button.press("Shift")
        outline = button.evaluate("b => (s => [s.outlineStyle, s.outlineWidth, s.outlineColor])(getComputedStyle(b))")
        assert outline == ["solid", "2px", "rgb(255, 255, 255)"], button
    header = page.evaluate("getComputedStyle(document.querySelector('header')).backgroundColor")
    bar = page.locator("meta[name=theme-color]").get_attribute("content")
    assert header == f"rgb({', '.join(str(channel) for channel in bytes.fromhex(bar[1:]))})"
