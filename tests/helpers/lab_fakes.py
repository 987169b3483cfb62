"""A clock, a machine and a run of the lab that are made up, and what every results file has."""

from typing import Any

from roofline_calc import gemm
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
    """A run with known roofs, as if measured in one second."""
    run = gpu_lab.Run(MACHINE, "bfloat16", (3584, 3584), "python snippets/gpu_lab.py")
    run.rotation = {"copies": 11, "bytes": 11 * 3584 * 3584 * 2}
    run.roofs = {"B": gpu_lab.Roof("copy_", B, timing(1)), "P": gpu_lab.Roof("mm", P, timing(1))}
    return run


def at(bandwidth: float, M: int = 1, series: str = "gemm-rotated", spread: float = 0.0) -> gpu_lab.Point:
    """A GEMM that moved its compulsory bytes at this rate."""
    cost = gemm(M, 3584, 3584)
    return gpu_lab.Point(series, M, cost, timing(cost.bytes / bandwidth, spread))


SECONDS = {"median", "q1", "q3", "best", "laps"}
POINT = {"size", "flops", "bytes", "intensity", "regime", "seconds", "flops_per_s", "bytes_per_s", "attainable",
         "fraction", "cache", "noisy"}


def check_schema(data: dict[str, Any]) -> None:
    """What a reader of results files may rely on."""
    assert data["schema"] == 1
    assert isinstance(data["complete"], bool)
    assert set(data["provenance"]) == {"program", "command", "date", "machine", "torch", "python", "system", "notes"}
    assert set(data["provenance"]["machine"]) == {"kind", "name", "cache", "cache_source", "driver"}
    assert data["provenance"]["date"].endswith("Z")
    assert data["dtype"] in gpu_lab.DTYPES.values()
    assert {"K", "N"} <= set(data["gemm"])
    assert data["attention"] == {"n_q": 28, "n_kv": 4, "head_dim": 128, "batch": 8}
    for roof in data["roofs"].values():
        assert set(roof) == {"method", "work", "timing", "rate"}
        assert set(roof["timing"]) == SECONDS
    for series, points in data["series"].items():
        assert series in {"gemm-rotated", "gemm-reused", "attention-decode"}
        assert [point["size"] for point in points] == sorted(point["size"] for point in points)
        for point in points:
            assert set(point) == POINT
            assert set(point["seconds"]) == SECONDS
