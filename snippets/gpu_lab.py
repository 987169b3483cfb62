"""Climb the roofline on this machine: one layer's matmul from M = 1 to 1024.

B is measured by a large copy, P by a large matmul. Then a linear layer of
Qwen2.5-7B runs at a grid of M, and decode attention at several contexts,
each beside min(P, I * B) as the calculator predicts it. Ctrl-C keeps what
has been measured.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import Any, NoReturn, TypeVar

# Runs from a clone or the unpacked download, with nothing installed but torch.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from roofline_calc import QWEN
from roofline_calc.checks import check_whole
from roofline_calc.lab_report import report
from roofline_calc.measured import DTYPES as SHORT
from roofline_calc.measured import SCHEMA, Roof, Timing, results_of

try:
    import torch
except ImportError:  # `main` says what to install; --help works without
    torch = None  # type: ignore[assignment]

T = TypeVar("T")
Step = Callable[[], object]  # one call of an operator
Lap = Callable[[], float]  # many of them, timed: seconds per call
Note = Callable[[str], None]  # tells what was done otherwise than asked
NO_TORCH = "torch is missing: pip install torch  (tested: torch==2.13.0)"
NO_MATPLOTLIB = "matplotlib is missing: pip install matplotlib"
DTYPES = {short: name for name, short in SHORT.items()}
KINDS = ("cuda", "xpu", "mps", "cpu")  # ROCm calls itself cuda
SHAPES = {name.removesuffix("_proj"): widths
          for fused in (False, True) for name, widths in QWEN.projections(fused).items()}
HEADS = QWEN.n_q, QWEN.n_kv, QWEN.head_dim

GRID = 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, *range(64, 257, 16), 288, 320, 384, 448, 512, 768, 1024
QUICK_GRID = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
CONTEXTS = (1024, 2048, 4096, 8192)
MB, GIGA = 10**6, 10**9
LAP = 5e-3  # seconds of work between two readings of an accelerator's clock


# --- The machine -----------------------------------------------------------

@dataclass(frozen=True)
class Machine:
    """Where the work runs; `cache` is its last-level cache in bytes."""

    kind: str
    name: str
    cache: int
    cache_source: str
    driver: str | None = None

    def sync(self) -> None:
        """Wait until the device has done all that was asked of it."""
        getattr(torch, self.kind).synchronize()


def cpu_cache(root: str = "/sys/devices/system/cpu") -> int | None:
    """Bytes of last-level cache, all the sockets' together, on Linux."""
    levels: dict[int, dict[str, int]] = {}
    for index in Path(root).glob("cpu[0-9]*/cache/index*"):
        try:
            level, shared_by, size = ((index / name).read_text().strip()
                                      for name in ("level", "shared_cpu_list", "size"))
            levels.setdefault(int(level), {})[shared_by] = int(size[:-1]) * {"K": 2**10, "M": 2**20}[size[-1]]
        except (OSError, ValueError, KeyError):
            continue
    return sum(levels[max(levels)].values()) if levels else None


def cpu_name() -> str:
    """The processor by its name, with the threads that torch uses."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    named = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    name = next(named, platform.processor() or platform.machine())
    return f"{name}, {torch.get_num_threads()} threads"


def nvidia_driver() -> str | None:
    """The driver's version, where its own tool tells it."""
    if not shutil.which("nvidia-smi"):
        return None
    ask = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    told = subprocess.run(ask, capture_output=True, text=True, check=False)
    return told.stdout.splitlines()[0] if told.stdout else None


def find_machine(wanted: str | None) -> Machine:
    """The wanted device, or else the first that is there."""
    there = [kind for kind in KINDS if getattr(torch, kind).is_available()]
    kind = wanted or there[0]
    if kind not in there:
        fail(f"--device {kind}: not available here; there is: {', '.join(there)}")
    if kind == "cpu":
        cache = cpu_cache()
        return Machine(kind, cpu_name(), cache or 32 * 2**20, "sysfs" if cache else "assumed")
    if kind == "mps":
        name = getattr(torch.backends.mps, "get_name", platform.processor)()
        return Machine(kind, name, 96 * 2**20, "assumed", platform.mac_ver()[0])
    properties = getattr(torch, kind).get_device_properties(0)
    if torch.version.hip:  # the Infinity Cache behind the L2 is not reported
        return Machine(kind, properties.name, 256 * 2**20, "assumed", f"hip {torch.version.hip}")
    if kind == "cuda":
        return Machine(kind, properties.name, properties.L2_cache_size, "L2", nvidia_driver())
    cache = getattr(properties, "last_level_cache_size", 0)
    return Machine(kind, properties.name, cache or 256 * 2**20, "reported" if cache else "assumed",
                   getattr(properties, "driver_version", None))


def runs_natively(machine: Machine, dtype: str) -> bool:
    """Whether the device multiplies this type itself, not by emulation."""
    try:
        tile = torch.ones(16, 16, dtype=getattr(torch, dtype), device=machine.kind)
        torch.mm(tile, tile)
    except RuntimeError:
        return False
    if machine.kind == "cpu" and dtype != "float32":
        asked = getattr(torch.ops.mkldnn, f"_is_mkldnn_{SHORT[dtype]}_supported")
        return torch.backends.mkldnn.is_available() and bool(asked())
    if machine.kind == "cuda" and dtype == "bfloat16":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return True


def choose_dtype(wanted: str, native: Callable[[str], bool], note: Note) -> str:
    """The wanted type, or the nearest that the device runs natively."""
    names = list(DTYPES.values())
    nearest = next(name for name in names[names.index(wanted):] if name == "float32" or native(name))
    if nearest != wanted:
        note(f"{wanted}: not native here; {nearest} instead")
    return nearest


# --- Time ------------------------------------------------------------------

# --8<-- [start:timer]
def stopwatch(step: Step, calls: int, sync: Callable[[], None],
              clock: Callable[[], float] = time.perf_counter) -> Lap:
    """Seconds per call by the host's clock, the device idle at both ends."""
    def lap() -> float:
        sync()
        start = clock()
        for _ in range(calls):
            step()
        sync()
        return (clock() - start) / calls
    return lap


def measure(lap: Lap, budget: float,
            clock: Callable[[], float] = time.perf_counter) -> Timing:
    """Laps for `budget` seconds, five at least, after two that warm up.

    Where a single lap takes the whole budget, three have to do, after one.
    """
    slow = lap() > budget  # kernels compiled, pages mapped, clocks raised
    if not slow:
        lap()
    laps: list[float] = []
    end = clock() + budget
    while len(laps) < (3 if slow else 5) or clock() < end:
        laps.append(lap())
    q1, median, q3 = statistics.quantiles(laps, n=4, method="inclusive")
    return Timing(median, q1, q3, min(laps), len(laps))
# --8<-- [end:timer]


# --8<-- [start:graph]
def graph_lap(step: Step, calls: int) -> Lap:
    """Seconds per call by the GPU's clock, with no launch between calls.

    A kernel of a few microseconds ends before the host can launch the next
    one. A CUDA graph holds all the calls and is launched once.
    """
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            step()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def lap() -> float:
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        milliseconds: float = start.elapsed_time(end)
        return milliseconds / 1e3 / calls
    return lap
# --8<-- [end:graph]


def lap_for(machine: Machine, step: Step, ring: int = 1) -> Lap:
    """The right timer: on a CPU each call alone, else `ring` calls or more."""
    once = stopwatch(step, 1, machine.sync)
    if machine.kind == "cpu":
        return once
    once()  # compiles
    calls = ring * max(1, round(LAP / (once() * ring)))
    return graph_lap(step, calls) if machine.kind == "cuda" else stopwatch(step, calls, machine.sync)


# --- Memory ----------------------------------------------------------------

def claim(machine: Machine, nbytes: int) -> None:
    """Refuse, on a CPU, more than a quarter of the main memory at once.

    Linux grants more than there is, and kills the program that uses it.
    """
    if machine.kind == "cpu" and hasattr(os, "sysconf"):
        room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
        if nbytes > room:
            raise RuntimeError(f"{nbytes / MB:.0f} MB: more memory than a quarter of this machine's")


def fit(build: Callable[[int], T], size: int, what: str, note: Note) -> T:
    """build(size); where memory ends, with half the size, and half again."""
    while True:
        try:
            return build(size)
        except RuntimeError as error:  # each back end words it differently
            if "memory" not in str(error) or size == 1:
                raise
        size //= 2
        note(f"out of memory: {size} {what} instead")


def random(machine: Machine, dtype: str, *shape: int) -> torch.Tensor:
    """Normal numbers: zeros would spare a GPU power and flatter it."""
    tensor = torch.empty(0, dtype=getattr(torch, dtype), device=machine.kind)
    claim(machine, math.prod(shape) * tensor.element_size())
    return tensor.new_empty(shape).normal_()


# --- The two roofs ---------------------------------------------------------

@dataclass(frozen=True)
class Load:
    """What a roof is measured with: a lap of this method, at this size."""

    method: str
    size: int
    lap: Lap


def copy_load(machine: Machine, nbytes: int, note: Note) -> Load:
    """B: a large copy."""
    def build(size: int) -> tuple[torch.Tensor, torch.Tensor]:
        claim(machine, 2 * size)
        source = torch.ones(size // 4, dtype=torch.float32, device=machine.kind)
        return source, torch.zeros_like(source)

    source, target = fit(build, nbytes, "bytes to copy", note)
    return Load("copy_", source.nbytes, lap_for(machine, lambda: target.copy_(source)))


def matmul_load(machine: Machine, dtype: str, n: int, note: Note) -> Load:
    """P: a square matmul, its intensity far beyond any ridge."""
    def build(n: int) -> list[torch.Tensor]:
        return [random(machine, dtype, n, n) for _ in range(3)]

    a, b, y = fit(build, n, "rows of the large matmul", note)
    return Load("mm", len(a), lap_for(machine, lambda: torch.mm(a, b, out=y)))


def roof_loads(machine: Machine, dtype: str, note: Note) -> dict[str, Load]:
    """What measures B and P: too large for the caches, and not too slow."""
    copied, n = GIGA, 8192
    if machine.kind == "cpu":
        copied, n = min(GIGA, max(256 * MB, 2 * machine.cache)), 2048
    return {"B": copy_load(machine, copied, note), "P": matmul_load(machine, dtype, n, note)}


# --- The operators ---------------------------------------------------------

@dataclass(frozen=True)
class Point:
    """One operator at one size, as timed."""

    series: str
    size: int  # M of a GEMM, S of attention
    timing: Timing


# --8<-- [start:rotate]
def rotation_bytes(machine: Machine) -> int:
    """What to rotate over, so that no weight is still cached at its turn."""
    least = 256 * MB if machine.kind == "cpu" else GIGA
    return max(least, 4 * machine.cache)


def weight_copies(machine: Machine, dtype: str, K: int, N: int,
                  nbytes: int, note: Callable[[str], None]) -> torch.Tensor:
    """Equal weights W[copies, K, N], more than `nbytes` in all."""
    weight = random(machine, dtype, N, K)  # as nn.Linear keeps it
    copies = nbytes // weight.nbytes + 1

    def build(n: int) -> torch.Tensor:
        claim(machine, n * weight.nbytes)
        return weight.repeat(n, 1, 1)

    weights = fit(build, copies, "weights", note)
    return weights.transpose(1, 2)
# --8<-- [end:rotate]


# --8<-- [start:sweep]
def sweep(machine: Machine, weights: torch.Tensor, grid: tuple[int, ...],
          budget: float) -> Iterator[Point]:
    """Y[M, N] = X[M, K] @ W[K, N] at each M, by rotation and with one W."""
    copies, K, N = weights.shape
    rings = {"gemm-rotated": cycle(weights),  # goes on from M to M
             "gemm-reused": cycle(weights[:1])}
    for M in grid:
        X, Y = weights.new_empty(M, K).normal_(), weights.new_empty(M, N)
        for series, ring in rings.items():
            lap = lap_for(machine, matmul(X, ring, Y), copies)
            yield Point(series, M, measure(lap, budget))
# --8<-- [end:sweep]


def matmul(X: torch.Tensor, ring: Iterator[torch.Tensor], Y: torch.Tensor) -> Step:
    """One call: the next weight of the ring."""
    return lambda: torch.mm(X, next(ring), out=Y)


# --8<-- [start:decode]
def decode(machine: Machine, memory: torch.Tensor, contexts: tuple[int, ...],
           batch: int, budget: float) -> Iterator[Point]:
    """One new token per sequence attends to S cached ones: S cancels in I."""
    n_q, n_kv, d = HEADS
    Q = memory.new_empty(batch, n_q, 1, d).normal_()
    for S in contexts:
        shape = 2, batch, n_kv, S, d  # K and V
        count = memory.numel() // math.prod(shape)
        if not count:  # where memory was short
            continue
        caches = memory[: count * math.prod(shape)].view(count, *shape)
        lap = lap_for(machine, attend(machine, Q, cycle(caches)), count)
        yield Point("attention-decode", S, measure(lap, budget))
# --8<-- [end:decode]


def attend(machine: Machine, Q: torch.Tensor, ring: Iterator[torch.Tensor]) -> Step:
    """One call: the next KV cache of the ring.

    A fused GPU kernel reads a KV head once for the query heads that share it; the CPU's reads it again for each.
    There the sharing heads go in as so many queries of one head: the same sums, from one reading.
    """
    sdpa = torch.nn.functional.scaled_dot_product_attention
    if machine.kind == "cpu":
        batch, (n_q, n_kv, d) = len(Q), HEADS
        Q = Q.view(batch, n_kv, n_q // n_kv, d)

    def step() -> torch.Tensor:
        K, V = next(ring)
        return sdpa(Q, K, V, enable_gqa=True)
    return step


# --- A run -----------------------------------------------------------------

@dataclass
class Run:
    """What was asked, and what has been measured so far."""

    machine: Machine
    dtype: str
    shape: tuple[int, int]
    command: str
    date: str = field(default_factory=lambda: f"{datetime.now(UTC):%FT%TZ}")
    copies: int = 0  # of the weight, in rotation
    roofs: dict[str, Roof] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    complete: bool = False

    @property
    def batch(self) -> int:
        """Sequences that decode attention serves at once."""
        return 8 if self.machine.kind == "cpu" else 32

    def note(self, text: str) -> None:
        """Say now, and keep for the record, what was done otherwise."""
        progress("")
        print(f"note: {text}", file=sys.stderr)
        self.notes.append(text)

    def raise_roof(self, name: str, load: Load, budget: float) -> None:
        """Measure a roof, and keep it if it is the highest yet."""
        roof = Roof(load.method, load.size, measure(load.lap, budget))
        if name not in self.roofs or roof.rate > self.roofs[name].rate:
            self.roofs[name] = roof


def run_lab(run: Run, quick: bool) -> None:
    """Measure everything, leaving each result in `run` as soon as it is in."""
    machine, note = run.machine, run.note
    grid, contexts = (QUICK_GRID, CONTEXTS[:3]) if quick else (GRID, CONTEXTS)
    budget = 0.1 if quick else 0.4
    progress("memory")
    loads = roof_loads(machine, run.dtype, note)

    def roofs() -> None:  # again and again: a busy machine has its moments
        for name, load in loads.items():
            progress(f"{name}: {load.method}")
            run.raise_roof(name, load, budget)

    roofs()
    progress("weights")
    weights = weight_copies(machine, run.dtype, *run.shape, rotation_bytes(machine), note)
    run.copies = len(weights)
    for point in sweep(machine, weights, grid, budget):
        run.points.append(point)
        progress(f"GEMM M = {point.size} / {grid[-1]}")
    roofs()
    memory = weights.transpose(1, 2).flatten()
    for point in decode(machine, memory, contexts, run.batch, budget):
        run.points.append(point)
        progress(f"attention S = {point.size} / {contexts[-1]}")
    roofs()
    run.complete = True


def as_json(run: Run) -> dict[str, Any]:
    """The run as data: what was asked, where, and what was timed; the calculator says the rest."""
    K, N = run.shape
    series: dict[str, list[dict[str, Any]]] = {}
    for point in run.points:
        series.setdefault(point.series, []).append({"size": point.size, "seconds": asdict(point.timing)})
    return {
        "schema": SCHEMA, "complete": run.complete,
        "provenance": {
            "program": "snippets/gpu_lab.py", "command": run.command, "date": run.date,
            "machine": asdict(run.machine), "torch": torch.__version__, "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}", "notes": run.notes,
        },
        "dtype": run.dtype,
        "gemm": {"K": K, "N": N, "copies": run.copies},
        "attention": dict(zip(("n_q", "n_kv", "head_dim"), HEADS, strict=True)) | {"batch": run.batch},
        "roofs": {name: {"method": roof.method, "size": roof.size, "seconds": asdict(roof.timing)}
                  for name, roof in run.roofs.items()},
        "series": series,
    }


def progress(text: str) -> None:
    """One line that is overwritten, for a person at a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


# --- The command line ------------------------------------------------------

def fail(text: str) -> NoReturn:
    """One line, no traceback."""
    progress("")
    print(f"gpu_lab.py: {text}", file=sys.stderr)
    raise SystemExit(2)


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        fail(message)


def shape(text: str) -> tuple[int, int]:
    """A layer of Qwen2.5-7B by its name, or any K,N."""
    if text in SHAPES:
        return SHAPES[text]
    try:
        K, N = (int(part) for part in text.split(","))
        check_whole(K=K, N=N)
        if max(K, N) > 2**20:
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: one of {', '.join(SHAPES)}, or K,N (up to 2^20)") from None
    return K, N


def new_file(text: str) -> Path:
    """A path that can be written, found out before minutes of work."""
    path = Path(text)
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text!r}: cannot be written")
    return path


def svg_file(text: str) -> Path:
    """The same for a plot, and that there is something to draw it with."""
    if not text.endswith(".svg"):
        raise argparse.ArgumentTypeError(f"{text!r}: must end in .svg")
    try:
        import_module("roofline_calc.figure")
    except ImportError:
        raise argparse.ArgumentTypeError(NO_MATPLOTLIB) from None
    return new_file(text)


def save(data: dict[str, Any], results: Path | None, plot: Path | None) -> None:
    """The JSON file and the plot, where they were asked for."""
    if results:
        results.write_text(json.dumps(data, indent=1) + "\n")
    if plot and {"B", "P"} <= data["roofs"].keys():
        figure = import_module("roofline_calc.figure")
        plot.write_text(figure.measured_svg(results_of(data), figure.SYMBOLS), encoding="utf-8")


def parse(argv: list[str]) -> argparse.Namespace:
    parser = Parser(prog="gpu_lab.py", description=__doc__, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="fewer points: under 20 s on 2 CPU cores")
    add("--device", choices=KINDS, help="cuda is ROCm too; else the first there is")
    add("--dtype", choices=DTYPES, default="bf16")
    add("--shape", type=shape, default="q", help=f"{', '.join(SHAPES)}, or K,N (default: q)")
    add("--json", type=new_file, metavar="FILE", help="write the results, with their provenance")
    add("--plot", type=svg_file, metavar="FILE.svg", help="draw the roofs and the points (matplotlib)")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    options = parse(argv)
    if torch is None:
        fail(NO_TORCH)
    machine = find_machine(options.device)
    run = Run(machine, DTYPES[options.dtype], options.shape, shlex.join(["python", "snippets/gpu_lab.py", *argv]))
    run.dtype = choose_dtype(run.dtype, lambda name: runs_natively(machine, name), run.note)
    status = 0
    try:
        with torch.inference_mode():
            run_lab(run, options.quick)
    except KeyboardInterrupt:  # what has been measured is kept
        status = 130
    except RuntimeError as error:  # a back end that lacks something
        run.note(f"stopped: {str(error).splitlines()[0]}")
        status = 1
    progress("")
    data = as_json(run)
    print(*report(data), sep="\n")
    try:
        save(data, options.json, options.plot)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # before there was anything to keep
        sys.exit(130)
