"""What cannot be captured: errors with the line of code or the operator."""

from __future__ import annotations

import contextlib
import linecache
import traceback
from typing import Any, Iterator

import torch

from .errors import CaptureError, NeedsRealTensors, Unfit
from .foreign import is_foreign
from .functional import dtype_of, name_of
from .program import Program

# Their formulas ask whether tensors are of a class of their own, and take another way if so.
_GRADIENT_DIFFERS = {"aten::cumprod", "aten::prod"}

GOES_ON = (
    "is changed by the step and goes into the next; make it a buffer and change it in place, or collect what the step returns; "
    "what code sets up in its first run is there after one without poet"
)


@contextlib.contextmanager
def refusals(real: bool) -> Iterator[None]:
    try:
        yield
    except (CaptureError, NeedsRealTensors):
        raise
    except Exception as error:
        if not real:  # it may ask for values, or have tensors that are not fake
            raise NeedsRealTensors(str(error)) from error
        if "_opaque_obj" in str(error) or any(says in str(error) for says in ("non-Fake Tensor inputs", "allow_non_fake_inputs")):  # PyTorch 1, 2
            raise NeedsRealTensors(str(error)) from error
        where = _line_of_user(error)
        if isinstance(error, Unfit):
            raise CaptureError(where, str(error)) from None
        text = str(error).strip().splitlines()
        first = text[0] if text else type(error).__name__
        if _is_data_dependent(error):
            raise CaptureError(where, "uses the value of a tensor, so what the step computes is not known before it runs") from error
        raise CaptureError(where, f"cannot be captured: {first[:300]}") from error


def _is_data_dependent(error: BaseException) -> bool:
    kind, text = type(error).__name__, str(error)
    return (
        kind in ("DataDependentOutputException", "DynamicOutputShapeException", "GuardOnDataDependentSymNode")
        or "data-dependent" in text
        or "_local_scalar_dense" in text
        or "trying to get a value out of symbolic" in text
    )


def line_of_caller() -> str:
    """Returns the innermost line outside of PyTorch, Python and poet that is at work, as file:line: source."""
    for frame in reversed(traceback.extract_stack()):
        if not is_foreign(frame.filename):
            return f"{frame.filename}:{frame.lineno}: {linecache.getline(frame.filename, frame.lineno or 0).strip()}"
    return "module"


def _line_of_user(error: BaseException) -> str:
    """Returns the innermost line outside of PyTorch, Python and poet in an error's traceback, as file:line: source."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if is_foreign(frame.filename) or frame.filename.startswith("<") or "/functorch/" in frame.filename:
            continue
        return f"{frame.filename}:{frame.lineno}: {linecache.getline(frame.filename, frame.lineno or 0).strip()}"
    return "module"


def refuse_data_dependence(traced: torch.fx.GraphModule, real: bool) -> None:
    for node in traced.graph.nodes:
        tags = getattr(node.target, "tags", ())
        tag = torch.Tag
        if name_of(node.target) == "aten::index" and not any(_is_mask(index) for index in node.args[1]):
            continue  # by numbers: the shape is known
        if name_of(node.target) == "aten::_ctc_loss":
            continue  # its lengths are guards
        if "_sparse_" in name_of(node.target):
            raise CaptureError(name_of(node.target), "makes a sparse gradient, which steps cannot hold; sparse=False makes a dense one")
        if tag.data_dependent_output in tags and not real:
            raise NeedsRealTensors(name_of(node.target))
        if tag.data_dependent_output in tags or tag.dynamic_output_shape in tags:
            raise CaptureError(name_of(node.target), "depends on the values of a tensor: what the step computes is not known before it runs")
        if name_of(node.target) in _GRADIENT_DIFFERS or _is_spread(node):
            raise CaptureError(name_of(node.target), "has a gradient that PyTorch computes in another way while a step is captured: bits would differ")


def _is_spread(node: torch.fx.Node) -> bool:
    """Whether it is max(), min() or median() of a whole tensor with a gradient, which is spread over the elements that equal it."""
    if str(node.target) not in ("aten.max.default", "aten.min.default", "aten.median.default"):
        return False
    return {"aten::isnan", "aten::eq"} <= {name_of(user.target) for user in node.args[0].users}


def _is_mask(index: Any) -> bool:
    return index is not None and dtype_of(index) in (torch.bool, torch.uint8)


def refuse_state(replaced: dict[str, Any], program: Program) -> None:
    """Raises CaptureError for replaced attributes that the next step may read; others are results."""
    read = {constant.data_ptr() for constant in program.constants}
    for name, before in replaced.items():
        if before is not None and not (isinstance(before, torch.Tensor) and before.data_ptr() not in read):
            raise CaptureError(name, GOES_ON)
