"""Formats of weights by the names that people use: from "q4_k_m" to how each linear layer of a model is stored.

A GGUF file of a mixed type keeps some matrices wider than others: which ones, llama.cpp decides in src/llama-quant.cpp
(read at 007dbbf3; here without an importance matrix, and with q, k and v apart). Block sizes are those of gguf-py
0.19.0. llama.cpp's CUDA kernels multiply all these types in INT8, quantising the activations on the way
(ggml/src/ggml-cuda/mmq.cu). Files made by other rules (UD-Q4_K_XL, --tensor-type) are not these.
"""

from collections.abc import Callable

from ..checks import check_choice
from ..model import Model
from ..precision import Stored, width_of
from .modules import Module, modules
from .quantisation import Rule, mlx_affine
from .storage import together

# Of GGUF's types: weights in a block, and its bytes.
BLOCKS = {
    "Q4_0": (32, 18), "Q4_1": (32, 20), "Q5_0": (32, 22), "Q5_1": (32, 24), "Q8_0": (32, 34), "Q2_K": (256, 84),
    "Q3_K": (256, 110), "Q4_K": (256, 144), "Q5_K": (256, 176), "Q6_K": (256, 210), "IQ4_NL": (32, 18),
    "IQ4_XS": (256, 136),
}
# Where a row is no multiple of the block.
NARROWER = {"Q2_K": "Q4_0", "Q3_K": "Q4_0", "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0", "IQ4_XS": "IQ4_NL"}
GGUF = (
    "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_k", "q2_k_s", "q3_k_s", "q3_k_m", "q3_k_l", "q4_k_s", "q4_k_m",
    "q5_k_s", "q5_k_m", "q6_k", "iq4_nl", "iq4_xs",
)
MLX = tuple(f"mlx-{bits}bit" for bits in (2, 3, 4, 5, 6, 8))
# Group sizes of the checkpoints usually published under these names.
ALIASES = {"awq": "int4-g128-zero", "gptq": "int4-g128-zero"}
FORMATS = (*GGUF, *MLX)


def bytes_of(word: str) -> float:
    """Bytes per weight: of a data type by name, a GGUF type, AWQ or GPTQ as usually published, or of bits, "4.5".

    Raises:
        ValueError: the name is unknown, or the bits are not from 1 to 64.

    >>> bytes_of("awq"), bytes_of("q6_k"), bytes_of("4.5")
    (0.51953125, 0.8203125, 0.5625)
    """
    if word.upper() in BLOCKS:
        weights, size = BLOCKS[word.upper()]
        return size / weights
    try:
        bits = float(word)
    except ValueError:
        return width_of(ALIASES.get(word, word))
    if not 1 <= bits <= 64:
        raise ValueError(f"bits per weight = {word}: must be from 1 to 64")
    return bits / 8


def stored_as(name: str, model: Model) -> dict[str, Stored]:
    """How a model's linear layers, embedding and lm_head are stored in a format of `FORMATS`.

    Raises:
        ValueError: the name is not one of them.
    """
    check_choice(FORMATS, format=name)
    rule = _gguf(name, model) if name in GGUF else mlx_affine(int(name[4]), 64)
    return together(model, modules(model), rule)


def _gguf(name: str, model: Model) -> Rule:
    kind = name.upper()
    base = kind[:4] if kind[:4] in BLOCKS else kind

    def rule(module: Module) -> Stored:
        if module.name in ("router", "shared_expert_gate"):
            return Stored(4)  # FP32
        if module.name == "lm_head" or (module.name == "embedding" and model.tied_embeddings):
            wanted = "Q8_0" if base == "Q8_0" or module.K % BLOCKS[base][0] else "Q6_K"
        else:
            wanted = MIXED.get(_role(module.name), _plain)(kind, base, module.layer, model)
        if module.K % BLOCKS[wanted][0]:
            wanted = NARROWER.get(wanted, "F16")
        if wanted == "F16" or module.K % BLOCKS[wanted][0]:
            return Stored(2)
        weights, size = BLOCKS[wanted]
        return Stored(size / weights, "int8")

    return rule


def _role(name: str) -> str:
    return "v_proj" if name == "kv_b_proj" else name.rpartition("_down_proj")[1].lstrip("_") or name


def _plain(kind: str, base: str, layer: int, model: Model) -> str:
    return base


def _more_bits(layer: int, layers: int) -> bool:
    """The layers at both ends, and every third between."""
    eighth = layers // 8
    return layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2


def _value(kind: str, base: str, layer: int, model: Model) -> str:
    grouped = model.n_q // model.n_kv >= 4
    if model.moe and model.moe.experts == 8:
        return "Q8_0"
    wanted = {
        "Q2_K": "Q4_K" if grouped else "Q3_K", "Q2_K_S": "Q4_K" if grouped else base,
        "Q3_K_M": "Q5_K" if layer < 2 else "Q4_K", "Q3_K_L": "Q5_K",
        "Q4_K_S": "Q5_K" if layer < 4 else base,
        **dict.fromkeys(("IQ4_NL", "IQ4_XS"), "Q5_K" if grouped else base),
        **dict.fromkeys(("Q4_K_M", "Q5_K_M"), "Q6_K" if _more_bits(layer, model.layers) else base),
    }.get(kind, base)
    # llama.cpp's "70B" is a dense model of 80 layers (Llama 2 and 3, Qwen2.5-72B).
    return "Q5_K" if model.layers == 80 and not model.moe and wanted in ("Q3_K", "Q4_K") else wanted


def _key(kind: str, base: str, layer: int, model: Model) -> str:
    return "Q8_0" if model.moe and model.moe.experts == 8 else base


def _output(kind: str, base: str, layer: int, model: Model) -> str:
    if model.moe and model.moe.experts == 8:
        narrow = ("Q2_K", "Q3_K_S", "Q3_K_M", "Q4_K_S", "Q4_K_M", "IQ4_NL", "IQ4_XS")
        return "Q5_K" if kind in narrow else base
    return {"Q2_K": "Q3_K", "Q3_K_M": "Q4_K", "Q3_K_L": "Q5_K"}.get(kind, base)


def _down(kind: str, base: str, layer: int, model: Model) -> str:
    first = layer < model.layers // 8
    return {
        "Q2_K": "Q3_K", "Q2_K_S": "Q4_K" if first else base, "Q3_K_L": "Q5_K",
        "Q3_K_M": "Q5_K" if layer < model.layers // 16 else "Q4_K",
        **dict.fromkeys(("Q4_K_S", "IQ4_NL", "IQ4_XS"), "Q5_K" if first else base),
        **dict.fromkeys(("Q4_K_M", "Q5_K_M"), "Q6_K" if _more_bits(layer, model.layers) else base),
    }.get(kind, base)


MIXED: dict[str, Callable[[str, str, int, Model], str]] = {
    "v_proj": _value, "k_proj": _key, "o_proj": _output, "down_proj": _down,
}
