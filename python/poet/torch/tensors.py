"""Tensors: those in nested arguments, their storages and how they lie there."""

from __future__ import annotations

from typing import Any

import torch

from .program import Layout


def tensors_in(tree: Any) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, dict):
        return tensors_in(list(tree.values()))
    if isinstance(tree, (tuple, list)):
        return [tensor for each in tree for tensor in tensors_in(each)]
    return []


def storage_of(tensor: torch.Tensor) -> Any:
    """Returns a tensor's storage, in PyTorch 1 and 2."""
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage().untyped()


def storage_address(tensor: torch.Tensor) -> int:
    return int(storage_of(tensor).data_ptr())


def bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a tensor's storage as bytes."""
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage_of(tensor))


def layout_of(tensor: torch.Tensor) -> Layout:
    """Returns a tensor's layout in its storage."""
    return Layout(tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.dtype, storage_of(tensor).nbytes(), str(tensor.device))


def signature(tree: Any) -> Any:
    if isinstance(tree, torch.Tensor):
        return tuple(tree.shape), tree.stride(), tree.dtype, tree.device.type, tree.requires_grad
    if isinstance(tree, (tuple, list)):
        return tuple(signature(each) for each in tree)
    if isinstance(tree, dict):
        return tuple((name, signature(each)) for name, each in tree.items())
    return type(tree), repr(tree)
