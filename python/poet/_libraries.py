"""Libraries that single functions need and that need not be installed."""

from __future__ import annotations

import importlib
from types import ModuleType


def library(name: str, function: str) -> ModuleType:
    """Imports the library, or a module of it. Raises ImportError saying how it is installed and which `function` needs it."""
    package = name.partition(".")[0]
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:  # it is there, and lacks something itself
            raise
        message = f"{function} needs {package}, which is not installed: python3 -m pip install {package}"
        raise ImportError(message, name=package) from None
    return importlib.import_module(name)
