"""The explorer in a real browser: by mouse, keyboard and touch, wide and narrow, in both languages and palettes."""

import csv
import gzip
import re
import subprocess
import sys
from pathlib import Path

import pytest
from chromium import SCHEMES, violations
from playwright.sync_api import Page, expect
from support import LANGUAGES, ROOT

from roofline_calc import ACCELERATORS, MODELS, attention, crossings
from roofline_calc.catalog import RTX_4090
from roofline_calc.figure import PALETTE

WORDS = {
    "zh": {
        "batch": "batch（序列数）", "context": "上下文 S（token）", "L": "query token 数 L",
        "model": "模型", "phase": "阶段", "accelerator": "加速器",
        "reset": "重置", "copy": "复制 Python", "slider": "，滑块",
        "memory": "访存受限", "compute": "算力受限", "unmoved": "M 不改变它的强度",
        "fits": "放得下", "does not fit": "放不下", "weights": "权重", "fused": "q、k、v 与 gate、up",
        "checkpoint": "权重和 KV 缓存", "KV": "KV 缓存",
    },
    "en": {
        "batch": "batch (sequences)", "context": "context S (tokens)", "L": "query tokens L",
        "model": "model", "phase": "phase", "accelerator": "accelerator",
        "reset": "Reset", "copy": "Copy Python", "slider": ", slider",
        "memory": "memory-bound", "compute": "compute-bound", "unmoved": "M does not change its intensity",
        "fits": ": fits", "does not fit": "does not fit", "weights": "weights", "fused": "q, k, v and gate, up",
        "checkpoint": "weights and KV cache", "KV": "KV cache",
    },
}
WIDE, NARROW = {"viewport": {"width": 1440, "height": 900}}, {"viewport": {"width": 320, "height": 640}}
TOUCH = NARROW | {"has_touch": True, "is_mobile": True}
both_languages = pytest.mark.parametrize("language", LANGUAGES)
widths = pytest.mark.parametrize("watch", [WIDE, NARROW], indirect=True, ids=["1440", "320"])


def opened(watch, language: str, query: str = "") -> Page:
    page = watch.open(language, "explorer", query)
    page.locator(".explorer .chart .point").first.wait_for()
    return page


def field(page: Page, label: str):
    return page.get_by_role("textbox", name=label, exact=True)


def cells(page: Page, operator: str) -> list[str]:
    row = page.locator(".explorer tbody tr", has=page.get_by_role("button", name=operator, exact=True))
    return row.locator("td").all_inner_texts()


def picture(page: Page) -> str:
    return page.locator(".explorer .chart").inner_html() + page.locator(".explorer tbody").inner_text()


@widths
@both_languages
def test_it_starts_from_the_step_of_the_lesson(watch, language):
    page, words = opened(watch, language), WORDS[language]
    summary = page.locator(".explorer .summary").inner_text()
    for figure in ("22.23 ms", "11,515", "29.47 ms", "8,686"):  # §3.3, and `ops` of the command line, digit for digit
        assert figure in summary
    assert cells(page, "k_proj")[2:4] == ["162.9", words["memory"]]
    assert cells(page, "q_proj")[2:4] == ["224", words["compute"]]
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert watch.complaints == []
    assert [url for url in watch.requests if not url.startswith(watch.root)] == []


@both_languages
def test_each_card_is_listed_under_its_maker(watch, language):
    page = opened(watch, language)
    cards = page.get_by_label(WORDS[language]["accelerator"], exact=True)
    listed = {
        option.get_attribute("value"): option.evaluate("option => option.closest('optgroup')?.label ?? ''")
        for option in cards.locator("option").all()
    }
    assert list(listed.items()) == [(key, card.maker) for key, card in ACCELERATORS.items()]
    cards.select_option("m2-ultra")
    assert "m2-ultra" in page.url
    assert watch.complaints == []


@widths
@both_languages
def test_a_slider_moves_the_points_and_the_back_button_returns(watch, language):
    page, words = opened(watch, language), WORDS[language]
    start = picture(page)
    slider = page.get_by_role("slider", name=words["batch"] + words["slider"])
    slider.focus()
    page.keyboard.press("Home")
    expect(field(page, words["batch"])).to_have_value("1")
    assert cells(page, "q_proj")[2:4] == ["0.9994", words["memory"]]
    assert page.url.endswith("?batch=1")
    page.keyboard.press("ArrowRight")
    expect(field(page, words["batch"])).to_have_value("2")
    assert slider.get_attribute("aria-valuetext") == field(page, words["batch"]).input_value()
    page.go_back()
    expect(field(page, words["batch"])).to_have_value("1")
    page.go_back()
    expect(field(page, words["batch"])).to_have_value("256")
    assert "?" not in page.url
    assert picture(page) == start


@both_languages
def test_the_mouse_drags_a_slider_and_picks_a_point(watch, language):
    page, words = opened(watch, language), WORDS[language]
    slider = page.get_by_role("slider", name=words["batch"] + words["slider"])
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 4, middle, steps=5)
    page.mouse.up()
    assert 8 <= int(field(page, words["batch"]).input_value()) <= 32
    assert "batch=" in page.url
    page.locator('.point[data-operator="attention"]').click(force=True)
    assert words["unmoved"] in page.locator(".explorer .detail").inner_text()


@pytest.mark.parametrize("watch", [TOUCH], indirect=True, ids=["touch"])
@both_languages
def test_a_finger_picks_an_operator_and_turns_a_knob(watch, language):
    page, words = opened(watch, language), WORDS[language]
    page.locator('.point[data-operator="attention"] .hit').tap(force=True)
    assert words["unmoved"] in page.locator(".explorer .detail").inner_text()
    page.get_by_role("button", name="k_proj", exact=True).last.tap()
    crossing = crossings(MODELS["qwen2.5-7b"], RTX_4090)["k_proj"]
    assert f"{crossing:.1f}" in page.locator(".explorer .detail").inner_text()
    page.get_by_label(words["phase"], exact=True).select_option("prefill")
    assert field(page, words["L"]).input_value() == "512"
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@both_languages
def test_the_keyboard_reaches_every_operator_and_keeps_the_focus(watch, language):
    page, words = opened(watch, language), WORDS[language]
    points = page.locator(".point")
    points.first.focus()
    said = []
    for _ in range(points.count()):
        said.append(page.evaluate("document.activeElement.getAttribute('aria-label')"))
        page.keyboard.press("Tab")
    assert [label.split("：" if language == "zh" else ":")[0] for label in said] == list(
        MODELS["qwen2.5-7b"].decode_kernels(1, 1)
    )
    assert all(words["memory"] in label or words["compute"] in label for label in said)
    points.nth(3).focus()
    page.evaluate("history.pushState(null, '', '?batch=2'); dispatchEvent(new PopStateEvent('popstate'))")
    assert page.evaluate("document.activeElement.dataset.operator") == "o_proj"


WRONG = {
    "": {"zh": "请填一个数。", "en": "Enter a number."},
    "0": {"zh": "请填 1 到 65,536 之间的数。", "en": "Enter a number from 1 to 65,536."},
    "1e99": {"zh": "请填 1 到 65,536 之间的数。", "en": "Enter a number from 1 to 65,536."},
    "many": {"zh": "「many」不是数。", "en": "“many” is not a number."},
    "1.5": {"zh": "请填整数。", "en": "Enter a whole number."},
}


@both_languages
@pytest.mark.parametrize("text", WRONG)
def test_wrong_input_leaves_the_picture_and_says_what_is_wrong(watch, language, text):
    page, words = opened(watch, language), WORDS[language]
    start, batch = picture(page), field(page, words["batch"])
    batch.fill(text)
    batch.blur()
    error = page.locator("#" + batch.get_attribute("aria-describedby"))
    expect(error).to_have_text(WRONG[text][language])
    assert batch.get_attribute("aria-invalid") == "true"
    assert picture(page) == start
    assert "?" not in page.url
    batch.fill("１２８")
    expect(error).to_have_text("")
    assert batch.get_attribute("aria-invalid") is None
    assert picture(page) != start


@both_languages
def test_each_of_two_wrong_fields_says_what_is_wrong_with_it(watch, language):
    page, words = opened(watch, language), WORDS[language]
    start = picture(page)
    for label, text in {words["batch"]: "many", words["context"]: ""}.items():
        field(page, label).fill(text)
    for label, text in {words["batch"]: "many", words["context"]: ""}.items():
        error = page.locator("#" + field(page, label).get_attribute("aria-describedby"))
        expect(error).to_have_text(WRONG[text][language])
    assert picture(page) == start
    page.get_by_role("button", name=words["reset"]).click()
    assert field(page, words["batch"]).input_value() == "256"
    assert page.locator(".explorer [aria-invalid]").count() == 0


@both_languages
def test_heads_that_do_not_divide_and_queries_beyond_the_context_are_refused(watch, language):
    page, words = opened(watch, language), WORDS[language]
    page.get_by_label(words["model"], exact=True).select_option("custom")
    start, heads = picture(page), field(page, "n_q")
    heads.fill("30")
    assert "n_kv" in page.locator("#" + heads.get_attribute("aria-describedby")).inner_text()
    assert picture(page) == start
    heads.fill("32")
    assert picture(page) != start
    page.get_by_role("button", name=words["reset"]).click()
    start = picture(page)
    tokens = field(page, words["L"])
    tokens.fill("513")
    assert "512" in page.locator("#" + tokens.get_attribute("aria-describedby")).inner_text()
    assert picture(page) == start


@both_languages
def test_a_shared_address_shows_the_same_and_reset_forgets_it(watch, language):
    query = "?model=custom&n_kv=7&accelerator=h100-sxm&dtype=fp8&traffic=kv-only"
    query += "&batch=4&query_tokens=S&context=1000&weights=0.5"
    page, words = opened(watch, language, query), WORDS[language]
    assert field(page, words["L"]).input_value() == "1000"
    assert field(page, "n_kv").input_value() == "7"
    expected = attention(28, 7, 128, 1000, 1000, mask="causal", traffic="kv-only").intensity
    assert float(cells(page, "attention")[2].replace(",", "")) == pytest.approx(expected, rel=1e-3)
    page.get_by_role("button", name=words["reset"]).click()
    assert "?" not in page.url
    page.go_back()
    page.wait_for_function("location.search.includes('n_kv=7')")
    assert field(page, "n_kv").input_value() == "7"


@both_languages
def test_it_says_whether_the_step_fits(watch, language):
    """The lesson's step just fits; DeepSeek-V3 does not, nor a batch whose KV cache is too large."""
    page, words = opened(watch, language), WORDS[language]
    held = page.locator(".explorer .capacity")
    assert [figure in held.inner_text() for figure in ("15.23 GB", "7.516 GB", "22.75 GB", "25.76 GB")] == [True] * 4
    assert words["fits"] in held.inner_text()
    page.get_by_label(words["model"], exact=True).select_option("deepseek-v3")
    expect(held).to_contain_text(words["does not fit"])
    page = opened(watch, language, "?batch=1024&context=131072")
    assert [figure in held.inner_text() for figure in ("7.697 TB", "7.712 TB")] == [True] * 2
    expect(held).to_contain_text(words["does not fit"])


@both_languages
def test_linear_layers_are_separate_or_fused(watch, language):
    """§4.4: of four GEMMs only the smallest, qkv_proj, is still far from the ridge."""
    page, words = opened(watch, language), WORDS[language]
    start = picture(page)
    page.get_by_label(words["fused"], exact=True).select_option("true")
    operators = page.locator(".explorer tbody th").all_inner_texts()
    assert operators == ["qkv_proj", "o_proj", "gate_up_proj", "down_proj", "attention", "lm_head"]
    assert page.url.endswith("?fused=true")
    page.reload()
    page.locator(".explorer .chart .point").first.wait_for()
    assert page.locator(".explorer tbody th").all_inner_texts() == operators
    page.get_by_label(words["fused"], exact=True).select_option("false")
    assert picture(page) == start
    assert page.url.rpartition("/")[2] == ""


@both_languages
def test_weights_are_as_stored_until_they_are_turned(watch, language):
    """DeepSeek-V3 stores and multiplies in FP8, where the card has it; a width of one's own takes its place."""
    page = opened(watch, language, "?model=deepseek-v3&accelerator=h100-sxm&batch=64&context=4096")
    words, note = WORDS[language], page.locator(".explorer .knobs .note")
    how, weights = page.get_by_label(words["checkpoint"], exact=True), field(page, words["weights"])
    stored = MODELS["deepseek-v3"]
    mean = stored.weight_bytes() / stored.params
    assert (how.input_value(), float(weights.input_value())) == ("true", pytest.approx(mean, rel=1e-3))
    assert "fp8" in note.first.inner_text()
    start = picture(page)
    weights.fill("2")
    assert how.input_value() == "false"
    assert "fp8" not in note.first.inner_text()
    weights.blur()
    assert page.url.endswith("&weights=2")
    assert picture(page) != start
    page.get_by_label(words["accelerator"], exact=True).select_option("a100-80gb-sxm")
    how.select_option("true")
    assert "fp8" not in note.first.inner_text()  # the card has no FP8: widened
    page.get_by_label(words["accelerator"], exact=True).select_option("h100-sxm")
    assert picture(page) == start
    how.select_option("false")
    assert field(page, words["KV"]).input_value() == "2"
    assert float(weights.input_value()) == pytest.approx(mean, rel=1e-3)


@both_languages
def test_an_address_that_makes_no_sense_shows_the_start(watch, language):
    page = opened(watch, language)
    start = picture(page)
    query = "?model=gpt-9&batch=-1&context=x&dtype=fp3&mask=maybe&query_tokens=1e9&n_q=5&fused=maybe&weights=none&kv=0"
    page = opened(watch, language, query)
    assert picture(page) == start
    assert watch.complaints == []


@both_languages
def test_the_language_switch_keeps_the_settings(watch, language):
    page = opened(watch, language, "?batch=2")
    other = "English" if language == "zh" else "简体中文"
    page.locator(".md-select").hover()
    with page.expect_navigation():
        page.get_by_role("link", name=other).first.click()
    page.locator(".explorer .point").first.wait_for()
    there = WORDS["en" if language == "zh" else "zh"]
    assert field(page, there["batch"]).input_value() == "2"


@both_languages
@pytest.mark.parametrize(
    "query", [
        "", "?model=custom&n_kv=7&batch=3&query_tokens=S&weights=0.5", "?model=deepseek-v3&mask=none",
        "?model=deepseek-v3&accelerator=h100-sxm&fused=true&query_tokens=S&kv=1",
        "?model=gpt-oss-20b&accelerator=a100-80gb-sxm&batch=7",
    ]
)
def test_the_copied_python_prints_the_numbers_that_are_shown(watch, language, query):
    page, words = opened(watch, language, query), WORDS[language]
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name=words["copy"]).click()
    page.wait_for_timeout(200)
    program = page.evaluate("navigator.clipboard.readText()")
    if not query:
        source = (ROOT / "snippets" / "explorer.py").read_text(encoding="utf-8")
        assert program == source.partition('"""\n\n')[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    rows = csv.DictReader(done.stdout.replace(" ", "").splitlines())
    lines = {row["operator"]: row for row in rows if row["share"]}  # what is said beneath the table is none
    fits = "fits" if done.stdout.rstrip().endswith(": fits") else "does not fit"
    assert words[fits] in page.locator(".explorer .capacity").inner_text()
    for operator in page.locator(".explorer tbody th").all_inner_texts():
        shown = cells(page, operator)
        intensity, printed = (float(text.replace(",", "")) for text in (shown[2], lines[operator]["FLOP/byte"]))
        assert intensity == pytest.approx(printed, abs=0.051, rel=1e-3)
        assert shown[3] == words[lines[operator]["limit"].removesuffix("-bound")]
        assert shown[5] == lines[operator]["share"]


@pytest.mark.parametrize(
    "watch", [size | scheme for size in (WIDE, NARROW) for scheme in SCHEMES], indirect=True,
    ids=["1440-light", "1440-dark", "320-light", "320-dark"],
)
@both_languages
def test_axe_finds_nothing_and_colours_follow_the_palette(watch, language):
    page = opened(watch, language, "?model=custom")
    field(page, "n_q").fill("30")
    page.locator(".explorer summary").click()
    page.evaluate("scrollTo(0, 0)")
    assert violations(page) == []
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    for kind, bound in {"memory": "memory-bound", "compute": "compute-bound"}.items():
        colour = page.locator(f".point.{kind} path").first.evaluate("p => getComputedStyle(p).fill")
        assert "#{:02x}{:02x}{:02x}".format(*map(int, re.findall(r"\d+", colour))) == PALETTE[bound][dark]


@both_languages
@pytest.mark.parametrize("path", ["", "lesson", "interview"])
def test_a_page_that_shows_no_explorer_loads_none(watch, language, path):
    watch.open(language, path)
    watch.settle()
    names = {url.rpartition("/")[2] for url in watch.requests}
    assert names.isdisjoint({"explorer.js", "calc.js", "presets.json", "numbers.js"})


@both_languages
def test_the_lesson_embeds_it_below_the_static_chart(watch, language):
    page = watch.open(language, "lesson")
    page.locator(".explorer").scroll_into_view_if_needed()
    page.locator(".explorer .point").first.wait_for()
    static = page.locator("figure", has=page.locator("img[src*='roofline']")).first
    assert static.bounding_box()["y"] < page.locator(".explorer").bounding_box()["y"]
    assert page.locator(".explorer").bounding_box()["y"] < page.locator("#principles").bounding_box()["y"]


@pytest.mark.parametrize("watch", [{"java_script_enabled": False}], indirect=True, ids=["no-script"])
@both_languages
def test_without_javascript_there_are_the_chart_and_a_table(watch, language):
    page = watch.open(language, "explorer")
    assert page.locator(".explorer img:visible").count() == 1
    cells = page.locator(".explorer tr", has=page.get_by_role("rowheader", name="k_proj")).get_by_role("cell")
    assert cells.all_inner_texts() == ["26.3", "161.5", "162.9", "memory-bound", "0.160", "0.5%"]
    assert page.get_by_role("columnheader", name="FLOP/byte").count() == 1
    assert "29.473\N{NO-BREAK SPACE}ms" in page.locator(".explorer").inner_text()


@both_languages
def test_the_first_view_of_the_lesson_is_light(watch, language, site: Path):
    """At most 150 KB, gzipped as a server would."""
    watch.open(language, "lesson")
    watch.settle()
    total = 0
    for url in dict.fromkeys(watch.requests):
        path = site / url.removeprefix(watch.root).partition("?")[0]
        path = path / "index.html" if path.is_dir() else path
        body = path.read_bytes()
        total += min(len(body), len(gzip.compress(body, 9)))
    print(f"first view of the lesson ({language}): {total / 1000:.1f} KB gzip in {len(watch.requests)} requests")
    assert total <= 150_000


ENDS = """
(chart) => {
  // Where an axis ends is read off two of its ticks.
  const ticks = [...chart.querySelectorAll(".tick")].filter((tick) => Number(tick.textContent));
  const [axisX, axisY] = chart.querySelectorAll(".axis");
  const end = (ticks, position, at) => {
    const [a, b] = ticks.map((tick) => [position(tick), Math.log10(tick.textContent)]);
    return 10 ** (a[1] + ((at - a[0]) / (b[0] - a[0])) * (b[1] - a[1]));
  };
  const along = ticks.filter((tick) => tick.getAttribute("text-anchor") === "middle").slice(0, 2);
  const up = ticks.filter((tick) => tick.getAttribute("text-anchor") === "end").slice(0, 2);
  const x = (tick) => Number(tick.getAttribute("x")), y = (tick) => Number(tick.getAttribute("y")) - 4;
  return [
    end(along, x, axisX.getAttribute("x1")), end(along, x, axisX.getAttribute("x2")),
    end(up, y, axisY.getAttribute("y2")), end(up, y, axisY.getAttribute("y1")),
  ];
}
"""


@widths
def test_the_chart_has_the_axes_of_the_static_one(watch):
    """FLOP/byte: those of every roofline. TFLOP/s: 0.75 of the slope's left end, 3.15 of the flat roof."""
    page = opened(watch, "en")
    low, high = 0.75 * 0.4 * 1008e9 / 1e12, 3.15 * 165.2
    assert page.locator(".explorer .chart").evaluate(ENDS) == pytest.approx([0.4, 4096, low, high], rel=1e-6)


@both_languages
def test_the_address_names_the_chosen_operator(watch, language):
    page = opened(watch, language, "?batch=64&operator=down_proj")
    detail = page.locator(".explorer .detail")
    expect(detail).to_contain_text("down_proj")
    page.locator('.point[data-operator="attention"]').click(force=True)
    assert page.url.endswith("?operator=attention&batch=64")
    page.reload()
    expect(detail).to_contain_text("attention")
    page.goto(page.url.replace("attention", "nonsense"))
    expect(detail).to_contain_text("q_proj")
    assert watch.complaints == []
