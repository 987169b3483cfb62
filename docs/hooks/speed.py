"""Compile the theme's templates once a process: MkDocs makes a new environment for each language and each rebuild."""

from typing import Any

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket


class InMemory(BytecodeCache):
    """Bytecode by template and source, kept as long as the process lives."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self.kept:
            bucket.bytecode_from_string(self.kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.kept[bucket.key] = bucket.bytecode_to_string()


_cache = InMemory()


def on_env(env: Any, config: Any, files: Any) -> Any:
    env.bytecode_cache = _cache
    return env
