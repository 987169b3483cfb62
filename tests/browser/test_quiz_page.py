"""The questions in a real browser: what a reader may type is understood, by mouse, keyboard and touch."""

import re

import pages
import pytest
from chromium import SCHEMES, violations
from playwright.sync_api import Page, expect
from support import LANGUAGES, ROOT

WORDS = {
    "zh": {"check": "检查", "right": "对。", "slip": "因子 2", "progress": "已答对 {} / 13 题",
           "number": "不是数", "unit": "请用", "several": "不止一个数", "kilo": "按 1024 进位",
           "read": "你写的按 {} 读", "solved": "✓ 已答对",
           "clear": "清除答题进度", "cleared": "已清除 1 题的进度", "undo": "撤销清除", "restored": "进度已恢复"},
    "en": {"check": "Check", "right": "Right.", "slip": "factor of 2", "progress": "{} of 13 answered",
           "number": "is not a number", "unit": "Answer in", "several": "more than one number", "kilo": "go by 1024",
           "read": "was read as {}", "solved": "✓ Solved", "clear": "Clear progress",
           "cleared": "Progress on 1 question cleared", "undo": "Undo clearing", "restored": "Progress restored"},
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


# By answer and unit: what people type for the right answer; what else, and the words that answer it.
UNDERSTOOD = {
    (295.34, "FLOP/byte"): (
        ("≈295", "~295", "～ ２９５", "约 295", "约等于295", "about 295", "approx. 295", "= 295", "I* = 295.3",
         "295左右", "989.4/3.35", "989.4e12 / 3.35e12", "989.4÷3.35", "2.95e2", "2.95×10^2", "2.95x10²", "295,3",
         "295。", "295.", "295 flop/B", "295 FLOPs/byte", "295flops per byte", "295 FLOP/字节", "295 次运算每字节",
         "295 GFLOP/GB"),
        {"295-296": "several", "295, 296": "several", "294½": "several", "1/(1/295)": "several", "1.2.3": "number",
         "<295": "number", "295 ms": "unit", "295 FLOP·byte": "unit", "1.024,5": ("read", "1,024.5 FLOP/byte"),
         "10³": ("read", "1,000 FLOP/byte"), "290 295": ("read", "290,295 FLOP/byte")},
    ),
    (1024, "FLOP/byte"): (
        ("1 024", "1\u2009024", "1\u202f024", "1'024", "1’024", "1_024", "1,024", "1，024", "1.024,0", "1 024,0",
         "2^10"),
        {"10 24": "several", "1 0245": "several", "1,02,4": "number"},
    ),
    (56, "KiB"): (
        ("56 kib", "56KIB", "57.344 KB", "57.344千字节", "57344 字节", "0.0547 MiB", "448 Kibit", "2*28*4*128*2/1024"),
        {"56 KB": "kilo", "56 kilobytes": ("read", "54.6875 KiB"), "56 ms": "unit"},
    ),
    (14.15, "ms"): (
        ("14.15MS", "14.15 毫秒", "14150 µs", "14150 us", "14150 微秒", "0.01415 s", "at least 14.15", "≥ 14.15"),
        {"14.15 秒": ("read", "14,150 ms"), "14.15 tokens": "unit"},
    ),
    (130.6, "token"): (("131 tokens", "131 个", "131 个 token", "M ≥ 131", "M >= 131", "131 行"), {}),
    (0.93952, "GFLOP"): (("940 MFLOP", "0.94 gflops", "9.4e8 flop", "9.4 亿次"), {"0.94 TFLOP": ("read", "940 GFLOP")}),
    (0.5, ""): (("50%", "50 ％", "1/2", "½"), {"5/10%": ("read", "0.005")}),
}


@both_languages
def test_whatever_people_type_is_read_or_answered_with_a_reason(watch, language):
    page, words = watch.open(language, "lesson"), WORDS[language]
    cases = [
        ({"answer": answer, "unit": unit, "tolerance": 0.01, "slips": []}, text, reply)
        for (answer, unit), (right, others) in UNDERSTOOD.items()
        for text, reply in {**dict.fromkeys(right, "right"), **others}.items()
    ]
    said = page.evaluate(
        """async (cases) => {
          const site = document.querySelector("script[src*='site.js']").src;
          const { judge } = await import(site.replace("site.js", "quiz.js"));
          return cases.map(([question, text]) => judge(question, text));
        }""",
        cases,
    )
    wrong = []
    for (question, text, reply), got in zip(cases, said, strict=True):
        kind, value = reply if isinstance(reply, tuple) else (reply, "")
        if words[kind].format(value) not in got["say"] or got.get("right", False) != (kind == "right"):
            wrong.append((question["answer"], text, got))
    assert wrong == []


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


PHONE = {"viewport": {"width": 320, "height": 640}}


@pytest.mark.parametrize("watch", [PHONE], indirect=True, ids=["320 px"])
@both_languages
def test_what_is_solved_says_so_until_progress_is_cleared_which_can_be_undone(watch, language):
    page, words = watch.open(language, "lesson"), WORDS[language]
    question = asked(page, "q-proj-64")
    field = question.get_by_role("textbox")
    assert words["solved"] not in question.inner_text()
    field.fill("61.8")
    field.press("Enter")
    expect(question.locator(".asked")).to_contain_text(words["solved"])
    field.fill("5")  # what was solved stays so
    field.press("Enter")
    expect(question.locator(".asked")).to_contain_text(words["solved"])
    page.reload()
    question = asked(page, "q-proj-64")
    described = question.get_by_role("textbox").get_attribute("aria-describedby").split()
    heard = " ".join(page.locator(f"#{name}").inner_text() for name in described)
    assert words["solved"] in heard  # by who listens, too
    field = question.get_by_role("textbox")
    field.fill("61.8")
    field.press("Enter")

    progress = page.locator("[data-progress]")
    progress.scroll_into_view_if_needed()
    line, button = progress.get_by_role("status"), progress.get_by_role("button")
    expect(progress.get_by_role("listitem").nth(2)).to_contain_text(words["solved"])
    assert progress.evaluate("box => [...box.querySelectorAll('li')].every((li) => li.offsetHeight >= 24)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert progress.evaluate("box => box.scrollWidth <= box.clientWidth")
    markers = "box => [...box.querySelectorAll('li')].map((li) => li.getBoundingClientRect().x - box.offsetLeft)"
    assert min(progress.evaluate(markers)) > 32  # room for the two digits of the last ones
    for name, outcome, count in (("clear", "cleared", 0), ("undo", "restored", 1), ("clear", "cleared", 0)):
        expect(button).to_have_text(words[name])
        button.focus()
        page.keyboard.press("Enter")  # the focus stays with the button
        expect(line).to_contain_text(words[outcome])
        expect(line).to_contain_text(words["progress"].format(count))
        expect(question.locator(".asked .mark")).to_have_text(words["solved"] if count else "")
    expect(question.get_by_role("textbox")).to_have_value("")
    expect(question.locator(".feedback")).to_be_empty()
    page.reload()
    assert words["solved"] not in asked(page, "q-proj-64").inner_text()


def test_what_a_reader_types_is_no_html(watch):
    page = watch.open("en", "lesson")
    question = asked(page, "q-proj-64")
    question.get_by_role("textbox").fill("<b>x</b>")
    page.keyboard.press("Enter")
    expect(question.locator(".feedback")).to_contain_text("“<b>x</b>”")


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
    expect(question).to_contain_text("4 FLOP/byte")


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
