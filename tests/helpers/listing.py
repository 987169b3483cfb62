"""A listing that runs, as a reader in Chromium finds it: its words, its buttons and its editor."""

import re

from playwright.sync_api import Locator, Page, expect

WORDS = {
    "zh": {
        "run": "运行", "edit": "编辑", "reset": "还原", "stop": "停止", "code": "编辑 calculator.py",
        "discard": "丢掉改动", "keep": "继续编辑", "all": "显示全部 300 行", "fold": "收起",
        "done": "运行完毕", "failed": "程序出错", "stopped": "已停止", "lost": "网络断了", "plain": "简单的输入框",
        "cut": "输出太长", "missing": "网页里只有 Python 标准库和 roofline_calc。", "python": "得到同样数字的 Python",
        "loading": "正在下载 Python", "batch": "batch（序列数）", "find": "查找", "next": "下一个",
        "hint": "先按 Esc，再按 Tab",
    },
    "en": {
        "run": "Run", "edit": "Edit", "reset": "Reset", "stop": "Stop", "code": "Edit calculator.py",
        "discard": "Discard them", "keep": "Keep editing", "all": "Show all 300 lines", "fold": "Show fewer lines",
        "done": "Finished in", "failed": "It failed", "stopped": "Stopped.", "lost": "The connection broke",
        "plain": "plain box", "cut": "The output is too long",
        "missing": "only Python's standard library and roofline_calc.",
        "python": "Python that gives the same numbers", "loading": "Fetching Python", "batch": "batch (sequences)",
        "find": "Find", "next": "next", "hint": "press Escape, then Tab",
    },
}
COLD = 90_000  # ms until Python has been fetched and started, on a busy machine


def listing(page: Page, language: str) -> Locator:
    """The page's runnable listing, in sight and with its buttons."""
    if page.url.partition("?")[0].endswith("explorer/"):
        page.get_by_text(WORDS[language]["python"], exact=True).click()
    block = page.locator("div.run")
    block.scroll_into_view_if_needed()
    button(block, language, "run").wait_for()
    return block


def button(block: Locator, language: str, name: str) -> Locator:
    """Run says its shortcut too while the listing is edited."""
    return block.get_by_role("button", name=re.compile(rf"^{re.escape(WORDS[language][name])}( Ctrl\+Enter)?$"))


def ends(block: Locator, language: str, how: str) -> str:
    """What was printed, once the status says so."""
    expect(block.get_by_role("status")).to_contain_text(WORDS[language][how], timeout=COLD)
    return str(block.locator(".printed").evaluate("output => output.textContent"))


def edit(block: Locator, language: str) -> Locator:
    """The editor, once Edit has brought it and it has the focus."""
    button(block, language, "edit").click()
    box = block.locator(".cm-content")
    expect(box).to_be_focused()
    return box


def fill(box: Locator, code: str) -> None:
    """Put a program in place of what the editor holds."""
    box.focus()
    box.page.keyboard.press("ControlOrMeta+a")
    box.page.keyboard.insert_text(code)


def lines(box: Locator) -> list[str]:
    """What a short program's lines are; of a long one, those in sight."""
    return [line.removesuffix("\n") for line in box.locator(".cm-line").all_inner_texts()]


def run_code(block: Locator, language: str, code: str) -> None:
    fill(block.locator(".cm-content"), code)
    button(block, language, "run").click()
