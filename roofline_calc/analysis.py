"""A step on a card: each operator's regime, the step's times, sweeps over many steps, and where a regime turns."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from .attending import latent_choices
from .checks import check_choice, check_whole
from .compulsory import kv_traffic, weights_and_input
from .layers import ELEMENTWISE
from .model import Model
from .operators import Cost
from .precision import WIDTHS, Precision
from .roofline import first_whole, kernel_by_kernel, regime_of, ridge_point
from .step import Step

if TYPE_CHECKING:
    from .catalog import Accelerator


class Row(NamedTuple):
    """One operator of a step on a card: its regime, and its seconds at its own roof."""

    operator: str
    cost: Cost
    regime: str
    seconds: float


class Roofs(NamedTuple):
    """A card's roofs for a step: peak in FLOP/s of the linear layers and of everything else, bandwidth in byte/s.

    ``own``: peaks of the operators that multiply in a data type of their own.
    """

    linear: float
    rest: float
    bandwidth: float
    own: Mapping[str, float] = MappingProxyType({})

    @classmethod
    def of(
        cls, accelerator: "Accelerator", dtype: str = "bf16", multiplies: Mapping[str, str] = MappingProxyType({})
    ) -> "Roofs":
        """Roofs of a card that multiplies a step's activations and weights in a data type.

        Data types narrower than two bytes serve the linear layers only: attention, element-wise operators, router
        and lm_head run in the card's BF16, or FP16 where it has none.

        Args:
            multiplies: data types of operators that differ (see `Memory.multiplies`); where the card has no peak for
                one, its weights are widened and the operator runs as the others.

        Raises:
            ValueError: the card has no peak for the data type.
        """
        linear = accelerator.peak_of(dtype)
        wide = dtype
        if WIDTHS.get(dtype, 4) < 2:
            wide = next((name for name in ("bf16", "fp16") if name in accelerator.peak), "fp32")
        own = {
            operator: accelerator.peak[narrow] for operator, narrow in multiplies.items() if narrow in accelerator.peak
        }
        return cls(linear, accelerator.peak_of(wide), accelerator.bandwidth, own)

    def peak(self, operator: str) -> float:
        """Peak in FLOP/s for an operator of `Model.step`."""
        if operator in self.own:
            return self.own[operator]
        return self.linear if operator.endswith(("_proj", "_absorb")) else self.rest

    def row(self, operator: str, cost: Cost) -> Row:
        """An operator's regime and seconds under these roofs."""
        peak = self.peak(operator)
        ridge = ridge_point(peak, self.bandwidth)
        return Row(operator, cost, regime_of(cost, ridge), kernel_by_kernel((cost,), peak, self.bandwidth))

    def compute_seconds(self, flops: Mapping[str, float]) -> float:
        """Time of the arithmetic alone, at peak, of FLOPs by operator."""
        return sum(count / self.peak(operator) for operator, count in flops.items())


@dataclass(frozen=True)
class Report:
    """A step on a card, operator by operator, and its times; see `Step` for what is compulsory, and the choices."""

    rows: tuple[Row, ...]
    roofs: Roofs
    compulsory: float
    choices: Sequence[Sequence[Mapping[str, float]]] = ()

    @property
    def total(self) -> Cost:
        """FLOPs and traffic of all kernels together."""
        return sum((row.cost for row in self.rows), start=Cost(0, {}))

    @property
    def compute_seconds(self) -> float:
        """Time of the arithmetic alone, at peak, by data type; of what can be computed in several ways, the quickest.

        FLOPs of element-wise operators, which no tensor core does, are not in it.
        """
        chosen = {operator for ways in self.choices for way in ways for operator in way}
        fixed = {
            row.operator: row.cost.flops for row in self.rows
            if row.operator not in chosen and row.operator not in ELEMENTWISE
        }
        return self.roofs.compute_seconds(fixed) + sum(min(map(self.roofs.compute_seconds, ways))
                                                       for ways in self.choices)

    @property
    def memory_seconds(self) -> float:
        """Time of the compulsory traffic alone, at full bandwidth."""
        return self.compulsory / self.roofs.bandwidth

    @property
    def lower_bound(self) -> float:
        r"""Seconds that nothing beats: $\max(\sum_i F_i/P_i, D/B)$, D being the bytes that nobody can avoid moving.

        However kernels overlap or fuse, the arithmetic takes its time at peak, and weights, KV cache and input cross
        the bus. For a mapping that is no `Step` nothing is known to be compulsory, and the arithmetic alone counts.
        """
        return max(self.compute_seconds, self.memory_seconds)

    @property
    def kernel_by_kernel(self) -> float:
        r"""Seconds of the kernels one after the other, each at its own roof: $\sum_i \max(F_i/P_i, D_i/B)$.

        What an engine that runs them so can reach at best. Overlapping kernels of opposite regimes beats it
        (POD-Attention, arXiv:2410.18038; NanoFlow, arXiv:2408.12757), and so does what stays in the cache between two.
        """
        return sum(row.seconds for row in self.rows)

    @property
    def no_overlap(self) -> float:
        r"""Seconds if arithmetic and traffic did not overlap even inside a kernel: $\sum_i (F_i/P_i + D_i/B)$."""
        return self.roofs.compute_seconds({row.operator: row.cost.flops for row in self.rows}) + sum(
            row.cost.bytes for row in self.rows) / self.roofs.bandwidth

    def share(self, row: Row) -> float:
        """An operator's part of the kernel-by-kernel time."""
        return row.seconds / self.kernel_by_kernel

    @property
    def compute_bound(self) -> tuple[str, ...]:
        """Names of the operators that are compute-bound."""
        return tuple(row.operator for row in self.rows if row.regime == "compute-bound")


def analyse(step: Mapping[str, Cost], accelerator: "Accelerator", dtype: str = "bf16") -> Report:
    """A step's kernels with their regimes on a card, and the step's times.

    Args:
        step: kernels by name, as `Model.step` and `Model.decode_kernels` give them.
        dtype: in which the card multiplies what the step leaves open; see `Roofs.of`.

    Raises:
        ValueError: the card has no peak for the data type.

    >>> from roofline_calc import QWEN, RTX_4090
    >>> report = analyse(QWEN.decode_kernels(batch=256, context=512), RTX_4090)
    >>> [row.regime for row in report.rows if row.operator in ("q_proj", "k_proj", "attention")]
    ['compute-bound', 'memory-bound', 'memory-bound']
    >>> [round(1e3 * t, 1) for t in (report.lower_bound, report.kernel_by_kernel, report.no_overlap)]
    [22.2, 29.5, 45.2]
    """
    step = step if isinstance(step, Step) else Step(step)
    roofs = Roofs.of(accelerator, dtype, step.multiplies)
    rows = tuple(roofs.row(name, cost) for name, cost in step.items())
    return Report(rows, roofs, sum(step.compulsory.values()), step.choices)


def sweep(
    model: Model, accelerator: "Accelerator", points: Iterable[tuple[int, int]], *, phase: str = "decode",
    dtype: str = "bf16", fused: bool = False, traffic: str = "q+kv+o", precision: Precision | None = None,
    mla: str | None = None, elementwise: bool = False,
) -> Iterator[tuple[int, int, Report]]:
    """A report for each (batch, context) of many: whole steps as `Model.step` counts them.

    All but attention and KV cache depends on the number of tokens alone and is worked out once for each such number.

    Args:
        points: batches and contexts; all sequences of a batch are alike.
        phase: "decode", one query token per sequence, or "prefill", all of them.
        Others: see `Model.step` and `analyse`.

    Raises:
        ValueError: a batch or context is not a positive whole number, or a word is unknown.
    """
    check_choice(("decode", "prefill"), phase=phase)
    precision = precision or model.precision
    roofs = Roofs.of(accelerator, dtype, model.multiplies(fused, precision))
    by_tokens: dict[tuple[int, int], tuple[tuple[Row, ...], float]] = {}
    for batch, context in points:
        L = 1 if phase == "decode" else context
        tokens = batch * L
        if (tokens, batch) not in by_tokens:
            check_whole(batch=batch, context=context)
            costs = model.linear_costs(tokens, fused=fused, precision=precision)
            costs["lm_head"] = model.lm_head_cost(batch, precision)
            if elementwise:
                costs |= model.elementwise_costs(tokens, precision)
            moved = sum(weights_and_input(model, tokens, batch, precision).values())
            by_tokens[tokens, batch] = tuple(roofs.row(name, cost) for name, cost in costs.items()), moved
        sequences = {(L, context): batch}
        attend = model.attention_costs(sequences, traffic=traffic, precision=precision, mla=mla)
        rows = tuple(roofs.row(name, cost) for name, cost in attend.items())
        common, moved = by_tokens[tokens, batch]
        kv = sum(kv_traffic(model, sequences, precision).values())
        yield batch, context, Report(common + rows, roofs, moved + kv, latent_choices(model, sequences))


def crossings(
    model: Model, accelerator: "Accelerator", *, dtype: str = "bf16", fused: bool = False,
    precision: Precision | None = None,
) -> dict[str, float | None]:
    """Tokens in flight, not rounded, at which each linear layer of a model turns compute-bound on a card.

    See `Linear.crossing`; lm_head's are sampled rows.

    Returns:
        None for a layer that no batch makes compute-bound.
    """
    precision = precision or model.precision
    roofs = Roofs.of(accelerator, dtype, model.multiplies(fused, precision))
    return {
        name: line.crossing(ridge_point(roofs.peak(name), roofs.bandwidth), precision)
        for name, line in model.gemms(fused).items()
    }


def first_batch(
    model: Model, accelerator: "Accelerator", context: int, operator: str | None = None, *, dtype: str = "bf16",
    fused: bool = False, precision: Precision | None = None, at_most: int = 2**20,
) -> int | None:
    """The least batch at which a decode step's operator (None: the step's lower bound) is compute-bound.

    Raises:
        ValueError: the step has no such operator.
    """
    return _first(lambda n: {(1, context): n}, model, accelerator, operator, dtype, fused, precision, at_most)


def first_context(
    model: Model, accelerator: "Accelerator", operator: str | None = None, *, dtype: str = "bf16",
    fused: bool = False, precision: Precision | None = None, at_most: int = 2**24,
) -> int | None:
    """The least context at which an operator of a prefill of one sequence (None: its lower bound) is compute-bound.

    Raises:
        ValueError: the step has no such operator.
    """
    return _first(lambda n: {(n, n): 1}, model, accelerator, operator, dtype, fused, precision, at_most)


def first_query_tokens(
    model: Model, accelerator: "Accelerator", context: int, *, dtype: str = "bf16", precision: Precision | None = None
) -> int | None:
    """The least query tokens per sequence (drafted tokens, a chunk) at which attention over a context is compute-bound.

    Full attention where the model has it, else sliding-window attention; latent attention in its absorbed form, in
    which few tokens are verified. None where no number of them is enough.

    Raises:
        ValueError: context is not a positive whole number.
    """
    check_whole(context=context)
    precision = precision or model.precision
    roofs = Roofs.of(accelerator, dtype, model.multiplies(precision=precision))
    form = "absorbed" if model.mla else None

    def attend(L: int) -> Row:
        costs = model.attention_costs({(L, context): 1}, precision=precision, mla=form)
        return next(roofs.row(name, cost) for name, cost in costs.items() if name.endswith("attention"))

    # Intensity rises with L while Q and O are small beside K and V, then falls as the mask takes pairs away.
    peak = first_whole(lambda L: context == L or attend(L + 1).cost.intensity < attend(L).cost.intensity, context)
    return first_whole(lambda L: attend(L).regime == "compute-bound", at_most=peak or context)


def _first(
    sequences: Callable[[int], dict[tuple[int, int], int]], model: Model, accelerator: "Accelerator",
    operator: str | None, dtype: str, fused: bool, precision: Precision | None, at_most: int,
) -> int | None:
    if operator is not None:
        check_choice(tuple(model.step(sequences(1), fused=fused)), operator=operator)

    def compute_bound(size: int) -> bool:
        report = analyse(model.step(sequences(size), fused=fused, precision=precision), accelerator, dtype)
        if operator is not None:
            return operator in report.compute_bound
        return report.compute_seconds >= report.memory_seconds

    return first_whole(compute_bound, at_most)


def largest_context(
    model: Model, memory: float, batch: int = 1, *, precision: Precision | None = None, at_most: int = 2**32
) -> int:
    """The longest context that a batch of sequences can each have beside the weights in so many bytes; 0 for none.

    Activations, the engine's own needs and fragmentation are left out: pass the memory that is left for weights and
    KV cache (vLLM's default: 0.9 of the card's).

    Raises:
        ValueError: batch is not a positive whole number.

    >>> from roofline_calc import QWEN, RTX_4090
    >>> largest_context(QWEN, RTX_4090.memory)
    183558
    """
    check_whole(batch=batch)
    room = memory - model.weight_bytes(precision)
    beyond = first_whole(lambda S: batch * model.cache_bytes([S], precision) > room, at_most)
    return at_most if beyond is None else beyond - 1


def largest_batch(
    model: Model, memory: float, context: int, *, precision: Precision | None = None
) -> int:
    """The most sequences of a context that fit beside the weights in so many bytes; see `largest_context`."""
    room = memory - model.weight_bytes(precision)
    return max(0, int(room // model.cache_bytes([context], precision)))
