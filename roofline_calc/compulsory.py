"""What a step cannot do without moving across the memory bus, however its kernels overlap or fuse."""

from collections.abc import Mapping

from .attending import cached, indexed
from .memory import Memory
from .precision import Precision


def weights_and_input(model: Memory, tokens: int, sampled: int, precision: Precision) -> dict[str, float]:
    """Bytes of weights that a step of so many tokens reads, and of its input.

    Of the experts those that evenly routed tokens touch; of lm_head nothing where no row is sampled. The input are the
    tokens' rows of the embedding, of which each of several cards holds its share.
    """
    weights = model.weight_bytes_read(tokens, precision)
    if not sampled:
        weights -= model.vocab * model.hidden * precision.stored("lm_head").width
        weights -= model.lm_head_bias * model.vocab * precision.others
    width = model.hidden / model.cards
    if model.layer_inputs:
        width += model.layers * model.layer_inputs.width
    return {"weights": weights, "input": tokens * width * precision.stored("embedding").width}


def kv_traffic(model: Memory, sequences: Mapping[tuple[int, int], int], precision: Precision) -> dict[str, float]:
    """Bytes of KV cache, and of state, that a step over sequences (L, S) reads and writes.

    What is new need not be read back, and a sequence that begins has no state to read. Of tokens that an index picks,
    as many count as one query picks: all may pick the same.
    """
    keys = model.attention_layers * model.index.key_bytes if model.index else 0
    read = written = 0.0
    for (L, S), count in sequences.items():
        kept, added = cached(model, L, S)
        read += count * (kept * precision.kv + indexed(model, L, S) * keys)
        written += count * (added * precision.kv + L * keys)
    moved = {"KV read": read, "KV written": written}
    if model.mixer:
        one, begun = model.state_bytes(1, precision), sum(count for (L, S), count in sequences.items() if S == L)
        moved["state written"] = one * sum(sequences.values())
        moved["state read"] = moved["state written"] - one * begun
    return moved
