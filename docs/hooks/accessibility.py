"""Small repairs of what the theme leaves without a name, in the page's language."""

import re

SEARCH = 'data-md-component="search" role="dialog"'
LABELS = {"zh": {"search": "搜索", "table": "表格"}, "en": {"search": "Search", "table": "Table"}}


def named_search(output: str, language: str) -> str:
    """A page whose search dialog has a name."""
    return output.replace(SEARCH, f'{SEARCH} aria-label="{LABELS[language]["search"]}"')


def scrolling_tables(content: str, language: str) -> str:
    """A wide table scrolls inside itself; with the keyboard too, so the scrolling box takes the focus."""
    box = f'<div class="scroll" role="group" aria-label="{LABELS[language]["table"]}" tabindex="0">'
    return re.sub(r"<table>(.*?)</table>", rf"{box}<table>\1</table></div>", content, flags=re.DOTALL)
