"""How a decoder layer's attention is computed: full or in a window, and latent attention in two forms."""

from collections.abc import Iterator, Mapping

from .checks import check_choice
from .layers import absorbed_layers, linear_layers
from .operators import Cost, attention, mla_attention, mla_expanded_attention, window_attention
from .partial_attention import chunked_attention
from .precision import Precision
from .shapes import MLA, Shapes

FORMS = ("absorbed", "expanded")


def attend(
    model: Shapes, L: int, S: int, precision: Precision, mask: str, traffic: str
) -> Iterator[tuple[str, int, Cost]]:
    """One sequence's attention in one layer of each kind: its name, how many layers have it, its cost."""
    heads, b_q, b_kv = (model.n_q, model.n_kv, model.head_dim), precision.others, precision.kv
    if model.layers > model.window_layers:
        one = attention(*heads, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic)
        yield "attention", model.layers - model.window_layers, one
    if model.window and model.chunked:
        one = chunked_attention(*heads, L, S, model.window, b_q=b_q, b_kv=b_kv, traffic=traffic)
        yield "chunked_attention", model.window_layers, one
    elif model.window:
        one = window_attention(*heads, L, S, model.window, b_q=b_q, b_kv=b_kv, traffic=traffic)
        yield "window_attention", model.window_layers, one


def cache_elements(model: Shapes) -> int:
    """Elements that one token occupies in one layer's cache."""
    return model.mla.kv_rank + model.mla.rope if model.mla else 2 * model.n_kv * model.head_dim


def cached(model: Shapes, L: int, S: int) -> tuple[int, int]:
    """Tokens whose cached keys and values L query tokens must read, and those that they must write, over all layers.

    The last L of S tokens ask; what they themselves add is written, and need not be read back.
    """
    full = model.layers - model.window_layers
    read, written = full * (S - L), full * L
    if model.window and model.chunked:
        read += model.window_layers * ((S - L) % model.window)  # what the first query's chunk holds already
        written += model.window_layers * min(L, (S - 1) % model.window + 1)  # what the last token's chunk will need
    elif model.window:
        read += model.window_layers * (min(S, model.window + L - 1) - L)
        written += model.window_layers * min(L, model.window)
    return read, written


def latent_attention(
    model: Shapes, mla: MLA, form: str, L: int, S: int, precision: Precision, mask: str, traffic: str
) -> Cost:
    """One sequence's attention over the latent cache in one layer, without the products with kv_b_proj."""
    b_q, b_kv = precision.others, precision.kv
    if form == "absorbed":
        sizes = model.n_q, mla.kv_rank, mla.rope
        return mla_attention(*sizes, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic)
    return mla_expanded_attention(
        model.n_q, mla.nope, mla.rope, mla.v, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic,
    )


def latent_products(model: Shapes, form: str, tokens: int, precision: Precision) -> dict[str, Cost]:
    """What a form does with kv_b_proj: absorbed, its halves on each query token; expanded, the whole on each key."""
    layers = absorbed_layers(model) if form == "absorbed" else {"kv_b_proj": linear_layers(model)["kv_b_proj"]}
    return {name: line.cost(tokens, precision) for name, line in layers.items()}


def latent_flops(model: Shapes, mla: MLA, form: str, L: int, S: int, mask: str = "causal") -> dict[str, float]:
    """FLOPs of one sequence's latent attention in all layers, by kernel."""
    one = latent_attention(model, mla, form, L, S, Precision(), mask, "kv-only")
    products = latent_products(model, form, L if form == "absorbed" else S, Precision())
    return {name: cost.flops for name, cost in products.items()} | {f"{form}_attention": one.flops * model.layers}


def latent_choices(
    model: Shapes, sequences: Mapping[tuple[int, int], int], mask: str = "causal"
) -> list[list[dict[str, float]]]:
    """FLOPs of both forms of latent attention, by kernel, for each kind of sequence; empty without it."""
    if not model.mla:
        return []
    return [
        [
            {name: flops * count for name, flops in latent_flops(model, model.mla, form, L, S, mask).items()}
            for form in FORMS
        ]
        for (L, S), count in sequences.items()
    ]


def cheaper_form(model: Shapes, mla: MLA, L: int, S: int, mask: str = "causal") -> str:
    """The form that takes fewer FLOPs: absorbed in decode, expanded once enough query tokens share the expansion."""
    absorbed, expanded = (sum(latent_flops(model, mla, form, L, S, mask).values()) for form in FORMS)
    return "expanded" if expanded < absorbed else "absorbed"


def check_form(model: Shapes, form: str | None) -> None:
    """Refuse a form that there is not, or for a model whose attention has none."""
    if form is not None:
        check_choice(FORMS, mla=form)
        if not model.mla:
            raise ValueError(f"mla = {form!r}: {model.name} has no latent attention")
