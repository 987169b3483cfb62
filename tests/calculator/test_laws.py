"""Laws that hold for any shapes: scaling, limits, orderings, conservation."""

import dataclasses
import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from roofline_calc import (
    ACCELERATORS,
    MODELS,
    QWEN,
    RTX_4090,
    Accelerator,
    Cost,
    MoE,
    Precision,
    Stored,
    analyse,
    attention,
    chunked_attention,
    experts_touched,
    gemm,
    gemm_crossing,
    gemm_intensity,
    gemm_limit,
    grouped_gemm,
    mla_attention,
    regime,
    shared_prefix_attention,
    window_attention,
)

law = settings(deadline=None, max_examples=60)
size = st.integers(1, 10**6)
few = st.integers(1, 64)
widths = st.sampled_from([
    Precision(), Precision(weights=0.5, kv=1), Precision(activations=1, modules={"layers": Stored(1, "fp8")}),
    Precision(modules={"experts": Stored(0.53125), "o_proj": Stored(1.03125)}, attention="fp8"),
])
width = st.sampled_from([Fraction(1, 2), Fraction(33, 64), Fraction(1), Fraction(2), Fraction(4)])  # no rounding
heads = st.tuples(few, few, few).map(lambda found: (found[0] * found[1], found[1], found[2]))  # n_q, n_kv, head_dim
lengths = st.tuples(st.integers(1, 5000), st.integers(0, 5000)).map(lambda found: (found[0], sum(found)))  # L <= S


@law
@given(size, size, size, width, width, width, st.integers(2, 9))
def test_gemm_scales_as_the_algebra_says(M, K, N, b_x, b_w, b_y, n):
    one, more = gemm(M, K, N, b_x, b_w, b_y), gemm(n * M, K, N, b_x, b_w, b_y)
    assert more.flops == n * one.flops
    assert more.traffic == {"X": n * one.traffic["X"], "W": one.traffic["W"], "Y": n * one.traffic["Y"]}
    assert gemm(M, n * K, N).flops == gemm(M, K, n * N).flops == n * gemm(M, K, N).flops
    assert gemm(M, K, N, n * b_x, n * b_w, n * b_y).intensity == one.intensity / n


@law
@given(size, size, size, width)
def test_gemm_intensity_stays_below_its_limits_and_grows_with_the_batch(M, K, N, b):
    I = gemm_intensity(M, K, N, b)
    assert gemm_limit(K, N, b, b) > I
    assert 2 * M / b > I
    assert gemm_intensity(M + 1, K, N, b) > I
    assert 2 / (b * (Fraction(1, M) + Fraction(1, K) + Fraction(1, N))) == I


@law
@given(size, size, st.fractions(1, 500), width, width, width)
def test_at_the_crossing_intensity_meets_the_ridge(K, N, ridge, b_x, b_w, b_y):
    M = gemm_crossing(K, N, ridge, b_x, b_w, b_y)
    if M is None:
        assert gemm_limit(K, N, b_x, b_y) <= ridge
    else:
        assert ridge * (b_x * M * K + b_w * K * N + b_y * M * N) == 2 * M * K * N


@law
@given(heads, lengths, width, width)
def test_masks_and_windows_only_take_pairs_away(shape, tokens, b_q, b_kv):
    L, S = tokens
    full = attention(*shape, L, S, b_q=b_q, b_kv=b_kv)
    causal = attention(*shape, L, S, b_q=b_q, b_kv=b_kv, mask="causal")
    assert causal.flops <= full.flops < 2 * causal.flops + (L == S) * full.flops
    assert causal.traffic == full.traffic
    assert attention(*shape, L, S, b_q=b_q, b_kv=b_kv, traffic="kv-only").intensity > full.intensity
    assert attention(*shape, L, S, b_q=b_q, b_kv=b_kv, passes=4).intensity < full.intensity


@law
@given(heads, lengths, st.integers(1, 6000))
def test_a_window_keeps_what_lies_within_it(shape, tokens, window):
    L, S = tokens
    causal, slid = attention(*shape, L, S, mask="causal"), window_attention(*shape, L, S, window)
    assert slid.flops <= causal.flops
    assert slid.bytes <= causal.bytes
    assert (slid == causal) == (window >= S)
    assert slid.flops == 4 * shape[0] * shape[2] * sum(min(p, window) for p in range(S - L + 1, S + 1))


@law
@given(heads, lengths, st.integers(1, 6000))
def test_a_chunk_keeps_what_lies_within_it(shape, tokens, chunk):
    L, S = tokens
    causal, own = attention(*shape, L, S, mask="causal"), chunked_attention(*shape, L, S, chunk)
    assert own.flops == 4 * shape[0] * shape[2] * sum(p % chunk + 1 for p in range(S - L, S))
    assert own.traffic["K"] == 2 * shape[1] * shape[2] * (S - (S - L) // chunk * chunk)
    assert own.bytes <= causal.bytes
    assert own.flops <= window_attention(*shape, L, S, chunk).flops


@law
@given(heads, st.lists(st.integers(1, 500), min_size=1, max_size=6), st.integers(1, 1500))
def test_chunks_of_a_prefill_do_its_work(shape, chunks, window):
    ends = [sum(chunks[: i + 1]) for i in range(len(chunks))]
    work = sum(attention(*shape, L, S, mask="causal").flops for L, S in zip(chunks, ends, strict=True))
    assert work == attention(*shape, ends[-1], ends[-1], mask="causal").flops
    work = sum(window_attention(*shape, L, S, window).flops for L, S in zip(chunks, ends, strict=True))
    assert work == window_attention(*shape, ends[-1], ends[-1], window).flops
    work = sum(chunked_attention(*shape, L, S, window).flops for L, S in zip(chunks, ends, strict=True))
    assert work == chunked_attention(*shape, ends[-1], ends[-1], window).flops


@law
@given(few, few, lengths)
def test_as_many_kv_heads_as_query_heads_is_multi_head_attention(n, head_dim, tokens):
    L, S = tokens
    assert attention(n, n, head_dim, L, S) == attention(1, 1, head_dim, L, S) * n
    assert attention(n, n, head_dim, 1, S, traffic="kv-only").intensity == 1


@law
@given(heads, st.integers(1, 10**5), width)
def test_decode_intensity_is_the_gqa_ratio_whatever_the_context(shape, S, b):
    n_q, n_kv, _ = shape
    assert attention(*shape, 1, S, b_kv=b, traffic="kv-only").intensity == Fraction(2, 1) / b * Fraction(n_q, n_kv)


@law
@given(heads, few, st.integers(1, 3000), lengths)
def test_sharing_a_prefix_saves_bytes_not_flops(shape, batch, prefix, tokens):
    L, own = tokens
    shared = shared_prefix_attention(*shape, batch, prefix, own, L)
    alone = attention(*shape, L, prefix + own, mask="causal") * batch
    assert shared.flops == alone.flops
    assert alone.bytes - shared.bytes == (batch - 1) * 2 * shape[1] * prefix * shape[2] * 2


@law
@given(few, few, few, lengths)
def test_latent_attention_below_its_limit(n_q, d_c, d_rope, tokens):
    L, S = tokens
    cost = mla_attention(n_q, d_c, d_rope, L, S, b_kv=Fraction(2), b_q=Fraction(2))
    assert cost.intensity < Fraction(2 * n_q * L * (2 * d_c + d_rope), 2 * (d_c + d_rope))
    assert mla_attention(n_q, d_c, d_rope, L, S, mask="causal").flops <= cost.flops


@law
@given(st.integers(1, 256), st.integers(1, 256), st.integers(1, 4096))
def test_experts_touched_lie_between_those_of_one_token_and_all(experts, top_k, T):
    assume(top_k <= experts)
    touched = experts_touched(experts, top_k, T)
    assert top_k * (1 - 1e-12) <= touched <= min(experts, top_k * T) * (1 + 1e-12)
    assert touched <= experts_touched(experts, top_k, T + 1)


@law
@given(size, st.integers(1, 64), size, size)
def test_groups_only_add_weights(rows, groups, K, N):
    grouped, one = grouped_gemm(rows, groups, K, N), gemm(rows, K, N)
    assert grouped.flops == one.flops
    assert grouped.bytes - one.bytes == (groups - 1) * one.traffic["W"]


models = st.sampled_from(sorted(MODELS)).map(MODELS.__getitem__)


@law
@given(models, st.integers(1, 512), st.integers(1, 10**5))
def test_fusing_does_the_same_work_with_less_traffic(model, batch, context):
    apart, fused = (
        sum(model.decode_kernels(batch, context, fused=fused).values(), start=Cost(0, {})) for fused in (False, True)
    )
    assert fused.flops == apart.flops
    assert fused.bytes < apart.bytes
    assert fused.intensity > apart.intensity


# On every card as they are.
WHOLE = (
    "router", "shared_expert_gate", "q_a_proj", "kv_a_proj", "index_k_proj", "latent_down_proj", "latent_up_proj",
)


@law
@given(models, st.integers(1, 64), st.integers(1, 10**4))
def test_a_split_by_t_conserves_flops(model, batch, context):
    whole = model.decode_kernels(batch, context)
    for t in model.valid_tp:
        if t > min((kind.n_kv for kind in model.heads), default=1) or model.vocab % t:
            continue  # there KV heads are replicated, or the vocabulary padded
        share = model.card(t).decode_kernels(batch, context)
        for name, cost in whole.items():
            if name in ("mamba_in_proj", "mamba2_scan") and model.mixer.groups == 1:
                continue  # B and C of a single group are on every card
            copies = 1 if name in WHOLE else t
            assert share[name].flops * copies == cost.flops


@law
@given(models, st.integers(1, 512), st.integers(1, 10**5), st.integers(1, 10**4), st.booleans(), widths)
def test_lower_bound_kernel_by_kernel_no_overlap_in_this_order(model, batch, context, L, fused, precision):
    step = model.step({(min(L, context), context): batch}, fused=fused, precision=precision)
    for card in (RTX_4090, ACCELERATORS["h200"], ACCELERATORS["m1-max"]):
        dtype = "bf16" if "bf16" in card.peak else "fp16"
        report = analyse(step, card, dtype)
        times = report.lower_bound, report.kernel_by_kernel, report.no_overlap, 2 * report.kernel_by_kernel
        assert all(0 < less <= more * (1 + 1e-12) for less, more in itertools.pairwise(times))


@law
@given(models, st.integers(1, 512), st.integers(1, 10**5), st.integers(2, 5))
def test_streams_of_their_own_leave_attentions_intensity_alone(model, batch, context, n):
    one, more = (model.attention_costs({(1, context): k}) for k in (batch, n * batch))
    for name, cost in one.items():
        if not name.endswith("attention"):
            continue  # what MLA multiplies by kv_b_proj shares its weights among the streams
        assert more[name].flops == n * cost.flops
        assert more[name].intensity == pytest.approx(cost.intensity, rel=1e-12)


@law
@given(models, st.lists(st.integers(1, 10**5), min_size=1, max_size=8))
def test_the_cache_grows_with_the_context_and_with_each_sequence(model, contexts):
    total = model.kv_bytes(contexts)
    assert total == sum(model.kv_bytes([context]) for context in contexts)
    assert total <= sum(contexts) * model.kv_bytes_per_token
    assert total <= model.kv_bytes([context + 1 for context in contexts])


@law
@given(models, st.integers(1, 10**4))
def test_more_tokens_touch_more_weights_up_to_all(model, tokens):
    assert model.params_read(tokens) <= model.params_read(tokens + 1) <= model.params_read() <= model.params
    assert model.weight_bytes_read(tokens) <= model.weight_bytes_read() <= model.weight_bytes()


@law
@given(st.floats(1e9, 1e15), st.floats(1e9, 1e13), st.floats(1e-3, 1e5))
def test_the_regime_says_which_roof_is_lower(peak, bandwidth, I):
    card = Accelerator(name="any", bandwidth=bandwidth, memory=1, peak={"bf16": peak}, source="made up")
    compute_bound = regime(I, card.ridge()) == "compute-bound"
    assert math.isclose(card.attainable(I), peak if compute_bound else I * bandwidth)


@law
@given(few, few, st.sampled_from([Precision(), Precision(weights=0.5, kv=1)]))
def test_an_expert_of_one_is_a_dense_layer(tokens, layers, precision):
    dense = dataclasses.replace(QWEN, layers=layers)
    one = dataclasses.replace(dense, moe=MoE(experts=1, top_k=1, intermediate=QWEN.intermediate))
    a, b = dense.linear_costs(tokens, precision=precision), one.linear_costs(tokens, precision=precision)
    assert all(b[f"expert_{name}"] == a[name] for name in ("gate_proj", "up_proj", "down_proj"))
    assert one.params - dense.params == layers * QWEN.hidden  # the router
