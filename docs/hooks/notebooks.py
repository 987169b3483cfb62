"""The stored notebooks as pages: mkdocs-jupyter converts them, and their pages become like any other.

Its template is ours (docs/notebook/template), so that no style sheet and no script of Jupyter's comes along. What is
left to do here: headings get the anchors that the cells' metadata hold (Jupyter makes empty ones of Chinese), formulas
go the way of all formulas, and a chart is a picture in both palettes. Nothing is run: the outputs are the stored ones.
"""

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mkdocs_jupyter.config import settings
from project import ROOT, PageError

FORMULA = re.compile(r"(<(pre|code)\b.*?</\2>)|\$([^$\n]+)\$", re.DOTALL)
HEADING = re.compile(r'<(?P<tag>h[1-6])\b[^>]*>(?P<title>.*?)<a class="anchor-link".*?</a></(?P=tag)>', re.DOTALL)
STYLES = re.compile(r"<style>.*?</style>\s*", re.DOTALL)
SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
TITLE = re.compile(r"<dc:title>(.*?)</dc:title>", re.DOTALL)
WORDS = {
    "zh": {"download": "下载这个 notebook", "chart": "图表"},
    "en": {"download": "Download this notebook", "chart": "Chart"},
}


def use_our_template() -> None:
    """Have mkdocs-jupyter write what the site's styles know."""
    settings.templates_dir = str(ROOT / "docs" / "notebook" / "template")


def tidied(content: str, page: Any, language: str, link_title: str) -> str:
    """What mkdocs-jupyter made of a notebook, as a page of this site.

    Raises:
        PageError: its headings and the anchors in its metadata are not equally many.
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
    numbers = iter(range(1, 100))
    content = SVG.sub(lambda svg: _figure(svg[0], f"chart-{next(numbers)}", words["chart"]), content)
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


def charts(source: Path, in_dark: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """The notebook's drawings, each for both palettes: name and SVG."""
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    drawings = (svg for cell in cells for svg in _drawings(cell))
    for number, svg in enumerate(drawings, start=1):
        yield f"chart-{number}.light.svg", svg
        yield f"chart-{number}.dark.svg", in_dark(svg)


def _drawings(cell: dict[str, Any]) -> list[str]:
    data = [output["data"] for output in cell.get("outputs", ()) if "data" in output]
    found = [drawing["image/svg+xml"] for drawing in data if "image/svg+xml" in drawing]
    return ["".join(svg) for svg in found]  # notebooks store a text as one string or as its lines


def _figure(svg: str, src: str, label: str) -> str:
    """A chart in both palettes; on a phone it scrolls sideways. What it shows, with its numbers, is its own title."""
    title = TITLE.search(svg)
    alt = html.escape(html.unescape(title[1])) if title else label
    images = "".join(
        f'<img class="on-{palette}" alt="{alt}" src="{src}.{palette}.svg" width="720" height="440" loading="lazy">'
        for palette in ("light", "dark")
    )
    return f'<figure><div class="scroll chart" role="group" aria-label="{label}" tabindex="0">{images}</div></figure>'
