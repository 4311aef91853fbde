"""A module's parameters and buffers: by name, temporarily replaced, and restored."""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
from typing import Any, Iterable, Iterator, Mapping, Optional

import torch

from .device import Device
from .errors import CaptureError

OF_RECURRENT = {"_flat_weights", "_flat_weight_refs"}  # parameters again


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
    """Returns what an attribute with a name of Left.attributes is."""
    path, _, attribute = name.rpartition(".")
    return vars(module.get_submodule(path))[attribute]


def set_attribute(module: torch.nn.Module, name: str, value: Any) -> None:
    path, _, attribute = name.rpartition(".")
    vars(module.get_submodule(path))[attribute] = value


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
    """What code has left in a module: `buffers` that were assigned, by their first names; `attributes` that were replaced, by name: what each was
    before and what it is now."""

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
        (".".join(filter(None, (path, name))), container, copy.copy(container))
        for path, part, *_ in before
        for name, value in vars(part).items()
        if name not in OF_RECURRENT
        for container in _containers_in(value)
    ]
    try:
        yield
    finally:
        for path, part, attributes, parameters, buffers in before:
            now = vars(part)
            for name in now:
                if attributes.get(name) is not now[name] and name not in OF_RECURRENT:
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


def _containers_in(value: Any, depth: int = 8) -> Iterator[Any]:
    """Lists, dictionaries, sets and deques, the innermost first, so that an outer one is put back with what it had."""
    if not isinstance(value, (list, tuple, dict, set, collections.deque)):
        return
    if depth:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _containers_in(each, depth - 1)
    if not isinstance(value, tuple):
        yield value


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
