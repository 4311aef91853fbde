"""The step that compile_step() returns."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Iterator, Optional, Sequence

import torch
import torch.utils._pytree as pytree

from ..errors import InputError
from ..plans import Plan
from ..results import Result
from .compiling import Compiled, Settings, check_tensors, compiled_step, has_hooks
from .errors import StorageError
from .kept import Kept
from .measure import storage_address, storage_of
from .module_state import attributes_of, parameters_of, plain_key
from .storage import PageFile
from .surroundings import Surroundings
from .verifying import differences

class Step:
    """A training step that takes a batch, changes the module's parameters and buffers and the optimizer's state in place, and
    returns the loss; made by compile_step()."""

    def __init__(
        self,
        module: torch.nn.Module,
        forward: Callable[[torch.nn.Module, Any], torch.Tensor],
        optimizer: torch.optim.Optimizer,
        how: Settings,
        keep_gradients: bool,
        loss: Any,
    ) -> None:
        """`loss`: what the user makes the loss with; `forward` may be poet's, around it."""
        self.module = module
        self.optimizer = optimizer
        self.keep_gradients = keep_gradients
        self._forward = forward
        self._how = how
        self._lock = threading.RLock()  # pages and parameters are one step's at a time
        self._compiled = Kept()
        self._roots = [module, loss]
        self._surroundings = Surroundings(self._roots)
        self._results: frozenset[str] = frozenset()  # attributes that code leaves results in
        self._latest: Optional[Compiled] = None

    # ---- what it is

    @property
    def result(self) -> Result:
        """The result of solve() for the latest batch's shapes: plan, energy, bound, gap."""
        return self._current().result

    @property
    def plan(self) -> Plan:
        """The plan for the latest batch's shapes; plan.show() draws it."""
        return self._current().plan

    @property
    def code(self) -> str:
        """The source of the Python function that runs the step."""
        return self._current().code.source

    @property
    def peak_bytes(self) -> int:
        """Peak bytes that PyTorch holds during a step by the plan: parameters, buffers, optimizer state, batch, gradients and
        intermediate values."""
        return self.plan.peak_ram

    @property
    def keep_all_bytes(self) -> int:
        """Peak bytes if everything were kept for the backward pass."""
        return int(self.result.figures["keep_all_peak_ram_bytes"])

    @property
    def unchecked(self) -> Optional[str]:
        """Why the step for the latest batch's shapes was not compared with PyTorch's own when it was compiled; None: it was, and is equal."""
        return self._current().unchecked

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
        """Runs one step. A batch of new shapes is compiled first.

        Raises StorageError where pages cannot be written or read; the module, the optimizer and the generator are then as they were
        (with updates="early": the message says what was updated).
        """
        with self._lock:
            return self._stepped(batch, self.keep_gradients)

    def _stepped(self, batch: Any, keep_gradients: bool) -> torch.Tensor:
        compiled, tensors = self._compiled_for(batch)
        named, named_buffers, _ = parameters_of(self.module)
        parameters, buffers = list(named.values()), list(named_buffers.values())
        for parameter in parameters:
            parameter.grad = None
        updated: list[int] = []
        # What is captured under autocast has its casts.
        with torch.no_grad(), torch.autocast("cpu", enabled=False), _rolled_back(compiled.pages, parameters, updated, list(named)):
            loss, gradients, changed = compiled.forward_and_backward(
                parameters, buffers, tensors, lambda k, gradient: self._update(parameters, k, gradient, updated)
            )
            if gradients is not None:
                self._update_all(parameters, gradients)
            for i, buffer in changed.items():
                buffers[i].copy_(buffer)
        if not keep_gradients:
            for parameter in parameters:
                parameter.grad = None
        return loss

    def _update(self, parameters: Sequence[torch.nn.Parameter], k: int, gradient: torch.Tensor, updated: list[int]) -> None:
        """Runs the optimizer's step for one parameter; parameters without a gradient are skipped."""
        updated.append(k)
        parameters[k].grad = _handed_over(parameters[k], gradient, set())
        _only(self.optimizer, parameters[k])
        parameters[k].grad = None

    def _update_all(self, parameters: Sequence[torch.nn.Parameter], gradients: list[Optional[torch.Tensor]]) -> None:
        taken: set[int] = set()
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = _handed_over(parameter, gradient, taken)
        gradients.clear()
        self.optimizer.step()

    def verify(self, batch: Any) -> list[str]:
        """One step with the batch next to the same step by PyTorch alone, on one thread: names of what differs in a bit (of the loss,
        gradients, parameters, buffers, optimizer state and the generator), which should be none.

        Module, optimizer and generator are afterwards as they were. Takes the memory of PyTorch's own step and copies of the module.
        """
        with self._lock:
            return differences(self, batch)

    # ---- compiling

    def _compiled_for(self, batch: Any) -> tuple[Compiled, list[torch.Tensor]]:
        """Returns the compiled step for such batches and modules, and the batch's tensors."""
        leaves, spec = pytree.tree_flatten(batch)
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        key, held = self._key(leaves, spec)
        compiled = self._compiled.find(key, tensors)
        if compiled is None:
            check_tensors(self.module, tensors)
            compiled = compiled_step(self.module, self._forward, self.optimizer, batch, tensors, self._how)
            self._results |= compiled.program.replaced
            self._surroundings = Surroundings(self._roots)
            key, held = self._key(leaves, spec)
            self._compiled.add(key, compiled, held)
        self._latest = compiled
        return compiled, tensors

    def _key(self, leaves: Sequence[Any], spec: Any) -> tuple[Any, list[Any]]:
        """Returns a key of everything that the captured step depends on except the contents of tensors, and the objects that it names."""
        given: list[Any] = []
        for leaf in leaves:
            if isinstance(leaf, torch.Tensor):
                given.append(_like(leaf) if leaf.layout == torch.strided else None)
                continue
            plain = None if isinstance(leaf, (set, frozenset)) else plain_key(leaf)
            if plain is None:
                raise InputError("batch", f"has a part of type {type(leaf).__name__}: parts must be tensors, numbers or texts, in tuples, lists and dictionaries")
            given.append(plain)
        watched = self._surroundings.modules
        states = [attributes_of(each, self._results) for each in watched]
        tensors = [
            (name, kind, _like(tensor), has_hooks(tensor))
            for part in watched
            for kind, named in (("parameter", part.named_parameters()), ("buffer", part.named_buffers()))
            for name, tensor in named
        ]
        around, objects = self._surroundings.key()
        held = [*objects, *(each for _, objects in states for each in objects)]
        return (repr(spec), tuple(given), tuple(key for key, _ in states), tuple(tensors), around, _flags(), _of_groups(self.optimizer)), held


def _flags() -> tuple[Any, ...]:
    """What PyTorch's operators go by besides their operands. PyTorch 1 has other names for autocast, and fewer kinds of attention."""
    autocast = (
        (torch.is_autocast_cpu_enabled(), torch.get_autocast_cpu_dtype())
        if torch.__version__.startswith("1.")
        else (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
    )
    kinds = ("flash_sdp_enabled", "mem_efficient_sdp_enabled", "math_sdp_enabled", "cudnn_sdp_enabled")
    attention = tuple(getattr(torch.backends.cuda, kind)() for kind in kinds if hasattr(torch.backends.cuda, kind))
    return (
        *autocast,
        torch.is_autocast_cache_enabled(),
        *attention,
        torch.get_default_dtype(),
        torch.backends.mkldnn.enabled,
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
    )


def _of_groups(optimizer: torch.optim.Optimizer) -> tuple[Any, ...]:
    """What the optimizer's state and memory go by: whose parameters it has, and which of its options are on. Their numbers may change."""
    return tuple(
        (tuple(map(id, group["params"])), tuple((name, bool(value)) for name, value in group.items() if isinstance(value, (bool, int, float)) and name != "lr"))
        for group in optimizer.param_groups
    )


def _like(tensor: torch.Tensor) -> tuple[Any, ...]:
    return (tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.device, tensor.requires_grad)


def _handed_over(parameter: torch.Tensor, gradient: Optional[torch.Tensor], taken: set[int]) -> Optional[torch.Tensor]:
    """Returns a gradient as backward() leaves it: in storage of its own, with the parameter's layout. `taken`: storages in use."""
    if gradient is None:
        return None
    storage = storage_address(gradient)
    own = storage not in taken and gradient.numel() * gradient.element_size() == storage_of(gradient).nbytes()
    taken.add(storage)
    dense = parameter.is_contiguous() or parameter.is_contiguous(memory_format=torch.channels_last if parameter.dim() == 4 else torch.contiguous_format)
    strides = parameter.stride() if dense else torch.empty(parameter.shape, device="meta").stride()
    if own and gradient.stride() == strides:
        return gradient
    return torch.empty_strided(parameter.shape, strides, dtype=gradient.dtype).copy_(gradient)


def _only(optimizer: Any, parameter: torch.nn.Parameter) -> None:
    """Restricts the optimizer's groups to one parameter: scanning all of them would take longer than the update."""
    before = [group["params"] for group in optimizer.param_groups]
    try:
        for group in optimizer.param_groups:
            group["params"] = [parameter] if any(p is parameter for p in group["params"]) else []
        optimizer.step()
    finally:
        for group, parameters in zip(optimizer.param_groups, before):
            group["params"] = parameters


@contextlib.contextmanager
def _rolled_back(
    pages: Optional[PageFile], parameters: Sequence[torch.nn.Parameter], updated: Sequence[int], names: Sequence[str]
) -> Iterator[None]:
    """Cleans up after a step that fails or is interrupted: waits for transfers, drops gradients, and restores the generator."""
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
