"""A transformer over several cards: the share of one of them, and what the cards send each other in a step."""

from dataclasses import dataclass, replace
from typing import Self

from .checks import check_whole
from .exchange import Exchange, all_gather, all_reduce, dispatch
from .memory import Memory
from .operators import kv_heads_per_card
from .parts import share
from .precision import Precision
from .shapes import MoE, Spread


@dataclass(frozen=True, kw_only=True)
class Parallel(Memory):
    """One card's share of a transformer, and the exchanges between the cards."""

    def card(self, t: int, *, ep: int = 1) -> Self:
        """The share of one of several cards, itself a model whose steps can be counted.

        Tensor parallelism over t cards: q, k, v, gate and up are split by outputs, o and down by inputs, embedding and
        lm_head by vocabulary (rounded up); every expert is split; KV heads are replicated once t exceeds n_kv; norms,
        router and latents are on every card; heads of layers with a state and of an index are split.

        Expert parallelism over ep cards: whole experts are spread over them evenly, the rest is split over t. The ep/t
        groups of t cards attend to sequences of their own (data-parallel attention): steps of a share are given those
        of one group, and its experts also get the tokens of the others, as many of each.

        Args:
            t: cards that split every layer. ep: cards that share the routed experts, a multiple of t; 1: these are
                split over the t cards as well.

        Raises:
            ValueError: t cannot split the heads, a feed-forward width or the blocks in which weights are quantised, or
                ep cannot share the experts; the message says which.

        >>> from roofline_calc import MODELS, QWEN
        >>> QWEN.card(4).projections()["k_proj"], QWEN.valid_tp
        ((3584, 128), (1, 2, 4))
        >>> MODELS["deepseek-v3"].card(1, ep=32).linear_layers()["expert_up_proj"].copies
        8
        """
        card = self._split(t, ep)
        if broken := self._broken_block(card):
            allowed = ", ".join(str(n) for n in range(1, t) if self._fits(n, ep))
            raise ValueError(f"t = {t}: {broken}; allowed are {allowed}")
        return card

    @property
    def valid_tp(self) -> tuple[int, ...]:
        """The numbers of cards over which tensor parallelism can split this model."""
        return tuple(t for t in range(1, self.n_q + 1) if self._fits(t, 1))

    def _fits(self, t: int, ep: int) -> bool:
        try:
            return not self._broken_block(self._split(t, ep))
        except ValueError:
            return False

    def _split(self, t: int, ep: int) -> Self:
        """The share of one card, whatever the quantisation."""
        check_whole(t=t, ep=ep)
        spread = self.moe.spread.cards if self.moe else 1
        if max(self.cards, spread) != 1 and (t, ep) != (1, 1):
            given = f"t = {t}" if ep == 1 else f"t = {t}, ep = {ep}"
            raise ValueError(f"{given}: these are the shapes of one of {max(self.cards, spread)} cards already")
        if self.n_q % t:
            raise ValueError(f"t = {t}: must divide n_q ({self.n_q})")
        n_kv, moe = kv_heads_per_card(self.n_kv, t), self._experts(t, ep)
        if self.layer_inputs and t != 1:
            raise ValueError(f"t = {t}: how engines split inputs per layer over cards is not counted")
        if moe is None or moe.dense_layers or moe.beside_dense:
            intermediate = share(self.intermediate, t, "intermediate")
        else:
            intermediate = self.intermediate  # no layer uses it
        n = max(t, ep)
        return replace(
            self, name=self.name if n == 1 else f"{self.name}, one of {n} cards", n_q=self.n_q // t, n_kv=n_kv,
            intermediate=intermediate, vocab=-(-self.vocab // t), moe=moe, cards=self.cards * t,
            mixer=self.mixer and self.mixer.card(t), index=self.index and self.index.card(t),
            global_heads=self.global_heads and self.global_heads.card(t),
        )

    def _experts(self, t: int, ep: int) -> MoE | None:
        """One card's experts: all of them, each split, or so many whole ones."""
        if ep > 1 and not self.moe:
            raise ValueError(f"ep = {ep}: {self.name} has no experts to spread over cards")
        if not self.moe:
            return None
        if ep > 1 and ep % t:
            raise ValueError(f"ep = {ep}: must be a multiple of t ({t}), the cards of a group")
        width, shared = self.moe.intermediate, self.moe.shared_intermediate
        return replace(
            self.moe, intermediate=width if ep > 1 else share(width, t, "the experts' intermediate"),
            shared_intermediate=shared and share(shared, t, "the shared experts' intermediate"),
            spread=Spread(ep, ep // t) if ep > 1 else self.moe.spread,
        )

    def _broken_block(self, card: "Parallel") -> str:
        """What of a share ends within a block of quantised weights, which engines refuse; empty where nothing does."""
        whole = self.linear_layers()
        for name, line in card.linear_layers().items():
            for part in line.parts:
                outputs, inputs = self.precision.stored(part).block or (1, 1)
                cut = [(line.N, whole[name].N, outputs, "outputs"), (line.K, whole[name].K, inputs, "inputs")]
                for size, before, block, side in cut:
                    if size != before and size % block:
                        return f"leaves {name} {size} {side}, no multiple of the {block} that share a scale"
        return ""

    def exchanges(self, tokens: int, precision: Precision | None = None) -> dict[str, Exchange]:
        """What a card's share exchanges with the others in a step of so many tokens, those of its group.

        Tensor parallelism sums the outputs of o_proj (or of what stands in attention's place) and of down_proj over its
        t cards, and gathers the tokens' rows of the embedding; logits stay where they are, since a token can be chosen
        from what each card finds best of its own. Expert parallelism dispatches tokens, of which each of a group's t
        cards sends its share, in the width in which experts multiply, and combines their outputs; where the t cards
        split shared experts, the sum of these takes along what the routed experts on the same cards give.

        Raises:
            ValueError: tokens is not a positive whole number.

        >>> from roofline_calc import MODELS
        >>> MODELS["llama-3.1-70b"].card(8).exchanges(64)["o_proj all-reduce"].sent == 80 * 64 * 8192 * 2
        True
        """
        check_whole(tokens=tokens)
        precision = precision or self.precision
        found = self._sums(tokens, precision) if self.cards > 1 else {}
        if self.moe and self.moe.spread.cards > 1:
            found |= self._expert_exchanges(self.moe, tokens, precision)
        return found

    def _sums(self, tokens: int, precision: Precision) -> dict[str, Exchange]:
        """What tensor parallelism exchanges."""
        t, moe, row = self.cards, self.moe, self.hidden * precision.others
        attending = self.attention_layers + self.mixer_layers
        fed = self.fed_layers if not moe or moe.beside_dense else moe.dense_layers
        if moe and (moe.spread.cards == 1 or moe.shared_intermediate):
            fed += self.fed_layers - moe.dense_layers
        if self.norms_per_layer == 1 and self.ffn_layers is None and fed == attending:
            attending = 0  # attention and feed-forward network side by side: their outputs need one sum
        rows = tokens * self.hidden * precision.stored("embedding").width
        found = {"embedding gather": all_gather(rows, t)}
        for name, times in {"o_proj all-reduce": attending, "down all-reduce": fed}.items():
            if times:
                found[name] = all_reduce(tokens * row, t, times)
        return found

    def _expert_exchanges(self, moe: MoE, tokens: int, precision: Precision) -> dict[str, Exchange]:
        """What expert parallelism exchanges beside that."""
        here = self.cards if moe.shared_intermediate else 1  # on these the tokens are anyway
        if here == moe.spread.cards:
            return {}
        lines = self.linear_layers()
        first, down = lines["expert_up_proj"], lines["expert_down_proj"]
        routed = moe.experts, moe.top_k, moe.spread.cards, here, down.layers
        there = dispatch(tokens / self.cards, first.K * first.operands(precision)[0], *routed)
        back = dispatch(tokens / self.cards, down.N * precision.others, *routed).back
        return {"dispatch": there, "combine": back}
