"""What the lab prints of a run: symbols and units only, so that it needs no language; 80 columns at most."""

from collections.abc import Iterator
from typing import Any

from .measured import NOISY, TOLERANCE, Results, results_of, roofs_of

MB, GIGA, TERA = 1e6, 1e9, 1e12


def report(data: dict[str, Any]) -> Iterator[str]:
    """The lines of a report on a results file's content; of a run that was cut short, what there is."""
    source = data["provenance"]
    machine, roofs = source["machine"], roofs_of(data)
    yield f"{machine['kind']}: {machine['name']}   cache {machine['cache'] / MB:.0f} MB ({machine['cache_source']})"
    yield f"torch {source['torch']}   {data['dtype']}   {source['date']}"
    for name, unit, scale in (("B", "GB/s", GIGA), ("P", "TFLOP/s", TERA)):
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
    yield (f"\nY[M, {N}] = X[M, {K}] @ W   rotated: {results.copies} W, {results.rotation['bytes'] / MB:.0f} MB   "
           "reused: 1 W")
    yield from _climb(results)
    if results.of("attention-decode"):
        yield "\ndecode: " + ", ".join(f"{name} = {n}" for name, n in results.heads.items())
        yield from _decode(results)
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


def _decode(results: Results) -> Iterator[str]:
    """Time grows with S; intensity and GB/s do not."""
    yield f"{'S':>5} {'I':>6} {'TFLOP/s':>8} {'GB/s':>7} {'frac':>5} {'ms':>7}"
    for measured in results.of("attention-decode"):
        line = (f"{measured.size:5} {measured.cost.intensity:6.2f} {measured.performance / TERA:8.3f} "
                f"{measured.bandwidth / GIGA:7.1f} {results.fraction(measured):5.2f} {measured.seconds * 1e3:7.3f}")
        yield f"{line}  {' '.join(results.flags(measured))}".rstrip()
