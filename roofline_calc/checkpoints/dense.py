"""What the fields of each dense architecture mean; see `architectures`."""

from typing import Any

from .attention_fields import but_every, everywhere, heads, rotary, shapes, text_part, tied, window, without_rope
from .fields import Fields


def llama(fields: Fields) -> dict[str, Any]:
    """Llama, and Granite, whose multipliers are no weights."""
    bias = fields.flag("attention_bias", False)
    own = {"qkv_bias": bias, "o_bias": bias, "mlp_bias": fields.flag("mlp_bias", False)}
    return shapes(fields) | heads(fields, grouped=False) | tied(fields) | own


def smollm3(fields: Fields) -> dict[str, Any]:
    """SmolLM3: Llama with some layers that go without RoPE, tied unless the config says otherwise."""
    own = {"nope_layers": sum(without_rope(fields))}
    return llama(fields) | heads(fields) | tied(fields, default=True) | own | qwen_window(fields)


def olmo2(fields: Fields) -> dict[str, Any]:
    """OLMo 2: norms behind attention and feed-forward network, and of all queries and all keys at once."""
    bias = fields.flag("attention_bias", False)
    own = {"qkv_bias": bias, "o_bias": bias, "wide_qk_norm": True}
    return shapes(fields) | heads(fields) | tied(fields) | own


def olmo3(fields: Fields) -> dict[str, Any]:
    """OLMo 3: as OLMo 2, with a window on three layers of four."""
    return olmo2(fields) | window(fields, but_every(4))


def internlm2(fields: Fields) -> dict[str, Any]:
    """Llama under other names of its weights; the class would have biases by default."""
    fields.one_of("bias", (False,), True)
    return shapes(fields) | heads(fields) | tied(fields)


def mistral(fields: Fields, *, optional: bool = False) -> dict[str, Any]:
    """Mistral; ``optional``: the window may be left out."""
    return shapes(fields) | heads(fields) | tied(fields) | window(fields, everywhere, optional=optional)


def mistral3(fields: Fields) -> dict[str, Any]:
    """The language model of Mistral Small 3.1 and later, and of Devstral.

    The class would tie the embeddings where no field says so, but those checkpoints store both matrices: 24,011,361,280
    parameters of Mistral Small 3.2 with its vision tower.
    """
    text = text_part(fields)
    config = {"tie_word_embeddings": fields.flag("tie_word_embeddings", False), **text.config}
    return mistral(Fields(config)) | heads(text, explicit=True)


def qwen_window(fields: Fields) -> dict[str, Any]:
    """Qwen gives a window that counts only where use_sliding_window says so, from layer max_window_layers on."""
    if not fields.flag("use_sliding_window", False):
        return {}
    full = fields.none_or_whole("max_window_layers") or 0
    return window(fields, lambda i, layers: i >= full)


def qwen2(fields: Fields) -> dict[str, Any]:
    """Qwen2 and Qwen2.5: biases on q, k and v."""
    return shapes(fields) | heads(fields) | tied(fields) | {"qkv_bias": True} | qwen_window(fields)


def qwen2_vl(fields: Fields) -> dict[str, Any]:
    """The language model of Qwen2.5-VL; older files give its fields at the top level."""
    if "text_config" not in fields.config:
        return qwen2(fields)
    return qwen2(text_part(fields, tie_word_embeddings=fields.flag("tie_word_embeddings", False)))


def qwen3(fields: Fields) -> dict[str, Any]:
    """Qwen3: norms of each query and key head."""
    return llama(fields) | heads(fields, explicit=True) | {"mlp_bias": False, "qk_norm": True} | qwen_window(fields)


def qwen3_vl(fields: Fields) -> dict[str, Any]:
    """The language model of Qwen3-VL: Qwen3, tied as the field at the top level says."""
    return qwen3(text_part(fields)) | tied(fields)


def gemma(fields: Fields) -> dict[str, Any]:
    """Gemma 1: two norms per layer, tied."""
    bias = fields.flag("attention_bias", False)
    own = {"qkv_bias": bias, "o_bias": bias}
    return shapes(fields) | heads(fields, explicit=True) | tied(fields, default=True) | own


def gemma2(fields: Fields) -> dict[str, Any]:
    """Gemma 2: four norms per layer, a window on every other one."""
    return gemma(fields) | {"norms_per_layer": 4} | window(fields, lambda i, layers: i % 2 == 0)


def gemma3(fields: Fields) -> dict[str, Any]:
    """Gemma 3: as Gemma 2, norms of each query and key head, a window on all but every sixth layer."""
    pattern = fields.whole("sliding_window_pattern", default=6)
    return gemma(fields) | {"norms_per_layer": 4, "qk_norm": True} | window(fields, but_every(pattern))


def gemma3_multimodal(fields: Fields) -> dict[str, Any]:
    """The language model of a Gemma 3 with vision, whose config leaves out what its class sets by default."""
    return gemma3(text_part(fields, vocab_size=262208, num_attention_heads=8, num_key_value_heads=4, head_dim=256))


def phi3(fields: Fields) -> dict[str, Any]:
    """Phi-3 and Phi-4."""
    sizes = heads(fields, grouped=False)
    own = tied(fields) | rotary(fields, sizes["head_dim"])
    return shapes(fields) | sizes | own | window(fields, everywhere, optional=True)


def glm(fields: Fields) -> dict[str, Any]:
    """GLM-4 of 2024: biases on q, k and v unless the config says otherwise."""
    sizes, own = heads(fields, explicit=True), {"qkv_bias": fields.flag("attention_bias", True)}
    return shapes(fields) | sizes | tied(fields) | own | rotary(fields, sizes["head_dim"], default=0.5)


def glm4(fields: Fields) -> dict[str, Any]:
    """GLM-4 of 2025: four norms per layer."""
    return glm(fields) | {"norms_per_layer": 4}


def chatglm(fields: Fields) -> dict[str, Any]:
    """GLM-4 under the names of its first release."""
    for key, value in {"add_bias_linear": False, "multi_query_attention": True, "rmsnorm": True}.items():
        fields.one_of(key, (value,), None)
    names = {
        "num_layers": "num_hidden_layers", "ffn_hidden_size": "intermediate_size", "kv_channels": "head_dim",
        "multi_query_group_num": "num_key_value_heads", "padded_vocab_size": "vocab_size",
        "add_qkv_bias": "attention_bias",
    }
    for key in names:
        if not fields.has(key):
            raise ValueError(f"{key}: missing from the config")
    return glm(Fields({**fields.config, **{new: fields.config[key] for key, new in names.items()}}))


def cohere(fields: Fields) -> dict[str, Any]:
    """Command-R: one norm per layer, for attention and feed-forward network side by side; tied."""
    bias = fields.flag("attention_bias", False)
    own = {
        "norms_per_layer": 1, "qkv_bias": bias, "o_bias": bias, "wide_qk_norm": fields.flag("use_qk_norm", False),
    }
    return shapes(fields) | heads(fields) | tied(fields, default=True) | own


def cohere2(fields: Fields) -> dict[str, Any]:
    """Command R7B and Command A: as Command-R, with a window on three layers of four, without RoPE on the others."""
    slid = window(fields, but_every(fields.whole("sliding_window_pattern", default=4)))
    layers = fields.whole("num_hidden_layers")
    return cohere(fields) | slid | {"nope_layers": layers - slid["window_layers"] if slid else 0}
