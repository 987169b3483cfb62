"""Read a page's Markdown as the checks need it: its expressions, its structure, and the text a reader sees."""

import re
from pathlib import Path

import expressions

DOCS = Path(__file__).parent.parent / "docs"


def source(language: str, page: str) -> str:
    """The page's Markdown without its front matter."""
    text = (DOCS / language / page).read_text(encoding="utf-8")
    return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)


def fields(language: str, page: str) -> list[str]:
    """Every expression of the page in order, front matter included."""
    found: list[str] = []

    def collect(field: str, _: int) -> str:
        found.append(" ".join(field.split()))
        return ""

    expressions._substitute((DOCS / language / page).read_text(encoding="utf-8"), collect, collect)
    return found


PARTS = re.compile(
    r"""^(?P<heading>\#+)[ ][^\n]*\{[ ]*\#(?P<anchor>[\w-]+)[ ]*\}[ ]*$
      | ^(?P<unanchored>\#+[ ][^\n]*)$
      | ^:::[ ](?P<entry>\w+)$
      | ^[ ]*```(?P<code>\w+[^\n]*\n.*?)^[ ]*```$
      | !\[(?:\{\{.*?\}\}|[^\]])*\]\((?P<figure>[^)]+)\)
      | \]\((?P<link>[^)]+)\)
      | ^(?P<box>\?\?\?\+?|!!!)[ ]\w+
      | class="(?P<css>[\w -]+)"
      | \{\.(?P<mark>[\w-]+)\}
      | \\[(\[](?P<maths>.*?)\\[)\]]
      | \{\{(?P<expression>.*?)\}\}""",
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)


def structure(language: str, page: str) -> list[tuple[str, str]]:
    """What both languages share, in order: headings' levels and anchors, code, figures, links, maths, expressions."""
    parts = []
    for match in PARTS.finditer(source(language, page)):
        if match["anchor"]:
            parts.append((f"h{len(match['heading'])}", match["anchor"]))
            continue
        kind = match.lastgroup or ""
        text = re.sub(r"\\text\{[^}]*\}", "", match[kind])  # words within a formula
        parts.append((kind, " ".join(text.split())))
        if kind == "figure":
            parts += [("expression", field) for field in re.findall(r"\{\{ *(.*?) *\}\}", match[0])]
    return parts
