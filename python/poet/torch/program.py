"""A training step as plain data: its operators with their operands and results."""

from __future__ import annotations

import dataclasses
from typing import AbstractSet, Any, Callable, Optional, Sequence

import torch


@dataclasses.dataclass(frozen=True)
class Layout:
    """A tensor's layout in its storage of `bytes` on a device: size, stride and offset in elements."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    dtype: torch.dtype
    bytes: int
    device: str = "cpu"

    def empty(self) -> torch.Tensor:
        """Returns a tensor that lies like this, without contents."""
        element = torch.empty((), dtype=self.dtype).element_size()
        flat = torch.empty(self.bytes // element, dtype=self.dtype, device=self.device)
        return flat.as_strided(self.size, self.stride, self.offset)


@dataclasses.dataclass(frozen=True)
class Place:
    """A tensor that exists before the step: the `index`-th of the step's "parameter"s, "buffer"s, "batch" tensors or "constant"s."""

    kind: str
    index: int


@dataclasses.dataclass(frozen=True)
class View:
    """A tensor that shares its operand's storage, so that it is recreated wherever it is read. `item`: its index in a list."""

    target: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    item: Optional[int] = None


@dataclasses.dataclass(eq=False)
class Value:
    """A tensor that an operator writes into new storage. Its layout is known once the operator has run; `captured`: size and strides
    during capture, strides 0 for dimensions of size 1."""

    name: str
    op: int
    output: int
    layout: Optional[Layout] = None
    captured: Optional[tuple[tuple[int, ...], tuple[int, ...]]] = None

    @property
    def bytes(self) -> int:
        assert self.layout is not None
        return self.layout.bytes


@dataclasses.dataclass(eq=False)
class Op:
    """An operator that computes. `args` and `kwargs` hold Place, View and Value where there were tensors.

    `outputs`: values by their position in what it returns; those that nobody reads are absent. `number`: which of the program's.
    `is_list`: whether it returns several. `is_random`: draws from the generator.
    """

    name: str
    target: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: dict[int, Value]
    number: int
    is_list: bool
    is_random: bool
    is_backward: bool = False

    def output(self, index: int) -> Value:
        """Returns the value at a position in the operator's results."""
        if index not in self.outputs:
            self.outputs[index] = Value(f"{self.name}.{index}" if self.is_list else self.name, self.number, index)
        return self.outputs[index]

    def reads(self) -> list[Value]:
        """Returns the operand values, each once."""
        return list(dict.fromkeys(values_of((self.args, self.kwargs))))

    def parameters(self) -> list[int]:
        """Returns the indices of the parameters that it reads, each once."""
        places = [each for each in leaves((self.args, self.kwargs)) if isinstance(each, Place) and each.kind == "parameter"]
        return list(dict.fromkeys(place.index for place in places))


@dataclasses.dataclass
class Program:
    """A step: operators in PyTorch's execution order, and results.

    `outputs` (the tensors that the caller gets, the loss among them), `gradients` (one per parameter, None where it has none) and `buffers` (new
    contents by index) are Value, View, Place or None.
    """

    ops: list[Op]
    outputs: list[Any]
    gradients: list[Any]
    buffers: dict[int, Any]
    constants: list[torch.Tensor]
    fresh: AbstractSet[int] = frozenset()  # constants that every step makes anew; others are somebody's, who may change them
    guards: Sequence[Any] = ()  # values of the batch (guards.Guard) with which alone it is the step
    returned: Any = None  # returned.Returned: the form in which the caller gets them
    is_checkpointed: bool = False  # the code has torch.utils.checkpoint, which is left out
    replaced: frozenset[str] = frozenset()  # attributes of the module in which its code leaves results
    left: tuple[str, ...] = ()  # those among them that a step sets, as they go by the module alone; the last outputs are for them

    @staticmethod
    def of(ops: list[Op], outputs: list[Any], gradients: list[Any], buffers: dict[int, Any], constants: list[torch.Tensor]) -> Program:
        """Returns the program without dead operators; those that draw random numbers stay, as later draws depend on them."""
        needed = set(values_of((outputs, gradients, buffers)))
        kept = []
        for op in reversed(ops):
            if op.is_random and not op.outputs:
                op.output(0)
            if op.is_random or any(value in needed for value in op.outputs.values()):
                if op.is_random:
                    needed.add(next(iter(op.outputs.values())))
                needed.update(op.reads())
                kept.append(op)
        kept.reverse()
        for number, op in enumerate(kept):
            op.number = number
            op.outputs = {index: value for index, value in sorted(op.outputs.items()) if value in needed}
            for value in op.outputs.values():
                value.op = number
        last_forward = max((value.op for value in values_of(outputs)), default=-1)
        for op in kept[last_forward + 1 :]:
            op.is_backward = True
        return Program(kept, outputs, gradients, buffers, constants)

    def results(self) -> list[Value]:
        """Returns the values that are live at the end, each once."""
        return list(dict.fromkeys(values_of((self.outputs, self.gradients, self.buffers))))


def leaves(tree: Any) -> list[Any]:
    """Returns the places, values and constants in arguments, including those of views, in order."""
    if isinstance(tree, (tuple, list)):
        return [leaf for each in tree for leaf in leaves(each)]
    if isinstance(tree, dict):
        return leaves(list(tree.values()))
    if isinstance(tree, View):
        return leaves((tree.args, tree.kwargs))
    return [tree]


def values_of(tree: Any) -> list[Value]:
    """Returns the values in arguments or results, in order."""
    return [leaf for leaf in leaves(tree) if isinstance(leaf, Value)]


def replaced(tree: Any, tensor_of: Callable[[Any], Any]) -> Any:
    """Returns the arguments with places and values replaced by tensors, and views created."""
    if isinstance(tree, (tuple, list)):
        return type(tree)(replaced(each, tensor_of) for each in tree)
    if isinstance(tree, dict):
        return {name: replaced(each, tensor_of) for name, each in tree.items()}
    if isinstance(tree, View):
        made = tree.target(*replaced(tree.args, tensor_of), **replaced(tree.kwargs, tensor_of))
        return made if tree.item is None else made[tree.item]
    if isinstance(tree, (Place, Value)):
        return tensor_of(tree)
    return tree
