"""Conversion of arguments for the module _core."""

from __future__ import annotations

import json
import operator
from typing import Any, Mapping, Union

from ._paths import Path, optional_file
from .devices import Device
from .errors import InputError


def device_arguments(device: Union[Path, Device, None]) -> dict[str, Any]:
    """Returns the core's arguments for a device: a profile's name, its file, or a Device."""
    if isinstance(device, Device):
        return {"device_json": json.dumps(device.to_json())}
    return {"device": optional_file("device", device, "a name, a file or a poet.Device,")}


def shape_arguments(shapes: Any) -> dict[str, list[int]]:
    """Returns the core's form of `input_shapes`: sizes by input name."""
    if not isinstance(shapes, Mapping):
        raise TypeError(f"input_shapes: must be shapes by the name of the input, not {type(shapes).__name__}")
    out = {}
    for name, shape in shapes.items():
        try:
            out[str(name)] = [operator.index(size) for size in shape]
        except TypeError:
            raise InputError("input_shapes", f"of {name!r} must be whole numbers, not {shape!r}") from None
    return out
