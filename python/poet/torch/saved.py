"""Compiled steps in a file: another process with the same code on the same machine does not compile them again.

A file has pickled programs and results, so it is to be read only if it can be trusted, as with torch.load(). Operators are written by their names.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import pickle
import sys
import types
import warnings
import zlib
from typing import Any, Iterable, Optional, Sequence, Union

import torch

from .. import _core
from ..errors import InputError
from ..results import Result
from .code import code_of
from .compiling import Compiled, Settings, pages_for
from .copies import Copies
from .costs_file import machine
from .device import Device
from .owners import Owners
from .program import Program
from .updating import Updates

_FIRST = b"poet steps 1\n"


@dataclasses.dataclass(frozen=True)
class Saved:
    """A compiled step. `digest`: of all that it depends on (digests.py). `owners`: of its constants, which are then not in the program; None: some
    are not known."""

    digest: str
    program: Program
    result: Result
    copies: Copies
    owners: Optional[Owners]

    @staticmethod
    def of(digest: str, compiled: Compiled, tensors: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> Saved:
        """What is saved of a step that depends on these tensors; `others`: the module's and the batch's."""
        owners = Owners.among(tensors, compiled.program, others)
        own = [torch.empty(0) if i in owners.of else constant for i, constant in enumerate(compiled.program.constants)]
        program = dataclasses.replace(compiled.program, constants=own)
        return Saved(digest, program, compiled.result, compiled.copies, owners if owners.all_known else None)

    def restored(self, how: Settings, updates: Updates, device: Device, tensors: Sequence[torch.Tensor]) -> Compiled:
        """Returns the step, not compared with PyTorch's own. Raises StorageError where there is no room for its pages."""
        assert self.result.plan is not None and self.owners is not None
        owner_of = self.owners.of
        constants = [tensors[owner_of[i].numbers[0]].detach() if i in owner_of else constant for i, constant in enumerate(self.program.constants)]
        code = code_of(self.program, self.result.plan, updates.one_by_one)
        program = dataclasses.replace(self.program, constants=constants)
        return Compiled(program, self.result, code, code.function(), pages_for(how, code), self.copies, device)


def write(file: Union[str, "os.PathLike[str]"], steps: Iterable[Saved], device: Device) -> None:
    """Writes a file, whole or not at all. Raises InputError where it cannot be, or if a step has what cannot be written."""
    path = os.fspath(file)
    steps = list(steps)
    if any(step.owners is None for step in steps):
        rule = "its code reads a tensor that is neither a parameter, a buffer nor one that a name in it tells, or goes by its value"
        raise InputError("step", f"cannot be saved: {rule}; make it a buffer")
    packed = io.BytesIO()
    try:
        _Pickler(packed, protocol=4).dump(steps)
    except (pickle.PicklingError, TypeError, AttributeError, RuntimeError) as error:
        raise InputError("step", f"cannot be saved: {error}") from error
    part = f"{path}.{os.getpid()}"
    try:
        with open(part, "wb") as made:
            made.write(_FIRST + _maker(device) + zlib.compress(packed.getvalue(), 1))
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise InputError("file", f"{path!r} cannot be written: {error.strerror}") from error


def read(file: Union[str, "os.PathLike[str]"], device: Device) -> list[Saved]:
    """Returns the steps of a file that are for this machine and these versions; none if there is no such file. Raises InputError if it is not such
    a file."""
    path = os.fspath(file)
    try:
        with open(path, "rb") as opened:
            content = opened.read()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError("saved", f"{path!r} cannot be read: {error.strerror}") from error
    if not content.startswith(_FIRST):
        raise InputError("saved", f"{path!r} is not a file of step.save()")
    maker, end, packed = content[len(_FIRST) :].partition(b"\n")
    if end and maker + end != _maker(device):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # PyTorch 2.13 of its own trees
            reader = zlib.decompressobj()
            steps = pickle.loads(reader.decompress(packed))
        if not reader.eof or reader.unused_data or not isinstance(steps, list) or not all(isinstance(step, Saved) for step in steps):
            raise ValueError("it has something else than steps")
        return steps
    except Exception as error:  # whatever pickle meets
        raise InputError("saved", f"{path!r} is damaged: {error}") from error


def _maker(device: Device) -> bytes:
    """A line of what files are for: plans go by the costs of a machine, programs by versions."""
    return repr((_core.version, sys.version_info[:2], machine(device))).encode() + b"\n"


class _Pickler(pickle.Pickler):
    def reducer_override(self, each: Any) -> Any:
        if isinstance(each, torch._ops.OpOverload):
            return _operator, (each._schema.name, each._schema.overload_name)
        if isinstance(each, types.MethodWrapperType) and isinstance(each.__self__, types.GetSetDescriptorType):  # a property of torch.Tensor
            return _getter, (each.__self__.__name__,)
        return NotImplemented


def _operator(name: str, overload: str) -> Any:
    namespace, _, plain = name.partition("::")
    return getattr(getattr(getattr(torch.ops, namespace), plain), overload or "default")


def _getter(name: str) -> Any:
    return getattr(torch.Tensor, name).__get__
