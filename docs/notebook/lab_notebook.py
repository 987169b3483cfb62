"""Bring the code of the lab's notebooks up to date, run it, and store it in both with its outputs.

    python docs/notebook/lab_notebook.py

docs/zh/lab-notebook.ipynb and docs/en/lab-notebook.ipynb are edited as notebooks. A code cell whose metadata have a
``section``, such as ``snippets/gpu_lab.py:timer``, shows that section of the program as it stands there; every other
cell is the notebook's own. Both languages have the same code, so it runs once and its outputs go into both.
"""

import re
from itertools import zip_longest
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent.parent
LANGUAGES = ("zh", "en")


def stored(language: str) -> Path:
    """Where the notebook is."""
    return ROOT / "docs" / language / "lab-notebook.ipynb"


def section(name: str) -> str:
    """A marked section of a program, named as in a page."""
    file, _, mark = name.partition(":")
    text = (ROOT / file).read_text(encoding="utf-8")
    found = re.search(rf"# --8<-- \[start:{mark}\]\n(.*?)\n# --8<-- \[end:{mark}\]", text, re.DOTALL)
    if not found:
        raise SystemExit(f"{file} has no section {mark}")
    return found[1]


def refreshed(language: str) -> Any:
    """The notebook of one language with the code that the programs have now, not yet run."""
    notebook = nbformat.read(stored(language), as_version=4)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # an editor's are random, and so differ between the languages
        if name := cell.metadata.get("section"):
            cell.source = section(name)
    return notebook


def check_alike(one: Any, other: Any) -> None:
    """Refuse notebooks that differ in more than the words of their text cells."""
    for a, b in zip_longest(one.cells, other.cells):
        if not a or not b:
            raise SystemExit(f"{(a or b).id}: in one language only")
        for part in ("cell_type", "metadata", *(("source",) if a.cell_type == "code" else ())):
            if a[part] != b[part]:
                raise SystemExit(f"{a.id}: {part} differs between the languages")


def execute(notebook: Any, folder: Path) -> None:
    """Run a notebook from top to bottom, its outputs left in it. A cell that fails raises CellExecutionError."""
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()


def main() -> None:
    notebooks = {language: refreshed(language) for language in LANGUAGES}
    check_alike(*notebooks.values())
    ran = notebooks["en"]
    execute(ran, ROOT)
    for language, notebook in notebooks.items():
        for cell, run in zip(notebook.cells, ran.cells, strict=True):
            cell.metadata.pop("execution", None)  # the times at which each cell ran
            if cell.cell_type == "code":
                cell.update(outputs=run.outputs, execution_count=run.execution_count)
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, stored(language))
        print(stored(language).relative_to(ROOT))


if __name__ == "__main__":
    main()
