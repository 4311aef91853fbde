"""compile_step(): its arguments and their checks."""

from __future__ import annotations

import os
from typing import Any, Callable, Optional, Sequence, Union

import torch

from .._arguments import names_mistakes
from ..errors import InputError
from ..solve import with_plan
from .compiling import Settings
from .device import device_of
from .errors import CaptureError
from .tensors import storage_address
from .problem import Power
from .saved import read
from .step import Step
from .storage import pages_of
from .updating import Updates

Amount = Union[int, str]
Path = Union[str, "os.PathLike[str]"]
Loss = Callable[[Any, Any], torch.Tensor]


@names_mistakes
def compile_step(
    module: torch.nn.Module,
    loss_fn: Optional[Loss],
    optimizer: torch.optim.Optimizer,
    example_batch: Any,
    *,
    ram_budget: Amount,
    deadline: Union[float, str, None] = None,
    storage: Union[Path, bool, None] = True,
    device: Union[str, torch.device, None] = None,
    forward: Optional[Callable[[torch.nn.Module, Any], Any]] = None,
    updates: str = "last",
    accumulate: int = 1,
    clip_norm: Optional[float] = None,
    scaler: Any = None,
    keep_gradients: bool = False,
    power: Power = Power(),
    check: bool = True,
    shapes: Sequence[Any] = (),
    saved: Optional[Path] = None,
    time_limit: float = 60,
    tolerance: float = 0.02,
    progress: Optional[Callable[..., Any]] = None,
) -> Step:
    """Compiles a module's training step to fit a RAM budget, with results equal to plain PyTorch's in every bit.

        step = poet.torch.compile_step(model, torch.nn.functional.cross_entropy, optimizer, (images, labels), ram_budget="60%")
        for batch in batches:
            loss = step(batch)

    The step is captured as a graph of PyTorch's own operators, each is timed on this machine, solve() decides what is kept, computed
    again or paged to storage, and every call carries that plan out. Parameters, buffers and the optimizer's state are the module's and
    the optimizer's own, changed in place.

    module: in the mode (train or eval) in which it is to be trained; control flow may depend on the batch's values, one step for each outcome.
    loss_fn, example_batch: the loss is loss_fn(module(*batch[:-1]), batch[-1]). Of batches that are something else `forward` (then
        loss_fn is None) makes the loss: forward(module, batch). It may return more, which the step returns, too: (loss, logits), or a
        dictionary with "loss".
    optimizer: a torch.optim optimizer whose step is per parameter (not LBFGS). Its numbers (lr) may change at any time, by schedulers.
    ram_budget: bytes ("300MiB") of everything that PyTorch holds in a step: parameters, buffers, optimizer state, batch, gradients and
        all between; "60%" of what keeping everything takes; or "least".
    deadline: seconds of a step, or "50ms".
    storage: a folder for pages; True: the one for temporary files, or with a GPU the host's memory; None or False: nothing is paged.
    device: where module and batch are, "cpu" or "cuda"; None: where the module is. The budget is of its memory. The part for GPUs has never run on
        one.
    updates: "last": the optimizer's step comes at the end, and whatever fails before leaves the module as it was. "early": each parameter
        is updated as soon as its gradient is there and then forgets it, which takes less RAM. "none": gradients are added to the parameters'
        .grad, as by backward(); the optimizer's step, for which there is room, is the caller's.
    accumulate: so many calls add up their gradients; the last one updates.
    clip_norm: before the update gradients are scaled to have at most this norm, all together (torch.nn.utils.clip_grad_norm_).
    scaler: a torch.amp.GradScaler, which scales the loss that gradients are of, and takes the optimizer's step.
    keep_gradients: parameters keep their .grad until the next step, as after loss.backward(); else they have None.
    check: each compiled step's first forward and backward pass is compared with PyTorch's own, bit for bit, if the machine has the memory for
        both (else step.unchecked says so).
    shapes: further batches, such as those of other lengths that will come: compiled now, so that no epoch waits for them.
    saved: a file of step.save(), of which steps are taken whose code, shapes, settings and machine are these: nothing is captured, measured or
        searched for. Where it has none, or is absent, the step is compiled. As with torch.load(), files of others may do harm.
    power: watts by which energy is counted; time_limit (seconds) and progress: of solve(). progress is also told what is captured and measured,
        without a plan and a bound, before solve() begins; what it returns then does not matter.
    tolerance: the search ends once no plan can have less energy than the best one by more than this part of it; operators' seconds differ by as
        much from one time to the next.

    Raises TypeError or InputError naming the argument, CaptureError with the line of code that cannot be captured, StorageError where pages find no room.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module: must be a torch.nn.Module, not {type(module).__name__}")
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"optimizer: must be a torch.optim.Optimizer, not {type(optimizer).__name__}")
    if isinstance(optimizer, torch.optim.LBFGS):
        raise InputError("optimizer", "LBFGS evaluates the loss several times in one step; any other of torch.optim serves")
    where = device_of(module, device)
    if updates not in ("last", "early", "none"):
        raise InputError("updates", f"{updates!r} is not one of last, early, none")
    how = _checked_updates(updates, accumulate, clip_norm, scaler)
    if updates == "early" and keep_gradients:
        raise InputError("keep_gradients", "with updates=\"early\" gradients are gone once they are used")
    if (loss_fn is None) == (forward is None):
        raise TypeError("loss_fn, forward: one of them says what the loss is")
    if loss_fn is not None and not callable(loss_fn):
        raise TypeError(f"loss_fn: must be a function, not {type(loss_fn).__name__}")
    if loss_fn is not None and not (isinstance(example_batch, (tuple, list)) and len(example_batch) >= 2):
        raise InputError("example_batch", "must be a tuple of what the module takes and, last, the target; else give forward=")
    _check_owned(module, optimizer)
    if updates == "early":
        _check_early(module, optimizer)
    if not isinstance(keep_gradients, bool):
        raise TypeError(f"keep_gradients: must be True or False, not {keep_gradients!r}")
    if not isinstance(check, bool):
        raise TypeError(f"check: must be True or False, not {check!r}")
    if not isinstance(power, Power):
        raise TypeError(f"power: must be a poet.torch.Power, not {type(power).__name__}")
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)):
        raise TypeError(f"tolerance: must be a number, not {type(tolerance).__name__}")
    if not 0 <= tolerance < float("inf"):
        raise InputError("tolerance", "must be at least 0")
    if progress is not None and not callable(progress):
        raise TypeError("progress: must be a function")
    if saved is not None and not isinstance(saved, (str, os.PathLike)):
        raise TypeError(f"saved: must be a path, not {type(saved).__name__}")
    if isinstance(shapes, torch.Tensor) or not isinstance(shapes, Sequence):
        raise TypeError(f"shapes: must be a list of batches, not {type(shapes).__name__}")
    if forward is not None and not callable(forward):
        raise TypeError(f"forward: must be a function, not {type(forward).__name__}")
    pages = pages_of(storage, where)
    loss = forward or loss_fn
    if forward is None:
        forward = _with_target(loss_fn)  # type: ignore[arg-type]
    limits = {"ram_budget": ram_budget, "deadline": deadline, "time_limit": time_limit, "progress": _until(tolerance, progress)}
    known = [] if saved is None else read(saved, where)
    step = Step(module, forward, optimizer, how, Settings(limits, pages, power, check), keep_gradients, loss, where, known)
    for batch in (example_batch, *shapes, example_batch):  # example_batch again: step.plan is then its plan
        step.compile(batch)
    return step


def _with_target(loss_fn: Loss) -> Callable[[torch.nn.Module, Any], torch.Tensor]:
    def forward(module: torch.nn.Module, batch: Any) -> torch.Tensor:
        if not isinstance(batch, (tuple, list)) or len(batch) < 2:
            raise CaptureError("batch", "must be a tuple of what the module takes and, last, the target, as the first batch was")
        return loss_fn(module(*batch[:-1]), batch[-1])

    return forward


def _checked_updates(updates: str, accumulate: Any, clip_norm: Any, scaler: Any) -> Updates:
    if isinstance(accumulate, bool) or not isinstance(accumulate, int):
        raise TypeError(f"accumulate: must be a number of calls, not {accumulate!r}")
    if accumulate < 1:
        raise InputError("accumulate", "must be at least 1")
    if clip_norm is not None and (isinstance(clip_norm, bool) or not isinstance(clip_norm, (int, float))):
        raise TypeError(f"clip_norm: must be a number, not {clip_norm!r}")
    if clip_norm is not None and not 0 < clip_norm < float("inf"):
        raise InputError("clip_norm", "must be positive and finite")
    if scaler is not None and not all(hasattr(scaler, name) for name in ("scale", "step", "update", "unscale_", "is_enabled")):
        raise TypeError(f"scaler: must be a torch.amp.GradScaler, not {type(scaler).__name__}")
    for name, is_given in (("accumulate", accumulate > 1), ("clip_norm", clip_norm is not None), ("scaler", scaler is not None)):
        if updates == "early" and is_given:
            raise InputError(name, "needs all gradients at the end, which with updates=\"early\" are used one by one")
    for name, is_given in (("accumulate", accumulate > 1), ("clip_norm", clip_norm is not None)):
        if updates == "none" and is_given:
            raise InputError(name, "is of the update, which with updates=\"none\" is the caller's")
    if scaler is not None:
        scaler.scale(torch.zeros(()))  # makes its tensors, which otherwise would be made while the step is captured
    return Updates(updates, accumulate, None if clip_norm is None else float(clip_norm), scaler)


def _check_owned(module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Raises InputError if the optimizer updates parameters that are not this module's."""
    owned = {id(parameter) for parameter in module.parameters()}
    for i, group in enumerate(optimizer.param_groups):
        for k, parameter in enumerate(group["params"]):
            if parameter.requires_grad and id(parameter) not in owned:
                raise InputError("optimizer", f"has a parameter that the module does not have: number {k} of group {i}, {tuple(parameter.shape)}")


def _check_early(module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Raises InputError unless parameters can be updated independently of each other."""
    if type(optimizer).__module__.split(".")[0] != "torch":
        raise InputError("updates", f"\"early\" is for optimizers of torch.optim: nobody knows whether {type(optimizer).__name__} looks at all gradients at once")
    owners: dict[int, str] = {}
    for name, parameter in module.named_parameters():
        if owners.setdefault(storage_address(parameter), name) != name and parameter.numel():
            raise InputError("updates", f"\"early\" cannot be: {name} and {owners[storage_address(parameter)]} share their storage")


def _until(tolerance: float, progress: Optional[Callable[..., Any]]) -> Callable[..., bool]:
    """Returns a progress function that ends the search at the tolerance."""

    call = None if progress is None else with_plan(progress)

    def told(
        phase: str, incumbent: Optional[float], bound: Optional[float], seconds: float, *, plan_joules: Optional[float] = None
    ) -> bool:
        if call is not None and call(phase, incumbent, bound, seconds, plan_joules) is False:
            return False
        return incumbent is None or bound is None or incumbent > bound * (1 + tolerance)

    return told
