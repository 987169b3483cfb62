"""Qwen2.5-7B as shapes: parameters, KV cache, a decode step."""

import dataclasses
import re

import pytest

from roofline_calc import (
    MLA,
    MODELS,
    QWEN,
    RTX_4090,
    Cost,
    Model,
    MoE,
    Precision,
    attention,
    embedding,
    experts_touched,
    first_compute_bound,
    gemm,
    grouped_gemm,
    mla_attention,
    residual,
    rms_norm,
    rope,
    swiglu,
    time_floor,
)


def test_parameters_and_bytes(oracles):
    expected = oracles["model"]
    assert QWEN.params == expected["params"]
    assert QWEN.weight_bytes == expected["bytes"]
    assert QWEN.params_read == expected["params_read_per_step"]
    assert QWEN.weight_bytes_read == expected["bytes_read_per_step"]
    assert QWEN.kv_bytes_per_token == expected["kv_bytes_per_token"]
    assert QWEN.weight_bytes_read / QWEN.kv_bytes_per_token == expected["kv_eq_weights_read_tokens"]
    assert first_compute_bound(lambda S: S * QWEN.kv_bytes_per_token, 2**30) == expected["kv_gt_1GiB_at_tokens"]


def test_tied_embeddings_are_stored_once():
    tied = dataclasses.replace(QWEN, tied_embeddings=True)
    assert QWEN.params - tied.params == 152064 * 3584
    assert tied.params_read == QWEN.params_read


def test_biases_are_on_q_k_v_only():
    assert QWEN.params - dataclasses.replace(QWEN, qkv_bias=False).params == 28 * (3584 + 512 + 512)


def test_whole_model_decode_intensity(oracles):
    for key, expected in oracles["model"]["decode_intensity_weights_plus_kv"].items():
        batch, context = (int(part[1:]) for part in key.split("_"))
        assert QWEN.decode_weights_and_kv(batch, context).intensity == pytest.approx(expected, rel=1e-9)


def test_fused_projections_do_the_same_work_and_read_x_less_often():
    apart, fused = QWEN.decode_step(256, 2048), QWEN.decode_step(256, 2048, fused=True)
    assert sum(cost.flops for cost in apart.values()) == sum(cost.flops for cost in fused.values())
    saved = sum(cost.bytes for cost in apart.values()) - sum(cost.bytes for cost in fused.values())
    assert saved == 28 * 3 * 256 * 3584 * 2  # X once for qkv, once for gate_up
    assert list(fused) == ["qkv_proj", "o_proj", "gate_up_proj", "down_proj", "attention", "lm_head"]


def test_three_thin_gemms_apart_lose_what_fusing_them_saves():
    apart = gemm(256, 3584, 3584) + gemm(256, 3584, 512) * 2
    assert round(apart.intensity, 1) == 206.8
    assert round(gemm(256, *QWEN.projections(fused=True)["qkv_proj"]).intensity, 2) == 227.15


def test_each_kernels_own_roof_takes_longer_than_their_average():
    step = QWEN.decode_step(256, 2048).values()
    apart = time_floor(step, RTX_4090.peak_of(), RTX_4090.bandwidth)
    together = time_floor([sum(step, start=Cost(0, {}))], RTX_4090.peak_of(), RTX_4090.bandwidth)
    assert apart > together


@pytest.mark.parametrize("field", ["hidden", "layers", "n_q", "n_kv", "head_dim", "intermediate", "vocab"])
def test_a_model_refuses_bad_sizes(field):
    with pytest.raises(ValueError, match=rf"^{field} = 0: must be a positive whole number$"):
        dataclasses.replace(QWEN, **{field: 0})


def test_a_model_refuses_heads_that_do_not_divide():
    with pytest.raises(ValueError, match=r"^n_q = 28: must be a multiple of n_kv \(3\)$"):
        dataclasses.replace(QWEN, n_kv=3)


def test_a_step_refuses_a_bad_batch_or_context():
    with pytest.raises(ValueError, match=r"^batch = 0: "):
        QWEN.decode_step(0, 1)
    with pytest.raises(ValueError, match=r"^context = 0: "):
        QWEN.decode_weights_and_kv(1, 0)


# ------------------------------------------------------------- other architectures


def small(**changed) -> Model:
    """A model whose every size is another prime, so that none can stand in for the other."""
    fields = {
        "name": "small", "hidden": 11, "layers": 5, "n_q": 6, "n_kv": 3, "head_dim": 7, "intermediate": 13, "vocab": 17,
        "tied_embeddings": False, "qkv_bias": False, "bytes_per_element": 2, "source": "made up",
    }  # fmt: skip
    return Model(**(fields | changed))


ATTENTION = 11 * 42 + 2 * 11 * 21 + 42 * 11  # q, k and v, o
PLAIN = 5 * (ATTENTION + 3 * 11 * 13 + 2 * 11) + 11 + 2 * 11 * 17


def test_parameters_of_a_plain_model():
    assert small().params == PLAIN
    assert small().params_read == PLAIN - 11 * 17
    assert small(tied_embeddings=True).params == PLAIN - 11 * 17


@pytest.mark.parametrize(
    ("changed", "more"),
    [
        ({"qkv_bias": True}, 5 * (42 + 21 + 21)),
        ({"o_bias": True}, 5 * 11),
        ({"mlp_bias": True}, 5 * (13 + 13 + 11)),
        ({"qk_norm": True}, 5 * (7 + 7)),
        ({"norms_per_layer": 4}, 5 * 2 * 11),
        ({"sinks": True}, 5 * 6),
        ({"window": 8, "window_layers": 2}, 0),
        ({"weight_width": 0.5}, 0),
    ],
)
def test_parameters_beyond_the_plain_model(changed, more):
    assert small(**changed).params - PLAIN == more


def moe(**changed) -> Model:
    fields = {"experts": 8, "top_k": 2, "intermediate": 3, "shared_intermediate": 5, "dense_layers": 2}
    return small(moe=MoE(**(fields | changed)))


MOE_LAYER = 11 * 8 + 8 * 3 * 11 * 3 + 3 * 11 * 5  # router, experts, shared experts


def test_parameters_of_a_mixture_of_experts():
    dense = 3 * 11 * 13
    assert moe().params == PLAIN - 3 * dense + 3 * MOE_LAYER
    assert moe(shared_intermediate=0).params == moe().params - 3 * 3 * 11 * 5
    assert moe(dense_layers=0).params == PLAIN - 5 * dense + 5 * MOE_LAYER
    assert moe(router_bias=True).params - moe().params == 3 * 8
    assert moe(bias=True).params - moe().params == 3 * 8 * (2 * 3 + 11)
    biased = dataclasses.replace(moe(), mlp_bias=True)
    assert biased.params - moe().params == 2 * (2 * 13 + 11)


def test_a_step_touches_some_experts():
    per_expert = 3 * 11 * 3
    idle = 8 - 8 * (1 - (1 - 2 / 8) ** 3)
    assert moe().params_touched(3) == pytest.approx(moe().params_read - 3 * idle * per_expert)
    assert moe().weights_read(3) == pytest.approx(2 * moe().params_touched(3))
    assert moe().weights_read(None) == moe().weight_bytes_read == 2 * moe().params_read
    assert small().params_touched(9) == small().params_read
    assert moe(dense_layers=4).params_read < moe().params_read
    with pytest.raises(ValueError, match=r"^T = 0: "):
        moe().params_touched(0)


def test_operators_of_a_mixture_of_experts():
    assert moe().projections() == {
        "q_proj": (11, 42), "k_proj": (11, 21), "v_proj": (11, 21), "o_proj": (42, 11),
        "gate_proj": (11, 13), "up_proj": (11, 13), "down_proj": (13, 11), "router": (11, 8),
        "expert_gate_proj": (11, 3), "expert_up_proj": (11, 3), "expert_down_proj": (3, 11),
        "shared_gate_proj": (11, 5), "shared_up_proj": (11, 5), "shared_down_proj": (5, 11),
    }  # fmt: skip
    assert list(moe(dense_layers=0, shared_intermediate=0).projections(fused=True)) == [
        "qkv_proj", "o_proj", "router", "expert_gate_up_proj", "expert_down_proj",
    ]  # fmt: skip
    step = moe().decode_step(4, 10)
    touched = 8 * (1 - (1 - 2 / 8) ** 4)
    assert step["expert_up_proj"] == grouped_gemm(4 * 2, touched, 11, 3) * 3
    assert step["shared_up_proj"] == gemm(4, 11, 5) * 3
    assert step["up_proj"] == gemm(4, 11, 13) * 2
    assert step["router"] == gemm(4, 11, 8) * 3


def mla(q_rank: int | None = 19) -> Model:
    return small(n_kv=6, mla=MLA(kv_rank=23, nope=29, rope=4, v=31, q_rank=q_rank))


def test_parameters_and_cache_of_latent_attention():
    layer = 11 * 19 + 19 * 6 * 33 + 11 * 27 + 23 * 6 * (29 + 31) + 6 * 31 * 11 + 19 + 23
    assert mla().params == 5 * (layer + 3 * 11 * 13 + 2 * 11) + 11 + 2 * 11 * 17
    assert mla(None).params == mla().params - 5 * (11 * 19 + 19 * 6 * 33 + 19 - 11 * 6 * 33)
    assert mla().kv_bytes_per_token == 5 * (23 + 4) * 2


def test_operators_of_latent_attention():
    assert mla().projections() == {
        "q_a_proj": (11, 19), "kv_a_proj": (11, 27), "q_b_proj": (19, 198), "k_absorb": (29, 23), "v_absorb": (23, 31),
        "o_proj": (186, 11), "gate_proj": (11, 13), "up_proj": (11, 13), "down_proj": (13, 11),
    }  # fmt: skip
    assert mla().projections(fused=True)["qkv_a_proj"] == (11, 19 + 27)
    assert mla(None).projections()["q_proj"] == (11, 198)
    assert mla(None).projections(fused=True)["qkv_a_proj"] == (11, 198 + 27)
    step = mla().decode_step(4, 10)
    assert step["attention"] == mla_attention(6, 23, 4, 1, 10) * (4 * 5)
    assert step["k_absorb"] == gemm(4, 29, 23) * (6 * 5)
    assert step["v_absorb"] == gemm(4, 23, 31) * (6 * 5)


def test_latent_attention_rotates_one_key_for_all_heads():
    costs = mla().elementwise_costs(4)
    assert costs["rope"] == rope(4, 6 + 1, 4) * 5
    assert costs["norms"] == rms_norm(4, 11) * 11 + rms_norm(4, 19) * 5 + rms_norm(4, 23) * 5
    assert mla(None).elementwise_costs(4)["norms"] == rms_norm(4, 11) * 11 + rms_norm(4, 23) * 5


def windowed() -> Model:
    return small(window=8, window_layers=2)


def test_windowed_layers_read_and_keep_their_last_tokens():
    step = windowed().decode_step(4, 100)
    assert step["attention"] == attention(6, 3, 7, 1, 100) * (4 * 3)
    assert step["window_attention"] == attention(6, 3, 7, 1, 8) * (4 * 2)
    per_layer = 2 * 3 * 7 * 2
    assert windowed().kv_bytes([100, 5]) == per_layer * (3 * 105 + 2 * (8 + 5))
    assert small().kv_bytes([100, 5]) == 105 * small().kv_bytes_per_token
    everywhere = small(window=8, window_layers=5).decode_step(4, 100)
    assert "attention" not in everywhere
    assert everywhere["window_attention"] == attention(6, 3, 7, 1, 8) * (4 * 5)
    with pytest.raises(ValueError, match=r"^context = 0: "):
        small().kv_bytes([0])


# ------------------------------------------------------------------------- widths


WIDTHS = Precision(activations=1, weights=0.5, experts=0.25, kv=3, others=4)


def test_each_operand_has_its_own_width():
    step = moe().step({(1, 10): 2}, precision=WIDTHS)
    assert step["q_proj"] == gemm(2, 11, 42, 1, 0.5, 4) * 5
    assert step["router"] == gemm(2, 11, 8, 4, 4, 4) * 3
    assert step["lm_head"] == gemm(2, 11, 17, 4, 4, 4)
    assert step["attention"] == attention(6, 3, 7, 1, 10, b_q=4, b_kv=3) * (2 * 5)
    assert step["expert_up_proj"] == grouped_gemm(4, experts_touched(8, 2, 2), 11, 3, 1, 0.25, 4) * 3
    assert step["norms"] == rms_norm(2, 11, 4) * 11
    assert moe().kv_bytes([10], WIDTHS) == 10 * 5 * 2 * 3 * 7 * 3
    latent = mla().step([(1, 10)], precision=WIDTHS)
    assert latent["attention"] == mla_attention(6, 23, 4, 1, 10, b_q=4, b_kv=3) * 5
    slid = windowed().step([(1, 10)], precision=WIDTHS)
    assert slid["window_attention"] == attention(6, 3, 7, 1, 8, b_q=4, b_kv=3) * 2


def test_weights_in_memory_by_width():
    matrices, experts = 5 * ATTENTION + 2 * 3 * 11 * 13 + 3 * 3 * 11 * 5, 3 * 8 * 3 * 11 * 3
    rest = 3 * 11 * 8 + 5 * 2 * 11 + 11 + 2 * 11 * 17
    assert matrices + experts + rest == moe().params
    assert moe().weights_resident(WIDTHS) == 0.5 * matrices + 0.25 * experts + 4 * rest
    assert moe().weights_read(None, WIDTHS) == moe().weights_resident(WIDTHS) - 4 * 11 * 17
    tied = dataclasses.replace(moe(), tied_embeddings=True)
    assert tied.weights_resident(WIDTHS) == tied.weights_read(None, WIDTHS) == moe().weights_read(None, WIDTHS)


def test_the_published_widths():
    assert small().precision == Precision()
    assert small(bytes_per_element=4).precision == Precision(activations=4, weights=4, kv=4, others=4)
    stored = dataclasses.replace(moe(weight_width=0.25), weight_width=0.5)
    assert stored.precision == Precision(weights=0.5, experts=0.25)
    assert stored.weight_bytes == stored.weights_resident(Precision(weights=0.5, experts=0.25))
    assert moe().precision.of("experts") == 2
    assert [WIDTHS.of(stored) for stored in ("weights", "experts", "others")] == [0.5, 0.25, 4]


@pytest.mark.parametrize("field", ["activations", "weights", "experts", "kv", "others"])
def test_a_width_that_is_not_positive_is_refused(field):
    with pytest.raises(ValueError, match=rf"^{field} = 0: must be positive and finite$"):
        Precision(**{field: 0})


def test_w4a16_floor_of_the_whole_step():
    """Four-bit weights with scales: 28 layers of matrices shrink, embedding and lm_head stay."""
    precision = Precision(weights=0.515625)
    matrices = 28 * sum(K * N for K, N in QWEN.projections().values())
    assert QWEN.weights_read(1, precision) == QWEN.weight_bytes_read - matrices * (2 - 0.515625)
    assert QWEN.decode_weights_and_kv(1, 2048, precision).traffic["weights"] == QWEN.weights_read(1, precision)


# -------------------------------------------------------------------------- steps


def test_sequences_of_different_lengths_share_the_linear_layers():
    step = small().step([(1, 100), (1, 30), (4, 4), (1, 30)])
    heads = 6, 3, 7
    attend = attention(*heads, 1, 100) + attention(*heads, 1, 30) * 2 + attention(*heads, 4, 4, mask="causal")
    assert step["attention"] == attend * 5
    assert step["q_proj"] == gemm(7, 11, 42) * 5
    assert step["lm_head"] == gemm(4, 11, 17)
    assert step == small().step({(1, 100): 1, (1, 30): 2, (4, 4): 1})
    assert small().attention_costs([(1, 30), (1, 30)]) == small().attention_costs({(1, 30): 2})
    assert small().linear_costs(7) == {name: step[name] for name in small().projections(fused=False)}


def test_a_decode_step_is_the_matrix_kernels_of_a_step():
    step, decode = QWEN.step({(1, 2048): 8}, fused=True), QWEN.decode_step(8, 2048, fused=True)
    assert {name: step[name] for name in decode} == decode
    assert set(step) - set(decode) == {"embedding", "norms", "rope", "swiglu", "residual"}


def test_rows_sampled():
    assert "lm_head" not in small().step([(4, 4)], sampled=0)
    assert small().step([(4, 4)], sampled=4)["lm_head"] == gemm(4, 11, 17)
    assert small().step([(4, 4), (2, 2)])["lm_head"] == gemm(2, 11, 17)


def test_kv_only_traffic_leaves_queries_and_outputs_out():
    assert set(small().step([(1, 9)], traffic="kv-only")["attention"].traffic) == {"K", "V"}
    assert set(small().decode_step(1, 9, traffic="kv-only")["attention"].traffic) == {"K", "V"}


def test_element_wise_operators_of_a_step():
    assert small(qk_norm=True, norms_per_layer=4).elementwise_costs(3) == {
        "embedding": embedding(3, 11), "norms": rms_norm(3, 11) * 21 + rms_norm(3 * 9, 7) * 5,
        "rope": rope(3, 9, 7) * 5, "swiglu": swiglu(3, 13) * 5, "residual": residual(3, 11) * 10,
    }  # fmt: skip
    assert moe().elementwise_costs(3)["swiglu"] == swiglu(3, 13) * 2 + swiglu(6, 3) * 3 + swiglu(3, 5) * 3


def test_a_step_refuses_what_is_no_sequence():
    with pytest.raises(ValueError, match=r"^sequences = \[\]: a step needs at least one$"):
        small().step([])
    with pytest.raises(ValueError, match=r"^query_tokens = 0: "):
        small().step([(0, 4)])
    with pytest.raises(ValueError, match=r"^context = 0: "):
        small().step([(1, 0)])
    with pytest.raises(ValueError, match=r"^sequences = 0: "):
        small().attention_costs({(1, 4): 0})
    with pytest.raises(ValueError, match=r"^L = 5: under a causal mask"):
        small().step([(5, 4)])
    with pytest.raises(ValueError, match=r"^traffic = 'kv': "):
        small().step([(1, 4)], traffic="kv")
    for costs in (small().linear_costs, small().elementwise_costs):
        with pytest.raises(ValueError, match=r"^tokens = 0: "):
            costs(0)


# ---------------------------------------------------------------- tensor parallel


def test_one_of_several_cards():
    card = QWEN.card(4)
    assert card.projections() == {
        "q_proj": (3584, 896), "k_proj": (3584, 128), "v_proj": (3584, 128), "o_proj": (896, 3584),
        "gate_proj": (3584, 4736), "up_proj": (3584, 4736), "down_proj": (4736, 3584),
    }  # fmt: skip
    assert (card.vocab, card.name) == (38016, "Qwen2.5-7B-Instruct, one of 4 cards")
    assert QWEN.card(1) == QWEN
    assert dataclasses.replace(QWEN, vocab=152065).card(4).vocab == 38017  # rounded up, as engines pad it


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
)  # fmt: skip
def test_a_number_of_cards_that_cannot_split_says_why(model, t, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        model.card(t)


def test_valid_numbers_of_cards():
    assert QWEN.valid_tp == (1, 2, 4)
    assert MODELS["llama-3.1-8b"].valid_tp == (1, 2, 4, 8, 16, 32)


# ----------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bytes_per_element": 0}, "bytes_per_element = 0: must be positive and finite"),
        ({"norms_per_layer": 0}, "norms_per_layer = 0: must be a positive whole number"),
        ({"window": 0, "window_layers": 1}, "window = 0: must be a positive whole number"),
        ({"window": 8}, "window_layers = 0: must be a positive whole number"),
        ({"window_layers": 2}, "window_layers = 2: there is no window"),
        ({"window": 8, "window_layers": 6}, "window_layers = 6: must be at most layers (5)"),
        ({"weight_width": 0}, "weight_width = 0: must be positive and finite"),
    ],
)
def test_a_model_refuses_contradictions(changed, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        small(**changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"experts": 0}, "experts = 0: must be a positive whole number"),
        ({"top_k": 9}, "top_k = 9: must be at most experts (8)"),
        ({"intermediate": 0}, "intermediate = 0: must be a positive whole number"),
        ({"shared_intermediate": 1.5}, "shared_intermediate = 1.5: must be a positive whole number"),
        ({"shared_intermediate": -1}, "shared_intermediate = -1: must be a positive whole number"),
        ({"dense_layers": -1}, "dense_layers = -1: must be a positive whole number"),
        ({"dense_layers": 6}, "dense_layers = 6: must be less than layers (5)"),
        ({"dense_layers": 5}, "dense_layers = 5: must be less than layers (5)"),
        ({"weight_width": 0}, "weight_width = 0: must be positive and finite"),
    ],
)
def test_experts_refuse(changed, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        moe(**changed)


@pytest.mark.parametrize("field", ["kv_rank", "nope", "rope", "v", "q_rank"])
def test_latent_attention_refuses_bad_sizes(field):
    with pytest.raises(ValueError, match=rf"^{field} = 0: must be a positive whole number$"):
        MLA(**({"kv_rank": 1, "nope": 1, "rope": 1, "v": 1, "q_rank": 1} | {field: 0}))


def test_sizes_are_given_by_name():
    for call in (
        lambda: MoE(8, 2, 3), lambda: MLA(1, 1, 1, 1), lambda: Precision(1),
        lambda: Model(*(getattr(QWEN, field.name) for field in dataclasses.fields(QWEN))),
        lambda: QWEN.decode_step(1, 2048, True), lambda: QWEN.step([(1, 1)], True),
        lambda: QWEN.linear_costs(1, True), lambda: QWEN.attention_costs([(1, 1)], "kv-only"),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            call()


def test_a_model_does_not_change():
    model = MODELS["deepseek-v3"]
    for thing in (model, model.moe, model.mla, Precision(), model.linear_layers()["q_a_proj"]):
        with pytest.raises(dataclasses.FrozenInstanceError):
            thing.extra = 1
        assert hash(thing) == hash(dataclasses.replace(thing))


def test_a_config_is_read_by_the_class_itself():
    config = {
        "architectures": ["LlamaForCausalLM"], "hidden_size": 12, "num_hidden_layers": 5, "intermediate_size": 13,
        "vocab_size": 17, "num_attention_heads": 6, "torch_dtype": "float32",
    }  # fmt: skip
    assert Model.from_config(config, "named").name == "named"
    assert Model.from_config(config).bytes_per_element == 4


def test_counts_are_whole_numbers_not_floats():
    """So that they print as such: 7,615,616,512 parameters, 57,344 bytes."""
    costs = [*QWEN.step([(3, 9)]).values(), *MODELS["deepseek-v3"].attention_costs([(3, 9)]).values()]
    counts = [
        QWEN.params, QWEN.params_read, QWEN.params_touched(1), QWEN.weight_bytes, QWEN.weight_bytes_read,
        QWEN.weights_resident(), QWEN.kv_bytes_per_token, QWEN.kv_bytes([5]), QWEN.card(4).params,
        QWEN.card(4).vocab, QWEN.card(4).n_q,
        *(cost.flops for cost in costs), *(cost.bytes for cost in costs),
    ]  # fmt: skip
    assert [count for count in counts if not isinstance(count, int)] == []


def test_matrix_kernels_are_the_step_without_its_element_wise_operators():
    batch = {(128, 2048): 4, (1, 500): 3}
    step, kernels = QWEN.step(batch), QWEN.matrix_kernels(batch)
    assert list(kernels) == list(QWEN.decode_step(1, 1))
    assert step == kernels | QWEN.elementwise_costs(128 * 4 + 3)


@pytest.mark.parametrize("model", ["qwen2.5-7b", "deepseek-v3", "gemma-2-9b"])
def test_without_a_mask_every_query_meets_every_key(model):
    """Only full attention loses its mask, and only the pairs change: a sliding window is causal by its nature."""
    causal, full = (MODELS[model].attention_costs({(128, 256): 2}, mask=mask) for mask in ("causal", "none"))
    ratio = full["attention"].flops / causal["attention"].flops
    assert ratio == pytest.approx(128 * 256 / (128 * 256 - 128 * 127 / 2), rel=1e-6)
    assert full["attention"].traffic == causal["attention"].traffic
    assert full.get("window_attention") == causal.get("window_attention")


def test_lm_head_is_a_linear_layer():
    assert QWEN.lm_head_cost(7) == gemm(7, QWEN.lm_head.K, QWEN.lm_head.N)
