"""Measured costs of a step's operators: seconds, bytes of results, and bytes of workspace.

Every operator runs by itself on operands of its own layouts, so measuring takes the memory of the largest operator, not of a
step. Operators that are alike are measured once.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch

from .cost import Cost
from .costs_file import CostsFile
from .device import Device
from .errors import CaptureError
from .functional import name_of
from .program import Layout, Op, Place, Program, replaced
from .tensors import bytes_of, layout_of, signature, storage_address, tensors_in


class AliasFound(Exception):
    """An operator returned a tensor that shares an operand's storage, though its schema says otherwise."""

    def __init__(self, op: Op) -> None:
        super().__init__(op.name)
        self.op = op


class LayoutDiffers(Exception):
    """An operator's result has another layout than fake tensors say, and later operators depend on it."""

    def __init__(self, op: Op) -> None:
        super().__init__(op.name)
        self.op = op


_ROUNDS = 3  # of which the fastest counts
# Their results have shapes that follow from the contents of operands.
_SHAPED_BY_CONTENTS = {"aten::_pack_padded_sequence", "aten::_ctc_loss"}
# What operators raise for contents that they cannot have.
_UNFIT = (RuntimeError, IndexError, TypeError, NotImplementedError)


def measure(
    program: Program, given: Callable[[Place], torch.Tensor], device: Device, tell: Callable[[str], None] = lambda phase: None
) -> list[Cost]:
    """Returns the cost of each operator on the device and sets the layouts of all values. `given`: tensors that exist before the step. `tell`
    gets to know how far it is."""
    kept = CostsFile(device)
    try:
        return _costs(program, given, device, tell, kept)
    finally:
        kept.close()


def _costs(program: Program, given: Callable[[Place], torch.Tensor], device: Device, tell: Callable[[str], None], kept: CostsFile) -> list[Cost]:
    known: dict[Any, Cost] = {}
    costs = []
    for op in program.ops:
        if name_of(op.target) == "aten::_efficientzerotensor":
            rule = "makes zeros without memory for torch.func's forward mode (hessian)"
            raise CaptureError(name_of(op.target), f"{rule}; torch.autograd.functional has the same with memory")
        args, kwargs = _operands(op, given, None)
        by_contents = tensors_in((args, kwargs)) if name_of(op.target) in _SHAPED_BY_CONTENTS else []
        integers = [tensor.tolist() for tensor in by_contents if not tensor.is_floating_point()]
        key = (repr(op.target), signature(args), signature(kwargs), tuple(op.outputs), repr(integers))
        if key not in known:
            cost = kept.find(op, key)
            if cost is None:
                tell(f"measuring operator {op.number + 1} of {len(program.ops)}")
                cost = _measured_with_integers(op, given, device)
                kept.keep(op, key, cost)
            known[key] = cost
        cost = known[key]
        for index, value in op.outputs.items():
            value.layout = cost.outputs[index]
            if value.captured is not None and not _lies_as(value.layout, *value.captured):
                raise LayoutDiffers(op)
        costs.append(cost)
    return costs


def _lies_as(layout: Layout, size: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether a measured result lies as the captured one. Other sizes may come of other contents; whether there are elements decides what runs."""
    if 0 in layout.size or 0 in size:
        return (0 in layout.size) == (0 in size)
    return all(size == 1 or mine == other for size, mine, other in zip(layout.size, layout.stride, strides))


def _measured_with_integers(op: Op, given: Callable[[Place], torch.Tensor], device: Device) -> Cost:
    """Measures with integers of 0, which may be indices, or else of 1, which may be pivots."""
    args, kwargs = _operands(op, given, 0)
    try:
        return _measured(op, args, kwargs, device)
    except _UNFIT as error:
        args, kwargs = _operands(op, given, 1)
        try:
            return _measured(op, args, kwargs, device)
        except _UNFIT:
            raise CaptureError(str(op.target), f"cannot be measured: {str(error).splitlines()[0]}") from error


def _operands(op: Op, given: Callable[[Place], torch.Tensor], integer: Optional[int]) -> Any:
    """Returns tensors like the operands; `integer`: of example_of()."""
    made: dict[Any, torch.Tensor] = {}

    def tensor_of(leaf: Any) -> torch.Tensor:
        if leaf not in made:
            made[leaf] = given(leaf) if isinstance(leaf, Place) else example_of(leaf.layout, integer)
        return made[leaf]

    return replaced(op.args, tensor_of), replaced(op.kwargs, tensor_of)


def example_of(layout: Layout, integer: Optional[int] = None) -> torch.Tensor:
    """Returns contents with typical run time: random numbers; of integers this one; None: no contents."""
    tensor = layout.empty()
    flat = tensor.as_strided((layout.bytes // tensor.element_size(),), (1,), 0)
    if integer is not None and layout.dtype.is_floating_point:
        flat.uniform_(0.1, 1.0)
    elif integer is not None:
        flat.fill_(integer)
    return tensor


def _measured(op: Op, args: Any, kwargs: Any, device: Device) -> Cost:
    before = {storage_address(t): (t, bytes_of(t).clone()) for t in tensors_in((args, kwargs)) if t.numel()}
    with torch.no_grad(), device.no_autocast():  # as in a step
        result, peak = device.allocations(lambda: op.target(*args, **kwargs))
        if any(not torch.equal(bytes_of(tensor), content) for tensor, content in before.values()):
            raise CaptureError(str(op.target), "changes an operand, though its schema does not say so")
        del before
        outputs = {i: result[i] if op.is_list else result for i in op.outputs}
        if not all(isinstance(tensor, torch.Tensor) for tensor in outputs.values()):  # PyTorch 2: mkldnn_rnn_layer, of LSTMs
            raise CaptureError(str(op.target), "has fewer results where autograd does not record, as in steps; try torch.backends.mkldnn.flags(enabled=False)")
        storages = {storage_address(tensor) for tensor in tensors_in((args, kwargs))}
        if any(storage_address(t) in storages and t.numel() for t in outputs.values()):
            raise AliasFound(op)
        layouts = {i: layout_of(tensor) for i, tensor in outputs.items()}
        del result, outputs
        seconds = [device.seconds(lambda: op.target(*args, **kwargs)) for _ in range(_ROUNDS)]
    kept = sum(layout.bytes for layout in layouts.values())
    return Cost(min(seconds), max(0, peak - kept), layouts)
