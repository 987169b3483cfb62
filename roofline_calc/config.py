"""Models from Hugging Face config.json files: what each supported architecture's fields mean.

An architecture is supported once its every parameter is accounted for; any other is refused. A field is read by the
function of the architecture it belongs to, so that a key which means something else elsewhere is never guessed at. A
field may be left out only where the architecture's own class has a default that says "none of it".
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .model import MLA, Model, MoE

WIDTH_OF_TORCH_DTYPE = {"float32": 4, "bfloat16": 2, "float16": 2}


class _Fields:
    """A config's fields, each refused with its name where it is missing or of the wrong kind."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config

    def refuse(self, key: str, why: str) -> ValueError:
        return ValueError(f"{key} = {self.config.get(key)!r}: {why}")

    def has(self, key: str) -> bool:
        return self.config.get(key) is not None

    def whole(self, key: str, default: int | None = None) -> int:
        """A positive whole number."""
        value = self.config.get(key)
        if value is None:
            if default is None:
                raise ValueError(f"{key}: missing from the config")
            return default
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.refuse(key, "must be a positive whole number")
        return value

    def none_or_whole(self, key: str) -> int | None:
        """A positive whole number, or null (or 0) for none; the field must be there."""
        if key not in self.config:
            raise ValueError(f"{key}: missing from the config")
        return None if self.config[key] in (None, 0) else self.whole(key)

    def flag(self, key: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self.config.get(key, default)
        if value is None:
            raise ValueError(f"{key}: missing from the config")
        if not isinstance(value, bool):
            raise self.refuse(key, "must be true or false")
        return value

    def one_of(self, key: str, allowed: tuple[Any, ...], default: Any) -> None:
        """Refuse a variant of the architecture whose parameters would not be accounted for."""
        value = self.config.get(key, default)
        if value not in allowed:
            raise self.refuse(key, f"only {' or '.join(map(repr, allowed))} is supported for this architecture")

    def layers_in(self, key: str, layers: int) -> set[int]:
        """Layer numbers listed in a field, all of which must exist."""
        value = self.config.get(key) or []
        if not isinstance(value, list) or not all(type(i) is int and 0 <= i < layers for i in value):
            raise self.refuse(key, f"must list layers from 0 to {layers - 1}")
        return set(value)


def _heads(fields: _Fields, *, explicit: bool = False, grouped: bool = True) -> dict[str, int]:
    """Query heads, KV heads and head_dim: given, or else hidden_size / num_attention_heads.

    ``explicit``: head_dim must be given. ``grouped``: KV heads must; without, there are as many as query heads.
    """
    hidden, n_q = fields.whole("hidden_size"), fields.whole("num_attention_heads")
    n_kv = fields.whole("num_key_value_heads", default=None if grouped else n_q)
    if n_q % n_kv:
        raise fields.refuse("num_key_value_heads", f"must divide num_attention_heads ({n_q})")
    if fields.has("head_dim") or explicit:
        return {"n_q": n_q, "n_kv": n_kv, "head_dim": fields.whole("head_dim")}
    if hidden % n_q:
        raise fields.refuse("num_attention_heads", f"must divide hidden_size ({hidden}) where head_dim is not given")
    return {"n_q": n_q, "n_kv": n_kv, "head_dim": hidden // n_q}


def _window(fields: _Fields, windowed: Callable[[int, int], bool], *, optional: bool = False) -> dict[str, Any]:
    """Sliding-window attention: its width, and its layers, by ``layer_types`` or else by the architecture's rule.

    The field may be null for no window; only where ``optional``, it may be left out.
    """
    types, window = fields.config.get("layer_types"), None
    if "sliding_window" in fields.config or not optional:
        window = fields.none_or_whole("sliding_window")
    if window is None:
        if isinstance(types, list) and "sliding_attention" in types:
            raise ValueError("sliding_window: missing from the config, though layer_types names sliding_attention")
        return {}
    layers = fields.whole("num_hidden_layers")
    if types is None:
        count = sum(windowed(i, layers) for i in range(layers))
    else:
        known = {"sliding_attention", "full_attention"}
        if not isinstance(types, list) or len(types) != layers or not known.issuperset(types):
            raise ValueError(f"layer_types: must name sliding_attention or full_attention for each of {layers} layers")
        count = types.count("sliding_attention")
    return {"window": window, "window_layers": count} if count else {}


def _everywhere(i: int, layers: int) -> bool:
    return True


def _shapes(fields: _Fields) -> dict[str, Any]:
    """What all architectures here have in common."""
    return {
        "hidden": fields.whole("hidden_size"), "layers": fields.whole("num_hidden_layers"),
        "intermediate": fields.whole("intermediate_size"), "vocab": fields.whole("vocab_size"), "qkv_bias": False,
    }  # fmt: skip


def _llama(fields: _Fields) -> dict[str, Any]:
    bias = fields.flag("attention_bias", False)
    return _shapes(fields) | _heads(fields, grouped=False) | {
        "tied_embeddings": fields.flag("tie_word_embeddings", False), "qkv_bias": bias, "o_bias": bias,
        "mlp_bias": fields.flag("mlp_bias", False),
    }  # fmt: skip


def _mistral(fields: _Fields, *, optional: bool = False) -> dict[str, Any]:
    tied = {"tied_embeddings": fields.flag("tie_word_embeddings", False)}
    return _shapes(fields) | _heads(fields) | tied | _window(fields, _everywhere, optional=optional)


def _qwen_window(fields: _Fields) -> dict[str, Any]:
    """Qwen gives a window that counts only where use_sliding_window says so, from layer max_window_layers on."""
    if not fields.flag("use_sliding_window", False):
        return {}
    full = fields.none_or_whole("max_window_layers") or 0
    return _window(fields, lambda i, layers: i >= full)


def _qwen2(fields: _Fields) -> dict[str, Any]:
    own = {"tied_embeddings": fields.flag("tie_word_embeddings", False), "qkv_bias": True}
    return _shapes(fields) | _heads(fields) | own | _qwen_window(fields)


def _qwen3(fields: _Fields) -> dict[str, Any]:
    return _llama(fields) | _heads(fields, explicit=True) | {"mlp_bias": False, "qk_norm": True} | _qwen_window(fields)


def _qwen3_moe(fields: _Fields) -> dict[str, Any]:
    layers = fields.whole("num_hidden_layers")
    step = fields.whole("decoder_sparse_step", default=1)
    dense = fields.layers_in("mlp_only_layers", layers) | {i for i in range(layers) if (i + 1) % step}
    moe = MoE(
        experts=fields.whole("num_experts"), top_k=_top_k(fields, "num_experts"),
        intermediate=fields.whole("moe_intermediate_size"), dense_layers=len(dense),
    )  # fmt: skip
    return _qwen3(fields) | {"moe": moe}


def _mixtral(fields: _Fields) -> dict[str, Any]:
    moe = MoE(
        experts=fields.whole("num_local_experts"), top_k=_top_k(fields, "num_local_experts"),
        intermediate=fields.whole("intermediate_size"),
    )  # fmt: skip
    return _mistral(fields, optional=True) | {"moe": moe}


def _top_k(fields: _Fields, experts: str) -> int:
    top_k = fields.whole("num_experts_per_tok")
    if top_k > fields.whole(experts):
        raise fields.refuse("num_experts_per_tok", f"must be at most {experts} ({fields.whole(experts)})")
    return top_k


def _gemma(fields: _Fields) -> dict[str, Any]:
    bias = fields.flag("attention_bias", False)
    return _shapes(fields) | _heads(fields, explicit=True) | {
        "tied_embeddings": fields.flag("tie_word_embeddings", True), "qkv_bias": bias, "o_bias": bias,
        "norms_per_layer": 4,
    }  # fmt: skip


def _gemma2(fields: _Fields) -> dict[str, Any]:
    return _gemma(fields) | _window(fields, lambda i, layers: i % 2 == 0)


def _gemma3(fields: _Fields) -> dict[str, Any]:
    pattern = fields.whole("sliding_window_pattern", default=6)
    return _gemma(fields) | {"qk_norm": True} | _window(fields, lambda i, layers: (i + 1) % pattern != 0)


def _gemma3_multimodal(fields: _Fields) -> dict[str, Any]:
    """The language model of a Gemma 3 with vision, whose config leaves out what its class sets by default."""
    text = fields.config.get("text_config")
    if not isinstance(text, Mapping):
        raise ValueError("text_config: missing from the config")
    defaults = {"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256}
    return _gemma3(_Fields({**defaults, **text}))


def _phi3(fields: _Fields) -> dict[str, Any]:
    tied = {"tied_embeddings": fields.flag("tie_word_embeddings", False)}
    return _shapes(fields) | _heads(fields, grouped=False) | tied | _window(fields, _everywhere, optional=True)


def _deepseek(fields: _Fields, *, router_bias: bool = False) -> dict[str, Any]:
    fields.one_of("attention_bias", (False,), False)
    fields.one_of("moe_layer_freq", (1,), 1)
    layers, expert = fields.whole("num_hidden_layers"), fields.whole("moe_intermediate_size")
    dense = fields.none_or_whole("first_k_dense_replace") or 0
    if dense >= layers:
        raise fields.refuse("first_k_dense_replace", f"must be less than num_hidden_layers ({layers})")
    moe = MoE(
        experts=fields.whole("n_routed_experts"), top_k=_top_k(fields, "n_routed_experts"), intermediate=expert,
        shared_intermediate=(fields.none_or_whole("n_shared_experts") or 0) * expert, dense_layers=dense,
        router_bias=router_bias,
    )  # fmt: skip
    mla = MLA(
        q_rank=fields.none_or_whole("q_lora_rank"), kv_rank=fields.whole("kv_lora_rank"),
        nope=fields.whole("qk_nope_head_dim"), rope=fields.whole("qk_rope_head_dim"), v=fields.whole("v_head_dim"),
    )  # fmt: skip
    n_q = fields.whole("num_attention_heads")
    return _shapes(fields) | {
        "n_q": n_q, "n_kv": n_q, "head_dim": mla.nope + mla.rope, "moe": moe, "mla": mla,
        "tied_embeddings": fields.flag("tie_word_embeddings", False),
    }  # fmt: skip


def _deepseek_v3(fields: _Fields) -> dict[str, Any]:
    fields.one_of("topk_method", ("noaux_tc",), "noaux_tc")
    return _deepseek(fields, router_bias=True)


def _gpt_oss(fields: _Fields) -> dict[str, Any]:
    fields.one_of("attention_bias", (True,), True)
    moe = MoE(
        experts=fields.whole("num_local_experts"), top_k=_top_k(fields, "num_local_experts"),
        intermediate=fields.whole("intermediate_size"), bias=True, router_bias=True,
    )  # fmt: skip
    return _shapes(fields) | _heads(fields, explicit=True) | {
        "qkv_bias": True, "o_bias": True, "sinks": True, "moe": moe,
        "tied_embeddings": fields.flag("tie_word_embeddings"),
    } | _window(fields, lambda i, layers: i % 2 == 0)  # fmt: skip


ARCHITECTURES: dict[str, Callable[[_Fields], dict[str, Any]]] = {
    "LlamaForCausalLM": _llama,
    "MistralForCausalLM": _mistral,
    "Qwen2ForCausalLM": _qwen2,
    "Qwen3ForCausalLM": _qwen3,
    "Qwen3MoeForCausalLM": _qwen3_moe,
    "Gemma2ForCausalLM": _gemma2,
    "Gemma3ForCausalLM": _gemma3,
    "Gemma3ForConditionalGeneration": _gemma3_multimodal,
    "Phi3ForCausalLM": _phi3,
    "MixtralForCausalLM": _mixtral,
    "DeepseekV2ForCausalLM": _deepseek,
    "DeepseekV3ForCausalLM": _deepseek_v3,
    "GptOssForCausalLM": _gpt_oss,
}


def _element_width(config: Mapping[str, Any]) -> int:
    key = "dtype" if "dtype" in config else "torch_dtype"
    dtype = config.get(key)
    if dtype is None and isinstance(config.get("text_config"), Mapping):
        return _element_width(config["text_config"])
    if dtype not in WIDTH_OF_TORCH_DTYPE:
        known = " or ".join(map(repr, WIDTH_OF_TORCH_DTYPE))
        raise ValueError(f"{key}: missing from the config" if dtype is None else f"{key} = {dtype!r}: must be {known}")
    return WIDTH_OF_TORCH_DTYPE[dtype]


def _stored_width(config: Mapping[str, Any]) -> dict[str, float]:
    """Bytes per weight of a quantised checkpoint's matrices, as its quantization_config describes them."""
    quantised = config.get("quantization_config")
    if quantised is None:
        return {}
    method = quantised.get("quant_method") if isinstance(quantised, Mapping) else None
    if method == "fp8" and isinstance(quantised.get("weight_block_size"), list):
        rows, columns = quantised["weight_block_size"]
        return {"weights": 1 + 4 / (rows * columns)}  # one FP32 scale per block
    if method == "fp8":
        return {"weights": 1}
    if method == "mxfp4":
        from .precision import WIDTHS

        return {"experts": WIDTHS["mxfp4"]}
    if method in ("awq", "gptq"):
        from .operators import quantised_width

        bits, group = quantised.get("bits"), quantised.get("group_size")
        if not isinstance(bits, int) or not isinstance(group, int):
            raise ValueError("quantization_config: bits or group_size is missing")
        return {"weights": quantised_width(bits, group if group > 0 else None, zero_bits=bits)}
    raise ValueError(
        f"quantization_config: quant_method = {method!r}: must be 'fp8' or 'mxfp4' or 'awq' or 'gptq'; "
        "remove the field and give the width of the weights instead"
    )


def model_from_config(config: str | Path | Mapping[str, Any], name: str | None = None) -> Model:
    """See `Model.from_config`."""
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
    shapes = ARCHITECTURES[named[0]](_Fields(config))
    stored = _stored_width(config)
    if "experts" in stored and shapes.get("moe"):
        from dataclasses import replace

        shapes["moe"] = replace(shapes["moe"], weight_width=stored["experts"])
    return Model(
        name=name or config.get("_name_or_path") or named[0], bytes_per_element=_element_width(config),
        weight_width=stored.get("weights"), source=source, **shapes,
    )  # fmt: skip
