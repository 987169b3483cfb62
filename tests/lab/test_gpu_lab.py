"""The lab: its arithmetic with a fake clock and a fake device, and one short real run on the CPU.

Nothing here asserts an absolute figure: machines differ, and this one may be busy.
"""

import json
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from itertools import count, cycle
from typing import Any

import pytest
from support import ROOT

torch = pytest.importorskip("torch")

from roofline_calc import QWEN, attainable, attention, gemm  # noqa: E402
from roofline_calc.measured import Results, read_results  # noqa: E402
from snippets import gpu_lab  # noqa: E402

MACHINE = gpu_lab.Machine("cpu", "a fake", cache=2**20, cache_source="assumed")


class Clock:
    """Time that passes only when someone works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


def timing(seconds: float, spread: float = 0.0) -> gpu_lab.Timing:
    return gpu_lab.Timing(seconds, seconds * (1 - spread / 2), seconds * (1 + spread / 2), seconds, 5)


def fake_run(B: float = 100e9, P: float = 1e12) -> gpu_lab.Run:
    """A run with known roofs, as if measured in one second."""
    run = gpu_lab.Run(MACHINE, "bfloat16", (3584, 3584), "python snippets/gpu_lab.py")
    run.rotation = {"copies": 11, "bytes": 11 * 3584 * 3584 * 2}
    run.roofs = {"B": gpu_lab.Roof("copy_", B, timing(1)), "P": gpu_lab.Roof("mm", P, timing(1))}
    return run


def at(bandwidth: float, M: int = 1, series: str = "gemm-rotated", spread: float = 0.0) -> gpu_lab.Point:
    """A GEMM that moved its compulsory bytes at this rate."""
    cost = gemm(M, 3584, 3584)
    return gpu_lab.Point(series, M, cost, timing(cost.bytes / bandwidth, spread))


# Time


def test_a_lap_is_seconds_per_call_with_the_device_idle_at_both_ends():
    clock, log = Clock(), []

    def step() -> None:
        clock.work(0.25)
        log.append("step")

    def sync() -> None:
        clock.work(0.5)  # the rest of the work, or of what went before
        log.append("sync")

    assert gpu_lab.stopwatch(step, 2, sync, clock)() == (2 * 0.25 + 0.5) / 2
    assert log == ["sync", "step", "step", "sync"]


def test_the_median_and_the_quartiles_leave_out_the_warm_up():
    clock, laps = Clock(), iter([7, 7, 5, 1, 2, 4, 3])

    def lap() -> float:
        seconds = float(next(laps))
        clock.work(seconds)
        return seconds

    assert gpu_lab.measure(lap, budget=9, clock=clock) == gpu_lab.Timing(median=3, q1=2, q3=4, best=1, laps=5)


def test_where_one_lap_takes_the_whole_budget_three_have_to_do():
    """On a busy machine --quick must still end."""
    clock, laps = Clock(), iter([100, 5, 1, 3])

    def lap() -> float:
        seconds = float(next(laps))
        clock.work(seconds)
        return seconds

    assert gpu_lab.measure(lap, budget=1, clock=clock) == gpu_lab.Timing(median=3, q1=2, q3=4, best=1, laps=3)


def test_laps_go_on_until_the_budget_is_spent():
    clock = Clock()

    def lap() -> float:
        clock.work(0.125)
        return 0.125

    assert gpu_lab.measure(lap, budget=1, clock=clock).laps == 8


def test_on_a_cpu_every_call_is_timed_alone():
    calls = count()
    gpu_lab.lap_for(MACHINE, lambda: next(calls), ring=49)()
    assert next(calls) == 1


def test_a_cuda_graph_holds_all_the_calls_and_its_events_count_milliseconds(monkeypatch):
    """A fake GPU of 2 ms a call; the host's clock plays no part."""
    gpu, host = Clock(), []

    class Graph:
        def replay(self) -> None:
            gpu.work(0.002 * len(host))

    class Event:
        def __init__(self, enable_timing: bool) -> None:
            assert enable_timing

        def record(self) -> None:
            self.at = gpu.now

        def synchronize(self) -> None: ...

        def elapsed_time(self, end: "Event") -> float:
            return 1e3 * (end.at - self.at)

    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "graph", lambda graph: nullcontext())
    monkeypatch.setattr(torch.cuda, "Event", Event)
    lap = gpu_lab.graph_lap(lambda: host.append("call"), 11)
    assert len(host) == 11
    assert [lap(), lap()] == pytest.approx([0.002, 0.002])
    assert len(host) == 11  # captured once, replayed since


def test_an_accelerator_is_timed_over_whole_rotations(monkeypatch):
    """One reading covers the ring as often as a lap's time holds it, so every copy is used equally often."""
    asked: list[int] = []
    ticks = count()
    monkeypatch.setattr(gpu_lab.Machine, "sync", lambda machine: None)
    real = gpu_lab.stopwatch

    def stopwatch(step, calls, sync):
        asked.append(calls)
        return real(step, calls, sync, clock=lambda: next(ticks) * 1e-4)  # 100 us a call

    monkeypatch.setattr(gpu_lab, "stopwatch", stopwatch)
    gpu_lab.lap_for(replace(MACHINE, kind="mps"), lambda: None, ring=11)
    gpu_lab.lap_for(replace(MACHINE, kind="mps"), lambda: None, ring=400)
    assert asked == [1, 55, 1, 400]


# Bytes


def test_a_copy_counts_each_byte_twice():
    assert gpu_lab.copy_load(MACHINE, 4000, note=pytest.fail).work == 2 * 4000


def test_the_peak_counts_what_the_calculator_counts():
    assert gpu_lab.matmul_load(MACHINE, "float32", 8, note=pytest.fail).work == gpu_lab.gemm(8, 8, 8).flops


def test_a_roof_is_its_best_moment(monkeypatch):
    run, seconds = fake_run(), iter([2.0, 4.0, 1.0])
    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(next(seconds)))
    run.roofs.clear()
    rates = []
    for _ in range(3):
        run.raise_roof("B", gpu_lab.Load("copy_", 100, lambda: 0), 0)
        rates.append(run.roofs["B"].rate)
    assert rates == [50, 50, 100]


@pytest.mark.parametrize(("kind", "cache", "least"), [
    ("cpu", 2**20, 256e6), ("cpu", 300 * 2**20, 4 * 300 * 2**20),
    ("cuda", 72 * 2**20, 1e9), ("cuda", 2**30, 4 * 2**30),
])  # fmt: skip
def test_rotation_exceeds_the_cache_four_times_and_256_mb(kind, cache, least):
    assert gpu_lab.rotation_bytes(replace(MACHINE, kind=kind, cache=cache)) == least


@pytest.mark.parametrize("nbytes", [1, 8 * 16 * 4 - 1, 8 * 16 * 4, 10_000])
def test_the_copies_exceed_what_was_asked(nbytes):
    weights = gpu_lab.weight_copies(MACHINE, "float32", 8, 16, nbytes, note=pytest.fail)
    assert weights.shape[1:] == (8, 16)
    assert weights.nbytes > nbytes
    assert weights.nbytes - nbytes <= 8 * 16 * 4
    assert all(torch.equal(weight, weights[0]) for weight in weights)


def test_rotation_touches_every_copy_before_it_uses_one_again(monkeypatch):
    """...and goes on where it was when M changes, or a short series would find its weights still cached."""
    used: dict[str, list[int]] = {"gemm-rotated": [], "gemm-reused": []}
    into = iter(["gemm-rotated", "gemm-reused"] * 2)
    series = ""

    def matmul(x, weight, out):
        used[series].append(weight.data_ptr())

    def measure(lap, budget):
        nonlocal series
        series = next(into)
        for _ in range(3):
            lap()
        return timing(1)

    monkeypatch.setattr(torch, "mm", matmul)
    monkeypatch.setattr(gpu_lab, "measure", measure)
    weights = torch.zeros(6, 4, 4)
    points = list(gpu_lab.sweep(MACHINE, weights, (1, 2), 0))
    assert [(point.series, point.size) for point in points] == [
        ("gemm-rotated", 1), ("gemm-reused", 1), ("gemm-rotated", 2), ("gemm-reused", 2)]
    assert used["gemm-rotated"] == [weight.data_ptr() for weight in weights]
    assert set(used["gemm-reused"]) == {weights[0].data_ptr()}


def test_the_matmul_is_the_linear_layer_of_the_model():
    x, weights = torch.randn(3, 8), gpu_lab.weight_copies(MACHINE, "float32", 8, 16, 600, note=pytest.fail)
    y = torch.empty(3, 16)
    gpu_lab.matmul(x, cycle(weights), y)()
    torch.testing.assert_close(y, torch.nn.functional.linear(x, weights[1].T))


def test_grouped_heads_as_queries_are_the_same_attention():
    n_q, n_kv, d = gpu_lab.HEADS
    Q, cache = torch.randn(2, n_q, 1, d), torch.randn(2, 2, n_kv, 5, d)
    folded = gpu_lab.attend(MACHINE, Q, cycle([cache]))()
    grouped = gpu_lab.attend(replace(MACHINE, kind="cuda"), Q, cycle([cache]))()
    torch.testing.assert_close(folded.reshape(grouped.shape), grouped)


def test_decode_takes_its_cost_from_the_calculator_and_s_cancels(monkeypatch):
    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(lap() + 1))
    memory = torch.zeros(4 * 2 * 3 * QWEN.n_kv * 16 * QWEN.head_dim)
    points = list(gpu_lab.decode(MACHINE, memory, (16, 64, 10**6), 3, 0))
    assert [point.size for point in points] == [16, 64]  # a cache that does not fit is left out
    for point in points:
        one = attention(*gpu_lab.HEADS, L=1, S=point.size, b_q=4, b_kv=4)
        assert (point.cost.flops, point.cost.bytes) == (3 * one.flops, 3 * one.bytes)


# The nearest thing that works


def test_without_bf16_the_next_type_that_is_native():
    notes: list[str] = []
    assert gpu_lab.choose_dtype("bfloat16", lambda name: True, notes.append) == "bfloat16"
    assert notes == []
    assert gpu_lab.choose_dtype("bfloat16", lambda name: name == "float16", notes.append) == "float16"
    assert gpu_lab.choose_dtype("float16", lambda name: False, notes.append) == "float32"
    assert notes == ["bfloat16: not native here; float16 instead", "float16: not native here; float32 instead"]


def test_emulated_bf16_is_not_native(monkeypatch):
    monkeypatch.setattr(gpu_lab.torch, "mm", lambda a, b: a)
    monkeypatch.setattr(gpu_lab.torch.backends.mkldnn, "is_available", lambda: False)
    assert not gpu_lab.runs_natively(MACHINE, "bfloat16")
    assert gpu_lab.runs_natively(MACHINE, "float32")


def test_a_run_without_bf16_says_what_it_took_instead(small, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(0.01))
    monkeypatch.setattr(gpu_lab, "runs_natively", lambda machine, dtype: False)
    file = tmp_path / "results.json"
    assert gpu_lab.main(["--quick", "--device", "cpu", "--shape", "512,256", "--json", str(file)]) == 0
    data = json.loads(file.read_text())
    assert data["dtype"] == "float32"
    assert data["series"]["gemm-rotated"][0]["bytes"] == gemm(1, 512, 256, 4, 4, 4).bytes
    said = "bfloat16: not native here; float32 instead"
    assert data["provenance"]["notes"] == [said]
    assert capsys.readouterr().err == f"note: {said}\n"


def test_too_little_memory_for_all_copies_takes_fewer_and_says_so(monkeypatch):
    notes: list[str] = []

    def claim(machine, nbytes):
        if nbytes > 2000:
            raise RuntimeError("more memory than there is")

    monkeypatch.setattr(gpu_lab, "claim", claim)
    weights = gpu_lab.weight_copies(MACHINE, "float32", 8, 16, 8 * 16 * 4 * 11, notes.append)
    assert len(weights) == 3
    assert notes == ["out of memory: 6 weights instead", "out of memory: 3 weights instead"]


def test_out_of_memory_halves_and_says_so():
    notes: list[str] = []

    def build(size: int) -> int:
        if size > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")
        return size

    assert gpu_lab.fit(build, 12, "weights", notes.append) == 3
    assert notes == ["out of memory: 6 weights instead", "out of memory: 3 weights instead"]


def test_what_never_fits_and_what_is_no_memory_error_is_raised():
    def build(size: int) -> int:
        raise RuntimeError("out of memory" if size < 9 else "a bug")

    with pytest.raises(RuntimeError, match="memory"):
        gpu_lab.fit(build, 4, "weights", lambda text: None)
    with pytest.raises(RuntimeError, match="a bug"):
        gpu_lab.fit(build, 9, "weights", pytest.fail)


def test_a_cpu_run_never_claims_more_than_it_may():
    with pytest.raises(RuntimeError, match="more memory"):
        gpu_lab.random(MACHINE, "float32", 2**20, 2**20)


def test_the_caches_of_all_sockets_count_once_each(tmp_path):
    for cpu, (level, shared, size) in enumerate(
        [(2, "0", "2048K"), (3, "0-1", "32768K"), (3, "0-1", "32768K"), (3, "2-3", "32M")]
    ):
        index = tmp_path / f"cpu{cpu}" / "cache" / f"index{level}"
        index.mkdir(parents=True)
        for name, text in {"level": level, "shared_cpu_list": shared, "size": size}.items():
            (index / name).write_text(f"{text}\n")
    assert gpu_lab.cpu_cache(str(tmp_path)) == 64 * 2**20
    assert gpu_lab.cpu_cache(str(tmp_path / "absent")) is None


# Results


def test_a_point_stands_beside_what_the_calculator_predicts():
    run = fake_run(B=100e9, P=1e12)
    for M, regime in ((1, "memory-bound"), (256, "compute-bound")):
        figures = run.figures(at(50e9, M))
        cost = gemm(M, 3584, 3584)
        assert figures["intensity"] == cost.intensity
        assert figures["attainable"] == attainable(cost.intensity, 1e12, 100e9)
        assert figures["regime"] == regime
        assert figures["bytes_per_s"] == pytest.approx(50e9)
        assert figures["fraction"] == pytest.approx(50e9 * cost.intensity / figures["attainable"])


@pytest.mark.parametrize(("rate", "flag"), [(99e9, False), (109e9, False), (111e9, True), (300e9, True)])
def test_bytes_faster_than_memory_come_from_cache(rate, flag):
    run = fake_run(B=100e9)
    run.points = [at(50e9), at(rate, series="gemm-reused")]
    assert [run.figures(point)["cache"] for point in run.points] == [False, flag]
    row = next(line for line in gpu_lab.report(gpu_lab.as_json(run)) if line.startswith("    1"))
    assert ("cache:reused" in row) == flag
    assert "cache:rotated" not in row


def test_a_wide_spread_is_said():
    run = fake_run()
    run.points = [at(50e9, spread=0.3), at(50e9, series="gemm-reused", spread=0.2)]
    assert [run.figures(point)["noisy"] for point in run.points] == [True, False]


def test_the_widest_row_fits_a_terminal():
    run = fake_run(B=4.8e12, P=989.4e12)
    run.points = [at(4e12, 1024, spread=0.3), at(9e12, 1024, series="gemm-reused")]
    lines = list(gpu_lab.report(gpu_lab.as_json(run)))
    assert any(line.endswith("cache:reused noisy") for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_row_that_ctrl_c_cut_short_shows_no_second_figure():
    run = fake_run()
    run.points = [at(50e9), at(60e9, series="gemm-reused"), at(50e9, 2)]
    one, two = (line for line in gpu_lab.report(gpu_lab.as_json(run)) if line.split()[:1] in (["1"], ["2"]))
    assert len(one.split()) == len(two.split()) + 2


def test_a_row_that_is_cache_throughout_says_so_once():
    assert gpu_lab.flags(rotated={"cache": True, "noisy": True}, reused={"cache": True, "noisy": True}) == \
        "  cache noisy"


def test_the_table_is_aligned_and_says_where_the_regime_turns():
    run = fake_run(B=100e9, P=1e12)  # I* = 10
    run.points = [at(50e9, M, series) for M in (1, 8, 16, 1024) for series in ("gemm-rotated", "gemm-reused")]
    lines = list(gpu_lab.report(gpu_lab.as_json(run)))
    assert all(len(line) <= 80 for line in lines)
    head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["M", "I"])
    table = lines[head:head + 6]
    assert [line.split()[0] for line in table] == ["M", "1", "8", "I*", "16", "1024"]
    assert len({len(line) for line in table}) == 1
    assert lines[-1] == "incomplete"


def test_units_are_decimal():
    run = fake_run(B=1008e9, P=165.2e12)
    run.points = [at(1008e9)]
    text = "\n".join(gpu_lab.report(gpu_lab.as_json(run)))
    assert "B = 1008 GB/s" in text
    assert "P = 165.2 TFLOP/s" in text
    assert "I* = P/B = 163.9 FLOP/byte" in text


SECONDS = {"median", "q1", "q3", "best", "laps"}
POINT = {"size", "flops", "bytes", "intensity", "regime", "seconds", "flops_per_s", "bytes_per_s", "attainable",
         "fraction", "cache", "noisy"}  # fmt: skip


def check_schema(data: dict[str, Any]) -> None:
    """What a reader of results files may rely on."""
    assert data["schema"] == 1
    assert isinstance(data["complete"], bool)
    assert set(data["provenance"]) == {"program", "command", "date", "machine", "torch", "python", "system", "notes"}
    assert set(data["provenance"]["machine"]) == {"kind", "name", "cache", "cache_source", "driver"}
    assert data["provenance"]["date"].endswith("Z")
    assert data["dtype"] in gpu_lab.DTYPES.values()
    assert {"K", "N"} <= set(data["gemm"])
    assert data["attention"] == {"n_q": 28, "n_kv": 4, "head_dim": 128, "batch": 8}
    for roof in data["roofs"].values():
        assert set(roof) == {"method", "work", "timing", "rate"}
        assert set(roof["timing"]) == SECONDS
    for series, points in data["series"].items():
        assert series in {"gemm-rotated", "gemm-reused", "attention-decode"}
        assert [point["size"] for point in points] == sorted(point["size"] for point in points)
        for point in points:
            assert set(point) == POINT
            assert set(point["seconds"]) == SECONDS


def test_the_schema_holds_for_a_run_that_has_just_begun_and_for_one_with_points():
    run = fake_run()
    run.points = [at(50e9), at(60e9, series="gemm-reused")]
    check_schema(json.loads(json.dumps(gpu_lab.as_json(run))))
    check_schema(gpu_lab.as_json(gpu_lab.Run(MACHINE, "float32", (8, 8), "")))


# The command line


@pytest.fixture
def small(monkeypatch):
    """A lab of a second or two, on one thread: a neighbour on the other core then costs little."""
    threads = torch.get_num_threads()
    monkeypatch.setattr(gpu_lab, "QUICK_GRID", (1, 8, 64, 256, 512))
    monkeypatch.setattr(gpu_lab, "CONTEXTS", (512, 2048, 8192))
    monkeypatch.setattr(gpu_lab, "rotation_bytes", lambda machine: 256 * gpu_lab.MB)
    monkeypatch.setattr(gpu_lab, "cpu_cache", lambda: 16 * 2**20)
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("options", [
    ["--shape", "zz"], ["--shape", "0,4"], ["--shape", "4"], ["--shape", "4,-4"], ["--shape", "4,2000000"],
    ["--dtype", "int3"], ["--device", "tpu"], ["--json", "/nope/x.json"], ["--json", "/"], ["--bogus"], ["--qui"],
    ["extra"], ["--json"], ["--plot", "/nope/x.svg"], ["--plot", "x.png"],
])  # fmt: skip
def test_a_wrong_option_is_one_line_and_exit_status_2(options, capsys):
    with pytest.raises(SystemExit) as left:
        gpu_lab.main(options)
    said = capsys.readouterr()
    assert left.value.code == 2
    assert said.out == ""
    assert said.err.startswith("gpu_lab.py: ")
    assert said.err.count("\n") == 1


def test_a_device_that_is_not_there_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr(torch.xpu, "is_available", lambda: False)
    with pytest.raises(SystemExit) as left:
        gpu_lab.main(["--device", "xpu"])
    assert left.value.code == 2
    assert "not available here" in capsys.readouterr().err


def test_without_torch_it_says_what_to_install(tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('no torch')\n")
    script = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; from snippets import gpu_lab; " \
             "sys.exit(gpu_lab.main([]))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr == "gpu_lab.py: torch is missing: pip install torch  (tested: torch==2.13.0)\n"


def test_without_matplotlib_a_plot_is_refused_before_minutes_of_work(monkeypatch, capsys):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(gpu_lab, "import_module", missing)
    with pytest.raises(SystemExit):
        gpu_lab.main(["--plot", "x.svg"])
    assert capsys.readouterr().err == \
        "gpu_lab.py: argument --plot: matplotlib is missing: pip install matplotlib\n"


def test_it_runs_as_the_lesson_says_from_anywhere_with_nothing_installed(tmp_path):
    """No PYTHONPATH, no package: the program finds the calculator beside it."""
    command = [sys.executable, "-I", str(ROOT / "snippets" / "gpu_lab.py"), "--help"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ran.stderr == ""
    assert "--quick" in ran.stdout


def test_every_shape_of_the_lesson_has_its_name():
    assert gpu_lab.shape("q") == (3584, 3584)
    assert gpu_lab.shape("k") == (3584, 512)
    assert gpu_lab.shape("gate") == (3584, 18944)
    assert gpu_lab.shape("down") == (18944, 3584)
    assert gpu_lab.shape("qkv") == (3584, 4608)
    assert gpu_lab.shape("gate_up") == (3584, 37888)
    assert gpu_lab.shape("3584,16") == (3584, 16)


@pytest.mark.parametrize("measured", [0, 1, 4, 6])
def test_ctrl_c_keeps_what_was_measured(measured, small, monkeypatch, tmp_path, capsys):
    """The first two measurements are the roofs, then the points, two to an M."""
    done = count()

    def measure(lap, budget):
        if next(done) == measured:
            raise KeyboardInterrupt
        return timing(0.01)

    monkeypatch.setattr(gpu_lab, "measure", measure)
    file = tmp_path / "results.json"
    assert gpu_lab.main(["--quick", "--device", "cpu", "--shape", "512,256", "--json", str(file)]) == 130
    data = json.loads(file.read_text())
    check_schema(data)
    assert data["complete"] is False
    assert len(data["roofs"]) == min(2, measured)
    assert sum(map(len, data["series"].values())) == max(0, measured - 2)
    assert capsys.readouterr().out.splitlines()[-1] == "incomplete"


def test_a_back_end_that_lacks_something_costs_no_results(small, monkeypatch, capsys):
    def decode(*args):
        raise RuntimeError("enable_gqa: not implemented\nmore")

    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(0.01))
    monkeypatch.setattr(gpu_lab, "decode", decode)
    assert gpu_lab.main(["--quick", "--device", "cpu", "--shape", "512,256"]) == 1
    said = capsys.readouterr()
    assert "note: stopped: enable_gqa: not implemented\n" in said.err
    assert sum(line.split()[:1] == ["512"] for line in said.out.splitlines()) == 1


# One real run


def check_counts(data: dict[str, Any], results: Results) -> None:
    """What the lab counted is what a reader of its file counts again."""
    for series, points in data["series"].items():
        for point, measured in zip(points, results.of(series), strict=True):
            assert (point["size"], point["flops"], point["bytes"]) == \
                (measured.size, measured.cost.flops, measured.cost.bytes)
            assert point["fraction"] == pytest.approx(results.fraction(measured))
            assert point["cache"] == results.from_cache(measured)


def climbs_then_flattens(data: dict[str, Any]) -> None:
    """The shape of a roofline, by ratios alone; the best laps, since a neighbour can only slow a lap down."""
    rotated = {point["size"]: point for point in data["series"]["gemm-rotated"]}
    best = {M: point["flops"] / point["seconds"]["best"] for M, point in rotated.items()}
    assert best[8] > 2 * best[1]
    assert best[64] > 2 * best[8]
    assert best[512] < 5.6 * best[64]  # 8 times the M: no longer in proportion, on a host that swings by 2.5 too
    assert best[512] > best[256] / 3.5
    assert all(point["fraction"] <= 1.25 for point in rotated.values())
    attend = data["series"]["attention-decode"]
    assert attend[1]["seconds"]["best"] > 2 * attend[0]["seconds"]["best"]
    assert attend[1]["intensity"] / attend[0]["intensity"] == pytest.approx(1, abs=0.02)  # S cancels


def test_a_real_run_climbs_and_flattens_under_the_measured_roofs(small, tmp_path, capsys):
    """A busy machine may spoil a run, not five in a row."""
    file, plot = tmp_path / "results.json", tmp_path / "roofline.svg"
    options = ["--quick", "--device", "cpu", "--shape", "2048,2048", "--json", str(file), "--plot", str(plot)]
    for left in (4, 3, 2, 1, 0):
        assert gpu_lab.main(options) == 0
        data = json.loads(file.read_text())
        check_schema(data)
        check_counts(data, read_results(file))
        assert "decode attention" in plot.read_text()
        assert data["complete"] is True
        assert data["gemm"]["bytes"] > 256e6
        assert [point["size"] for point in data["series"]["gemm-reused"]] == [1, 8, 64, 256, 512]
        assert "decode" in capsys.readouterr().out
        try:
            climbs_then_flattens(data)
            break
        except AssertionError:
            if not left:
                raise
