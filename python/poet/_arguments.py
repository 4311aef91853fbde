"""Arguments: their names, and their conversion for the module _core."""

from __future__ import annotations

import difflib
import functools
import inspect
import operator
import os
from typing import Any, Callable, Collection, Mapping, Optional, Sequence, TypeVar, cast

from .errors import InputError

F = TypeVar("F", bound=Callable[..., Any])


def onnx_import(file: Optional[str], options: Mapping[str, Any]) -> Optional[dict[str, Any]]:
    """An ONNX file with those of `options` by which it is imported, to import it again; None without a file."""
    if file is None:
        return None
    names = ("batch_size", "input_shapes", "input_values", "loss", "huber_delta", "loss_output", "allow_opaque")
    return {"onnx": os.path.abspath(file), **{name: options[name] for name in names if options.get(name) is not None}}


# The names in PyTorch and other libraries.
_MEANT = {"lr": "learning_rate", "epsilon": "eps", "betas": "beta1", "scheduler": "lr_schedule", "epochs": "steps", "num_steps": "steps",
          "callback": "on_step", "network": "model", "memory": "ram_budget"}
_SAID = {"betas": "beta1 and beta2", "epochs": "steps, the number of batches"}
# Arguments of solve() that a plan holds.
_OF_THE_PLAN = ("model", "device", "ram_budget", "runtime_budget", "deadline", "batch_size", "optimizer", "accumulate", "clip_norm",
                "label_smoothing", "precision", "trainable", "sequence_length", "loss", "huber_delta", "split")
# Two words for one thing, poet's and the published reference's (and the program's): what has one as an argument takes the other, too.
_SAME = {"platform": "device", "device": "platform"}


def named(function: Callable[..., Any]) -> list[str]:
    """The arguments that the function takes by name."""
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) and each.name != "self"]


def hint(name: str, known: Sequence[str]) -> str:
    """What may have been meant by the unknown argument `name`, to be put behind a message; empty if nothing is near."""
    longer = [other for other in known if other.startswith(name + "_")]
    close = longer or difflib.get_close_matches(name, known, 1) or [other for other in known if name in other.split("_")]
    if _MEANT.get(name) in known:
        return f"; did you mean {_SAID.get(name, _MEANT[name])}?"
    return f"; did you mean {close[0]}?" if close else ""


def no_argument(called: str, name: str, known: Sequence[str]) -> TypeError:
    """The error for a keyword argument that the function `called` does not have, with what may have been meant."""
    of_the_plan = name in _OF_THE_PLAN and "plan" in known
    said = ": the plan holds it, so it is an argument of solve()" if of_the_plan else hint(name, known)
    return TypeError(f"{called}(): {name} is no argument of it{said}")


def by_known_names(called: str, options: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """The options with those called by the other of two words (_SAME) under the one that is `known`. Raises TypeError for both words."""
    renamed = {}
    for name, value in options.items():
        other = _SAME.get(name, name)
        if name in known or other not in known:
            renamed[name] = value
        elif other in options:
            raise TypeError(f"{called}(): {name} is another word for {other}: leave one of them out")
        else:
            renamed[other] = value
    return renamed


def names_mistakes(what: F) -> F:
    """Lets a keyword argument that a function does not have raise TypeError naming the function and what may have been meant, and lets
    it take `platform` for `device`. Of a class: all of its public functions. Their signatures stay as they are."""
    is_class = isinstance(what, type)
    if not is_class:
        return _checked(what)
    for name, member in list(vars(what).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if inspect.isfunction(member):
            setattr(what, name, _checked(member))
        elif isinstance(member, staticmethod):
            setattr(what, name, staticmethod(_checked(member.__func__)))
    return what


def _checked(function: F) -> F:
    known = named(function)
    taken = frozenset(known)
    called = function.__qualname__.removesuffix(".__init__")
    if not known:
        return function

    @functools.wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        if not options.keys() <= taken:
            options = by_known_names(called, options, taken)
            for name in options:
                if name not in taken:
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
