"""Refuse a page on which a directive was shown instead of carried out."""

import html
import re
from pathlib import Path
from typing import Any

from computed import ROOT
from mkdocs.exceptions import PluginError

TAG = re.compile(r"<[^>]+>")


def leftover(content: str) -> str | None:
    """The first directive left in a page's HTML, with its cure."""
    for line in html.unescape(TAG.sub("", content)).splitlines():  # highlighting splits a directive into elements
        if "--8<--" in line:
            return f'{line.strip()!r}: a snippet is named in quotes, --8<-- "file.py:section", alone on its line'
    return None


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    if found := leftover(content):
        raise PluginError(f"{Path(page.file.abs_src_path).relative_to(ROOT)}: {found}")
    return content
