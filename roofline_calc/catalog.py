"""Accelerators and models as data: read from the TOML files beside this module."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .checks import check_choice, check_positive, check_whole
from .model import Model
from .operators import Cost
from .roofline import attainable, ridge_point, time_floor


@dataclass(frozen=True, kw_only=True)
class Accelerator:
    """One card by its spec sheet: dense peak in FLOP/s by data type, bandwidth in byte/s, sizes in bytes.

    Raises:
        ValueError: a figure is not positive, or a data type has no peak.
    """

    name: str
    bandwidth: float
    memory: int
    last_level_cache: int
    peak: Mapping[str, float]
    source: str

    def __post_init__(self) -> None:
        check_positive(bandwidth=self.bandwidth, **{f"peak.{dtype}": rate for dtype, rate in self.peak.items()})
        check_whole(memory=self.memory, last_level_cache=self.last_level_cache)

    def peak_of(self, dtype: str = "bf16") -> float:
        """Dense peak in FLOP/s for a data type."""
        check_choice(tuple(self.peak), dtype=dtype)
        return self.peak[dtype]

    def ridge(self, dtype: str = "bf16") -> float:
        """Ridge point I* in FLOP/byte."""
        return ridge_point(self.peak_of(dtype), self.bandwidth)

    def attainable(self, I: float, dtype: str = "bf16") -> float:
        """Attainable performance in FLOP/s of a kernel of intensity I (FLOP/byte)."""
        return attainable(I, self.peak_of(dtype), self.bandwidth)

    def time_floor(self, costs: Iterable[Cost], dtype: str = "bf16") -> float:
        """Least seconds for kernels run one after the other, each held back by its own roof."""
        return time_floor(costs, self.peak_of(dtype), self.bandwidth)


def _read(name: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


ACCELERATORS = {key: Accelerator(**fields) for key, fields in _read("accelerators.toml").items()}
MODELS = {key: Model(**fields) for key, fields in _read("models.toml").items()}

RTX_4090 = ACCELERATORS["rtx-4090"]
QWEN = MODELS["qwen2.5-7b"]
