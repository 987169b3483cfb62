"""Every page on paper: nothing cut off, light whatever the screen is, links with their address, answers at the end."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from support import LANGUAGES, NOTEBOOKS, PAGES, ROOTS

PATHS = [Path(name).stem.removesuffix("index") for name in PAGES + NOTEBOOKS]
PAPER = {"viewport": {"width": 680, "height": 1000}, "color_scheme": "dark"}  # A4 less the margins, from a dark screen
WORDS = {"zh": {"answers": "答案", "see": "（答案\u00a01）"}, "en": {"answers": "Answers", "see": " (answer\u00a01)"}}

# What is wrong with a page as it stands on paper.
FAULTS = """
() => {
  const faults = [];
  const blame = (what, element) => faults.push(`${what}: ${element.outerHTML.slice(0, 120)}`);
  for (const element of document.querySelectorAll("article *")) {
    if (!element.checkVisibility()) continue;
    const { left, right, width } = element.getBoundingClientRect();
    if (width && (right > innerWidth + 1 || left < -1)) blame("beyond the paper", element);
    const { overflowX, overflowY, contentVisibility, breakAfter } = getComputedStyle(element);
    if (overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1) blame("cut off", element);
    if (overflowY !== "visible" && element.scrollHeight > element.clientHeight + 1) blame("cut short", element);
    if (contentVisibility !== "visible") blame("not drawn", element);
    if (element.matches("h2, h3, h4, summary, caption") && breakAfter !== "avoid") blame("may end a page", element);
    if (element.matches(".on-dark, button:not(th *), nav, [type=range]")) blame("not for paper", element);
    const leads = element.matches("a[href^=http], a[data-address]");
    if (leads && !getComputedStyle(element, "::after").content.includes("/")) blame("no address", element);
  }
  for (const frame of document.querySelectorAll("header, footer, .md-sidebar, .md-search, .md-top"))
    if (frame.checkVisibility()) blame("not for paper", frame);
  for (const figure of document.querySelectorAll("article figure"))
    if (figure.checkVisibility() && getComputedStyle(figure).breakInside !== "avoid") blame("may be split", figure);
  for (const code of document.querySelectorAll("article .highlight pre"))
    if (code.textContent.split("\\n").length < 30 && getComputedStyle(code.parentElement).breakInside !== "avoid")
      blame("may be split", code);
  for (const picture of document.querySelectorAll("article picture.on-light"))
    if (picture.parentElement.checkVisibility() && !picture.checkVisibility()) blame("no light chart", picture);
  const [red, green, blue] = getComputedStyle(document.querySelector("article p")).color.match(/\\d+/g);
  if (Math.max(red, green, blue) > 100) faults.push("the text is pale");
  const ground = getComputedStyle(document.querySelector("article code, article table, article")).backgroundColor;
  if (/rgb\\(\\d\\d?, /.test(ground)) faults.push(`the ground is dark: ${ground}`);
  return faults;
}
"""
PRINT = "() => { dispatchEvent(new Event('beforeprint')); }"
PRINTED = "() => { dispatchEvent(new Event('afterprint')); }"


@pytest.mark.parametrize("watch", [PAPER], indirect=True, ids=["A4"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_on_paper_is_whole_light_and_without_what_one_presses(watch, language):
    found = {}
    for path in PATHS:
        page = watch.open(language, path)
        if path == "explorer":
            page.locator(".explorer tbody tr").first.wait_for()
        page.emulate_media(media="print")
        page.evaluate(PRINT)
        faults = page.evaluate(FAULTS)
        if not page.locator("h1 + .address").inner_text().endswith(f"/{ROOTS[language]}{path}{'/' if path else ''}"):
            faults.append("the first page does not say where it is from")
        if faults:
            found[path] = faults[:5]
        page.emulate_media(media="screen")
    assert found == {}


@pytest.mark.parametrize("watch", [PAPER], indirect=True, ids=["A4"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_answers_are_collected_at_the_end_and_put_back(watch, language):
    page, words = watch.open(language, "lesson"), WORDS[language]
    answered = page.locator("#quiz-ridge-h100")
    answered.scroll_into_view_if_needed()
    answered.get_by_role("textbox").fill("295")
    page.keyboard.press("Enter")
    expect(answered.locator(".feedback")).to_contain_text("H200")
    before = page.locator("article").inner_html()
    page.emulate_media(media="print")
    page.evaluate(PRINT)
    questions, answers = page.locator("article details.question"), page.locator("article > .answers > ol > li")
    assert questions.count() == answers.count() > 15
    assert page.locator("article > .answers h2").inner_text() == words["answers"]
    assert page.evaluate("document.querySelector('article').lastElementChild.className") == "answers"
    assert "295.3" in answers.first.inner_text()
    assert "295.3" not in answered.inner_text()  # not where it is asked, not even once it was answered
    asked = answered.locator(".asked")
    assert asked.evaluate("asked => getComputedStyle(asked, '::after').content").strip('"') == words["see"]
    unseen = page.locator("#quiz-lm-head-rows")  # nobody scrolled there, so it is no form yet
    assert "4096 / 1024 / 4" in unseen.inner_text()
    assert unseen.locator("details > p:visible").count() == 1
    assert not page.locator("[data-progress]").is_visible()
    page.evaluate(PRINTED)
    page.emulate_media(media="screen")
    after = page.locator("article").inner_html()
    for kept in (' loading="eager"', ' loading="lazy"'):  # charts that paper needed are there to stay
        before, after = before.replace(kept, ""), after.replace(kept, "")
    assert page.locator(".answers, .address").count() == 0
    assert after.count("data-answer") == 0
    assert after.count("<details") == before.count("<details")
    assert after.count(" open") == before.count(" open")


@pytest.mark.parametrize("watch", [{"color_scheme": "dark"}], indirect=True, ids=["dark"])
def test_printing_fetches_charts_that_nobody_scrolled_to(watch):
    page = watch.open("zh", "lesson")
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    charts = "[...document.querySelectorAll('picture.on-light img')]"
    page.wait_for_function(f"{charts}.every((chart) => chart.naturalWidth)")
    assert page.locator(".answers").count() == 0  # put back


@pytest.mark.parametrize("watch", [{**PAPER, "java_script_enabled": False}], indirect=True, ids=["no-script"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_without_javascript_answers_print_where_they_are(watch, language):
    page = watch.open(language, "interview")
    answer = page.locator("details.question p").first
    assert not answer.is_visible()
    page.emulate_media(media="print")
    assert answer.is_visible()
