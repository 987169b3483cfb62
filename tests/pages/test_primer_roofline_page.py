"""Every claim of the primer on the roofline model, worked out longhand."""

from fractions import Fraction

import pytest
from longhand import CARD, H100, H200, KV, READ, RIDGES, B, P, Q, attend, intensity, kernel_by_kernel, linear, shown

from roofline_calc import RTX_4090


def test_q_proj_at_one_token():
    """A §1: 25.7 MFLOP and 25.7 MB, and an intensity of 0.9994."""
    flops, moved = linear(1, *Q)
    assert (flops, moved) == (2 * 3584**2, 2 * (3584**2 + 2 * 3584))
    assert (shown(flops / 10**6, ".1f"), shown(moved / 10**6, ".1f")) == ("25.7", "25.7")
    assert shown(flops / moved, ".4f") == "0.9994"


def test_nearly_all_of_q_proj_s_time_goes_into_the_weight():
    """A §2: computing takes 0.16 µs, moving 25.5 µs; the weight is over 99 % of what moves."""
    flops, moved = linear(1, *Q)
    assert (shown(flops / P * 10**6, ".2f"), shown(moved / B * 10**6, ".1f")) == ("0.16", "25.5")
    assert Fraction(2 * 3584**2) / moved > Fraction(99, 100)


def test_ridges_of_the_wrong_peaks():
    """A §3: 330.3 TFLOP/s over 1008 GB/s is 328, twice that 655, 82.6 is 82."""
    assert shown(Fraction(6606 * 10**11) / B, ".0f") == "655"
    assert shown(Fraction(3303 * 10**11) / B, ".0f") == "328"
    assert shown(Fraction(826 * 10**11) / B, ".0f") == "82"


def test_a_wrong_peak_flips_the_verdict():
    """A §3: q_proj at M = 256 is over the ridge and under 328; k_proj right at the ridge, and over 82 by far."""
    wrong = Fraction(3303 * 10**11) / B, Fraction(826 * 10**11) / B
    q, k = intensity(linear(256, *Q)), intensity(linear(256, *KV))
    assert max(RIDGES) <= q < wrong[0]
    assert all(wrong[1] < k < ridge and (ridge - k) / ridge < Fraction(2, 100) for ridge in RIDGES)
    assert k > Fraction(19, 10) * wrong[1]


def test_the_levels_of_the_pyramid():
    """A §4: 128 SMs of 256 and 128 KiB hold 32 and 16 MiB; 24 GiB, 72 MiB of L2."""
    assert (128 * 256 * 1024, 128 * 128 * 1024) == (32 * 2**20, 16 * 2**20)
    assert (RTX_4090.memory, RTX_4090.last_level_cache) == (CARD, 72 * 2**20)


def test_one_weight_fits_l2_and_a_step_s_weights_do_not():
    """A §4 and §8 (b): 25.7 MB fit in 72 MiB; 13.2 GiB, over a hundred times the L2, evict them within a step."""
    assert shown(Fraction(2 * 3584**2, 10**6), ".1f") == "25.7"
    assert 2 * 3584**2 < 72 * 2**20
    assert shown(Fraction(2 * READ, 2**30), ".1f") == "13.2"
    assert 2 * READ > 100 * 72 * 2**20


def test_attainable_at_the_intensities_of_decode():
    """A §5: 1.01 TFLOP/s or 0.6 % at 1, 7.06 or 4.3 % at 7."""
    assert [(shown(I * B / 10**12, ".2f"), shown(I * B / P, ".1%")) for I in (1, 7)] == [
        ("1.01", "0.6%"), ("7.06", "4.3%"),
    ]


def test_only_bandwidth_moves_what_decode_attains():
    """A §5: twice the compute changes nothing, twice the bandwidth doubles it."""
    for I in (1, 7):
        assert min(2 * P, I * B) == min(P, I * B)
        assert min(P, I * 2 * B) == 2 * min(P, I * B)
        assert RTX_4090.attainable(I) == min(P, I * B)


def test_the_chart_s_points_are_on_the_side_that_its_text_says():
    """A §6: q_proj at one token is on the slope, at 256 on the flat roof.

    Where home and lesson have more: decode attention and k_proj on the slope, prefill attention on the flat roof.
    """
    slope = linear(1, *Q), attend(1, 2048), linear(256, *KV)
    flat = linear(256, *Q), attend(2048, 2048, causal=True)
    for ridge in RIDGES:
        assert all(intensity(kernel) < ridge for kernel in slope)
        assert all(intensity(kernel) >= ridge for kernel in flat)


def test_tiles_of_q_proj():
    """A §7: 256 × 3584 in tiles of 128 × 128 is 2 × 28 = 56, and 44 % of 128 SMs."""
    assert (256 % 128, 3584 % 128, (256 // 128) * (3584 // 128)) == (0, 0, 56)
    assert shown(Fraction(56, 128), ".0%") == "44%"


def test_adding_two_vectors():
    """A §8 (a): one FLOP on six bytes, 0.167; 168 GFLOP/s, 0.10 % of the peak."""
    I = Fraction(1, 3 * 2)
    assert shown(I, ".3f") == "0.167"
    assert (shown(I * B / 10**9, ".0f"), shown(I * B / P, ".2%")) == ("168", "0.10%")


def test_twelve_microseconds_are_faster_than_memory():
    """A §8 (b): 12 µs mean 2,142 GB/s, over 1008; at least 25.5 µs."""
    moved = linear(1, *Q)[1]
    rate = moved / (12 * Fraction(1, 10**6))
    assert (shown(rate / 10**9, ",.0f"), shown(kernel_by_kernel([linear(1, *Q)]) * 10**6, ".1f")) == ("2,142", "25.5")
    assert rate > B


def test_from_an_h100_to_an_h200():
    """A §8 (c): ridges 295.3 and 206.1; M = 1 gains 1.43 times, M = 256 crosses the ridge and gains 1.32."""
    old, new = H100[0] / H100[1], H200[0] / H200[1]
    assert (shown(old, ".1f"), shown(new, ".1f")) == ("295.3", "206.1")
    one, many = intensity(linear(1, *Q)), intensity(linear(256, *Q))
    assert one < new < many < old
    gains = [min(H200[0], I * H200[1]) / min(H100[0], I * H100[1]) for I in (one, many)]
    assert [shown(gain, ".2f") for gain in gains] == ["1.43", "1.32"]
    assert gains[0] == H200[1] / H100[1]


def test_the_sparse_peak_of_an_h100_is_double():
    """A §8 (c) and interview 10: 1979 TFLOP/s assumes sparsity and doubles the ridge."""
    assert Fraction(1979 * 10**12) / H100[0] == pytest.approx(2, rel=1e-3)
