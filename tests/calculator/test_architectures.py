"""Models unlike Qwen2.5-7B: experts, latent attention, windows, and one of several cards."""

import dataclasses
import re

import pytest
from small_models import ATTENTION, mla, moe, small, windowed

from roofline_calc import (
    MODELS,
    QWEN,
    MoE,
    Stored,
    attention,
    gemm,
    mla_attention,
    rms_norm,
    rope,
)

PLAIN = 5 * (ATTENTION + 3 * 11 * 13 + 2 * 11) + 11 + 2 * 11 * 17


def test_parameters_of_a_plain_model():
    assert small().params == PLAIN
    assert small().params_read() == PLAIN - 11 * 17
    assert small(tied_embeddings=True).params == PLAIN - 11 * 17


@pytest.mark.parametrize(
    ("changed", "more"),
    [
        ({"qkv_bias": True}, 5 * (42 + 21 + 21)),
        ({"o_bias": True}, 5 * 11),
        ({"mlp_bias": True}, 5 * (13 + 13 + 11)),
        ({"qk_norm": True}, 5 * (7 + 7)),
        ({"norms_per_layer": 4}, 5 * 2 * 11),
        ({"wide_qk_norm": True}, 5 * (42 + 21)),
        ({"norm_bias": True}, (5 * 2 + 1) * 11),
        ({"lm_head_bias": True}, 17),
        ({"rope_dim": 4, "nope_layers": 2}, 0),
        ({"window": 8, "window_layers": 2, "chunked": True}, 0),
        ({"sinks": True}, 5 * 6),
        ({"window": 8, "window_layers": 2}, 0),
        ({"stored": {"layers": Stored(0.5)}}, 0),
    ],
)
def test_parameters_beyond_the_plain_model(changed, more):
    assert small(**changed).params - PLAIN == more


MOE_LAYER = 11 * 8 + 8 * 3 * 11 * 3 + 3 * 11 * 5  # router, experts, shared experts


def test_parameters_of_a_mixture_of_experts():
    dense = 3 * 11 * 13
    assert moe().params == PLAIN - 3 * dense + 3 * MOE_LAYER
    assert moe(shared_intermediate=0).params == moe().params - 3 * 3 * 11 * 5
    assert moe(dense_layers=0).params == PLAIN - 5 * dense + 5 * MOE_LAYER
    assert moe(router_bias=True).params - moe().params == 3 * 8
    assert moe(bias=True).params - moe().params == 3 * 8 * (2 * 3 + 11)
    assert moe(shared_gate=True).params - moe().params == 3 * 11
    biased = dataclasses.replace(moe(), mlp_bias=True)
    assert biased.params - moe().params == 2 * (2 * 13 + 11)


def test_a_step_touches_some_experts():
    per_expert = 3 * 11 * 3
    idle = 8 - 8 * (1 - (1 - 2 / 8) ** 3)
    assert moe().params_read(3) == pytest.approx(moe().params_read() - 3 * idle * per_expert)
    assert moe().weight_bytes_read(3) == pytest.approx(2 * moe().params_read(3))
    assert moe().weight_bytes_read(None) == moe().weight_bytes_read() == 2 * moe().params_read()
    assert small().params_read(9) == small().params_read()
    assert moe(dense_layers=4).params_read() < moe().params_read()
    with pytest.raises(ValueError, match=r"^T = 0: "):
        moe().params_read(0)


def test_operators_of_a_mixture_of_experts():
    assert moe().projections() == {
        "q_proj": (11, 42), "k_proj": (11, 21), "v_proj": (11, 21), "o_proj": (42, 11),
        "gate_proj": (11, 13), "up_proj": (11, 13), "down_proj": (13, 11), "router": (11, 8),
        "expert_gate_proj": (11, 3), "expert_up_proj": (11, 3), "expert_down_proj": (3, 11),
        "shared_gate_proj": (11, 5), "shared_up_proj": (11, 5), "shared_down_proj": (5, 11),
    }
    assert list(moe(dense_layers=0, shared_intermediate=0).projections(fused=True)) == [
        "qkv_proj", "o_proj", "router", "expert_gate_up_proj", "expert_down_proj",
    ]
    step = moe().decode_kernels(4, 10)
    touched = 8 * (1 - (1 - 2 / 8) ** 4)
    weights, outputs = touched * 11 * 3 * 2, 4 * 2 * 3 * 2
    assert step["expert_up_proj"].traffic == {"X": 3 * 4 * 11 * 2, "W": 3 * weights, "Y": 3 * outputs}  # X once a token
    assert step["expert_down_proj"].traffic == {"X": 3 * outputs, "W": 3 * weights, "Y": 3 * 4 * 2 * 11 * 2}
    assert step["expert_up_proj"].flops == 3 * 4 * 2 * 2 * 11 * 3
    assert step["shared_up_proj"] == gemm(4, 11, 5) * 3
    assert step["up_proj"] == gemm(4, 11, 13) * 2
    assert step["router"] == gemm(4, 11, 8) * 3


def test_parameters_and_cache_of_latent_attention():
    layer = 11 * 19 + 19 * 6 * 33 + 11 * 27 + 23 * 6 * (29 + 31) + 6 * 31 * 11 + 19 + 23
    assert mla().params == 5 * (layer + 3 * 11 * 13 + 2 * 11) + 11 + 2 * 11 * 17
    assert mla(None).params == mla().params - 5 * (11 * 19 + 19 * 6 * 33 + 19 - 11 * 6 * 33)
    assert mla().kv_bytes_per_token == 5 * (23 + 4) * 2


def test_operators_of_latent_attention():
    assert mla().projections() == {
        "q_a_proj": (11, 19), "kv_a_proj": (11, 27), "q_b_proj": (19, 198), "kv_b_proj": (23, 6 * (29 + 31)),
        "o_proj": (186, 11), "gate_proj": (11, 13), "up_proj": (11, 13), "down_proj": (13, 11),
    }
    assert mla().projections(fused=True)["qkv_a_proj"] == (11, 19 + 27)
    assert mla(None).projections()["q_proj"] == (11, 198)
    assert mla(None).projections(fused=True)["qkv_a_proj"] == (11, 198 + 27)
    step = mla().decode_kernels(4, 10)
    assert step["absorbed_attention"] == mla_attention(6, 23, 4, 1, 10) * (4 * 5)
    assert step["k_absorb"] == gemm(4, 29, 23) * (6 * 5)
    assert step["v_absorb"] == gemm(4, 23, 31) * (6 * 5)


def test_latent_attention_rotates_one_key_for_all_heads():
    costs = mla().elementwise_costs(4)
    assert costs["rope"] == rope(4, 6 + 1, 4) * 5
    assert costs["norms"] == rms_norm(4, 11) * 11 + rms_norm(4, 19) * 5 + rms_norm(4, 23) * 5
    assert mla(None).elementwise_costs(4)["norms"] == rms_norm(4, 11) * 11 + rms_norm(4, 23) * 5


def test_windowed_layers_read_and_keep_their_last_tokens():
    step = windowed().decode_kernels(4, 100)
    assert step["attention"] == attention(6, 3, 7, 1, 100) * (4 * 3)
    assert step["window_attention"] == attention(6, 3, 7, 1, 8) * (4 * 2)
    per_layer = 2 * 3 * 7 * 2
    assert windowed().kv_bytes([100, 5]) == per_layer * (3 * 105 + 2 * (8 + 5))
    assert small().kv_bytes([100, 5]) == 105 * small().kv_bytes_per_token
    everywhere = small(window=8, window_layers=5).decode_kernels(4, 100)
    assert "attention" not in everywhere
    assert everywhere["window_attention"] == attention(6, 3, 7, 1, 8) * (4 * 5)
    with pytest.raises(ValueError, match=r"^context = 0: "):
        small().kv_bytes([0])


def test_chunked_layers_meet_their_own_chunk_and_keep_the_fullest():
    chunked = small(window=8, window_layers=2, chunked=True)
    step = chunked.decode_kernels(4, 100)  # the 100th token is the fourth of its chunk
    assert step["attention"] == attention(6, 3, 7, 1, 100) * (4 * 3)
    assert step["chunked_attention"] == attention(6, 3, 7, 1, 4) * (4 * 2)
    assert chunked.kv_bytes([100, 5]) == windowed().kv_bytes([100, 5])


def test_rope_on_some_layers_and_a_part_of_each_head():
    assert small(rope_dim=4, nope_layers=2).elementwise_costs(9)["rope"] == rope(9, 6 + 3, 4) * 3
    assert small(rope_dim=7).elementwise_costs(9) == small().elementwise_costs(9)
    assert "rope" not in small(nope_layers=5).elementwise_costs(9)


def test_a_norm_over_all_heads():
    assert small(wide_qk_norm=True).elementwise_costs(9)["norms"] == (
        rms_norm(9, 11) * 11 + rms_norm(9, 42) * 5 + rms_norm(9, 21) * 5)


def test_one_of_several_cards():
    card = QWEN.card(4)
    assert card.projections() == {
        "q_proj": (3584, 896), "k_proj": (3584, 128), "v_proj": (3584, 128), "o_proj": (896, 3584),
        "gate_proj": (3584, 4736), "up_proj": (3584, 4736), "down_proj": (4736, 3584),
    }
    assert (card.vocab, card.name) == (38016, "Qwen2.5-7B-Instruct, one of 4 cards")
    assert QWEN.card(1) == QWEN
    assert dataclasses.replace(QWEN, vocab=152065).card(4).vocab == 38017  # rounded up, as engines pad it


def test_a_share_is_not_split_again():
    with pytest.raises(ValueError, match=r"^t = 2: these are the shapes of one of 2 cards already$"):
        QWEN.card(2).card(2)
    assert QWEN.card(2).card(1) == QWEN.card(2)


def test_kv_heads_are_replicated_beyond_their_number():
    model = MODELS["qwen3-30b-a3b"].card(16)
    assert (model.n_q, model.n_kv, model.moe.intermediate, model.intermediate) == (2, 1, 48, 6144)


def test_every_expert_is_split():
    model = small(moe=MoE(experts=8, top_k=2, intermediate=6, shared_intermediate=9, dense_layers=1), intermediate=12)
    card = model.card(3)
    assert (card.intermediate, card.moe.intermediate, card.moe.shared_intermediate, card.moe.experts) == (4, 2, 3, 8)


@pytest.mark.parametrize(
    ("model", "t", "message"),
    [
        (QWEN, 0, "t = 0: must be a positive whole number"),
        (QWEN, 3, "t = 3: must divide n_q (28)"),
        (QWEN, 7, "t = 7: must divide n_kv (4), or be a multiple of it so that KV heads are replicated"),
        (QWEN, 28, "t = 28: must divide intermediate (18944)"),
        (moe(dense_layers=0, intermediate=4), 3, "t = 3: must divide the experts' intermediate (4)"),
        (small(moe=MoE(experts=8, top_k=2, intermediate=3, shared_intermediate=5)), 3,
         "t = 3: must divide the shared experts' intermediate (5)"),
    ],
)
def test_a_number_of_cards_that_cannot_split_says_why(model, t, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        model.card(t)


def test_valid_numbers_of_cards():
    assert QWEN.valid_tp == (1, 2, 4)
    assert MODELS["llama-3.1-8b"].valid_tp == (1, 2, 4, 8, 16, 32)
