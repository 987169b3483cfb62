"""Lines break where a careful typesetter lets them: not within ``S = 2048``, not before a comma after a formula.

Browsers keep closing punctuation with the word before it, but take a formula for a picture, after which anything may
begin a line: only an element around both holds them together. Elsewhere a no-break space does.
"""

import html
import re
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate

UNIT = (
    r"(?:[kKMGT]?i?B(?:/s)?|[kMGTP]?(?:FLOP|OP)s?(?:/s|/byte)?|bytes?|bits?|tokens/s|[mµn]?s|[MG]Hz|W)(?![A-Za-z0-9_/])"
)
OPENING, CLOSING = "（「『“‘《(\\[\"", "，。、；：！？）」』”’》…,.;:!?)\\]%\""
FORMULA = re.compile(
    r"(?P<gap>(?<=[，。、；：]))?"
    rf"(?P<before>[{OPENING}]*)(?P<formula><math>.*?</math>)(?P<after>[{CLOSING}]+|[ ]{UNIT}[{CLOSING}]*)?"
    r"(?P<next>(?=[（「『《]))?",
    re.DOTALL,
)

SET_AS_IT_IS = r"<(?P<tag>pre|script|style|svg|textarea)\b.*?</(?P=tag)>"
CODE = re.compile(rf"{SET_AS_IT_IS}|(?P<gap>(?<=[，。、；：]))?<code>(?P<code>.*?)</code>", re.DOTALL)
LONG = 24  # characters of inline code that fit a line of the narrowest phone, also in a list or a note
HYPHENATED = re.compile(r"(?<![^\s>])[^\s<>]*-[^\s<>]*(?![^\s<])")

PART = re.compile(
    rf"{SET_AS_IT_IS}|<(?P<word>math|code)\b.*?</(?P=word)>|</?(?:data|em|strong|a|span|abbr|small)\b[^>]*>"
    r"|(?P<other><[^>]*>)|(?P<text>[^<]+)",
    re.DOTALL,
)
KEPT = re.compile(
    r"(?<=[\w)\]∎%])(?P<before>[ \n])(?:[=≈≠≥≤×]|&[lg]t;)(?P<after>[ \n])(?=[\w(\[∎−-])"  # S = 2048, 128 × 128
    rf"|(?<=[\d∎])(?P<unit>[ \n])(?={UNIT})"
)


def well_set(content: str) -> str:
    """A page's HTML, or a title's, with everything on one line that belongs there."""
    return _with_kept_spaces(FORMULA.sub(_tied, CODE.sub(_whole, content)))


def _tied(found: re.Match[str]) -> str:
    """Where Chinese may break without a space, Firefox breaks beside a formula or code only if it is told to."""
    before, formula, after = found["before"], found["formula"], found["after"] or ""
    together = f'<span class="tied">{before}{formula}{after}</span>' if before or after else formula
    return f"{_break(found['gap'])}{together}{_break(found['next'])}"


def _break(place: str | None) -> str:
    return "" if place is None else "<wbr>"


def _whole(found: re.Match[str]) -> str:
    """The style sheet keeps inline code on one line; what would not fit there may break, but not within an option."""
    code = found["code"]
    if code is None:
        return found[0]
    if len(html.unescape(re.sub("<[^>]*>", "", code))) <= LONG:
        return f"{_break(found['gap'])}<code>{code}</code>"
    return f'{_break(found["gap"])}<code class="long">{HYPHENATED.sub(_option, code)}</code>'


def _option(found: re.Match[str]) -> str:
    return found[0] if len(html.unescape(found[0])) > LONG else f'<span class="tied">{found[0]}</span>'


def _with_kept_spaces(content: str) -> str:
    """Spaces within a comparison and before a unit are no-break spaces, whatever element stands between."""
    pieces = list(_pieces(content))
    starts = list(accumulate((len(text) for text, _ in pieces), initial=0))
    kept = []
    for found in KEPT.finditer("".join(text for text, _ in pieces)):
        for at in (found.start(group) for group in ("before", "after", "unit") if found[group]):
            number = bisect(starts, at) - 1
            kept.append(pieces[number][1] + at - starts[number])
    ends = [*kept, len(content)]
    return "\N{NO-BREAK SPACE}".join(
        content[start:end] for start, end in zip([0, *(at + 1 for at in kept)], ends, strict=True)
    )


def _pieces(content: str) -> Iterator[tuple[str, int]]:
    """The text as it is read, tags left out, and where each piece of it lies."""
    for part in PART.finditer(content):
        if part["text"]:
            yield part["text"], part.start()
        elif part["word"]:
            yield "∎", part.start()
        elif part["other"] or part["tag"]:
            yield "\n\n", part.start()
