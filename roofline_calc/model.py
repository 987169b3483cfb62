"""A transformer from its shapes, and the operators of a step."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .checks import check_whole
from .layers import attend, elementwise
from .memory import Memory
from .operators import Cost, gemm, grouped_gemm
from .precision import Precision


@dataclass(frozen=True, kw_only=True)
class Model(Memory):
    """A decoder-only transformer with grouped-query attention and a gated (SwiGLU) feed-forward network.

    Sizes are counts of elements; parameters are totals over all layers. RMSNorm before attention, before the
    feed-forward network and at the end; biases on q, k and v only, where ``qkv_bias`` says so. The other fields say
    in what an architecture departs from that.
    """

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
    ) -> dict[str, Cost]:
        """Attention of a step, summed over its sequences and the layers; sliding-window layers apart from full ones.

        Args, errors: see `step`.
        """
        precision = precision or self.precision
        costs: dict[str, Cost] = {}
        for (L, S), count in (sequences if isinstance(sequences, dict) else Counter(sequences)).items():
            check_whole(query_tokens=L, context=S, sequences=count)
            for name, layers, one in attend(self, L, S, precision.others, precision.kv, mask, traffic):
                cost = one * (count * layers)
                costs[name] = costs[name] + cost if name in costs else cost
        return costs

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
        return elementwise(self, tokens, (precision or self.precision).others)

    def matrix_kernels(
        self, sequences: Iterable[tuple[int, int]] | Mapping[tuple[int, int], int], *, fused: bool = False,
        mask: str = "causal", traffic: str = "q+kv+o", precision: Precision | None = None, sampled: int | None = None,
    ) -> dict[str, Cost]:
        """The linear layers and attention of one step: `step` without its element-wise operators.

        Args:
            mask: of full attention, "causal" or "none"; a sliding window is causal by its nature.
            Others, errors: see `step`.
        """
        batch = Counter(sequences)
        if not batch:
            raise ValueError("sequences = []: a step needs at least one")
        head = {} if sampled == 0 else {"lm_head": self.lm_head_cost(sampled or batch.total(), precision)}
        attention = self.attention_costs(batch, mask=mask, traffic=traffic, precision=precision)
        tokens = sum(L * count for (L, _), count in batch.items())
        return {**self.linear_costs(tokens, fused=fused, precision=precision), **attention, **head}

    def step(
        self, sequences: Iterable[tuple[int, int]] | Mapping[tuple[int, int], int], *, fused: bool = False,
        traffic: str = "q+kv+o", precision: Precision | None = None, sampled: int | None = None,
    ) -> dict[str, Cost]:
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

    def decode_kernels(
        self, batch: int, context: int, *, fused: bool = False, traffic: str = "q+kv+o",
        precision: Precision | None = None,
    ) -> dict[str, Cost]:
        """The matrix kernels of one decode step: `matrix_kernels` of the sequences {(1, context): batch}.

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
        flops = sum(cost.flops for cost in self.decode_kernels(batch, context).values())
        kv = self.kv_bytes([context], precision) * batch
        return Cost(flops, {"weights": self.weight_bytes_read(batch, precision), "KV": kv})
