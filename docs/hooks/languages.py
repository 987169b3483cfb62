"""Two sites in one build: the English one is built inside the Chinese one, and every page knows its twin."""

import hashlib
import logging
import shutil
import tempfile
from pathlib import Path
from typing import Any

from computed import ROOT, source_digest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url

log = logging.getLogger("mkdocs.hooks.languages")

SITES = {"zh": ("简体中文", "zh-Hans", ""), "en": ("English", "en", "en/")}  # name, language tag, folder of the site


def twins(url: str, language: str, site_url: str) -> list[dict[str, Any]]:
    """The versions of a page, its own first: name, language tag, absolute address, and link from this page."""
    root = site_url.removesuffix(SITES[language][2])
    url = "" if url == "./" else url
    here = SITES[language][2] + url
    return [
        {"name": name, "tag": tag, "address": root + folder + url, "link": get_relative_url(folder + url, here)}
        for name, tag, folder in SITES.values()
    ]


def on_files(files: Any, config: Any) -> Any:
    language = config.theme["language"]
    for file in files.documentation_pages():
        file.twins = twins(file.url, language, config.site_url)
        for other in SITES:
            if not (ROOT / "docs" / other / file.src_uri).is_file():
                log.warning(
                    "docs/%s/%s has no twin: write docs/%s/%s in the same commit",
                    language, file.src_uri, other, file.src_uri,
                )  # fmt: skip
    for path in sorted((ROOT / "docs" / "assets").iterdir()):  # styles, scripts and logo serve both languages
        files.append(File.generated(config, f"assets/{path.name}", abs_src_path=str(path)))
    return files


_kept = tempfile.TemporaryDirectory(prefix="english-")  # the last English site, as long as the process lives
_kept_digest = ""


def english_digest(config: Any) -> str:
    """Changes when anything does that the English site depends on: everything but the text of the Chinese pages."""
    digest = hashlib.sha256(f"{source_digest()} {config.site_url} {config.strict}".encode())
    for path in [ROOT / "mkdocs.yml", ROOT / "mkdocs.en.yml", *sorted((ROOT / "docs").rglob("*"))]:
        if path.is_file() and path.suffix != ".pyc":
            digest.update(str(path).encode())
            if ROOT / "docs" / "zh" not in path.parents:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def on_post_build(config: Any) -> None:
    """Build the English site into the Chinese one, or take the last one where nothing of it has changed."""
    global _kept_digest
    if config.theme["language"] != "zh":
        return
    digest, into, kept = english_digest(config), Path(config.site_dir) / "en", Path(_kept.name) / "en"
    if digest == _kept_digest:
        shutil.copytree(kept, into, dirs_exist_ok=True)
        return
    _kept_digest = ""
    build_english(config)
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(into, kept)
    _kept_digest = digest


def build_english(config: Any) -> None:
    english = load_config(
        str(Path(config.config_file_path).with_name("mkdocs.en.yml")),
        site_dir=str(Path(config.site_dir) / "en"),
        site_url=config.site_url + "en/",
        strict=config.strict,
    )
    english.plugins.on_startup(command="build", dirty=False)
    try:
        build(english)
    finally:
        english.plugins.on_shutdown()
