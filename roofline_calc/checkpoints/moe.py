"""What the fields of each architecture with routed experts mean; see `architectures`."""

from typing import Any

from ..parts import Indexer
from ..shapes import MLA, MoE
from .attention_fields import (
    count_layers,
    everywhere,
    heads,
    rotary,
    shapes,
    text_part,
    tied,
    top_k,
    window,
    without_rope,
)
from .dense import mistral, qwen2, qwen3
from .fields import Fields


def dense_layers(fields: Fields) -> int:
    """Layers without experts, as the configs of Qwen name them."""
    layers, step = fields.whole("num_hidden_layers"), fields.whole("decoder_sparse_step", default=1)
    return len(fields.layers_in("mlp_only_layers", layers) | {i for i in range(layers) if (i + 1) % step})


def _first_dense(fields: Fields) -> int:
    """Layers without experts where these come first, as in DeepSeek's configs."""
    layers, dense = fields.whole("num_hidden_layers"), fields.none_or_whole("first_k_dense_replace") or 0
    if dense >= layers:
        raise fields.refuse("first_k_dense_replace", f"must be less than num_hidden_layers ({layers})")
    return dense


def _deepseek_moe(fields: Fields, *, router_bias: bool) -> MoE:
    """Experts under the names of DeepSeek, which GLM took over."""
    expert = fields.whole("moe_intermediate_size")
    return MoE(
        experts=fields.whole("n_routed_experts"), top_k=top_k(fields, "n_routed_experts"), intermediate=expert,
        shared_intermediate=(fields.none_or_whole("n_shared_experts") or 0) * expert,
        dense_layers=_first_dense(fields), router_bias=router_bias,
    )


def qwen2_moe(fields: Fields) -> dict[str, Any]:
    """Qwen1.5-MoE and Qwen2-MoE: a shared expert, which a gate of its own weighs."""
    moe = MoE(
        experts=fields.whole("num_experts"), top_k=top_k(fields, "num_experts"),
        intermediate=fields.whole("moe_intermediate_size"), dense_layers=dense_layers(fields),
        shared_intermediate=fields.whole("shared_expert_intermediate_size"), shared_gate=True,
    )
    return qwen2(fields) | {"qkv_bias": fields.flag("qkv_bias", True), "moe": moe}


def qwen3_moe(fields: Fields) -> dict[str, Any]:
    """Qwen3's mixtures of experts."""
    moe = MoE(
        experts=fields.whole("num_experts"), top_k=top_k(fields, "num_experts"),
        intermediate=fields.whole("moe_intermediate_size"), dense_layers=dense_layers(fields),
    )
    return qwen3(fields) | {"moe": moe}


def qwen3_vl_moe(fields: Fields) -> dict[str, Any]:
    """The language model of a Qwen3-VL with experts; tied as the field at the top level says."""
    return qwen3_moe(text_part(fields)) | tied(fields)


def mixtral(fields: Fields) -> dict[str, Any]:
    """Mixtral."""
    moe = MoE(
        experts=fields.whole("num_local_experts"), top_k=top_k(fields, "num_local_experts"),
        intermediate=fields.whole("intermediate_size"),
    )
    return mistral(fields, optional=True) | {"moe": moe}


def phimoe(fields: Fields) -> dict[str, Any]:
    """Phi-3.5-MoE: LayerNorm, which has a bias, and by the config biases on attention and lm_head."""
    bias = fields.flag("attention_bias", False)
    own = {
        "qkv_bias": bias, "o_bias": bias, "norm_bias": True, "lm_head_bias": fields.flag("lm_head_bias", False),
    }
    return mixtral(fields) | window(fields, everywhere) | own


def deepseek(fields: Fields, *, router_bias: bool = False) -> dict[str, Any]:
    """DeepSeek-V2: latent attention, experts after the first layers."""
    fields.one_of("attention_bias", (False,), False)
    fields.one_of("moe_layer_freq", (1,), 1)
    moe = _deepseek_moe(fields, router_bias=router_bias)
    mla = MLA(
        q_rank=fields.none_or_whole("q_lora_rank"), kv_rank=fields.whole("kv_lora_rank"),
        nope=fields.whole("qk_nope_head_dim"), rope=fields.whole("qk_rope_head_dim"), v=fields.whole("v_head_dim"),
    )
    n_q = fields.whole("num_attention_heads")
    attention = {"n_q": n_q, "n_kv": n_q, "head_dim": mla.nope + mla.rope, "moe": moe, "mla": mla}
    return shapes(fields) | attention | tied(fields)


def deepseek_v3(fields: Fields) -> dict[str, Any]:
    """DeepSeek-V3 and R1, Kimi K2: as V2, with a number per expert that corrects the router's choice."""
    fields.one_of("topk_method", ("noaux_tc",), "noaux_tc")
    return deepseek(fields, router_bias=True)


def deepseek_v32(fields: Fields) -> dict[str, Any]:
    """DeepSeek-V3.2 and GLM-5: as V3, with an index in every layer by which attention picks the tokens it sees.

    An index key is cached in FP8 with an FP32 scale per 128 elements.
    """
    if "shared" in (fields.config.get("indexer_types") or []):
        raise ValueError("indexer_types: layers that share an index are not counted yet")
    dim = fields.whole("index_head_dim")
    index = Indexer(
        heads=fields.whole("index_n_heads"), dim=dim, top_k=fields.whole("index_topk"),
        key_bytes=dim + 4 * -(-dim // 128),
    )
    return deepseek_v3(fields) | {"index": index}


def kimi_k25(fields: Fields) -> dict[str, Any]:
    """The language model of Kimi K2.5: DeepSeek-V3's architecture."""
    return deepseek_v3(text_part(fields))


def glm4_moe(fields: Fields) -> dict[str, Any]:
    """GLM-4.5 to 4.7: the experts of DeepSeek-V3 behind ordinary attention."""
    sizes = heads(fields)
    own = {
        "qkv_bias": fields.flag("attention_bias", False), "qk_norm": fields.flag("use_qk_norm", False),
        "moe": _deepseek_moe(fields, router_bias=True),
    }
    return shapes(fields) | sizes | tied(fields) | own | rotary(fields, sizes["head_dim"], default=0.5)


def minimax_m2(fields: Fields) -> dict[str, Any]:
    """MiniMax-M2: norms of all queries and all keys at once, experts in every layer."""
    fields.one_of("use_qk_norm", (True,), True)
    fields.one_of("qk_norm_type", ("per_layer",), "per_layer")
    fields.one_of("shared_intermediate_size", (0,), 0)
    if 0 in (fields.config.get("attn_type_list") or []):
        raise ValueError("attn_type_list: names linear attention (0), which this architecture is counted without")
    moe = MoE(
        experts=fields.whole("num_local_experts"), top_k=top_k(fields, "num_local_experts"),
        intermediate=fields.whole("intermediate_size"), router_bias=fields.flag("use_routing_bias", True),
    )
    own = {"wide_qk_norm": True, "moe": moe}
    if fields.has("rotary_dim"):
        own["rope_dim"] = fields.whole("rotary_dim")
    return shapes(fields) | heads(fields, explicit=True) | tied(fields) | own


def llama4(fields: Fields) -> dict[str, Any]:
    """The language model of Llama 4: a shared expert, and chunks on the layers with RoPE.

    Where the config names no layer with experts, every interleave_moe_layer_step-th has them. The norms of q and k have
    no weights.
    """
    text = text_part(fields)
    text.one_of("attention_bias", (False,), False)
    layers, expert = text.whole("num_hidden_layers"), text.whole("intermediate_size")
    step = text.whole("interleave_moe_layer_step", default=1)
    sparse = len(text.layers_in("moe_layers", layers)) or len(range(step - 1, layers, step))
    moe = MoE(
        experts=text.whole("num_local_experts"), top_k=top_k(text, "num_local_experts"), intermediate=expert,
        shared_intermediate=expert, dense_layers=layers - sparse,
    )
    nope = without_rope(text)
    own = {"intermediate": text.whole("intermediate_size_mlp"), "moe": moe, "nope_layers": sum(nope)}
    return shapes(text) | heads(text, explicit=True) | tied(fields) | own | _chunks(text, nope)


def _chunks(text: Fields, nope: list[bool]) -> dict[str, Any]:
    chunk = text.none_or_whole("attention_chunk_size")
    count = count_layers(text, "chunked_attention", ("full_attention",), lambda i, layers: not nope[i])
    return {"window": chunk, "window_layers": count, "chunked": True} if chunk and count else {}


def gpt_oss(fields: Fields) -> dict[str, Any]:
    """GPT-OSS: biases everywhere, a learned logit per head, a window on every other layer."""
    fields.one_of("attention_bias", (True,), True)
    moe = MoE(
        experts=fields.whole("num_local_experts"), top_k=top_k(fields, "num_local_experts"),
        intermediate=fields.whole("intermediate_size"), bias=True, router_bias=True,
    )
    own = {"qkv_bias": True, "o_bias": True, "sinks": True, "moe": moe}
    untold = {"tied_embeddings": fields.flag("tie_word_embeddings")}
    return shapes(fields) | heads(fields, explicit=True) | own | untold | window(fields, lambda i, layers: i % 2 == 0)
