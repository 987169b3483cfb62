"""The lab: its arithmetic with a fake clock and a fake device.

Nothing here asserts an absolute figure: machines differ, and this one may be busy.
"""

import math
from contextlib import nullcontext
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

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
    gpu_lab.lap_for(MACHINE, lambda: next(calls), turn=49)()
    assert next(calls) == 1


class FakeGPU:
    """A device that works through its stream behind the host; `launch` is what a graph costs the host, in seconds."""

    def __init__(self, launch: float, call: float) -> None:
        self.host, self.free, self.launch, self.call = 0.0, 0.0, launch, call
        self.captured = self.slept = 0

    def enqueue(self, seconds: float) -> float:
        """When the device is done with it."""
        self.free = max(self.free, self.host) + seconds
        return self.free

    def put_in(self, monkeypatch) -> None:
        gpu = self

        class Graph:
            def replay(self) -> None:
                gpu.host += gpu.launch
                gpu.enqueue(gpu.call * gpu.captured)

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                assert enable_timing

            def record(self) -> None:
                self.at = gpu.enqueue(0)

            def query(self) -> bool:
                return self.at <= gpu.host

            def synchronize(self) -> None:
                gpu.host = max(gpu.host, self.at)

            def elapsed_time(self, end: "Event") -> float:
                return 1e3 * (end.at - self.at)

        def sleep(cycles: int) -> None:
            gpu.slept += 1
            gpu.enqueue(cycles / 2e9)

        monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
        monkeypatch.setattr(torch.cuda, "graph", lambda graph: nullcontext())
        monkeypatch.setattr(torch.cuda, "Event", Event)
        monkeypatch.setattr(torch.cuda, "_sleep", sleep)

    def step(self) -> None:
        self.captured += 1


@pytest.mark.parametrize("launch", [0.0, 20e-6, 300e-6, 30e-3])
def test_the_launch_is_outside_the_lap(launch, monkeypatch):
    """The host takes up to 30 ms to launch 11 calls of 2 us: what is timed are the calls."""
    gpu = FakeGPU(launch, call=2e-6)
    gpu.put_in(monkeypatch)
    lap = gpu_lab.graph_lap(gpu.step, 11)
    assert [lap(), lap()] == pytest.approx([2e-6, 2e-6])
    assert gpu.captured == 11  # once, replayed since
    before = gpu.slept
    lap()
    assert gpu.slept == before + 1  # it remembers how long to sleep


def test_where_a_launch_waits_for_the_gpu_a_lap_still_ends(monkeypatch):
    """CUDA_LAUNCH_BLOCKING=1: no sleep is long enough."""
    gpu = FakeGPU(launch=2e-3, call=2e-6)
    gpu.put_in(monkeypatch)
    monkeypatch.setattr(torch.cuda, "_sleep", lambda cycles: None)
    assert gpu_lab.graph_lap(gpu.step, 10)() == pytest.approx((2e-3 + 10 * 2e-6) / 10)


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
    gpu_lab.lap_for(replace(MACHINE, kind="mps"), lambda: None, turn=11)
    gpu_lab.lap_for(replace(MACHINE, kind="mps"), lambda: None, turn=400)
    assert asked == [1, 55, 1, 400]


# Bytes


def ring(numbers: int, size: float = 1.0) -> gpu_lab.Ring:
    return gpu_lab.Ring(torch.full((numbers,), size))


def test_a_read_counts_each_byte_once_a_copy_twice_and_a_matmul_what_the_calculator_counts():
    loads = gpu_lab.roof_loads(MACHINE, ring(8 * 128))
    work = {name: gpu_lab.Roof(method, size, timing(1)).work for name, (method, size, _) in loads.items()}
    assert work == {"B": 128 * 4, "copy": 2 * 128 * 4, "P": gemm(22, 22, 22).flops}


def test_the_roofs_do_what_they_are_said_to_do(monkeypatch):
    """Sums read one eighth of the ring after another, all within a turn; copies move one to the next."""
    steps, turns = [], []
    monkeypatch.setattr(gpu_lab, "lap_for", lambda machine, step, turn: (steps.append(step), turns.append(turn)))
    numbers = ring(8 * 128)
    numbers.memory.copy_(torch.arange(1024.0))
    gpu_lab.roof_loads(MACHINE, numbers)
    assert turns == [8, 8, 1]
    eighths = [sum(range(128 * i, 128 * (i + 1))) for i in range(8)]
    assert [steps[0]() for _ in range(9)] == [*eighths, eighths[0]]
    steps[1]()
    steps[1]()
    moved = numbers.memory.view(8, 128)
    assert torch.equal(moved[0], torch.arange(128.0, 256.0))
    assert torch.equal(moved[2], torch.arange(384.0, 512.0))
    half = gpu_lab.Ring(torch.arange(1024.0).to(torch.bfloat16))
    gpu_lab.roof_loads(MACHINE, half)
    steps[4]()
    assert torch.equal(half.memory[:128], half.memory[128:256])  # of two bytes each: an eighth too


def test_a_roof_is_the_best_and_its_median_that_of_every_round():
    """Cool rounds and hot ones alike, as a point's laps are."""
    run, seconds, clock = fake_run(), iter([9, 9, *[2.0] * 5, 9, 9, *[4.0] * 5, 9, 9, *[1.0] * 5]), Clock()

    def lap() -> float:
        clock.work(100)
        return float(next(seconds))

    run.roofs.clear()
    for _ in range(3):
        run.roofs["B"] = gpu_lab.Roof("sum", 100, gpu_lab.measure(lap, 500, run.laps.setdefault("B", []), clock))
    assert (run.roofs["B"].rate, run.roofs["B"].typical, run.roofs["B"].timing.laps) == (100, 50, 15)


@pytest.mark.parametrize(("kind", "cache", "least"), [
    ("cpu", 2**20, 256e6), ("cpu", 300 * 2**20, 4 * 300 * 2**20),
    ("cuda", 72 * 2**20, 2e9), ("cuda", 2**30, 4 * 2**30),
])
def test_rotation_exceeds_the_cache_four_times_and_256_mb(kind, cache, least):
    assert gpu_lab.rotation_bytes(replace(MACHINE, kind=kind, cache=cache)) == least


@pytest.mark.parametrize("shape", [(64, 64), (512, 64), (64, 512)])
@pytest.mark.parametrize("kernel", ["rotated", "int8", "decode", "naive"])
def test_no_operand_is_still_in_the_cache_at_its_turn(kernel, shape, monkeypatch):
    """Between two uses of a byte, of X, W, Y, Q, K or V, the caches have been filled over and over with others.

    From one M to the next as well, or a short series would find its operands still cached.
    """
    cache, touched, measured = 2**14, [], count()
    monkeypatch.setattr(gpu_lab, "rotation_bytes", lambda machine: 4 * cache)
    monkeypatch.setattr(gpu_lab, "HEADS", (4, 2, 8))

    def measure(lap, budget):
        if kernel != "rotated" or next(measured) % 2 == 0:  # the other half are with one set
            for _ in range(150):
                lap()
        return timing(1)

    def touch(*operands, out=None, **_):
        parts = operands[:2] if kernel == "int8" else operands[:3]  # not the scales, not the scores
        touched.extend((part.data_ptr(), part.nbytes) for part in (*parts, *([] if out is None else [out])))
        return torch.zeros(1)

    inputs, outputs = small_rings(shape, monkeypatch)
    monkeypatch.setattr(gpu_lab, "measure", measure)
    for owner, name in ((torch, "mm"), (torch, "_weight_int8pack_mm"), (gpu_lab, "naive"),
                        (torch.nn.functional, "scaled_dot_product_attention")):
        monkeypatch.setattr(owner, name, touch)
    if kernel == "rotated":
        points = gpu_lab.sweep(MACHINE, inputs, outputs, *shape, (1, 5, 16), 0)
    elif kernel == "int8":
        points = gpu_lab.int8_sweep(MACHINE, inputs, *shape, (1, 5, 16), 0)
    else:
        series, L = ("attention-decode", 1) if kernel == "decode" else ("attention-naive", 16)
        points = (point for S in (16, 32) for point in gpu_lab.attention(MACHINE, inputs, series, L, S, 2, 0))
    assert list(points)
    last, passed = {}, 0
    for start, size in touched:
        for line in range(start // 64, (start + size) // 64):
            assert passed - last.get(line, -4 * cache) > 2 * cache, "still cached"
            last[line] = passed
        passed += size


def small_rings(shape: tuple[int, int], monkeypatch) -> tuple[gpu_lab.Ring, gpu_lab.Ring]:
    """Rings for a layer of up to 16 tokens, no larger than asked: the program's grow by pieces of 16 MB."""
    empty = torch.empty
    monkeypatch.setattr(torch, "empty", lambda size, **how: empty(64, **how))
    made = gpu_lab.rings(MACHINE, "float32", shape, 16, pytest.fail)
    monkeypatch.setattr(torch, "empty", empty)
    return made


def test_the_reused_set_is_one_and_the_same(monkeypatch):
    used: dict[str, set[tuple[int, ...]]] = {}
    series = iter(["gemm-rotated", "gemm-reused"] * 2)

    def measure(lap, budget):
        seen = used.setdefault(next(series), set())
        monkeypatch.setattr(torch, "mm", lambda X, W, out: seen.add((X.data_ptr(), W.data_ptr(), out.data_ptr())))
        for _ in range(5):
            lap()
        return timing(1)

    monkeypatch.setattr(gpu_lab, "measure", measure)
    points = list(gpu_lab.sweep(MACHINE, ring(5000), ring(5000), 16, 16, (1, 2), 0))
    assert [(point.series, point.size) for point in points] == [
        ("gemm-rotated", 1), ("gemm-reused", 1), ("gemm-rotated", 2), ("gemm-reused", 2)]
    assert {name: len(seen) for name, seen in used.items()} == {"gemm-rotated": 10, "gemm-reused": 2}


def test_an_accelerator_turns_the_whole_ring_in_a_lap(monkeypatch):
    """However small the layer and however many its tokens."""
    turns = []
    monkeypatch.setattr(gpu_lab, "lap_for", lambda machine, step, turn: turns.append(turn))
    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(1))
    list(gpu_lab.sweep(MACHINE, ring(10_000), ring(10_000), 16, 32, (1, 4), 0))
    assert turns == [10_000 // (16 * 32 + M * 16) for M in (1, 1, 4, 4)]


@pytest.mark.parametrize("name", gpu_lab.SHAPES)
def test_the_smallest_layer_that_is_taken_keeps_a_graph_short(name):
    """A turn of the ring is a graph: --shape 16,16 would ask for millions of calls, 65536 weights for thousands."""
    ring_bytes = gpu_lab.rotation_bytes(replace(MACHINE, kind="cuda", cache=256 * 2**20))
    assert ring_bytes / (2 * 2**16) < 20_000
    assert ring_bytes / (2 * math.prod(gpu_lab.SHAPES[name])) < 1000


def test_the_matmul_is_the_linear_layer_of_the_model():
    inputs, outputs = gpu_lab.Ring(torch.randn(1000)), ring(100)
    x, weight, y = next(gpu_lab.operands(inputs, outputs, 3, 8, 16))
    layer = torch.nn.Linear(8, 16, bias=False)
    assert layer.weight.shape == weight.T.shape
    assert weight.T.is_contiguous()
    assert gpu_lab.matmul(iter([(x, weight, y)]))() is y
    torch.testing.assert_close(y, torch.nn.functional.linear(x, weight.T))


@pytest.mark.parametrize(("kind", "series"), [
    ("cpu", "attention-decode"), ("cuda", "attention-decode"), ("cpu", "attention-naive"), ("cuda", "attention-fused")])
def test_every_kernel_computes_the_same_attention(kind, series, monkeypatch):
    """With heads that share K and V taken as so many queries of one, too."""
    n_q, n_kv, d = gpu_lab.HEADS
    L, S = (1, 5) if series == "attention-decode" else (5, 5)
    numbers, steps = torch.randn(100_000), []
    monkeypatch.setattr(gpu_lab, "lap_for", lambda machine, step, turn: steps.append(step))
    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(1))
    inputs = gpu_lab.Ring(numbers)
    list(gpu_lab.attention(replace(MACHINE, kind=kind), inputs, series, L, S, 2, 0))
    inputs = gpu_lab.Ring(numbers)
    q, k, v = inputs.take(2, n_q, L, d), inputs.take(2, n_kv, S, d), inputs.take(2, n_kv, S, d)
    k, v = (part.repeat_interleave(n_q // n_kv, dim=1) for part in (k, v))
    expected = torch.softmax(q @ k.mT / d**0.5, -1) @ v
    torch.testing.assert_close(steps[0]().reshape(expected.shape), expected)


@pytest.mark.parametrize(("series", "L"), [("attention-decode", 1), ("attention-fused", 16), ("attention-naive", 16)])
def test_an_attention_call_touches_the_bytes_that_the_calculator_counts(series, L, monkeypatch):
    """Q, K, V and O of each of three sequences; the naive kernel's scores besides, in and out twice."""
    steps, taken, kept = [], [], []
    take = gpu_lab.Ring.take
    monkeypatch.setattr(gpu_lab, "lap_for", lambda machine, step, turn: steps.append(step))
    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(1))
    inputs = ring(3 * 2 * QWEN.n_kv * 16 * QWEN.head_dim * 10)
    sizes = (16, 10**6) if L == 1 else (16,)
    points = [point for S in sizes for point in gpu_lab.attention(MACHINE, inputs, series, L, S, 3, 0)]
    assert [point.size for point in points] == [16]  # a cache that does not fit is left out
    monkeypatch.setattr(gpu_lab.Ring, "take", lambda self, *shape: taken.append(take(self, *shape)) or taken[-1])
    real = gpu_lab.naive
    monkeypatch.setattr(gpu_lab, "naive", lambda Q, K, V, *scores: kept.extend(scores) or real(Q, K, V, *scores))
    out = steps[0]()
    moved = sum(part.nbytes for part in taken) + out.nbytes + 2 * sum(part.nbytes for part in kept)
    passes = 4 if series == "attention-naive" else 0
    cost = attention(*gpu_lab.HEADS, L=L, S=16, b_q=4, b_kv=4, passes=passes, b_score=4)
    assert moved == 3 * cost.bytes


def test_a_gemm_call_touches_the_bytes_that_the_calculator_counts(monkeypatch):
    touched: list[int] = []
    monkeypatch.setattr(torch, "mm", lambda x, weight, out: touched.append(x.nbytes + weight.nbytes + out.nbytes))
    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(lap() + 1))
    list(gpu_lab.sweep(MACHINE, ring(1000), ring(1000), 4, 8, (1, 2), 0))
    assert touched == [gemm(M, 4, 8, 4, 4, 4).bytes for M in (1, 1, 2, 2)]


def test_an_int8_call_multiplies_by_bytes_and_their_scales(monkeypatch):
    K, N = 128, 64
    calls: list[tuple[torch.Tensor, ...]] = []
    real = torch._weight_int8pack_mm
    monkeypatch.setattr(torch, "_weight_int8pack_mm", lambda *given: calls.append(given) or real(*given))
    monkeypatch.setattr(gpu_lab, "measure", lambda lap, budget: timing(lap() + 1))
    inputs = gpu_lab.Ring(torch.randn(10_000).to(torch.bfloat16))
    assert [point.size for point in gpu_lab.int8_sweep(MACHINE, inputs, K, N, (2,), 0)] == [2]
    (X, W, scales), = calls
    assert (X.shape, W.shape, W.dtype, scales.shape) == ((2, K), (N, K), torch.int8, (N,))
    torch.testing.assert_close(real(X, W, scales), (X.float() @ W.T.float() * scales).to(X.dtype), rtol=0.02, atol=0.1)


@pytest.mark.parametrize("shape", [(128, 33), (63, 128)])
def test_an_int8_layer_of_no_whole_blocks_is_refused(shape):
    """PyTorch's CPU kernel would read past the end of the weights."""
    with pytest.raises(RuntimeError, match="multiples of 64"):
        list(gpu_lab.int8_sweep(MACHINE, ring(10_000), *shape, (1,), 0))


# The machine

SMI = """#!/bin/sh
echo "$2" >> "{log}"
{answer}
"""


@pytest.fixture
def smi(tmp_path, monkeypatch):
    """A made-up nvidia-smi that runs the given lines."""
    def answer(lines: str) -> None:
        tool = tmp_path / "nvidia-smi"
        tool.write_text(SMI.format(log=tmp_path / "asked", answer=lines))
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: SimpleNamespace(uuid="aaaa-2"))
    return answer


def card(uuid: str, clock: str) -> str:
    return f"echo 'GPU-{uuid}, 595.58.03, {clock}, 10501 MHz, 450.00 W, 61, [N/A], Disabled'"


def test_the_state_is_that_of_our_card_under_load(smi):
    """Of several the one with our identity, whatever the number that torch gives it."""
    smi(f"sleep 0.2; {card('aaaa-1', '210 MHz')}; {card('aaaa-2', '2520 MHz')}")
    laps = count()
    assert gpu_lab.nvidia_state(lambda: next(laps)) == {
        "driver_version": "595.58.03", "clocks.sm": "2520 MHz", "clocks.mem": "10501 MHz", "power.limit": "450.00 W",
        "temperature.gpu": "61", "ecc.mode.current": None, "mig.mode.current": "Disabled"}
    assert next(laps) > 1


def test_one_card_is_ours_by_whatever_name(smi):
    smi(card("other", "210 MHz"))
    assert gpu_lab.nvidia_state(lambda: None)["clocks.sm"] == "210 MHz"


@pytest.mark.parametrize("lines", ["exit 9", "echo No devices were found", ":", "sleep 5",
                                   f"{card('a', '1 MHz')}; {card('b', '2 MHz')}"])
def test_a_state_that_is_not_told_is_none(lines, smi):
    smi(lines)
    assert gpu_lab.nvidia_state(lambda: None, timeout=0.3) is None


def test_without_nvidia_smi_there_is_no_state(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu_lab.nvidia_state(pytest.fail) is None


@pytest.mark.parametrize(("wanted", "index"), [(None, 0), ("cuda", 0), ("cuda:1", 1)])
def test_a_device_by_its_number(wanted, index, monkeypatch):
    chosen = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    monkeypatch.setattr(torch.cuda, "get_device_properties",
                        lambda at: SimpleNamespace(name=f"card {at}", L2_cache_size=7))
    monkeypatch.setattr(gpu_lab, "nvidia_state", lambda meanwhile: {"driver_version": "595", "clocks.sm": "1 MHz"})
    machine = gpu_lab.find_machine(wanted)
    assert (machine.name, machine.driver, machine.cache, chosen) == (f"card {index}", "595", 7, [index])
    assert machine.idle["clocks.sm"] == "1 MHz"
    with pytest.raises(SystemExit):
        gpu_lab.find_machine("cuda:2")


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


def test_too_little_memory_rotates_over_less_and_says_so(monkeypatch):
    notes: list[str] = []

    def claim(machine, nbytes):
        if nbytes > 150e6:
            raise RuntimeError("CUDA out of memory. Tried to allocate")

    monkeypatch.setattr(gpu_lab, "claim", claim)
    inputs, _ = gpu_lab.rings(MACHINE, "float32", (8, 16), 4, notes.append)
    assert inputs.memory.nbytes < 150e6
    asked = 256 * gpu_lab.MB + (4 * 8 + 8 * 16) * 4
    assert notes == [f"out of memory: {asked // 2} bytes to rotate over instead"]


def test_what_never_fits_and_what_is_no_memory_error_is_raised(monkeypatch):
    def claim(machine, nbytes):
        raise RuntimeError(reason)

    monkeypatch.setattr(gpu_lab, "claim", claim)
    for reason in ("out of memory", "a bug"):
        with pytest.raises(RuntimeError, match=reason):
            gpu_lab.rings(MACHINE, "float32", (4096, 4096), 4, lambda text: None)


def test_a_cpu_run_never_claims_more_than_it_may():
    with pytest.raises(RuntimeError, match="more memory"):
        gpu_lab.rings(MACHINE, "float32", (2**20, 2**20), 1, pytest.fail)


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
