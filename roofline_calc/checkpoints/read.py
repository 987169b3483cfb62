"""Models from Hugging Face config.json files."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..model import Model
from .architectures import ARCHITECTURES, NOT_COUNTED
from .fields import Fields
from .file_kinds import config_in, named_architecture, refuse_file, unsupported
from .left_out import left_out
from .storage import element_width, stored_modules

SIDECAR = "hf_quant_config.json"  # where Model Optimizer says how it quantised, often there alone
# Of architectures whose published configs name none.
USUAL_DTYPE = {"GptOssForCausalLM": "bfloat16", "MiniMaxM2ForCausalLM": "bfloat16"}


def read_config(
    config: str | Path | Mapping[str, Any], name: str | None = None, *, quantisation: Mapping[str, Any] | None = None
) -> Model:
    """A model from its Hugging Face config.json: a path to it or its folder, or the parsed object.

    Args:
        name: the model's (None: the one that the config gives, else its architecture).
        quantisation: the parsed hf_quant_config.json (None: the one beside a path, if any; else what config says);
            {} leaves out whatever the checkpoint says of its quantisation.

    Raises:
        ValueError: the file is something else; the architecture is not one of those supported; a field is missing or
            contradicts another; the quantisation cannot be counted.
        OSError: the file cannot be read.
    """
    source = "config.json"
    if not isinstance(config, Mapping):
        path = config_in(Path(config)) if Path(config).is_dir() else Path(config)
        source = str(path)
        refuse_file(path)
        if quantisation is None and (path.parent / SIDECAR).is_file():
            quantisation = _json(path.parent / SIDECAR)
        config = _json(path)
    named = named_architecture(config)
    if named not in ARCHITECTURES:
        raise unsupported(named, tuple(ARCHITECTURES), NOT_COUNTED.get(named))
    plain = Model(
        name=name or config.get("_name_or_path") or named, source=source,
        bytes_per_element=element_width(config, USUAL_DTYPE.get(named)), **ARCHITECTURES[named](Fields(config)),
    )
    stored, kv_width = stored_modules(plain, named, config, quantisation)
    return replace(plain, stored=stored, kv_width=kv_width, left_out=left_out(plain, named, config))


def _json(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # not JSON, or not UTF-8
        raise ValueError(f"{path}: not a JSON file ({error})") from None
    if not isinstance(found, Mapping):
        raise ValueError(f"{path}: must hold one JSON object")
    return found
