"""Results of the lab (snippets/gpu_lab.py): read, checked, and set beside what the calculator predicts.

A results file brings sizes and seconds. FLOPs and bytes are counted here, from the sizes, so that prediction and
measurement cannot drift apart.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .checks import check_choice, check_positive, check_whole
from .operators import Cost, attention, gemm
from .roofline import attainable, ridge_point

SCHEMA = 1  # of the files that can be read
SERIES = ("gemm-rotated", "gemm-reused", "attention-decode")
DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}  # as torch and as the catalogue call them
TOLERANCE = 1.10  # more than this times the measured bandwidth can only come from cache
NOISY = 0.25  # quartiles further apart than this share of the median
PROVENANCE = ("program", "command", "date", "machine", "torch", "python", "system")


@dataclass(frozen=True)
class Measurement:
    """One operator at one size: what it costs, and the seconds it took (quartiles of its laps)."""

    series: str
    size: int  # M of a GEMM, S of decode attention
    cost: Cost
    seconds: float
    q1: float
    q3: float

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
        return (self.q3 - self.q1) / self.seconds


@dataclass(frozen=True)
class Results:
    """One run of the lab on one machine: its measured roofs and its measurements."""

    provenance: dict[str, Any]
    complete: bool
    dtype: str
    shape: tuple[int, int]  # K, N of the linear layer
    rotation: dict[str, int]  # copies of the weight, and their bytes in all
    bandwidth: float
    peak: float
    measurements: tuple[Measurement, ...]

    @property
    def machine(self) -> str:
        """Its name, as the run found it."""
        return str(self.provenance["machine"]["name"])

    @property
    def ridge(self) -> float:
        """I* of the measured roofs, in FLOP/byte."""
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

    def predicted(self, measured: Measurement) -> float:
        """min(P, I * B) with the measured roofs, in FLOP/s."""
        return attainable(measured.cost.intensity, self.peak, self.bandwidth)

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
        """How many times faster a GEMM ran with a single weight than with weights in rotation."""
        return self.at("gemm-rotated", M).seconds / self.at("gemm-reused", M).seconds

    def from_cache(self, measured: Measurement) -> bool:
        """Whether its bytes came faster than memory gives them."""
        return measured.bandwidth > TOLERANCE * self.bandwidth


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
    """What `gpu_lab.as_json` makes of a run.

    Raises:
        KeyError, TypeError, ValueError: something is missing or makes no sense.
    """
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema {data['schema']!r}, this program reads {SCHEMA}")
    if missing := [name for name in PROVENANCE if not data["provenance"].get(name)]:
        raise ValueError(f"no provenance: {', '.join(missing)}")
    check_choice(tuple(DTYPES), dtype=data["dtype"])
    if data["roofs"].keys() < {"B", "P"}:
        raise ValueError("the run ended before both roofs were measured")
    bandwidth, peak = (float(data["roofs"][roof]["rate"]) for roof in "BP")
    check_positive(bandwidth=bandwidth, peak=peak)
    layer = data["gemm"]
    return Results(
        data["provenance"], bool(data["complete"]), data["dtype"], (layer["K"], layer["N"]),
        {"copies": layer["copies"], "bytes": layer["bytes"]} if data["series"] else {}, bandwidth, peak,
        tuple(_measurements(data)),
    )


def _measurements(data: dict[str, Any]) -> Iterator[Measurement]:
    b = 4 if data["dtype"] == "float32" else 2
    for series, points in data["series"].items():
        check_choice(SERIES, series=series)
        for point in points:
            size, seconds = point["size"], point["seconds"]
            if series == "attention-decode":
                heads = data["attention"]
                check_whole(batch=heads["batch"])
                one = attention(heads["n_q"], heads["n_kv"], heads["head_dim"], 1, size, b_q=b, b_kv=b)
                cost = one * heads["batch"]
            else:
                cost = gemm(size, data["gemm"]["K"], data["gemm"]["N"], b, b, b)
            q1, median, q3 = (float(seconds[name]) for name in ("q1", "median", "q3"))
            check_positive(q1=q1, median=median, q3=q3)
            yield Measurement(series, size, cost, median, q1, q3)
