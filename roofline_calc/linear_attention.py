"""Attention whose past is a state of fixed size: the gated delta rule, and the state space of Mamba-2.

Each token updates the state and reads it, whatever the context. What is counted is the recurrence, token by token: the
chunked kernels that prefill runs multiply more, to turn it into products of matrices. Only where a sequence begins in
this step, so that there is no state to read yet, pairs of tokens may cost less; then the cheaper counts. Decays, gates
and the short convolution before them are element-wise and left out, as softmax is.
"""

from .checks import check_positive, check_whole
from .operators import Cost


def _of_state(size: int, reads: int, direct: int, L: int, S: int, rows: float, b_state: float) -> Cost:
    """L tokens, the last of S, write a state of so many elements, 2 FLOPs per element and token, and read it.

    ``reads``: FLOPs of all the tokens' reads. ``direct``: instead, where the sequence begins, those of its pairs of
    tokens that meet. ``rows``: bytes of inputs and outputs.
    """
    check_whole(L=L, S=S)
    if L > S:
        raise ValueError(f"L = {L}: the query tokens are among the S = {S} tokens of context, so at most {S}")
    moved = {"state written": size * b_state}
    if S > L:
        moved["state read"] = size * b_state
    else:
        reads = min(reads, direct)
    return Cost(2 * size * L + reads, moved | {"X and Y": rows})


def gated_delta_rule(
    n_k: int, n_v: int, d_k: int, d_v: int, L: int, S: int, *, b: float = 2, b_state: float = 4
) -> Cost:
    r"""The gated delta rule of one sequence: each of n_v value heads keeps a matrix of d_k x d_v.

    A token asks the state for its key's value, writes the difference back and asks for its query's value:
    $6 n_v d_k d_v$ FLOPs, whatever the context. The state is read and written once per step,
    $2 n_v d_k d_v b_{state}$ bytes, however many tokens the step has.

    Args:
        n_k, n_v: key heads (as many of queries) and value heads. d_k, d_v: their widths.
        L, S: query tokens, the last of S tokens of context; L = S begins a sequence, whose state is zero.
        b, b_state: bytes per element of q, k, v and output, and of the state.

    Raises:
        ValueError: a size is not a positive whole number, L > S, or n_v is not a multiple of n_k.

    >>> round(gated_delta_rule(16, 32, 128, 128, L=1, S=4096).intensity, 2)
    0.75

    Source: Yang, Kautz & Hatamizadeh, Gated Delta Networks, arXiv:2412.06464.
    """
    check_whole(n_k=n_k, n_v=n_v, d_k=d_k, d_v=d_v)
    check_positive(b=b, b_state=b_state)
    if n_v % n_k:
        raise ValueError(f"n_v = {n_v}: must be a multiple of n_k ({n_k})")
    size = n_v * d_k * d_v
    rows = L * (2 * n_k * d_k + 2 * n_v * d_v) * b
    direct = 2 * L * L * (n_k * d_k + n_v * d_v)  # keys meet keys before them, queries also their own
    return _of_state(size, 4 * size * L, direct, L, S, rows, b_state)


def mamba2_scan(
    heads: int, head_dim: int, groups: int, state: int, L: int, S: int, *, b: float = 2, b_state: float = 4
) -> Cost:
    r"""The state space of a Mamba-2 layer for one sequence: each head keeps a matrix of P x N.

    A token adds the outer product of its input and B to the state and multiplies the state by C:
    $4 n P N$ FLOPs for n heads, whatever the context.

    Args:
        heads, head_dim: n and P. groups: of heads that share B and C. state: N.
        Others, units and errors: see `gated_delta_rule`.

    >>> round(mamba2_scan(64, 64, 8, 128, L=1, S=4096).intensity, 2)
    0.5

    Source: Dao & Gu, Transformers are SSMs, arXiv:2405.21060.
    """
    check_whole(heads=heads, head_dim=head_dim, groups=groups, state=state)
    check_positive(b=b, b_state=b_state)
    if heads % groups:
        raise ValueError(f"heads = {heads}: must be a multiple of groups ({groups})")
    size = heads * head_dim * state
    rows = L * (2 * heads * head_dim + 2 * groups * state) * b
    direct = L * (L + 1) * (groups * state + heads * head_dim)
    return _of_state(size, 2 * size * L, direct, L, S, rows, b_state)


def short_convolution(M: int, channels: int, taps: int, b: float = 2) -> Cost:
    """The causal convolution before such a layer, each channel by itself over the last tokens: 2 FLOPs per tap.

    X is read and Y written, and the weights once: $I = taps * M / ((2M + taps) b)$ for M tokens. What is kept of
    earlier tokens is left out.

    Args:
        M: tokens. channels: width of a row. taps: tokens that the convolution spans. b: bytes per element.

    Raises:
        ValueError: a size is not a positive whole number, or b is not positive.
    """
    check_whole(M=M, channels=channels, taps=taps)
    check_positive(b=b)
    return Cost(2 * M * channels * taps, {
        "X": M * channels * b, "weight": channels * taps * b, "Y": M * channels * b,
    })
