"""compile_step(): a module's training step within a RAM budget."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import torch
import torch.utils._pytree as pytree

from ..errors import InputError
from ..graphs import Graph
from ..plans import Plan
from ..results import Result
from ..solve import solve
from .capture import NeedsRealTensors, capture, parameters_of
from .code import Code, code_of
from .errors import CaptureError, StorageError
from .measure import AliasFound, layout_of, measure, measure_updates, storage_of
from .problem import Power, graph_of
from .program import Place, Program
from .storage import PageFile, measure_storage, storage_folder

Amount = Union[int, str]
Path = Union[str, "os.PathLike[str]"]
Loss = Callable[[Any, Any], torch.Tensor]


@dataclasses.dataclass(frozen=True)
class Compiled:
    """The step for batches of one shape: its program, the answer of solve(), and the code that carries the plan out."""

    program: Program
    graph: Graph
    result: Result
    code: Code
    run: Callable[..., Any]
    pages: Optional[PageFile]
    statistics: tuple[int, ...]  # indices of the buffers that operators change

    @property
    def plan(self) -> Plan:
        assert self.result.plan is not None
        return self.result.plan


class Step:
    """A training step that takes a batch, changes the module's parameters and buffers and the optimizer's state in place, and
    returns the loss; made by compile_step()."""

    def __init__(
        self,
        module: torch.nn.Module,
        forward: Callable[[torch.nn.Module, Any], torch.Tensor],
        optimizer: torch.optim.Optimizer,
        limits: dict[str, Any],
        storage: Optional[Path],
        power: Power,
        updates: str,
        keep_gradients: bool,
    ) -> None:
        self.module = module
        self.optimizer = optimizer
        self.keep_gradients = keep_gradients
        self._forward = forward
        self._limits = limits
        self._storage = storage
        self._power = power
        self._early = updates == "early"
        self._compiled: dict[Any, Compiled] = {}
        self._latest: Optional[Compiled] = None

    # ---- what it is

    @property
    def result(self) -> Result:
        """The answer of solve() for the latest batch's shapes: plan, energy, bound, gap."""
        return self._now().result

    @property
    def plan(self) -> Plan:
        """The plan for the latest batch's shapes; plan.show() draws it."""
        return self._now().plan

    @property
    def code(self) -> str:
        """The step as the Python function that is run."""
        return self._now().code.source

    @property
    def peak_bytes(self) -> int:
        """The most that PyTorch holds during a step by the plan: parameters, buffers, optimizer state, batch, gradients and
        everything between."""
        return self.plan.peak_ram

    @property
    def keep_all_bytes(self) -> int:
        """The same, if everything were kept for the backward pass."""
        return int(self.result.figures["keep_all_peak_ram_bytes"])

    def _now(self) -> Compiled:
        assert self._latest is not None
        return self._latest

    def __repr__(self) -> str:
        above = self.result.energy / self.result.bound - 1
        return (
            f"<poet.torch.Step of {type(self.module).__name__}: {self.peak_bytes} bytes, {self.keep_all_bytes} if everything is kept; "
            f"energy within {above:.2%} of the least possible>"
        )

    # ---- running

    def __call__(self, batch: Any) -> torch.Tensor:
        """One step. A batch of other shapes than any before is compiled first.

        Raises StorageError where pages cannot be written or read; the module, the optimizer and the generator are then as they were
        (with updates="early": the message says what was updated).
        """
        tensors = [leaf for leaf in pytree.tree_flatten(batch)[0] if isinstance(leaf, torch.Tensor)]
        compiled = self._of(batch, tensors)
        parameters, buffers, _ = parameters_of(self.module)
        mine, ours = list(parameters.values()), list(buffers.values())
        for parameter in mine:
            parameter.grad = None
        updated: list[int] = []
        with torch.no_grad(), _undone(compiled.pages, updated, list(parameters)):
            statistics = {i: ours[i].clone() for i in compiled.statistics}
            draws = Draws()
            loss, gradients, changed = compiled.run(
                mine, ours, statistics, tensors, compiled.program.constants, compiled.pages, draws.keep, draws.again,
                lambda k, gradient: self._update(mine, k, gradient, updated),
            )
        with torch.no_grad():
            for i, buffer in {**statistics, **changed}.items():
                ours[i].copy_(buffer)
        del statistics, changed
        if gradients is not None:
            self._update_all(mine, gradients)
        return loss

    def _update(self, parameters: Sequence[torch.nn.Parameter], k: int, gradient: torch.Tensor, updated: list[int]) -> None:
        """The optimizer's step of one parameter: it passes by those that have no gradient."""
        updated.append(k)
        parameters[k].grad = gradient
        _only(self.optimizer, parameters[k])
        parameters[k].grad = None

    def _update_all(self, parameters: Sequence[torch.nn.Parameter], gradients: list[Optional[torch.Tensor]]) -> None:
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = gradient
        del gradients
        self.optimizer.step()
        if not self.keep_gradients:
            for parameter in parameters:
                parameter.grad = None

    # ---- compiling

    def _of(self, batch: Any, tensors: Sequence[torch.Tensor]) -> Compiled:
        key = (
            tuple((tuple(t.shape), t.stride(), t.dtype, t.device) for t in tensors),
            repr([leaf for leaf in pytree.tree_flatten(batch)[0] if not isinstance(leaf, torch.Tensor)]),
            tuple(part.training for part in self.module.modules()),
            tuple((p.requires_grad, tuple(p.shape), p.stride(), p.dtype) for p in self.module.parameters()),
        )
        if key not in self._compiled:
            self._compiled[key] = self.compile(batch)
        self._latest = self._compiled[key]
        return self._latest

    def compile(self, batch: Any) -> Compiled:
        """Captures, measures and plans the step for batches like this one. Raises InputError where that cannot be done."""
        tensors = [leaf for leaf in pytree.tree_flatten(batch)[0] if isinstance(leaf, torch.Tensor)]
        parameters, buffers, _ = parameters_of(self.module)
        mine, ours = list(parameters.values()), list(buffers.values())
        random = torch.get_rng_state()
        try:
            program, costs = _captured_and_measured(self.module, self._forward, batch, mine, ours, tensors)
            updates = measure_updates(self.optimizer, mine)
        finally:
            torch.set_rng_state(random)
        for parameter, update, name in zip(mine, updates, parameters):
            if update is None and parameter.requires_grad and self._early:
                raise InputError("optimizer", f"does not have {name}, which requires a gradient")
        statistics = tuple(sorted({op.args[i].index for op in program.ops for i in op.statistics}))
        resident = [*ours, *(ours[i] for i in program.changed_buffers()), *tensors, *program.constants]
        state = sum(update.state_bytes for update in updates if update is not None)
        # Of the generator, once for the step and once for each random operator, and numbers that only Python knows.
        state += random.numel() * (1 + sum(op.is_random for op in program.ops)) + 4096
        rates = None
        if self._storage is not None:
            rates = measure_storage(self._storage, max((v.bytes for op in program.ops for v in op.outputs.values()), default=1))
        graph = graph_of(
            program,
            costs,
            updates,
            [storage_of(p).nbytes() for p in mine],
            sum(storage_of(t).nbytes() for t in _distinct(resident)) + sum(storage_of(ours[i]).nbytes() for i in program.changed_buffers()) + state,
            rates,
            self._power,
            self._early,
            any(group.get("foreach") or group.get("fused") for group in self.optimizer.param_groups),
            type(self.module).__name__,
        )
        result = _solved(graph, self._limits)
        assert result.plan is not None
        code = code_of(program, result.plan, self._early)
        pages = PageFile(self._storage, code.file_bytes) if self._storage is not None and code.file_bytes else None
        return Compiled(program, graph, result, code, code.function(), pages, statistics)


def compile_step(
    module: torch.nn.Module,
    loss_fn: Optional[Loss],
    optimizer: torch.optim.Optimizer,
    example_batch: Any,
    *,
    ram_budget: Amount,
    deadline: Union[float, str, None] = None,
    storage: Union[Path, bool, None] = True,
    device: str = "cpu",
    forward: Optional[Callable[[torch.nn.Module, Any], torch.Tensor]] = None,
    updates: str = "last",
    keep_gradients: bool = False,
    power: Power = Power(),
    time_limit: float = 60,
    tolerance: float = 0.005,
    progress: Optional[Callable[[str, Optional[float], Optional[float], float], Any]] = None,
) -> Step:
    """A module's training step within a RAM budget, its results those of plain PyTorch in every bit.

        step = poet.torch.compile_step(model, torch.nn.functional.cross_entropy, optimizer, (images, labels), ram_budget="60%")
        for batch in batches:
            loss = step(batch)

    The step is captured as a graph of PyTorch's own operators, each is timed on this machine, solve() decides what is kept, computed
    again or paged to storage, and every call carries that plan out. Parameters, buffers and the optimizer's state are the module's and
    the optimizer's own, changed in place.

    module: in the mode (train or eval) in which it is to be trained; control flow must not depend on tensors' values.
    loss_fn, example_batch: the loss is loss_fn(module(*batch[:-1]), batch[-1]). Of batches that are something else `forward` (then
        loss_fn is None) makes the loss: forward(module, batch).
    optimizer: a torch.optim optimizer whose step is per parameter (not LBFGS).
    ram_budget: bytes ("300MiB") of everything that PyTorch holds in a step: parameters, buffers, optimizer state, batch, gradients and
        all between; "60%" of what keeping everything takes; or "least".
    deadline: seconds of a step, or "50ms".
    storage: a folder for pages; True: the one for temporary files; None or False: nothing is paged.
    updates: "last": the optimizer's step comes at the end, and whatever fails before leaves the module as it was. "early": each parameter
        is updated as soon as its gradient is there and then forgets it, which takes less RAM.
    keep_gradients: parameters keep their .grad until the next step, as after loss.backward(); else they have None.
    power: watts by which energy is counted; time_limit (seconds) and progress: of solve().
    tolerance: the search ends once no plan can have less energy than the best one by more than this part of it.

    Raises InputError naming the argument, or CaptureError with the line of code that cannot be captured.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module: must be a torch.nn.Module, not {type(module).__name__}")
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"optimizer: must be a torch.optim.Optimizer, not {type(optimizer).__name__}")
    if isinstance(optimizer, torch.optim.LBFGS):
        raise InputError("optimizer", "LBFGS evaluates the loss several times in one step; any other of torch.optim serves")
    if device != "cpu":
        raise InputError("device", f"{device!r}: only \"cpu\" is there so far")
    if updates not in ("last", "early"):
        raise InputError("updates", f"{updates!r} is none of last, early")
    if updates == "early" and keep_gradients:
        raise InputError("keep_gradients", "with updates=\"early\" gradients are gone once they are used")
    if (loss_fn is None) == (forward is None):
        raise TypeError("loss_fn, forward: one of them says what the loss is")
    if loss_fn is not None and not callable(loss_fn):
        raise TypeError(f"loss_fn: must be a function, not {type(loss_fn).__name__}")
    if loss_fn is not None and not (isinstance(example_batch, (tuple, list)) and len(example_batch) >= 2):
        raise InputError("example_batch", "must be a tuple of what the module takes and, last, the target; else give forward=")
    _check_tensors(module, example_batch)
    folder = storage_folder(storage)
    if forward is None:
        forward = _with_target(loss_fn)  # type: ignore[arg-type]
    limits = {"ram_budget": ram_budget, "deadline": deadline, "time_limit": time_limit, "progress": _until(tolerance, progress)}
    step = Step(module, forward, optimizer, limits, folder, power, updates, keep_gradients)
    step._of(example_batch, [leaf for leaf in pytree.tree_flatten(example_batch)[0] if isinstance(leaf, torch.Tensor)])
    return step


def _with_target(loss_fn: Loss) -> Callable[[torch.nn.Module, Any], torch.Tensor]:
    return lambda module, batch: loss_fn(module(*batch[:-1]), batch[-1])


def _check_tensors(module: torch.nn.Module, batch: Any) -> None:
    tensors = [leaf for leaf in pytree.tree_flatten(batch)[0] if isinstance(leaf, torch.Tensor)]
    if not tensors:
        raise InputError("example_batch", "has no tensors")
    for argument, each in [("example_batch", t) for t in tensors] + [("module", t) for t in (*module.parameters(), *module.buffers())]:
        if each.device.type != "cpu":
            raise InputError(argument, f"has a tensor on {each.device}: only the CPU is there so far")
        if each.layout != torch.strided:
            raise InputError(argument, f"has a tensor of layout {each.layout}, which cannot be paged")
    if any(tensor.requires_grad for tensor in tensors):
        raise InputError("example_batch", "has a tensor that requires a gradient; only parameters get one")


def _captured_and_measured(module: Any, forward: Any, batch: Any, parameters: Any, buffers: Any, tensors: Any) -> Any:
    """The program with its layouts and costs: captured on fake tensors, and on real ones where those do not do."""
    views: frozenset[str] = frozenset()
    real = False
    while True:
        try:
            program = capture(module, forward, batch, real, views)
            given = {"parameter": parameters, "buffer": buffers, "batch": tensors, "constant": program.constants}
            return program, measure(program, lambda place: given[place.kind][place.index])
        except AliasFound as found:
            if found.op.name in views:
                raise CaptureError(str(found.op.target), "returns its operand in a way that is not understood") from None
            views |= {found.op.name}
        except NeedsRealTensors:
            if real:
                raise
            real = True


def _solved(graph: Graph, limits: dict[str, Any]) -> Result:
    budget = limits["ram_budget"]
    if isinstance(budget, str) and (budget.strip() == "least" or budget.strip().endswith("%")):
        # What keeping everything takes, and the least that is known: figures of the answer to too small a budget.
        least = solve(graph=graph, ram_budget=1, addresses=False, time_limit=limits["time_limit"])
        if budget.strip() == "least":
            budget = least.least_ram
        else:
            budget = int(least.figures["keep_all_peak_ram_bytes"] * _percent(budget))
    result: Result = solve(graph=graph, addresses=False, **{**limits, "ram_budget": budget})
    if result.plan is None:
        way_out = "" if result.least_ram is None else f"; a plan is known with ram_budget={result.least_ram}"
        late = "" if result.least_deadline is None else f"; with deadline={result.least_deadline:.6g}"
        raise InputError("ram_budget", f"{result.reason}{way_out}{late}")
    return result


def _until(tolerance: float, progress: Optional[Callable[..., Any]]) -> Callable[..., bool]:
    """A progress function that ends the search at the tolerance."""

    def told(phase: str, incumbent: Optional[float], bound: Optional[float], seconds: float) -> bool:
        if progress is not None and progress(phase, incumbent, bound, seconds) is False:
            return False
        return incumbent is None or bound is None or incumbent > bound * (1 + tolerance)

    return told


def _percent(text: str) -> float:
    try:
        part = float(text.strip()[:-1]) / 100
    except ValueError:
        part = -1
    if not 0 < part < float("inf"):
        raise InputError("ram_budget", f"{text!r} is no percentage")
    return part


def _distinct(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return list({id(tensor): tensor for tensor in tensors}.values())


def _only(optimizer: Any, parameter: torch.nn.Parameter) -> None:
    """The optimizer's step with one parameter in its groups: with all, looking through them would take longer than computing."""
    before = [group["params"] for group in optimizer.param_groups]
    try:
        for group in optimizer.param_groups:
            group["params"] = [parameter] if any(p is parameter for p in group["params"]) else []
        optimizer.step()
    finally:
        for group, parameters in zip(optimizer.param_groups, before):
            group["params"] = parameters


class Draws:
    """The generator's state before random operators, so that they can draw the same numbers again."""

    def __init__(self) -> None:
        self._states: dict[int, torch.Tensor] = {}

    def keep(self, number: int) -> None:
        self._states[number] = torch.get_rng_state()

    @contextlib.contextmanager
    def again(self, number: int) -> Iterator[None]:
        now = torch.get_rng_state()
        torch.set_rng_state(self._states[number])
        try:
            yield
        finally:
            torch.set_rng_state(now)


@contextlib.contextmanager
def _undone(pages: Optional[PageFile], updated: Sequence[int], names: Sequence[str]) -> Iterator[None]:
    """Where a step fails or is stopped: no transfer is under way any more, and the generator is as it was before."""
    random = torch.get_rng_state()
    try:
        yield
    except BaseException as error:
        if pages is not None:
            pages.finish()
        torch.set_rng_state(random)
        if updated and isinstance(error, StorageError):
            done = ", ".join(names[k] for k in updated)
            raise StorageError(f"{error}; updated already, as updates are early: {done}") from error
        raise
