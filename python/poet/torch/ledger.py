"""Independent count of the bytes that PyTorch holds, to check the RAM limit."""

from __future__ import annotations

from typing import Any, Sequence

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from .tensors import storage_of


class Ledger(TorchDispatchMode):  # type: ignore[misc]
    """Counts the bytes of storages that operators return inside the context, as long as they are referenced.

        with poet.torch.Ledger() as ledger:
            loss = step(batch)
        ledger.peak_bytes

    Storages of `held` tensors are counted from the beginning. What an operator allocates and frees inside is not seen (the plan
    counts it, and device.allocations() sees it). Every operator costs a walk over what is alive: a check, not for daily use.
    """

    def __init__(self, held: Sequence[torch.Tensor] = ()) -> None:
        super().__init__()
        self._alive: dict[int, tuple[Any, int]] = {}
        self.peak_bytes = 0
        for tensor in held:
            self._count(tensor)

    @property
    def bytes(self) -> int:
        """Bytes of the storages that are alive."""
        self._alive = {key: entry for key, entry in self._alive.items() if not entry[0].expired()}
        return sum(size for _, size in self._alive.values())

    def _count(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        reference = StorageWeakRef(storage)
        self._alive[reference.cdata] = (reference, storage_of(tensor).nbytes())

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        for each in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(each, torch.Tensor):
                self._count(each)
        self.peak_bytes = max(self.peak_bytes, self.bytes)
        return result
