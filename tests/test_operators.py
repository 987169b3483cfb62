"""FLOPs, bytes and intensity of one kernel, against the independent values of oracles.json."""

import math
import re
from fractions import Fraction

import pytest

from roofline_calc import attention, attn_intensity, gemm, gemm_intensity, gemm_limit

EXACT = Fraction(2)  # two bytes per element, carried through the formulas without rounding
QWEN_HEADS = (28, 4, 128)

GEMMS = ["q_proj", "k_proj", "gate_proj", "down_proj", "qkv_proj_fused", "gate_up_fused", "lm_head"]


def exact_attention(L: int, S: int, **options) -> Fraction:
    return attention(*QWEN_HEADS, L, S, b_q=EXACT, b_kv=EXACT, b_score=EXACT, **options).intensity


@pytest.mark.parametrize("name", GEMMS)
def test_gemm_intensity_is_exact(oracles, name):
    row = oracles["gemm"][name]
    for M, expected in row["intensity"].items():
        assert gemm_intensity(int(M), row["K"], row["N"], EXACT) == Fraction(expected["exact"])


@pytest.mark.parametrize("name", [*GEMMS, "lora_r16", "router_N128"])
def test_gemm_limit_is_exact(oracles, name):
    row = oracles["gemm"][name]
    expected = Fraction(row["limit_M_to_infinity"]["exact"])
    assert gemm_limit(row["K"], row["N"], EXACT, EXACT) == expected


def test_gemm_moves_each_operand_once():
    cost = gemm(3, 5, 7, b_x=1, b_w=0.5, b_y=2)
    assert cost.flops == 210
    assert cost.traffic == {"X": 15, "W": 17.5, "Y": 42}
    assert cost.bytes == 74.5


def test_decode_attention_kv_only(oracles):
    expected = Fraction(oracles["attention"]["decode_kv_only"]["exact"])
    assert attn_intensity(28, 4, "decode", 2048, EXACT) == expected
    assert exact_attention(1, 2048, traffic="kv-only") == expected


@pytest.mark.parametrize(
    ("oracle", "options"),
    [
        ("prefill_q_kv_o_by_S", {}),
        ("prefill_q_kv_o_causal_by_S", {"mask": "causal"}),
        ("prefill_kv_only_by_S", {"traffic": "kv-only"}),
    ],
)
def test_prefill_attention(oracles, oracle, options):
    for S, expected in oracles["attention"][oracle].items():
        assert exact_attention(int(S), int(S), **options) == Fraction(expected["exact"])


def test_prefill_attention_kv_only_as_the_lesson_prints_it(oracles):
    for S, expected in oracles["attention"]["prefill_kv_only_by_S"].items():
        assert attn_intensity(28, 4, "prefill", int(S), EXACT) == Fraction(expected["exact"])


def test_decode_attention_with_q_and_o(oracles):
    for S, expected in oracles["attention"]["decode_q_kv_o_by_S"].items():
        assert exact_attention(1, int(S)) == Fraction(expected["exact"])


def test_query_tokens_verified_together(oracles):
    for L, expected in oracles["attention"]["query_tokens_L_at_S2048"].items():
        assert exact_attention(int(L), 2048) == Fraction(expected["exact"])


@pytest.mark.parametrize(("oracle", "passes"), [("4 passes, 2 bytes", 4), ("1 pass, 2 bytes", 1)])
def test_naive_attention_carries_the_scores(oracles, oracle, passes):
    for S, expected in oracles["attention"]["naive_q_kv_o_scores_by_S"][oracle].items():
        if S == "inf":
            assert exact_attention(2**60, 2**60, passes=passes) == pytest.approx(expected, rel=1e-9)
        else:
            assert exact_attention(int(S), int(S), passes=passes) == Fraction(expected["exact"])


def test_causal_attention_with_more_keys_than_queries_counts_only_the_pairs_it_keeps():
    """4 queries against 10 keys: the rows see 7, 8, 9 and 10 keys."""
    assert attention(1, 1, 8, 4, 10, mask="causal").flops == 4 * 8 * (7 + 8 + 9 + 10)


def test_attention_traffic_by_operand():
    cost = attention(8, 2, 64, 3, 100, b_q=2, b_kv=1, passes=4, b_score=4)
    assert cost.traffic == {
        "K": 2 * 100 * 64, "V": 2 * 100 * 64, "Q": 8 * 3 * 64 * 2, "O": 8 * 3 * 64 * 2,
        "scores": 4 * 8 * 3 * 100 * 4,
    }  # fmt: skip
    assert cost.flops == 4 * 8 * 64 * 3 * 100  # by query heads, not KV heads


def test_costs_add_and_repeat():
    cost = gemm(1, 2, 3) + attention(2, 1, 4, 1, 5) * 3
    assert cost.flops == 12 + 3 * 160
    assert cost.traffic == {"X": 4, "W": 12, "Y": 6, "K": 120, "V": 120, "Q": 48, "O": 48}


BAD_SIZES = [0, -1, 2.5, math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("bad", BAD_SIZES)
@pytest.mark.parametrize("name", ["M", "K", "N"])
def test_gemm_refuses_a_size_that_is_not_a_positive_whole_number(name, bad):
    with pytest.raises(ValueError, match=rf"^{name} = {bad!r}: must be a positive whole number$"):
        gemm(**({"M": 1, "K": 2, "N": 3} | {name: bad}))


@pytest.mark.parametrize("bad", [0, -2, math.nan, math.inf])
@pytest.mark.parametrize("name", ["b_x", "b_w", "b_y"])
def test_gemm_refuses_a_width_that_is_not_positive_and_finite(name, bad):
    with pytest.raises(ValueError, match=rf"^{name} = {bad!r}: must be positive and finite$"):
        gemm(1, 2, 3, **{name: bad})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        *(({name: bad}, f"{name} = {bad!r}: must be a positive whole number")
          for name in ("n_q", "n_kv", "head_dim", "L", "S") for bad in BAD_SIZES),
        *(({name: bad}, f"{name} = {bad!r}: must be positive and finite")
          for name in ("b_q", "b_kv", "b_score") for bad in (0, -1, math.nan, math.inf)),
        ({"mask": "casual"}, "mask = 'casual': must be 'none' or 'causal'"),
        ({"traffic": "kv"}, "traffic = 'kv': must be 'q+kv+o' or 'kv-only'"),
        ({"passes": -1}, "passes = -1: must be a positive whole number"),
        ({"passes": 1.5}, "passes = 1.5: must be a positive whole number"),
        ({"n_q": 27}, "n_q = 27: must be a multiple of n_kv (4)"),
        ({"n_kv": 56}, "n_q = 28: must be a multiple of n_kv (56)"),
        ({"L": 2049, "mask": "causal"},
         "L = 2049: under a causal mask the queries are among the S = 2048 cached tokens, so at most 2048"),
    ],
)  # fmt: skip
def test_attention_refuses(changed, message):
    arguments = {"n_q": 28, "n_kv": 4, "head_dim": 128, "L": 1, "S": 2048} | changed
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        attention(**arguments)


def test_more_queries_than_keys_are_fine_without_a_mask():
    assert attention(1, 1, 8, 20, 10).flops == 4 * 8 * 200


def test_a_misspelt_phase_is_not_prefill():
    with pytest.raises(ValueError, match=r"^phase = 'decod': must be 'decode' or 'prefill'$"):
        attn_intensity(28, 4, "decod", 128)


def test_intensity_refuses_a_bad_width():
    with pytest.raises(ValueError, match=r"^b = 0: must be positive"):
        gemm_intensity(1, 2, 3, b=0)
    with pytest.raises(ValueError, match=r"^b = -1: must be positive"):
        attn_intensity(28, 4, "decode", 128, b=-1)
