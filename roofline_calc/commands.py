"""The commands that count: a step's operators, sweeps, where regimes turn, the chart."""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .analysis import (
    Report,
    analyse,
    crossings,
    first_batch,
    first_context,
    first_query_tokens,
    largest_batch,
    largest_context,
    sweep,
)
from .answer import Answer, figure_module
from .checks import check_whole
from .links import link_data, link_lines
from .model import Model
from .roofline import gemm_limit
from .setting import RefusedError, Setting
from .tables import Column, scaled, significant

GIB = 2**30
UNITS = {"flops": "FLOP", "bytes": "byte", "intensity": "FLOP/byte", "seconds": "s", "ridge": "FLOP/byte"}

OPERATOR_COLUMNS = (
    Column("operator", "operator"), Column("flops", "FLOPs", "FLOP", True), Column("bytes", "traffic", "byte", True),
    Column("intensity", "intensity", "FLOP/byte"), Column("regime", "regime"),
    Column("seconds", "time", "s", True), Column("share", "share of time", "%"),
)


def _operators(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "operator": row.operator, "flops": row.cost.flops, "bytes": row.cost.bytes, "traffic": row.cost.traffic,
            "intensity": row.cost.intensity, "regime": row.regime, "seconds": row.seconds,
            "share": 100 * report.share(row),
        }
        for row in report.rows
    ]


Batch = dict[tuple[int, int], int]  # how many sequences have L query tokens and S tokens of context


def _batch(options: argparse.Namespace, batch: int) -> Batch:
    check_whole(batch=batch)
    if options.tokens is not None:
        check_whole(tokens=options.tokens)
    contexts = Counter({options.context[0]: batch} if len(options.context) == 1 else options.context)
    if len(options.context) > 1 and options.batch not in (None, 1, len(options.context)):
        raise RefusedError(f"--batch {options.batch}: {len(options.context)} contexts are given, one per sequence")
    for context in contexts:
        check_whole(context=context)
    return {(options.tokens or (1 if options.phase == "decode" else S), S): n for S, n in contexts.items()}


def _in_words(batch: Batch, phase: str, groups: int) -> str:
    sequences, contexts = sum(batch.values()), sorted(S for _, S in batch)
    span = f"{contexts[0]:,}" if len(contexts) == 1 else f"{contexts[0]:,} to {contexts[-1]:,}"
    tokens = sum(L * n for (L, _), n in batch.items())
    plural = "sequence" if sequences == 1 else "sequences"
    shared = f" in {groups} groups of as many" if groups > 1 else ""
    return f"{phase}: {sequences:,} {plural}, context {span} tokens, {tokens:,} tokens in flight{shared}"


def ops(options: argparse.Namespace) -> Answer:
    """Every operator of one step: FLOPs, traffic, intensity, regime, time at its own roof; and the step's times."""
    setting = Setting(options)
    sequences = _batch(options, setting.batch)
    model, precision = setting.model, setting.precision
    batch = {pair: setting.of_group(n) for pair, n in sequences.items()}
    tokens = sum(L * n for (L, _), n in batch.items())
    step = model.step(
        batch, fused=options.fused, traffic=options.traffic, elementwise=options.elementwise,
        sampled=tokens if options.phase == "decode" else None, **setting.how,
    )
    report, link = analyse(step, setting.accelerator, setting.dtype), setting.accelerator.link
    exchanges, served = model.exchanges(tokens, precision), tokens * setting.groups
    total, kv = report.total, sum(model.kv_bytes([S], precision) * n for (_, S), n in batch.items())
    resident, state = model.weight_bytes(precision), model.state_bytes(sum(batch.values()), precision)
    rows = _operators(report)
    whole = {
        "operator": "all, one by one", "flops": total.flops, "bytes": total.bytes, "intensity": total.intensity,
        "regime": "", "seconds": report.kernel_by_kernel, "share": 100.0,
    }
    memory = setting.accelerator.memory
    fits = resident + kv + state <= memory
    below = [
        f"weights           {_bytes(resident)} resident, {_bytes(step.compulsory['weights'])} read in this step",
        f"KV cache          {_bytes(kv)}; one more token of context takes {_bytes(model.kv_bytes([1], precision))}",
        *([f"state             {_bytes(state)}, whatever the context"] if state else []),
        f"memory            {_bytes(resident + kv + state)} of {_bytes(memory)}: {'fits' if fits else 'does not fit'}",
        *_times(report, served), *link_lines(exchanges, setting.cards, link, report, served),
        *_caveats(model, options),
    ]
    data = setting.facts() | {
        "phase": options.phase,
        "sequences": [{"query_tokens": L, "context": S, "count": n} for (L, S), n in sequences.items()],
        "units": UNITS | {"share": "%", "compulsory": "byte"}, "operators": rows,
        "total": {"flops": total.flops, "bytes": total.bytes, "intensity": total.intensity} | _seconds(report),
        "compulsory": step.compulsory, "kv_bytes": kv, "state_bytes": state, "memory": memory, "fits": fits,
        "tokens_per_second": {name: served / seconds for name, seconds in _seconds(report).items()},
        "links": link_data(exchanges, link, report),
    }
    above = [str(setting), _in_words(sequences, options.phase, setting.groups)]
    return Answer(data, OPERATOR_COLUMNS, rows, above, below, total=[whole])


def _seconds(report: Report) -> dict[str, float]:
    """The three times of a step."""
    return {
        "lower_bound": report.lower_bound, "kernel_by_kernel": report.kernel_by_kernel,
        "no_overlap": report.no_overlap,
    }


def _times(report: Report, tokens: int) -> list[str]:
    bound, one_by_one, apart = _seconds(report).values()
    held = "arithmetic at peak" if report.compute_seconds >= report.memory_seconds else "compulsory traffic"
    speeds = [f"{significant(tokens / seconds)} tokens/s" for seconds in (bound, one_by_one, apart)]
    return [
        f"lower bound       {scaled(bound, 's')}, at most {speeds[0]}: {held}; nothing beats it",
        f"kernel by kernel  {scaled(one_by_one, 's')}, {speeds[1]}: one after the other, each at its own roof",
        f"no overlap        {scaled(apart, 's')}, {speeds[2]}: arithmetic and traffic of each kernel in turn",
    ]


def _caveats(model: Model, options: argparse.Namespace) -> list[str]:
    """What the times take for granted, or leave out."""
    words = []
    if model.moe:
        words.append("experts           as many as evenly routed tokens touch; skewed routing reads fewer")
    words += [f"left out          {sentence}" for sentence in model.left_out]
    if not options.elementwise:
        words.append("left out          element-wise operators, which engines fuse (--elementwise shows them)")
    return words


def _bytes(count: float) -> str:
    return f"{scaled(count, 'byte')} ({count / GIB:.4g} GiB)" if count >= 10**8 else scaled(count, "byte")


def sweep_command(options: argparse.Namespace) -> Answer:
    """Whole steps over many batches or contexts."""
    setting = Setting(options)
    model, precision = setting.model, setting.precision
    if len(options.context) > 1:
        raise RefusedError("--context: a sweep takes one; give several with --over context --values 512,1024")
    default = [setting.groups * 2**i for i in range(11)] if options.over == "batch" else [2**i for i in range(7, 18)]
    values = options.values or default
    points = [(n, options.context[0]) if options.over == "batch" else (setting.batch, n) for n in values]
    check_whole(batch=setting.batch)
    points = [(setting.of_group(batch), context) for batch, context in points]
    rows, data = [], []
    for batch, context, report in sweep(
        model, setting.accelerator, points, phase=options.phase, dtype=setting.dtype, fused=options.fused,
        traffic=options.traffic, elementwise=options.elementwise, **setting.how,
    ):
        total, tokens = report.total, batch * (1 if options.phase == "decode" else context)
        needed = model.weight_bytes(precision) + batch * model.cache_bytes([context], precision)
        row = {
            "batch": batch * setting.groups, "context": context, "flops": total.flops, "bytes": total.bytes,
            "intensity": total.intensity, **_seconds(report),
            "tokens_per_second": tokens * setting.groups / report.lower_bound, "memory": needed,
            "fits": needed <= setting.accelerator.memory,
            "compute_bound": " ".join(report.compute_bound) or "none",
        }
        rows.append(row)
        data.append(row | {"compute_bound": report.compute_bound, "operators": _operators(report)})
    columns = (
        Column("batch", "batch"), Column("context", "context", "token"), Column("flops", "FLOPs", "FLOP", True),
        Column("bytes", "traffic", "byte", True), Column("intensity", "intensity", "FLOP/byte"),
        Column("lower_bound", "lower bound", "s", True), Column("kernel_by_kernel", "kernel by kernel", "s", True),
        Column("tokens_per_second", "at most", "tokens/s"), Column("memory", "memory", "byte", True),
        Column("fits", "fits"), Column("compute_bound", "compute-bound operators"),
    )
    head = setting.facts() | {"phase": options.phase, "units": UNITS | {"memory": "byte"}, "points": data}
    return Answer(head, columns, rows, [str(setting), f"{options.phase}, over {options.over}"])


def cross(options: argparse.Namespace) -> Answer:
    """Where regimes turn: tokens at which each linear layer does, batch, context, query tokens; what fits."""
    setting = Setting(options)
    check_whole(batch=setting.batch)
    model, precision, card, context = setting.model, setting.precision, setting.accelerator, options.context[0]
    check_whole(context=context)
    lines = model.gemms(options.fused)
    found = crossings(model, card, dtype=setting.dtype, fused=options.fused, precision=precision)
    rows = []
    for name, crossing in found.items():
        line = lines[name]
        b_x, _, b_y = line.operands(precision)
        rows.append({
            "operator": name, "K": line.K, "N": line.N, "crossing": crossing and crossing * setting.groups,
            "limit": gemm_limit(line.K, line.N, b_x / line.per_input, b_y),
        })
    common: dict[str, Any] = {"dtype": setting.dtype, "precision": precision}
    attention = next(name for name in model.attention_costs({(2, 2): 1}) if name.endswith("attention"))
    batch = first_batch(model, card, context, fused=options.fused, **common)
    solved = {
        "decode_batch": batch and batch * setting.groups,
        "decode_query_tokens": first_query_tokens(model, card, context, **common),
        "prefill_context": first_context(model, card, fused=options.fused, **common),
        "prefill_attention_context": first_context(model, card, attention, fused=options.fused, **common),
        "largest_context": largest_context(model, card.memory, setting.of_group(setting.batch), precision=precision),
        "largest_batch": setting.groups * largest_batch(model, card.memory, context, precision=precision),
    }
    text = {name: "never" if value is None else significant(value) for name, value in solved.items()}
    below = [
        "compute-bound from",
        f"  decode at context {context:,}, the step's lower bound:  batch {text['decode_batch']}",
        f"  attention over {context:,} cached tokens:  {text['decode_query_tokens']} query tokens per sequence",
        f"  prefill of one sequence, the step's lower bound:  context {text['prefill_context']}",
        f"  prefill of one sequence, {attention}:  context {text['prefill_attention_context']}",
        f"fits in {_bytes(card.memory)} beside the weights",
        f"  batch {setting.batch:,}:  context up to {text['largest_context']}",
        f"  context {context:,}:  batch up to {text['largest_batch']}",
    ]
    columns = (
        Column("operator", "linear layer"), Column("K", "K"), Column("N", "N"),
        Column("crossing", "turns at", "token", missing="never"), Column("limit", "highest intensity", "FLOP/byte"),
    )
    data = setting.facts() | {
        "context": context, "batch": setting.batch, "units": {"crossing": "token", "limit": "FLOP/byte"},
        "linear_layers": rows, "first_compute_bound": solved,
    }
    return Answer(data, columns, rows, [str(setting)], below)


def labelled(operators: Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
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
    ]


def plot(options: argparse.Namespace) -> Answer:
    """The roofline chart with the matrix kernels of one step, as an SVG or PNG file."""
    figure = figure_module("--output", options.output, (".svg", ".png"))
    setting, answer = Setting(options), ops(options)
    points = [figure.Point(label, intensity) for label, intensity in labelled(answer.data["operators"])]
    words = {
        "lang": "en", "title": f"Roofline of {setting.accelerator.name}",
        "intensity": "arithmetic intensity, FLOP/byte",
        "performance": "attainable performance, TFLOP/s", "memory-bound": "memory-bound",
        "compute-bound": "compute-bound", "ridge": "ridge point {:.0f}",
    }
    drawing = points, setting.accelerator.peak_of(setting.dtype), setting.accelerator.bandwidth, words
    if options.output.endswith(".png"):
        Path(options.output).write_bytes(figure.roofline_png(*drawing))
    else:
        Path(options.output).write_text(figure.roofline_svg(*drawing), encoding="utf-8")
    answer.below = [*answer.below, f"chart             {options.output}"]
    return answer
