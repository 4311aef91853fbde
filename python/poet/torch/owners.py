"""Whose the constants of a step are: the tensors that its code reads beside the module's and the batch's. A constant is the memory that such a tensor
had; the tensor may lie elsewhere in the next step (`teacher.weight.data = ...`), or another may have its name (`teacher.weight = ...`)."""

from __future__ import annotations

import dataclasses
from typing import Mapping, Sequence

import torch

from .tensors import layout_of, storage_address
from .program import Program


@dataclasses.dataclass(frozen=True)
class Owners:
    """Numbers are of the tensors that a step depends on (Dependence.tensors()). `of`: for a constant's number, those of all tensors that have its
    memory. `asked`: tensors outside of the batch that a guard reads, each with its number. `all_known`: every constant but the fresh ones has an owner,
    and no guard reads such a tensor, so that another process can find them all."""

    of: Mapping[int, tuple[int, ...]]
    asked: Sequence[tuple[torch.Tensor, int]]
    all_known: bool

    @staticmethod
    def among(tensors: Sequence[torch.Tensor], program: Program) -> Owners:
        """Finds them by where they lie. O(tensors + constants)."""
        numbers: dict[object, tuple[int, ...]] = {}
        for i, tensor in enumerate(tensors):
            if tensor.layout == torch.strided:
                place = (storage_address(tensor), layout_of(tensor))
                numbers[place] = (*numbers.get(place, ()), i)
        somebodys = {i: constant for i, constant in enumerate(program.constants) if constant.numel() and i not in program.fresh}
        found = {i: numbers.get((storage_address(constant), layout_of(constant)), ()) for i, constant in somebodys.items()}
        by_object = {id(tensor): i for i, tensor in enumerate(tensors)}
        read = [tensor for guard in program.guards for tensor in guard.tensors()]
        asked = [(tensor, by_object[id(tensor)]) for tensor in read if id(tensor) in by_object]
        return Owners({i: mine for i, mine in found.items() if mine}, asked, not read and all(found.values()))

    def give(self, constants: list[torch.Tensor], tensors: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> bool:
        """Has the constants be what their owners are now. Returns False where another step is needed: owners lie in another way, no longer share
        memory, or do so with `others`, which steps change or read beside them. O(constants)."""
        now = {i: tensors[numbers[0]].detach() for i, numbers in self.of.items() if tensors[numbers[0]].data_ptr() != constants[i].data_ptr()}
        for i, numbers in self.of.items():
            mine = now.get(i, constants[i])
            if any(tensors[number].data_ptr() != mine.data_ptr() or _form(tensors[number]) != _form(constants[i]) for number in numbers):
                return False
        if now:
            taken = {storage_address(other) for other in others}
            if any(storage_address(each) in taken or layout_of(each) != layout_of(constants[i]) for i, each in now.items()):
                return False
        for i, each in now.items():
            constants[i] = each
        return all(tensors[number] is tensor for tensor, number in self.asked)


def _form(tensor: torch.Tensor) -> tuple[object, ...]:
    return (tensor.shape, tensor.stride(), tensor.dtype)
