"""The lesson's kernels and steps, worked out longhand with fractions from the raw numbers.

Nothing here calls roofline_calc: where that stands beside these sums, it is the one on trial.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import count

Kernel = tuple[Fraction, Fraction]  # FLOPs, bytes

P, B = Fraction(1652 * 10**11), Fraction(1008 * 10**9)  # 165.2 TFLOP/s, 1008 GB/s
RIDGES = [165, P / B]
H100 = Fraction(9894 * 10**11), Fraction(335 * 10**10)  # 989.4 TFLOP/s, 3.35 TB/s
H200 = Fraction(9894 * 10**11), Fraction(480 * 10**10)
CARD = 24_564 * 2**20  # what nvidia-smi reports of 24 GB

LAYERS = 28
Q, KV, FFN = (3584, 3584), (3584, 512), (3584, 18944)
SHAPES = [Q, KV, KV, Q, FFN, FFN, (18944, 3584)]  # q, k, v, o, gate, up, down
FUSED = [(3584, 4608), Q, (3584, 37888), (18944, 3584)]  # qkv, o, gate_up, down
LINEAR = LAYERS * sum(K * N for K, N in SHAPES) + 3584 * 152064  # weights that multiply, lm_head among them
READ = LINEAR + LAYERS * (3584 + 2 * 512 + 2 * 3584) + 3584  # biases of q, k, v; two norms a layer and the last
PARAMS = READ + 3584 * 152064  # the input embedding
KV_TOKEN = 28 * 2 * 4 * 128 * 2  # bytes: layers, K and V, heads, head_dim, width
W4 = Fraction(1, 2) + Fraction(2, 128)  # bytes per weight: four bits, and an FP16 scale per 128


def linear(M: int, K: int, N: int, b_w: Fraction | int = 2) -> Kernel:
    return Fraction(2 * M * K * N), Fraction(2 * M * K + b_w * K * N + 2 * M * N)


def attend(
    L: int, S: int, *, n_kv: int = 4, b_kv: Fraction | int = 2, causal: bool = False, passes: int = 0
) -> Kernel:
    pairs = sum(range(S - L + 1, S + 1)) if causal else L * S
    moved = 2 * n_kv * S * 128 * b_kv + 2 * 28 * L * 128 * 2 + passes * 28 * L * S * 2
    return Fraction(4 * 28 * 128 * pairs), Fraction(moved)


def times(n: int, kernel: Kernel) -> Kernel:
    return n * kernel[0], n * kernel[1]


def intensity(*kernels: Kernel) -> Fraction:
    return sum(flops for flops, _ in kernels) / sum(moved for _, moved in kernels)


def kernel_by_kernel(kernels: Iterable[Kernel], peak: Fraction = P, bandwidth: Fraction = B) -> Fraction:
    return sum(max(flops / peak, moved / bandwidth) for flops, moved in kernels)


def no_overlap(kernels: Iterable[Kernel], peak: Fraction = P, bandwidth: Fraction = B) -> Fraction:
    return sum(flops / peak + moved / bandwidth for flops, moved in kernels)


def lower_bound(
    kernels: Iterable[Kernel], tokens: int, context: int,
    peak: Fraction = P, bandwidth: Fraction = B, b_w: Fraction | int = 2,
) -> Fraction:
    """The arithmetic at the peak or the compulsory bytes: weights once, KV read or written, a row in for each token."""
    narrow = (2 - b_w) * LAYERS * sum(K * N for K, N in SHAPES)
    moved = 2 * READ - narrow + context * KV_TOKEN + tokens * 3584 * 2
    return max(sum(flops for flops, _ in kernels) / peak, moved / bandwidth)


def linears(M: int, b_w: Fraction | int = 2) -> list[Kernel]:
    return [times(LAYERS, linear(M, K, N, b_w)) for K, N in SHAPES] + [linear(M, 3584, 152064)]


def decode(batch: int, S: int, b_w: Fraction | int = 2, b_kv: Fraction | int = 2) -> list[Kernel]:
    return [*linears(batch, b_w), times(LAYERS * batch, attend(1, S, b_kv=b_kv))]


def decode_fused(batch: int, S: int) -> list[Kernel]:
    layers = [times(LAYERS, linear(batch, K, N)) for K, N in FUSED]
    return [*layers, linear(batch, 3584, 152064), times(LAYERS * batch, attend(1, S))]


def prefill(S: int) -> list[Kernel]:
    layers = [times(LAYERS, linear(S, K, N)) for K, N in FUSED] + [times(LAYERS, attend(S, S, causal=True))]
    return [*layers, linear(1, 3584, 152064)]


def aggregate(batch: int, S: int) -> Kernel:
    """All the FLOPs of a decode step, over weights and KV alone."""
    flops = batch * (2 * LINEAR + LAYERS * 4 * 28 * 128 * S)
    return Fraction(flops), Fraction(2 * READ + batch * S * KV_TOKEN)


def coarse(S: int, tokens: int) -> Fraction:
    """Weights and KV: 2N FLOPs for each token, weights once, KV of S tokens once."""
    return Fraction(2 * PARAMS * tokens, 2 * PARAMS + S * KV_TOKEN)


def first(I: Callable[[int], Fraction], ridge: Fraction | int) -> int:
    return next(n for n in count(1) if I(n) >= ridge)


def shown(value: Fraction | int, spec: str) -> str:
    return format(float(value), spec)
