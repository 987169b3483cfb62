"""Accelerators and models as data: read from the TOML files beside this module, or from files of your own."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .checks import check_choice, check_positive, check_whole
from .mixers import DeltaNet, Mamba2
from .model import Model
from .operators import Cost
from .parts import GlobalHeads, Indexer, LayerInputs, SharedCache
from .precision import Stored
from .roofline import attainable, kernel_by_kernel, ridge_point
from .shapes import MLA, MoE


@dataclass(frozen=True, kw_only=True)
class Accelerator:
    """One card by its spec sheet: dense peak in FLOP/s by data type, bandwidth in byte/s, sizes in bytes.

    Args:
        memory: all that the driver reports.
        last_level_cache: None where no figure is known.
        link: byte/s, in one direction, that the card can send to the others of its node at once; None for a lone card.
        source: where the figures come from.
        note: what to know of them, ECC for example.

    Raises:
        ValueError: a figure is not positive, or a data type has no peak.
    """

    name: str
    bandwidth: float
    memory: int
    peak: Mapping[str, float]
    source: str
    last_level_cache: int | None = None
    link: float | None = None
    maker: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        check_positive(bandwidth=self.bandwidth, **{f"peak.{dtype}": rate for dtype, rate in self.peak.items()})
        check_whole(memory=self.memory)
        if self.last_level_cache is not None:
            check_whole(last_level_cache=self.last_level_cache)
        if self.link is not None:
            check_positive(link=self.link)

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

    def kernel_by_kernel(self, costs: Iterable[Cost], dtype: str = "bf16") -> float:
        """Seconds of kernels run one after the other, each at its own roof; see the function of this name."""
        return kernel_by_kernel(costs, self.peak_of(dtype), self.bandwidth)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # not TOML, or not UTF-8
        raise ValueError(f"{path}: not a TOML file ({error})") from None
    for key, table in tables.items():
        if not isinstance(table, dict):
            raise ValueError(f"{path}: {key} = {table!r}: must be a table, [{key}], of the fields of one entry")
    return tables


def _entry(kind: type, path: Path, key: str, fields: dict[str, Any]) -> Any:
    """One entry of a file as an object; a wrong key or value is reported with the file and the entry."""
    try:
        return kind(**fields)
    except TypeError as error:  # a key that is missing or unknown, or a value of another type
        raise ValueError(f"{path}: [{key}]: {str(error).removeprefix(f'{kind.__name__}.__init__() ')}") from None
    except ValueError as error:
        raise ValueError(f"{path}: [{key}]: {error}") from None


def read_accelerators(path: str | Path) -> dict[str, Accelerator]:
    """Accelerators from a TOML file, one table each with the fields of `Accelerator`.

    Raises:
        ValueError: the file is no TOML, or an entry lacks a field, has one too many or one that makes no sense.
        OSError: the file cannot be read.
    """
    path = Path(path)
    return {key: _entry(Accelerator, path, key, fields) for key, fields in _read(path).items()}


_PARTS: dict[str, tuple[str, type]] = {  # tables of a model: their fields of `Model`, and what they make
    "moe": ("moe", MoE), "mla": ("mla", MLA), "index": ("index", Indexer), "delta_net": ("mixer", DeltaNet),
    "mamba2": ("mixer", Mamba2), "global_heads": ("global_heads", GlobalHeads),
    "shared_cache": ("shared_cache", SharedCache), "layer_inputs": ("layer_inputs", LayerInputs),
}


def _hashable(entry: dict[str, Any]) -> dict[str, Any]:
    """TOML's lists as tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}


def read_models(path: str | Path) -> dict[str, Model]:
    """Models from a TOML file, one table each with the fields of `Model`, whose parts are tables in it.

    A `mixer` is the table ``delta_net`` or ``mamba2``.

    Raises: as `read_accelerators`.
    """
    path = Path(path)
    models = {}
    for key, fields in _read(path).items():
        nested = {
            field: _entry(kind, path, key, fields.pop(name)) for name, (field, kind) in _PARTS.items() if name in fields
        }
        nested["left_out"] = tuple(fields.get("left_out", ()))
        nested["stored"] = {
            name: _entry(Stored, path, key, _hashable(entry)) for name, entry in fields.get("stored", {}).items()
        }
        models[key] = _entry(Model, path, key, fields | nested)
    return models


_HERE = Path(__file__).parent

ACCELERATORS: dict[str, Accelerator] = read_accelerators(_HERE / "accelerators.toml")
MODELS: dict[str, Model] = read_models(_HERE / "models.toml")

RTX_4090 = ACCELERATORS["rtx-4090"]
QWEN = MODELS["qwen2.5-7b"]
