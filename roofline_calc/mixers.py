"""Layers that have a state of fixed size in attention's place."""

from dataclasses import dataclass, replace
from typing import Self

from .checks import check_positive, check_whole
from .linear_attention import gated_delta_rule, mamba2_scan
from .operators import Cost


def _check_state(mixer: "Mixer") -> None:
    if mixer.state_width is not None:
        check_positive(state_width=mixer.state_width)
    mixer.cost(1, 1, 2)


def _split(t: int, what: str, heads: int) -> int:
    if heads % t:
        raise ValueError(f"t = {t}: must divide the {what} of the layers with a state ({heads})")
    return heads // t


@dataclass(frozen=True, kw_only=True)
class DeltaNet:
    """Gated delta net in place of attention (Qwen3-Next, Qwen3.5); see `gated_delta_rule`.

    Args:
        layers: how many of the layers have it. key_heads, value_heads, key_dim, value_dim: heads and their widths.
        taps: tokens that the short convolution of q, k and v spans.
        state_width: bytes per element of the state (None: as what is not quantised).

    Raises:
        ValueError: a size is not a positive whole number, or value_heads is not a multiple of key_heads.
    """

    layers: int
    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    taps: int
    state_width: float | None = None

    def __post_init__(self) -> None:
        check_whole(layers=self.layers, taps=self.taps)
        _check_state(self)

    def cost(self, L: int, S: int, b: float) -> Cost:
        """What the state costs one sequence in one layer."""
        heads = self.key_heads, self.value_heads, self.key_dim, self.value_dim
        return gated_delta_rule(*heads, L, S, b=b, b_state=self.state_width or b)

    @property
    def kernel(self) -> str:
        """Name of the kernel that updates and reads the state."""
        return "delta_rule"

    @property
    def prefix(self) -> str:
        """How the names of its linear layers begin."""
        return "linear_"

    @property
    def channels(self) -> int:
        """Width of what the short convolution sees: q, k and v."""
        return 2 * self.key_heads * self.key_dim + self.output

    @property
    def output(self) -> int:
        """Width of the layer's output before its projection."""
        return self.value_heads * self.value_dim

    @property
    def state(self) -> int:
        """Elements of one sequence's state in one layer, without what the convolution keeps."""
        return self.value_heads * self.key_dim * self.value_dim

    @property
    def inputs(self) -> dict[str, int]:
        """Widths of what is projected from the hidden state: q, k and v, the output's gate, beta and the decay."""
        return {
            "linear_qkv_proj": self.channels, "linear_z_proj": self.output,
            "linear_b_proj": self.value_heads, "linear_a_proj": self.value_heads,
        }

    @property
    def vectors(self) -> int:
        """Parameters of a layer outside its matrices: the convolution, the decay's rate and bias, the output's norm."""
        return self.channels * self.taps + 2 * self.value_heads + self.value_dim

    @property
    def normed(self) -> tuple[int, int]:
        """How many vectors of a token are normed before the output, and how wide each is."""
        return self.value_heads, self.value_dim

    def card(self, t: int) -> Self:
        """One card's share: of the heads of both kinds."""
        keys, values = _split(t, "key heads", self.key_heads), _split(t, "value heads", self.value_heads)
        return replace(self, key_heads=keys, value_heads=values)


@dataclass(frozen=True, kw_only=True)
class Mamba2:
    """Mamba-2 in place of attention (Nemotron-H, Granite 4); see `mamba2_scan`.

    Args:
        layers: how many of the layers have it. heads, head_dim: heads and their width.
        groups, state_dim: groups of heads that share B and C, and the width N of these.
        taps: tokens that the short convolution spans. conv_bias: on it.
        state_width: bytes per element of the state (None: as what is not quantised).

    Raises:
        ValueError: a size is not a positive whole number, or heads is not a multiple of groups.
    """

    layers: int
    heads: int
    head_dim: int
    groups: int
    state_dim: int
    taps: int
    conv_bias: bool = True
    state_width: float | None = None

    def __post_init__(self) -> None:
        check_whole(layers=self.layers, taps=self.taps)
        _check_state(self)

    def cost(self, L: int, S: int, b: float) -> Cost:
        """What the state costs one sequence in one layer."""
        return mamba2_scan(
            self.heads, self.head_dim, self.groups, self.state_dim, L, S, b=b, b_state=self.state_width or b
        )

    @property
    def kernel(self) -> str:
        """Name of the kernel that updates and reads the state."""
        return "mamba2_scan"

    @property
    def prefix(self) -> str:
        """How the names of its linear layers begin."""
        return "mamba_"

    @property
    def channels(self) -> int:
        """Width of what the short convolution sees: the input, B and C."""
        return self.output + 2 * self.groups * self.state_dim

    @property
    def output(self) -> int:
        """Width of the layer's output before its projection."""
        return self.heads * self.head_dim

    @property
    def state(self) -> int:
        """Elements of one sequence's state in one layer, without what the convolution keeps."""
        return self.heads * self.head_dim * self.state_dim

    @property
    def inputs(self) -> dict[str, int]:
        """Width of what is projected from the hidden state: the gate, what the convolution sees, the step sizes."""
        return {"mamba_in_proj": self.output + self.channels + self.heads}

    @property
    def vectors(self) -> int:
        """Parameters of a layer outside its matrices: the convolution, A, D and the steps' bias, the output's norm."""
        return self.channels * (self.taps + self.conv_bias) + 3 * self.heads + self.output

    @property
    def normed(self) -> tuple[int, int]:
        """How many vectors of a token are normed before the output, and how wide each is."""
        return self.groups, self.output // self.groups

    def card(self, t: int) -> Self:
        """One card's share: of the heads and the groups; a single group is on every card."""
        groups = 1 if self.groups == 1 else _split(t, "groups", self.groups)
        return replace(self, heads=_split(t, "heads", self.heads), groups=groups)


Mixer = DeltaNet | Mamba2
