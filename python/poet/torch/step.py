"""The step that compile_step() returns."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import torch
import torch.utils._pytree as pytree

from ..errors import InputError
from ..plans import Plan
from ..results import Result
from .compiling import Compiled, Settings, check_tensors, compiled_step, has_hooks
from .errors import StorageError
from .digests import code_digest, digest_of, plain
from .kept import Kept
from .measure import storage_address
from .module_state import key_of, parameters_of, plain_key
from .saved import Saved, write
from .storage import PageFile
from .subject import Subject
from .updating import Updates, forget_gradients, handed_over, update, use
from .watching import Watched
from .surroundings import Surroundings
from .verifying import differences

# Hooks of all modules.
_HOOKS_OF_ALL = [getattr(torch.nn.modules.module, name) for name in dir(torch.nn.modules.module) if name.startswith("_global_") and name.endswith("_hooks")]


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
        saved: Sequence[Saved] = (),
    ) -> None:
        """`loss`: what the user makes the loss with; `forward` may be poet's, around it. `saved`: steps that need not be compiled."""
        self.module = module
        self.optimizer = optimizer
        self.keep_gradients = keep_gradients
        self._forward = forward
        self._updates = updates
        self._how = how
        self._lock = threading.RLock()  # pages and parameters are one step's at a time
        self._compiled = Kept()
        self._saved = saved
        self._added = 0  # calls since the last update
        self._roots = [module, loss]
        self._results: frozenset[str] = frozenset()  # attributes that code leaves results in
        self._watch()
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

    def __call__(self, batch: Any) -> Any:
        """Runs one step. A batch of new shapes is compiled first. Returns what the code that makes the loss returns, without gradients.

        Raises StorageError where pages cannot be written or read; the module, the optimizer and the generator are then as they were
        (with updates="early", or where gradients are added up: the message says which are used already).
        """
        with self._lock:
            returned = self._stepped(batch)
            if self._added == 0 and self._updates.when != "none" and not self.keep_gradients:
                forget_gradients(self.module.parameters())
            return returned

    def _stepped(self, batch: Any) -> Any:
        """A step that leaves gradients where they are."""
        compiled, tensors = self._compiled_for(batch)
        how = self._updates
        named, named_buffers, _ = parameters_of(self.module)
        parameters, buffers = list(named.values()), list(named_buffers.values())
        if not how.adds or (how.when != "none" and self._added == 0):
            forget_gradients(parameters)
        used: list[int] = []
        copies = compiled.copies.gradients

        def use_one(k: int, gradient: torch.Tensor) -> None:
            used.append(k)
            use(how, self.optimizer, parameters[k], gradient, bool(copies[k]))

        # What is captured under autocast has its casts.
        with torch.no_grad(), torch.autocast("cpu", enabled=False), _rolled_back(compiled.pages, parameters, used, list(named), how):
            outputs, gradients, changed = compiled.forward_and_backward(parameters, buffers, tensors, use_one)
            if gradients is not None:
                for k, parameter in enumerate(parameters):
                    parameter.grad = handed_over(parameter, gradients[k], bool(copies[k]))
                gradients.clear()
            if how.when == "last" and self._added + 1 == how.every:
                update(how, self.optimizer, parameters)
            for i, buffer in changed.items():
                buffers[i].copy_(buffer)
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

    def save(self, file: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the compiled steps that are kept, for `saved` of compile_step() in another process. Raises InputError."""
        with self._lock:
            write(file, self._compiled.saved())

    def _compiled_for(self, batch: Any) -> tuple[Compiled, list[torch.Tensor]]:
        """Returns the compiled step for such batches and modules, and the batch's tensors."""
        leaves, spec = pytree.tree_flatten(batch)
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        key, held = self._key(leaves, spec)
        compiled = self._compiled.find(key, tensors)
        if compiled is None:
            check_tensors(self.module, tensors)
            digest = self._digest(key, held)
            named = [each for _, _, each in self._watched.tensors()] + [each for each in held if isinstance(each, torch.Tensor)]
            known = next((each for each in self._saved if each.digest == digest and all(guard.holds(tensors) for guard in each.program.guards)), None)
            compiled = compiled_step(self._subject(batch), self._how, None if known is None else known.restored(self._how, self._updates, named))
            self._results |= compiled.program.replaced
            self._watch()
            key, held = self._key(leaves, spec)
            self._compiled.add(key, compiled, held, Saved.of(digest, compiled, named))
        self._latest = compiled
        return compiled, tensors

    def _subject(self, batch: Any) -> Subject:
        tensors = [leaf for leaf in pytree.tree_flatten(batch)[0] if isinstance(leaf, torch.Tensor)]
        return Subject(self.module, self._forward, self.optimizer, self._updates, batch, tensors)

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
        attributes, objects = self._watched.key()
        aliases = _aliases([leaf for leaf in leaves if isinstance(leaf, torch.Tensor)], self._watched.tensors())
        tensors = tuple([(name, kind, _like(tensor), has_hooks(tensor)) for name, kind, tensor in self._watched.tensors()])
        around, more = self._surroundings.key()
        hooks = tuple([key_of(hook, more) for hooks in _HOOKS_OF_ALL for hook in hooks.values()])
        return (repr(spec), tuple(given), attributes, tensors, aliases, around, _flags(), hooks, _of_groups(self.optimizer)), [*objects, *more]

    def _digest(self, key: Any, held: Sequence[Any]) -> str:
        """Returns the digest of a key and of all else by which a saved step is this one."""
        objects = {id(each): each for each in held}
        numbers = {id(parameter): i for i, parameter in enumerate(self.module.parameters())}
        *shapes, attributes, tensors, aliases, around, flags, hooks, groups = key
        groups = [([numbers.get(number) for number in parameters], options) for parameters, options in groups]
        around = sorted(map(repr, plain(around, objects)))  # sets are followed in another order
        code = sorted(map(code_digest, self._surroundings.code))
        how = (self._how.limits["ram_budget"], self._how.limits["deadline"], self._how.power, self._how.storage is None, self.keep_gradients)
        updates = (self._updates.when, self._updates.every, self._updates.clip_norm, type(self._updates.scaler))
        return digest_of(plain(tuple(shapes), objects), plain(attributes, objects), tensors, aliases, around, flags, plain(hooks, objects), groups,
                         type(self.optimizer).__qualname__, code, how, plain(updates, {}))  # fmt: skip

    def _watch(self) -> None:
        """Follows what the code reads by now."""
        self._surroundings = Surroundings(self._roots)
        read = None if self._surroundings.reads_by_name() else self._surroundings.names
        self._watched = Watched(self._surroundings.modules, self._results, read)


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
        (tuple(map(id, group["params"])), tuple((name, bool(value)) for name, value in group.items() if isinstance(value, (bool, int, float)) and "lr" not in name))
        for group in optimizer.param_groups
    )


def _aliases(batch: Sequence[torch.Tensor], named: Sequence[tuple[str, str, torch.Tensor]]) -> tuple[tuple[int, int], ...]:
    """Pairs of numbers of tensors that share their storage, each with the first that has it."""
    first: dict[int, int] = {}
    pairs = []
    for i, tensor in enumerate([*batch, *(tensor for _, _, tensor in named)]):
        address = storage_address(tensor) if tensor.layout == torch.strided else 0
        if address and first.setdefault(address, i) != i:
            pairs.append((first[address], i))
    return tuple(pairs)


def _like(tensor: torch.Tensor) -> tuple[Any, ...]:
    return (tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.device, tensor.requires_grad)


@contextlib.contextmanager
def _rolled_back(
    pages: Optional[PageFile], parameters: Sequence[torch.nn.Parameter], used: Sequence[int], names: Sequence[str], how: Updates
) -> Iterator[None]:
    """Cleans up after a step that fails or is interrupted: waits for transfers, drops its gradients, and restores the generator."""
    random = torch.get_rng_state()
    try:
        yield
    except BaseException as error:
        if pages is not None:
            pages.finish()
        torch.set_rng_state(random)
        if not how.adds:
            forget_gradients(parameters)
        if used and isinstance(error, StorageError):
            done = ", ".join(names[k] for k in used)
            raise StorageError(f"{error}; {'gradients that were added' if how.adds else 'updated'} already: {done}") from error
        raise
