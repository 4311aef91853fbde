"""Measured costs of a step's operators: seconds, bytes of results, and bytes of workspace.

Every operator runs by itself on operands of its own layouts, so measuring takes the memory of the largest operator, not of a
step. Operators that are alike are measured once.
"""

from __future__ import annotations

import collections
import copy
import functools
from typing import Any, Callable, Optional, Sequence

import torch

from .cost import Cost, UpdateCost
from .costs_file import CostsFile
from .device import Device
from .errors import CaptureError
from .functional import name_of
from .program import Layout, Op, Place, Program, replaced


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


# Their results have shapes that follow from the contents of operands.
_SHAPED_BY_CONTENTS = {"aten::_pack_padded_sequence", "aten::_ctc_loss"}
# What operators raise for contents that they cannot have.
_UNFIT = (RuntimeError, IndexError, TypeError, NotImplementedError)


def measure(
    program: Program, given: Callable[[Place], torch.Tensor], device: Device, tell: Callable[[str], None] = lambda phase: None, rounds: int = 3
) -> list[Cost]:
    """Returns the cost of each operator on the device and sets the layouts of all values. `given`: tensors that exist before the step. `tell`
    gets to know how far it is."""
    known: dict[Any, Cost] = {}
    costs = []
    kept = CostsFile(device)
    for op in program.ops:
        args, kwargs = _operands(op, given, None)
        contents = [tensor.tolist() for tensor in _tensors((args, kwargs)) if not tensor.is_floating_point()] if name_of(op.target) in _SHAPED_BY_CONTENTS else []
        key = (repr(op.target), _signature(args), _signature(kwargs), tuple(op.outputs), repr(contents))
        if key not in known:
            cost = kept.find(op, key)
            if cost is None:
                tell(f"measuring operator {op.number + 1} of {len(program.ops)}")
                cost = _measured_with_integers(op, given, device, rounds)
                kept.keep(op, key, cost)
            known[key] = cost
        cost = known[key]
        for index, value in op.outputs.items():
            value.layout = cost.outputs[index]
            if value.captured is not None and not _lies_as(value.layout, value.captured):
                raise LayoutDiffers(op)
        costs.append(cost)
    kept.close()
    return costs


def _lies_as(layout: Layout, strides: tuple[int, ...]) -> bool:
    return 0 in layout.size or all(size == 1 or mine == other for size, mine, other in zip(layout.size, layout.stride, strides))


def _measured_with_integers(op: Op, given: Callable[[Place], torch.Tensor], device: Device, rounds: int) -> Cost:
    """Measures with integers of 0, which may be indices, or else of 1, which may be pivots."""
    args, kwargs = _operands(op, given, 0)
    try:
        return _measured(op, args, kwargs, device, rounds)
    except _UNFIT as error:
        args, kwargs = _operands(op, given, 1)
        try:
            return _measured(op, args, kwargs, device, rounds)
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


def _signature(tree: Any) -> Any:
    if isinstance(tree, torch.Tensor):
        return tuple(tree.shape), tree.stride(), tree.dtype, tree.device.type, tree.requires_grad
    if isinstance(tree, (tuple, list)):
        return tuple(_signature(each) for each in tree)
    if isinstance(tree, dict):
        return tuple((name, _signature(each)) for name, each in tree.items())
    return type(tree), repr(tree)


def _measured(op: Op, args: Any, kwargs: Any, device: Device, rounds: int) -> Cost:
    before = {storage_address(t): (t, bytes_of(t).clone()) for t in _tensors((args, kwargs)) if t.numel()}
    with torch.no_grad(), device.no_autocast():  # as in a step
        result, peak = device.allocations(lambda: op.target(*args, **kwargs))
        if any(not torch.equal(bytes_of(tensor), content) for tensor, content in before.values()):
            raise CaptureError(str(op.target), "changes an operand, though its schema does not say so")
        del before
        outputs = {i: result[i] if op.is_list else result for i in op.outputs}
        if not all(isinstance(tensor, torch.Tensor) for tensor in outputs.values()):  # PyTorch 2: mkldnn_rnn_layer, of LSTMs
            raise CaptureError(str(op.target), "has fewer results where autograd does not record, as in steps; try torch.backends.mkldnn.flags(enabled=False)")
        storages = {storage_address(tensor) for tensor in _tensors((args, kwargs))}
        if any(storage_address(t) in storages and t.numel() for t in outputs.values()):
            raise AliasFound(op)
        layouts = {i: layout_of(tensor) for i, tensor in outputs.items()}
        del result, outputs
        seconds = [device.seconds(lambda: op.target(*args, **kwargs)) for _ in range(rounds)]
    kept = sum(layout.bytes for layout in layouts.values())
    return Cost(min(seconds), max(0, peak - kept), layouts)


def _tensors(tree: Any) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, dict):
        return _tensors(list(tree.values()))
    if isinstance(tree, (tuple, list)):
        return [tensor for each in tree for tensor in _tensors(each)]
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


# ---- optimizers


def measure_updates(optimizer: Any, parameters: Sequence[torch.nn.Parameter], device: Device, rounds: int = 2) -> list[Optional[UpdateCost]]:
    """Returns the cost of the optimizer's step for each parameter, measured on copies: the parameters and the optimizer's state are
    unchanged. None for parameters that the optimizer does not have or that need no gradient."""
    while isinstance(getattr(optimizer, "optimizer", None), torch.optim.Optimizer):  # a wrapper (accelerate's), whose groups are the other's
        optimizer = optimizer.optimizer
    gradients = [parameter.grad for parameter in parameters]
    for parameter in parameters:  # an optimizer that has others inside would use them
        parameter.grad = None
    try:
        return _measured_updates(optimizer, parameters, device, rounds)
    finally:
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = gradient


def measure_clipping(parameters: Sequence[torch.nn.Parameter], clip_norm: Optional[float], device: Device) -> tuple[float, int]:
    """Returns seconds and bytes of workspace of clipping the gradients by their norm, all together; takes the memory of these."""
    if clip_norm is None:
        return 0.0, 0
    shadows = [torch.nn.Parameter(parameter.detach()) for parameter in parameters if parameter.requires_grad]
    for shadow in shadows:
        shadow.grad = torch.full_like(shadow, 0.1)
    _, peak = device.allocations(lambda: torch.nn.utils.clip_grad_norm_(shadows, clip_norm))
    return device.seconds(lambda: torch.nn.utils.clip_grad_norm_(shadows, clip_norm)), peak


def measure_additions(parameters: Sequence[torch.nn.Parameter], device: Device) -> list[float]:
    """Returns the seconds of adding up two gradients of each parameter."""
    known: dict[Any, float] = {}
    for parameter in parameters:
        key = _signature(parameter)
        if key not in known:
            one, other = torch.zeros_like(parameter, requires_grad=False), torch.zeros_like(parameter, requires_grad=False)
            one.add_(other)
            known[key] = device.seconds(functools.partial(one.add_, other))
    return [known[_signature(parameter)] for parameter in parameters]


def _measured_updates(optimizer: Any, parameters: Sequence[torch.nn.Parameter], device: Device, rounds: int) -> list[Optional[UpdateCost]]:
    group_of = {id(p): group for group in optimizer.param_groups for p in group["params"]}
    known: dict[Any, UpdateCost] = {}
    costs: list[Optional[UpdateCost]] = []
    for parameter in parameters:
        group = group_of.get(id(parameter))
        if group is None or not parameter.requires_grad:
            costs.append(None)
            continue
        options = {name: option for name, option in group.items() if name != "params"}
        key = (tuple(parameter.shape), parameter.stride(), parameter.dtype, repr(options))
        if key not in known:
            known[key] = _measured_update(optimizer, parameter, options, device, rounds)
        costs.append(known[key])
    return costs


def _measured_update(optimizer: Any, parameter: torch.nn.Parameter, options: dict[str, Any], device: Device, rounds: int) -> UpdateCost:
    mine, shadows = _tried_on_copies(optimizer, parameter, options, 2)
    _, both = device.allocations(mine.step)
    mine, shadows = _tried_on_copies(optimizer, parameter, options, 1)
    state = sum(storage_of(tensor).nbytes() for tensor in _tensors(dict(mine.state.get(shadows[0], {}))))
    _, peak = device.allocations(mine.step)
    seconds = [device.seconds(mine.step) for _ in range(rounds)]
    return UpdateCost(min(seconds), peak, state, max(0, both - peak))


def _tried_on_copies(optimizer: Any, parameter: torch.nn.Parameter, options: dict[str, Any], count: int) -> tuple[Any, list[torch.Tensor]]:
    """Returns an optimizer like this one, with `count` copies of a parameter, after its first step."""
    shadows = [torch.nn.Parameter(torch.empty_like(parameter).uniform_(0.1, 1.0)) for _ in range(count)]
    for shadow in shadows:
        shadow.grad = torch.full_like(shadow, 0.1)
    mine = copy.copy(optimizer)
    mine.__dict__ = {name: each for name, each in optimizer.__dict__.items() if name != "step"}  # a scheduler counts steps there
    mine.param_groups = [{**copy.deepcopy(options), "params": shadows}]
    state = dict(optimizer.state.get(parameter, {}))
    mine.state = collections.defaultdict(dict, {shadow: copy.deepcopy(state) for shadow in shadows})
    mine.step()
    return mine, list(shadows)
