"""Arguments as the module _core takes them."""

from __future__ import annotations

import json
import operator
from typing import Any, Mapping, Union

from ._paths import Path, optional_file
from .devices import Device
from .errors import InputError


def device_arguments(device: Union[Path, Device, None]) -> dict[str, Any]:
    """Of a profile's name or file, or of a profile."""
    if isinstance(device, Device):
        return {"device_json": json.dumps(device.to_json())}
    return {"device": optional_file("device", device, "a name, a file or a poet.Device,")}


def shape_arguments(shapes: Any) -> dict[str, list[int]]:
    """Of `input_shapes`: sizes by the name of the input."""
    if not isinstance(shapes, Mapping):
        raise TypeError(f"input_shapes: must be shapes by the name of the input, not {type(shapes).__name__}")
    out = {}
    for name, shape in shapes.items():
        try:
            out[str(name)] = [operator.index(size) for size in shape]
        except TypeError:
            raise InputError("input_shapes", f"of {name!r} must be whole numbers, not {shape!r}") from None
    return out
