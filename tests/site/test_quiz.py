"""The questions: what they call right is what the calculator says, and what a reader may type is understood."""

import re

import pages
import pytest
import quiz
from axe_playwright_python.sync_playwright import Axe
from support import LANGUAGES, ROOT, SCHEMES, mkdocs_build
from playwright.sync_api import Page, expect
from quiz import QuizError, answers, checked, expressions_of, prose, questions, read

QUESTION = """\
id = "q"
question = 'How much is `q_proj`, \\(I\\)?'
answer = 'gemm_intensity(256, 3584, 3584)'
stated = 224
tolerance = 0.01
unit = "FLOP/byte"
explain = 'At least {{ RIDGE }}.'

[[slip]]
value = 'gemm_intensity(256, 3584, 3584) / 2'
say = 'A factor of 2.'
"""
CHOICE = """\
id = "c"
question = 'Which?'
explain = 'So.'

[[option]]
text = 'memory'
holds = 'gemm_intensity(1, 3584, 3584) < RIDGE'
right = true

[[option]]
text = 'compute'
holds = 'gemm_intensity(1, 3584, 3584) >= RIDGE'
say = 'No.'
"""


def worked_out(source: str):
    question = read(source)
    return checked(question, answers(question))


def test_a_question_is_worked_out():
    found = worked_out(QUESTION)
    assert (found["answer"], found["slips"][0]["value"]) == (224, 112)
    assert expressions_of(read(QUESTION))[-1] == "RIDGE"
    assert prose("`a < b` and \\(I\\), **so** {{ RIDGE }}", answers(read(QUESTION))) == (
        '<code>a &lt; b</code> and <span class="arithmatex">\\(I\\)</span>, <strong>so</strong> 165'
    )
    assert [option["right"] for option in worked_out(CHOICE)["options"]] == [True, False]


@pytest.mark.parametrize(
    ("source", "old", "new", "reason"),
    [
        (QUESTION, "stated = 224", "stated = 240", "q: states 240, but gemm_intensity.* is 224.0"),
        (QUESTION, "3584) / 2'", "3584) * 1.001'", "q: the slip .* cannot be told from the answer"),
        (QUESTION, "answer = 'gemm", "answer = 'gem", "gem_intensity.* cannot be computed: NameError"),
        (QUESTION, "tolerance", "tolerence", "q: missing or unknown: tolerance, tolerence"),
        (QUESTION, 'id = "q"', "id = q", "not TOML"),
        (CHOICE, "3584) < RIDGE", "3584) > RIDGE", "c: gemm_intensity.* is False, but the option says otherwise"),
        (CHOICE, "3584) >= RIDGE", "3584) < RIDGE", "c: gemm_intensity.* is True, but the option says otherwise"),
        (CHOICE, ">= RIDGE'\nsay = 'No.'", "< RIDGE'\nright = true", "c: one option must be right"),
    ],
)
def test_a_question_with_which_the_calculator_disagrees_is_refused(source, old, new, reason):
    assert old in source
    with pytest.raises(QuizError, match=reason):
        worked_out(source.replace(old, new))


def test_a_wrong_answer_stops_the_build(copy, tmp_path_factory):
    page = copy / "docs" / "en" / "lesson.md"
    text = page.read_text(encoding="utf-8")
    assert "stated = 61.793" in text
    page.write_text(text.replace("stated = 61.793", "stated = 62.793"), encoding="utf-8")
    done = mkdocs_build(copy, tmp_path_factory.mktemp("site"))
    assert done.returncode != 0
    assert "q-proj-64: states 62.793, but gemm_intensity(64, 3584, 3584) is 61.79" in done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lesson_asks_twelve_questions_and_more_in_its_sections(language):
    found = questions(ROOT / "docs" / language)
    assert len(found) == len({question["id"] for question in found}) >= 12
    assert {question["kind"] for question in found} == {"number", "choice"}
    assert all(question["slip"] for question in found if question["kind"] == "number")
    sections, here = [], ""
    for kind, text in pages.structure(language, "lesson.md"):
        here = text if re.fullmatch("h[1-6]", kind) else here
        if kind == "quiz":
            sections.append(here)
    assert set(sections) >= {"mental-model", "gemm", "naive", "reconcile", "reading", "vllm"}


# ---------------------------------------------------------------------------------------------- in the page

WORDS = {
    "zh": {"check": "检查", "right": "对。", "slip": "因子 2", "progress": "已答对 {} / 13 题",
           "number": "不是数", "unit": "请用"},
    "en": {"check": "Check", "right": "Right.", "slip": "factor of 2", "progress": "{} of 13 answered",
           "number": "is not a number", "unit": "Answer in"},
}  # fmt: skip
both_languages = pytest.mark.parametrize("language", LANGUAGES)


def asked(page: Page, name: str):
    question = page.locator(f"#quiz-{name}")
    question.scroll_into_view_if_needed()
    question.locator("form").wait_for()
    return question


@both_languages
@pytest.mark.parametrize(
    "text",
    ["4", "4,0", "4.0", "４.０", "４．０", "4,000", "4 FLOP/byte", "4 flops/byte", "4 FLOP/字节", "4.02", " 4", "4e0"],
)
def test_a_right_answer_is_understood_as_people_write_it(watch, language, text):
    page = watch.open(language, "lesson")
    question = asked(page, "gqa-decode")
    question.get_by_role("textbox").fill(text)
    page.keyboard.press("Enter")
    expect(question.locator(".feedback")).to_contain_text(WORDS[language]["right"])


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
                         indirect=True, ids=["touch"])  # fmt: skip
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
    for name in quiz.questions(ROOT / "docs" / language):
        question = asked(page, name["id"])
        question.get_by_role("button").click()
        question.locator("details").evaluate("d => d.open = true")
    page.locator("[data-progress]").scroll_into_view_if_needed()
    page.locator("[data-progress] ol").wait_for()
    found = Axe().run(page).response["violations"]
    assert [(v["id"], [node["html"][:160] for node in v["nodes"][:3]]) for v in found] == []
