"""Climb the roofline on this machine: one layer's matmul from M = 1 to 1024.

B is measured by reading a large tensor (and, beside it, by copying one), P
by a large matmul. Then a linear layer of Qwen2.5-7B runs at a grid of M, at
some with 8-bit weights, and attention in decode and prefill, fused and
naive, each beside min(P, I * B) as the calculator predicts it. Ctrl-C keeps
what has been measured.
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
from functools import partial
from importlib import import_module
from itertools import repeat
from pathlib import Path
from typing import Any, NoReturn

# Runs from a clone or the unpacked download, with nothing installed but torch.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from roofline_calc import QWEN
from roofline_calc.checks import check_whole
from roofline_calc.lab_report import report
from roofline_calc.measured import DTYPES as SHORT
from roofline_calc.measured import ROOFS, SCHEMA, Roof, Timing, results_of

try:
    import torch
except ImportError:  # `main` says what to install; --help works without
    torch = None  # type: ignore[assignment]

Operands = tuple["torch.Tensor", "torch.Tensor", "torch.Tensor"]
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
INT8_GRID = (1, 4, 16, 64, 256)
CONTEXTS = (1024, 2048, 4096, 8192)  # of decode attention
PROMPTS = (512, 1024, 2048, 4096)  # of prefill attention
STATE = ("driver_version", "clocks.sm", "clocks.mem", "power.limit", "temperature.gpu",
         "ecc.mode.current", "mig.mode.current")  # what is asked of nvidia-smi
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
    idle: dict[str, str | None] | None = None  # clocks and so on, before the run

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


def nvidia_state(meanwhile: Step, timeout: float = 10) -> dict[str, str | None] | None:
    """STATE of the current GPU while it does `meanwhile`, in nvidia-smi's words; None where that tells nothing."""
    ask = ["nvidia-smi", f"--query-gpu=uuid,{','.join(STATE)}", "--format=csv,noheader"]
    if not shutil.which(ask[0]):
        return None
    with subprocess.Popen(ask, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as asked:
        end = time.perf_counter() + timeout
        while asked.poll() is None and time.perf_counter() < end:
            meanwhile()
        asked.kill()
        rows = [line.strip().split(", ") for line in asked.stdout or () if line.count(", ") == len(STATE)]
    ours = str(getattr(torch.cuda.get_device_properties(), "uuid", "unknown"))
    told = next((row[1:] for row in rows if len(rows) == 1 or row[0].endswith(ours)), ())
    return {name: None if word[:1] == "[" else word for name, word in zip(STATE, told, strict=False)} or None


def devices() -> Iterator[str]:
    """What is there, the best first: cuda:0, cuda:1, cpu."""
    for kind in KINDS:
        backend = getattr(torch, kind)
        if backend.is_available():
            count = backend.device_count() if kind in ("cuda", "xpu") else 0
            yield from (f"{kind}:{index}" for index in range(count)) if count else (kind,)


def find_machine(wanted: str | None) -> Machine:
    """The wanted device, or else the first that is there; from now on it is the current one."""
    there = list(devices())
    device = next((one for one in there if wanted in (None, one, one.partition(":")[0])), None)
    if not device:
        fail(f"--device {wanted}: not available here; there is: {', '.join(there)}")
    kind, _, index = device.partition(":")
    if kind == "cpu":
        cache = cpu_cache()
        return Machine(kind, cpu_name(), cache or 32 * 2**20, "sysfs" if cache else "assumed")
    if kind == "mps":
        name = getattr(torch.backends.mps, "get_name", platform.processor)()
        return Machine(kind, name, 96 * 2**20, "assumed", platform.mac_ver()[0])
    backend = getattr(torch, kind)
    backend.set_device(int(index))
    properties = backend.get_device_properties(int(index))
    if torch.version.hip:  # the Infinity Cache behind the L2 is not reported
        return Machine(kind, properties.name, 256 * 2**20, "assumed", f"hip {torch.version.hip}")
    if kind == "cuda":
        state = nvidia_state(lambda: time.sleep(0.01))
        return Machine(kind, properties.name, properties.L2_cache_size, "L2", (state or {}).get(STATE[0]), state)
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


def measure(lap: Lap, budget: float, laps: list[float] | None = None,
            clock: Callable[[], float] = time.perf_counter) -> Timing:
    """Laps for `budget` seconds, five at least, after two that warm up.

    Where a single lap takes the whole budget, three have to do, after one.
    They join the `laps` of earlier rounds, where there were any.
    """
    slow = lap() > budget  # kernels compiled, pages mapped, clocks raised
    if not slow:
        lap()
    laps = [] if laps is None else laps
    enough, end = len(laps) + (3 if slow else 5), clock() + budget
    while len(laps) < enough or clock() < end:
        laps.append(lap())
    q1, median, q3 = statistics.quantiles(laps, n=4, method="inclusive")
    return Timing(median, q1, q3, min(laps), len(laps))
# --8<-- [end:timer]


# --8<-- [start:graph]
def graph_lap(step: Step, calls: int) -> Lap:
    """Seconds per call by the GPU's clock, with no launch in the lap.

    A kernel of a few microseconds ends before the host can launch the next
    one. A CUDA graph holds all the calls and is launched once, while the GPU
    still sleeps: longer, until the first event comes after the launch.
    """
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            step()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    cycles = 2**17

    def lap() -> float:
        nonlocal cycles
        late = True
        while late:
            torch.cuda._sleep(cycles)
            start.record()
            graph.replay()
            end.record()
            late = start.query() and cycles < 2**28  # the GPU was awake
            cycles *= 2 if late else 1
            end.synchronize()
        milliseconds: float = start.elapsed_time(end)
        return milliseconds / 1e3 / calls
    return lap
# --8<-- [end:graph]


def lap_for(machine: Machine, step: Step, turn: int = 1) -> Lap:
    """The right timer: on a CPU each call alone, else whole turns of the ring, of `turn` calls each."""
    once = stopwatch(step, 1, machine.sync)
    if machine.kind == "cpu":
        return once
    once()  # compiles
    calls = turn * max(1, round(LAP / (once() * turn)))
    return graph_lap(step, calls) if machine.kind == "cuda" else stopwatch(step, calls, machine.sync)


def claim(machine: Machine, nbytes: int) -> None:
    """Refuse, on a CPU, more than a quarter of the main memory at once.

    Linux grants more than there is, and kills the program that uses it.
    """
    if machine.kind == "cpu" and hasattr(os, "sysconf"):
        room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
        if nbytes > room:
            raise RuntimeError(f"{nbytes / MB:.0f} MB: more memory than a quarter of this machine's")


# --8<-- [start:rotate]
class Ring:
    """Memory handed out piece by piece, to its end and round again."""

    def __init__(self, memory: torch.Tensor) -> None:
        self.memory, self.at = memory, 0

    def take(self, *shape: int) -> torch.Tensor:
        """The next piece: of them all the one longest out of use."""
        size = math.prod(shape)
        if self.at + size > len(self.memory):
            self.at = 0
        piece = self.memory[self.at:self.at + size]
        self.at += -(-size // 128) * 128  # a piece starts with a cache line
        return piece.view(shape)


def operands(inputs: Ring, outputs: Ring,
             M: int, K: int, N: int) -> Iterator[Operands]:
    """X, W (which nn.Linear keeps transposed) and Y: new ones each time."""
    while True:
        yield inputs.take(M, K), inputs.take(N, K).T, outputs.take(M, N)


def rotation_bytes(machine: Machine) -> int:
    """What to rotate over, so that nothing is still cached at its turn."""
    least = 256 * MB if machine.kind == "cpu" else 2 * GIGA
    return max(least, 4 * machine.cache)
# --8<-- [end:rotate]


def rings(machine: Machine, dtype: str, shape: tuple[int, int], M: int, note: Note) -> tuple[Ring, Ring]:
    """Inputs to rotate over, and as many outputs, for a layer of up to M tokens; half as much where memory ends.

    The inputs are normal numbers: zeros would spare a GPU power and flatter it.
    """
    K, N = shape
    some = torch.empty(2**22, dtype=getattr(torch, dtype), device=machine.kind).normal_()
    one = (M * K + K * N) * some.itemsize
    nbytes = rotation_bytes(machine) + one
    while True:
        try:
            claim(machine, nbytes)
            inputs = some.repeat(-(-nbytes // some.nbytes))
            sets = max(1, min(inputs.nbytes // one, len(inputs) // (M * N)))  # no more outputs than inputs
            return Ring(inputs), Ring(some.new_ones(sets * M * N))
        except RuntimeError as error:  # each back end words it differently
            if "memory" not in str(error) or nbytes // 2 < one:
                raise
        nbytes //= 2
        note(f"out of memory: {nbytes} bytes to rotate over instead")


# --- What is measured ------------------------------------------------------

def roof_loads(machine: Machine, inputs: Ring) -> dict[str, tuple[str, int, Lap]]:
    """Method, size and lap of B, reads round the ring; of copies round it; and of P, a matmul beyond any ridge.

    An eighth of the ring at a time: a busy machine lets short laps through, and long ones wait for a core.
    """
    memory, part = inputs.memory, inputs.memory.nbytes // 8
    numbers, copies = Ring(memory.view(torch.float32)), Ring(memory)
    some, n = part // memory.itemsize, min(2048 if machine.kind == "cpu" else 8192, math.isqrt(len(memory) // 2))
    a, b, y = inputs.take(n, n), inputs.take(n, n), memory.new_empty(n, n)
    loads: dict[str, tuple[str, int, Step, int]] = {
        "B": ("sum", part, lambda: numbers.take(part // 4).sum(), 8),
        "copy": ("copy_", part, lambda: copies.take(some).copy_(copies.take(some)), 8),
        "P": ("mm", n, lambda: torch.mm(a, b, out=y), 1),
    }
    return {name: (method, size, lap_for(machine, step, turn)) for name, (method, size, step, turn) in loads.items()}


@dataclass(frozen=True)
class Point:
    """One operator at one size, as timed."""
    series: str
    size: int  # M of a GEMM, S of attention
    timing: Timing


# --8<-- [start:sweep]
def sweep(machine: Machine, inputs: Ring, outputs: Ring, K: int, N: int,
          grid: tuple[int, ...], budget: float) -> Iterator[Point]:
    """Y[M, N] = X[M, K] @ W[K, N] at each M, by rotation and with one set."""
    for M in grid:
        ring = operands(inputs, outputs, M, K, N)
        turn = len(inputs.memory) // (M * K + K * N)
        series = {"gemm-rotated": ring, "gemm-reused": repeat(next(ring))}
        for name, sets in series.items():
            lap = lap_for(machine, matmul(sets), turn)
            yield Point(name, M, measure(lap, budget))


def matmul(sets: Iterator[Operands]) -> Step:
    """One call: the next X, W and Y."""
    def step() -> torch.Tensor:
        X, W, Y = next(sets)
        return torch.mm(X, W, out=Y)
    return step
# --8<-- [end:sweep]


def int8_sweep(machine: Machine, inputs: Ring, K: int, N: int,
               grid: tuple[int, ...], budget: float) -> Iterator[Point]:
    """The same layer with weights of one byte, and a scale for each of its N outputs."""
    words = K * N // inputs.memory.itemsize
    scales, mm = inputs.memory.new_full((N,), 2**-7), torch._weight_int8pack_mm

    def step(M: int) -> object:
        return mm(inputs.take(M, K), inputs.take(words).view(torch.int8).view(N, K), scales)

    if K % 64 or N % 64:  # an odd K crashes PyTorch's CPU kernel
        raise RuntimeError("K and N must be multiples of 64")
    for M in grid:
        lap = lap_for(machine, partial(step, M), len(inputs.memory) // (words + M * K))
        yield Point("gemm-int8", M, measure(lap, budget))


# --8<-- [start:attention]
def attention(machine: Machine, inputs: Ring, series: str, L: int, S: int,
              batch: int, budget: float) -> Iterator[Point]:
    """L new tokens of each sequence attend to S cached ones, without mask."""
    n_q, n_kv, d = HEADS
    shapes = ((batch, n_q, L, d), *[(batch, n_kv, S, d)] * 2)  # Q, K, V
    turn = len(inputs.memory) // sum(map(math.prod, shapes))
    sdpa, scores = torch.nn.functional.scaled_dot_product_attention, None
    if series == "attention-naive":
        claim(machine, 2 * batch * n_q * L * S * inputs.memory.itemsize)
        scores = inputs.memory.new_ones(2, batch * n_kv, n_q // n_kv * L, S)

    def step() -> torch.Tensor:
        Q, K, V = (inputs.take(*shape) for shape in shapes)
        if scores is None and machine.kind != "cpu":
            return sdpa(Q, K, V, enable_gqa=True)
        Q = Q.view(batch, n_kv, -1, d)  # the heads that share K and V
        return sdpa(Q, K, V) if scores is None else naive(Q, K, V, *scores)

    if turn:  # else memory was short
        yield Point(series, S, measure(lap_for(machine, step, turn), budget))


def naive(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor,
          scores: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Three kernels: scores written, read, their softmax written, read."""
    Q, K, V = (part.flatten(0, 1) for part in (Q, K, V))
    torch.baddbmm(Q.new_empty(1), Q, K.mT, beta=0,
                  alpha=Q.shape[-1] ** -0.5, out=scores)
    torch.softmax(scores, -1, out=weights)
    return torch.bmm(weights, V)
# --8<-- [end:attention]


# --- A run -----------------------------------------------------------------

@dataclass
class Run:
    """What was asked, and what has been measured so far."""
    machine: Machine
    dtype: str
    shape: tuple[int, int]
    command: str
    date: str = field(default_factory=lambda: f"{datetime.now(UTC):%FT%TZ}")
    ring: int = 0  # bytes to rotate over
    loaded: dict[str, str | None] | None = None  # clocks and so on, at work
    roofs: dict[str, Roof] = field(default_factory=dict)
    laps: dict[str, list[float]] = field(default_factory=dict)  # of the roofs
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

    def measure_roof(self, name: str, method: str, size: int, lap: Lap, budget: float) -> None:
        """A round of laps, beside those of earlier rounds."""
        self.roofs[name] = Roof(method, size, measure(lap, budget, self.laps.setdefault(name, [])))

    def keep(self, points: Iterator[Point]) -> None:
        """Each point as soon as it is measured."""
        for point in points:
            self.points.append(point)
            progress(f"{point.series} {point.size}")


def run_lab(run: Run, quick: bool) -> None:
    """Measure everything, leaving each result in `run` as soon as it is in."""
    machine, budget = run.machine, 0.1 if quick else 0.4
    grid, contexts, prompts = (QUICK_GRID, CONTEXTS[:3], PROMPTS[:2]) if quick else (GRID, CONTEXTS, PROMPTS)
    inputs, outputs = rings(machine, run.dtype, run.shape, grid[-1], run.note)
    run.ring = inputs.memory.nbytes
    loads = roof_loads(machine, inputs)

    def roofs() -> None:  # again and again: a busy machine has its moments
        for name, load in loads.items():
            progress(name)
            run.measure_roof(name, *load, budget)

    def attend(series: str, batch: int, *sizes: tuple[int, int]) -> Iterator[Point]:
        for L, S in sizes:
            yield from attention(machine, inputs, series, L, S, batch, budget)

    roofs()
    run.keep(sweep(machine, inputs, outputs, *run.shape, grid, budget))
    roofs()
    run.keep(attend("attention-decode", run.batch, *((1, S) for S in contexts)))
    further = {name: attend(name, 1, *((S, S) for S in prompts)) for name in ("attention-fused", "attention-naive")}
    further["gemm-int8"] = int8_sweep(machine, inputs, *run.shape, INT8_GRID, budget)
    for name, points in further.items():
        try:
            run.keep(points)
        except RuntimeError as error:
            run.note(f"{name}: skipped: {str(error).splitlines()[0]}")
    roofs()
    run.loaded = nvidia_state(loads["P"][-1]) if machine.idle else None
    run.complete = True


def as_json(run: Run) -> dict[str, Any]:
    """The run as data: what was asked, where, and what was timed; the calculator says the rest."""
    series: dict[str, list[dict[str, Any]]] = {}
    for point in run.points:
        series.setdefault(point.series, []).append({"size": point.size, "seconds": asdict(point.timing)})
    return {
        "schema": SCHEMA, "complete": run.complete,
        "provenance": {
            "program": "snippets/gpu_lab.py", "command": run.command, "date": run.date,
            "machine": asdict(run.machine) | {"loaded": run.loaded}, "torch": torch.__version__,
            "python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}",
            "notes": run.notes},
        "dtype": run.dtype, "ring": run.ring,
        "gemm": dict(zip("KN", run.shape, strict=True)),
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
        if max(K, N) > 2**20 or K * N < 2**16:  # fewer, and the ring takes too many calls to turn
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}: one of {', '.join(SHAPES)}, or K,N (each at most 2^20, K*N at least 2^16)") from None
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
    if plot and data["roofs"].keys() >= set(ROOFS):
        figure = import_module("roofline_calc.figure")
        plot.write_text(figure.measured_svg(results_of(data), figure.SYMBOLS), encoding="utf-8")


def parse(argv: list[str]) -> argparse.Namespace:
    parser = Parser(prog="gpu_lab.py", description=__doc__, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="fewer points: under 20 s on 2 CPU cores")
    add("--device", help=f"{', '.join(KINDS)}; cuda is ROCm too, cuda:1 the second; else the first there is")
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
