"""Random numbers of operators that are computed again."""

from __future__ import annotations

import contextlib
from typing import Iterator, Sequence

import torch

from .device import Device


class Draws:
    """Saves the generators' state before random operators, so that recomputations draw the same numbers."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._states: dict[int, Sequence[torch.Tensor]] = {}

    def keep(self, number: int) -> None:
        self._states[number] = self._device.random_state()

    @contextlib.contextmanager
    def again(self, number: int) -> Iterator[None]:
        now = self._device.random_state()
        self._device.set_random_state(self._states[number])
        try:
            yield
        finally:
            self._device.set_random_state(now)
