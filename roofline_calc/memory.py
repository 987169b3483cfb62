"""What of a transformer lives in memory, and what of it a step reads: its matrices and vectors, and the KV cache."""

from collections.abc import Iterable
from dataclasses import dataclass

from .checks import check_whole
from .layers import Linear, absorbed_layers, alone, linear_layers
from .precision import Precision
from .shapes import MoE, Shapes

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
        if self.index:
            dtypes["index"] = "fp8"  # in which its keys are cached
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
        norm, heads = self.hidden * (1 + self.norm_bias), self.heads
        attention = (
            self.qkv_bias * (self.n_q * (1 + self.output_gate) + 2 * self.n_kv) * self.head_dim
            + self.o_bias * self.hidden + self.sinks * self.n_q
            + self.wide_qk_norm * (self.n_q + self.n_kv) * self.head_dim
        )
        if self.mla:
            attention += (self.mla.q_rank or 0) + self.mla.kv_rank
        if self.index:
            attention += 2 * self.index.dim  # a LayerNorm of the keys
        vectors = (
            self.attention_layers * attention + (self.norms_per_layer * self.layers + 1) * norm
            + self.lm_head_bias * self.vocab + (self.layers if self.layer_scalar else 0)
            + self.qk_norm * sum((kind.layers + kind.caching) * kind.head_dim for kind in heads)
        )
        if self.layer_inputs:
            vectors += self.layer_inputs.width + self.layers * self.hidden
        if self.mixer:
            vectors += self.mixer.layers * self.mixer.vectors
        dense = self.moe.dense_layers if self.moe else self.fed_layers
        vectors += self.mlp_bias * dense * ((1 + self.gated_ffn) * self.intermediate + self.hidden)
        return vectors + (self._expert_vectors(self.moe, tokens) if self.moe else 0)

    def _expert_vectors(self, moe: MoE, tokens: int | None) -> float:
        """Those of the experts and their router."""
        touched = self.linear_layers()["expert_down_proj"].touched(tokens)
        layer = moe.router_bias * moe.experts + moe.bias * (2 * moe.intermediate + self.hidden) * touched
        if moe.beside_dense:
            layer += 4 * self.hidden + moe.experts
        return (self.fed_layers - moe.dense_layers) * layer

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
        table = (1 - self.tied_embeddings) * self.vocab * self.hidden
        if self.layer_inputs:
            table += self.layer_inputs.vocab * self.layers * self.layer_inputs.width
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
        """Bytes of KV cache that one token of context occupies in all layers: K and V, or a latent and index keys."""
        elements = sum(kind.caching * kind.entry for kind in self.heads)
        return elements * self.precision.kv + self.attention_layers * (self.index.key_bytes if self.index else 0)

    def kv_bytes(self, contexts: Iterable[int], precision: Precision | None = None) -> float:
        """Bytes of KV cache that sequences of so many tokens occupy; windowed layers keep their last tokens only.

        Of chunked layers the fullest chunk counts, which a sequence once needed even where its latest has just begun.
        The state of layers that keep one is not in it: see `state_bytes`.

        Raises:
            ValueError: a context is not a positive whole number.
        """
        contexts = list(contexts)
        for context in contexts:
            check_whole(context=context)
        tokens = [sum(min(S, kind.window or S) for S in contexts) for kind in self.heads]
        elements = sum(count * kind.caching * kind.entry for count, kind in zip(tokens, self.heads, strict=True))
        keys = self.attention_layers * sum(contexts) * (self.index.key_bytes if self.index else 0)
        return elements * (precision or self.precision).kv + keys

    def state_bytes(self, sequences: int = 1, precision: Precision | None = None) -> float:
        """Bytes that so many sequences keep in layers with a state of fixed size, whatever their context.

        Beside the state itself, the last tokens that the short convolution needs again.

        Raises:
            ValueError: sequences is not a positive whole number.
        """
        check_whole(sequences=sequences)
        if not self.mixer:
            return 0
        others = (precision or self.precision).others
        kept = self.mixer.channels * (self.mixer.taps - 1) * others
        return sequences * self.mixer.layers * (self.mixer.state * (self.mixer.state_width or others) + kept)

    def cache_bytes(self, contexts: Iterable[int], precision: Precision | None = None) -> float:
        """Bytes that sequences of so many tokens occupy beside the weights: KV cache, and state where there is one.

        Raises:
            ValueError: no context, or one that is not a positive whole number.
        """
        contexts = list(contexts)
        return self.kv_bytes(contexts, precision) + self.state_bytes(len(contexts), precision)
