"""How each method of quantisation stores a matrix: a checkpoint's fields give a rule that says so of any module.

Layouts as in vLLM 0.34.0, transformers 5.25.0, bitsandbytes 0.50.2, GPTQModel f4c327a1 and mlx-lm d78bf58e. Left out as
negligible: one scale per matrix, the blocks that overhang a matrix's edge, and GPTQ's order of inputs (g_idx, 4 bytes
per input), which engines drop where it is the usual one.
"""

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Any

from ..operators import quantised_width
from ..precision import WIDTHS, Stored
from .fields import Fields
from .modules import Module

Rule = Callable[[Module], Stored | None]  # None: not quantised
FP32_SCALE, HALF_SCALE = 4, 2


class Names:
    """Names of modules as checkpoints list them: of a module, of one that contains it, or with * for anything."""

    def __init__(self, listed: Iterable[str]) -> None:
        listed = list(listed)
        self.exact = {name for name in listed if "*" not in name}
        patterns = (fnmatch.translate(name + end) for name in listed if "*" in name for end in ("", ".*"))
        self.pattern = re.compile("|".join(patterns) or "(?!)")

    def __contains__(self, module: Module) -> bool:
        return any(
            self.pattern.match(path) or not self.exact.isdisjoint(_runs(path)) for path in module.paths
        )


def _runs(path: str) -> list[str]:
    """Every run of a path's parts: "mlp.gate" is in "model.layers.0.mlp.gate", and not in "mlp.gate_proj"."""
    parts = path.split(".")
    return [".".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)]


def listed_names(fields: Fields, *keys: str) -> list[str]:
    """The names in the first of these lists that is there."""
    key = next((key for key in keys if fields.has(key)), keys[0])
    names = fields.config.get(key) or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise fields.refuse(key, "must list names of modules")
    return names


def _layers_only(stored: Stored, kept: Names) -> Rule:
    """One width for the decoder layers' matrices but the router and those kept as they were."""
    return lambda module: None if module.wide or module in kept else stored


def _grouped(fields: Fields, bits: int, group: int, zero: bool = True) -> Callable[[Module], Stored]:
    """Integers with a 2-byte scale and a zero point per group of a column's weights (-1: per column)."""
    if not (group == -1 or group > 0):
        raise fields.refuse("group_size", "must be a positive whole number, or -1 for one group per column")
    zeros = bits if zero else 0

    def stored(module: Module) -> Stored:
        width = quantised_width(bits, group if group > 0 else module.K, HALF_SCALE, zeros)
        return Stored(width, block=(1, group) if group > 0 else None)

    return stored


def fp8(fields: Fields) -> Rule:
    """FP8 with one scale per matrix or per block; activations are quantised as well."""
    fields.one_of("expert_dtype", ("fp8",), "fp8")
    kept = Names(listed_names(fields, "ignored_layers", "modules_to_not_convert"))
    if not fields.has("weight_block_size"):
        return _layers_only(Stored(1, "fp8"), kept)
    block = sides_of_block(fields.config["weight_block_size"], fields, "weight_block_size")
    return _layers_only(Stored(quantised_width(8, prod(block), FP32_SCALE), "fp8", block), kept)


def sides_of_block(sides: Any, fields: Fields, key: str) -> tuple[int, int]:
    """Outputs and inputs that share a scale."""
    if not isinstance(sides, list) or len(sides) != 2 or not all(type(side) is int and side > 0 for side in sides):
        raise fields.refuse(key, "must be two positive whole numbers, such as [128, 128]")
    rows, columns = sides
    return rows, columns


def mxfp4(fields: Fields, *, sparse: bool) -> Rule:
    """MXFP4 of the experts, or where there are none of the layers' matrices; activations stay 16 bits wide."""
    kept, stored = Names(listed_names(fields, "modules_to_not_convert")), Stored(WIDTHS["mxfp4"])
    return lambda module: stored if (module.expert or not (sparse or module.wide)) and module not in kept else None


def gptq(fields: Fields) -> Rule:
    """GPTQ: integers, a scale and a zero point per group (stored even where it is symmetric)."""
    fields.one_of("checkpoint_format", ("gptq", "gptq_v2"), "gptq")
    head, only = fields.flag("lm_head", False), Names(_blocks(fields))
    overriding = fields.config.get("dynamic") or {}
    if not isinstance(overriding, Mapping):
        raise fields.refuse("dynamic", "must map patterns of module names to their settings")
    usual = _grouped(fields, fields.whole("bits"), _group(fields))
    dynamic = {pattern: _overriding(fields, pattern, own) for pattern, own in overriding.items()}
    ordered = sorted(dynamic, key=lambda pattern: not pattern.startswith("-:"))  # what is left out, first

    def rule(module: Module) -> Stored | None:
        if module.wide and not (head and module.name == "lm_head"):
            return None
        for pattern in ordered:
            if any(re.match(re.sub(r"^[-+]:", "", pattern), path) for path in module.paths):
                return None if pattern.startswith("-:") else dynamic[pattern](module)
        return None if only.exact and not module.wide and module not in only else usual(module)

    return rule


def _blocks(fields: Fields) -> list[str]:
    blocks = fields.config.get("modules_in_block_to_quantize") or []
    if not isinstance(blocks, list):
        raise fields.refuse("modules_in_block_to_quantize", "must list names of modules")
    return [name for block in blocks for name in (block if isinstance(block, list) else [block])]


def _group(fields: Fields, key: str = "group_size") -> int:
    group = fields.config.get(key)
    if isinstance(group, bool) or not isinstance(group, int):
        raise fields.refuse(key, "must be a positive whole number, or -1 for one group per column")
    return group


def _overriding(fields: Fields, pattern: str, own: Any) -> Callable[[Module], Stored]:
    try:
        re.compile(re.sub(r"^[-+]:", "", pattern))
    except re.error as error:
        raise ValueError(f"dynamic: {pattern!r}: not a pattern ({error})") from None
    settings = Fields({**fields.config, **(own if isinstance(own, Mapping) else {})})
    return _grouped(settings, settings.whole("bits"), _group(settings))


def awq(fields: Fields) -> Rule:
    """AWQ: integers, a scale and a zero point per group; modules_to_not_convert matches within names."""
    bits, group = ("w_bit", "q_group_size") if fields.has("w_bit") else ("bits", "group_size")
    kept = listed_names(fields, "modules_to_not_convert")
    stored = _grouped(fields, fields.whole(bits), _group(fields, group), fields.flag("zero_point", True))
    heads = ("lm_head",) if fields.flag("lm_head", False) else ()

    def rule(module: Module) -> Stored | None:
        if (module.wide and module.name not in heads) or any(name in path for name in kept for path in module.paths):
            return None
        return stored(module)

    return rule


def bitsandbytes(fields: Fields) -> Rule:
    """bitsandbytes: 8 bits with a scale per row, multiplied in INT8, or 4 with one per 64, itself quantised or not."""
    skipped = listed_names(fields, "llm_int8_skip_modules") or ["lm_head"]
    kept = Names(skipped)
    if fields.flag("load_in_4bit", fields.flag("_load_in_4bit", False)):
        doubled = fields.flag("bnb_4bit_use_double_quant", False)
        scale = quantised_width(8, 256, FP32_SCALE) if doubled else FP32_SCALE
        return _layers_only(Stored(quantised_width(4, 64, scale)), kept)
    if not fields.flag("load_in_8bit", fields.flag("_load_in_8bit", False)):
        raise ValueError("load_in_4bit, load_in_8bit: one of them must be true")
    return lambda module: (
        None if module.wide or module in kept else Stored(quantised_width(8, module.K, FP32_SCALE), "int8")
    )


MLX_MODES = {"mxfp4": (32, 4), "mxfp8": (32, 8), "nvfp4": (16, 4)}


def mlx(fields: Fields) -> Rule:
    """MLX: every matrix, embedding, router and lm_head too, but where the config says otherwise of one by its name."""
    usual = _mlx_stored(fields)
    named = {path: own for path, own in fields.config.items() if isinstance(own, bool | Mapping)}
    settings = {
        path: None if own is False else usual if own is True else _mlx_stored(Fields({**fields.config, **own}))
        for path, own in named.items()
    }

    def rule(module: Module) -> Stored | None:
        paths = (name for path in module.paths for name in (path, path.replace(".experts.", ".switch_mlp.")))
        stored = next((settings[path] for path in paths if path in settings), usual)
        return stored(module) if stored else None

    return rule


def _mlx_stored(fields: Fields) -> Rule:
    mode = fields.config.get("mode", "affine")
    if mode == "affine":
        return mlx_affine(fields.whole("bits"), fields.whole("group_size"))
    if mode not in MLX_MODES:
        raise fields.refuse("mode", f"must be 'affine' or {' or '.join(map(repr, MLX_MODES))}")
    group, bits = MLX_MODES[mode]
    return _whole_groups(group, Stored(quantised_width(bits, group, scale_bytes=1)))


def mlx_affine(bits: int, group: int) -> Rule:
    """MLX's usual mode: integers with a scale and a bias per group, of every matrix that has whole groups."""
    return _whole_groups(group, Stored(quantised_width(bits, group, 2 * HALF_SCALE)))


def _whole_groups(group: int, stored: Stored) -> Rule:
    return lambda module: None if module.K % group else stored
