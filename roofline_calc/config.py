"""Models from Hugging Face config.json files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .architectures import ARCHITECTURES
from .checkpoint import element_width, stored_modules
from .config_fields import Fields
from .model import Model


def read_config(config: str | Path | Mapping[str, Any], name: str | None = None) -> Model:
    """A model from its Hugging Face config.json: a path, or the parsed object.

    Args:
        name: the model's (None: the one that the config gives, else its architecture).

    Raises:
        ValueError: the architecture is not one of those supported, or a field is missing or contradicts another.
        OSError: the file cannot be read.
    """
    source = "config.json"
    if not isinstance(config, Mapping):
        source = str(config)
        try:
            config = json.loads(Path(config).read_text(encoding="utf-8"))
        except ValueError as error:  # not JSON, or not UTF-8
            raise ValueError(f"{source}: not a JSON file ({error})") from None
    if not isinstance(config, Mapping):
        raise ValueError(f"{source}: must hold one JSON object")
    named = config.get("architectures")
    if not isinstance(named, list) or len(named) != 1:
        raise ValueError("architectures: must name exactly one")
    if named[0] not in ARCHITECTURES:
        raise ValueError(f"architectures = {named[0]!r}: not supported; known are {', '.join(ARCHITECTURES)}")
    shapes = ARCHITECTURES[named[0]](Fields(config))
    return Model(
        name=name or config.get("_name_or_path") or named[0], bytes_per_element=element_width(config),
        stored=stored_modules(config), source=source, **shapes,
    )
