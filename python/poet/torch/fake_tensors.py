"""Corrections of PyTorch's fake tensors, for the time of a capture."""

from __future__ import annotations

import contextlib
import logging
from typing import Any, Iterator

import torch
from torch._subclasses import fake_tensor


@contextlib.contextmanager
def fake_huber_loss() -> Iterator[None]:
    """Gives huber_loss_backward a result on fake tensors: PyTorch 1 calls a decomposition with an argument that it does not take."""
    known = getattr(fake_tensor, "op_implementations", None)
    mine = (lambda func: func is torch.ops.aten.huber_loss_backward.default, _like_input)
    if not isinstance(known, list):  # PyTorch 2, which needs no correction
        yield
        return
    known.append(mine)
    try:
        yield
    finally:
        known.remove(mine)


@contextlib.contextmanager
def errors_untold() -> Iterator[None]:
    """PyTorch 2 logs each error of fake tensors with thirty lines, before it raises it."""
    logger = logging.getLogger(fake_tensor.__name__)
    disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = disabled


def _like_input(mode: Any, _func: Any, _gradient: torch.Tensor, input: torch.Tensor, *_others: Any) -> torch.Tensor:
    with mode:
        return torch.empty_like(input, memory_format=torch.contiguous_format)
