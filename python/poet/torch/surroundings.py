"""What the code of a step reads besides its module and its batch: variables of closures, globals, attributes of classes, of Python's modules
and of objects. A captured step has what they were; when they change, another has to be captured.

Followed from what makes the loss, by the names in its code: nothing is run.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import logging
import operator
import sys
import types
import weakref
from typing import Any, Callable, Iterable, Mapping, Optional

import torch

from .foreign import content_of, file_of, is_foreign, is_foreign_class, is_of_package, is_of_poet
from .keys import key_of, value_of
from .names import all_names_in, names_in
from .ran import Ran

_BY_NAME = {"getattr", "hasattr", "vars", "setattr"}
_OF_CLASSES = {"__init__", "__new__", "__post_init__", "__call__", "forward", "backward", "setup_context"}  # that calls of them run
_OPERATORS = {"__call__", "__getitem__", "__iter__", "__len__", "__contains__", "__getattr__", "__enter__", "__float__", "__int__", "__index__", "__bool__"}
_MOST_FOLLOWED = 1024  # elements of a container whose own attributes count


_OF_C = (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType, types.BuiltinFunctionType)
_DESCRIPTORS = (property, classmethod, staticmethod, *_OF_C)
_NO_ARGUMENTS = (types.FunctionType, types.CellType, types.MethodType, functools.partial, types.ModuleType)


class Surroundings:
    """Places that the code of some functions may read."""

    def __init__(self, roots: Iterable[Any], ran: Optional[Ran] = None) -> None:
        """`roots`: functions, modules and other objects that are called; `ran`: what of the user's code has run. O(code that they reach)."""
        self.modules: list[torch.nn.Module] = []  # that are reached; parts of those before them are left out
        self.names: set[str] = set()  # of attributes in the code that is reached
        self.code: list[types.CodeType] = []  # that is reached
        self._names_of_user: set[str] = set()  # of those, in code that is no package's
        self._reads: list[Callable[[], Any]] = []  # what is in variables of closures, defaults, arguments of partials and slots
        self._places: dict[tuple[int, str], Mapping[str, Any]] = {}  # by the mapping and the name in it
        self._absent: set[tuple[int, frozenset[str]]] = set()
        self._seen: dict[Any, Any] = {}  # by (id, how it was reached); the values keep these objects alive, so that no id is used twice
        self._pending: list[tuple[Any, frozenset[str]]] = [(root, frozenset()) for root in roots]
        self._follow_all()
        if ran is not None:
            names_of_code = {number: self._read_code(code, mapping) for number, (code, mapping) in ran.code.items()}
            self._pending += [(operand, names_of_code[id(code)]) for operand, code in ran.operands()]
            self._follow_all()
        # Objects reach code as arguments, too, which no name tells: what the user's code reads it may read of each.
        # Each round may reach code with further names; it ends, as there are finitely many.
        names = frozenset[str]()
        while names != (names := frozenset(self._names_of_user)):
            self._pending = [(value, names) for value, _ in list(self._seen.values()) if not isinstance(value, _NO_ARGUMENTS)]
            self._follow_all()

    def key(self) -> tuple[tuple[Any, ...], list[Any]]:
        """What is there now, with the names of places that have one: numbers and texts, also in containers; of all else which object it is. And
        those objects, which must live as long as the key does."""
        held: list[Any] = []
        key = []
        for name, value in (*(("", read()) for read in self._reads), *((name, mapping.get(name)) for (_, name), mapping in self._places.items())):
            key.append((name, key_of(value, held)))
        return tuple(key), held

    def functions(self) -> list[Any]:
        """Functions, classes and other objects that can be called, and were reached; PyTorch's own, too."""
        return [value for value, _ in self._seen.values() if callable(value)]

    def _follow_all(self) -> None:
        while self._pending:
            self._reach(*self._pending.pop())

    def reads_by_name(self) -> bool:
        """Whether the user's code may read attributes whose names do not stand in it."""
        return not self.names.isdisjoint(_BY_NAME | {"__dict__", "__getattr__", "__getattribute__"})

    def _reach(self, value: Any, names: frozenset[str]) -> None:
        """Follows an object that code calls, or of which it reads attributes with those names."""
        if isinstance(value, (torch.Tensor, str, bytes, int, float, complex, type(None))) or self._has_seen(value, names):
            return
        if isinstance(value, functools.partial):
            self._reads.append(lambda: (value.args, value.keywords))
            self._follow((value.func, *value.args, *value.keywords.values()), names)
        elif isinstance(value, types.MethodType):
            self._follow([value.__self__], names | {value.__func__.__name__})
        elif isinstance(value, types.FunctionType):
            self._read(value)
        elif isinstance(value, types.ModuleType):
            if value.__name__ not in sys.builtin_module_names and not is_foreign(getattr(value, "__file__", "")):
                self._watch(vars(value), names, names)
        elif isinstance(value, torch.nn.Module):
            if not any(value is part for module in self.modules for part in module.modules()):
                self.modules.append(value)
            for part in value.modules():
                self._read_methods(part, names | {"forward"})
                self._watch_class(type(part), names)
                self._follow((each for name, each in vars(part).items() if name in names), names)
        elif isinstance(value, (operator.attrgetter, operator.itemgetter, operator.methodcaller)):
            self._names_of_user |= {part for name in value.__reduce__()[1] if isinstance(name, str) for part in name.split(".")}
        elif isinstance(value, contextvars.ContextVar):
            self._follow([value_of(value)], names)
        elif isinstance(value, weakref.ref):
            self._follow([value()], names)
        elif isinstance(value, (list, tuple, set, frozenset, dict, types.MappingProxyType)):
            if isinstance(value, types.MappingProxyType):
                value = dict(value)
            self._follow(list(value.values() if isinstance(value, dict) else value)[:_MOST_FOLLOWED], names)
        elif isinstance(value, type):
            self._watch_class(value, names)
            if not is_foreign_class(value) and not is_of_package(file_of(value)):
                self._read_methods(value, names | _OF_CLASSES)
        elif isinstance(getattr(value, "__wrapped__", None), types.FunctionType):  # of functools.lru_cache
            self._reach(value.__wrapped__, names)
        elif is_of_poet(type(value)):
            pass  # what it notes while it runs
        elif isinstance(value, logging.Logger):
            self._watch(vars(value), ("disabled", "level"), names)  # not what it keeps of the levels that were asked for
        elif is_foreign_class(type(value)):
            read = names | _names_in_methods(type(value), names)
            self._watch(getattr(value, "__dict__", None) or {}, read, names)
        else:
            own = getattr(value, "__dict__", None)
            read = names | _names_in_methods(type(value), names)
            self._watch({} if own is None else own, read, names)
            self._watch_slots(value, names)
            self._watch_class(type(value), names, own)
            self._reads.append(lambda: type(value))
            self._read_methods(value, names | {"__call__"})

    def _follow(self, values: Iterable[Any], names: frozenset[str]) -> None:
        self._pending.extend((value, names) for value in values)

    def _read_methods(self, owner: Any, names: Iterable[str]) -> None:
        for name in sorted(names):
            kind = owner if isinstance(owner, type) else type(owner)
            method = _function_of(inspect.getattr_static(kind, name, None))
            if kind is not owner and name in getattr(owner, "__dict__", ()):  # which is what is called instead
                continue
            if method is not None and not self._has_seen(method, owner):
                self._watch_method(kind, name)
                read = self._read(method)
                # A module's own attributes are watched already (module_state.py), not what they have.
                if isinstance(owner, torch.nn.Module):
                    self._watch_class(type(owner), read)
                    self._read_methods(owner, read)
                    self._follow((each for name, each in vars(owner).items() if name in read), read)
                elif kind is owner:
                    self._watch_class(owner, read)
                    self._read_methods(owner, read)
                else:
                    self._follow([owner], read)

    def _watch_method(self, kind: type, name: str) -> None:
        """Watches which function a class of the user's has by that name, or one that it derives from."""
        for each in kind.__mro__:
            if not is_foreign_class(each) and not is_of_package(file_of(each)):
                self._places.setdefault((id(each), name), vars(each))
            if name in vars(each):
                break

    def _read(self, function: types.FunctionType) -> frozenset[str]:
        """Follows what a function reads, and what it decorates. Returns the names of attributes in their code."""
        decorated = getattr(function, "__wrapped__", None)
        more = self._read(decorated) if isinstance(decorated, types.FunctionType) else frozenset()
        if is_foreign(function.__code__.co_filename):
            return more
        if not is_of_package(function.__code__.co_filename) and not self._has_seen(function, self._reads):
            self._reads.append(functools.partial(getattr, function, "__code__"))  # which notebooks replace (autoreload)
        names = self._read_code(function.__code__, function.__globals__)
        for cell in function.__closure__ or ():
            if not self._has_seen(cell, None):
                self._reads.append(functools.partial(content_of, cell))
            self._follow([content_of(cell)], names)
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        if (defaults or vars(function)) and not self._has_seen(function, None):
            self._reads.append(lambda: (function.__defaults__, function.__kwdefaults__, vars(function)))
        self._follow(defaults, names)
        return names | more

    def _read_code(self, code: types.CodeType, mapping: Mapping[str, Any]) -> frozenset[str]:
        """Follows what code reads of its globals. Returns the names of attributes in it."""
        self.code.append(code)
        global_names, names, imports = names_in(code)
        self.names |= names
        if not is_of_package(code.co_filename):
            self.names |= global_names & _BY_NAME
            self._names_of_user |= names
        self._watch(mapping, global_names, names)
        for each in imports:
            module = sys.modules.get(each.module_of(mapping))
            if module is not None and not is_foreign(getattr(module, "__file__", "")):
                self._reach(module, names)
        return names

    def _watch(self, mapping: Mapping[str, Any], names: Iterable[str], attributes: frozenset[str]) -> None:
        """Watches those names in the mapping, which of them are there, and those attributes of what is there."""
        absent = frozenset(name for name in names if name not in mapping)
        self._watch_absent(mapping, mapping, absent)
        for name in sorted(names):
            if name in mapping:
                self._places.setdefault((id(mapping), name), mapping)
                self._follow([mapping[name]], attributes)

    def _watch_absent(self, owner: Any, mapping: Mapping[str, Any], names: frozenset[str]) -> None:
        """Watches which of the names come into the mapping later, once for each owner: code may ask whether they are there."""
        if names and (id(owner), names) not in self._absent:
            self._absent.add((id(owner), names))
            self._reads.append(functools.partial(_those_in, mapping, names))  # keeps the owner, so that its number remains its own

    def _watch_slots(self, value: Any, names: Iterable[str]) -> None:
        for name in sorted(names):
            if isinstance(getattr(type(value), name, None), types.MemberDescriptorType):
                self._reads.append(functools.partial(getattr, value, name, None))
                self._follow([getattr(value, name, None)], frozenset(names))

    def _watch_class(self, kind: type, names: Iterable[str], own: Optional[Mapping[str, Any]] = None) -> None:
        """Watches a class's attributes that are no methods, and what an instance may have instead, among its `own`."""
        for each in kind.__mro__:
            attributes = vars(each)
            if not is_foreign_class(each) and not is_of_package(file_of(each)):
                absent = frozenset(name for name in names if name not in attributes)
                self._watch_absent(each, attributes, absent)
            for name in sorted(names):
                if name in attributes and _function_of(attributes[name]) is None and not isinstance(attributes[name], _DESCRIPTORS):
                    self._places.setdefault((id(each), name), attributes)
                    if own is not None:
                        self._places.setdefault((id(own), name), own)
                    self._follow([attributes[name]], frozenset(names))

    def _has_seen(self, value: Any, how: Any) -> bool:
        key = (id(value), how if isinstance(how, frozenset) else id(how))
        seen = key in self._seen
        self._seen[key] = (value, how)
        return seen


def _those_in(mapping: Mapping[str, Any], names: frozenset[str]) -> list[str]:
    return sorted(name for name in names if name in mapping)


def _function_of(attribute: Any) -> Optional[types.FunctionType]:
    """The function that a class's attribute has code call or read."""
    for name in ("fget", "__func__", "func"):  # of properties; of class and static methods; of cached properties and partial methods
        attribute = getattr(attribute, name, attribute) if not isinstance(attribute, types.FunctionType) else attribute
    return attribute if isinstance(attribute, types.FunctionType) else None


def _names_in_methods(kind: type, names: Iterable[str]) -> frozenset[str]:
    """Names in the methods of a library's class that code calls by those names or by operators, and in methods that these call."""
    found: set[str] = set()
    pending = {*names, *_OPERATORS}
    while pending:
        name = pending.pop()
        method = _function_of(inspect.getattr_static(kind, name, None))
        found.add(name)
        if method is not None and is_foreign(method.__code__.co_filename):
            pending |= all_names_in(method.__code__) - found
    return frozenset(found)
