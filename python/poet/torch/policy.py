"""A step's plan for those who stay with autograd or torch.compile: as contexts of torch.utils.checkpoint."""

from __future__ import annotations

import builtins
import contextlib
import keyword
from collections import Counter
from typing import Any, Callable, ContextManager, Optional, Union

import torch

from .._arguments import names_mistakes
from ..errors import InputError
from ..plans import Plan
from .functional import name_of
from .program import Op, Program, Value
from .step import Step
from .tape import Course, Tape

Contexts = tuple[ContextManager[Any], ContextManager[Any]]


@names_mistakes
def policy(step: Step) -> Callable[[], Contexts]:
    """The plan of a step from compile_step() as a `context_fn` of torch.utils.checkpoint, for training loops that keep autograd or torch.compile.

        kept = poet.torch.policy(step)
        loss = loss_fn(checkpoint(model, images, use_reentrant=False, context_fn=kept), labels)
        loss.backward()

    One checkpoint goes around the whole forward pass of the step's module, on batches of the shapes that the step ran or was compiled with last;
    the loss may be outside. Values that the plan keeps from the forward to the backward pass are kept, and so is what it pages: a step of
    compile_step(..., storage=None) pages nothing. The others are freed, and computed again.

    Without torch.compile they are computed again one by one, where the plan does it; a checkpoint by itself would compute all of them at the
    beginning of the backward pass, when they need as much memory as before. Loss, gradients, buffers and generator are equal to PyTorch's in
    every bit. Memory is the plan's, except for what autograd holds longer than a step does (gradients, and what Python names); memory that
    updates="early" saves is not saved.

    While torch.compile traces, the contexts are those of create_selective_checkpoint_contexts(): the n-th call of an operator in the forward pass
    is MUST_SAVE or MUST_RECOMPUTE as the plan has it, views are PREFER_RECOMPUTE, operators that draw random numbers MUST_SAVE. Its partitioner
    then decides the order.

    Raises InputError with PyTorch older than 2.4, which has no selective checkpoints. The forward pass raises CaptureError where it is not the step's.
    """
    if not isinstance(step, Step):
        raise TypeError(f"step: must be what compile_step() returns, not {type(step).__name__}")
    if not hasattr(torch.utils.checkpoint, "create_selective_checkpoint_contexts"):
        raise InputError("policy", f"needs PyTorch 2.4 or newer: {torch.__version__} has no selective checkpoints")

    latest: Optional[tuple[Plan, Course]] = None

    def context_fn() -> Contexts:
        nonlocal latest
        compiled = step._current()
        if latest is None or latest[0] is not compiled.plan:
            latest = compiled.plan, course_of(compiled.program, compiled.plan)
        course = latest[1]
        if torch._guards.detect_fake_mode() is not None:
            contexts: Contexts = torch.utils.checkpoint.create_selective_checkpoint_contexts(choices(course))
            return contexts
        return Tape(course, compiled.device), contextlib.nullcontext()

    return context_fn


def course_of(program: Program, plan: Plan) -> Course:
    """Returns what a plan makes of a program for autograd. What it pages is kept until it is freed for good."""
    ops = {op.name: op for op in program.ops}
    values = {value.name: value for op in program.ops for value in op.outputs.values()}
    moves: list[Union[Op, Value]] = []
    comes_back: set[str] = set()
    for row in reversed(list(plan.steps())):
        kind, name = row["kind"], row["name"]
        if kind == "page_in":
            comes_back.add(name)
        elif kind == "free" and name not in comes_back:
            moves.append(values[name])
        elif kind == "free":
            comes_back.discard(name)
        elif kind == "compute" and name in ops:
            moves.append(ops[name])
    moves.reverse()
    backward = moves.index(next(op for op in reversed(program.ops) if not op.is_backward)) + 1
    kept: set[Value] = set()
    for move in moves[:backward]:
        if isinstance(move, Op):
            kept.update(move.outputs.values())
        else:
            kept.discard(move)
    return Course(program, frozenset(kept), moves[backward:])


def choices(course: Course) -> Callable[..., Any]:
    """Returns a policy function for create_selective_checkpoint_contexts(): of the n-th call of an operator in the forward pass, and of the n-th
    while it is computed again, what the plan does with its results. Calls that the program lacks, as nothing depends on them, are recomputed."""
    is_kept: dict[tuple[str, int], bool] = {}
    for op in course.program.ops:
        number = _number(op)
        if not op.is_backward and number is not None:
            is_kept[number] = op.is_random or not course.kept.isdisjoint(op.outputs.values())
    calls: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    choice = torch.utils.checkpoint.CheckpointPolicy

    def chosen(context: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        name = name_of(op).split("::")[-1]
        counted = calls[context.is_recompute]
        counted[name] += 1
        keeps = is_kept.get((name, counted[name] - 1))
        if keeps is None:
            return choice.PREFER_RECOMPUTE
        return choice.MUST_SAVE if keeps else choice.MUST_RECOMPUTE

    return chosen


def _number(op: Op) -> Optional[tuple[str, int]]:
    """Returns an operator's name and the how manieth of its calls it is, from 0: the graph's names are "add", "add_1", and for a name that
    Python has "sum_1", "sum_2". None: a copy that capturing put in."""
    name = name_of(op.target).split("::")[-1]
    for called in (f"{name}_", name):  # one that changes a tensor in place may be computed by the other
        first = 1 if called in vars(builtins) or keyword.iskeyword(called) else 0
        if op.name == called:
            return called, 0
        if op.name.startswith(f"{called}_") and op.name[len(called) + 1 :].isdigit():
            return called, int(op.name[len(called) + 1 :]) - first
    return None
