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
    check_attention(n_q, n_kv, head_dim, L, S, b_q, b_kv,
                    mask, traffic, passes, b_score)
    pairs = L * S
    if mask == "causal":  # the first query sees S - L + 1 keys, the last all S
        pairs -= L * (L - 1) // 2
    moved = {"K": n_kv * S * head_dim * b_kv, "V": n_kv * S * head_dim * b_kv}
    if traffic == "q+kv+o":
        moved["Q"] = moved["O"] = n_q * L * head_dim * b_q
    if passes:
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
