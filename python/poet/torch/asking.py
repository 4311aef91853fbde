"""What code asks for while it is captured, recorded with the functions that make it of the batch: of these guards are made (guards.py)."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Sequence

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from .device import Device
from .errors import NeedsRealTensors, Unfit
from .guards import Guard, Made, leaves_of, mapped, plain_value, tensors_of
from .tensors import storage_address
from .program import Place

# Return contents as what is no tensor.
_ASK = {"item", "tolist", "numpy", "__array__", "__bool__", "__int__", "__float__", "__index__", "__complex__", "equal", "allclose", "is_nonzero", "storage_offset"}
# Make a text, of integers that the batch tells.
_SAY = {"__format__", "__str__", "__repr__"}
_UNKNOWN = "so what the step computes is not known before it runs"
# Make a tensor of the contents of others, unseen.
_MAKE = {"tensor", "as_tensor", "asarray", "new_tensor"}
# Read the contents of operands on the way, by their numbers and names: no operator shows it.
_READ = {
    "_pack_padded_sequence": {1: "lengths"},
    "_pad_packed_sequence": {1: "batch_sizes"},
    "ctc_loss": {2: "input_lengths", 3: "target_lengths"},
    "tensor_split": {1: "tensor_indices_or_sections"},
    **dict.fromkeys(("gru", "lstm", "rnn_tanh", "rnn_relu"), {1: "batch_sizes"}),
}


class Asked(TorchFunctionMode):  # type: ignore[misc]
    """Records what code asks for inside the context, in `guards`.

    `batch`: the batch's tensors. `trained`: what changes with every step. `real`: whether tensors have contents; else asking raises
    NeedsRealTensors. Asking for what depends on `trained`, for random numbers or for a float raises Unfit.
    """

    def __init__(self, batch: Sequence[torch.Tensor], trained: Iterable[torch.Tensor], real: bool, device: Device) -> None:
        super().__init__()
        self._device = device
        self.guards: list[Guard] = []
        self.constants: list[torch.Tensor] = []  # that _as_constant() made
        self._real = real
        self._batch = batch
        self._calls: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
        self._made: dict[int, tuple[Any, Any]] = {id(tensor): (Place("batch", i), tensor) for i, tensor in enumerate(batch)}  # by the object
        self._parameters = list(trained)
        self._trained = {id(tensor) for tensor in self._parameters}
        self._unclear: set[int] = set()  # changed in place by way of another tensor with their storage
        self._inside = _Inside(self)
        self._inside_made: dict[int, torch.Tensor] = {storage_address(tensor): tensor for tensor in (*batch, *self._parameters)} if real else {}

    def __enter__(self) -> Asked:
        super().__enter__()
        if self._real:
            self._inside.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._real:
            self._inside.__exit__(*error)
        super().__exit__(*error)

    def note(self, result: Any) -> None:
        """Notes what an operator has made, wherever it ran."""
        for tensor in tensors_of(result):
            self._inside_made[storage_address(tensor)] = tensor  # kept, so that the address remains its own

    def knows(self, tensor: Any) -> bool:
        return id(tensor) in self._made or id(tensor) in self._trained

    def _is_told(self, tensor: torch.Tensor) -> bool:
        """Whether steps may go by what it says; of others code may have a text all the same, to print it."""
        return _is_of_integers(tensor) and tensor.dim() == 0 and id(tensor) not in self._trained and id(tensor) not in self._unclear

    def _is_made_unseen(self, tensor: torch.Tensor) -> bool:
        """Whether it was made while code is captured, but not by a function that was recorded: it is no constant."""
        return not self.knows(tensor) and storage_address(tensor) in self._inside_made

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        if name in _ASK or (name in _SAY and self._is_told(args[0])):
            return self.ask(function, args, kwargs)
        if name in _SAY and self._real:
            with no_dispatch():
                return function(*args, **kwargs)
        made_of = tensors_of([each for each in (*args, *kwargs.values()) if isinstance(each, (list, tuple))]) if name in _MAKE else []
        for tensor in made_of:
            self.ask(torch.Tensor.tolist, (tensor,), {})
        operands: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        read = [each for pair in _READ.get(name, {}).items() for each in pair if _is_of_integers(operands.get(each))]
        for each in read:
            operands[each] = self._as_constant(operands[each])
        changed = tensors_of([args[0]]) if self._real and _changes_in_place(name) else []
        self._inside.tells = bool(read or made_of)
        self._inside.changing = {storage_address(tensor) for tensor in changed}
        try:
            result = function(*(operands[i] for i in range(len(args))), **{option: operands[option] for option in kwargs})
        finally:
            self._inside.tells, self._inside.changing = False, set()
        for tensor in changed:
            self.note_change(tensor, at_most=1)
        if self._real and name == "__setitem__":
            self._record(_with_item_set, args, kwargs, args[0])
        elif self._real:
            self._record(function, args, kwargs, result)
        return result

    def note_change(self, changed: torch.Tensor, at_most: int) -> None:
        """Known tensors with the storage of one that was changed have other contents now, which their records do not say if there are more of
        them than `at_most`."""
        address = storage_address(changed)
        sharing = [number for number, (_, tensor) in self._made.items() if storage_address(tensor) == address]
        if len(sharing) > at_most:
            self._unclear.update(sharing)

    def _as_constant(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same contents as a tensor that make_fx does not follow, so that what is read of it is no data dependence."""
        value = self.ask(torch.Tensor.tolist, (tensor,), {})
        with no_dispatch():
            self.constants.append(torch.tensor(value, dtype=tensor.dtype, device=tensor.device))
        return self.constants[-1]

    def _record(self, function: Any, args: Any, kwargs: Any, result: Any) -> None:
        items = enumerate(result) if isinstance(result, (tuple, list)) else [(None, result)]
        made = [(item, each) for item, each in items if isinstance(each, torch.Tensor)]
        if not made:
            return
        call = (function, mapped(args, self._reference), mapped(kwargs, self._reference))
        if any(id(tensor) in self._trained for tensor in tensors_of((args, kwargs))):
            self._trained.update(id(each) for _, each in made)
        if any(id(tensor) in self._unclear or self._is_made_unseen(tensor) for tensor in tensors_of((args, kwargs))):
            self._unclear.update(id(each) for _, each in made)
        for item, each in made:
            self._made[id(each)] = (Made(len(self._calls), item), each)  # kept, so that the number remains its own
        self._calls.append(call)

    def _reference(self, leaf: Any) -> Any:
        return self._made[id(leaf)][0] if isinstance(leaf, torch.Tensor) and id(leaf) in self._made else leaf

    def ask(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Returns what the function tells, and keeps it as a guard."""
        if not self._real:
            raise NeedsRealTensors("a value")
        if any(id(tensor) in self._trained for tensor in tensors_of((args, kwargs))):
            raise Unfit(f"uses the value of a tensor that training changes, {_UNKNOWN}; it may ask for values of the batch alone")
        if any(id(tensor) in self._unclear for tensor in tensors_of((args, kwargs))):
            raise Unfit(f"uses the value of a tensor that was changed in place by way of another, {_UNKNOWN}")
        if any(map(self._is_made_unseen, tensors_of((args, kwargs)))):
            raise Unfit("uses the value of a tensor that is made of others in a way that cannot be followed")
        with no_dispatch():  # make_fx lets nobody ask
            value = function(*args, **kwargs)
            calls = self._needed((function, mapped(args, self._reference), mapped(kwargs, self._reference)))
            guard = Guard(calls, plain_value(value))
            is_of_batch = any(isinstance(leaf, Place) for call in calls for leaf in leaves_of(call[1:]))
            if guard.value is None or (is_of_batch and any(isinstance(leaf, float) for leaf in leaves_of(guard.value))):
                raise Unfit("uses a value of floating point that the batch has: every batch would be a step of its own")
            random = self._device.random_state()
            if not guard.holds(self._batch) or not all(map(torch.equal, random, self._device.random_state())):
                raise Unfit(f"uses the value of a tensor that is drawn by chance or was changed in place, {_UNKNOWN}")
        if all(result.calls != guard.calls for result in self.guards):
            self.guards.append(guard)
        return value

    def _needed(self, last: Any) -> list[Any]:
        """The calls that the last one depends on, in order, and it."""
        needed: set[int] = set()
        pending = [last]
        while pending:
            for leaf in leaves_of(pending.pop()[1:]):
                if isinstance(leaf, Made) and leaf.call not in needed:
                    needed.add(leaf.call)
                    pending.append(self._calls[leaf.call])
        number = {old: new for new, old in enumerate(sorted(needed))}

        def renumbered(leaf: Any) -> Any:
            return Made(number[leaf.call], leaf.item) if isinstance(leaf, Made) else leaf

        return [(function, mapped(args, renumbered), mapped(kwargs, renumbered)) for function, args, kwargs in (*(self._calls[i] for i in sorted(needed)), last)]


class _Inside(TorchDispatchMode):  # type: ignore[misc]
    """What is asked inside of functions: of a tensor that is known, such as a size; or of a constant that a function reads (_READ), which is
    told."""

    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self._asked = asked
        self.tells = False
        self.changing: set[int] = set()  # storages that the function at work changes, as is recorded

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        asks = torch.Tag.data_dependent_output in function.tags
        if asks and self.tells:
            with no_dispatch():
                return function(*args, **(kwargs or {}))
        if asks and all(map(self._asked.knows, args)):
            return self._asked.ask(function, args, kwargs or {})
        result = function(*args, **(kwargs or {}))
        for argument, operand in zip(function._schema.arguments, args):
            if argument.alias_info is not None and argument.alias_info.is_write:
                for tensor in tensors_of([operand]):
                    if storage_address(tensor) not in self.changing:
                        self._asked.note_change(tensor, at_most=0)
        self._asked.note(result)
        return result


def _changes_in_place(name: str) -> bool:
    if name.startswith("__"):
        return name in ("__setitem__", "__set__") or (name.startswith("__i") and name not in ("__index__", "__int__", "__invert__", "__iter__"))
    return name.endswith("_")


def _is_of_integers(each: Any) -> bool:
    return isinstance(each, torch.Tensor) and not each.dtype.is_floating_point


def _with_item_set(tensor: torch.Tensor, *item: Any) -> torch.Tensor:
    tensor.__setitem__(*item)
    return tensor
