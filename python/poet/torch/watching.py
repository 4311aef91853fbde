"""The attributes of modules as a key, made anew only where one has changed: a step looks at them every time."""

from __future__ import annotations

import array
import collections
import contextvars
import functools
import operator
import types
from typing import AbstractSet, Any, Mapping, Optional, Sequence

import numpy
import torch

from .foreign import file_of, is_foreign_class, is_of_package
from .keys import key_of
from .module_state import OF_RECURRENT
from .names import all_names_in

_CONTAINERS = (list, tuple, dict, set, collections.deque)
_OTHERS_WITH_CONTENTS = (numpy.ndarray, array.array, bytearray, types.MappingProxyType, contextvars.ContextVar)  # that key_of() reads
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
        self._parts = [_Part(part, self._names_but(path, part)) for module in self._modules for path, part in module.named_modules()]
        self._tensors = [
            (name, kind, tensor)
            for module in self._modules
            for kind, named in (("parameter", module.named_parameters()), ("buffer", module.named_buffers()))
            for name, tensor in named
        ]

    def _names_but(self, path: str, part: torch.nn.Module) -> frozenset[str]:
        """Names of attributes that do not count."""
        return frozenset(name for name, value in vars(part).items() if not counts(part, name, value, self._read) or _full(path, name) in self._but)


class _Part:
    """A module's attributes without those of its parts: the objects, and the contents of lists and dictionaries. O(attributes), in C."""

    def __init__(self, part: torch.nn.Module, but: AbstractSet[str]) -> None:
        self._part, self._kind, self._forward, self._but = part, type(part), type(part).forward, but
        tables = (part._modules, part._parameters, part._buffers)
        self._tables = [(table, tuple(table), tuple(table.values())) for table in tables]
        self._attributes = dict(self._own())
        counting = [each for each in self._attributes.values() if not any(each is table for table in tables)]
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
    reads: others do not count (counts()).
    """
    key: list[Any] = []
    held: list[Any] = []
    for path, part in module.named_modules(remove_duplicate=False):
        key.append((path, type(part), type(part).forward))
        for name, value in vars(part).items():
            kind = type(value)
            if not counts(part, name, value, read) or (but and _full(path, name) in but):
                continue
            if kind in _AT_ONCE:
                key.append((name, kind, value))
            elif name not in _TABLES and not (name.endswith("_hooks") and not value):
                key.append((name, key_of(value, held)))
    return tuple(key), held


def counts(part: torch.nn.Module, name: str, value: Any, read: Optional[AbstractSet[str]]) -> bool:
    """Whether an attribute of a module may matter, if the user's code reads those with the names `read`: what a loop keeps in others, numbers in modules
    of the user's classes and collections in any, does not."""
    if read is None or name in read or name.startswith("_"):
        return True
    kind: Any = type(part)
    if is_foreign_class(kind) or is_of_package(file_of(kind)):
        return type(value) not in (list, dict, set)
    return name in ("training", "forward") or name in _names_of_libraries(kind)


@functools.lru_cache(maxsize=1024)
def _names_of_libraries(kind: Any) -> frozenset[str]:
    """The names in methods of the classes, but Module, that a user's class derives from and that are not the user's."""
    bases = [each for each in kind.__mro__ if each not in (torch.nn.Module, object) and (is_foreign_class(each) or is_of_package(file_of(each)))]
    methods = [each for base in bases for each in vars(base).values() if isinstance(each, types.FunctionType)]
    return frozenset().union(*(all_names_in(method.__code__) for method in methods))


def _full(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
