"""A transformer from its shapes, and the kernels of a step."""

from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .attending import (
    attend,
    cheaper_form,
    check_form,
    index_cost,
    latent_attention,
    latent_choices,
    latent_products,
)
from .checks import check_whole
from .compulsory import kv_traffic, weights_and_input
from .layers import elementwise
from .operators import Cost
from .parallel import Parallel
from .precision import Precision
from .step import Step


@dataclass(frozen=True, kw_only=True)
class Model(Parallel):
    """A decoder-only transformer with grouped-query attention and a gated (SwiGLU) feed-forward network.

    Sizes are counts of elements; parameters are totals over all layers. RMSNorm before attention, before the
    feed-forward network and at the end; biases on q, k and v only, where ``qkv_bias`` says so. The other fields say
    in what an architecture departs from that.
    """

    def linear_costs(self, tokens: int, *, fused: bool = False, precision: Precision | None = None) -> dict[str, Cost]:
        """The linear layers of a step of so many tokens, each summed over the layers (and experts).

        Of latent attention, all but kv_b_proj, whose rows depend on the form: see `attention_costs`.

        Raises:
            ValueError: tokens is not a positive whole number.
        """
        check_whole(tokens=tokens)
        precision = precision or self.precision
        lines = self.linear_layers(fused)
        if self.mla:
            del lines["kv_b_proj"]
        return {name: line.cost(tokens, precision) for name, line in lines.items()}

    def attention_costs(
        self, sequences: Iterable[tuple[int, int]] | Mapping[tuple[int, int], int], *, mask: str = "causal",
        traffic: str = "q+kv+o", precision: Precision | None = None, mla: str | None = None,
    ) -> dict[str, Cost]:
        """Attention of a step, summed over its sequences and the layers; sliding-window layers apart from full ones.

        Latent attention is there with what it does with kv_b_proj, by form.

        Args, errors: see `step`.
        """
        precision = precision or self.precision
        check_form(self, mla)
        costs: dict[str, Cost] = {}
        rows: dict[str, int] = {}
        for (L, S), count in (sequences if isinstance(sequences, dict) else Counter(sequences)).items():
            check_whole(query_tokens=L, context=S, sequences=count)
            if self.mla:
                form = mla or cheaper_form(self, self.mla, L, S, mask)
                one = latent_attention(self, self.mla, form, L, S, precision, mask, traffic)
                found = [(f"{form}_attention", self.attention_layers, one)]
                if self.index and self.index.top_k < S:
                    found.append(("index", self.attention_layers, index_cost(self, self.index, L, S, precision)))
                rows[form] = rows.get(form, 0) + count * (L if form == "absorbed" else S)
            else:
                found = list(attend(self, L, S, precision, mask, traffic))
            for name, layers, one in found:
                cost = one * (count * layers)
                costs[name] = costs[name] + cost if name in costs else cost
        products = [latent_products(self, form, tokens, precision) for form, tokens in rows.items()]
        return dict(ChainMap(*products)) | costs

    def lm_head_cost(self, sampled: int, precision: Precision | None = None) -> Cost:
        """The projection of the sampled rows to logits.

        Raises:
            ValueError: sampled is not a positive whole number.
        """
        return self.lm_head.cost(sampled, precision or self.precision)

    def elementwise_costs(self, tokens: int, precision: Precision | None = None) -> dict[str, Cost]:
        """What a step of so many tokens does beside its matrix kernels, each summed over the layers.

        Norms (on q and k too, and the final one), RoPE, the feed-forward gate, two residual additions per layer, the
        embedding gather, the sum of the experts' outputs, and the pass that quantises activations where linear layers
        multiply in a narrow type: each as a kernel of its own, as an engine that fuses nothing runs them.

        Raises:
            ValueError: tokens is not a positive whole number.
        """
        check_whole(tokens=tokens)
        return elementwise(self, tokens, precision or self.precision)

    def step(
        self, sequences: Iterable[tuple[int, int]] | Mapping[tuple[int, int], int], *, fused: bool = False,
        mask: str = "causal", traffic: str = "q+kv+o", precision: Precision | None = None,
        sampled: int | None = None, mla: str | None = None, elementwise: bool = False,
    ) -> Step:
        """The kernels of one step over a batch of sequences, each summed over the layers and the batch.

        A sequence is a pair (L, S): L query tokens, the last of S tokens of context. Decode is (1, S), prefill (S, S),
        a chunk of a longer prompt or the verification of drafted tokens (L, S); a step may mix them. Linear layers see
        all query tokens at once, lm_head only the sampled rows.

        Args:
            sequences: pairs (L, S), or how often each occurs, {(1, 2048): 32}.
            fused: see `projections`. traffic: see `attention`. precision: widths (None: as published).
            mask: of full attention, "causal" or "none"; a sliding window is causal by its nature.
            sampled: rows whose logits are wanted (None: one per sequence; 0: none, as within a long prompt).
            mla: form of latent attention, "absorbed" or "expanded" (None: for each sequence the one of fewer FLOPs).
            elementwise: also the operators of `elementwise_costs`, which engines mostly fuse away.

        Raises:
            ValueError: no sequence, L or S not a positive whole number, L > S, a word is unknown, or mla is given for
                a model without latent attention.

        >>> from roofline_calc import QWEN
        >>> step = QWEN.step([(1, 2048), (1, 500), (128, 128)])
        >>> step["q_proj"] == QWEN.linear_costs(tokens=130)["q_proj"]
        True
        """
        batch = Counter(sequences)
        if not batch:
            raise ValueError("sequences = []: a step needs at least one")
        precision = precision or self.precision
        rows = batch.total() if sampled is None else sampled
        head = {"lm_head": self.lm_head_cost(rows, precision)} if rows else {}
        attention = self.attention_costs(batch, mask=mask, traffic=traffic, precision=precision, mla=mla)
        tokens = sum(L * count for (L, _), count in batch.items())
        kernels = {**self.linear_costs(tokens, fused=fused, precision=precision), **attention, **head}
        if elementwise:
            kernels |= self.elementwise_costs(tokens, precision)
        compulsory = weights_and_input(self, tokens, rows, precision) | kv_traffic(self, batch, precision)
        return Step(kernels, compulsory, self.multiplies(fused, precision), latent_choices(self, batch, mask))

    def decode_kernels(
        self, batch: int, context: int, *, fused: bool = False, traffic: str = "q+kv+o",
        precision: Precision | None = None,
    ) -> Step:
        """The kernels of one decode step: `step` of the sequences {(1, context): batch}.

        Args:
            batch: sequences that decode together, one token each.
            context: cached tokens of each sequence, its newest included.
            fused: see `projections`. traffic: see `attention`. precision: widths (None: as published).

        Raises:
            ValueError: batch or context is not a positive whole number, or traffic is unknown.
        """
        check_whole(batch=batch, context=context)
        return self.step({(1, context): batch}, fused=fused, traffic=traffic, precision=precision)

    def decode_weights_and_kv(self, batch: int, context: int, precision: Precision | None = None) -> Cost:
        """One decode step as a whole, counting weights and KV cache as its only traffic.

        The kernels' FLOPs over each weight read once (norms and biases too) and each cached token read once: the usual
        whole-model view, in which activations are negligible.

        Raises:
            ValueError: batch or context is not a positive whole number.
        """
        flops = sum(cost.flops for cost in self.decode_kernels(batch, context).values())
        kv = sum(kv_traffic(self, {(1, context): batch}, precision or self.precision).values())
        return Cost(flops, {"weights": self.weight_bytes_read(batch, precision), "KV": kv})
