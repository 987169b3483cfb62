"""The lesson's charts, every position computed by the calculator: light and dark, wide and narrow, in both languages:

    {language: {name: svg}}

printed as JSON for the build."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from roofline_calc import QWEN, RTX_4090, attention, attn_intensity, gemm_intensity, read_results
from roofline_calc.figure import NARROW, WIDE, Curve, Point, curves_svg, in_dark, measured_svg, roofline_svg
from roofline_calc.measured import MIME, Results, results_of

HEADS = QWEN.n_q, QWEN.n_kv, QWEN.head_dim
SHAPES = QWEN.projections()
RESULTS = Path(__file__).parent / "results"  # of the lab, a file per machine
NOTEBOOK = Path(__file__).parent.parent / "docs" / "en" / "lab-notebook.ipynb"  # the Chinese one keeps the same run

WORDS = {
    "zh": {
        "lang": "zh",
        "title": f"{RTX_4090.name} 的算子 roofline",
        "intensity": "算术强度 I（FLOP/byte）",
        "performance": "可达性能（TFLOP/s）",
        "memory-bound": "访存受限",
        "compute-bound": "算力受限",
        "ridge": "拐点 I* = {:.1f}",
        "tokens": "同批 token 数 M",
        "context": "prefill 长度 S（token）",
        "prefill": "prefill attention",
        "measured": "实测 roofline：{}",
        "achieved": "性能（TFLOP/s）",
        "gemm-rotated": "GEMM，操作数轮换",
        "gemm-reused": "GEMM，只用一组",
        "gemm-int8": "GEMM，int8 权重",
        "attention-decode": "decode attention",
        "attention-fused": "prefill，融合",
        "attention-naive": "prefill，朴素",
    },
    "en": {
        "lang": "en",
        "title": f"Operator roofline of an {RTX_4090.name}",
        "intensity": "arithmetic intensity I (FLOP/byte)",
        "performance": "attainable performance (TFLOP/s)",
        "memory-bound": "memory-bound",
        "compute-bound": "compute-bound",
        "ridge": "ridge point I* = {:.1f}",
        "tokens": "tokens in flight M",
        "context": "prefill length S (tokens)",
        "prefill": "prefill attention",
        "measured": "Measured roofline: {}",
        "achieved": "performance (TFLOP/s)",
        "gemm-rotated": "GEMM, operands rotated",
        "gemm-reused": "GEMM, one set reused",
        "gemm-int8": "GEMM, int8 weights",
        "attention-decode": "decode attention",
        "attention-fused": "prefill, fused",
        "attention-naive": "prefill, naive",
    },
}


def operators(words: dict[str, str], size: tuple[float, float]) -> str:
    """One layer's operators on the roofs of an RTX 4090."""
    prefill = attention(*HEADS, 2048, 2048, mask="causal").intensity
    points = [
        Point("q_proj, M = 1", gemm_intensity(1, *SHAPES["q_proj"])),
        Point("decode attention", attention(*HEADS, 1, 2048).intensity),
        Point("k_proj, M = 256", gemm_intensity(256, *SHAPES["k_proj"])),
        Point("q_proj, M = 256", gemm_intensity(256, *SHAPES["q_proj"])),
        Point(words["prefill"], prefill),
    ]
    return roofline_svg(points, RTX_4090.peak_of("bf16"), RTX_4090.bandwidth, words, size)


def reading(words: dict[str, str], size: tuple[float, float]) -> str:
    """One layer on either side of the ridge: the chart at its simplest."""
    points = [Point(f"q_proj, M = {M}", gemm_intensity(M, *SHAPES["q_proj"])) for M in (1, 256)]
    return roofline_svg(points, RTX_4090.peak_of("bf16"), RTX_4090.bandwidth, words, size)


def knob(words: dict[str, str], size: tuple[float, float]) -> str:
    """GEMM intensity is a knob that M turns; the thinner the layer, the later it crosses."""
    sizes = range(1, 4097)
    layers = {"q_proj": SHAPES["q_proj"], "k_proj": SHAPES["k_proj"],
              "N = 128": (QWEN.hidden, 128)}

    def of(K: int, N: int) -> Callable[[int], float]:
        return lambda M: gemm_intensity(M, K, N)

    curves = [Curve(name, sizes, of(*shape)) for name, shape in layers.items()]
    return curves_svg(curves, RTX_4090.ridge(), words | {"size": words["tokens"]}, size)


def accountings(words: dict[str, str], size: tuple[float, float]) -> str:
    """Prefill attention as each accounting sees it: by K and V alone, fused and naive, these two masked and not."""
    def prefill(mask: str = "none", passes: int = 0) -> Callable[[int], float]:
        return lambda S: attention(*HEADS, S, S, mask=mask, passes=passes).intensity

    sizes = range(1, 8193)
    curves = [
        Curve("kv-only", sizes, lambda S: attn_intensity(*HEADS[:2], "prefill", S), "--"),
        Curve("q+kv+o", sizes, prefill()),
        Curve("causal", sizes, prefill(mask="causal")),
        Curve("naive ×4", sizes, prefill(passes=4), ":"),
        Curve("causal ×4", sizes, prefill(mask="causal", passes=4), ":"),
    ]
    return curves_svg(curves, RTX_4090.ridge(), words | {"size": words["context"]}, size)


def lab(results: Results, words: dict[str, str], size: tuple[float, float]) -> str:
    """What the lab measured on one machine, under the roofs that it measured there."""
    here = words | {"title": words["measured"], "performance": words["achieved"]}
    return measured_svg(results, here, size)


def stored_run(notebook: Path) -> Results:
    """The run of the lab whose outputs a notebook has stored."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = (output.get("data", {}) for cell in cells for output in cell.get("outputs", ()))
    return results_of(next(data[MIME] for data in outputs if MIME in data))


def main() -> None:
    charts = {
        "roofline": operators, "roofline-reading": reading, "gemm-knob": knob, "attention-accountings": accountings,
    }
    charts |= {f"lab-{file.stem}": partial(lab, read_results(file)) for file in sorted(RESULTS.glob("*.json"))}
    charts["lab-notebook"] = partial(lab, stored_run(NOTEBOOK))
    drawn: dict[str, dict[str, str]] = {language: {} for language in WORDS}
    for language, words in WORDS.items():
        for name, draw in charts.items():
            for suffix, size in (("", WIDE), (".narrow", NARROW)):
                svg = draw(words, size)
                drawn[language] |= {name + suffix: svg, f"{name}{suffix}.dark": in_dark(svg)}
    print(json.dumps(drawn, ensure_ascii=False))


if __name__ == "__main__":
    main()
