"""A number of the text shows its calculation: to mouse, keyboard and touch, with a link to the explorer."""

import re

import expressions
import pytest
from bs4 import BeautifulSoup
from chromium import SCHEMES, violations
from evaluate import evaluate
from playwright.sync_api import Page, expect
from support import LANGUAGES, PAGES, ROOTS

OPEN = {"zh": "在探索器里看", "en": "See it in the explorer"}
PHONE = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}
both_languages = pytest.mark.parametrize("language", LANGUAGES)


# ------------------------------------------------------------------------- which state of the explorer shows it


@pytest.mark.parametrize(
    ("field", "state"),
    [
        ("gemm_intensity(256, 3584, 512)", "operator=k_proj"),  # 256 sequences are where the explorer starts
        ("gemm_intensity(1, 3584, 3584)", "batch=1&operator=q_proj"),
        ("gemm_intensity(256, 18944, 3584)", "operator=down_proj"),
        ("gemm_intensity(256, 3584, 152064)", "operator=lm_head"),
        ("RTX_4090.ridge()", ""),
        ("first_compute_bound(lambda M: gemm_intensity(M, 3584, 512), RTX_4090.ridge())", "operator=k_proj"),
        ("attn_intensity(28, 4, 'decode', 2048)", "batch=1&context=2048&operator=attention&mask=none&traffic=kv-only"),
        ("attention(28, 4, 128, 2048, 2048, mask='causal').intensity",
         "batch=1&context=2048&query_tokens=S&operator=attention"),
        ("attention(28, 28, 128, 1, 512, mask='causal').intensity", "model=custom&n_kv=28&batch=1&operator=attention"),
    ],
)
def test_a_number_that_the_explorer_shows_has_the_state_in_which_it_does(field, state):
    def parts(query: str) -> set[str]:
        return set(query.split("&"))

    assert parts(evaluate(field)["state"]) - {"n_q=28", "head_dim=128"} == parts(state)  # its custom shape starts so


@pytest.mark.parametrize(
    "field",
    [
        "gemm_intensity(256, 3584, 4608)",  # a fused layer, which the explorer does not show
        "gemm_intensity(256, 3584, 512, b=1)",
        "gemm_intensity(2**20, 3584, 512)",  # beyond what the explorer takes
        "attention(28, 4, 128, 512, 512, passes=1).intensity",
        "first_compute_bound(lambda M: gemm_intensity(M, 3584, 512))",  # with the rounded ridge point
        "first_compute_bound(lambda M: gemm_intensity(2 * M, 3584, 512), RTX_4090.ridge())",  # looks like it, is not
        "first_compute_bound(lambda M: gemm_intensity(M, M, 512), RTX_4090.ridge())",
        "gemm_intensity(256, 3584, 512) / RIDGE",
        "RIDGE",
        "QWEN.name",
    ],
)
def test_a_number_that_the_explorer_does_not_show_has_none(field):
    assert evaluate(field).keys() == {"text", "value", "expression"}  # and it is still computed


def test_a_state_belongs_to_its_number_in_the_page():
    html = expressions.fill("{{ gemm_intensity(1, 3584, 512):.4f }} {{ RIDGE }}", evaluate)
    shown, other = BeautifulSoup(html, "html.parser").select("data")
    assert shown["data-state"] == "batch=1&operator=k_proj"
    assert not other.has_attr("data-state")


SHOWN = """async (queries) => {
  const { Explorer } = await import(new URL("assets/explorer-state.js", location.origin));
  const calc = await import(new URL("assets/calc.js", location.origin));
  const presets = await (await fetch(new URL("assets/presets.json", location.origin))).json();
  const explorer = new Explorer(calc, presets);
  return queries.map((query) => {
    const state = explorer.fromQuery(query), { rows, ridge } = explorer.compute(state);
    const row = rows.find(({ operator }) => operator === state.operator);
    return state.operator ? [row.intensity, Math.ceil(row.crossing ?? 0)] : [ridge];
  });
}"""


@both_languages
def test_every_link_leads_to_a_state_that_shows_its_number(watch, site, language):
    """By the explorer's own script, for all pages of a language."""
    numbers = {}
    for name in PAGES:
        folder = "" if name == "index.md" else f"{name.removesuffix('.md')}/"
        page = (site / ROOTS[language] / folder / "index.html").read_text(encoding="utf-8")
        for number in BeautifulSoup(page, "html.parser").select("data[data-state]"):
            numbers[number["title"], number["data-state"]] = float(number["value"])
    assert len(numbers) > 20
    shown = watch.open(language, "").evaluate(SHOWN, [state for _, state in numbers])
    for (expression, state), value, found in zip(numbers, numbers.values(), shown, strict=True):
        assert any(value == pytest.approx(one, rel=1e-12) for one in found), (expression, state)


# --------------------------------------------------------------------------------------------------- in the page


def number(page: Page, expression: str):
    found = page.locator(f'article p data[title="{expression}"], article li data[title="{expression}"]').first
    found.scroll_into_view_if_needed()
    return found.element_handle()  # its title goes once it is asked


@pytest.mark.parametrize("watch", SCHEMES, indirect=True, ids=["light", "dark"])
@both_languages
def test_the_mouse_sees_the_calculation_and_follows_its_link(watch, language):
    page = watch.open(language, "lesson")
    panel = page.locator(".calculation")
    watch.settle()
    assert not [url for url in watch.requests if url.endswith("calculation.js")]  # nobody has asked yet
    number(page, "gemm_intensity(1, 3584, 512)").hover()
    expect(panel).to_contain_text("gemm_intensity(1, 3584, 512)")
    expect(panel).to_contain_text("0.9977728285077951")
    assert violations(page, ".calculation, data[aria-describedby]") == []
    page.mouse.move(0, 0)
    expect(panel).to_have_count(0)
    number(page, "RIDGE").hover()
    expect(panel.get_by_role("link")).to_have_count(0)
    page.mouse.move(0, 0)
    expect(panel).to_have_count(0)
    page.locator("data[data-state='batch=1&operator=k_proj']").first.hover()
    panel.get_by_role("link", name=OPEN[language]).click()  # the mouse crosses from the number to its panel
    page.wait_for_url("**/explorer/?batch=1&operator=k_proj")
    expect(page.locator(".explorer .detail")).to_contain_text("k_proj")
    expect(page.locator(".explorer .detail")).to_contain_text("0.9978")
    assert watch.complaints == []


@both_languages
def test_the_keyboard_goes_from_a_number_to_its_link_and_on(watch, language):
    page = watch.open(language, "lesson")
    panel = page.locator(".calculation")
    asked = number(page, "gemm_intensity(1, 3584, 512)")
    asked.focus()
    expect(panel).to_be_visible()
    assert asked.get_attribute("aria-describedby") == panel.get_attribute("id")
    page.keyboard.press("Tab")
    expect(panel.get_by_role("link", name=OPEN[language])).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    assert asked.evaluate("number => document.activeElement === number")
    page.keyboard.press("Tab")
    expect(panel).not_to_contain_text("gemm_intensity(1, 3584, 512)")
    assert watch.complaints == []


@pytest.mark.parametrize("watch", [PHONE], indirect=True, ids=["320 touch"])
@both_languages
def test_a_finger_opens_it_and_another_touch_closes_it(watch, language):
    page = watch.open(language, "lesson")
    panel = page.locator(".calculation")
    number(page, "gemm_intensity(1, 3584, 512)").tap()
    expect(panel).to_be_visible()
    box = panel.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 320
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    assert panel.get_by_role("link").bounding_box()["height"] >= 24
    page.locator("article h3").first.tap()
    expect(panel).to_have_count(0)
    number(page, "RIDGE").tap()
    expect(panel).to_contain_text("RIDGE")
    assert watch.complaints == []


@both_languages
def test_without_javascript_the_expression_is_the_title(browser, served, site, language):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{served}{ROOTS[language]}lesson/")
    first = page.locator("article data.computed").first
    assert re.fullmatch(r"attn_intensity\(28, 4, 'decode', 2048\)", first.get_attribute("title"))
    context.close()
