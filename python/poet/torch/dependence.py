"""What a captured step depends on besides the contents of tensors, as a key by which it is found again, and as a digest by which another process
finds it in a file."""

from __future__ import annotations

from typing import AbstractSet, Any, NamedTuple, Optional, Sequence

import torch
from torch._subclasses import FakeTensor

from ..errors import InputError
from .compiling import has_hooks
from .device import Device
from .digests import code_digest, digest_of, plain, said_of
from .tensors import layout_of, storage_address
from .keys import attributes_of_tensor, key_of, plain_key
from .module_state import parameters_of
from .optimizers import has_own_step
from .ran import Ran
from .surroundings import Surroundings
from .updating import Updates
from .watching import Watched

_HOOKS_OF_ALL_MODULES = [getattr(torch.nn.modules.module, name) for name in dir(torch.nn.modules.module) if name.startswith("_global_") and name.endswith("_hooks")]


class Key(NamedTuple):
    """Numbers and texts, and numbers of objects; equal ones are of the same step."""

    structure: str  # of the batch
    batch: tuple[Any, ...]
    attributes: tuple[Any, ...]  # of the modules
    tensors: tuple[Any, ...]  # of the modules
    shared: tuple[tuple[int, int], ...]  # tensors of batch and modules with the same storage
    around: tuple[Any, ...]
    flags: tuple[Any, ...]
    hooks: tuple[Any, ...]
    groups: tuple[Any, ...]  # of the optimizer, and whether it has a step of its own

    def is_of_shapes_like(self, other: Key) -> bool:
        return (self.structure, self.batch) == (other.structure, other.batch)

    def changed_since(self, other: Key) -> str:
        """Returns what differs, for users."""
        if not self.is_of_shapes_like(other):
            return "the batch's shapes, or numbers in it"
        for what, mine, theirs in (("attributes of modules", self.attributes, other.attributes), ("what the code reads", self.around, other.around)):
            names = sorted({str(entry[0]) for entry in set(_entries(mine)) ^ set(_entries(theirs)) if entry[0]})
            if names:
                return f"{', '.join(names[:3])} among {what}"
        fields = {"attributes": "attributes of modules", "around": "what the code reads", "tensors": "the modules' tensors", "shared": "which tensors share their memory"}
        fields.update(flags="PyTorch's flags", hooks="hooks of all modules", groups="the optimizer's groups")
        return next((text for name, text in fields.items() if getattr(self, name) != getattr(other, name)), "values of the batch that the code asks for")


def _entries(key: tuple[Any, ...]) -> list[Any]:
    """The entries with names: of what is around, and of each module's attributes."""
    named = [entry for entry in key if isinstance(entry, tuple) and entry and isinstance(entry[0], str)]
    return named or [each for entry in key if isinstance(entry, tuple) for each in _entries(entry)]


class Dependence:
    """What the code that is reached from some roots depends on, as far as is known by now: what else it makes while it runs is followed by a new one."""

    def __init__(
        self, roots: Sequence[Any], ran: Optional[Ran], results: AbstractSet[str], optimizer: torch.optim.Optimizer, updates: Updates, device: Device
    ) -> None:
        """`ran`: what has run so far. `results`: names of attributes in which steps leave something. O(code that is reached)."""
        self._optimizer = optimizer
        self._updates = updates
        self._device = device
        self._around = Surroundings(roots, ran)
        self._read = None if self._around.reads_by_name() else self._around.names
        self._watched = Watched(self._around.modules, results, self._read)
        self._named: tuple[int, Any] = (0, None)

    def key(self, structure: str, leaves: Sequence[Any]) -> tuple[Key, list[Any]]:
        """Returns the key for a batch with these leaves, and the objects that it names by their numbers, which must live as long."""
        given: list[Any] = []
        of_tensors: list[Any] = []
        for leaf in leaves:
            if isinstance(leaf, torch.Tensor):
                read_as = (leaf.is_conj(), leaf.is_neg(), attributes_of_tensor(leaf, self._read, of_tensors))
                given.append((_like(leaf), read_as) if leaf.layout == torch.strided else None)
                continue
            plain_leaf = None if isinstance(leaf, (set, frozenset)) else plain_key(leaf)
            if plain_leaf is None:
                raise InputError("batch", f"has a part of type {type(leaf).__name__}: parts must be tensors, numbers or texts, in tuples, lists and dictionaries")
            given.append(plain_leaf)
        attributes, objects = self._watched.key()
        named = self._watched.tensors()
        shared = _shared([leaf for leaf in leaves if isinstance(leaf, torch.Tensor)], named)
        tensors = tuple([(name, kind, _like(tensor), has_hooks(tensor), attributes_of_tensor(tensor, self._read, of_tensors)) for name, kind, tensor in named])
        around, more = self._around.key()
        hooks = tuple([key_of(hook, more) for hooks in _HOOKS_OF_ALL_MODULES for hook in hooks.values()])
        return Key(structure, tuple(given), attributes, tensors, shared, around, _flags(self._device), hooks, _groups(self._optimizer)), [*objects, *more, *of_tensors]

    def parameters_of(self, module: torch.nn.Module) -> Any:
        """parameters_of() for a module that is reached, as it was when key() was called."""
        if self._named[0] != self._watched.looked:
            self._named = (self._watched.looked, parameters_of(module))
        return self._named[1]

    def tensors(self, held: Sequence[Any]) -> list[torch.Tensor]:
        """Returns the tensors that code may read by names, in an order that keys and digests go by; `held`: of key()."""
        of_objects = [each for each in held if isinstance(each, torch.Tensor) and not isinstance(each, FakeTensor)]
        return [*(tensor for _, _, tensor in self._watched.tensors()), *of_objects, *self._updates.tensors()]

    def digest(self, key: Key, held: Sequence[Any], parameters: Sequence[torch.Tensor], *more: Any) -> str:
        """Returns the digest of a key, of the code that is reached, and of `more`. `parameters`: those that the optimizer's groups have."""
        objects = {id(each): each for each in held}
        numbers = {id(parameter): i for i, parameter in enumerate(parameters)}
        groups = [([numbers.get(number) for number in group], options) for group, options in key.groups[1]]
        around = sorted(map(repr, plain(key.around, objects)))  # sets are followed in another order
        code = sorted({*map(code_digest, self._around.code), *(repr(said_of(each)) for each in self._around.functions())})
        alike = _alike(self.tensors(held))
        return digest_of(alike, key.structure, plain(key.batch, objects), plain(key.attributes, objects), plain(key.tensors, objects), key.shared, around, key.flags,
                         plain(key.hooks, objects), key.groups[0], groups, plain(type(self._optimizer), {}), code, more)  # fmt: skip


def _flags(device: Device) -> tuple[Any, ...]:
    """What PyTorch's operators go by besides their operands. PyTorch 1 has fewer kinds of attention."""
    kinds = ("flash_sdp_enabled", "mem_efficient_sdp_enabled", "math_sdp_enabled", "cudnn_sdp_enabled")
    attention = tuple(getattr(torch.backends.cuda, kind)() for kind in kinds if hasattr(torch.backends.cuda, kind))
    return (
        *device.autocast(),
        torch.is_autocast_cache_enabled(),
        *attention,
        torch.get_default_dtype(),
        torch.backends.mkldnn.enabled,
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
    )


def _groups(optimizer: torch.optim.Optimizer) -> tuple[Any, ...]:
    """What the optimizer's state and memory go by: whose parameters it has, and which of its options are on. Their numbers may change."""
    groups = tuple(
        (tuple(map(id, group["params"])), tuple((name, bool(value)) for name, value in group.items() if isinstance(value, (bool, int, float)) and "lr" not in name))
        for group in optimizer.param_groups
    )
    return (has_own_step(optimizer), groups)


def _shared(batch: Sequence[torch.Tensor], named: Sequence[tuple[str, str, torch.Tensor]]) -> tuple[tuple[int, int], ...]:
    """Pairs of numbers of tensors that share their storage, each with the first that has it."""
    first: dict[int, int] = {}
    pairs = []
    for i, tensor in enumerate([*batch, *(tensor for _, _, tensor in named)]):
        address = storage_address(tensor) if tensor.layout == torch.strided else 0
        if address and first.setdefault(address, i) != i:
            pairs.append((first[address], i))
    return tuple(pairs)


def _alike(tensors: Sequence[torch.Tensor]) -> list[tuple[int, int]]:
    """Which tensors are the same, or have the same memory: for each the number of the first such one."""
    objects: dict[int, int] = {}
    places: dict[Any, int] = {}
    strided = [(i, each, (storage_address(each), layout_of(each)) if each.layout == torch.strided else id(each)) for i, each in enumerate(tensors)]
    return [(objects.setdefault(id(each), i), places.setdefault(place, i)) for i, each, place in strided]


def _like(tensor: torch.Tensor) -> tuple[Any, ...]:
    return (tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.device, tensor.requires_grad)
