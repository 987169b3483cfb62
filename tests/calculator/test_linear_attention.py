"""Layers with a state in attention's place, and sparse attention: counted token by token, and pair by pair."""

import dataclasses
import itertools
import re

import pytest
from small_models import ATTENTION, small

from roofline_calc import (
    MLA,
    MODELS,
    DeltaNet,
    Indexer,
    Mamba2,
    MoE,
    Precision,
    chunked_attention,
    gated_delta_rule,
    gemm,
    index_scores,
    mamba2_scan,
    mla_attention,
    relu2,
    rms_norm,
    rope,
    short_convolution,
    swiglu,
)
from roofline_calc.partial_attention import picked_pairs

FFN = 3 * 11 * 13
MODEL = 11 + 2 * 11 * 17  # final norm, embedding and lm_head


def delta(**changed) -> DeltaNet:
    fields = {"layers": 3, "key_heads": 2, "value_heads": 4, "key_dim": 5, "value_dim": 6, "taps": 4, "state_width": 4}
    return DeltaNet(**(fields | changed))


def mamba(**changed) -> Mamba2:
    fields = {"layers": 3, "heads": 6, "head_dim": 4, "groups": 2, "state_dim": 9, "taps": 4, "state_width": 4}
    return Mamba2(**(fields | changed))


def products(*shapes: tuple[int, int, int]) -> int:
    """FLOPs of products of matrices, multiplication by multiplication."""
    return sum(2 for rows, inner, columns in shapes for _ in itertools.product(*map(range, (rows, inner, columns))))


@pytest.mark.parametrize("L", [1, 2, 9])
def test_the_delta_rule_token_by_token(L):
    """Each token: the state's answer to its key, the outer product written back, the answer to its query."""
    each = products((1, 5, 6), (5, 1, 6), (1, 5, 6))
    cost = gated_delta_rule(2, 4, 5, 6, L, 100, b=2, b_state=4)
    assert cost.flops == 4 * L * each
    assert cost.traffic == {
        "state read": 4 * 5 * 6 * 4, "state written": 4 * 5 * 6 * 4, "X and Y": L * (2 * 2 * 5 + 4 * 6 + 4 * 6) * 2,
    }


@pytest.mark.parametrize("L", [1, 2, 9])
def test_the_state_space_token_by_token(L):
    each = products((4, 1, 9), (4, 9, 1))
    cost = mamba2_scan(6, 4, 3, 9, L, 100, b=2, b_state=4)
    assert cost.flops == 6 * L * each
    assert cost.traffic == {
        "state read": 6 * 4 * 9 * 4, "state written": 6 * 4 * 9 * 4, "X and Y": L * (6 * 4 + 2 * 3 * 9 + 6 * 4) * 2,
    }


def test_a_sequence_that_begins_has_no_state_to_read_and_may_go_pair_by_pair():
    """Of a first token only k, q and v meet: no more than the state that it writes, and what it says of itself."""
    one = gated_delta_rule(2, 4, 5, 6, 1, 1)
    assert "state read" not in one.traffic
    assert one.flops == 4 * products((5, 1, 6), (1, 1, 6)) + 2 * products((1, 5, 1))
    three = gated_delta_rule(2, 4, 50, 60, 3, 3)  # of the three pairs of keys and six of query and key
    each_pair = 2 * products((1, 50, 1)) + 4 * products((1, 1, 60))
    assert three.flops == 3 * 4 * products((50, 1, 60)) + (3 + 6) * each_pair
    assert mamba2_scan(6, 4, 3, 9, 1, 1).flops == 6 * products((4, 1, 9)) + products((3, 9, 1), (6, 1, 4))
    long = gated_delta_rule(2, 4, 5, 6, 500, 500)
    assert long.flops == gated_delta_rule(2, 4, 5, 6, 500, 501).flops
    costs = [gated_delta_rule(2, 4, 5, 6, L, L).flops for L in range(1, 40)]
    assert costs == sorted(costs)


def test_widths_unless_they_are_given():
    """Two bytes per element, four of the state, 132 of an index key."""
    assert gated_delta_rule(1, 1, 1, 1, 1, 2).traffic == {"state read": 4, "state written": 4, "X and Y": 8}
    assert mamba2_scan(1, 1, 1, 1, 1, 2).traffic == {"state read": 4, "state written": 4, "X and Y": 8}
    assert index_scores(1, 1, 1, 2, 1).traffic == {"keys": 264, "Q": 4}
    assert chunked_attention(1, 1, 1, 1, 1, 1).traffic == {"K": 2, "V": 2, "Q": 2, "O": 2}
    assert short_convolution(1, 1, 1).bytes == relu2(1, 1).bytes + 2 == 6
    assert relu2(3, 5, b=1).flops == 2 * 15


def test_the_short_convolution():
    cost = short_convolution(7, 10, 4, b=2)
    assert (cost.flops, cost.bytes) == (2 * 7 * 10 * 4, 2 * (7 * 10 + 10 * 4 + 7 * 10))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gated_delta_rule(0, 4, 5, 6, 1, 1), "n_k = 0: must be a positive whole number"),
        (lambda: gated_delta_rule(3, 4, 5, 6, 1, 1), "n_v = 4: must be a multiple of n_k (3)"),
        (lambda: gated_delta_rule(2, 4, 5, 6, 2, 1),
         "L = 2: the query tokens are among the S = 1 tokens of context, so at most 1"),
        (lambda: gated_delta_rule(2, 4, 5, 6, 1, 1, b_state=0), "b_state = 0: must be positive and finite"),
        (lambda: mamba2_scan(6, 4, 4, 9, 1, 1), "heads = 6: must be a multiple of groups (4)"),
        (lambda: mamba2_scan(6, 4, 2, 0, 1, 1), "state = 0: must be a positive whole number"),
        (lambda: mamba2_scan(6, 4, 2, 9, 0, 1), "L = 0: must be a positive whole number"),
        (lambda: mamba2_scan(6, 4, 2, 9, 1, 1, b=0), "b = 0: must be positive and finite"),
        (lambda: short_convolution(1, 1, 0), "taps = 0: must be a positive whole number"),
        (lambda: short_convolution(1, 1, 1, b=0), "b = 0: must be positive and finite"),
        (lambda: delta(layers=0), "layers = 0: must be a positive whole number"),
        (lambda: delta(value_heads=3), "n_v = 3: must be a multiple of n_k (2)"),
        (lambda: delta(state_width=0), "state_width = 0: must be positive and finite"),
        (lambda: mamba(taps=0), "taps = 0: must be a positive whole number"),
        (lambda: mamba(state_width=-1), "state_width = -1: must be positive and finite"),
        (lambda: small(mixer=delta(layers=6)), "mixer.layers = 6: must be at most layers (5)"),
        (lambda: small(mixer=delta(), window=8, window_layers=3),
         "layers = 5: too few for the windows, mixers and feed-forward networks"),
        (lambda: small(mixer=delta(), ffn_layers=3),
         "layers = 5: too few for the windows, mixers and feed-forward networks"),
        (lambda: small(ffn_layers=0), "ffn_layers = 0: must be a positive whole number"),
        (lambda: small(mixer=delta()).card(2), "t = 2: must divide n_kv (3), or be a multiple of it so that KV heads "
         "are replicated"),
        (lambda: small(mixer=delta(), intermediate=12).card(3), "t = 3: must divide the key heads of the layers with a "
         "state (2)"),
        (lambda: small(mixer=mamba(), intermediate=12).card(3), "t = 3: must divide the groups of the layers with a "
         "state (2)"),
        (lambda: small(mixer=delta()).state_bytes(0), "sequences = 0: must be a positive whole number"),
        (lambda: small().cache_bytes([]), "sequences = 0: must be a positive whole number"),
        (lambda: Indexer(heads=0, dim=1, top_k=1, key_bytes=1), "heads = 0: must be a positive whole number"),
        (lambda: Indexer(heads=1, dim=1, top_k=1, key_bytes=0), "key_bytes = 0: must be positive and finite"),
        (lambda: small(index=Indexer(heads=1, dim=1, top_k=1, key_bytes=1)),
         "index: needs latent attention with a compressed query (mla.q_rank)"),
        (lambda: index_scores(1, 1, 2, 1, 1),
         "L = 2: under a causal mask the queries are among the S = 1 cached tokens, so at most 1"),
        (lambda: index_scores(1, 1, 1, 1, 0), "top_k = 0: must be a positive whole number"),
        (lambda: index_scores(1, 1, 1, 1, 1, key_bytes=0), "key_bytes = 0: must be positive and finite"),
        (lambda: MoE(experts=8, top_k=2, intermediate=3, latent=0), "latent = 0: must be a positive whole number"),
    ],
)
def test_what_makes_no_layer_is_refused(call, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        call()


DELTA_LAYER = 11 * (44 + 24 + 4 + 4) + 44 * 4 + 4 + 4 + 6 + 24 * 11  # q, k, v; z; beta; decay; convolution; out
MAMBA_LAYER = 11 * (24 + 60 + 6) + 60 * 5 + 3 * 6 + 24 + 24 * 11  # gate; x, B and C; steps; convolution with bias; out


def test_parameters_of_layers_with_a_state():
    hybrid = small(mixer=delta(), output_gate=True, qk_norm=True)
    attention = ATTENTION + 11 * 42 + 2 * 7
    assert hybrid.params == 2 * attention + 3 * DELTA_LAYER + 5 * (FFN + 2 * 11) + MODEL
    plain = small(mixer=mamba())
    assert plain.params == 2 * ATTENTION + 3 * MAMBA_LAYER + 5 * (FFN + 2 * 11) + MODEL
    assert plain.params - small(mixer=mamba(conv_bias=False)).params == 3 * 60
    alone = small(mixer=mamba(layers=2), ffn_layers=2, norms_per_layer=1, gated_ffn=False)
    assert alone.params == 1 * ATTENTION + 2 * MAMBA_LAYER + 2 * (2 * 11 * 13) + 5 * 11 + MODEL
    assert small(mixer=delta(layers=5)).params == 5 * (DELTA_LAYER + FFN + 22) + MODEL
    assert dataclasses.replace(hybrid, qkv_bias=True).params - hybrid.params == 2 * (2 * 42 + 21 + 21)
    assert dataclasses.replace(alone, mlp_bias=True).params - alone.params == 2 * (13 + 11)


def test_parameters_of_experts_between_narrower_layers():
    latent = small(moe=MoE(experts=8, top_k=2, intermediate=3, latent=6), gated_ffn=False)
    assert latent.params == 5 * (ATTENTION + 11 * 8 + 2 * 11 * 6 + 8 * 2 * 6 * 3 + 22) + MODEL
    assert latent.projections()["expert_up_proj"] == (6, 3)
    assert latent.projections(fused=True)["expert_up_proj"] == (6, 3)


def test_operators_of_a_hybrid():
    model = small(mixer=delta(), output_gate=True)
    step = model.step({(1, 50): 4})
    assert step["q_proj"] == gemm(4, 11, 84) * 2
    assert step["linear_qkv_proj"] == gemm(4, 11, 44) * 3
    assert step["delta_rule"] == gated_delta_rule(2, 4, 5, 6, 1, 50) * (4 * 3)
    assert model.projections(fused=True)["linear_in_proj"] == (11, 44 + 24 + 4 + 4)
    scan = small(mixer=mamba(state_width=None)).step({(3, 50): 4}, precision=Precision(others=1))["mamba2_scan"]
    assert scan == mamba2_scan(6, 4, 2, 9, 3, 50, b=1, b_state=1) * (4 * 3)
    assert "attention" not in small(mixer=mamba(layers=5)).step([(1, 9)])


def test_elementwise_operators_of_a_hybrid():
    costs = small(mixer=delta(), output_gate=True).elementwise_costs(4)
    assert costs["convolution"] == short_convolution(4, 44, 4) * 3
    assert costs["norms"] == rms_norm(4, 11) * 11 + rms_norm(4 * 4, 6) * 3
    assert costs["swiglu"] == swiglu(4, 13) * 5 + swiglu(4, 42) * 2 + swiglu(4, 24) * 3
    alone = small(mixer=mamba(layers=2), ffn_layers=2, norms_per_layer=1, gated_ffn=False, nope_layers=1)
    costs = alone.elementwise_costs(4)
    assert "rope" not in costs
    assert costs["activations"].flops == 2 * 2 * 4 * 13 + 2 * 4 * 4 * 24
    assert costs["residual"].flops == 5 * 4 * 11


def test_what_a_hybrid_keeps_and_moves():
    model = small(mixer=delta())
    state = 3 * (4 * 5 * 6 * 4 + 44 * 3 * 2)
    assert model.state_bytes(7) == 7 * state
    assert model.kv_bytes_per_token == 2 * (2 * 3 * 7) * 2
    moved = model.step({(1, 50): 4, (9, 9): 2}).compulsory
    assert moved["state read"] == 4 * state  # two sequences begin
    assert moved["state written"] == 6 * state
    assert moved["KV read"] == model.kv_bytes_per_token * 4 * 49
    assert "state read" not in small().step([(1, 50)]).compulsory
    whole = model.decode_weights_and_kv(4, 50)
    assert whole.traffic["KV"] == 4 * 50 * model.kv_bytes_per_token + 2 * 4 * state


def test_one_of_several_cards_has_its_share_of_a_hybrid():
    card = small(mixer=delta(), n_kv=6, intermediate=12).card(2).mixer
    assert (card.key_heads, card.value_heads, card.layers) == (1, 2, 3)
    card = small(mixer=mamba(heads=6), n_kv=6, intermediate=12).card(2).mixer
    assert (card.heads, card.groups) == (3, 1)
    single = small(mixer=mamba(groups=1), n_kv=6, intermediate=12).card(6).mixer
    assert (single.heads, single.groups) == (1, 1)


def sparse(top_k: int = 8):
    index = Indexer(heads=2, dim=3, top_k=top_k, key_bytes=7)
    return small(n_kv=6, mla=MLA(kv_rank=23, nope=29, rope=4, v=31, q_rank=19), index=index)


SIZES = [(L, S, k) for S in (1, 2, 7, 8, 9, 20) for L in (1, 2, 7, 8, 20) if S >= L for k in (1, 7, 8, 9, 30)]


@pytest.mark.parametrize(("L", "S", "top_k"), SIZES)
def test_an_index_pair_by_pair(L, S, top_k):
    before = range(S - L + 1, S + 1)  # tokens up to each query, itself included
    assert picked_pairs(L, S, top_k) == sum(min(seen, top_k) for seen in before)
    scored = [seen for seen in before if seen > top_k]
    cost = index_scores(5, 3, L, S, top_k, b_q=2, key_bytes=7)
    assert cost.flops == sum(scored) * (2 * 5 * 3 + 2 * 5)
    assert cost.traffic == {"keys": S * 7 if scored else 0, "Q": len(scored) * (5 * 3 + 5) * 2}


def test_parameters_and_cache_of_an_index():
    dense = dataclasses.replace(sparse(), index=None)
    assert sparse().params - dense.params == 5 * (19 * 2 * 3 + 11 * 3 + 11 * 2 + 2 * 3)
    assert sparse().kv_bytes([10, 4]) == dense.kv_bytes([10, 4]) + 14 * 5 * 7
    assert sparse().projections()["index_q_proj"] == (19, 6)
    assert sparse().projections(fused=True)["index_k_proj"] == (11, 3)


def test_sparse_attention_sees_what_its_index_picks():
    step = sparse().step({(1, 50): 4}, mla="absorbed")
    assert step["absorbed_attention"] == mla_attention(6, 23, 4, 1, 8) * (4 * 5)
    assert step["index"] == index_scores(2, 3, 1, 50, 8, key_bytes=7) * (4 * 5)
    short = sparse().step({(1, 8): 4}, mla="absorbed")
    assert short["absorbed_attention"] == mla_attention(6, 23, 4, 1, 8) * (4 * 5)
    assert "index" not in short
    chunk = sparse().step({(5, 50): 1}, mla="absorbed")["absorbed_attention"]
    assert chunk.flops == 5 * 5 * mla_attention(6, 23, 4, 1, 8).flops
    assert chunk.traffic["latent"] == 5 * mla_attention(6, 23, 4, 1, 8).traffic["latent"]
    prefill = sparse().step({(50, 50): 1}, mla="expanded")["expanded_attention"]
    assert prefill.flops == 5 * 2 * 6 * (29 + 4 + 31) * picked_pairs(50, 50, 8)


def test_either_form_is_counted_for_all_sequences_of_a_kind():
    step = sparse().step({(1, 50): 3}, mla="absorbed")
    assert step.choices[0][0]["absorbed_attention"] == step["absorbed_attention"].flops


def test_what_sparse_attention_must_move():
    moved = sparse().step({(1, 50): 4}).compulsory
    assert moved["KV read"] == 4 * 5 * (7 * 27 * 2 + 49 * 7)  # its own token it need not read back
    assert moved["KV written"] == 4 * 5 * (27 * 2 + 7)
    short = sparse().step({(3, 8): 1}).compulsory
    assert short["KV read"] == 5 * 5 * 27 * 2
    assert sparse().step({(20, 50): 1}).compulsory["KV read"] == 5 * 30 * 7


def test_an_index_multiplies_in_the_type_of_its_keys_and_splits_its_heads():
    assert sparse().multiplies()["index"] == "fp8"
    card = dataclasses.replace(sparse(), intermediate=12).card(2)
    assert card.index.heads == 1
    assert sparse().elementwise_costs(4)["norms"] == (
        rms_norm(4, 11) * 11 + rms_norm(4, 19) * 5 + rms_norm(4, 23) * 5 + rms_norm(4, 3) * 5)


def test_the_index_turns_its_queries_and_its_key_too():
    assert sparse().elementwise_costs(4)["rope"] == rope(4, (6 + 1) + (2 + 1), 4) * 5


def test_sparse_attention_saves_what_it_promises():
    """At 128K a query of DeepSeek-V3.2 meets 2048 tokens instead of 131,072, and its index one key instead."""
    dense, length = MODELS["deepseek-v3"], 131072
    picked = dataclasses.replace(dense, index=Indexer(heads=64, dim=128, top_k=2048, key_bytes=132))
    full, few = (model.step({(1, length): 1}) for model in (dense, picked))
    assert full["absorbed_attention"].flops == 64 * few["absorbed_attention"].flops
    assert few["index"].flops + few["absorbed_attention"].flops < full["absorbed_attention"].flops / 10
