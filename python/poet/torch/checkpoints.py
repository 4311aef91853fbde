"""torch.utils.checkpoint within a module: it computes the same in less memory, so it is left out while a step is captured. What is computed again is the
plan's to decide."""

from __future__ import annotations

import contextlib
import types
from typing import Any, Callable, Iterator

import torch.utils.checkpoint


@contextlib.contextmanager
def no_checkpoints() -> Iterator[Callable[[], bool]]:
    """Inside, checkpoints are calls of their functions. Yields what says whether there were any."""
    met: list[bool] = []

    def plain(function: Any, preserve_rng_state: bool = True, *args: Any, **options: Any) -> Any:
        met.append(True)
        return function(*args, **options)

    def stepped(*operands: Any, **options: Any) -> Iterator[None]:  # PyTorch 2 calls the function itself, between two steps of this
        met.append(True)
        yield

    instead = {
        "CheckpointFunction": types.SimpleNamespace(apply=plain),
        "_checkpoint_without_reentrant": plain,
        "_checkpoint_without_reentrant_generator": stepped,
    }
    before = {name: getattr(torch.utils.checkpoint, name) for name in instead if hasattr(torch.utils.checkpoint, name)}
    for name in before:
        setattr(torch.utils.checkpoint, name, instead[name])
    try:
        yield lambda: bool(met)
    finally:
        for name, function in before.items():
            setattr(torch.utils.checkpoint, name, function)
