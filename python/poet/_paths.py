"""Arguments that name files and folders."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

from .errors import InputError

Path = Union[str, "os.PathLike[str]"]


def file_argument(name: str, path: Any, wanted: str = "a path") -> str:
    """Returns the path in the argument `name`. Raises TypeError, or InputError if it is empty."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise TypeError(f"{name}: must be {wanted}, not {type(path).__name__}")
    if not text:
        raise InputError(name, "is an empty path")
    return text


def optional_file(name: str, path: Any, wanted: str = "a path") -> Optional[str]:
    """Returns the path in the argument `name`, or None. Raises as file_argument()."""
    return None if path is None else file_argument(name, path, wanted)
