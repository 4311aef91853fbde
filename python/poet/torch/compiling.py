"""Compilation of a module and a batch to a training step: capture, measurement, planning and code generation."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from typing import Any, Callable, Mapping, Optional, Sequence

import torch

from ..errors import InputError
from ..graphs import Graph
from ..plans import Plan
from ..results import Result
from ..solve import solve
from . import checking
from .capture import capture
from .code import Code, code_of
from .copies import Copies, copies_of
from .cost import Cost
from .device import Device
from .draws import Draws
from .errors import CaptureError, NeedsRealTensors
from .measure import AliasFound, LayoutDiffers, measure
from .tensors import storage_address, storage_of
from .module_state import attribute_of, parameters_of
from .optimizers import has_own_step, measure_additions, measure_clipping, measure_updates, other_state_bytes, updates_at_once
from .problem import Power, graph_of
from .program import Program
from .storage import Pages, measure_pages
from .subject import Subject


# One at a time: make_fx changes state of the whole process, and what is compared draws from its generator.
_compiling = threading.RLock()


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of compilation: `limits` are arguments of solve(), `pages` makes room for bytes of pages (None: nothing is paged), `check` whether the
    first pass is compared with PyTorch's own."""

    limits: dict[str, Any]
    pages: Optional[Callable[[int], Pages]]
    power: Power
    check: bool

    def essentials(self) -> Any:
        """What of it plans depend on."""
        return repr((self.limits["ram_budget"], self.limits["deadline"], self.power, self.pages is None))

    def tell(self) -> Callable[[str], None]:
        """Returns what tells the user, about five times in a second, how far compilation is before there is a search."""
        progress, begin, last = self.limits["progress"], time.monotonic(), float("-inf")

        def told(phase: str) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= 0.2:
                last = now
                progress(phase, None, None, now - begin)

        return told


@dataclasses.dataclass(frozen=True)
class Compiled:
    """The step for batches of one shape: its program, the result of solve(), and the plan's code."""

    program: Program
    result: Result
    code: Code
    run: Callable[..., Any]
    pages: Optional[Pages]
    copies: Copies
    device: Device
    unchecked: Optional[str] = None  # why it was not compared with PyTorch's own

    @property
    def plan(self) -> Plan:
        assert self.result.plan is not None
        return self.result.plan

    def forward_and_backward(
        self, parameters: Sequence[torch.Tensor], buffers: Sequence[torch.Tensor], batch: Sequence[torch.Tensor], update: Callable[[int, Any], None]
    ) -> tuple[list[torch.Tensor], Optional[list[Any]], dict[int, torch.Tensor]]:
        """Returns the outputs, the gradients (None if they are used one by one: then each goes to update(number, gradient)), and new contents
        of buffers by their numbers. Nothing is changed but the generator and what `update` changes."""
        draws = Draws(self.device)
        outputs, gradients, changed = self.run(parameters, buffers, batch, self.program.constants, self.pages, draws.keep, draws.again, update)
        for i, size in enumerate(self.copies.outputs):
            if size:
                outputs[i] = outputs[i].clone()
        return outputs, gradients, changed


def compiled_step(of: Subject, how: Settings, known: Optional[Compiled] = None) -> Compiled:
    """Captures, measures and plans the step, unless it is `known`, and checks it. Raises InputError if that fails."""
    with _compiling:
        compiled, real = _compiled(of, how, False) if known is None else (known, False)
        unchecked = checking.lacking_memory(compiled, of) if how.check else "check=False"
        if unchecked:
            if known is None or how.check:  # what the code runs is recorded where it is compared, else here; check=False trusts files
                with of.ran.recording(), contextlib.suppress(CaptureError, NeedsRealTensors):
                    capture(of, real)
            return dataclasses.replace(compiled, unchecked=unchecked)
        different = checking.differences(compiled, of)
        if different and known is not None:
            return compiled_step(of, how)
        if different and not real:  # the code may have seen that tensors were fake
            with contextlib.suppress(CaptureError):
                compiled, real = _compiled(of, how, True)
                different = checking.differences(compiled, of)
        if different:
            checking.refuse(different, of, real, compiled.program.is_checkpointed)
        return compiled


def _compiled(of: Subject, how: Settings, real: bool) -> tuple[Compiled, bool]:
    """Captures, measures and plans the step. `real`: on real tensors; returned is whether it was on these."""
    named, named_buffers, _ = parameters_of(of.module)
    parameters, buffers = list(named.values()), list(named_buffers.values())
    random = of.device.random_state()
    try:
        program, costs, real = _captured_and_measured(of, parameters, buffers, real, how.tell())
        updates = measure_updates(of.optimizer, parameters, of.device)
        clipping = measure_clipping(parameters, of.updates.clip_norm, of.device)
        additions = measure_additions(parameters, of.device) if of.updates.adds else []
    finally:
        of.device.set_random_state(random)
    for parameter, update, name in zip(parameters, updates, named):
        if update is None and parameter.requires_grad and of.updates.when == "early":
            raise InputError("optimizer", f"does not have {name}, which requires a gradient")
    if of.updates.when == "early" and has_own_step(of.optimizer):
        raise InputError("updates", "\"early\" takes the optimizer's step once for each parameter: hooks of it, or a function in its place, would run as often")
    given = {"parameter": parameters, "buffer": buffers, "batch": of.tensors, "constant": program.constants}
    resident = _resident_bytes({"buffers": buffers, "the batch": of.tensors, "constants": program.constants})
    if of.updates.adds:
        resident["gradients"] = sum(p.numel() * p.element_size() for p, gradient in zip(parameters, program.gradients) if gradient is not None)
    copies = copies_of(program, parameters, lambda place: given[place.kind][place.index])
    resident["copies among the outputs"] = sum(copies.outputs)
    resident["attributes that the step sets anew"] = sum(storage_of(attribute_of(of.module, name)).nbytes() for name in program.left)
    resident["optimizer state"] = sum(update.state_bytes for update in updates if update is not None)
    resident["optimizer state"] += other_state_bytes(of.optimizer, [p for p, update in zip(parameters, updates) if update is not None])
    # Saved once for the step and once for each random operator; while one of these is computed again, also what it then is.
    draws = sum(op.is_random for op in program.ops)
    resident["generator state"] = sum(state.numel() for state in random) * (1 + draws + (draws > 0))
    resident["workspaces of libraries"] = of.device.held_by_libraries()
    resident["an allowance for Python's scalars"] = 4096  # which become tensors of one element
    rates = None
    if how.pages is not None:
        rates = measure_pages(how.pages, of.device, max((v.bytes for op in program.ops for v in op.outputs.values()), default=1))
    graph = graph_of(
        program,
        costs,
        updates,
        clipping,
        additions,
        copies.gradients,
        [storage_of(p).nbytes() for p in parameters],
        resident,
        rates,
        how.power,
        of.updates,
        any(updates_at_once(group, of.device) for group in of.optimizer.param_groups),
        of.device.block,
        type(of.module).__name__,
    )
    result = _solved(graph, how.limits)
    assert result.plan is not None
    code = code_of(program, result.plan, of.updates.one_by_one)
    return Compiled(program, result, code, code.function(), pages_for(how, code), copies, of.device), real


def pages_for(how: Settings, code: Code) -> Optional[Pages]:
    """Returns the room for the pages of a plan, if it has any."""
    return how.pages(code.file_bytes) if how.pages is not None and code.file_bytes else None


def _resident_bytes(groups: Mapping[str, Sequence[torch.Tensor]]) -> dict[str, int]:
    """Returns the bytes of each group's storages; shared ones count in the first group that has them."""
    seen: set[int] = set()
    sizes = dict.fromkeys(groups, 0)
    for name, group in groups.items():
        for tensor in group:
            if storage_address(tensor) not in seen:
                seen.add(storage_address(tensor))
                sizes[name] += storage_of(tensor).nbytes()
    return sizes


def check_tensors(module: torch.nn.Module, tensors: Sequence[torch.Tensor], device: Device) -> None:
    """Raises InputError if a batch or a module has unsupported tensors."""
    if not tensors:
        raise InputError("batch", "has no tensors")
    for parameter in module.parameters():
        if isinstance(parameter, torch.nn.parameter.UninitializedTensorMixin):
            raise InputError("module", "has parameters without a shape; run it once before it is compiled")
    for argument, each in [("batch", t) for t in tensors] + [("module", t) for t in (*module.parameters(), *module.buffers())]:
        if str(each.device) != device.where and (each.dim() > 0 or argument == "module"):
            raise InputError(argument, f"has a tensor on {each.device}: all must be on {device.where}, where the module's first one is")
        if each.layout != torch.strided:
            raise InputError(argument, f"has a tensor of layout {each.layout}, which cannot be paged")
        if each.is_conj():
            raise InputError(argument, "has a tensor that is conjugated where it is read; resolve_conj() makes one that is not")
    if any(tensor.requires_grad for tensor in tensors):
        raise InputError("batch", "has a tensor that requires a gradient; only parameters get one")
    for name, parameter in module.named_parameters():
        if has_hooks(parameter):
            raise InputError("module", f"has a hook on the gradient of {name}, which would not be called")


def has_hooks(tensor: torch.Tensor) -> bool:
    """Whether something is called with the tensor's gradient. PyTorch 1 has one kind of hooks."""
    return bool(tensor._backward_hooks) or bool(getattr(tensor, "_post_accumulate_grad_hooks", None))


def _captured_and_measured(of: Subject, parameters: Any, buffers: Any, real: bool, tell: Any) -> tuple[Program, list[Cost], bool]:
    """Returns the program with its layouts and costs, and whether it was captured on real tensors: if `real`, and where fake ones do not
    suffice."""
    views: frozenset[str] = frozenset()
    while True:
        try:
            tell("capturing on real tensors" if real else "capturing")
            program = capture(of, real, views)
            _refuse_shared(program, parameters, buffers, of)
            given = {"parameter": parameters, "buffer": buffers, "batch": of.tensors, "constant": program.constants}
            return program, measure(program, lambda place: given[place.kind][place.index], of.device, tell), real
        except AliasFound as found:
            if found.op.name in views:
                raise CaptureError(str(found.op.target), "returns its operand in a way that is not understood") from None
            views |= {found.op.name}
        except (NeedsRealTensors, LayoutDiffers) as error:
            if real and isinstance(error, LayoutDiffers):
                raise CaptureError(str(error.op.target), "returns tensors that lie in memory in different ways") from None
            if real:
                rule = f"has what is no tensor ({error}), as of torch.cond or a generator of its own, which steps cannot follow"
                raise CaptureError("module", f"{rule}; draw from PyTorch's default generator") from None
            real = True


def _refuse_shared(program: Program, parameters: Sequence[Any], buffers: Sequence[Any], of: Subject) -> None:
    """Raises InputError if a tensor that the step changes shares its storage with one that it may read later."""
    changed = [buffers[i] for i in program.buffers] + (list(parameters) if of.updates.when == "early" else [])
    for tensor in changed:
        others = [other for other in (*parameters, *buffers, *program.constants) if other is not tensor]
        for other in (*others, *of.tensors):
            if tensor.numel() and storage_address(other) == storage_address(tensor):
                raise InputError("module", f"a step cannot change tensors that share their storage: one of {tuple(tensor.shape)}, one of {tuple(other.shape)}")


def _solved(graph: Graph, limits: Mapping[str, Any]) -> Result:
    """Solves within the limits of compile_step(). Raises InputError with a suggestion if there is no plan."""
    result: Result = solve(graph=graph, addresses=False, **limits)
    if result.plan is None:
        known = [] if result.least_ram is None else [f"ram_budget={result.least_ram}"]
        if result.least_deadline is not None:
            known.append(f"deadline={result.least_deadline:.6g}")
        suggestion = f"; a plan is known with {', or with '.join(known)}" if known else ""
        is_late = result.least_ram is None and result.least_deadline is not None and limits["deadline"] is not None
        raise InputError("deadline" if is_late else "ram_budget", result.reason + suggestion)
    return result
