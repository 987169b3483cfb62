"""What is counted over several cards: each claim of that page's sections, worked out longhand as in its other tests."""

from fractions import Fraction
from math import comb

import pages
from claims import CLAIMS


def claim(field: str) -> float:
    """A value that the page shows."""
    assert field in pages.fields("zh", "accounting.md")
    return float(CLAIMS[field].replace(",", ""))


def rounded(value: Fraction, digits: int) -> float:
    return round(float(value), digits)


def test_cards_divide_the_heads_and_the_width_evenly():
    valid = [t for t in range(1, 29) if 28 % t == 0 and 18944 % t == 0 and (4 % t == 0 or t % 4 == 0)]
    assert CLAIMS['", ".join(map(str, QWEN.valid_tp))'] == ", ".join(map(str, valid))


def test_16_cards_keep_8_kv_heads_twice():
    field = '16 * MODELS["llama-3.1-8b"].card(16).kv_bytes_per_token / MODELS["llama-3.1-8b"].kv_bytes_per_token:.0f'
    assert claim(field) == Fraction(16 * 1, 8)


def test_blocks_forbid_what_heads_and_widths_allow():
    """DeepSeek-V3: 128 heads; 18432, 2048 and the heads' widths in blocks of 128."""
    widths = (18432, 2048, 128 * 192, 128 * 128)
    valid = [t for t in range(1, 129) if 128 % t == 0 and all(N % t == 0 and N // t % 128 == 0 for N in widths)]
    assert CLAIMS['", ".join(map(str, MODELS["deepseek-v3"].valid_tp))'] == ", ".join(map(str, valid))
    assert claim('MODELS["deepseek-v3"].intermediate / 32:.0f') == Fraction(18432, 32)
    assert Fraction(18432, 32) % 128


def test_a_measured_all_reduce_beats_a_ring_on_that_link():
    ring = 2 * Fraction(7, 8) * 275
    assert claim("all_reduce(275, 8).between_cards:.0f") == rounded(ring, 0)
    assert 275 < claim('ACCELERATORS["h100-sxm"].link / 1e9:.0f') < ring


def test_llama_exchanges_beside_its_bound():
    """80 layers of 8192, 64 heads on 8 of 128, 28672 and 128256 wide, an eighth of them on each H100."""
    message = 64 * 8192 * 2
    field = 'MODELS["llama-3.1-70b"].card(8).exchanges(64).values(), ACCELERATORS["h100-sxm"].link'
    seconds = (160 + Fraction(7, 8)) * message / (450 * 10**9)
    assert claim(f"exchange_bound({field}) * 1e3:.2f") == rounded(1000 * seconds, 2)
    layer = 2 * 8192 * 8192 + 2 * 8192 * 1024 + 3 * 8192 * 28672
    weights = 2 * ((80 * layer + 8192 * 128256) // 8 + 161 * 8192)
    cache = 64 * 2048 * 80 * 2 * 128 * 2  # one KV head on each card
    bound = (weights + cache + Fraction(message, 8)) / (335 * 10**10)
    step = 'MODELS["llama-3.1-70b"].card(8).decode_kernels(64, 2048, fused=True), ACCELERATORS["h100-sxm"]'
    assert claim(f"analyse({step}).lower_bound * 1e3:.2f") == rounded(1000 * bound, 2)


def test_qwen_exchanges_over_pcie_beside_its_bound():
    """28 layers of 3584, a quarter of them on each RTX 4090; a prompt is held back by its arithmetic."""
    seconds = (56 + Fraction(3, 4)) * 2048 * 3584 * 2 / (32 * 10**9)
    field = "exchange_bound(QWEN.card(4).exchanges(2048).values(), RTX_4090.link) * 1e3:.0f"
    assert claim(field) == rounded(1000 * seconds, 0)
    layer = 2 * 3584 * 3584 + 2 * 3584 * 512 + 3 * 3584 * 18944
    flops = 2 * 2048 * 28 * layer + 28 * 4 * 28 * 128 * 2048 * 2049 // 2 + 2 * 3584 * 152064
    bound = Fraction(flops, 4) / (1652 * 10**11)
    field = "analyse(QWEN.card(4).step([(2048, 2048)], fused=True), RTX_4090).lower_bound * 1e3:.0f"
    assert claim(field) == rounded(1000 * bound, 0)


def deepseek(experts: int) -> tuple[Fraction, Fraction]:
    """DeepSeek-V3 with so many of 256 experts a layer: bytes of its weights, and those of its input embedding."""
    fp8, table = 1 + Fraction(4, 128**2), 129280 * 7168
    wide = 2 * table + 58 * 256 * (7168 + 1) + 61 * (2 * 7168 + 1536 + 512) + 7168
    narrow = 671_026_419_200 - wide - 58 * (256 - experts) * 3 * 7168 * 2048
    return narrow * fp8 + 2 * wide, Fraction(2 * table)


def test_deepseek_spread_over_cards():
    assert claim('MODELS["deepseek-v3"].weight_bytes() / 1e9:.0f') == rounded(deepseek(256)[0] / 10**9, 0)
    card = 'MODELS["deepseek-v3"].card(1, ep=32).weight_bytes() / 1e9:.1f'
    assert claim(card) == rounded(deepseek(8)[0] / 10**9, 1)
    missed = Fraction(comb(248, 8), comb(256, 8))
    assert claim("cards_touched(256, 8, 32):.1f") == rounded(32 * (1 - missed), 1)


def test_deepseek_dispatches_beside_its_bound():
    """128 cards with two experts and 128 sequences each: a row of one byte to each card met, two bytes back."""
    met = 1 - Fraction(comb(254, 8), comb(256, 8))
    there, back = 127 * met * 7168, 127 * met * 7168 * 2
    assert there + 7168 * 2 < back + 7168  # what comes in, rows and each sum once; what goes out, results and rows once
    seconds = 58 * 128 * (back + 7168) / (200 * 10**9)
    field = 'MODELS["deepseek-v3"].card(1, ep=128).exchanges(128).values(), ACCELERATORS["h800-sxm"].link'
    assert claim(f"exchange_bound({field}) * 1e3:.1f") == rounded(1000 * seconds, 1)
    weights, table = deepseek(2)
    moved = weights - table + 128 * (4096 * 61 * 576 * 2 + 7168 * 2)
    step = 'MODELS["deepseek-v3"].card(1, ep=128).decode_kernels(128, 4096, fused=True), ACCELERATORS["h800-sxm"]'
    assert claim(f"analyse({step}).lower_bound * 1e3:.1f") == rounded(1000 * moved / (335 * 10**10), 1)
    assert claim("128 / (18598 / 8) * 1e3:.0f") == rounded(Fraction(128 * 8 * 1000, 18598), 0)
