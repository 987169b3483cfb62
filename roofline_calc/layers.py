"""What a decoder layer runs in a step beside attention: its linear layers and its element-wise operators."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .exchange import cards_touched
from .linear_attention import short_convolution
from .mixers import Mixer
from .operators import (
    Cost,
    combine,
    embedding,
    experts_touched,
    grouped_gemm,
    quantise,
    relu2,
    residual,
    rms_norm,
    rope,
    swiglu,
)
from .parts import Heads, Indexer, LayerInputs
from .precision import WIDE, WIDTHS, Precision
from .roofline import gemm_crossing
from .shapes import ALONE, MLA, Shapes, Spread

ELEMENTWISE = (
    "embedding", "norms", "rope", "convolution", "swiglu", "activations", "residual", "combine", "quantise",
)


@dataclass(frozen=True)
class Linear:
    """A linear layer's matrices: shape K x N, in how many layers, how many in each, how many of those a token meets.

    ``parts``: the layers of the checkpoint that it consists of, and their shares of N; one of its own name where it is
    not fused. ``shared_by``: how many of its rows are one and the same input (gate and up of a token's experts).
    ``spread``: over how many cards the matrices are, ``copies`` on each, and how many groups send as many tokens.
    """

    K: int
    N: int
    layers: int
    parts: Mapping[str, int] = field(hash=False)
    copies: int = 1
    per_token: int = 1
    shared_by: int = 1
    spread: Spread = ALONE

    def touched(self, M: int | None) -> float:
        """Expected matrices of one layer that M tokens of each group meet (None: enough of them to meet all)."""
        cards, groups = self.spread
        if M is None or cards == 1:
            return self.copies if M is None else experts_touched(self.copies, self.per_token, M)
        return experts_touched(self.copies * cards, self.per_token, M * groups) / cards

    @property
    def per_input(self) -> float:
        """Rows on this card that are one and the same input, expected where only some of a token's experts are here."""
        if self.spread.cards == 1 or self.shared_by == 1:
            return self.shared_by
        return self.per_token / cards_touched(self.copies * self.spread.cards, self.per_token, self.spread.cards)

    def part(self, cost: Cost) -> Cost:
        """Of what all the cards do with the tokens of all groups, this card's part."""
        cards = self.spread.cards
        if cards == 1:
            return cost
        return Cost(cost.flops / cards, {name: moved / cards for name, moved in cost.traffic.items()})

    def width(self, precision: Precision) -> float:
        """Bytes per weight: of a fused layer the mean of its parts."""
        widths = {part: precision.stored(part).width for part in self.parts}
        if len(set(widths.values())) == 1:
            return next(iter(widths.values()))
        return sum(N * widths[part] for part, N in self.parts.items()) / self.N

    def multiplies(self, precision: Precision) -> str | None:
        """Data type of the product where the checkpoint sets it: of a fused layer the narrowest of its parts'."""
        dtypes = [dtype for part in self.parts if (dtype := precision.stored(part).multiplies)]
        return min(dtypes, key=WIDTHS.__getitem__, default=None)

    def operands(self, precision: Precision) -> tuple[float, float, float]:
        """Bytes per element of X, W and Y."""
        dtype = self.multiplies(precision)
        if dtype:
            b_x = WIDTHS[dtype]
        else:
            b_x = precision.others if any(part in WIDE for part in self.parts) else precision.activations
        return b_x, self.width(precision), precision.others

    def cost(self, M: int, precision: Precision) -> Cost:
        """What M tokens, of each group, cost in all the layers."""
        b_x, b_w, b_y = self.operands(precision)
        rows, matrices = M * self.per_token, self.touched(M)
        if self.spread.cards == 1:
            return grouped_gemm(rows, matrices, self.K, self.N, b_x, b_w, b_y, self.shared_by) * self.layers
        every = grouped_gemm(rows * self.spread.groups, matrices, self.K, self.N, b_x, b_w, b_y)
        mine = self.part(every)
        own = {"X": mine.traffic["X"] / self.per_input, "W": every.traffic["W"]}
        return Cost(mine.flops, mine.traffic | own) * self.layers

    def crossing(self, ridge: float, precision: Precision) -> float | None:
        """Tokens in flight, not rounded, at which the layer turns compute-bound; None where no number is enough.

        For an expert these are the tokens of the whole step, E/k times those that reach one expert (spread evenly);
        of several groups those of one.
        """
        b_x, b_w, b_y = self.operands(precision)
        rows = gemm_crossing(self.K, self.N, ridge, b_x / self.per_input, b_w, b_y)
        cards, groups = self.spread
        return rows and rows * self.copies * cards / (self.per_token * groups)


def alone(name: str, K: int, N: int, layers: int, **kind: Any) -> Linear:
    """A linear layer that is one of the checkpoint's."""
    return Linear(K, N, layers, {_plain(name): N}, **kind)


def _plain(name: str) -> str:
    """The layer's name in `Precision.modules`, which tell no shapes apart."""
    return name.removeprefix("global_").removeprefix("wide_")


def linear_layers(model: Shapes, fused: bool = False) -> dict[str, Linear]:
    """Every linear layer of the decoder layers, by name.

    Args:
        fused: as an engine runs them, q, k and v in one GEMM and gate and up in another.
    """
    attention = _attention_layers(model, fused) if model.attention_layers else {}
    mixer = _mixer_layers(model, model.mixer, fused) if model.mixer else {}
    inputs = _input_layers(model, model.layer_inputs) if model.layer_inputs else {}
    return attention | mixer | _ffn_layers(model, fused) | inputs


def _attention_layers(model: Shapes, fused: bool) -> dict[str, Linear]:
    if model.mla:
        return _mla_layers(model, model.mla, fused)
    kinds = model.heads if model.global_heads else (_merged(model.heads),)
    layers: dict[str, Linear] = {}
    for kind in kinds:
        prefix = "global_" if model.global_heads and kind.window is None else ""
        layers |= _grouped_layers(model, kind, prefix, fused)
    return layers


def _merged(kinds: tuple[Heads, ...]) -> Heads:
    """Kinds of attention whose heads have one shape, as one."""
    layers, caching = (sum(counts) for counts in zip(*((kind.layers, kind.caching) for kind in kinds), strict=True))
    return kinds[0]._replace(layers=layers, caching=caching)


def _grouped_layers(model: Shapes, kind: Heads, prefix: str, fused: bool) -> dict[str, Linear]:
    """Projections of attention with grouped queries; layers without a cache of their own have but q and o."""
    q, kv = model.n_q * kind.head_dim, kind.n_kv * kind.head_dim
    query = {f"{prefix}q_proj": q * (1 + model.output_gate)}
    inputs = {**query, f"{prefix}k_proj": kv, **({f"{prefix}v_proj": kv} if kind.v_proj else {})}
    found = _side_by_side(model.hidden, kind.caching, f"{prefix}qkv_proj", inputs, fused)
    if kind.layers > kind.caching:
        found[f"{prefix}q_proj"] = alone(
            f"{prefix}q_proj", model.hidden, query[f"{prefix}q_proj"],
            kind.layers - kind.caching if fused else kind.layers)
    found[f"{prefix}o_proj"] = alone(f"{prefix}o_proj", q, model.hidden, kind.layers)
    return found


def _mixer_layers(model: Shapes, mixer: Mixer, fused: bool) -> dict[str, Linear]:
    out = f"{mixer.prefix}out_proj"
    return {
        **_side_by_side(model.hidden, mixer.layers, f"{mixer.prefix}in_proj", mixer.inputs, fused),
        out: alone(out, mixer.output, model.hidden, mixer.layers),
    }


def _side_by_side(
    K: int, layers: int, name: str, parts: Mapping[str, int], fused: bool, **kind: Any
) -> dict[str, Linear]:
    """Linear layers that read the same input, each with its own width N: one GEMM where they are fused."""
    if fused:
        plain = {_plain(part): N for part, N in parts.items()}
        return {name: Linear(K, sum(parts.values()), layers, plain, **kind)}
    return {part: alone(part, K, N, layers, **kind) for part, N in parts.items()}


def _mla_layers(model: Shapes, mla: MLA, fused: bool) -> dict[str, Linear]:
    query, latent = model.n_q * (mla.nope + mla.rope), mla.kv_rank + mla.rope
    first, rest = {"q_a_proj": mla.q_rank or 0, "kv_a_proj": latent}, {}
    if mla.q_rank is None:
        first = {"q_proj": query, "kv_a_proj": latent}
    else:
        rest = {"q_b_proj": alone("q_b_proj", mla.q_rank, query, model.attention_layers)}
    if model.index:
        rest |= _index_layers(model, model.index)
    return {
        **_side_by_side(model.hidden, model.attention_layers, "qkv_a_proj", first, fused), **rest,
        "kv_b_proj": alone("kv_b_proj", mla.kv_rank, model.n_q * (mla.nope + mla.v), model.attention_layers),
        "o_proj": alone("o_proj", model.n_q * mla.v, model.hidden, model.attention_layers),
    }


def _index_layers(model: Shapes, index: Indexer) -> dict[str, Linear]:
    rank = model.mla.q_rank if model.mla and model.mla.q_rank else model.hidden
    queries = alone("index_q_proj", rank, index.heads * index.dim, model.attention_layers)
    widths = {"index_k_proj": index.dim, "index_weights_proj": index.heads}
    return {"index_q_proj": queries, **_side_by_side(model.hidden, model.attention_layers, "", widths, fused=False)}


def absorbed_layers(model: Shapes) -> dict[str, Linear]:
    """The two halves of kv_b_proj as MLA's absorbed form runs them, head by head: on the query, and on the output."""
    if not model.mla:
        return {}
    mla = model.mla
    heads: dict[str, Any] = {"copies": model.n_q, "per_token": model.n_q}
    return {
        "k_absorb": Linear(mla.nope, mla.kv_rank, model.attention_layers, {"kv_b_proj": mla.kv_rank}, **heads),
        "v_absorb": Linear(mla.kv_rank, mla.v, model.attention_layers, {"kv_b_proj": mla.v}, **heads),
    }


def _ffn(
    model: Shapes, prefix: str, intermediate: int, layers: int, fused: bool, width: int | None = None, **kind: Any
) -> dict[str, Linear]:
    """A feed-forward network between layers of ``width`` (None: the hidden state's)."""
    width = width or model.hidden
    inputs = {f"{prefix}gate_proj": intermediate, f"{prefix}up_proj": intermediate}
    if not model.gated_ffn:
        inputs, fused = {f"{prefix}up_proj": intermediate}, False
    down = alone(f"{prefix}down_proj", intermediate, width, layers, **kind)
    shared = {"shared_by": kind["per_token"]} if kind else {}
    return {
        **_side_by_side(width, layers, f"{prefix}gate_up_proj", inputs, fused, **kind, **shared),
        f"{prefix}down_proj": down,
    }


def _dense_layers(model: Shapes, layers: int, fused: bool) -> dict[str, Linear]:
    shared = model.shared_cache
    if not shared or shared.ffn_factor == 1:
        return _ffn(model, "", model.intermediate, layers, fused)
    wide = shared.full + shared.window
    plain = _ffn(model, "", model.intermediate, layers - wide, fused)
    return plain | _ffn(model, "wide_", shared.ffn_factor * model.intermediate, wide, fused)


def _input_layers(model: Shapes, inputs: LayerInputs) -> dict[str, Linear]:
    """What makes a further input for every layer, in one go, and what lets it in there."""
    return {
        "layer_inputs_proj": alone("layer_inputs_proj", model.hidden, model.layers * inputs.width, 1),
        "layer_gate_proj": alone("layer_gate_proj", model.hidden, inputs.width, model.layers),
        "layer_output_proj": alone("layer_output_proj", inputs.width, model.hidden, model.layers),
    }


def _ffn_layers(model: Shapes, fused: bool) -> dict[str, Linear]:
    moe = model.moe
    dense = model.fed_layers if not moe or moe.beside_dense else moe.dense_layers
    ffn = _dense_layers(model, dense, fused) if dense else {}
    if not moe:
        return ffn
    sparse = model.fed_layers - moe.dense_layers
    ffn["router"] = alone("router", model.hidden, moe.experts, sparse)
    experts: dict[str, Any] = {"copies": moe.here, "per_token": moe.top_k, "spread": moe.spread}
    ffn |= _ffn(model, "expert_", moe.intermediate, sparse, fused, moe.latent, **experts)
    if moe.latent:
        ffn |= {
            "latent_down_proj": alone("latent_down_proj", model.hidden, moe.latent, sparse),
            "latent_up_proj": alone("latent_up_proj", moe.latent, model.hidden, sparse),
        }
    if moe.shared_intermediate:
        ffn |= _ffn(model, "shared_", moe.shared_intermediate, sparse, fused)
    if moe.shared_gate:
        ffn["shared_expert_gate"] = alone("shared_expert_gate", model.hidden, 1, sparse)
    return ffn


def elementwise(model: Shapes, tokens: int, precision: Precision) -> dict[str, Cost]:
    """What a step of so many tokens does beside its matrix kernels, each summed over the layers."""
    b, ffn = precision.others, _ffn_layers(model, fused=True)
    gate = swiglu if model.gated_ffn else relu2
    gates = [
        line.part(gate(tokens * line.spread.groups * line.per_token, line.K, b)) * line.layers
        for name, line in ffn.items() if name.endswith("down_proj") and name != "latent_down_proj"
    ]
    if model.layer_inputs:
        gates.append(swiglu(tokens, model.layer_inputs.width, b) * model.layers)
    if model.output_gate:
        gates.append(swiglu(tokens, model.n_q * model.head_dim, b) * model.attention_layers)
    costs = {"embedding": embedding(tokens, model.hidden, b), "norms": _norms(model, tokens, b)}
    if model.attention_layers > model.nope_layers:
        costs["rope"] = _rope(model, tokens, b)
    if model.mixer:
        convolved = short_convolution(tokens, model.mixer.channels, model.mixer.taps, b)
        costs["convolution"] = convolved * model.mixer.layers
        gates.append(swiglu(tokens, model.mixer.output, b) * model.mixer.layers)
    sublayers = model.attention_layers + model.mixer_layers + model.fed_layers
    costs |= {
        "swiglu" if model.gated_ffn else "activations": sum(gates, start=Cost(0, {})),
        "residual": residual(tokens, model.hidden, b) * sublayers,
    }
    if model.moe:
        down = ffn["expert_down_proj"]
        costs["combine"] = down.part(combine(tokens * down.spread.groups, down.per_token, down.N, b)) * down.layers
    quantised = [
        _quantised(line, tokens, precision) * line.layers
        for line in linear_layers(model, fused=True).values() if line.operands(precision)[0] < b
    ]
    return costs | ({"quantise": sum(quantised, start=Cost(0, {}))} if quantised else {})


def _quantised(line: Linear, tokens: int, precision: Precision) -> Cost:
    """The pass over the input of a linear layer that multiplies in a narrow type, in one layer."""
    rows = tokens * line.spread.groups * line.per_token // line.shared_by
    return line.part(quantise(rows, line.K, precision.others, line.operands(precision)[0]))


def _norms(model: Shapes, tokens: int, b: float) -> Cost:
    norms = rms_norm(tokens, model.hidden, b) * (model.norms_per_layer * model.layers + 1)
    heads, per_layer = model.n_q + model.n_kv, []
    for kind in model.heads if model.qk_norm else ():
        norms += rms_norm(tokens * (model.n_q + kind.n_kv), kind.head_dim, b) * kind.caching
        if kind.layers > kind.caching:
            norms += rms_norm(tokens * model.n_q, kind.head_dim, b) * (kind.layers - kind.caching)
    if model.layer_inputs:
        norms += rms_norm(tokens * model.layers, model.layer_inputs.width, b)
        norms += rms_norm(tokens, model.hidden, b) * model.layers
    if model.moe and model.moe.beside_dense:
        norms += rms_norm(tokens, model.hidden, b) * (3 * model.layers)
    if model.wide_qk_norm:
        per_layer.append(rms_norm(tokens, heads * model.head_dim, b))
    if model.mla:
        per_layer += [rms_norm(tokens, rank, b) for rank in (model.mla.q_rank, model.mla.kv_rank) if rank]
    if model.index:
        per_layer.append(rms_norm(tokens, model.index.dim, b))
    norms += sum(per_layer, start=Cost(0, {})) * model.attention_layers if per_layer else Cost(0, {})
    if model.mixer:
        count, width = model.mixer.normed
        norms += rms_norm(tokens * count, width, b) * model.mixer.layers
    return norms


def _rope(model: Shapes, tokens: int, b: float) -> Cost:
    if model.mla:
        heads = model.n_q + 1 + (model.index.heads + 1 if model.index else 0)  # one rotary key for all heads
        return rope(tokens, heads, model.mla.rope, b) * model.attention_layers
    if not model.global_heads and not model.shared_cache:
        turned = model.attention_layers - model.nope_layers
        return rope(tokens, model.n_q + model.n_kv, model.rope_dim or model.head_dim, b) * turned
    queries = [rope(tokens, model.n_q, kind.head_dim, b) * kind.layers for kind in model.heads]
    keys = [rope(tokens, kind.n_kv, kind.head_dim, b) * kind.caching for kind in model.heads]
    return sum(queries + keys, start=Cost(0, {}))
