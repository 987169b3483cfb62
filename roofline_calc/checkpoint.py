"""How wide a checkpoint stores what it stores: its data type, and its quantisation where it has one."""

from collections.abc import Mapping
from typing import Any

from .operators import quantised_width
from .precision import WIDTHS, Stored

WIDTH_OF_TORCH_DTYPE = {"float32": 4, "bfloat16": 2, "float16": 2}


def element_width(config: Mapping[str, Any]) -> int:
    """Bytes per element of what is not quantised."""
    key = "dtype" if "dtype" in config else "torch_dtype"
    dtype = config.get(key)
    if dtype is None and isinstance(config.get("text_config"), Mapping):
        return element_width(config["text_config"])
    if dtype not in WIDTH_OF_TORCH_DTYPE:
        known = " or ".join(map(repr, WIDTH_OF_TORCH_DTYPE))
        raise ValueError(f"{key}: missing from the config" if dtype is None else f"{key} = {dtype!r}: must be {known}")
    return WIDTH_OF_TORCH_DTYPE[dtype]


def stored_modules(config: Mapping[str, Any]) -> dict[str, Stored]:
    """How a quantised checkpoint stores its "layers" or "experts", as its quantization_config says."""
    quantised = config.get("quantization_config")
    if quantised is None:
        return {}
    method = quantised.get("quant_method") if isinstance(quantised, Mapping) else None
    if method == "fp8" and isinstance(quantised.get("weight_block_size"), list):
        rows, columns = quantised["weight_block_size"]
        return {"layers": Stored(1 + 4 / (rows * columns), "fp8")}  # one FP32 scale per block
    if method == "fp8":
        return {"layers": Stored(1, "fp8")}
    if method == "mxfp4":
        return {"experts": Stored(WIDTHS["mxfp4"])}
    if method in ("awq", "gptq"):
        bits, group = quantised.get("bits"), quantised.get("group_size")
        if not isinstance(bits, int) or not isinstance(group, int):
            raise ValueError("quantization_config: bits or group_size is missing")
        return {"layers": Stored(quantised_width(bits, group if group > 0 else None, zero_bits=bits))}
    raise ValueError(
        f"quantization_config: quant_method = {method!r}: must be 'fp8' or 'mxfp4' or 'awq' or 'gptq'; "
        "remove the field and give the width of the weights instead"
    )
