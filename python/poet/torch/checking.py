"""The check of a compiled step: its first forward and backward pass beside PyTorch's own.

Code may compute something else while it is captured (transformers looks for fake tensors, and then makes masks which it leaves out otherwise), which
only a comparison with the code itself shows.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .capture import capture
from .errors import CaptureError
from .functional import IDENTITIES, name_of
from .tensors import storage_of
from .module_state import attributes_restored, parameters_of
from .program import leaves
from .refusals import line_of_caller
from .subject import Subject
from .verifying import different, on_one_thread, own_pass, plain, planned_pass, tensors_put_back

if TYPE_CHECKING:
    from .compiling import Compiled


def differences(compiled: Compiled, of: Subject) -> list[str]:
    """Returns the names of what the plan's forward and backward pass computes otherwise than PyTorch's, on one thread if need be. Nothing
    is changed. Raises CaptureError where PyTorch's own differs from itself."""
    try:
        found = different(planned_pass(compiled, of), own_pass(of))
    except AssertionError as error:
        if "FakeTensor" not in str(error):
            raise
        raise CaptureError("module", "keeps a tensor of one step for the next, in an object where steps cannot see it; make it a buffer") from error
    if not found:
        return found
    for _ in range(3):
        with on_one_thread():  # on several, sums may be in another order from one time to the next
            found = different(planned_pass(compiled, of), own_pass(of))
            if not found or not different(own_pass(of), own_pass(of)):
                return found
    why = "its code changes what it reads, or another thread draws random numbers" + of.device.in_other_order
    raise CaptureError("module", f"does something else each time: {why}; check=False trains so")


def lacking_memory(compiled: Compiled, of: Subject) -> Optional[str]:
    """Returns why there is no room for PyTorch's own pass and what is compared with, or None."""
    more = sum(storage_of(tensor).nbytes() for tensor in (*of.module.parameters(), *of.module.buffers()))  # gradients, and buffers as they were
    needed = int(compiled.result.figures["keep_all_peak_ram_bytes"]) + more
    available = of.device.available_memory()
    return f"PyTorch's own step may take {needed} bytes, and {available} are available" if needed > available else None


def refuse(names: Sequence[str], of: Subject, real: bool, is_checkpointed: bool) -> None:
    """Raises CaptureError naming the line where the captured code and PyTorch's part, so that what has these names differs."""
    what = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    own, captured = Calls(), Calls()
    with tensors_put_back(list(of.module.parameters()), [*parameters_of(of.module)[1].values()], of.device), attributes_restored(of.module, {}):
        own.during(plain, of)
    capture(dataclasses.replace(of, forward=lambda module, batch: captured.during(of.forward, module, batch)), real)
    for mine, theirs in zip(captured.calls, own.calls):
        if mine != theirs:
            instead = theirs.text if mine.name != theirs.name else f"with {theirs.numbers}"
            raise CaptureError(
                mine.line, f"computes {mine.text} while it is captured, but {instead} otherwise, so that {what} would not be PyTorch's; check=False trains so"
            )
    if is_checkpointed:
        raise CaptureError("module", f"{what} would differ from PyTorch's, as torch.utils.checkpoint runs its part twice; leave it out, the plan saves that memory")
    raise CaptureError("module", f"{what} would differ from PyTorch's in bits, by the gradients of the same operators; check=False trains so")


@dataclasses.dataclass
class Call:
    """An operator, the numbers among its operands, and the line of code outside of PyTorch that runs it."""

    name: str
    numbers: tuple[Any, ...]
    line: str = dataclasses.field(compare=False)

    @property
    def text(self) -> str:
        return f"{self.name} with {self.numbers}" if self.numbers else self.name


class Calls(TorchDispatchMode):  # type: ignore[misc]
    """Records the operators that run, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if name_of(function) not in IDENTITIES:
            numbers = tuple(each for each in leaves((args, kwargs)) if isinstance(each, (bool, int, float)))
            self.calls.append(Call(name_of(function), numbers, line_of_caller()))
        return function(*args, **(kwargs or {}))

    def during(self, function: Callable[..., Any], *args: Any) -> Any:
        self.calls.clear()
        with self:
            return function(*args)
