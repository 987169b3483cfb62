"""Attention in which a query sees a part of its past that is not simply the latest."""

from .checks import check_attention, check_positive, check_whole
from .operators import Cost, attention


def chunked_attention(
    n_q: int, n_kv: int, head_dim: int, L: int, S: int, chunk: int, *,
    b_q: float = 2, b_kv: float = 2, traffic: str = "q+kv+o",
) -> Cost:
    r"""Causal attention within chunks of C tokens: a token sees itself and those before it in its own chunk.

    Token p (counted from 0) meets $p \bmod C + 1$ keys. The last L of S tokens ask, so the kernel touches the keys from
    the start of the first query's chunk on. Unlike a window a chunk begins anew: decode at S = C meets C keys, at
    S = C + 1 a single one. Arguments, units and errors as for `attention`.

    >>> chunked_attention(40, 8, 128, L=1, S=8193, chunk=8192) == attention(40, 8, 128, L=1, S=1)
    True

    Source: the attention mask of Llama 4 in its published configuration (attention_chunk_size).
    """
    check_attention(n_q, n_kv, head_dim, L, S, "causal")
    check_whole(chunk=chunk)
    before = (S - L) // chunk * chunk  # keys in chunks that no query belongs to
    one_pair = attention(n_q, n_kv, head_dim, 1, 1).flops
    moved = attention(n_q, n_kv, head_dim, L, S - before, b_q=b_q, b_kv=b_kv, traffic=traffic).traffic
    return Cost(one_pair * (_pairs(S, chunk) - _pairs(S - L, chunk)), moved)


def _pairs(tokens: int, chunk: int) -> int:
    """Pairs of tokens that meet among the first ones."""
    whole, rest = divmod(tokens, chunk)
    return whole * (chunk * (chunk + 1) // 2) + rest * (rest + 1) // 2


def picked_pairs(L: int, S: int, top_k: int) -> int:
    """Pairs of the last L of S tokens with the top_k tokens before each, or all of them where there are no more."""
    few = max(0, min(S, top_k) - (S - L))  # queries that see all before them
    return L * top_k - few * top_k + few * (S - L) + few * (few + 1) // 2


def index_scores(
    heads: int, dim: int, L: int, S: int, top_k: int, *, b_q: float = 2, key_bytes: float = 132
) -> Cost:
    """The index of sparse attention: every cached token's score for each query token, of which the best are picked.

    Each of the heads multiplies its query by the one key of the token, and the scores are summed with weights:
    $2 n (d + 1)$ FLOPs per pair. A query with at most top_k tokens before it needs no scores. Softmax and the picking
    are left out.

    Args:
        heads, dim: n and d. L, S: query tokens, the last of S tokens. top_k: tokens picked per query.
        b_q: bytes per element of the queries and weights. key_bytes: of a cached key with its scales.

    Raises:
        ValueError: a size is not a positive whole number, a width is not positive, or L > S.

    >>> index_scores(64, 128, L=1, S=131072, top_k=2048).flops == 131072 * 2 * 64 * 129
    True

    Source: DeepSeek-V3.2, arXiv:2512.02556, section 2.1.
    """
    check_whole(heads=heads, dim=dim, top_k=top_k)
    check_attention(1, 1, dim, L, S, "causal")
    check_positive(b_q=b_q, key_bytes=key_bytes)
    before = S - L
    scored = max(0, S - max(before, top_k))  # queries with more than top_k tokens
    pairs = scored * (S + 1) - scored * (scored + 1) // 2
    return Cost(2 * heads * (dim + 1) * pairs, {
        "keys": (S * key_bytes if scored else 0.0), "Q": scored * heads * (dim + 1) * b_q,
    })
