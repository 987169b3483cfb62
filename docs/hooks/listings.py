"""Listings: highlighted code, made light; and those, marked ``.run``, that the reader can run and edit."""

import html
import re

from project import PageError

# Names, spaces, operators and punctuation, which have no colour of their own, are most of a listing's pieces. A phone
# works out a style for each element, and the lesson's listings had more of them than its text.
PLAIN = re.compile(r'<span class="(?:n|o|p|w)">([^<]*)</span>')
BLOCK = '<div class="run highlight"'
LISTING = re.compile(rf"{BLOCK}([^>]*)>.*?<code>(.*?)</code>", re.DOTALL)
MARK = re.compile(r'data-edit="([^"]+)"')
TAG = re.compile(r"<[^>]+>")


def light(content: str) -> str:
    """A page's HTML whose highlighted code marks only what shows in a colour of its own."""
    return PLAIN.sub(r"\1", content)


def mounted(content: str, source: str) -> str:
    """Have run.js come to the marked listings, and keep them out of the search index, which each first view fetches.

    Args:
        content: the page as HTML. source: its Markdown, for the number of a line.

    Raises:
        PageError: a listing does not say which of its lines a reader would change first.
    """
    for attributes, code in LISTING.findall(content):
        marked = MARK.search(attributes)
        start = html.unescape(marked[1]) if marked else ""
        lines = html.unescape(TAG.sub("", code)).splitlines()
        if sum(line.startswith(start) for line in lines) != 1:
            raise PageError(_complaint(start, source))
    return content.replace(BLOCK, f'{BLOCK} data-mount="run" data-search-exclude')


def _complaint(start: str, source: str) -> str:
    fences = [(at, line) for at, line in enumerate(source.splitlines(), 1) if re.match(r" *```.*\.run\b", line)]
    at = next(at for at, line in fences if (f'data-edit="{start}"' in line if start else "data-edit" not in line))
    said = f'not exactly one of its lines begins with "{start}"' if start else "it does not say so"
    return (
        f'line {at}: a listing that runs says at which line its editor opens, and {said}: write data-edit="…" with the '
        "beginning of the line that a reader would change first"
    )
