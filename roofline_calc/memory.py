"""What of a transformer lives in memory, and what of it a step reads: its matrices and vectors, and the KV cache."""

from collections.abc import Iterable
from dataclasses import dataclass

from .checks import check_whole
from .layers import Linear, linear_layers
from .precision import Precision
from .shapes import Shapes

ONE_BYTE = Precision(activations=1, weights=1, kv=1, others=1)  # so that bytes are elements


@dataclass(frozen=True, kw_only=True)
class Memory(Shapes):
    """Of a transformer: its linear layers, parameters, bytes of weights and bytes of KV cache."""

    def linear_layers(self, fused: bool = False) -> dict[str, Linear]:
        """Every linear layer of the decoder layers, by name; see `projections`."""
        return linear_layers(self, fused)

    def projections(self, fused: bool = False) -> dict[str, tuple[int, int]]:
        """Input and output width (K, N) of each linear layer of one decoder layer.

        Args:
            fused: as an engine runs them, q, k and v in one GEMM and gate and up in another.
        """
        return {name: (line.K, line.N) for name, line in self.linear_layers(fused).items()}

    @property
    def lm_head(self) -> Linear:
        """The projection of a hidden state to logits; its tokens are the rows sampled."""
        return Linear(self.hidden, self.vocab, 1, stored="others")

    @property
    def _vectors(self) -> int:
        """Parameters outside matrices, over all layers and the final norm: norms, biases, sinks."""
        norm = self.hidden * (1 + self.norm_bias)
        layer = self.norms_per_layer * norm
        if self.qkv_bias:
            layer += (self.n_q + 2 * self.n_kv) * self.head_dim
        if self.o_bias:
            layer += self.hidden
        if self.qk_norm:
            layer += 2 * self.head_dim
        if self.wide_qk_norm:
            layer += (self.n_q + self.n_kv) * self.head_dim
        if self.sinks:
            layer += self.n_q
        if self.mla:
            layer += (self.mla.q_rank or 0) + self.mla.kv_rank
        vectors = self.layers * layer + norm + self.lm_head_bias * self.vocab
        dense = self.moe.dense_layers if self.moe else self.layers
        if self.mlp_bias:
            vectors += dense * (2 * self.intermediate + self.hidden)
        if self.moe:
            per_expert = self.moe.router_bias + self.moe.bias * (2 * self.moe.intermediate + self.hidden)
            vectors += (self.layers - dense) * self.moe.experts * per_expert
        return vectors

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
            activations=b, weights=self.weight_width or b, kv=b, others=b,
            experts=self.moe.weight_width if self.moe else None,
        )

    def weight_bytes(self, precision: Precision | None = None) -> float:
        """Bytes of weights that live in memory (precision None: as published)."""
        embedding_table = 0 if self.tied_embeddings else self.vocab * self.hidden
        return self.weight_bytes_read(None, precision) + embedding_table * (precision or self.precision).others

    def weight_bytes_read(self, tokens: int | None = None, precision: Precision | None = None) -> float:
        """Expected bytes of weights that a step of so many tokens reads; see `params_read`.

        Raises:
            ValueError: tokens is not a positive whole number.
        """
        precision = precision or self.precision
        matrices = sum(
            line.K * line.N * line.layers * line.touched(tokens) * precision.of(line.stored)
            for line in self.linear_layers().values()
        )
        return matrices + (self._vectors + self.vocab * self.hidden) * precision.others

    @property
    def _kv_elements(self) -> int:
        """Elements that one token occupies in one layer's cache."""
        return self.mla.kv_rank + self.mla.rope if self.mla else 2 * self.n_kv * self.head_dim

    @property
    def kv_bytes_per_token(self) -> float:
        """Bytes of KV cache that one token of context occupies, K and V of all layers."""
        return self.layers * self._kv_elements * self.bytes_per_element

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
        return tokens * self._kv_elements * (precision or self.precision).kv
