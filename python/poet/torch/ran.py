"""The user's code that steps have run, and the objects that it was called with, recorded while it runs: not all of it is named in other code, as
operators of objects, hooks, and what a subclass calls of its base."""

from __future__ import annotations

import contextlib
import inspect
import sys
import types
import weakref
from typing import Any, Iterator, Mapping

import torch

from .foreign import is_foreign, is_of_package

_PLAIN = (torch.Tensor, str, bytes, int, float, complex, type(None), list, tuple, dict, set)


class Ran:
    """What ran inside of recording(), of all times together. Objects are not kept alive."""

    def __init__(self) -> None:
        self.code: dict[int, tuple[types.CodeType, Mapping[str, Any]]] = {}  # with its globals
        self._operands: dict[tuple[int, int], tuple[weakref.ref[Any], types.CodeType]] = {}
        self._others: dict[int, types.CodeType] = {}  # of libraries

    def operands(self) -> Iterator[tuple[Any, types.CodeType]]:
        """Objects with code that was called with them."""
        for reference, code in self._operands.values():
            operand = reference()
            if operand is not None:
                yield operand, code

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        before = sys.gettrace()

        def trace(frame: types.FrameType, event: Any, argument: Any) -> Any:
            if id(frame.f_code) not in self._others:
                self._note(frame)
            return before(frame, event, argument) if before is not None else None  # a debugger's

        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(before)

    def _note(self, frame: types.FrameType) -> None:
        code = frame.f_code
        # What PyTorch makes by eval() for a trace is no module's.
        file = code.co_filename if not code.co_filename.startswith("<") else frame.f_globals.get("__file__", code.co_filename)  # of dataclasses, say
        if is_foreign(file) or is_of_package(file) or "__name__" not in frame.f_globals:
            self._others[id(code)] = code
            return
        self.code[id(code)] = code, frame.f_globals
        given = inspect.getargvalues(frame)
        values = [given.locals[name] for name in given.args if name in given.locals]
        for operand in values:
            if not isinstance(operand, _PLAIN):
                with contextlib.suppress(TypeError):  # there are no weak references to some
                    self._operands[id(operand), id(code)] = weakref.ref(operand), code
