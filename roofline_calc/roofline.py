"""The two roofs: where they meet, how high they are, and which one an operator is under."""

from collections.abc import Callable, Iterable

from .checks import check_positive, check_whole
from .operators import Cost, gemm

# --8<-- [start:regime]
RIDGE = 165  # FLOP/byte: an RTX 4090's 165.2 TFLOP/s over 1 TB/s, rounded


def regime(I: float, ridge: float = RIDGE) -> str:
    """Which roof limits a kernel of intensity I: flat from the ridge on."""
    check_positive(I=I, ridge=ridge)
    return "compute-bound" if ridge <= I else "memory-bound"
# --8<-- [end:regime]


def ridge_point(peak: float, bandwidth: float) -> float:
    """$I^* = P/B$ in FLOP/byte: the least intensity at which a kernel can reach the peak.

    Args:
        peak: P in FLOP/s. bandwidth: B in byte/s.

    Raises:
        ValueError: either is not positive and finite.

    >>> round(ridge_point(165.2e12, 1008e9), 1)
    163.9

    Source: Williams, Waterman & Patterson, CACM 52(4), 2009.
    """
    check_positive(peak=peak, bandwidth=bandwidth)
    return peak / bandwidth


def attainable(I: float, peak: float, bandwidth: float) -> float:
    r"""Attainable performance $\min(P, I B)$ in FLOP/s, for intensity I in FLOP/byte.

    Raises:
        ValueError: an argument is not positive and finite.

    >>> attainable(7, 165.2e12, 1008e9) / 1e12
    7.056

    Source: Williams, Waterman & Patterson, CACM 52(4), 2009.
    """
    check_positive(I=I, peak=peak, bandwidth=bandwidth)
    return min(peak, I * bandwidth)


def kernel_by_kernel(costs: Iterable[Cost], peak: float, bandwidth: float) -> float:
    r"""Seconds of kernels run one after the other: $\sum_i \max(F_i/P, D_i/B)$, F FLOPs and D bytes.

    Each kernel is at its own roof, arithmetic and traffic overlapping inside it, none with another's. No engine that
    runs kernels so can be faster; one that overlaps or fuses them can.

    Raises:
        ValueError: peak (FLOP/s) or bandwidth (byte/s) is not positive and finite.

    >>> round(kernel_by_kernel([gemm(1, 3584, 3584)], 165.2e12, 1008e9) * 1e6, 1)  # microseconds
    25.5
    """
    check_positive(peak=peak, bandwidth=bandwidth)
    return sum(max(cost.flops / peak, cost.bytes / bandwidth) for cost in costs)


def gemm_limit(K: int, N: int, b_x: float = 2, b_y: float = 2) -> float:
    """The intensity that no batch exceeds: that of a linear layer as M grows without bound, in FLOP/byte.

    $2KN / (b_x K + b_y N)$: the weights' share of the traffic has vanished, and with it their width.

    Raises:
        ValueError: K or N is not a positive whole number, or a width is not positive.

    >>> round(gemm_limit(3584, 16), 1)  # a LoRA A-matrix of rank 16
    15.9
    """
    per_token = gemm(1, K, N, b_x, 1, b_y)
    return per_token.flops / (per_token.traffic["X"] + per_token.traffic["Y"])


def gemm_crossing(K: int, N: int, ridge: float, b_x: float = 2, b_w: float = 2, b_y: float = 2) -> float | None:
    """The tokens in flight M*, not rounded, at which a linear layer's intensity equals the ridge point I*.

    From $1/I = (b_x/N + b_w/M + b_y/K)/2$ follows $M^* = b_w / (2/I^* - b_x/N - b_y/K)$.

    Returns:
        None where no batch reaches the ridge: arithmetic on it fails instead of passing for a number.

    Raises:
        ValueError: K or N is not a positive whole number, a width or the ridge is not positive and finite.

    >>> round(gemm_crossing(3584, 512, ridge=165), 1)
    261.2
    >>> print(gemm_crossing(3584, 128, ridge=165))  # a router for 128 experts
    None
    """
    check_positive(ridge=ridge, b_w=b_w)
    limit = gemm_limit(K, N, b_x, b_y)
    return b_w / (2 / ridge - 2 / limit) if limit > ridge else None


def regime_of(cost: Cost, ridge: float = RIDGE) -> str:
    """Which roof limits a kernel, also one that only moves data and so has no intensity to speak of.

    Raises:
        ValueError: the ridge is not positive and finite.
    """
    if cost.flops:
        return regime(cost.intensity, ridge)
    check_positive(ridge=ridge)
    return "memory-bound"


def first_whole(holds: Callable[[int], bool], at_most: int = 2**40) -> int | None:
    """The least whole number from 1 on for which a condition holds that, once true, stays true; None beyond at_most.

    Raises:
        ValueError: at_most is not a positive whole number.

    >>> first_whole(lambda n: n * n >= 50)
    8
    """
    check_whole(at_most=at_most)
    high = 1
    while not holds(high):
        if high == at_most:
            return None
        high = min(2 * high, at_most)
    low = high // 2
    while high - low > 1:  # false at low (or low is 0), true at high
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def first_compute_bound(intensity: Callable[[int], float], ridge: float = RIDGE, at_most: int = 2**40) -> int | None:
    """The least whole size (tokens, context, batch, …) at which an operator is compute-bound.

    Args:
        intensity: FLOP/byte as a function of the size; must not fall as the size grows.
        ridge: I* in FLOP/byte. at_most: the largest size tried.

    Returns:
        None where even at_most is memory-bound.

    Raises:
        ValueError: the ridge is not positive and finite, or at_most not a positive whole number.

    >>> from roofline_calc import gemm_intensity
    >>> first_compute_bound(lambda M: gemm_intensity(M, 3584, 512))
    262
    """
    return first_whole(lambda size: regime(intensity(size), ridge) == "compute-bound", at_most)
