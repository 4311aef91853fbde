"""Conversion of arguments for the module _core."""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import operator
import os
from typing import Any, Callable, Mapping, Optional, Sequence, TypeVar, Union, cast

from ._paths import Path, optional_file
from .devices import Device
from .errors import InputError

F = TypeVar("F", bound=Callable[..., Any])


def device_arguments(device: Union[Path, Device, None]) -> dict[str, Any]:
    """Returns the core's arguments for a device: a profile's name, its file, or a Device."""
    if isinstance(device, Device):
        return {"device_json": json.dumps(device.to_json())}
    return {"device": optional_file("device", device, "a name, a file or a poet.Device")}


def onnx_import(file: Optional[str], options: Mapping[str, Any]) -> Optional[dict[str, Any]]:
    """An ONNX file with those of `options` by which it is imported, to import it again; None without a file."""
    if file is None:
        return None
    names = ("batch_size", "input_shapes", "input_values", "loss", "huber_delta", "loss_output", "allow_opaque")
    return {"onnx": os.path.abspath(file), **{name: options[name] for name in names if options.get(name) is not None}}


# The names in PyTorch and other libraries.
_MEANT = {"lr": "learning_rate", "epsilon": "eps", "betas": "beta1", "scheduler": "lr_schedule", "epochs": "steps", "num_steps": "steps", "callback": "on_step"}
_SAID = {"betas": "beta1 and beta2", "epochs": "steps, the number of batches"}
# Arguments of solve() that a plan holds.
_OF_THE_PLAN = ("model", "device", "ram_budget", "runtime_budget", "deadline", "batch_size", "optimizer", "accumulate", "clip_norm",
                "label_smoothing", "precision", "trainable", "sequence_length", "loss", "huber_delta", "split")


def no_argument(called: str, name: str, known: Sequence[str]) -> TypeError:
    """The error for a keyword argument that the function `called` does not have, with what may have been meant."""
    close = difflib.get_close_matches(name, known, 1)
    if name in _OF_THE_PLAN and "plan" in known:
        hint = ": the plan holds it, so it is an argument of solve()"
    elif _MEANT.get(name) in known:
        hint = f"; did you mean {_SAID.get(name, _MEANT[name])}?"
    else:
        hint = f"; did you mean {close[0]}?" if close else ""
    return TypeError(f"{called}(): {name} is no argument of it{hint}")


def names_mistakes(function: F) -> F:
    """Lets a keyword argument that `function` does not have raise TypeError naming `function` and what may have been meant."""
    known = list(inspect.signature(function).parameters)
    called = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        for name in options:
            if name not in known:
                raise no_argument(called, name, known)
        return function(*arguments, **options)

    return cast(F, checked)


def shape_arguments(shapes: Any) -> dict[str, list[int]]:
    """Returns the core's form of `input_shapes`: sizes by input name."""
    if not isinstance(shapes, Mapping):
        raise TypeError(f"input_shapes: must be shapes by the name of the input, not {type(shapes).__name__}")
    out = {}
    for name, shape in shapes.items():
        try:
            out[str(name)] = [operator.index(size) for size in shape]
        except TypeError:
            raise InputError("input_shapes", f"of {name!r} must be whole numbers, not {shape!r}") from None
    return out
