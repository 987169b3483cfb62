"""Make mkdocs-jupyter's pages ordinary ones: the site's own styles, pinned anchors, maths, charts in both palettes.

mkdocs-jupyter brings half a megabyte of Jupyter's styles and scripts into each page, gives Chinese headings an empty
id, and leaves formulas to a script from elsewhere. Only the text, the code and the outputs are kept.
"""

import base64
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag
from computed import python
from mkdocs.structure.files import File

ASIDE = re.compile(r"<(style|script|clipboard-copy)\b.*?</\1>|<!--.*?-->", re.DOTALL)
FORMULA = re.compile(r"(<(pre|code)\b.*?</\2>)|\$([^$\n]+)\$", re.DOTALL)
TITLE = re.compile(r"<dc:title>(.*?)</dc:title>", re.DOTALL)
WORDS = {
    "zh": {"download": "下载这个 notebook", "chart": "图表"},
    "en": {"download": "Download this notebook", "chart": "Chart"},
}


def anchors(notebook: dict[str, Any]) -> Iterator[str]:
    """The anchors of the headings in order, as docs/notebook/lab_notebook.py stores them."""
    for cell in notebook["cells"]:
        yield from cell["metadata"].get("anchors", ())


def cells(content: str) -> Iterator[tuple[str, str]]:
    """What mkdocs-jupyter made of the cells in order: (text | code | output, HTML) or (chart, SVG)."""
    for cell in BeautifulSoup(ASIDE.sub("", content), "html.parser").select(".jp-MarkdownCell, div.jp-CodeCell[id]"):
        if text := cell.select_one(".jp-MarkdownOutput"):
            yield "text", text.decode_contents()
        if code := cell.select_one(".highlight-ipynb pre"):
            yield "code", code.decode_contents().removeprefix("<span></span>")
        printed = ""
        for output in cell.select(".jp-OutputArea-output"):
            if isinstance(image := output.select_one("img"), Tag):
                yield "chart", base64.b64decode(str(image["src"]).partition(",")[2]).decode()
            elif isinstance(text := output.select_one("pre"), Tag):
                printed += text.decode_contents()
        if printed:
            yield "output", printed


def block(code: str, language: str, classes: str = "") -> str:
    """A code block as the other pages have it; the theme adds the copy button."""
    return f'<div class="language-{language} highlight{classes}"><pre><span></span><code>{code}</code></pre></div>'


def headings(content: str, ids: Iterator[str], link_title: str) -> str:
    """The text with the headings' own anchors in place of those that Jupyter made up."""

    def heading(found: re.Match[str]) -> str:
        anchor = next(ids)
        link = f'<a class="headerlink" href="#{anchor}" title="{link_title}">¶</a>'
        return f'<{found["tag"]} id="{anchor}">{found["title"]}{link}</{found["tag"]}>'

    pattern = r'<(?P<tag>h[1-6])\b[^>]*>(?P<title>.*?)<a class="anchor-link".*?</a></(?P=tag)>'
    return re.sub(pattern, heading, content, flags=re.DOTALL)


def formulas(content: str) -> str:
    r"""Jupyter's $…$ as the ``\(…\)`` that docs/hooks/maths.py typesets."""
    return FORMULA.sub(lambda found: found[1] or rf'<span class="arithmatex">\({found[3]}\)</span>', content)


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    if not page.file.src_uri.endswith(".ipynb"):
        return content
    source = Path(page.file.abs_src_path)
    words = WORDS[config.theme["language"]]
    notebook = json.loads(source.read_text(encoding="utf-8"))
    for entry, anchor in zip(_entries(page.toc), anchors(notebook), strict=True):
        entry.id = anchor
    ids = anchors(notebook)
    parts, charts = [], 0
    for kind, cell in cells(content):
        match kind:
            case "text":
                parts.append(formulas(headings(cell, ids, config.mdx_configs["toc"]["permalink_title"])))
            case "code":
                parts.append(block(cell, "python"))
            case "output":
                parts.append(block(cell, "text", " output"))
            case "chart":
                charts += 1
                for palette, svg in (("light", cell), ("dark", python("-m", "roofline_calc.palette", stdin=cell))):
                    files.append(File.generated(config, f"{source.stem}/chart-{charts}.{palette}.svg", content=svg))
                parts.append(_figure(cell, f"chart-{charts}", words["chart"]))
    title, rest = parts[0].split("</h1>", 1)
    download = f'<p><a href="{source.name}" download>{words["download"]}</a></p>'
    return "\n".join([f"{title}</h1>{download}{rest}", *parts[1:]])


def _entries(toc: Any) -> Iterator[Any]:
    for entry in toc:
        yield entry
        yield from _entries(entry.children)


def _figure(svg: str, src: str, label: str) -> str:
    """A chart in both palettes; on a phone it scrolls sideways. What it shows, with its numbers, is its own title."""
    title = TITLE.search(svg)
    alt = html.escape(html.unescape(title[1])) if title else label
    images = "".join(
        f'<img class="on-{palette}" alt="{alt}" src="{src}.{palette}.svg" width="720" height="440" loading="lazy">'
        for palette in ("light", "dark")
    )
    return f'<figure><div class="scroll chart" role="group" aria-label="{label}" tabindex="0">{images}</div></figure>'
