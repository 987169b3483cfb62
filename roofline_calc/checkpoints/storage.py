"""What a checkpoint stores: its data type, and by its quantisation how wide each of our linear layers is."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..model import Model
from ..precision import WIDE, WIDTHS, Stored
from .fields import Fields
from .modules import Module, modules
from .quantisation import Rule, awq, bitsandbytes, fp8, gptq, mlx, mxfp4
from .quantisation_groups import compressed_tensors, modelopt

WIDTH_OF_TORCH_DTYPE = {"float32": 4, "bfloat16": 2, "float16": 2}
METHODS: dict[str, Callable[[Fields], Rule]] = {
    "fp8": fp8, "gptq": gptq, "awq": awq, "bitsandbytes": bitsandbytes, "modelopt": modelopt, "mlx": mlx,
    "compressed-tensors": compressed_tensors,
}
CURE = "give the width of the weights yourself, --weights 4.5 (quantisation={} in Python leaves it out)"


def element_width(config: Mapping[str, Any], usual: str | None = None) -> int:
    """Bytes per element of what is not quantised; ``usual`` names the data type where the config has none."""
    key = "dtype" if "dtype" in config else "torch_dtype"
    dtype = config.get(key)
    if dtype is None and isinstance(config.get("text_config"), Mapping):
        return element_width(config["text_config"], usual)
    dtype = dtype or usual
    if dtype == "auto":
        raise ValueError(f"{key} = 'auto': the file's tensors decide; write their data type, 'bfloat16' say")
    if dtype not in WIDTH_OF_TORCH_DTYPE:
        known = " or ".join(map(repr, WIDTH_OF_TORCH_DTYPE))
        raise ValueError(f"{key}: missing from the config" if dtype is None else f"{key} = {dtype!r}: must be {known}")
    return WIDTH_OF_TORCH_DTYPE[dtype]


def stored_modules(
    model: Model, architecture: str, config: Mapping[str, Any], sidecar: Mapping[str, Any] | None = None
) -> tuple[dict[str, Stored], float | None]:
    """How a checkpoint stores what it quantises, by names as in `Precision.modules`, and bytes per value of KV cache.

    Args:
        sidecar: the parsed hf_quant_config.json that lies beside config.json.

    Raises:
        ValueError: the method, or something in it, is not one that can be counted.
    """
    where, fields = _quantisation(config, sidecar)
    if fields is None:
        return {}, None
    try:
        rule, kv = _rule(fields, model), _kv_width(fields)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    # One expert stands for all, unless the file speaks of one by its number.
    every = model.moe is not None and re.search(r"experts\W*\d", repr(fields)) is not None
    found = modules(model, architecture, config, model.moe.experts if model.moe and every else 1)
    stored = together(model, found, rule)
    if not stored and kv is None:
        raise ValueError(f"{where}: it names no module that this architecture is known to have; {CURE}")
    return stored, kv


def _quantisation(
    config: Mapping[str, Any], sidecar: Mapping[str, Any] | None
) -> tuple[str, Mapping[str, Any] | None]:
    """Where the checkpoint's quantisation is written, and what it says; a ModelOpt file may say it in itself alone."""
    if sidecar is not None:
        inner = sidecar.get("quantization")
        if sidecar and not isinstance(inner, Mapping):
            raise ValueError("hf_quant_config.json: quantization: missing")
        return "hf_quant_config.json", {"quant_method": "modelopt", **inner} if inner else None
    text = config.get("text_config")
    for part, within in ((config, ""), (text if isinstance(text, Mapping) else {}, "text_config: ")):
        for key in ("quantization", "quantization_config"):
            if part.get(key) is not None:
                found = part[key]
                if not isinstance(found, Mapping):
                    raise ValueError(f"{within}{key} = {found!r}: must be an object")
                return within + key, found
    return "", None


def _rule(fields: Mapping[str, Any], model: Model) -> Rule:
    method = fields.get("quant_method")
    if method is None:  # MLX writes none, nor did older exports of Model Optimizer and AutoAWQ
        signs = {"quant_algo": "modelopt", "w_bit": "awq", "bits": "mlx", "mode": "mlx"}
        method = next((name for key, name in signs.items() if key in fields), None)
    if isinstance(method, str) and method.startswith("modelopt_"):
        method = "modelopt"
    if method == "mxfp4":
        return mxfp4(Fields(fields), sparse=model.moe is not None)
    if method not in METHODS:
        known = ", ".join(sorted({*METHODS, "mxfp4"}))
        raise ValueError(f"quant_method = {method!r}: cannot be counted, only {known} can; {CURE}")
    return METHODS[method](Fields(fields))


def _kv_width(fields: Mapping[str, Any]) -> float | None:
    """Bytes per value of a KV cache that the checkpoint asks to be quantised."""
    scheme = fields.get("kv_cache_quant_algo") or fields.get("kv_cache_scheme")
    if scheme is None:
        return None
    if isinstance(scheme, Mapping) and scheme.get("num_bits") == 8:
        return 1
    if str(scheme).lower() in ("fp8", "int8", "nvfp4"):
        return WIDTHS[str(scheme).lower()]
    raise ValueError(f"kv_cache_scheme = {scheme!r}: must be FP8 or INT8 or NVFP4, or have num_bits 8")


def together(model: Model, found: Iterable[Module], rule: Rule) -> dict[str, Stored]:
    """How each linear layer is stored: the mean width of its matrices, and the narrowest of their products.

    The mean over the layers makes their bytes exact; the narrowest product, the fastest, keeps a lower bound one.
    """
    plain, weights = Stored(model.bytes_per_element), defaultdict[str, Counter[Stored]](Counter)
    for module in found:
        weights[module.name][rule(module) or plain] += module.K * module.N
    stored = {}
    for name, counts in weights.items():
        dtypes = [each.multiplies for each in counts if each.multiplies]
        width = sum(each.width * count for each, count in counts.items()) / counts.total()
        block = max((each.block for each in counts if each.block), default=None)  # the coarsest
        stored[name] = Stored(width, min(dtypes, key=WIDTHS.__getitem__, default=None), block)
    if model.tied_embeddings:
        stored["lm_head"] = stored["embedding"]
    return _briefly(stored, plain)


def _briefly(stored: Mapping[str, Stored], plain: Stored) -> dict[str, Stored]:
    """The same under fewer names: "layers" for what most linear layers have, "experts" for all experts alike."""
    experts = {name: each for name, each in stored.items() if name.startswith("expert_")}
    layers = {name: each for name, each in stored.items() if name not in WIDE and name not in experts}
    usual = Counter(layers.values()).most_common(1)[0][0]
    if len(set(experts.values())) == 1:
        experts = {"experts": next(iter(experts.values()))}
    brief = {} if usual == plain else {"layers": usual}
    brief |= {name: each for name, each in {**layers, **experts}.items() if each != usual}
    return brief | {name: stored[name] for name in WIDE if name in stored and stored[name] != plain}
