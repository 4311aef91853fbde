"""Values of the batch that code asks for while it is captured: `if mask.all()`, `lengths.tolist()`, sequences packed by their lengths.

What is captured holds for batches that have the same values. So each value is kept with the functions that make it of the batch, and a step begins
with these: where another value comes out, another step is needed.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Optional, Sequence

import torch
import torch.utils._pytree as pytree
from torch.nn.utils.rnn import PackedSequence

from .program import Place

if PackedSequence not in pytree.SUPPORTED_NODES and torch.__version__.startswith("1."):  # PyTorch 2 takes it for the tuple that it is
    pytree._register_pytree_node(PackedSequence, lambda packed: (list(packed), None), lambda parts, _: PackedSequence(*parts))


@dataclasses.dataclass(frozen=True)
class Made:
    """The `item`-th result of a guard's call with this number; None: its only one."""

    call: int
    item: Optional[int]


@dataclasses.dataclass
class Guard:
    """A value that code has asked for: what the last of `calls` returns, functions with their operands, which are those of the batch and
    results of calls before."""

    calls: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]
    value: Any

    def tensors(self) -> list[torch.Tensor]:
        """Operands that are neither the batch's nor made of it: somebody else's, who may change them."""
        return [tensor for call in self.calls for tensor in tensors_of(call[1:])]

    def holds(self, batch: Sequence[torch.Tensor]) -> bool:
        """Whether the value is the same for this batch."""
        made: list[Any] = []

        def operand(leaf: Any) -> Any:
            if isinstance(leaf, Place):
                return batch[leaf.index]
            if isinstance(leaf, Made):
                return made[leaf.call] if leaf.item is None else made[leaf.call][leaf.item]
            return leaf

        try:
            with torch.no_grad():
                for function, args, kwargs in self.calls:
                    made.append(function(*mapped(args, operand), **mapped(kwargs, operand)))
        except (RuntimeError, IndexError, ValueError):  # another branch may be taken for it
            return False
        return bool(plain_value(made[-1]) == self.value)


def plain_value(value: Any) -> Any:
    """A value to compare by: numbers and truths, in lists; None if there are others."""
    if hasattr(value, "tolist"):  # numpy's
        value = value.tolist()
    if isinstance(value, list):
        parts = [plain_value(each) for each in value]
        return None if any(part is None for part in parts) else parts
    return value if isinstance(value, (bool, int, float, str)) else None


def mapped(tree: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(tree, (tuple, list)):
        parts = [mapped(each, function) for each in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else parts if isinstance(tree, list) else tuple(parts)
    if isinstance(tree, dict):
        return {name: mapped(each, function) for name, each in tree.items()}
    if isinstance(tree, slice):
        return slice(*(mapped(each, function) for each in (tree.start, tree.stop, tree.step)))
    return function(tree)


def leaves_of(tree: Any) -> list[Any]:
    found: list[Any] = []

    def note(leaf: Any) -> Any:
        found.append(leaf)
        return leaf

    mapped(tree, note)
    return found


def tensors_of(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in leaves_of(tree) if isinstance(leaf, torch.Tensor)]
