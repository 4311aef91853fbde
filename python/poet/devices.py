"""Devices: costs of compute and transfers, every number with its origin (docs/devices.md, docs/formats_device.md)."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Mapping, Optional, Sequence, Union

from . import _core
from ._arguments import names_mistakes
from ._json import text_of
from ._paths import Path, file_argument, optional_file


@names_mistakes
@dataclasses.dataclass(frozen=True)
class Transfer:
    """One direction between RAM and storage: b bytes take latency_seconds + b / bytes_per_second and draw `watts` above idle."""

    latency_seconds: float
    bytes_per_second: float
    watts: float


@names_mistakes
@dataclasses.dataclass(frozen=True)
class Device:
    """A device profile: SI units, bytes whole; watts are increments over `idle_watts`.

    Without `storage_bytes`, `page_in` and `page_out` values can only be recomputed. `origins` maps numbers to their
    sources: JSON pointer -> "measured|datasheet|published|assumed: where". Using a device with a number out of range raises
    InputError. dataclasses.replace(device, ram_bytes=...) makes a modified copy.
    """

    name: str
    ram_bytes: int
    flops_per_second: float
    memory_bytes_per_second: float
    active_watts: float
    idle_watts: float = 0.0
    description: str = ""
    alignment_bytes: int = 1
    storage_bytes: Optional[int] = None
    page_in: Optional[Transfer] = None
    page_out: Optional[Transfer] = None
    block_bytes: int = 1
    concurrent: bool = True
    wake_seconds: float = 0.0
    wake_joules: float = 0.0
    write_endurance_bytes: Optional[int] = None
    overrides: Sequence[Mapping[str, Any]] = dataclasses.field(default=(), hash=False)
    rates: Sequence[Mapping[str, Any]] = dataclasses.field(default=(), hash=False)
    p95_over_median: Optional[Mapping[str, float]] = dataclasses.field(default=None, hash=False)
    origins: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)

    @staticmethod
    def load(name_or_file: Path) -> Device:
        """Loads a built-in profile by name (poet.devices()), or one from a file. Raises InputError."""
        return Device.from_json(json.loads(_core.device_json(file_argument("name_or_file", name_or_file))))

    @staticmethod
    def from_json(profile: Mapping[str, Any]) -> Device:
        """Reads the object that a profile file holds. Raises InputError."""
        fields = dict(json.loads(_core.check_device(json.dumps(profile))))
        fields.pop("format", None)
        for direction in ("page_in", "page_out"):
            if fields.get(direction):
                fields[direction] = Transfer(**fields[direction])
        return Device(**fields)

    def to_json(self) -> dict[str, Any]:
        """Returns the object that a profile file holds. Raises InputError if a number is out of range."""
        storage = ("block_bytes", "concurrent", "wake_seconds", "wake_joules")
        fields = {}
        for name, value in dataclasses.asdict(self).items():
            if value is None or (name in storage and self.storage_bytes is None):
                continue
            if isinstance(value, (tuple, list, dict)) and not value:
                continue
            fields[name] = value
        checked: dict[str, Any] = json.loads(_core.check_device(text_of(fields)))
        return checked

    def save(self, file: Path) -> None:
        """Writes a profile file, for `poet ... --platform FILE.json`."""
        with open(file_argument("file", file), "w", encoding="utf-8") as stream:
            json.dump(self.to_json(), stream, indent=2)
            stream.write("\n")


def devices() -> list[str]:
    """Returns the names of the built-in profiles, for `device=` and Device.load()."""
    return _core.device_names()


def device_arguments(device: Union[Path, Device, None]) -> dict[str, Any]:
    """Returns the core's arguments for a device: a profile's name, its file, or a Device."""
    if isinstance(device, Device):
        return {"device_json": json.dumps(device.to_json())}
    return {"device": optional_file("device", device, "a name, a file or a poet.Device")}
