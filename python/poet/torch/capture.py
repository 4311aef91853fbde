"""Captures a module's training step as a Program: forward pass, loss and gradients as PyTorch's own (ATen) operators.

make_fx runs the step on fake tensors, which have shapes but no contents, so nothing is computed and no memory is taken;
functional.py makes a Program of the graph.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import threading
import traceback
from typing import AbstractSet, Any, Callable, Iterator

import torch
import torch.utils._pytree as pytree
from torch.fx.experimental.proxy_tensor import make_fx

from .errors import CaptureError
from .functional import dtype_of, name_of, program_of
from .program import Place, Program

# Their formulas ask whether tensors are of a class of their own, and take another way if so.
_GRADIENT_DIFFERS = {"aten::cumprod", "aten::prod"}
# One at a time: make_fx changes state of the whole process.
_capturing = threading.RLock()


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
    replaced: dict[str, Any] = {}
    with _capturing, _restored(module, buffers if real else {}, replaced), _refusals(real):
        with torch.enable_grad(), _kernels_whole():
            traced = make_fx(step, tracing_mode=mode)(*inputs)
        _refuse_data_dependence(traced)
    kinds = [Place("parameter", i) for i in range(len(parameters))]
    kinds += [Place("buffer", i) for i in range(len(buffers))]
    kinds += [Place("batch", i) for i in range(len(tensors))]
    program = program_of(traced, kinds, len(parameters), trained, views)
    _refuse_state(replaced, program)
    return program


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


@contextlib.contextmanager
def _kernels_whole() -> Iterator[None]:
    """make_fx takes operators apart that have a decomposition. Those that have a kernel of their own, too, stay whole: PyTorch
    alone runs the kernel, and the parts round otherwise."""
    overload = torch._ops.OpOverload
    original = overload.decompose

    def decompose(self: Any, *args: Any, **kwargs: Any) -> Any:
        schema = self._schema
        name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        if torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU"):
            return NotImplemented
        return original(self, *args, **kwargs)

    overload.decompose = decompose
    try:
        yield
    finally:
        overload.decompose = original


@contextlib.contextmanager
def _restored(module: torch.nn.Module, buffers: dict[str, torch.Tensor], replaced: dict[str, Any]) -> Iterator[None]:
    """Attributes of the module, random numbers and, of `buffers`, contents afterwards are those before. `replaced`: gets what
    attributes were that the step has replaced, by their names."""
    contents = {name: buffer.clone() for name, buffer in buffers.items()}
    attributes = [(path, part, dict(vars(part))) for path, part in module.named_modules()]
    random = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(random)
        for path, part, before in attributes:
            now = vars(part)
            for name in now:
                if before.get(name) is not now[name] and name != "_flat_weights":
                    replaced[".".join(filter(None, (path, name)))] = before.get(name)
            now.clear()
            now.update(before)
        with torch.no_grad():
            for name, buffer in contents.items():
                buffers[name].copy_(buffer)


def _refuse_state(replaced: dict[str, Any], program: Program) -> None:
    """Attributes that steps replace are results for whoever looks at them, unless the next step goes on from them."""
    read = {constant.data_ptr() for constant in program.constants}
    for name, before in replaced.items():
        if before is not None and not (isinstance(before, torch.Tensor) and before.data_ptr() not in read):
            raise CaptureError(name, "is changed by the step and goes into the next; make it a buffer and change it in place")


# ---- what cannot be captured


@contextlib.contextmanager
def _refusals(real: bool) -> Iterator[None]:
    try:
        yield
    except (CaptureError, NeedsRealTensors):
        raise
    except Exception as error:
        if not real and "non-Fake Tensor inputs" in str(error):
            raise NeedsRealTensors(str(error)) from error
        where = _line_of_user(error)
        text = str(error).strip().splitlines()
        first = text[0] if text else type(error).__name__
        if _is_data_dependent(error):
            raise CaptureError(where, "uses the value of a tensor, so what the step computes is not known before it runs") from error
        raise CaptureError(where, f"cannot be captured: {first[:300]}") from error


class NeedsRealTensors(Exception):
    """Fake tensors did not do, as the step has tensors besides parameters, buffers and batch: it has to be captured on real ones."""


def _is_data_dependent(error: BaseException) -> bool:
    kind, text = type(error).__name__, str(error)
    return (
        kind in ("DataDependentOutputException", "DynamicOutputShapeException", "GuardOnDataDependentSymNode")
        or "data-dependent" in text
        or "_local_scalar_dense" in text
        or "trying to get a value out of symbolic" in text
    )


def _line_of_user(error: BaseException) -> str:
    """The last line outside of PyTorch and poet that led to an error, as file:line: source."""
    frames = traceback.extract_tb(error.__traceback__)
    libraries = tuple(os.path.dirname(file) for file in (torch.__file__, __file__)) + ("<",)
    for frame in reversed(frames):
        if frame.filename.startswith(libraries) or "/functorch/" in frame.filename:
            continue
        return f"{frame.filename}:{frame.lineno}: {linecache.getline(frame.filename, frame.lineno or 0).strip()}"
    return "module"


def _refuse_data_dependence(traced: torch.fx.GraphModule) -> None:
    for node in traced.graph.nodes:
        tags = getattr(node.target, "tags", ())
        tag = torch.Tag
        if name_of(node.target) == "aten::index" and not any(_is_mask(index) for index in node.args[1]):
            continue  # by numbers: the shape is known
        if tag.data_dependent_output in tags or tag.dynamic_output_shape in tags:
            raise CaptureError(name_of(node.target), "depends on the values of a tensor: what the step computes is not known before it runs")
        if name_of(node.target) in _GRADIENT_DIFFERS:
            raise CaptureError(name_of(node.target), "has a gradient that PyTorch computes in another way while a step is captured: bits would differ")


def _is_mask(index: Any) -> bool:
    return index is not None and dtype_of(index) in (torch.bool, torch.uint8)
