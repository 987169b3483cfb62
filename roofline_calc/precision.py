"""Data types by name, and how many bytes each kind of operand takes in a model's step."""

from dataclasses import dataclass

from .checks import check_choice, check_positive
from .operators import quantised_width

# Bytes per element; fp16acc and fp8acc are FP16 and FP8 that accumulate in FP16. The block formats carry one scale per
# group: OCP MX 1.0 (32 elements, 8 bits), NVFP4 (16, 8 bits).
WIDTHS = {
    "fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp16acc": 2,
    "fp8": 1, "fp8acc": 1, "int8": 1, "fp4": 0.5, "int4": 0.5,
    "mxfp4": quantised_width(4, group=32, scale_bytes=1), "nvfp4": quantised_width(4, group=16, scale_bytes=1),
}


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


@dataclass(frozen=True, kw_only=True)
class Precision:
    """Bytes per element of a step's operands.

    Args:
        activations: inputs of the decoder layers' linear layers (W8A8: 1).
        weights: their weights, but for those of routed experts where ``experts`` says otherwise.
        kv: cached K and V.
        others: everything else: their outputs, Q and O, what element-wise operators touch, router, norms, biases,
            embedding and lm_head, which quantised checkpoints leave alone.

    Raises:
        ValueError: a width is not positive and finite.
    """

    activations: float = 2
    weights: float = 2
    experts: float | None = None
    kv: float = 2
    others: float = 2

    def __post_init__(self) -> None:
        check_positive(
            activations=self.activations, weights=self.weights, experts=self.of("experts"), kv=self.kv,
            others=self.others,
        )

    def of(self, stored: str) -> float:
        """Bytes per weight of the matrices stored as "weights", "experts" or "others"."""
        if stored == "experts" and self.experts is not None:
            return self.experts
        return self.others if stored == "others" else self.weights

    def operands(self, stored: str) -> tuple[float, float, float]:
        """Bytes per element of X, W and Y of a linear layer whose weights are stored so."""
        return self.others if stored == "others" else self.activations, self.of(stored), self.others
