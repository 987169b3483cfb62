"""Keep what does not change between builds: compiled templates, rendered pages and their search entries.

MkDocs makes all of them anew for each language and each rebuild.
"""

import copy
import functools
import hashlib
import re
from typing import Any

from computed import ROOT, source_digest
from jinja2 import BytecodeCache, Environment, FileSystemLoader
from jinja2.bccache import Bucket
from material.plugins.search.plugin import SearchIndex
from mkdocs.structure.pages import Page
from mkdocs.theme import Theme

INCLUDE = re.compile(r'^[ \t]*--8<-- "([^":]+)', re.MULTILINE)


class CompiledTemplates(BytecodeCache):
    """Bytecode by template and source, kept as long as the process lives."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self.kept:
            bucket.bytecode_from_string(self.kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.kept[bucket.key] = bucket.bytecode_to_string()


class ThemeLoader(FileSystemLoader):
    """Lists the folders of installed themes once, without the 14,000 icons that MkDocs would then leave out again."""

    def list_templates(self) -> list[str]:
        own, *installed = self.searchpath  # docs/overrides comes first, and may change
        return sorted({name for folder in installed for name in _listed(folder)} | set(_templates(own)))


def _templates(folder: str) -> list[str]:
    return [name for name in FileSystemLoader(folder).list_templates() if not name.startswith(".")]


_listed = functools.cache(_templates)
_compiled = CompiledTemplates()


def environment(theme: Theme) -> Environment:
    """The theme's template environment, with what is known from earlier builds."""
    env = Theme.get_env(theme)
    assert isinstance(env.loader, FileSystemLoader)
    env.loader = ThemeLoader(env.loader.searchpath)
    env.bytecode_cache = _compiled
    return env


def on_config(config: Any) -> Any:
    config.theme.get_env = functools.partial(environment, config.theme)
    return config


Rendered = tuple[str, Any, str | None, set[str] | None, dict[str, dict[str, str]]]
_rendered: dict[tuple[str, str], tuple[str, Rendered]] = {}


def render(page: Page, config: Any, files: Any) -> None:
    """Convert a page's Markdown, or take what it gave last time where nothing that goes into it has changed."""
    at, digest = (config.theme["language"], page.file.src_uri), _ingredients(page, config, files)
    if at not in _rendered or _rendered[at][0] != digest:
        Page.render(page, config, files)
        links = {file.src_uri: anchors for file, anchors in (page.links_to_anchors or {}).items()}
        found = page.content or "", page.toc, page._title_from_render, page.present_anchor_ids, links
        _rendered[at] = digest, copy.deepcopy(found)
        return
    page.content, page.toc, page._title_from_render, page.present_anchor_ids, links = copy.deepcopy(_rendered[at][1])
    page.links_to_anchors = {files.get_file_from_path(uri): anchors for uri, anchors in links.items()}


def _ingredients(page: Page, config: Any, files: Any) -> str:
    """Changes when anything does that a page is rendered from."""
    assert page.markdown is not None
    digest = hashlib.sha256(f"{source_digest()} {sorted(file.src_uri for file in files)}".encode())
    digest.update(page.markdown.encode())
    included = [ROOT / name for name in INCLUDE.findall(page.markdown)]
    settings = [ROOT / "mkdocs.yml", ROOT / "mkdocs.en.yml"]
    for path in [*settings, *included]:
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    page.render = functools.partial(render, page)
    return markdown


_entries: dict[tuple[str, str], tuple[str, list[dict[str, Any]]]] = {}


def index(search_index: SearchIndex, language: str, page: Page) -> None:
    """Put a page into the search index; one that has not changed has the entries that it had last time."""
    at, content = (language, page.url), f"{page.meta} {page.title} {page.content}"
    if at not in _entries or _entries[at][0] != content:
        before = len(search_index.entries)
        SearchIndex.add_entry_from_context(search_index, page)
        _entries[at] = content, search_index.entries[before:]
    else:
        search_index.entries += _entries[at][1]


def on_env(env: Any, config: Any, files: Any) -> Any:
    search_index = config.plugins["material/search"].search_index
    search_index.add_entry_from_context = functools.partial(index, search_index, config.theme["language"])
    return env


def on_build_error(error: Exception) -> None:
    """Say every warning again next time."""
    _rendered.clear()
