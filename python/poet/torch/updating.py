"""What a step does with gradients: it updates parameters with them, at its end or one by one, or adds them to those of the steps before."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterable, Optional, Sequence

import torch

from .copies import strides_of_gradient


@dataclasses.dataclass(frozen=True)
class Updates:
    """`when` ("last", "early" or "none") parameters are updated, in the last of `every` calls; `clip_norm`: gradients have at most this norm
    before, all together; `scaler`: a torch.amp.GradScaler."""

    when: str = "last"
    every: int = 1
    clip_norm: Optional[float] = None
    scaler: Any = None

    @property
    def adds(self) -> bool:
        """Whether gradients are added to what parameters have in .grad."""
        return self.when == "none" or self.every > 1

    @property
    def one_by_one(self) -> bool:
        """Whether a gradient is used as soon as it is there, and is not needed after."""
        return self.when == "early" or self.adds

    def essentials(self) -> Any:
        """What another process knows it by. A scaler that is switched off returns the loss as it is."""
        return (self.when, self.every, self.clip_norm, type(self.scaler).__qualname__, self.scaler is not None and self.scaler.is_enabled())

    def tensors(self) -> list[torch.Tensor]:
        """Those of its own that steps read."""
        scale = getattr(self.scaler, "_scale", None)
        return [scale] if isinstance(scale, torch.Tensor) else []

    def scaled(self, loss: torch.Tensor) -> torch.Tensor:
        """What gradients are of."""
        return loss if self.scaler is None else self.scaler.scale(loss)


def use(how: Updates, optimizer: Any, parameter: torch.nn.Parameter, gradient: torch.Tensor, is_copied: bool) -> None:
    """Updates one parameter, or adds to its gradient as backward() does. `is_copied`: of handed_over()."""
    if how.adds and parameter.grad is not None:
        parameter.grad.add_(gradient)
        return
    parameter.grad = handed_over(parameter, gradient, is_copied)
    if not how.adds:
        _only(optimizer, parameter)
        parameter.grad = None


def update(how: Updates, optimizer: Any, parameters: Sequence[torch.nn.Parameter]) -> None:
    """Updates all parameters by their gradients, clipped and unscaled."""
    if how.clip_norm is not None:
        if how.scaler is not None:
            how.scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(parameters, how.clip_norm)
    if how.scaler is None:
        optimizer.step()
    else:
        how.scaler.step(optimizer)
        how.scaler.update()


def forget_gradients(parameters: Iterable[torch.nn.Parameter]) -> None:
    for parameter in parameters:
        parameter.grad = None


def handed_over(parameter: torch.Tensor, gradient: Optional[torch.Tensor], is_copied: bool) -> Optional[torch.Tensor]:
    """Returns a gradient as backward() leaves it: in storage of its own, with the parameter's layout (copies.py)."""
    if gradient is None or not is_copied:
        return gradient
    return torch.empty_strided(parameter.shape, strides_of_gradient(parameter), dtype=gradient.dtype, device=gradient.device).copy_(gradient)


def _only(optimizer: Any, parameter: torch.nn.Parameter) -> None:
    """Restricts the optimizer's groups to one parameter: scanning all of them would take longer than the update."""
    before = [group["params"] for group in optimizer.param_groups]
    try:
        for group in optimizer.param_groups:
            group["params"] = [parameter] if any(p is parameter for p in group["params"]) else []
        optimizer.step()
    finally:
        for group, parameters in zip(optimizer.param_groups, before):
            group["params"] = parameters
