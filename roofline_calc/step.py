"""One step of a model: its kernels, and what no way of running it can avoid."""

from collections.abc import Mapping, Sequence

from .operators import Cost


class Step(dict[str, Cost]):
    """The kernels of one step by name, each with its cost.

    Args:
        compulsory: bytes by operand that cross the memory bus however kernels overlap or fuse: weights, the KV cache
            read and written, the step's input. Token ids, 4 bytes each, are left out.
        multiplies: data types of kernels' products, where the checkpoint or the precision sets them.
        choices: parts of the step that can be computed in several ways (MLA): of each part, FLOPs by kernel for each
            way. Kernels that a way names do nothing else.
    """

    def __init__(
        self, kernels: Mapping[str, Cost], compulsory: Mapping[str, float] | None = None,
        multiplies: Mapping[str, str] | None = None, choices: Sequence[Sequence[Mapping[str, float]]] = (),
    ) -> None:
        super().__init__(kernels)
        self.compulsory, self.multiplies, self.choices = compulsory or {}, multiplies or {}, choices

    @property
    def whole(self) -> Cost:
        """The step as one kernel: all its FLOPs over its compulsory traffic."""
        return Cost(sum(cost.flops for cost in self.values()), dict(self.compulsory))
