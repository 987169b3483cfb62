"""Models of which each size can be told from every other."""

from roofline_calc import MLA, Model, MoE

ATTENTION = 11 * 42 + 2 * 11 * 21 + 42 * 11  # parameters of a layer's q, k and v, o


def small(**changed) -> Model:
    """A model whose every size is another prime, so that none can stand in for the other."""
    fields = {
        "name": "small", "hidden": 11, "layers": 5, "n_q": 6, "n_kv": 3, "head_dim": 7, "intermediate": 13, "vocab": 17,
        "tied_embeddings": False, "qkv_bias": False, "bytes_per_element": 2, "source": "made up",
    }
    return Model(**(fields | changed))


def moe(**changed) -> Model:
    fields = {"experts": 8, "top_k": 2, "intermediate": 3, "shared_intermediate": 5, "dense_layers": 2}
    return small(moe=MoE(**(fields | changed)))


def mla(q_rank: int | None = 19) -> Model:
    return small(n_kv=6, mla=MLA(kv_rank=23, nope=29, rope=4, v=31, q_rank=q_rank))


def windowed() -> Model:
    return small(window=8, window_layers=2)
