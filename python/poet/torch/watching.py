"""The attributes of modules as a key, made anew only where one has changed: a step looks at them every time."""

from __future__ import annotations

import array
import collections
import contextvars
import operator
import types
from typing import AbstractSet, Any, Mapping, Optional, Sequence

import numpy
import torch

from .keys import key_of
from .module_state import OF_RECURRENT

_CONTAINERS = (list, tuple, dict, set, collections.deque)
_OTHERS_WITH_CONTENTS = (numpy.ndarray, array.array, types.MappingProxyType, contextvars.ContextVar)  # that key_of() reads
_TABLES = {"_parameters", "_buffers", "_modules", *OF_RECURRENT}
_AT_ONCE = {bool, int, str, type(None)}  # in every step


class Watched:
    """Attributes, parameters and buffers of some modules."""

    def __init__(self, modules: Sequence[torch.nn.Module], but: AbstractSet[str], read: Optional[AbstractSet[str]]) -> None:
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
        self._parts = [_Part(part, self._names_but(path, part), self._read) for module in self._modules for path, part in module.named_modules()]
        self._tensors = [
            (name, kind, tensor)
            for module in self._modules
            for kind, named in (("parameter", module.named_parameters()), ("buffer", module.named_buffers()))
            for name, tensor in named
        ]

    def _names_but(self, path: str, part: torch.nn.Module) -> frozenset[str]:
        return frozenset(name for name in vars(part) if _full(path, name) in self._but) if self._but else frozenset()


class _Part:
    """A module's attributes without those of its parts: the objects, and the contents of lists and dictionaries. O(attributes), in C."""

    def __init__(self, part: torch.nn.Module, but: AbstractSet[str], read: Optional[AbstractSet[str]]) -> None:
        self._part, self._kind, self._forward, self._but = part, type(part), type(part).forward, but
        tables = (part._modules, part._parameters, part._buffers)
        self._tables = [(table, tuple(table), tuple(table.values())) for table in tables]
        self._attributes = dict(self._own())
        counting = [each for name, each in self._attributes.items() if counts(name, each, read) and not any(each is table for table in tables)]
        self._empty = [each for each in counting if isinstance(each, _CONTAINERS) and not each]
        full = [each for each in counting if isinstance(each, _OTHERS_WITH_CONTENTS) or (isinstance(each, _CONTAINERS) and each)]
        self._full = [(each, key_of(each, [])) for each in full]

    def _own(self) -> Mapping[str, Any]:
        own: dict[str, Any] = vars(self._part)
        return {name: each for name, each in own.items() if name not in self._but} if self._but else own

    def is_unchanged(self) -> bool:
        if type(self._part) is not self._kind or self._kind.forward is not self._forward or any(self._empty):
            return False
        now, before = self._own(), self._attributes
        if len(now) != len(before) or not all(map(operator.eq, now, before)) or not all(map(operator.is_, now.values(), before.values())):
            return False
        for table, names, values in self._tables:
            if tuple(table) != names or not all(map(operator.is_, table.values(), values)):
                return False
        return all(key_of(each, []) == content for each, content in self._full)


def attributes_of(module: torch.nn.Module, but: AbstractSet[str], read: Optional[AbstractSet[str]]) -> tuple[tuple[Any, ...], list[Any]]:
    """What the module's code may read besides tensors, while it is captured, as a key: the parts, their classes and what forward() is; key_of()
    their attributes. And the objects that the key names, which must live as long as it does.

    `but`: names of attributes that do not count, as steps leave results there. `read`: if they are known, the names of those that the code
    reads: other lists and dictionaries (what a loop collects in a module) do not count.
    """
    key: list[Any] = []
    held: list[Any] = []
    for path, part in module.named_modules(remove_duplicate=False):
        key.append((path, type(part), type(part).forward))
        for name, value in vars(part).items():
            kind = type(value)
            if not counts(name, value, read) or (but and _full(path, name) in but):
                continue
            if kind in _AT_ONCE:
                key.append((name, kind, value))
            elif name not in _TABLES and not (name.endswith("_hooks") and not value):
                key.append((name, key_of(value, held)))
    return tuple(key), held


def counts(name: str, value: Any, read: Optional[AbstractSet[str]]) -> bool:
    """Whether an attribute of a module may matter, if those with the names `read` do: what a loop collects in others does not."""
    return read is None or type(value) not in (list, dict, set) or name in read or name.startswith("_")


def _full(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
