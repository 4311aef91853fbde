"""Captures a module's training step as a Program: forward pass, loss and gradients as PyTorch's own (ATen) operators.

make_fx runs the step on fake tensors, which have shapes but no contents, so nothing is computed and no memory is taken;
functional.py makes a Program of the graph.
"""

from __future__ import annotations

import contextlib
import dataclasses
import linecache
import random
import sys
import traceback
from typing import AbstractSet, Any, Callable, Iterator, Sequence

import torch
import torch.utils._pytree as pytree
import torch.utils.dlpack
from torch.fx.experimental import proxy_tensor
from torch.fx.experimental.proxy_tensor import make_fx

from .checkpoints import no_checkpoints
from .device import Device
from .errors import CaptureError, NeedsRealTensors
from .fake_tensors import errors_untold, fake_huber_loss
from .functional import dtype_of, name_of, program_of
from .foreign import is_foreign
from .guards import Asked, Guard, Unfit
from .label_smoothing import shapes_known
from .module_state import Left, contents_restored, having, parameters_of
from .program import Place, Program
from .returned import Returned
from .subject import Subject

# Their formulas ask whether tensors are of a class of their own, and take another way if so.
_GRADIENT_DIFFERS = {"aten::cumprod", "aten::prod"}


def capture(of: Subject, real: bool = False, views: AbstractSet[str] = frozenset()) -> Program:
    """Captures the step: what is returned, the loss among it, and the gradients. `real`: run it on the tensors themselves, in the memory of a
    whole step, where fake tensors do not suffice. `views`: names of operators known to return their operand's storage.

    Raises CaptureError naming the line or operator that cannot be captured.
    """
    module = of.module
    parameters, buffers, names = parameters_of(module)
    trained = [i for i, p in enumerate(parameters.values()) if p.requires_grad]
    if not trained:
        raise CaptureError("module", "has no parameter that requires a gradient")
    parts, spec = pytree.tree_flatten(of.batch)
    # make_fx goes by objects: one that the batch has twice, or shares with the module, would be one input for ever.
    inputs = [*parameters.values(), *buffers.values(), *(tensor.detach() for tensor in of.tensors)]
    attributes_of_inputs = [dict(vars(tensor)) for tensor in (*parameters.values(), *buffers.values(), *of.tensors)]  # that code gave them
    casts_once = torch.is_autocast_cache_enabled()

    def step(*flat: torch.Tensor) -> list[Any]:
        for tensor, attributes_of_it in zip(flat, attributes_of_inputs):
            vars(tensor).update(attributes_of_it)
        mine = flat[: len(parameters)]
        given = flat[len(parameters) + len(buffers) :]
        asked = Asked(given, flat[: len(parameters) + len(buffers)], real, of.device)
        with having(module, names, dict(zip([*parameters, *buffers], flat))) as left, autocast_cache(casts_once), asked:
            of_batch = iter(given)
            filled = [next(of_batch) if isinstance(leaf, torch.Tensor) else leaf for leaf in parts]
            result = of.forward(module, pytree.tree_unflatten(filled, spec))
            returned = Returned.of(result)
            loss = of.updates.scaled(returned.tensors[returned.loss])
        gradients = torch.autograd.grad(loss, [mine[i] for i in trained], allow_unused=True)
        lefts.append(left)
        guards[:] = asked.guards
        made[:] = asked.constants
        returns.append(returned)
        return [*returned.tensors, *gradients, *left.buffers.values(), *(left.attributes[name][1] for name in _set_anew(lefts[0]))]

    mode = "real" if real else "fake"
    lefts: list[Left] = []
    guards: list[Guard] = []
    made: list[torch.Tensor] = []
    returns: list[Returned] = []
    attributes = [each for part in module.modules() for each in vars(part).values() if isinstance(each, torch.Tensor)]
    # PyTorch 2 changes tensors that are not fake also while it captures on fake ones.
    read = [*inputs, *attributes]
    with contents_restored(read if real else attributes, of.device), _no_other_draws(), _refusals(real), _nothing_left_in(read):
        with torch.enable_grad(), _as_in_steps(of.device), no_checkpoints() as is_checkpointed:
            traced = make_fx(step, tracing_mode=mode)(*inputs)
            constants = [getattr(traced, str(node.target)) for node in traced.graph.nodes if node.op == "get_attr"]
            read += [each for each in constants if isinstance(each, torch.Tensor)]
            fresh = {name: now for name, (before, now) in lefts[0].attributes.items() if before is None and isinstance(now, torch.Tensor)}
            for name, now in fresh.items():
                _refuse_if_read(module, name, now, traced, lambda: make_fx(step, tracing_mode=mode)(*inputs))
        _refuse_data_dependence(traced, real)
    kinds = [Place("parameter", i) for i in range(len(parameters))]
    kinds += [Place("buffer", i) for i in range(len(buffers))]
    kinds += [Place("batch", i) for i in range(len(of.tensors))]
    assigned = [list(buffers).index(name) for name in lefts[0].buffers]
    program = program_of(traced, kinds, len(parameters), len(returns[0].tensors), trained, assigned, _set_anew(lefts[0]), views)
    _refuse_state({name: before for name, (before, _) in lefts[0].attributes.items()}, program)
    program.is_checkpointed = is_checkpointed()
    program.replaced = frozenset(lefts[0].attributes)
    program.guards = guards
    program.fresh |= {i for i, constant in enumerate(program.constants) if any(constant.data_ptr() == each.data_ptr() for each in made)}
    program.returned = dataclasses.replace(returns[0], tensors=[])
    return program


@contextlib.contextmanager
def _as_in_steps(device: Device) -> Iterator[None]:
    """PyTorch runs as a step does, with what it has otherwise while code is captured put right."""
    with _kernels_whole(device), _data_stays(), _all_is_shown(), _no_validation(), fake_huber_loss(), shapes_known(device), errors_untold():
        yield


@contextlib.contextmanager
def _nothing_left_in(tensors: Sequence[torch.Tensor]) -> Iterator[None]:
    """make_fx keeps what it traces in attributes of tensors, for good: a copy of the module would take that along, and fail."""
    try:
        yield
    finally:
        for tensor in tensors:
            for name in [name for name, each in vars(tensor).items() if name is proxy_tensor.proxy_slot or isinstance(each, torch.fx.Proxy)]:
                del vars(tensor)[name]


@contextlib.contextmanager
def _kernels_whole(device: Device) -> Iterator[None]:
    """Keeps operators whole that have both a decomposition and a kernel: make_fx would decompose them, while plain PyTorch runs the
    kernel, which rounds differently."""
    overload = torch._ops.OpOverload
    original = overload.decompose

    def decompose(self: Any, *args: Any, **kwargs: Any) -> Any:
        schema = self._schema
        name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        if torch._C._dispatch_has_kernel_for_dispatch_key(name, device.kernels):
            return NotImplemented
        return original(self, *args, **kwargs)

    overload.decompose = decompose
    try:
        yield
    finally:
        overload.decompose = original


@contextlib.contextmanager
def _data_stays() -> Iterator[None]:
    """Rejects assignments to a tensor's .data, which no operator shows."""
    getter = torch._C._TensorBase.data.__get__

    def refuse(self: torch.Tensor, value: Any) -> None:
        raise CaptureError(line_of_caller(), "assigns .data, which steps cannot follow; change the tensor in place")

    torch.Tensor.data = property(lambda self: getter(self), refuse)
    try:
        yield
    finally:
        del torch.Tensor.data


@contextlib.contextmanager
def _no_validation() -> Iterator[None]:
    """Distributions do not look at the values of their arguments, unless they are made with validate_args=True."""
    kind = torch.distributions.Distribution
    before = kind._validate_args
    kind.set_default_validate_args(False)
    try:
        yield
    finally:
        kind.set_default_validate_args(before)


@contextlib.contextmanager
def _all_is_shown() -> Iterator[None]:
    """Refuses functions of which no operator shows what they do: those that set PyTorch's generator, and those that hand over memory."""

    def refuse(why: str) -> Callable[..., Any]:
        def refused(*args: Any, **options: Any) -> Any:
            raise CaptureError(line_of_caller(), why)

        return refused

    sets = refuse("sets the state of PyTorch's generator, which steps cannot follow; set it before the step")
    shares = refuse("hands over the memory of a tensor, which steps cannot follow; numpy() does so")
    places = [(place, name, sets) for place in (torch, torch.random) for name in ("manual_seed", "seed", "set_rng_state")]
    places += [(place, "to_dlpack", shares) for place in (torch, torch.utils.dlpack)] + [(torch.Tensor, "__dlpack__", shares)]
    before = [getattr(place, name) for place, name, _ in places]
    for place, name, function in places:
        setattr(place, name, function)
    try:
        yield
    finally:
        for (place, name, _), function in zip(places, before):
            setattr(place, name, function)


@contextlib.contextmanager
def _no_other_draws() -> Iterator[None]:
    """Refuses code that draws numbers from another generator than PyTorch's: a captured step would have the first ones for ever."""
    numpy = sys.modules.get("numpy")
    python_state, numpy_state = random.getstate(), numpy.random.get_state(legacy=False) if numpy else None
    drawn: list[str] = []
    try:
        yield
    finally:
        if random.getstate() != python_state:
            random.setstate(python_state)
            drawn.append("random")
        if numpy and repr(numpy.random.get_state(legacy=False)) != repr(numpy_state):
            numpy.random.set_state(numpy_state)
            drawn.append("numpy.random")
    if drawn:
        raise CaptureError("module", f"draws numbers by {' and '.join(drawn)}, which steps cannot follow; draw with PyTorch, or put what is drawn into the batch")


@contextlib.contextmanager
def autocast_cache(enabled: bool) -> Iterator[None]:
    """A forward pass of its own: with the cache, on by default, autocast casts a parameter once, so that the gradients of its uses are added
    up before they are cast back. make_fx switches the cache off."""
    before = torch.is_autocast_cache_enabled()
    torch.clear_autocast_cache()
    torch.set_autocast_cache_enabled(enabled)
    try:
        yield
    finally:
        torch.set_autocast_cache_enabled(before)
        torch.clear_autocast_cache()


_GOES_ON = (
    "is changed by the step and goes into the next; make it a buffer and change it in place, or collect what the step returns; "
    "what code sets up in its first run is there after one without poet"
)


def _set_anew(left: Left) -> list[str]:
    """Attributes that had a tensor and got another: pruning and weight norm make the weights that a layer reads in every forward pass."""
    return [name for name, both in left.attributes.items() if all(isinstance(each, torch.Tensor) for each in both)]


def _refuse_if_read(module: torch.nn.Module, name: str, now: torch.Tensor, traced: torch.fx.GraphModule, again: Callable[[], Any]) -> None:
    """Raises CaptureError if the step reads the attribute `name`, which was None and became a tensor; else it is a result."""
    path, _, attribute = name.rpartition(".")
    part = module.get_submodule(path)
    was_there = attribute in vars(part)
    vars(part)[attribute] = torch.zeros(tuple(now.shape), dtype=now.dtype)
    try:
        same = again().code == traced.code
    except Exception:  # it meets the tensor
        same = False
    finally:
        if was_there:
            vars(part)[attribute] = None
        else:
            del vars(part)[attribute]
    if not same:
        raise CaptureError(name, _GOES_ON)


def _refuse_state(replaced: dict[str, Any], program: Program) -> None:
    """Raises CaptureError for replaced attributes that the next step may read; others are results."""
    read = {constant.data_ptr() for constant in program.constants}
    for name, before in replaced.items():
        if before is not None and not (isinstance(before, torch.Tensor) and before.data_ptr() not in read):
            raise CaptureError(name, _GOES_ON)


# ---- what cannot be captured


@contextlib.contextmanager
def _refusals(real: bool) -> Iterator[None]:
    try:
        yield
    except (CaptureError, NeedsRealTensors):
        raise
    except Exception as error:
        if not real:  # it may ask for values, or have tensors that are not fake
            raise NeedsRealTensors(str(error)) from error
        if "_opaque_obj" in str(error) or any(says in str(error) for says in ("non-Fake Tensor inputs", "allow_non_fake_inputs")):  # PyTorch 1, 2
            raise NeedsRealTensors(str(error)) from error
        where = _line_of_user(error)
        if isinstance(error, Unfit):
            raise CaptureError(where, str(error)) from None
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
    )


def line_of_caller() -> str:
    """Returns the innermost line outside of PyTorch, Python and poet that is at work, as file:line: source."""
    for frame in reversed(traceback.extract_stack()):
        if not is_foreign(frame.filename):
            return f"{frame.filename}:{frame.lineno}: {linecache.getline(frame.filename, frame.lineno or 0).strip()}"
    return "module"


def _line_of_user(error: BaseException) -> str:
    """Returns the innermost line outside of PyTorch, Python and poet in an error's traceback, as file:line: source."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if is_foreign(frame.filename) or frame.filename.startswith("<") or "/functorch/" in frame.filename:
            continue
        return f"{frame.filename}:{frame.lineno}: {linecache.getline(frame.filename, frame.lineno or 0).strip()}"
    return "module"


def _refuse_data_dependence(traced: torch.fx.GraphModule, real: bool) -> None:
    for node in traced.graph.nodes:
        tags = getattr(node.target, "tags", ())
        tag = torch.Tag
        if name_of(node.target) == "aten::index" and not any(_is_mask(index) for index in node.args[1]):
            continue  # by numbers: the shape is known
        if name_of(node.target) == "aten::_ctc_loss":
            continue  # its lengths are guards
        if "_sparse_" in name_of(node.target):
            raise CaptureError(name_of(node.target), "makes a sparse gradient, which steps cannot hold; sparse=False makes a dense one")
        if tag.data_dependent_output in tags and not real:
            raise NeedsRealTensors(name_of(node.target))
        if tag.data_dependent_output in tags or tag.dynamic_output_shape in tags:
            raise CaptureError(name_of(node.target), "depends on the values of a tensor: what the step computes is not known before it runs")
        if name_of(node.target) in _GRADIENT_DIFFERS or _is_spread(node):
            raise CaptureError(name_of(node.target), "has a gradient that PyTorch computes in another way while a step is captured: bits would differ")


def _is_spread(node: torch.fx.Node) -> bool:
    """Whether it is max(), min() or median() of a whole tensor with a gradient, which is spread over the elements that equal it."""
    if str(node.target) not in ("aten.max.default", "aten.min.default", "aten.median.default"):
        return False
    return {"aten::isnan", "aten::eq"} <= {name_of(user.target) for user in node.args[0].users}


def _is_mask(index: Any) -> bool:
    return index is not None and dtype_of(index) in (torch.bool, torch.uint8)
