"""The lab's notebooks: never stale, run from top to bottom, and pages like any other."""

import html
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lab_notebook
import nbformat
import notebooks
import pytest
from bs4 import BeautifulSoup
from project import PageError
from support import LANGUAGES, ROOT

from roofline_calc.figure import SYMBOLS
from roofline_calc.lab_report import report
from roofline_calc.measured import MIME, results_of

CURE = "run `python docs/notebook/lab_notebook.py`, on a calm machine, and commit what it stores"


def stored(language: str) -> Any:
    return nbformat.read(lab_notebook.stored(language), as_version=4)


def sources(notebook: Any, kind: str) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == kind]


def printed(notebook: Any) -> str:
    return "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ()))


# ------------------------------------------------------------------ what is stored


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_stored_code_is_what_the_programs_have_now(language):
    made, kept = lab_notebook.refreshed(language), stored(language)
    assert sources(kept, "code") == sources(made, "code"), CURE
    assert [cell.id for cell in kept.cells] == [cell.id for cell in made.cells], CURE


def test_the_sections_that_it_shows_are_the_labs():
    shown = [cell.metadata["section"] for cell in stored("en").cells if "section" in cell.metadata]
    assert shown == [f"snippets/gpu_lab.py:{name}" for name in ("timer", "graph", "rotate", "sweep", "attention")]


@pytest.fixture
def copied(monkeypatch, tmp_path):
    """The lab and its notebooks in a folder of their own."""
    for path in ("snippets/gpu_lab.py", *(f"docs/{language}/lab-notebook.ipynb" for language in LANGUAGES)):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes((ROOT / path).read_bytes())
    monkeypatch.setattr(lab_notebook, "ROOT", tmp_path)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_changed_snippet_makes_the_stored_code_stale(copied):
    assert sources(lab_notebook.refreshed("en"), "code") == sources(stored("en"), "code")
    change(copied / "snippets" / "gpu_lab.py", "least = 256 * MB", "least = 8 * MB")
    assert sources(lab_notebook.refreshed("en"), "code") != sources(stored("en"), "code")


def test_a_section_that_is_not_there_is_named(copied):
    change(copied / "docs" / "en" / "lab-notebook.ipynb", "gpu_lab.py:timer", "gpu_lab.py:nope")
    with pytest.raises(SystemExit, match=r"snippets/gpu_lab\.py has no section nope"):
        lab_notebook.refreshed("en")


@pytest.mark.parametrize(("old", "new", "what"), [
    ("QUICK_GRID, CONTEXTS[:3]", "GRID, CONTEXTS", "cell-3: source"),
    ('"settings"\n    ]\n   },\n   "outputs"', '"setting"\n    ]\n   },\n   "outputs"', "cell-3: metadata"),
    ('"rotate"', '"rotation"', "cell-8: metadata"),
])
def test_code_or_anchors_of_one_language_are_refused_before_anything_runs(old, new, what, copied, monkeypatch):
    monkeypatch.setattr(lab_notebook, "execute", lambda notebook, folder: pytest.fail("it ran"))
    change(copied / "docs" / "zh" / "lab-notebook.ipynb", old, new)
    with pytest.raises(SystemExit, match=f"{what} differs between the languages"):
        lab_notebook.main()


def test_a_cell_of_one_language_is_refused(copied, monkeypatch):
    monkeypatch.setattr(lab_notebook, "execute", lambda notebook, folder: pytest.fail("it ran"))
    path = copied / "docs" / "en" / "lab-notebook.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.pop()
    nbformat.write(notebook, path)
    with pytest.raises(SystemExit, match=f"cell-{len(notebook.cells)}: in one language only"):
        lab_notebook.main()


def test_it_runs_once_and_both_languages_keep_code_and_outputs(copied, monkeypatch):
    """`make notebook`, but for the run itself."""
    runs = []

    def execute(notebook, folder):
        runs.append(folder)
        for number, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                cell.metadata["execution"] = {"when": "now"}
                cell.outputs, cell.execution_count = [nbformat.v4.new_output("stream", text=f"{number}")], number

    texts = {language: sources(stored(language), "markdown") for language in LANGUAGES}
    change(copied / "snippets" / "gpu_lab.py", "least = 256 * MB", "least = 8 * MB")
    monkeypatch.setattr(lab_notebook, "execute", execute)
    lab_notebook.main()
    assert runs == [copied]
    for language in LANGUAGES:
        kept = stored(language)
        assert sources(kept, "markdown") == texts[language]
        assert any("least = 8 * MB" in source for source in sources(kept, "code"))
        for number, cell in enumerate(kept.cells):
            if cell.cell_type == "code":
                assert (cell.execution_count, cell.outputs[0].text) == (number, str(number))
                assert "execution" not in cell.metadata


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_heading_has_its_anchor(language):
    for cell in stored(language).cells:
        if cell.cell_type == "markdown":
            headings = re.findall(r"^#+ ", cell.source, re.MULTILINE)
            assert len(headings) == len(cell.metadata.get("anchors", [])), cell.id


def test_both_languages_have_the_same_code_outputs_and_anchors():
    chinese, english = map(stored, LANGUAGES)
    for one, other in zip(chinese.cells, english.cells, strict=True):
        assert one.cell_type == other.cell_type
        assert one.metadata == other.metadata
        if one.cell_type == "code":
            assert (one.source, one.execution_count) == (other.source, other.execution_count)
            assert one.outputs == other.outputs


def test_the_stored_outputs_are_those_of_one_run_and_name_the_machine():
    notebook = stored("en")
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]
    text = printed(notebook)
    assert re.match(r"(cpu|cuda|xpu|mps): \S.*, last-level cache \d+ MB\ntorch \d+\.\d+.*, \w+\n", text)
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text)
    assert not re.search(r"(?:[\"\s(]|\\n)(?:/\w+){2,}|[A-Z]:\\\\", json.dumps(notebook))


def test_the_stored_data_are_those_of_the_stored_drawing_and_table():
    """The site draws the run anew, in its words: it must be the run that the notebook shows."""
    data, = (output.data for cell in stored("en").cells for output in cell.get("outputs", ()) if "data" in output)
    title = html.escape(SYMBOLS["title"].format(results_of(data[MIME])), quote=False)
    assert f"<title>{title}</title>" in data["image/svg+xml"], CURE
    rows = [line for line in "\n".join(report(data[MIME])).splitlines() if "n_q" not in line]  # whose order is lost
    assert set(rows) <= set(printed(stored("en")).splitlines()), CURE
    assert notebooks.RUN == MIME


def test_the_stored_table_has_the_points_that_its_settings_ask_for():
    pytest.importorskip("torch")
    from snippets.gpu_lab import CONTEXTS, PROMPTS, QUICK_GRID

    tables = printed(stored("en")).split("min(P,I*B)")[1:]
    sizes = [[int(size) for size in re.findall(r"^ *(\d+) ", table, re.MULTILINE)] for table in tables]
    assert sizes == [list(QUICK_GRID), list(CONTEXTS[:3]), list(PROMPTS[:2]), list(PROMPTS[:2])]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_result_is_typed_into_its_text(language):
    """It would be another machine's."""
    text = re.sub(r"`[^`]*`|Qwen2\.5-7B|M = 1\b", "", " ".join(sources(stored(language), "markdown")))
    assert re.findall(r"\d+", text) == []


# ------------------------------------------------------------------ run on this machine

SMALL = """\
from dataclasses import replace

machine = replace(machine, cache=2**20)
torch.set_num_threads(1)
K, N = 512, 256
grid, contexts, prompts, budget = (1, 8, 64), (256, 512), (64, 128), 0.005
run = Run(machine, dtype, (K, N), command="lab-notebook.ipynb")
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_runs_from_top_to_bottom(language, tmp_path):
    """As stored, with a small layer and few points; its results have the lab's structure."""
    pytest.importorskip("torch")
    notebook = stored(language)
    at = next(i for i, cell in enumerate(notebook.cells) if "settings" in cell.metadata.get("tags", ()))
    notebook.cells.insert(at + 1, nbformat.v4.new_code_cell(SMALL))
    notebook.cells.append(nbformat.v4.new_code_cell("print(json.dumps(data))"))
    lab_notebook.execute(notebook, ROOT / "docs" / language)
    data = json.loads(notebook.cells[-1].outputs[0].text)
    assert data["complete"]
    results = results_of(data)
    assert {name: [measured.size for measured in results.of(name)] for name in data["series"]} == {
        "gemm-rotated": [1, 8, 64], "gemm-reused": [1, 8, 64], "attention-decode": [256, 512],
        "attention-fused": [64, 128], "attention-naive": [64, 128],
    }
    assert results.shape == (512, 256)
    assert results.ring > 256e6
    assert all(measured.seconds > 0 for measured in results.measurements)
    short, long = results.of("attention-decode")
    assert short.cost.intensity == pytest.approx(long.cost.intensity, rel=0.05)
    drawing = next(output.data for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output)
    assert drawing["image/svg+xml"].lstrip().startswith("<svg")


# ------------------------------------------------------------------ its page


def page(site: Path, language: str) -> Path:
    return site / ("" if language == "zh" else language) / "lab-notebook" / "index.html"


@pytest.mark.parametrize("language", LANGUAGES)
def test_its_page_weighs_what_a_page_weighs(site, language):
    text = page(site, language).read_text(encoding="utf-8")
    lesson = page(site, language).parent.parent / "lesson" / "index.html"
    assert len(text.encode()) < lesson.stat().st_size
    article = BeautifulSoup(text, "html.parser").article
    assert article.select("style, script, svg, [class*=jp-], clipboard-copy") == []
    assert "$" not in article.get_text().replace("S$", "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_its_anchors_are_those_of_its_cells(site, language):
    soup = BeautifulSoup(page(site, language).read_text(encoding="utf-8"), "html.parser")
    wanted = [anchor for cell in stored(language).cells for anchor in cell.metadata.get("anchors", ())]
    assert [heading["id"] for heading in soup.article.select("h1, h2, h3")] == wanted
    listed = [link["href"] for link in soup.select(".md-sidebar--secondary a.md-nav__link")]
    assert listed == [f"#{anchor}" for anchor in wanted[1:]]
    ids = [element["id"] for element in soup.select("[id]")]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_finds_its_sections(site, language):
    index = site / ("" if language == "zh" else language) / "search" / "words.json"
    found = [entry["location"] for entry in json.loads(index.read_text(encoding="utf-8"))["docs"]]
    assert len(found) == len(set(found))
    assert "lab-notebook/#rotate" in found


@pytest.mark.parametrize("language", LANGUAGES)
def test_its_maths_code_and_charts_are_the_sites(site, language):
    at = page(site, language)
    article = BeautifulSoup(at.read_text(encoding="utf-8"), "html.parser").article
    assert len(article.select("math")) >= 3
    code = [block.text.rstrip("\n") for block in article.select(".highlight:not(.output) code")]
    assert code == [source.rstrip("\n") for source in sources(stored(language), "code")]
    assert len(article.select(".output code")) >= 4
    pictures = article.select("figure picture")
    assert [picture["class"] for picture in pictures] == [["on-light"], ["on-dark"]]
    word = {"zh": "拐点", "en": "ridge point"}[language]
    for picture in pictures:
        alt = picture.img["alt"]
        assert re.search(r"B = [\d.]+ GB/s, P = [\d.]+ TFLOP/s, I\* = [\d.]+ FLOP/byte; M = 1: [\d.]+", alt)
        for source in (picture.img["src"], picture.source["srcset"]):
            assert word in (drawn := (at.parent / source).read_text(encoding="utf-8"))
            assert f"<title>{html.escape(alt, quote=False)}</title>" in drawn


@pytest.mark.parametrize(("kinds", "drawn"), [((), 1), ((MIME,), 2)])
def test_a_drawing_that_is_not_that_of_a_stored_run_is_refused(kinds, drawn, tmp_path):
    outputs = [{"data": {kind: {} for kind in kinds}}]
    source = tmp_path / "other.ipynb"
    source.write_text(json.dumps({"cells": [{"metadata": {}, "outputs": outputs}]}), encoding="utf-8")
    page = SimpleNamespace(file=SimpleNamespace(abs_src_path=str(source)), toc=[])
    with pytest.raises(PageError, match="a drawing without the data of its run, or a second one"):
        notebooks.tidied("<svg></svg>" * drawn, page, "en", "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_can_be_downloaded(site, language):
    at = page(site, language)
    link = BeautifulSoup(at.read_text(encoding="utf-8"), "html.parser").select_one("a[download]")
    assert (at.parent / link["href"]).read_bytes() == lab_notebook.stored(language).read_bytes()
