"""Methods whose checkpoints say of groups of modules how each is stored: compressed-tensors and Model Optimizer.

Layouts as in compressed-tensors ac8e2ba8, NVIDIA Model Optimizer a2fbac7b and vLLM 0.34.0, which loads both.
"""

import re
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from ..operators import quantised_width
from ..precision import WIDTHS, Stored
from .fields import Fields
from .modules import Module
from .quantisation import FP32_SCALE, HALF_SCALE, Names, Rule, listed_names, sides_of_block

# Formats of compressed-tensors with an 8-bit scale per group: bits, and weights in a group.
SMALL = {"nvfp4-pack-quantized": (4, 16), "mxfp4-pack-quantized": (4, 32), "mxfp8-quantized": (8, 32)}
Layout = Callable[[Module], Stored | None]

# Model Optimizer: bytes per weight, and the data type of the product where activations are quantised too.
ALGORITHMS: dict[str, Layout] = {
    "FP8": lambda module: Stored(1, "fp8"),
    "FP8_PER_CHANNEL_PER_TOKEN": lambda module: Stored(quantised_width(8, module.K, FP32_SCALE), "fp8"),
    "FP8_PB_WO": lambda module: Stored(quantised_width(8, 128 * 128, FP32_SCALE), "fp8", (128, 128)),
    "MXFP8": lambda module: Stored(quantised_width(8, 32, scale_bytes=1), "fp8"),
    "NVFP4": lambda module: Stored(WIDTHS["nvfp4"], "fp4"),
    "W4A16_NVFP4": lambda module: Stored(WIDTHS["nvfp4"]),
}


def modelopt(fields: Fields) -> Rule:
    """Model Optimizer: one algorithm for the layers' matrices but those excluded, or one for each module named."""
    named = fields.config.get("quant_algo")
    if named is None and fields.has("kv_cache_quant_algo"):
        return lambda module: None  # the KV cache alone
    if str(named).upper() == "MIXED_PRECISION":
        return _mixed(fields)
    stored, kept = _algorithm(fields), Names(listed_names(fields, "exclude_modules", "ignore"))
    return lambda module: None if module.wide or module in kept else stored(module)


def _algorithm(fields: Fields) -> Layout:
    name = str(fields.config.get("quant_algo") or "").upper()
    if name not in ALGORITHMS:
        raise fields.refuse("quant_algo", f"must be {' or '.join(ALGORITHMS)} or MIXED_PRECISION")
    if name.endswith("NVFP4") and int(fields.config.get("group_size") or 16) != 16:
        raise fields.refuse("group_size", "must be 16 with NVFP4")
    return ALGORITHMS[name]


def _mixed(fields: Fields) -> Rule:
    layers = fields.config.get("quantized_layers")
    if not isinstance(layers, Mapping):
        raise fields.refuse("quantized_layers", "must map names of modules to their algorithms")
    stored = {path: _algorithm(Fields(own if isinstance(own, Mapping) else {})) for path, own in layers.items()}

    def rule(module: Module) -> Stored | None:
        for path in module.paths:
            while path:
                if path in stored:
                    return stored[path](module)
                path = path.rpartition(".")[0]  # a whole layer's experts may be named at once
        return None

    return rule


def compressed_tensors(fields: Fields) -> Rule:
    """compressed-tensors: groups of target modules, each with its own layout, but for the modules to ignore."""
    groups, ignored = fields.config.get("config_groups"), _targets(listed_names(fields, "ignore"))
    if not isinstance(groups, Mapping) or not all(isinstance(group, Mapping) for group in groups.values()):
        raise fields.refuse("config_groups", "must map names to groups, each with its targets and weights")
    sparse = fields.config.get("sparsity_config") or {}
    if sparse and sparse.get("format") != "dense":
        raise fields.refuse("sparsity_config", "sparse weights cannot be counted")
    layouts = [(_targets(_known(Fields(group))), _layout(fields, Fields(group))) for group in groups.values()]

    def rule(module: Module) -> Stored | None:
        if ignored(module):
            return None
        return next((layout(module) for targets, layout in layouts if targets(module)), None)

    return rule


def _known(group: Fields) -> list[str]:
    """The targets of a group; of classes, Linear alone is one whose modules are known here."""
    listed = listed_names(group, "targets")
    if any(name[:1].isupper() and name != "Linear" for name in listed):
        raise group.refuse("targets", "of classes, only Linear can be counted")
    return listed


def _targets(listed: list[str]) -> Callable[[Module], bool]:
    """Modules by name, by "re:" and a pattern from the name's start, or all linear ones by their class."""
    patterns = re.compile("|".join(f"(?:{name[3:]})" for name in listed if name.startswith("re:")) or "(?!)")
    names, linear = Names(name for name in listed if not name.startswith("re:")), "Linear" in listed

    def among(module: Module) -> bool:
        # Routers are of a class of their own, or engines leave them alone; an embedding is not linear, lm_head is.
        by_class = linear and (module.name == "lm_head" or not module.wide)
        return by_class or module in names or any(patterns.match(path) for path in module.paths)

    return among


def _layout(fields: Fields, group: Fields) -> Layout:
    weights, inputs = group.config.get("weights"), group.config.get("input_activations")
    stored_as = group.config.get("format") or fields.config.get("format")
    if stored_as == "dense" or weights is None:
        return lambda module: None
    if not isinstance(weights, Mapping):
        raise group.refuse("weights", "must say how they are quantised")
    width = _width(str(stored_as), Fields(weights))
    multiplies, block = _multiplies(inputs), _block(str(stored_as), Fields(weights))
    return lambda module: Stored(width(module), multiplies, block)


def _block(stored_as: str, weights: Fields) -> tuple[int, int] | None:
    """Outputs and inputs that share a scale, but for formats whose small groups engines pad."""
    if stored_as in SMALL:
        return None
    strategy = _strategy(weights)
    if strategy == "block":
        return sides_of_block(weights.config.get("block_structure"), weights, "block_structure")
    return (1, weights.whole("group_size")) if strategy == "group" else None


def _strategy(weights: Fields) -> str:
    strategy = weights.config.get("strategy") or ("group" if weights.has("group_size") else "tensor")
    if strategy not in ("tensor", "channel", "group", "block"):
        raise weights.refuse("strategy", "must be tensor or channel or group or block")
    return str(strategy)


def _multiplies(inputs: Any) -> str | None:
    """Data type of the product: that of the activations, where they are quantised."""
    if inputs is None:
        return None
    kinds = {(8, "float"): "fp8", (8, "int"): "int8", (4, "float"): "fp4"}
    kind = (inputs.get("num_bits", 8), inputs.get("type", "int")) if isinstance(inputs, Mapping) else inputs
    if kind not in kinds:
        raise ValueError(f"input_activations: num_bits, type = {kind}: must be one of {', '.join(map(str, kinds))}")
    return kinds[kind]


def _width(stored_as: str, weights: Fields) -> Callable[[Module], float]:
    bits, zero = weights.whole("num_bits", 8), not weights.flag("symmetric", True)
    if stored_as in SMALL:
        width, group = SMALL[stored_as]
        return lambda module: quantised_width(width, group, scale_bytes=1)
    whole = ("float-quantized", "int-quantized", "naive-quantized")
    if stored_as not in ("pack-quantized", *whole):
        known = " or ".join(("pack-quantized", *whole, *SMALL, "dense"))
        raise ValueError(f"format = {stored_as!r}: must be {known}")
    stored_bits = 32 / (32 // bits) if stored_as == "pack-quantized" else 8  # whole weights in an int32, or a byte
    strategy = _strategy(weights)
    zeros = stored_bits if zero else 0
    if strategy == "tensor":
        return lambda module: quantised_width(stored_bits, None)
    if strategy == "channel":
        return lambda module: quantised_width(stored_bits, module.K, HALF_SCALE, zeros)
    if strategy == "block":
        block = sides_of_block(weights.config.get("block_structure"), weights, "block_structure")
        return lambda module: quantised_width(stored_bits, prod(block), HALF_SCALE)
    group = weights.whole("group_size")
    return lambda module: quantised_width(stored_bits, group, HALF_SCALE, zeros)
