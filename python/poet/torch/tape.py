"""A forward pass under autograd whose saved tensors are computed again one by one, as a plan has it.

While the forward pass runs, every call of an operator is compared with the program's: the same operator with the same operands is that operator.
So it is known which value of the program a tensor that autograd saves is a view of; saved is only that. Values that are kept are held here.
"""

from __future__ import annotations

import bisect
import dataclasses
import weakref
from typing import Any, Iterator, Optional, Sequence, Union

import torch
import torch.utils._pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from .device import Device
from .draws import Draws
from .errors import CaptureError
from .functional import HIDDEN_CHANGES, Changed, Filled, Revealed, name_of
from .tensors import storage_address, storage_of
from .program import Layout, Op, Place, Program, Value, View, leaves, replaced


_NEW = {"aten::lift_fresh"}  # returns its operand, which nobody has seen


class Course:
    """What a plan makes of a program: the values that it keeps from the forward to the backward pass, and its moves from then on, Op: computed,
    Value: freed."""

    def __init__(self, program: Program, kept: frozenset[Value], moves: Sequence[Union[Op, Value]]) -> None:
        self.program = program
        self.kept = kept
        self.moves = moves
        self.readers: dict[Value, list[int]] = {}  # moves that are ops of the backward pass
        self.ends: dict[Value, list[tuple[int, bool]]] = {}  # moves that compute with a value, and that free it: True
        for i, move in enumerate(moves):
            if isinstance(move, Value):
                self.ends.setdefault(move, []).append((i, True))
                continue
            for value in move.reads():
                self.ends.setdefault(value, []).append((i, False))
                if move.is_backward:
                    self.readers.setdefault(value, []).append(i)

    def reader(self, value: Value, since: int) -> Optional[int]:
        """Returns the first move since then that is an op of the backward pass and reads the value."""
        readers = self.readers.get(value, [])
        i = bisect.bisect_left(readers, since)
        return readers[i] if i < len(readers) else None

    def is_freed_after(self, value: Value, move: int) -> bool:
        """Whether the value is freed after a move before anything reads it."""
        ends = self.ends.get(value, [])
        i = bisect.bisect_left(ends, (move + 1, False))
        return i < len(ends) and ends[i][1]


@dataclasses.dataclass(frozen=True)
class Saved:
    """What autograd saves in place of a tensor: the value that it is a view of, and how it lies there."""

    value: Value
    layout: Layout


class Tape(TorchDispatchMode):  # type: ignore[misc]
    """The context of one forward pass; it lives on in what autograd saves."""

    def __init__(self, course: Course, device: Device) -> None:
        super().__init__()
        self.device = device
        self.course = course
        self.kept = set(course.kept)
        self.done = 0  # how many of the moves
        self.expected: dict[str, list[Op]] = {}  # calls that have not come yet, by the operator's name
        for op in course.program.ops:
            if not op.is_backward:
                self.expected.setdefault(_plain(op.target), []).append(op)
        self.seen: dict[int, Value] = {}  # by the address of their storage
        self.given: dict[Op, list[Any]] = {}  # operands of the ops that have run that were there before: parameters, the batch
        self.held: dict[Value, Any] = {}  # storages
        self.unpacked: weakref.WeakValueDictionary[Value, torch.Tensor] = weakref.WeakValueDictionary()
        self.draws = Draws(device)
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, self.unpack)

    def __enter__(self) -> Tape:
        self.hooks.__enter__()
        super().__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        super().__exit__(kind, error, trace)
        self.hooks.__exit__(kind, error, trace)
        self.seen.clear()
        if error is None and not self.given:
            raise CaptureError("policy", "is of a step that computes nothing of what the forward pass does: of another module, mode or batch")

    # ---- the forward pass

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        op = self.matching(function, args, kwargs)
        if op is not None and op.is_random:
            self.draws.keep(op.number)
        written = [storage_address(each) for each in _written(function, args, kwargs)]
        for address in written:
            self.spare(address)
        results = function(*args, **kwargs)
        if op is not None:
            self.note(op, args, results)
            return results
        views = {storage_address(each) for each in _tensors((args, kwargs))} if name_of(function) not in _NEW else set()
        for address in [*written, *(storage_address(each) for each in _tensors(results))]:
            if address in written or address not in views:
                self.overwrite(address, None)
        return results

    def matching(self, function: Any, args: Any, kwargs: Any) -> Optional[Op]:
        """Returns the program's op that a call is, if it is one, and notes its operands that are no values."""
        candidates = self.expected.get(_plain(function), [])
        for i, op in enumerate(candidates):
            given: list[Any] = []
            if self.same(op, args, kwargs, given):
                del candidates[i]
                self.given[op] = given
                return op
        return None

    def same(self, op: Op, args: Any, kwargs: Any, given: list[Any]) -> bool:
        """Whether a call's operands are the op's; `given` becomes those that are no values of the program."""
        if isinstance(op.target, Changed) and (op.target.out is not None or (op.target.path and isinstance(op.args[0], Place))):
            return False
        if isinstance(op.target, Filled) and isinstance(leaves(op.args[0])[0], Value):  # whatever the tensor holds
            return self.equal((op.args[1:], op.kwargs), (args[1:], kwargs), given)
        return self.equal((op.args, op.kwargs), (args, kwargs), given)

    def equal(self, mine: Any, theirs: Any, given: list[Any]) -> bool:
        if isinstance(mine, (Place, Value, View)):
            if not isinstance(theirs, torch.Tensor):
                return False
            root = leaves(mine)[0]
            if isinstance(root, Place):
                given.append(theirs.detach())
            return self.seen.get(storage_address(theirs)) is (root if isinstance(root, Value) else None)
        if isinstance(mine, (tuple, list)):
            return isinstance(theirs, (tuple, list)) and len(mine) == len(theirs) and all(self.equal(a, b, given) for a, b in zip(mine, theirs))
        if isinstance(mine, dict):
            return mine.keys() == theirs.keys() and all(self.equal(each, theirs[name], given) for name, each in mine.items())
        return not isinstance(theirs, torch.Tensor) and bool(mine == theirs)

    def spare(self, address: int) -> None:
        """A storage is about to be changed: ops that were given it keep what they were given."""
        for given in self.given.values():
            given[:] = [each.clone() if storage_address(each) == address else each for each in given]

    def note(self, op: Op, args: Any, results: Any) -> None:
        """Notes where an op that has run has left its values."""
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        if isinstance(op.target, Revealed):
            results += [args[i] for i in op.target.positions]
        for index, tensor in enumerate(results):
            value = op.outputs.get(index)
            storage = storage_of(tensor)
            if value is not None and value.bytes != storage.nbytes():
                raise CaptureError("policy", f"is of a step for other shapes: {op.name} has {storage.nbytes()} bytes here, and {value.bytes} in the step")
            self.overwrite(storage.data_ptr(), value)
            if value is not None and value in self.kept:
                self.held[value] = storage

    def overwrite(self, address: int, value: Optional[Value]) -> None:
        """A storage has other contents: what it held is lost, and what it holds is kept instead."""
        old = self.seen.pop(address, None)
        if old is not None and self.held.pop(old, None) is not None and value is not None:
            self.kept.add(value)
        if value is not None and address:
            self.seen[address] = value

    def pack(self, tensor: torch.Tensor) -> Any:
        value = self.seen.get(storage_address(tensor))
        if value is None or tensor.is_conj() or tensor.is_neg():
            return tensor
        return Saved(value, Layout(tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.dtype, value.bytes, self.device.where))

    # ---- the backward pass

    def unpack(self, saved: Any) -> torch.Tensor:
        if isinstance(saved, torch.Tensor):
            return saved
        with torch.no_grad(), self.device.no_autocast():
            value = saved.value
            self.go_on(value)
            tensor = _lying(self.storage(value), saved.layout)
            self.unpacked[value] = tensor
            if self.course.is_freed_after(value, self.done):  # then it is autograd's alone, which says nothing when it is done with it
                self.held.pop(value, None)
            return tensor

    def go_on(self, value: Value) -> None:
        """Does what the plan does until the next op of the backward pass that reads the value. If none does, autograd's order is not the
        program's, and nothing is done."""
        reader = self.course.reader(value, self.done)
        if reader is None:
            return
        for move in self.course.moves[self.done : reader]:
            if isinstance(move, Value):
                self.held.pop(move, None)
            elif move in self.given and all(each in self.held for each in move.reads()):
                for made, storage in self.computed(move).items():
                    self.held.setdefault(made, storage)
        self.done = reader

    def storage(self, value: Value) -> Any:
        """Returns a value's storage, computed again if it is not there."""
        there = self.unpacked.get(value)
        if value in self.held or there is not None:
            return self.held[value] if there is None else storage_of(there)
        return self.computed(self.course.program.ops[value.op])[value]

    def computed(self, op: Op) -> dict[Value, Any]:
        """Computes an op again; returns its values' storages."""
        given = iter(self.given[op])
        args, kwargs = self.filled(op.args, given), self.filled(op.kwargs, given)
        if op.is_random:
            with self.draws.again(op.number):
                results = op.target(*args, **kwargs)
        else:
            results = op.target(*args, **kwargs)
        return {value: storage_of(results[index] if op.is_list else results) for index, value in op.outputs.items()}

    def filled(self, tree: Any, given: Iterator[Any]) -> Any:
        """Returns operands with tensors in place of values, and of what was given."""
        if isinstance(tree, (tuple, list)):
            return type(tree)(self.filled(each, given) for each in tree)
        if isinstance(tree, dict):
            return {name: self.filled(each, given) for name, each in tree.items()}
        if isinstance(tree, (Place, View)) and isinstance(leaves(tree)[0], Place):
            return next(given)
        return replaced(tree, lambda value: _lying(self.storage(value), value.layout))


def _plain(function: Any) -> str:
    """Returns an operator's name; one that changes its operand has the name of that which does not."""
    return name_of(function).removesuffix("_")


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [each for each in pytree.tree_flatten(tree)[0] if isinstance(each, torch.Tensor)]


def _written(function: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """Returns the operands that a call changes."""
    hidden, _ = HIDDEN_CHANGES.get(name_of(function), ((), 0))
    written = [args[i] for i in hidden]
    for i, argument in enumerate(function._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            written.append(args[i] if i < len(args) else kwargs.get(argument.name))
    return _tensors(written)


def _lying(storage: Any, layout: Optional[Layout]) -> torch.Tensor:
    assert layout is not None
    return torch.empty(0, dtype=layout.dtype, device=layout.device).set_(storage, layout.offset, layout.size, layout.stride)
