"""The attributes of modules as a key, made anew only where one has changed: a step looks at them every time."""

from __future__ import annotations

import collections
import operator
from typing import AbstractSet, Any, Optional, Sequence

import numpy
import torch

from .module_state import attributes_of, counts, key_of


_CONTAINERS = (list, tuple, dict, set, collections.deque, numpy.ndarray)


class Watched:
    """Attributes, parameters and buffers of some modules."""

    def __init__(self, modules: Sequence[torch.nn.Module], but: AbstractSet[str] = frozenset(), read: Optional[AbstractSet[str]] = None) -> None:
        """`but`, `read`: of attributes_of()."""
        self._modules = modules
        self._but = but
        self._read = read
        self.looked = 0  # how many times: as long as it is the same, modules have the same parameters and buffers
        self._look()

    def key(self) -> tuple[tuple[Any, ...], list[Any]]:
        """attributes_of() for every module, and the objects that the key names by their numbers."""
        if not all(part.is_unchanged() for part in self._parts):
            self._look()
        return self._key, self._held

    def tensors(self) -> list[tuple[str, str, torch.Tensor]]:
        """Parameters and buffers as they were when key() was called: name, which of the two, and the tensor."""
        return self._tensors

    def _look(self) -> None:
        self.looked += 1
        states = [attributes_of(each, self._but, self._read) for each in self._modules]
        self._key = tuple(key for key, _ in states)
        self._held = [each for _, objects in states for each in objects]
        self._parts = [_Part(part, self._read) for module in self._modules for part in module.modules()]
        self._tensors = [
            (name, kind, tensor)
            for module in self._modules
            for kind, named in (("parameter", module.named_parameters()), ("buffer", module.named_buffers()))
            for name, tensor in named
        ]


class _Part:
    """A module's attributes without those of its parts: the objects, and the contents of lists and dictionaries. O(attributes), in C."""

    def __init__(self, part: torch.nn.Module, read: Optional[AbstractSet[str]]) -> None:
        self._part, self._kind, self._forward = part, type(part), type(part).forward
        tables = (vars(part), part._modules, part._parameters, part._buffers)
        self._tables = [(table, tuple(table), tuple(table.values())) for table in tables]
        counting = [each for name, each in vars(part).items() if counts(name, each, read)]
        containers = [each for each in counting if isinstance(each, _CONTAINERS) and not any(each is table for table in tables)]
        self._empty = [each for each in containers if not isinstance(each, numpy.ndarray) and not each]
        self._full = [(each, key_of(each, [])) for each in containers if not any(each is empty for empty in self._empty)]

    def is_unchanged(self) -> bool:
        if type(self._part) is not self._kind or self._kind.forward is not self._forward or any(self._empty):
            return False
        for table, names, values in self._tables:
            if tuple(table) != names or not all(map(operator.is_, table.values(), values)):
                return False
        return all(key_of(each, []) == content for each, content in self._full)
