"""The step that compile_step() returns."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import torch
import torch.utils._pytree as pytree

from ..plans import Plan
from ..results import Result
from .compiling import Compiled, Settings, check_tensors, compiled_step
from .dependence import Dependence, Key
from .device import Device
from .errors import StorageError
from .kept import MOST, Entry, Kept
from .module_state import set_attribute
from .owners import Owners
from .ran import Ran
from .saved import Saved, write
from .subject import Subject
from .updating import Updates, forget_gradients, handed_over, update, use
from .verifying import differences

_MANY = 8  # compilations in a row, of one shape, after which users are warned


class Step:
    """A training step that takes a batch, changes the module's parameters and buffers and the optimizer's state in place, and
    returns the loss, or what else comes with it; made by compile_step()."""

    def __init__(
        self,
        module: torch.nn.Module,
        forward: Callable[[torch.nn.Module, Any], Any],
        optimizer: torch.optim.Optimizer,
        updates: Updates,
        how: Settings,
        keep_gradients: bool,
        loss: Any,
        device: Device,
        saved: Sequence[Saved] = (),
    ) -> None:
        """`loss`: what the user makes the loss with; `forward` may be poet's, around it. `saved`: steps that need not be compiled."""
        self.module = module
        self.optimizer = optimizer
        self.keep_gradients = keep_gradients
        self._forward = forward
        self._updates = updates
        self._how = how
        self._device = device
        self._lock = threading.RLock()  # pages and parameters are one step's at a time
        self._compiled = Kept()
        self._saved = saved
        self._added = 0  # calls since the last update
        self._roots = [module, loss]
        self._results: frozenset[str] = frozenset()  # attributes that code leaves results in
        self._ran = Ran()
        self._depends = Dependence(self._roots, None, self._results, optimizer, updates, device)
        self._latest: Optional[Compiled] = None
        self._last_key: Optional[Key] = None  # of the one that was compiled last
        self._anew = 0  # steps that were compiled one after another
        self._warned = False  # of these

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

    def __call__(self, batch: Any) -> Any:
        """Runs one step. A batch of new shapes is compiled first. Returns what the code that makes the loss returns, without gradients.

        Raises StorageError where pages cannot be written or read; the module, the optimizer and the generator are then as they were
        (with updates="early", or where gradients are added up: the message says which are used already).
        """
        with self._lock:
            returned = self._stepped(batch)
            if self._added == 0 and self._updates.when != "none" and not self.keep_gradients:
                forget_gradients(self._depends.parameters_of(self.module)[0].values())
            return returned

    def _stepped(self, batch: Any) -> Any:
        """A step that leaves gradients where they are."""
        compiled, tensors = self._compiled_for(batch)
        how = self._updates
        named, named_buffers, _ = self._depends.parameters_of(self.module)
        parameters, buffers = list(named.values()), list(named_buffers.values())
        if not how.adds or (how.when != "none" and self._added == 0):
            forget_gradients(parameters)
        used: list[int] = []
        copies = compiled.copies.gradients

        def use_one(k: int, gradient: torch.Tensor) -> None:
            used.append(k)
            use(how, self.optimizer, parameters[k], gradient, bool(copies[k]))

        # What is captured under autocast has its casts.
        with torch.no_grad(), self._device.no_autocast(), _rolled_back(compiled, parameters, used, list(named), how):
            outputs, gradients, changed = compiled.forward_and_backward(parameters, buffers, tensors, use_one)
            if gradients is not None:
                for k, parameter in enumerate(parameters):
                    parameter.grad = handed_over(parameter, gradients[k], bool(copies[k]))
                gradients.clear()
            if how.when == "last" and self._added + 1 == how.every:
                update(how, self.optimizer, parameters)
            for i, buffer in changed.items():
                buffers[i].copy_(buffer)
            for name in reversed(compiled.program.left):
                set_attribute(self.module, name, outputs.pop())
        self._added = (self._added + 1) % how.every
        return compiled.program.returned.with_tensors(outputs)

    def verify(self, batch: Any) -> list[str]:
        """One step with the batch next to the same step by PyTorch alone, on one thread: names of what differs in a bit (of the loss,
        gradients, parameters, buffers, optimizer state and the generator), which should be none.

        Module, optimizer and generator are afterwards as they were. Takes the memory of PyTorch's own step and copies of the module.
        """
        with self._lock:
            return differences(self, batch)

    # ---- compiling

    def compile(self, batch: Any) -> None:
        """Compiles the step for batches like this one, as its first call would, and runs nothing: so that no epoch waits for shapes that are
        known before. Afterwards plan, result and code are of this one."""
        with self._lock:
            self._compiled_for(batch)
            self._anew = 0

    def save(self, file: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the compiled steps that are kept, for `saved` of compile_step() in another process. Raises InputError."""
        with self._lock:
            write(file, self._compiled.saved(), self._device)

    def _compiled_for(self, batch: Any) -> tuple[Compiled, list[torch.Tensor]]:
        """Returns the compiled step for such batches and modules, and the batch's tensors."""
        leaves, spec = pytree.tree_flatten(batch)
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        key, held = self._depends.key(repr(spec), leaves)
        compiled = self._compiled.find(key, tensors, lambda owners, constants: self._have_owners(owners, constants, tensors, held))
        if compiled is not None:
            self._anew, self._warned = 0, False
        else:
            check_tensors(self.module, tensors, self._device)
            # By what is known before anything runs, as another process will know it.
            at_first = self._depends if len(self._compiled) == 0 else Dependence(self._roots, None, self._results, self.optimizer, self._updates, self._device)
            key, held = at_first.key(repr(spec), leaves)
            digest = at_first.digest(key, held, list(self.module.parameters()), self._how.essentials(), self._updates.essentials(), self.keep_gradients)
            named = at_first.tensors(held)
            known = next((each for each in self._saved if each.digest == digest and all(guard.holds(tensors) for guard in each.program.guards)), None)
            compiled = compiled_step(self._subject(batch), self._how, None if known is None else known.restored(self._how, self._updates, self._device, named))
            self._results |= compiled.program.replaced
            self._depends = Dependence(self._roots, self._ran, self._results, self.optimizer, self._updates, self._device)
            key, held = self._depends.key(repr(spec), leaves)
            self._warn_of(key)
            others = self._others(tensors)
            owners = Owners.among(self._depends.tensors(held), compiled.program, others)
            self._compiled.add(Entry(key, held, compiled, owners, Saved.of(digest, compiled, named, others)))
        self._latest = compiled
        return compiled, tensors

    def _have_owners(self, owners: Owners, constants: list[torch.Tensor], batch: Sequence[torch.Tensor], held: Sequence[Any]) -> bool:
        if not owners.of and not owners.asked:
            return True
        return owners.give(constants, self._depends.tensors(held), self._others(batch))

    def _others(self, batch: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The module's tensors and the batch's."""
        named, buffers, _ = self._depends.parameters_of(self.module)
        return [*named.values(), *buffers.values(), *batch]

    def _subject(self, batch: Any) -> Subject:
        tensors = [leaf for leaf in pytree.tree_flatten(batch)[0] if isinstance(leaf, torch.Tensor)]
        return Subject(self.module, self._forward, self.optimizer, self._updates, batch, tensors, self._device, self._ran)

    def _warn_of(self, key: Key) -> None:
        """Warns once where calls one after another compile a step each."""
        self._anew += 1
        if self._last_key is not None and not self._warned and self._anew >= (_MANY if key.is_of_shapes_like(self._last_key) else MOST + 1):
            self._warned = True
            changed = key.changed_since(self._last_key)
            told = f"poet.torch: each of the last {self._anew} calls compiled a new step, because this differed: {changed}. "
            warnings.warn(told + "What changes in every step belongs in the batch, as a tensor", stacklevel=5)
        self._last_key = key


@contextlib.contextmanager
def _rolled_back(
    compiled: Compiled, parameters: Sequence[torch.nn.Parameter], used: Sequence[int], names: Sequence[str], how: Updates
) -> Iterator[None]:
    """Cleans up after a step that fails or is interrupted: waits for transfers, drops its gradients, and restores the generators."""
    random = compiled.device.random_state()
    try:
        yield
    except BaseException as error:
        if compiled.pages is not None:
            compiled.pages.finish()
        compiled.device.set_random_state(random)
        if not how.adds:
            forget_gradients(parameters)
        if used and isinstance(error, StorageError):
            done = ", ".join(names[k] for k in used)
            raise StorageError(f"{error}; {'gradients that were added' if how.adds else 'updated'} already: {done}") from error
        raise
