"""Every claim of the primer on prefill and decode, worked out longhand."""

from fractions import Fraction
from itertools import pairwise

import pytest
from longhand import (
    CARD,
    KV_TOKEN,
    LAYERS,
    LINEAR,
    PARAMS,
    READ,
    RIDGES,
    B,
    P,
    Q,
    aggregate,
    attend,
    coarse,
    decode,
    decode_fused,
    first,
    intensity,
    kernel_by_kernel,
    linear,
    linears,
    lower_bound,
    prefill,
    shown,
)

from roofline_calc import QWEN, RTX_4090


def test_parameters_by_longhand():
    """B §2: 7,070,619,136 parameters take part in a step; 2N is 15.2 GFLOP, or 14.1 without the embedding."""
    assert (PARAMS, READ) == (7_615_616_512, 7_070_619_136)
    assert (shown(Fraction(2 * PARAMS, 10**9), ".1f"), shown(Fraction(2 * READ, 10**9), ".1f")) == ("15.2", "14.1")
    assert (QWEN.params, QWEN.params_read()) == (PARAMS, READ)


def test_attention_s_flops_are_not_in_2n():
    """B §2: at S = 8192 a decode step's attention is 3.29 GFLOP more."""
    assert shown(LAYERS * attend(1, 8192)[0] / 10**9, ".2f") == "3.29"


def test_room_for_the_cache():
    """B §3 and §8 (b): 57,344 bytes a token; 23.99 GiB hold 14.2 GiB of weights, 9.8 GiB remain for 183,558 tokens."""
    left = CARD - 2 * PARAMS
    assert KV_TOKEN == 57_344
    assert (shown(Fraction(2 * PARAMS, 2**30), ".1f"), shown(Fraction(left, 2**30), ".1f")) == ("14.2", "9.8")
    assert left // KV_TOKEN == 183_558


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
        assert kernel_by_kernel(decode(1, short)) < kernel_by_kernel(decode(1, long))


def test_tpot_kernel_by_kernel():
    """B §6: 14.2 ms and 71 tokens per second at batch 1, S = 2048; reading the weights once is 99 % of it."""
    step = kernel_by_kernel(decode(1, 2048))
    assert (shown(step * 1000, ".1f"), shown(1 / step, ".0f")) == ("14.2", "71")
    assert Fraction(99, 100) < Fraction(2 * READ) / B / step < 1
    assert RTX_4090.kernel_by_kernel(QWEN.decode_kernels(1, 2048).values()) == pytest.approx(float(step), rel=1e-12)


@pytest.mark.parametrize("ridge", RIDGES)
def test_every_kernel_at_batch_1_is_memory_bound(ridge):
    """B §8 (c): at S = 2048, so that compute does not show in TPOT."""
    assert all(intensity(kernel) < ridge for kernel in decode(1, 2048))
    assert all(cost.intensity < ridge for cost in QWEN.decode_kernels(1, 2048).values())


def test_the_bound_on_tpot_is_practically_the_kernel_by_kernel_time():
    """B §6: at least 14.15 ms at batch 1 and S = 2048, at most 71 tokens per second; a few activations between them."""
    bound = lower_bound(decode(1, 2048), tokens=1, context=2048)
    assert (shown(bound * 1000, ".2f"), shown(1 / bound, ".0f")) == ("14.15", "71")
    assert bound < kernel_by_kernel(decode_fused(1, 2048)) < bound * Fraction(1001, 1000)


def test_ttft():
    """B §6: 2NS/P is 189 ms for S = 2048, the lower bound 167, kernel by kernel 168."""
    assert shown(lower_bound(prefill(2048), tokens=2048, context=2048) * 1000, ".0f") == "167"
    assert shown(2 * PARAMS * 2048 / P * 1000, ".0f") == "189"
    assert shown(kernel_by_kernel(prefill(2048)) * 1000, ".0f") == "168"


def test_embedding_and_lm_head_save_more_than_causal_attention_adds():
    """B §6: 2 × 152064 × 3584 FLOPs for each token, the last row of lm_head excepted, against attention's."""
    saved = 2 * 3584 * 152064 * 2048 + 2 * 3584 * 152064 * 2047
    assert saved > LAYERS * attend(2048, 2048, causal=True)[0]


def test_batching_by_longhand():
    """B §7, table: S = 512 at batch 1, 8, 32 and 128."""
    rows = []
    for batch in (1, 8, 32, 128):
        step = kernel_by_kernel(decode(batch, 512))
        rows.append((
            shown(step * 1000, ".1f"), shown(batch / step, ",.0f"), shown(intensity(linear(batch, *Q)), ".1f"),
            shown(intensity(attend(1, 512)), ".1f"), shown(Fraction(batch * 512 * KV_TOKEN, 2**30), ".2f"),
        ))
    assert rows == [
        ("14.1", "71", "1.0", "6.9", "0.03"),
        ("14.3", "559", "8.0", "6.9", "0.22"),
        ("15.1", "2,113", "31.4", "6.9", "0.88"),
        ("18.5", "6,923", "119.5", "6.9", "3.50"),
    ]


def test_a_batch_of_128_is_nearly_free():
    """B §7: a step 1.31 times as long for 97 times the throughput."""
    one, many = kernel_by_kernel(decode(1, 512)), kernel_by_kernel(decode(128, 512))
    assert (shown(many / one, ".2f"), shown(128 * one / many, ".0f")) == ("1.31", "97")


def test_batching_shares_the_weights_and_not_the_cache():
    """B §7: a sequence more adds less than 0.1 % to the linear layers' bytes; attention's grow in proportion."""
    moved = [sum(kernel[1] for kernel in linears(M)) for M in (8, 9)]
    assert 1 < moved[1] / moved[0] < Fraction(1001, 1000)
    one, many = (QWEN.decode_kernels(batch, 512)["attention"] for batch in (1, 128))
    assert (many.flops, many.bytes) == (128 * one.flops, 128 * one.bytes)
    assert intensity(attend(1, 512)) < 7


def test_a_chunk_of_prefill_joins_a_decode_batch():
    """B §8 (a): M = 519 has 402 and is compute-bound, M = 8 has 8.0 and is not."""
    mixed, alone = intensity(linear(7 + 512, *Q)), intensity(linear(8, *Q))
    assert (7 + 512, shown(mixed, ".0f"), shown(alone, ".1f")) == (519, "402", "8.0")
    assert alone < min(RIDGES) < max(RIDGES) < mixed


def test_a_step_reads_more_weights_than_any_cache_that_fits():
    """B §8 (b) and interview 8: they are equal at 246,604 tokens, 120 sequences of 2048; 183,558 at most fit."""
    equal = Fraction(2 * READ, KV_TOKEN)
    assert (shown(equal, ",.0f"), shown(equal / 2048, ".0f")) == ("246,604", "120")
    assert equal > (CARD - 2 * PARAMS) // KV_TOKEN


def test_twice_the_compute():
    """B §8 (c): TPOT stays at 14.2 ms, TTFT falls from 168 to 85 ms, about half."""
    assert kernel_by_kernel(decode(1, 2048), 2 * P) == kernel_by_kernel(decode(1, 2048))
    before, after = kernel_by_kernel(prefill(2048)), kernel_by_kernel(prefill(2048), 2 * P)
    assert (shown(before * 1000, ".0f"), shown(after * 1000, ".0f")) == ("168", "85")
    assert after / before == pytest.approx(0.5, abs=0.01)
