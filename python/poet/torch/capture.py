"""Captures a module's training step as a Program: forward pass, loss and gradients as PyTorch's own (ATen) operators.

make_fx runs the step on fake tensors, which have shapes but no contents, so nothing is computed and no memory is taken;
functional.py makes a Program of the graph.
"""

from __future__ import annotations

import dataclasses
from typing import AbstractSet, Any, Callable

import torch
import torch.utils._pytree as pytree
from torch.fx.experimental.proxy_tensor import make_fx

from .asking import Asked
from .checkpoints import no_checkpoints
from .errors import CaptureError
from .functional import program_of
from .module_state import Left, contents_restored, having, parameters_of
from .patches import as_in_steps, autocast_cache, no_other_draws, nothing_left_in
from .program import Place, Program
from .refusals import GOES_ON, refusals, refuse_data_dependence, refuse_state
from .returned import Returned
from .subject import Subject


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
        asking.append(asked)
        returns.append(returned)
        return [*returned.tensors, *gradients, *left.buffers.values(), *(left.attributes[name][1] for name in _set_anew(lefts[0]))]

    mode = "real" if real else "fake"
    lefts: list[Left] = []
    asking: list[Asked] = []
    returns: list[Returned] = []
    attributes = [each for part in module.modules() for each in vars(part).values() if isinstance(each, torch.Tensor)]
    # PyTorch 2 changes tensors that are not fake also while it captures on fake ones.
    read = [*inputs, *attributes]
    with contents_restored(read if real else attributes, of.device), no_other_draws(), refusals(real), nothing_left_in(read):
        with torch.enable_grad(), as_in_steps(of.device), no_checkpoints() as is_checkpointed:
            traced = make_fx(step, tracing_mode=mode)(*inputs)
            constants = [getattr(traced, str(node.target)) for node in traced.graph.nodes if node.op == "get_attr"]
            read += [each for each in constants if isinstance(each, torch.Tensor)]
            fresh = {name: now for name, (before, now) in lefts[0].attributes.items() if before is None and isinstance(now, torch.Tensor)}
            for name, now in fresh.items():
                _refuse_if_read(module, name, now, traced, lambda: make_fx(step, tracing_mode=mode)(*inputs))
        refuse_data_dependence(traced, real)
    kinds = [Place("parameter", i) for i in range(len(parameters))]
    kinds += [Place("buffer", i) for i in range(len(buffers))]
    kinds += [Place("batch", i) for i in range(len(of.tensors))]
    assigned = [list(buffers).index(name) for name in lefts[0].buffers]
    program = program_of(traced, kinds, len(parameters), len(returns[0].tensors), trained, assigned, _set_anew(lefts[0]), views)
    refuse_state({name: before for name, (before, _) in lefts[0].attributes.items()}, program)
    program.is_checkpointed = is_checkpointed()
    program.replaced = frozenset(lefts[0].attributes)
    program.guards = asking[0].guards
    program.fresh |= {i for i, constant in enumerate(program.constants) if any(constant.data_ptr() == each.data_ptr() for each in asking[0].constants)}
    program.returned = dataclasses.replace(returns[0], tensors=[])
    return program


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
        raise CaptureError(name, GOES_ON)
