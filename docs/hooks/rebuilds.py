"""Keep what does not change between builds: compiled templates, rendered pages and their search entries.

MkDocs makes all of them anew for each rebuild under ``mkdocs serve``.
"""

import copy
import functools
import hashlib
import re
from typing import Any

from calculator_process import Calculator, ComputationError
from jinja2 import BytecodeCache, Environment, FileSystemLoader
from jinja2.bccache import Bucket
from material.plugins.search.plugin import SearchIndex
from mkdocs.structure.pages import Page
from mkdocs.theme import Theme
from project import ROOT
from session import Session

INCLUDE = re.compile(r'^[ \t]*--8<-- "([^":]+)', re.MULTILINE)


class CompiledTemplates(BytecodeCache):
    """Bytecode by template and source, kept as long as the process lives."""

    def __init__(self, kept: dict[str, bytes]) -> None:
        self.kept = kept

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self.kept:
            bucket.bytecode_from_string(self.kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.kept[bucket.key] = bucket.bytecode_to_string()


class ThemeLoader(FileSystemLoader):
    """Lists the folders of installed themes once, without the 14,000 icons that MkDocs would then leave out again."""

    def __init__(self, searchpath: list[str], listed: dict[str, list[str]]) -> None:
        super().__init__(searchpath)
        self.listed = listed

    def list_templates(self) -> list[str]:
        own, *installed = self.searchpath  # docs/overrides comes first, and may change
        for folder in installed:
            if folder not in self.listed:
                self.listed[folder] = _templates(folder)
        return sorted({name for folder in installed for name in self.listed[folder]} | set(_templates(own)))


def _templates(folder: str) -> list[str]:
    return [name for name in FileSystemLoader(folder).list_templates() if not name.startswith(".")]


def keep_templates(session: Session, config: Any) -> None:
    """Compile the theme's templates once."""
    config.theme.get_env = functools.partial(_environment, session, config.theme)


def _environment(session: Session, theme: Theme) -> Environment:
    env = Theme.get_env(theme)
    assert isinstance(env.loader, FileSystemLoader)
    env.loader = ThemeLoader(env.loader.searchpath, session.folders)
    env.bytecode_cache = CompiledTemplates(session.templates)
    return env


def keep_page(session: Session, page: Page) -> None:
    """Render a page only if something that goes into it has changed."""
    page.render = functools.partial(_render, session, page, page.render)  # type: ignore[method-assign]


def _render(session: Session, page: Page, render: Any, config: Any, files: Any) -> None:
    """Convert a page's Markdown, or take what it gave last time.

    What goes into a page: its Markdown, with the numbers in place, the files that it includes and those that it may
    link to, the configuration, and what it asked of the calculator while it was rendered.
    """
    at, digest = (config.theme["language"], page.file.src_uri), _ingredients(page, files)
    known, asked, found = session.rendered.get(at, ("", [], None))
    if known == digest and _answered_alike(session.calculator, asked):
        page.content, page.toc, title, page.present_anchor_ids, links = copy.deepcopy(found)
        page.links_to_anchors = {files.get_file_from_path(uri): anchors for uri, anchors in links.items()}
        _set_title(page, title)
        return
    with session.calculator.noting() as asked:
        render(config, files)
    links = {file.src_uri: anchors for file, anchors in (page.links_to_anchors or {}).items()}
    found = page.content or "", page.toc, _title(page), page.present_anchor_ids, links
    session.rendered[at] = digest, asked, copy.deepcopy(found)


def _title(page: Page) -> Any:
    """What rendering finds out about a page's title: mkdocs-jupyter sets it, MkDocs reads it off the first heading."""
    return page.__dict__.get("title"), page._title_from_render


def _set_title(page: Page, title: Any) -> None:
    set_by_plugin, page._title_from_render = title
    if set_by_plugin is not None:
        page.title = set_by_plugin


def _answered_alike(calculator: Calculator, asked: list[tuple[str, str, Any]]) -> bool:
    try:
        return all(calculator.ask(ask, about) == answer for ask, about, answer in asked)
    except ComputationError:
        return False  # it comes again, with the page's name


def _ingredients(page: Page, files: Any) -> str:
    """Changes when anything does that a page is rendered from, but for what it asks of the calculator."""
    assert page.markdown is not None
    digest = hashlib.sha256(f"{sorted(file.src_uri for file in files)}".encode())
    digest.update(page.markdown.encode())
    included = [ROOT / name for name in INCLUDE.findall(page.markdown)]
    settings = [ROOT / "mkdocs.yml", ROOT / "mkdocs.en.yml"]
    for path in [*settings, *included]:
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def keep_entries(session: Session, config: Any) -> None:
    """Put a page into the search index only if it has changed; else it has the entries that it had last time."""
    search_index = config.plugins["material/search"].search_index
    language = config.theme["language"]
    search_index.add_entry_from_context = functools.partial(_index, session, search_index, language)


def _index(session: Session, search_index: SearchIndex, language: str, page: Page) -> None:
    at, content = (language, page.url), f"{page.meta} {page.title} {page.content}"
    if at not in session.indexed or session.indexed[at][0] != content:
        before = len(search_index.entries)
        SearchIndex.add_entry_from_context(search_index, page)
        session.indexed[at] = content, search_index.entries[before:]
    else:
        search_index.entries += session.indexed[at][1]
