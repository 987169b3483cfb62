"""What the configs of many architectures have in common: heads, windows, tied embeddings, the text part of a config."""

from collections.abc import Callable, Mapping
from typing import Any

from .fields import Fields


def heads(fields: Fields, *, explicit: bool = False, grouped: bool = True) -> dict[str, int]:
    """Query heads, KV heads and head_dim: given, or else hidden_size / num_attention_heads.

    ``explicit``: head_dim must be given. ``grouped``: KV heads must; without, there are as many as query heads.
    """
    hidden, n_q = fields.whole("hidden_size"), fields.whole("num_attention_heads")
    n_kv = fields.whole("num_key_value_heads", default=None if grouped else n_q)
    if n_q % n_kv:
        raise fields.refuse("num_key_value_heads", f"must divide num_attention_heads ({n_q})")
    if fields.has("head_dim") or explicit:
        return {"n_q": n_q, "n_kv": n_kv, "head_dim": fields.whole("head_dim")}
    if hidden % n_q:
        raise fields.refuse("num_attention_heads", f"must divide hidden_size ({hidden}) where head_dim is not given")
    return {"n_q": n_q, "n_kv": n_kv, "head_dim": hidden // n_q}


def count_layers(fields: Fields, kind: str, others: tuple[str, ...], rule: Callable[[int, int], bool]) -> int:
    """How many layers are of a kind: by ``layer_types``, or else by the architecture's rule (layer, layers)."""
    layers, types = fields.whole("num_hidden_layers"), fields.config.get("layer_types")
    if types is None:
        return sum(rule(i, layers) for i in range(layers))
    if not isinstance(types, list) or len(types) != layers or not {kind, *others}.issuperset(types):
        known = " or ".join((kind, *others))
        raise ValueError(f"layer_types: must name {known} for each of {layers} layers")
    return types.count(kind)


def window(fields: Fields, windowed: Callable[[int, int], bool], *, optional: bool = False) -> dict[str, Any]:
    """Sliding-window attention: its width, and its layers, by ``layer_types`` or else by the architecture's rule.

    The field may be null for no window; only where ``optional``, it may be left out.
    """
    types, width = fields.config.get("layer_types"), None
    if "sliding_window" in fields.config or not optional:
        width = fields.none_or_whole("sliding_window")
    if width is None:
        if isinstance(types, list) and "sliding_attention" in types:
            raise ValueError("sliding_window: missing from the config, though layer_types names sliding_attention")
        return {}
    count = count_layers(fields, "sliding_attention", ("full_attention",), windowed)
    return {"window": width, "window_layers": count} if count else {}


def everywhere(i: int, layers: int) -> bool:
    """A rule by which all layers are of a kind."""
    return True


def but_every(period: int) -> Callable[[int, int], bool]:
    """A rule by which every layer is of a kind but the last of each period."""
    return lambda i, layers: (i + 1) % period != 0


def shapes(fields: Fields) -> dict[str, Any]:
    """What all architectures have in common."""
    return {
        "hidden": fields.whole("hidden_size"), "layers": fields.whole("num_hidden_layers"),
        "intermediate": fields.whole("intermediate_size"), "vocab": fields.whole("vocab_size"), "qkv_bias": False,
    }


def rotary(fields: Fields, head_dim: int, default: float = 1) -> dict[str, int]:
    """The part of a head that RoPE turns, where it is not the whole."""
    nested = fields.config.get("rope_parameters")
    given = {**(nested if isinstance(nested, Mapping) else {}), **fields.config}
    share = Fields(given).share("partial_rotary_factor", default)
    return {} if share == 1 else {"rope_dim": int(share * head_dim)}


def without_rope(fields: Fields) -> list[bool]:
    """Which layers go without RoPE: those with a 0 in no_rope_layers, or without that field the last of each period."""
    layers, rope = fields.whole("num_hidden_layers"), fields.config.get("no_rope_layers")
    if not rope:
        period = fields.whole("no_rope_layer_interval", default=4)
        return [(i + 1) % period == 0 for i in range(layers)]
    if not isinstance(rope, list) or len(rope) != layers or not {0, 1}.issuperset(rope):
        raise fields.refuse("no_rope_layers", f"must hold 0 or 1 for each of {layers} layers")
    return [turned == 0 for turned in rope]


def tied(fields: Fields, default: bool = False) -> dict[str, bool]:
    """Whether embedding and lm_head are one matrix."""
    return {"tied_embeddings": fields.flag("tie_word_embeddings", default)}


def top_k(fields: Fields, experts: str) -> int:
    """Experts per token, of those that the field named ``experts`` counts."""
    chosen = fields.whole("num_experts_per_tok")
    if chosen > fields.whole(experts):
        raise fields.refuse("num_experts_per_tok", f"must be at most {experts} ({fields.whole(experts)})")
    return chosen


def text_part(fields: Fields, **defaults: Any) -> Fields:
    """The config of the language model within a multimodal one; defaults are those of its class."""
    text = fields.config.get("text_config")
    if not isinstance(text, Mapping):
        raise ValueError("text_config: missing from the config")
    return Fields({**defaults, **text})
