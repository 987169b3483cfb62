"""What is counted: every claim of the page, worked out longhand with whole numbers and fractions.

Nothing here calls the calculator but where its answer is compared with the longhand one.
"""

import csv
from fractions import Fraction

import pages
import pytest
from claims import CLAIMS
from support import ROOT

from roofline_calc import (
    ACCELERATORS,
    MODELS,
    QWEN,
    Precision,
    attention,
    combine,
    crossings,
    experts_touched,
    gemm,
    mla_attention,
    mla_expanded_attention,
    quantise,
    shared_prefix_attention,
    window_attention,
)

RATIO = "mla_attention(128, 512, 64, 1, 1).flops / mla_expanded_attention(128, 128, 64, 128, 1, 1).flops:.1f"
RESERVED = '32 * 8192 * MODELS["gpt-oss-20b"].kv_bytes_per_token / 2**30:.2f'
COUNTED = 'MODELS["gpt-oss-20b"].kv_bytes([8192] * 32) / 2**30:.2f'


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


def prefill_share(hidden, layers, n_q, n_kv, d, inner, vocab, peak, bandwidth):
    """Share of the element-wise operators in a prefill of 2048 tokens, all kernels one after the other."""
    S, q, kv = 2048, n_q * d, n_kv * d
    gemms = [(hidden, q + 2 * kv), (q, hidden), (hidden, 2 * inner), (inner, hidden)]
    kernels = [(layers * 2 * S * K * N, layers * 2 * (S * K + K * N + S * N)) for K, N in gemms]
    kernels.append((layers * 4 * q * (S * (S + 1) // 2), layers * 2 * (2 * S * kv + 2 * S * q)))
    kernels.append((2 * hidden * vocab, 2 * (hidden + hidden * vocab + vocab)))
    norms, rope = (2 * layers + 1) * (2 * S + 1) * hidden, layers * (2 * (n_q + n_kv) + 1) * S * d
    swiglu, added, embedding = 3 * layers * S * inner, 2 * layers * 3 * S * hidden, 2 * S * hidden
    fused = sum(max(Fraction(flops) / peak, Fraction(moved) / bandwidth) for flops, moved in kernels)
    apart = Fraction(2 * (norms + rope + swiglu + added + embedding)) / bandwidth  # far from compute-bound
    return apart / (fused + apart)


def test_what_element_wise_operators_cost_where_nothing_is_fused():
    """Times: 6 and 11 % of a prefill for Qwen2.5-7B, 20 and 30 % for 0.5B, on an RTX 4090 and an H100."""
    shapes = {"qwen2.5-7b": (3584, 28, 28, 4, 128, 18944, 152064), "qwen2.5-0.5b": (896, 24, 14, 2, 64, 4864, 151936)}
    cards = {"rtx-4090": (1652 * 10**11, 1008 * 10**9), "h100-sxm": (9894 * 10**11, 335 * 10**10)}
    shares = [prefill_share(*shape, *map(Fraction, card)) for shape in shapes.values() for card in cards.values()]
    assert [f"{float(share):.0%}" for share in shares] == ["6%", "11%", "20%", "30%"]
    claimed = [value for field, value in CLAIMS.items() if field.startswith("1 - analyse(") and "elementwise" in field]
    assert claimed == ["6%", "11%", "20%", "30%"]


def test_no_step_has_element_wise_operators_unless_asked():
    fused, apart = (QWEN.step([(1, 512)], elementwise=asked) for asked in (False, True))
    assert apart.keys() - fused.keys() == {"embedding", "norms", "rope", "swiglu", "residual"}
    assert "swiglu" not in QWEN.decode_kernels(1, 512)


def test_the_form_of_fewer_flops_is_counted():
    """MLA: 278,528 FLOPs a pair absorbed, 81,920 expanded; decode absorbed, a whole prefill expanded."""
    assert claim(RATIO) == rounded(Fraction(2 * 128 * (512 + 64 + 512), 2 * 128 * (128 + 64 + 128)), 1) == 3.4
    deepseek = MODELS["deepseek-v3"]
    for L, S, form in [(1, 2048, "absorbed"), (1, 10**6, "absorbed"), (2, 2, "expanded"), (4096, 4096, "expanded")]:
        kernels = deepseek.step([(L, S)]).keys()
        assert f"{form}_attention" in kernels
        assert len([name for name in kernels if name.endswith("_attention")]) == 1


def test_the_expanded_form_s_row_of_the_table():
    """MLA: S (b n_q (d_N + d_V) + b_kv d_R) + b n_q L (d_N + d_R + d_V) bytes."""
    for L, S in [(1, 100), (64, 64)]:
        cost = mla_expanded_attention(128, 128, 64, 128, L, S, b_kv=1)
        assert cost.flops == 2 * 128 * (128 + 64 + 128) * L * S
        assert cost.bytes == S * (2 * 128 * 256 + 64) + 2 * 128 * L * (128 + 64 + 128)


def test_gate_and_up_read_a_token_s_row_once_and_down_a_row_per_expert():
    """Experts: 8 experts of 128, 48 layers of 2048, experts of 768."""
    kernels = MODELS["qwen3-30b-a3b"].step({(1, 512): 100})
    assert kernels["expert_gate_proj"].traffic["X"] == kernels["expert_up_proj"].traffic["X"] == 48 * 100 * 2048 * 2
    assert kernels["expert_down_proj"].traffic["X"] == 48 * 100 * 8 * 768 * 2


def test_the_sum_of_the_experts_outputs_and_the_quantising_pass_are_element_wise():
    """Table: 2Tkh FLOPs and (k + 1)Thb bytes; 3Mh and Mh(b + b_x)."""
    assert (combine(100, 8, 2048).flops, combine(100, 8, 2048).bytes) == (2 * 100 * 8 * 2048, 9 * 100 * 2048 * 2)
    assert (quantise(100, 3584, 2, 1).flops, quantise(100, 3584, 2, 1).bytes) == (3 * 100 * 3584, 100 * 3584 * 3)
    assert "combine" in MODELS["qwen3-30b-a3b"].step([(1, 1)], elementwise=True)
    w8a8 = Precision(activations=1, weights=1)
    assert "quantise" in QWEN.step([(1, 1)], elementwise=True, precision=w8a8)
    assert "quantise" not in QWEN.step([(1, 1)], precision=w8a8)


def test_windows_in_pages_of_full_layers_take_twice_what_they_need():
    """KV cache: GPT-OSS-20B, 24 layers of 8 KV heads of 64, every other with a window of 128; 32 times 8192 tokens."""
    token = 2 * 8 * 64 * 2
    assert CLAIMS[RESERVED] == f"{32 * 8192 * 24 * token / 2**30:.2f}" == "12.00"
    assert CLAIMS[COUNTED] == f"{32 * 12 * (8192 + 128) * token / 2**30:.2f}" == "6.09"


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


def test_an_index_and_what_it_picks_are_a_fraction_of_all_tokens():
    """Sparse attention: 64 index heads of 128 on every key, 128 heads on latents of 512 + 64."""
    pair, scored = 2 * 128 * (512 + 64 + 512), 64 * (2 * 128 + 2)
    field = "index_scores(64, 128, 1, 131072, 2048).flops / mla_attention(128, 512, 64, 1, 131072).flops:.1%"
    assert percent(field) == rounded(Fraction(100 * scored, pair), 1)
    assert percent("2048 / 131072:.1%") == rounded(Fraction(100, 64), 1)
    assert claim('MODELS["deepseek-v3.2"].index.key_bytes') == 128 + 4
    assert claim('MODELS["deepseek-v3"].kv_bytes_per_token // MODELS["deepseek-v3"].layers') == 2 * (512 + 64)


def percent(field: str) -> float:
    assert field in pages.fields("zh", "accounting.md")
    return float(CLAIMS[field].rstrip("%"))


def test_a_state_is_read_and_written_for_one_token():
    """Linear attention: FLOPs per element of the state over eight bytes, but for the token's own few rows."""
    rows = 2 * (2 * 16 * 128 + 2 * 32 * 128)
    delta = Fraction(6 * 32 * 128 * 128, 2 * 4 * 32 * 128 * 128 + rows)
    assert claim("gated_delta_rule(16, 32, 128, 128, 1, 4096).intensity:.2f") == rounded(delta, 2)
    rows = 2 * (2 * 64 * 64 + 2 * 8 * 128)
    scan = Fraction(4 * 64 * 64 * 128, 2 * 4 * 64 * 64 * 128 + rows)
    assert claim("mamba2_scan(64, 64, 8, 128, 1, 4096).intensity:.2f") == rounded(scan, 2)


def test_a_sequences_state_beside_its_kv_cache():
    """Qwen3-Next: 36 layers of 32 x 128 x 128 and three tokens of 8192 channels, 12 layers of 2 KV heads of 256."""
    state, per_token = 36 * 2 * (32 * 128 * 128 + 3 * 8192), 12 * 2 * 2 * 256 * 2
    assert claim('MODELS["qwen3-next-80b-a3b"].state_bytes() / 1e6:.1f') == rounded(Fraction(state, 10**6), 1)
    tokens = 'MODELS["qwen3-next-80b-a3b"].state_bytes() / MODELS["qwen3-next-80b-a3b"].kv_bytes_per_token:,.0f'
    assert claim(tokens) == Fraction(state, per_token)


# ------------------------------------------------------------------ beside measurements

H20 = 'measured("H20: Qwen3-235B-A22B FP8, TP 4, PP 1, 131072 tokens in")'
DEEPSEEK = 'measured("H20: DeepSeek-V3.1 FP8, TP 8, PP 1, 131072 tokens in")'
LLAMA = 2 * (4096 * (4096 + 2 * 1024 + 4096) + 3 * 4096 * 14336) * 32  # FLOPs of a token's linear layers


def pairs(tokens: int) -> int:
    """Of a causal prompt."""
    return tokens * (tokens + 1) // 2


def test_rows_of_the_files_but_for_four_cards_with_two_figures_each():
    counted = 0
    for path in (ROOT / "snippets/published").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as table:
            counted += (len(list(csv.DictReader(table)))) * (2 if "scoreboard" in path.name else 1)
    assert claim("len(measurements())") == counted - 4 * 2


def test_the_nearest_and_the_next_are_bounds_of_arithmetic():
    """FP8 products at 296, attention's, router's and lm_head's at 148 TFLOP/s, of one card of four and of eight."""
    T = 131_072
    fp8 = 94 * 2 * (2 * 4096 * 8192 + 2 * 4096 * 512 + 8 * 3 * 4096 * 1536) * T
    wide = 94 * 2 * 4096 * 128 * T * 4 + 94 * 4 * 64 * 128 * pairs(T) + 2 * 4096 * 151936
    bound = (Fraction(fp8, 296 * 10**12) + Fraction(wide, 148 * 10**12)) / 4
    assert claim(f"{H20}.least.lower_bound:.1f") == rounded(bound, 1)
    assert claim("max(row.fraction for row in measurements()):.2f") == rounded(bound / Fraction("55.5"), 2)
    assert (claim(f"{H20}.prompt:,"), claim(f"{H20}.seconds:.1f")) == (T, 55.5)

    latents, experts = 7168 * (1536 + 512 + 64), 9 * 3 * 7168 * 2048  # the latents' layers are on every card
    split = 1536 * 128 * 192 + 512 * 128 * 256 + 128 * 128 * 7168
    fp8 = 2 * T * (61 * (8 * latents + split) + 3 * 3 * 7168 * 18432 + 58 * experts)
    wide = 2 * T * 58 * 8 * 7168 * 256 + 61 * 2 * 128 * (192 + 128) * pairs(T) + 2 * 7168 * 129280
    bound = (Fraction(fp8, 296 * 10**12) + Fraction(wide, 148 * 10**12)) / 8
    assert claim(f"{DEEPSEEK}.least.lower_bound:.1f") == rounded(bound, 1)
    assert claim(f"{DEEPSEEK}.seconds:.1f") == 48.5


def test_a_prompt_above_the_roof_of_fp32_accumulation():
    """Llama 3 8B: 512 tokens through the layers, one to lm_head; at 97.5 TFLOP/s, and at 195."""
    row = 'measured("4080 16GB: Llama 3 8B F16, pp 512")'
    flops = 512 * LLAMA + 32 * 4 * 32 * 128 * pairs(512) + 2 * 4096 * 128256
    achieved = flops / (512 / Fraction("7246.97"))
    assert claim(f'{row}.fraction_at("fp16"):.2f') == rounded(achieved / (975 * 10**11), 2)
    assert claim(f"{row}.fraction:.2f") == rounded(achieved / (195 * 10**12), 2)
    assert claim(f"{row}.prompt") == 512
    # The lowest of all, published so: an A100 SXM with the same prompt.
    slowest = flops / (512 / Fraction("603.76")) / (312 * 10**12)
    assert claim("min(row.fraction for row in measurements()):.2f") == rounded(slowest, 2)


@pytest.mark.parametrize(("gpu", "bandwidth", "speed"), [
    ("RTX 5000 Ada 32GB", 576 * 10**9, "32.84"), ("A100 PCIe 80GB", 1935 * 10**9, "54.84"),
])
def test_how_near_generation_comes(gpu, bandwidth, speed):
    """Weights but the embedding, a row of that, and a cache that grows by 131,072 bytes a token, 512 times."""
    weights = 2 * (8_030_261_248 - 128256 * 4096 + 4096)
    moved = 512 * weights + 131_072 * pairs(512)
    fraction = Fraction(moved, bandwidth) / (512 / Fraction(speed))
    assert claim(f'measured("{gpu}: Llama 3 8B F16, tg 512").fraction:.2f') == rounded(fraction, 2)


def test_bytes_of_a_stored_weight():
    """What a checkpoint stores: bits of a weight, and its share of what a group or block of weights has in common."""
    nested = (1 + Fraction(4, 256)) / 64
    for field, value, digits in (
        ("quantised_width(8, group=128 * 128, scale_bytes=4):.6f", 1 + Fraction(4, 128 * 128), 6),
        ('bytes_of("awq"):.6f', Fraction(1, 2) + Fraction(2 * 2 + 1, 2 * 128), 6),
        ('bytes_of("nvfp4")', Fraction(1, 2) + Fraction(1, 16), 4),
        ('bytes_of("mxfp4")', Fraction(1, 2) + Fraction(1, 32), 5),
        ("quantised_width(4, group=64, scale_bytes=4)", Fraction(1, 2) + Fraction(2 + 2, 64), 4),
        ("quantised_width(4, group=64, scale_bytes=quantised_width(8, group=256, scale_bytes=4)):.6f",
         Fraction(1, 2) + nested, 6),
        ('bytes_of("q4_0")', Fraction(2 + 16, 32), 4),  # an FP16 scale and 32 halves of a byte
        ('bytes_of("q6_k"):.4f', Fraction(128 + 64 + 16 + 2, 256), 4),  # 4 and 2 bits, 16 scales, an FP16 one
    ):
        assert claim(field) == rounded(value, digits)


def test_what_one_token_reads_of_a_partly_quantised_mixture():
    """Qwen3-30B-A3B: 48 layers of attention, norms, a router and 8 of 128 experts, one norm and lm_head."""
    expert = 48 * 8 * 3 * 2048 * 768
    attention = 48 * (2 * 2048 * 4096 + 2 * 2048 * 512)
    others = 48 * (2048 * 128 + 2 * 2048 + 2 * 128) + 2048 + 151936 * 2048
    awq = Fraction(1, 2) + Fraction(5, 256)
    for modules, value in {
        "experts": expert * awq + 2 * (attention + others), "layers": (expert + attention) * awq + 2 * others,
    }.items():
        stored = f'Precision(modules={{"{modules}": Stored(bytes_of("awq"))}})'
        field = f'MODELS["qwen3-30b-a3b"].weight_bytes_read(1, {stored}) / 1e9:.2f'
        assert claim(field) == rounded(value / 10**9, 2)


def test_a_file_of_several_widths():
    """Q4_K_M: of 32 layers the first and last 4 and every third between have v_proj in Q6_K, the rest in Q4_K."""
    wide = [i for i in range(32) if i < 4 or i >= 28 or (i - 4) % 3 == 2]
    q6, q4 = Fraction(8 * 210, 256), Fraction(8 * 144, 256)
    of_values = (len(wide) * q6 + (32 - len(wide)) * q4) / 32
    assert claim('8 * stored_as("q4_k_m", MODELS["llama-3.1-8b"])["v_proj"].width:.3f') == rounded(of_values, 3)
    assert claim('8 * stored_as("q4_k_m", MODELS["llama-3.1-8b"])["lm_head"].width:.4f') == rounded(q6, 4)
