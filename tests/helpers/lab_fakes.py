"""A clock, a machine and a run of the lab that are made up, and what every results file has."""

from typing import Any

from roofline_calc import gemm
from roofline_calc.measured import Results, results_of
from snippets import gpu_lab

MACHINE = gpu_lab.Machine("cpu", "a fake", cache=2**20, cache_source="assumed")


class Clock:
    """Time that passes only when someone works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


def timing(seconds: float, spread: float = 0.0) -> gpu_lab.Timing:
    return gpu_lab.Timing(seconds, seconds * (1 - spread / 2), seconds * (1 + spread / 2), seconds, 5)


def fake_run(B: float = 100e9, P: float = 1e12) -> gpu_lab.Run:
    """A run with known roofs; a copy gets 0.8 of B."""
    run = gpu_lab.Run(MACHINE, "bfloat16", (3584, 3584), "python snippets/gpu_lab.py")
    run.ring = 2**30
    run.roofs = {
        "B": gpu_lab.Roof("sum", 1_000_000, timing(1_000_000 / B)),
        "copy": gpu_lab.Roof("copy_", 400_000, timing(2 * 400_000 / (0.8 * B))),
        "P": gpu_lab.Roof("mm", 100, timing(2 * 100**3 / P)),
    }
    return run


def at(bandwidth: float, M: int = 1, series: str = "gemm-rotated", spread: float = 0.0) -> gpu_lab.Point:
    """A GEMM that moved its compulsory bytes at this rate."""
    return gpu_lab.Point(series, M, timing(gemm(M, 3584, 3584).bytes / bandwidth, spread))


def judged(run: gpu_lab.Run) -> Results:
    """What the calculator makes of a run's data."""
    return results_of(gpu_lab.as_json(run))


SERIES = {"gemm-rotated", "gemm-reused", "gemm-int8", "attention-decode", "attention-fused", "attention-naive"}
SECONDS = {"median", "q1", "q3", "best", "laps"}


def check_schema(data: dict[str, Any]) -> None:
    """What a reader of results files may rely on: sizes, seconds and provenance, and nothing that follows from them."""
    assert set(data) == {"schema", "complete", "provenance", "dtype", "ring", "gemm", "attention", "roofs", "series"}
    assert data["schema"] == 3
    assert isinstance(data["complete"], bool)
    assert set(data["provenance"]) == {"program", "command", "date", "machine", "torch", "python", "system", "notes"}
    assert set(data["provenance"]["machine"]) == {"kind", "name", "cache", "cache_source", "driver", "idle", "loaded"}
    assert data["provenance"]["date"].endswith("Z")
    assert data["dtype"] in gpu_lab.DTYPES.values()
    assert set(data["gemm"]) == {"K", "N"}
    assert data["attention"] == {"n_q": 28, "n_kv": 4, "head_dim": 128, "batch": 8}
    for roof in data["roofs"].values():
        assert set(roof) == {"method", "size", "seconds"}
        assert set(roof["seconds"]) == SECONDS
    for series, points in data["series"].items():
        assert series in SERIES
        assert [point["size"] for point in points] == sorted(point["size"] for point in points)
        for point in points:
            assert set(point) == {"size", "seconds"}
            assert set(point["seconds"]) == SECONDS
