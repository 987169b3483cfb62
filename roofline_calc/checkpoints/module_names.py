"""Our linear layers by the names that checkpoints on Hugging Face give their matrices, per architecture.

An architecture states only what departs from the usual names. {e} is the number of an expert.
"""

import re

# Of a decoder layer, below "model.layers.0.".
USUAL = {
    "q_proj": "self_attn.q_proj", "k_proj": "self_attn.k_proj", "v_proj": "self_attn.v_proj",
    "o_proj": "self_attn.o_proj", "q_a_proj": "self_attn.q_a_proj", "q_b_proj": "self_attn.q_b_proj",
    "kv_a_proj": "self_attn.kv_a_proj_with_mqa", "kv_b_proj": "self_attn.kv_b_proj",
    "index_q_proj": "self_attn.indexer.wq_b", "index_k_proj": "self_attn.indexer.wk",
    "index_weights_proj": "self_attn.indexer.weights_proj",
    "gate_proj": "mlp.gate_proj", "up_proj": "mlp.up_proj", "down_proj": "mlp.down_proj", "router": "mlp.gate",
    "expert_gate_proj": "mlp.experts.{e}.gate_proj", "expert_up_proj": "mlp.experts.{e}.up_proj",
    "expert_down_proj": "mlp.experts.{e}.down_proj",
    "shared_gate_proj": "mlp.shared_experts.gate_proj", "shared_up_proj": "mlp.shared_experts.up_proj",
    "shared_down_proj": "mlp.shared_experts.down_proj", "shared_expert_gate": "mlp.shared_expert_gate",
}
# Below "model.".
USUAL_ENDS = {"embedding": "embed_tokens", "lm_head": "lm_head", "layer_inputs_proj": "per_layer_model_projection"}

_FUSED_FFN = {"gate_proj": "mlp.gate_up_proj", "up_proj": "mlp.gate_up_proj"}
_FUSED_QKV = dict.fromkeys(("q_proj", "k_proj", "v_proj"), "self_attn.qkv_proj")
_ONE_SHARED = {f"shared_{part}_proj": f"mlp.shared_expert.{part}_proj" for part in ("gate", "up", "down")}
_MIXTRAL = {
    "router": "block_sparse_moe.gate", "expert_gate_proj": "block_sparse_moe.experts.{e}.w1",
    "expert_up_proj": "block_sparse_moe.experts.{e}.w3", "expert_down_proj": "block_sparse_moe.experts.{e}.w2",
}
_LLAMA4 = {name: re.sub("^mlp", "feed_forward", module) for name, module in (USUAL | _ONE_SHARED).items()}
_QWEN_NEXT = _ONE_SHARED | {
    "linear_qkv_proj": "linear_attn.in_proj_qkvz", "linear_z_proj": "linear_attn.in_proj_qkvz",
    "linear_b_proj": "linear_attn.in_proj_ba", "linear_a_proj": "linear_attn.in_proj_ba",
    "linear_out_proj": "linear_attn.out_proj",
}
_QWEN_35 = _QWEN_NEXT | {f"linear_{part}_proj": f"linear_attn.in_proj_{part}" for part in ("qkv", "z", "b", "a")}
_NEMOTRON = {name: re.sub("^(self_attn|mlp)", "mixer", module) for name, module in USUAL.items()} | {
    "mamba_in_proj": "mixer.in_proj", "mamba_out_proj": "mixer.out_proj",
    "latent_down_proj": "mixer.fc1_latent_proj", "latent_up_proj": "mixer.fc2_latent_proj", "embedding": "embeddings",
}
_GRANITE = {
    "mamba_in_proj": "mamba.in_proj", "mamba_out_proj": "mamba.out_proj", "router": "block_sparse_moe.router",
    **{f"expert_{part}_proj": f"block_sparse_moe.experts.{{e}}.{part}_proj" for part in ("gate", "up", "down")},
    **dict.fromkeys(("shared_gate_proj", "shared_up_proj", "gate_proj", "up_proj"), "shared_mlp.input_linear"),
    **dict.fromkeys(("shared_down_proj", "down_proj"), "shared_mlp.output_linear"),
}
_GEMMA4 = {
    "router": "router.proj", "layer_gate_proj": "per_layer_input_gate", "layer_output_proj": "per_layer_projection",
    **{f"expert_{part}_proj": f"experts.{{e}}.{part}_proj" for part in ("gate", "up", "down")},
}
DEPARTING: dict[str, dict[str, str]] = {
    "MixtralForCausalLM": _MIXTRAL, "PhiMoEForCausalLM": _MIXTRAL, "MiniMaxM2ForCausalLM": _MIXTRAL,
    "Qwen2MoeForCausalLM": _ONE_SHARED, "Qwen3NextForCausalLM": _QWEN_NEXT,
    "Qwen3_5ForConditionalGeneration": _QWEN_35, "Qwen3_5MoeForConditionalGeneration": _QWEN_35,
    "Phi3ForCausalLM": _FUSED_QKV | _FUSED_FFN, "GlmForCausalLM": _FUSED_FFN, "Glm4ForCausalLM": _FUSED_FFN,
    "GptOssForCausalLM": {"router": "mlp.router"},
    "Llama4ForConditionalGeneration": _LLAMA4 | {"router": "feed_forward.router"},
    "NemotronHForCausalLM": _NEMOTRON, "GraniteMoeHybridForCausalLM": _GRANITE,
    "Gemma4ForConditionalGeneration": _GEMMA4,
    "InternLM2ForCausalLM": {
        **dict.fromkeys(("q_proj", "k_proj", "v_proj"), "attention.wqkv"), "o_proj": "attention.wo",
        "gate_proj": "feed_forward.w1", "up_proj": "feed_forward.w3", "down_proj": "feed_forward.w2",
        "embedding": "tok_embeddings", "lm_head": "output",
    },
    "ChatGLMModel": {
        **dict.fromkeys(("q_proj", "k_proj", "v_proj"), "self_attention.query_key_value"),
        "o_proj": "self_attention.dense", "gate_proj": "mlp.dense_h_to_4h", "up_proj": "mlp.dense_h_to_4h",
        "down_proj": "mlp.dense_4h_to_h", "embedding": "embedding.word_embeddings", "lm_head": "output_layer",
    },
}
# A language model alone, and within a multimodal one as its file names it and as newer engines do.
ROOTS = (
    "model.", "language_model.model.", "model.language_model.", "transformer.encoder.", "transformer.", "backbone.",
)
HEAD_ROOTS = ("", "language_model.", "transformer.")
