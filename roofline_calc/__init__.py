"""Roofline arithmetic for transformer inference: intensity, regimes and time floors from shapes alone.

>>> from roofline_calc import gemm_intensity, regime
>>> regime(gemm_intensity(256, 3584, 3584))
'compute-bound'
"""

from .catalog import ACCELERATORS, MODELS, QWEN, RTX_4090, Accelerator
from .model import Model
from .operators import Cost, attention, attn_intensity, gemm, gemm_intensity
from .roofline import (
    RIDGE,
    attainable,
    first_compute_bound,
    gemm_crossing,
    gemm_limit,
    regime,
    ridge_point,
    time_floor,
)

__all__ = [
    "ACCELERATORS",
    "MODELS",
    "QWEN",
    "RIDGE",
    "RTX_4090",
    "Accelerator",
    "Cost",
    "Model",
    "attainable",
    "attention",
    "attn_intensity",
    "first_compute_bound",
    "gemm",
    "gemm_crossing",
    "gemm_intensity",
    "gemm_limit",
    "regime",
    "ridge_point",
    "time_floor",
]
