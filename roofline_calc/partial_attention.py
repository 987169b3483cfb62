"""Attention in which a query sees a part of its past that is not simply the latest."""

from .checks import check_attention, check_whole
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
