"""Captures a module's training step as a Program: forward pass, loss and gradients as PyTorch's own (ATen) operators.

make_fx runs the step on fake tensors, which have shapes but no contents, so nothing is computed and no memory is taken; a second
pass replaces operators that change tensors in place by those that do not (functionalization), which give the same bits.
"""

from __future__ import annotations

import contextlib
import dataclasses
import linecache
import operator
import traceback
from typing import AbstractSet, Any, Callable, Iterator, Sequence

import torch
import torch.utils._pytree as pytree
from torch.fx.experimental.proxy_tensor import make_fx

from .errors import CaptureError
from .program import Op, Place, Program, Value, View, values_of

aten = torch.ops.aten

# Share their operand's storage, though their schemas do not say so.
_UNSAID_VIEWS = {"aten::_unsafe_view", "aten::unsafe_split", "aten::unsafe_split_with_sizes"}
# Return their operand: without gradients there is nothing to detach from.
_IDENTITIES = {"aten::detach", "aten::alias", "aten::lift", "aten::lift_fresh"}
# Change buffers besides what they return, though their schemas do not say so: positions of running mean and variance.
_STATISTICS = {"aten::native_batch_norm": (3, 4), "aten::cudnn_batch_norm": (3, 4), "aten::miopen_batch_norm": (3, 4)}


# Fill a tensor, whatever it holds, and stay in place when others are replaced.
_FILLS = {f"aten::{name}_" for name in ("bernoulli", "uniform", "normal", "exponential", "random", "geometric", "log_normal", "cauchy")}


@dataclasses.dataclass(frozen=True)
class Filled:
    """An operator that fills a tensor in place, as one that makes a new tensor like its first operand."""

    fill: Any

    @property
    def _schema(self) -> Any:
        return self.fill._schema

    @property
    def tags(self) -> Any:
        return self.fill.tags

    def __call__(self, like: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return self.fill(torch.empty_like(like), *args, **kwargs)


def parameters_of(module: torch.nn.Module) -> tuple[dict[str, torch.nn.Parameter], dict[str, torch.Tensor], dict[str, list[str]]]:
    """A module's parameters and buffers, each once by its first name, and all names of each that has several."""
    parameters: dict[str, torch.nn.Parameter] = {}
    buffers: dict[str, torch.Tensor] = {}
    names: dict[int, list[str]] = {}
    for path, part in module.named_modules(remove_duplicate=False):
        for kind, tensors in ((parameters, part._parameters), (buffers, part._buffers)):
            for name, tensor in tensors.items():
                if tensor is None:
                    continue
                full = f"{path}.{name}" if path else name
                if id(tensor) not in names:
                    kind[full] = tensor
                names.setdefault(id(tensor), []).append(full)
    return parameters, buffers, {all_names[0]: all_names for all_names in names.values()}


def capture(
    module: torch.nn.Module,
    forward: Callable[[torch.nn.Module, Any], torch.Tensor],
    batch: Any,
    real: bool = False,
    views: AbstractSet[str] = frozenset(),
) -> Program:
    """The step that computes `forward(module, batch)`, a loss, and its gradients. `real`: runs it on the tensors themselves,
    which takes the memory of a whole step, for what fake tensors do not know. `views`: operators, by name, that are known to
    return their operand's storage.

    Raises CaptureError naming the line or operator that cannot be captured.
    """
    parameters, buffers, names = parameters_of(module)
    trained = [i for i, p in enumerate(parameters.values()) if p.requires_grad]
    if not trained:
        raise CaptureError("module", "has no parameter that requires a gradient")
    parts, spec = pytree.tree_flatten(batch)
    tensors = [leaf for leaf in parts if isinstance(leaf, torch.Tensor)]
    inputs = [*parameters.values(), *buffers.values(), *tensors]

    def step(*flat: torch.Tensor) -> list[Any]:
        mine = flat[: len(parameters)]
        given = iter(flat[len(parameters) + len(buffers) :])
        here = dict(zip([*parameters, *buffers], flat))
        everything = {name: here[first] for first, all_names in names.items() for name in all_names}
        filled = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in parts]
        loss = forward(_Functional(module, everything), pytree.tree_unflatten(filled, spec))
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            raise CaptureError("loss_fn", "must return a tensor of one element")
        return [loss, *torch.autograd.grad(loss, [mine[i] for i in trained], allow_unused=True)]

    mode = "real" if real else "fake"
    with _restored(module, buffers if real else {}), _refusals():
        with torch.enable_grad():
            traced = make_fx(step, tracing_mode=mode)(*inputs)
        _refuse_data_dependence(traced)
        with torch.no_grad():
            flat = make_fx(_functionalized(traced), tracing_mode=mode)(*inputs)
    kinds = [Place("parameter", i) for i in range(len(parameters))]
    kinds += [Place("buffer", i) for i in range(len(buffers))]
    kinds += [Place("batch", i) for i in range(len(tensors))]
    return _program(flat, kinds, len(parameters), trained, views)


class _Functional:
    """A module whose parameters and buffers are other tensors while it is called; all else is the module's."""

    def __init__(self, module: torch.nn.Module, tensors: dict[str, torch.Tensor]) -> None:
        self._module = module
        self._tensors = tensors

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if hasattr(torch, "func"):  # PyTorch 2
            return torch.func.functional_call(self._module, self._tensors, args, kwargs)
        from torch.nn.utils.stateless import functional_call

        with contextlib.ExitStack() as stack:
            for path, part in self._module.named_modules():
                if isinstance(part, torch.nn.RNNBase):
                    stack.enter_context(self._weights_of(path, part))
            return functional_call(self._module, self._tensors, args, kwargs)

    @contextlib.contextmanager
    def _weights_of(self, path: str, part: torch.nn.RNNBase) -> Iterator[None]:
        """Recurrent modules compute with a list of weights that functional_call of PyTorch 1.13 does not know."""
        before = part._flat_weights
        names = [f"{path}.{name}" if path else name for name in part._flat_weights_names]
        part.__dict__["_flat_weights"] = [self._tensors[name] for name in names]
        try:
            yield
        finally:
            part.__dict__["_flat_weights"] = before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _functionalized(traced: Callable[..., Any]) -> Callable[..., Any]:
    try:
        from torch.func import functionalize  # PyTorch 2
    except ImportError:
        from functorch.experimental import functionalize
    function: Callable[..., Any] = functionalize(lambda *flat: traced(*flat), remove="mutations")
    return function


@contextlib.contextmanager
def _restored(module: torch.nn.Module, buffers: dict[str, torch.Tensor]) -> Iterator[None]:
    """Buffers and random numbers afterwards are those before: real tensors were computed with."""
    before = {name: buffer.clone() for name, buffer in buffers.items()}
    random = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(random)
        with torch.no_grad():
            for name, buffer in before.items():
                buffers[name].copy_(buffer)


# ---- what cannot be captured


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except CaptureError:
        raise
    except Exception as error:
        where = _line_of_user(error)
        text = str(error).strip().splitlines()
        first = text[0] if text else type(error).__name__
        if _is_data_dependent(error):
            raise CaptureError(where, "uses the value of a tensor, so what the step computes is not known before it runs") from error
        raise CaptureError(where, f"cannot be captured: {first[:300]}") from error


def _is_data_dependent(error: BaseException) -> bool:
    kind, text = type(error).__name__, str(error)
    return (
        kind in ("DataDependentOutputException", "DynamicOutputShapeException", "GuardOnDataDependentSymNode")
        or "data-dependent" in text
        or "_local_scalar_dense" in text
        or "trying to get a value out of symbolic" in text
        or "item() on" in text
    )


def _line_of_user(error: BaseException) -> str:
    """The last line outside of PyTorch and poet that led to an error, as file:line: source."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = __file__.rsplit("/", 2)[0]
    for frame in reversed(frames):
        if "/torch/" in frame.filename or "/functorch/" in frame.filename or frame.filename.startswith((ours, "<")):
            continue
        return f"{frame.filename}:{frame.lineno}: {linecache.getline(frame.filename, frame.lineno or 0).strip()}"
    return "module"


def _refuse_data_dependence(traced: torch.fx.GraphModule) -> None:
    for node in traced.graph.nodes:
        tags = getattr(node.target, "tags", ())
        tag = torch.Tag
        if tag.data_dependent_output in tags or tag.dynamic_output_shape in tags:
            raise CaptureError(_name_of(node.target), "depends on the values of a tensor: what the step computes is not known before it runs")


# ---- from PyTorch's graph to ours


def _name_of(target: Any) -> str:
    schema = getattr(target, "_schema", None)
    return str(schema.name) if schema is not None else str(target)


def _is_view(target: Any) -> bool:
    if _name_of(target) in _UNSAID_VIEWS:
        return True
    returns = target._schema.returns
    return bool(returns) and returns[0].alias_info is not None and not returns[0].alias_info.is_write


def _writes(target: Any) -> bool:
    return any(a.alias_info is not None and a.alias_info.is_write for a in target._schema.arguments)


def _program(flat: torch.fx.GraphModule, places: Sequence[Place], parameters: int, trained: Sequence[int], views: AbstractSet[str]) -> Program:
    known: dict[torch.fx.Node, Any] = {}  # Place, View or Value; of operators that return lists the Op
    constants: list[torch.Tensor] = []
    ops: list[Op] = []
    buffers: dict[int, Any] = {}
    remaining = iter(places)
    results: Sequence[Any] = ()

    def of(tree: Any) -> Any:
        return torch.fx.node.map_aggregate(tree, lambda each: known[each] if isinstance(each, torch.fx.Node) else each)

    for node in flat.graph.nodes:
        if node.op == "placeholder":
            known[node] = next(remaining)
        elif node.op == "get_attr":
            known[node] = Place("constant", len(constants))
            constants.append(_constant(flat, node.target))
        elif node.op == "output":
            results = node.args[0]
        elif node.target is operator.getitem:
            known[node] = _item(known[node.args[0]], node)
        elif _name_of(node.target) in _IDENTITIES:
            known[node] = of(node.args[0])
        elif _name_of(node.target) == "aten::copy_" and isinstance(known[node.args[0]], Place):
            place = known[node.args[0]]
            if place.kind != "buffer":
                raise CaptureError("module", f"changes its {place.kind} in place; only buffers may change in a step")
            buffers[place.index] = of(node.args[1])
            known[node] = buffers[place.index]
        elif _name_of(node.target) in _FILLS and _is_whole(known[node.args[0]], known):
            filled = known[node.args[0]]
            # From here on whoever names the tensor means what it was filled with.
            known[node] = known[node.args[0]] = _op(ops, node, of, Filled(node.target))
            made = next(op for op in ops if filled in op.outputs.values())
            if _name_of(made.target) == "aten::empty_like":
                ops[-1].args = (made.args[0], *ops[-1].args[1:])
        elif _writes(node.target):
            raise CaptureError(str(node.target), "changes a tensor in place in a way that cannot be undone")
        elif node.name in views or _is_view(node.target):
            known[node] = View(node.target, of(tuple(node.args)), of(dict(node.kwargs)))
        else:
            known[node] = _op(ops, node, of)
    loss, *gradients = [known[each] if isinstance(each, torch.fx.Node) else each for each in results]
    _number(ops)
    last_forward = max((value.op for value in values_of(loss)), default=-1)
    for op in ops[last_forward + 1 :]:
        op.is_backward = True
    by_parameter: list[Any] = [None] * parameters
    for i, gradient in zip(trained, gradients):
        by_parameter[i] = gradient
    return without_unused(Program(ops, loss, by_parameter, buffers, constants))


def _is_whole(what: Any, known: dict[torch.fx.Node, Any]) -> bool:
    """Whether it is a value of which no view has been made."""
    views = [each for each in known.values() if isinstance(each, View)]
    return isinstance(what, Value) and not any(what in values_of(view) for view in views)


def _op(ops: list[Op], node: torch.fx.Node, of: Callable[[Any], Any], target: Any = None) -> Any:
    target = target or node.target
    returns = target._schema.returns
    is_list = len(returns) > 1 or "[]" in str(returns[0].type)
    op = Op(
        name=node.name,
        target=target,
        args=of(tuple(node.args)),
        kwargs=of(dict(node.kwargs)),
        outputs={},
        is_backward=False,
        is_list=is_list,
        is_random=torch.Tag.nondeterministic_seeded in target.tags,
    )
    positions = _STATISTICS.get(_name_of(target), ())
    op.statistics = tuple(i for i in positions if isinstance(op.args[i], Place) and op.args[5])  # in training
    ops.append(op)
    if is_list:
        return op
    op.outputs[0] = Value(node.name, -1, 0)
    return op.outputs[0]


def _item(source: Any, node: torch.fx.Node) -> Any:
    index: int = node.args[1]
    if isinstance(source, Op):
        if index not in source.outputs:
            source.outputs[index] = Value(f"{source.name}.{index}", -1, index)
        return source.outputs[index]
    return View(source.target, source.args, source.kwargs, index)


def _constant(flat: torch.fx.GraphModule, name: str) -> torch.Tensor:
    tensor: Any = flat
    for part in name.split("."):
        tensor = getattr(tensor, part)
    constant = getattr(tensor, "constant", None)  # of a fake tensor
    if constant is not None:
        tensor = constant
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise NeedsRealTensors(name)
    return tensor.detach()


class NeedsRealTensors(Exception):
    """Fake tensors did not do: the step has to be captured on real ones."""


def _number(ops: Sequence[Op]) -> None:
    for i, op in enumerate(ops):
        for value in op.outputs.values():
            value.op = i


def without_unused(program: Program) -> Program:
    """Without operators whose results nobody reads, and with operators numbered."""
    needed = set(program.results())
    kept = []
    for op in reversed(program.ops):
        if op.statistics or any(value in needed for value in op.outputs.values()):
            needed.update(op.reads())
            kept.append(op)
    kept.reverse()
    for op in kept:
        op.outputs = {index: value for index, value in sorted(op.outputs.items()) if value in needed}
    _number(kept)
    program.ops = kept
    return program
