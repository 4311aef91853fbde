"""compile_step(): a module's training step within a RAM budget."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
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
from .measure import AliasFound, measure, measure_updates, storage_address, storage_of
from .problem import Power, graph_of
from .program import Program, Value
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
        self._lock = threading.RLock()  # pages and parameters are one step's at a time
        self._compiled: dict[Any, Compiled] = {}
        self._latest: Optional[Compiled] = None

    # ---- what it is

    @property
    def result(self) -> Result:
        """The answer of solve() for the latest batch's shapes: plan, energy, bound, gap."""
        return self._current().result

    @property
    def plan(self) -> Plan:
        """The plan for the latest batch's shapes; plan.show() draws it."""
        return self._current().plan

    @property
    def code(self) -> str:
        """The step as the Python function that is run."""
        return self._current().code.source

    @property
    def peak_bytes(self) -> int:
        """The most that PyTorch holds during a step by the plan: parameters, buffers, optimizer state, batch, gradients and
        everything between."""
        return self.plan.peak_ram

    @property
    def keep_all_bytes(self) -> int:
        """The same, if everything were kept for the backward pass."""
        return int(self.result.figures["keep_all_peak_ram_bytes"])

    def _current(self) -> Compiled:
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
        with self._lock:
            return self._stepped(batch)

    def _stepped(self, batch: Any) -> torch.Tensor:
        compiled, tensors = self._compiled_for(batch)
        named, named_buffers, _ = parameters_of(self.module)
        parameters, buffers = list(named.values()), list(named_buffers.values())
        for parameter in parameters:
            parameter.grad = None
        updated: list[int] = []
        with torch.no_grad(), _rolled_back(compiled.pages, parameters, updated, list(named)):
            draws = Draws()
            loss, gradients, changed = compiled.run(
                parameters, buffers, tensors, compiled.program.constants, compiled.pages, draws.keep, draws.again,
                lambda k, gradient: self._update(parameters, k, gradient, updated),
            )  # fmt: skip
            if not isinstance(compiled.program.loss, Value):
                loss = loss.clone()  # a parameter's, or a view of one, which changes
            if gradients is not None:
                self._update_all(parameters, gradients)
            for i, buffer in changed.items():
                buffers[i].copy_(buffer)
        if not self.keep_gradients:
            for parameter in parameters:
                parameter.grad = None
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
        gradients.clear()
        self.optimizer.step()

    # ---- compiling

    def _compiled_for(self, batch: Any) -> tuple[Compiled, list[torch.Tensor]]:
        """What is compiled for batches like this one, and the batch's tensors."""
        leaves, spec = pytree.tree_flatten(batch)
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        key = (
            repr(spec),
            repr([leaf for leaf in leaves if not isinstance(leaf, torch.Tensor)]),
            tuple((tuple(t.shape), t.stride(), t.dtype, t.device, t.requires_grad) for t in tensors if t.layout == torch.strided),
            tuple(part.training for part in self.module.modules()),
            tuple((p.requires_grad, tuple(p.shape), p.stride(), p.dtype) for p in self.module.parameters()),
            torch.is_autocast_cpu_enabled(),
        )
        if key not in self._compiled:
            check_tensors(self.module, tensors)
            self._compiled[key] = self._compile(batch, tensors)
        self._latest = self._compiled[key]
        return self._latest, tensors

    def _compile(self, batch: Any, tensors: list[torch.Tensor]) -> Compiled:
        """Captures, measures and plans the step. Raises InputError where that cannot be done."""
        named, named_buffers, _ = parameters_of(self.module)
        parameters, buffers = list(named.values()), list(named_buffers.values())
        random = torch.get_rng_state()
        try:
            program, costs = _captured_and_measured(self.module, self._forward, batch, parameters, buffers, tensors)
            updates = measure_updates(self.optimizer, parameters)
        finally:
            torch.set_rng_state(random)
        for parameter, update, name in zip(parameters, updates, named):
            if update is None and parameter.requires_grad and self._early:
                raise InputError("optimizer", f"does not have {name}, which requires a gradient")
        storages = {storage_address(t): storage_of(t).nbytes() for t in (*buffers, *tensors, *program.constants)}
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
            [storage_of(p).nbytes() for p in parameters],
            sum(storages.values()) + state,
            rates,
            self._power,
            self._early,
            any(group.get("foreach") or group.get("fused") for group in self.optimizer.param_groups),
            type(self.module).__name__,
        )
        result = _solved(graph, dict(self._limits))
        assert result.plan is not None
        code = code_of(program, result.plan, self._early)
        pages = PageFile(self._storage, code.file_bytes) if self._storage is not None and code.file_bytes else None
        return Compiled(program, graph, result, code, code.function(), pages)


def compile_step(
    module: torch.nn.Module,
    loss_fn: Optional[Loss],
    optimizer: torch.optim.Optimizer,
    example_batch: Any,
    *,
    ram_budget: Amount,
    deadline: Union[float, str, None] = None,
    storage: Union[Path, bool, None] = True,
    device: Union[str, torch.device] = "cpu",
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
    if str(device) != "cpu":
        raise InputError("device", f"\"{device}\": only \"cpu\" is there so far")
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
    if updates == "early":
        _check_early(module, optimizer)
    if not isinstance(power, Power):
        raise TypeError(f"power: must be a poet.torch.Power, not {type(power).__name__}")
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)):
        raise TypeError(f"tolerance: must be a number, not {type(tolerance).__name__}")
    if not 0 <= tolerance < float("inf"):
        raise InputError("tolerance", "must be at least 0")
    if progress is not None and not callable(progress):
        raise TypeError("progress: must be a function")
    if forward is not None and not callable(forward):
        raise TypeError(f"forward: must be a function, not {type(forward).__name__}")
    folder = storage_folder(storage)
    if forward is None:
        forward = _with_target(loss_fn)  # type: ignore[arg-type]
    limits = {"ram_budget": ram_budget, "deadline": deadline, "time_limit": time_limit, "progress": _until(tolerance, progress)}
    step = Step(module, forward, optimizer, limits, folder, power, updates, keep_gradients)
    step._compiled_for(example_batch)
    return step


def _with_target(loss_fn: Loss) -> Callable[[torch.nn.Module, Any], torch.Tensor]:
    return lambda module, batch: loss_fn(module(*batch[:-1]), batch[-1])


def check_tensors(module: torch.nn.Module, tensors: Sequence[torch.Tensor]) -> None:
    """Raises InputError where a batch or a module has tensors that a step cannot have."""
    if not tensors:
        raise InputError("batch", "has no tensors")
    for parameter in module.parameters():
        if isinstance(parameter, torch.nn.parameter.UninitializedTensorMixin):
            raise InputError("module", "has parameters without a shape; run it once before it is compiled")
    for argument, each in [("batch", t) for t in tensors] + [("module", t) for t in (*module.parameters(), *module.buffers())]:
        if each.device.type != "cpu":
            raise InputError(argument, f"has a tensor on {each.device}: only the CPU is there so far")
        if each.layout != torch.strided:
            raise InputError(argument, f"has a tensor of layout {each.layout}, which cannot be paged")
    if any(tensor.requires_grad for tensor in tensors):
        raise InputError("batch", "has a tensor that requires a gradient; only parameters get one")
    for name, parameter in module.named_parameters():
        if parameter._backward_hooks:
            raise InputError("module", f"has a hook on the gradient of {name}, which would not be called")


def _check_early(module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Parameters can be updated one by one where nothing couples them."""
    if type(optimizer).__module__.split(".")[0] != "torch":
        raise InputError("updates", f"\"early\" is for optimizers of torch.optim: nobody knows whether {type(optimizer).__name__} looks at all gradients at once")
    owners: dict[int, str] = {}
    for name, parameter in module.named_parameters():
        if owners.setdefault(storage_address(parameter), name) != name and parameter.numel():
            raise InputError("updates", f"\"early\" cannot be: {name} and {owners[storage_address(parameter)]} share their storage")


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
    """The answer within limits as compile_step() takes them. Raises InputError where there is no plan, with the way out."""
    budget = limits["ram_budget"]
    least = isinstance(budget, str) and budget.strip() == "least"
    if least or (isinstance(budget, str) and budget.strip().endswith("%")):
        # What keeping everything takes, and the least that is known: figures of the answer to too small a budget.
        tiny = solve(graph=graph, ram_budget=1, addresses=False, time_limit=limits["time_limit"])
        limits["ram_budget"] = tiny.least_ram if least else int(tiny.figures["keep_all_peak_ram_bytes"] * _percent(budget))
    result: Result = solve(graph=graph, addresses=False, **limits)
    if least and result.plan is None and result.least_ram is not None:  # time was short
        limits["ram_budget"] = result.least_ram
        result = solve(graph=graph, addresses=False, **limits)
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
def _rolled_back(
    pages: Optional[PageFile], parameters: Sequence[torch.nn.Parameter], updated: Sequence[int], names: Sequence[str]
) -> Iterator[None]:
    """Where a step fails or is stopped: no transfer is under way any more, no gradient is left, and the generator is as before."""
    random = torch.get_rng_state()
    try:
        yield
    except BaseException as error:
        if pages is not None:
            pages.finish()
        torch.set_rng_state(random)
        for parameter in parameters:
            parameter.grad = None
        if updated and isinstance(error, StorageError):
            done = ", ".join(names[k] for k in updated)
            raise StorageError(f"{error}; updated already, as updates are early: {done}") from error
        raise
