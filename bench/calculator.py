"""How fast the calculator is here: import time, and points per second of a whole-model decode sweep.

    python bench/calculator.py

A point is one (batch, context) of Qwen2.5-7B on an RTX 4090: every operator of the step with its FLOPs, traffic,
regime and time floor. Medians, with the best in parentheses.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from roofline_calc import QWEN, RTX_4090, sweep  # noqa: E402

BATCHES = [1, 2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 512]
CONTEXTS = range(256, 256 * 51, 256)
POINTS = [(batch, context) for batch in BATCHES for context in CONTEXTS]


def repeated(measure: Callable[[], float], times: int) -> tuple[float, float]:
    """Median and best of some measurements."""
    found = [measure() for _ in range(times)]
    return statistics.median(found), min(found)


def import_seconds(statement: str) -> float:
    """Time of an import in a fresh interpreter, its own start left out."""
    code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def sweep_seconds() -> float:
    """Time of a decode sweep over all points."""
    start = time.perf_counter()
    operators = sum(len(report.rows) for _, _, report in sweep(QWEN, RTX_4090, POINTS, elementwise=True))
    if operators != 14 * len(POINTS):
        raise AssertionError(f"{operators} operators")
    return time.perf_counter() - start


def main() -> None:
    """Print what was measured."""
    for statement in ("import dataclasses", "import roofline_calc", "from roofline_calc import QWEN"):
        median, best = repeated(partial(import_seconds, statement), 9)
        print(f"{statement:32} {median * 1e3:6.1f} ms ({best * 1e3:.1f})")
    median, best = repeated(sweep_seconds, 15)
    print(f"{f'decode sweep, {len(POINTS):,} points':32} {median * 1e3:6.1f} ms ({best * 1e3:.1f}), "
          f"{len(POINTS) / median:,.0f} points/s ({len(POINTS) / best:,.0f})")


if __name__ == "__main__":
    main()
