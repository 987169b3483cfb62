"""The editor of a listing, where it opens, what is left without it; what is printed, whole; two listings at a time."""

import re

import pytest
from chromium import SCHEMES, violations
from listing import COLD, WORDS, button, edit, ends, fill, listing, run_code
from playwright.sync_api import expect
from support import LANGUAGES

WAYS = list(zip(SCHEMES, LANGUAGES, strict=True))
both = pytest.mark.parametrize(("watch", "language"), WAYS, indirect=["watch"], ids=LANGUAGES)


@pytest.mark.parametrize(
    ("path", "language", "line"),
    [("lesson", "zh", "LAYERS = {"), ("command-line", "en", "kernels = "), ("explorer", "en", "batch = ")],
)
def test_it_opens_at_the_line_that_a_reader_would_change(watch, path, language, line):
    page = watch.open(language, path)
    block = listing(page, language)
    edit(block, language)
    active = block.locator(".cm-activeLine")
    expect(active).to_have_text(re.compile(f"^{re.escape(line)}"))
    expect(active).to_be_in_viewport(ratio=0.5)  # a long line goes on at the right
    expect(button(block, language, "run")).to_be_in_viewport(ratio=1)
    page.keyboard.type("# ")  # the cursor is there too
    expect(active).to_have_text(re.compile(f"^# {re.escape(line)}"))


@both
def test_it_shows_the_listing_in_its_colours_with_line_numbers(watch, language):
    page = watch.open(language, "lesson")
    block = listing(page, language)
    code = block.locator("pre code").text_content()
    shown = page.evaluate("[...document.querySelectorAll('.run code .k, .run code .mi')].map(colour)".replace(
        "colour", "(part) => getComputedStyle(part).color"))
    box = edit(block, language)
    page.keyboard.press("ControlOrMeta+End")
    expect(block.locator(".cm-gutterElement").last).to_have_text(str(len(code.split("\n"))))
    fill(box, "for M in range(3):\n    print(M)")
    for text in ("for", "3"):
        part = box.get_by_text(text, exact=True)
        assert part.evaluate("part => getComputedStyle(part).color") in shown
    assert violations(page, "div.run") == []


@both
def test_all_rows_of_an_output_are_shown_and_very_many_on_demand(watch, language):
    page, words = watch.open(language, "lesson"), WORDS[language]
    block = listing(page, language)
    printed = block.locator(".printed")
    cut_off = "output => output.scrollHeight - output.clientHeight"
    button(block, language, "run").click()
    assert ends(block, language, "done").count("\n") == 25
    assert printed.evaluate(cut_off) == 0
    edit(block, language)
    run_code(block, language, "for i in range(300): print(i, '=' * 200)")
    more = block.get_by_role("button", name=words["all"])
    expect(more).to_be_visible(timeout=COLD)
    assert printed.evaluate(cut_off) > 0
    assert printed.evaluate(f"output => output.scrollTop - ({cut_off})(output)") == pytest.approx(0, abs=1)  # its end
    assert violations(page, "div.run") == []
    page.emulate_media(media="print")  # paper does not scroll
    assert printed.evaluate(cut_off) == 0
    assert block.locator(".cm-scroller").evaluate(cut_off) == 0
    page.emulate_media(media="screen")
    more.click()
    assert printed.evaluate(cut_off) == 0
    block.get_by_role("button", name=words["fold"], exact=True).click()
    assert printed.evaluate(cut_off) > 0
    run_code(block, language, "print(1)")
    assert ends(block, language, "done") == "1\n"
    expect(more).to_be_hidden()
    assert printed.evaluate(cut_off) == 0


SECOND = """
async (code) => {
  const run = document.querySelector("div.run"), second = document.createElement("div");
  second.className = "run";
  second.id = "second";
  second.append(document.createElement("pre"));
  second.firstChild.append(document.createElement("code"));
  second.querySelector("code").textContent = code;
  run.after(second);
  const { mount } = await import(new URL("../assets/run.js", location));
  mount(second, "second.py");
}
"""


def test_a_second_listing_runs_beside_the_first_and_each_has_its_own_stop(watch):
    language = "zh"
    page = watch.open(language, "lesson")
    first = listing(page, language).first
    edit(first, language)
    run_code(first, language, "kept = 1\nprint('deaf')\nsum(range(10 ** 12))")
    expect(first.locator(".printed")).to_have_text("deaf\n", timeout=COLD)
    page.evaluate(SECOND, "import sys\nprint('warm' if hasattr(sys, 'seen') else 'cold')\nsys.seen = True")
    second = page.locator("#second")
    for state in ("cold\n", "warm\n"):  # Python is started for it once
        button(second, language, "run").click()
        assert ends(second, language, "done") == state
    expect(button(first, language, "stop")).to_be_visible()
    button(first, language, "stop").click()
    ends(first, language, "stopped")
    run_code(first, language, "import sys\nprint(hasattr(sys, 'seen'))")  # in the Python that waits
    assert ends(first, language, "done") == "True\n"
    assert watch.complaints == []


@both
def test_where_it_cannot_be_fetched_a_plain_box_does(watch, language):
    page, words = watch.open(language, "command-line"), WORDS[language]
    page.route("**/editor.js", lambda route: route.abort())
    block = listing(page, language)
    button(block, language, "edit").click()
    box = block.locator("textarea")
    expect(box).to_be_focused()
    expect(block.get_by_role("status")).to_contain_text(words["plain"])
    code = block.locator("pre code").text_content()
    assert box.input_value() == code
    assert code[box.evaluate("box => box.selectionStart"):].startswith("kernels = ")
    assert violations(page, "div.run") == []
    box.fill("print('plain')")
    page.keyboard.press("ControlOrMeta+Enter")
    assert ends(block, language, "done") == "plain\n"
    button(block, language, "reset").click()
    button(block, language, "discard").click()
    expect(box).to_have_count(0)
