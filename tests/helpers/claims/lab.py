"""What the lab page says of the stored CPU run, worked out from the file by longhand, without roofline_calc."""

import json
from collections.abc import Callable

from support import ROOT

FILE = "snippets/results/cpu-xeon-2-threads.json"
DATA = json.loads((ROOT / FILE).read_text(encoding="utf-8"))
READ, COPY, MATMUL = (DATA["roofs"][roof] for roof in ("B", "copy", "P"))
B = READ["size"] / READ["seconds"]["best"]
COPYING = 2 * COPY["size"] / COPY["seconds"]["best"]  # every byte is read and written
P = 2 * MATMUL["size"] ** 3 / MATMUL["seconds"]["best"]
TYPICAL_P = 2 * MATMUL["size"] ** 3 / MATMUL["seconds"]["median"]
K, N = DATA["gemm"]["K"], DATA["gemm"]["N"]
HEADS, KV_HEADS, WIDTH, BATCH = (DATA["attention"][name] for name in ("n_q", "n_kv", "head_dim", "batch"))


def seconds(series: str, size: int) -> float:
    return next(point["seconds"]["median"] for point in DATA["series"][series] if point["size"] == size)


def gbytes(series: str, M: int) -> float:
    return 2 * (M * K + K * N + M * N) / seconds(series, M) / 1e9


def share(M: int) -> float:
    """Achieved over attainable: the time that the tighter roof allows over the time taken."""
    return max(2 * M * K * N / P, 2 * (M * K + K * N + M * N) / B) / seconds("gemm-rotated", M)


def attention_bytes(S: int) -> float:
    """K and V of S tokens, Q and O of one, for each sequence of decode."""
    return BATCH * 2 * (2 * KV_HEADS * S * WIDTH + 2 * HEADS * WIDTH)


def gain(M: int) -> float:
    return seconds("gemm-rotated", M) / seconds("gemm-reused", M)


def misfit(join: Callable[[tuple[float, float]], float]) -> float:
    """Off by how much, in the median, where P and B are the most that the rotated series reached."""
    sizes = [point["size"] for point in DATA["series"]["gemm-rotated"]]
    reached = max(2 * M * K * N / seconds("gemm-rotated", M) for M in sizes)
    drawn = max(2 * (M * K + K * N + M * N) / seconds("gemm-rotated", M) for M in sizes)
    errors = sorted(
        abs(join((2 * M * K * N / reached, 2 * (M * K + K * N + M * N) / drawn)) / seconds("gemm-rotated", M) - 1)
        for M in sizes)
    middle = len(errors) // 2
    return errors[middle] if len(errors) % 2 else (errors[middle - 1] + errors[middle]) / 2


def naive_over_fused(S: int) -> float:
    """By the prediction: scores of every head four times over the bus at a copy's pace, against the peak."""
    flops, operands = 4 * HEADS * S * S * WIDTH, 2 * 2 * S * WIDTH * (HEADS + KV_HEADS)
    scores = 4 * 2 * HEADS * S * S
    return max(flops / P, (operands + scores) / COPYING) / max(flops / P, operands / B)


INT8_PEAK = max(2 * point["size"] * K * N / point["seconds"]["median"] for point in DATA["series"]["gemm-int8"])
RESULTS = f'read_results("{FILE}")'


def at(series: str, size: int) -> str:
    return f'{RESULTS}.at("{series}", {size})'


CLAIMS = {
    f"{RESULTS}.{field}": value
    for field, value in {
        "bandwidth / 1e9:.1f": f"{B / 1e9:.1f}",
        "copying / 1e9:.1f": f"{COPYING / 1e9:.1f}",
        "peak / 1e12:.2f": f"{P / 1e12:.2f}",
        "ridge:.1f": f"{P / B:.1f}",
        "machine": DATA["provenance"]["machine"]["name"],
        "dtype": DATA["dtype"],
        'provenance["date"][:10]': DATA["provenance"]["date"].partition("T")[0],
        'achieved("gemm-rotated", 1):.0%': f"{share(1):.0%}",
        'achieved("gemm-rotated", 8):.0%': f"{share(8):.0%}",
        'achieved("gemm-rotated", 96):.0%': f"{share(96):.0%}",
        'achieved("gemm-rotated", 1024):.0%': f"{share(1024):.0%}",
        'at("gemm-rotated", 4).bandwidth / 1e9:.1f': f"{gbytes('gemm-rotated', 4):.1f}",
        'at("gemm-rotated", 8).bandwidth / 1e9:.1f': f"{gbytes('gemm-rotated', 8):.1f}",
        'at("gemm-reused", 4).bandwidth / 1e9:.1f': f"{gbytes('gemm-reused', 4):.1f}",
        'achieved("attention-decode", 2048):.0%':
            f"{attention_bytes(2048) / B / seconds('attention-decode', 2048):.0%}",
        'at("attention-decode", 2048).bandwidth / 1e9:.1f':
            f"{attention_bytes(2048) / seconds('attention-decode', 2048) / 1e9:.1f}",
        "reuse_gain(4):.2f": f"{gain(4):.2f}",
        "reuse_gain(1024):.2f": f"{gain(1024):.2f}",
        "misfit(overlap=True):.0%": f"{misfit(max):.0%}",
        "misfit(overlap=False):.0%": f"{misfit(sum):.0%}",
        "ring / 1e6:,.0f": f"{DATA['ring'] / 1e6:,.0f}",
    }.items()
} | {
    f'{at("gemm-rotated", 1024)}.performance / {RESULTS}.roofs["P"].typical:.0%':
        f"{2 * 1024 * K * N / seconds('gemm-rotated', 1024) / TYPICAL_P:.0%}",
    f'{RESULTS}.predicted({at("attention-fused", 4096)}) / {RESULTS}.predicted({at("attention-naive", 4096)}):.1f':
        f"{naive_over_fused(4096):.1f}",
    f'max(one.performance for one in {RESULTS}.of("gemm-int8")) / 1e12:.2f': f"{INT8_PEAK / 1e12:.2f}",
    "2**16:,": "65,536",
    "(1024 // 128) * (3584 // 128)": "224",
    "-(-(1024 // 128) * (3584 // 128) // 128)": "2",
    "-(-(1024 // 128) * (3584 // 128) // 128) * 128": "256",
    "(1024 // 128) * (3584 // 128) / 256:.1%": "87.5%",
    "(1024 // 128) * (3584 // 128) / 264:.1%": "84.8%",
    "(1024 // 128) * (18944 // 128) / 1280:.1%": "92.5%",
} | {
    f'{at("attention-naive", S)}.seconds / {at("attention-fused", S)}.seconds:.1f':
        f"{seconds('attention-naive', S) / seconds('attention-fused', S):.1f}"
    for S in (512, 4096)
} | {
    f'{at(series, M)}.seconds * 1e3:.2f': f"{seconds(series, M) * 1e3:.2f}"
    for series in ("gemm-rotated", "gemm-int8") for M in (1, 64)
}
