"""A fenced block ```` ```output ```` holds a command; the page shows the command and what it prints."""

import shlex
from typing import Any

from computed import ComputationError, python
from pymdownx.superfences import SuperFencesException


def output_of(command: str) -> str:
    """What a page's command prints.

    Raises:
        ComputationError: it is not a ``python …`` command, or it ended with another status than 0.
    """
    program, *arguments = shlex.split(command) or [""]
    if program != "python":
        raise ComputationError(f"an output block holds one command that begins with `python`, not {command!r}")
    return python(*arguments)


def output_block(source: str, language: str, class_name: str, options: Any, md: Any, **kwargs: Any) -> str:
    """Format one output block, as SuperFences asks."""
    try:
        text = output_of(source)
    except ComputationError as error:  # SuperFences swallows any other exception, and shows the raw fence
        raise SuperFencesException(f"```output: {error}") from error
    fence = md.preprocessors["fenced_code_block"]
    block: str = fence.highlight(src=text, language="text", options={"title": f"$ {source.strip()}"}, md=md, **kwargs)
    return block


def on_config(config: Any) -> Any:
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    fences.append({"name": "output", "class": "output", "format": output_block})
    return config
