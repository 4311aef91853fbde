"""Measured costs of what a step does with gradients: updates by the optimizer, clipping, adding up."""

from __future__ import annotations

import collections
import contextlib
import copy
import functools
import sys
from typing import Any, Iterable, Iterator, Optional, Sequence

import torch

from ..errors import InputError
from .cost import UpdateCost
from .device import Device
from .tensors import signature, storage_address, storage_of, tensors_in

_ROUNDS = 2  # of which the fastest counts
_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")  # of one optimizer's step; PyTorch 1.13 has none
_HOOKS_OF_ALL_OPTIMIZERS = [getattr(sys.modules[torch.optim.Optimizer.__module__], name, {}) for name in ("_global_optimizer_pre_hooks", "_global_optimizer_post_hooks")]


def measure_updates(optimizer: Any, parameters: Sequence[torch.nn.Parameter], device: Device) -> list[Optional[UpdateCost]]:
    """Returns the cost of the optimizer's step for each parameter, measured on copies: the parameters and the optimizer's state are
    unchanged, and hooks of its step are not called. None for parameters that the optimizer does not have or that need no gradient.
    Raises InputError where it cannot be tried on copies."""
    while isinstance(getattr(optimizer, "optimizer", None), torch.optim.Optimizer):  # a wrapper (accelerate's), whose groups are the other's
        optimizer = optimizer.optimizer
    gradients = [parameter.grad for parameter in parameters]
    for parameter in parameters:  # an optimizer that has others inside would use them
        parameter.grad = None
    try:
        with _no_hooks_of_all():
            return _measured_updates(optimizer, parameters, device)
    except InputError:
        raise
    except Exception as error:  # of an optimizer of somebody's own
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError("optimizer", f"cannot be tried on copies of one parameter at a time ({why}); what it has for a parameter belongs into its state") from error
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
        key = signature(parameter)
        if key not in known:
            one, other = torch.zeros_like(parameter, requires_grad=False), torch.zeros_like(parameter, requires_grad=False)
            one.add_(other)
            known[key] = device.seconds(functools.partial(one.add_, other))
    return [known[signature(parameter)] for parameter in parameters]


def _measured_updates(optimizer: Any, parameters: Sequence[torch.nn.Parameter], device: Device) -> list[Optional[UpdateCost]]:
    group_of = {id(p): group for group in optimizer.param_groups for p in group["params"]}
    known: dict[Any, UpdateCost] = {}
    costs: list[Optional[UpdateCost]] = []
    for parameter in parameters:
        group = group_of.get(id(parameter))
        if group is None or not parameter.requires_grad:
            costs.append(None)
            continue
        options = {name: option for name, option in group.items() if name != "params"}
        key = (signature(parameter), repr(options))
        if key not in known:
            known[key] = _measured_update(optimizer, parameter, options, device)
        costs.append(known[key])
    return costs


def _measured_update(optimizer: Any, parameter: torch.nn.Parameter, options: dict[str, Any], device: Device) -> UpdateCost:
    mine, shadows = _tried_on_copies(optimizer, parameter, options, 2)
    _, both = device.allocations(mine.step)
    mine, shadows = _tried_on_copies(optimizer, parameter, options, 1)
    state = sum(storage_of(tensor).nbytes() for tensor in tensors_in(dict(mine.state.get(shadows[0], {}))))
    _, peak = device.allocations(mine.step)
    seconds = [device.seconds(mine.step) for _ in range(_ROUNDS)]
    return UpdateCost(min(seconds), peak, state, max(0, both - peak))


def _tried_on_copies(optimizer: Any, parameter: torch.nn.Parameter, options: dict[str, Any], count: int) -> tuple[Any, list[torch.Tensor]]:
    """Returns an optimizer like this one, with `count` copies of a parameter, after its first step."""
    shadows = [torch.nn.Parameter(torch.empty_like(parameter).uniform_(0.1, 1.0)) for _ in range(count)]
    for shadow in shadows:
        shadow.grad = torch.full_like(shadow, 0.1)
    mine = copy.copy(optimizer)
    others = {name: each for name, each in vars(optimizer).items() if name not in ("step", "state", "param_groups", *_HOOKS)}
    own = {name: each for name, each in others.items() if not isinstance(each, torch.optim.Optimizer)}  # one inside has no gradients now
    mine.__dict__ = {**others, **copy.deepcopy(own, {id(parameter): shadows[0]}), **{name: collections.OrderedDict() for name in _HOOKS}}
    mine.param_groups = [{**copy.deepcopy(options), "params": shadows}]
    state = dict(optimizer.state.get(parameter, {}))
    mine.state = collections.defaultdict(dict, {shadow: copy.deepcopy(state) for shadow in shadows})
    mine.step()
    return mine, list(shadows)


def other_state_bytes(optimizer: Any, updated: Iterable[torch.nn.Parameter]) -> int:
    """Returns the bytes of what an optimizer holds besides the state of the parameters that are updated: that of frozen ones, and attributes."""
    known = {id(parameter) for parameter in updated}
    held = [state for parameter, state in optimizer.state.items() if id(parameter) not in known]
    held += [each for name, each in vars(optimizer).items() if name not in ("state", "param_groups")]
    parameters = {storage_address(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    sizes = {storage_address(tensor): storage_of(tensor).nbytes() for tensor in tensors_in(held)}
    return sum(size for address, size in sizes.items() if address not in parameters)


def updates_at_once(group: dict[str, Any], device: Device) -> bool:
    """Whether an optimizer computes with all parameters of a group at the same time. PyTorch does so on GPUs unless it is told not to."""
    return bool(group.get("fused") or (group.get("foreach", False) if group.get("foreach", False) is not None else device.type != "cpu"))


def has_own_step(optimizer: Any) -> bool:
    """Whether more than the class's step runs with each step: hooks, or a function in its place, but for schedulers', which count."""
    step = vars(optimizer).get("step")
    counts = getattr(step, "_wrapped_by_lr_sched", False) or getattr(step, "_with_counter", False)  # PyTorch 2, 1
    return any(getattr(optimizer, name, None) for name in _HOOKS) or any(_HOOKS_OF_ALL_OPTIMIZERS) or (step is not None and not counts)


@contextlib.contextmanager
def _no_hooks_of_all() -> Iterator[None]:
    before = [dict(hooks) for hooks in _HOOKS_OF_ALL_OPTIMIZERS]
    for hooks in _HOOKS_OF_ALL_OPTIMIZERS:
        hooks.clear()
    try:
        yield
    finally:
        for hooks, had in zip(_HOOKS_OF_ALL_OPTIMIZERS, before):
            hooks.update(had)
