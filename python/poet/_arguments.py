"""Arguments as the module _core takes them."""

from __future__ import annotations

import json
from typing import Any, Union

from ._paths import Path, optional_file
from .devices import Device


def device_arguments(device: Union[Path, Device, None]) -> dict[str, Any]:
    """Of a profile's name or file, or of a profile."""
    if isinstance(device, Device):
        return {"device_json": json.dumps(device.to_json())}
    return {"device": optional_file("device", device, "a name, a file or a poet.Device,")}
