"""Measurements that others published, each beside the least time that its cards allow.

The figures lie in the CSV files of this folder, as published, and `SOURCES` says where. Here stands what ran: the model
and its widths, the data type of the products, the steps. Of several cards one card's share counts; their link is not in
the time.
"""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from roofline_calc import ACCELERATORS, MODELS, Model, Precision, Report, Stored, analyse, quantised_width, width_of
from roofline_calc.checkpoints.formats import stored_as

HERE = Path(__file__).parent

QWEN_2, LLAMA_3, LLAMA_2, VLLM, LONG = SOURCES = {
    "qwen2.5-speed-a100": "Qwen2.5 documentation, speed benchmark: vLLM 0.6.3 on an A100 80 GB",
    "llama3-llama-cpp-2024-05": "github.com/XiongjieDai/GPU-Benchmarks-on-LLM-Inference: llama.cpp, May 2024",
    "llama2-7b-q4_0-scoreboard-2026": "github.com/ggml-org/llama.cpp, discussions 4167 and 15013, quoted in July 2026",
    "vllm-a6000-qwen2.5-7b-2026-06": "github.com/ld-singh/ai-factory-ops-lab, inference benchmark report: vLLM 0.23.0",
    "long-prompts-2026": "lmsys.org/blog, 2026-01-15 (H20) and 2026-02-19 (GB200, GB300): SGLang, one prompt",
}

CARDS = {
    "3080 10GB": "rtx-3080", "4080 16GB": "rtx-4080", "3090 24GB": "rtx-3090", "4090 24GB": "rtx-4090",
    "RTX 5000 Ada 32GB": "rtx-5000-ada", "RTX A6000 48GB": "rtx-a6000", "RTX 6000 Ada 48GB": "rtx-6000-ada",
    "L40S 48GB": "l40s", "A100 PCIe 80GB": "a100-80gb-pcie", "A100 SXM 80GB": "a100-80gb-sxm",
    "H100 PCIe 80GB": "h100-pcie", "M1 7-Core GPU 8GB": "m1", "M1 Max 32-Core GPU 64GB": "m1-max",
    "M2 Ultra 76-Core GPU 192GB": "m2-ultra",
    "RTX PRO 6000 Blackwell": "rtx-pro-6000", "RTX 5090": "rtx-5090", "RTX 4090": "rtx-4090", "H100": "h100-sxm",
    "RTX 5080": "rtx-5080", "A100": "a100-80gb-sxm", "RTX 3090": "rtx-3090", "DGX Spark (GB10)": "dgx-spark",
    "M1 Ultra": "m1-ultra", "M2 Ultra": "m2-ultra", "M3 Ultra": "m3-ultra", "M4 Pro": "m4-pro", "M4 Max": "m4-max",
    "H20": "h20", "GB200": "gb200", "GB300": "gb300",
}
# Their rows have no roof to stand under: the catalogue lacks them, since no source for their peak was read.
LEFT_OUT = ("RTX 3060", "Jetson AGX Orin", "M5 Max (Metal)", "M5 Max (MTL+BLAS with neural accelerators)")


class Times(NamedTuple):
    """Seconds that the calculator gives for what ran."""

    lower_bound: float
    kernel_by_kernel: float

    @classmethod
    def of(cls, report: Report) -> "Times":
        """Of one step."""
        return cls(report.lower_bound, report.kernel_by_kernel)

    def then(self, other: "Times") -> "Times":
        """Of one after the other."""
        return Times(self.lower_bound + other.lower_bound, self.kernel_by_kernel + other.kernel_by_kernel)

    def scaled(self, factor: float) -> "Times":
        """Of a number of steps alike, or of a part of one."""
        return Times(self.lower_bound * factor, self.kernel_by_kernel * factor)


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One published figure: what ran, and the seconds that it took.

    Args:
        source: the CSV file, without .csv. gpu, what, test: the row in the words of its source.
        dtype: of the products that the checkpoint leaves open: the card's peak for it is the roof.
        prompt: tokens read in one prefill (0: none). contexts: of the decode steps that follow.
        batch: sequences that decode together. stages: of a pipeline, among which the layers are shared out.
    """

    source: str
    gpu: str
    what: str
    test: str
    seconds: float
    model: Model
    dtype: str
    precision: Precision
    prompt: int = 0
    contexts: range = range(0)
    batch: int = 1
    stages: int = 1

    @property
    def name(self) -> str:
        """The row in words, unlike any other."""
        return f"{self.gpu}: {self.what}, {self.test}"

    def times(self, dtype: str | None = None) -> Times:
        """The least times of all the steps, one after the other (dtype None: the measurement's own).

        Raises:
            ValueError: the card has no peak for the data type.
        """
        times = Times(0, 0)
        if self.prompt:
            times = times.then(Times.of(self._report(1, self.prompt, self.prompt, dtype)))
        if self.contexts:
            times = times.then(_summed(lambda S: self._report(self.batch, 1, S, dtype), self.contexts))
        return times.scaled(1 / self.stages)

    def _report(self, batch: int, L: int, S: int, dtype: str | None) -> Report:
        step = self.model.step({(L, S): batch}, fused=True, precision=self.precision)
        return analyse(step, ACCELERATORS[CARDS[self.gpu]], dtype or self.dtype)

    @cached_property
    def least(self) -> Times:
        """`times` at the measurement's own data type."""
        return self.times()

    @property
    def fraction(self) -> float:
        """The lower bound over what was measured: 1 would be a perfect engine, and nothing is above."""
        return self.least.lower_bound / self.seconds

    @property
    def fraction_kernel_by_kernel(self) -> float:
        """The kernel-by-kernel time over what was measured."""
        return self.least.kernel_by_kernel / self.seconds

    def fraction_at(self, dtype: str) -> float:
        """`fraction` under the roof of another data type."""
        return self.times(dtype).lower_bound / self.seconds


def _summed(at: Callable[[int], Report], contexts: range) -> Times:
    """The times of decode steps over a range of contexts, exactly.

    Work and traffic of full attention grow linearly with the context, and so does every time until a regime turns.
    """
    first, last = at(contexts[0]), at(contexts[-1])
    if len(contexts) > 2 and _limits(first) != _limits(last):
        middle = len(contexts) // 2
        return _summed(at, contexts[:middle]).then(_summed(at, contexts[middle:]))
    return Times.of(first).then(Times.of(last)).scaled(len(contexts) / 2)


def _limits(report: Report) -> tuple[bool, tuple[str, ...]]:
    return report.compute_seconds < report.memory_seconds, report.compute_bound


# ------------------------------------------------------------------ the files


def rows(source: str) -> list[dict[str, str]]:
    """The rows of a file, as published."""
    with (HERE / f"{source}.csv").open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def _qwen_2() -> Iterator[Measurement]:
    """2,048 tokens after a prompt, whose prefill is in the time.

    GPTQ and AWQ widen the weights and multiply in 16 bits. Of GPTQ the zero points are left out: where it is symmetric,
    they are all alike and need not be read.
    """
    models = {"Qwen2.5-7B-Instruct": MODELS["qwen2.5-7b"], "Qwen2.5-14B-Instruct": MODELS["qwen2.5-14b"]}
    weights = {"BF16": "bf16", "GPTQ-Int8": "int8-g128", "GPTQ-Int4": "int4-g128", "AWQ": "int4-g128-zero"}
    for row in rows(QWEN_2):
        prompt = int(row["input_len"])
        yield Measurement(
            source=QWEN_2, gpu="A100", what=f"{row['model']} {row['quant']}", test=f"{prompt} tokens in",
            seconds=2048 / float(row["tokens_per_s"]), model=models[row["model"]], dtype="bf16",
            precision=Precision(weights=width_of(weights[row["quant"]])),
            prompt=prompt, contexts=range(prompt + 1, prompt + 2048),  # the prefill gives the first token
        )


def _llama_3() -> Iterator[Measurement]:
    """Quantised weights were widened for cuBLAS: INT8 products of k-quants came with pull 7860, in June 2024."""
    models = {"8B": MODELS["llama-3.1-8b"], "70B": MODELS["llama-3.1-70b"]}  # the shapes of Llama 3
    for row in rows(LLAMA_3):
        model, tokens = models[row["model"]], int(row["tokens"])
        what, speed = f"Llama 3 {row['model']} {row['quant']}", float(row["tokens_per_s"])
        stored = {} if row["quant"] == "F16" else _gguf(row["quant"], model)
        yield from _llama_bench(LLAMA_3, row["gpu"], what, (row["test"], tokens, speed), model, stored)


def _llama_2() -> Iterator[Measurement]:
    """Products in INT8; where the catalogue has no INT8 peak, at that of FP8, or of FP16 (Apple)."""
    model = MODELS["llama-2-7b"]
    for row in rows(LLAMA_2):
        peaks = ACCELERATORS[CARDS[row["gpu"]]].peak if row["gpu"] in CARDS else {}
        stored = _gguf("Q4_0", model, next((dtype for dtype in ("int8", "fp8") if dtype in peaks), None))
        for test, tokens in (("pp", 512), ("tg", 128)):
            speed = float(row[f"{test}{tokens}_tokens_per_s"])
            yield from _llama_bench(LLAMA_2, row["gpu"], "Llama 2 7B Q4_0", (test, tokens, speed), model, stored)


def _llama_bench(
    source: str, gpu: str, what: str, figure: tuple[str, int, float], model: Model, stored: dict[str, Stored]
) -> Iterator[Measurement]:
    """A row of `llama-bench`, unless its card is left out: pp reads a prompt, tg generates from an empty context.

    llama.cpp multiplies FP16 with FP16 accumulation (pull 3370), which on a GeForce card has twice the peak.
    """
    if gpu in LEFT_OUT:
        return
    test, tokens, speed = figure
    prefill = test == "pp"
    yield Measurement(
        source=source, gpu=gpu, what=what, test=f"{test} {tokens}", seconds=tokens / speed, model=model,
        dtype="fp16acc" if "fp16acc" in ACCELERATORS[CARDS[gpu]].peak else "fp16",
        precision=Precision(modules=stored), prompt=tokens if prefill else 0,
        contexts=range(0) if prefill else range(1, tokens + 1),
    )


def _gguf(kind: str, model: Model, multiplies: str | None = None) -> dict[str, Stored]:
    """How a GGUF file stores a model, and the data type of the products (None: weights are widened)."""
    stored = stored_as(kind.lower(), model)
    return {module: Stored(weights.width, multiplies) for module, weights in stored.items()}


def _vllm() -> Iterator[Measurement]:
    """Seconds per output token after the first, against requests in flight.

    By Little's law tokens/s times seconds per token decode together: fewer than are in flight, at 512 by far. All have
    the same prompt, whose cached K and V may be shared; it is left out.
    """
    for row in rows(VLLM):
        steps, each = int(row["tokens_generated"]) - 1, float(row["tpot_p50_s"])
        yield Measurement(
            source=VLLM, gpu="RTX A6000 48GB", what="Qwen2.5-7B-Instruct BF16",
            test=f"{row['concurrency']} requests in flight", seconds=steps * each, model=MODELS["qwen2.5-7b"],
            dtype="bf16", precision=Precision(), contexts=range(2, 2 + steps),
            batch=max(1, int(float(row["tokens_per_s"]) * each)),
        )


def _long_prompts() -> Iterator[Measurement]:
    """The time to the first token: tp cards share every layer, pp such groups share the layers and work at once.

    A K of the source is read as 1,024 tokens. Its H20 for DeepSeek is the one of 141 GB, whose memory is faster, but
    the bound is one of arithmetic. On GB200 and GB300 four cards made a pipeline, which an unchunked prompt passes
    through alone, one card at a time; attention was in FP8, and which layers of the NVFP4 checkpoint are wider is not
    said: none, at least.
    """
    fp8 = {"layers": Stored(quantised_width(8, group=128 * 128, scale_bytes=4), "fp8")}
    fp4 = {"layers": Stored(width_of("nvfp4"), "fp4")}
    ran = {
        "DeepSeek-V3.1 FP8": ("deepseek-v3", Precision(modules=fp8)),
        "Qwen3-235B-A22B FP8": ("qwen3-235b-a22b", Precision(modules=fp8)),
        "DeepSeek-R1 NVFP4": ("deepseek-v3", Precision(modules=fp4, attention="fp8", kv=1)),
    }
    for row in rows(LONG):
        key, precision = ran[row["model"]]
        yield Measurement(
            source=LONG, gpu=row["gpu"], what=row["model"],
            test=f"TP {row['tp']}, PP {row['pp']}, {int(row['prompt'])} tokens in", seconds=float(row["ttft_s"]),
            model=MODELS[key].card(int(row["tp"])), dtype="bf16", precision=precision, prompt=int(row["prompt"]),
            stages=int(row["pp"]),
        )


@cache
def measurements(source: str | None = None) -> tuple[Measurement, ...]:
    """Every row of every file, or of one, but for those of cards in `LEFT_OUT`.

    Raises:
        ValueError: there is no such file.
    """
    found = tuple(one for read in (_qwen_2, _llama_3, _llama_2, _vllm, _long_prompts) for one in read())
    if source is not None and source not in SOURCES:
        raise ValueError(f"{source}: no such file in snippets/published")
    return tuple(one for one in found if source in (None, one.source))


def measured(name: str) -> Measurement:
    """One measurement by its name.

    Raises:
        ValueError: there is none.
    """
    for one in measurements():
        if one.name == name:
            return one
    raise ValueError(f"{name}: no such row in snippets/published")


def published_speed(model: str, quantisation: str, prompt: int) -> float:
    """Tokens per second of one row of Qwen2.5's: a model, the quantisation of its weights, and the prompt's tokens.

    Raises:
        ValueError: there is no such row.
    """
    for row in rows(QWEN_2):
        if (row["model"], row["quant"], row["input_len"]) == (model, quantisation, str(prompt)):
            return float(row["tokens_per_s"])
    raise ValueError(f"{model}, {quantisation}, {prompt}: no such row in snippets/published/{QWEN_2}.csv")
