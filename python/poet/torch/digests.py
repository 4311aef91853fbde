"""What a step depends on as a digest that another process with the same code finds, too: its key (dependence.py) with what objects are in place of their
numbers, and the code that it runs."""

from __future__ import annotations

import ctypes
import enum
import functools
import hashlib
import numbers
import operator
import types
from typing import Any, Mapping, Optional

import numpy
import torch

from .foreign import content_of, is_foreign


def digest_of(*parts: Any) -> str:
    """Returns the digest of plain(), texts, numbers and None, in tuples."""
    return hashlib.blake2b(repr(parts).encode()).hexdigest()


def plain(key: Any, objects: Mapping[int, Any]) -> Any:
    """Returns a key of key_of() without numbers of objects: what is said of the `objects` that have those instead."""
    if isinstance(key, tuple):
        if len(key) == 2 and isinstance(key[0], type) and type(key[1]) is int and key[0] not in (int, bool) and key[1] in objects:
            return said_of(objects[key[1]])
        return tuple(plain(each, objects) for each in key)
    return said_of(key) if isinstance(key, (type, types.FunctionType)) else repr(key)


_DEEPEST = 4  # objects within objects
_GETTERS = (operator.attrgetter, operator.itemgetter, operator.methodcaller)


def said_of(thing: Any, depth: int = 0) -> Any:
    """What an object is: of tensors and arrays the contents, of functions the code and what it is of, of others their name or that of their class."""
    if isinstance(thing, torch.Tensor) and thing.layout == torch.strided:
        return ("tensor", tuple(thing.shape), thing.stride(), str(thing.dtype), content_digest(thing))
    if isinstance(thing, numpy.ndarray) and not numpy.dtype(thing.dtype).hasobject:
        return ("array", thing.shape, str(thing.dtype), hashlib.blake2b(thing.tobytes()).hexdigest())
    if isinstance(thing, types.CodeType):
        return code_digest(thing)
    parts = _parts_of(thing)
    if parts is not None and depth < _DEEPEST:
        own = code_digest(thing.__code__) if isinstance(thing, types.FunctionType) else type(thing).__qualname__
        return (own, *(said_of(part, depth + 1) for part in parts))
    if isinstance(thing, (enum.Enum, numbers.Number, numpy.generic, *_GETTERS)):
        return (type(thing).__qualname__, repr(thing))
    if type(thing).__module__ in ("builtins", "torch") and " at 0x" not in repr(thing):
        return repr(thing)
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    return (f"{getattr(named, '__module__', '')}.{named.__qualname__}", getattr(thing, "__name__", ""))


def _parts_of(thing: Any) -> Optional[list[Any]]:
    """What containers hold, and what functions go by besides their code; None of others."""
    if isinstance(thing, numpy.ndarray):
        return [thing.shape, *thing.ravel().tolist()]
    if isinstance(thing, dict):
        return [*thing, *thing.values()]
    if isinstance(thing, (list, tuple)):
        return list(thing)
    if isinstance(thing, functools.partial):
        return [thing.func, thing.args, thing.keywords]
    if isinstance(thing, types.MethodType):
        return [thing.__func__, type(thing.__self__)]
    if isinstance(thing, types.FunctionType):
        variables = [] if is_foreign(thing.__code__.co_filename) else [content_of(cell) for cell in thing.__closure__ or ()]
        return [thing.__defaults__, thing.__kwdefaults__, *variables]
    return None


def content_digest(tensor: torch.Tensor) -> str:
    """Returns a digest of a tensor's bits, by which 0.0 is not -0.0 and NaN is NaN."""
    if tensor.numel() == 0:
        return ""
    whole = tensor.detach().contiguous().reshape(-1).view(torch.uint8).cpu()
    content = (ctypes.c_char * whole.numel()).from_address(whole.data_ptr())  # not by numpy(), after which a tensor cannot be resized
    return hashlib.blake2b(content).hexdigest()


def code_digest(code: types.CodeType) -> str:
    """Returns a digest of what code does, wherever it stands."""

    def said(constant: Any) -> str:
        if isinstance(constant, types.CodeType):
            return code_digest(constant)
        return repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)

    constants = tuple(map(said, code.co_consts))
    return digest_of(code.co_name, code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, constants, code.co_flags)
