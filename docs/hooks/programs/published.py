"""Speeds that others have measured and published, so that a page can set one beside what it computes."""

import csv
from pathlib import Path

SPEEDS = Path("snippets/published/qwen2.5-speed-a100.csv")  # its source stands in test_measured_speeds.py


def published_speed(model: str, quantisation: str, prompt: int) -> float:
    """Tokens per second of one row: a model, the quantisation of its weights, and the prompt's tokens.

    Raises:
        ValueError: there is no such row.
    """
    with SPEEDS.open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            if (row["model"], row["quant"], row["input_len"]) == (model, quantisation, str(prompt)):
                return float(row["tokens_per_s"])
    raise ValueError(f"{model}, {quantisation}, {prompt}: no such row in {SPEEDS}")
