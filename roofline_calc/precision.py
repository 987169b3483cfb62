"""Data types by name, how many bytes each kind of operand takes in a step, and what multiplies in which type."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from .checks import check_choice, check_positive, check_whole
from .operators import quantised_width

# Bytes per element; fp16acc and fp8acc are FP16 and FP8 that accumulate in FP16. The block formats carry one scale per
# group: OCP MX 1.0 (32 elements, 8 bits), NVFP4 (16, 8 bits).
WIDTHS = {
    "fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp16acc": 2,
    "fp8": 1, "fp8acc": 1, "int8": 1, "fp4": 0.5, "int4": 0.5,
    "mxfp4": quantised_width(4, group=32, scale_bytes=1), "nvfp4": quantised_width(4, group=16, scale_bytes=1),
}

# Stored like norms and biases unless a checkpoint says otherwise: quantised ones usually leave these alone.
WIDE = ("router", "shared_expert_gate", "lm_head", "embedding")


def width_of(dtype: str) -> float:
    """Bytes per element of a data type by name; "int4-g128" adds a 2-byte scale per group of 128 weights.

    A further "-zero" adds a zero point per group, as many bits as a weight (AWQ, asymmetric GPTQ).

    Raises:
        ValueError: the name is unknown, or the group no positive whole number.

    >>> width_of("fp8"), width_of("int4-g128"), width_of("int4-g128-zero")
    (1, 0.515625, 0.51953125)
    """
    name, _, group = dtype.partition("-g")
    check_choice(tuple(WIDTHS), dtype=name)
    if not _:
        return WIDTHS[name]
    size, _, zero = group.partition("-")
    if not size.isdecimal() or zero not in ("", "zero") or (_ and not zero):
        raise ValueError(f"dtype = {dtype!r}: a group is written '-g128' or '-g128-zero'")
    bits = 8 * WIDTHS[name]
    return quantised_width(bits, group=int(size), zero_bits=bits if zero else 0)


@dataclass(frozen=True)
class Stored:
    """How a checkpoint stores the weights of a linear layer.

    Args:
        width: bytes per weight, scales and zero points included.
        multiplies: data type of the product where activations are quantised as well (W8A8: "fp8" or "int8"); None
            where weights are widened to the activations' type (weight-only quantisation).
        block: outputs and inputs that share a scale, (128, 128) or (1, 128), where engines cut a layer between such
            blocks only; None where they cut anywhere.

    Raises:
        ValueError: the width is not positive and finite, a side of the block no positive whole number, or the data type
            is unknown.
    """

    width: float
    multiplies: str | None = None
    block: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        check_positive(width=self.width)
        if self.block is not None:
            outputs, inputs = self.block
            check_whole(block_outputs=outputs, block_inputs=inputs)
        if self.multiplies is not None:
            check_choice(tuple(WIDTHS), multiplies=self.multiplies)

    def on(self, dtypes: Container[str]) -> "Stored":
        """The same on a card that multiplies in these data types: a product that it lacks takes widened weights."""
        return self if self.multiplies in dtypes else replace(self, multiplies=None)


@dataclass(frozen=True, kw_only=True)
class Precision:
    """Bytes per element of a step's operands, and the data types of its products where a checkpoint sets them.

    Args:
        activations: inputs of the decoder layers' linear layers (W8A8: 1).
        weights: their weights, but for those in ``modules``.
        kv: cached K and V.
        others: everything else: their outputs, Q and O, what element-wise operators touch, router, norms, biases,
            embedding and lm_head.
        modules: what is stored otherwise, by name: a linear layer as in `Model.projections` (q, k, v, gate and up
            apart), "router", "lm_head", "embedding", or "experts" and "layers" for all routed experts and all linear
            layers that are not named themselves. A product's data type sets the width of the activations, too.
        attention: data type of attention's two products, such as "fp8" (None: as whatever is not quantised).

    Raises:
        ValueError: a width is not positive and finite, or the data type is unknown.
    """

    activations: float = 2
    weights: float = 2
    kv: float = 2
    others: float = 2
    modules: Mapping[str, Stored] = field(default_factory=dict, hash=False)
    attention: str | None = None

    def __post_init__(self) -> None:
        check_positive(activations=self.activations, weights=self.weights, kv=self.kv, others=self.others)
        if self.attention is not None:
            check_choice(tuple(WIDTHS), attention=self.attention)

    def on(self, dtypes: Container[str]) -> Self:
        """The same on a card that multiplies in these data types; see `Stored.on`."""
        return replace(self, modules={name: stored.on(dtypes) for name, stored in self.modules.items()})

    def stored(self, layer: str) -> Stored:
        """How the weights of a linear layer, router, lm_head or embedding are stored."""
        keys = [layer]
        if layer not in WIDE:
            keys += ["experts", "layers"] if layer.startswith("expert_") else ["layers"]
        for key in keys:
            if key in self.modules:
                return self.modules[key]
        return Stored(self.others if layer in WIDE else self.weights)
