"""Cross-entropy with label smoothing, as operators whose results have shapes that are known before they run.

PyTorch 1 averages the loss over a selection of the samples, those whose class is not `ignore_index`. The selection's size depends on
the batch, so it cannot be a value of a plan; here it exists only inside an operator. Kernels and their operands are PyTorch's.
PyTorch 2 selects only the weights of classes, and by another path while it is captured.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Iterator, Optional

import torch

from .device import Device

_IS_1 = torch.__version__.startswith("1.")
_MEAN = 1  # at::Reduction::Mean

_library = torch.library.Library("poet", "DEF")
_library.define("mean_of_counted(Tensor losses, Tensor ignored) -> Tensor")
_library.define("mean_of_counted_backward(Tensor gradient, Tensor ignored) -> Tensor")
_library.define("weight_of_counted(Tensor weight, Tensor target, Tensor ignored) -> Tensor")


# Examples of masks are false while operators are measured, and then all samples count: the most that can be selected.
def _mean_of_counted(losses: torch.Tensor, ignored: torch.Tensor) -> torch.Tensor:
    return losses.masked_select(~ignored).mean()


def _mean_of_counted_backward(gradient: torch.Tensor, ignored: torch.Tensor) -> torch.Tensor:
    counted = ~ignored
    count = int(counted.sum())
    return gradient.new_zeros(ignored.shape).masked_scatter(counted, gradient.expand(count) / count)


def _weight_of_counted(weight: torch.Tensor, target: torch.Tensor, ignored: torch.Tensor) -> torch.Tensor:
    classes = target.masked_select(~ignored).clamp_(0, len(weight) - 1)  # measured without a mask; nll_loss rejects others
    return weight.gather(0, classes).sum()


for _name, _kernel, _shape in (
    ("mean_of_counted", _mean_of_counted, lambda losses, ignored: losses.new_empty(())),
    ("mean_of_counted_backward", _mean_of_counted_backward, lambda gradient, ignored: gradient.new_empty(ignored.shape)),
    ("weight_of_counted", _weight_of_counted, lambda weight, target, ignored: weight.new_empty(())),
):
    _library.impl(_name, _kernel, "CPU")
    _library.impl(_name, _shape, "Meta")


class _MeanOfCounted(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, losses: torch.Tensor, ignored: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(ignored)
        return torch.ops.poet.mean_of_counted(losses, ignored)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return torch.ops.poet.mean_of_counted_backward(gradient, *ctx.saved_tensors), None


@contextlib.contextmanager
def shapes_known(device: Device) -> Iterator[None]:
    """Replaces the cross-entropy with label smoothing, in this thread, by one that can be captured and has the same bits."""
    original = torch._C._nn.cross_entropy_loss
    capturing = threading.get_ident()

    def cross_entropy_loss(
        input: torch.Tensor, target: torch.Tensor, weight: Optional[torch.Tensor], reduction: int, ignore_index: int, smoothing: float
    ) -> torch.Tensor:
        of_classes = threading.get_ident() == capturing and input.shape != target.shape
        averaged = of_classes and reduction == _MEAN and 0 < smoothing <= 1
        if not averaged or (weight is None and not _IS_1) or (weight is not None and weight.requires_grad):
            return original(input, target, weight, reduction, ignore_index, smoothing)
        if device.autocast()[0]:  # which casts what the whole loss has
            with torch.autocast(device.type, enabled=False):
                return cross_entropy_loss(input.float(), target, None if weight is None else weight.float(), reduction, ignore_index, smoothing)
        class_dim = 0 if input.dim() == 1 else 1
        logs = torch.log_softmax(input, class_dim, input.dtype)
        loss = torch._C._nn.nll_loss_nd(logs, target, weight, reduction, ignore_index)
        ignored = target == ignore_index
        if weight is None:
            smooth = _MeanOfCounted.apply(_kept(-logs.sum(class_dim), ignored), ignored)
        else:
            weights = weight.view([-1 if i == class_dim else 1 for i in range(input.dim())])
            smooth = _kept(-(logs * weights).sum(class_dim), ignored).sum() / torch.ops.poet.weight_of_counted(weight, target, ignored)
        return smooth * (smoothing / input.shape[class_dim]) + loss * (1 - smoothing)

    torch._C._nn.cross_entropy_loss = cross_entropy_loss
    try:
        yield
    finally:
        torch._C._nn.cross_entropy_loss = original


def _kept(losses: torch.Tensor, ignored: torch.Tensor) -> torch.Tensor:
    return losses.masked_fill(ignored, 0.0)
