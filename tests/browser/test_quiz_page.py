"""The questions in a real browser: what a reader may type is understood, by mouse, keyboard and touch."""

import re

import pages
import pytest
from chromium import SCHEMES, violations
from playwright.sync_api import Page, expect
from support import LANGUAGES, ROOT

WORDS = {
    "zh": {"check": "检查", "right": "对。", "slip": "因子 2", "progress": "已答对 {} / 13 题",
           "number": "不是数", "unit": "请用"},
    "en": {"check": "Check", "right": "Right.", "slip": "factor of 2", "progress": "{} of 13 answered",
           "number": "is not a number", "unit": "Answer in"},
}
both_languages = pytest.mark.parametrize("language", LANGUAGES)


def asked(page: Page, name: str):
    question = page.locator(f"#quiz-{name}")
    question.scroll_into_view_if_needed()
    question.locator("form").wait_for()
    return question


TYPED = (
    "4", "4,0", "4.0", "４.０", "４．０", "4,000", "4 FLOP/byte", "4 flops/byte", "4 FLOP/字节", "4.02", " 4", "4e0",
)


@both_languages
def test_a_right_answer_is_understood_as_people_write_it(watch, language):
    page = watch.open(language, "lesson")
    question = asked(page, "gqa-decode")
    field, feedback = question.get_by_role("textbox"), question.locator(".feedback")
    for text in TYPED:
        for typed, kind in (("5", "wrong"), (text, "right")):
            field.fill(typed)
            page.keyboard.press("Enter")
            expect(feedback, f"{typed!r} is {kind}").to_have_class(re.compile(rf"\b{kind}\b"))
        expect(feedback).to_contain_text(WORDS[language]["right"])


@both_languages
def test_a_slip_is_named_and_nonsense_is_not_an_answer(watch, language):
    page, words = watch.open(language, "lesson"), WORDS[language]
    question = asked(page, "q-proj-64")
    feedback = question.locator("[role=status]")
    assert feedback.get_attribute("aria-live") == "polite"
    for text, said in {"30.9": words["slip"], "many": words["number"], "61.8 ms": words["unit"]}.items():
        question.get_by_role("textbox").fill(text)
        question.get_by_role("button", name=words["check"]).click()
        expect(feedback).to_contain_text(said)
    question.get_by_role("textbox").fill("")
    page.keyboard.press("Enter")
    assert "solved" not in question.get_attribute("class")
    question.get_by_role("textbox").fill("1000000")
    page.keyboard.press("Enter")
    expect(feedback).not_to_be_empty()
    assert watch.complaints == []


def test_every_slip_and_every_answer_gets_its_word(watch):
    """All questions, judged by the page's own script against the worked-out values."""
    page = watch.open("en", "lesson")
    result = page.evaluate("""async () => {
      const site = document.querySelector("script[src*='site.js']").src;
      const { judge } = await import(site.replace("site.js", "quiz.js"));
      return [...document.querySelectorAll(".quiz script")].map((script) => JSON.parse(script.textContent))
        .filter((question) => question.kind === "number").flatMap((question) => [
          [judge(question, String(question.answer)).right, true],
          [judge(question, question.answer.toPrecision(5).replace(".", ",")).right, true],
          ...question.slips.map((slip) => [judge(question, String(slip.value)).say, slip.say])]);
    }""")
    assert len(result) > 30
    assert all(said == meant for said, meant in result)


@both_languages
def test_progress_is_kept_and_shared_by_both_languages(watch, language):
    page, words = watch.open(language, "lesson"), WORDS[language]
    question = asked(page, "still-point")
    question.get_by_role("radio").nth(0).check()
    question.get_by_role("button").click()
    expect(question.locator(".feedback")).to_have_class(re.compile("wrong"))
    question.get_by_role("radio").nth(0).focus()
    page.keyboard.press("ArrowDown")  # by keyboard
    page.keyboard.press("Enter")
    expect(question.locator(".feedback")).to_contain_text(words["right"])
    page = watch.open("en" if language == "zh" else "zh", "lesson")
    progress = page.locator("[data-progress]")
    progress.scroll_into_view_if_needed()
    expect(progress).to_contain_text(WORDS["en" if language == "zh" else "zh"]["progress"].format(1))
    progress.get_by_role("link").nth(1).click()
    assert page.url.endswith("#quiz-still-point")


@pytest.mark.parametrize("watch", [{"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}],
                         indirect=True, ids=["touch"])
@both_languages
def test_a_finger_answers(watch, language):
    page = watch.open(language, "lesson")
    question = asked(page, "prefill-128")
    question.locator("label").first.tap()
    question.get_by_role("button").tap()
    expect(question.locator(".feedback")).to_contain_text(WORDS[language]["right"])
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize("watch", [{"java_script_enabled": False}], indirect=True, ids=["no-script"])
@both_languages
def test_without_javascript_the_answers_unfold(watch, language):
    page = watch.open(language, "lesson")
    question = page.locator("#quiz-gqa-decode details")
    assert not question.locator("p").first.is_visible()
    question.locator("summary").click()
    assert "4 FLOP/byte" in question.inner_text()


@pytest.mark.parametrize("watch", SCHEMES, indirect=True, ids=["light", "dark"])
@both_languages
def test_axe_finds_nothing_in_answered_questions(watch, language):
    page = watch.open(language, "lesson")
    for name in pages.questions(ROOT / "docs" / language):
        question = asked(page, name["id"])
        question.get_by_role("button").click()
        question.locator("details").evaluate("d => d.open = true")
    page.locator("[data-progress]").scroll_into_view_if_needed()
    page.locator("[data-progress] ol").wait_for()
    assert violations(page, ".quiz, [data-progress]") == []
