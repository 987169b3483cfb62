"""``{{ expression:format }}`` in a page becomes the number that roofline_calc computes.

In running text the number carries its expression, shown on hover and keyboard focus; inside maths, headings,
alternative text and HTML tags it is the bare number. Code keeps its braces.
"""

import html
import re
from collections.abc import Callable

from project import PageError

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
NEWLINE = "\n"
FIELD = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


class ExpressionError(PageError):
    """An expression of a page failed; says which, on which line, and why."""


def fill(markdown: str, evaluate: Callable[[str], dict[str, str]], first_line: int = 1, plain: bool = False) -> str:
    """The page with every expression replaced by what it computes.

    Args:
        evaluate: the answer for a field, as programs/evaluate.py gives it.
        first_line: the line of the file at which the Markdown begins.
        plain: bare numbers everywhere.

    Raises:
        ExpressionError: an expression failed.
    """

    def answer(field: str, at: int) -> dict[str, str]:
        result = evaluate(field.strip())
        if "error" in result:
            raise ExpressionError(
                f"line {first_line + markdown.count(NEWLINE, 0, at)}: {{{{ {field.strip()} }}}} cannot be computed: "
                f"{result['error']}. An expression may use Python's built-ins, the names in roofline_calc.__all__, "
                "measured, measurements and published_speed."
            )
        return result

    def bare(field: str, at: int) -> str:
        return answer(field, at)["text"]

    return substitute(markdown, bare if plain else lambda field, at: number(answer(field, at)), bare)


def number(result: dict[str, str]) -> str:
    """A number with its full value, the expression that made it and the explorer's state that shows it, if any.

    assets/calculation.js shows them on hover, focus and touch; without JavaScript a mouse still finds the expression.
    """
    value, expression = (html.escape(result[key]).replace("|", "&#124;") for key in ("value", "expression"))
    state = f' data-state="{html.escape(result["state"])}"' if "state" in result else ""
    return f'<data class="computed" value="{value}" title="{expression}"{state} tabindex="0">{result["text"]}</data>'


def substitute(markdown: str, in_text: Callable[[str, int], str], bare: Callable[[str, int], str]) -> str:
    """The page with each expression replaced by what a function makes of it and of the place where it stands.

    Args:
        in_text: for expressions in running text. bare: for those inside maths, headings and attributes.
    """

    def replace(token: re.Match[str]) -> str:
        if token["field"] is not None:
            return in_text(token["field"], token.start())
        if token["bare"] is not None:
            return FIELD.sub(lambda field: bare(field[1], token.start() + field.start()), token[0])
        return token[0]

    return TOKEN.sub(replace, markdown)
