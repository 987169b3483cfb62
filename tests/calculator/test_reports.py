"""Further public reports about calculators like this one: what went in, and the right value here.

Memory by the driver (modal-client#2797) is in test_cards.py, blocks that forbid a split and measured times are where
splits and measurements are tested.
"""

import dataclasses

import pytest

from roofline_calc import ACCELERATORS, MODELS, Precision, Stored, embedding, read_config, width_of

GIB = 2**30
QWEN3_06B = {
    "architectures": ["Qwen3ForCausalLM"], "hidden_size": 1024, "num_hidden_layers": 28, "num_attention_heads": 16,
    "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 3072, "vocab_size": 151936,
    "tie_word_embeddings": True, "torch_dtype": "bfloat16",
}


def test_kv_by_kv_heads_and_by_the_latent():
    """LMCache#688 and #694: 92,160 by hidden size and heads; DeepSeek-V3 "fixed" to two latents without the key."""
    assert MODELS["qwen3-4b"].kv_bytes_per_token == 147_456
    assert MODELS["deepseek-v3"].kv_bytes_per_token == 61 * (512 + 64) * 2 == 70_272


@pytest.mark.parametrize(("model", "context", "gib"), [
    (MODELS["gemma-3-27b"], 131_072, 10.406), (read_config(QWEN3_06B), 40_960, 4.375),
    (MODELS["deepseek-v3"], 163_840, 10.723), (MODELS["deepseek-v3"], 65_536, 4.289),
], ids=["gemma-3-27b", "qwen3-0.6b", "deepseek-v3.1", "deepseek-v3"])
def test_caches_of_windows_heads_and_latents(model, context, gib):
    """unsloth#4757 (81.38, 2.19 and 2.08 GiB) and gguf-parser-go#8 (321 GiB)."""
    assert model.kv_bytes([context]) / GIB == pytest.approx(gib, abs=6e-4)


def test_caches_of_hybrids():
    """unsloth#4757 again (53.25, 6.67 and 5.73 GiB); of GLM-5 it counts the prediction layer, and no index keys."""
    glm = dataclasses.replace(MODELS["glm-5"], layers=79, index=None)
    for model, context, gib in (
        (MODELS["qwen3.5-27b"], 262_144, 16.00), (MODELS["kimi-k2"], 262_144, 17.16), (glm, 202_752, 17.18),
    ):
        assert model.kv_bytes([context]) / GIB == pytest.approx(gib, abs=6e-3)


def test_what_llama_cpp_allocates_for_a_hybrid():
    """lmstudio-bug-tracker#1862: its log for Qwen3.6-27B, 262,144 cells and four sequences; state in FP32."""
    model = MODELS["qwen3.5-27b"]
    assert model.kv_bytes([262_144]) / 2**20 == 16384.00
    assert model.state_bytes(4, Precision(others=4)) / 2**20 == 598.50


def test_an_h200_has_its_own_bandwidth():
    """nsys-ai#577: H100's 3,350 GB/s, so a ridge of 295.2."""
    assert ACCELERATORS["h200"].ridge() == pytest.approx(206.1, abs=0.05)


def test_a_b200_is_not_a_gb200():
    """aiconfigurator#1246, ao#4002 (8 TB/s), marin#7334 (one name for 2.25 and 2.5 PFLOP/s)."""
    b200, gb200 = ACCELERATORS["b200"], ACCELERATORS["gb200"]
    assert (b200.bandwidth, b200.peak["bf16"], gb200.peak["bf16"]) == (7.7e12, 2250e12, 2500e12)


def test_seventy_billion_weights_in_fp8():
    """llm-d-benchmark#345: 158 GB; vLLM said 67.72 GiB, on an H200 with 139.21 GiB free."""
    model = MODELS["llama-3.3-70b"]
    weights = model.weight_bytes(Precision(modules={"layers": Stored(1, "fp8")}))
    assert weights / GIB == pytest.approx(67.7, abs=0.05)
    assert weights < 139.21 * GIB < ACCELERATORS["h200"].memory


def test_nvfp4_is_four_bits_and_a_sixteenth_of_a_byte():
    """inference-sim#1563 and whichllm#99: it was taken for 16 bits."""
    assert width_of("nvfp4") == 0.5 + 1 / 16


def test_peaks_are_dense_and_of_their_own_type():
    """pytorch-lightning#21677 (sparse), OLMo-core#614 (312 halved again), torchtitan#668 (TF32's as BF16's)."""
    peaks = {key: ACCELERATORS[key].peak for key in ("h200", "h100-nvl", "a100-80gb-sxm", "h100-sxm")}
    assert (peaks["h200"]["bf16"], peaks["h100-nvl"]["bf16"], peaks["a100-80gb-sxm"]["bf16"]) == (
        989.4e12, 835.5e12, 312e12)
    assert (peaks["h100-sxm"]["tf32"], peaks["h100-sxm"]["bf16"]) == (494.7e12, 989.4e12)


def test_the_input_embedding_multiplies_nothing():
    """trl#5698: it was billed as a matrix product."""
    assert embedding(2048, 3584).flops == 0
