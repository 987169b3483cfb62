"""Every stored results file of the lab: readable, whole, with its provenance, and of a roofline's shape.

Ratios and bands only: machines differ.
"""

import json
import re
from datetime import datetime
from pathlib import Path

import pytest
from support import ROOT

from roofline_calc import Results, read_results, regime

FILES = sorted((ROOT / "snippets" / "results").glob("*.json"))
every_file = pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])


@pytest.fixture
def results(file: Path) -> Results:
    return read_results(file)


def test_there_is_one():
    assert FILES


@every_file
def test_its_name_says_what_ran(file):
    assert re.fullmatch(r"[a-z]+(-[a-z0-9.]+)+", file.stem), "device and what is special about it: gpu-rtx-4090"


@every_file
def test_it_says_where_it_comes_from(file, results):
    source = results.provenance
    assert source["program"] == "snippets/gpu_lab.py"
    assert source["command"].startswith("python snippets/gpu_lab.py")
    assert "--quick" not in source["command"], "the full run"
    assert datetime.fromisoformat(source["date"]).tzinfo is not None
    machine = source["machine"]
    assert machine["kind"] in {"cuda", "xpu", "mps", "cpu"}
    assert machine["name"]
    assert machine["cache"] > 0
    assert machine["driver"] or machine["kind"] == "cpu"
    assert re.match(r"\d+\.\d+", source["torch"])
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"(?:[\"\s(]|\\n)(?:/\w+){2,}|[A-Z]:\\\\", text), "a path of your machine"


@every_file
def test_it_is_a_whole_run(file, results):
    assert results.complete
    assert [measured.size for measured in results.of("gemm-rotated")] == \
        [measured.size for measured in results.of("gemm-reused")]
    assert {1, 256, 1024} <= {measured.size for measured in results.of("gemm-rotated")}
    assert len(results.of("attention-decode")) >= 3
    assert results.ring >= max(256e6, 4 * results.provenance["machine"]["cache"])


@every_file
def test_it_holds_sizes_and_seconds_and_nothing_that_follows_from_them(file, results):
    data = json.loads(file.read_text(encoding="utf-8"))
    assert set(data) == {"schema", "complete", "provenance", "dtype", "ring", "gemm", "attention", "roofs", "series"}
    assert set(data["gemm"]) == {"K", "N"}
    for points in data["series"].values():
        assert {frozenset(point) for point in points} == {frozenset({"size", "seconds"})}
    timed = [*data["roofs"].values(), *(point for points in data["series"].values() for point in points)]
    assert {frozenset(one["seconds"]) for one in timed} == {frozenset({"median", "q1", "q3", "best", "laps"})}


@every_file
def test_its_roofs_are_work_over_the_best_lap(file, results):
    """By longhand: a read is its bytes, a copy reads and writes them, a matmul of n rows has 2n³ FLOPs."""
    data = json.loads(file.read_text(encoding="utf-8"))
    read, copy, matmul = (data["roofs"][name] for name in ("B", "copy", "P"))
    assert (read["method"], copy["method"], matmul["method"]) == ("sum", "copy_", "mm")
    assert results.bandwidth == pytest.approx(read["size"] / read["seconds"]["best"])
    assert results.copying == pytest.approx(2 * copy["size"] / copy["seconds"]["best"])
    assert results.peak == pytest.approx(2 * matmul["size"] ** 3 / matmul["seconds"]["best"])
    assert results.ring == data["ring"]
    assert read["size"] == copy["size"] == data["ring"] // 8


@every_file
def test_it_climbs_and_flattens_under_its_roofs(file, results):
    rotated = {measured.size: measured.performance for measured in results.of("gemm-rotated")}
    assert rotated[8] > 3 * rotated[1]
    assert rotated[1024] > 3 * rotated[8]
    assert rotated[1024] < 2.5 * rotated[256]  # four times the M: no longer in proportion
    assert all(results.fraction(measured) <= 1.25 for measured in results.of("gemm-rotated"))
    assert not any(results.from_cache(measured) for measured in results.of("gemm-rotated"))
    tops = {"memory-bound": 0.0, "compute-bound": 0.0}
    for measured in results.of("gemm-rotated"):
        bound = regime(measured.cost.intensity, results.ridge)
        tops[bound] = max(tops[bound], results.fraction(measured))
    assert min(tops.values()) > 0.5, tops


@every_file
def test_the_cache_shows_where_it_holds_the_weight(file, results):
    """The lab page: apart on the slope, close together under the flat roof."""
    K, N = results.shape
    weight = K * N * (4 if results.dtype == "float32" else 2)
    if weight < results.provenance["machine"]["cache"] / 2:
        assert results.reuse_gain(1) > 1.1
    assert 0.8 < results.reuse_gain(1024) < 1.25


@every_file
def test_s_cancels(file, results):
    """The lab page: decode attention is one cluster, whatever the context."""
    first, *_, last = results.of("attention-decode")
    assert last.cost.intensity / first.cost.intensity == pytest.approx(1, abs=0.02)
    assert last.size / first.size / 2 < last.seconds / first.seconds < 2 * last.size / first.size


@every_file
def test_prefill_does_the_same_work_with_fewer_bytes_when_fused(file, results):
    """The lab page: both kernels have the same FLOPs; the naive one carries its scores through memory four times."""
    for fused, naive in zip(results.of("attention-fused"), results.of("attention-naive"), strict=True):
        assert fused.size == naive.size
        assert fused.cost.flops == naive.cost.flops
        assert naive.cost.bytes - fused.cost.bytes == 4 * 28 * fused.size**2 * (4 if results.dtype == "float32" else 2)


@every_file
def test_an_int8_weight_has_half_the_bytes_and_its_scales(file, results):
    for measured in results.of("gemm-int8"):
        K, N = results.shape
        assert measured.cost.traffic["W"] == pytest.approx(K * N + N * (4 if results.dtype == "float32" else 2))
        assert measured.cost.flops == results.at("gemm-rotated", measured.size).cost.flops
