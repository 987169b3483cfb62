"""Published decode speeds of Qwen2.5 on one A100 80GB never exceed what the lower bound allows.

Source: Qwen2.5 documentation, speed benchmark (vLLM 0.6.3, batch 1, 2048 generated tokens). Quantised checkpoints keep
embedding, lm_head and norms in 16 bits; GPTQ and AWQ have a scale and a zero point for each group of 128 weights.
"""

import csv

import pytest
from support import ROOT

from roofline_calc import ACCELERATORS, MODELS, Precision, analyse, width_of

A100 = ACCELERATORS["a100-80gb-sxm"]
WEIGHTS = {"BF16": "bf16", "GPTQ-Int8": "int8-g128-zero", "GPTQ-Int4": "int4-g128-zero", "AWQ": "int4-g128-zero"}
NAMES = {"Qwen2.5-7B-Instruct": "qwen2.5-7b", "Qwen2.5-14B-Instruct": "qwen2.5-14b"}
GENERATED = 2048

with (ROOT / "snippets/published/qwen2.5-speed-a100.csv").open(encoding="utf-8", newline="") as table:
    MEASURED = list(csv.DictReader(table))


def bound_tokens_per_second(row: dict[str, str]) -> float:
    """The speed that the lower bound allows, averaged over the generated tokens."""
    model, precision = MODELS[NAMES[row["model"]]], Precision(weights=width_of(WEIGHTS[row["quant"]]))
    first = int(row["input_len"]) + 1
    # A memory-bound decode step's bound grows linearly with the context, so its mean lies between first and last.
    ends = [
        analyse(model.step([(1, S)], fused=True, precision=precision), A100).lower_bound
        for S in (first, first + GENERATED - 1)
    ]
    return 2 / sum(ends)


def fraction_of_roof(row: dict[str, str]) -> float:
    """Measured speed over the bound's."""
    return float(row["tokens_per_s"]) / bound_tokens_per_second(row)


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: f"{row['model']}-{row['quant']}-{row['input_len']}")
def test_no_measured_speed_exceeds_the_bound(row):
    fraction, bound = fraction_of_roof(row), bound_tokens_per_second(row)
    print(f"{row['model']:21}{row['quant']:10}{row['input_len']:>7} tokens in: "
          f"{float(row['tokens_per_s']):7.2f} of {bound:7.2f} tokens/s, {fraction:.1%} of the roof")
    assert 0 < fraction < 1


def test_case_14_no_utilisation_is_above_100_percent():
    """vllm#40315: a utilisation above 100 %."""
    assert len(MEASURED) == 48
    assert max(map(fraction_of_roof, MEASURED)) < 1


def test_unquantised_weights_come_closest_to_the_roof():
    """What remains at BF16 is overhead; narrower weights shrink the bound but not the overhead."""
    best = {quant: max(fraction_of_roof(row) for row in MEASURED if row["quant"] == quant) for quant in WEIGHTS}
    assert best["BF16"] > best["GPTQ-Int8"] > max(best["GPTQ-Int4"], best["AWQ"])
