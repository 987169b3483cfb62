"""Roofline charts as SVG (needs matplotlib: ``pip install roofline-calc[figure]``).

Text stays text, set in the reader's own fonts; every chart has the same axes, colours and marks. What is
memory-bound is blue and round, what is compute-bound vermilion and square, so that the colour never speaks
alone. Labels go where there is room (see `labels`). A chart is drawn once, in the light palette; `in_dark` swaps its
colours.
"""

import io
import logging
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from .labels import ASCENT, LINE, Board, Box, Label, Spot, around, beside, leader, text_width
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
WIDE, NARROW = (7.2, 4.4), (3.9, 4.8)  # inches: beside text, and on a phone
_TEXT = {WIDE: 10.5, NARROW: 11}  # points: 11 CSS pixels at least where the page is 320 wide
_MARK = {WIDE: 8, NARROW: 6.5}
_MARGIN = 8.6  # points, at the right
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
    """A kernel on the chart: its label and its intensity in FLOP/byte. ``measured`` FLOP/s put it under the roof."""

    label: str
    intensity: float
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
    ridge, ((low, high), heights) = ridge_point(peak, bandwidth), extent(peak, bandwidth)
    reach = max([high, 1.5 * ridge, *(1.5 * point.intensity for point in points)])
    with _chart(words, size, (low, reach), heights, kind=kind) as chart:
        _roofs(chart, peak, bandwidth, words)
        for point in points:
            bound = regime(point.intensity, ridge)
            height = (point.measured or attainable(point.intensity, peak, bandwidth)) / 1e12
            mark = chart.mark(point.intensity, height, marker=MARKS[bound], color=_colour(bound), ms=_MARK[size], mew=0)
            if point.label:
                chart.label(point.label, around(*mark), mark=mark)
    return chart.drawn


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
    key = [(words[series], _mark(series, "memory-bound")) for series in SERIES if results.of(series)]
    reach = max([_INTENSITIES[1], *(1.2 * measured.cost.intensity for measured in results.measurements)])
    with _chart(words, size, (_INTENSITIES[0], reach), limits, key=key) as chart:
        for measured, height in zip(results.measurements, heights, strict=True):
            chart.mark(measured.cost.intensity, height, **_mark(measured.series, results.regime(measured)))
        _roofs(chart, results.peak, results.bandwidth, words)
    return chart.drawn.decode()


def _mark(series: str, bound: str) -> dict[str, Any]:
    """How a measurement is drawn: the shape and colour of its regime, filled if its bytes came from memory."""
    colour = _colour(bound)
    mark = _OTHER_MARKS.get(series, MARKS[bound])
    return {"ls": "", "marker": mark, "ms": 5.5, "mec": colour, "mew": 1.3,
            "mfc": "none" if series == "gemm-reused" else colour}


def _roofs(chart: "_Chart", peak: float, bandwidth: float, words: Mapping[str, str]) -> None:
    """The two roofs and their ridge, named."""
    (low, high), (floor, _) = chart.axes.get_xlim(), chart.axes.get_ylim()
    ridge, top = ridge_point(peak, bandwidth), peak / 1e12
    start = max(low, floor / (bandwidth / 1e12))
    for bound, ends in (("memory-bound", (start, ridge)), ("compute-bound", (ridge, high))):
        roof = [attainable(end, peak, bandwidth) / 1e12 for end in ends]
        chart.line(ends, roof, color=_colour(bound), lw=2.6, solid_capstyle="butt", zorder=2)
    chart.line([ridge] * 2, [floor, top], color=MUTED, lw=1, ls=(0, (2, 3)), zorder=1)
    foot, corner, end = chart.at(ridge, floor), chart.at(ridge, top), chart.at(high, top)
    slope = chart.at(start, start * bandwidth / 1e12)
    chart.label(words["ridge"].format(ridge), beside(foot, corner, (-1, 1), 0, ideal=0.05), MUTED)
    for bound, symbol, line, ideal in (("memory-bound", "I·B", (slope, corner), 0.25),
                                       ("compute-bound", "P", (corner, end), 1)):
        (x, y), (further, higher) = line
        angle = math.degrees(math.atan2(higher - y, further - x))
        spots = beside(*line, (1, -1), angle, ideal)
        chart.label(f"{words[bound]} {symbol}", spots, _colour(bound), bold=True, breaks=False)


def curves_svg(curves: Sequence[Curve], ridge: float, words: Mapping[str, str],
               size: tuple[float, float] = WIDE) -> str:
    """Intensity against a size, with the ridge as a line: below it memory-bound, above it compute-bound.

    Each curve is blue below the ridge and vermilion above; a square marks the first compute-bound size.

    Args:
        ridge: I* in FLOP/byte. words: as for `roofline_svg`, with ``size`` for the horizontal axis.

    Raises:
        ValueError: the ridge is not positive and finite.
    """
    sizes = [size for curve in curves for size in curve.sizes]
    heights = [curve.intensity(end) for curve in curves for end in (curve.sizes[0], curve.sizes[-1])]
    limits = (min(sizes), max(sizes)), (0.5 * min(heights), 2 * max(*heights, ridge))
    room = max((text_width(curve.label, _TEXT[size]) for curve in curves), default=0) + 9
    words = {**words, "intensity": words["size"], "performance": words["intensity"]}
    with _chart(words, size, *limits, room=room) as chart:
        chart.line(limits[0], [ridge] * 2, color=MUTED, lw=1, ls=(0, (2, 3)))
        for curve in curves:
            first, last = curve.sizes[0], curve.sizes[-1]
            turn = first_compute_bound(curve.intensity, ridge, at_most=last)
            for bound, start, end in (("memory-bound", first, turn or last), ("compute-bound", turn or last, last)):
                line = sorted({round(start * (end / start) ** (step / 32)) for step in range(33)})
                chart.line(line, [curve.intensity(at) for at in line], ls=curve.style, color=_colour(bound), lw=2)
            if turn is not None:
                chart.mark(turn, curve.intensity(turn), marker=MARKS["compute-bound"], mew=0,
                           color=_colour("compute-bound"), ms=_MARK[size] - 1)
            x, y = chart.at(last, curve.intensity(last))
            chart.label(curve.label, [Spot(x, y + shift, 1, 0, 5, 4 * abs(shift)) for shift in range(-16, 17, 2)],
                        breaks=False)
        ends = chart.at(limits[0][0], ridge), chart.at(limits[0][1], ridge)
        chart.label(f"I* = {ridge:.1f}", beside(*ends, (1, -1), 0, ideal=0.9), MUTED, breaks=False)
        for bound, side in (("compute-bound", 1), ("memory-bound", -1)):
            chart.name_region(words[bound], ridge, side, _colour(bound))
    return chart.drawn.decode()


def _colour(bound: str) -> str:
    return PALETTE[bound][0]


@dataclass
class _Chart:
    """Axes, and on the board what is drawn in them, for the labels to keep off."""

    axes: Axes
    board: Board
    text: float  # size, in points
    labels: list[Label] = field(default_factory=list)
    drawn: bytes = b""

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A place on the axes, in points from the picture's corner."""
        across, up = self.axes.transData.transform((x, y)) * 72 / self.axes.figure.dpi
        return float(across), float(up)

    def line(self, xs: Sequence[float], ys: Sequence[float], **style: Any) -> None:
        self.axes.plot(xs, ys, **style)
        self.board.line([self.at(x, y) for x, y in zip(xs, ys, strict=True)], style["lw"])

    def mark(self, x: float, y: float, **style: Any) -> tuple[float, float, float]:
        """Draw a mark; where it is, and its radius."""
        self.axes.plot(x, y, zorder=3, clip_on=False, **style)
        mark = *self.at(x, y), (style["ms"] + style["mew"]) / 2
        self.board.mark(*mark)
        return mark

    def label(self, text: str, spots: Sequence[Spot], colour: str = INK, **about: Any) -> None:
        """Have a label put in one of these spots, once all is drawn."""
        self.labels.append(Label(text, spots, self.text, colour, **about))

    def name_region(self, name: str, height: float, side: int, colour: str) -> None:
        """Name what is above a height, or below it: from the left, and near it if possible."""
        (left, right), ends = self.axes.get_xlim(), self.axes.get_ylim()
        (x, y), (end, _), (_, edge) = self.at(left, height), self.at(right, height), self.at(left, ends[side > 0])
        end -= text_width(name, self.text, bold=True) + 4
        spots = [Spot(at + 4, up, 1, side, 4, 0.1 * (at - x) + 0.4 * abs(up - y))
                 for up in _steps(y, edge, 8 * side) for at in _steps(x, end, 8)]
        self.label(name, spots, colour, bold=True)

    def write(self) -> None:
        """Put the labels where they go."""
        for label, box in self.board.place(self.labels):
            _written(self.axes.figure, label, box)
            if line := leader(label.mark, box):
                _artist(self.axes.figure, *zip(*line, strict=True), color=MUTED, lw=0.8)


def _steps(start: float, end: float, step: float) -> list[float]:
    return [start + step * number for number in range(int((end - start) / step) + 1)]


def _written(figure: Any, label: Label, box: Box) -> None:
    """A label's lines, each a text of its own: matplotlib would set them by the widths of its own font."""
    width, height = figure.get_size_inches() * 72
    along = {"left": -box.width / 2, "center": 0.0, "right": box.width / 2}[box.align]
    for number, line in enumerate(box.lines):
        up = box.height / 2 - (ASCENT + LINE * number) * label.size
        x, y = box.placed(np.array([along]), np.array([up]))[0]
        figure.text(x / width, y / height, line, color=label.colour, ha=box.align, va="baseline", rotation=box.angle,
                    rotation_mode="anchor", weight="bold" if label.bold else "normal")


def _artist(figure: Any, xs: Sequence[float], ys: Sequence[float], **style: Any) -> None:
    """A line or a mark anywhere in the picture, in points."""
    places = ([value / 72 for value in values] for values in (xs, ys))
    figure.add_artist(Line2D(*places, transform=figure.dpi_scale_trans, **style))


def _key(figure: Any, entries: Sequence[tuple[str, dict[str, Any]]], text: float) -> float:
    """Marks with their names beneath the axes, in as many columns as there is room for; how high it is, in points."""
    width, height = figure.get_size_inches() * 72
    mark, apart = 17, 8  # from a column's side to its names, and from these to the next column
    for columns in (3, 2, 1):
        rows = max(1, math.ceil(len(entries) / columns))
        parts = [entries[start:start + rows] for start in range(0, len(entries), rows)]
        widths = [mark + max(text_width(name, text) for name, _ in part) + apart for part in parts]
        if sum(widths) - apart < width:
            break
    left = (width - sum(widths) + apart) / 2
    for part, column in zip(parts, widths, strict=True):
        for row, (name, style) in enumerate(part):
            y = 5 + (rows - 1 - row) * 1.4 * text
            _artist(figure, [left + mark / 2], [y + 0.36 * text], **style)
            figure.text((left + mark) / width, y / height, name, color=INK, va="baseline")
        left += column
    return 1.4 * text * rows if entries else 0


@contextmanager
def _chart(
    words: Mapping[str, str], size: tuple[float, float], across: tuple[float, float], up: tuple[float, float], *,
    room: float = _MARGIN, key: Sequence[tuple[str, dict[str, Any]]] = (), kind: str = "svg",
) -> Iterator[_Chart]:
    """Log-log axes in the house style, between limits, with room at the right; ``drawn`` when the block ends."""
    text = _TEXT[size]
    style: dict[Any, Any] = {
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "roofline",  # the same bytes at every build
        "font.sans-serif": ["DejaVu Sans"],  # it only measures; ships with matplotlib
        "font.size": text,
        "text.color": INK, "axes.labelcolor": INK, "xtick.color": MUTED, "ytick.color": MUTED,
        "axes.edgecolor": MUTED, "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.8, "axes.axisbelow": True,
        "xtick.major.size": 3, "ytick.major.size": 3,
    }
    out = io.BytesIO()
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        figure = Figure(figsize=size)
        width, height = size[0] * 72, size[1] * 72
        # Margins by arithmetic: with constrained layout every chart is drawn twice, and the build waits for it.
        decades = range(math.ceil(math.log10(up[0])), math.floor(math.log10(up[1])) + 1)
        left = 12 + max((text_width(f"{10.0 ** decade:g}", text) for decade in decades), default=0)
        bottom, top = 3.4 * text + _key(figure, key, text), 2.2 * text
        axes = figure.add_axes((left / width, bottom / height, 1 - (left + room) / width, 1 - (bottom + top) / height))
        axes.set(xscale="log", yscale="log", xlim=across, ylim=up, xlabel=words["intensity"])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_minor_locator(NullLocator())
        # Its name above the vertical axis, not turned along it: easier to read, and a phone has no width to spare.
        figure.text(4 / width, 1 - 1.2 * text / height, words["performance"], va="baseline")
        chart = _Chart(axes, Board(width, height), text)
        corner = left, bottom
        chart.board.line([(left, height - top), corner, (width - room, bottom)], 0.8)
        yield chart
        chart.write()
        if kind == "png":
            figure.savefig(out, format="png", dpi=200, metadata={"Title": words["title"]})
            chart.drawn = out.getvalue()
            return
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Title": words["title"]})
    svg = out.getvalue().decode().replace("'DejaVu Sans', sans-serif", "system-ui, sans-serif")
    chart.drawn = svg.replace("<svg ", f'<svg lang="{words["lang"]}" ', 1).encode()
