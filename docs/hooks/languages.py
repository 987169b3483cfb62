"""Two sites in one build: the English one is built inside the Chinese one, and every page knows its twin."""

import hashlib
import logging
import multiprocessing
import shutil
import sys
import tempfile
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from computed import ROOT, source_digest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, PluginError
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


# The last English site, as long as the process lives; it comes into the Chinese one when that is written.
_kept = tempfile.TemporaryDirectory(prefix="english-")
_kept_digest = ""
_aside: BaseProcess | None = None  # builds the English site while this process builds the Chinese one
_serving = False


def on_startup(command: str, dirty: bool) -> None:
    global _serving
    _serving = command == "serve"


def english_digest(config: Any) -> str:
    """Changes when anything does that the English site depends on: everything but the text of the Chinese pages."""
    digest = hashlib.sha256(f"{source_digest()} {config.site_url} {config.strict}".encode())
    for path in [ROOT / "mkdocs.yml", ROOT / "mkdocs.en.yml", *sorted((ROOT / "docs").rglob("*"))]:
        if path.is_file() and path.suffix != ".pyc":
            digest.update(str(path).encode())
            if ROOT / "docs" / "zh" not in path.parents:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def on_pre_build(config: Any) -> None:
    """Start on the English site at once where there is a second process to be had cheaply.

    Not under ``mkdocs serve``: there the process is worth more that has built both languages before.
    """
    global _aside
    if config.theme["language"] == "zh" and not _serving and "fork" in multiprocessing.get_all_start_methods():
        _aside = multiprocessing.get_context("fork").Process(target=build_english_aside, args=(config,))
        _aside.start()


def on_build_error(error: Exception) -> None:
    if _aside is not None:
        _aside.terminate()
        _aside.join()


def on_post_build(config: Any) -> None:
    """Put the English site into the Chinese one: the one being built aside, the last one, or a new one."""
    global _kept_digest
    if config.theme["language"] != "zh":
        return
    if _aside is not None:
        _aside.join()
        if _aside.exitcode:
            raise PluginError("the English site cannot be built")
    elif _kept_digest != (digest := english_digest(config)):
        _kept_digest = ""
        build_english(config)
        _kept_digest = digest
    shutil.copytree(_kept.name, Path(config.site_dir) / "en", dirs_exist_ok=True)


def build_english_aside(config: Any) -> None:
    """In a process of its own, which ends with status 1 when the build does not succeed; the build says why."""
    global _aside
    _aside = None  # there is none beside this one
    try:
        build_english(config)
    except Abort:
        sys.exit(1)


def build_english(config: Any) -> None:
    english = load_config(
        str(Path(config.config_file_path).with_name("mkdocs.en.yml")),
        site_dir=_kept.name,
        site_url=config.site_url + "en/",
        strict=config.strict,
    )
    english.plugins.on_startup(command="serve" if _serving else "build", dirty=False)
    try:
        build(english)
    finally:
        english.plugins.on_shutdown()
