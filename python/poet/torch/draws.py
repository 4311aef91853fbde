"""Random numbers of operators that are computed again."""

from __future__ import annotations

import contextlib
from typing import Iterator

import torch


class Draws:
    """Saves the generator's state before random operators, so that recomputations draw the same numbers."""

    def __init__(self) -> None:
        self._states: dict[int, torch.Tensor] = {}

    def keep(self, number: int) -> None:
        self._states[number] = torch.get_rng_state()

    @contextlib.contextmanager
    def again(self, number: int) -> Iterator[None]:
        now = torch.get_rng_state()
        torch.set_rng_state(self._states[number])
        try:
            yield
        finally:
            torch.set_rng_state(now)
