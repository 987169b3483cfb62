"""The lab: its arithmetic with a fake clock and a fake device.

Nothing here asserts an absolute figure: machines differ, and this one may be busy.
"""

from contextlib import nullcontext
from dataclasses import replace
from itertools import count, cycle

import pytest
from lab_fakes import MACHINE, Clock, fake_run, timing

torch = pytest.importorskip("torch")

from roofline_calc import QWEN, attention, gemm  # noqa: E402
from snippets import gpu_lab  # noqa: E402

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
    load = gpu_lab.copy_load(MACHINE, 4000, note=pytest.fail)
    assert gpu_lab.Roof(load.method, load.size, timing(1)).work == 2 * 4000


def test_the_peak_counts_what_the_calculator_counts():
    load = gpu_lab.matmul_load(MACHINE, "float32", 8, note=pytest.fail)
    assert gpu_lab.Roof(load.method, load.size, timing(1)).work == gemm(8, 8, 8).flops == 2 * 8**3


def test_a_roof_is_its_best_moment(monkeypatch):
    run, seconds = fake_run(), iter([2.0, 4.0, 1.0])
    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(next(seconds)))
    run.roofs.clear()
    rates = []
    for _ in range(3):
        run.raise_roof("B", gpu_lab.Load("copy_", 50, lambda: 0), 0)
        rates.append(run.roofs["B"].rate)
    assert rates == [50, 50, 100]


@pytest.mark.parametrize(("kind", "cache", "least"), [
    ("cpu", 2**20, 256e6), ("cpu", 300 * 2**20, 4 * 300 * 2**20),
    ("cuda", 72 * 2**20, 1e9), ("cuda", 2**30, 4 * 2**30),
])
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


def test_a_decode_call_touches_the_bytes_that_the_calculator_counts(monkeypatch):
    """Q and O of one token, K and V of S, for each of three sequences."""
    touched: list[int] = []
    real = gpu_lab.attend

    def attend(machine, Q, ring):
        touched.append(2 * Q.nbytes + next(ring).nbytes)
        return real(machine, Q, ring)

    monkeypatch.setattr(gpu_lab, "attend", attend)
    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(lap() + 1))
    memory = torch.zeros(4 * 2 * 3 * QWEN.n_kv * 16 * QWEN.head_dim)
    points = list(gpu_lab.decode(MACHINE, memory, (16, 64, 10**6), 3, 0))
    assert [point.size for point in points] == [16, 64]  # a cache that does not fit is left out
    assert touched == [3 * attention(*gpu_lab.HEADS, L=1, S=S, b_q=4, b_kv=4).bytes for S in (16, 64)]


def test_a_gemm_call_touches_the_bytes_that_the_calculator_counts(monkeypatch):
    touched: list[int] = []
    monkeypatch.setattr(torch, "mm", lambda x, weight, out: touched.append(x.nbytes + weight.nbytes + out.nbytes))
    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(lap() + 1))
    list(gpu_lab.sweep(MACHINE, torch.zeros(6, 4, 8), (1, 2), 0))
    assert touched == [gemm(M, 4, 8, 4, 4, 4).bytes for M in (1, 1, 2, 2)]


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
