"""The command `compare`: what the lab measured, beside the prediction."""

import argparse
from dataclasses import replace
from pathlib import Path

from .answer import Answer, figure_module
from .lab_report import conditions
from .measured import DTYPES, SERIES, read_results, stored_results
from .setting import RefusedError, accelerator_named
from .tables import Column, scaled


def _machines(folder: str) -> Answer:
    """A row for every machine of a folder: its roofs, and how close the lab came to them."""
    rows = []
    for name, results in stored_results(folder).items():
        shares: dict[str, list[float]] = {"memory-bound": [], "compute-bound": []}
        for measured in results.of("gemm-rotated"):
            shares[results.regime(measured)].append(100 * results.fraction(measured))
        reused = [measured.size for measured in results.of("gemm-reused")]
        rows.append({
            "name": name, "machine": results.machine, "dtype": results.dtype, "bandwidth": results.bandwidth,
            "peak": results.peak, "ridge": results.ridge,
            "memory": max(shares["memory-bound"], default=None),
            "compute": max(shares["compute-bound"], default=None),
            "reuse": results.reuse_gain(min(reused)) if reused else None,
            "date": results.provenance["date"][:10], "provenance": results.provenance,
        })
    columns = (
        Column("name", "results"), Column("dtype", "type"), Column("bandwidth", "B", "byte/s", True),
        Column("peak", "P", "FLOP/s", True), Column("ridge", "I*", "FLOP/byte"),
        Column("memory", "best under I·B", "%"), Column("compute", "best under P", "%"),
        Column("reuse", "one set", "×"), Column("date", "date"), Column("machine", "machine"),
    )
    return Answer(rows, columns, rows)


def compare(options: argparse.Namespace) -> Answer:
    """Measurements of the lab (a file of gpu_lab.py --json, or a folder of them) beside the prediction."""
    if Path(options.results).is_dir():
        if options.hardware or options.plot:
            raise RefusedError("--hardware and --plot take one results file, not a folder")
        return _machines(options.results)
    results, roofs = read_results(options.results), "measured"
    if options.hardware:
        card, dtype = accelerator_named(options.hardware), DTYPES[results.dtype]
        results = replace(results, peak=card.peak_of(dtype), bandwidth=card.bandwidth, copying=card.bandwidth)
        roofs = f"{card.name}'s"
    alone = [measured for measured in results.measurements if measured.series not in ("gemm-rotated", "gemm-reused")]
    pairs = [*results.climb(), *((measured, None) for measured in alone)]
    rows = [
        {
            "operator": SERIES[measured.series].name, "size": measured.size, "intensity": measured.cost.intensity,
            "regime": results.regime(measured), "predicted": results.predicted(measured),
            "measured": measured.performance, "fraction": 100 * results.fraction(measured),
            "bandwidth": measured.bandwidth, "reused": reused.bandwidth if reused else None,
            "flags": " ".join(results.flags(measured, reused)),
        }
        for measured, reused in pairs
    ]
    columns = (
        Column("operator", "operator"), Column("size", "M or S"), Column("intensity", "intensity", "FLOP/byte"),
        Column("regime", "regime"), Column("predicted", "predicted", "FLOP/s", True),
        Column("measured", "measured", "FLOP/s", True), Column("fraction", "share of it", "%"),
        Column("bandwidth", "traffic", "byte/s", True), Column("reused", "set reused", "byte/s", True),
        Column("flags", "flags"),
    )
    source = results.provenance
    above = [
        f"{results.machine}: {results.dtype}, torch {source['torch']}, {source['date']}",
        f"{roofs} roofs: B = {scaled(results.bandwidth, 'byte/s')} (a copy {scaled(results.copying, 'byte/s')}), "
        f"P = {scaled(results.peak, 'FLOP/s')}; ridge point {results.ridge:.1f} FLOP/byte",
    ]
    if state := conditions(source):
        above.append(state)
    if not results.complete:
        above.append("incomplete: the run was cut short")
    data = {
        "provenance": source, "complete": results.complete, "dtype": results.dtype, "roofs": roofs,
        "peak": results.peak, "ceiling_bandwidth": results.bandwidth, "ridge": results.ridge,
        "units": {"size": "token", "intensity": "FLOP/byte", "predicted": "FLOP/s", "measured": "FLOP/s",
                  "fraction": "%", "bandwidth": "byte/s", "reused": "byte/s"},
        "points": rows,
    }
    below = []
    if options.plot:
        figure = figure_module("--plot", options.plot)
        Path(options.plot).write_text(figure.measured_svg(results, figure.SYMBOLS), encoding="utf-8")
        below = [f"chart       {options.plot}"]
    return Answer(data, columns, rows, above, below)
