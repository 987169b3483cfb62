"""What is counted: every claim of the page, worked out longhand with whole numbers and fractions.

Nothing here calls the calculator but where its answer is compared with the longhand one.
"""

from fractions import Fraction

import pages
import pytest
from claims import CLAIMS

from roofline_calc import (
    ACCELERATORS,
    MODELS,
    QWEN,
    attention,
    crossings,
    experts_touched,
    gemm,
    mla_attention,
    shared_prefix_attention,
    window_attention,
)


def claim(field: str) -> float:
    """A value that the page shows."""
    assert field in pages.fields("zh", "accounting.md")
    return float(CLAIMS[field].replace(",", ""))


def rounded(value: Fraction, digits: int) -> float:
    return round(float(value), digits)


def test_the_widest_activation_fits_a_last_level_cache():
    """Ground rules: 256 rows of 18,944, two bytes each, in the smallest cache that the catalogue has of such cards."""
    widest = 256 * 18944 * 2
    assert claim('gemm(256, 3584, 18944).traffic["Y"] / 1e6:.1f') == rounded(Fraction(widest, 10**6), 1)
    assert widest == max(256 * N * 2 for _, N in QWEN.projections().values())
    cards = ("rtx-4090", "a100-80gb-sxm", "h100-sxm", "h200", "b200")
    caches = {card: ACCELERATORS[card].last_level_cache for card in cards}
    assert all(size is None or widest < size for size in caches.values())
    assert caches["rtx-4090"] == 72 * 2**20


def test_with_x_in_the_cache_the_thin_layer_is_over_the_ridge():
    """Linear layers: k_proj at M = 256 with and without the 1.8 MB of X."""
    flops, moved, X = 2 * 256 * 3584 * 512, 2 * (256 * 3584 + 3584 * 512 + 256 * 512), 2 * 256 * 3584
    field = 'gemm(256, 3584, 512).flops / (gemm(256, 3584, 512).bytes - gemm(256, 3584, 512).traffic["X"]):.1f'
    assert claim(field) == rounded(Fraction(flops, moved - X), 1)
    assert claim('gemm(256, 3584, 512).traffic["X"] / 1e6:.1f') == rounded(Fraction(X, 10**6), 1)
    assert Fraction(flops, moved) < Fraction(1652 * 10**11, 1008 * 10**9) < 165 < Fraction(flops, moved - X)


def test_a_scale_of_two_bytes_for_128_weights_adds_a_64th_of_a_byte():
    assert claim("quantised_width(4, group=128)") == Fraction(4, 8) + Fraction(2, 128) == 0.515625


def test_w4a16_crosses_in_proportion_to_the_width_of_a_weight():
    for N, K, whole in ((3584, 3584, "3584, 3584"), (512, 3584, "3584, 512"), (18944, 3584, "3584, 18944")):
        room = Fraction(2, 165) - Fraction(2, N) - Fraction(2, K)
        assert claim(f"gemm_crossing({whole}, RIDGE):.1f") == rounded(2 / room, 1)
        assert claim(f"gemm_crossing({whole}, RIDGE, b_w=0.5):.1f") == rounded(Fraction(1, 2) / room, 1)
        assert claim(f"gemm_crossing({whole}, RIDGE, b_w=0.5 + 2/128):.1f") == rounded(Fraction(33, 64) / room, 1)


def decode(L: int, b_kv: Fraction) -> Fraction:
    """28 query heads on 4 KV heads of 128, 2048 cached tokens."""
    return Fraction(4 * 28 * L * 2048 * 128) / (2 * 4 * 2048 * 128 * b_kv + 2 * 28 * L * 128 * 2)


def test_a_narrow_cache_and_several_query_tokens_raise_decode_alike(oracles):
    assert claim("attention(28, 4, 128, 1, 2048, b_kv=1).intensity:.3f") == rounded(decode(1, Fraction(1)), 3)
    assert claim("attention(28, 4, 128, 1, 2048, b_kv=0.5).intensity:.2f") == rounded(decode(1, Fraction(1, 2)), 2)
    assert decode(1, Fraction(1)) == decode(2, Fraction(2))
    for L in (2, 4, 8):
        value = oracles["attention"]["query_tokens_L_at_S2048"][str(L)]
        assert Fraction(value["exact"]) == decode(L, Fraction(2))
        assert claim(f"attention(28, 4, 128, {L}, 2048).intensity:.3f") == rounded(decode(L, Fraction(2)), 3)


def test_drafted_tokens_cross_the_ridge_at_26():
    assert decode(25, Fraction(2)) < 165 < decode(26, Fraction(2))


def test_a_window_in_decode_is_a_shorter_context():
    value = Fraction(4 * 32 * 4096 * 128, 2 * 8 * 4096 * 128 * 2 + 2 * 32 * 128 * 2)
    assert claim("window_attention(32, 8, 128, 1, 32768, 4096).intensity:.3f") == rounded(value, 3)
    assert window_attention(32, 8, 128, 1, 32768, 4096).intensity == attention(32, 8, 128, 1, 4096).intensity


def test_a_window_in_prefill_ends_at_a_ceiling():
    assert claim("window_attention(32, 8, 128, 2**40, 2**40, 4096).intensity:,.1f") == rounded(4096 * Fraction(4, 5), 1)


def test_on_a_shared_prefix_the_batch_takes_the_place_of_the_query_tokens():
    value = Fraction(4 * 28 * 32 * 2048 * 128, 2 * 4 * 2048 * 128 * 2)
    assert claim('attention(28, 4, 128, 32, 2048, traffic="kv-only").intensity:.0f') == value == 32 * 7
    whole = shared_prefix_attention(28, 4, 128, batch=32, prefix=2048, own=1, traffic="kv-only")
    own = attention(28, 4, 128, 1, 1, traffic="kv-only") * 32
    assert (whole.flops - own.flops) / (whole.bytes - own.bytes) == value


def test_mla_reads_one_latent_for_all_heads():
    flops, latent = 2 * 128 * (2 * 512 + 64) * 2048, 2048 * (512 + 64) * 2
    kv_only = 'mla_attention(128, 512, 64, 1, 2048, traffic="kv-only").intensity:.1f'
    assert claim(kv_only) == rounded(Fraction(flops, latent), 1)
    moved = latent + 128 * (512 + 64) * 2 + 128 * 512 * 2
    assert claim("mla_attention(128, 512, 64, 1, 2048).intensity:.1f") == rounded(Fraction(flops, moved), 1)


def test_expanded_mla_takes_fewer_flops_in_prefill():
    absorbed = mla_attention(128, 512, 64, 4096, 4096).flops
    expanded = 2 * 128 * (192 + 128) * 4096 * 4096 + gemm(4096, 512, 128 * (128 + 128)).flops
    assert expanded < absorbed


def test_32_tokens_touch_most_experts_with_two_rows_each():
    assert claim("experts_touched(128, 8, 1):.0f") == 8
    assert claim("experts_touched(128, 8, 32):.1f") == rounded(128 * (1 - Fraction(15, 16) ** 32), 1)
    assert CLAIMS["experts_touched(128, 8, 32) / 128:.0%"] == f"{float(1 - Fraction(15, 16) ** 32):.0%}"
    assert claim("32 * 8 / 128:.0f") == Fraction(32 * 8, 128)


def test_uneven_routing_touches_fewer():
    """Half of the experts get all the tokens: at most 64 of 128."""
    assert 64 * (1 - Fraction(7, 8) ** 32) < Fraction(experts_touched(128, 8, 32))


def test_an_experts_gate_turns_at_5850_tokens_on_an_h100():
    ridge = Fraction(9894 * 10**11, 335 * 10**10)
    value = 2 / (2 / ridge - Fraction(2, 8 * 768) - Fraction(2, 2048)) * Fraction(128, 8)  # X once for 8 experts
    field = 'crossings(MODELS["qwen3-30b-a3b"], ACCELERATORS["h100-sxm"])["expert_gate_proj"]:,.0f'
    assert claim(field) == round(value)
    found = crossings(MODELS["qwen3-30b-a3b"], ACCELERATORS["h100-sxm"])
    assert found["expert_gate_proj"] == pytest.approx(float(value), rel=1e-12)


def test_element_wise_operators_stay_below_one():
    assert claim("rms_norm(256, 3584).intensity:.3f") == rounded(Fraction(4 * 256, (2 * 256 + 1) * 2), 3)
    assert claim("rope(256, 32, 128).intensity:.3f") == rounded(Fraction(3 * 32, (2 * 32 + 1) * 2), 3)
    assert claim("swiglu(256, 18944).intensity:.3f") == rounded(Fraction(4, 3 * 2), 3)
    assert claim("residual(256, 3584).intensity:.3f") == rounded(Fraction(1, 3 * 2), 3)


def test_deepseek_caches_576_numbers_in_each_of_61_layers():
    assert claim('MODELS["deepseek-v3"].kv_bytes_per_token:,') == (512 + 64) * 2 * 61


def test_a_mixture_of_experts_reads_a_tenth_of_what_is_resident():
    """Qwen3-30B-A3B: 48 layers of 2048, 32 and 4 heads of 128, 128 experts of 768 of which 8 are used."""
    attention_weights = 2048 * 32 * 128 * 2 + 2048 * 4 * 128 * 2
    vectors = 2 * 2048 + 2 * 128
    layer = attention_weights + 2048 * 128 + vectors
    head = 2048 * 151936
    read = 48 * (layer + 8 * 3 * 2048 * 768) + head + 2048
    resident = 48 * (layer + 128 * 3 * 2048 * 768) + 2 * head + 2048
    assert claim('MODELS["qwen3-30b-a3b"].params / 1e9:.1f') == round(resident / 1e9, 1)
    assert claim('MODELS["qwen3-30b-a3b"].params_read(1) / 1e9:.1f') == round(read / 1e9, 1)


def test_cards_divide_the_heads_and_the_width_evenly():
    valid = [t for t in range(1, 29) if 28 % t == 0 and 18944 % t == 0 and (4 % t == 0 or t % 4 == 0)]
    assert CLAIMS['", ".join(map(str, QWEN.valid_tp))'] == ", ".join(map(str, valid))


def test_16_cards_keep_8_kv_heads_twice():
    field = '16 * MODELS["llama-3.1-8b"].card(16).kv_bytes_per_token / MODELS["llama-3.1-8b"].kv_bytes_per_token:.0f'
    assert claim(field) == Fraction(16 * 1, 8)
