"""What operators and updates cost."""

from __future__ import annotations

import dataclasses

from .program import Layout


@dataclasses.dataclass(frozen=True)
class Cost:
    """Of an operator. `outputs`: layouts of its results, by position. `workspace_bytes`: peak allocation while it runs, without the outputs that
    are kept."""

    seconds: float
    workspace_bytes: int
    outputs: dict[int, Layout]


@dataclasses.dataclass(frozen=True)
class UpdateCost:
    """Of the optimizer's step for one parameter: `state_bytes` persist between steps, `left_bytes` are still held while it updates
    the next parameter."""

    seconds: float
    workspace_bytes: int
    state_bytes: int
    left_bytes: int
