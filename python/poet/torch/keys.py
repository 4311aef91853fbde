"""What is found in variables and attributes as keys, by which a step is found again: equal keys are of the same numbers, texts and objects."""

from __future__ import annotations

import array
import collections
import contextlib
import contextvars
import hashlib
import marshal
import types
from typing import AbstractSet, Any, Optional

import numpy
import torch

_DEEPEST = 16  # containers in containers
_MOST_COMPARED = 1024  # elements of a container that are compared one by one
_MOST_PACKED = 100_000  # that are compared together, if they are numbers and texts; larger ones count as objects
_MOST_BYTES = 1 << 20  # of an array that is compared


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
                return (kind, len(value), _digest(marshal.dumps(_of_exact_type(value), 2)))
    if isinstance(value, contextvars.ContextVar):
        return (kind, value.name, key_of(value_of(value), held, depth))
    held.append(value)
    if isinstance(value, array.array) and len(value) * value.itemsize <= _MOST_BYTES:
        return (kind, value.typecode, _digest(value.tobytes()))
    if isinstance(value, bytearray) and len(value) <= _MOST_BYTES:
        return (kind, _digest(bytes(value)))
    if isinstance(value, numpy.ndarray) and value.nbytes <= _MOST_BYTES and not numpy.dtype(value.dtype).hasobject:
        return (kind, value.shape, str(value.dtype), _digest(value.tobytes()))
    if isinstance(value, numpy.ndarray) and value.size <= _MOST_COMPARED and depth <= _DEEPEST:
        return (kind, value.shape, key_of(value.tolist(), held, depth + 1))
    return (kind, id(value))


def value_of(variable: contextvars.ContextVar[Any]) -> Any:
    """What a context's variable is now; None if it is nothing yet."""
    try:
        return variable.get()
    except LookupError:
        return None


def _of_exact_type(value: Any) -> Any:
    """A container as marshal takes it, which takes no subclasses; sets in an order of their elements."""
    if isinstance(value, dict):
        return dict(value)
    return sorted(value, key=repr) if isinstance(value, (set, frozenset)) else list(value)


def _digest(content: bytes) -> bytes:
    return content if len(content) <= 64 else hashlib.blake2b(content).digest()


def attributes_of_tensor(tensor: torch.Tensor, read: Optional[AbstractSet[str]], held: list[Any]) -> tuple[Any, ...]:
    """key_of() the attributes that code has given to a tensor, of those with the names `read`, if these are known."""
    attributes = vars(tensor)
    if attributes and read is not None:
        attributes = {name: each for name, each in attributes.items() if name in read}
    return key_of(attributes, held) if attributes else ()


def plain_key(value: Any) -> Optional[tuple[Any, ...]]:
    """Returns key_of() for what has no objects but numbers, texts and containers of these; else None."""
    objects: list[Any] = []
    key = key_of(value, objects)
    return None if objects else key
