"""sweep(): methods over networks, devices and limits, on all cores."""

from __future__ import annotations

import json
from typing import Any, Callable, Mapping, Optional, Union

from . import _core
from ._arguments import names_mistakes
from ._json import text_of
from ._paths import Path, file_argument, optional_file
from .tables import Table


@names_mistakes
def sweep(
    spec: Union[Mapping[str, Any], Path],
    *,
    store: Optional[Path] = None,
    jobs: Optional[int] = None,
    progress: Union[Callable[[str], Optional[bool]], bool, None] = None,
) -> Table:
    """Runs every combination of a specification's lists, as `poet sweep` does. Returns a row per point.

        rows = poet.sweep({"networks": ["linear"], "devices": ["m4"], "ram": [0.25, 0.5, 1.0], "methods": ["poet", "chen-sqrt"]})
        rows.to_pandas().pivot(index="ram", columns="method", values="energy_joules")

    `spec`: a file, or the object that one holds (docs/formats_sweep.md); file names in it are relative to its folder, or to the
    current one. `store`: a results store (SQLite), created if missing: points that it has are not rerun, and new ones are added. `jobs`:
    worker processes (default: one per core). `progress`: a function of a text ("3 of 12") that stops the sweep by returning False; True
    prints the text.

    Each row has the point's parameters, `verdict` and `reason`, energies in joules, times in seconds, sizes in bytes, None where they do
    not apply, and `pareto_energy_ram` and `pareto_energy_time`: whether no other point of its network and device takes as little energy
    with as little RAM (time). Plans and bounds are carried between points: more RAM never shows more energy. A point with invalid input
    has the verdict "failed". Raises InputError for an invalid spec or store; Ctrl-C raises KeyboardInterrupt, and the store keeps
    finished points.
    """
    show = print if progress is True else progress or None
    if show is not None and not callable(show):
        raise TypeError("progress: must be a function, True or False")
    told = None if show is None else lambda phase, *_: show(phase)
    is_text = isinstance(spec, Mapping)
    what = text_of({"format": 1, **spec}) if isinstance(spec, Mapping) else file_argument("spec", spec)
    rows = _core.sweep(what, is_text, optional_file("store", store), jobs=jobs, progress=told)
    return Table(json.loads(row) for row in rows)
