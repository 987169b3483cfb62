"""Roofline arithmetic for transformer inference: intensity, regimes and least times from shapes alone.

>>> from roofline_calc import gemm_intensity, regime
>>> regime(gemm_intensity(256, 3584, 3584))
'compute-bound'
"""

from importlib import import_module

from .operators import (
    Cost,
    attention,
    attn_intensity,
    column_parallel,
    combine,
    embedding,
    experts_touched,
    gemm,
    gemm_intensity,
    grouped_gemm,
    kv_heads_per_card,
    mla_attention,
    mla_expanded_attention,
    quantise,
    quantised_width,
    relu2,
    residual,
    rms_norm,
    rope,
    row_parallel,
    shared_prefix_attention,
    swiglu,
    window_attention,
)
from .roofline import (
    RIDGE,
    attainable,
    first_compute_bound,
    first_whole,
    gemm_crossing,
    gemm_limit,
    kernel_by_kernel,
    regime,
    regime_of,
    ridge_point,
)

TYPE_CHECKING = False  # without the cost of importing typing
if TYPE_CHECKING:
    from .analysis import (
        Report,
        Roofs,
        Row,
        analyse,
        crossings,
        first_batch,
        first_context,
        first_query_tokens,
        largest_batch,
        largest_context,
        sweep,
    )
    from .catalog import ACCELERATORS, MODELS, QWEN, RTX_4090, Accelerator, read_accelerators, read_models
    from .checkpoints.formats import FORMATS, bytes_of, stored_as
    from .checkpoints.read import read_config
    from .exchange import (
        Exchange,
        all_gather,
        all_reduce,
        cards_touched,
        dispatch,
        exchange_bound,
        exchange_by_exchange,
    )
    from .layers import Linear
    from .linear_attention import gated_delta_rule, mamba2_scan, short_convolution
    from .measured import Measurement, Results, read_results
    from .mixers import DeltaNet, Mamba2
    from .model import Model
    from .partial_attention import chunked_attention, index_scores
    from .parts import GlobalHeads, Indexer, LayerInputs, SharedCache
    from .precision import WIDTHS, Precision, Stored, width_of
    from .shapes import MLA, MoE
    from .step import Step

__all__ = [
    "ACCELERATORS",
    "FORMATS",
    "MLA",
    "MODELS",
    "QWEN",
    "RIDGE",
    "RTX_4090",
    "WIDTHS",
    "Accelerator",
    "Cost",
    "DeltaNet",
    "Exchange",
    "GlobalHeads",
    "Indexer",
    "LayerInputs",
    "Linear",
    "Mamba2",
    "Measurement",
    "MoE",
    "Model",
    "Precision",
    "Report",
    "Results",
    "Roofs",
    "Row",
    "SharedCache",
    "Step",
    "Stored",
    "all_gather",
    "all_reduce",
    "analyse",
    "attainable",
    "attention",
    "attn_intensity",
    "bytes_of",
    "cards_touched",
    "chunked_attention",
    "column_parallel",
    "combine",
    "crossings",
    "dispatch",
    "embedding",
    "exchange_bound",
    "exchange_by_exchange",
    "experts_touched",
    "first_batch",
    "first_compute_bound",
    "first_context",
    "first_query_tokens",
    "first_whole",
    "gated_delta_rule",
    "gemm",
    "gemm_crossing",
    "gemm_intensity",
    "gemm_limit",
    "grouped_gemm",
    "index_scores",
    "kernel_by_kernel",
    "kv_heads_per_card",
    "largest_batch",
    "largest_context",
    "mamba2_scan",
    "mla_attention",
    "mla_expanded_attention",
    "quantise",
    "quantised_width",
    "read_accelerators",
    "read_config",
    "read_models",
    "read_results",
    "regime",
    "regime_of",
    "relu2",
    "residual",
    "ridge_point",
    "rms_norm",
    "rope",
    "row_parallel",
    "shared_prefix_attention",
    "short_convolution",
    "stored_as",
    "sweep",
    "swiglu",
    "width_of",
    "window_attention",
]

# Loaded on first use, so that the formulas alone import in no time.
_LATER = {
    ".analysis": (
        "Report", "Roofs", "Row", "analyse", "crossings", "first_batch", "first_context",
        "first_query_tokens", "largest_batch", "largest_context", "sweep",
    ),
    ".catalog": ("ACCELERATORS", "MODELS", "QWEN", "RTX_4090", "Accelerator", "read_accelerators", "read_models"),
    ".checkpoints.read": ("read_config",),
    ".exchange": (
        "Exchange", "all_gather", "all_reduce", "cards_touched", "dispatch", "exchange_bound", "exchange_by_exchange",
    ),
    ".checkpoints.formats": ("FORMATS", "bytes_of", "stored_as"),
    ".layers": ("Linear",),
    ".measured": ("Measurement", "Results", "read_results"),
    ".model": ("Model",),
    ".linear_attention": ("gated_delta_rule", "mamba2_scan", "short_convolution"),
    ".mixers": ("DeltaNet", "Mamba2"),
    ".partial_attention": ("chunked_attention", "index_scores"),
    ".precision": ("WIDTHS", "Precision", "Stored", "width_of"),
    ".parts": ("GlobalHeads", "Indexer", "LayerInputs", "SharedCache"),
    ".shapes": ("MLA", "MoE"),
    ".step": ("Step",),
}
_HOME = {name: module for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
