"""What some architectures have beside, or instead of, parts of the ordinary transformer."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from .checks import check_positive, check_whole
from .operators import column_parallel, kv_heads_per_card


def share(width: int, t: int, what: str) -> int:
    """The share of a width or of heads, named in the error."""
    try:
        return column_parallel(1, width, t)[1]
    except ValueError:
        raise ValueError(f"t = {t}: must divide {what} ({width})") from None


@dataclass(frozen=True, kw_only=True)
class Indexer:
    """An index over the cached tokens, by which latent attention picks those it sees (DeepSeek-V3.2).

    Args:
        heads, dim: of the index's queries and keys. top_k: tokens that attention then sees.
        key_bytes: of one token's cached key in one layer, scales included (V3.2: 128 in FP8 and an FP32 scale).

    Raises:
        ValueError: a size is not a positive whole number, or key_bytes is not positive.
    """

    heads: int
    dim: int
    top_k: int
    key_bytes: float

    def __post_init__(self) -> None:
        check_whole(heads=self.heads, dim=self.dim, top_k=self.top_k)
        check_positive(key_bytes=self.key_bytes)

    def card(self, t: int) -> Self:
        """One card's share: of the heads; keys are on every card. Many engines compute all heads on every card."""
        return replace(self, heads=share(self.heads, t, "the index's heads"))


@dataclass(frozen=True, kw_only=True)
class GlobalHeads:
    """Heads of the layers with full attention where they have another shape than those with a window (Gemma 4).

    Args:
        n_kv, head_dim: their KV heads and width. v_proj: whether there is one; without, values come out of k_proj.

    Raises:
        ValueError: a size is not a positive whole number.
    """

    n_kv: int
    head_dim: int
    v_proj: bool = True

    def __post_init__(self) -> None:
        check_whole(n_kv=self.n_kv, head_dim=self.head_dim)

    def card(self, t: int) -> Self:
        """One card's share of the KV heads."""
        return replace(self, n_kv=kv_heads_per_card(self.n_kv, t))


@dataclass(frozen=True, kw_only=True)
class SharedCache:
    """The last layers have no k_proj and v_proj and read what an earlier layer of their kind has cached (Gemma 4 E2B).

    Args:
        window, full: how many such layers there are with a window, and with full attention.
        ffn_factor: how much wider than the others their feed-forward network is.

    Raises:
        ValueError: a size is not a positive whole number.
    """

    window: int
    full: int
    ffn_factor: int = 1

    def __post_init__(self) -> None:
        check_whole(window=self.window, full=self.full, ffn_factor=self.ffn_factor)


@dataclass(frozen=True, kw_only=True)
class LayerInputs:
    """A further embedding of each token for every layer, which enters there through a gate (Gemma 4 E2B).

    Args:
        vocab, width: rows of each layer's table, and how wide they are.

    Raises:
        ValueError: a size is not a positive whole number.
    """

    vocab: int
    width: int

    def __post_init__(self) -> None:
        check_whole(vocab=self.vocab, width=self.width)


class Heads(NamedTuple):
    """Attention layers of one kind: how many there are, how many keep a cache, and the shape of their KV heads.

    ``window``: tokens in the window or chunk, None for full attention. ``entry``: elements that a token has cached.
    """

    kernel: str
    layers: int
    caching: int
    n_kv: int
    head_dim: int
    entry: int
    window: int | None = None
    v_proj: bool = True
