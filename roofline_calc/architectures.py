"""What the fields of each supported architecture mean: a function of its config gives the shapes of `Model`.

An architecture is supported once its every parameter is accounted for; any other is refused. A field is read by the
function of the architecture it belongs to, so that a key which means something else elsewhere is never guessed at. A
field may be left out only where the architecture's own class has a default that says "none of it".
"""

from collections.abc import Callable, Mapping
from typing import Any

from .config_fields import Fields
from .shapes import MLA, MoE


def _heads(fields: Fields, *, explicit: bool = False, grouped: bool = True) -> dict[str, int]:
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


def _window(fields: Fields, windowed: Callable[[int, int], bool], *, optional: bool = False) -> dict[str, Any]:
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


def _shapes(fields: Fields) -> dict[str, Any]:
    """What all architectures here have in common."""
    return {
        "hidden": fields.whole("hidden_size"), "layers": fields.whole("num_hidden_layers"),
        "intermediate": fields.whole("intermediate_size"), "vocab": fields.whole("vocab_size"), "qkv_bias": False,
    }


def _llama(fields: Fields) -> dict[str, Any]:
    bias = fields.flag("attention_bias", False)
    return _shapes(fields) | _heads(fields, grouped=False) | {
        "tied_embeddings": fields.flag("tie_word_embeddings", False), "qkv_bias": bias, "o_bias": bias,
        "mlp_bias": fields.flag("mlp_bias", False),
    }


def _mistral(fields: Fields, *, optional: bool = False) -> dict[str, Any]:
    tied = {"tied_embeddings": fields.flag("tie_word_embeddings", False)}
    return _shapes(fields) | _heads(fields) | tied | _window(fields, _everywhere, optional=optional)


def _qwen_window(fields: Fields) -> dict[str, Any]:
    """Qwen gives a window that counts only where use_sliding_window says so, from layer max_window_layers on."""
    if not fields.flag("use_sliding_window", False):
        return {}
    full = fields.none_or_whole("max_window_layers") or 0
    return _window(fields, lambda i, layers: i >= full)


def _qwen2(fields: Fields) -> dict[str, Any]:
    own = {"tied_embeddings": fields.flag("tie_word_embeddings", False), "qkv_bias": True}
    return _shapes(fields) | _heads(fields) | own | _qwen_window(fields)


def _qwen3(fields: Fields) -> dict[str, Any]:
    return _llama(fields) | _heads(fields, explicit=True) | {"mlp_bias": False, "qk_norm": True} | _qwen_window(fields)


def _qwen3_moe(fields: Fields) -> dict[str, Any]:
    layers = fields.whole("num_hidden_layers")
    step = fields.whole("decoder_sparse_step", default=1)
    dense = fields.layers_in("mlp_only_layers", layers) | {i for i in range(layers) if (i + 1) % step}
    moe = MoE(
        experts=fields.whole("num_experts"), top_k=_top_k(fields, "num_experts"),
        intermediate=fields.whole("moe_intermediate_size"), dense_layers=len(dense),
    )
    return _qwen3(fields) | {"moe": moe}


def _mixtral(fields: Fields) -> dict[str, Any]:
    moe = MoE(
        experts=fields.whole("num_local_experts"), top_k=_top_k(fields, "num_local_experts"),
        intermediate=fields.whole("intermediate_size"),
    )
    return _mistral(fields, optional=True) | {"moe": moe}


def _top_k(fields: Fields, experts: str) -> int:
    top_k = fields.whole("num_experts_per_tok")
    if top_k > fields.whole(experts):
        raise fields.refuse("num_experts_per_tok", f"must be at most {experts} ({fields.whole(experts)})")
    return top_k


def _gemma(fields: Fields) -> dict[str, Any]:
    bias = fields.flag("attention_bias", False)
    return _shapes(fields) | _heads(fields, explicit=True) | {
        "tied_embeddings": fields.flag("tie_word_embeddings", True), "qkv_bias": bias, "o_bias": bias,
        "norms_per_layer": 4,
    }


def _gemma2(fields: Fields) -> dict[str, Any]:
    return _gemma(fields) | _window(fields, lambda i, layers: i % 2 == 0)


def _gemma3(fields: Fields) -> dict[str, Any]:
    pattern = fields.whole("sliding_window_pattern", default=6)
    return _gemma(fields) | {"qk_norm": True} | _window(fields, lambda i, layers: (i + 1) % pattern != 0)


def _gemma3_multimodal(fields: Fields) -> dict[str, Any]:
    """The language model of a Gemma 3 with vision, whose config leaves out what its class sets by default."""
    text = fields.config.get("text_config")
    if not isinstance(text, Mapping):
        raise ValueError("text_config: missing from the config")
    defaults = {"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256}
    return _gemma3(Fields({**defaults, **text}))


def _phi3(fields: Fields) -> dict[str, Any]:
    tied = {"tied_embeddings": fields.flag("tie_word_embeddings", False)}
    return _shapes(fields) | _heads(fields, grouped=False) | tied | _window(fields, _everywhere, optional=True)


def _deepseek(fields: Fields, *, router_bias: bool = False) -> dict[str, Any]:
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
    )
    mla = MLA(
        q_rank=fields.none_or_whole("q_lora_rank"), kv_rank=fields.whole("kv_lora_rank"),
        nope=fields.whole("qk_nope_head_dim"), rope=fields.whole("qk_rope_head_dim"), v=fields.whole("v_head_dim"),
    )
    n_q = fields.whole("num_attention_heads")
    return _shapes(fields) | {
        "n_q": n_q, "n_kv": n_q, "head_dim": mla.nope + mla.rope, "moe": moe, "mla": mla,
        "tied_embeddings": fields.flag("tie_word_embeddings", False),
    }


def _deepseek_v3(fields: Fields) -> dict[str, Any]:
    fields.one_of("topk_method", ("noaux_tc",), "noaux_tc")
    return _deepseek(fields, router_bias=True)


def _gpt_oss(fields: Fields) -> dict[str, Any]:
    fields.one_of("attention_bias", (True,), True)
    moe = MoE(
        experts=fields.whole("num_local_experts"), top_k=_top_k(fields, "num_local_experts"),
        intermediate=fields.whole("intermediate_size"), bias=True, router_bias=True,
    )
    return _shapes(fields) | _heads(fields, explicit=True) | {
        "qkv_bias": True, "o_bias": True, "sinks": True, "moe": moe,
        "tied_embeddings": fields.flag("tie_word_embeddings"),
    } | _window(fields, lambda i, layers: i % 2 == 0)


ARCHITECTURES: dict[str, Callable[[Fields], dict[str, Any]]] = {
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
