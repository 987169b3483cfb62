"""A step of a model: what each sequence adds to it, and how wide each operand is."""

import dataclasses

import pytest
from small_models import ATTENTION, mla, moe, small, windowed

from roofline_calc import (
    QWEN,
    Cost,
    Precision,
    Stored,
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

WIDTHS = Precision(activations=1, weights=0.5, kv=3, others=4, modules={"experts": Stored(0.25)})


def test_each_operand_has_its_own_width():
    step = moe().step({(1, 10): 2}, precision=WIDTHS, elementwise=True)
    assert step["q_proj"] == gemm(2, 11, 42, 1, 0.5, 4) * 5
    assert step["router"] == gemm(2, 11, 8, 4, 4, 4) * 3
    assert step["lm_head"] == gemm(2, 11, 17, 4, 4, 4)
    assert step["attention"] == attention(6, 3, 7, 1, 10, b_q=4, b_kv=3) * (2 * 5)
    assert step["expert_up_proj"] == grouped_gemm(4, experts_touched(8, 2, 2), 11, 3, 1, 0.25, 4, shared_by=2) * 3
    assert step["norms"] == rms_norm(2, 11, 4) * 11
    assert moe().kv_bytes([10], WIDTHS) == 10 * 5 * 2 * 3 * 7 * 3
    latent = mla().step([(1, 10)], precision=WIDTHS)
    assert latent["absorbed_attention"] == mla_attention(6, 23, 4, 1, 10, b_q=4, b_kv=3) * 5
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
    stored = dataclasses.replace(moe(), stored={"layers": Stored(0.5), "experts": Stored(0.25)}, kv_width=1)
    assert stored.precision == Precision(kv=1, modules=stored.stored)
    assert stored.weight_bytes() == stored.weight_bytes(Precision(weights=0.5, modules={"experts": Stored(0.25)}))
    assert stored.kv_bytes_per_token == moe().kv_bytes_per_token / 2
    names = ("q_proj", "expert_up_proj", "router", "lm_head", "embedding")
    assert [WIDTHS.stored(name).width for name in names] == [0.5, 0.25, 4, 4, 4]


def test_a_module_that_is_named_goes_before_its_kind():
    precision = Precision(modules={
        "layers": Stored(1, "fp8"), "experts": Stored(0.5), "expert_up_proj": Stored(0.25), "k_proj": Stored(2),
        "lm_head": Stored(0.75), "embedding": Stored(0.125), "router": Stored(3),
    })
    names = ("q_proj", "k_proj", "expert_up_proj", "expert_down_proj", "lm_head", "embedding", "router")
    assert [precision.stored(name).width for name in names] == [1, 2, 0.25, 0.5, 0.75, 0.125, 3]
    read = moe().weight_bytes_read(None, precision)
    q, kv, sparse = 11 * 42, 2 * 11 * 21, 3 * 8
    attention = 5 * (q * 1 + kv * (2 + 1) / 2 + q * 1)
    rest = 2 * 3 * 11 * 13 + 3 * 3 * 11 * 5 + sparse * 11 * 3 * (0.5 + 0.25 + 0.5) + 3 * 11 * 8 * 3
    vectors = 5 * 2 * 11 + 11
    assert read == attention + rest + 11 * 17 * 0.75 + vectors * 2
    assert moe().weight_bytes(precision) == read + 11 * 17 * 0.125


def test_a_fused_layer_reads_its_parts_and_multiplies_in_the_narrowest_type():
    precision = Precision(modules={"q_proj": Stored(1, "fp8"), "k_proj": Stored(0.5, "fp4"), "v_proj": Stored(2)})
    fused = small().step([(1, 9)], fused=True, precision=precision)
    assert fused["qkv_proj"].traffic["W"] == 5 * 11 * (42 * 1 + 21 * 0.5 + 21 * 2)
    assert fused["qkv_proj"].traffic["X"] == 5 * 11 * 0.5
    assert fused.multiplies == {"qkv_proj": "fp4"}
    apart = small().step([(1, 9)], precision=precision)
    assert apart.multiplies == {"q_proj": "fp8", "k_proj": "fp4"}
    assert [apart[name].traffic["X"] for name in ("q_proj", "k_proj", "v_proj")] == [55, 55 * 0.5, 110]


@pytest.mark.parametrize(("wrong", "message"), [
    (lambda: Stored(0), "width = 0: must be positive and finite"),
    (lambda: Stored(1, "fp9"), "multiplies = 'fp9': must be 'fp32' or"),
    (lambda: Precision(attention="fp9"), "attention = 'fp9': must be 'fp32' or"),
])
def test_a_storage_that_is_none_is_refused(wrong, message):
    with pytest.raises(ValueError, match=rf"^{message}"):
        wrong()


def test_w4a16_weights_of_the_whole_step():
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
    mixture = moe().elementwise_costs(3)
    assert mixture["swiglu"] == swiglu(3, 13) * 2 + swiglu(6, 3) * 3 + swiglu(3, 5) * 3
    # Three layers add up two outputs of 11 for each of three tokens; two bytes an element.
    assert mixture["combine"] == Cost(3 * 2 * 3 * 2 * 11, {"X": 3 * 3 * 2 * 11 * 2, "Y": 3 * 3 * 11 * 2})


def test_narrow_products_need_a_pass_that_quantises():
    """W8A8: what enters q k v, o, gate and up, down: 11 + 42 + 11 + 13 elements of a token in each of five layers."""
    widths = Precision(activations=1, weights=1)
    elements = 3 * 5 * (11 + 42 + 11 + 13)
    assert small().elementwise_costs(3, widths)["quantise"] == Cost(3 * elements, {"X": 2 * elements, "Y": elements})
    named = Precision(modules={"down_proj": Stored(1, "fp8")})
    assert small().elementwise_costs(3, named)["quantise"].traffic == {"X": 3 * 5 * 13 * 2, "Y": 3 * 5 * 13}
    assert "quantise" not in small().elementwise_costs(3, Precision(weights=0.5))


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
