"""Whether the module _core, which is compiled for one Python, is for this one; without it Python speaks of a circular import."""

import importlib.util
import pathlib
import sys

if not importlib.util.find_spec("poet._core"):
    built = [file.name for file in pathlib.Path(__file__).parent.glob("_core.*.so")]
    raise ImportError(
        f"poet is not built for this Python ({sys.executable}, {sys.implementation.cache_tag}): its module is "
        f"{', '.join(built) or 'missing'}; run the Python that it is for, or `python3 -m pip install .` in poet's repository with this one"
    )
