"""The names in the code of functions: of globals, attributes and imports."""

from __future__ import annotations

import contextlib
import dis
import functools
import importlib.util
import types
from typing import Any, Mapping, NamedTuple


class Import(NamedTuple):
    """`import module` or `from module import ...`, `level` packages above the code's own; names that are imported are among those of attributes."""

    module: str
    level: int
    of_names: bool

    def module_of(self, globals_of_code: Mapping[str, Any]) -> str:
        """The whole name of the module of which the code gets something."""
        if self.level:
            with contextlib.suppress(ImportError):  # it would fail if it ran
                return importlib.util.resolve_name("." * self.level + self.module, str(globals_of_code.get("__package__") or ""))
        return self.module if self.of_names else self.module.partition(".")[0]


class Names(NamedTuple):
    globals: frozenset[str]
    attributes: frozenset[str]  # also what getattr() is called with
    imports: tuple[Import, ...]


@functools.lru_cache(maxsize=8192)
def names_in(code: types.CodeType) -> Names:
    """The names in code and in functions within it. O(instructions)."""
    of_globals: set[str] = set()
    of_attributes: set[str] = set()
    imports: list[Import] = []
    constants: list[Any] = [0, None]  # the latest two
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            of_globals.add(instruction.argval)
        elif instruction.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER")):
            of_attributes.add(instruction.argval)
        elif instruction.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            constants = [constants[1], instruction.argval]
        elif instruction.opname == "IMPORT_NAME":
            imports.append(Import(instruction.argval, constants[0], bool(constants[1])))
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            within = names_in(each)
            of_globals |= within.globals
            of_attributes |= within.attributes
            imports += within.imports
        else:
            texts = each if isinstance(each, (tuple, frozenset)) else (each,)
            of_attributes |= {text for text in texts if isinstance(text, str) and text.isidentifier()}
    return Names(frozenset(of_globals), frozenset(of_attributes), tuple(imports))


@functools.lru_cache(maxsize=8192)
def all_names_in(code: types.CodeType) -> frozenset[str]:
    """All names in code and in functions within it: read, stored, imported. O(names)."""
    return frozenset(code.co_names).union(*(all_names_in(each) for each in code.co_consts if isinstance(each, types.CodeType)))
