"""A module's parameters and buffers: by name, temporarily replaced, and restored."""

from __future__ import annotations

import array
import collections
import contextlib
import contextvars
import copy
import dataclasses
import hashlib
import marshal
import types
from typing import AbstractSet, Any, Iterable, Iterator, Mapping, Optional, cast

import numpy
import torch

from .device import Device
from .errors import CaptureError


def parameters_of(module: torch.nn.Module) -> tuple[dict[str, torch.nn.Parameter], dict[str, torch.Tensor], dict[str, list[str]]]:
    """Returns a module's parameters and buffers, each once by its first name, and all names of those with several."""
    parameters: dict[str, torch.nn.Parameter] = {}
    buffers: dict[str, torch.Tensor] = {}
    names: dict[int, list[str]] = {}
    for path, part in module.named_modules(remove_duplicate=False):
        for kind, tensors in ((parameters, part._parameters), (buffers, part._buffers)):
            for name, tensor in tensors.items():
                if tensor is None:
                    continue
                full = f"{path}.{name}" if path else name
                if id(tensor) not in names:
                    kind[full] = tensor
                names.setdefault(id(tensor), []).append(full)
    return parameters, buffers, {all_names[0]: all_names for all_names in names.values()}


def attribute_of(module: torch.nn.Module, name: str) -> Any:
    """Returns what an attribute with this name, from having(), is."""
    path, _, attribute = name.rpartition(".")
    return vars(module.get_submodule(path))[attribute]


def set_attribute(module: torch.nn.Module, name: str, value: Any) -> None:
    path, _, attribute = name.rpartition(".")
    vars(module.get_submodule(path))[attribute] = value


_OF_RECURRENT = {"_flat_weights", "_flat_weight_refs"}  # parameters again
_TABLES = {"_parameters", "_buffers", "_modules", *_OF_RECURRENT}
_DEEPEST = 16  # containers in containers
_MOST_COMPARED = 1024  # elements of a container that are compared one by one
_MOST_PACKED = 100_000  # that are compared together, if they are numbers and texts; larger ones count as objects
_MOST_BYTES = 1 << 20  # of an array that is compared
_AT_ONCE = {bool, int, str, type(None)}  # in every step


def attributes_of(
    module: torch.nn.Module, but: AbstractSet[str] = frozenset(), read: Optional[AbstractSet[str]] = None
) -> tuple[tuple[Any, ...], list[Any]]:
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
            if not counts(name, value, read):
                continue
            if but and f"{path}.{name}".lstrip(".") in but:
                continue
            if kind in _AT_ONCE:
                key.append((name, kind, value))
                continue
            if name in _TABLES or (name.endswith("_hooks") and not value):
                continue
            key.append((name, key_of(value, held)))
    return tuple(key), held


def counts(name: str, value: Any, read: Optional[AbstractSet[str]]) -> bool:
    """Whether an attribute of a module may matter, if those with the names `read` do: what a loop collects in others does not."""
    return read is None or type(value) not in (list, dict, set) or name in read or name.startswith("_")


def key_of(value: Any, held: list[Any], depth: int = 0) -> tuple[Any, ...]:
    """Returns a key of numbers, texts, and lists, tuples, sets and dictionaries; of all else, in containers too, which object it is. And puts those
    objects to those that are `held`, as they must live as long as the key does. 1, 1.0 and True differ."""
    kind = type(value)
    if value is None or kind in (bool, int, str, torch.dtype, torch.device):
        return (kind, value)
    if kind in (float, complex):
        return (kind, repr(value))  # nan is nan
    if isinstance(value, types.MappingProxyType):
        return (kind, key_of(dict(value), held, depth))
    if isinstance(value, (list, tuple, collections.deque, set, frozenset, dict)):
        if len(value) <= _MOST_COMPARED and depth <= _DEEPEST:
            parts = (part for pair in value.items() for part in pair) if isinstance(value, dict) else value
            keys = [key_of(part, held, depth + 1) for part in parts]
            return (kind, *(sorted(keys, key=repr) if isinstance(value, (set, frozenset)) else keys))
        if len(value) <= _MOST_PACKED:
            with contextlib.suppress(ValueError):  # there are others than numbers and texts
                return (kind, len(value), _digest(marshal.dumps(cast(Any, value), 2)))
    if isinstance(value, contextvars.ContextVar):
        return (kind, value.name, key_of(value.get(None), held, depth))
    held.append(value)
    if isinstance(value, array.array) and len(value) * value.itemsize <= _MOST_BYTES:
        return (kind, value.typecode, _digest(value.tobytes()))
    if isinstance(value, numpy.ndarray) and value.nbytes <= _MOST_BYTES and numpy.dtype(value.dtype).kind in "biufcSU":  # not of objects
        return (kind, value.shape, str(value.dtype), _digest(value.tobytes()))
    return (kind, id(value))


def _digest(content: bytes) -> bytes:
    return content if len(content) <= 64 else hashlib.blake2b(content).digest()


def attributes_of_tensor(tensor: torch.Tensor, held: list[Any]) -> tuple[Any, ...]:
    """key_of() the attributes that code has given to a tensor."""
    attributes = vars(tensor)
    return key_of(attributes, held) if attributes else ()


def plain_key(value: Any) -> Optional[tuple[Any, ...]]:
    """Returns key_of() for what has no objects but numbers, texts and containers of these; else None."""
    objects: list[Any] = []
    key = key_of(value, objects)
    return None if objects else key


@contextlib.contextmanager
def contents_restored(tensors: Iterable[torch.Tensor], device: Device) -> Iterator[None]:
    """Restores the contents of tensors and the generators' state on exit."""
    contents = [(tensor, tensor.detach().clone()) for tensor in tensors]
    state = device.random_state()
    try:
        yield
    finally:
        device.set_random_state(state)
        with torch.no_grad():
            for tensor, content in contents:
                tensor.copy_(content)


@dataclasses.dataclass
class Left:
    """What code has left in a module: `buffers` that were assigned anew, by their first names; `attributes`: what those were that have
    been replaced, and what by, by their names."""

    buffers: dict[str, torch.Tensor] = dataclasses.field(default_factory=dict)
    attributes: dict[str, tuple[Any, Any]] = dataclasses.field(default_factory=dict)


@contextlib.contextmanager
def having(module: torch.nn.Module, names: Mapping[str, list[str]], given: Mapping[str, torch.Tensor]) -> Iterator[Left]:
    """Replaces the module's parameters and buffers by the tensors `given`, by their first names; `names`: from parameters_of().

    Afterwards the module's attributes are those before. Raises CaptureError where something was assigned that a step cannot follow.
    """
    first_of = {name: first for first, every in names.items() for name in every}
    parts = [(f"{path}." if path else "", part) for path, part in module.named_modules()]
    tables = [(path, table, dict(table)) for path, part in parts for table in (part._parameters, part._buffers)]
    left = Left()
    with attributes_restored(module, left.attributes):
        for path, table, had in tables:
            table.update((name, given[first_of[path + name]]) for name, tensor in had.items() if tensor is not None)
        for _, part in parts:
            if isinstance(part, torch.nn.RNNBase):  # computes with a list of its own
                part.__dict__["_flat_weights"] = [getattr(part, name) for name in part._flat_weights_names]
        yield left
        for path, table, had in tables:
            for name in {**had, **table}:
                first = first_of.get(path + name)
                if table.get(name) is not (given[first] if first else None):
                    left.buffers[_assignable(path + name, first, names, given, table.get(name))] = table[name]


@contextlib.contextmanager
def attributes_restored(module: torch.nn.Module, replaced: dict[str, tuple[Any, Any]]) -> Iterator[None]:
    """The module's attributes are afterwards those before, tables of hooks too, lists, dictionaries and sets with the contents that they had. `replaced`: gets
    what attributes were that have been replaced, and what by, by their names."""
    before = [(path, part, dict(vars(part)), dict(part._parameters), dict(part._buffers)) for path, part in module.named_modules()]
    contents = [
        (".".join(filter(None, (path, name))), value, copy.copy(value))
        for path, part, *_ in before
        for name, value in vars(part).items()
        if isinstance(value, (list, dict, set, collections.deque)) and name not in _OF_RECURRENT
    ]
    try:
        yield
    finally:
        for path, part, attributes, parameters, buffers in before:
            now = vars(part)
            for name in now:
                if attributes.get(name) is not now[name] and name not in _OF_RECURRENT:
                    replaced[".".join(filter(None, (path, name)))] = (attributes.get(name), now[name])
            now.clear()
            now.update(attributes)
            for table, had in ((part._parameters, parameters), (part._buffers, buffers)):
                table.clear()
                table.update(had)
        for name, container, content in contents:
            if _same_objects(container, content):
                continue
            if isinstance(container, (list, collections.deque)):  # dictionaries may be caches, which the next step would find full
                replaced[name] = (content, copy.copy(container))
                container.clear()
                container.extend(content)
            else:
                container.clear()
                container.update(content)


def _same_objects(one: Any, other: Any) -> bool:
    if isinstance(one, set):
        return bool(one == other)
    ours, theirs = ([*each, *each.values()] if isinstance(each, dict) else each for each in (one, other))
    return len(one) == len(other) and all(a is b for a, b in zip(ours, theirs))


def _assignable(full: str, first: Optional[str], names: Mapping[str, list[str]], given: Mapping[str, torch.Tensor], now: Any) -> str:
    """Returns the first name of a buffer that may become `now`. Raises CaptureError."""
    if first is None or now is None:
        raise CaptureError(full, "is added or removed by the step; a module's tensors must be there before")
    if isinstance(now, torch.nn.Parameter):
        raise CaptureError(full, "is assigned anew by the step; parameters are the optimizer's to change")
    if len(names[first]) > 1:
        raise CaptureError(full, f"is assigned anew by the step, but is the same tensor as {', '.join(names[first])}; change it in place")
    if (now.shape, now.dtype) != (given[first].shape, given[first].dtype):
        raise CaptureError(full, "is assigned a tensor of another shape or type by the step")
    return first
