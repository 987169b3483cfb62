"""A stored notebook becomes a page: its cells as Markdown, which then goes the way of every other page.

So its code, maths, anchors and search entries are the site's own, and its page weighs what a page weighs. Nothing is
run here: the outputs are those that docs/notebook/lab_notebook.py stored. The notebook itself lies beside its page.
"""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from computed import python
from mkdocs.structure.files import File

FORMULA = re.compile(r"(`[^`]*`)|\$([^$\n]+)\$")
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
TITLE = re.compile(r"<dc:title>(.*?)</dc:title>", re.DOTALL)
WORDS = {
    "zh": {"download": "下载这个 notebook", "chart": "图表"},
    "en": {"download": "Download this notebook", "chart": "Chart"},
}


class NotebookFile(File):
    """A notebook that MkDocs takes for a page."""

    def __init__(self, file: File, config: Any) -> None:
        super().__init__(file.src_uri, config.docs_dir, config.site_dir, config.use_directory_urls)
        self.notebook: dict[str, Any] = json.loads(file.content_string)

    def is_documentation_page(self) -> bool:
        return True


def markdown(notebook: dict[str, Any], name: str, language: str) -> str:
    """The notebook as a page's Markdown; its charts are those of `charts`, beside the page."""
    words = WORDS[language]
    parts, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(text(_joined(cell["source"]), iter(cell["metadata"].get("anchors", ()))))
            continue
        parts.append(f"````python\n{_joined(cell['source'])}\n````")
        if printed := "".join(_joined(output.get("text", "")) for output in cell["outputs"]):
            parts.append(f"```` {{ .text .output }}\n{printed.rstrip()}\n````")
        for svg in _drawings(cell):
            number += 1
            parts.append(_figure(svg, f"chart-{number}", words["chart"]))
    title, rest = parts[0].split("\n", 1)
    return "\n\n".join([title, f'<p><a href="{name}" download>{words["download"]}</a></p>', rest, *parts[1:]])


def text(source: str, anchors: Iterator[str]) -> str:
    r"""A text cell with its headings' anchors, which its metadata hold, and \(…\) for Jupyter's $…$."""
    source = HEADING.sub(lambda heading: f"{heading[0]} {{ #{next(anchors)} }}", source)
    return FORMULA.sub(lambda found: found[1] or rf"\({found[2]}\)", source)


def charts(notebook: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The notebook's drawings, each for both palettes: name and SVG."""
    drawings = (svg for cell in notebook["cells"] for svg in _drawings(cell))
    for number, svg in enumerate(drawings, start=1):
        yield f"chart-{number}.light.svg", svg
        yield f"chart-{number}.dark.svg", python("-m", "roofline_calc.palette", stdin=svg)


def _drawings(cell: dict[str, Any]) -> list[str]:
    data = [output["data"] for output in cell.get("outputs", ()) if "data" in output]
    return [_joined(drawing["image/svg+xml"]) for drawing in data if "image/svg+xml" in drawing]


def _joined(lines: str | list[str]) -> str:
    """Notebooks store a text as one string or as its lines."""
    return "".join(lines)


def _figure(svg: str, src: str, label: str) -> str:
    """A chart in both palettes; on a phone it scrolls sideways. What it shows, with its numbers, is its own title."""
    title = TITLE.search(svg)
    alt = html.escape(html.unescape(title[1])) if title else label
    images = "".join(
        f'<img class="on-{palette}" alt="{alt}" src="{src}.{palette}.svg" width="720" height="440" loading="lazy">'
        for palette in ("light", "dark")
    )
    return f'<figure><div class="scroll chart" role="group" aria-label="{label}" tabindex="0">{images}</div></figure>'


def on_files(files: Any, config: Any) -> Any:
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        page = NotebookFile(file, config)
        files.remove(file)
        files.append(page)
        folder = Path(page.dest_uri).parent
        download = (folder / Path(file.src_uri).name).as_posix()
        files.append(File.generated(config, download, abs_src_path=file.abs_src_path))
        for name, svg in charts(page.notebook):
            files.append(File.generated(config, (folder / name).as_posix(), content=svg))
    return files


def on_page_read_source(page: Any, config: Any) -> str | None:
    if isinstance(page.file, NotebookFile):
        return markdown(page.file.notebook, Path(page.file.src_uri).name, config.theme["language"])
    return None
