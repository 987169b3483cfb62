"""Qwen2.5-7B as shapes: parameters, KV cache, a decode step."""

import dataclasses

import pytest

from roofline_calc import QWEN, RTX_4090, Cost, first_compute_bound, gemm, time_floor


def test_parameters_and_bytes(oracles):
    expected = oracles["model"]
    assert QWEN.params == expected["params"]
    assert QWEN.weight_bytes == expected["bytes"]
    assert QWEN.params_read == expected["params_read_per_step"]
    assert QWEN.weight_bytes_read == expected["bytes_read_per_step"]
    assert QWEN.kv_bytes_per_token == expected["kv_bytes_per_token"]
    assert first_compute_bound(lambda S: S * QWEN.kv_bytes_per_token, 2**30) == expected["kv_gt_1GiB_at_tokens"]


def test_tied_embeddings_are_stored_once():
    tied = dataclasses.replace(QWEN, tied_embeddings=True)
    assert QWEN.params - tied.params == 152064 * 3584
    assert tied.params_read == QWEN.params_read


def test_biases_are_on_q_k_v_only():
    assert QWEN.params - dataclasses.replace(QWEN, qkv_bias=False).params == 28 * (3584 + 512 + 512)


def test_whole_model_decode_intensity(oracles):
    for key, expected in oracles["model"]["decode_intensity_weights_plus_kv"].items():
        batch, context = (int(part[1:]) for part in key.split("_"))
        assert QWEN.decode_weights_and_kv(batch, context).intensity == pytest.approx(expected, rel=1e-9)


def test_fused_projections_do_the_same_work_and_read_x_less_often():
    apart, fused = QWEN.decode_step(256, 2048), QWEN.decode_step(256, 2048, fused=True)
    assert sum(cost.flops for cost in apart.values()) == sum(cost.flops for cost in fused.values())
    saved = sum(cost.bytes for cost in apart.values()) - sum(cost.bytes for cost in fused.values())
    assert saved == 28 * 3 * 256 * 3584 * 2  # X once for qkv, once for gate_up
    assert list(fused) == ["qkv_proj", "o_proj", "gate_up_proj", "down_proj", "attention", "lm_head"]


def test_three_thin_gemms_apart_lose_what_fusing_them_saves():
    apart = gemm(256, 3584, 3584) + gemm(256, 3584, 512) * 2
    assert round(apart.intensity, 1) == 206.8
    assert round(gemm(256, *QWEN.projections(fused=True)["qkv_proj"]).intensity, 2) == 227.15


def test_each_kernels_own_roof_takes_longer_than_their_average():
    step = QWEN.decode_step(256, 2048).values()
    apart = time_floor(step, RTX_4090.peak_of(), RTX_4090.bandwidth)
    together = time_floor([sum(step, start=Cost(0, {}))], RTX_4090.peak_of(), RTX_4090.bandwidth)
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
        QWEN.decode_step(0, 1)
    with pytest.raises(ValueError, match=r"^context = 0: "):
        QWEN.decode_weights_and_kv(1, 0)
