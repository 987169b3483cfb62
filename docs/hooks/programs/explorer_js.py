"""The explorer's arithmetic as JavaScript, and the catalogue as data. Run by the build in a subprocess; prints JSON:

    {"calc.js": …, "presets.json": …}

The real functions of roofline_calc are called on symbols (see `symbolic`), so that a formula changed there changes the
explorer. Models of one structure (dense, mixture of experts, latent attention, sliding window) share one function,
whose sizes are symbols: it serves the reader's own shapes as well.
"""

import json
from collections import ChainMap
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any

from states import DEFAULTS, KNOB, LIMITS, MASKS, PROGRAM, SHAPE_FIELDS, TRAFFICS, WIDTH_FIELDS
from symbolic import TraceError, flag, function, positive, trace, whole

from roofline_calc import (
    ACCELERATORS,
    MODELS,
    WIDTHS,
    Accelerator,
    Cost,
    Model,
    Precision,
    Report,
    Roofs,
    Row,
    attainable,
    ridge_point,
)
from roofline_calc.attending import FORMS
from roofline_calc.figure import extent

# A whole model, whose widths are the explorer's own; whether it ties its embeddings changes no step.
UNUSED = ("cards", "kv_width", "bytes_per_element", "tied_embeddings", "rope_dim", "nope_layers")
STRUCTURE = (  # flags that decide which operators there are
    "chunked", "moe.shared_gate", "output_gate", "gated_ffn", "layer_scalar", "moe.beside_dense",
)
# Layers of a further kind make a structure that one or two models have: the chunks of Llama 4 alone would double
# calc.js and the time that it takes to make. The command line has these models.
LEFT_OUT = ("chunked", "index", "mixer", "output_gate", "global_heads", "shared_cache", "layer_inputs", "ffn_layers")
EXPLORED = {key: model for key, model in MODELS.items() if not any(getattr(model, name) for name in LEFT_OUT)}


def sizes_of(value: Any, prefix: str = "") -> dict[str, int]:
    """Sizes by which a model differs from others of its structure, by path: "hidden", "moe.experts"; a flag is a bool.

    A size of 0, like None, is structure.
    """
    found: dict[str, int] = {}
    for field in fields(value):
        path, item = prefix + field.name, getattr(value, field.name)
        if hasattr(item, "__dataclass_fields__"):
            found |= sizes_of(item, f"{path}.")
        elif isinstance(item, int) and (item or isinstance(item, bool)) and path not in UNUSED + STRUCTURE:
            found[path] = item
    return found


def structure_of(model: Model) -> str:
    """Models of the same structure have the same operators."""
    words = ["mla" if model.mla else "", "moe" if model.moe else "dense"]
    if model.mla and model.mla.q_rank:
        words.append("q_rank")
    if model.moe:
        words += ["shared" * bool(model.moe.shared_intermediate), "dense_layers" * bool(model.moe.dense_layers)]
        words.append("shared_gate" * model.moe.shared_gate)
    if model.window:
        words.append("all_windowed" if model.window_layers == model.layers else "windowed")
    return " ".join(filter(None, words))


def symbolic(model: Model) -> Model:
    """A model of the same structure whose sizes are symbols."""
    symbols = {
        path: (flag if isinstance(size, bool) else whole)(path.replace(".", "_"))
        for path, size in sizes_of(model).items()
    }
    if model.window and model.window_layers == model.layers:
        symbols["window_layers"] = symbols["layers"]

    def filled(value: Any, prefix: str = "") -> Any:
        return replace(value, **{
            field.name: symbols[prefix + field.name] for field in fields(value) if prefix + field.name in symbols
        })

    # Nested parts first, and all at once: replacing one size after another would compare symbols with numbers.
    parts = {name: filled(part, f"{name}.") for name in ("moe", "mla") if (part := getattr(model, name))}
    top = {path: symbol for path, symbol in symbols.items() if "." not in path}
    return replace(model, **top, **parts)


def _functions(example: Model) -> dict[str, str]:
    """What the explorer asks about models of one structure."""
    structure, names = structure_of(example), _operators(example)
    known = {whole("layers") > whole("window_layers"): True}  # where not all layers are windowed, some are not
    model = trace(lambda: symbolic(example), known)
    batch, context, query_tokens = whole("batch"), whole("context"), whole("query_tokens")
    activations, ridge = positive("activations"), positive("ridge")
    widths = Precision(weights=positive("weights"), activations=activations, kv=positive("kv"), others=activations)
    roofs = Roofs(positive("linear"), positive("rest"), positive("bandwidth"))
    sequences = {(query_tokens, context): batch}
    tokens = batch * query_tokens

    def written(name: str, call: Callable[[], Any]) -> str:
        return function(f"{name} ({structure})", call, known)

    def shown(costs: dict[str, Cost]) -> dict[str, Any]:
        return {
            name: {"flops": cost.flops, "bytes": cost.bytes, "peak": roofs.peak(name)} for name, cost in costs.items()
        }

    def attention(mask: str, traffic: str) -> dict[str, Any]:
        return shown(model.attention_costs(sequences, mask=mask, traffic=traffic, precision=widths))

    def lower_bound(mask: str) -> Any:
        step = model.step(sequences, mask=mask, precision=widths)
        rows = tuple(Row(name, cost, "", 0) for name, cost in step.items())
        return Report(rows, roofs, sum(step.compulsory.values()), step.choices).lower_bound

    def step() -> dict[str, Any]:
        rows = tuple(Row(name, Cost(0, {}), "", positive(name)) for name in names)
        report = Report(rows, roofs, 0)
        return {
            "kernel_by_kernel": report.kernel_by_kernel, "share": {row.operator: report.share(row) for row in rows},
        }

    return {
        "absent": json.dumps(dict.fromkeys(names, 0)),
        "linear": written("Model.linear_costs", lambda: shown(model.linear_costs(tokens, precision=widths))),
        "head": written("Model.lm_head_cost", lambda: shown({"lm_head": model.lm_head_cost(batch, widths)})),
        "attention": _object({
            f"{mask} {traffic}": written("Model.attention_costs", partial(attention, mask, traffic))
            for mask in MASKS for traffic in TRAFFICS
        }),
        "lower_bound": _object({
            mask: written("Report.lower_bound", partial(lower_bound, mask)) for mask in MASKS
        }),
        "step": written("Report", step),
        "crossings": _object({
            name: written(f"Linear.crossing of {name}", partial(line.crossing, ridge, widths))
            for name, line in model.gemms().items()
        }),
    }


def _operators(model: Model) -> list[str]:
    """All kernels that a step of a model may have: with latent attention, those of both forms."""
    forms = FORMS if model.mla else (None,)
    return list(dict(ChainMap(*(model.step({(1, 1): 1}, mla=form) for form in reversed(forms)))))


def _object(members: dict[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {code}" for name, code in members.items()) + "}"


def structures() -> dict[str, Model]:
    """One model of each structure in the catalogue, as an example."""
    found: dict[str, Model] = {}
    for model in EXPLORED.values():
        found.setdefault(structure_of(model), model)
    return found


def calc_js() -> str:
    """The module calc.js.

    Raises:
        TraceError: a function cannot be traced; says which.
    """
    flops, moved, peak, bandwidth = map(positive, ("flops", "bytes", "peak", "bandwidth"))

    def verdict() -> dict[str, Any]:
        cost = Cost(flops, {"all": moved})
        row = Roofs(peak, peak, bandwidth).row("", cost)
        return {
            "intensity": cost.intensity, "regime": row.regime, "seconds": row.seconds,
            "ridge": ridge_point(peak, bandwidth),
        }

    def roof() -> Any:
        return attainable(positive("intensity"), peak, bandwidth)

    def tokens() -> Any:
        return whole("batch") * whole("query_tokens")

    def rate() -> Any:
        return whole("tokens") / positive("seconds")

    lines = ["// Generated by the build from roofline_calc: docs/hooks/programs/explorer_js.py."]
    for name, call in {"verdict": verdict, "attainable": roof, "tokens": tokens, "rate": rate}.items():
        lines.append(f"export const {name} = {function(name, call)};")
    members = {structure: _object(_functions(example)) for structure, example in structures().items()}
    return "\n".join([*lines, f"export const structures = {_object(members)};", ""])


def presets() -> dict[str, Any]:
    """The catalogue, what a field accepts, where the knobs begin, and the axes: those of that card's static chart."""
    card = ACCELERATORS[DEFAULTS["accelerator"]]
    intensity, performance = extent(card.peak_of(DEFAULTS["dtype"]), card.bandwidth)
    return {
        "models": {
            key: {
                "name": model.name, "structure": structure_of(model),
                "sizes": {path.replace(".", "_"): int(size) for path, size in sizes_of(model).items()},
            }
            for key, model in EXPLORED.items()
        },
        "accelerators": {
            key: {"name": card.name, "maker": card.maker, "bandwidth": card.bandwidth, "peaks": peaks_of(card)}
            for key, card in ACCELERATORS.items()
        },
        "masks": MASKS, "traffics": TRAFFICS, "limits": LIMITS, "shape": SHAPE_FIELDS, "widths": WIDTH_FIELDS,
        "defaults": DEFAULTS, "programs": programs(),
        "axes": {"intensity": intensity, "performance": performance},
    }


def programs() -> dict[str, str]:
    """The program that prints what is shown, with <knob> for a knob's value: for known shapes, and for custom ones."""
    catalogue = KNOB.sub(r"\1<\2>\4", PROGRAM)
    sizes = "".join(f"    {field}=<{field}>,\n" for field in SHAPE_FIELDS)
    own = f'replace(\n    MODELS["{DEFAULTS["model"]}"], name="custom",\n{sizes})'
    custom = catalogue.replace('MODELS["<model>"]', own)
    return {"catalogue": catalogue, "custom": f"from dataclasses import replace\n\n{custom}"}


def peaks_of(card: Accelerator) -> dict[str, tuple[float, float]]:
    """A card's peaks, of linear layers and of the rest, for each data type that it multiplies in, the usual one first.
    """
    usual = [dtype for dtype in WIDTHS if dtype in card.peak]
    first = sorted(usual, key=lambda dtype: dtype not in ("bf16", "fp16"))
    roofs = {dtype: Roofs.of(card, dtype) for dtype in first if _computes(card, dtype)}
    return {dtype: (roof.linear, roof.rest) for dtype, roof in roofs.items()}


def _computes(card: Accelerator, dtype: str) -> bool:
    """Whether the card has a peak for all of a step in this data type."""
    try:
        Roofs.of(card, dtype)
    except ValueError:
        return False
    return True


def main() -> None:
    """Print the files."""
    try:
        files = {"calc.js": calc_js(), "presets.json": json.dumps(presets(), ensure_ascii=False, separators=(",", ":"))}
    except TraceError as error:
        raise SystemExit(str(error)) from error
    print(json.dumps(files))


if __name__ == "__main__":
    main()
