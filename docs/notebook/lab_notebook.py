"""Make the lab's notebooks from lab.zh.md and lab.en.md, run them, and store them with their outputs.

    python docs/notebook/lab_notebook.py

A fenced block becomes a code cell, what stands between two of them a text cell. Code comes from the lab's own
sections, named as in a page: ``--8<-- "snippets/gpu_lab.py:timer"``. Both languages have the same code, so it
runs once and its outputs go into both. The site shows what is stored; a test compares it with the sources.
"""

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LANGUAGES = ("zh", "en")
FENCE = re.compile(r"^```python(?: (?P<tag>\w+))?\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r'^--8<-- "(?P<file>[^:"]+):(?P<section>\w+)"$', re.MULTILINE)
ANCHOR = re.compile(r"^(#+ .*?) *\{ *#([\w-]+) *\}$", re.MULTILINE)
FORMULA = re.compile(r"\\\((.*?)\\\)")  # Jupyter wants dollars


def stored(language: str) -> Path:
    """Where the site takes the notebook from."""
    return ROOT / "docs" / language / "lab-notebook.ipynb"


def section(name: re.Match[str]) -> str:
    """A marked section of a program."""
    text = (ROOT / name["file"]).read_text(encoding="utf-8")
    marks = rf"# --8<-- \[start:{name['section']}\]\n(.*?)\n# --8<-- \[end:{name['section']}\]"
    found = re.search(marks, text, re.DOTALL)
    if not found:
        raise SystemExit(f"{name['file']} has no section {name['section']}")
    return found[1]


def notebook(language: str) -> Any:
    """The notebook of one language, not yet run."""
    source = (HERE / f"lab.{language}.md").read_text(encoding="utf-8")
    made = new_notebook(metadata={
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    })  # fmt: skip
    end = 0
    for fence in FENCE.finditer(source):
        _add_text(made, source[end : fence.start()])
        tags = {"tags": [fence["tag"]]} if fence["tag"] else {}
        made.cells.append(new_code_cell(SECTION.sub(section, fence["code"].rstrip()), metadata=tags))
        end = fence.end()
    _add_text(made, source[end:])
    for number, cell in enumerate(made.cells):
        cell.id = f"cell-{number}"  # random by default
    return made


def _add_text(made: Any, text: str) -> None:
    """A text cell; the anchors of its headings, which Jupyter would show, go into its metadata."""
    if text := text.strip():
        anchors = [anchor for _, anchor in ANCHOR.findall(text)]
        text = FORMULA.sub(r"$\1$", ANCHOR.sub(r"\1", text))
        made.cells.append(new_markdown_cell(text, metadata={"anchors": anchors} if anchors else {}))


def execute(made: Any, folder: Path) -> None:
    """Run a notebook from top to bottom, its outputs left in it. A cell that fails raises CellExecutionError."""
    NotebookClient(made, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()


def main() -> None:
    notebooks = {language: notebook(language) for language in LANGUAGES}
    ran = notebooks["en"]
    execute(ran, ROOT)
    for made in notebooks.values():
        for cell, run in zip(made.cells, ran.cells, strict=True):
            cell.metadata.pop("execution", None)  # the times at which each cell ran
            if cell.cell_type == "code":
                cell.update(outputs=run.outputs, execution_count=run.execution_count)
        made.metadata.language_info = {"name": "python"}
    for language, made in notebooks.items():
        nbformat.write(made, stored(language))
        print(stored(language).relative_to(ROOT))


if __name__ == "__main__":
    main()
