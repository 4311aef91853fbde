"""What a step is compiled of."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Sequence

import torch

from .device import Device
from .ran import Ran
from .updating import Updates


@dataclasses.dataclass(frozen=True)
class Subject:
    """`forward(module, batch)` makes the loss, or more (returned.py); `updates`: what becomes of its gradients; `tensors`: those of the batch;
    `device`: where all are; `ran`: gets to know what of the user's code runs."""

    module: torch.nn.Module
    forward: Callable[[torch.nn.Module, Any], Any]
    optimizer: torch.optim.Optimizer
    updates: Updates
    batch: Any
    tensors: Sequence[torch.Tensor]
    device: Device
    ran: Ran
