"""Attention of two shapes, a cache that layers share, inputs per layer, experts beside a dense network (Gemma 4)."""

import re
from dataclasses import replace

import pytest
from small_models import ATTENTION, mla, moe, small

from roofline_calc import (
    GlobalHeads,
    LayerInputs,
    MoE,
    Precision,
    SharedCache,
    Stored,
    attention,
    gemm,
    rms_norm,
    rope,
    swiglu,
)

FFN = 3 * 11 * 13
MODEL = 11 + 2 * 11 * 17
WIDE = 11 * 60 + 2 * 11 * 20 + 60 * 11  # q, k and v, o of 6 heads and 2 KV heads, 10 wide


def two_shapes(**changed):
    """Two of five layers in a window of 8, three with full attention and heads of another shape."""
    fields = {"window": 8, "window_layers": 2, "global_heads": GlobalHeads(n_kv=2, head_dim=10)}
    return small(**(fields | changed))


def shared(**changed):
    """Of those, one of each kind reads another's cache."""
    return two_shapes(**({"shared_cache": SharedCache(window=1, full=1)} | changed))


def test_parameters():
    plain = 5 * (FFN + 22) + MODEL
    assert two_shapes().params == 2 * ATTENTION + 3 * WIDE + plain
    keys_are_values = GlobalHeads(n_kv=2, head_dim=10, v_proj=False)
    assert two_shapes(global_heads=keys_are_values).params == two_shapes().params - 3 * 11 * 20
    assert shared().params == two_shapes().params - 2 * 11 * 21 - 2 * 11 * 20
    assert shared(qk_norm=True).params - shared().params == 2 * 7 + 7 + 3 * 10 + 2 * 10
    assert two_shapes(qk_norm=True).params - two_shapes().params == 2 * (2 * 7 + 3 * 10)
    wide = SharedCache(window=1, full=1, ffn_factor=2)
    assert shared(shared_cache=wide).params - shared().params == 2 * FFN
    assert small(layer_scalar=True).params - small().params == 5
    inputs = small(layer_inputs=LayerInputs(vocab=19, width=4))
    assert inputs.params - small().params == 19 * 5 * 4 + 11 * 5 * 4 + 4 + 5 * (2 * 11 * 4 + 11)
    assert inputs.params - inputs.params_read() == 11 * 17 + 19 * 5 * 4
    beside = small(moe=MoE(experts=8, top_k=2, intermediate=3, beside_dense=True))
    assert beside.params - small().params == 5 * (11 * 8 + 8 * 3 * 11 * 3 + 11 + 8 + 3 * 11)


def test_projections_of_both_shapes():
    assert two_shapes().projections() == {
        "global_q_proj": (11, 60), "global_k_proj": (11, 20), "global_v_proj": (11, 20), "global_o_proj": (60, 11),
        "q_proj": (11, 42), "k_proj": (11, 21), "v_proj": (11, 21), "o_proj": (42, 11),
        "gate_proj": (11, 13), "up_proj": (11, 13), "down_proj": (13, 11),
    }
    costs = shared().linear_costs(4)
    assert costs["global_q_proj"] == gemm(4, 11, 60) * 3
    assert costs["global_k_proj"] == gemm(4, 11, 20) * 2
    assert costs["v_proj"] == gemm(4, 11, 21)
    fused = shared().linear_costs(4, fused=True)
    assert fused["global_qkv_proj"] == gemm(4, 11, 60 + 2 * 20) * 2
    assert fused["global_q_proj"] == gemm(4, 11, 60)
    assert fused["qkv_proj"] == gemm(4, 11, 42 + 2 * 21)
    assert fused["q_proj"] == gemm(4, 11, 42)
    alike = small(window=8, window_layers=2, shared_cache=SharedCache(window=1, full=1)).linear_costs(4)
    assert alike["q_proj"] == gemm(4, 11, 42) * 5
    assert alike["k_proj"] == gemm(4, 11, 21) * 3


def test_the_wider_networks_of_layers_that_share():
    wide = SharedCache(window=1, full=1, ffn_factor=2)
    costs = shared(shared_cache=wide).linear_costs(4)
    assert costs["wide_gate_proj"] == gemm(4, 11, 26) * 2
    assert costs["down_proj"] == gemm(4, 13, 11) * 3


def test_a_checkpoint_names_both_shapes_alike():
    precision = Precision(modules={"k_proj": Stored(1), "gate_proj": Stored(0.5)})
    costs = two_shapes().linear_costs(4, precision=precision)
    assert costs["global_k_proj"] == gemm(4, 11, 20, b_w=1) * 3
    wide = SharedCache(window=1, full=1, ffn_factor=2)
    costs = shared(shared_cache=wide).linear_costs(4, precision=precision)
    assert costs["wide_gate_proj"] == gemm(4, 11, 26, b_w=0.5) * 2
    fused = two_shapes().linear_costs(4, fused=True, precision=precision)["global_qkv_proj"]
    assert fused.traffic["W"] == 3 * 11 * (60 * 2 + 20 * 1 + 20 * 2)


def test_attention_and_cache():
    step = shared().step({(1, 50): 4})
    assert step["attention"] == attention(6, 2, 10, 1, 50) * (4 * 3)
    assert step["window_attention"] == attention(6, 3, 7, 1, 8) * (4 * 2)
    full, slid = 2 * 2 * 10 * 2, 2 * 3 * 7 * 2  # bytes per token in a layer that keeps a cache
    assert shared().kv_bytes_per_token == 2 * full + slid
    assert shared().kv_bytes([50, 5]) == 2 * full * 55 + slid * (8 + 5)
    assert two_shapes().kv_bytes([50]) == 3 * full * 50 + 2 * slid * 8
    assert step.compulsory["KV read"] == 4 * (2 * full * 49 + slid * 7)
    assert step.compulsory["KV written"] == 4 * (2 * full + slid)


def test_what_a_chunk_must_move():
    """Of chunked layers the tokens of the running chunk; when it is full, none is needed again."""
    chunked = small(window=8, window_layers=2, chunked=True)
    entry = 2 * 3 * 7 * 2
    moved = chunked.step({(1, 16): 1}).compulsory
    assert moved["KV read"] == entry * (3 * 15 + 2 * 7)
    assert moved["KV written"] == entry * 3
    moved = chunked.step({(20, 20): 1}).compulsory
    assert (moved["KV read"], moved["KV written"]) == (0, entry * (3 * 20 + 2 * 4))


def test_inputs_of_every_layer():
    model = small(layer_inputs=LayerInputs(vocab=19, width=4))
    costs = model.linear_costs(4)
    assert costs["layer_inputs_proj"] == gemm(4, 11, 20)
    assert costs["layer_gate_proj"] == gemm(4, 11, 4) * 5
    assert costs["layer_output_proj"] == gemm(4, 4, 11) * 5
    assert model.step({(1, 9): 4}).compulsory["input"] == 4 * (11 + 5 * 4) * 2


def test_elementwise_operators():
    costs = shared(qk_norm=True).elementwise_costs(4)
    assert costs["rope"].flops == sum(rope(4, heads, width).flops * layers for heads, width, layers in (
        (6, 10, 3), (2, 10, 2), (6, 7, 2), (3, 7, 1)))
    assert costs["norms"].flops == rms_norm(4, 11).flops * 11 + 4 * 4 * (6 * 10 * 3 + 2 * 10 * 2 + 6 * 7 * 2 + 3 * 7)
    costs = small(layer_inputs=LayerInputs(vocab=19, width=4)).elementwise_costs(4)
    assert costs["swiglu"] == swiglu(4, 13) * 5 + swiglu(4, 4) * 5
    assert costs["norms"] == rms_norm(4, 11) * 11 + rms_norm(4 * 5, 4) + rms_norm(4, 11) * 5
    beside = small(moe=MoE(experts=8, top_k=2, intermediate=3, beside_dense=True)).elementwise_costs(4)
    assert beside["norms"] == rms_norm(4, 11) * (11 + 15)


def test_cards():
    card = two_shapes(n_kv=6, intermediate=12, global_heads=GlobalHeads(n_kv=2, head_dim=10)).card(6)
    assert (card.global_heads.n_kv, card.n_kv) == (1, 1)
    beside = small(n_kv=6, moe=MoE(experts=8, top_k=2, intermediate=6, beside_dense=True))
    with pytest.raises(ValueError, match=r"^t = 2: must divide intermediate \(13\)$"):
        beside.card(2)
    assert moe(dense_layers=0, intermediate=6, shared_intermediate=0).card(3).intermediate == 13


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: two_shapes(window_layers=5), "global_heads: there are no layers with full attention"),
        (lambda: shared(shared_cache=SharedCache(window=2, full=1)),
         "shared_cache: no layer of a kind is left that keeps a cache"),
        (lambda: shared(shared_cache=SharedCache(window=1, full=3)),
         "shared_cache: no layer of a kind is left that keeps a cache"),
        (lambda: two_shapes(qkv_bias=True),
         "global_heads: with qkv_bias, wide_qk_norm or output_gate they are not counted"),
        (lambda: shared(shared_cache=SharedCache(window=1, full=1, ffn_factor=2), mlp_bias=True),
         "shared_cache: wider networks with experts or mlp_bias are not counted"),
        (lambda: replace(mla(), window=8, window_layers=2),
         "mla: latent attention in a window, with heads of two shapes or with a gate is not counted"),
        (lambda: SharedCache(window=0, full=1), "window = 0: must be a positive whole number"),
        (lambda: GlobalHeads(n_kv=0, head_dim=1), "n_kv = 0: must be a positive whole number"),
        (lambda: LayerInputs(vocab=1, width=0), "width = 0: must be a positive whole number"),
        (lambda: two_shapes(global_heads=GlobalHeads(n_kv=4, head_dim=1)),
         "n_q = 6: must be a multiple of global_heads.n_kv (4)"),
        (lambda: small(n_kv=6, intermediate=12, layer_inputs=LayerInputs(vocab=1, width=1)).card(2),
         "t = 2: how engines split inputs per layer over cards is not counted"),
    ],
)
def test_what_makes_no_model_is_refused(call, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        call()
