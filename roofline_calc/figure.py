"""Roofline charts as SVG (needs matplotlib: ``pip install roofline-calc[figure]``).

Text stays text, set in the reader's own fonts; every chart has the same axes, colours and marks. What is
memory-bound is blue and round, what is compute-bound vermilion and square, so that the colour never speaks
alone. A chart is drawn once, in the light palette; `in_dark` swaps its colours.
"""

import io
import logging
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from .measured import SERIES, Results
from .palette import PALETTE, in_dark
from .roofline import attainable, first_compute_bound, regime, ridge_point

__all__ = [
    "NARROW", "PALETTE", "SYMBOLS", "WIDE", "Curve", "Point", "curves_svg", "extent", "in_dark", "measured_svg",
    "roofline_svg",
]

mpl.use("svg")
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # glyphs are the browser's business

INK, MUTED, GRID = (PALETTE[role][0] for role in ("ink", "muted", "grid"))
MARKS = {"memory-bound": "o", "compute-bound": "s"}
WIDE, NARROW = (7.2, 4.4), (3.9, 4.4)  # inches: beside text, and on a phone
_ROOM = {WIDE: 0.12, NARROW: 0.34}  # to the right of a roofline, for its labels
_OTHER_MARKS = {"gemm-int8": "P", "attention-decode": "D", "attention-fused": "^", "attention-naive": "v"}
_INTENSITIES = (0.4, 4096)  # FLOP/byte, on every roofline

# For a chart outside the site: symbols and terms that need no translation.
SYMBOLS = {
    "lang": "en", "title": "Roofline: {}", "intensity": "I (FLOP/byte)", "performance": "TFLOP/s",
    "memory-bound": "memory-bound", "compute-bound": "compute-bound", "ridge": "I* = {:.1f}",
    **{key: series.name for key, series in SERIES.items()},
}


@dataclass(frozen=True)
class Point:
    """A kernel on the chart: its label, its intensity in FLOP/byte, and where the label goes.

    ``offset`` is in points from the mark to the label's ``align`` edge ("left", "center" or "right").
    ``measured`` in FLOP/s puts the mark there instead of on the roof.
    """

    label: str
    intensity: float
    offset: tuple[float, float] = (8, -14)
    align: str = "left"
    measured: float | None = None


@dataclass(frozen=True)
class Curve:
    """Intensity as a function of a size: a label, the range of sizes, and FLOP/byte at a size."""

    label: str
    sizes: range
    intensity: Callable[[int], float]
    style: str = "-"


def roofline_svg(points: Sequence[Point], peak: float, bandwidth: float, words: Mapping[str, str],
                 size: tuple[float, float] = WIDE) -> str:
    """The chart of Williams et al.: memory roof I * B, compute roof P, their ridge, and kernels on it.

    Args:
        peak: P in FLOP/s. bandwidth: B in byte/s.
        words: ``lang``, ``title`` (for screen readers), ``intensity`` and ``performance`` (the axes),
            ``memory-bound``, ``compute-bound`` (along the roofs) and ``ridge`` (a format of I*).
        size: `WIDE` or `NARROW`, in inches.

    Raises:
        ValueError: peak or bandwidth is not positive and finite.
    """
    return _roofline(points, peak, bandwidth, words, size, "svg").decode()


def roofline_png(points: Sequence[Point], peak: float, bandwidth: float, words: Mapping[str, str],
                 size: tuple[float, float] = WIDE) -> bytes:
    """The chart of `roofline_svg` as a PNG image on white, for where SVG is not taken."""
    return _roofline(points, peak, bandwidth, words, size, "png")


def extent(peak: float, bandwidth: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The axes of `roofline_svg`, from end to end: FLOP/byte, farther only for points beyond, and TFLOP/s."""
    low = _INTENSITIES[0]
    return _INTENSITIES, (0.75 * low * bandwidth / 1e12, 3.15 * peak / 1e12)


def _roofline(points: Sequence[Point], peak: float, bandwidth: float, words: Mapping[str, str],
              size: tuple[float, float], kind: str) -> bytes:
    ridge, ((_, high), heights) = ridge_point(peak, bandwidth), extent(peak, bandwidth)
    reach = max([high, 1.5 * ridge, *(1.5 * point.intensity for point in points)])
    with _chart(words, size, _ROOM[size], kind) as (axes, out):
        _roofs(axes, peak, bandwidth, words, size, heights, reach)
        for point in points:
            bound = regime(point.intensity, ridge)
            height = (point.measured or attainable(point.intensity, peak, bandwidth)) / 1e12
            axes.plot(point.intensity, height, MARKS[bound], color=_colour(bound), ms=8, mec="white", mew=0, zorder=3)
            axes.annotate(point.label, (point.intensity, height), point.offset, textcoords="offset points",
                          color=INK, ha=point.align, va="top" if "\n" in point.label else "center")
    return out.getvalue()


def measured_svg(results: Results, words: Mapping[str, str], size: tuple[float, float] = WIDE) -> str:
    """A run of the lab: the measured roofs, which predict, and every measurement under or, from cache, above them.

    A filled mark is a GEMM that took its operands from memory, a hollow one a GEMM that reused a single set, a cross
    one with 8-bit weights, a diamond decode attention, a triangle prefill attention: up fused, down naive.

    Args:
        words: as for `roofline_svg`, with the names of `SERIES` for the legend; the title is a format of the results.
        size: `WIDE` or `NARROW`, in inches.
    """
    heights = [measured.performance / 1e12 for measured in results.measurements]
    left = _INTENSITIES[0] * results.bandwidth / 1e12
    limits = (0.45 * min(heights, default=left), 2.6 * max(results.peak / 1e12, *heights, left))
    words = {**words, "title": words["title"].format(results)}
    shown, columns = [series for series in SERIES if results.of(series)], 3 if size == WIDE else 2
    below = 0.1 + 0.24 * math.ceil(len(shown) / columns)  # inches, for the legend: among the marks there is no room
    with _chart(words, size, right_margin=_ROOM[size], below=below) as (axes, out):
        _roofs(axes, results.peak, results.bandwidth, words, size, limits)
        for measured, height in zip(results.measurements, heights, strict=True):
            axes.plot(measured.cost.intensity, height, zorder=3, **_mark(measured.series, results.regime(measured)))
        axes.figure.legend(
            handles=[Line2D([], [], label=words[series], **_mark(series, "memory-bound")) for series in shown],
            loc="lower center", ncols=columns, frameon=False, handletextpad=0.1, columnspacing=1, borderpad=0,
            labelcolor=INK,
        )
    return out.getvalue().decode()


def _mark(series: str, bound: str) -> dict[str, Any]:
    """How a measurement is drawn: the shape and colour of its regime, filled if its bytes came from memory."""
    colour = _colour(bound)
    mark = _OTHER_MARKS.get(series, MARKS[bound])
    return {"ls": "", "marker": mark, "ms": 5.5, "mec": colour, "mew": 1.3,
            "mfc": "none" if series == "gemm-reused" else colour}


def _roofs(axes: Axes, peak: float, bandwidth: float, words: Mapping[str, str], size: tuple[float, float],
           limits: tuple[float, float], high: float = _INTENSITIES[1]) -> None:
    """The two roofs and their ridge, named; ``limits`` are those of the vertical axis, in TFLOP/s."""
    ridge, low = ridge_point(peak, bandwidth), _INTENSITIES[0]
    axes.set(xlim=(low, high), ylim=limits, xlabel=words["intensity"], ylabel=words["performance"])
    for bound, ends in (("memory-bound", (low, ridge)), ("compute-bound", (ridge, high))):
        roof = [attainable(end, peak, bandwidth) / 1e12 for end in ends]
        axes.plot(ends, roof, color=_colour(bound), lw=2.6, solid_capstyle="butt", zorder=2)
    axes.plot([ridge] * 2, [limits[0], peak / 1e12], color=MUTED, lw=1, ls=(0, (2, 3)), zorder=1)
    axes.text(ridge * 0.93, limits[0] * 1.13, words["ridge"].format(ridge), color=MUTED, ha="right", va="bottom")
    start = max(0.62, 1.1 * limits[0] / (bandwidth / 1e12))
    axes.text(start, 1.5 * start * bandwidth / 1e12, words["memory-bound"] + " I·B", color=_colour("memory-bound"),
              weight="bold", ha="left", va="bottom", rotation=_slope(axes), rotation_mode="anchor")
    axes.annotate(words["compute-bound"] + " P", (high, peak / 1e12), (0 if size == WIDE else 22, 7),
                  textcoords="offset points", color=_colour("compute-bound"), weight="bold", ha="right")


def curves_svg(curves: Sequence[Curve], ridge: float, words: Mapping[str, str],
               size: tuple[float, float] = WIDE) -> str:
    """Intensity against a size, with the ridge as a line: below it memory-bound, above it compute-bound.

    Each curve is blue below the ridge and vermilion above; a square marks the first compute-bound size.

    Args:
        ridge: I* in FLOP/byte. words: as for `roofline_svg`, with ``size`` for the horizontal axis.

    Raises:
        ValueError: the ridge is not positive and finite.
    """
    with _chart(words, size, right_margin=0.82) as (axes, out):
        sizes = [size for curve in curves for size in curve.sizes]
        axes.plot([min(sizes), max(sizes)], [ridge] * 2, color=MUTED, lw=1, ls=(0, (2, 3)))
        for bound, shift, align in (("compute-bound", 1.12, "bottom"), ("memory-bound", 0.88, "top")):
            axes.text(min(sizes) * 1.1, ridge * shift, words[bound], color=_colour(bound), weight="bold", va=align)
        for curve in curves:
            first, last = curve.sizes[0], curve.sizes[-1]
            turn = first_compute_bound(curve.intensity, ridge, at_most=last)
            for bound, start, end in (("memory-bound", first, turn or last), ("compute-bound", turn or last, last)):
                line = sorted({round(start * (end / start) ** (step / 32)) for step in range(33)})
                axes.plot(line, [curve.intensity(at) for at in line], curve.style, color=_colour(bound), lw=2)
            if turn is not None:
                axes.plot(turn, curve.intensity(turn), MARKS["compute-bound"], color=_colour("compute-bound"), ms=7)
            axes.annotate(curve.label, (last, curve.intensity(last)), (5, 0),
                          textcoords="offset points", color=INK, va="center", annotation_clip=False)
        axes.set(xlim=(min(sizes), max(sizes)), xlabel=words["size"], ylabel=words["intensity"])
    return out.getvalue().decode()


def _colour(bound: str) -> str:
    return PALETTE[bound][0]


def _slope(axes: Axes) -> float:
    """Degrees at which a line of slope one appears on these log-log axes."""
    box = axes.get_window_extent()
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    return math.degrees(math.atan2(box.height / math.log10(top / bottom), box.width / math.log10(right / left)))


@contextmanager
def _chart(
    words: Mapping[str, str], size: tuple[float, float], right_margin: float, kind: str = "svg", below: float = 0
) -> Iterator[tuple[Axes, io.BytesIO]]:
    """Log-log axes in the house style; the SVG or PNG is in the buffer when the block ends."""
    style: dict[Any, Any] = {
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "roofline",  # the same bytes at every build
        "font.sans-serif": ["DejaVu Sans"],  # it only measures; ships with matplotlib
        "font.size": 10.5,
        "text.color": INK, "axes.labelcolor": INK, "xtick.color": MUTED, "ytick.color": MUTED,
        "axes.edgecolor": MUTED, "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.8, "axes.axisbelow": True,
        "xtick.major.size": 3, "ytick.major.size": 3,
    }
    out = io.BytesIO()
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        figure = Figure(figsize=(size[0], size[1] + below))
        # Fixed margins: with constrained layout every chart is drawn twice, and the build waits for it.
        left, right, bottom, top = 0.82, right_margin, 0.56 + below, 0.12  # inches
        width, height = figure.get_size_inches()
        axes = figure.add_axes((left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height))
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_minor_locator(NullLocator())
        yield axes, out
        if kind == "png":
            figure.savefig(out, format="png", dpi=200, metadata={"Title": words["title"]})
            return
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Title": words["title"]})
    svg = out.getvalue().decode().replace("'DejaVu Sans', sans-serif", "system-ui, sans-serif")
    out.seek(0)
    out.truncate()
    out.write(svg.replace("<svg ", f'<svg lang="{words["lang"]}" ', 1).encode())
