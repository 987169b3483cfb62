"""No published measurement beats the lower bound, row by row, without a tolerance; and what the fractions say.

Sources: snippets/published/measurements.py, and the files beside it.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from bench.published import lines
from roofline_calc import ACCELERATORS, MODELS, analyse, attention
from snippets.published.measurements import (
    CARDS,
    LEFT_OUT,
    LLAMA_2,
    LLAMA_3,
    LONG,
    QWEN_2,
    SOURCES,
    VLLM,
    Measurement,
    measured,
    measurements,
    rows,
)

ROWS = measurements()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_measurement_beats_the_bound(row):
    assert 0 < row.fraction < 1
    assert row.least.lower_bound <= row.least.kernel_by_kernel


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_nor_does_one_beat_the_kernels_one_after_another(row):
    """No law: overlap may. None of these engines overlaps so much; a kernel that is counted too high would show."""
    assert row.fraction_kernel_by_kernel < 1


def test_every_published_figure_is_here_but_for_cards_without_a_source():
    published = {QWEN_2: 48, LLAMA_3: 276, LLAMA_2: 17, VLLM: 8, LONG: 9}
    assert {source: len(rows(source)) for source in SOURCES} == published
    without = [row for row in rows(LLAMA_2) if row["gpu"] in LEFT_OUT]
    assert [row["gpu"] for row in without] == list(LEFT_OUT)
    assert Counter(row.source for row in ROWS) == published | {LLAMA_2: 2 * (17 - 4)}
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("gpu", LEFT_OUT)
def test_what_is_left_out_is_not_in_the_catalogue(gpu):
    """Once a source gives its peak, its rows count."""
    assert gpu not in CARDS
    family = gpu.removeprefix("Jetson ").partition(" (")[0]
    assert not [card.name for card in ACCELERATORS.values() if family in card.name]


def test_one_card_is_above_the_roof_of_fp32_accumulation():
    """llama.cpp accumulates FP16 in FP16: on a GeForce card twice the peak. That explains the row."""
    prefills = [row for row in measurements(LLAMA_3) if row.prompt]
    above = {row.name: row.fraction_at("fp16") for row in prefills if row.fraction_at("fp16") >= 1}
    assert above == {"4080 16GB: Llama 3 8B F16, pp 512": pytest.approx(1.048, abs=5e-4)}
    row = measured(*above)
    assert row.dtype == "fp16acc"
    assert row.fraction == pytest.approx(row.fraction_at("fp16") / 2)


def test_the_table_names_each_row_and_ends_with_the_greatest_fraction():
    table = "\n".join(lines())
    assert all(f"\n{row.name} " in table for row in ROWS)
    assert table.splitlines()[-1] == (
        "367 rows, the greatest fraction 0.890: H20: Qwen3-235B-A22B FP8, TP 4, PP 1, 131072 tokens in"
    )


# ------------------------------------------------------------------ by hand

# Of the roof in decode of 512 tokens, Llama 3 8B in F16, worked out by hand from spec sheets.
DECODE = {
    "4090 24GB": 0.82, "4080 16GB": 0.85, "3090 24GB": 0.76, "RTX 6000 Ada 48GB": 0.82, "RTX A6000 48GB": 0.80,
    "A100 PCIe 80GB": 0.43, "H100 PCIe 80GB": 0.51, "M2 Ultra 76-Core GPU 192GB": 0.69,
    "M1 Max 32-Core GPU 64GB": 0.71,
}
# Of a prefill: tokens, TFLOP/s, and the peak with FP32 accumulation of which they are the fraction.
PREFILL = {
    ("4090 24GB", 512): (132, 165.2, 0.80), ("4080 16GB", 512): (102, 97.5, 1.05), ("3090 24GB", 512): (63, 71, 0.88),
    ("4090 24GB", 8192): (76, 165.2, 0.46),
}


@pytest.mark.parametrize("gpu", DECODE)
def test_decode_fractions_by_hand(gpu):
    assert round(measured(f"{gpu}: Llama 3 8B F16, tg 512").fraction, 2) == DECODE[gpu]


@pytest.mark.parametrize(("gpu", "tokens"), PREFILL)
def test_prefill_rates_by_hand(gpu, tokens):
    row = measured(f"{gpu}: Llama 3 8B F16, pp {tokens}")
    achieved, peak, fraction = PREFILL[gpu, tokens]
    layers = 6_979_321_856 * tokens + 128256 * 4096  # weights of the decoder layers; lm_head for the last token
    flops = 2 * layers + 32 * 4 * 32 * 128 * tokens * (tokens + 1) // 2
    assert round(flops / row.seconds / 1e12) == achieved
    assert round(row.fraction_at("fp16"), 2) == fraction
    assert row.fraction_at("fp16") == pytest.approx(flops / row.seconds / (peak * 1e12))


def test_a_generation_by_hand():
    """Llama 3 8B in F16 on an RTX 4090: token i reads all but the embedding, a row of it, and i - 1 cached."""
    read = 2 * (8_030_261_248 - 128256 * 4096)
    moved = sum(read + 2 * 4096 + 131_072 * (i - 1) + 131_072 for i in range(1, 513))
    row = measured("4090 24GB: Llama 3 8B F16, tg 512")
    assert row.least.lower_bound == pytest.approx(float(Fraction(moved, 1008 * 10**9)), rel=1e-12)
    assert row.seconds == pytest.approx(512 / 54.84)


def test_the_prompt_is_in_the_time_of_qwen():
    """At 129,024 tokens it is a good part of it: arithmetic at 312 TFLOP/s, 28 layers of 28 heads, 128 wide."""
    row = measured("A100: Qwen2.5-7B-Instruct BF16, 129024 tokens in")
    linear = 2 * (28 * (2 * 3584 * 3584 + 2 * 3584 * 512 + 3 * 3584 * 18944) * 129024 + 152064 * 3584)
    attention_flops = 28 * 4 * 28 * 128 * 129024 * 129025 // 2
    prefill = (linear + attention_flops) / 312e12
    decode = replace(row, prompt=0).times().lower_bound
    assert row.least.lower_bound - decode == pytest.approx(prefill)
    assert 0.4 < prefill / row.least.lower_bound < 0.5
    assert (row.contexts[0], row.contexts[-1], len(row.contexts)) == (129_025, 131_071, 2047)


@pytest.mark.parametrize(("name", "bound"), [
    ("H20: DeepSeek-V3.1 FP8, TP 8, PP 1, 131072 tokens in", 41.1),  # 128.6 s when MLA was absorbed: beaten
    ("H20: Qwen3-235B-A22B FP8, TP 4, PP 1, 131072 tokens in", 49.4),
])
def test_long_prompts_on_several_cards(name, bound):
    """One card's share; the arithmetic is what takes the time, so the H20 of faster memory has the same bound."""
    row = measured(name)
    assert round(row.least.lower_bound, 1) == bound < row.seconds
    report = analyse(row.model.step([(131_072, 131_072)], fused=True, precision=row.precision), ACCELERATORS["h20"])
    assert report.memory_seconds < report.compute_seconds / 100
    assert row.model.cards == int(name.partition("TP ")[2][0])


@pytest.mark.parametrize("tokens", [131_072, 1_048_576])
def test_a_pipeline_by_hand(tokens):
    """Qwen3-235B-A22B on 32 cards: experts and projections in FP8; pairs of tokens, router and lm_head in BF16."""
    row = measured(f"H20: Qwen3-235B-A22B FP8, TP 4, PP 8, {tokens} tokens in")
    fp8 = 94 * (2 * 4096 * 8192 + 2 * 4096 * 512 + 8 * 3 * 4096 * 1536) * tokens
    # The router is on each of the four cards, as are the four KV heads' parts: one each.
    bf16 = 94 * 4 * 4096 * 128 * tokens + 4096 * 151936
    pairs = 94 * 64 * 128 * 2 * tokens * (tokens + 1) // 2
    seconds = (Fraction(2 * fp8, 296 * 10**12) + Fraction(2 * (bf16 + pairs), 148 * 10**12)) / 32
    assert row.least.lower_bound == pytest.approx(float(seconds))
    assert row.model.cards * row.stages == 32


# ------------------------------------------------------------------ how they are read


def step_by_step(row: Measurement) -> tuple[float, float]:
    card = ACCELERATORS[CARDS[row.gpu]]
    steps = [row.model.step({(1, S): row.batch}, fused=True, precision=row.precision) for S in row.contexts]
    reports = [analyse(step, card, row.dtype) for step in steps]
    return sum(one.lower_bound for one in reports), sum(one.kernel_by_kernel for one in reports)


@pytest.mark.parametrize("batch", [1, 219, 300])
def test_a_generation_is_the_sum_of_its_steps(batch):
    """Also where a regime turns on the way: at 300 sequences memory takes over from arithmetic."""
    row = replace(measured("RTX A6000 48GB: Qwen2.5-7B-Instruct BF16, 512 requests in flight"), batch=batch,
                  contexts=range(1, 700))
    assert row.times() == pytest.approx(step_by_step(row))


def test_fewer_decode_together_than_are_in_flight():
    """Little's law: at 512 requests no more than at 256, where vLLM's own limit must lie."""
    batches = {int(row["concurrency"]): one.batch for row, one in zip(rows(VLLM), measurements(VLLM), strict=True)}
    assert batches == {1: 1, 2: 1, 4: 3, 8: 5, 64: 58, 128: 112, 256: 214, 512: 219}
    assert all(batch <= flying for flying, batch in batches.items())


@pytest.mark.parametrize(("name", "gib"), [
    ("4090 24GB: Llama 3 8B Q4_K_M, tg 512", 4.58), ("RTX A6000 48GB: Llama 3 70B Q4_K_M, tg 512", 39.59),
    ("RTX 4090: Llama 2 7B Q4_0, tg 128", 3.56),
])
def test_quantised_weights_are_as_large_as_the_published_file(name, gib):
    """To a hundredth of a GiB: the file holds the tokenizer, too, and its size is rounded."""
    row = measured(name)
    assert row.model.weight_bytes(row.precision) / 2**30 == pytest.approx(gib, abs=0.01)


def test_quantised_products_are_in_the_type_that_llama_cpp_had():
    """INT8 since June 2024 (pull 7860), FP16 before; where the catalogue has no INT8 peak, FP8, or the card's FP16."""
    types = {one.gpu: {stored.multiplies for stored in one.precision.modules.values()} for one in measurements(LLAMA_2)}
    assert {gpu for gpu, dtypes in types.items() if dtypes == {"int8"}} == {
        "RTX PRO 6000 Blackwell", "RTX 5090", "RTX 4090", "H100", "RTX 5080", "A100", "RTX 3090",
    }
    assert types["DGX Spark (GB10)"] == {"fp8"}
    assert types["M2 Ultra"] == {None}
    assert not any(stored.multiplies for one in measurements(LLAMA_3) for stored in one.precision.modules.values())


# ------------------------------------------------------------------ what the fractions say


def test_unquantised_weights_come_closest_to_the_roof():
    """What remains at BF16 is overhead; narrower weights shrink the bound but not the overhead."""
    best = {
        quant: max(row.fraction for row in measurements(QWEN_2) if row.what.endswith(quant))
        for quant in ("BF16", "GPTQ-Int8", "GPTQ-Int4", "AWQ")
    }
    assert best["BF16"] > best["GPTQ-Int8"] > max(best["GPTQ-Int4"], best["AWQ"])


def test_scores_on_the_bus_explain_what_a_longer_prefill_loses():
    """llama-bench ran without -fa, in batches of 512 tokens: FP32 scores written, read for the softmax, and both again.

    An RTX 4090 at the speed of its 512 tokens would need 1.00 s for the arithmetic of 8,192, and took 1.73 s; with the
    scores' traffic counted at both lengths it is 1.50 s.
    """
    def parts(tokens: int) -> tuple[float, float, float]:
        row = measured(f"4090 24GB: Llama 3 8B F16, pp {tokens}")
        ends = range(512, tokens + 1, 512)
        batches = [attention(32, 8, 128, 512, end, passes=4, b_score=4) * 32 for end in ends]
        scores = sum(one.traffic["scores"] for one in batches) / ACCELERATORS["rtx-4090"].bandwidth
        return row.least.lower_bound, scores, row.seconds

    (short, short_scores, short_measured), (long, scores, long_measured) = parts(512), parts(8192)
    assert round(long_measured, 2) == 1.73
    assert round(long / short * short_measured, 2) == 1.00
    assert round(long / short * (short_measured - short_scores) + scores, 2) == 1.50


def test_the_same_shapes_are_those_of_llama_3():
    assert MODELS["llama-3.1-8b"].params == 8_030_261_248
    assert MODELS["llama-3.1-70b"].params == 70_553_706_496
