"""What the explorer can be set to, and the setting in which it shows a number of the text.

A setting is read off the form of the number's expression, and kept only where what the explorer then shows, worked
out by the calculator, is that number.
"""

import ast
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from roofline_calc import ACCELERATORS, MODELS, Precision

MASKS, TRAFFICS = ("causal", "none"), ("kv-only", "q+kv+o")

# What a field of the explorer accepts: the least and the greatest value. Only widths may be fractions.
LIMITS: dict[str, tuple[float, float]] = {
    "batch": (1, 2**16), "context": (1, 2**24), "query_tokens": (1, 2**24),
    "weights": (0.125, 16), "activations": (0.125, 16), "kv": (0.125, 16),
    "hidden": (1, 2**20), "layers": (1, 2**10), "n_q": (1, 2**12), "n_kv": (1, 2**12), "head_dim": (1, 2**12),
    "intermediate": (1, 2**20), "vocab": (1, 2**24),
}
WIDTH_FIELDS = ("weights", "activations", "kv")  # weights and kv may be None: as the checkpoint stores them
SHAPE_FIELDS = ("hidden", "layers", "n_q", "n_kv", "head_dim", "intermediate", "vocab")

# The program that prints what the explorer shows at first. A line `knob = value` in it is where that knob begins.
_, _, PROGRAM = Path("snippets/explorer.py").read_text(encoding="utf-8").partition('"""\n\n')
KNOB = re.compile(r'^((\w+) = (?:[A-Z]+\[)?"?)([\w.+-]+)("?\]?)$', re.MULTILINE)
LITERALS = {"None": None, "False": False}
DEFAULTS: dict[str, Any] = {
    knob: int(value) if value.isdecimal() else LITERALS.get(value, value)
    for _, knob, value, _ in KNOB.findall(PROGRAM)
}

State = dict[str, Any]
MODEL = MODELS[DEFAULTS["model"]]
CARD = ACCELERATORS[DEFAULTS["accelerator"]]
LAYERS = MODEL.linear_layers() | {"lm_head": MODEL.lm_head}
WIDTHS = Precision(weights=2, activations=2, kv=2, others=2)


def query_of(expression: ast.expr, value: object, evaluate: Callable[[ast.expr], Any]) -> str | None:
    """The explorer's address, after the question mark, at which it shows an expression's value; None without one."""
    if not isinstance(value, (int, float)):
        return None
    for state in _proposed(expression, evaluate):
        if _within_limits(state) and any(math.isclose(value, shown, rel_tol=1e-12) for shown in _shown(state)):
            return urlencode({key: item for key, item in state.items() if item != DEFAULTS.get(key)})
    return None


def _proposed(expression: ast.expr, evaluate: Callable[[ast.expr], Any]) -> Iterator[State]:
    """The settings that the form of an expression suggests."""
    match expression:
        case ast.Call(func=ast.Attribute(value=card, attr="ridge"), args=[], keywords=[]) if evaluate(card) is CARD:
            yield {}
        case ast.Call(func=ast.Name(id="gemm_intensity"), args=[M, K, N], keywords=[]):
            yield from ({"batch": evaluate(M), "operator": name} for name in _linear(evaluate(K), evaluate(N)))
        case ast.Call(
            func=ast.Name(id="first_compute_bound"),
            args=[
                ast.Lambda(body=ast.Call(
                    func=ast.Name(id="gemm_intensity"), args=[_, ast.Constant(value=K), ast.Constant(value=N)]
                )),
                ridge,
            ],
            keywords=[],
        ) if evaluate(ridge) == CARD.ridge():
            yield from ({"operator": name} for name in _linear(K, N))
        case ast.Call(func=ast.Name(id="attn_intensity"), args=[n_q, n_kv, phase, S], keywords=[]):
            context = evaluate(S)
            query_tokens = {"decode": 1, "prefill": context}[evaluate(phase)]
            how = {"mask": "none", "traffic": "kv-only"}
            yield _attention(evaluate(n_q), evaluate(n_kv), MODEL.head_dim, query_tokens, context) | how
        case ast.Attribute(
            value=ast.Call(func=ast.Name(id="attention"), args=[*sizes], keywords=keywords), attr="intensity"
        ) if len(sizes) == 5:
            how = {"mask": "none"} | {str(keyword.arg): evaluate(keyword.value) for keyword in keywords}
            if how.keys() <= {"mask", "traffic"}:  # the explorer's attention is fused, with one width
                yield _attention(*map(evaluate, sizes)) | how


def _linear(K: object, N: object) -> list[str]:
    """The layers with a weight of this shape."""
    return [name for name, layer in LAYERS.items() if (layer.K, layer.N) == (K, N)]


def _attention(n_q: int, n_kv: int, head_dim: int, query_tokens: int, context: int) -> State:
    heads = {"n_q": n_q, "n_kv": n_kv, "head_dim": head_dim}
    own = {} if heads == {name: getattr(MODEL, name) for name in heads} else {"model": "custom", **heads}
    L = "S" if query_tokens == context > 1 else query_tokens  # "S": prefill, which follows the context
    return own | {"batch": 1, "context": context, "query_tokens": L, "operator": "attention"}


def _within_limits(state: State) -> bool:
    numbers = {field: item for field, item in state.items() if field in LIMITS and item != "S"}
    return all(LIMITS[field][0] <= item <= LIMITS[field][1] for field, item in numbers.items())


def _shown(state: State) -> Iterator[float]:
    """What the explorer shows of the chosen operator, or of the card where none is."""
    if "operator" not in state:
        yield CARD.ridge()
        return
    settings = DEFAULTS | state
    context = settings["context"]
    query_tokens = context if settings["query_tokens"] == "S" else settings["query_tokens"]
    model = replace(MODEL, **{field: state[field] for field in SHAPE_FIELDS if field in state})
    kernels = model.step(
        {(query_tokens, context): settings["batch"]},
        mask=settings["mask"], traffic=settings["traffic"], precision=WIDTHS,
    )
    yield kernels[state["operator"]].intensity
    if layer := LAYERS.get(state["operator"]):
        crossing = layer.crossing(CARD.ridge(), WIDTHS)
        if crossing is not None:
            yield math.ceil(crossing)  # the explorer shows it not rounded
