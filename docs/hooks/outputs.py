"""A fenced block ```` ```output ```` holds a command; the page shows the command and what it prints.

What a program prints in columns, ```` ```output-table ```` shows as a table, which a screen reader can read as one.
"""

import html
import json
import re
import shlex
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from computed import ComputationError, python
from pymdownx.superfences import SuperFencesException

BLOCK = re.compile(r"^[ ]*```output(?:-table)?\n[ ]*(.+)\n[ ]*```$", re.MULTILINE)
COLUMN, ROW = ' scope="col"', ' scope="row"'

_pool = ThreadPoolExecutor(1)
_ahead: Future[dict[str, str]] | None = None


def output_of(command: str) -> str:
    """What a page's command prints.

    Raises:
        ComputationError: it is not a ``python …`` command, or it ended with another status than 0.
    """
    program, *arguments = shlex.split(command) or [""]
    if program != "python":
        raise ComputationError(f"an output block holds one command that begins with `python`, not {command!r}")
    known = _ahead.result() if _ahead else {}
    return known[command.strip()] if command.strip() in known else python(*arguments)


def output_block(source: str, language: str, class_name: str, options: Any, md: Any, **kwargs: Any) -> str:
    """Format one output block, as SuperFences asks."""
    try:
        text = output_of(source)
    except ComputationError as error:  # SuperFences swallows any other exception, and shows the raw fence
        raise SuperFencesException(f"```output: {error}") from error
    if language == "output-table":
        return table(text, source.strip())
    fence = md.preprocessors["fenced_code_block"]
    block: str = fence.highlight(src=text, language="text", options={"title": f"$ {source.strip()}"}, md=md, **kwargs)
    return block


def table(printed: str, command: str) -> str:
    """Columns, two spaces or more apart, as a table; lines that have no such columns stand beneath it."""
    heads, *lines = (re.split(r" {2,}", line.rstrip()) for line in printed.splitlines())
    rows = [line for line in lines if len(line) == len(heads)]
    head = "".join(_cell(cell, "th", COLUMN) if cell else "<td></td>" for cell in heads)
    body = "".join(
        f"<tr>{_cell(first, 'th', ROW)}{''.join(_cell(cell, 'td') for cell in cells)}</tr>" for first, *cells in rows
    )
    others = "".join(_cell("  ".join(line), "p") for line in lines if line not in rows)
    caption = f"<caption><code>$ {html.escape(command)}</code></caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{others}"


def _cell(text: str, tag: str, attributes: str = "") -> str:
    return f"<{tag}{attributes}>{html.escape(text)}</{tag}>"


def run_ahead(commands: list[str]) -> dict[str, str]:
    """What all the commands print; nothing where one fails, for then each is run alone, and its page is named."""
    try:
        outputs = json.loads(python("docs/hooks/commands.py", stdin=json.dumps(commands)))
    except ComputationError:
        return {}
    return dict(zip(commands, outputs, strict=True))


def on_files(files: Any, config: Any) -> Any:
    """Run the commands of all pages of both languages while the first pages are being rendered."""
    global _ahead
    pages = sorted(Path(config.docs_dir).parent.glob("??/**/*.md"))
    commands = [command.strip() for page in pages for command in BLOCK.findall(page.read_text(encoding="utf-8"))]
    _ahead = _pool.submit(run_ahead, sorted(set(commands)))
    return files


def on_config(config: Any) -> Any:
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    for name in ("output", "output-table"):
        fences.append({"name": name, "class": name, "format": output_block})
    return config
