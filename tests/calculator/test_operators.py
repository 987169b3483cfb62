"""FLOPs, bytes and intensity of one kernel, against the independent values of oracles.json."""

import dataclasses
import math
import re
from fractions import Fraction

import pytest

from roofline_calc import (
    Cost,
    attention,
    attn_intensity,
    chunked_attention,
    column_parallel,
    embedding,
    experts_touched,
    gemm,
    gemm_intensity,
    gemm_limit,
    grouped_gemm,
    kv_heads_per_card,
    mla_attention,
    quantised_width,
    residual,
    rms_norm,
    rope,
    row_parallel,
    shared_prefix_attention,
    swiglu,
    width_of,
    window_attention,
)

EXACT = Fraction(2)  # two bytes per element, carried through the formulas without rounding
QWEN_HEADS = (28, 4, 128)

GEMMS = ["q_proj", "k_proj", "gate_proj", "down_proj", "qkv_proj_fused", "gate_up_fused", "lm_head"]


def exact_attention(L: int, S: int, **options) -> Fraction:
    return attention(*QWEN_HEADS, L, S, b_q=EXACT, b_kv=EXACT, b_score=EXACT, **options).intensity


@pytest.mark.parametrize("name", GEMMS)
def test_gemm_intensity_is_exact(oracles, name):
    row = oracles["gemm"][name]
    for M, expected in row["intensity"].items():
        assert gemm_intensity(int(M), row["K"], row["N"], EXACT) == Fraction(expected["exact"])


@pytest.mark.parametrize("name", [*GEMMS, "lora_r16", "router_N128"])
def test_gemm_limit_is_exact(oracles, name):
    row = oracles["gemm"][name]
    expected = Fraction(row["limit_M_to_infinity"]["exact"])
    assert gemm_limit(row["K"], row["N"], EXACT, EXACT) == expected


def test_gemm_moves_each_operand_once():
    cost = gemm(3, 5, 7, b_x=1, b_w=0.5, b_y=2)
    assert cost.flops == 210
    assert cost.traffic == {"X": 15, "W": 17.5, "Y": 42}
    assert cost.bytes == 74.5


def test_decode_attention_kv_only(oracles):
    expected = Fraction(oracles["attention"]["decode_kv_only"]["exact"])
    assert attn_intensity(28, 4, "decode", 2048, EXACT) == expected
    assert exact_attention(1, 2048, traffic="kv-only") == expected


@pytest.mark.parametrize(
    ("oracle", "options"),
    [
        ("prefill_q_kv_o_by_S", {}),
        ("prefill_q_kv_o_causal_by_S", {"mask": "causal"}),
        ("prefill_kv_only_by_S", {"traffic": "kv-only"}),
    ],
)
def test_prefill_attention(oracles, oracle, options):
    for S, expected in oracles["attention"][oracle].items():
        assert exact_attention(int(S), int(S), **options) == Fraction(expected["exact"])


def test_prefill_attention_kv_only_as_the_lesson_prints_it(oracles):
    for S, expected in oracles["attention"]["prefill_kv_only_by_S"].items():
        assert attn_intensity(28, 4, "prefill", int(S), EXACT) == Fraction(expected["exact"])


def test_decode_attention_with_q_and_o(oracles):
    for S, expected in oracles["attention"]["decode_q_kv_o_by_S"].items():
        assert exact_attention(1, int(S)) == Fraction(expected["exact"])


def test_query_tokens_verified_together(oracles):
    for L, expected in oracles["attention"]["query_tokens_L_at_S2048"].items():
        assert exact_attention(int(L), 2048) == Fraction(expected["exact"])


@pytest.mark.parametrize(("oracle", "passes"), [("4 passes, 2 bytes", 4), ("1 pass, 2 bytes", 1)])
def test_naive_attention_carries_the_scores(oracles, oracle, passes):
    for S, expected in oracles["attention"]["naive_q_kv_o_scores_by_S"][oracle].items():
        if S == "inf":
            assert exact_attention(2**60, 2**60, passes=passes) == pytest.approx(expected, rel=1e-9)
        else:
            assert exact_attention(int(S), int(S), passes=passes) == Fraction(expected["exact"])


def test_causal_attention_with_more_keys_than_queries_counts_only_the_pairs_it_keeps():
    """4 queries against 10 keys: the rows see 7, 8, 9 and 10 keys."""
    assert attention(1, 1, 8, 4, 10, mask="causal").flops == 4 * 8 * (7 + 8 + 9 + 10)


def test_attention_traffic_by_operand():
    cost = attention(8, 2, 64, 3, 100, b_q=2, b_kv=1, passes=4, b_score=4)
    assert cost.traffic == {
        "K": 2 * 100 * 64, "V": 2 * 100 * 64, "Q": 8 * 3 * 64 * 2, "O": 8 * 3 * 64 * 2,
        "scores": 4 * 8 * 3 * 100 * 4,
    }
    assert cost.flops == 4 * 8 * 64 * 3 * 100  # by query heads, not KV heads


def test_a_cost_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        gemm(1, 2, 3).flops = 0


def test_costs_add_and_repeat():
    cost = gemm(1, 2, 3) + attention(2, 1, 4, 1, 5) * 3
    assert cost.flops == 12 + 3 * 160
    assert cost.traffic == {"X": 4, "W": 12, "Y": 6, "K": 120, "V": 120, "Q": 48, "O": 48}


BAD_SIZES = [0, -1, 2.5, math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("bad", BAD_SIZES)
@pytest.mark.parametrize("name", ["M", "K", "N"])
def test_gemm_refuses_a_size_that_is_not_a_positive_whole_number(name, bad):
    with pytest.raises(ValueError, match=rf"^{name} = {bad!r}: must be a positive whole number$"):
        gemm(**({"M": 1, "K": 2, "N": 3} | {name: bad}))


@pytest.mark.parametrize("bad", [0, -2, math.nan, math.inf])
@pytest.mark.parametrize("name", ["b_x", "b_w", "b_y"])
def test_gemm_refuses_a_width_that_is_not_positive_and_finite(name, bad):
    with pytest.raises(ValueError, match=rf"^{name} = {bad!r}: must be positive and finite$"):
        gemm(1, 2, 3, **{name: bad})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        *(({name: bad}, f"{name} = {bad!r}: must be a positive whole number")
          for name in ("n_q", "n_kv", "head_dim", "L", "S") for bad in BAD_SIZES),
        *(({name: bad}, f"{name} = {bad!r}: must be positive and finite")
          for name in ("b_q", "b_kv", "b_score") for bad in (0, -1, math.nan, math.inf)),
        ({"mask": "casual"}, "mask = 'casual': must be 'none' or 'causal'"),
        ({"traffic": "kv"}, "traffic = 'kv': must be 'q+kv+o' or 'kv-only'"),
        ({"passes": -1}, "passes = -1: must be a positive whole number"),
        ({"passes": 1.5}, "passes = 1.5: must be a positive whole number"),
        ({"n_q": 27}, "n_q = 27: must be a multiple of n_kv (4)"),
        ({"n_kv": 56}, "n_q = 28: must be a multiple of n_kv (56)"),
        ({"L": 2049, "mask": "causal"},
         "L = 2049: under a causal mask the queries are among the S = 2048 cached tokens, so at most 2048"),
    ],
)
def test_attention_refuses(changed, message):
    arguments = {"n_q": 28, "n_kv": 4, "head_dim": 128, "L": 1, "S": 2048} | changed
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        attention(**arguments)


def test_more_queries_than_keys_are_fine_without_a_mask():
    assert attention(1, 1, 8, 20, 10).flops == 4 * 8 * 200


def test_a_misspelt_phase_is_not_prefill():
    with pytest.raises(ValueError, match=r"^phase = 'decod': must be 'decode' or 'prefill'$"):
        attn_intensity(28, 4, "decod", 128)


def test_intensity_refuses_a_bad_width():
    with pytest.raises(ValueError, match=r"^b = 0: must be positive"):
        gemm_intensity(1, 2, 3, b=0)
    with pytest.raises(ValueError, match=r"^b = -1: must be positive"):
        attn_intensity(28, 4, "decode", 128, b=-1)


# ------------------------------------------------------------------ other operators


def test_effective_width_of_weights_quantised_in_groups():
    assert quantised_width(8) == 1
    assert quantised_width(4, group=128) == 0.5 + 2 / 128
    assert quantised_width(4, group=128, zero_bits=4) == 0.5 + 2.5 / 128  # AWQ
    assert quantised_width(4, group=32, scale_bytes=1) == 0.53125  # MXFP4


@pytest.mark.parametrize(
    ("dtype", "width"),
    [("fp32", 4), ("tf32", 4), ("bf16", 2), ("fp16", 2), ("fp8", 1), ("int8", 1), ("fp4", 0.5), ("int4", 0.5),
     ("mxfp4", 0.53125), ("nvfp4", 0.5625), ("int4-g128", 0.515625), ("int8-g128-zero", 1 + 3 / 128)],
)
def test_widths_by_name(dtype, width):
    assert width_of(dtype) == width


@pytest.mark.parametrize("name", ["int5", "int4-g", "int4-g128-", "int4-g128-scale", "int4-gx", "int4-g0", "g128", ""])
def test_a_misspelt_width_is_refused(name):
    with pytest.raises(ValueError, match=r"^(dtype|group) = "):
        width_of(name)


def test_w4a16_keeps_activations_wide():
    cost = gemm(16, 3584, 3584, b_w=quantised_width(4, group=128))
    assert cost.traffic == {"X": 16 * 3584 * 2, "W": 3584 * 3584 * 0.515625, "Y": 16 * 3584 * 2}


@pytest.mark.parametrize(("b_kv", "kv_only", "all_of_it"), [(1, 14, 13.905), (0.5, 28, 27.622)])
def test_a_narrower_kv_cache_multiplies_decode_intensity(b_kv, kv_only, all_of_it):
    """Extensions: FP8 doubles the 7 of decode to 14 (13.905 with Q and O at S = 2048), INT4 to 28."""
    assert attention(*QWEN_HEADS, 1, 2048, b_kv=b_kv, traffic="kv-only").intensity == kv_only
    assert attention(*QWEN_HEADS, 1, 2048, b_kv=b_kv).intensity == pytest.approx(all_of_it, abs=5e-4)


def test_verifying_26_tokens_at_once_is_compute_bound():
    intensity = [attention(*QWEN_HEADS, L, 2048).intensity for L in (25, 26)]
    assert intensity[0] < 165 < intensity[1]


def seen_pairs(L: int, S: int, window: int) -> int:
    return sum(min(position, window) for position in range(S - L + 1, S + 1))


@pytest.mark.parametrize(
    ("L", "S", "window"), [(1, 10, 4), (1, 3, 4), (10, 10, 4), (3, 10, 4), (4, 10, 7), (4, 10, 8), (6, 6, 1), (2, 9, 9)]
)
def test_a_window_keeps_the_pairs_within_it(L, S, window):
    cost = window_attention(6, 2, 8, L, S, window)
    assert cost.flops == 4 * 6 * 8 * seen_pairs(L, S, window)
    keys = len({key for last in range(S - L + 1, S + 1) for key in range(max(1, last - window + 1), last + 1)})
    assert cost.traffic == {"K": 2 * keys * 8 * 2, "V": 2 * keys * 8 * 2, "Q": 6 * L * 8 * 2, "O": 6 * L * 8 * 2}


def test_long_windowed_prefill_is_flat_in_the_context():
    """Extensions: (2/b) W g / (g + 1) for S much longer than W."""
    W, g = 1024, 7
    expected = W * g / (g + 1)
    assert window_attention(*QWEN_HEADS, 2**20, 2**20, W).intensity == pytest.approx(expected, rel=2e-3)
    assert window_attention(*QWEN_HEADS, 1, 2**20, W) == attention(*QWEN_HEADS, 1, W)


def test_window_attention_passes_its_widths_on():
    cost = window_attention(2, 1, 4, 1, 10, 3, b_q=4, b_kv=1)
    assert cost.traffic == {"K": 12, "V": 12, "Q": 32, "O": 32}
    assert set(window_attention(2, 1, 4, 1, 10, 3, traffic="kv-only").traffic) == {"K", "V"}


@pytest.mark.parametrize(("L", "S", "chunk"), [(1, 8, 4), (1, 9, 4), (3, 10, 4), (6, 10, 4), (10, 10, 4), (5, 5, 9)])
def test_chunks_begin_anew(L, S, chunk):
    seen = [{key for key in range(query + 1) if key // chunk == query // chunk} for query in range(S - L, S)]
    cost = chunked_attention(6, 2, 8, L, S, chunk, b_q=4, b_kv=1)
    assert cost.flops == 4 * 6 * 8 * sum(map(len, seen))
    assert cost.traffic == {"K": 2 * 8 * len(set().union(*seen)), "V": 2 * 8 * len(set().union(*seen)),
                            "Q": 6 * L * 8 * 4, "O": 6 * L * 8 * 4}
    assert set(chunked_attention(6, 2, 8, L, S, chunk, traffic="kv-only").traffic) == {"K", "V"}


def test_chunked_attention_refuses():
    with pytest.raises(ValueError, match=r"^chunk = 0: must be a positive whole number$"):
        chunked_attention(2, 1, 4, 1, 9, 0)
    with pytest.raises(ValueError, match=r"^L = 10: under a causal mask"):
        chunked_attention(2, 1, 4, 10, 9, 3)


@pytest.mark.parametrize("name", ["L", "S", "window"])
def test_window_attention_refuses(name):
    with pytest.raises(ValueError, match=rf"^{name} = 0: must be a positive whole number$"):
        window_attention(**({"n_q": 2, "n_kv": 1, "head_dim": 4, "L": 1, "S": 9, "window": 3} | {name: 0}))
    with pytest.raises(ValueError, match="under a causal mask"):
        window_attention(2, 1, 4, 10, 9, 3)


def test_a_shared_prefix_is_read_once_for_the_batch():
    cost = shared_prefix_attention(28, 4, 128, batch=32, prefix=2000, own=48)
    assert cost.flops == 32 * attention(28, 4, 128, 1, 2048).flops
    assert cost.traffic["K"] == cost.traffic["V"] == 4 * (2000 + 32 * 48) * 128 * 2
    assert cost.traffic["Q"] == cost.traffic["O"] == 32 * 28 * 128 * 2


def test_a_shared_prefix_under_a_chunk_of_query_tokens():
    cost = shared_prefix_attention(2, 1, 8, batch=3, prefix=10, own=4, L=2, b_q=4, b_kv=1)
    assert cost.flops == 4 * 2 * 8 * 3 * (2 * 10 + 3 + 4)
    assert cost.traffic == {"K": (10 + 12) * 8, "V": (10 + 12) * 8, "Q": 3 * 2 * 2 * 8 * 4, "O": 3 * 2 * 2 * 8 * 4}
    assert set(shared_prefix_attention(2, 1, 8, 3, 10, 4, traffic="kv-only").traffic) == {"K", "V"}


@pytest.mark.parametrize("name", ["batch", "prefix", "own", "L"])
def test_shared_prefix_attention_refuses(name):
    with pytest.raises(ValueError, match=rf"^{name} = 0: must be a positive whole number$"):
        shared_prefix_attention(**({"n_q": 2, "n_kv": 1, "head_dim": 4, "batch": 1, "prefix": 9, "own": 3} | {name: 0}))


def test_latent_attention_reads_one_vector_per_token():
    """Extensions: I = 2 n_h (2 d_c + d_R) / ((d_c + d_R) b), whatever the context."""
    for S in (1, 2048):
        cost = mla_attention(128, 512, 64, 1, S, b_kv=EXACT, traffic="kv-only")
        assert cost.intensity == Fraction(2 * 128 * (2 * 512 + 64), (512 + 64) * 2)
        assert cost.traffic == {"latent": S * (512 + 64) * 2}


def test_latent_attention_with_queries_and_outputs():
    cost = mla_attention(4, 8, 2, 3, 10, b_q=2, b_kv=1, mask="causal")
    assert cost.flops == 2 * 4 * (8 + 2 + 8) * (8 + 9 + 10)
    assert cost.traffic == {"latent": 10 * 10, "Q": 4 * 3 * 10 * 2, "O": 4 * 3 * 8 * 2}
    assert mla_attention(4, 8, 2, 3, 10).flops == 2 * 4 * 18 * 30


@pytest.mark.parametrize("name", ["n_q", "d_c", "d_rope", "L", "S"])
def test_latent_attention_refuses(name):
    with pytest.raises(ValueError, match=rf"^{name} = 0: must be a positive whole number$"):
        mla_attention(**({"n_q": 4, "d_c": 8, "d_rope": 2, "L": 1, "S": 9} | {name: 0}))


def test_experts_touched():
    """Extensions: E (1 - (1 - k/E)^T)."""
    assert experts_touched(8, 2, 1) == pytest.approx(2)
    assert experts_touched(8, 2, 2) == pytest.approx(3.5)
    assert experts_touched(128, 8, 4096) == pytest.approx(128)
    assert experts_touched(5, 5, 3) == 5
    assert isinstance(experts_touched(5, 5, 3), int)


@pytest.mark.parametrize("name", ["experts", "top_k", "T"])
def test_experts_touched_refuses(name):
    with pytest.raises(ValueError, match=rf"^{name} = 0: must be a positive whole number$"):
        experts_touched(**({"experts": 8, "top_k": 2, "T": 1} | {name: 0}))
    with pytest.raises(ValueError, match=r"^top_k = 9: must be at most experts \(8\)$"):
        experts_touched(8, 9, 1)


def test_experts_are_read_one_by_one():
    """A token of two experts does two rows' work and reads two experts' weights."""
    cost = grouped_gemm(3 * 2, 4.5, 16, 8, b_x=1, b_w=0.5, b_y=4)
    assert cost.flops == 2 * 6 * 16 * 8
    assert cost.traffic == {"X": 6 * 16, "W": 4.5 * 16 * 8 * 0.5, "Y": 6 * 8 * 4}
    assert grouped_gemm(6, 1, 16, 8) == gemm(6, 16, 8)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
def test_grouped_gemm_refuses(bad):
    with pytest.raises(ValueError, match=rf"^groups = {bad!r}: must be positive and finite$"):
        grouped_gemm(1, bad, 2, 3)


def test_element_wise_operators_by_operand():
    assert embedding(3, 8, b=2) == Cost(0, {"rows": 48, "Y": 48})
    assert rms_norm(3, 8, b=2) == Cost(96, {"X": 48, "weight": 16, "Y": 48})
    assert rope(3, 5, 8, b=2) == Cost(360, {"X": 240, "table": 48, "Y": 240})
    assert swiglu(3, 8, b=2) == Cost(96, {"gate": 48, "up": 48, "Y": 48})
    assert residual(3, 8, b=2) == Cost(24, {"X": 48, "residual": 48, "Y": 48})


@pytest.mark.parametrize("M", [1, 256, 65536])
def test_element_wise_operators_sit_below_two_flops_per_byte_at_any_batch(M):
    """Extensions: norms, RoPE, SwiGLU and residual stay at I of one or two, at most, at any batch."""
    costs = [rms_norm(M, 3584), rope(M, 32, 128), swiglu(M, 18944), residual(M, 3584)]
    assert max(cost.intensity for cost in costs) < 1.01


@pytest.mark.parametrize("operator", [embedding, rms_norm, swiglu, residual])
def test_element_wise_operators_refuse(operator):
    for arguments in [(0, 8, 2), (3, 0, 2), (3, 8, 0)]:
        with pytest.raises(ValueError, match=r"^\w+ = 0: must be positive|^\w+ = 0: must be a positive"):
            operator(*arguments)


@pytest.mark.parametrize("arguments", [(0, 5, 8, 2), (3, 0, 8, 2), (3, 5, 0, 2), (3, 5, 8, 0)])
def test_rope_refuses(arguments):
    with pytest.raises(ValueError, match=r"= 0: must be"):
        rope(*arguments)


def test_default_width_is_two_bytes():
    assert [f(1, 1).bytes for f in (embedding, rms_norm, swiglu, residual)] == [4, 6, 6, 6]
    assert rope(1, 1, 1).bytes == 6
    assert gemm(1, 1, 1) == grouped_gemm(1, 1, 1, 1) == gemm(1, 1, 1, 2, 2, 2)
    assert window_attention(1, 1, 1, 1, 1, 1).bytes == shared_prefix_attention(1, 1, 1, 1, 1, 1).bytes - 4 == 8
    assert mla_attention(1, 1, 1, 1, 1).traffic == {"latent": 4, "Q": 4, "O": 2}


def test_tensor_parallel_splits_by_outputs_or_inputs():
    assert column_parallel(3584, 18944, 4) == (3584, 4736)
    assert row_parallel(18944, 3584, 4) == (4736, 3584)
    assert [kv_heads_per_card(4, t) for t in (1, 2, 4, 8, 28)] == [4, 2, 1, 1, 1]


def test_a_split_that_does_not_divide_names_what():
    with pytest.raises(ValueError, match=r"^t = 3: must divide the output width N \(512\)$"):
        column_parallel(3584, 512, 3)
    with pytest.raises(ValueError, match=r"^t = 5: must divide the input width K \(512\)$"):
        row_parallel(512, 3584, 5)
    for t in (3, 7):
        with pytest.raises(ValueError, match=rf"^t = {t}: must divide n_kv \(4\), or be a multiple of it so that KV"):
            kv_heads_per_card(4, t)


@pytest.mark.parametrize("function", [column_parallel, row_parallel])
@pytest.mark.parametrize("arguments", [(0, 8, 1), (8, 0, 1), (8, 8, 0)])
def test_splits_refuse(function, arguments):
    with pytest.raises(ValueError, match=r"^[KNt] = 0: must be a positive whole number$"):
        function(*arguments)
    with pytest.raises(ValueError, match=r"^t = 0: must be a positive whole number$"):
        kv_heads_per_card(4, 0)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [({"bits": 0}, "bits"), ({"bits": 4, "group": 0}, "group"), ({"bits": 4, "scale_bytes": 0}, "scale_bytes"),
     ({"bits": 4, "group": 8, "zero_bits": -1}, "zero_bits"), ({"bits": 4, "zero_bits": math.inf}, "zero_bits")],
)
def test_quantised_width_refuses(arguments, name):
    with pytest.raises(ValueError, match=rf"^{name} = "):
        quantised_width(**arguments)


def test_a_split_width_is_a_whole_number():
    shapes = [*column_parallel(8, 8, 2), *row_parallel(8, 8, 2), kv_heads_per_card(4, 2), kv_heads_per_card(4, 8)]
    assert all(isinstance(size, int) for size in [*shapes, window_attention(1, 1, 1, 3, 5, 2).flops])


def test_scores_are_two_bytes_wide_unless_said_otherwise():
    assert attention(1, 1, 1, 3, 5, passes=1).traffic["scores"] == 15 * 2
    assert attention(1, 1, 1, 3, 5).traffic.keys() == {"K", "V", "Q", "O"}
