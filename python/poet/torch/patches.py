"""What is changed of PyTorch while code is captured, so that it does what it does in steps, and what no operator shows is refused. Functions that are
replaced are so for the thread that captures."""

from __future__ import annotations

import contextlib
import random
import sys
import threading
from typing import Any, Callable, Iterator, Sequence

import torch
import torch.utils.dlpack
from torch.fx.experimental import proxy_tensor

from .device import Device
from .errors import CaptureError
from .fake_tensors import errors_untold, fake_huber_loss
from .label_smoothing import shapes_known
from .refusals import line_of_caller


@contextlib.contextmanager
def as_in_steps(device: Device) -> Iterator[None]:
    """PyTorch runs as a step does, with what it has otherwise while code is captured put right."""
    with _kernels_whole(device), _data_stays(), _all_is_shown(), _no_validation(), fake_huber_loss(), shapes_known(device), errors_untold():
        yield


@contextlib.contextmanager
def nothing_left_in(tensors: Sequence[torch.Tensor]) -> Iterator[None]:
    """make_fx keeps what it traces in attributes of tensors, for good: a copy of the module would take that along, and fail."""
    try:
        yield
    finally:
        for tensor in tensors:
            for name in [name for name, each in vars(tensor).items() if name is proxy_tensor.proxy_slot or isinstance(each, torch.fx.Proxy)]:
                del vars(tensor)[name]


@contextlib.contextmanager
def _kernels_whole(device: Device) -> Iterator[None]:
    """Keeps operators whole that have both a decomposition and a kernel: make_fx would decompose them, while plain PyTorch runs the
    kernel, which rounds differently."""
    overload = torch._ops.OpOverload
    original = overload.decompose

    def decompose(self: Any, *args: Any, **kwargs: Any) -> Any:
        schema = self._schema
        name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        if torch._C._dispatch_has_kernel_for_dispatch_key(name, device.kernels):
            return NotImplemented
        return original(self, *args, **kwargs)

    overload.decompose = decompose
    try:
        yield
    finally:
        overload.decompose = original


@contextlib.contextmanager
def _data_stays() -> Iterator[None]:
    """Rejects assignments to a tensor's .data, which no operator shows."""
    data = torch._C._TensorBase.data
    refuse = _refused_here("assigns .data, which steps cannot follow; change the tensor in place", data.__set__)
    torch.Tensor.data = property(lambda self: data.__get__(self), refuse)
    try:
        yield
    finally:
        del torch.Tensor.data


@contextlib.contextmanager
def _no_validation() -> Iterator[None]:
    """Distributions do not look at the values of their arguments, unless they are made with validate_args=True."""
    kind = torch.distributions.Distribution
    before = kind._validate_args
    kind.set_default_validate_args(False)
    try:
        yield
    finally:
        kind.set_default_validate_args(before)


@contextlib.contextmanager
def _all_is_shown() -> Iterator[None]:
    """Refuses functions of which no operator shows what they do: those that set PyTorch's generator, and those that hand over memory."""
    sets = "sets the state of PyTorch's generator, which steps cannot follow; set it before the step"
    shares = "hands over the memory of a tensor, which steps cannot follow; numpy() does so"
    places = [(place, name, sets) for place in (torch, torch.random) for name in ("manual_seed", "seed", "set_rng_state")]
    places += [(place, "to_dlpack", shares) for place in (torch, torch.utils.dlpack)] + [(torch.Tensor, "__dlpack__", shares)]
    before = [getattr(place, name) for place, name, _ in places]
    for (place, name, why), function in zip(places, before):
        setattr(place, name, _refused_here(why, function))
    try:
        yield
    finally:
        for (place, name, _), function in zip(places, before):
            setattr(place, name, function)


def _refused_here(why: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which this thread must not call."""
    capturing = threading.get_ident()

    def called(*args: Any, **options: Any) -> Any:
        if threading.get_ident() == capturing:
            raise CaptureError(line_of_caller(), why)
        return function(*args, **options)

    return called


@contextlib.contextmanager
def no_other_draws() -> Iterator[None]:
    """Refuses code that draws numbers from another generator than PyTorch's: a captured step would have the first ones for ever."""
    numpy = sys.modules.get("numpy")
    python_state, numpy_state = random.getstate(), numpy.random.get_state(legacy=False) if numpy else None
    drawn: list[str] = []
    try:
        yield
    finally:
        if random.getstate() != python_state:
            random.setstate(python_state)
            drawn.append("random")
        if numpy and repr(numpy.random.get_state(legacy=False)) != repr(numpy_state):
            numpy.random.set_state(numpy_state)
            drawn.append("numpy.random")
    if drawn:
        rule = f"draws numbers by {' and '.join(drawn)}, which steps cannot follow"
        raise CaptureError("module", f"{rule}; draw with PyTorch, or put what is drawn into the batch (no other thread may draw meanwhile)")


@contextlib.contextmanager
def autocast_cache(enabled: bool) -> Iterator[None]:
    """A forward pass of its own: with the cache, on by default, autocast casts a parameter once, so that the gradients of its uses are added
    up before they are cast back. make_fx switches the cache off."""
    before = torch.is_autocast_cache_enabled()
    torch.clear_autocast_cache()
    torch.set_autocast_cache_enabled(enabled)
    try:
        yield
    finally:
        torch.set_autocast_cache_enabled(before)
        torch.clear_autocast_cache()
