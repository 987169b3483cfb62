"""Every claim the lesson makes in words, proved: verdicts, "never", "ignores", "the same", and the longhand sums."""

from fractions import Fraction

import longhand
import pytest

from roofline_calc import (
    ACCELERATORS,
    QWEN,
    RTX_4090,
    analyse,
    attention,
    attn_intensity,
    gemm,
    gemm_crossing,
    gemm_intensity,
    mla_attention,
    regime,
    residual,
    rms_norm,
    rope,
    swiglu,
)

RIDGES = [165, Fraction(1652 * 10**11, 1008 * 10**9)]  # the lesson's, and 165.2 TFLOP/s over 1008 GB/s
HEADS = (28, 4, 128)
SHAPES = {"q/o": (3584, 3584), "k/v": (3584, 512), "gate/up": (3584, 18944), "down": (18944, 3584)}


def test_the_catalogue_says_what_the_page_says_of_the_card():
    """Top of the page and §2: 165.2 TFLOP/s dense BF16, 1008 GB/s, 24 GB, 72 MiB of L2."""
    assert (RTX_4090.peak_of("bf16"), RTX_4090.bandwidth) == (165.2e12, 1008e9)
    assert (RTX_4090.memory, RTX_4090.last_level_cache) == (24_564 * 2**20, 72 * 2**20)


def test_the_model_is_the_one_the_page_names():
    assert (QWEN.hidden, QWEN.layers, QWEN.n_q, QWEN.n_kv, QWEN.head_dim) == (3584, 28, 28, 4, 128)
    assert (QWEN.intermediate, QWEN.vocab, QWEN.bytes_per_element) == (18944, 152064, 2)
    assert not QWEN.tied_embeddings


@pytest.mark.parametrize("ridge", RIDGES)
def test_every_verdict_of_the_table_holds_at_both_ridges(ridge):
    """§2, §4.3: what is memory-bound at 165 is so at 163.889, and the other way round."""
    verdicts = {(M, name): regime(gemm_intensity(M, *SHAPES[name]), ridge) for M in (1, 256) for name in SHAPES}
    assert [where for where, verdict in verdicts.items() if verdict == "compute-bound"] == [
        (256, "q/o"), (256, "gate/up"), (256, "down"),
    ]
    for S in (128, 512, 2048):
        assert regime(attn_intensity(28, 4, "decode", S), ridge) == "memory-bound"
        assert regime(attn_intensity(28, 4, "prefill", S), ridge) == "compute-bound"
        full = [attention(*HEADS, S, S, mask=mask).intensity for mask in ("none", "causal")]
        assert {regime(I, ridge) for I in full} == {"memory-bound" if S == 128 else "compute-bound"}


def test_element_wise_operators_stay_below_1_at_any_batch():
    """§2: less than two operations for each element moved, two bytes an element."""
    for M in (1, 7, 256, 2**40):
        for cost in (rms_norm(M, 3584), rope(M, 32, 128), swiglu(M, 18944), residual(M, 3584)):
            assert 0 < Fraction(cost.flops) / Fraction(cost.bytes, 2) < 2
            assert Fraction(cost.flops) / Fraction(cost.bytes) < 1


def test_the_ridge_of_a_newer_card_lies_on_either_side():
    """§2, first question, dense BF16 TFLOP/s over TB/s: right from the 4090 to the H100, left to the others."""
    ridges = {
        "rtx-4090": Fraction(1652, 10) / Fraction(1008, 1000), "rtx-5090": Fraction(2095, 10) / Fraction(1792, 1000),
        "h100-sxm": Fraction(9894, 10) / Fraction(335, 100), "h200": Fraction(9894, 10) / Fraction(48, 10),
    }
    assert [f"{float(ridges[card]):.1f}" for card in ("rtx-5090", "h200")] == ["116.9", "206.1"]
    assert ridges["rtx-5090"] < ridges["rtx-4090"] < ridges["h200"] < ridges["h100-sxm"]
    for card, ridge in ridges.items():
        assert ACCELERATORS[card].ridge() == pytest.approx(float(ridge), rel=1e-12)


def test_a_crossing_moves_by_up_to_two_percent_with_the_ridge():
    """§2: 165 against 163.889, for every crossing that the lesson names."""
    moved = [gemm_crossing(*shape, 165) / gemm_crossing(*shape, float(RIDGES[1])) for shape in SHAPES.values()]
    whole = {165: (24, 189, 377, 531), RIDGES[1]: (24, 188, 374, 521)}  # by kv-only, q+kv+o, causal, one pass of scores
    for ridge, firsts in whole.items():
        prefill = [
            (lambda S: attn_intensity(28, 4, "prefill", S)), (lambda S: attention(*HEADS, S, S).intensity),
            (lambda S: attention(*HEADS, S, S, mask="causal").intensity),
            (lambda S: attention(*HEADS, S, S, passes=1).intensity),
        ]
        assert all(I(S) >= ridge > I(S - 1) for I, S in zip(prefill, firsts, strict=True))
    moved += [late / early for late, early in zip(*whole.values(), strict=True)]
    assert all(1 <= ratio < 1.02 for ratio in moved)


def test_reciprocals_add_up_when_an_element_has_two_bytes():
    """§3.1: 1/I = 1/M + 1/K + 1/N, exactly."""
    for M, K, N in [(1, 3584, 512), (256, 3584, 18944), (7, 11, 13)]:
        assert 1 / gemm_intensity(M, K, N, Fraction(2)) == Fraction(1, M) + Fraction(1, K) + Fraction(1, N)


def test_few_tokens_give_two_flops_per_byte_of_weight_and_token():
    """§3.1: M = 1 tends to 2/b, M much less than K and N to 2M/b."""
    wide = 2**40
    for M in (1, 5, 64):
        for b in (1, 2, 4):
            assert gemm_intensity(M, wide, wide, b) == pytest.approx(2 * M / b, rel=1e-9)


def test_the_crossing_by_weights_alone_is_half_the_ridge_times_the_width():
    """§3.1: M* ≈ I* b / 2 = 165, and the activations make it later."""
    assert gemm_crossing(2**50, 2**50, 165) == pytest.approx(165, rel=1e-9)
    assert all(gemm_crossing(*shape, 165) > 165 for shape in SHAPES.values())


def test_decode_attention_ignores_context_batch_and_head_dim():
    """§2, §3.2: S and d cancel, and a batch of private caches scales FLOPs and bytes alike."""
    one = attention(28, 4, 128, 1, 2048, traffic="kv-only")
    assert (one * 64).intensity == one.intensity == 7
    assert {attn_intensity(28, 4, "decode", S) for S in (1, 100, 10**6)} == {7}
    assert {attention(28, 4, d, 1, 99, traffic="kv-only").intensity for d in (64, 128, 256)} == {7}


def test_gqa_in_decode_is_worth_its_ratio_and_shrinks_the_cache_by_it():
    """§3.2: 7 times the intensity of MHA, a seventh of the cache."""
    assert attn_intensity(28, 4, "decode", 512) == 7 * attn_intensity(28, 28, "decode", 512)
    kv = [attention(28, n_kv, 128, 1, 512, traffic="kv-only").bytes for n_kv in (28, 4)]
    assert kv[0] == 7 * kv[1]


def test_q_and_o_outweigh_k_and_v_in_prefill():
    """§3.2: S rows of 28 heads against S rows of 4."""
    moved = attention(*HEADS, 2048, 2048).traffic
    assert moved["Q"] + moved["O"] == 7 * (moved["K"] + moved["V"])
    assert Fraction(moved["Q"] + moved["O"], sum(moved.values())) == Fraction(875, 1000)


def test_the_architecture_can_set_decode_attention_high():
    """§3.2: MLA at S = 2048, 128 heads on one latent of 576, the output 512 wide; between the two cards' ridges."""
    flops, moved = 2 * 128 * (576 + 512) * 2048, 2 * (2048 * 576 + 128 * 576 + 128 * 512)
    assert f"{float(Fraction(flops, moved)):.1f}" == "216.2"
    assert max(RIDGES) < Fraction(flops, moved) < Fraction(9894, 10) / Fraction(335, 100)
    one = mla_attention(128, 512, 64, 1, 2048)
    assert (one * 64).intensity == one.intensity == flops / moved


def test_gqa_in_a_whole_prefill_gains_the_same_at_any_length():
    """§3.2: 2g/(g+1) = 1.75 times the intensity of MHA."""
    for S in (1, 128, 2048, 2**30):
        for mask in ("none", "causal"):
            gqa, mha = (attention(28, n_kv, 128, S, S, mask=mask) for n_kv in (4, 28))
            assert gqa.flops == mha.flops
            assert Fraction(mha.bytes, gqa.bytes) == Fraction(7, 4)


def test_under_one_mask_the_naive_kernel_is_lower_at_every_length():
    """§3.2, figure: dotted below solid; with the mask it tends to half of 64."""
    for mask in ("none", "causal"):
        for S in (1, 2, 10, 80, 1000, 8192):
            fused, naive = (attention(*HEADS, S, S, mask=mask, passes=passes) for passes in (0, 4))
            assert naive.flops == fused.flops
            assert naive.bytes > fused.bytes
    assert attention(*HEADS, 2**40, 2**40, mask="causal", passes=4).intensity == pytest.approx(32, rel=1e-6)


def test_the_general_form_of_attention_intensity():
    """§3.2: I = 2c / (b_kv/(gL) + b_q/S + ps/(2d)), with c = 1 - (L-1)/(2S) under a causal mask."""
    for n_q, n_kv, d, L, S, b_q, b_kv, p, s in [(28, 4, 128, 5, 77, 2, 1, 0, 2), (8, 8, 64, 30, 30, 2, 2, 4, 4)]:
        widths = {"b_q": Fraction(b_q), "b_kv": Fraction(b_kv), "b_score": Fraction(s)}
        below = Fraction(b_kv * n_kv, n_q * L) + Fraction(b_q, S) + Fraction(p * s, 2 * d)
        for mask, c in [("none", Fraction(1)), ("causal", 1 - Fraction(L - 1, 2 * S))]:
            assert attention(n_q, n_kv, d, L, S, mask=mask, passes=p, **widths).intensity == 2 * c / below


@pytest.mark.parametrize("ridge", RIDGES)
def test_naive_attention_is_memory_bound_at_every_length(ridge):
    """§3.2: with four passes, however long S and whatever the mask."""
    for S in [2**power for power in range(0, 41, 4)]:
        for mask in ("none", "causal"):
            assert regime(attention(*HEADS, S, S, mask=mask, passes=4).intensity, ridge) == "memory-bound"


def test_time_of_a_step_by_longhand():
    """§3.3: B = 256, S = 512 on the card, the average and the sum over kernels, worked out with fractions."""
    P, B, layers = Fraction(1652 * 10**11), Fraction(1008 * 10**9), 28
    shapes = [(3584, 3584)] * 2 + [(3584, 512)] * 2 + [(3584, 18944)] * 2 + [(18944, 3584)]
    gemms = [(2 * 256 * K * N, 2 * (256 * K + K * N + 256 * N), layers) for K, N in shapes]
    gemms.append((2 * 256 * 3584 * 152064, 2 * (256 * 3584 + 3584 * 152064 + 256 * 152064), 1))
    attend_flops, attend_bytes = 4 * 28 * 512 * 128, 2 * 2 * 4 * 512 * 128 + 2 * 2 * 28 * 128
    attend = layers * 256 * max(attend_flops / P, attend_bytes / B)
    apart = sum(n * max(flops / P, moved / B) for flops, moved, n in gemms) + attend
    flops = sum(n * flops for flops, _, n in gemms) + layers * 256 * attend_flops
    moved = 2 * 7_070_619_136 + 256 * 512 * 57344
    together = max(flops / P, moved / B)
    assert f"{float(together) * 1e3:.1f} {float(apart) * 1e3:.1f} {float(attend) * 1e3:.1f}" == "22.2 29.5 7.6"
    assert f"{float(apart / together) - 1:.0%} {float(Fraction(flops) / moved):.0f}" == "33% 170"
    assert RTX_4090.kernel_by_kernel(QWEN.decode_kernels(256, 512).values()) == pytest.approx(float(apart), rel=1e-12)


def test_the_three_times_of_that_step():
    """§3.3, table: 22.2, 29.5 and 45.0 ms with the engine's kernels; 33 % between the first two, attention 7.6."""
    kernels = longhand.decode_fused(256, 512)
    bound = longhand.lower_bound(kernels, tokens=256, context=256 * 512)
    apart, never = longhand.kernel_by_kernel(kernels), longhand.no_overlap(kernels)
    assert [longhand.shown(1000 * seconds, ".1f") for seconds in (bound, apart, never)] == ["22.2", "29.5", "45.0"]
    assert longhand.shown(apart / bound - 1, ".0%") == "33%"
    assert longhand.shown(1000 * longhand.kernel_by_kernel(kernels[-1:]), ".1f") == "7.6"
    assert bound < apart < never < 2 * apart
    report = analyse(QWEN.decode_kernels(256, 512, fused=True), RTX_4090)
    found = [report.lower_bound, report.kernel_by_kernel, report.no_overlap]
    assert found == pytest.approx([float(seconds) for seconds in (bound, apart, never)], rel=1e-12)


def test_that_step_just_about_fits_the_card():
    """§3.3: 21.19 of 24 GiB, under the 0.92 of them that vLLM takes by default."""
    held = Fraction(2 * longhand.PARAMS + 256 * 512 * longhand.KV_TOKEN, 2**30)
    assert longhand.shown(held, ".2f") == "21.19"
    assert Fraction(95, 100) * Fraction(92, 100) * 24 < held < Fraction(92, 100) * 24


def test_a_decode_step_takes_at_least_14_15_ms():
    """§3.3, question: batch = 1 and S = 2048; without the KV cache 14.03, which its tolerance must tell apart."""
    bound = 1000 * longhand.lower_bound(longhand.decode_fused(1, 2048), tokens=1, context=2048)
    assert longhand.shown(bound, ".2f") == "14.15"
    assert 1000 * Fraction(2 * longhand.READ) / longhand.B < bound * (1 - 2 * Fraction(4, 1000))
    assert analyse(QWEN.decode_kernels(1, 2048), RTX_4090).lower_bound == pytest.approx(float(bound / 1000), rel=1e-12)


@pytest.mark.parametrize("kernels", [longhand.decode(72, 2048), longhand.decode_fused(72, 2048)])
def test_attention_takes_longest_in_a_step_of_72_sequences(kernels):
    """§3.3, question: with gate and up apart or in one GEMM; all are memory-bound, and the caches fit the card."""
    assert max(kernels, key=lambda kernel: longhand.kernel_by_kernel([kernel])) == kernels[-1]
    assert all(longhand.intensity(kernel) < min(longhand.RIDGES) for kernel in kernels)
    gate_up = longhand.times(28, longhand.linear(72, 3584, 2 * 18944))
    assert gate_up[0] > 9 * kernels[-1][0]
    assert 72 * 2048 * longhand.KV_TOKEN > 28 * 2 * 3584 * 18944 * 2
    assert Fraction(92, 100) * longhand.CARD > 2 * longhand.PARAMS + 72 * 2048 * longhand.KV_TOKEN


def test_that_step_fits_the_card():
    """§3.3: weights and 256 caches of 512 tokens in 24 GiB."""
    assert QWEN.weight_bytes() + 256 * 512 * QWEN.kv_bytes_per_token < RTX_4090.memory


def test_the_aggregate_cannot_reach_the_ridge_from_1561_tokens_on():
    """§3.3: per sequence, FLOPs over KV bytes; batch without bound leaves nothing else."""
    def limit(S: int) -> Fraction:
        gemm_flops = 2 * (28 * (2 * 3584 * 3584 + 2 * 3584 * 512 + 3 * 3584 * 18944) + 3584 * 152064)
        return Fraction(gemm_flops + 28 * 4 * 28 * 128 * S, 57344 * S)

    assert limit(1561) < 165 < limit(1560)
    assert f"{float(limit(2048)):.1f}" == "127.4"


def test_thin_layers_never_cross():
    """§4.3: at K = 3584 every N up to 172, since 2KN / (2(K + N)) = 165 at N = 172.96."""
    assert Fraction(165 * 3584, 3584 - 165) < 173
    assert all(gemm_crossing(3584, N, 165) is None for N in range(1, 173))
    assert gemm_crossing(3584, 173, 165) is not None
    assert 171 < RIDGES[1] * 3584 / (3584 - RIDGES[1]) < 172  # up to 171 at 163.889
    assert gemm_crossing(3584, 171, RTX_4090.ridge()) is None
    assert gemm_crossing(3584, 172, RTX_4090.ridge()) is not None


def test_fusing_q_k_v_reads_x_once():
    """§4.4: three GEMMs apart read X three times."""
    apart = gemm(256, 3584, 3584) + gemm(256, 3584, 512) * 2
    fused = gemm(256, 3584, 4608)
    assert apart.flops == fused.flops
    assert apart.traffic["X"] == 3 * fused.traffic["X"]
    assert (apart.traffic["W"], apart.traffic["Y"]) == (fused.traffic["W"], fused.traffic["Y"])


def test_four_bit_weights_quarter_the_crossing():
    """§9 (f): M* is proportional to b_w."""
    for shape in SHAPES.values():
        assert gemm_crossing(*shape, 165, b_w=0.5) == pytest.approx(gemm_crossing(*shape, 165) / 4, rel=1e-12)
