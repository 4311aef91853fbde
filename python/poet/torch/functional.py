"""Translation of make_fx graphs to Programs: operators that mutate tensors become operators that return new ones, so that every value
is written once and can be computed again.

PyTorch's own functionalization is not used: it computes changes of views in tensors that lie otherwise, and kernels then round
otherwise. Here a changed view is changed in a copy of the whole tensor, with the view's own strides.
"""

from __future__ import annotations

import dataclasses
import operator
from typing import AbstractSet, Any, Optional, Sequence

import torch

from .errors import CaptureError, NeedsRealTensors
from .program import Op, Place, Program, Value, View, leaves

aten = torch.ops.aten

# Share their operand's storage, though their schemas do not say so.
_UNSAID_VIEWS = {"aten::_unsafe_view", "aten::unsafe_split", "aten::unsafe_split_with_sizes"}
# Return their operand: without gradients there is nothing to detach from.
IDENTITIES = {"aten::detach", "aten::alias", "aten::lift", "aten::lift_fresh"}
# Change operands besides what they return (of most the schemas do not say so): which, and the position of the flag for training.
HIDDEN_CHANGES = {
    "aten::native_batch_norm": ((3, 4), 5),
    "aten::cudnn_batch_norm": ((3, 4), 5),
    "aten::miopen_batch_norm": ((3, 4), 5),
    "aten::rrelu_with_noise": ((1,), 4),
}
# Fill a tensor, whatever it holds.
_FILLS = {f"aten::{name}_" for name in ("bernoulli", "uniform", "normal", "exponential", "random", "geometric", "log_normal", "cauchy")}
# On a whole tensor of floating point and with operands of its type the same as the operator without "_".
_ELEMENTWISE = {f"aten::{name}_" for name in (
    "relu", "add", "sub", "mul", "div", "neg", "exp", "sigmoid", "tanh", "hardtanh", "leaky_relu", "elu", "silu", "clamp", "masked_fill",
)}  # fmt: skip


def name_of(target: Any) -> str:
    """Returns an operator's name, such as "aten::add"."""
    schema = getattr(target, "_schema", None)
    return str(schema.name) if schema is not None else str(target)


def dtype_of(node: torch.fx.Node) -> Optional[torch.dtype]:
    """Returns the dtype of a node's result, or None if it is not a tensor."""
    known = node.meta.get("val", node.meta.get("tensor_meta"))  # of PyTorch 2, of 1
    return getattr(known, "dtype", None)


def form_of(node: torch.fx.Node) -> Optional[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Returns the size and the strides of a node's result during capture, or None if it is not a tensor; strides are 0 for dimensions of size 1,
    where they are meaningless."""
    known = node.meta.get("val", node.meta.get("tensor_meta"))
    if known is None or not hasattr(known, "shape") or not hasattr(known, "stride"):
        return None
    strides = known.stride() if callable(known.stride) else known.stride
    return tuple(known.shape), tuple(0 if size == 1 else stride for size, stride in zip(known.shape, strides))


# ---- operators that make new tensors in place of changing them


class _Changing:
    """Base of operators derived from others: they have the other's schema and tags, and equal ones are measured once."""

    other: Any

    @property
    def _schema(self) -> Any:
        return self.other._schema

    @property
    def tags(self) -> Any:
        return self.other.tags

    def __eq__(self, another: object) -> bool:
        return type(self) is type(another) and repr(self) == repr(another)

    def __hash__(self) -> int:
        return hash(repr(self))


@dataclasses.dataclass(eq=False)
class Filled(_Changing):
    """The functional form of an operator that fills a tensor: returns a new one like its first operand; `options`: of empty_like()."""

    other: Any
    options: dict[str, Any]

    def __call__(self, like: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        made = torch.empty_like(like, **self.options)
        self.other(made, *args, **kwargs)
        return made


@dataclasses.dataclass(eq=False)
class Changed(_Changing):
    """The functional form of an operator that mutates a view: returns a changed copy of the tensor. `path`: operators from the tensor
    to the view, with their further arguments. `out`: the name of the argument that is the view, if not the first."""

    other: Any
    path: tuple[tuple[Any, tuple[Any, ...], dict[str, Any], Optional[int]], ...]
    out: Optional[str] = None

    def __call__(self, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        copy = torch.clone(tensor)
        view: Any = copy
        for target, further, options, item in self.path:
            view = target(view, *further, **options)
            view = view if item is None else view[item]
        if self.out is None:
            self.other(view, *args, **kwargs)
        else:
            self.other(*args, **kwargs, **{self.out: view})
        return copy


@dataclasses.dataclass(eq=False)
class Revealed(_Changing):
    """The functional form of an operator that also mutates operands: returns changed copies of them, too."""

    other: Any
    positions: tuple[int, ...]

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        own = list(args)
        for i in self.positions:
            own[i] = own[i].clone()
        results = self.other(*own, **kwargs)
        results = tuple(results) if isinstance(results, (tuple, list)) else (results,)
        return (*results, *(own[i] for i in self.positions))


@dataclasses.dataclass(eq=False)
class Sparing(_Changing):
    """An operator that uses its operands at `positions` as scratch memory: on copies, so that it can be computed again."""

    other: Any
    positions: tuple[int, ...]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.other(*(each.clone() if i in self.positions else each for i, each in enumerate(args)), **kwargs)


@dataclasses.dataclass(eq=False)
class Recording(_Changing):
    """An operator that leaves out what the backward pass needs unless autograd records, which it does not in a step."""

    other: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with torch.enable_grad(), torch._C._AutoDispatchBelowAutograd():
            return self.other(*args, **kwargs)


# ---- reading the graph


def program_of(
    traced: torch.fx.GraphModule,
    places: Sequence[Place],
    parameters: int,
    outputs: int,
    trained: Sequence[int],
    assigned: Sequence[int],
    attributes: Sequence[str],
    views: AbstractSet[str],
) -> Program:
    """Returns the program. `places`: the graph's inputs. Its results are so many outputs, the gradients of the parameters `trained`, the
    new contents of the buffers `assigned`, and those of the module's `attributes`. `views`: names of operators known to return their operand's
    storage. Raises CaptureError naming the operator."""
    return _Reader(traced, places, views).program(parameters, outputs, trained, assigned, attributes)


class _Reader:
    def __init__(self, traced: torch.fx.GraphModule, places: Sequence[Place], views: AbstractSet[str]) -> None:
        self.traced = traced
        self.places = iter(places)
        self.views = views
        self.ops: list[Op] = []
        self.constants: list[torch.Tensor] = []
        self.fresh: set[Place] = set()  # constants that every step makes anew
        self.known: dict[torch.fx.Node, Any] = {}  # Place, View or Value; of operators that return lists the Op
        self.nodes_of: dict[Any, list[torch.fx.Node]] = {}  # by the Place or Value whose storage they see
        self.later: dict[Any, Value] = {}  # what a place or value has become by a change
        self.buffer_of: dict[Any, int] = {}  # of what a buffer has become
        self.buffers: dict[int, Any] = {}

    def program(self, parameters: int, outputs: int, trained: Sequence[int], assigned: Sequence[int], attributes: Sequence[str]) -> Program:
        results: Sequence[Any] = ()
        for node in self.traced.graph.nodes:
            if node.op == "output":
                results = node.args[0]
            else:
                self.read(node)
        known = [self.known[each] if isinstance(each, torch.fx.Node) else each for each in results]
        others = known[outputs:]
        by_parameter: list[Any] = [None] * parameters
        for i, gradient in zip(trained, others):
            by_parameter[i] = gradient
        self.buffers.update(zip(assigned, others[len(trained) :]))
        left = dict(zip(attributes, others[len(trained) + len(assigned) :]))
        of_module = self.of_module_alone()
        left = {name: each for name, each in left.items() if isinstance(root_of(each), Value) and root_of(each).op in of_module}
        program = Program.of(self.ops, [*known[:outputs], *left.values()], by_parameter, self.buffers, self.constants)
        program.left = tuple(left)
        program.fresh = {place.index for place in self.fresh}
        return program

    def of_module_alone(self) -> set[int]:
        """The numbers of operators whose results depend neither on the batch nor on chance: of weights that are made of others."""
        found: set[int] = set()
        for op in self.ops:
            operands = leaves((op.args, op.kwargs))
            if not op.is_random and all(each.kind != "batch" if isinstance(each, Place) else not isinstance(each, Value) or each.op in found for each in operands):
                found.add(op.number)
        return found

    def read(self, node: torch.fx.Node) -> None:
        target: Any = node.target
        if node.op == "placeholder":
            self.set(node, next(self.places))
        elif node.op == "get_attr":
            self.set(node, Place("constant", len(self.constants)))
            self.constants.append(_constant(self.traced, target))
        elif target is operator.getitem:
            self.set(node, self.item(node))
        elif name_of(target) in IDENTITIES:
            same = self.of(node.args[0])
            if name_of(target) != "aten::detach" and isinstance(same, Place) and same.kind == "constant":
                self.fresh.add(same)
            self.set(node, same)
        elif name_of(target) not in HIDDEN_CHANGES and any(a.alias_info is not None and a.alias_info.is_write for a in target._schema.arguments):
            self.change(node)
        elif name_of(target) == "aten::t" and _is_transposed(self.of(node.args[0])):
            self.set(node, self.of(node.args[0]).args[0])
        elif node.name in self.views or _is_view(target):
            self.set(node, View(target, self.of(tuple(node.args)), self.of(dict(node.kwargs))))
        elif target._schema.returns:
            operand = self.of(node.args[0]) if node.args else None
            if name_of(target) == "aten::lift_fresh_copy" and isinstance(operand, Place) and operand.kind == "constant":  # torch.tensor() on real tensors
                self.fresh.add(operand)
            self.compute(node)

    def of(self, tree: Any) -> Any:
        return torch.fx.node.map_aggregate(tree, lambda each: self.known[each] if isinstance(each, torch.fx.Node) else each)

    def set(self, node: torch.fx.Node, what: Any) -> None:
        self.known[node] = what
        if not isinstance(what, Op):
            self.nodes_of.setdefault(root_of(what), []).append(node)

    def item(self, node: torch.fx.Node) -> Any:
        source, index = self.known[node.args[0]], node.args[1]
        if not isinstance(source, Op):
            return View(source.target, source.args, source.kwargs, index)
        value = source.output(index)
        value.captured = form_of(node)
        while value in self.later:
            value = self.later[value]
        return value

    def compute(self, node: torch.fx.Node) -> None:
        target: Any = node.target
        positions, flag = HIDDEN_CHANGES.get(name_of(target), ((), 0))
        positions = tuple(i for i in positions if node.args[flag] and node.args[i] is not None)
        kernel = _kernel_of(target)
        op = self.add(node.name, Revealed(kernel, positions) if positions else kernel, self.of(tuple(node.args)), self.of(dict(node.kwargs)))
        count = len(target._schema.returns)
        op.is_list = op.is_list or bool(positions)
        several = count > 1 or _is_list(target._schema.returns[0].type)
        if not several:
            op.output(0).captured = form_of(node)
        self.set(node, op if several else op.output(0))
        for k, i in enumerate(positions):
            changed = self.known[node.args[i]]
            new = op.output(count + k)
            if isinstance(changed, View):
                new = self.add(f"{node.name}_changed_{i}", Changed(aten.copy_.default, _path(changed)), (root_of(changed), new), {}).output(0)
            self.replace(root_of(changed), new)

    def change(self, node: torch.fx.Node) -> None:
        target: Any = node.target
        written = [a for a in target._schema.arguments if a.alias_info is not None and a.alias_info.is_write]
        if len(written) != 1 or _is_list(written[0].type) or not (written[0].kwarg_only or written[0].name == target._schema.arguments[0].name):
            raise CaptureError(str(target), "changes several tensors in place")
        out = written[0].name if written[0].kwarg_only else None
        kwargs = dict(node.kwargs)
        changing, rest = (node.args[0], node.args[1:]) if out is None else (kwargs.pop(out), node.args)
        changed = self.known[changing]
        root, rest, kwargs = root_of(changed), self.of(tuple(rest)), self.of(kwargs)
        if isinstance(root, Place) and root.kind != "buffer" and root not in self.fresh:
            where = {"constant": "a tensor that is no buffer"}.get(root.kind, f"its {root.kind}")
            raise CaptureError("module", f"changes {where} in place ({name_of(target)}); only buffers may change in a step")
        if out is None and changed is root and name_of(target) in _FILLS:
            made = self.ops[root.op] if isinstance(root, Value) and root.op >= 0 else None
            if made is not None and name_of(made.target) == "aten::empty_like":  # which then is not needed
                op = self.add(node.name, Filled(target, made.kwargs), (made.args[0], *rest), kwargs)
            else:
                op = self.add(node.name, Filled(target, {}), (root, *rest), kwargs)
        elif out is None and changed is root and self.is_elementwise(node):
            op = self.add(node.name, _without_underscore(target), (root, *rest), kwargs)
        else:
            op = self.add(node.name, Changed(target, _path(changed), out), (root, *rest), kwargs)
        new = op.output(0)
        self.replace(root, new)
        self.set(node, _substituted(changed, root, new))

    def is_elementwise(self, node: torch.fx.Node) -> bool:
        operands = [each for each in (*node.args, *node.kwargs.values()) if isinstance(each, torch.fx.Node)]
        types = {dtype_of(operand) for operand in operands}
        kind = dtype_of(operands[0])
        if name_of(node.target) == "aten::masked_fill_":
            types.discard(torch.bool)
        whole = kind is not None and kind.is_floating_point and types == {kind}
        return whole and name_of(node.target) in _ELEMENTWISE and _without_underscore(node.target) is not None

    def add(self, name: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Op:
        returns = target._schema.returns
        op = Op(
            name=name,
            target=target,
            args=args,
            kwargs=kwargs,
            outputs={},
            number=len(self.ops),
            is_list=len(returns) > 1 or (bool(returns) and _is_list(returns[0].type)),
            is_random=torch.Tag.nondeterministic_seeded in target.tags,
        )
        self.ops.append(op)
        return op

    def replace(self, old: Any, new: Value) -> None:
        """Replaces `old` by `new` for all later readers of its storage."""
        buffer = old.index if isinstance(old, Place) and old.kind == "buffer" else self.buffer_of.get(old)
        if buffer is not None:
            self.buffers[buffer] = new
            self.buffer_of[new] = buffer
        self.later[old] = new
        nodes = self.nodes_of.pop(old, [])
        self.nodes_of.setdefault(new, []).extend(nodes)
        for node in nodes:
            self.known[node] = _substituted(self.known[node], old, new)


def _is_list(kind: Any) -> bool:
    return isinstance(kind, torch._C.ListType)


def _kernel_of(target: Any) -> Any:
    """What runs the operator: with PyTorch 2 an LSTM's goes by whether autograd records, and writes into what its backward pass is given."""
    if name_of(target) == "aten::mkldnn_rnn_layer":
        return Recording(target)
    if name_of(target) == "aten::mkldnn_rnn_layer_backward":
        return Sparing(target, tuple(i for i, argument in enumerate(target._schema.arguments) if argument.name == "workspace"))
    return target


def _is_view(target: Any) -> bool:
    if name_of(target) in _UNSAID_VIEWS:
        return True
    returns = target._schema.returns
    return bool(returns) and returns[0].alias_info is not None and not returns[0].alias_info.is_write


def _is_transposed(what: Any) -> bool:
    return isinstance(what, View) and name_of(what.target) == "aten::t"


def root_of(what: Any) -> Any:
    """Returns the Place or Value whose storage a view shares."""
    while isinstance(what, View):
        what = what.args[0]
    return what


def _path(what: Any) -> tuple[Any, ...]:
    steps: list[Any] = []
    while isinstance(what, View):
        steps.append((what.target, tuple(what.args[1:]), dict(what.kwargs), what.item))
        what = what.args[0]
    return tuple(reversed(steps))


def _substituted(what: Any, old: Any, new: Value) -> Any:
    if isinstance(what, View):
        return dataclasses.replace(what, args=(_substituted(what.args[0], old, new), *what.args[1:]))
    return new if what is old or what == old else what


def _without_underscore(target: Any) -> Any:
    schema = target._schema
    packet = getattr(aten, schema.name.split("::")[1][:-1], None)
    return getattr(packet, schema.overload_name or "default", None)


def _constant(traced: torch.fx.GraphModule, name: str) -> torch.Tensor:
    tensor: Any = traced
    for part in name.split("."):
        tensor = getattr(tensor, part)
    constant = getattr(tensor, "constant", None)  # of a fake tensor
    if constant is not None:
        tensor = constant
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise NeedsRealTensors(name)
    return tensor.detach()
