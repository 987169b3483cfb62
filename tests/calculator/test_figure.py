"""The charts: marks by regime, axes that hold every card, the dark twin."""

import re

import pytest

from roofline_calc.figure import NARROW, PALETTE, Point, extent, in_dark, roofline_svg

WORDS = {
    "lang": "en", "title": "Roofline", "intensity": "I", "performance": "TFLOP/s", "memory-bound": "memory-bound",
    "compute-bound": "compute-bound", "ridge": "I* = {:.1f}",
}


def colours(svg: str) -> set[str]:
    return set(re.findall(r"#[0-9a-f]{6}", svg))


def test_text_stays_text_in_the_readers_fonts():
    svg = roofline_svg([Point("q_proj", 224)], 165.2e12, 1008e9, WORDS)
    assert ">q_proj<" in svg
    assert "I* = 163.9" in svg
    assert "DejaVu" not in svg
    assert '<svg lang="en"' in svg


def test_a_kernel_has_the_colour_of_its_regime():
    """One below the ridge, one above: only then does the mark's colour change."""
    def marks(intensity: float) -> str:
        svg = roofline_svg([Point("kernel", intensity)], 100, 1, WORDS)
        return svg[svg.index("kernel") - 1500 : svg.index("kernel")]

    assert PALETTE["memory-bound"][0] in marks(99)
    assert PALETTE["compute-bound"][0] in marks(100)


def test_the_chart_has_the_axes_that_extent_says():
    """From 0.75 of the slope's left end to 3.15 of the flat roof; read off the ticks of the drawn chart as well."""
    intensities, performances = extent(165.2e12, 1008e9)
    assert intensities == (0.4, 4096)
    assert performances == pytest.approx((0.75 * 0.4 * 1.008, 3.15 * 165.2))
    svg = roofline_svg([], 165.2e12, 1008e9, WORDS)
    box = re.search(r'<g id="patch_2">\s*<path d="M (\S+) (\S+) \nL (\S+) \S+ \nL \S+ (\S+)', svg)
    left, bottom, right, top = map(float, box.groups())
    places = re.findall(r'<use [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*stroke-width: 0', svg)
    one, ten = [float(x) for x, y in places if float(y) == bottom][:2]
    assert [10 ** ((end - one) / (ten - one)) for end in (left, right)] == pytest.approx(intensities)
    one, ten = [float(y) for x, y in places if float(x) == left][:2]
    assert [10 ** ((end - one) / (ten - one)) for end in (bottom, top)] == pytest.approx(performances)


def test_the_same_chart_is_the_same_bytes():
    assert roofline_svg([], 165.2e12, 1008e9, WORDS) == roofline_svg([], 165.2e12, 1008e9, WORDS)


def test_the_dark_twin_has_no_light_colour_left():
    svg = roofline_svg([Point("a", 1), Point("b", 900)], 165.2e12, 1008e9, WORDS, NARROW)
    dark = in_dark(svg)
    assert {light for light, _ in PALETTE.values()} & colours(svg)
    assert not {light for light, _ in PALETTE.values()} & colours(dark)


def test_text_in_every_colour_of_the_palette_has_enough_contrast():
    """WCAG 2.2: 4.5:1 on the page's white and on its dark background (styles/page.css), but for the grid."""
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for role, colours_of_role in PALETTE.items():
        for colour, page in zip(colours_of_role, ("#ffffff", "#161b22"), strict=True):
            low, high = sorted((luminance(colour), luminance(page)))
            assert role == "grid" or (high + 0.05) / (low + 0.05) >= 4.5, (role, colour)


def test_an_axis_holds_the_largest_card_and_the_smallest():
    for peak, bandwidth in ((2250e12, 7.7e12), (1e12, 90e9)):
        svg = roofline_svg([Point("kernel", 1e5)], peak, bandwidth, WORDS)
        assert "kernel" in svg
        top = 10 ** len(str(int(peak / 1e12))) / 10
        assert f">{top:g}<" in svg  # the decade under the compute roof is on the axis
