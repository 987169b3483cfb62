"""Every claim of the two primers and of the interview page, worked out longhand with fractions from the raw numbers.

What oracles.json or the lesson's tests have proved already is not proved again. The sums below share no code with
roofline_calc; where it stands beside them, it is the one on trial.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import count, pairwise

import pytest

from roofline_calc import QWEN, RTX_4090, attention, first_compute_bound, gemm, gemm_crossing, gemm_intensity

Kernel = tuple[Fraction, Fraction]  # FLOPs, bytes

P, B = Fraction(1652 * 10**11), Fraction(1008 * 10**9)  # 165.2 TFLOP/s, 1008 GB/s
RIDGES = [165, P / B]
H100 = Fraction(9894 * 10**11), Fraction(335 * 10**10)  # 989.4 TFLOP/s, 3.35 TB/s
H200 = Fraction(9894 * 10**11), Fraction(480 * 10**10)
CARD = 24 * 2**30

LAYERS = 28
Q, KV, FFN = (3584, 3584), (3584, 512), (3584, 18944)
SHAPES = [Q, KV, KV, Q, FFN, FFN, (18944, 3584)]  # q, k, v, o, gate, up, down
FUSED = [(3584, 4608), Q, (3584, 37888), (18944, 3584)]  # qkv, o, gate_up, down
LINEAR = LAYERS * sum(K * N for K, N in SHAPES) + 3584 * 152064  # weights that multiply, lm_head among them
READ = LINEAR + LAYERS * (3584 + 2 * 512 + 2 * 3584) + 3584  # biases of q, k, v; two norms a layer and the last
PARAMS = READ + 3584 * 152064  # the input embedding
KV_TOKEN = 28 * 2 * 4 * 128 * 2  # bytes: layers, K and V, heads, head_dim, width
W4 = Fraction(1, 2) + Fraction(2, 128)  # bytes per weight: four bits, and an FP16 scale per 128


def linear(M: int, K: int, N: int, b_w: Fraction | int = 2) -> Kernel:
    return Fraction(2 * M * K * N), Fraction(2 * M * K + b_w * K * N + 2 * M * N)


def attend(
    L: int, S: int, *, n_kv: int = 4, b_kv: Fraction | int = 2, causal: bool = False, passes: int = 0
) -> Kernel:
    pairs = sum(range(S - L + 1, S + 1)) if causal else L * S
    moved = 2 * n_kv * S * 128 * b_kv + 2 * 28 * L * 128 * 2 + passes * 28 * L * S * 2
    return Fraction(4 * 28 * 128 * pairs), Fraction(moved)


def times(n: int, kernel: Kernel) -> Kernel:
    return n * kernel[0], n * kernel[1]


def intensity(*kernels: Kernel) -> Fraction:
    return sum(flops for flops, _ in kernels) / sum(moved for _, moved in kernels)


def floor(kernels: Iterable[Kernel], peak: Fraction = P, bandwidth: Fraction = B) -> Fraction:
    return sum(max(flops / peak, moved / bandwidth) for flops, moved in kernels)


def linears(M: int, b_w: Fraction | int = 2) -> list[Kernel]:
    return [times(LAYERS, linear(M, K, N, b_w)) for K, N in SHAPES] + [linear(M, 3584, 152064)]


def decode(batch: int, S: int, b_w: Fraction | int = 2, b_kv: Fraction | int = 2) -> list[Kernel]:
    return [*linears(batch, b_w), times(LAYERS * batch, attend(1, S, b_kv=b_kv))]


def prefill(S: int) -> list[Kernel]:
    layers = [times(LAYERS, linear(S, K, N)) for K, N in FUSED] + [times(LAYERS, attend(S, S, causal=True))]
    return [*layers, linear(1, 3584, 152064)]


def aggregate(batch: int, S: int) -> Kernel:
    """All the FLOPs of a decode step, over weights and KV alone."""
    flops = batch * (2 * LINEAR + LAYERS * 4 * 28 * 128 * S)
    return Fraction(flops), Fraction(2 * READ + batch * S * KV_TOKEN)


def coarse(S: int, tokens: int) -> Fraction:
    """Weights and KV: 2N FLOPs for each token, weights once, KV of S tokens once."""
    return Fraction(2 * PARAMS * tokens, 2 * PARAMS + S * KV_TOKEN)


def first(I: Callable[[int], Fraction], ridge: Fraction | int) -> int:
    return next(n for n in count(1) if I(n) >= ridge)


def shown(value: Fraction | int, spec: str) -> str:
    return format(float(value), spec)


# Primer A: the roofline model


def test_q_proj_at_one_token():
    """A §1: 25.7 MFLOP and 25.7 MB, and an intensity of 0.9994."""
    flops, moved = linear(1, *Q)
    assert (flops, moved) == (2 * 3584**2, 2 * (3584**2 + 2 * 3584))
    assert (shown(flops / 10**6, ".1f"), shown(moved / 10**6, ".1f")) == ("25.7", "25.7")
    assert shown(flops / moved, ".4f") == "0.9994"


def test_nearly_all_of_q_proj_s_time_goes_into_the_weight():
    """A §2: computing takes 0.16 µs, moving 25.5 µs; the weight is over 99 % of what moves."""
    flops, moved = linear(1, *Q)
    assert (shown(flops / P * 10**6, ".2f"), shown(moved / B * 10**6, ".1f")) == ("0.16", "25.5")
    assert Fraction(2 * 3584**2) / moved > Fraction(99, 100)


def test_ridges_of_the_wrong_peaks():
    """A §3: 330.3 TFLOP/s over 1008 GB/s is 328, 82.6 is 82."""
    assert shown(Fraction(3303 * 10**11) / B, ".0f") == "328"
    assert shown(Fraction(826 * 10**11) / B, ".0f") == "82"


def test_a_wrong_peak_flips_the_verdict():
    """A §3: q_proj at M = 256 is over the ridge and under 328; k_proj right at the ridge, and over 82 by far."""
    wrong = Fraction(3303 * 10**11) / B, Fraction(826 * 10**11) / B
    q, k = intensity(linear(256, *Q)), intensity(linear(256, *KV))
    assert max(RIDGES) <= q < wrong[0]
    assert all(wrong[1] < k < ridge and (ridge - k) / ridge < Fraction(2, 100) for ridge in RIDGES)
    assert k > Fraction(19, 10) * wrong[1]


def test_the_levels_of_the_pyramid():
    """A §4: 128 SMs of 256 and 128 KiB hold 32 and 16 MiB; 24 GiB, 72 MiB of L2."""
    assert (128 * 256 * 1024, 128 * 128 * 1024) == (32 * 2**20, 16 * 2**20)
    assert (RTX_4090.memory, RTX_4090.last_level_cache) == (CARD, 72 * 2**20)


def test_one_weight_fits_l2_and_a_step_s_weights_do_not():
    """A §4 and §8 (b): 25.7 MB fit in 72 MiB; 13.2 GiB, over a hundred times the L2, evict them within a step."""
    assert shown(Fraction(2 * 3584**2, 10**6), ".1f") == "25.7"
    assert 2 * 3584**2 < 72 * 2**20
    assert shown(Fraction(2 * READ, 2**30), ".1f") == "13.2"
    assert 2 * READ > 100 * 72 * 2**20


def test_attainable_at_the_intensities_of_decode():
    """A §5: 1.01 TFLOP/s or 0.6 % at 1, 7.06 or 4.3 % at 7."""
    assert [(shown(I * B / 10**12, ".2f"), shown(I * B / P, ".1%")) for I in (1, 7)] == [
        ("1.01", "0.6%"), ("7.06", "4.3%"),
    ]  # fmt: skip


def test_only_bandwidth_moves_what_decode_attains():
    """A §5: twice the compute changes nothing, twice the bandwidth doubles it."""
    for I in (1, 7):
        assert min(2 * P, I * B) == min(P, I * B)
        assert min(P, I * 2 * B) == 2 * min(P, I * B)
        assert RTX_4090.attainable(I) == min(P, I * B)


def test_the_chart_s_points_are_on_the_side_that_its_text_says():
    """A §6: q_proj at one token, decode attention and k_proj on the slope, the other two on the flat roof."""
    slope = linear(1, *Q), attend(1, 2048), linear(256, *KV)
    flat = linear(256, *Q), attend(2048, 2048, causal=True)
    for ridge in RIDGES:
        assert all(intensity(kernel) < ridge for kernel in slope)
        assert all(intensity(kernel) >= ridge for kernel in flat)


def test_tiles_of_q_proj():
    """A §7: 256 × 3584 in tiles of 128 × 128 is 2 × 28 = 56, and 44 % of 128 SMs."""
    assert (256 % 128, 3584 % 128, (256 // 128) * (3584 // 128)) == (0, 0, 56)
    assert shown(Fraction(56, 128), ".0%") == "44%"


def test_adding_two_vectors():
    """A §8 (a): one FLOP on six bytes, 0.167; 168 GFLOP/s, 0.10 % of the peak."""
    I = Fraction(1, 3 * 2)
    assert shown(I, ".3f") == "0.167"
    assert (shown(I * B / 10**9, ".0f"), shown(I * B / P, ".2%")) == ("168", "0.10%")


def test_twelve_microseconds_are_faster_than_memory():
    """A §8 (b): 12 µs mean 2,142 GB/s, over 1008; the floor is 25.5 µs."""
    moved = linear(1, *Q)[1]
    rate = moved / (12 * Fraction(1, 10**6))
    assert (shown(rate / 10**9, ",.0f"), shown(floor([linear(1, *Q)]) * 10**6, ".1f")) == ("2,142", "25.5")
    assert rate > B


def test_from_an_h100_to_an_h200():
    """A §8 (c): ridges 295.3 and 206.1; M = 1 gains 1.43 times, M = 256 crosses the ridge and gains 1.32."""
    old, new = H100[0] / H100[1], H200[0] / H200[1]
    assert (shown(old, ".1f"), shown(new, ".1f")) == ("295.3", "206.1")
    one, many = intensity(linear(1, *Q)), intensity(linear(256, *Q))
    assert one < new < many < old
    gains = [min(H200[0], I * H200[1]) / min(H100[0], I * H100[1]) for I in (one, many)]
    assert [shown(gain, ".2f") for gain in gains] == ["1.43", "1.32"]
    assert gains[0] == H200[1] / H100[1]


def test_the_sparse_peak_of_an_h100_is_double():
    """A §8 (c) and interview 10: 1979 TFLOP/s assumes sparsity and doubles the ridge."""
    assert Fraction(1979 * 10**12) / H100[0] == pytest.approx(2, rel=1e-3)


# Primer B: prefill and decode


def test_parameters_by_longhand():
    """B §2: 7,070,619,136 parameters take part in a step; 2N is 15.2 GFLOP, or 14.1 without the embedding."""
    assert (PARAMS, READ) == (7_615_616_512, 7_070_619_136)
    assert (shown(Fraction(2 * PARAMS, 10**9), ".1f"), shown(Fraction(2 * READ, 10**9), ".1f")) == ("15.2", "14.1")
    assert (QWEN.params, QWEN.params_read) == (PARAMS, READ)


def test_attention_s_flops_are_not_in_2n():
    """B §2: at S = 8192 a decode step's attention is 3.29 GFLOP more."""
    assert shown(LAYERS * attend(1, 8192)[0] / 10**9, ".2f") == "3.29"


def test_room_for_the_cache():
    """B §3 and §8 (b): 57,344 bytes a token; 24 GiB hold 14.2 GiB of weights, 9.8 GiB remain for 183,778 tokens."""
    left = CARD - 2 * PARAMS
    assert KV_TOKEN == 57_344
    assert (shown(Fraction(2 * PARAMS, 2**30), ".1f"), shown(Fraction(left, 2**30), ".1f")) == ("14.2", "9.8")
    assert (left // KV_TOKEN, shown(Fraction(left, KV_TOKEN), ",.0f")) == (183_778, "183,778")


def test_intensity_of_the_whole_model():
    """B §4, table: prefill and decode by weights and KV, decode with attention's FLOPs."""
    rows = [
        (shown(coarse(S, S), spec), shown(coarse(S, 1), ".2f"), shown(intensity(aggregate(1, S)), ".2f"))
        for S, spec in [(128, ".1f"), (1024, ".0f"), (8192, ".0f")]
    ]
    assert rows == [("127.9", "1.00", "1.00"), ("1020", "1.00", "1.02"), ("7947", "0.97", "1.19")]


def test_decode_at_batch_1_is_memory_bound_at_every_context():
    """B §4: weights and KV never reach 1; counted with its FLOPs, attention adds 7 per byte, so neither passes 7."""
    assert 4 * 28 * 128 * LAYERS == 7 * KV_TOKEN
    assert Fraction(2 * LINEAR, 2 * READ) < 7 < min(RIDGES)
    for S in (1, 100, 10**4, 10**6, 10**9):
        assert coarse(S, 1) < 1
        assert intensity(aggregate(1, S)) < 7


def test_prefill_s_intensity_is_a_little_below_s():
    """B §4: within 3.1 % for the contexts of the table; it crosses 165 at S = 166, so that 128 is left of it."""
    assert all(Fraction(969, 1000) * S < coarse(S, S) < S for S in (128, 1024, 8192))
    assert coarse(165, 165) < 165 <= coarse(166, 166)
    assert coarse(128, 128) < min(RIDGES)


def test_activations_lower_prefill_s_intensity():
    """B §4: 2217 rather than 7947 at S = 8192, and the crossing at 190 rather than 166."""
    assert (shown(intensity(*prefill(8192)), ".0f"), shown(coarse(8192, 8192), ".0f")) == ("2217", "7947")
    assert first(lambda S: intensity(*prefill(S)), 165) == 190
    assert all(intensity(*prefill(S)) > max(RIDGES) for S in (512, 2048, 8192))


def test_two_accountings_of_one_decode():
    """B §5, table: S = 8192, batch 1."""
    flops, attention_flops = Fraction(2 * LINEAR, 10**9), LAYERS * attend(1, 8192)[0] / 10**9
    kv = Fraction(8192 * KV_TOKEN, 10**9)
    assert [shown(Fraction(2 * PARAMS, 10**9), ".2f"), shown(flops, ".2f")] == ["15.23", "14.14"]
    assert [shown(attention_flops, ".2f"), shown(kv, ".2f")] == ["3.29", "0.47"]
    assert attention_flops / kv == 7
    assert shown(Fraction(2 * READ, 10**9), ".2f") == "14.14"
    assert [shown(coarse(8192, 1), ".3f"), shown(intensity(aggregate(1, 8192)), ".3f")] == ["0.970", "1.193"]


def test_the_embedding_hardly_matters_and_attention_is_nearly_all_the_rest():
    """B §5: 0.970 becomes 0.968 without the embedding; attention's FLOPs bring it to 1.193."""
    without = Fraction(2 * READ, 2 * READ + 8192 * KV_TOKEN)
    with_attention = (2 * READ + LAYERS * attend(1, 8192)[0]) / (2 * READ + 8192 * KV_TOKEN)
    assert shown(without, ".3f") == "0.968"
    gap = intensity(aggregate(1, 8192)) - without
    assert (with_attention - without) / gap == pytest.approx(1, abs=0.01)


def test_a_longer_context_raises_the_aggregate_and_the_time():
    """B §5: the sum over operators rises with S, weights and KV falls, and a step takes longer."""
    contexts = [2**power for power in range(0, 18)]
    for short, long in pairwise(contexts):
        assert intensity(aggregate(1, short)) < intensity(aggregate(1, long))
        assert coarse(short, 1) > coarse(long, 1)
        assert floor(decode(1, short)) < floor(decode(1, long))


def test_floor_on_tpot():
    """B §6: 14.2 ms and 71 tokens per second at batch 1, S = 2048; reading the weights once is 99 % of it."""
    step = floor(decode(1, 2048))
    assert (shown(step * 1000, ".1f"), shown(1 / step, ".0f")) == ("14.2", "71")
    assert Fraction(99, 100) < Fraction(2 * READ) / B / step < 1
    assert RTX_4090.time_floor(QWEN.decode_step(1, 2048).values()) == pytest.approx(float(step), rel=1e-12)


@pytest.mark.parametrize("ridge", RIDGES)
def test_every_kernel_at_batch_1_is_memory_bound(ridge):
    """B §8 (c): at S = 2048, so that compute does not show in TPOT."""
    assert all(intensity(kernel) < ridge for kernel in decode(1, 2048))
    assert all(cost.intensity < ridge for cost in QWEN.decode_step(1, 2048).values())


def test_floor_on_ttft():
    """B §6: 2NS/P is 189 ms for S = 2048, the operators' floor 168."""
    assert shown(2 * PARAMS * 2048 / P * 1000, ".0f") == "189"
    assert shown(floor(prefill(2048)) * 1000, ".0f") == "168"


def test_embedding_and_lm_head_save_more_than_causal_attention_adds():
    """B §6: 2 × 152064 × 3584 FLOPs for each token, the last row of lm_head excepted, against attention's."""
    saved = 2 * 3584 * 152064 * 2048 + 2 * 3584 * 152064 * 2047
    assert saved > LAYERS * attend(2048, 2048, causal=True)[0]


def test_batching_by_longhand():
    """B §7, table: S = 512 at batch 1, 8, 32 and 128."""
    rows = []
    for batch in (1, 8, 32, 128):
        step = floor(decode(batch, 512))
        rows.append((
            shown(step * 1000, ".1f"), shown(batch / step, ",.0f"), shown(intensity(linear(batch, *Q)), ".1f"),
            shown(intensity(attend(1, 512)), ".1f"), shown(Fraction(batch * 512 * KV_TOKEN, 2**30), ".2f"),
        ))  # fmt: skip
    assert rows == [
        ("14.1", "71", "1.0", "6.9", "0.03"),
        ("14.3", "559", "8.0", "6.9", "0.22"),
        ("15.1", "2,113", "31.4", "6.9", "0.88"),
        ("18.5", "6,923", "119.5", "6.9", "3.50"),
    ]


def test_a_batch_of_128_is_nearly_free():
    """B §7: a step 1.31 times as long for 97 times the throughput."""
    one, many = floor(decode(1, 512)), floor(decode(128, 512))
    assert (shown(many / one, ".2f"), shown(128 * one / many, ".0f")) == ("1.31", "97")


def test_batching_shares_the_weights_and_not_the_cache():
    """B §7: a sequence more adds less than 0.1 % to the linear layers' bytes; attention's grow in proportion."""
    moved = [sum(kernel[1] for kernel in linears(M)) for M in (8, 9)]
    assert 1 < moved[1] / moved[0] < Fraction(1001, 1000)
    one, many = (QWEN.decode_step(batch, 512)["attention"] for batch in (1, 128))
    assert (many.flops, many.bytes) == (128 * one.flops, 128 * one.bytes)
    assert intensity(attend(1, 512)) < 7


def test_a_chunk_of_prefill_joins_a_decode_batch():
    """B §8 (a): M = 519 has 402 and is compute-bound, M = 8 has 8.0 and is not."""
    mixed, alone = intensity(linear(7 + 512, *Q)), intensity(linear(8, *Q))
    assert (7 + 512, shown(mixed, ".0f"), shown(alone, ".1f")) == (519, "402", "8.0")
    assert alone < min(RIDGES) < max(RIDGES) < mixed


def test_a_step_reads_more_weights_than_any_cache_that_fits():
    """B §8 (b) and interview 8: they are equal at 246,604 tokens, 120 sequences of 2048; 183,778 at most fit."""
    equal = Fraction(2 * READ, KV_TOKEN)
    assert (shown(equal, ",.0f"), shown(equal / 2048, ".0f")) == ("246,604", "120")
    assert equal > (CARD - 2 * PARAMS) // KV_TOKEN


def test_twice_the_compute():
    """B §8 (c): TPOT stays at 14.2 ms, TTFT falls from 168 to 85 ms, about half."""
    assert floor(decode(1, 2048), 2 * P) == floor(decode(1, 2048))
    before, after = floor(prefill(2048)), floor(prefill(2048), 2 * P)
    assert (shown(before * 1000, ".0f"), shown(after * 1000, ".0f")) == ("168", "85")
    assert after / before == pytest.approx(0.5, abs=0.01)


# Interview


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
    assert Fraction(39, 10) < floor([linear(1, *Q)]) / floor([linear(1, *Q, Fraction(1, 2))]) < 4
    assert floor([linear(256, *Q)]) == floor([linear(256, *Q, W4)])
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
        assert floor([wide]) == floor([grouped]) == wide[0] / P


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
    floors = [floor([times(LAYERS, kernel)]) * 1000 for kernel in (naive, fused, masked)]
    assert [shown(ms, ".1f") for ms in floors] == ["27.0", "10.2", "5.1"]


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
    one, four = floor(decode(1, 2048)), floor([*linears(4), times(LAYERS, attend(4, 2048, causal=True))])
    assert (shown(one * 1000, ".2f"), shown(four * 1000, ".2f")) == ("14.15", "14.17")


def test_verification_costs_time_once_linear_layers_are_compute_bound():
    """Interview 7: at batch 256 four tokens each take more than three times as long in the linear layers."""
    assert floor(linears(4 * 256)) > 3 * floor(linears(256))


LOADS = [(1, 2048), (64, 2048), (256, 512)]


def test_what_quantising_saves():
    """Interview 8, table: floors in ms by load, for BF16, W4A16, an FP8 cache, and both."""
    rows = [[shown(floor(decode(*load, b_w, b_kv)) * 1000, ".1f") for load in LOADS]
            for b_w, b_kv in [(2, 2), (W4, 2), (2, 1), (W4, 1)]]  # fmt: skip
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
    base = floor(decode(1, 2048))
    assert shown(base / floor(decode(1, 2048, W4)), ".1f") == "3.1"
    assert 1 < base / floor(decode(1, 2048, 2, 1)) < Fraction(101, 100)


def test_at_batch_64_quantise_the_cache_too():
    """Interview 8: attention is 55 % of a W4A16 step, and of the table's cases FP8 KV gains most there."""
    step = decode(64, 2048, W4)
    assert shown(floor(step[-1:]) / floor(step), ".0%") == "55%"
    gains = {
        (load, b_w): floor(decode(*load, b_w)) / floor(decode(*load, b_w, 1)) for load in LOADS for b_w in (2, W4)
    }
    assert max(gains, key=gains.__getitem__) == ((64, 2048), W4)


def test_at_batch_256_quantised_weights_gain_nothing():
    """Interview 8 and 9: all linear layers but k and v are compute-bound, and those are at the ridge; 100.0 %, 14 %."""
    below = [shape for shape in [*SHAPES, (3584, 152064)] if intensity(linear(256, *shape)) < P / B]
    assert below == [KV, KV]
    base = floor(decode(256, 512))
    assert shown(floor(decode(256, 512, W4)) / base, ".1%") == "100.0%"
    assert shown(base / floor(decode(256, 512, 2, 1)) - 1, ".0%") == "14%"


def test_a_memory_bound_linear_layer_hardly_notices_the_batch():
    """Interview 8: 64 tokens take less than 6 % longer than one, while attention's time goes with batch × S."""
    assert 1 < floor(linears(64)) / floor(linears(1)) < Fraction(106, 100)
    assert floor(decode(64, 2048)[-1:]) == 64 * floor(decode(1, 2048)[-1:])


def test_an_average_past_the_ridge():
    """Interview 9: 169.6 in the aggregate, 22.2 ms, against 29.5 by operators, 33 % more, 7.6 of it attention."""
    whole, step = aggregate(256, 512), decode(256, 512)
    assert shown(intensity(whole), ".1f") == "169.6"
    assert intensity(whole) > max(RIDGES)
    assert [shown(floor(kernels) * 1000, ".1f") for kernels in ([whole], step, step[-1:])] == ["22.2", "29.5", "7.6"]
    assert shown(floor(step) / floor([whole]) - 1, ".0%") == "33%"


def test_a_sum_of_floors_is_at_least_the_floor_of_the_sum():
    """Interview 9: equal only where all kernels are on one side of the ridge."""
    def as_one(kernels: list[Kernel]) -> Fraction:
        return floor([(sum(flops for flops, _ in kernels), sum(moved for _, moved in kernels))])

    assert floor(decode(1, 2048)) == as_one(decode(1, 2048))
    assert floor(decode(256, 512)) > as_one(decode(256, 512))


def test_twice_the_compute_does_not_shorten_decode_attention():
    """Interview 9."""
    part = decode(256, 512)[-1:]
    assert floor(part, 2 * P) == floor(part)


def test_crossings_move_right_on_an_h100():
    """Interview 10, table: 181 to 354, 259 to 867, 174 to 328; prefill attention 374 to 675; k_proj furthest."""
    ridges = P / B, H100[0] / H100[1]
    assert [shown(ridges[1], ".1f"), shown(ridges[1] / ridges[0], ".2f")] == ["295.3", "1.80"]
    rows = [[first(lambda M, shape=shape: intensity(linear(M, *shape)), ridge) for ridge in ridges]
            for shape in (Q, KV, FFN)]  # fmt: skip
    assert rows == [[181, 354], [259, 867], [174, 328]]
    assert max(rows, key=lambda row: row[1] / row[0]) == [259, 867]
    assert [first(lambda S: intensity(attend(S, S, causal=True)), ridge) for ridge in ridges] == [374, 675]
    assert first_compute_bound(lambda M: gemm_intensity(M, *KV), float(ridges[1])) == 867


def test_decode_on_an_h100_is_faster_by_the_bandwidth():
    """Interview 10: 14.15 ms become 4.26, 3.32 times as fast, exactly the bandwidth's ratio; compute is 5.99."""
    here, there = floor(decode(1, 2048)), floor(decode(1, 2048), *H100)
    assert (shown(here * 1000, ".2f"), shown(there * 1000, ".2f")) == ("14.15", "4.26")
    assert here / there == H100[1] / B
    assert (shown(H100[1] / B, ".2f"), shown(H100[0] / P, ".2f")) == ("3.32", "5.99")


def test_the_longhand_and_the_calculator_agree():
    """The kernels above, beside those of roofline_calc."""
    for M, shape in [(1, Q), (256, KV), (519, FFN)]:
        assert (gemm(M, *shape).flops, gemm(M, *shape).bytes) == linear(M, *shape)
    for L, S in [(1, 2048), (26, 2048), (512, 512)]:
        for mask in ("none", "causal"):
            cost = attention(28, 4, 128, L, S, mask=mask, passes=4)
            assert (cost.flops, cost.bytes) == attend(L, S, causal=mask == "causal", passes=4)
