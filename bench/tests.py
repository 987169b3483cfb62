"""How long the tests take here: the calculator's alone, and all of them, on two workers.

    python bench/tests.py
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS = {"the calculator's tests": ("tests/calculator", "roofline_calc"), "all tests": ()}


def main() -> None:
    """Print what was measured."""
    for what, paths in PARTS.items():
        start = time.perf_counter()
        command = [sys.executable, "-m", "pytest", "-n", "2", *paths]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr.strip()
        print(f"{what:60} {time.perf_counter() - start:.0f} s: {last}", flush=True)


if __name__ == "__main__":
    main()
