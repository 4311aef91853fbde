"""The compiled steps that are kept: those that were run last."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import torch

from .compiling import Compiled
from .saved import Saved

MOST = 32


class Kept:
    """Compiled steps by their keys, and with one key by the values of the batch that they hold for."""

    def __init__(self) -> None:
        self._entries: list[tuple[Any, Compiled, list[Any], Saved]] = []  # the latest one comes last; keys go by the numbers of those objects

    def find(self, key: Any, batch: Sequence[torch.Tensor]) -> Optional[Compiled]:
        """Returns the step for this key and batch, if there is one."""
        for i in range(len(self._entries) - 1, -1, -1):
            entry = self._entries[i]
            if entry[0] == key and all(guard.holds(batch) for guard in entry[1].program.guards):
                self._entries.append(self._entries.pop(i))
                return entry[1]
        return None

    def add(self, key: Any, compiled: Compiled, held: list[Any], saved: Saved) -> None:
        del self._entries[: len(self._entries) + 1 - MOST]
        self._entries.append((key, compiled, held, saved))

    def saved(self) -> list[Saved]:
        """All of them as a file has them."""
        return [saved for _, _, _, saved in self._entries]

    def __len__(self) -> int:
        return len(self._entries)
