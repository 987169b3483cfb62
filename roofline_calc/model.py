"""A transformer from its shapes: parameters, KV cache, and the operators of a step."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .checks import check_positive, check_whole
from .operators import (
    Cost,
    attention,
    column_parallel,
    embedding,
    experts_touched,
    gemm,
    grouped_gemm,
    kv_heads_per_card,
    mla_attention,
    residual,
    rms_norm,
    rope,
    swiglu,
    window_attention,
)
from .precision import Precision
from .roofline import gemm_crossing


@dataclass(frozen=True, kw_only=True)
class MoE:
    """Routed experts in place of the dense feed-forward network, in all layers but the first ``dense_layers``.

    Args:
        experts, top_k: experts of a layer, and how many of them a token uses.
        intermediate: width of one expert. shared_intermediate: of all shared experts together, which every token uses.
        bias: on the experts' gate, up and down. router_bias: one number per expert.
        weight_width: bytes per weight of the experts where they are stored in fewer than the rest.

    Raises:
        ValueError: a size is not a positive whole number, or top_k exceeds experts.
    """

    experts: int
    top_k: int
    intermediate: int
    shared_intermediate: int = 0
    dense_layers: int = 0
    bias: bool = False
    router_bias: bool = False
    weight_width: float | None = None

    def __post_init__(self) -> None:
        experts_touched(self.experts, self.top_k, 1)
        check_whole(intermediate=self.intermediate)
        if self.weight_width is not None:
            check_positive(weight_width=self.weight_width)
        for name, size in {"shared_intermediate": self.shared_intermediate, "dense_layers": self.dense_layers}.items():
            if size != 0:
                check_whole(**{name: size})


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


@dataclass(frozen=True)
class Linear:
    """A linear layer's matrices: shape K x N, in how many layers, how many in each, how many of those a token meets."""

    K: int
    N: int
    layers: int
    copies: int = 1
    per_token: int = 1
    stored: str = "weights"  # which width of Precision its weights have

    def touched(self, M: int | None) -> float:
        """Expected matrices of one layer that M tokens meet (None: enough of them to meet all)."""
        return self.copies if M is None else experts_touched(self.copies, self.per_token, M)

    def crossing(self, ridge: float, precision: Precision) -> float | None:
        """Tokens in flight, not rounded, at which the layer turns compute-bound; None where no number is enough.

        For an expert these are the tokens of the whole step, E/k times those that reach one expert (spread evenly).
        """
        rows = gemm_crossing(self.K, self.N, ridge, *precision.operands(self.stored))
        return rows and rows * self.copies / self.per_token


ONE_BYTE = Precision(activations=1, weights=1, kv=1, others=1)  # so that bytes are elements


@dataclass(frozen=True, kw_only=True)
class Model:
    """A decoder-only transformer with grouped-query attention and a gated (SwiGLU) feed-forward network.

    Sizes are counts of elements; parameters are totals over all layers. RMSNorm before attention, before the
    feed-forward network and at the end; biases on q, k and v only, where ``qkv_bias`` says so. The other fields say
    in what an architecture departs from that.

    Args:
        o_bias, mlp_bias: biases on o_proj; on the dense gate, up and down.
        norms_per_layer: RMSNorms as wide as ``hidden`` in a layer (Gemma 2 and 3: 4).
        qk_norm: RMSNorm of head_dim on every query and key head (Qwen3, Gemma 3).
        sinks: one learned logit per query head (GPT-OSS).
        window, window_layers: tokens that sliding-window attention sees, and in how many of the layers.
        moe, mla: see `MoE` and `MLA`.
        bytes_per_element: of weights, activations and KV cache. weight_width: bytes per weight of the layers' matrices
            where the checkpoint stores them in fewer.

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
    qk_norm: bool = False
    sinks: bool = False
    window: int | None = None
    window_layers: int = 0
    moe: MoE | None = None
    mla: MLA | None = None
    weight_width: float | None = None

    def __post_init__(self) -> None:
        check_whole(
            hidden=self.hidden, layers=self.layers, n_q=self.n_q, n_kv=self.n_kv, head_dim=self.head_dim,
            intermediate=self.intermediate, vocab=self.vocab, norms_per_layer=self.norms_per_layer,
        )
        check_positive(bytes_per_element=self.bytes_per_element)
        if self.weight_width is not None:
            check_positive(weight_width=self.weight_width)
        if self.n_q % self.n_kv:
            raise ValueError(f"n_q = {self.n_q}: must be a multiple of n_kv ({self.n_kv})")
        if self.window is not None:
            check_whole(window=self.window, window_layers=self.window_layers)
        elif self.window_layers:
            raise ValueError(f"window_layers = {self.window_layers}: there is no window")
        if self.window_layers > self.layers:
            raise ValueError(f"window_layers = {self.window_layers}: must be at most layers ({self.layers})")
        if self.moe and self.moe.dense_layers >= self.layers:
            raise ValueError(f"dense_layers = {self.moe.dense_layers}: must be less than layers ({self.layers})")

    # ---------------------------------------------------------------- shapes

    def _attention_layers(self, fused: bool) -> dict[str, Linear]:
        if self.mla:
            return self._mla_layers(self.mla, fused)
        q, kv = self.n_q * self.head_dim, self.n_kv * self.head_dim
        out = {"o_proj": Linear(q, self.hidden, self.layers)}
        if fused:
            return {"qkv_proj": Linear(self.hidden, q + 2 * kv, self.layers), **out}
        return {
            "q_proj": Linear(self.hidden, q, self.layers), "k_proj": Linear(self.hidden, kv, self.layers),
            "v_proj": Linear(self.hidden, kv, self.layers), **out,
        }

    def _mla_layers(self, mla: MLA, fused: bool) -> dict[str, Linear]:
        """As the absorbed form runs them: kv_b_proj head by head, its key half on the query, its value half on O."""
        query, latent = self.n_q * (mla.nope + mla.rope), mla.kv_rank + mla.rope
        rest = {
            "k_absorb": Linear(mla.nope, mla.kv_rank, self.layers, copies=self.n_q, per_token=self.n_q),
            "v_absorb": Linear(mla.kv_rank, mla.v, self.layers, copies=self.n_q, per_token=self.n_q),
            "o_proj": Linear(self.n_q * mla.v, self.hidden, self.layers),
        }
        if mla.q_rank is None:
            first = {"q_proj": query, "kv_a_proj": latent}
        else:
            first = {"q_a_proj": mla.q_rank, "kv_a_proj": latent}
            rest = {"q_b_proj": Linear(mla.q_rank, query, self.layers), **rest}
        if fused:
            first = {"qkv_a_proj": sum(first.values())}
        return {**{name: Linear(self.hidden, N, self.layers) for name, N in first.items()}, **rest}

    def _gated(self, prefix: str, intermediate: int, layers: int, fused: bool, **kind: Any) -> dict[str, Linear]:
        down = {f"{prefix}down_proj": Linear(intermediate, self.hidden, layers, **kind)}
        if fused:
            return {f"{prefix}gate_up_proj": Linear(self.hidden, 2 * intermediate, layers, **kind), **down}
        one = Linear(self.hidden, intermediate, layers, **kind)
        return {f"{prefix}gate_proj": one, f"{prefix}up_proj": one, **down}

    def _ffn_layers(self, fused: bool) -> dict[str, Linear]:
        if not self.moe:
            return self._gated("", self.intermediate, self.layers, fused)
        moe, sparse = self.moe, self.layers - self.moe.dense_layers
        ffn = self._gated("", self.intermediate, moe.dense_layers, fused) if moe.dense_layers else {}
        ffn["router"] = Linear(self.hidden, moe.experts, sparse, stored="others")
        ffn |= self._gated(
            "expert_", moe.intermediate, sparse, fused, copies=moe.experts, per_token=moe.top_k, stored="experts"
        )
        if moe.shared_intermediate:
            ffn |= self._gated("shared_", moe.shared_intermediate, sparse, fused)
        return ffn

    def linear_layers(self, fused: bool = False) -> dict[str, Linear]:
        """Every linear layer of the decoder layers, by name; see `projections`."""
        return self._attention_layers(fused) | self._ffn_layers(fused)

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

    # ------------------------------------------------------------ parameters

    @property
    def _vectors(self) -> int:
        """Parameters outside matrices, over all layers and the final norm: norms, biases, sinks."""
        layer = self.norms_per_layer * self.hidden
        if self.qkv_bias:
            layer += (self.n_q + 2 * self.n_kv) * self.head_dim
        if self.o_bias:
            layer += self.hidden
        if self.qk_norm:
            layer += 2 * self.head_dim
        if self.sinks:
            layer += self.n_q
        if self.mla:
            layer += (self.mla.q_rank or 0) + self.mla.kv_rank
        vectors = self.layers * layer + self.hidden
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
        return int(self.weights_resident(ONE_BYTE))

    @property
    def params_read(self) -> int:
        """Parameters that one step reads in full: all but the input embedding, a gather of a few rows.

        A step of few tokens reads only some experts' matrices: see `params_touched`.
        """
        return int(self.weights_read(None, ONE_BYTE))

    def params_touched(self, tokens: int) -> float:
        """Expected parameters that a step of so many tokens reads: of the experts, those that it touches.

        For one token these are the parameters that model cards call active, but for the input embedding.

        Raises:
            ValueError: tokens is not a positive whole number.
        """
        return self.weights_read(tokens, ONE_BYTE)

    @property
    def precision(self) -> Precision:
        """The widths of the checkpoint as published."""
        b = self.bytes_per_element
        return Precision(
            activations=b, weights=self.weight_width or b, kv=b, others=b,
            experts=self.moe.weight_width if self.moe else None,
        )

    def weights_resident(self, precision: Precision | None = None) -> float:
        """Bytes of weights that live in memory."""
        embedding_table = 0 if self.tied_embeddings else self.vocab * self.hidden
        return self.weights_read(None, precision) + embedding_table * (precision or self.precision).others

    def weights_read(self, tokens: int | None, precision: Precision | None = None) -> float:
        """Expected bytes of weights that a step of so many tokens reads (None: of enough to touch every expert).

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
    def weight_bytes(self) -> float:
        """Bytes of weights that live in memory, as published."""
        return self.weights_resident()

    @property
    def weight_bytes_read(self) -> float:
        """Bytes of weights that one step reads, as published; all experts, where there are any."""
        return self.weights_read(None)

    # -------------------------------------------------------------- KV cache

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

        Raises:
            ValueError: a context is not a positive whole number.
        """
        tokens = 0
        for context in contexts:
            check_whole(context=context)
            tokens += (self.layers - self.window_layers) * context
            tokens += self.window_layers * min(context, self.window or context)
        return tokens * self._kv_elements * (precision or self.precision).kv

    # ------------------------------------------------------------------ step

    def linear_costs(self, tokens: int, *, fused: bool = False, precision: Precision | None = None) -> dict[str, Cost]:
        """The linear layers of a step of so many tokens, each summed over the layers (and experts, or heads).

        Raises:
            ValueError: tokens is not a positive whole number.
        """
        check_whole(tokens=tokens)
        precision = precision or self.precision
        costs = {}
        for name, line in self.linear_layers(fused).items():
            widths = precision.operands(line.stored)
            one = grouped_gemm(tokens * line.per_token, line.touched(tokens), line.K, line.N, *widths)
            costs[name] = one * line.layers
        return costs

    def attention_costs(
        self, sequences: Iterable[tuple[int, int]] | Mapping[tuple[int, int], int], *,
        mask: str = "causal", traffic: str = "q+kv+o", precision: Precision | None = None,
    ) -> dict[str, Cost]:  # fmt: skip
        """Attention of a step, summed over its sequences and the layers; sliding-window layers apart from full ones.

        Args, errors: see `step`.
        """
        precision = precision or self.precision
        costs: dict[str, Cost] = {}
        for (L, S), count in (sequences if isinstance(sequences, dict) else Counter(sequences)).items():
            check_whole(query_tokens=L, context=S, sequences=count)
            for name, layers, one in self._attend(L, S, precision.others, precision.kv, mask, traffic):
                cost = one * (count * layers)
                costs[name] = costs[name] + cost if name in costs else cost
        return costs

    def _attend(
        self, L: int, S: int, b_q: float, b_kv: float, mask: str, traffic: str
    ) -> Iterator[tuple[str, int, Cost]]:
        """One sequence's attention in one layer of each kind: its name, how many layers have it, its cost."""
        if self.mla:
            shape = self.n_q, self.mla.kv_rank, self.mla.rope
            one = mla_attention(*shape, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic)
            yield "attention", self.layers, one
            return
        heads = self.n_q, self.n_kv, self.head_dim
        if self.layers > self.window_layers:
            one = attention(*heads, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic)
            yield "attention", self.layers - self.window_layers, one
        if self.window:
            one = window_attention(*heads, L, S, self.window, b_q=b_q, b_kv=b_kv, traffic=traffic)
            yield "window_attention", self.window_layers, one

    def lm_head_cost(self, sampled: int, precision: Precision | None = None) -> Cost:
        """The projection of the sampled rows to logits.

        Raises:
            ValueError: sampled is not a positive whole number.
        """
        return gemm(sampled, self.hidden, self.vocab, *(precision or self.precision).operands("others"))

    def elementwise_costs(self, tokens: int, precision: Precision | None = None) -> dict[str, Cost]:
        """What a step of so many tokens does beside its matrix kernels, each summed over the layers.

        Norms (on q and k too, and the final one), RoPE, the feed-forward gate, two residual additions per layer and
        the embedding gather, each as a kernel of its own.

        Raises:
            ValueError: tokens is not a positive whole number.
        """
        check_whole(tokens=tokens)
        b = (precision or self.precision).others
        norms = rms_norm(tokens, self.hidden, b) * (self.norms_per_layer * self.layers + 1)
        if self.qk_norm:
            norms += rms_norm(tokens * (self.n_q + self.n_kv), self.head_dim, b) * self.layers
        heads, width = self.n_q + self.n_kv, self.head_dim
        if self.mla:
            heads, width = self.n_q + 1, self.mla.rope  # one rotary key for all heads
            for rank in filter(None, (self.mla.q_rank, self.mla.kv_rank)):
                norms += rms_norm(tokens, rank, b) * self.layers
        gates = [
            swiglu(tokens * line.per_token, line.K, b) * line.layers
            for name, line in self._ffn_layers(fused=True).items() if name.endswith("down_proj")
        ]  # fmt: skip
        return {
            "embedding": embedding(tokens, self.hidden, b), "norms": norms,
            "rope": rope(tokens, heads, width, b) * self.layers, "swiglu": sum(gates, start=Cost(0, {})),
            "residual": residual(tokens, self.hidden, b) * (2 * self.layers),
        }  # fmt: skip

    def matrix_kernels(
        self, sequences: Iterable[tuple[int, int]] | Mapping[tuple[int, int], int], *, fused: bool = False,
        mask: str = "causal", traffic: str = "q+kv+o", precision: Precision | None = None, sampled: int | None = None,
    ) -> dict[str, Cost]:  # fmt: skip
        """The linear layers and attention of one step: `step` without its element-wise operators.

        Args:
            mask: of full attention, "causal" or "none"; a sliding window is causal by its nature.
            Others, errors: see `step`.
        """
        batch = Counter(sequences)
        if not batch:
            raise ValueError("sequences = []: a step needs at least one")
        head = {} if sampled == 0 else {"lm_head": self.lm_head_cost(sampled or batch.total(), precision)}
        attend = self.attention_costs(batch, mask=mask, traffic=traffic, precision=precision)
        tokens = sum(L * count for (L, _), count in batch.items())
        return {**self.linear_costs(tokens, fused=fused, precision=precision), **attend, **head}

    def step(
        self, sequences: Iterable[tuple[int, int]] | Mapping[tuple[int, int], int], *, fused: bool = False,
        traffic: str = "q+kv+o", precision: Precision | None = None, sampled: int | None = None,
    ) -> dict[str, Cost]:  # fmt: skip
        """The operators of one step over a batch of sequences, each summed over the layers and the batch.

        A sequence is a pair (L, S): L query tokens, the last of S tokens of context. Decode is (1, S), prefill (S, S),
        a chunk of a longer prompt or the verification of drafted tokens (L, S); a step may mix them. Attention is
        causal. Linear layers see all query tokens at once, lm_head only the sampled rows.

        Args:
            sequences: pairs (L, S), or how often each occurs, {(1, 2048): 32}.
            fused: see `projections`. traffic: see `attention`. precision: widths (None: as published).
            sampled: rows whose logits are wanted (None: one per sequence; 0: none, as within a long prompt).

        Raises:
            ValueError: no sequence, L or S not a positive whole number, L > S, or traffic is unknown.

        >>> from roofline_calc import QWEN
        >>> step = QWEN.step([(1, 2048), (1, 500), (128, 128)])
        >>> step["q_proj"] == QWEN.linear_costs(tokens=130)["q_proj"]
        True
        """
        tokens = sum(L * count for (L, _), count in Counter(sequences).items())
        kernels = self.matrix_kernels(sequences, fused=fused, traffic=traffic, precision=precision, sampled=sampled)
        return {**kernels, **self.elementwise_costs(tokens, precision)}

    def decode_step(
        self, batch: int, context: int, *, fused: bool = False, traffic: str = "q+kv+o",
        precision: Precision | None = None,
    ) -> dict[str, Cost]:  # fmt: skip
        """The matrix kernels of one decode step, each summed over the layers and the batch.

        Args:
            batch: sequences that decode together, one token each.
            context: cached tokens of each sequence, its newest included.
            fused: see `projections`. traffic: see `attention`. precision: widths (None: as published).

        Excludes norms, RoPE, SwiGLU, residual additions, the embedding gather and sampling.

        Raises:
            ValueError: batch or context is not a positive whole number, or traffic is unknown.
        """
        check_whole(batch=batch, context=context)
        return self.matrix_kernels({(1, context): batch}, fused=fused, traffic=traffic, precision=precision)

    def decode_weights_and_kv(self, batch: int, context: int, precision: Precision | None = None) -> Cost:
        """One decode step as a whole, counting weights and KV cache as its only traffic.

        The matrix kernels' FLOPs over each weight read once (norms and biases too) and each cached token read
        once: the usual whole-model view, in which activations are negligible.

        Raises:
            ValueError: batch or context is not a positive whole number.
        """
        flops = sum(cost.flops for cost in self.decode_step(batch, context).values())
        kv = self.kv_bytes([context], precision) * batch
        return Cost(flops, {"weights": self.weights_read(batch, precision), "KV": kv})

    # ------------------------------------------------------- tensor parallel

    def card(self, t: int) -> "Model":
        """The share of one of t cards under tensor parallelism, itself a model whose steps can be counted.

        q, k, v, gate and up are split by outputs, o and down by inputs, embedding and lm_head by vocabulary (rounded
        up); every expert is split; KV heads are replicated once t exceeds n_kv; norms, router and MLA's latents are
        on every card. The all-reduce between cards does not cross the memory bus and is left out.

        Raises:
            ValueError: t cannot split the heads or a feed-forward width; the message says which.

        >>> from roofline_calc import QWEN
        >>> QWEN.card(4).projections()["k_proj"], QWEN.valid_tp
        ((3584, 128), (1, 2, 4))
        """
        check_whole(t=t)
        if self.n_q % t:
            raise ValueError(f"t = {t}: must divide n_q ({self.n_q})")
        n_kv = kv_heads_per_card(self.n_kv, t)
        moe = self.moe
        if moe is None or moe.dense_layers:
            intermediate = _share(self.intermediate, t, "intermediate")
        else:
            intermediate = self.intermediate  # no layer uses it
        if moe:
            shared = moe.shared_intermediate
            moe = replace(
                moe, intermediate=_share(moe.intermediate, t, "the experts' intermediate"),
                shared_intermediate=shared and _share(shared, t, "the shared experts' intermediate"),
            )
        return replace(
            self, name=self.name if t == 1 else f"{self.name}, one of {t} cards", n_q=self.n_q // t, n_kv=n_kv,
            intermediate=intermediate, vocab=-(-self.vocab // t), moe=moe,
        )

    @property
    def valid_tp(self) -> tuple[int, ...]:
        """The numbers of cards over which `card` can split this model."""
        valid = []
        for t in range(1, self.n_q + 1):
            try:
                self.card(t)
            except ValueError:
                continue
            valid.append(t)
        return tuple(valid)


def _share(width: int, t: int, what: str) -> int:
    """A feed-forward width's share, named in the error."""
    try:
        return column_parallel(1, width, t)[1]
    except ValueError:
        raise ValueError(f"t = {t}: must divide {what} ({width})") from None
