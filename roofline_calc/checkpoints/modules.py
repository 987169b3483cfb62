"""The modules of a checkpoint: which of its matrices each of our linear layers is, layer by layer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..model import Model
from ..precision import WIDE
from .module_names import DEPARTING, HEAD_ROOTS, ROOTS, USUAL, USUAL_ENDS


@dataclass(frozen=True)
class Module:
    """One matrix of a checkpoint: our name, the names that the checkpoint may use, its layer, and its shape K x N."""

    name: str
    paths: tuple[str, ...]
    layer: int
    K: int
    N: int

    @property
    def expert(self) -> bool:
        """Whether it belongs to a routed expert."""
        return self.name.startswith("expert_")

    @property
    def wide(self) -> bool:
        """Whether it is one of those that quantised checkpoints usually leave alone: router, lm_head, embedding."""
        return self.name in WIDE


def modules(
    model: Model, architecture: str = "", config: Mapping[str, Any] = MappingProxyType({}), experts: int = 1
) -> Iterator[Module]:
    """The matrices of a model, of each layer the first so many of its experts.

    Without an architecture their names are the usual ones; a config says which layers are of which kind.
    """
    names = {**USUAL, **USUAL_ENDS, **DEPARTING.get(architecture, {})}
    where = _layers_by_kind(model, architecture, config)
    for line_name, line in model.linear_layers().items():
        (name,) = line.parts  # as in Precision.modules, which tell no shapes apart
        below = names.get(name, name)
        if name in USUAL_ENDS:
            yield Module(name, tuple(root + below for root in ROOTS), 0, line.K, line.N)
            continue
        for layer in _numbers(line_name, line.layers, where, model.layers):
            for e in range(experts if name.startswith("expert_") else 1):
                paths = _spellings(f"layers.{layer}.{below.format(e=e)}")
                yield Module(name, tuple(root + path for path in paths for root in ROOTS), layer, line.K, line.N)
    for name, roots in (("embedding", ROOTS), ("lm_head", HEAD_ROOTS)):
        yield Module(name, tuple(root + names[name] for root in roots), 0, model.hidden, model.vocab)


def _numbers(name: str, count: int, where: Mapping[str, Sequence[int]], layers: int) -> Sequence[int]:
    """The layers that have a linear layer; where fewer than its kind have it, the first."""
    kinds = {
        "global_": "global", "wide_": "wide", "linear_": "mixer", "mamba_": "mixer", "expert_": "sparse",
        "shared_": "sparse", "router": "sparse", "latent_": "sparse", "layer_": "all", "gate_": "dense", "up_": "dense",
        "down_": "dense",
    }
    kind = next((kind for prefix, kind in kinds.items() if name.startswith(prefix)), "attention")
    among = where.get(kind, range(layers))
    return among[:count] if len(among) >= count else range(layers)


def _layers_by_kind(model: Model, architecture: str, config: Mapping[str, Any]) -> dict[str, Sequence[int]]:
    """The numbers of the layers that have attention, a state, experts and so on, where not all of them have it."""
    text = config.get("text_config") or config
    pattern = text.get("hybrid_override_pattern") or text.get("layers_block_type")
    if pattern and architecture.startswith("Nemotron"):
        kinds = {"M": "mixer", "*": "attention", "E": "sparse", "-": "dense", "mamba": "mixer", "moe": "sparse",
                 "mlp": "dense", "attention": "attention"}
        found = [kinds[each] for each in pattern]
        return {kind: [i for i, each in enumerate(found) if each == kind] for kind in kinds.values()}
    dense = _dense_layers(model, architecture, text)
    where: dict[str, Sequence[int]] = {
        "dense": sorted(dense) if dense else range(model.layers),
        "sparse": [i for i in range(model.layers) if i not in dense],
    }
    types = text.get("layer_types")
    if model.mixer:
        period = text.get("full_attention_interval", 4)
        stated = ("linear_attention", "mamba")
        full = [types[i] not in stated if types else (i + 1) % period == 0 for i in range(model.layers)]
        where |= {"attention": [i for i in range(model.layers) if full[i]],
                  "mixer": [i for i in range(model.layers) if not full[i]]}
    if model.global_heads and types:
        where |= {"global": [i for i in range(model.layers) if types[i] == "full_attention"],
                  "attention": [i for i in range(model.layers) if types[i] != "full_attention"]}
    if model.shared_cache:
        shared = model.shared_cache.full + model.shared_cache.window
        where["wide"] = range(model.layers - shared, model.layers)
    return where


def _dense_layers(model: Model, architecture: str, text: Mapping[str, Any]) -> frozenset[int]:
    """The layers without experts: the first, but for architectures whose config names them."""
    count = model.moe.dense_layers if model.moe else 0
    if count and architecture.startswith("Qwen"):
        step, named = text.get("decoder_sparse_step") or 1, text.get("mlp_only_layers") or []
        return frozenset(i for i in range(model.layers) if i in named or (i + 1) % step)
    if count and architecture.startswith("Llama4"):
        step = text.get("interleave_moe_layer_step", 1)
        return frozenset(range(model.layers)) - frozenset(text.get("moe_layers") or range(step - 1, model.layers, step))
    return frozenset(range(count))


def _spellings(path: str) -> list[str]:
    """An expert's matrix also by the names of files that hold all experts of a layer in one tensor."""
    found = re.fullmatch(r"(.*)\.experts\.\d+\.(\w+)", path)
    if not found:
        return [path]
    start, part = found.groups()
    part = {"w1": "gate_proj", "w3": "up_proj", "w2": "down_proj"}.get(part, part)
    stacked = "down_proj" if part == "down_proj" else "gate_up_proj"
    return [path, f"{start}.experts.{part}", f"{start}.experts.{stacked}"]
