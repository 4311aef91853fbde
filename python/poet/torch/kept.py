"""The compiled steps that are kept: those that were run last."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Sequence

import torch

from .compiling import Compiled
from .owners import Owners
from .saved import Saved

MOST = 32


class Entry(NamedTuple):
    key: Any
    held: list[Any]  # objects that the key names by their numbers
    compiled: Compiled
    owners: Owners
    saved: Saved


class Kept:
    """Compiled steps. Several may have one key: they differ in the values of the batch (guards) or in whose tensors they read (owners)."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []  # the latest one comes last

    def find(self, key: Any, batch: Sequence[torch.Tensor], has_owners: Callable[[Owners, list[torch.Tensor]], bool]) -> Optional[Compiled]:
        """Returns the step for this key and batch, if there is one whose constants have their owners."""
        for i in range(len(self._entries) - 1, -1, -1):
            entry = self._entries[i]
            program = entry.compiled.program
            if entry.key == key and all(guard.holds(batch) for guard in program.guards) and has_owners(entry.owners, program.constants):
                if entry is not self._entries[-1]:
                    self._let_go_of_others()
                    self._entries.append(self._entries.pop(i))
                return entry.compiled
        return None

    def add(self, entry: Entry) -> None:
        if len(self._entries) == MOST:
            del self._entries[0]
        self._let_go_of_others()
        self._entries.append(entry)

    def _let_go_of_others(self) -> None:
        """Only the latest step holds what others own: their tensors may have other memory when an older one runs again."""
        for entry in self._entries[-1:]:
            entry.owners.let_go(entry.compiled.program.constants)

    def saved(self) -> list[Saved]:
        """All of them as a file has them."""
        return [entry.saved for entry in self._entries]

    def __len__(self) -> int:
        return len(self._entries)
