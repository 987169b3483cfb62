"""Public bug reports about calculators like this one (cases 1 to 15): what went in, and the right value here.

Case 14, utilisation above 100 %, is in test_measurements.py.
"""

import pytest

from roofline_calc import (
    ACCELERATORS,
    MODELS,
    QWEN,
    RTX_4090,
    Cost,
    attention,
    gemm,
    gemm_intensity,
    read_config,
    regime,
    swiglu,
)


def test_case_1_gqa_bills_kv_bytes_by_kv_heads():
    """LLM-Viewer#12: Qwen2.5-7B decode at S = 2048 came out at 1.00."""
    assert attention(28, 4, 128, 1, 2048, traffic="kv-only").intensity == 7
    assert attention(28, 4, 128, 1, 2048).intensity == pytest.approx(6.976, abs=5e-4)


def test_case_2_the_mlp_activation_is_as_wide_as_the_intermediate_size():
    """LLM-Viewer#16: it was sized by the hidden size, 3584."""
    down = QWEN.decode_kernels(1, 1)["down_proj"]
    assert down.traffic["X"] == 28 * 18944 * 2
    assert QWEN.elementwise_costs(1)["swiglu"] == swiglu(1, 18944) * 28


def test_case_3_the_ffn_has_the_configs_width_and_three_matrices():
    """llm-analysis#7: 4 * hidden was assumed."""
    shapes = QWEN.projections()
    assert [shapes[name] for name in ("gate_proj", "up_proj", "down_proj")] == [
        (3584, 18944), (3584, 18944), (18944, 3584),
    ]


def test_case_4_causal_attention_with_more_keys_than_queries_counts_the_pairs_it_keeps():
    """xformers#1402: 4 queries, 10 keys, one head, d = 8 for q k and 16 for p v."""
    pairs = 7 + 8 + 9 + 10
    scores, values = (attention(1, 1, d, 4, 10, mask="causal").flops / 2 for d in (8, 16))
    assert (scores, values) == (2 * 8 * pairs, 2 * 16 * pairs)


def test_case_5_flops_are_those_of_the_query_heads():
    """xformers#1404: 8 query heads on 2 KV heads counted by KV heads, four times too low."""
    assert attention(8, 2, 64, 16, 16).flops == attention(8, 8, 64, 16, 16).flops == 4 * 8 * 64 * 256


@pytest.mark.parametrize("n_kv", [1, 2, 4, 7, 14, 28])
def test_case_6_any_number_of_kv_heads_that_divides_the_query_heads(n_kv):
    """pytorch#177169: a counter that refuses GQA."""
    assert attention(28, n_kv, 128, 1, 2048, traffic="kv-only").intensity == 28 / n_kv


def test_case_7_causal_attention_does_half_the_work():
    """maxtext#1972: not halved."""
    full, causal = (attention(28, 4, 128, 2048, 2048, mask=mask).flops for mask in ("none", "causal"))
    assert causal / full == 2049 / 4096


def test_case_8_head_dim_is_the_configs_own():
    """Automodel#3091: hidden / heads gave 45."""
    config = {
        "architectures": ["GptOssForCausalLM"], "hidden_size": 2880, "num_hidden_layers": 24, "intermediate_size": 2880,
        "vocab_size": 201088, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
        "num_local_experts": 32, "num_experts_per_tok": 4, "sliding_window": 128, "torch_dtype": "bfloat16",
        "tie_word_embeddings": False,
    }
    assert read_config(config).head_dim == 64


def test_case_9_kv_bytes_per_token():
    """vllm-fit#2: an extra factor of n_heads."""
    assert QWEN.kv_bytes_per_token == QWEN.kv_bytes([1]) == 57344


def test_case_10_doubling_the_prompt_more_than_doubles_the_flops():
    """calculate-flops.pytorch#48: attention was left out, so that it exactly doubled."""
    def flops(S: int) -> float:
        return sum((cost for cost in QWEN.step([(S, S)], sampled=S).values()), start=Cost(0, {})).flops

    assert flops(4096) > 2 * flops(2048)


def test_case_11_a_mixture_of_experts_is_not_dense_and_an_mlp_has_three_matrices():
    """inference-sim#559: MoE billed as dense; inference-sim: 8.61 instead of 12.15 GiB of layer weights."""
    mixtral = MODELS["mixtral-8x7b"]
    assert mixtral.params_read(1) + mixtral.vocab * mixtral.hidden == pytest.approx(12.88e9, rel=1e-3)
    assert mixtral.step([(1, 1)])["expert_up_proj"].flops == 2 * 2 * 4096 * 14336 * 32
    layers = QWEN.params - 2 * QWEN.vocab * QWEN.hidden - QWEN.hidden
    assert layers * 2 / 2**30 == pytest.approx(12.15, abs=0.006)


def test_case_12_bandwidth_is_that_of_memory_not_of_a_cache():
    """transformers-benchmarks#4: 3868 GB/s for a 4090."""
    assert RTX_4090.bandwidth == 1008e9


def test_case_13_peaks_are_dense_and_of_their_data_type():
    """FlashMLA#75: 1979 of the H100 is with sparsity; 82.6 and 330 are not a 4090's dense BF16."""
    assert RTX_4090.peak_of("bf16") == 165.2e12
    assert ACCELERATORS["h100-sxm"].peak_of("bf16") == 989.4e12


def test_case_15_flops_not_macs_and_powers_of_ten_on_both_axes():
    """GenZ-LLM-Analyzer: MACs per byte beside FLOPs per byte; GB/s as 2**30 flips the verdict on k_proj at M = 256."""
    assert gemm(1, 3584, 512).flops == 2 * 3584 * 512
    k_proj = gemm_intensity(256, 3584, 512)
    assert regime(k_proj, RTX_4090.ridge()) == "memory-bound"
    assert regime(k_proj, RTX_4090.peak_of() / (1008 * 2**30)) == "compute-bound"
