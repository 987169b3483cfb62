"""Results of the lab: read, checked, and judged by what the calculator predicts.

A results file holds sizes, seconds, and where they come from. Work, rates, roofs, fractions and flags follow here, so
that prediction and measurement cannot drift apart.
"""

import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .checks import check_choice, check_positive, check_whole
from .operators import Cost, attention, gemm, quantised_width
from .precision import WIDTHS
from .roofline import attainable, regime, ridge_point

SCHEMA = 3  # of the files that can be read
MIME = "application/vnd.operator-roofline.lab+json"  # a run's data in a notebook, beside the picture
DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}  # as torch and as the catalogue call them
TOLERANCE = 1.10  # more than this times the measured bandwidth can only come from cache
NOISY = 0.25  # quartiles further apart than this share of the median
PROVENANCE = ("program", "command", "date", "machine", "torch", "python", "system")


class Method(NamedTuple):
    """A way to measure a roof: which, the bytes or FLOPs of a call by its size, and what it is called there."""

    roof: str
    work: Callable[[int], float]
    label: Callable[[int], str]


METHODS = {
    "sum": Method("B", lambda size: size, lambda size: f"sum {size / 1e6:.0f} MB"),
    "copy_": Method("copy", lambda size: 2 * size, lambda size: f"copy_ {size / 1e6:.0f} MB"),  # reads and writes it
    "mm": Method("P", lambda n: gemm(n, n, n).flops, lambda n: f"mm {n}^3"),
}
ROOFS = tuple(method.roof for method in METHODS.values())


class Series(NamedTuple):
    """What a point costs, from the file, its size and the bytes of an element; its name; and the bandwidth above it."""

    cost: Callable[[dict[str, Any], int, float], Cost]
    name: str
    roof: str = "B"


def _linear(data: dict[str, Any], M: int, b: float) -> Cost:
    return gemm(M, data["gemm"]["K"], data["gemm"]["N"], b, b, b)


def _int8(data: dict[str, Any], M: int, b: float) -> Cost:
    K, N = data["gemm"]["K"], data["gemm"]["N"]  # a scale for each of the N outputs
    return gemm(M, K, N, b, quantised_width(8, group=K, scale_bytes=b), b)


def _decode(data: dict[str, Any], S: int, b: float) -> Cost:
    batch: int = data["attention"]["batch"]
    return attention(*_heads(data), 1, S, b_q=b, b_kv=b) * batch


def _fused(data: dict[str, Any], S: int, b: float) -> Cost:
    return attention(*_heads(data), S, S, b_q=b, b_kv=b)


def _naive(data: dict[str, Any], S: int, b: float) -> Cost:
    return attention(*_heads(data), S, S, b_q=b, b_kv=b, passes=4, b_score=b)


def _heads(data: dict[str, Any]) -> tuple[int, int, int]:
    heads = data["attention"]
    return heads["n_q"], heads["n_kv"], heads["head_dim"]


# All but one read far more than they write: above them is the bandwidth of a read. Naive attention writes its scores
# as often as it reads them, as a copy does.
SERIES = {
    "gemm-rotated": Series(_linear, "GEMM"),
    "gemm-reused": Series(_linear, "GEMM, one W"),
    "gemm-int8": Series(_int8, "GEMM, int8 W"),
    "attention-decode": Series(_decode, "decode attention"),
    "attention-fused": Series(_fused, "prefill, fused"),
    "attention-naive": Series(_naive, "prefill, naive", roof="copy"),
}


@dataclass(frozen=True)
class Timing:
    """Seconds per call: quartiles and the fastest of a number of laps."""

    median: float
    q1: float
    q3: float
    best: float
    laps: int


@dataclass(frozen=True)
class Roof:
    """A measured ceiling. What is typical is the median, but a ceiling is the best that was seen."""

    method: str  # of METHODS
    size: int  # bytes read, bytes copied, or rows of a square matmul
    timing: Timing

    @property
    def work(self) -> float:
        """FLOPs or bytes of a call."""
        return METHODS[self.method].work(self.size)

    @property
    def rate(self) -> float:
        """FLOP/s or byte/s of the fastest lap."""
        return self.work / self.timing.best

    @property
    def typical(self) -> float:
        """FLOP/s or byte/s of the median lap."""
        return self.work / self.timing.median

    def __str__(self) -> str:
        return METHODS[self.method].label(self.size)


@dataclass(frozen=True)
class Measurement:
    """One operator at one size: what it costs, and the time it took."""

    series: str
    size: int  # M of a GEMM, S of attention
    cost: Cost
    timing: Timing

    @property
    def seconds(self) -> float:
        """The median of its laps."""
        return self.timing.median

    @property
    def performance(self) -> float:
        """Achieved FLOP/s."""
        return self.cost.flops / self.seconds

    @property
    def bandwidth(self) -> float:
        """Compulsory bytes over the time taken, in byte/s."""
        return self.cost.bytes / self.seconds

    @property
    def spread(self) -> float:
        """The distance of the quartiles, as a share of the median."""
        return (self.timing.q3 - self.timing.q1) / self.timing.median


@dataclass(frozen=True)
class Results:
    """One run of the lab on one machine: its measured roofs and its measurements."""

    provenance: dict[str, Any]
    complete: bool
    dtype: str
    shape: tuple[int, int]  # K, N of the linear layer
    ring: int  # bytes rotated over, so that no operand comes from the cache
    heads: dict[str, int]  # n_q, n_kv, head_dim of attention, and the batch of decode
    roofs: dict[str, Roof]  # B, copy and P, as measured
    bandwidth: float  # what predicts: the rates of these, or those of a spec sheet
    copying: float
    peak: float
    measurements: tuple[Measurement, ...]

    @property
    def machine(self) -> str:
        """Its name, as the run found it."""
        return str(self.provenance["machine"]["name"])

    @property
    def ridge(self) -> float:
        """I* of the roofs, in FLOP/byte."""
        return ridge_point(self.peak, self.bandwidth)

    def of(self, series: str) -> list[Measurement]:
        """One series, by size."""
        return [measured for measured in self.measurements if measured.series == series]

    def at(self, series: str, size: int) -> Measurement:
        """One measurement.

        Raises:
            ValueError: it was not taken.
        """
        for measured in self.of(series):
            if measured.size == size:
                return measured
        raise ValueError(f"{self.machine}: no {series} of size {size}")

    def climb(self) -> Iterator[tuple[Measurement, Measurement | None]]:
        """Each GEMM with operands in rotation, and the same with one set, unless the run ended in between."""
        reused = {measured.size: measured for measured in self.of("gemm-reused")}
        for measured in self.of("gemm-rotated"):
            yield measured, reused.get(measured.size)

    def predicted(self, measured: Measurement) -> float:
        """min(P, I * B), in FLOP/s; B is that of a copy for naive attention, of a read for all else."""
        return attainable(measured.cost.intensity, self.peak, self._above(measured))

    def regime(self, measured: Measurement) -> str:
        """Which roof it is under."""
        return regime(measured.cost.intensity, ridge_point(self.peak, self._above(measured)))

    def _above(self, measured: Measurement) -> float:
        return self.copying if SERIES[measured.series].roof == "copy" else self.bandwidth

    def fraction(self, measured: Measurement) -> float:
        """What was achieved, as a share of what was attainable."""
        return measured.performance / self.predicted(measured)

    def __str__(self) -> str:
        """One line in symbols and units, which needs no language."""
        line = (f"{self.machine}, {self.dtype}: B = {self.bandwidth / 1e9:.4g} GB/s, "
                f"P = {self.peak / 1e12:.4g} TFLOP/s, I* = {self.ridge:.1f} FLOP/byte")
        if climb := self.of("gemm-rotated"):
            ends = (f"M = {end.size}: {self.fraction(end):.2f}" for end in (climb[0], climb[-1]))
            line += f"; {', '.join(ends)} × min(P, I·B)"
        return line

    def achieved(self, series: str, size: int) -> float:
        """The share of one measurement, by its name."""
        return self.fraction(self.at(series, size))

    def reuse_gain(self, M: int) -> float:
        """How many times faster a GEMM ran with a single set of operands than with operands in rotation."""
        return self.at("gemm-rotated", M).seconds / self.at("gemm-reused", M).seconds

    def misfit(self, *, overlap: bool) -> float:
        """How far a model of the time is from the rotated GEMM's seconds: the median of its relative errors.

        With overlap the time is max(F/P, bytes/B), without it F/P + bytes/B. P and B are here the most that this
        series itself reached, so that what is judged is how its kernel combines them, not how good it is.
        """
        series = self.of("gemm-rotated")
        P, B = max(one.performance for one in series), max(one.bandwidth for one in series)
        join = max if overlap else sum
        return statistics.median(
            abs(join((one.cost.flops / P, one.cost.bytes / B)) / one.seconds - 1) for one in series)

    def from_cache(self, measured: Measurement) -> bool:
        """Whether its bytes came faster than memory gives them."""
        return measured.bandwidth > TOLERANCE * self._above(measured)

    def flags(self, measured: Measurement, reused: Measurement | None = None) -> list[str]:
        """What a reader must know before believing a row; of its second figure, "cache:reused", "noisy:reused"."""
        kinds: dict[str, Callable[[Measurement], bool]] = {
            "cache": self.from_cache, "noisy": lambda one: one.spread > NOISY,
        }
        said = []
        for kind, holds in kinds.items():
            if holds(measured):
                said.append(kind)
            elif reused and holds(reused):
                said.append(f"{kind}:reused")
        return said


def read_results(path: str | Path) -> Results:
    """A results file of the lab.

    Raises:
        ValueError: the file is not one; says what is wrong.
        OSError: it cannot be read.
    """
    try:
        return results_of(json.loads(Path(path).read_text(encoding="utf-8")))
    except KeyError as error:
        raise ValueError(f"{path}: not results of the lab: {error} is missing") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: not results of the lab: {error}") from None


def stored_results(folder: str | Path) -> dict[str, Results]:
    """Every results file of a folder, by its name without .json.

    Raises:
        ValueError: there is none, or one of them is no results file.
    """
    files = sorted(Path(folder).glob("*.json"))
    if not files:
        raise ValueError(f"{folder}: has no .json files")
    return {file.stem: read_results(file) for file in files}


def results_of(data: dict[str, Any]) -> Results:
    """What a results file holds, judged.

    Raises:
        KeyError, TypeError, ValueError: something is missing or makes no sense.
    """
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema {data['schema']!r}, this program reads {SCHEMA}: "
                         "take the lab and the calculator from one version, and measure again")
    if missing := [name for name in PROVENANCE if not data["provenance"].get(name)]:
        raise ValueError(f"no provenance: {', '.join(missing)}")
    check_choice(tuple(DTYPES), dtype=data["dtype"])
    roofs = roofs_of(data)
    if len(roofs) < len(ROOFS):
        raise ValueError("the run ended before all roofs were measured")
    layer = data["gemm"]
    check_whole(ring=data["ring"])
    return Results(
        data["provenance"], bool(data["complete"]), data["dtype"], (layer["K"], layer["N"]), data["ring"],
        data["attention"], roofs, roofs["B"].rate, roofs["copy"].rate, roofs["P"].rate, tuple(_measurements(data)),
    )


def roofs_of(data: dict[str, Any]) -> dict[str, Roof]:
    """The roofs that a run has measured, by their names; all three, unless it was cut short.

    Raises:
        KeyError, TypeError, ValueError: something is missing or makes no sense.
    """
    roofs = {}
    for name, roof in data["roofs"].items():
        check_choice(ROOFS, roof=name)
        check_choice(tuple(word for word, method in METHODS.items() if method.roof == name), method=roof["method"])
        check_whole(size=roof["size"])
        roofs[name] = Roof(roof["method"], roof["size"], _timing(roof["seconds"]))
    return roofs


def _timing(seconds: dict[str, Any]) -> Timing:
    times = {name: float(seconds[name]) for name in ("median", "q1", "q3", "best")}
    check_positive(**times)
    check_whole(laps=seconds["laps"])
    return Timing(**times, laps=seconds["laps"])


def _measurements(data: dict[str, Any]) -> Iterator[Measurement]:
    b = WIDTHS[DTYPES[data["dtype"]]]
    for series, points in data["series"].items():
        check_choice(tuple(SERIES), series=series)
        for point in points:
            cost = SERIES[series].cost(data, point["size"], b)
            yield Measurement(series, point["size"], cost, _timing(point["seconds"]))
