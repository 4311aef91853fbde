"""Costs of operators that were measured on this machine before, in a file: compiling measures only what is new."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sqlite3
from typing import Any, Optional

import torch

from .cost import Cost
from .device import Device
from .functional import name_of
from .program import Layout, Op


class CostsFile:
    """The file operators.sqlite in the folder POET_CACHE ("off": there is none), or else in poet's among the user's caches. Without one, as where it
    cannot be written, nothing is known and nothing is kept."""

    def __init__(self, device: Device) -> None:
        folder = os.environ.get("POET_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "poet")
        self._connection: Optional[sqlite3.Connection] = None
        self._machine = machine(device)
        self._new: list[tuple[str, str]] = []
        if folder == "off":
            return
        try:
            os.makedirs(folder, exist_ok=True)
            self._connection = sqlite3.connect(os.path.join(folder, "operators.sqlite"), timeout=1)
            self._connection.execute("CREATE TABLE IF NOT EXISTS costs (operator TEXT PRIMARY KEY, cost TEXT NOT NULL)")
        except (OSError, sqlite3.Error):
            self._connection = None

    def find(self, op: Op, key: Any) -> Optional[Cost]:
        """Returns the cost of an operator with operands like these (a key of text), if it was measured."""
        if self._connection is None or not _is_pytorchs(op):
            return None
        try:
            row = self._connection.execute("SELECT cost FROM costs WHERE operator = ?", (repr((self._machine, key)),)).fetchone()
            return None if row is None else _cost(json.loads(row[0]))
        except (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError):  # another program's, or damaged
            return None

    def keep(self, op: Op, key: Any, cost: Cost) -> None:
        if self._connection is None or not _is_pytorchs(op):
            return
        layouts = {i: [each.size, each.stride, each.offset, str(each.dtype).removeprefix("torch."), each.bytes, each.device] for i, each in cost.outputs.items()}
        self._new.append((repr((self._machine, key)), json.dumps([cost.seconds, cost.workspace_bytes, layouts])))

    def close(self) -> None:
        """Writes what is new, all at once: others can write while operators are measured."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error), self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO costs VALUES (?, ?)", self._new)
            self._connection.close()


def machine(device: Device) -> tuple[Any, ...]:
    """What costs are of: the processor, PyTorch, and its settings."""
    return (torch.__version__, platform.machine(), device.name(), torch.get_num_threads(), torch.backends.mkldnn.enabled,
            torch.are_deterministic_algorithms_enabled(), torch.get_float32_matmul_precision())  # fmt: skip


def _is_pytorchs(op: Op) -> bool:
    """Others may be written anew."""
    return name_of(op.target).startswith("aten::")


def _cost(stored: Any) -> Cost:
    seconds, workspace, outputs = stored
    layouts = {
        int(i): Layout(tuple(size), tuple(stride), offset, getattr(torch, dtype), count, device)
        for i, (size, stride, offset, dtype, count, device) in outputs.items()
    }
    return Cost(seconds, workspace, layouts)
