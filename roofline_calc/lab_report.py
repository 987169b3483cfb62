"""What the lab prints of a run: symbols and units only, so that it needs no language; 80 columns at most."""

from collections.abc import Iterator
from typing import Any

from .measured import NOISY, SERIES, TOLERANCE, Results, results_of, roofs_of

MB, GIGA, TERA = 1e6, 1e9, 1e12


def report(data: dict[str, Any]) -> Iterator[str]:
    """The lines of a report on a results file's content; of a run that was cut short, what there is."""
    source = data["provenance"]
    machine, roofs = source["machine"], roofs_of(data)
    yield f"{machine['kind']}: {machine['name']}   cache {machine['cache'] / MB:.0f} MB ({machine['cache_source']})"
    yield f"torch {source['torch']}   {data['dtype']}   {source['date']}"
    if state := conditions(source):
        yield state
    for name, unit, scale in (("B", "GB/s", GIGA), ("copy", "GB/s", GIGA), ("P", "TFLOP/s", TERA)):
        if roof := roofs.get(name):
            yield (f"{name} = {roof.rate / scale:.4g} {unit}   {roof}, best of {roof.timing.laps} laps, "
                   f"median {roof.typical / scale:.4g}")
    if data["series"]:
        yield from _tables(results_of(data))
    if not data["complete"]:
        yield "incomplete"


def _tables(results: Results) -> Iterator[str]:
    K, N = results.shape
    yield f"I* = P/B = {results.ridge:.1f} FLOP/byte"
    yield f"\nY[M, {N}] = X[M, {K}] @ W   rotated: over {results.ring / MB:.0f} MB   reused: one X, W, Y"
    yield from _climb(results)
    for series in ("gemm-int8", "attention-decode", "attention-fused", "attention-naive"):
        if results.of(series):
            yield from _plain(results, series)
    yield f"\ncache: GB/s > {TOLERANCE} B: not from memory   noisy: quartiles {NOISY:.0%} apart"


def _climb(results: Results) -> Iterator[str]:
    """Rotated beside reused, with a line where the regime turns."""
    yield (f"{'M':>5} {'I':>6} {'TFLOP/s':>8} {'min(P,I*B)':>10} {'frac':>5}"
           f" {'GB/s':>7} {'reused':>7} {'ratio':>5}")
    before = None
    for measured, reused in results.climb():
        regime = results.regime(measured)
        if before and regime != before:
            yield f"{'I*':>12} " + "-" * 47
        before = regime
        line = (f"{measured.size:5} {measured.cost.intensity:6.1f} {measured.performance / TERA:8.3f} "
                f"{results.predicted(measured) / TERA:10.3f} {results.fraction(measured):5.2f} "
                f"{measured.bandwidth / GIGA:7.1f}")
        if reused:
            line += f" {reused.bandwidth / GIGA:7.1f} {results.reuse_gain(measured.size):5.2f}"
        flags = " ".join(results.flags(measured, reused)).replace("noisy:reused", "noisy")  # no room for which
        yield f"{line}  {flags}".rstrip()


def _plain(results: Results, series: str) -> Iterator[str]:
    """A series without a second one beside it."""
    heads = results.heads | ({} if series == "attention-decode" else {"batch": 1})
    said = "" if series == "gemm-int8" else "   " + ", ".join(f"{name} = {n}" for name, n in heads.items())
    yield f"\n{SERIES[series].name}{said}"
    size = "M" if series.startswith("gemm") else "S"
    yield f"{size:>5} {'I':>7} {'TFLOP/s':>8} {'min(P,I*B)':>10} {'frac':>5} {'GB/s':>7} {'ms':>9}"
    for measured in results.of(series):
        line = (f"{measured.size:5} {measured.cost.intensity:7.2f} {measured.performance / TERA:8.3f} "
                f"{results.predicted(measured) / TERA:10.3f} {results.fraction(measured):5.2f} "
                f"{measured.bandwidth / GIGA:7.1f} {measured.seconds * 1e3:9.3f}")
        yield f"{line}  {' '.join(results.flags(measured))}".rstrip()


def conditions(source: dict[str, Any]) -> str:
    """Clocks, power limit and the like of the GPU at work, as far as its driver told them."""
    state = source["machine"].get("loaded") or {}
    return "   ".join(f"{name} {told}" for name, told in state.items() if told)
