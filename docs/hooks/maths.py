r"""TeX becomes MathML at build time: no JavaScript, and a screen reader reads the formula itself.

Formulas stand between ``\(…\)`` or ``\[…\]``. An unknown macro stops the build. The site brings its own maths
font, STIX Two Math cut down to the characters that its formulas use.
"""

import functools
import hashlib
import html
import io
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools import version as fonttools_version
from fontTools.ttLib import TTFont
from math_core import LatexError, LatexToMathML
from project import ROOT, PageError, kept

SPAN = re.compile(r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL)
INLINE = re.compile(r"\\\((?P<tex>.*?)\\\)")
ALLOWBREAK = r"\allowbreak"
PARTED = re.compile(r"\\qquad\b|\\allowbreak\b")
CONVERTER = LatexToMathML(annotation=False)

# Whatever a page may yet use; so the font seldom changes, and both languages share one.
LETTERS = "".join(map(chr, range(0x21, 0x7F)))
SIGNS = "−±·×÷≈≠≤≥≪≫→∞∑∏√∈⋅…⊤′∗"


class MathsError(PageError):
    """TeX that cannot be typeset."""


def mathml(tex: str, display: bool) -> str:
    """One formula as MathML.

    Raises:
        MathsError: a macro is unknown or the TeX is malformed.
    """
    try:
        return CONVERTER.convert_with_local_state(tex, displaystyle=display)
    except LatexError as error:
        raise MathsError(f"cannot typeset \\({tex}\\): {error}") from error


def typeset(content: str) -> str:
    """A page's HTML with every formula as MathML.

    One on lines of its own is in parts where its TeX has ``\\qquad`` or ``\\allowbreak``: on a narrow screen they stand
    beneath one another.
    """

    def replace(span: re.Match[str]) -> str:
        tex = html.unescape(span["tex"])
        if span["tag"] == "span":
            return mathml(tex, False)
        parts = "".join(mathml(part, True) for part in PARTED.split(tex))
        return f'<div class="{"formula chain" if ALLOWBREAK in tex else "formula"}">{parts}</div>'

    return SPAN.sub(replace, content)


@functools.lru_cache(maxsize=4)
def font(characters: frozenset[str]) -> bytes:
    """The site's maths font, cut down once for each set of characters and kept for later builds."""
    wanted = "".join(sorted(characters))
    name = hashlib.sha256(f"{fonttools_version} {wanted}".encode() + Path(__file__).read_bytes()).hexdigest()
    return kept(ROOT / ".cache" / "maths-font" / f"{name}.woff2", lambda: cut(characters)).read_bytes()


def cut(characters: frozenset[str]) -> bytes:
    """STIX Two Math (SIL Open Font License) as woff2, with the glyphs that these characters need."""
    options = subset.Options()
    options.flavor = "woff2"
    options.layout_features = []  # the MATH table is kept; forms drawn for small sizes would double the weight
    stix = TTFont(_stix(), recalcTimestamp=False)  # or it would say when it was cut down
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=sorted(map(ord, characters)))
    subsetter.subset(stix)
    stix.flavor = "woff2"
    out = io.BytesIO()
    stix.save(out)
    return out.getvalue()


def _stix() -> Path:
    carrier = find_spec("ziamath")  # only looked up: importing it would load a whole renderer
    if carrier is None or carrier.origin is None:
        raise MathsError("the maths font is missing: pip install -r requirements/site.txt")
    return Path(carrier.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"


def characters_of(content: str) -> set[str]:
    """Characters that the page's MathML shows, in the letterforms that it shows them in."""
    text = html.unescape(re.sub(r"<[^>]*>", "", "".join(re.findall(r"<math.*?</math>", content, re.DOTALL))))
    italic = {_italic(character) for character in text}
    return {letter for letter in set(text) | italic if not letter.isspace() and not "\u2e80" <= letter <= "\uffff"}


def _italic(letter: str) -> str:
    """A one-letter identifier is shown in mathematical italic."""
    if letter == "h":
        return "\u210e"
    for first, last, start in (("A", "Z", 0x1D434), ("a", "z", 0x1D44E), ("α", "ω", 0x1D6FC), ("Α", "Ω", 0x1D6E2)):
        if first <= letter <= last:
            return chr(start + ord(letter) - ord(first))
    return letter


USUAL = frozenset(form for letter in LETTERS + SIGNS for form in (letter, _italic(letter)))


def inline(title: str) -> str:
    """A title whose formulas are MathML.

    Raises:
        MathsError: as `mathml`.
    """
    return INLINE.sub(lambda found: mathml(html.unescape(found["tex"]), False), title)


def retitle(entries: Any, change: Callable[[str], str]) -> None:
    """Change every title of a table of contents."""
    for entry in entries:
        entry.title = change(entry.title)
        retitle(entry.children, change)
