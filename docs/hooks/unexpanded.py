"""Refuse a page on which a directive was shown instead of carried out."""

import html
import re

from project import PageError

TAG = re.compile(r"<[^>]+>")


def refuse(content: str) -> None:
    """Find a directive left in a page's HTML.

    Raises:
        PageError: there is one; says which, and the cure.
    """
    for line in html.unescape(TAG.sub("", content)).splitlines():  # highlighting splits a directive into elements
        if "--8<--" in line:
            quoted = '--8<-- "file.py:section"'
            raise PageError(f"{line.strip()!r}: a snippet is named in quotes, {quoted}, alone on its line")
