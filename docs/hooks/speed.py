"""Keep what does not change between builds: MkDocs makes a new template environment for each language and rebuild."""

import functools
from typing import Any

from jinja2 import BytecodeCache, Environment, FileSystemLoader
from jinja2.bccache import Bucket
from mkdocs.theme import Theme


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
