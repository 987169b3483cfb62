"""What a file is that someone takes for a model's config.json: one sentence that says so, and what to give instead."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

EMBEDDING_FILES = ("modules.json", "config_sentence_transformers.json")
GGUF = "a GGUF file: give the config.json of the model that it was made from, and --weights q4_k_m (or its own type)"


def config_in(folder: Path) -> Path:
    """The config.json of a folder, or where it has none what tells what the folder holds."""
    others = (folder / "adapter_config.json", *sorted(folder.glob("*.gguf")))
    config = folder / "config.json"
    return config if config.is_file() else next(filter(Path.is_file, others), config)


def refuse_file(path: Path) -> None:
    """Refuse what is no config.json by its path, its first bytes or what lies beside it.

    Raises:
        ValueError: the file is a GGUF, or belongs to an embedding model.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        if path.suffix == ".gguf" or file.read(4) == b"GGUF":
            raise ValueError(f"{path}: {GGUF}")
    beside = next((name for name in EMBEDDING_FILES if (path.parent / name).is_file()), None)
    if beside:
        raise ValueError(
            f"{path}: an embedding model ({beside} of sentence-transformers lies beside it), which has no lm_head; "
            "every count here includes one: copy config.json alone to another folder to count the model with it"
        )


def refuse_object(config: Mapping[str, Any]) -> None:
    """Refuse a parsed file that describes no model, or not one that generates text.

    Raises:
        ValueError: with the kind of file, and what to give instead.
    """
    if "peft_type" in config:
        base = config.get("base_model_name_or_path") or "its base model"
        raise ValueError(
            f"peft_type = {config['peft_type']!r}: an adapter, which changes a model and is none: "
            f"give the config.json of {base}"
        )
    if any(key.startswith("general.") for key in config):
        raise ValueError(f"general.architecture: the metadata of {GGUF}")
    if "weight_map" in config:
        raise ValueError("weight_map: an index of weight files: give the config.json beside it")
    inner = config.get("quantization")
    if "architectures" not in config and isinstance(inner, Mapping) and "quant_algo" in inner:
        raise ValueError("quantization: an hf_quant_config.json: give the config.json beside it, which reads this too")
    if "_class_name" in config:
        raise ValueError(f"_class_name = {config['_class_name']!r}: a part of an image pipeline, no language model")


def named_architecture(config: Mapping[str, Any]) -> str:
    """The one architecture that a config names.

    Raises:
        ValueError: it names none, several, or one that generates no text.
    """
    refuse_object(config)
    named = config.get("architectures")
    if not named:
        raise ValueError(
            "architectures: must name exactly one, and this names none: it is no model's config.json, or its makers "
            f"left the field out; add the class that its model_type ({config.get('model_type')!r}) belongs to"
        )
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        raise ValueError(f"architectures = {named!r}: must be a list with one name")
    if len(named) > 1:
        raise ValueError(f"architectures = {named!r}: must name exactly one; keep the one that you run")
    return str(named[0])


def unsupported(named: str, known: tuple[str, ...], why: str | None = None) -> ValueError:
    """The error for an architecture that is not supported: why, where that is known, else what kind of class it is."""
    if why:
        return ValueError(f"architectures = {named!r}: not supported, since {why}")
    kind = ""
    if named.endswith("Model") and not named.endswith("LMHeadModel"):
        kind = ", the class of a model without lm_head (embeddings, or a part of a larger model)"
    elif named.endswith(("ForSequenceClassification", "ForTokenClassification", "RewardModel")):
        kind = ", a classifier or reward model, which generates no text"
    elif named.endswith("ForConditionalGeneration"):
        kind = ", of several kinds of input or output"
    return ValueError(f"architectures = {named!r}{kind}: not supported; known are {', '.join(known)}")
