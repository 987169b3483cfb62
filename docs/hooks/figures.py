"""Charts drawn by the calculator, served as virtual files; each follows the palette and the width of the page.

A page names a chart once, as an ordinary image: ``![what it shows](figures/roofline.svg)``. The drawing takes a
second, so it runs while the pages are rendered.
"""

import json
import re
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from computed import ROOT, ComputationError, python
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

REFERENCE = re.compile(r"\(figures/(?P<name>[\w-]+)\.svg\)")
IMAGE = re.compile(r'<img alt="(?P<alt>[^"]*)" src="(?P<src>[^"]*figures/[\w-]+)\.svg"\s*/?>')
VARIANTS = ("", ".dark", ".narrow", ".narrow.dark")
PHONE = "(max-width: 44em)"

_pool = ThreadPoolExecutor(1)


def charts() -> dict[str, dict[str, str]]:
    """Every chart as SVG, ``{language: {name + variant: svg}}``."""
    drawn: dict[str, dict[str, str]] = json.loads(python("snippets/figures.py"))
    return drawn


def picture(image: re.Match[str]) -> str:
    """The four variants of a chart in place of its image; CSS shows one palette, the browser takes one width."""
    alt, src = image["alt"], image["src"]

    def variant(palette: str, suffix: str) -> str:
        return (
            f'<picture class="on-{palette}">'
            f'<source media="{PHONE}" srcset="{src}.narrow{suffix}.svg" width="390" height="440">'
            f'<img alt="{alt}" src="{src}{suffix}.svg" width="720" height="440" loading="lazy"></picture>'
        )

    return variant("light", "") + variant("dark", ".dark")


def on_files(files: Any, config: Any) -> Any:
    wanted: dict[str, str] = {}
    for page in sorted(Path(config.docs_dir).rglob("*.md")):
        for reference in REFERENCE.finditer(page.read_text(encoding="utf-8")):
            wanted.setdefault(reference["name"], str(page.relative_to(ROOT)))
    for name in wanted:
        for variant in VARIANTS:
            files.append(File.generated(config, f"figures/{name}{variant}.svg", content=""))
    config.extra["charts"] = wanted, _pool.submit(charts)
    return files


def on_post_build(config: Any) -> None:
    """Put the charts where their empty files stand; until now the pages did not have to wait for them."""
    wanted, drawing = config.extra.pop("charts")
    drawn = _result(drawing)[config.theme["language"]]
    for name, page in wanted.items():
        if name not in drawn:
            known = ", ".join(other for other in drawn if "." not in other)
            raise PluginError(f"{page}: there is no chart {name!r}; snippets/figures.py draws {known}")
        for variant in VARIANTS:
            chart = Path(config.site_dir) / "figures" / f"{name}{variant}.svg"
            chart.write_text(drawn[name + variant], encoding="utf-8")


def _result(drawing: Future[dict[str, dict[str, str]]]) -> dict[str, dict[str, str]]:
    try:
        return drawing.result()
    except ComputationError as error:
        raise PluginError(f"the charts cannot be drawn: {error}") from error


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    return IMAGE.sub(picture, content)
