"""Whose code is whose: a library changes nothing of itself while a program runs."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import types
from typing import Any, Optional

import torch

_POET = os.path.dirname(os.path.dirname(__file__))
_FOREIGN = tuple(os.path.join(folder, "") for folder in (os.path.dirname(torch.__file__), _POET))
_PACKAGES = re.compile(r"[\\/](site|dist)-packages[\\/]")
_PYTHON = os.path.join(sysconfig.get_paths()["stdlib"], "")


def is_foreign_class(kind: type) -> bool:
    """Whether its objects have nothing of the user's: PyTorch's and numpy's own."""
    return kind.__module__.split(".")[0] in ("torch", "numpy", "builtins")


def file_of(kind: type) -> Optional[str]:
    """The file of the module that has a class."""
    return getattr(sys.modules.get(kind.__module__), "__file__", None)


def is_of_poet(kind: type) -> bool:
    return kind.__module__.split(".")[0] == "poet"


def is_of_package(file: Optional[str]) -> bool:
    """Whether it is of an installed package; what that makes for the user may change."""
    return file is not None and _PACKAGES.search(file) is not None


def is_foreign(file: Any) -> bool:
    """Whether it is PyTorch's, numpy's, Python's or poet's own: nothing of it changes, or has to do with tensors."""
    if not isinstance(file, str) or file.startswith(("<frozen", "<__array_function__", *_FOREIGN)):
        return True
    return f"-packages{os.sep}numpy{os.sep}" in file or (file.startswith(_PYTHON) and not is_of_package(file))


def content_of(cell: types.CellType) -> Any:
    """What a variable of a closure is; None if it is not there yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
