"""Latent attention in both forms: DeepSeek-V3's sizes worked out longhand, and which form is the cheaper."""

import pytest
from small_models import mla, small

from roofline_calc import MODELS, gemm, mla_attention, mla_expanded_attention

V3 = MODELS["deepseek-v3"]
HEADS, LAYERS = 128, 61
ABSORBED, EXPANDED = 2 * HEADS * (2 * 512 + 64), 2 * HEADS * (128 + 64 + 128)  # FLOPs of a pair of tokens
KV_B = 2 * 512 * HEADS * (128 + 128)  # FLOPs of a row of kv_b_proj


def test_flops_per_pair():
    assert (ABSORBED, EXPANDED) == (278_528, 81_920)  # as V3's report and the engines count them
    assert mla_attention(HEADS, 512, 64, 3, 10).flops == 30 * ABSORBED
    assert mla_expanded_attention(HEADS, 128, 64, 128, 3, 10).flops == 30 * EXPANDED
    assert mla_expanded_attention(HEADS, 128, 64, 128, 10, 10, mask="causal").flops == 55 * EXPANDED


def test_traffic_of_the_expanded_form():
    """K and V a head, made from the latent; the rotary part once for all heads, from the cache."""
    moved = mla_expanded_attention(6, 29, 4, 31, 3, 10, b_q=2, b_kv=1).traffic
    assert moved == {
        "K": 10 * (6 * 29 * 2 + 4 * 1), "V": 10 * 6 * 31 * 2, "Q": 3 * 6 * (29 + 4) * 2, "O": 3 * 6 * 31 * 2,
    }
    assert set(mla_expanded_attention(6, 29, 4, 31, 3, 10, traffic="kv-only").traffic) == {"K", "V"}


def test_prefill_is_expanded_and_decode_absorbed():
    prefill, decode = V3.step([(4096, 4096)]), V3.step({(1, 4096): 64})
    pairs = 4096 * 4097 // 2
    assert prefill["expanded_attention"].flops == LAYERS * pairs * EXPANDED
    assert prefill["kv_b_proj"].flops == LAYERS * 4096 * KV_B
    assert decode["absorbed_attention"].flops == LAYERS * 64 * 4096 * ABSORBED
    assert decode["k_absorb"].flops + decode["v_absorb"].flops == LAYERS * 64 * KV_B
    assert {"k_absorb", "absorbed_attention"}.isdisjoint(prefill)
    assert {"kv_b_proj", "expanded_attention"}.isdisjoint(decode)


def test_a_step_that_mixes_both_runs_each_in_its_form():
    mixed = V3.step({(1, 4096): 64, (2048, 2048): 1})
    assert mixed["absorbed_attention"] == V3.step({(1, 4096): 64})["absorbed_attention"]
    assert mixed["expanded_attention"] == V3.step({(2048, 2048): 1})["expanded_attention"]
    assert mixed["kv_b_proj"] == gemm(2048, 512, HEADS * 256, 1, 1.000244140625) * LAYERS
    assert mixed["q_a_proj"].flops == 2 * (64 + 2048) * 7168 * 1536 * LAYERS


def test_the_form_turns_where_the_flops_do():
    """Absorbed: L KV_B + L S ABSORBED; expanded: S KV_B + L S EXPANDED (no mask): equal at L = S KV_B / (KV_B + …)."""
    S = 8192
    turns = S * KV_B / (KV_B + S * (ABSORBED - EXPANDED))
    for L, form in [(int(turns), "absorbed_attention"), (int(turns) + 1, "expanded_attention")]:
        assert form in V3.attention_costs([(L, S)], mask="none")


@pytest.mark.parametrize("q_rank", [19, None])
def test_both_forms_have_the_same_weights(q_rank):
    step = mla(q_rank).step([(3, 9)], mla="absorbed"), mla(q_rank).step([(3, 9)], mla="expanded")
    weights = [sum(cost.traffic.get("W", 0) for cost in one.values()) for one in step]
    assert weights[0] == weights[1]
    assert step[0].compulsory == step[1].compulsory
    assert step[0].compulsory["weights"] == 2 * (mla(q_rank).params - 11 * 17)


def test_halves_of_kv_b_proj_are_stored_as_it_is():
    step = V3.step({(1, 4096): 1})
    assert step["k_absorb"].traffic["W"] == LAYERS * HEADS * 128 * 512 * 1.000244140625
    assert step.multiplies["k_absorb"] == "fp8"


def test_forms_are_refused_where_there_are_none():
    with pytest.raises(ValueError, match=r"^mla = 'absorb': must be 'absorbed' or 'expanded'$"):
        V3.step([(1, 1)], mla="absorb")
    with pytest.raises(ValueError, match=r"^mla = 'absorbed': small has no latent attention$"):
        small().step([(1, 1)], mla="absorbed")


def test_the_expanded_form_takes_two_bytes_unless_told_otherwise():
    sizes = 6, 29, 4, 31, 3, 10
    assert mla_expanded_attention(*sizes) == mla_expanded_attention(*sizes, b_q=2, b_kv=2)
    assert mla_expanded_attention(*sizes, traffic="kv-only") == mla_expanded_attention(
        *sizes, b_q=2, b_kv=2, traffic="kv-only")


def test_the_bound_counts_every_sequence_in_its_cheaper_form():
    """Sixty-four sequences choose sixty-four times what one does; decode in a step with a prompt keeps its own form."""
    one, many = V3.step({(1, 4096): 1}), V3.step({(1, 4096): 64})
    assert [{name: 64 * flops for name, flops in way.items()} for way in one.choices[0]] == many.choices[0]
    mixed = V3.step({(1, 4096): 64, (2048, 2048): 1})
    assert mixed.choices == [*many.choices, *V3.step({(2048, 2048): 1}).choices]
    cheapest = sum(min(sum(way.values()) for way in ways) for ways in mixed.choices)
    kernels = ("k_absorb", "v_absorb", "absorbed_attention", "kv_b_proj", "expanded_attention")
    assert cheapest == sum(mixed[name].flops for name in kernels)
