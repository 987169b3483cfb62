"""``{{ expression:format }}`` in a page becomes the number that roofline_calc computes.

In running text the number carries its expression, shown on hover and keyboard focus; inside maths, headings,
alternative text and HTML tags it is the bare number. Code keeps its braces.
"""

import contextlib
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from computed import ROOT, ComputationError, python, source_digest
from mkdocs.exceptions import PluginError

TOKEN = re.compile(
    r"""
      (?P<code> ^(?P<indent>[ \t]*)(?P<ticks>`{3,})[^\n]*\n .*? ^(?P=indent)(?P=ticks)[ \t]*$   # a fenced block
              | (?<!`)(?P<run>`+)(?!`) .+? (?<!`)(?P=run)(?!`)                                 # a code span
              | <!-- .*? --> )
    | (?P<bare> \\\[ .*? \\\] | \\\( .*? \\\)             # maths
              | ^\#{1,6}[ ][^\n]*$                       # a heading
              | ^(?:\?{3}\+?|!{3})[^\n]*$                # the title of a collapsible block or an admonition
              | !\[ (?: \{\{.*?\}\} | [^\]] )* \]        # alternative text
              | <[a-zA-Z] (?: \{\{.*?\}\} | [^>] )* > )  # an HTML tag's attributes
    | \{\{ (?P<field> .*? ) \}\}
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
FIELD = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


class ExpressionError(Exception):
    """An expression of a page failed; says which, on which line, and why."""


def fill(
    markdown: str, evaluate: Callable[[list[str]], list[dict[str, str]]], first_line: int = 1, plain: bool = False
) -> str:
    """The page with every expression replaced by what it computes.

    Args:
        evaluate: answers for a list of fields, as `evaluate.evaluate` gives them.
        first_line: the line of the file at which the Markdown begins.
        plain: bare numbers everywhere.

    Raises:
        ExpressionError: an expression failed.
    """
    found: list[tuple[str, int]] = []

    def collect(field: str, at: int) -> str:
        found.append((field.strip(), first_line + markdown.count("\n", 0, at)))
        return ""

    _substitute(markdown, collect, collect)
    if not found:
        return markdown
    answers = zip(found, evaluate([field for field, _ in found]), strict=True)

    def answer() -> dict[str, str]:
        (field, line), result = next(answers)
        if "error" in result:
            raise ExpressionError(
                f"line {line}: {{{{ {field} }}}} cannot be computed: {result['error']}. "
                "An expression may use Python's built-ins and the names in roofline_calc.__all__."
            )
        return result

    def bare(*_: object) -> str:
        return answer()["text"]

    return _substitute(markdown, bare if plain else lambda *_: number(answer()), bare)


def number(result: dict[str, str]) -> str:
    """A number with its full value, the expression that made it and the explorer's state that shows it, if any.

    assets/calculation.js shows them on hover, focus and touch; without JavaScript a mouse still finds the expression.
    """
    value, expression = (html.escape(result[key]).replace("|", "&#124;") for key in ("value", "expression"))
    state = f' data-state="{html.escape(result["state"])}"' if "state" in result else ""
    return f'<data class="computed" value="{value}" title="{expression}"{state} tabindex="0">{result["text"]}</data>'


def _substitute(markdown: str, in_text: Callable[[str, int], str], bare: Callable[[str, int], str]) -> str:
    def replace(token: re.Match[str]) -> str:
        if token["field"] is not None:
            return in_text(token["field"], token.start())
        if token["bare"] is not None:
            return FIELD.sub(lambda field: bare(field[1], token.start() + field.start()), token[0])
        return token[0]

    return TOKEN.sub(replace, markdown)


def fields_of(markdown: str) -> list[str]:
    """Every expression of a page, in order."""
    found: list[str] = []

    def collect(field: str, _: int) -> str:
        found.append(field.strip())
        return ""

    _substitute(markdown, collect, collect)
    return found


_answers: dict[tuple[str, str], dict[str, str]] = {}


def with_calculator(fields: list[str]) -> list[dict[str, str]]:
    """The fields' answers, from `evaluate.py` run in a subprocess; asked again only when a source has changed."""
    digest = source_digest()
    unknown = [field for field in dict.fromkeys(fields) if (digest, field) not in _answers]
    if unknown:
        answers = json.loads(python("docs/hooks/evaluate.py", stdin=json.dumps(unknown)))
        _answers.update({(digest, field): answer for field, answer in zip(unknown, answers, strict=True)})
    return [_answers[digest, field] for field in fields]


def on_files(files: Any, config: Any) -> Any:
    """Ask for the expressions of all pages of both languages at once: one subprocess instead of one a page."""
    pages = sorted(Path(config.docs_dir).parent.glob("??/**/*.md"))
    with contextlib.suppress(ComputationError):  # it comes again, with the page's name
        with_calculator([field for page in pages for field in fields_of(page.read_text(encoding="utf-8"))])
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    if not page.file.src_uri.endswith(".md"):  # a notebook
        return markdown
    source = page.file.content_string
    first_line = 1 + source[: source.rfind(markdown)].count("\n")
    try:
        if "description" in page.meta:
            page.meta["description"] = fill(page.meta["description"], with_calculator, plain=True)
        return fill(markdown, with_calculator, first_line)
    except (ExpressionError, ComputationError) as error:
        where = Path(page.file.abs_src_path).relative_to(ROOT)
        raise PluginError(f"{where}, {error}") from error
