"""A transformer from its shapes: parameters, KV cache, and the kernels of a decode step."""

from dataclasses import dataclass

from .checks import check_positive, check_whole
from .operators import Cost, attention, gemm


@dataclass(frozen=True, kw_only=True)
class Model:
    """A decoder-only transformer with grouped-query attention and a gated (SwiGLU) feed-forward network.

    Sizes are counts of elements; parameters are totals over all layers. RMSNorm before attention, before the
    feed-forward network and at the end; biases on q, k and v only, where ``qkv_bias`` says so.

    Raises:
        ValueError: a size is not a positive whole number, or n_q is not a multiple of n_kv.
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

    def __post_init__(self) -> None:
        check_whole(
            hidden=self.hidden, layers=self.layers, n_q=self.n_q, n_kv=self.n_kv, head_dim=self.head_dim,
            intermediate=self.intermediate, vocab=self.vocab,
        )
        check_positive(bytes_per_element=self.bytes_per_element)
        if self.n_q % self.n_kv:
            raise ValueError(f"n_q = {self.n_q}: must be a multiple of n_kv ({self.n_kv})")

    def projections(self, fused: bool = False) -> dict[str, tuple[int, int]]:
        """Input and output width (K, N) of each linear layer of one decoder layer.

        Args:
            fused: as an engine runs them, q, k and v in one GEMM and gate and up in another.
        """
        q, kv = self.n_q * self.head_dim, self.n_kv * self.head_dim
        attention_out, ffn_out = {"o_proj": (q, self.hidden)}, {"down_proj": (self.intermediate, self.hidden)}
        if fused:
            return {
                "qkv_proj": (self.hidden, q + 2 * kv), **attention_out,
                "gate_up_proj": (self.hidden, 2 * self.intermediate), **ffn_out,
            }
        return {
            "q_proj": (self.hidden, q), "k_proj": (self.hidden, kv), "v_proj": (self.hidden, kv), **attention_out,
            "gate_proj": (self.hidden, self.intermediate), "up_proj": (self.hidden, self.intermediate), **ffn_out,
        }

    @property
    def params(self) -> int:
        """Parameters that live in memory."""
        return self.params_read + (0 if self.tied_embeddings else self.vocab * self.hidden)

    @property
    def params_read(self) -> int:
        """Parameters that one step reads in full: all but the input embedding, a gather of a few rows."""
        linear = sum(K * N for K, N in self.projections().values())
        bias = (self.n_q + 2 * self.n_kv) * self.head_dim if self.qkv_bias else 0
        norms = 2 * self.hidden
        return self.layers * (linear + bias + norms) + self.hidden + self.hidden * self.vocab

    @property
    def weight_bytes(self) -> float:
        """Bytes of weights that live in memory."""
        return self.params * self.bytes_per_element

    @property
    def weight_bytes_read(self) -> float:
        """Bytes of weights that one step reads."""
        return self.params_read * self.bytes_per_element

    @property
    def kv_bytes_per_token(self) -> float:
        """Bytes of KV cache that one token of context occupies, K and V of all layers."""
        return 2 * self.layers * self.n_kv * self.head_dim * self.bytes_per_element

    def decode_step(self, batch: int, context: int, *, fused: bool = False, traffic: str = "q+kv+o") -> dict[str, Cost]:
        """The matrix kernels of one decode step, each summed over the layers and the batch.

        Args:
            batch: sequences that decode together, one token each.
            context: cached tokens of each sequence, its newest included.
            fused: see `projections`. traffic: see `attention`.

        Excludes norms, RoPE, SwiGLU, residual additions, the embedding gather and sampling.

        Raises:
            ValueError: batch or context is not a positive whole number, or traffic is unknown.
        """
        check_whole(batch=batch, context=context)
        b = self.bytes_per_element
        step = {name: gemm(batch, K, N, b, b, b) * self.layers for name, (K, N) in self.projections(fused).items()}
        heads = self.n_q, self.n_kv, self.head_dim
        one = attention(*heads, L=1, S=context, b_q=b, b_kv=b, traffic=traffic)
        step["attention"] = one * (batch * self.layers)
        step["lm_head"] = gemm(batch, self.hidden, self.vocab, b, b, b)
        return step

    def decode_weights_and_kv(self, batch: int, context: int) -> Cost:
        """One decode step as a whole, counting weights and KV cache as its only traffic.

        The matrix kernels' FLOPs over each weight read once (norms and biases too) and each cached token read
        once: the usual whole-model view, in which activations are negligible.

        Raises:
            ValueError: batch or context is not a positive whole number.
        """
        flops = sum(cost.flops for cost in self.decode_step(batch, context).values())
        return Cost(flops, {"weights": self.weight_bytes_read, "KV": batch * context * self.kv_bytes_per_token})
