"""Steps on a card: regimes, times, sweeps and the points at which regimes turn."""

import dataclasses

import pytest

from roofline_calc import (
    ACCELERATORS,
    MODELS,
    QWEN,
    RTX_4090,
    Accelerator,
    Cost,
    Precision,
    Stored,
    analyse,
    attention,
    crossings,
    first_batch,
    first_context,
    first_query_tokens,
    gemm,
    gemm_crossing,
    gemm_intensity,
    kernel_by_kernel,
    largest_batch,
    largest_context,
    regime,
    sweep,
)

NARROW = Precision(activations=1, weights=0.5, others=2, modules={"experts": Stored(0.25)})
MIXTRAL = MODELS["mixtral-8x7b"]
TOY = Accelerator(name="toy", bandwidth=1, memory=1000, peak={"bf16": 10, "fp8": 20, "fp32": 5}, source="made up")


def test_each_operator_has_its_regime_and_its_time():
    step = QWEN.decode_kernels(256, 2048)
    report = analyse(step, RTX_4090)
    assert [row.operator for row in report.rows] == list(step)
    for row in report.rows:
        assert row.cost == step[row.operator]
        assert row.regime == regime(row.cost.intensity, RTX_4090.ridge())
        assert row.seconds == kernel_by_kernel([row.cost], RTX_4090.peak_of(), RTX_4090.bandwidth)
    assert report.compute_bound == ("q_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head")
    assert report.kernel_by_kernel == kernel_by_kernel(step.values(), RTX_4090.peak_of(), RTX_4090.bandwidth)
    assert report.total == sum(step.values(), start=Cost(0, {}))


def test_narrow_data_types_serve_the_linear_layers_only():
    cost = Cost(40, {"X": 1})
    rows = analyse({"q_proj": cost, "attention": cost, "k_absorb": cost, "lm_head": cost}, TOY, "fp8").rows
    assert [row.seconds for row in rows] == [2, 4, 2, 4]
    assert [row.seconds for row in analyse({"q_proj": cost, "attention": cost}, TOY, "fp32").rows] == [8, 8]
    report = analyse({"q_proj": cost, "attention": cost}, TOY, "fp8")
    assert (report.compute_seconds, report.no_overlap) == (6, 8)
    wide = {key: rate for key, rate in TOY.peak.items() if key != "bf16"}
    assert analyse({"attention": cost}, dataclasses.replace(TOY, peak=wide), "fp8").kernel_by_kernel == 8
    half = dataclasses.replace(TOY, peak=wide | {"fp16": 16})
    assert analyse({"attention": cost}, half, "fp8").kernel_by_kernel == 2.5


def test_a_gather_has_no_intensity_and_is_memory_bound():
    row = analyse({"embedding": Cost(0, {"rows": 3})}, TOY).rows[0]
    assert (row.regime, row.seconds) == ("memory-bound", 3)


def test_an_unknown_data_type_is_refused():
    with pytest.raises(ValueError, match=r"^dtype = 'int8': must be 'bf16'"):
        analyse({}, TOY, "int8")


@pytest.mark.parametrize("model", [QWEN, MIXTRAL, MODELS["gemma-2-9b"], MODELS["deepseek-v3"]], ids=lambda m: m.name)
@pytest.mark.parametrize("phase", ["decode", "prefill"])
def test_a_sweep_is_one_step_after_another(model, phase):
    options = {"fused": True, "precision": Precision(weights=0.5, kv=1), "traffic": "kv-only"}
    points = [(1, 100), (8, 100), (1, 4096), (8, 9000)]
    swept = list(sweep(model, RTX_4090, points, phase=phase, **options))
    assert [(batch, context) for batch, context, _ in swept] == points
    for batch, context, report in swept:
        L = 1 if phase == "decode" else context
        expected = analyse(model.step({(L, context): batch}, **options), RTX_4090)
        assert (report.compulsory, report.choices) == (pytest.approx(expected.compulsory, rel=1e-12), expected.choices)
        assert {row.operator: row for row in report.rows} == {row.operator: row for row in expected.rows}


def test_a_sweep_refuses():
    for points, message in [([(0, 1)], "^batch = 0: "), ([(1, 0)], "^context = 0: ")]:
        with pytest.raises(ValueError, match=message):
            list(sweep(QWEN, RTX_4090, points))
    with pytest.raises(ValueError, match=r"^phase = 'chunk': must be 'decode' or 'prefill'$"):
        list(sweep(QWEN, RTX_4090, [], phase="chunk"))


def test_crossings_of_the_lesson(oracles):
    found, fused = crossings(QWEN, RTX_4090), crossings(QWEN, RTX_4090, fused=True)
    rows = {"q_proj": found["q_proj"], "k_proj": found["k_proj"], "gate_proj": found["gate_proj"],
            "down_proj": found["down_proj"], "lm_head": found["lm_head"], "qkv_proj_fused": fused["qkv_proj"],
            "gate_up_fused": fused["gate_up_proj"]}
    for name, crossing in rows.items():
        assert crossing == pytest.approx(oracles["gemm"][name]["crossing_tokens"]["ridge_spec"]["value"], rel=1e-9)


def test_experts_cross_late_and_a_router_never():
    found = crossings(MIXTRAL, RTX_4090)
    alone = crossings(dataclasses.replace(MIXTRAL, moe=None), RTX_4090)
    per_expert = gemm_crossing(4096, 14336, RTX_4090.ridge(), b_x=2 / 2)  # two experts' rows read one input
    assert found["expert_up_proj"] == pytest.approx(per_expert * 8 / 2)
    assert found["expert_down_proj"] == pytest.approx(alone["down_proj"] * 8 / 2)
    assert found["router"] is None
    at = found["expert_up_proj"]
    step = MIXTRAL.step({(1, 1): round(at)})
    assert step["expert_up_proj"].intensity == pytest.approx(RTX_4090.ridge(), rel=1e-2)


def test_crossings_with_narrower_operands():
    found = crossings(MIXTRAL, RTX_4090, precision=NARROW)
    for name, M in found.items():
        if M is None:
            continue
        copies = 4 if name.startswith("expert") else 1
        shape = (MIXTRAL.projections() | {"lm_head": (MIXTRAL.hidden, MIXTRAL.vocab)})[name]
        b_x = 1 if name == "expert_down_proj" else 1 / 2  # gate's and up's input serves both of a token's experts
        widths = {"lm_head": (2, 2, 2), "expert": (b_x, 0.25, 2)}.get(name[:7].rstrip("_"), (1, 0.5, 2))
        below, above = (gemm(round(M / copies) + more, *shape, *widths).intensity for more in (-1, 1))
        assert below < RTX_4090.ridge() < above
    bf16, fp8 = (crossings(QWEN, ACCELERATORS["h200"], dtype=dtype)["q_proj"] for dtype in ("bf16", "fp8"))
    assert fp8 > bf16


def test_first_batch_and_context():
    assert first_batch(QWEN, RTX_4090, 2048, "k_proj") == 259
    assert first_batch(QWEN, RTX_4090, 2048, "q_proj", fused=False) == 181
    assert first_batch(QWEN, RTX_4090, 2048, "qkv_proj", fused=True) == 179
    assert first_batch(QWEN, RTX_4090, 2048, "attention") is None
    assert first_context(QWEN, RTX_4090, "attention") == 374
    assert first_context(QWEN, RTX_4090, "attention", at_most=373) is None
    with pytest.raises(ValueError, match=r"^operator = 'qkv_proj': must be 'q_proj' or"):
        first_batch(QWEN, RTX_4090, 2048, "qkv_proj")


def test_no_batch_makes_a_long_decode_step_compute_bound():
    """§3.3: the limit of the aggregate at S = 2048 is 127.4 FLOP/byte; short contexts do cross."""
    assert first_batch(QWEN, RTX_4090, 2048) is None
    found = first_batch(QWEN, RTX_4090, 256)
    around = [analyse(QWEN.step({(1, 256): n}), RTX_4090) for n in (found - 1, found)]
    assert [report.compute_seconds >= report.memory_seconds for report in around] == [False, True]
    context = first_context(QWEN, RTX_4090)
    around = [analyse(QWEN.step([(S, S)]), RTX_4090) for S in (context - 1, context)]
    assert [report.compute_seconds >= report.memory_seconds for report in around] == [False, True]


def test_query_tokens_that_make_attention_compute_bound():
    assert first_query_tokens(QWEN, RTX_4090, 2048) == 26
    assert first_query_tokens(QWEN, RTX_4090, 2048, precision=Precision(kv=1)) == 13
    for S in (100, 188, 200, 215, 220, 300):  # a mask takes pairs away: some are compute-bound in the middle only
        compute_bound = [L for L in range(1, S + 1)
                         if attention(28, 4, 128, L, S, mask="causal").intensity >= RTX_4090.ridge()]
        assert first_query_tokens(QWEN, RTX_4090, S) == next(iter(compute_bound), None)
    L = first_query_tokens(QWEN, RTX_4090, 2048)
    intensity = [attention(28, 4, 128, n, 2048, mask="causal").intensity for n in (L - 1, L)]
    assert intensity[0] < RTX_4090.ridge() <= intensity[1]
    with pytest.raises(ValueError, match=r"^context = 0: "):
        first_query_tokens(QWEN, RTX_4090, 0)


def test_what_fits_beside_the_weights():
    context = largest_context(QWEN, RTX_4090.memory, batch=4)
    needed = [QWEN.weight_bytes() + 4 * QWEN.kv_bytes([S]) for S in (context, context + 1)]
    assert needed[0] <= RTX_4090.memory < needed[1]
    assert largest_context(QWEN, QWEN.weight_bytes() + 57344) == 1
    assert largest_context(QWEN, QWEN.weight_bytes() + 57343) == 0
    assert largest_context(QWEN, 1e9) == 0
    assert largest_context(QWEN, QWEN.weight_bytes() + 57344, precision=Precision(kv=1)) == 2
    assert largest_context(QWEN, 1e15, at_most=4096) == 4096
    batch = largest_batch(QWEN, RTX_4090.memory, 2048)
    needed = [QWEN.weight_bytes() + n * QWEN.kv_bytes([2048]) for n in (batch, batch + 1)]
    assert needed[0] <= RTX_4090.memory < needed[1]
    assert largest_batch(QWEN, 1e9, 2048) == 0


def test_a_state_takes_its_room_beside_the_cache():
    hybrid = MODELS["nemotron-3-nano"]
    one = hybrid.weight_bytes() + hybrid.state_bytes()
    assert largest_context(hybrid, one + 3 * 6144) == 3
    assert largest_context(hybrid, one + 6143) == 0
    assert largest_batch(hybrid, hybrid.weight_bytes() + 2 * (hybrid.state_bytes() + 5 * 6144), 5) == 2
    with pytest.raises(ValueError, match=r"^batch = 0: "):
        largest_context(QWEN, 1e12, batch=0)


def test_a_window_lets_the_context_grow():
    gemma = MODELS["gemma-2-9b"]
    full = dataclasses.replace(gemma, window=None, window_layers=0)
    memory = ACCELERATORS["h100-sxm"].memory
    assert largest_context(gemma, memory) > 1.9 * largest_context(full, memory)


def test_the_verdict_on_k_proj_sits_on_the_edge():
    """§4: 162.9 against 163.889 or 165; a small change of the ridge would turn it."""
    assert gemm_intensity(256, 3584, 512) < RTX_4090.ridge() < 1.01 * gemm_intensity(256, 3584, 512)
