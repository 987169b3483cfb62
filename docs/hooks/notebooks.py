"""The stored notebooks as pages: mkdocs-jupyter converts them, and their pages become like any other.

Its template is ours (docs/notebook/template), so that no style sheet and no script of Jupyter's comes along. What is
left to do here: headings get the anchors that the cells' metadata hold (Jupyter makes empty ones of Chinese), formulas
go the way of all formulas, and the drawing of a run goes the way of all charts: drawn anew in the page's language, from
the data that the notebook keeps beside it. Nothing is run: the outputs are the stored ones.
"""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs_jupyter.config import settings
from project import ROOT, PageError

FORMULA = re.compile(r"(<(pre|code)\b.*?</\2>)|\$([^$\n]+)\$", re.DOTALL)
HEADING = re.compile(r'<(?P<tag>h[1-6])\b[^>]*>(?P<title>.*?)<a class="anchor-link".*?</a></(?P=tag)>', re.DOTALL)
STYLES = re.compile(r"<style>.*?</style>\s*", re.DOTALL)
SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
RUN = "application/vnd.operator-roofline.lab+json"  # MIME of roofline_calc.measured
TITLE = re.compile(r"<dc:title>(.*?)</dc:title>", re.DOTALL)
WORDS = {
    "zh": {"download": "下载这个 notebook", "chart": "实测 roofline：{}"},
    "en": {"download": "Download this notebook", "chart": "Measured roofline: {}"},
}


def use_our_template() -> None:
    """Have mkdocs-jupyter write what the site's styles know."""
    settings.templates_dir = str(ROOT / "docs" / "notebook" / "template")


def tidied(content: str, page: Any, language: str, link_title: str) -> str:
    """What mkdocs-jupyter made of a notebook, as a page of this site.

    Raises:
        PageError: its headings and the anchors in its metadata are not equally many, or a drawing is not of a run.
    """
    source, words = Path(page.file.abs_src_path), WORDS[language]
    anchors = anchors_of(json.loads(source.read_text(encoding="utf-8")))
    entries = list(_flat(page.toc))
    if len(entries) != len(anchors):
        raise PageError(
            f"{len(entries)} headings and {len(anchors)} anchors: each heading of a text cell needs its anchor in the "
            'cell\'s metadata, {"anchors": ["name", …]}'
        )
    for entry, anchor in zip(entries, anchors, strict=True):
        entry.id = anchor
    page.present_anchor_ids = set(anchors)
    content = _with_headings(STYLES.sub("", content), iter(anchors), link_title)
    download = f'<p><a href="{source.name}" download>{words["download"]}</a></p>'
    content = content.replace("</h1>", f"</h1>\n{download}", 1)
    if len(SVG.findall(content)) != len(charts_in(source)):
        raise PageError("a drawing without the data of its run, or a second one: see the cell that draws the roofline")
    content = SVG.sub(lambda svg: _figure(svg[0], source.stem, words["chart"]), content)
    return FORMULA.sub(lambda found: found[1] or rf'<span class="arithmatex">\({found[3]}\)</span>', content)


def anchors_of(notebook: dict[str, Any]) -> list[str]:
    """The anchors of a notebook's headings, in order."""
    return [anchor for cell in notebook["cells"] for anchor in cell["metadata"].get("anchors", ())]


def _flat(toc: Any) -> Iterator[Any]:
    for entry in toc:
        yield entry
        yield from _flat(entry.children)


def _with_headings(content: str, anchors: Iterator[str], link_title: str) -> str:
    def heading(found: re.Match[str]) -> str:
        anchor = next(anchors)
        link = f'<a class="headerlink" href="#{anchor}" title="{link_title}">&para;</a>'
        return f'<{found["tag"]} id="{anchor}">{found["title"]}{link}</{found["tag"]}>'

    return HEADING.sub(heading, content)


def charts_in(source: Path) -> set[str]:
    """The chart of the run whose data a notebook keeps; snippets/figures.py draws it under the notebook's name."""
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    kinds = {kind for cell in cells for output in cell.get("outputs", ()) for kind in output.get("data", ())}
    return {source.stem} if RUN in kinds else set()


def _figure(svg: str, chart: str, label: str) -> str:
    """A chart as a page names it. What it shows, with its numbers, is the title of the stored drawing."""
    title = TITLE.search(svg)
    shown = html.unescape(title[1].partition(": ")[2] if title else chart)
    return f'<figure><img alt="{html.escape(label.format(shown))}" src="../figures/{chart}.svg"></figure>'
