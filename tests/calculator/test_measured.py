"""Results files of the lab: read, refused, compared with the prediction, and drawn."""

import csv
import io
import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roofline_calc import RTX_4090, attention, gemm, read_results
from roofline_calc.__main__ import main
from roofline_calc.figure import NARROW, PALETTE, SYMBOLS, WIDE, in_dark, measured_svg

B, P = 100e9, 1e12  # I* = 10


def timing(seconds: float, spread: float = 0.0) -> dict[str, Any]:
    return {"median": seconds, "q1": seconds * (1 - spread / 2), "q3": seconds * (1 + spread / 2), "best": seconds,
            "laps": 5}


def point(size: int, seconds: float, spread: float = 0.0) -> dict[str, Any]:
    return {"size": size, "seconds": timing(seconds, spread)}


def run() -> dict[str, Any]:
    """A run in round numbers: at M = 1 at half of B, with one weight at three times B; at M = 256 at 0.8 of P."""
    low, high, int8 = gemm(1, 3584, 3584), gemm(256, 3584, 3584), gemm(1, 3584, 3584, b_w=1 + 2 / 3584)
    decode = attention(28, 4, 128, 1, 2048) * 8
    naive = 2 * 16 * (2 * (28 + 4) * 128 + 4 * 28 * 16)  # bytes of Q, K, V, O and, four times, the scores
    return {
        "schema": 3, "complete": True,
        "provenance": {
            "program": "snippets/gpu_lab.py", "command": "python snippets/gpu_lab.py", "date": "2026-01-01T00:00:00Z",
            "machine": {"kind": "cpu", "name": "a machine", "cache": 1, "cache_source": "L2", "driver": None},
            "torch": "2.13.0", "python": "3.11.0", "system": "Linux x86_64", "notes": [],
        },
        "dtype": "bfloat16", "ring": 2**30, "gemm": {"K": 3584, "N": 3584},
        "attention": {"n_q": 28, "n_kv": 4, "head_dim": 128, "batch": 8},
        "roofs": {"B": {"method": "sum", "size": 100_000_000_000, "seconds": timing(1)},
                  "copy": {"method": "copy_", "size": 40_000_000_000, "seconds": timing(1)},
                  "P": {"method": "mm", "size": 10_000, "seconds": timing(2)}},
        "series": {
            "gemm-rotated": [point(1, low.bytes / (B / 2)), point(256, high.flops / (0.8 * P), spread=0.3)],
            "gemm-reused": [point(1, low.bytes / (3 * B))],
            "gemm-int8": [point(1, int8.bytes / (B / 2))],
            "attention-decode": [point(2048, decode.bytes / B)],
            "attention-fused": [point(2048, 4 * 28 * 128 * 2048**2 / (P / 2))],
            "attention-naive": [point(16, naive / (0.4 * B))],
        },
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(run()), encoding="utf-8")
    return path


def test_achieved_over_attainable(file):
    results = read_results(file)
    assert results.ridge == 10
    slow, fast = results.of("gemm-rotated")
    assert results.predicted(slow) == B * slow.cost.intensity
    assert results.fraction(slow) == pytest.approx(0.5)
    assert slow.bandwidth == pytest.approx(B / 2)
    assert results.predicted(fast) == P
    assert (results.fraction(fast), fast.spread) == (pytest.approx(0.8), pytest.approx(0.3))
    assert (results.ring, results.copying) == (2**30, 0.8 * B)
    assert (results.regime(slow), results.regime(fast)) == ("memory-bound", "compute-bound")
    assert results.from_cache(results.at("gemm-reused", 1))
    assert not results.from_cache(slow)
    assert results.achieved("gemm-rotated", 256) == pytest.approx(0.8)
    assert results.reuse_gain(1) == pytest.approx(6)
    decode = results.at("attention-decode", 2048)
    assert results.fraction(decode) == pytest.approx(1)
    assert decode.cost.intensity == pytest.approx(6.976, abs=1e-3)


def test_the_bandwidth_above_a_series_is_that_of_what_it_mostly_does(file):
    """Naive attention writes as much as it reads, as a copy does; what is memory-bound under that is not under B."""
    results = read_results(file)
    naive = results.at("attention-naive", 16)
    assert 10 < naive.cost.intensity < 12.5
    assert results.fraction(naive) == pytest.approx(0.5)
    assert results.regime(naive) == "memory-bound"
    assert results.predicted(naive) == 0.8 * B * naive.cost.intensity
    int8 = results.at("gemm-int8", 1)
    assert int8.cost.traffic["W"] == pytest.approx(3584 * 3584 + 3584 * 2, rel=1e-12)
    assert results.fraction(int8) == pytest.approx(0.5)
    fused = results.at("attention-fused", 2048)
    assert (results.predicted(fused), results.fraction(fused)) == (P, pytest.approx(0.5))
    faster = replace(naive, timing=replace(naive.timing, median=naive.cost.bytes / (0.89 * B)))
    assert results.from_cache(faster)  # 0.89 B is less than B, but more than 1.1 times a copy


@pytest.mark.parametrize(("join", "overlap"), [(max, True), (sum, False)])
def test_a_model_of_the_time_fits_what_was_made_by_it(join, overlap, tmp_path):
    """Times made by the maximum, or by the sum, of F/P and bytes/B; the ends of the series show P and B."""
    data, ends = run(), {1: (0, 1), 10**6: (1, 0)}
    times = []
    for M in (1, 8, 32, 64, 256, 10**6):
        cost, (arithmetic, traffic) = gemm(M, 3584, 3584), ends.get(M, (1, 1))
        times.append(point(M, join((arithmetic * cost.flops / P, traffic * cost.bytes / B))))
    data["series"] = {"gemm-rotated": times}
    path = tmp_path / "made.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    results = read_results(path)
    assert results.misfit(overlap=overlap) == pytest.approx(0, abs=1e-3)
    assert results.misfit(overlap=not overlap) > 0.05


def test_a_size_that_was_not_measured_is_an_error(file):
    with pytest.raises(ValueError, match="a machine: no gemm-rotated of size 3"):
        read_results(file).at("gemm-rotated", 3)


def without(*path: str):
    def change(data: dict[str, Any]) -> None:
        for name in path[:-1]:
            data = data[name]
        del data[path[-1]]

    return change


def having(value: object, *path: Any):
    def change(data: dict[str, Any]) -> None:
        for name in path[:-1]:
            data = data[name]
        data[path[-1]] = value

    return change


@pytest.mark.parametrize(("change", "reason"), [
    (having(2, "schema"), "schema 2, this program reads 3: take the lab and the calculator from one version, and "
                          "measure again"),
    (having(4, "schema"), "schema 4, this program reads 3"),
    (without("schema"), "'schema' is missing"),
    (without("provenance", "date"), "no provenance: date"),
    (having("", "provenance", "torch"), "no provenance: torch"),
    (having("int3", "dtype"), "dtype = 'int3'"),
    (without("roofs", "P"), "before all roofs were measured"),
    (without("roofs", "copy"), "before all roofs were measured"),
    (having(0, "roofs", "B", "size"), "size = 0: must be a positive whole number"),
    (having("fast", "roofs", "B", "seconds", "best"), "could not convert"),
    (having(0, "roofs", "B", "seconds", "best"), "best = 0.0: must be positive"),
    (having("mm", "roofs", "B", "method"), "method = 'mm': must be 'sum'"),
    (having({}, "roofs", "X"), "roof = 'X': must be 'B' or 'copy' or 'P'"),
    (having(0.5, "ring"), "ring = 0.5: must be a positive whole number"),
    (having(0, "series", "gemm-rotated", 0, "size"), "M = 0: must be a positive whole number"),
    (having(-1, "series", "gemm-rotated", 0, "seconds", "median"), "median = -1"),
    (having({}, "series", "gemm-rotated", 0), "'size' is missing"),
    (having([], "series", "gemm-other"), "gemm-other"),
    (without("attention", "batch"), "'batch' is missing"),
    (having([], "series"), "not results of the lab"),
])
def test_what_is_no_results_file_is_refused_in_one_line(change, reason, tmp_path, capsys):
    data = deepcopy(run())
    change(data)
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert main(["compare", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"roofline-calc: {path}: not results of the lab: ")
    assert reason in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '"x"', "null"])
def test_other_files_are_refused_in_one_line(text, tmp_path, capsys):
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    assert main(["compare", str(path)]) == 2
    err = capsys.readouterr().err
    assert "not results of the lab" in err
    assert err.count("\n") == 1


def test_bytes_that_are_no_text_are_refused_with_the_files_name(tmp_path, capsys):
    path = tmp_path / "picture.json"
    path.write_bytes(b"\x89PNG\xff")
    assert main(["compare", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"roofline-calc: {path}: not results of the lab")


@pytest.mark.parametrize("options", [["/nope.json"], [], ["{file}", "--bogus"], ["{file}", "--plot", "x.png"],
                                     ["{file}", "--hardware", "rtx-4900"], ["{file}", "--json", "--csv"]])
def test_a_wrong_command_is_one_line_and_exit_status_2(options, file, capsys):
    assert main(["compare", *(option.format(file=file) for option in options)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("roofline-calc: ")
    assert err.count("\n") == 1


def test_compare_for_people(file, capsys):
    assert main(["compare", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "a machine: bfloat16, torch 2.13.0, 2026-01-01T00:00:00Z"
    assert lines[1].startswith("measured roofs: B = 100 Gbyte/s (a copy 80 Gbyte/s), P = 1 TFLOP/s")
    rows = [line.split() for line in lines[5:]]
    assert rows[0][:4] == ["GEMM", "1", "0.9994", "memory-bound"]
    assert rows[0][-1] == "cache:reused"
    assert rows[1][:2] == ["GEMM", "256"]
    assert rows[1][-2:] == ["-", "noisy"]
    assert rows[2][:4] == ["GEMM,", "int8", "W", "1"]
    assert [row[:3] for row in rows[3:]] == [
        ["decode", "attention", "2,048"], ["prefill,", "fused", "2,048"], ["prefill,", "naive", "16"]]
    assert lines[2] == ""


def test_the_state_of_the_card_is_told(file, capsys):
    """As far as it is known."""
    data = run()
    data["provenance"]["machine"]["loaded"] = {"clocks.sm": "1980 MHz", "power.limit": "450.00 W", "mig.mode": None}
    file.write_text(json.dumps(data), encoding="utf-8")
    assert main(["compare", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[2] == "clocks.sm 1980 MHz   power.limit 450.00 W"


def test_compare_for_programs(file, capsys):
    assert main(["compare", str(file), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["provenance"] == run()["provenance"]
    assert (data["peak"], data["ceiling_bandwidth"], data["ridge"]) == (P, B, 10)
    assert [row["fraction"] for row in data["points"]] == pytest.approx([50, 80, 50, 100, 50, 50])
    assert main(["compare", str(file), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert float(rows[0]["reused [byte/s]"]) == pytest.approx(3 * B)
    assert rows[1]["reused [byte/s]"] == ""


def test_compare_with_a_spec_sheet(file, capsys):
    """The roofs of the card instead of those measured."""
    assert main(["compare", str(file), "--hardware", "rtx-4090", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["ridge"] == pytest.approx(RTX_4090.ridge())
    assert data["points"][0]["predicted"] == pytest.approx(gemm(1, 3584, 3584).intensity * 1008e9)


def test_a_folder_has_a_line_for_each_machine(file, capsys):
    cut = run() | {"complete": False, "series": {}}
    (file.parent / "cut.json").write_text(json.dumps(cut), encoding="utf-8")
    assert main(["compare", str(file.parent)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert [line[0] for line in lines] == ["cut", "results"]
    assert lines[0][5:8] == ["-", "-", "-"]
    assert lines[1][1] == "bfloat16"
    assert [float(cell) for cell in lines[1][2:8]] == [100, 1, 10, 50, 80, 6]  # 3 times B against half of it
    assert main(["compare", str(file.parent), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[1]["provenance"] == run()["provenance"]


@pytest.mark.parametrize("options", [["--plot", "x.svg"], ["--hardware", "h200"]])
def test_a_folder_takes_no_option_of_one_file(options, file, capsys):
    assert main(["compare", str(file.parent), *options]) == 2
    assert "not a folder" in capsys.readouterr().err


def test_a_folder_without_results_is_refused(tmp_path, capsys):
    assert main(["compare", str(tmp_path)]) == 2
    assert "has no .json files" in capsys.readouterr().err


def test_an_incomplete_run_says_so(tmp_path, capsys):
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(run() | {"complete": False, "series": {}}), encoding="utf-8")
    assert main(["compare", str(path)]) == 0
    assert "incomplete" in capsys.readouterr().out


# ------------------------------------------------------------------ the measured roofline


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_every_measurement_is_drawn(file, size):
    results = read_results(file)
    svg = measured_svg(results, SYMBOLS | {"title": "a < b, {}"}, size)
    assert svg.count('<use xlink:href="#') >= len(results.measurements)
    for series in run()["series"]:
        assert SYMBOLS[series] in svg
    assert "I* = 10.0" in svg
    assert "a &lt; b, a machine, bfloat16: B = 100 GB/s, P = 1 TFLOP/s, I* = 10.0 FLOP/byte; " \
           "M = 1: 0.50, M = 256: 0.80 × min(P, I·B)" in svg
    assert svg == measured_svg(results, SYMBOLS | {"title": "a < b, {}"}, size)  # the same bytes every time


def test_reused_weights_are_hollow(file):
    svg = measured_svg(read_results(file), SYMBOLS)
    marks = [line for line in svg.splitlines() if "<use" in line and "stroke-width: 1.3" in line]
    hollow = [line for line in marks if "fill-opacity: 0" in line]
    assert (len(marks), len(hollow)) == (7 + 6, 1 + 1)  # measurements and the legend's own
    light = {light for light, _ in PALETTE.values()}
    assert not any(colour in in_dark(svg) for colour in light)


def test_the_plot_of_a_comparison(file, tmp_path, capsys):
    plot = tmp_path / "plot.svg"
    assert main(["compare", str(file), "--plot", str(plot)]) == 0
    assert f"chart       {plot}" in capsys.readouterr().out
    assert "Roofline: a machine" in plot.read_text(encoding="utf-8")


def test_a_run_without_points_still_has_roofs(tmp_path):
    path = tmp_path / "roofs.json"
    path.write_text(json.dumps(run() | {"series": {}}), encoding="utf-8")
    assert "memory-bound" in measured_svg(read_results(path), SYMBOLS)
