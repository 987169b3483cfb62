"""The explorer's generated files: its arithmetic and the catalogue. Tracing takes a second, so it runs meanwhile."""

import json
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from computed import ComputationError, python
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

NAMES = ("calc.js", "presets.json")

_pool = ThreadPoolExecutor(1)


def generated() -> dict[str, str]:
    """The files' contents by name."""
    contents: dict[str, str] = json.loads(python("docs/hooks/explorer_code.py"))
    return contents


def on_files(files: Any, config: Any) -> Any:
    for name in NAMES:
        files.append(File.generated(config, f"assets/{name}", content=""))
    config.extra["explorer"] = _pool.submit(generated)
    return files


def on_post_build(config: Any) -> None:
    for name, content in _result(config.extra.pop("explorer")).items():
        (Path(config.site_dir) / "assets" / name).write_text(content, encoding="utf-8")


def _result(tracing: Future[dict[str, str]]) -> dict[str, str]:
    try:
        return tracing.result()
    except ComputationError as error:
        raise PluginError(f"the explorer's JavaScript cannot be generated: {error}") from error
