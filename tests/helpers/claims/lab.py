"""What the lab page says of the stored CPU run, worked out from the file by longhand, without roofline_calc."""

import json

from support import ROOT

FILE = "snippets/results/cpu-xeon-2-threads.json"
DATA = json.loads((ROOT / FILE).read_text(encoding="utf-8"))
COPY, MATMUL = (DATA["roofs"][roof] for roof in "BP")
B = 2 * COPY["size"] / COPY["seconds"]["best"]  # every byte is read and written
P = 2 * MATMUL["size"] ** 3 / MATMUL["seconds"]["best"]
K, N = DATA["gemm"]["K"], DATA["gemm"]["N"]


def seconds(series: str, M: int) -> float:
    return next(point["seconds"]["median"] for point in DATA["series"][series] if point["size"] == M)


def gbytes(series: str, M: int) -> float:
    return 2 * (M * K + K * N + M * N) / seconds(series, M) / 1e9


def share(M: int) -> float:
    """Achieved over attainable: the time that the tighter roof allows over the time taken."""
    return max(2 * M * K * N / P, 2 * (M * K + K * N + M * N) / B) / seconds("gemm-rotated", M)


def attention_share(S: int) -> float:
    """K and V of S tokens, Q and O of one, for each sequence; far from compute-bound."""
    n_q, n_kv, d, batch = (DATA["attention"][name] for name in ("n_q", "n_kv", "head_dim", "batch"))
    return batch * 2 * (2 * n_kv * S * d + 2 * n_q * d) / B / seconds("attention-decode", S)


def gain(M: int) -> float:
    return seconds("gemm-rotated", M) / seconds("gemm-reused", M)


CLAIMS = {
    f'read_results("{FILE}").{field}': value
    for field, value in {
        "bandwidth / 1e9:.1f": f"{B / 1e9:.1f}",
        "peak / 1e12:.2f": f"{P / 1e12:.2f}",
        "ridge:.1f": f"{P / B:.1f}",
        "machine": DATA["provenance"]["machine"]["name"],
        "dtype": DATA["dtype"],
        'provenance["date"][:10]': DATA["provenance"]["date"].partition("T")[0],
        'achieved("gemm-rotated", 1):.0%': f"{share(1):.0%}",
        'achieved("gemm-rotated", 8):.0%': f"{share(8):.0%}",
        'achieved("gemm-rotated", 1024):.0%': f"{share(1024):.0%}",
        'at("gemm-rotated", 1).bandwidth / 1e9:.1f': f"{gbytes('gemm-rotated', 1):.1f}",
        'at("gemm-reused", 1).bandwidth / 1e9:.1f': f"{gbytes('gemm-reused', 1):.1f}",
        'achieved("attention-decode", 2048):.0%': f"{attention_share(2048):.0%}",
        "reuse_gain(1):.2f": f"{gain(1):.2f}",
        "reuse_gain(1024):.2f": f"{gain(1024):.2f}",
        'rotation["copies"]': f"{DATA['gemm']['copies']}",
        'rotation["bytes"] / 1e6:,.0f': f"{DATA['gemm']['copies'] * K * N * 2 / 1e6:,.0f}",
    }.items()
}
