"""What of a transformer lives in memory, and what of it a step reads: its matrices and vectors, and the KV cache."""

from collections.abc import Iterable
from dataclasses import dataclass

from .attending import cache_elements
from .checks import check_whole
from .layers import Linear, absorbed_layers, alone, linear_layers
from .operators import experts_touched
from .precision import Precision
from .shapes import Shapes

ONE_BYTE = Precision(activations=1, weights=1, kv=1, others=1)  # so that bytes are elements


@dataclass(frozen=True, kw_only=True)
class Memory(Shapes):
    """Of a transformer: its linear layers, parameters, bytes of weights and bytes of KV cache."""

    def linear_layers(self, fused: bool = False) -> dict[str, Linear]:
        """Every linear layer of the decoder layers, by name; see `projections`."""
        return linear_layers(self, fused)

    def gemms(self, fused: bool = False) -> dict[str, Linear]:
        """Every GEMM that a step may run: the linear layers, lm_head, and the absorbed halves of MLA's kv_b_proj."""
        return linear_layers(self, fused) | absorbed_layers(self) | {"lm_head": self.lm_head}

    def multiplies(self, fused: bool = False, precision: Precision | None = None) -> dict[str, str]:
        """Data types of the products that the checkpoint or precision sets, by operator."""
        precision = precision or self.precision
        dtypes = {name: line.multiplies(precision) for name, line in self.gemms(fused).items()}
        if precision.attention:
            kinds = ("", "window_", "chunked_", "absorbed_", "expanded_")
            dtypes |= {f"{kind}attention": precision.attention for kind in kinds}
        return {name: dtype for name, dtype in dtypes.items() if dtype}

    def projections(self, fused: bool = False) -> dict[str, tuple[int, int]]:
        """Input and output width (K, N) of each linear layer of one decoder layer.

        Args:
            fused: as an engine runs them, q, k and v in one GEMM and gate and up in another.
        """
        return {name: (line.K, line.N) for name, line in self.linear_layers(fused).items()}

    @property
    def lm_head(self) -> Linear:
        """The projection of a hidden state to logits; its tokens are the rows sampled."""
        return alone("lm_head", self.hidden, self.vocab, 1)

    def _vectors(self, tokens: int | None) -> float:
        """Parameters outside matrices that so many tokens meet: norms, biases, sinks, over all layers, and the last.

        Flags are factors, not conditions: the explorer's sizes are symbols.
        """
        norm = self.hidden * (1 + self.norm_bias)
        layer = (
            self.norms_per_layer * norm + self.qkv_bias * (self.n_q + 2 * self.n_kv) * self.head_dim
            + self.o_bias * self.hidden + self.sinks * self.n_q + self.qk_norm * 2 * self.head_dim
            + self.wide_qk_norm * (self.n_q + self.n_kv) * self.head_dim
        )
        if self.mla:
            layer += (self.mla.q_rank or 0) + self.mla.kv_rank
        dense = self.moe.dense_layers if self.moe else self.layers
        vectors = (
            self.layers * layer + self.mlp_bias * dense * (2 * self.intermediate + self.hidden)
            + norm + self.lm_head_bias * self.vocab
        )
        if not self.moe:
            return vectors
        moe, sparse = self.moe, self.layers - dense
        touched = moe.experts if tokens is None else experts_touched(moe.experts, moe.top_k, tokens)
        per_expert = moe.bias * (2 * moe.intermediate + self.hidden)
        return vectors + sparse * (moe.router_bias * moe.experts + per_expert * touched)

    @property
    def params(self) -> int:
        """Parameters that live in memory."""
        return int(self.weight_bytes(ONE_BYTE))

    def params_read(self, tokens: int | None = None) -> float:
        """Expected parameters that a step of so many tokens reads (None: of enough to touch every expert).

        All but the input embedding, a gather of a few rows. For one token these are the parameters that model cards
        call active, but for that embedding.

        Raises:
            ValueError: tokens is not a positive whole number.
        """
        return self.weight_bytes_read(tokens, ONE_BYTE)

    @property
    def precision(self) -> Precision:
        """The widths of the checkpoint as published."""
        b = self.bytes_per_element
        return Precision(
            activations=b, weights=b, kv=self.kv_width or b, others=b, modules=self.stored,
        )

    def weight_bytes(self, precision: Precision | None = None) -> float:
        """Bytes of weights that live in memory (precision None: as published)."""
        table = 0 if self.tied_embeddings else self.vocab * self.hidden
        width = (precision or self.precision).stored("embedding").width
        return self.weight_bytes_read(None, precision) + table * width

    def weight_bytes_read(self, tokens: int | None = None, precision: Precision | None = None) -> float:
        """Expected bytes of weights that a step of so many tokens reads; see `params_read`.

        Raises:
            ValueError: tokens is not a positive whole number.
        """
        precision = precision or self.precision
        matrices = sum(
            line.K * line.N * line.layers * line.touched(tokens) * line.width(precision)
            for line in self.linear_layers().values()
        )
        head = self.vocab * self.hidden * precision.stored("lm_head").width
        return matrices + head + self._vectors(tokens) * precision.others

    @property
    def kv_bytes_per_token(self) -> float:
        """Bytes of KV cache that one token of context occupies, K and V of all layers."""
        return self.layers * cache_elements(self) * self.precision.kv

    def kv_bytes(self, contexts: Iterable[int], precision: Precision | None = None) -> float:
        """Bytes of KV cache that sequences of so many tokens occupy; windowed layers keep their last tokens only.

        Of chunked layers the fullest chunk counts, which a sequence once needed even where its latest has just begun.

        Raises:
            ValueError: a context is not a positive whole number.
        """
        tokens = 0
        for context in contexts:
            check_whole(context=context)
            tokens += (self.layers - self.window_layers) * context
            tokens += self.window_layers * min(context, self.window or context)
        return tokens * cache_elements(self) * (precision or self.precision).kv
