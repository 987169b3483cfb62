"""The English site is built with the Chinese one, and lies in it."""

import hashlib
import multiprocessing
import shutil
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from calculator_process import Calculator
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
from project import ROOT, PageError
from session import Session


def start_aside(session: Session, config: Any) -> BaseProcess | None:
    """Start on the English site at once where there is a second process to be had cheaply.

    Not under ``mkdocs serve``: there the process is worth more that has built both languages before.
    """
    if session.serving or "fork" not in multiprocessing.get_all_start_methods():
        return None
    aside = multiprocessing.get_context("fork").Process(target=_build_aside, args=(session, config))
    aside.start()
    return aside


def stop(aside: BaseProcess) -> None:
    """The Chinese site has failed."""
    aside.terminate()
    aside.join()


def put(session: Session, aside: BaseProcess | None, config: Any) -> None:
    """Put the English site into the Chinese one: the one being built aside, the last one, or a new one.

    Raises:
        PageError: it cannot be built; its build says why.
    """
    if aside is not None:
        aside.join()
        if aside.exitcode:
            raise PageError("the English site cannot be built")
    elif session.english_digest != (digest := _digest(session.calculator, config)):
        session.english_digest = ""
        _build(session, config)
        session.english_digest = digest
    shutil.copytree(session.english.name, Path(config.site_dir) / "en", dirs_exist_ok=True)


def _digest(calculator: Calculator, config: Any) -> str:
    """Changes when anything does that the English site depends on: everything but the text of the Chinese pages."""
    digest = hashlib.sha256(f"{calculator.digest()} {config.site_url} {config.strict}".encode())
    for path in [ROOT / "mkdocs.yml", ROOT / "mkdocs.en.yml", *sorted((ROOT / "docs").rglob("*"))]:
        if path.is_file() and path.suffix != ".pyc":
            digest.update(str(path).encode())
            if ROOT / "docs" / "zh" not in path.parents:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _build_aside(session: Session, config: Any) -> None:
    """In a process of its own, which ends with status 1 when the build does not succeed; the build says why."""
    session.calculator = Calculator()  # the other one's processes answer the other build
    try:
        _build(session, config)
    except Abort:
        sys.exit(1)
    finally:
        session.calculator.close()


def _build(session: Session, config: Any) -> None:
    english = load_config(
        str(Path(config.config_file_path).with_name("mkdocs.en.yml")),
        site_dir=session.english.name,
        site_url=config.site_url + "en/",
        strict=config.strict,
    )
    english.plugins.on_startup(command="serve" if session.serving else "build", dirty=False)
    try:
        build(english)
    finally:
        english.plugins.on_shutdown()
