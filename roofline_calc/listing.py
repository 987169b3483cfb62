"""The commands that list the catalogue: its models and accelerators, and where each entry comes from."""

import argparse
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from .answer import Answer
from .catalog import ACCELERATORS, MODELS
from .precision import WIDTHS
from .tables import Column, scaled

TERA, GIGA, MEGA = 12, 9, 6

MODEL_COLUMNS = (
    Column("name", "model"), Column("params", "params", "", True), Column("active", "read/token", "", True),
    Column("layers", "layers"), Column("n_q", "Q heads"), Column("n_kv", "KV heads"),
    Column("weights", "weights", "byte", True), Column("kv", "KV per token", "byte"),
    Column("state", "state", "byte", MEGA),
)
HARDWARE_COLUMNS = (
    Column("name", "hardware"), Column("wide", "BF16 or FP16", "FLOP/s", TERA), Column("fp8", "FP8", "FLOP/s", TERA),
    Column("int8", "INT8", "OP/s", TERA), Column("bandwidth", "bandwidth", "byte/s", GIGA),
    Column("link", "link", "byte/s", GIGA), Column("ridge", "ridge point", "FLOP/byte"),
    Column("memory", "memory", "byte", GIGA), Column("last_level_cache", "cache", "byte", MEGA),
)
PRODUCT = (Column("maker", "maker"), Column("product", "product"))
LEFT_OUT = Column("left_out", "left out")
PROVENANCE = (Column("note", "note"), Column("source", "source"))


def models(options: argparse.Namespace) -> Answer:
    """The models of the catalogue."""
    rows: list[dict[str, Any]] = [
        {
            "name": key, "params": model.params, "active": model.params_read(1), "layers": model.layers,
            "n_q": model.n_q, "n_kv": model.n_kv, "weights": model.weight_bytes(), "kv": model.kv_bytes_per_token,
            "state": model.state_bytes(), "left_out": list(model.left_out), "source": model.source,
        }
        for key, model in MODELS.items()
    ]
    columns = (*MODEL_COLUMNS, LEFT_OUT, *PROVENANCE[1:]) if options.csv else MODEL_COLUMNS
    shown = [row | {"left_out": "; ".join(MODELS[row["name"]].left_out)} for row in rows]
    return Answer(rows, columns, shown, text=_sources(options, rows))


def hardware(options: argparse.Namespace) -> Answer:
    """The accelerators of the catalogue: dense peaks, bandwidth, link, ridge point, memory."""
    data: list[dict[str, Any]] = []
    for key, card in ACCELERATORS.items():
        wide = next(dtype for dtype in ("bf16", "fp16") if dtype in card.peak)
        data.append({
            "name": key, "maker": card.maker, "product": card.name, "wide": card.peak[wide],
            "fp8": card.peak.get("fp8"), "int8": card.peak.get("int8"), "bandwidth": card.bandwidth, "link": card.link,
            "ridge": card.ridge(wide), "memory": card.memory, "last_level_cache": card.last_level_cache,
            "peak": card.peak, "note": card.note, "source": card.source,
        })
    columns: Sequence[Column] = HARDWARE_COLUMNS
    rows = data
    if options.csv:  # everything, with a column for each data type
        shown = {column.key for column in HARDWARE_COLUMNS}
        peaks = [Column(dtype, dtype, "FLOP/s") for dtype in WIDTHS if dtype not in shown]
        columns = [columns[0], *PRODUCT, *columns[1:], *peaks, *PROVENANCE]
        rows = [{dtype: row["peak"].get(dtype) for dtype in WIDTHS} | row for row in data]
    return Answer(data, columns, rows, text=_sources(options, data))


def _sources(options: argparse.Namespace, rows: Sequence[Mapping[str, Any]]) -> str:
    """Where ``--sources`` asks for it: the entries' names, and beneath each its source, note and link."""
    if not options.sources:
        return ""
    wrap = textwrap.TextWrapper(88, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    lines = []
    for row in rows:
        link = row.get("link") and f"Link: {scaled(row['link'], 'byte/s')} one way."
        lines += [row["name"], *map(wrap.fill, filter(None, (row["source"], row.get("note"), link)))]
    return "\n".join(lines)
