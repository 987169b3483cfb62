"""Run, Edit, Reset and Stop in real browsers: by mouse, keyboard and touch, wide and narrow, in both palettes."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import PHONE, SCHEMES, Watch, violations
from firefox import Firefox, firefox
from listing import COLD, WORDS, button, edit, ends, fill, lines, listing, run_code
from playwright.sync_api import Browser, expect
from support import LANGUAGES, ROOT, ROOTS, Files, Server

WIDE = {"viewport": {"width": 1440, "height": 900}}
TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
both_languages = pytest.mark.parametrize("language", LANGUAGES)


def cpython(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("watch", "language", "path"),
    [
        pytest.param(WIDE | scheme, language, path, id=f"{language}-{path}-{scheme['color_scheme']}")
        for path in ("lesson", "command-line", "explorer")
        for scheme, language in zip(SCHEMES, LANGUAGES, strict=True)
    ],
    indirect=["watch"],
)
def test_a_listing_prints_what_cpython_prints_and_nothing_was_loaded_before(watch, language, path):
    page = watch.open(language, path)
    block = listing(page, language)
    watch.settle()
    assert [url for url in watch.requests if re.search("pyodide|run-worker|editor", url)] == []
    button(block, language, "run").click()
    assert ends(block, language, "done") == cpython(block.locator("pre code").text_content())
    assert len([url for url in watch.requests if "/assets/pyodide/" in url]) == 5
    own = (watch.root, f"blob:{watch.root}")  # a blob is the page's memory
    assert [url for url in watch.requests if not url.startswith(own)] == []
    assert watch.complaints == []
    assert violations(page, "div.run") == []
    edit(block, language)
    assert violations(page, "div.run") == []
    assert watch.complaints == []


@pytest.mark.parametrize("watch", [TOUCH], indirect=True, ids=["320"])
@both_languages
def test_by_touch_on_a_phone(watch, language):
    page = watch.open(language, "lesson")
    block = listing(page, language)
    height = block.bounding_box()["height"]
    button(block, language, "edit").tap()
    code = block.get_by_role("textbox", name=WORDS[language]["code"])
    expect(code).to_be_focused()
    assert code.evaluate("box => getComputedStyle(box).fontSize") == "16px"  # or an iPhone zooms in
    expect(button(block, language, "run").locator("kbd")).to_be_hidden()  # no keyboard, no shortcut
    fill(code, "def f(x):\n    return 1 / x\nprint('算')\nf(0)")
    button(block, language, "run").tap()
    printed = ends(block, language, "failed")
    assert printed.startswith("算\nTraceback (most recent call last):\n")
    assert 'File "calculator.py", line 4, in <module>' in printed
    assert 'File "calculator.py", line 2, in f' in printed
    assert printed.count("File") == 2
    assert printed.endswith("ZeroDivisionError: division by zero\n")
    for box in [block.get_by_role("button").nth(i).bounding_box() for i in range(2)]:
        assert min(box["width"], box["height"]) >= 24
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    button(block, language, "reset").tap()
    button(block, language, "discard").tap()
    expect(code).to_have_count(0)
    expect(block.locator(".printed")).to_be_hidden()
    assert block.bounding_box()["height"] == pytest.approx(height, abs=2)
    assert watch.complaints == []


@both_languages
def test_by_keyboard_alone(watch, language):
    page = watch.open(language, "lesson")
    block, words = listing(page, language), WORDS[language]
    button(block, language, "run").focus()
    page.keyboard.press("Tab")
    expect(button(block, language, "edit")).to_be_focused()
    page.keyboard.press("Enter")
    code = block.get_by_role("textbox", name=words["code"])
    expect(code).to_be_focused()
    expect(code).to_have_accessible_description(re.compile(words["hint"]))
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("for M in range(3):\nfor K in range(1):\nprint(M)\nimport torch")  # Enter indents, and keeps it
    indented = ["    for K in range(1):", "        print(M)", "        import torch"]
    assert lines(code)[1:4] == indented
    for key, indent in (("Home", 8), ("Backspace", 4), ("Tab", 8), ("Shift+Tab", 4), ("Shift+Tab", 0)):
        page.keyboard.press(key)
        assert lines(code)[3] == " " * indent + "import torch", key
    expect(code).to_be_focused()
    page.keyboard.press("ControlOrMeta+z")
    assert lines(code)[3] != "import torch"
    page.keyboard.press("ControlOrMeta+y")
    assert lines(code)[3] == "import torch"
    page.keyboard.press("ControlOrMeta+f")
    expect(block.get_by_role("textbox", name=words["find"], exact=True)).to_be_focused()
    expect(block.get_by_role("button", name=words["next"], exact=True)).to_be_visible()
    page.keyboard.type("range(1)\n")
    expect(block.locator(".cm-searchMatch")).to_have_text("range(1)")
    assert violations(page, "div.run") == []
    page.keyboard.press("Escape")
    expect(code).to_be_focused()
    page.keyboard.press("ControlOrMeta+Enter")  # which the button says
    expect(button(block, language, "run")).to_have_accessible_name(f"{words['run']} Ctrl+Enter")
    printed = ends(block, language, "failed")
    assert printed.startswith("0\n1\n2\nTraceback")
    assert printed.rstrip().endswith(words["missing"])
    expect(code).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")  # leaves the editor
    expect(button(block, language, "run")).to_be_focused()
    page.keyboard.press("Enter")
    ends(block, language, "failed")
    expect(button(block, language, "run")).to_be_focused()
    page.keyboard.press("Tab")
    for last in ("Escape", "Enter"):  # Reset asks, and takes no for an answer
        page.keyboard.press("Enter")
        asking = block.get_by_role("dialog", name="calculator.py")
        expect(asking.get_by_role("button", name=words["keep"])).to_be_focused()
        assert violations(page, "div.run dialog") == []
        page.keyboard.press(last)
        expect(asking).to_have_count(0)
        expect(button(block, language, "reset")).to_be_focused()
        assert lines(code)[0] == "for M in range(3):"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the changes go, and Reset with them
    expect(button(block, language, "edit")).to_be_focused()
    page.keyboard.press("Enter")
    expect(code).to_be_focused()
    button(block, language, "reset").click()  # nothing to lose
    expect(button(block, language, "edit")).to_be_focused()
    assert watch.complaints == []


# Seconds from the press on Stop: until the page says so, and until the program's last sign of life.
STOPPED = """
async (stop) => {
  const status = document.querySelector(".run [role=status]"), said = status.textContent;
  const channel = new BroadcastChannel("beat"), start = performance.now();
  let last = 0, told = 0;
  channel.onmessage = () => { last = performance.now() - start; };
  new MutationObserver(() => { told ||= performance.now() - start; }).observe(status, { childList: true });
  stop.click();
  await new Promise((done) => setTimeout(done, 1000));
  return [told / 1000, last / 1000, status.textContent];
}
"""
BEATING = """
from js import BroadcastChannel
channel = BroadcastChannel.new("beat")
print("start")
while True:
    channel.postMessage(1)
    for i in range(20000): pass
"""


def test_an_endless_loop_is_stopped_while_the_page_lives(watch):
    language = "en"
    block = listing(watch.open(language, "lesson"), language)
    edit(block, language)
    run_code(block, language, BEATING)
    expect(block.locator(".printed")).to_have_text("start\n", timeout=COLD)  # although it goes on
    assert block.page.evaluate("1 + 1") == 2
    stop = button(block, language, "stop")
    told, last, said = block.page.evaluate(STOPPED, stop.element_handle())
    assert said == "Stopped."
    assert told <= 0.2
    assert last <= 0.2
    assert "KeyboardInterrupt" in ends(block, language, "stopped")
    run_code(block, language, "print('again')")  # by the same Python
    expect(block.locator(".printed")).to_have_text("again\n", timeout=COLD)

    run_code(block, language, "print('deaf')\nsum(range(10 ** 12))")  # not a line of Python in it to interrupt
    expect(block.locator(".printed")).to_have_text("deaf\n", timeout=COLD)
    stop.focus()
    told, _, said = block.page.evaluate(STOPPED, stop.element_handle())
    assert said == "Stopped."
    assert told <= 0.2
    expect(button(block, language, "run")).to_be_focused()
    run_code(block, language, "print('anew')")
    assert ends(block, language, "done") == "anew\n"


def test_a_flood_of_output_is_cut(watch):
    language = "zh"
    block = listing(watch.open(language, "lesson"), language)
    button(block, language, "run").click()
    button(block, language, "stop").click()  # before Python is there
    ends(block, language, "stopped")
    edit(block, language)
    run_code(block, language, "i = 0\nwhile True:\n    print(i)\n    i += 1")
    printed = block.locator(".printed")
    expect(printed).to_contain_text(WORDS[language]["cut"], timeout=COLD)
    assert 100_000 < len(printed.text_content()) < 100_100
    button(block, language, "stop").click()
    ends(block, language, "stopped")
    run_code(block, language, "print('x' * 100_000, end='')")  # exactly what is allowed
    assert len(ends(block, language, "done")) == 100_000
    assert watch.complaints == []


def test_a_turn_of_a_knob_in_the_explorer_puts_its_program_back(watch):
    language = "en"
    page = watch.open(language, "explorer")
    page.locator(".explorer .point").first.wait_for()
    block = listing(page, language)
    edit(block, language)
    run_code(block, language, "print('mine')")
    assert ends(block, language, "done") == "mine\n"
    field = page.get_by_role("textbox", name=WORDS[language]["batch"], exact=True)
    field.fill("64")
    expect(block.locator(".cm-editor")).to_have_count(0)
    expect(block.locator(".printed")).to_be_hidden()
    button(block, language, "run").click()
    code = block.locator("pre code").text_content()
    assert "\nbatch = 64\n" in code
    assert ends(block, language, "done") == cpython(code)


@pytest.fixture
def failing(site: Path) -> Iterator[Server]:
    """A server whose connection breaks in the middle of the WebAssembly as long as ``broken`` is set."""

    class Failing(Files):
        def copyfile(self, source, outputfile) -> None:
            whole = source.read()
            if server.broken and self.path.endswith(".wasm.gz"):
                outputfile.write(whole[: len(whole) // 2])
                time.sleep(1)  # for half of it to arrive
            else:
                outputfile.write(whole)

    server = Server(site, Failing)
    server.broken = True
    yield server
    server.stop()


HEAR = """
(status) => {
  window.said = [];
  new MutationObserver(() => said.push(status.textContent)).observe(status, { childList: true });
}
"""


@both_languages
def test_a_network_that_fails_midway_says_so_and_the_next_try_works(browser: Browser, failing, language):
    context = browser.new_context(viewport=PHONE)
    watch = Watch(context, failing.address)
    block = listing(watch.open(language, "command-line"), language)
    status = block.get_by_role("status")
    status.evaluate(HEAR)
    button(block, language, "run").click()
    expect(status).to_contain_text(WORDS[language]["lost"], timeout=COLD)
    assert any(WORDS[language]["loading"] in said for said in block.page.evaluate("said"))  # so far, in MB
    expect(button(block, language, "stop")).to_be_hidden()
    failing.broken = False
    button(block, language, "run").click()
    assert ends(block, language, "done") == cpython(block.locator("pre code").text_content())
    context.set_offline(True)
    button(block, language, "run").click()  # what is here needs no network
    ends(block, language, "done")
    context.close()


@pytest.mark.parametrize("watch", [{"java_script_enabled": False}], indirect=True, ids=["no-script"])
@both_languages
def test_without_javascript_a_listing_is_a_listing(watch, language):
    block = watch.open(language, "lesson").locator("div.run")
    assert block.get_by_role("button").count() == 0
    assert block.locator("pre code").is_visible()


BUTTON = "[...document.querySelectorAll('.run button')].find((b) => b.textContent.startsWith('{}'))"
PARTS = ("[role=status]", ".printed", ".cm-content")
STATUS, PRINTED, CODE = (f"document.querySelector('.run {part}')" for part in PARTS)


def says(tab: Firefox, word: str) -> None:
    tab.wait(f"{STATUS}.textContent.includes('{word}')")


@pytest.mark.parametrize(
    ("language", "dark", "width", "pointer"), [("zh", False, 320, "touch"), ("en", True, 1440, "mouse")]
)
def test_in_firefox(site, served, language, dark, width, pointer):
    words = WORDS[language]

    def tap(name: str) -> None:
        tab.tap(BUTTON.format(words[name]), pointer)

    with firefox(dark) as tab:
        tab.open(f"{served}{ROOTS[language]}lesson/", width, 800)
        assert tab.evaluate("document.body.dataset.mdColorScheme") == ("slate" if dark else "default")
        tab.evaluate("document.querySelector('.run .filename, .run').scrollIntoView()")
        tab.wait(BUTTON.format(words["run"]))
        loaded = "performance.getEntriesByType('resource').map((entry) => entry.name).join()"
        assert "pyodide" not in tab.evaluate(loaded)
        tap("run")
        says(tab, words["done"])
        code = tab.evaluate("document.querySelector('.run code').textContent")
        assert tab.evaluate(f"{PRINTED}.textContent") == cpython(code)

        tap("edit")
        tab.wait(f"{CODE} && document.activeElement == {CODE}")
        tab.press("Control", "a")
        tab.type("print('go')\nif 1:\n1 / 0")
        tab.press("Control", "Enter")
        says(tab, words["failed"])
        assert 'File "calculator.py", line 3' in tab.evaluate(f"{PRINTED}.textContent")
        assert tab.violations("div.run") == ""
        assert tab.evaluate("document.documentElement.scrollWidth") <= width

        for program, after in (("while True: pass", "interrupted"), ("sum(range(10 ** 12))", "ended")):
            tab.press("Control", "a")
            tab.type(f"print('start')\n{program}")
            tab.press("Control", "Enter")
            tab.wait(f"{PRINTED}.textContent == 'start\\n'")
            told = tab.evaluate(f"({STOPPED})({BUTTON.format(words['stop'])}).then((found) => found[0])")
            assert told <= 0.2, after
            says(tab, words["stopped"])
            tab.tap(CODE, pointer)
        tab.press("Control", "a")
        tab.type("if 1:")
        tab.press("Tab")
        tab.type("1")
        assert tab.evaluate(f"{CODE}.innerText").startswith("if 1:   1")
        tap("reset")
        tap("discard")
        assert tab.evaluate(CODE) is None
        assert tab.evaluate(f"document.activeElement == {BUTTON.format(words['edit'])}")
        tap("run")
        says(tab, words["done"])
