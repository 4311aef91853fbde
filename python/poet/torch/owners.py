"""Whose the constants of a step are: the tensors that its code reads beside the module's and the batch's. A constant is the memory that such a tensor
had; the tensor may lie elsewhere in the next step (`teacher.weight.data = ...`), or another may have its name (`teacher.weight = ...`)."""

from __future__ import annotations

import dataclasses
from typing import Mapping, Sequence

import torch

from .tensors import layout_of, storage_address
from .program import Layout, Program


@dataclasses.dataclass(frozen=True)
class Owned:
    """A constant that is somebody's. `numbers`: of all tensors that have its memory, among those that the step depends on (Dependence.tensors()).
    `is_shared`: whether the module's or the batch's tensors have it, too."""

    numbers: tuple[int, ...]
    layout: Layout
    is_shared: bool


@dataclasses.dataclass(frozen=True)
class Owners:
    """`of`: constants that are somebody's, by their numbers. `asked`: tensors outside of the batch that a guard reads, each with its number among those
    that the step depends on. `all_known`: every constant but the fresh ones has an owner, and no guard reads such a tensor, so that another process
    can find them all."""

    of: Mapping[int, Owned]
    asked: Sequence[tuple[torch.Tensor, int]]
    all_known: bool

    @staticmethod
    def among(tensors: Sequence[torch.Tensor], program: Program, others: Sequence[torch.Tensor]) -> Owners:
        """Finds them by where they lie. `others`: the module's and the batch's. O(tensors + constants)."""
        numbers: dict[object, tuple[int, ...]] = {}
        for i, tensor in enumerate(tensors):
            if tensor.layout == torch.strided:
                place = (storage_address(tensor), layout_of(tensor))
                numbers[place] = (*numbers.get(place, ()), i)
        taken = {storage_address(other) for other in others}
        found = {}
        lacking = False
        for i, constant in enumerate(program.constants):
            if constant.numel() == 0 or i in program.fresh:
                continue
            place = (storage_address(constant), layout_of(constant))
            if place in numbers:
                found[i] = Owned(numbers[place], layout_of(constant), storage_address(constant) in taken)
            else:
                lacking = True
        by_object = {id(tensor): i for i, tensor in enumerate(tensors)}
        read = [tensor for guard in program.guards for tensor in guard.tensors()]
        asked = [(tensor, by_object[id(tensor)]) for tensor in read if id(tensor) in by_object]
        return Owners(found, asked, not read and not lacking)

    def give(self, constants: list[torch.Tensor], tensors: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> bool:
        """Has the constants be what their owners are now. Returns False where another step is needed: owners lie in another way, no longer share
        memory, or do so with `others`, which steps change or read beside them. O(constants)."""
        moved: list[tuple[int, torch.Tensor]] = []
        for i, owned in self.of.items():
            owner = tensors[owned.numbers[0]]
            address = owner.data_ptr()
            if any(tensors[number].data_ptr() != address or not _lies_as(tensors[number], owned.layout) for number in owned.numbers):
                return False
            if address != constants[i].data_ptr():
                moved.append((i, owner.detach()))
        if moved:
            taken = {storage_address(other) for other in others}
            if any(layout_of(now) != self.of[i].layout or (storage_address(now) in taken) != self.of[i].is_shared for i, now in moved):
                return False
        for i, now in moved:
            constants[i] = now
        return all(tensors[number] is tensor for tensor, number in self.asked)

    def let_go(self, constants: list[torch.Tensor]) -> None:
        """Forgets where they were, so that the memory is freed if their owners have other memory by now."""
        for i in self.of:
            constants[i] = _NOTHING


_NOTHING = torch.empty(0)


def _lies_as(tensor: torch.Tensor, layout: Layout) -> bool:
    return (tensor.shape, tensor.stride(), tensor.dtype) == (layout.size, layout.stride, layout.dtype)
