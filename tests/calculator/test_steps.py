"""A step of a model: what each sequence adds to it, and how wide each operand is."""

import dataclasses

import pytest
from small_models import ATTENTION, mla, moe, small, windowed

from roofline_calc import (
    QWEN,
    Precision,
    attention,
    embedding,
    experts_touched,
    gemm,
    grouped_gemm,
    mla_attention,
    residual,
    rms_norm,
    rope,
    swiglu,
)

WIDTHS = Precision(activations=1, weights=0.5, experts=0.25, kv=3, others=4)


def test_each_operand_has_its_own_width():
    step = moe().step({(1, 10): 2}, precision=WIDTHS)
    assert step["q_proj"] == gemm(2, 11, 42, 1, 0.5, 4) * 5
    assert step["router"] == gemm(2, 11, 8, 4, 4, 4) * 3
    assert step["lm_head"] == gemm(2, 11, 17, 4, 4, 4)
    assert step["attention"] == attention(6, 3, 7, 1, 10, b_q=4, b_kv=3) * (2 * 5)
    assert step["expert_up_proj"] == grouped_gemm(4, experts_touched(8, 2, 2), 11, 3, 1, 0.25, 4) * 3
    assert step["norms"] == rms_norm(2, 11, 4) * 11
    assert moe().kv_bytes([10], WIDTHS) == 10 * 5 * 2 * 3 * 7 * 3
    latent = mla().step([(1, 10)], precision=WIDTHS)
    assert latent["attention"] == mla_attention(6, 23, 4, 1, 10, b_q=4, b_kv=3) * 5
    slid = windowed().step([(1, 10)], precision=WIDTHS)
    assert slid["window_attention"] == attention(6, 3, 7, 1, 8, b_q=4, b_kv=3) * 2


def test_weights_in_memory_by_width():
    matrices, experts = 5 * ATTENTION + 2 * 3 * 11 * 13 + 3 * 3 * 11 * 5, 3 * 8 * 3 * 11 * 3
    rest = 3 * 11 * 8 + 5 * 2 * 11 + 11 + 2 * 11 * 17
    assert matrices + experts + rest == moe().params
    assert moe().weight_bytes(WIDTHS) == 0.5 * matrices + 0.25 * experts + 4 * rest
    assert moe().weight_bytes_read(None, WIDTHS) == moe().weight_bytes(WIDTHS) - 4 * 11 * 17
    tied = dataclasses.replace(moe(), tied_embeddings=True)
    assert tied.weight_bytes(WIDTHS) == tied.weight_bytes_read(None, WIDTHS) == moe().weight_bytes_read(None, WIDTHS)


def test_the_published_widths():
    assert small().precision == Precision()
    assert small(bytes_per_element=4).precision == Precision(activations=4, weights=4, kv=4, others=4)
    stored = dataclasses.replace(moe(weight_width=0.25), weight_width=0.5)
    assert stored.precision == Precision(weights=0.5, experts=0.25)
    assert stored.weight_bytes() == stored.weight_bytes(Precision(weights=0.5, experts=0.25))
    assert moe().precision.of("experts") == 2
    assert [WIDTHS.of(stored) for stored in ("weights", "experts", "others")] == [0.5, 0.25, 4]


@pytest.mark.parametrize("field", ["activations", "weights", "experts", "kv", "others"])
def test_a_width_that_is_not_positive_is_refused(field):
    with pytest.raises(ValueError, match=rf"^{field} = 0: must be positive and finite$"):
        Precision(**{field: 0})


def test_w4a16_floor_of_the_whole_step():
    """Four-bit weights with scales: 28 layers of matrices shrink, embedding and lm_head stay."""
    precision = Precision(weights=0.515625)
    matrices = 28 * sum(K * N for K, N in QWEN.projections().values())
    assert QWEN.weight_bytes_read(1, precision) == QWEN.weight_bytes_read() - matrices * (2 - 0.515625)
    assert QWEN.decode_weights_and_kv(1, 2048, precision).traffic["weights"] == QWEN.weight_bytes_read(1, precision)


def test_sequences_of_different_lengths_share_the_linear_layers():
    step = small().step([(1, 100), (1, 30), (4, 4), (1, 30)])
    heads = 6, 3, 7
    attend = attention(*heads, 1, 100) + attention(*heads, 1, 30) * 2 + attention(*heads, 4, 4, mask="causal")
    assert step["attention"] == attend * 5
    assert step["q_proj"] == gemm(7, 11, 42) * 5
    assert step["lm_head"] == gemm(4, 11, 17)
    assert step == small().step({(1, 100): 1, (1, 30): 2, (4, 4): 1})
    assert small().attention_costs([(1, 30), (1, 30)]) == small().attention_costs({(1, 30): 2})
    assert small().linear_costs(7) == {name: step[name] for name in small().projections(fused=False)}


def test_a_decode_step_is_the_matrix_kernels_of_a_step():
    step, decode = QWEN.step({(1, 2048): 8}, fused=True), QWEN.decode_kernels(8, 2048, fused=True)
    assert {name: step[name] for name in decode} == decode
    assert set(step) - set(decode) == {"embedding", "norms", "rope", "swiglu", "residual"}


def test_rows_sampled():
    assert "lm_head" not in small().step([(4, 4)], sampled=0)
    assert small().step([(4, 4)], sampled=4)["lm_head"] == gemm(4, 11, 17)
    assert small().step([(4, 4), (2, 2)])["lm_head"] == gemm(2, 11, 17)


def test_kv_only_traffic_leaves_queries_and_outputs_out():
    assert set(small().step([(1, 9)], traffic="kv-only")["attention"].traffic) == {"K", "V"}
    assert set(small().decode_kernels(1, 9, traffic="kv-only")["attention"].traffic) == {"K", "V"}


def test_element_wise_operators_of_a_step():
    assert small(qk_norm=True, norms_per_layer=4).elementwise_costs(3) == {
        "embedding": embedding(3, 11), "norms": rms_norm(3, 11) * 21 + rms_norm(3 * 9, 7) * 5,
        "rope": rope(3, 9, 7) * 5, "swiglu": swiglu(3, 13) * 5, "residual": residual(3, 11) * 10,
    }
    assert moe().elementwise_costs(3)["swiglu"] == swiglu(3, 13) * 2 + swiglu(6, 3) * 3 + swiglu(3, 5) * 3


def test_a_step_refuses_what_is_no_sequence():
    with pytest.raises(ValueError, match=r"^sequences = \[\]: a step needs at least one$"):
        small().step([])
    with pytest.raises(ValueError, match=r"^query_tokens = 0: "):
        small().step([(0, 4)])
    with pytest.raises(ValueError, match=r"^context = 0: "):
        small().step([(1, 0)])
    with pytest.raises(ValueError, match=r"^sequences = 0: "):
        small().attention_costs({(1, 4): 0})
    with pytest.raises(ValueError, match=r"^L = 5: under a causal mask"):
        small().step([(5, 4)])
    with pytest.raises(ValueError, match=r"^traffic = 'kv': "):
        small().step([(1, 4)], traffic="kv")
    for costs in (small().linear_costs, small().elementwise_costs):
        with pytest.raises(ValueError, match=r"^tokens = 0: "):
            costs(0)
