"""Comparison of a step with PyTorch's own, bit for bit."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Sequence

import torch

from .device import Device
from .digests import content_digest
from .module_state import attributes_restored, contents_restored, parameters_of
from .patches import autocast_cache
from .returned import Returned
from .subject import Subject
from .updating import forget_gradients, update

if TYPE_CHECKING:
    from .compiling import Compiled
    from .step import Step


def differences(step: Step, batch: Any) -> list[str]:
    """Returns the names of what differs after the step and after PyTorch's own from the same state, and restores the state. Compares the
    loss, gradients, parameters, buffers, optimizer state and the generator."""
    how = step._updates
    passes = 2 if how.adds else 1  # so that gradients are added up
    with on_one_thread():
        with _put_back(step):
            for added in range(how.every - 2, how.every) if how.every > 1 else [0] * passes:  # the last ones before an update
                step._added = added
                outputs = _outputs(Returned.of(step._stepped(batch)))
            ours = {**_outcome(step), **outputs}
        with _put_back(step):
            for _ in range(passes):
                outputs = _outputs(plain(step._subject(batch)))  # which may be parameters
            if how.when != "none":
                with step._device.no_autocast():
                    update(how, step.optimizer, list(step.module.parameters()))
            theirs = {**_outcome(step), **outputs}
    if how.when == "early":  # gradients are gone
        theirs = {name: each for name, each in theirs.items() if not name.startswith("gradient of ")}
        ours = {name: each for name, each in ours.items() if not name.startswith("gradient of ")}
    return different(ours, theirs)


def planned_pass(compiled: Compiled, of: Subject) -> dict[str, Any]:
    """Returns what the forward and backward pass by the plan leaves, to be compared: loss, gradients, buffers and the generator. Nothing is
    changed; the optimizer does not run."""
    named, named_buffers, _ = parameters_of(of.module)
    parameters, buffers = list(named.values()), list(named_buffers.values())
    ours: dict[str, Any] = {f"gradient of {name}": None for name in named}

    def note(k: int, gradient: Any) -> None:
        ours[f"gradient of {list(named)[k]}"] = _content(gradient)

    with tensors_put_back(parameters, buffers, of.device):
        with torch.no_grad(), of.device.no_autocast():
            outputs, gradients, changed = compiled.forward_and_backward(parameters, buffers, of.tensors, note)
            for k, gradient in enumerate(gradients or ()):
                note(k, gradient)
            ours.update((name, _content(changed.get(i, buffer))) for i, (name, buffer) in enumerate(named_buffers.items()))
            ours.update(_outputs(dataclasses.replace(compiled.program.returned, tensors=outputs)), generator=_content(of.device.random_state()))
    return ours


def own_pass(of: Subject) -> dict[str, Any]:
    """The same of PyTorch's own pass, which takes the memory of that."""
    named, named_buffers, _ = parameters_of(of.module)
    with tensors_put_back(list(named.values()), list(named_buffers.values()), of.device), attributes_restored(of.module, {}):
        returned = plain(of)
        named, named_buffers, _ = parameters_of(of.module)
        theirs = {f"gradient of {name}": _content(parameter.grad) for name, parameter in named.items()}
        theirs.update((name, _content(buffer)) for name, buffer in named_buffers.items())
        theirs.update(_outputs(returned), generator=_content(of.device.random_state()))
    return theirs


@contextlib.contextmanager
def on_one_thread() -> Iterator[None]:
    """On several, sums may be in another order from one time to the next."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def plain(of: Subject) -> Returned:
    """PyTorch's own forward and backward pass, which adds to gradients. Returns what the code that makes the loss does."""
    with torch.enable_grad(), of.ran.recording():
        with autocast_cache(torch.is_autocast_cache_enabled()):
            returned = Returned.of(of.forward(of.module, of.batch))
            loss = of.updates.scaled(returned.tensors[returned.loss])
        loss.backward()
    return returned


def _outputs(returned: Returned) -> dict[str, Any]:
    return dict(zip(returned.names(), map(_content, returned.tensors)))


def _outcome(step: Step) -> dict[str, Any]:
    parameters, buffers, _ = parameters_of(step.module)
    outcome: dict[str, Any] = {"generator": _content(step._device.random_state())}
    for name, parameter in parameters.items():
        outcome[f"gradient of {name}"] = _content(parameter.grad)
        outcome[name] = _content(parameter)
        for key, each in _entries(step.optimizer.state.get(parameter, {})):
            outcome[f"{key} of {name}"] = _content(each)
    outcome.update((name, _content(buffer)) for name, buffer in buffers.items())
    return outcome


def _entries(state: Any) -> Iterable[tuple[Any, Any]]:
    return state.items() if isinstance(state, dict) else [("state", state)]


def _content(each: Any) -> Any:
    """What is compared of it: of tensors the shape, the type and a digest of the bits."""
    if isinstance(each, (list, tuple)):
        return (type(each), *map(_content, each))
    if isinstance(each, dict):
        return {name: _content(value) for name, value in each.items()}
    if not isinstance(each, torch.Tensor):
        return copy.deepcopy(each)
    return (tuple(each.shape), each.dtype, content_digest(each))


def different(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Returns the names of what is not the same."""
    return [name for name in {**theirs, **ours} if ours.get(name) != theirs.get(name)]


@contextlib.contextmanager
def tensors_put_back(parameters: Sequence[torch.nn.Parameter], changing: Sequence[torch.Tensor], device: Device) -> Iterator[None]:
    """Restores gradients, the contents of tensors that may be `changing`, and the generators on exit; tensors remain the same objects.
    Inside there are no gradients at first."""
    gradients = [parameter.grad for parameter in parameters]
    forget_gradients(parameters)
    try:
        with contents_restored(changing, device):
            yield
    finally:
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = gradient


@contextlib.contextmanager
def _put_back(step: Step) -> Iterator[None]:
    """Restores module, optimizer and generator on exit; tensors remain the same objects."""
    parameters, buffers, _ = parameters_of(step.module)
    state = {key: dict(each) if isinstance(each, dict) else copy.deepcopy(each) for key, each in step.optimizer.state.items()}
    state_contents = {parameter: copy.deepcopy(each) for parameter, each in state.items()}
    groups = [{name: copy.deepcopy(each) for name, each in group.items() if name != "params"} for group in step.optimizer.param_groups]
    attributes = dict(vars(step.optimizer))
    scaler = step._updates.scaler
    scaler_before = copy.deepcopy(scaler.state_dict()) if scaler is not None else None
    added = step._added
    try:
        with tensors_put_back(list(parameters.values()), [*parameters.values(), *buffers.values()], step._device), attributes_restored(step.module, {}):
            yield
    finally:
        with torch.no_grad():
            for parameter, each in state.items():
                if not isinstance(each, dict):
                    continue
                for name, content in state_contents[parameter].items():
                    if isinstance(content, torch.Tensor):
                        each[name].copy_(content)
                    else:
                        each[name] = content
        if scaler is not None:
            scaler.load_state_dict(scaler_before)
        step._added = added
        vars(step.optimizer).update(attributes)
        step.optimizer.state.clear()
        step.optimizer.state.update(state)
        for group, options in zip(step.optimizer.param_groups, groups):
            group.update(options)
