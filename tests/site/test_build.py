"""What an author's mistake does: the strict build stops, and says which page and why."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import LANGUAGES, NOTEBOOKS, PAGES, ROOT, copy_into, drop_questions, mkdocs_build


def append(path: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        with (root / path).open("a", encoding="utf-8") as page:
            page.write("\n\n" + text)

    return change


MISTAKES = {
    "a snippet section that is not there": (
        append("docs/en/index.md", '```python\n--8<-- "roofline_calc/operators.py:gemmm"\n```'),
        [r"index\.md", r"gemmm"],
    ),
    "a snippet file that is not there": (
        append("docs/zh/index.md", '```python\n--8<-- "snippets/calculater.py"\n```'),
        [r"index\.md", r"snippets/calculater\.py"],
    ),
    "a snippet that was not quoted": (
        append("docs/zh/index.md", "```python\n--8<-- snippets/calculator.py\n```"),
        [r"docs/zh/index\.md", r"named in quotes"],
    ),
    "an expression that fails": (
        append("docs/en/index.md", "{{ gemm_intensity(0, 1, 1) }}"),
        [r"docs/en/index\.md, line \d+", r"M = 0: must be a positive whole number"],
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
    "a broken anchor": (append("docs/zh/index.md", "[没有](lab-notebook.ipynb#gone)"), [r"index\.md", r"#gone"]),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_stops_the_build_and_is_named(one_page, tmp_path, mistake):
    make, expected = MISTAKES[mistake]
    make(one_page)
    done = mkdocs_build(one_page, tmp_path / "site")
    assert done.returncode != 0
    for pattern in expected:
        assert re.search(pattern, done.stderr), done.stderr[-2000:]


REBUILD = """
import sys
from pathlib import Path
from mkdocs.commands.build import build
from mkdocs.config import load_config

for edited in (None, *sys.argv[2:]):
    if edited:
        path, _, replaced = edited.partition(":")
        old, _, new = replaced.partition("->")
        text = Path(path).read_text(encoding="utf-8")
        assert old in text
        Path(path).write_text(text.replace(old, new) if old else f"{text}\\n\\n# 又添了几个字\\n", encoding="utf-8")
    config = load_config("mkdocs.yml", site_dir=sys.argv[1], strict=True)
    config.plugins.on_startup(command="serve", dirty=False)
    build(config)
"""


def different(one: Path, other: Path) -> list[str]:
    """The files that differ between two sites, which have the same ones."""
    names = [{path.relative_to(root) for path in root.rglob("*") if path.is_file()} for root in (one, other)]
    assert names[0] == names[1]
    return sorted(str(name) for name in names[0] if (one / name).read_bytes() != (other / name).read_bytes())


def test_what_a_running_server_builds_is_what_a_fresh_build_gives(built_copy, tmp_path_factory):
    """Though it renders only what has changed: a page of each language, a listing, a heading that others link to."""
    again, fresh = tmp_path_factory.mktemp("again"), tmp_path_factory.mktemp("fresh")
    drop_questions(built_copy)
    edited = (
        "docs/zh/lesson.md", "docs/en/accounting.md", "snippets/own/hardware.toml", "docs/zh/index.md",
        "roofline_calc/operators.py:flops=2 * M * K * N->flops=3 * M * K * N",  # numbers, outputs, charts, explorer
    )
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    subprocess.run([sys.executable, "-c", REBUILD, str(again), *edited], cwd=built_copy, env=env, check=True)
    assert mkdocs_build(built_copy, fresh).returncode == 0
    assert different(again, fresh) == []
    lesson = (again / "lesson" / "index.html").read_text(encoding="utf-8")
    assert "又添了几个字" in lesson
    assert "336.0 FLOP/byte" in lesson


def test_two_cold_builds_in_two_folders_give_the_same_bytes(copy, tmp_path_factory):
    """Nothing computed yet in either; the second a second later at least, in another time zone and locale."""
    elsewhere = copy_into(tmp_path_factory.mktemp("另一个 folder"))
    sites = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")
    assert mkdocs_build(copy, sites[0]).returncode == 0
    assert mkdocs_build(elsewhere, sites[1], TZ="Asia/Shanghai", LC_ALL="C").returncode == 0
    assert different(*sites) == []


def test_a_broken_link_stops_every_rebuild_until_it_is_mended(built_copy, tmp_path_factory):
    """Not only the first, after which its page could be taken for unchanged."""
    script = REBUILD.replace(
        "    build(config)", "    try:\n        build(config)\n    except Exception as e: print(repr(e))"
    )
    script = script.replace("for edited in (None, *sys.argv[2:])", "for edited in (None, *sys.argv[2:], *sys.argv[2:])")
    append("docs/zh/index.md", "[没有](gone.md)")(built_copy)
    into, env = tmp_path_factory.mktemp("site"), os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run([sys.executable, "-c", script, str(into), "docs/zh/interview.md"], cwd=built_copy, env=env,
                          capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.count("Aborted with 1 warnings") == 3


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
    assert "compute-bound    336.0 FLOP/byte" in page


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES + NOTEBOOKS)
def test_each_page_names_its_twin_absolutely(site, served, language, page):
    folder = "" if page == "index.md" else Path(page).stem + "/"
    html = (site / ("en/" if language == "en" else "") / folder / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">', html) == [
        ("zh-Hans", served + folder), ("en", f"{served}en/{folder}"), ("x-default", served + folder),
    ]
    assert f'<link rel="canonical" href="{served}{"en/" if language == "en" else ""}{folder}">' in html


def test_the_sitemaps_pair_the_languages(site):
    for sitemap in (site / "sitemap.xml", site / "en" / "sitemap.xml"):
        text = sitemap.read_text(encoding="utf-8")
        pages = len(PAGES) + len(NOTEBOOKS)
        assert text.count("<loc>") == pages
        assert text.count('hreflang="en"') == text.count('hreflang="zh-Hans"') == pages


def test_nothing_that_the_build_wrote_lies_in_docs(site):
    """A hook that writes into docs_dir makes the server rebuild for ever (mkdocs#3433)."""
    sources = {path.suffix for path in (ROOT / "docs" / "zh").rglob("*") if path.is_file()}
    assert sources == {".md", ".ipynb"}


def test_no_page_refers_to_another_host_for_what_it_loads(site):
    element = r'<(?:script|img|source|link rel="(?:stylesheet|icon|preconnect|preload)")'
    loads = re.compile(element + r'[^>]*(?:src|srcset|href)="(?:https?:)?//')
    for page in site.rglob("*.html"):
        assert not loads.search(page.read_text(encoding="utf-8")), page
