"""Arguments as the module _core takes them."""

from __future__ import annotations

import json
import os
from typing import Any, Union

from .devices import Device


def device_arguments(device: Union[str, "os.PathLike[str]", Device, None]) -> dict[str, Any]:
    """Of a profile's name or file, or of a profile."""
    if device is not None and not isinstance(device, (str, os.PathLike, Device)):
        raise TypeError(f"device: must be a name, a file or a poet.Device, not {type(device).__name__}")
    if isinstance(device, Device):
        return {"device_json": json.dumps(device.to_json())}
    return {"device": None if device is None else os.fspath(device)}
