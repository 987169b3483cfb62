"""Every claim of the interview page, worked out longhand; what other tests prove already is not proved again."""

from fractions import Fraction

import pytest
from longhand import (
    CARD,
    FFN,
    H100,
    KV,
    KV_TOKEN,
    LAYERS,
    LINEAR,
    PARAMS,
    READ,
    RIDGES,
    SHAPES,
    W4,
    B,
    Kernel,
    P,
    Q,
    aggregate,
    attend,
    decode,
    decode_fused,
    first,
    intensity,
    kernel_by_kernel,
    linear,
    linears,
    lower_bound,
    no_overlap,
    shown,
    times,
)

from roofline_calc import first_compute_bound, gemm_crossing, gemm_intensity


def test_a_gemm_at_one_token_stays_below_1():
    """Interview 1: 1/I = 1 + 1/K + 1/N, however large; and the smallest dimension bounds any GEMM."""
    for K, N in [(16, 16), Q, (10**6, 10**9)]:
        assert intensity(linear(1, K, N)) < 1
    for M, K, N in [(256, *KV), (5, 7, 3), (4096, 4096, 4096)]:
        assert intensity(linear(M, K, N)) < min(M, K, N)


def test_thinner_layers_cross_later():
    """Interview 2: the FFN at 175, q at 182, k at 262, all later than the ridge."""
    crossings = [first(lambda M, shape=shape: intensity(linear(M, *shape)), 165) for shape in (FFN, Q, KV)]
    assert crossings == [175, 182, 262] == sorted(crossings)
    assert min(crossings) > 165


def test_four_bits_are_four_times_faster_only_while_memory_bound():
    """Interview 2: nearly four at M = 1; past both crossings no faster at all; the crossing goes with b_w."""
    assert Fraction(39, 10) < kernel_by_kernel([linear(1, *Q)]) / kernel_by_kernel([linear(1, *Q, Fraction(1, 2))]) < 4
    assert kernel_by_kernel([linear(256, *Q)]) == kernel_by_kernel([linear(256, *Q, W4)])
    for shape in (Q, KV, FFN):
        assert gemm_crossing(*shape, 165, b_w=0.5) == pytest.approx(gemm_crossing(*shape, 165) / 4, rel=1e-12)


@pytest.mark.parametrize("ridge", RIDGES)
def test_decode_attention_is_more_than_twenty_times_below_the_ridge(ridge):
    """Interview 3: 6.976 at S = 2048 and 6.64 at S = 128, where Q and O show."""
    long, short = intensity(attend(1, 2048)), intensity(attend(1, 128))
    assert (shown(long, ".3f"), shown(short, ".2f")) == ("6.976", "6.64")
    assert ridge / long > 20 < ridge / short


def test_gqa_in_a_whole_prefill():
    """Interview 4: S/2 for MHA, 7S/8 at g = 7, below S for any g; 1,024 and 1,792 at S = 2048, 1.75 times."""
    by_heads = {n_kv: intensity(attend(2048, 2048, n_kv=n_kv)) for n_kv in (28, 14, 7, 4, 2, 1)}
    assert all(I == Fraction(28 // n_kv * 2048, 28 // n_kv + 1) < 2048 for n_kv, I in by_heads.items())
    assert (shown(by_heads[28], ",.0f"), shown(by_heads[4], ",.0f")) == ("1,024", "1,792")
    assert by_heads[4] / by_heads[28] == Fraction(7, 4)


def test_gqa_leaves_a_long_prompt_s_attention_where_it_was():
    """Interview 4: MHA and GQA are both compute-bound at S = 2048, masked or not, and do the same FLOPs."""
    for causal in (False, True):
        wide, grouped = (attend(2048, 2048, n_kv=n_kv, causal=causal) for n_kv in (28, 4))
        assert kernel_by_kernel([wide]) == kernel_by_kernel([grouped]) == wide[0] / P


def test_a_chunk_gains_something_in_between():
    """Interview 4: GQA over MHA falls from nearly 7 at L = 1 to 1.75 at L = S."""
    gains = [intensity(attend(L, 2048)) / intensity(attend(L, 2048, n_kv=28)) for L in (1, 64, 512, 2048)]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] == Fraction(7, 4)
    assert Fraction(69, 10) < gains[0] < 7


def test_gqa_shrinks_the_cache_sevenfold():
    """Interview 4: 392 KiB a token become 56, and the FLOPs of attention stay."""
    assert [Fraction(n * KV_TOKEN, 1024) for n in (7, 1)] == [392, 56]
    assert attend(1, 2048)[0] == attend(1, 2048, n_kv=28)[0]


def test_the_aggregate_is_an_average_weighted_by_bytes():
    """Interview 5: weights 13.17 GiB at about 1, KV at 7; KV is 0.8 % of the bytes at 2048, 11.7 % at 32768."""
    assert shown(Fraction(2 * READ, 2**30), ".2f") == "13.17"
    for S, share, whole in [(2048, "0.8%", "1.049"), (32768, "11.7%", "1.704")]:
        flops, moved = aggregate(1, S)
        kv = Fraction(S * KV_TOKEN) / moved
        assert (shown(kv, ".1%"), shown(flops / moved, ".3f")) == (share, whole)
        assert flops / moved == (1 - kv) * Fraction(LINEAR, READ) + kv * 7


def test_scores_on_the_bus_cost_prefill_much():
    """Interview 6: 61.8 against 1,792 at S = 2048; 28 layers take 27.0, 10.2 or, masked, 5.1 ms."""
    naive, fused, masked = attend(2048, 2048, passes=4), attend(2048, 2048), attend(2048, 2048, causal=True)
    assert (shown(intensity(naive), ".1f"), shown(intensity(fused), ",.0f")) == ("61.8", "1,792")
    times_ms = [kernel_by_kernel([times(LAYERS, kernel)]) * 1000 for kernel in (naive, fused, masked)]
    assert [shown(ms, ".1f") for ms in times_ms] == ["27.0", "10.2", "5.1"]


def test_scores_on_the_bus_cost_decode_little():
    """Interview 6: 6.29 becomes 6.98, memory-bound as before."""
    naive, fused = intensity(attend(1, 2048, passes=4)), intensity(attend(1, 2048))
    assert (shown(naive, ".2f"), shown(fused, ".2f")) == ("6.29", "6.98")
    assert fused / naive < Fraction(115, 100)


def test_naive_attention_levels_off_below_the_ridge():
    """Interview 6: with four FP16 passes under 64 at any S."""
    for S in (2048, 2**14, 2**30):
        assert intensity(attend(S, S, passes=4)) < Fraction(4 * 128, 4 * 2) < min(RIDGES)


def test_query_tokens_and_narrow_caches_act_on_one_term():
    """Interview 7, table: 13.905, 27.622, 54.510; FP8 as L = 2, INT4 as L = 4; 14 and 28 by KV alone."""
    by_tokens = {L: intensity(attend(L, 2048)) for L in (1, 2, 4, 8)}
    assert [shown(I, ".3f") for I in by_tokens.values()] == ["6.976", "13.905", "27.622", "54.510"]
    for L, b_kv, text in [(2, Fraction(1), "14"), (4, Fraction(1, 2), "28")]:
        assert intensity(attend(1, 2048, b_kv=b_kv)) == by_tokens[L]
        flops, kv = attend(1, 2048)[0], 2 * 4 * 2048 * 128 * b_kv
        assert shown(flops / kv, ".0f") == text
    assert all(by_tokens[L] < L * by_tokens[1] for L in (2, 4, 8))  # "almost" L times
    assert shown(by_tokens[4], ".2f") == "27.62"


@pytest.mark.parametrize("ridge", RIDGES)
def test_a_causal_mask_hardly_matters_to_verification(ridge):
    """Interview 7: less than 1 % at L <= 26 and S = 2048; both cross at L = 26."""
    for L in range(1, 27):
        assert Fraction(99, 100) < intensity(attend(L, 2048, causal=True)) / intensity(attend(L, 2048)) <= 1
    assert first(lambda L: intensity(attend(L, 2048)), ridge) == 26
    assert first(lambda L: intensity(attend(L, 2048, causal=True)), ridge) == 26


def test_verifying_four_tokens_is_almost_free():
    """Interview 7: 14.15 ms become 14.17 at batch 1, S = 2048."""
    one = kernel_by_kernel(decode(1, 2048))
    four = kernel_by_kernel([*linears(4), times(LAYERS, attend(4, 2048, causal=True))])
    assert (shown(one * 1000, ".2f"), shown(four * 1000, ".2f")) == ("14.15", "14.17")


def test_verification_costs_time_once_linear_layers_are_compute_bound():
    """Interview 7: at batch 256 four tokens each take more than three times as long in the linear layers."""
    assert kernel_by_kernel(linears(4 * 256)) > 3 * kernel_by_kernel(linears(256))


LOADS = [(1, 2048), (64, 2048), (256, 512)]


def test_what_quantising_saves():
    """Interview 8, table: kernel by kernel, ms by load, for BF16, W4A16, an FP8 cache, and both."""
    rows = [[shown(kernel_by_kernel(decode(*load, b_w, b_kv)) * 1000, ".1f") for load in LOADS]
            for b_w, b_kv in [(2, 2), (W4, 2), (2, 1), (W4, 1)]]
    assert rows == [
        ["14.2", "21.9", "29.5"],
        ["4.5", "13.6", "29.5"],
        ["14.1", "18.1", "25.7"],
        ["4.5", "9.9", "25.7"],
    ]


def test_the_loads_fit_the_card():
    """Interview 8: BF16 weights and the caches of each column in 24 GiB."""
    assert all(2 * PARAMS + batch * S * KV_TOKEN < CARD for batch, S in LOADS)


def test_at_batch_1_quantise_the_weights():
    """Interview 8: 3.1 times as fast with W4A16; the cache changes less than 1 %."""
    base = kernel_by_kernel(decode(1, 2048))
    assert shown(base / kernel_by_kernel(decode(1, 2048, W4)), ".1f") == "3.1"
    assert 1 < base / kernel_by_kernel(decode(1, 2048, 2, 1)) < Fraction(101, 100)


def test_what_quantised_weights_gained_where_it_was_measured():
    """Interview 8: Figures of Qwen on an A100, 1.83 and 1.76 times, the bound falling 3.1 times; 59 and 34 % of it."""
    base, gptq, awq = Fraction("84.28"), Fraction("154.05"), Fraction("148.10")
    assert [shown(fast / base, ".2f") for fast in (gptq, awq)] == ["1.83", "1.76"]
    assert shown(Fraction("26.37") / Fraction("28.94"), ".2f") == "0.91"
    with_zeros = W4 + Fraction(1, 2) / 128  # a scale and a 4-bit zero point per 128 weights
    a100 = Fraction(312 * 10**12), Fraction(2039 * 10**9)
    # A step's bytes grow evenly with the context, so that the mean over 2 to 2049 tokens is that of 1025.
    wide, narrow = (lower_bound(decode(1, 1025, b_w), 1, 1025, *a100, b_w) for b_w in (2, with_zeros))
    assert shown(wide / narrow, ".1f") == "3.1"
    assert [shown(speed * bound, ".0%") for speed, bound in ((base, wide), (gptq, narrow))] == ["59%", "34%"]


def test_at_batch_64_quantise_the_cache_too():
    """Interview 8: attention is 55 % of a W4A16 step, and of the table's cases FP8 KV gains most there."""
    step = decode(64, 2048, W4)
    assert shown(kernel_by_kernel(step[-1:]) / kernel_by_kernel(step), ".0%") == "55%"
    gains = {
        (load, b_w): kernel_by_kernel(decode(*load, b_w)) / kernel_by_kernel(decode(*load, b_w, 1))
        for load in LOADS for b_w in (2, W4)
    }
    assert max(gains, key=gains.__getitem__) == ((64, 2048), W4)


def test_at_batch_256_quantised_weights_gain_nothing():
    """Interview 8 and 9: all linear layers but k and v are compute-bound, and those are at the ridge; 100.0 %, 14 %."""
    below = [shape for shape in [*SHAPES, (3584, 152064)] if intensity(linear(256, *shape)) < P / B]
    assert below == [KV, KV]
    base = kernel_by_kernel(decode(256, 512))
    assert shown(kernel_by_kernel(decode(256, 512, W4)) / base, ".1%") == "100.0%"
    assert shown(base / kernel_by_kernel(decode(256, 512, 2, 1)) - 1, ".0%") == "14%"


def test_a_memory_bound_linear_layer_hardly_notices_the_batch():
    """Interview 8: 64 tokens take less than 6 % longer than one, while attention's time goes with batch × S."""
    assert 1 < kernel_by_kernel(linears(64)) / kernel_by_kernel(linears(1)) < Fraction(106, 100)
    assert kernel_by_kernel(decode(64, 2048)[-1:]) == 64 * kernel_by_kernel(decode(1, 2048)[-1:])


def test_an_average_past_the_ridge():
    """Interview 9: 169.6 in the aggregate, 22.2 ms, against 29.5 by operators, 33 % more, 7.6 of it attention."""
    whole, step = aggregate(256, 512), decode(256, 512)
    assert shown(intensity(whole), ".1f") == "169.6"
    assert intensity(whole) > max(RIDGES)
    apart = [kernel_by_kernel(kernels) * 1000 for kernels in ([whole], step, step[-1:])]
    assert [shown(ms, ".1f") for ms in apart] == ["22.2", "29.5", "7.6"]
    assert shown(kernel_by_kernel(step) / kernel_by_kernel([whole]) - 1, ".0%") == "33%"
    bound = lower_bound(step, tokens=256, context=256 * 512)
    fused, never = kernel_by_kernel(decode_fused(256, 512)), no_overlap(decode_fused(256, 512))
    assert [shown(seconds * 1000, ".1f") for seconds in (bound, fused, never)] == ["22.2", "29.5", "45.0"]
    assert shown(fused / bound - 1, ".0%") == "33%"
    assert fused < never < 2 * fused


def test_the_sum_of_the_maxima_is_at_least_the_maximum_of_the_sums():
    """Interview 9: equal only where all kernels are on one side of the ridge."""
    def as_one(kernels: list[Kernel]) -> Fraction:
        return kernel_by_kernel([(sum(flops for flops, _ in kernels), sum(moved for _, moved in kernels))])

    assert kernel_by_kernel(decode(1, 2048)) == as_one(decode(1, 2048))
    assert kernel_by_kernel(decode(256, 512)) > as_one(decode(256, 512))


def test_twice_the_compute_does_not_shorten_decode_attention():
    """Interview 9."""
    part = decode(256, 512)[-1:]
    assert kernel_by_kernel(part, 2 * P) == kernel_by_kernel(part)


def test_crossings_move_right_on_an_h100():
    """Interview 10, table: 181 to 354, 259 to 867, 174 to 328; prefill attention 374 to 675; k_proj furthest."""
    ridges = P / B, H100[0] / H100[1]
    assert [shown(ridges[1], ".1f"), shown(ridges[1] / ridges[0], ".2f")] == ["295.3", "1.80"]
    rows = [[first(lambda M, shape=shape: intensity(linear(M, *shape)), ridge) for ridge in ridges]
            for shape in (Q, KV, FFN)]
    assert rows == [[181, 354], [259, 867], [174, 328]]
    assert max(rows, key=lambda row: row[1] / row[0]) == [259, 867]
    assert [first(lambda S: intensity(attend(S, S, causal=True)), ridge) for ridge in ridges] == [374, 675]
    assert first_compute_bound(lambda M: gemm_intensity(M, *KV), float(ridges[1])) == 867


def test_decode_on_an_h100_is_faster_by_the_bandwidth():
    """Interview 10: 14.15 ms become 4.26, 3.32 times as fast, exactly the bandwidth's ratio; compute is 5.99."""
    here, there = kernel_by_kernel(decode(1, 2048)), kernel_by_kernel(decode(1, 2048), *H100)
    assert (shown(here * 1000, ".2f"), shown(there * 1000, ".2f")) == ("14.15", "4.26")
    assert here / there == H100[1] / B
    assert (shown(H100[1] / B, ".2f"), shown(H100[0] / P, ".2f")) == ("3.32", "5.99")
