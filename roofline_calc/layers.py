"""What a decoder layer runs in a step: its linear layers, its attention, its element-wise operators."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .operators import (
    Cost,
    attention,
    embedding,
    experts_touched,
    mla_attention,
    residual,
    rms_norm,
    rope,
    swiglu,
    window_attention,
)
from .partial_attention import chunked_attention
from .precision import Precision
from .roofline import gemm_crossing
from .shapes import MLA, Shapes


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
    out = {"o_proj": Linear(q, model.hidden, model.layers)}
    if fused:
        return {"qkv_proj": Linear(model.hidden, q + 2 * kv, model.layers), **out}
    return {
        "q_proj": Linear(model.hidden, q, model.layers), "k_proj": Linear(model.hidden, kv, model.layers),
        "v_proj": Linear(model.hidden, kv, model.layers), **out,
    }


def _mla_layers(model: Shapes, mla: MLA, fused: bool) -> dict[str, Linear]:
    """As the absorbed form runs them: kv_b_proj head by head, its key half on the query, its value half on O."""
    query, latent = model.n_q * (mla.nope + mla.rope), mla.kv_rank + mla.rope
    rest = {
        "k_absorb": Linear(mla.nope, mla.kv_rank, model.layers, copies=model.n_q, per_token=model.n_q),
        "v_absorb": Linear(mla.kv_rank, mla.v, model.layers, copies=model.n_q, per_token=model.n_q),
        "o_proj": Linear(model.n_q * mla.v, model.hidden, model.layers),
    }
    if mla.q_rank is None:
        first = {"q_proj": query, "kv_a_proj": latent}
    else:
        first = {"q_a_proj": mla.q_rank, "kv_a_proj": latent}
        rest = {"q_b_proj": Linear(mla.q_rank, query, model.layers), **rest}
    if fused:
        first = {"qkv_a_proj": sum(first.values())}
    return {**{name: Linear(model.hidden, N, model.layers) for name, N in first.items()}, **rest}


def _gated(model: Shapes, prefix: str, intermediate: int, layers: int, fused: bool, **kind: Any) -> dict[str, Linear]:
    down = {f"{prefix}down_proj": Linear(intermediate, model.hidden, layers, **kind)}
    if fused:
        return {f"{prefix}gate_up_proj": Linear(model.hidden, 2 * intermediate, layers, **kind), **down}
    one = Linear(model.hidden, intermediate, layers, **kind)
    return {f"{prefix}gate_proj": one, f"{prefix}up_proj": one, **down}


def _ffn_layers(model: Shapes, fused: bool) -> dict[str, Linear]:
    if not model.moe:
        return _gated(model, "", model.intermediate, model.layers, fused)
    moe, sparse = model.moe, model.layers - model.moe.dense_layers
    ffn = _gated(model, "", model.intermediate, moe.dense_layers, fused) if moe.dense_layers else {}
    ffn["router"] = Linear(model.hidden, moe.experts, sparse, stored="others")
    ffn |= _gated(
        model, "expert_", moe.intermediate, sparse, fused, copies=moe.experts, per_token=moe.top_k, stored="experts"
    )
    if moe.shared_intermediate:
        ffn |= _gated(model, "shared_", moe.shared_intermediate, sparse, fused)
    if moe.shared_gate:
        ffn["shared_expert_gate"] = Linear(model.hidden, 1, sparse, stored="others")
    return ffn


def attend(
    model: Shapes, L: int, S: int, b_q: float, b_kv: float, mask: str, traffic: str
) -> Iterator[tuple[str, int, Cost]]:
    """One sequence's attention in one layer of each kind: its name, how many layers have it, its cost."""
    if model.mla:
        shape = model.n_q, model.mla.kv_rank, model.mla.rope
        one = mla_attention(*shape, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic)
        yield "attention", model.layers, one
        return
    heads = model.n_q, model.n_kv, model.head_dim
    if model.layers > model.window_layers:
        one = attention(*heads, L, S, b_q=b_q, b_kv=b_kv, mask=mask, traffic=traffic)
        yield "attention", model.layers - model.window_layers, one
    if model.window and model.chunked:
        one = chunked_attention(*heads, L, S, model.window, b_q=b_q, b_kv=b_kv, traffic=traffic)
        yield "chunked_attention", model.window_layers, one
    elif model.window:
        one = window_attention(*heads, L, S, model.window, b_q=b_q, b_kv=b_kv, traffic=traffic)
        yield "window_attention", model.window_layers, one


def elementwise(model: Shapes, tokens: int, b: float) -> dict[str, Cost]:
    """What a step of so many tokens does beside its matrix kernels, each summed over the layers; b bytes an element."""
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
    gates = [
        swiglu(tokens * line.per_token, line.K, b) * line.layers
        for name, line in _ffn_layers(model, fused=True).items() if name.endswith("down_proj")
    ]
    turned = model.layers - model.nope_layers
    return {
        "embedding": embedding(tokens, model.hidden, b), "norms": norms,
        **({"rope": rope(tokens, heads, width, b) * turned} if turned else {}),
        "swiglu": sum(gates, start=Cost(0, {})), "residual": residual(tokens, model.hidden, b) * (2 * model.layers),
    }
