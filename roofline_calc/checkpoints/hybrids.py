"""What the fields of each architecture mean whose layers are of several kinds; see `architectures`."""

from typing import Any

from ..mixers import DeltaNet, Mamba2
from ..parts import GlobalHeads, LayerInputs, SharedCache
from ..shapes import MoE
from .attention_fields import but_every, count_layers, heads, rotary, shapes, text_part, tied, top_k, window
from .dense import llama
from .fields import Fields
from .moe import dense_layers
from .storage import WIDTH_OF_TORCH_DTYPE


def _state_width(fields: Fields, key: str) -> float | None:
    """Bytes per element of the state where a field says; else engines keep it in the model's own data type."""
    dtype = fields.config.get(key)
    if dtype is None:
        return None
    if dtype not in WIDTH_OF_TORCH_DTYPE:
        raise fields.refuse(key, f"must be {' or '.join(map(repr, WIDTH_OF_TORCH_DTYPE))}")
    return float(WIDTH_OF_TORCH_DTYPE[dtype])


def _delta_net(fields: Fields) -> dict[str, Any]:
    """Attention of which three layers of four are gated delta nets, and the rest have a gate on their output."""
    fields.one_of("attention_bias", (False,), False)
    fields.one_of("attn_output_gate", (True,), True)
    period = fields.whole("full_attention_interval", default=4)
    mixer = DeltaNet(
        layers=count_layers(fields, "linear_attention", ("full_attention",), lambda i, layers: (i + 1) % period != 0),
        key_heads=fields.whole("linear_num_key_heads"), value_heads=fields.whole("linear_num_value_heads"),
        key_dim=fields.whole("linear_key_head_dim"), value_dim=fields.whole("linear_value_head_dim"),
        taps=fields.whole("linear_conv_kernel_dim"), state_width=_state_width(fields, "mamba_ssm_dtype"),
    )
    sizes = heads(fields, explicit=True)
    own = {"qk_norm": True, "output_gate": True, "mixer": mixer}
    return sizes | own | rotary(fields, sizes["head_dim"], default=0.25)


def _qwen_experts(fields: Fields) -> dict[str, Any]:
    """Experts and a shared one with its gate. Without dense layers no field says how wide these would be."""
    dense = dense_layers(fields)
    moe = MoE(
        experts=fields.whole("num_experts"), top_k=top_k(fields, "num_experts"),
        intermediate=fields.whole("moe_intermediate_size"), dense_layers=dense,
        shared_intermediate=fields.whole("shared_expert_intermediate_size"), shared_gate=True,
    )
    unused = {} if dense else {"intermediate_size": moe.intermediate}
    return shapes(Fields({**unused, **fields.config})) | {"moe": moe}


def qwen3_next(fields: Fields) -> dict[str, Any]:
    """Qwen3-Next."""
    return _qwen_experts(fields) | _delta_net(fields) | tied(fields)


def qwen3_5(fields: Fields) -> dict[str, Any]:
    """The language model of Qwen3.5 and 3.6, dense; tied as the field at the top level says."""
    text = text_part(fields)
    return shapes(text) | _delta_net(text) | tied(fields)


def qwen3_5_moe(fields: Fields) -> dict[str, Any]:
    """The language model of a Qwen3.5 or 3.6 with experts."""
    text = text_part(fields)
    return _qwen_experts(text) | _delta_net(text) | tied(fields)


PATTERN = {"M": "mamba", "*": "attention", "E": "moe", "-": "mlp"}


def nemotron_h(fields: Fields) -> dict[str, Any]:
    """Nemotron-H and Nemotron 3: each layer is a Mamba-2, attention without RoPE, experts or an MLP."""
    for key in ("attention_bias", "mlp_bias", "use_bias", "mamba_proj_bias"):
        fields.one_of(key, (False,), False)
    fields.one_of("sliding_window", (None,), None)
    kinds = _kinds(fields)
    layers = {kind: kinds.count(kind) for kind in PATTERN.values()}
    if not layers["mamba"] or not layers["moe"] + layers["mlp"]:
        raise ValueError("hybrid_override_pattern: without a Mamba-2 layer, or without feed-forward networks")
    mixer = Mamba2(
        layers=layers["mamba"], heads=fields.whole("mamba_num_heads"), head_dim=fields.whole("mamba_head_dim"),
        groups=fields.whole("n_groups"), state_dim=fields.whole("ssm_state_size"), taps=fields.whole("conv_kernel"),
        conv_bias=fields.flag("use_conv_bias", True), state_width=_state_width(fields, "mamba_ssm_cache_dtype"),
    )
    head_dim = fields.config.get("head_dim") or fields.config.get("attention_head_dim")
    sized = Fields({**fields.config, "num_hidden_layers": len(kinds), "head_dim": head_dim})
    own = {
        "norms_per_layer": 1, "gated_ffn": False, "ffn_layers": layers["moe"] + layers["mlp"],
        "nope_layers": layers["attention"], "mixer": mixer,
    }
    if layers["moe"]:
        own["moe"] = _nemotron_experts(fields, layers["mlp"])
    return shapes(sized) | heads(sized, explicit=True) | tied(fields) | own


def _kinds(fields: Fields) -> list[str]:
    """What each layer is."""
    pattern, named = fields.config.get("hybrid_override_pattern"), fields.config.get("layers_block_type")
    kinds = [PATTERN.get(letter, letter) for letter in pattern] if isinstance(pattern, str) else named
    known = set(PATTERN.values())
    if not isinstance(kinds, list) or not kinds or not known.issuperset(kinds):
        raise ValueError(
            "hybrid_override_pattern: must hold M, *, E or - for each layer, or layers_block_type "
            "mamba, attention, moe or mlp")
    if fields.has("num_hidden_layers") and fields.whole("num_hidden_layers") != len(kinds):
        raise fields.refuse("num_hidden_layers", f"but the pattern has {len(kinds)} layers")
    return kinds


def _nemotron_experts(fields: Fields, dense: int) -> MoE:
    shared = fields.whole("moe_shared_expert_intermediate_size") * (fields.none_or_whole("n_shared_experts") or 0)
    return MoE(
        experts=fields.whole("n_routed_experts"), top_k=top_k(fields, "n_routed_experts"),
        intermediate=fields.whole("moe_intermediate_size"), shared_intermediate=shared, dense_layers=dense,
        router_bias=True, latent=fields.whole("moe_latent_size") if fields.has("moe_latent_size") else None,
    )


def granite_hybrid(fields: Fields) -> dict[str, Any]:
    """Granite 4: Mamba-2 on most layers, attention on the others, and a shared expert beside the routed ones on all.

    Its small dense models have the shared expert alone, its transformers no Mamba-2.
    """
    for key in ("attention_bias", "mamba_proj_bias"):
        fields.one_of(key, (False,), False)
    if not fields.has("layer_types"):
        raise ValueError("layer_types: missing from the config")
    mamba = count_layers(fields, "mamba", ("attention",), lambda i, layers: True)
    own: dict[str, Any] = {"mlp_bias": False}
    if fields.config.get("position_embedding_type") != "rope":
        own["nope_layers"] = fields.whole("num_hidden_layers") - mamba
    if mamba:
        own["mixer"] = _granite_mamba(fields, mamba)
    shared = fields.whole("shared_intermediate_size")
    if not fields.config.get("num_local_experts"):
        return llama(Fields({**fields.config, "intermediate_size": shared})) | own
    own["moe"] = MoE(
        experts=fields.whole("num_local_experts"), top_k=top_k(fields, "num_local_experts"),
        intermediate=fields.whole("intermediate_size"), shared_intermediate=shared,
    )
    return llama(fields) | own


def _granite_mamba(fields: Fields, layers: int) -> Mamba2:
    mamba_heads, given = fields.whole("mamba_n_heads"), fields.config.get("mamba_d_head", "auto")
    if given == "auto":
        width = fields.whole("mamba_expand", default=2) * fields.whole("hidden_size") // mamba_heads
    else:
        width = fields.whole("mamba_d_head")
    return Mamba2(
        layers=layers, heads=mamba_heads, head_dim=width, groups=fields.whole("mamba_n_groups", default=1),
        state_dim=fields.whole("mamba_d_state"), taps=fields.whole("mamba_d_conv"),
        conv_bias=fields.flag("mamba_conv_bias", True),
    )


def gemma4(fields: Fields) -> dict[str, Any]:
    """The language model of Gemma 4: wider heads where attention is full, on small ones a cache that layers share."""
    text = text_part(fields)
    text.one_of("attention_bias", (False,), False)
    slid = window(text, but_every(6))
    if not slid:
        raise text.refuse("sliding_window", "a model without a window is not counted")
    keys_are_values = text.flag("attention_k_eq_v", False)
    wide = GlobalHeads(
        n_kv=text.whole("num_global_key_value_heads" if keys_are_values else "num_key_value_heads"),
        head_dim=text.whole("global_head_dim"), v_proj=not keys_are_values,
    )
    own: dict[str, Any] = {
        "norms_per_layer": 4, "qk_norm": True, "layer_scalar": True, "global_heads": wide,
        "shared_cache": _shared_cache(text),
    }
    if text.flag("enable_moe_block", False):
        own["moe"] = MoE(
            experts=text.whole("num_experts"), top_k=text.whole("top_k_experts"),
            intermediate=text.whole("moe_intermediate_size"), beside_dense=True,
        )
    if text.none_or_whole("hidden_size_per_layer_input"):
        own["layer_inputs"] = LayerInputs(
            vocab=text.whole("vocab_size_per_layer_input"), width=text.whole("hidden_size_per_layer_input"))
    return shapes(text) | heads(text, explicit=True) | tied(text, default=True) | slid | own


def _shared_cache(text: Fields) -> SharedCache | None:
    """The last layers, as many as a field says, read another's cache; they are of the kinds that layer_types names."""
    count = text.none_or_whole("num_kv_shared_layers")
    if count is None:
        return None
    types = text.config.get("layer_types")
    if not isinstance(types, list):
        raise ValueError("layer_types: missing from the config")
    last = types[-count:]
    return SharedCache(
        window=last.count("sliding_attention"), full=last.count("full_attention"),
        ffn_factor=2 if text.flag("use_double_wide_mlp", False) else 1,
    )
