"""Ridge, roofs, regimes and crossing points, against the independent values of oracles.json."""

import math

import pytest

from roofline_calc import (
    RIDGE,
    RTX_4090,
    Cost,
    attainable,
    attention,
    attn_intensity,
    first_compute_bound,
    first_whole,
    gemm,
    gemm_crossing,
    gemm_intensity,
    gemm_limit,
    kernel_by_kernel,
    regime,
    regime_of,
    ridge_point,
)

SPEC_RIDGE = 165.2e12 / 1008e9
RIDGES = {"ridge165": 165, "ridge_spec": SPEC_RIDGE}
CROSSING = ["q_proj", "k_proj", "gate_proj", "down_proj", "qkv_proj_fused", "gate_up_fused", "lm_head"]


def test_ridge_point_of_the_rtx_4090():
    assert ridge_point(165.2e12, 1008e9) == SPEC_RIDGE == RTX_4090.ridge("bf16")
    assert round(SPEC_RIDGE, 3) == 163.889


def test_the_roof_is_the_lower_of_two():
    assert attainable(1, 165.2e12, 1008e9) == 1008e9
    assert attainable(1000, 165.2e12, 1008e9) == 165.2e12
    assert RTX_4090.attainable(7) == 7 * 1008e9


def test_the_regime_turns_exactly_at_the_ridge():
    assert RIDGE == 165
    assert regime(165) == "compute-bound"
    assert regime(math.nextafter(165, 0)) == "memory-bound"
    assert regime(164) == "memory-bound"
    assert regime(164, ridge=SPEC_RIDGE) == "compute-bound"


@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("name", CROSSING)
def test_gemm_crossing(oracles, name, ridge):
    row = oracles["gemm"][name]
    expected = row["crossing_tokens"][ridge]["value"]
    assert gemm_crossing(row["K"], row["N"], RIDGES[ridge]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("name", [*CROSSING, "lora_r16", "router_N128"])
def test_first_compute_bound_batch(oracles, name, ridge):
    row = oracles["gemm"][name]
    found = first_compute_bound(lambda M: gemm_intensity(M, row["K"], row["N"]), RIDGES[ridge])
    assert found == row["first_compute_bound_M"][ridge]


def test_the_highest_intensity_of_a_layer():
    assert gemm_limit(30, 60) == gemm_limit(30, 60, 2, 2) == 20
    assert gemm_limit(30, 60, b_x=1) == 3600 / 150
    assert gemm_limit(30, 60, b_y=1) == 3600 / 120


def test_a_layer_that_never_crosses_is_none():
    assert gemm_crossing(3584, 128, 165) is None
    assert gemm_crossing(3584, 172, 165) is None  # the widest that never crosses
    assert gemm_crossing(3584, 173, 165) is not None
    assert gemm_crossing(30, 60, gemm_limit(30, 60)) is None  # reached by no finite batch


@pytest.mark.parametrize(
    ("b_w", "q", "kv", "ffn"), [(0.5, 45.4, 65.3, 43.6), (0.5 + 2 / 128, 46.9, 67.3, 45.0)]
)
def test_crossing_with_four_bit_weights(b_w, q, kv, ffn):
    """W4A16 without and with FP16 scales for groups of 128 weights."""
    crossings = [gemm_crossing(3584, N, 165, b_w=b_w) for N in (3584, 512, 18944)]
    assert [round(M, 1) for M in crossings] == [q, kv, ffn]


def test_mixed_widths_cross_where_their_own_intensity_meets_the_ridge():
    """b_x and b_y differ here, so that neither can stand in for the other."""
    M = gemm_crossing(3000, 700, 120, b_x=1, b_w=0.5, b_y=4)
    below, above = (gemm(whole, 3000, 700, 1, 0.5, 4).intensity for whole in (math.floor(M), math.ceil(M)))
    assert below < 120 < above


@pytest.mark.parametrize("ridge", RIDGES)
def test_first_compute_bound_context_in_prefill(oracles, ridge):
    def prefill(**options):
        return lambda S: attention(28, 4, 128, S, S, **options).intensity

    expected = oracles["attention"]["first_compute_bound_S"][ridge]
    accountings = {
        "kv_only": lambda S: attn_intensity(28, 4, "prefill", S),
        "kv_only_causal": prefill(traffic="kv-only", mask="causal"),
        "q_kv_o": prefill(),
        "q_kv_o_causal": prefill(mask="causal"),
    }
    found = {name: first_compute_bound(f, RIDGES[ridge]) for name, f in accountings.items()}
    assert found == expected


def test_first_compute_bound_tries_no_further_than_it_is_told():
    assert first_compute_bound(float, ridge=5.5, at_most=6) == 6
    assert first_compute_bound(float, ridge=5.5, at_most=5) is None
    assert first_compute_bound(float, ridge=0.5) == 1
    assert first_compute_bound(float, ridge=8) == 8


def test_time_floor_sums_each_kernels_own_roof():
    memory, compute = gemm(1, 100, 100), gemm(1000, 100, 100)
    expected = memory.bytes / 1e9 + compute.flops / 1e10
    assert kernel_by_kernel([memory, compute], peak=1e10, bandwidth=1e9) == pytest.approx(expected, rel=1e-12)
    assert kernel_by_kernel([memory + compute], 1e10, 1e9) < expected


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
def test_bad_quantities_are_named(bad):
    calls = {
        "I": [lambda: regime(bad), lambda: attainable(bad, 1, 1)],
        "ridge": [lambda: regime(1, bad), lambda: gemm_crossing(8, 8, bad)],
        "peak": [lambda: ridge_point(bad, 1), lambda: attainable(1, bad, 1), lambda: kernel_by_kernel([], bad, 1)],
        "bandwidth": [lambda: ridge_point(1, bad), lambda: attainable(1, 1, bad),
                      lambda: kernel_by_kernel([], 1, bad)],
        "b_w": [lambda: gemm_crossing(8, 8, 165, b_w=bad)],
    }
    for name, functions in calls.items():
        for function in functions:
            with pytest.raises(ValueError, match=rf"^{name} = {bad!r}: must be positive and finite$"):
                function()


def test_an_accelerator_without_that_data_type_says_which_it_has():
    with pytest.raises(ValueError, match=r"^dtype = 'fp4': must be 'bf16'"):
        RTX_4090.ridge("fp4")


def test_a_kernel_without_arithmetic_is_memory_bound():
    assert regime_of(Cost(0, {"rows": 8})) == "memory-bound"
    assert regime_of(Cost(165, {"X": 1})) == "compute-bound"
    assert regime_of(Cost(164, {"X": 1})) == "memory-bound"
    assert regime_of(Cost(7, {"X": 1}), ridge=7) == "compute-bound"
    for cost in (Cost(0, {"X": 1}), Cost(1, {"X": 1})):
        with pytest.raises(ValueError, match=r"^ridge = 0: must be positive and finite$"):
            regime_of(cost, ridge=0)


@pytest.mark.parametrize("turn", [1, 2, 3, 4, 5, 7, 8, 9, 1000])
def test_the_first_whole_number_that_holds(turn):
    asked = []

    def holds(n: int) -> bool:
        asked.append(n)
        return n >= turn

    assert first_whole(holds) == first_whole(holds, at_most=turn) == turn
    assert first_whole(holds, at_most=turn - 1 or 1) == (None if turn > 1 else 1)
    assert min(asked) == 1
    assert isinstance(first_whole(holds), int)
    assert first_compute_bound(float, ridge=turn) == turn


def test_the_first_whole_number_asks_no_more_than_it_must():
    asked = []
    first_whole(lambda n: asked.append(n) or n >= 100)
    assert asked == [1, 2, 4, 8, 16, 32, 64, 128, 96, 112, 104, 100, 98, 99]
    assert first_whole(lambda n: False) is None
    assert first_whole(lambda n: n >= 2**40) == 2**40
    assert first_whole(lambda n: n >= 2**41) is None
    assert first_compute_bound(float, ridge=2**41) is None
    with pytest.raises(ValueError, match=r"^at_most = 0: must be a positive whole number$"):
        first_whole(bool, at_most=0)
