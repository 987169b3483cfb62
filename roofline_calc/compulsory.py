"""What a step cannot do without moving across the memory bus, however its kernels overlap or fuse."""

from collections.abc import Mapping

from .attending import cache_elements, cached
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
    rows = tokens * model.hidden * precision.stored("embedding").width / model.cards
    return {"weights": weights, "input": rows}


def kv_traffic(model: Memory, sequences: Mapping[tuple[int, int], int], precision: Precision) -> dict[str, float]:
    """Bytes of KV cache that a step over sequences (L, S) reads and writes: what is new need not be read back."""
    width = cache_elements(model) * precision.kv
    each = [(count, *cached(model, L, S)) for (L, S), count in sequences.items()]
    return {
        "KV read": sum(count * read for count, read, _ in each) * width,
        "KV written": sum(count * written for count, _, written in each) * width,
    }
