"""Qwen2.5-7B as shapes: parameters, KV cache, a decode step."""

import dataclasses
import re

import pytest
from small_models import moe, small

from roofline_calc import (
    MLA,
    MODELS,
    QWEN,
    RTX_4090,
    Cost,
    DeltaNet,
    GlobalHeads,
    Indexer,
    LayerInputs,
    Mamba2,
    Model,
    MoE,
    Precision,
    SharedCache,
    first_compute_bound,
    gemm,
    kernel_by_kernel,
)
from roofline_calc.layers import ELEMENTWISE


def test_parameters_and_bytes(oracles):
    expected = oracles["model"]
    assert QWEN.params == expected["params"]
    assert QWEN.weight_bytes() == expected["bytes"]
    assert QWEN.params_read() == expected["params_read_per_step"]
    assert QWEN.weight_bytes_read() == expected["bytes_read_per_step"]
    assert QWEN.kv_bytes_per_token == expected["kv_bytes_per_token"]
    assert QWEN.weight_bytes_read() / QWEN.kv_bytes_per_token == expected["kv_eq_weights_read_tokens"]
    assert first_compute_bound(lambda S: S * QWEN.kv_bytes_per_token, 2**30) == expected["kv_gt_1GiB_at_tokens"]


def test_tied_embeddings_are_stored_once():
    tied = dataclasses.replace(QWEN, tied_embeddings=True)
    assert QWEN.params - tied.params == 152064 * 3584
    assert tied.params_read() == QWEN.params_read()


def test_biases_are_on_q_k_v_only():
    assert QWEN.params - dataclasses.replace(QWEN, qkv_bias=False).params == 28 * (3584 + 512 + 512)


def test_whole_model_decode_intensity(oracles):
    for key, expected in oracles["model"]["decode_intensity_weights_plus_kv"].items():
        batch, context = (int(part[1:]) for part in key.split("_"))
        assert QWEN.decode_weights_and_kv(batch, context).intensity == pytest.approx(expected, rel=1e-9)


def test_fused_projections_do_the_same_work_and_read_x_less_often():
    apart, fused = QWEN.decode_kernels(256, 2048), QWEN.decode_kernels(256, 2048, fused=True)
    assert sum(cost.flops for cost in apart.values()) == sum(cost.flops for cost in fused.values())
    saved = sum(cost.bytes for cost in apart.values()) - sum(cost.bytes for cost in fused.values())
    assert saved == 28 * 3 * 256 * 3584 * 2  # X once for qkv, once for gate_up
    assert list(fused) == ["qkv_proj", "o_proj", "gate_up_proj", "down_proj", "attention", "lm_head"]


def test_three_thin_gemms_apart_lose_what_fusing_them_saves():
    apart = gemm(256, 3584, 3584) + gemm(256, 3584, 512) * 2
    assert round(apart.intensity, 1) == 206.8
    assert round(gemm(256, *QWEN.projections(fused=True)["qkv_proj"]).intensity, 2) == 227.15


def test_each_kernels_own_roof_takes_longer_than_their_average():
    step = QWEN.decode_kernels(256, 2048).values()
    apart = kernel_by_kernel(step, RTX_4090.peak_of(), RTX_4090.bandwidth)
    together = kernel_by_kernel([sum(step, start=Cost(0, {}))], RTX_4090.peak_of(), RTX_4090.bandwidth)
    assert apart > together


@pytest.mark.parametrize("field", ["hidden", "layers", "n_q", "n_kv", "head_dim", "intermediate", "vocab"])
def test_a_model_refuses_bad_sizes(field):
    with pytest.raises(ValueError, match=rf"^{field} = 0: must be a positive whole number$"):
        dataclasses.replace(QWEN, **{field: 0})


def test_a_model_refuses_heads_that_do_not_divide():
    with pytest.raises(ValueError, match=r"^n_q = 28: must be a multiple of n_kv \(3\)$"):
        dataclasses.replace(QWEN, n_kv=3)


def test_a_step_refuses_a_bad_batch_or_context():
    with pytest.raises(ValueError, match=r"^batch = 0: "):
        QWEN.decode_kernels(0, 1)
    with pytest.raises(ValueError, match=r"^context = 0: "):
        QWEN.decode_weights_and_kv(1, 0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bytes_per_element": 0}, "bytes_per_element = 0: must be positive and finite"),
        ({"norms_per_layer": 0}, "norms_per_layer = 0: must be a positive whole number"),
        ({"window": 0, "window_layers": 1}, "window = 0: must be a positive whole number"),
        ({"window": 8}, "window_layers = 0: must be a positive whole number"),
        ({"window_layers": 2}, "window_layers = 2: there is no window"),
        ({"window": 8, "window_layers": 6}, "window_layers = 6: must be at most layers (5)"),
        ({"chunked": True}, "chunked = True: there is no window, the width of a chunk"),
        ({"nope_layers": 6}, "nope_layers = 6: must be at most layers (5)"),
        ({"nope_layers": -1}, "nope_layers = -1: must be a positive whole number"),
        ({"rope_dim": 0}, "rope_dim = 0: must be a positive whole number"),
        ({"rope_dim": 8}, "rope_dim = 8: must be at most head_dim (7)"),
        ({"qk_norm": True, "wide_qk_norm": True},
         "wide_qk_norm = True: qk_norm is another norm of q and k; a layer has one"),
        ({"kv_width": 0}, "kv_width = 0: must be positive and finite"),
    ],
)
def test_a_model_refuses_contradictions(changed, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        small(**changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"experts": 0}, "experts = 0: must be a positive whole number"),
        ({"top_k": 9}, "top_k = 9: must be at most experts (8)"),
        ({"intermediate": 0}, "intermediate = 0: must be a positive whole number"),
        ({"shared_intermediate": 1.5}, "shared_intermediate = 1.5: must be a positive whole number"),
        ({"shared_intermediate": -1}, "shared_intermediate = -1: must be a positive whole number"),
        ({"dense_layers": -1}, "dense_layers = -1: must be a positive whole number"),
        ({"shared_intermediate": 0, "shared_gate": True},
         "shared_gate = True: there are no shared experts (shared_intermediate = 0)"),
        ({"dense_layers": 6}, "dense_layers = 6: must be less than layers (5)"),
        ({"dense_layers": 5}, "dense_layers = 5: must be less than layers (5)"),
    ],
)
def test_experts_refuse(changed, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        moe(**changed)


@pytest.mark.parametrize("field", ["kv_rank", "nope", "rope", "v", "q_rank"])
def test_latent_attention_refuses_bad_sizes(field):
    with pytest.raises(ValueError, match=rf"^{field} = 0: must be a positive whole number$"):
        MLA(**({"kv_rank": 1, "nope": 1, "rope": 1, "v": 1, "q_rank": 1} | {field: 0}))


def test_sizes_are_given_by_name():
    for call in (
        lambda: MoE(8, 2, 3), lambda: MLA(1, 1, 1, 1), lambda: Precision(1),
        lambda: DeltaNet(1, 1, 1, 1, 1, 1), lambda: Mamba2(1, 1, 1, 1, 1, 1), lambda: Indexer(1, 1, 1, 1),
        lambda: GlobalHeads(1, 1), lambda: SharedCache(1, 1), lambda: LayerInputs(1, 1),
        lambda: Model(*(getattr(QWEN, field.name) for field in dataclasses.fields(QWEN))),
        lambda: QWEN.decode_kernels(1, 2048, True), lambda: QWEN.step([(1, 1)], True),
        lambda: QWEN.linear_costs(1, True), lambda: QWEN.attention_costs([(1, 1)], "kv-only"),
    ):
        with pytest.raises(TypeError):
            call()


def test_a_model_does_not_change():
    model = MODELS["deepseek-v3"]
    hybrid, wide = MODELS["nemotron-3-nano"].mixer, MODELS["gemma-4-e4b"]
    parts = hybrid, MODELS["qwen3-next-80b-a3b"].mixer, wide.global_heads, wide.shared_cache, wide.layer_inputs
    index = MODELS["deepseek-v3.2"].index
    for thing in (model, model.moe, model.mla, *parts, index, Precision(), model.linear_layers()["q_a_proj"]):
        with pytest.raises(dataclasses.FrozenInstanceError):
            thing.extra = 1
        assert hash(thing) == hash(dataclasses.replace(thing))


def test_counts_are_whole_numbers_not_floats():
    """So that they print as such: 7,615,616,512 parameters, 57,344 bytes."""
    deepseek = dataclasses.replace(MODELS["deepseek-v3"], stored={})
    costs = [*QWEN.step([(3, 9)]).values(), *deepseek.attention_costs([(3, 9)]).values()]
    counts = [
        QWEN.params, QWEN.params_read(), QWEN.params_read(1), QWEN.weight_bytes_read(),
        QWEN.weight_bytes(), QWEN.kv_bytes_per_token, QWEN.kv_bytes([5]), QWEN.card(4).params,
        QWEN.card(4).vocab, QWEN.card(4).n_q,
        *(cost.flops for cost in costs), *(cost.bytes for cost in costs),
    ]
    assert [count for count in counts if not isinstance(count, int)] == []


def test_element_wise_operators_come_on_demand():
    batch = {(128, 2048): 4, (1, 500): 3}
    kernels, unfused = QWEN.step(batch), QWEN.step(batch, elementwise=True)
    assert list(kernels) == list(QWEN.decode_kernels(1, 1))
    assert unfused == kernels | QWEN.elementwise_costs(128 * 4 + 3)
    assert unfused.compulsory == kernels.compulsory
    assert set(unfused) - set(kernels) <= set(ELEMENTWISE)


@pytest.mark.parametrize("model", ["qwen2.5-7b", "deepseek-v3", "gemma-2-9b"])
def test_without_a_mask_every_query_meets_every_key(model):
    """Only full attention loses its mask, and only the pairs change: a sliding window is causal by its nature."""
    form = "absorbed" if model == "deepseek-v3" else None
    causal, full = (MODELS[model].attention_costs({(128, 256): 2}, mask=mask, mla=form) for mask in ("causal", "none"))
    name = "absorbed_attention" if form else "attention"
    ratio = full[name].flops / causal[name].flops
    assert ratio == pytest.approx(128 * 256 / (128 * 256 - 128 * 127 / 2), rel=1e-6)
    assert full[name].traffic == causal[name].traffic
    assert full.get("window_attention") == causal.get("window_attention")


def test_lm_head_is_a_linear_layer():
    assert QWEN.lm_head_cost(7) == gemm(7, QWEN.lm_head.K, QWEN.lm_head.N)
