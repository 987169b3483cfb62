"""A step on a card: each operator's regime and time floor, sweeps over many steps, and where a regime turns."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .checks import check_choice, check_whole
from .model import Model
from .operators import Cost
from .precision import WIDTHS, Precision
from .roofline import first_whole, regime_of, ridge_point, time_floor

if TYPE_CHECKING:
    from .catalog import Accelerator


class Row(NamedTuple):
    """One operator of a step on a card: its regime, and the least seconds it can take."""

    operator: str
    cost: Cost
    regime: str
    seconds: float


class Roofs(NamedTuple):
    """A card's roofs for a step: peak in FLOP/s of the linear layers and of everything else, bandwidth in byte/s."""

    linear: float
    rest: float
    bandwidth: float

    @classmethod
    def of(cls, accelerator: "Accelerator", dtype: str = "bf16") -> "Roofs":
        """Roofs of a card that multiplies a step's activations and weights in a data type.

        Data types narrower than two bytes serve the linear layers only: attention, element-wise operators, router
        and lm_head run in the card's BF16, or FP16 where it has none.

        Raises:
            ValueError: the card has no peak for the data type.
        """
        linear = accelerator.peak_of(dtype)
        wide = dtype
        if WIDTHS.get(dtype, 4) < 2:
            wide = next((name for name in ("bf16", "fp16") if name in accelerator.peak), "fp32")
        return cls(linear, accelerator.peak_of(wide), accelerator.bandwidth)

    def peak(self, operator: str) -> float:
        """Peak in FLOP/s for an operator of `Model.step`."""
        return self.linear if operator.endswith("_proj") else self.rest

    def row(self, operator: str, cost: Cost) -> Row:
        """An operator's regime and time floor under these roofs."""
        peak = self.peak(operator)
        ridge = ridge_point(peak, self.bandwidth)
        return Row(operator, cost, regime_of(cost, ridge), time_floor((cost,), peak, self.bandwidth))


@dataclass(frozen=True)
class Report:
    """A step on a card, operator by operator."""

    rows: tuple[Row, ...]
    roofs: Roofs

    @property
    def total(self) -> Cost:
        """The step's FLOPs and traffic as one kernel's."""
        return sum((row.cost for row in self.rows), start=Cost(0, {}))

    @property
    def seconds(self) -> float:
        """Least time of the step: each operator held back by its own roof, one after the other."""
        return sum(row.seconds for row in self.rows)

    def share(self, row: Row) -> float:
        """An operator's part of the step's least time."""
        return row.seconds / self.seconds

    def tokens_per_second(self, tokens: int) -> float:
        """The most that a card can do of a step that carries so many tokens."""
        return tokens / self.seconds

    @property
    def compute_seconds(self) -> float:
        """Time of the arithmetic alone, at peak."""
        return sum(row.cost.flops / self.roofs.peak(row.operator) for row in self.rows)

    @property
    def memory_seconds(self) -> float:
        """Time of the traffic alone, at full bandwidth."""
        return self.total.bytes / self.roofs.bandwidth

    @property
    def aggregate_seconds(self) -> float:
        """The floor of the step taken as one kernel of average intensity: never above ``seconds``, often far below."""
        return max(self.compute_seconds, self.memory_seconds)

    @property
    def compute_bound(self) -> tuple[str, ...]:
        """Names of the operators that are compute-bound."""
        return tuple(row.operator for row in self.rows if row.regime == "compute-bound")


def analyse(step: Mapping[str, Cost], accelerator: "Accelerator", dtype: str = "bf16") -> Report:
    """A step's operators with their regimes and time floors on a card.

    Args:
        step: operators by name, as `Model.step` and `Model.decode_kernels` give them.
        dtype: in which the card multiplies; see `Roofs.of`.

    Raises:
        ValueError: the card has no peak for the data type.

    >>> from roofline_calc import QWEN, RTX_4090
    >>> report = analyse(QWEN.decode_kernels(batch=256, context=2048), RTX_4090)
    >>> [row.regime for row in report.rows if row.operator in ("q_proj", "k_proj", "attention")]
    ['compute-bound', 'memory-bound', 'memory-bound']
    """
    roofs = Roofs.of(accelerator, dtype)
    return Report(tuple(roofs.row(name, cost) for name, cost in step.items()), roofs)


def sweep(
    model: Model, accelerator: "Accelerator", points: Iterable[tuple[int, int]], *, phase: str = "decode",
    dtype: str = "bf16", fused: bool = False, traffic: str = "q+kv+o", precision: Precision | None = None,
) -> Iterator[tuple[int, int, Report]]:
    """A report for each (batch, context) of many: whole steps as `Model.step` counts them.

    All but attention depends on the number of tokens alone and is worked out once for each such number.

    Args:
        points: batches and contexts; all sequences of a batch are alike.
        phase: "decode", one query token per sequence, or "prefill", all of them.
        Others: see `Model.step` and `analyse`.

    Raises:
        ValueError: a batch or context is not a positive whole number, or a word is unknown.
    """
    check_choice(("decode", "prefill"), phase=phase)
    roofs, precision = Roofs.of(accelerator, dtype), precision or model.precision
    by_tokens: dict[tuple[int, int], tuple[Row, ...]] = {}
    for batch, context in points:
        L = 1 if phase == "decode" else context
        tokens = batch * L
        if (tokens, batch) not in by_tokens:
            check_whole(batch=batch, context=context)
            costs = model.linear_costs(tokens, fused=fused, precision=precision)
            costs["lm_head"] = model.lm_head_cost(batch, precision)
            costs |= model.elementwise_costs(tokens, precision)
            by_tokens[tokens, batch] = tuple(roofs.row(name, cost) for name, cost in costs.items())
        attend = model.attention_costs({(L, context): batch}, traffic=traffic, precision=precision)
        rows = tuple(roofs.row(name, cost) for name, cost in attend.items())
        yield batch, context, Report(by_tokens[tokens, batch] + rows, roofs)


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
    roofs = Roofs.of(accelerator, dtype)
    layers = model.linear_layers(fused) | {"lm_head": model.lm_head}
    return {
        name: line.crossing(ridge_point(roofs.peak(name), roofs.bandwidth), precision) for name, line in layers.items()
    }


def first_batch(
    model: Model, accelerator: "Accelerator", context: int, operator: str | None = None, *, dtype: str = "bf16",
    fused: bool = False, precision: Precision | None = None, at_most: int = 2**20,
) -> int | None:
    """The least batch at which a decode step's operator (None: the step as one kernel) is compute-bound.

    Raises:
        ValueError: the step has no such operator.
    """
    return _first(lambda n: {(1, context): n}, model, accelerator, operator, dtype, fused, precision, at_most)


def first_context(
    model: Model, accelerator: "Accelerator", operator: str | None = None, *, dtype: str = "bf16",
    fused: bool = False, precision: Precision | None = None, at_most: int = 2**24,
) -> int | None:
    """The least context at which an operator of a one-sequence prefill (None: the step as one kernel) is compute-bound.

    Raises:
        ValueError: the step has no such operator.
    """
    return _first(lambda n: {(n, n): 1}, model, accelerator, operator, dtype, fused, precision, at_most)


def first_query_tokens(
    model: Model, accelerator: "Accelerator", context: int, *, dtype: str = "bf16", precision: Precision | None = None
) -> int | None:
    """The least query tokens per sequence (drafted tokens, a chunk) at which attention over a context is compute-bound.

    Full attention where the model has it, else sliding-window attention. None where no number of them is enough.

    Raises:
        ValueError: context is not a positive whole number.
    """
    check_whole(context=context)
    roofs, precision = Roofs.of(accelerator, dtype), precision or model.precision

    def attend(L: int) -> Row:
        name, cost = next(iter(model.attention_costs({(L, context): 1}, precision=precision).items()))
        return roofs.row(name, cost)

    # Intensity rises with L while Q and O are small beside K and V, then falls as the mask takes pairs away.
    peak = first_whole(lambda L: context == L or attend(L + 1).cost.intensity < attend(L).cost.intensity, context)
    return first_whole(lambda L: attend(L).regime == "compute-bound", at_most=peak or context)


def _first(
    sequences: Callable[[int], dict[tuple[int, int], int]], model: Model, accelerator: "Accelerator",
    operator: str | None, dtype: str, fused: bool, precision: Precision | None, at_most: int,
) -> int | None:
    roofs = Roofs.of(accelerator, dtype)
    if operator is not None:
        check_choice(tuple(model.step(sequences(1), fused=fused)), operator=operator)

    def compute_bound(size: int) -> bool:
        step = model.step(sequences(size), fused=fused, precision=precision)
        if operator is not None:
            return roofs.row(operator, step[operator]).regime == "compute-bound"
        report = Report(tuple(roofs.row(name, cost) for name, cost in step.items()), roofs)
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
    beyond = first_whole(lambda S: batch * model.kv_bytes([S], precision) > room, at_most)
    return at_most if beyond is None else beyond - 1


def largest_batch(
    model: Model, memory: float, context: int, *, precision: Precision | None = None
) -> int:
    """The most sequences of a context that fit beside the weights in so many bytes; see `largest_context`."""
    room = memory - model.weight_bytes(precision)
    return max(0, int(room // model.kv_bytes([context], precision)))
