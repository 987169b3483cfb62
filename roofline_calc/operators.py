"""What one kernel computes and what it moves, from shapes alone.

Everything here counts *compulsory traffic*: each operand crosses the memory bus exactly once, whatever a
real kernel re-reads. A multiply and an add are two FLOPs. Softmax, scaling and masking are left out of the
FLOPs: a few operations per score, beside the ``4 * head_dim`` of the two products.

The lesson prints the marked sections of this module: what a reader copies is what the library runs.
"""

# --8<-- [start:imports]
from dataclasses import dataclass

# --8<-- [end:imports]
from .checks import check_attention, check_choice, check_positive, check_whole


# --8<-- [start:cost]
@dataclass(frozen=True)
class Cost:
    """FLOPs of a kernel, and bytes across the memory bus by operand."""

    flops: float
    traffic: dict[str, float]

    @property
    def bytes(self) -> float:
        """All the traffic, in bytes."""
        return sum(self.traffic.values())

    @property
    def intensity(self) -> float:
        """Arithmetic intensity: FLOPs per byte moved."""
        return self.flops / self.bytes
# --8<-- [end:cost]

    def __add__(self, other: "Cost") -> "Cost":
        """Two kernels run one after the other; traffic of operands with the same name adds up."""
        names = self.traffic | other.traffic
        return Cost(
            self.flops + other.flops,
            {name: self.traffic.get(name, 0) + other.traffic.get(name, 0) for name in names},
        )

    def __mul__(self, times: int) -> "Cost":
        """The same kernel, run a number of times."""
        check_whole(times=times)
        return Cost(self.flops * times, {name: moved * times for name, moved in self.traffic.items()})


# --8<-- [start:gemm]
def gemm(M: int, K: int, N: int,
         b_x: float = 2, b_w: float = 2, b_y: float = 2) -> Cost:
    """Y[M, N] = X[M, K] @ W[K, N]; each matrix crosses the memory bus once.

    M tokens in flight, input width K, output width N; b_x, b_w, b_y bytes
    per element of X, W, Y (BF16: 2). Raises ValueError for a size that is
    not a positive whole number. Williams et al., CACM 52(4), 2009.
    """
    check_whole(M=M, K=K, N=N)
    check_positive(b_x=b_x, b_w=b_w, b_y=b_y)
    return Cost(flops=2 * M * K * N,
                traffic={"X": M * K * b_x, "W": K * N * b_w, "Y": M * N * b_y})


def gemm_intensity(M: int, K: int, N: int, b: float = 2) -> float:
    """Arithmetic intensity of a linear layer in FLOP/byte, one width b."""
    check_positive(b=b)
    return gemm(M, K, N, b, b, b).intensity
# --8<-- [end:gemm]


# --8<-- [start:attention]
def attention(n_q: int, n_kv: int, head_dim: int, L: int, S: int, *,
              b_q: float = 2, b_kv: float = 2,
              mask: str = "none", traffic: str = "q+kv+o",
              passes: int = 0, b_score: float = 2) -> Cost:
    """L query tokens attend to S cached tokens, n_q heads sharing n_kv.

    The queries are the last L of the S tokens. b_q is the width of Q and O
    in bytes, b_kv that of K and V. mask: "none" or "causal". traffic:
    "q+kv+o", all that a fused kernel must move (FlashAttention,
    arXiv:2205.14135), or "kv-only". A naive kernel carries the scores over
    the bus as well, passes times at b_score bytes each. Raises ValueError.
    """
    check_attention(n_q, n_kv, head_dim, L, S, mask)
    check_positive(b_q=b_q, b_kv=b_kv, b_score=b_score)
    check_choice(("q+kv+o", "kv-only"), traffic=traffic)
    pairs = L * S
    if mask == "causal":  # the first query sees S - L + 1 keys, the last all S
        pairs -= L * (L - 1) // 2
    moved = {"K": n_kv * S * head_dim * b_kv, "V": n_kv * S * head_dim * b_kv}
    if traffic == "q+kv+o":
        moved["Q"] = moved["O"] = n_q * L * head_dim * b_q
    if passes:
        check_whole(passes=passes)
        moved["scores"] = passes * n_q * L * S * b_score
    return Cost(flops=4 * n_q * head_dim * pairs, traffic=moved)


def attn_intensity(n_q: int, n_kv: int, phase: str, S: int,
                   b: float = 2) -> float:
    """Intensity of attention in FLOP/byte, counting K and V reads only."""
    check_choice(("decode", "prefill"), phase=phase)
    check_positive(b=b)
    L = 1 if phase == "decode" else S
    head_dim = 1  # it cancels
    return attention(n_q, n_kv, head_dim, L, S,
                     b_kv=b, traffic="kv-only").intensity
# --8<-- [end:attention]


def quantised_width(bits: float, group: int | None = None, scale_bytes: float = 2, zero_bits: float = 0) -> float:
    """Effective bytes per weight of a matrix quantised in groups: its bits and its share of scale and zero point.

    In bytes $b_w = w/8 + (s + z/8)/g$, with w bits, s scale_bytes, z zero_bits, and groups of g weights.

    Args:
        bits: of one weight. group: weights that share a scale (None: one scale per row or matrix, negligible).
        scale_bytes: of one scale. zero_bits: of one zero point, where a group has one (AWQ, GPTQ: as many as bits).

    Raises:
        ValueError: bits or scale_bytes is not positive, group not a positive whole number, zero_bits negative.

    >>> quantised_width(4, group=128)
    0.515625
    """
    check_positive(bits=bits, scale_bytes=scale_bytes)
    if zero_bits != 0:
        check_positive(zero_bits=zero_bits)
    if group is None:
        return bits / 8
    check_whole(group=group)
    return bits / 8 + (scale_bytes + zero_bits / 8) / group


def window_attention(
    n_q: int, n_kv: int, head_dim: int, L: int, S: int, window: int, *,
    b_q: float = 2, b_kv: float = 2, traffic: str = "q+kv+o",
) -> Cost:
    r"""Causal attention in which a token sees itself and the window - 1 tokens before it, no further.

    The last L of S tokens ask, so the kernel touches the last $\min(S, W + L - 1)$ keys, W being the window in
    tokens; of their causal pairs it leaves out those that lie further apart than that. Arguments, units and errors
    as for `attention`.

    >>> window_attention(32, 8, 128, L=1, S=32768, window=4096) == attention(32, 8, 128, L=1, S=4096)
    True

    Source: Beltagy, Peters & Cohan, Longformer, arXiv:2004.05150.
    """
    check_whole(L=L, S=S, window=window)
    seen = min(S, window + L - 1)
    beyond = seen - min(S, window)  # keys in the last query's past that it no longer sees
    causal = attention(n_q, n_kv, head_dim, L, seen, b_q=b_q, b_kv=b_kv, mask="causal", traffic=traffic)
    one_pair = attention(n_q, n_kv, head_dim, 1, 1).flops
    return Cost(causal.flops - one_pair * (beyond * (beyond + 1) // 2), causal.traffic)


def shared_prefix_attention(
    n_q: int, n_kv: int, head_dim: int, batch: int, prefix: int, own: int, L: int = 1, *,
    b_q: float = 2, b_kv: float = 2, traffic: str = "q+kv+o",
) -> Cost:
    """Attention of a batch of sequences that share their first tokens, whose K and V are read once for all.

    On the prefix every query token of the batch meets the same keys, as one sequence's would: its intensity,
    $2 n L g / b_{kv}$ for n sequences and $g = n_q / n_{kv}$, rises with the batch. On the sequence's own tokens (the
    last L of which ask) nothing changes. Q is read and O written once, although a real kernel merges two partial
    results.

    Args:
        batch: sequences. prefix, own: shared tokens, and each sequence's further ones. Others: see `attention`.

    >>> shared_prefix_attention(28, 4, 128, batch=32, prefix=2048, own=1).intensity > 100
    True

    Source: Juravsky et al., Hydragen, arXiv:2402.05099.
    """
    check_whole(batch=batch, prefix=prefix, own=own, L=L)
    heads = n_q, n_kv, head_dim
    shared = attention(*heads, batch * L, prefix, b_q=b_q, b_kv=b_kv, traffic="kv-only")
    each = attention(*heads, L, own, b_q=b_q, b_kv=b_kv, mask="causal", traffic=traffic)
    return shared + each * batch


def mla_attention(
    n_q: int, d_c: int, d_rope: int, L: int, S: int, *,
    b_q: float = 2, b_kv: float = 2, mask: str = "none", traffic: str = "q+kv+o",
) -> Cost:
    """Multi-head latent attention in its absorbed form: all heads read one latent vector per cached token.

    Scores are d_c + d_rope wide, values d_c, and both come from the same cache entry, which is read once:
    per pair of tokens $2 n_q (2 d_c + d_R)$ FLOPs, per cached token $(d_c + d_R) b_{kv}$ bytes.

    Args:
        n_q: heads. d_c, d_rope: width of the latent and of its rotary part (DeepSeek-V3: 512, 64).
        Others, units and errors: see `attention`.

    >>> round(mla_attention(128, 512, 64, L=1, S=2048, traffic="kv-only").intensity, 1)
    241.8

    Source: DeepSeek-V2, arXiv:2405.04434, section 2.1.
    """
    check_whole(n_q=n_q, d_c=d_c, d_rope=d_rope)
    entry = d_c + d_rope
    # q k^T is half of an ordinary attention of width d_c + d_rope, p v half of one of width d_c.
    scores = attention(n_q, 1, entry, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic)
    values = attention(n_q, 1, d_c, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic)
    moved = {"latent": scores.traffic["K"]}
    if traffic == "q+kv+o":
        moved |= {"Q": scores.traffic["Q"], "O": values.traffic["O"]}
    return Cost((scores.flops + values.flops) // 2, moved)


def mla_expanded_attention(
    n_q: int, nope: int, d_rope: int, v: int, L: int, S: int, *,
    b_q: float = 2, b_kv: float = 2, mask: str = "none", traffic: str = "q+kv+o",
) -> Cost:
    """Multi-head latent attention in its expanded form: every head has a key and a value of its own.

    Both have been made from the latent by kv_b_proj, a kernel apart. Per pair of tokens $2 n_q (d_N + d_R + d_V)$
    FLOPs: 3.4 times fewer than in the absorbed form with DeepSeek-V3's sizes, but per cached token
    $n_q (d_N + d_V) b_q + d_R b_{kv}$ bytes, the rotary part being the one thing that heads share.

    Args:
        nope, d_rope: parts of a head's query and key without and with rotary position. v: width of a head's value.
        b_q: bytes per element of Q, O and of the expanded K and V. Others, units and errors: see `mla_attention`.

    >>> forms = [mla_expanded_attention(128, 128, 64, 128, L=1, S=1), mla_attention(128, 512, 64, L=1, S=1)]
    >>> [form.flops for form in forms]
    [81920, 278528]

    Source: DeepSeek-V2, arXiv:2405.04434, section 2.1.
    """
    check_whole(n_q=n_q, nope=nope, d_rope=d_rope, v=v)
    key = nope + d_rope
    # q k^T is half of an ordinary attention of width nope + d_rope, p v half of one of width v.
    scores = attention(n_q, n_q, key, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic)
    values = attention(n_q, n_q, v, L, S, b_q=b_q, b_kv=b_q, mask=mask, traffic=traffic)
    moved = {"K": n_q * S * nope * b_q + S * d_rope * b_kv, "V": values.traffic["V"]}
    if traffic == "q+kv+o":
        moved |= {"Q": scores.traffic["Q"], "O": values.traffic["O"]}
    return Cost((scores.flops + values.flops) // 2, moved)


def experts_touched(experts: int, top_k: int, T: int) -> float:
    """Expected number of experts that T tokens use, each choosing top_k of them evenly and independently.

    $E (1 - (1 - k/E)^T)$: an expert is idle only where every token passes it by.

    Raises:
        ValueError: an argument is not a positive whole number, or top_k exceeds experts.

    >>> experts_touched(128, 8, 1)
    8.0
    """
    check_whole(experts=experts, top_k=top_k, T=T)
    if top_k > experts:
        raise ValueError(f"top_k = {top_k}: must be at most experts ({experts})")
    if top_k == experts:  # all of them, as a whole number
        return experts
    return experts * (1 - (1 - top_k / experts) ** T)


def grouped_gemm(
    rows: int, groups: float, K: int, N: int, b_x: float = 2, b_w: float = 2, b_y: float = 2, shared_by: int = 1,
) -> Cost:
    """Several GEMMs of one shape, their rows shared out among them: the experts of one projection, or heads.

    Each row meets one weight matrix, so FLOPs, X and Y are those of one GEMM with all the rows; what grows with
    the groups is W. R rows and G groups take $b_x RK/k + b_w GKN + b_y RN$ bytes. With T tokens of top_k experts
    there are rows = T * top_k, about T * top_k / E per expert; gate and up then read each token once, k = top_k.

    Args:
        rows: of all groups together. groups: weight matrices read, an expected number (see `experts_touched`).
        shared_by: k, how many rows are one input that several groups multiply, and that crosses the bus once.
        Others, units and errors: see `gemm`.

    >>> grouped_gemm(64, 8, 2048, 768).traffic["W"] == 8 * 2048 * 768 * 2
    True
    """
    check_positive(groups=groups)
    check_whole(rows=rows, shared_by=shared_by)
    if rows % shared_by:
        raise ValueError(f"rows = {rows}: must be a multiple of shared_by ({shared_by})")
    one, inputs = gemm(rows, K, N, b_x, b_w, b_y), gemm(rows // shared_by, K, N, b_x, b_w, b_y)
    return Cost(one.flops, one.traffic | {"X": inputs.traffic["X"], "W": one.traffic["W"] * groups})


def embedding(M: int, hidden: int, b: float = 2) -> Cost:
    """The gather of M rows of the embedding table: no arithmetic; the rest of the table is not touched.

    Rows of width h are read and written, $2Mhb$ bytes.

    Args:
        M: tokens. hidden: width of a row. b: bytes per element. The token ids, 4 bytes each, are left out.
    """
    check_whole(M=M, hidden=hidden)
    check_positive(b=b)
    return Cost(0, {"rows": M * hidden * b, "Y": M * hidden * b})


def rms_norm(M: int, width: int, b: float = 2) -> Cost:
    """Root-mean-square norm of M rows: 4 FLOPs per element (square, add, scale, weight), X read and Y written once.

    For rows of width h $I = 4M / ((2M + 1) b)$. One division and one root per row are left out. Raises
    ValueError as `gemm`.
    """
    check_whole(M=M, width=width)
    check_positive(b=b)
    return Cost(4 * M * width, {"X": M * width * b, "weight": width * b, "Y": M * width * b})


def rope(M: int, heads: int, d_rope: int, b: float = 2) -> Cost:
    """Rotary embedding of the given heads (queries and keys) of M tokens: 3 FLOPs per element.

    An element becomes x cos - y sin or y cos + x sin. X is read and Y written; each token reads d_rope values of
    sine and cosine, shared by its n heads: $I = 3n / ((2n + 1) b)$. Raises ValueError as `gemm`.
    """
    check_whole(M=M, heads=heads, d_rope=d_rope)
    check_positive(b=b)
    moved = M * heads * d_rope * b
    return Cost(3 * M * heads * d_rope, {"X": moved, "table": M * d_rope * b, "Y": moved})


def swiglu(M: int, intermediate: int, b: float = 2) -> Cost:
    """The gate of the feed-forward network, silu(gate) * up: 4 FLOPs per element (exp, add, divide, multiply).

    Gate and up are read, Y is written: $I = 4 / (3b)$. GeGLU is counted alike. Raises ValueError as `gemm`.
    """
    check_whole(M=M, intermediate=intermediate)
    check_positive(b=b)
    one = M * intermediate * b
    return Cost(4 * M * intermediate, {"gate": one, "up": one, "Y": one})


def relu2(M: int, intermediate: int, b: float = 2) -> Cost:
    """The squared ReLU of a feed-forward network without a gate: 2 FLOPs per element, one read, one write.

    $I = 1 / b$. Raises ValueError as `gemm`.
    """
    check_whole(M=M, intermediate=intermediate)
    check_positive(b=b)
    one = M * intermediate * b
    return Cost(2 * M * intermediate, {"X": one, "Y": one})


def residual(M: int, hidden: int, b: float = 2) -> Cost:
    """The addition of a sublayer's output to the residual stream: 1 FLOP per element, two reads, one write.

    $I = 1 / (3b)$. Raises ValueError as `gemm`.
    """
    check_whole(M=M, hidden=hidden)
    check_positive(b=b)
    one = M * hidden * b
    return Cost(M * hidden, {"X": one, "residual": one, "Y": one})


def combine(T: int, top_k: int, hidden: int, b: float = 2) -> Cost:
    """The weighted sum of each token's top_k experts' outputs: 2 FLOPs per element read, one row written per token.

    For k experts and rows of width h, $(k + 1) T h b$ bytes. Raises ValueError as `gemm`.
    """
    check_whole(T=T, top_k=top_k, hidden=hidden)
    check_positive(b=b)
    return Cost(2 * T * top_k * hidden, {"X": T * top_k * hidden * b, "Y": T * hidden * b})


def quantise(M: int, width: int, b: float, b_y: float) -> Cost:
    """The pass that quantises activations on their way to quantised weights (W8A8): 3 FLOPs per element.

    A comparison for the row's largest value, a multiplication, a rounding. For rows of width h, $M h (b + b_y)$ bytes;
    the scales, one per row or group, are left out. Raises ValueError as `gemm`.
    """
    check_whole(M=M, width=width)
    check_positive(b=b, b_y=b_y)
    return Cost(3 * M * width, {"X": M * width * b, "Y": M * width * b_y})


def column_parallel(K: int, N: int, t: int) -> tuple[int, int]:
    """Shape $(K, N/t)$ of a linear layer's share on one of t cards, split by its outputs (q, k, v, gate, up).

    Raises:
        ValueError: t does not divide N.
    """
    check_whole(K=K, N=N, t=t)
    if N % t:
        raise ValueError(f"t = {t}: must divide the output width N ({N})")
    return K, N // t


def row_parallel(K: int, N: int, t: int) -> tuple[int, int]:
    """Shape $(K/t, N)$ of a linear layer's share on one of t cards, split by its inputs (o, down).

    Each card then holds a partial sum of all N outputs; the all-reduce crosses the link between the cards, not the
    memory bus.

    Raises:
        ValueError: t does not divide K.
    """
    check_whole(K=K, N=N, t=t)
    if K % t:
        raise ValueError(f"t = {t}: must divide the input width K ({K})")
    return K // t, N


def kv_heads_per_card(n_kv: int, t: int) -> int:
    r"""KV heads on each of t cards: $\max(1, n_{kv}/t)$, one being replicated $t/n_{kv}$ times where t is larger.

    Raises:
        ValueError: neither of t and n_kv divides the other.

    >>> kv_heads_per_card(4, 2), kv_heads_per_card(4, 8)
    (2, 1)
    """
    check_whole(n_kv=n_kv, t=t)
    if n_kv % t and t % n_kv:
        raise ValueError(f"t = {t}: must divide n_kv ({n_kv}), or be a multiple of it so that KV heads are replicated")
    return max(1, n_kv // t)
