"""Small repairs of what the theme leaves without a name, in the page's language."""

import re
from typing import Any

SEARCH = 'data-md-component="search" role="dialog"'
LABELS = {"zh": {"search": "搜索", "table": "表格"}, "en": {"search": "Search", "table": "Table"}}


def on_post_page(output: str, page: Any, config: Any) -> str:
    words = LABELS[config.theme["language"]]
    return output.replace(SEARCH, f'{SEARCH} aria-label="{words["search"]}"')


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    """A wide table scrolls inside itself; with the keyboard too, so the scrolling box takes the focus."""
    label = LABELS[config.theme["language"]]["table"]
    box = f'<div class="scroll" role="group" aria-label="{label}" tabindex="0">'
    return re.sub(r"<table>(.*?)</table>", rf"{box}<table>\1</table></div>", content, flags=re.DOTALL)
