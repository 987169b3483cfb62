"""How a decoder layer's attention is computed: full or in a window, and latent attention in two forms."""

from collections.abc import Iterator, Mapping

from .checks import check_choice
from .layers import absorbed_layers, linear_layers
from .operators import Cost, attention, mla_attention, mla_expanded_attention, window_attention
from .partial_attention import chunked_attention, index_scores, picked_pairs
from .parts import Indexer
from .precision import Precision
from .shapes import MLA, Shapes

FORMS = ("absorbed", "expanded")


def attend(
    model: Shapes, L: int, S: int, precision: Precision, mask: str, traffic: str
) -> Iterator[tuple[str, int, Cost]]:
    """One sequence's attention in one layer of each kind: its name, how many layers have it, its cost."""
    b_q, b_kv = precision.others, precision.kv
    for kind in model.heads:
        heads = model.n_q, kind.n_kv, kind.head_dim
        if kind.window is None:
            one = attention(*heads, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic)
        else:
            partial = chunked_attention if model.chunked else window_attention
            one = partial(*heads, L, S, kind.window, b_q=b_q, b_kv=b_kv, traffic=traffic)
        yield kind.kernel, kind.layers, one
    if model.mixer:
        yield model.mixer.kernel, model.mixer.layers, model.mixer.cost(L, S, precision.others)


def cached(model: Shapes, L: int, S: int) -> tuple[int, int]:
    """Elements of the KV cache that L query tokens must read, and those that they must write, over all layers.

    The last L of S tokens ask; what they themselves add is written, and need not be read back. Layers that read
    another's cache add nothing: it may be read once for all of them.
    """
    read = written = 0
    for kind in model.heads:
        before, added = S - L, L
        if model.index and model.index.top_k < S:
            before = max(0, model.index.top_k - L)
        elif kind.window and model.chunked:
            before, added = (S - L) % kind.window, min(L, S % kind.window)  # of a full chunk nothing is needed again
        elif kind.window:
            before, added = min(S, kind.window + L - 1) - L, min(L, kind.window)
        read += kind.caching * kind.entry * before
        written += kind.caching * kind.entry * added
    return read, written


def indexed(model: Shapes, L: int, S: int) -> int:
    """Tokens whose cached index keys L query tokens must read: none where attention sees all of them anyway."""
    return S - L if model.index and model.index.top_k < S else 0


def latent_attention(
    model: Shapes, mla: MLA, form: str, L: int, S: int, precision: Precision, mask: str, traffic: str
) -> Cost:
    """One sequence's attention over the latent cache in one layer, without the products with kv_b_proj."""
    b_q, b_kv = precision.others, precision.kv

    def whole(L: int, S: int, mask: str) -> Cost:
        if form == "absorbed":
            sizes = model.n_q, mla.kv_rank, mla.rope
            return mla_attention(*sizes, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic)
        return mla_expanded_attention(
            model.n_q, mla.nope, mla.rope, mla.v, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic,
        )

    if not model.index or model.index.top_k >= S:
        return whole(L, S, mask)
    flops = whole(1, 1, "none").flops * picked_pairs(L, S, model.index.top_k)
    return Cost(flops, whole(L, model.index.top_k, "none").traffic)


def index_cost(model: Shapes, index: Indexer, L: int, S: int, precision: Precision) -> Cost:
    """What picking its tokens costs one sequence in one layer."""
    sizes = index.heads, index.dim, L, S, index.top_k
    return index_scores(*sizes, b_q=precision.others, key_bytes=index.key_bytes)


def latent_products(model: Shapes, form: str, tokens: int, precision: Precision) -> dict[str, Cost]:
    """What a form does with kv_b_proj: absorbed, its halves on each query token; expanded, the whole on each key."""
    layers = absorbed_layers(model) if form == "absorbed" else {"kv_b_proj": linear_layers(model)["kv_b_proj"]}
    return {name: line.cost(tokens, precision) for name, line in layers.items()}


def latent_flops(model: Shapes, mla: MLA, form: str, L: int, S: int, mask: str = "causal") -> dict[str, float]:
    """FLOPs of one sequence's latent attention in all layers, by kernel."""
    one = latent_attention(model, mla, form, L, S, Precision(), mask, "kv-only")
    products = latent_products(model, form, L if form == "absorbed" else S, Precision())
    flops = {name: cost.flops for name, cost in products.items()}
    return flops | {f"{form}_attention": one.flops * model.attention_layers}


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
