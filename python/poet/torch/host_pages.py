"""Pages of a GPU: in the host's memory, copied by the GPU itself on a stream of its own while it computes."""

from __future__ import annotations

from typing import Any, Optional

import torch

from .device import Device
from .errors import StorageError
from .tensors import bytes_of
from .program import Layout


class Copy:
    """A copy under way. Holds its tensor until what is computed next waits for it, so that its memory is not taken for something else."""

    def __init__(self, event: Any, tensor: torch.Tensor) -> None:
        self._event = event
        self._tensor: Optional[torch.Tensor] = tensor

    def wait(self) -> None:
        """Has what is computed from now on wait for it; the caller does not."""
        self._event.wait()
        self._tensor = None


class HostPages:
    """`size` bytes of the host's memory, which the device can reach. Copies run in the order of the requests, which is the plan's."""

    def __init__(self, device: Device, size: int) -> None:
        try:
            self._bytes = device.pinned(size)
        except RuntimeError as error:
            raise StorageError(f"storage: no {size} bytes of the host's memory for pages: {str(error).splitlines()[0]}") from error
        self._stream = device.stream()

    def write(self, tensor: torch.Tensor, place: int) -> Copy:
        """Starts to copy a tensor's storage to a place in the host's memory."""
        mine = bytes_of(tensor)
        page = self._bytes[place : place + mine.numel()]
        return Copy(self._stream.start(lambda: page.copy_(mine, non_blocking=True)), tensor)

    def read(self, layout: Layout, place: int) -> tuple[torch.Tensor, Copy]:
        """Starts to copy a tensor back; its contents are valid for what is computed after the wait."""
        tensor = layout.empty()
        mine = bytes_of(tensor)
        page = self._bytes[place : place + mine.numel()]
        return tensor, Copy(self._stream.start(lambda: mine.copy_(page, non_blocking=True)), tensor)

    def finish(self) -> None:
        """Waits until no copy is under way."""
        self._stream.finish()

    def close(self) -> None:
        """Afterwards there are no pages."""
        self.finish()
        self._bytes = torch.empty(0, dtype=torch.uint8)
