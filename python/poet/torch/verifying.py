"""Comparison of a step with PyTorch's own, bit for bit."""

from __future__ import annotations

import contextlib
import copy
from typing import TYPE_CHECKING, Any, Iterable, Iterator

import torch

from .capture import autocast_cache
from .module_state import attributes_restored, parameters_of

if TYPE_CHECKING:
    from .step import Step


def differences(step: Step, batch: Any) -> list[str]:
    """Returns the names of what differs after the step and after PyTorch's own from the same state, and restores the state. Compares the
    loss, gradients, parameters, buffers, optimizer state and the generator."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with _put_back(step):
            ours = _outcome(step, step._stepped(batch, keep_gradients=True))
        with _put_back(step):
            theirs = _outcome(step, _plain(step, batch))
    finally:
        torch.set_num_threads(threads)
    if step._how.early:  # gradients are gone
        ours = {name: each for name, each in ours.items() if not name.startswith("gradient of ")}
        theirs = {name: theirs[name] for name in theirs if not name.startswith("gradient of ")}
    return [name for name in {**theirs, **ours} if not _same(ours.get(name), theirs.get(name))]


def _plain(step: Step, batch: Any) -> torch.Tensor:
    for parameter in step.module.parameters():
        parameter.grad = None
    with torch.enable_grad():
        with autocast_cache(torch.is_autocast_cache_enabled()):
            loss = step._forward(step.module, batch)
        loss.backward()
    with torch.autocast("cpu", enabled=False):
        step.optimizer.step()
    return loss.detach()


def _outcome(step: Step, loss: torch.Tensor) -> dict[str, Any]:
    parameters, buffers, _ = parameters_of(step.module)
    outcome: dict[str, Any] = {"loss": loss, "generator": torch.get_rng_state()}
    for name, parameter in parameters.items():
        outcome[f"gradient of {name}"] = parameter.grad
        outcome[name] = parameter.detach().clone()
        for key, each in _entries(step.optimizer.state.get(parameter, {})):
            outcome[f"{key} of {name}"] = copy.deepcopy(each)
    outcome.update((name, buffer.clone()) for name, buffer in buffers.items())
    return outcome


def _entries(state: Any) -> Iterable[tuple[Any, Any]]:
    return state.items() if isinstance(state, dict) else [("state", state)]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(each, other[name]) for name, each in one.items())
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return bool(one is other or one == other)
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return False
    mine, others = (each.contiguous().reshape(-1).view(torch.uint8) for each in (one, other))  # 0.0 is not -0.0
    return bool(torch.equal(mine, others))


@contextlib.contextmanager
def _put_back(step: Step) -> Iterator[None]:
    """Restores module, optimizer and generator on exit; tensors remain the same objects."""
    parameters, buffers, _ = parameters_of(step.module)
    tensors = [*parameters.values(), *buffers.values()]
    contents = [tensor.detach().clone() for tensor in tensors]
    gradients = [parameter.grad for parameter in parameters.values()]
    state = {key: dict(each) if isinstance(each, dict) else copy.deepcopy(each) for key, each in step.optimizer.state.items()}
    state_contents = {parameter: copy.deepcopy(each) for parameter, each in state.items()}
    groups = [{name: copy.deepcopy(each) for name, each in group.items() if name != "params"} for group in step.optimizer.param_groups]
    attributes = dict(vars(step.optimizer))
    random = torch.get_rng_state()
    try:
        with attributes_restored(step.module, {}):
            yield
    finally:
        torch.set_rng_state(random)
        with torch.no_grad():
            for tensor, content in zip(tensors, contents):
                tensor.copy_(content)
            for parameter, each in state.items():
                if not isinstance(each, dict):
                    continue
                for name, content in state_contents[parameter].items():
                    if isinstance(content, torch.Tensor):
                        each[name].copy_(content)
                    else:
                        each[name] = content
        for parameter, gradient in zip(parameters.values(), gradients):
            parameter.grad = gradient
        vars(step.optimizer).update(attributes)
        step.optimizer.state.clear()
        step.optimizer.state.update(state)
        for group, options in zip(step.optimizer.param_groups, groups):
            group.update(options)
