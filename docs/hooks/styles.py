"""The site's style sheet: one file for the browser, a part for each kind of thing for whoever works on it."""

from project import ROOT, PageError

FOLDER = ROOT / "docs" / "assets" / "styles"
# A later one has the last word.
PARTS = ("page", "theme", "figures", "tables", "numbers", "reference", "explorer", "quiz", "run", "print")


def sheet() -> bytes:
    """All parts, one after the other.

    Raises:
        PageError: a file of the folder is not among them, or one of them is missing.
    """
    found = {path.stem for path in FOLDER.glob("*.css")}
    if wrong := found.symmetric_difference(PARTS):
        raise PageError(f"docs/assets/styles: {', '.join(sorted(wrong))}: PARTS in docs/hooks/styles.py names others")
    return "\n".join(_part(name) for name in PARTS).encode()


def _part(name: str) -> str:
    return (FOLDER / f"{name}.css").read_text(encoding="utf-8")
