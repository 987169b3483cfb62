"""The command line: which operators of a model are memory-bound on a card, and what a step costs."""

import argparse
import difflib
import io
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from .analysis import (
    Report,
    Roofs,
    analyse,
    crossings,
    first_batch,
    first_context,
    first_query_tokens,
    largest_batch,
    largest_context,
    sweep,
)
from .catalog import ACCELERATORS, MODELS, Accelerator, read_accelerators, read_models
from .checks import check_whole
from .measured import DTYPES, NOISY, Measurement, Results, read_results, stored_results
from .model import Model
from .precision import WIDTHS, Precision, width_of
from .roofline import gemm_limit, regime
from .tables import Column, csv_table, scaled, significant, text_table

PROGRAM = "roofline-calc"
PAINT = {"memory-bound": "34", "compute-bound": "33"}  # blue and yellow; the words say the same
GIB = 2**30

DESCRIPTION = "Which operators of a model are memory-bound on a card, and what a step costs at the very least."
EXAMPLES = """\
examples:
  roofline-calc ops --model qwen2.5-7b --hardware rtx-4090 --batch 32 --context 2048
  roofline-calc ops --phase prefill --context 4096 --tokens 512     the last chunk of a long prompt
  roofline-calc ops --context 2048,500,8000                         sequences of different lengths
  roofline-calc ops --weights int4-g128 --kv fp8                    quantised weights and KV cache
  roofline-calc sweep --over batch --model llama-3.1-70b --hardware h100-sxm --tp 4
  roofline-calc cross --model path/to/config.json --hardware my.toml
  roofline-calc compare path/to/results.json                        what gpu_lab.py measured, beside the prediction
  roofline-calc ops --json | python -m json.tool
"""


class RefusedError(Exception):
    """What the user asked cannot be done; the message is one line."""


def _nearest(word: str, known: Iterable[str]) -> str:
    """A hint at the known word that was probably meant."""
    found = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.4)
    return f"; did you mean {found[0]!r}?" if found else ""


class Parser(argparse.ArgumentParser):
    """argparse, but wrong input is one line on stderr."""

    def error(self, message: str) -> NoReturn:
        """Refuse wrong input without printing the usage."""
        raise RefusedError(message)

    def option_strings(self) -> list[str]:
        """All options, as they are typed."""
        return [word for action in self._actions for word in action.option_strings]


def _one_of(*words: str) -> Callable[[str], str]:
    def parse(word: str) -> str:
        if word in words:
            return word
        raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(words)}{_nearest(word, words)}")

    return parse


def _whole(word: str) -> int:
    try:
        return int(word.replace("_", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number") from None


def _wholes(word: str) -> list[int]:
    return [_whole(part) for part in word.split(",")]


def _width(word: str) -> float:
    try:
        return width_of(word)
    except ValueError:
        hint = _nearest(word.partition("-")[0], WIDTHS)
        known = ", ".join(WIDTHS)
        raise argparse.ArgumentTypeError(f"{word!r} is none of {known}, or one with a group: int4-g128{hint}") from None


def _pick(word: str, known: Mapping[str, Any], read: Callable[[str], Mapping[str, Any]], what: str) -> Any:
    """An entry of the catalogue, or of a file: my.toml, or my.toml:name where it has several."""
    if word in known:
        return known[word]
    path, colon, name = word.rpartition(":") if not Path(word).is_file() else (word, "", "")
    if not colon:
        path, name = word, ""
    if Path(path).suffix not in (".toml", ".json"):
        command = "models" if what == "model" else what
        raise RefusedError(f"{what} {word!r} is unknown{_nearest(word, known)} (list them: {PROGRAM} {command})")
    entries = read(path)
    if name:
        if name not in entries:
            raise RefusedError(f"{path} has no {name!r}{_nearest(name, entries)}")
        return entries[name]
    if len(entries) != 1:
        raise RefusedError(f"{path} has {len(entries)} entries: name one, {path}:{next(iter(entries), 'NAME')}")
    return next(iter(entries.values()))


def _model(word: str) -> Model:
    def read(path: str) -> Mapping[str, Model]:
        return {"": Model.from_config(path)} if path.endswith(".json") else read_models(path)

    if Path(word).is_dir():
        word = str(Path(word) / "config.json")
    picked: Model = _pick(word, MODELS, read, "model")
    return picked


def _accelerator(word: str) -> Accelerator:
    picked: Accelerator = _pick(word, ACCELERATORS, read_accelerators, "hardware")
    return picked


# ------------------------------------------------------------------ the setting of a question


class Setting:
    """What the options describe: a model (or one card's share of it), a card, widths and data type."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.accelerator = _accelerator(options.hardware)
        self.model = _model(options.model).card(options.tp)
        self.dtype = options.dtype or self._usual_dtype()
        self.precision = self._precision(options)
        self.roofs = Roofs.of(self.accelerator, self.dtype)

    def _usual_dtype(self) -> str:
        wanted = ("bf16", "fp16", "fp32") if self.model.bytes_per_element == 2 else ("fp32",)
        return next((dtype for dtype in wanted if dtype in self.accelerator.peak), wanted[-1])

    def _precision(self, options: argparse.Namespace) -> Precision:
        stored, width = self.model.precision, WIDTHS[self.dtype]
        quantised = stored.weights < stored.others  # a checkpoint published so keeps its width
        precision = Precision(
            activations=width, weights=stored.weights if quantised else width, experts=stored.experts,
            kv=max(width, 2), others=max(width, 2),
        )  # fmt: skip
        if options.weights is not None:
            precision = replace(precision, weights=options.weights, experts=None)
        if options.kv is not None:
            precision = replace(precision, kv=options.kv)
        return precision

    def facts(self) -> dict[str, Any]:
        """The setting as data, for JSON."""
        widths = self.precision
        return {
            "model": self.model.name, "hardware": self.accelerator.name, "dtype": self.dtype,
            "bytes_per_element": {
                "activations": widths.activations, "weights": widths.weights, "experts": widths.of("experts"),
                "kv": widths.kv, "others": widths.others,
            },
            "ridge": self.roofs.linear / self.roofs.bandwidth,
            "weights_resident": self.model.weights_resident(widths),
        }  # fmt: skip

    def __str__(self) -> str:
        widths = self.precision
        bits = f"weights {8 * widths.weights:.4g} bits, KV cache {8 * widths.kv:.4g} bits"
        ridge = self.accelerator.ridge(self.dtype)
        return f"{self.model.name} on {self.accelerator.name}: {self.dtype}, {bits}; ridge point {ridge:.1f} FLOP/byte"


UNITS = {"flops": "FLOP", "bytes": "byte", "intensity": "FLOP/byte", "seconds": "s", "ridge": "FLOP/byte"}

OPERATOR_COLUMNS = (
    Column("operator", "operator"), Column("flops", "FLOPs", "FLOP", True), Column("bytes", "traffic", "byte", True),
    Column("intensity", "intensity", "FLOP/byte"), Column("regime", "regime"),
    Column("seconds", "time floor", "s", True), Column("share", "share of time", "%"),
)  # fmt: skip


def _operators(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "operator": row.operator, "flops": row.cost.flops, "bytes": row.cost.bytes, "traffic": row.cost.traffic,
            "intensity": row.cost.intensity, "regime": row.regime, "seconds": row.seconds,
            "share": 100 * report.share(row),
        }
        for row in report.rows
    ]  # fmt: skip


# ---------------------------------------------------------------------------- the commands


class Answer:
    """A command's answer: data and rows for programs; for people, a total and lines around the table as well."""

    def __init__(self, data: Any, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]],
                 above: Sequence[str] = (), below: Sequence[str] = (),
                 total: Sequence[Mapping[str, Any]] = ()) -> None:  # fmt: skip
        self.data, self.columns, self.rows = data, columns, rows
        self.above, self.below, self.total = above, below, total

    def show(self, options: argparse.Namespace) -> str:
        """The answer in the form the options ask for."""
        if options.json:
            return json.dumps(self.data, indent=2, ensure_ascii=False)
        if options.csv:
            return csv_table(self.columns, self.rows)
        paint = PAINT if _colourful() else {}
        table = text_table(self.columns, [*self.rows, *self.total], paint)
        blocks = ["\n".join(self.above), table, "\n".join(self.below)]
        return "\n\n".join(block for block in blocks if block)


def _colourful() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


Batch = dict[tuple[int, int], int]  # how many sequences have L query tokens and S tokens of context


def _batch(options: argparse.Namespace) -> Batch:
    check_whole(batch=options.batch)
    if options.tokens is not None:
        check_whole(tokens=options.tokens)
    contexts = Counter({options.context[0]: options.batch} if len(options.context) == 1 else options.context)
    if len(options.context) > 1 and options.batch not in (1, len(options.context)):
        raise RefusedError(f"--batch {options.batch}: {len(options.context)} contexts are given, one per sequence")
    for context in contexts:
        check_whole(context=context)
    return {(options.tokens or (1 if options.phase == "decode" else S), S): n for S, n in contexts.items()}


def _in_words(batch: Batch, phase: str) -> str:
    sequences, contexts = sum(batch.values()), sorted(S for _, S in batch)
    span = f"{contexts[0]:,}" if len(contexts) == 1 else f"{contexts[0]:,} to {contexts[-1]:,}"
    tokens = sum(L * n for (L, _), n in batch.items())
    plural = "sequence" if sequences == 1 else "sequences"
    return f"{phase}: {sequences:,} {plural}, context {span} tokens, {tokens:,} tokens in flight"


def ops(options: argparse.Namespace) -> Answer:
    """Every operator of one step: FLOPs, traffic, intensity, regime, time floor."""
    batch, setting = _batch(options), Setting(options)
    model, precision = setting.model, setting.precision
    tokens = sum(L * n for (L, _), n in batch.items())
    step = model.step(
        batch, fused=options.fused, traffic=options.traffic, precision=precision,
        sampled=tokens if options.phase == "decode" else None,
    )  # fmt: skip
    report = analyse(step, setting.accelerator, setting.dtype)
    total, kv = report.total, sum(model.kv_bytes([S], precision) * n for (_, S), n in batch.items())
    resident, read = model.weights_resident(precision), model.weights_read(tokens, precision)
    rows = _operators(report)
    whole = {
        "operator": "whole step", "flops": total.flops, "bytes": total.bytes, "intensity": total.intensity,
        "regime": "", "seconds": report.seconds, "share": 100.0,
    }  # fmt: skip
    memory = setting.accelerator.memory
    fits = resident + kv <= memory
    below = [
        f"weights     {_bytes(resident)} resident, {_bytes(read)} read in this step",
        f"KV cache    {_bytes(kv)}; one more token of context takes {_bytes(model.kv_bytes([1], precision))}",
        f"memory      {_bytes(resident + kv)} of {_bytes(memory)}: {'fits' if fits else 'does not fit'}",
        f"time floor  {scaled(report.seconds, 's')} with each operator under its own roof; "
        f"{scaled(report.aggregate_seconds, 's')} by the average intensity",
        f"speed       at most {significant(report.tokens_per_second(tokens))} tokens/s",
    ]
    data = setting.facts() | {
        "phase": options.phase,
        "sequences": [{"query_tokens": L, "context": S, "count": n} for (L, S), n in batch.items()],
        "units": UNITS | {"share": "%"}, "operators": rows,
        "total": {
            "flops": total.flops, "bytes": total.bytes, "intensity": total.intensity, "seconds": report.seconds,
            "aggregate_seconds": report.aggregate_seconds,
        },
        "weights_read": read, "kv_bytes": kv, "memory": memory, "fits": fits,
        "tokens_per_second": report.tokens_per_second(tokens),
    }  # fmt: skip
    above = [str(setting), _in_words(batch, options.phase)]
    return Answer(data, OPERATOR_COLUMNS, rows, above, below, total=[whole])


def _bytes(count: float) -> str:
    return f"{scaled(count, 'byte')} ({count / GIB:.4g} GiB)" if count >= 10**8 else scaled(count, "byte")


def sweep_command(options: argparse.Namespace) -> Answer:
    """Whole steps over many batches or contexts."""
    setting = Setting(options)
    model, precision = setting.model, setting.precision
    if len(options.context) > 1:
        raise RefusedError("--context: a sweep takes one; give several with --over context --values 512,1024")
    default = [2**i for i in range(11)] if options.over == "batch" else [2**i for i in range(7, 18)]
    values = options.values or default
    points = [(n, options.context[0]) if options.over == "batch" else (options.batch, n) for n in values]
    rows, data = [], []
    for batch, context, report in sweep(
        model, setting.accelerator, points, phase=options.phase, dtype=setting.dtype, fused=options.fused,
        traffic=options.traffic, precision=precision,
    ):  # fmt: skip
        total, tokens = report.total, batch * (1 if options.phase == "decode" else context)
        needed = model.weights_resident(precision) + batch * model.kv_bytes([context], precision)
        row = {
            "batch": batch, "context": context, "flops": total.flops, "bytes": total.bytes,
            "intensity": total.intensity, "seconds": report.seconds, "aggregate_seconds": report.aggregate_seconds,
            "tokens_per_second": report.tokens_per_second(tokens), "memory": needed,
            "fits": needed <= setting.accelerator.memory,
            "compute_bound": " ".join(report.compute_bound) or "none",
        }  # fmt: skip
        rows.append(row)
        data.append(row | {"compute_bound": report.compute_bound, "operators": _operators(report)})
    columns = (
        Column("batch", "batch"), Column("context", "context", "token"), Column("flops", "FLOPs", "FLOP", True),
        Column("bytes", "traffic", "byte", True), Column("intensity", "intensity", "FLOP/byte"),
        Column("seconds", "time floor", "s", True), Column("aggregate_seconds", "by average", "s", True),
        Column("tokens_per_second", "at most", "tokens/s"), Column("memory", "memory", "byte", True),
        Column("fits", "fits"), Column("compute_bound", "compute-bound operators"),
    )  # fmt: skip
    head = setting.facts() | {"phase": options.phase, "units": UNITS | {"memory": "byte"}, "points": data}
    return Answer(head, columns, rows, [str(setting), f"{options.phase}, over {options.over}"])


def cross(options: argparse.Namespace) -> Answer:
    """Where regimes turn: tokens at which each linear layer does, batch, context, query tokens; what fits."""
    check_whole(batch=options.batch)
    setting = Setting(options)
    model, precision, card, context = setting.model, setting.precision, setting.accelerator, options.context[0]
    check_whole(context=context)
    lines = model.linear_layers(options.fused) | {"lm_head": model.lm_head}
    found = crossings(model, card, dtype=setting.dtype, fused=options.fused, precision=precision)
    rows = []
    for name, crossing in found.items():
        line = lines[name]
        b_x, _, b_y = precision.operands(line.stored)
        rows.append({
            "operator": name, "K": line.K, "N": line.N, "crossing": crossing,
            "limit": gemm_limit(line.K, line.N, b_x, b_y),
        })  # fmt: skip
    common: dict[str, Any] = {"dtype": setting.dtype, "precision": precision}
    attention = next(iter(model.attention_costs({(1, 1): 1})))
    solved = {
        "decode_batch": first_batch(model, card, context, fused=options.fused, **common),
        "decode_query_tokens": first_query_tokens(model, card, context, **common),
        "prefill_context": first_context(model, card, fused=options.fused, **common),
        "prefill_attention_context": first_context(model, card, attention, fused=options.fused, **common),
        "largest_context": largest_context(model, card.memory, options.batch, precision=precision),
        "largest_batch": largest_batch(model, card.memory, context, precision=precision),
    }
    text = {name: "never" if value is None else significant(value) for name, value in solved.items()}
    below = [
        "compute-bound from",
        f"  decode at context {context:,}, the whole step by its average:  batch {text['decode_batch']}",
        f"  attention over {context:,} cached tokens:  {text['decode_query_tokens']} query tokens per sequence",
        f"  prefill of one sequence, the whole step by its average:  context {text['prefill_context']}",
        f"  prefill of one sequence, {attention}:  context {text['prefill_attention_context']}",
        f"fits in {_bytes(card.memory)} beside the weights",
        f"  batch {options.batch:,}:  context up to {text['largest_context']}",
        f"  context {context:,}:  batch up to {text['largest_batch']}",
    ]
    columns = (
        Column("operator", "linear layer"), Column("K", "K"), Column("N", "N"),
        Column("crossing", "turns at", "token", missing="never"), Column("limit", "highest intensity", "FLOP/byte"),
    )  # fmt: skip
    data = setting.facts() | {
        "context": context, "batch": options.batch, "units": {"crossing": "token", "limit": "FLOP/byte"},
        "linear_layers": rows, "first_compute_bound": solved,
    }  # fmt: skip
    return Answer(data, columns, rows, [str(setting)], below)


def _labelled(operators: Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Matrix kernels by intensity; of those so close that their labels would collide, the first bears all names."""
    matrix = ("_proj", "_absorb", "attention", "router", "lm_head")
    kernels = sorted((row["intensity"], row["operator"]) for row in operators if row["operator"].endswith(matrix))
    crowds: list[list[tuple[float, str]]] = []
    for intensity, name in kernels:
        if crowds and intensity < 1.25 * crowds[-1][0][0]:
            crowds[-1].append((intensity, name))
        else:
            crowds.append([(intensity, name)])
    return [
        ("\n".join(name for _, name in crowd) if i == 0 else "", intensity)
        for crowd in crowds for i, (intensity, _) in enumerate(crowd)
    ]  # fmt: skip


def plot(options: argparse.Namespace) -> Answer:
    """The roofline chart with the matrix kernels of one step, as an SVG or PNG file."""
    figure = _figure("--output", options.output, (".svg", ".png"))
    setting, answer = Setting(options), ops(options)
    points = [figure.Point(label, intensity) for label, intensity in _labelled(answer.data["operators"])]
    words = {
        "lang": "en", "title": f"Roofline of {setting.accelerator.name}",
        "intensity": "arithmetic intensity, FLOP/byte",
        "performance": "attainable performance, TFLOP/s", "memory-bound": "memory-bound",
        "compute-bound": "compute-bound", "ridge": "ridge point {:.0f}",
    }  # fmt: skip
    drawing = points, setting.roofs.linear, setting.roofs.bandwidth, words
    if options.output.endswith(".png"):
        Path(options.output).write_bytes(figure.roofline_png(*drawing))
    else:
        Path(options.output).write_text(figure.roofline_svg(*drawing), encoding="utf-8")
    answer.below = [*answer.below, f"chart       {options.output}"]
    return answer


def _figure(option: str, output: str, kinds: tuple[str, ...] = (".svg",)) -> Any:
    """The module that draws, an optional extra: it needs matplotlib."""
    try:
        figure = import_module(".figure", __package__)
    except ImportError as error:
        raise RefusedError(f"plot needs matplotlib: pip install 'roofline-calc[figure]' ({error})") from None
    if Path(output).suffix not in kinds:
        raise RefusedError(f"{option} {output}: must end in {' or '.join(kinds)}")
    return figure


def _flags(results: Results, measured: Measurement, reused: Measurement | None) -> str:
    """What a reader must know before believing a row."""
    said = []
    for of_what, one in (("", measured), (":reused", reused)):
        if one and results.from_cache(one):
            said.append(f"cache{of_what}")
        if one and one.spread > NOISY:
            said.append(f"noisy{of_what}")
    return " ".join(said)


def _machines(folder: str) -> Answer:
    """A row for every machine of a folder: its roofs, and how close the lab came to them."""
    rows = []
    for name, results in stored_results(folder).items():
        shares: dict[str, list[float]] = {"memory-bound": [], "compute-bound": []}
        for measured in results.of("gemm-rotated"):
            shares[regime(measured.cost.intensity, results.ridge)].append(100 * results.fraction(measured))
        reused = [measured.size for measured in results.of("gemm-reused")]
        rows.append({
            "name": name, "machine": results.machine, "dtype": results.dtype, "bandwidth": results.bandwidth,
            "peak": results.peak, "ridge": results.ridge,
            "memory": max(shares["memory-bound"], default=None),
            "compute": max(shares["compute-bound"], default=None),
            "reuse": results.reuse_gain(min(reused)) if reused else None,
            "date": results.provenance["date"][:10], "provenance": results.provenance,
        })  # fmt: skip
    columns = (
        Column("name", "results"), Column("dtype", "type"), Column("bandwidth", "B", "byte/s", True),
        Column("peak", "P", "FLOP/s", True), Column("ridge", "I*", "FLOP/byte"),
        Column("memory", "best under I·B", "%"), Column("compute", "best under P", "%"),
        Column("reuse", "one weight", "×"), Column("date", "date"), Column("machine", "machine"),
    )  # fmt: skip
    return Answer(rows, columns, rows)


def compare(options: argparse.Namespace) -> Answer:
    """Measurements of the lab (a file of gpu_lab.py --json, or a folder of them) beside the prediction."""
    if Path(options.results).is_dir():
        if options.hardware or options.plot:
            raise RefusedError("--hardware and --plot take one results file, not a folder")
        return _machines(options.results)
    results, roofs = read_results(options.results), "measured"
    if options.hardware:
        card, dtype = _accelerator(options.hardware), DTYPES[results.dtype]
        results, roofs = replace(results, peak=card.peak_of(dtype), bandwidth=card.bandwidth), f"{card.name}'s"
    reused = {measured.size: measured for measured in results.of("gemm-reused")}
    rows = []
    for series, operator in (("gemm-rotated", "GEMM"), ("attention-decode", "attention")):
        for measured in results.of(series):
            again = reused.get(measured.size) if operator == "GEMM" else None
            rows.append({
                "operator": operator, "size": measured.size, "intensity": measured.cost.intensity,
                "regime": regime(measured.cost.intensity, results.ridge), "predicted": results.predicted(measured),
                "measured": measured.performance, "fraction": 100 * results.fraction(measured),
                "bandwidth": measured.bandwidth, "reused": again.bandwidth if again else None,
                "flags": _flags(results, measured, again),
            })  # fmt: skip
    columns = (
        Column("operator", "operator"), Column("size", "M or S"), Column("intensity", "intensity", "FLOP/byte"),
        Column("regime", "regime"), Column("predicted", "predicted", "FLOP/s", True),
        Column("measured", "measured", "FLOP/s", True), Column("fraction", "share of it", "%"),
        Column("bandwidth", "traffic", "byte/s", True), Column("reused", "weight reused", "byte/s", True),
        Column("flags", "flags"),
    )  # fmt: skip
    source = results.provenance
    above = [
        f"{results.machine}: {results.dtype}, torch {source['torch']}, {source['date']}",
        f"{roofs} roofs: B = {scaled(results.bandwidth, 'byte/s')}, P = {scaled(results.peak, 'FLOP/s')}; "
        f"ridge point {results.ridge:.1f} FLOP/byte",
    ]
    if not results.complete:
        above.append("incomplete: the run was cut short")
    data = {
        "provenance": source, "complete": results.complete, "dtype": results.dtype, "roofs": roofs,
        "peak": results.peak, "ceiling_bandwidth": results.bandwidth, "ridge": results.ridge,
        "units": {"size": "token", "intensity": "FLOP/byte", "predicted": "FLOP/s", "measured": "FLOP/s",
                  "fraction": "%", "bandwidth": "byte/s", "reused": "byte/s"},
        "points": rows,
    }  # fmt: skip
    below = []
    if options.plot:
        figure = _figure("--plot", options.plot)
        Path(options.plot).write_text(figure.measured_svg(results, figure.SYMBOLS), encoding="utf-8")
        below = [f"chart       {options.plot}"]
    return Answer(data, columns, rows, above, below)


def models(options: argparse.Namespace) -> Answer:
    """The models of the catalogue."""
    rows = [
        {
            "name": key, "params": model.params, "active": model.params_touched(1), "layers": model.layers,
            "n_q": model.n_q, "n_kv": model.n_kv, "weights": model.weight_bytes, "kv": model.kv_bytes_per_token,
            "source": model.source,
        }
        for key, model in MODELS.items()
    ]  # fmt: skip
    columns = (
        Column("name", "model"), Column("params", "parameters", "", True),
        Column("active", "read per token", "", True), Column("layers", "layers"), Column("n_q", "query heads"),
        Column("n_kv", "KV heads"), Column("weights", "weights", "byte", True), Column("kv", "KV per token", "byte"),
    )  # fmt: skip
    return Answer(rows, columns, rows)


def hardware(options: argparse.Namespace) -> Answer:
    """The accelerators of the catalogue: dense peaks, bandwidth, ridge point, memory."""
    rows = []
    for key, card in ACCELERATORS.items():
        wide = next(dtype for dtype in ("bf16", "fp16") if dtype in card.peak)
        rows.append({
            "name": key, "wide": card.peak[wide], "fp8": card.peak.get("fp8"), "int8": card.peak.get("int8"),
            "bandwidth": card.bandwidth, "ridge": card.ridge(wide), "memory": card.memory,
            "last_level_cache": card.last_level_cache, "peak": card.peak, "source": card.source,
        })  # fmt: skip
    columns = (
        Column("name", "hardware"), Column("wide", "BF16 or FP16", "FLOP/s", True),
        Column("fp8", "FP8", "FLOP/s", True), Column("int8", "INT8", "OP/s", True),
        Column("bandwidth", "bandwidth", "byte/s", True), Column("ridge", "ridge point", "FLOP/byte"),
        Column("memory", "memory", "byte", True), Column("last_level_cache", "last-level cache", "byte", True),
    )  # fmt: skip
    return Answer(rows, columns, rows)


# ------------------------------------------------------------------------------ the parser


def _common() -> Parser:
    common = Parser(add_help=False)
    form = common.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: everything, in base units")
    form.add_argument("--csv", action="store_true", help="for programs: the table, in base units")
    return common


def _setting() -> Parser:
    setting = Parser(add_help=False)
    what = setting.add_argument_group("what runs where")
    what.add_argument("--model", default="qwen2.5-7b", metavar="NAME|FILE",
                      help="a name from `models`, a Hugging Face config.json or its folder, or my.toml "
                           "(default: %(default)s)")
    what.add_argument("--hardware", default="rtx-4090", metavar="NAME|FILE",
                      help="a name from `hardware`, or my.toml, my.toml:NAME (default: %(default)s)")
    what.add_argument("--tp", type=_whole, default=1, metavar="T",
                      help="tensor parallelism: the share of one of T cards (default: 1)")
    step = setting.add_argument_group("the step")
    step.add_argument("--phase", type=_one_of("decode", "prefill"), default="decode", metavar="decode|prefill",
                      help="one query token per sequence, or all of them (default: decode)")
    step.add_argument("--batch", type=_whole, default=1, metavar="N", help="sequences (default: 1)")
    step.add_argument("--context", type=_wholes, default=[2048], metavar="S[,S...]",
                      help="tokens of context with the step's own, for all or per sequence (default: 2048)")
    step.add_argument("--traffic", type=_one_of("q+kv+o", "kv-only"), default="q+kv+o", metavar="q+kv+o|kv-only",
                      help="what attention moves: all of it, or K and V alone (default: q+kv+o)")
    step.add_argument("--fused", action="store_true", help="q, k, v in one GEMM, gate and up in another, as engines do")
    widths = setting.add_argument_group("data types", f"one of {', '.join(WIDTHS)}")
    widths.add_argument("--dtype", type=_one_of(*WIDTHS), metavar="TYPE",
                        help="in which linear layers multiply (default: the model's, bf16); fp8 and int8 mean W8A8")
    widths.add_argument("--weights", type=_width, metavar="TYPE[-gN[-zero]]",
                        help="of the layers' weights: int4-g128 has a 2-byte scale per 128, -zero a zero point as well")
    widths.add_argument("--kv", type=_width, metavar="TYPE", help="of the KV cache")
    return setting


COMMANDS: dict[str, Callable[[argparse.Namespace], Answer]] = {
    "ops": ops, "sweep": sweep_command, "cross": cross, "plot": plot, "compare": compare, "models": models,
    "hardware": hardware,
}  # fmt: skip


def _parser() -> tuple[Parser, dict[str, Parser]]:
    parser = Parser(prog=PROGRAM, description=DESCRIPTION, epilog=EXAMPLES, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    parsers = {}
    for name, function in COMMANDS.items():
        parents = [_common()] if name in ("compare", "models", "hardware") else [_setting(), _common()]
        parsers[name] = command = commands.add_parser(
            name, help=function.__doc__, description=function.__doc__, parents=parents, allow_abbrev=False,
            epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        if name in ("ops", "plot"):
            command.add_argument("--tokens", type=_whole, metavar="L",
                                 help="query tokens per sequence: drafted tokens in decode, a chunk in prefill")
        if name == "sweep":
            command.add_argument("--over", type=_one_of("batch", "context"), default="batch",
                                 metavar="batch|context", help="what varies (default: batch)")
            command.add_argument("--values", type=_wholes, metavar="N[,N...]",
                                 help="its values (default: powers of two)")
        if name == "compare":
            command.add_argument("results", metavar="results.json",
                                 help="what gpu_lab.py --json has written; of a folder, a line for each machine")
            command.add_argument("--hardware", metavar="NAME|FILE",
                                 help="predict from a spec sheet (see `hardware`) instead of the measured roofs")
            command.add_argument("--plot", metavar="FILE", help="draw the roofs and the measurements, .svg")
        if name == "plot":
            command.add_argument("--output", default="roofline.svg", metavar="FILE", help="(default: %(default)s)")
    return parser, parsers


def _answer(arguments: list[str]) -> str:
    parser, parsers = _parser()
    first = next(iter(arguments), "")
    if first and not first.startswith("-") and first not in COMMANDS:
        raise RefusedError(f"command {first!r} is none of {', '.join(COMMANDS)}{_nearest(first, COMMANDS)}")
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        hint = _nearest(unknown[0], parsers[options.command].option_strings())
        raise RefusedError(f"{unknown[0]!r} is no option of {options.command}{hint}")
    return COMMANDS[options.command](options).show(options)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status: 0, or 2 for wrong input."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without µ shows something else instead
    try:
        print(_answer(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"{PROGRAM}: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except OverflowError:
        print(f"{PROGRAM}: a number is too large", file=sys.stderr)
        return 2
    except (RefusedError, ValueError) as error:
        print(f"{PROGRAM}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
