"""Read a page's Markdown as the checks need it: its expressions, its structure, and the text a reader sees."""

import json
import re
from pathlib import Path
from typing import Any

import expressions
import quiz
from support import ROOT

FENCE = re.compile(r"^```quiz\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCS = ROOT / "docs"


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

    text = (DOCS / language / page).read_text(encoding="utf-8")
    expressions.substitute(text, collect, collect)
    for question in map(quiz.read, FENCE.findall(text)):
        fields = [field for prose in quiz.prose_of(question) for field in expressions.FIELD.findall(prose)]
        found += [" ".join(field.split()) for field in fields]
    return found


def questions(folder: Path) -> list[dict[str, Any]]:
    """Every question of the pages in a folder."""
    found = sorted(folder.rglob("*.md"))
    return [quiz.read(source) for page in found for source in FENCE.findall(page.read_text(encoding="utf-8"))]


PARTS = re.compile(
    r"""^(?P<heading>\#+)[ ][^\n]*\{[ ]*\#(?P<anchor>[\w-]+)[ ]*\}[ ]*$
      | ^(?P<unanchored>\#+[ ][^\n]*)$
      | ^:::[ ](?P<entry>\w+)$
      | ^[ ]*```(?P<code>(?:\{[ ]\.)?\w+[^\n]*\n.*?)^[ ]*```$
      | !\[(?:\{\{.*?\}\}|[^\]])*\]\((?P<figure>[^)]+)\)
      | \]\((?P<link>[^)]+)\)
      | ^(?P<box>\?\?\?\+?|!!!)[ ]\w+
      | class="(?P<css>[\w -]+)"
      | \{\.(?P<mark>[\w-]+)\}
      | \\[(\[](?P<maths>.*?)\\[)\]]
      | \{\{(?P<expression>.*?)\}\}""",
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)


def unspoken(question: Any) -> Any:
    """A question without its prose, of which only code, maths and expressions remain."""
    if isinstance(question, list):
        return [unspoken(item) for item in question]
    if not isinstance(question, dict):
        return question
    kept = {key: unspoken(value) for key, value in question.items() if key not in quiz.LOCAL}
    marks = r"`[^`]+`|\\\(.*?\\\)|\{\{.*?\}\}"
    return kept | {key: re.findall(marks, question[key]) for key in quiz.LOCAL if key in question}


def structure(language: str, page: str) -> list[tuple[str, str]]:
    """What both languages share, in order: headings' levels and anchors, code, figures, links, maths, expressions."""
    parts = []
    for match in PARTS.finditer(source(language, page)):
        if match["anchor"]:
            parts.append((f"h{len(match['heading'])}", match["anchor"]))
            continue
        if (match["code"] or "").startswith("quiz\n"):
            parts.append(("quiz", json.dumps(unspoken(quiz.read(match["code"].removeprefix("quiz\n"))))))
            continue
        kind = match.lastgroup or ""
        text = re.sub(r"\\text\{[^}]*\}", "", match[kind])  # words within a formula
        parts.append((kind, " ".join(text.split())))
        if kind == "figure":
            parts += [("expression", field) for field in re.findall(r"\{\{ *(.*?) *\}\}", match[0])]
    return parts
