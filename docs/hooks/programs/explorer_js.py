"""The explorer's arithmetic as JavaScript, and the catalogue as data. Run by the build in a subprocess; prints JSON:

    {"calc.js": …, "presets.json": …}

The real functions of roofline_calc are called on symbols (see `symbolic`), so that a formula changed there changes the
explorer. Models of one structure (dense, mixture of experts, latent attention, sliding window) share one function,
whose sizes are symbols: it serves the reader's own shapes as well.
"""

import json
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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
    Stored,
    attainable,
    ridge_point,
)
from roofline_calc.attending import FORMS, latent_choices
from roofline_calc.figure import extent
from roofline_calc.precision import WIDE

# A whole model, whose widths come as symbols of their own; RoPE is no matrix kernel.
UNUSED = ("cards", "kv_width", "bytes_per_element", "rope_dim", "nope_layers")
STRUCTURE = (  # flags that decide which operators there are
    "chunked", "moe.shared_gate", "output_gate", "gated_ffn", "layer_scalar", "moe.beside_dense",
)
# Layers of a further kind make a structure that one or two models have, each a tenth of calc.js. The command line has
# these models.
LEFT_OUT = ("index", "mixer", "output_gate", "global_heads", "shared_cache", "layer_inputs", "ffn_layers")
EXPLORED = {key: model for key, model in MODELS.items() if not any(getattr(model, name) for name in LEFT_OUT)}
FUSED = (False, True)
ABSENT = {"flops": 0, "peak": 1, "seconds": 0}  # of a kernel that a step is without


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
        words.append("chunked" * model.chunked)
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


def stored_apart(family: list[Model]) -> dict[str, bool]:
    """What some checkpoint of a family stores in a width of its own, and whether one multiplies it in such a type.

    Raises:
        TraceError: this is a router, lm_head or embedding, none of which the explorer expects under the linear roof.
    """
    found = {}
    for name in dict.fromkeys(name for model in family for name in model.stored):
        found[name] = any(model.precision.stored(name).multiplies for model in family)
        if found[name] and name in WIDE:
            raise TraceError(f"{name} of {family[0].name} multiplies in a data type of its own")
    return found


@contextmanager
def _own_types(names: Iterable[str]) -> Iterator[None]:
    """For a while there are data types "own_layers", "own_experts" …, whose widths are symbols."""
    widths: dict[str, Any] = {f"own_{name}": positive(f"activations_{name}") for name in names}
    WIDTHS.update(widths)
    try:
        yield
    finally:
        for name in widths:
            del WIDTHS[name]


def _functions(structure: str, family: list[Model]) -> dict[str, str]:
    """What the explorer asks about models of one structure."""
    example, apart = family[0], stored_apart(family)
    known = {whole("layers") > whole("window_layers"): True}  # where not all layers are windowed, some are not
    model = trace(lambda: symbolic(example), known)
    batch, context, query_tokens = whole("batch"), whole("context"), whole("query_tokens")
    activations = positive("activations")
    stored = {
        name: Stored(positive(f"weights_{name}"), f"own_{name}" if own else None) for name, own in apart.items()
    }
    widths = Precision(
        weights=positive("weights"), activations=activations, kv=positive("kv"), others=activations, modules=stored,
    )
    sequences = {(query_tokens, context): batch}
    tokens = batch * query_tokens

    def written(name: str, call: Callable[[], Any]) -> str:
        return function(f"{name} ({structure})", call, known)

    def peak(operator: str, fused: bool) -> Any:
        multiplies = model.multiplies(fused, widths)
        own = {name: positive(f"peak_{dtype.removeprefix('own_')}") for name, dtype in multiplies.items()}
        return Roofs(positive("linear"), positive("rest"), positive("bandwidth"), own).peak(operator)

    def shown(costs: dict[str, Cost], fused: bool = False) -> dict[str, Any]:
        return {
            name: {"flops": cost.flops, "bytes": cost.bytes, "peak": peak(name, fused)} for name, cost in costs.items()
        }

    def linear(fused: bool) -> dict[str, Any]:
        return shown(model.linear_costs(tokens, fused=fused, precision=widths), fused)

    def attention(mask: str, traffic: str) -> dict[str, Any]:
        return shown(model.attention_costs(sequences, mask=mask, traffic=traffic, precision=widths))

    def forms(mask: str) -> dict[str, Any]:
        ways = (way for ways in latent_choices(model, sequences, mask) for way in ways)
        return {name: {"flops": flops, "peak": peak(name, False)} for way in ways for name, flops in way.items()}

    def compulsory() -> Any:
        form = FORMS[0] if model.mla else None  # either will do
        return sum(model.step(sequences, mask="none", precision=widths, mla=form).compulsory.values())

    def memory() -> dict[str, Any]:
        weights, kv = model.weight_bytes(widths), batch * model.cache_bytes([context], widths)
        return {"weights": weights, "kv": kv, "needed": weights + kv, "fits": bool(weights + kv <= positive("memory"))}

    return {
        "kernels": json.dumps(_operators(example)),
        "linear": _object({
            str(fused).lower(): written("Model.linear_costs", partial(linear, fused)) for fused in FUSED
        }),
        "head": written("Model.lm_head_cost", lambda: shown({"lm_head": model.lm_head_cost(batch, widths)})),
        "attention": _object({
            f"{mask} {traffic}": written("Model.attention_costs", partial(attention, mask, traffic))
            for mask in MASKS for traffic in TRAFFICS
        }),
        "forms": _object({mask: written("latent_choices", partial(forms, mask)) for mask in MASKS}),
        "compulsory": written("Step.compulsory", compulsory),
        "step": written("Report", partial(_report, example)),
        "memory": written("Memory.weight_bytes and cache_bytes", memory),
        "crossings": _object({
            name: written(f"Linear.crossing of {name}", partial(line.crossing, positive("ridge"), widths))
            for fused in FUSED for name, line in model.gemms(fused).items()
        }),
    }


def _operators(model: Model) -> list[str]:
    """All kernels that a step of a model may have: fused or not, and of latent attention those of both forms."""
    forms = FORMS if model.mla else (None,)
    return list(dict(ChainMap(*(model.step({(1, 1): 1}, fused=fused, mla=form) for fused in FUSED for form in forms))))


def _report(example: Model) -> dict[str, Any]:
    """A step's times, from its kernels' FLOPs, peaks and seconds."""
    names = _operators(example)
    flops, peaks, seconds = ({name: positive(f"{what}_{name}") for name in names} for what in ABSENT)
    rows = tuple(Row(name, Cost(flops[name], {}), "", seconds[name]) for name in names)
    choices = [[{name: flops[name] for name in way} for way in ways] for ways in latent_choices(example, {(1, 1): 1})]
    report = Report(rows, Roofs(1, 1, positive("bandwidth"), peaks), positive("compulsory"), choices)
    return {
        "lower_bound": report.lower_bound, "kernel_by_kernel": report.kernel_by_kernel,
        "share": {row.operator: report.share(row) for row in rows},
    }


def _object(members: dict[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {code}" for name, code in members.items()) + "}"


def structures() -> dict[str, list[Model]]:
    """The models of the catalogue by their structure."""
    found: dict[str, list[Model]] = {}
    for model in EXPLORED.values():
        found.setdefault(structure_of(model), []).append(model)
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
    families = structures()
    with _own_types(name for family in families.values() for name in stored_apart(family)):
        members = {structure: _object(_functions(structure, family)) for structure, family in families.items()}
    lines.append(f"export const absent = {json.dumps(ABSENT)};")
    return "\n".join([*lines, f"export const structures = {_object(members)};", ""])


def presets() -> dict[str, Any]:
    """The catalogue, what a field accepts, where the knobs begin, and the axes: those of that card's static chart."""
    families = structures()
    card = ACCELERATORS[DEFAULTS["accelerator"]]
    intensity, performance = extent(card.peak_of(DEFAULTS["dtype"]), card.bandwidth)
    return {
        "models": {
            key: {
                "name": model.name, "structure": structure_of(model),
                "sizes": {path.replace(".", "_"): int(size) for path, size in sizes_of(model).items()},
                **checkpoint_of(model, families[structure_of(model)]),
            }
            for key, model in EXPLORED.items()
        },
        "accelerators": {
            key: {
                "name": card.name, "maker": card.maker, "bandwidth": card.bandwidth, "memory": card.memory,
                "peaks": peaks_of(card),
            }
            for key, card in ACCELERATORS.items()
        },
        "multiplied": multiplied(), "unstored": unstored(), "masks": MASKS, "traffics": TRAFFICS,
        "limits": LIMITS, "shape": SHAPE_FIELDS, "widths": WIDTH_FIELDS,
        "defaults": DEFAULTS, "programs": programs(),
        "axes": {"intensity": intensity, "performance": performance},
    }


def checkpoint_of(model: Model, family: list[Model]) -> dict[str, Any]:
    """What a model's checkpoint stores: widths of weights and KV cache, the weights' mean, and what it stores apart.

    Of what only others of its family store apart there is None: see `unstored`.
    """
    stored = model.precision
    knobs = replace(stored, weights=positive("weights"), others=positive("activations"))
    apart = {name: knobs.stored(name) for name in stored_apart(family)}
    return {
        "weights": stored.weights, "kv": stored.kv, "mean": float(f"{model.weight_bytes() / model.params:.4g}"),
        "stored": {
            name: {"width": part.width, "multiplies": part.multiplies} if isinstance(part.width, (int, float)) else None
            for name, part in apart.items()
        },
    }


def multiplied() -> dict[str, float]:
    """Bytes per element of the data types in which some checkpoint multiplies."""
    found = {part.multiplies for model in EXPLORED.values() for part in model.stored.values()}
    return {dtype: WIDTHS[dtype] for dtype in WIDTHS if dtype in found}


def unstored() -> dict[str, str]:
    """Which knob sets the width of what checkpoints store apart, once it is not as stored."""
    knobs = Precision(weights=positive("weights"), others=positive("activations"))
    return {name: str(knobs.stored(name).width) for family in structures().values() for name in stored_apart(family)}


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
