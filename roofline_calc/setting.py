"""What the options of a question describe: a model, a card, widths and data type, by name or from a file."""

import argparse
import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .attending import check_form
from .catalog import ACCELERATORS, MODELS, Accelerator, read_accelerators, read_models
from .checkpoints.formats import stored_as
from .checkpoints.read import read_config
from .checks import check_whole
from .model import Model
from .precision import WIDTHS, Precision, Stored

PROGRAM = "roofline-calc"


class RefusedError(Exception):
    """What the user asked cannot be done; the message is one line."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at the known word that was probably meant."""
    found = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.4)
    return f"; did you mean {found[0]!r}?" if found else ""


def _pick(word: str, known: Mapping[str, Any], read: Callable[[str], Mapping[str, Any]], what: str) -> Any:
    """An entry of the catalogue, or of a file: my.toml, or my.toml:name where it has several."""
    if word in known:
        return known[word]
    path, colon, name = word.rpartition(":") if not Path(word).is_file() else (word, "", "")
    if not colon:
        path, name = word, ""
    if Path(path).suffix not in (".toml", ".json"):
        command = "models" if what == "model" else what
        raise RefusedError(f"{what} {word!r} is unknown{nearest(word, known)} (list them: {PROGRAM} {command})")
    entries = read(path)
    if name:
        if name not in entries:
            raise RefusedError(f"{path} has no {name!r}{nearest(name, entries)}")
        return entries[name]
    if len(entries) != 1:
        raise RefusedError(f"{path} has {len(entries)} entries: name one, {path}:{next(iter(entries), 'NAME')}")
    return next(iter(entries.values()))


def model_named(word: str, *, plain: bool = False) -> Model:
    """A model of the catalogue, of a TOML file, or of a config.json or its folder.

    ``plain``: whatever its checkpoint says of quantisation is not asked for.
    """
    quantisation: dict[str, Any] | None = {} if plain else None

    def read(path: str) -> Mapping[str, Model]:
        return {"": read_config(path, quantisation=quantisation)} if path.endswith(".json") else read_models(path)

    if Path(word).is_dir() or Path(word).suffix == ".gguf":
        return read_config(word, quantisation=quantisation)
    picked: Model = _pick(word, MODELS, read, "model")
    return picked


def accelerator_named(word: str) -> Accelerator:
    """A card of the catalogue, or of a TOML file."""
    picked: Accelerator = _pick(word, ACCELERATORS, read_accelerators, "hardware")
    return picked


class Setting:
    """What the options describe: a model (or one card's share of it), a card, widths and data types."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.accelerator = accelerator_named(options.hardware)
        self._whole = model_named(options.model, plain=options.weights is not None)
        if options.weights is not None:
            self._whole = replace(self._whole, stored={})  # nor do its blocks of quantised weights count
        self.groups = self._groups(options)
        self.batch: int = self.groups if options.batch is None else options.batch
        self.model = self._whole.card(options.tp, ep=options.ep)
        check_form(self.model, options.mla)
        self.mla = options.mla
        self.dtype = options.dtype or self._usual_dtype()
        self.precision = self._precision(options)

    @property
    def how(self) -> dict[str, Any]:
        """The widths and MLA's form, as `Model.step` takes them."""
        return {"precision": self.precision, "mla": self.mla}

    def _groups(self, options: argparse.Namespace) -> int:
        """How many groups of cards have sequences of their own."""
        if options.ep == 1 and (options.dp or 1) != 1:
            raise RefusedError(
                f"--dp {options.dp}: groups that share no experts (--ep) are replicas; ask for one, with its batch"
            )
        check_whole(tp=options.tp, ep=options.ep)
        groups: int = max(1, options.ep // options.tp)
        if options.dp not in (None, groups):
            raise RefusedError(
                f"--dp {options.dp}: over --ep {options.ep} cards in groups of --tp {options.tp} it is {groups}"
            )
        return groups

    @property
    def cards(self) -> int:
        """Over how many cards the model is spread."""
        return self.model.cards * self.groups

    def of_group(self, sequences: int) -> int:
        """One group's part of the sequences, as many for each."""
        if sequences % self.groups:
            raise RefusedError(
                f"--batch {sequences}: must be a multiple of {self.groups}, the groups of cards (--ep / --tp), which "
                "attend to as many sequences each"
            )
        return sequences // self.groups

    def _usual_dtype(self) -> str:
        wanted = ("bf16", "fp16", "fp32") if self.model.bytes_per_element == 2 else ("fp32",)
        return next((dtype for dtype in wanted if dtype in self.accelerator.peak), wanted[-1])

    def _precision(self, options: argparse.Namespace) -> Precision:
        stored, width = self.model.precision, WIDTHS[self.dtype]
        precision = Precision(
            activations=width, weights=width, kv=stored.kv if stored.kv < stored.others else max(width, 2),
            others=max(width, 2), modules=self._modules(options), attention=options.attention,
        )
        if isinstance(options.weights, float | int):
            precision = replace(precision, weights=options.weights)
        if options.kv is not None:
            precision = replace(precision, kv=options.kv)
        if options.attention is not None:
            self.accelerator.peak_of(options.attention)
        # Weights multiply in the checkpoint's type where this card has it, unless one is given.
        return precision.on(self.accelerator.peak if options.dtype is None else ())

    def _modules(self, options: argparse.Namespace) -> dict[str, Stored]:
        """What is stored otherwise than the rest: as the checkpoint has it, or as the options say."""
        modules = dict(self._whole.stored)
        if options.weights is not None:
            modules = stored_as(options.weights, self._whole) if isinstance(options.weights, str) else {}
        wide = {"lm_head": options.lm_head, "embedding": options.embedding}
        given = {name: width for name, width in wide.items() if width is not None}
        if given and self._whole.tied_embeddings:
            if len(set(given.values())) > 1:
                raise RefusedError(f"--lm-head, --embedding: {self._whole.name} has one matrix for both, of one width")
            given = dict.fromkeys(wide, next(iter(given.values())))
        return modules | {name: Stored(width) for name, width in given.items()}

    def facts(self) -> dict[str, Any]:
        """The setting as data, for JSON."""
        widths, moe = self.precision, self.model.moe
        return {
            "model": self.model.name, "hardware": self.accelerator.name, "dtype": self.dtype,
            "bytes_per_element": {
                "activations": widths.activations, "weights": widths.weights, "kv": widths.kv, "others": widths.others,
            },
            "modules": {
                name: {"width": kept.width, "multiplies": kept.multiplies} for name, kept in widths.modules.items()
            },
            "attention": widths.attention or self.dtype,
            "ridge": self.accelerator.ridge(self.dtype),
            "weights_resident": self.model.weight_bytes(widths), "left_out": list(self.model.left_out),
            "tensor_parallel": self.model.cards, "expert_parallel": moe.spread.cards if moe else 1,
            "data_parallel": self.groups,
        }

    def __str__(self) -> str:
        widths, ridge = self.precision, self.accelerator.ridge(self.dtype)
        alike: dict[Stored, list[str]] = {}
        for name, module in {"weights": widths.modules.get("layers", Stored(widths.weights)), **widths.modules}.items():
            if name != "layers":
                alike.setdefault(module, []).append(name)
        stored = []
        for module, names in alike.items():
            multiplied = f" (multiplied in {module.multiplies})" if module.multiplies else ""
            stored.append(f"{' and '.join(names)} {8 * module.width:.4g} bits{multiplied}")
        attention = f", attention in {widths.attention}" if widths.attention else ""
        return (
            f"{self.model.name} on {self.accelerator.name}: {self.dtype}{attention}, {', '.join(stored)}, "
            f"KV cache {8 * widths.kv:.4g} bits; ridge point {ridge:.1f} FLOP/byte"
        )
