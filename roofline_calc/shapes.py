"""The sizes that make a transformer: of its layers, experts and latent attention, and of one card's share of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .checks import check_positive, check_whole
from .mixers import Mixer
from .operators import experts_touched
from .parts import GlobalHeads, Heads, Indexer, LayerInputs, SharedCache
from .precision import Stored


class Spread(NamedTuple):
    """Over how many cards whole experts are spread, and how many groups of these attend to sequences of their own."""

    cards: int
    groups: int


ALONE = Spread(1, 1)


@dataclass(frozen=True, kw_only=True)
class MoE:
    """Routed experts in place of the dense feed-forward network, in all layers but the first ``dense_layers``.

    Args:
        experts, top_k: experts of a layer, and how many of them a token uses.
        intermediate: width of one expert. shared_intermediate: of all shared experts together, which every token uses.
        shared_gate: the shared experts' output is weighed by a projection of its own, one output wide (Qwen2-MoE).
        bias: on the experts' gate, up and down. router_bias: one number per expert.
        beside_dense: the dense network is there as well, in all layers, and three more norms; the router has scales of
            its input and of each expert (Gemma 4).
        latent: width into which the experts' input is projected and out of which their sum is (Nemotron 3 Super).
        spread: of one card's share, over how many cards whole experts are spread, and how many groups of cards, each
            with sequences of its own, send them tokens (see `Model.card`).

    Raises:
        ValueError: a size is not a positive whole number, or top_k exceeds experts.
    """

    experts: int
    top_k: int
    intermediate: int
    shared_intermediate: int = 0
    shared_gate: bool = False
    dense_layers: int = 0
    bias: bool = False
    router_bias: bool = False
    beside_dense: bool = False
    latent: int | None = None
    spread: Spread = ALONE

    def __post_init__(self) -> None:
        experts_touched(self.experts, self.top_k, 1)
        check_whole(intermediate=self.intermediate)
        if self.latent is not None:
            check_whole(latent=self.latent)
        for name, size in {"shared_intermediate": self.shared_intermediate, "dense_layers": self.dense_layers}.items():
            if size != 0:
                check_whole(**{name: size})
        check_whole(cards=self.spread.cards, groups=self.spread.groups)
        if self.experts % self.spread.cards:
            raise ValueError(f"ep = {self.spread.cards}: must divide the experts ({self.experts})")
        if self.shared_gate and not self.shared_intermediate:
            raise ValueError("shared_gate = True: there are no shared experts (shared_intermediate = 0)")

    @property
    def here(self) -> int:
        """Experts of a layer that one card holds."""
        return self.experts // self.spread.cards


@dataclass(frozen=True, kw_only=True)
class MLA:
    """Multi-head latent attention: ranks of the compressed queries and of the cached latent, widths per head.

    Args:
        kv_rank: d_c, of the cached latent. q_rank: of the compressed query, or None where q_proj is one matrix.
        nope, rope: the part of a head's query and key without and with rotary position. v: width of a head's value.

    Raises:
        ValueError: a size is not a positive whole number.
    """

    kv_rank: int
    nope: int
    rope: int
    v: int
    q_rank: int | None = None

    def __post_init__(self) -> None:
        check_whole(kv_rank=self.kv_rank, nope=self.nope, rope=self.rope, v=self.v)
        if self.q_rank is not None:
            check_whole(q_rank=self.q_rank)


@dataclass(frozen=True, kw_only=True)
class Shapes:
    """The sizes of a decoder-only transformer, checked; `Model` says what an ordinary one is.

    Args:
        o_bias, mlp_bias: biases on o_proj; on the dense gate, up and down.
        norms_per_layer: RMSNorms as wide as ``hidden`` in a layer (Gemma 2 and 3: 4, Command-R: 1).
        norm_bias, lm_head_bias: biases on these norms and the final one; on lm_head (Phi-3.5-MoE).
        qk_norm: RMSNorm of head_dim on every query and key head (Qwen3, Gemma 3).
        wide_qk_norm: instead, a norm whose weight spans all query heads and one that spans all key heads (OLMo 2).
        sinks: one learned logit per query head (GPT-OSS).
        rope_dim: width of the part of a head that RoPE turns (None: all of head_dim).
        nope_layers: layers whose attention goes without RoPE (SmolLM3, Llama 4).
        window, window_layers: tokens that sliding-window attention sees, and in how many of the layers.
        chunked: these layers attend within chunks of ``window`` tokens instead (Llama 4).
        output_gate: attention's output is weighed by a gate that q_proj computes as well, twice as wide (Qwen3-Next).
        gated_ffn: the feed-forward networks have a gate, or only up and down (Nemotron-H).
        ffn_layers: layers with a feed-forward network and nothing else, the others then having none (Nemotron-H;
            None: every layer has one behind its attention or mixer).
        layer_scalar: a number by which a layer's output is multiplied (Gemma 4).
        moe, mla, index, mixer: see `MoE`, `MLA`, `Indexer`, and `DeltaNet` or `Mamba2`.
        global_heads, shared_cache, layer_inputs: see `GlobalHeads`, `SharedCache`, `LayerInputs`.
        bytes_per_element: of weights, activations and KV cache. stored: how the checkpoint stores the weights that
            it keeps in other widths; names as in `Precision.modules`. kv_width: of the KV cache where it differs.
        cards: over how many tensor parallelism splits the layers; the shapes are one card's (see `Model.card`).
        left_out: what the checkpoint has beside all this, a sentence each.

    Raises:
        ValueError: a size is not a positive whole number, n_q is not a multiple of n_kv, or fields contradict.
    """

    name: str
    hidden: int
    layers: int
    n_q: int
    n_kv: int
    head_dim: int
    intermediate: int
    vocab: int
    tied_embeddings: bool
    qkv_bias: bool
    bytes_per_element: float
    source: str
    o_bias: bool = False
    mlp_bias: bool = False
    norms_per_layer: int = 2
    norm_bias: bool = False
    lm_head_bias: bool = False
    qk_norm: bool = False
    wide_qk_norm: bool = False
    sinks: bool = False
    rope_dim: int | None = None
    nope_layers: int = 0
    window: int | None = None
    window_layers: int = 0
    chunked: bool = False
    output_gate: bool = False
    gated_ffn: bool = True
    ffn_layers: int | None = None
    layer_scalar: bool = False
    moe: MoE | None = None
    mla: MLA | None = None
    index: Indexer | None = None
    mixer: Mixer | None = None
    global_heads: GlobalHeads | None = None
    shared_cache: SharedCache | None = None
    layer_inputs: LayerInputs | None = None
    stored: Mapping[str, Stored] = field(default_factory=dict, hash=False)
    kv_width: float | None = None
    cards: int = 1
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_whole(
            hidden=self.hidden, layers=self.layers, n_q=self.n_q, n_kv=self.n_kv, head_dim=self.head_dim,
            intermediate=self.intermediate, vocab=self.vocab, norms_per_layer=self.norms_per_layer,
        )
        check_positive(bytes_per_element=self.bytes_per_element)
        if self.kv_width is not None:
            check_positive(kv_width=self.kv_width)
        if self.n_q % self.n_kv:
            raise ValueError(f"n_q = {self.n_q}: must be a multiple of n_kv ({self.n_kv})")
        if self.window is not None:
            check_whole(window=self.window, window_layers=self.window_layers)
        elif self.window_layers:
            raise ValueError(f"window_layers = {self.window_layers}: there is no window")
        elif self.chunked:
            raise ValueError("chunked = True: there is no window, the width of a chunk")
        if self.qk_norm + self.wide_qk_norm > 1:
            raise ValueError("wide_qk_norm = True: qk_norm is another norm of q and k; a layer has one")
        if self.nope_layers:
            check_whole(nope_layers=self.nope_layers)
        _check_layers(self)
        if self.rope_dim is not None:
            check_whole(rope_dim=self.rope_dim)
            if self.rope_dim > self.head_dim:
                raise ValueError(f"rope_dim = {self.rope_dim}: must be at most head_dim ({self.head_dim})")
        _check_kinds(self)

    @property
    def fed_layers(self) -> int:
        """How many layers have a feed-forward network."""
        return self.layers if self.ffn_layers is None else self.ffn_layers

    @property
    def mixer_layers(self) -> int:
        """How many layers have a state in attention's place."""
        return self.mixer.layers if self.mixer else 0

    @property
    def attention_layers(self) -> int:
        """How many layers have attention."""
        return self.layers - self.mixer_layers - (self.ffn_layers or 0)

    @property
    def heads(self) -> tuple[Heads, ...]:
        """The kinds of attention, each with its layers: full, then in a window or chunk."""
        wide, shared = self.global_heads, self.shared_cache
        n_kv, head_dim = (wide.n_kv, wide.head_dim) if wide else (self.n_kv, self.head_dim)
        entry = self.mla.kv_rank + self.mla.rope if self.mla else 2 * n_kv * head_dim
        full, kinds = self.attention_layers - self.window_layers, []
        if full:
            keeping = full - (shared.full if shared else 0)
            v_proj = wide.v_proj if wide else True
            kinds.append(Heads("attention", full, keeping, n_kv, head_dim, entry, None, v_proj))
        if self.window:
            keeping = self.window_layers - (shared.window if shared else 0)
            kernel, entry = "chunked_attention" if self.chunked else "window_attention", 2 * self.n_kv * self.head_dim
            kinds.append(Heads(kernel, self.window_layers, keeping, self.n_kv, self.head_dim, entry, self.window))
        return tuple(kinds)


def _check_layers(model: Shapes) -> None:
    """Refuse layers of which there are more than layers."""
    if model.ffn_layers is not None:
        check_whole(ffn_layers=model.ffn_layers)
    some = {"window_layers": model.window_layers, "nope_layers": model.nope_layers}
    if model.mixer:
        some["mixer.layers"] = model.mixer.layers
    for name, count in some.items():
        if count > model.layers:
            raise ValueError(f"{name} = {count}: must be at most layers ({model.layers})")
    if model.attention_layers < model.window_layers:
        raise ValueError(f"layers = {model.layers}: too few for the windows, mixers and feed-forward networks")
    if model.moe and model.moe.dense_layers >= model.fed_layers:
        raise ValueError(f"dense_layers = {model.moe.dense_layers}: must be less than layers ({model.fed_layers})")


def _check_kinds(model: Shapes) -> None:
    """Refuse kinds of attention that do not go together."""
    if model.global_heads and model.n_q % model.global_heads.n_kv:
        raise ValueError(f"n_q = {model.n_q}: must be a multiple of global_heads.n_kv ({model.global_heads.n_kv})")
    if model.global_heads and not model.window_layers < model.attention_layers:
        raise ValueError("global_heads: there are no layers with full attention")
    if model.shared_cache and any(kind.caching < 1 for kind in model.heads):
        raise ValueError("shared_cache: no layer of a kind is left that keeps a cache")
    if model.mla and (model.window or model.global_heads or model.shared_cache or model.output_gate):
        raise ValueError("mla: latent attention in a window, with heads of two shapes or with a gate is not counted")
    if model.global_heads and (model.qkv_bias or model.wide_qk_norm or model.output_gate):
        raise ValueError("global_heads: with qkv_bias, wide_qk_norm or output_gate they are not counted")
    if model.shared_cache and model.shared_cache.ffn_factor > 1 and (model.moe or model.mlp_bias):
        raise ValueError("shared_cache: wider networks with experts or mlp_bias are not counted")
    if model.index and not (model.mla and model.mla.q_rank):
        raise ValueError("index: needs latent attention with a compressed query (mla.q_rank)")
