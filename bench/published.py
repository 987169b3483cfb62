"""Published measurements beside the least time that their cards allow: every row that a reader can look up.

    python bench/published.py

A fraction is the calculator's time over the measured one: of the lower bound, which nothing beats, and of the
kernel-by-kernel time, which an engine that overlaps kernels may beat. In each group the rows nearest to the roof first.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from snippets.published.measurements import LEFT_OUT, SOURCES, Measurement, measurements  # noqa: E402


def kind(measurement: Measurement) -> str:
    """What is compared with its like: a prefill, decoding, or both."""
    if measurement.prompt and measurement.contexts:
        return "prefill and decode"
    return "prefill" if measurement.prompt else "decode"


def lines() -> Iterator[str]:
    """The table, line by line."""
    for source, cited in SOURCES.items():
        of_source = measurements(source)
        for group in sorted({kind(one) for one in of_source}):
            yield f"\n{cited}; {group}"
            yield f"{'':66}{'measured, s':>12}{'bound, s':>11}{'fraction':>10}{'kernel by kernel':>18}"
            ranked = sorted((one for one in of_source if kind(one) == group), key=lambda one: -one.fraction)
            for one in ranked:
                yield (f"{one.name:66}{one.seconds:12.4g}{one.least.lower_bound:11.4g}{one.fraction:10.3f}"
                       f"{one.fraction_kernel_by_kernel:18.3f}")
    greatest = max(measurements(), key=lambda one: one.fraction)
    yield f"\nNot in the catalogue, for want of a source: {', '.join(LEFT_OUT)}"
    yield f"{len(measurements())} rows, the greatest fraction {greatest.fraction:.3f}: {greatest.name}"


def main() -> None:
    """Print the table."""
    print("\n".join(lines()).lstrip())


if __name__ == "__main__":
    main()
