"""What an author's mistake does: the strict build stops, and says which page and why."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import LANGUAGES, NOTEBOOKS, PAGES, drop_questions, mkdocs_build


def append(path: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        with (root / path).open("a", encoding="utf-8") as page:
            page.write("\n\n" + text)

    return change


MISTAKES = {
    "a snippet section that is not there": (
        append("docs/en/lesson.md", '```python\n--8<-- "roofline_calc/operators.py:gemmm"\n```'),
        [r"lesson\.md", r"gemmm"],
    ),
    "a snippet file that is not there": (
        append("docs/zh/lesson.md", '```python\n--8<-- "snippets/calculater.py"\n```'),
        [r"lesson\.md", r"snippets/calculater\.py"],
    ),
    "a snippet that was not quoted": (
        append("docs/zh/lesson.md", "```python\n--8<-- snippets/calculator.py\n```"),
        [r"docs/zh/lesson\.md", r"named in quotes"],
    ),
    "an expression that fails": (
        append("docs/en/lesson.md", "{{ gemm_intensity(0, 1, 1) }}"),
        [r"docs/en/lesson\.md, line \d+", r"M = 0: must be a positive whole number"],
    ),
    "a command that exits with another status than 0": (
        append("docs/zh/index.md", "```output\npython -c 'raise SystemExit(3)'\n```"),
        [r"index\.md", r"ended with status 3"],
    ),
    "maths that nobody knows": (
        append("docs/en/index.md", r"\(\intensty\)"),
        [r"docs/en/index\.md", r"\\intensty"],
    ),
    "a page without its twin": (
        lambda root: (root / "docs/zh/extra.md").write_text("# 多出来的一页 { #extra }\n", encoding="utf-8"),
        [r"docs/zh/extra\.md has no twin: write docs/en/extra\.md"],
    ),
    "a broken link": (append("docs/en/index.md", "[gone](gone.md)"), [r"index\.md", r"gone\.md"]),
    "a broken anchor": (append("docs/zh/index.md", "[没有](lesson.md#gone)"), [r"index\.md", r"#gone"]),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_stops_the_build_and_is_named(copy, tmp_path_factory, mistake):
    make, expected = MISTAKES[mistake]
    make(copy)
    done = mkdocs_build(copy, tmp_path_factory.mktemp("site"))
    assert done.returncode != 0
    for pattern in expected:
        assert re.search(pattern, done.stderr), done.stderr[-2000:]


def test_a_formula_that_changes_changes_the_pages(copy, tmp_path_factory):
    """One digit of the GEMM formula, and the number in the prose, the output and the charts all move."""
    drop_questions(copy)
    operators = copy / "roofline_calc" / "operators.py"
    source = operators.read_text(encoding="utf-8")
    assert "flops=2 * M * K * N" in source
    operators.write_text(source.replace("flops=2 * M * K * N", "flops=3 * M * K * N"), encoding="utf-8")
    into = tmp_path_factory.mktemp("site")
    assert mkdocs_build(copy, into).returncode == 0
    page = (into / "lesson" / "index.html").read_text(encoding="utf-8")
    assert ">336<" in page  # q_proj at M = 256: 224 times 3/2
    assert "244.4" in page  # k_proj: 162.9 times 3/2
    assert "336.0 FLOP/byte  compute-bound" in page


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES + NOTEBOOKS)
def test_each_page_names_its_twin_absolutely(site, served, language, page):
    folder = "" if page == "index.md" else Path(page).stem + "/"
    html = (site / ("en/" if language == "en" else "") / folder / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">', html) == [
        ("zh-Hans", served + folder), ("en", f"{served}en/{folder}"), ("x-default", served + folder),
    ]  # fmt: skip
    assert f'<link rel="canonical" href="{served}{"en/" if language == "en" else ""}{folder}">' in html


def test_the_sitemaps_pair_the_languages(site):
    for sitemap in (site / "sitemap.xml", site / "en" / "sitemap.xml"):
        text = sitemap.read_text(encoding="utf-8")
        pages = len(PAGES) + len(NOTEBOOKS)
        assert text.count("<loc>") == pages
        assert text.count('hreflang="en"') == text.count('hreflang="zh-Hans"') == pages


def test_nothing_that_the_build_wrote_lies_in_docs(site):
    """A hook that writes into docs_dir makes the server rebuild for ever (mkdocs#3433)."""
    sources = {path.suffix for path in (Path(__file__).parent.parent / "docs" / "zh").rglob("*") if path.is_file()}
    assert sources == {".md", ".ipynb"}


def test_no_page_refers_to_another_host_for_what_it_loads(site):
    element = r'<(?:script|img|source|link rel="(?:stylesheet|icon|preconnect|preload)")'
    loads = re.compile(element + r'[^>]*(?:src|srcset|href)="(?:https?:)?//')
    for page in site.rglob("*.html"):
        assert not loads.search(page.read_text(encoding="utf-8")), page
