"""Which results of a step are copied when they are handed over, as something else has their storage; and how many bytes that takes."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any, Callable, Sequence

import torch

from .functional import root_of
from .measure import example_of
from .tensors import storage_of
from .program import Place, Program, replaced


@dataclasses.dataclass(frozen=True)
class Copies:
    """Bytes of the copy of each parameter's gradient and of each output; 0 where there is none."""

    gradients: Sequence[int]
    outputs: Sequence[int]


def copies_of(program: Program, parameters: Sequence[torch.Tensor], given: Callable[[Place], torch.Tensor]) -> Copies:
    """A gradient is copied if its storage is another result's or was there before the step (both may be changed after), is larger than it, or
    does not lie like the parameter, as after backward(). Outputs are copied where their storage was there before: a parameter's changes."""

    def tensor_of(leaf: Any) -> torch.Tensor:
        return given(leaf) if isinstance(leaf, Place) else example_of(leaf.layout)

    results = [*program.gradients, *program.outputs, *program.buffers.values()]
    uses = Counter(root_of(result) for result in results if result is not None)

    def bytes_of_gradient(parameter: torch.Tensor, gradient: Any) -> int:
        if gradient is None:
            return 0
        tensor = replaced(gradient, tensor_of)
        size = int(tensor.numel() * tensor.element_size())
        own = not isinstance(root_of(gradient), Place) and uses[root_of(gradient)] == 1 and size == storage_of(tensor).nbytes()
        return 0 if own and tensor.stride() == strides_of_gradient(parameter) else size

    def bytes_of_output(output: Any) -> int:
        if not isinstance(root_of(output), Place):
            return 0
        tensor = replaced(output, tensor_of)
        return int(tensor.numel() * tensor.element_size())

    return Copies([bytes_of_gradient(*pair) for pair in zip(parameters, program.gradients)], [bytes_of_output(output) for output in program.outputs])


def strides_of_gradient(parameter: torch.Tensor) -> tuple[int, ...]:
    """Returns the strides that backward() gives a parameter's gradient: its own if it is dense."""
    dense = parameter.is_contiguous() or parameter.is_contiguous(memory_format=torch.channels_last if parameter.dim() == 4 else torch.contiguous_format)
    return tuple(parameter.stride() if dense else torch.empty(parameter.shape, device="meta").stride())
