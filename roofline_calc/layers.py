"""What a decoder layer runs in a step beside attention: its linear layers and its element-wise operators."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .operators import (
    Cost,
    combine,
    embedding,
    experts_touched,
    grouped_gemm,
    quantise,
    residual,
    rms_norm,
    rope,
    swiglu,
)
from .precision import WIDE, WIDTHS, Precision
from .roofline import gemm_crossing
from .shapes import MLA, Shapes

ELEMENTWISE = ("embedding", "norms", "rope", "swiglu", "residual", "combine", "quantise")


@dataclass(frozen=True)
class Linear:
    """A linear layer's matrices: shape K x N, in how many layers, how many in each, how many of those a token meets.

    ``parts``: the layers of the checkpoint that it consists of, and their shares of N; one of its own name where it is
    not fused. ``shared_by``: how many of its rows are one and the same input (gate and up of a token's experts).
    """

    K: int
    N: int
    layers: int
    parts: Mapping[str, int] = field(hash=False)
    copies: int = 1
    per_token: int = 1
    shared_by: int = 1

    def touched(self, M: int | None) -> float:
        """Expected matrices of one layer that M tokens meet (None: enough of them to meet all)."""
        return self.copies if M is None else experts_touched(self.copies, self.per_token, M)

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
        """What M tokens cost in all the layers."""
        b_x, b_w, b_y = self.operands(precision)
        rows, groups = M * self.per_token, self.touched(M)
        return grouped_gemm(rows, groups, self.K, self.N, b_x, b_w, b_y, self.shared_by) * self.layers

    def crossing(self, ridge: float, precision: Precision) -> float | None:
        """Tokens in flight, not rounded, at which the layer turns compute-bound; None where no number is enough.

        For an expert these are the tokens of the whole step, E/k times those that reach one expert (spread evenly).
        """
        b_x, b_w, b_y = self.operands(precision)
        rows = gemm_crossing(self.K, self.N, ridge, b_x / self.shared_by, b_w, b_y)
        return rows and rows * self.copies / self.per_token


def alone(name: str, K: int, N: int, layers: int, **kind: int) -> Linear:
    """A linear layer that is one of the checkpoint's."""
    return Linear(K, N, layers, {name: N}, **kind)


def linear_layers(model: Shapes, fused: bool = False) -> dict[str, Linear]:
    """Every linear layer of the decoder layers, by name.

    Args:
        fused: as an engine runs them, q, k and v in one GEMM and gate and up in another.
    """
    return _attention_layers(model, fused) | _ffn_layers(model, fused)


def _attention_layers(model: Shapes, fused: bool) -> dict[str, Linear]:
    if model.mla:
        return _mla_layers(model, model.mla, fused)
    q, kv = model.n_q * model.head_dim, model.n_kv * model.head_dim
    inputs, output = {"q_proj": q, "k_proj": kv, "v_proj": kv}, alone("o_proj", q, model.hidden, model.layers)
    return {**_side_by_side(model, model.layers, "qkv_proj", inputs, fused), "o_proj": output}


def _side_by_side(
    model: Shapes, layers: int, name: str, parts: Mapping[str, int], fused: bool, **kind: int
) -> dict[str, Linear]:
    """Linear layers that read the same input, each with its own width N: one GEMM where they are fused."""
    if fused:
        return {name: Linear(model.hidden, sum(parts.values()), layers, parts, **kind)}
    return {part: alone(part, model.hidden, N, layers, **kind) for part, N in parts.items()}


def _mla_layers(model: Shapes, mla: MLA, fused: bool) -> dict[str, Linear]:
    query, latent = model.n_q * (mla.nope + mla.rope), mla.kv_rank + mla.rope
    first, rest = {"q_a_proj": mla.q_rank or 0, "kv_a_proj": latent}, {}
    if mla.q_rank is None:
        first = {"q_proj": query, "kv_a_proj": latent}
    else:
        rest = {"q_b_proj": alone("q_b_proj", mla.q_rank, query, model.layers)}
    return {
        **_side_by_side(model, model.layers, "qkv_a_proj", first, fused), **rest,
        "kv_b_proj": alone("kv_b_proj", mla.kv_rank, model.n_q * (mla.nope + mla.v), model.layers),
        "o_proj": alone("o_proj", model.n_q * mla.v, model.hidden, model.layers),
    }


def absorbed_layers(model: Shapes) -> dict[str, Linear]:
    """The two halves of kv_b_proj as MLA's absorbed form runs them, head by head: on the query, and on the output."""
    if not model.mla:
        return {}
    mla, heads = model.mla, {"copies": model.n_q, "per_token": model.n_q}
    return {
        "k_absorb": Linear(mla.nope, mla.kv_rank, model.layers, {"kv_b_proj": mla.kv_rank}, **heads),
        "v_absorb": Linear(mla.kv_rank, mla.v, model.layers, {"kv_b_proj": mla.v}, **heads),
    }


def _gated(model: Shapes, prefix: str, intermediate: int, layers: int, fused: bool, **kind: int) -> dict[str, Linear]:
    inputs = {f"{prefix}gate_proj": intermediate, f"{prefix}up_proj": intermediate}
    down = alone(f"{prefix}down_proj", intermediate, model.hidden, layers, **kind)
    shared = {"shared_by": kind["per_token"]} if kind else {}
    return {
        **_side_by_side(model, layers, f"{prefix}gate_up_proj", inputs, fused, **kind, **shared),
        f"{prefix}down_proj": down,
    }


def _ffn_layers(model: Shapes, fused: bool) -> dict[str, Linear]:
    if not model.moe:
        return _gated(model, "", model.intermediate, model.layers, fused)
    moe, sparse = model.moe, model.layers - model.moe.dense_layers
    ffn = _gated(model, "", model.intermediate, moe.dense_layers, fused) if moe.dense_layers else {}
    ffn["router"] = alone("router", model.hidden, moe.experts, sparse)
    ffn |= _gated(model, "expert_", moe.intermediate, sparse, fused, copies=moe.experts, per_token=moe.top_k)
    if moe.shared_intermediate:
        ffn |= _gated(model, "shared_", moe.shared_intermediate, sparse, fused)
    if moe.shared_gate:
        ffn["shared_expert_gate"] = alone("shared_expert_gate", model.hidden, 1, sparse)
    return ffn


def elementwise(model: Shapes, tokens: int, precision: Precision) -> dict[str, Cost]:
    """What a step of so many tokens does beside its matrix kernels, each summed over the layers."""
    b = precision.others
    norms = rms_norm(tokens, model.hidden, b) * (model.norms_per_layer * model.layers + 1)
    if model.qk_norm:
        norms += rms_norm(tokens * (model.n_q + model.n_kv), model.head_dim, b) * model.layers
    if model.wide_qk_norm:
        norms += rms_norm(tokens, (model.n_q + model.n_kv) * model.head_dim, b) * model.layers
    heads, width = model.n_q + model.n_kv, model.rope_dim or model.head_dim
    if model.mla:
        heads, width = model.n_q + 1, model.mla.rope  # one rotary key for all heads
        for rank in filter(None, (model.mla.q_rank, model.mla.kv_rank)):
            norms += rms_norm(tokens, rank, b) * model.layers
    ffn = _ffn_layers(model, fused=True)
    gates = [
        swiglu(tokens * line.per_token, line.K, b) * line.layers
        for name, line in ffn.items() if name.endswith("down_proj")
    ]
    turned = model.layers - model.nope_layers
    costs = {
        "embedding": embedding(tokens, model.hidden, b), "norms": norms,
        **({"rope": rope(tokens, heads, width, b) * turned} if turned else {}),
        "swiglu": sum(gates, start=Cost(0, {})), "residual": residual(tokens, model.hidden, b) * (2 * model.layers),
    }
    if model.moe:
        sparse = ffn["router"].layers
        costs["combine"] = combine(tokens, model.moe.top_k, model.hidden, b) * sparse
    quantised = [
        quantise(tokens * line.per_token // line.shared_by, line.K, b, line.operands(precision)[0]) * line.layers
        for line in linear_layers(model, fused=True).values() if line.operands(precision)[0] < b
    ]
    return costs | ({"quantise": sum(quantised, start=Cost(0, {}))} if quantised else {})
