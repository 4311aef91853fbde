"""Code generation: a plan as a Python function with one line per operator, transfer and deletion."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Callable, Sequence

import torch

from ..errors import InternalError
from ..plans import Plan
from .problem import END, update_name
from .program import Op, Place, Program, Value, View, leaves, values_of

_BLOCK = 4096  # pages begin at multiples of it


@dataclasses.dataclass
class Code:
    """`source` of the function `step`; `names`: its globals; `file_bytes`: the size of its page file."""

    source: str
    names: dict[str, Any]
    file_bytes: int

    def function(self) -> Callable[..., Any]:
        scope = dict(self.names)
        exec(compile(self.source, "<step of poet>", "exec"), scope)  # noqa: S102  # made of the plan above
        return scope["step"]  # type: ignore[no-any-return]


def code_of(program: Program, plan: Plan, one_by_one: bool) -> Code:
    """Returns the function step(parameters, buffers, batch, constants, pages, draw, again, update) -> outputs, gradients, buffers.

    `pages`: a PageFile. `draw(n)` saves the generator's state, and the context again(n) restores it. `update(k, gradient)` updates
    parameter k or keeps its gradient, if gradients are used `one_by_one`; else all are returned.
    """
    return _Writer(program, plan, one_by_one).code()


class _Writer:
    def __init__(self, program: Program, plan: Plan, one_by_one: bool) -> None:
        self.program = program
        self.plan = plan
        self.one_by_one = one_by_one
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"torch": torch}
        self.by_object: dict[int, str] = {}
        self.place: dict[Value, int] = {}
        self.end_of_file = 0
        self.alive: set[Value] = set()
        self.moving: dict[Value, str] = {}  # with a transfer under way, and which
        self.computed: set[str] = set()
        self.draws: dict[str, int] = {}

    def code(self) -> Code:
        ops = {op.name: op for op in self.program.ops}
        values = {value.name: value for op in self.program.ops for value in op.outputs.values()}
        updates = {update_name(k): k for k in range(len(self.program.gradients))}
        steps = self.plan.steps()
        times: dict[str, int] = {}
        for step in steps:
            if step["kind"] == "compute":
                times[step["name"]] = times.get(step["name"], 0) + 1
        for step in steps:
            kind, name = step["kind"], step["name"]
            if kind == "compute" and name in ops:
                self.compute(ops[name], times[name] > 1)
            elif kind == "compute" and name in updates:
                k = updates[name]
                self.wait_for(values_of(self.program.gradients[k]))
                self.line(f"update({k}, {self.text(self.program.gradients[k])})")
            elif kind == "compute" and name == END:
                break
            elif kind == "compute":
                raise InternalError(f"the plan computes {name}, which the step does not have")
            elif kind == "page_out":
                self.page_out(values[name])
            elif kind == "page_in":
                self.page_in(values[name])
            elif kind == "wait" and name in values:
                self.wait_for([values[name]])
            elif kind == "free":
                self.wait_for([values[name]])
                self.line(f"del {_variable(values[name])}")
                self.alive.discard(values[name])
        return self.finished()

    def finished(self) -> Code:
        self.wait_for(list(self.moving))
        gradients = "None" if self.one_by_one else "[" + ", ".join(self.text(g) for g in self.program.gradients) + "]"
        buffers = ", ".join(f"{i}: {self.own(new)}" for i, new in self.program.buffers.items())
        outputs = ", ".join(self.text(output) for output in self.program.outputs)
        self.line(f"return [{outputs}], {gradients}, {{{buffers}}}")
        head = "def step(parameters, buffers, batch, constants, pages, draw, again, update):\n"
        return Code(head + "".join(f"    {line}\n" for line in self.lines), self.names, self.end_of_file)

    def own(self, new: Any) -> str:
        """Returns the expression for a buffer's new contents; copied where they are another buffer, which may change, too."""
        others = [leaf for leaf in leaves(new) if isinstance(leaf, Place) and leaf.kind == "buffer"]
        return f"{self.text(new)}.clone()" if others else self.text(new)

    # ---- one step of the plan

    def compute(self, op: Op, repeated: bool) -> None:
        self.wait_for([value for value in op.reads() if self.moving.get(value) == "in"])
        again = op.name in self.computed
        self.computed.add(op.name)
        call = self.call(op)
        indent = ""
        if op.is_random and again:
            self.line(f"with again({self.draws[op.name]}):")
            indent = "    "
        elif op.is_random and repeated:
            self.draws[op.name] = len(self.draws)
            self.line(f"draw({self.draws[op.name]})")
        wanted = {index: value for index, value in op.outputs.items() if value not in self.alive}
        if not op.is_list and wanted:
            self.line(f"{indent}{_variable(op.outputs[0])} = {call}")
        elif not wanted:
            self.line(indent + call)
        else:
            self.line(f"{indent}results = {call}")
            for index, value in wanted.items():
                self.line(f"{_variable(value)} = results[{index}]")
            self.line("del results")
        self.alive.update(wanted.values())

    def call(self, op: Op) -> str:
        args = [self.text(arg) for arg in op.args]
        args += [f"{name}={self.text(arg)}" for name, arg in op.kwargs.items()]
        return f"{self.object(op.target)}({', '.join(args)})"

    def page_out(self, value: Value) -> None:
        self.wait_for([value])
        if value not in self.place:
            self.place[value] = self.end_of_file
            self.end_of_file += -(-value.bytes // _BLOCK) * _BLOCK
        variable = _variable(value)
        self.line(f"{variable}_moves = pages.write({variable}, {self.place[value]})")
        self.moving[value] = "out"

    def page_in(self, value: Value) -> None:
        variable = _variable(value)
        self.line(f"{variable}, {variable}_moves = pages.read({self.object(value.layout)}, {self.place[value]})")
        self.moving[value] = "in"
        self.alive.add(value)

    def wait_for(self, values: Sequence[Value]) -> None:
        for value in values:
            if self.moving.pop(value, None) is not None:
                self.line(f"{_variable(value)}_moves.wait()")
                self.line(f"del {_variable(value)}_moves")

    def line(self, text: str) -> None:
        self.lines.append(text)

    # ---- expressions

    def text(self, tree: Any) -> str:
        if isinstance(tree, Value):
            return _variable(tree)
        if isinstance(tree, Place):
            return f"{_LISTS[tree.kind]}[{tree.index}]"
        if isinstance(tree, View):
            args = [self.text(arg) for arg in tree.args] + [f"{name}={self.text(arg)}" for name, arg in tree.kwargs.items()]
            item = "" if tree.item is None else f"[{tree.item}]"
            return f"{self.object(tree.target)}({', '.join(args)}){item}"
        if isinstance(tree, tuple):
            return "(" + "".join(f"{self.text(each)}, " for each in tree) + ")"
        if isinstance(tree, list):
            return "[" + ", ".join(self.text(each) for each in tree) + "]"
        if tree is None or isinstance(tree, (bool, int, str, torch.dtype, torch.memory_format, torch.layout)):
            return repr(tree)
        if isinstance(tree, torch.device):
            return f"torch.{tree!r}"
        if isinstance(tree, float) and tree == tree and abs(tree) != float("inf"):
            return repr(tree)
        return self.object(tree)

    def object(self, thing: Any) -> str:
        """Returns the name of the global that holds the object."""
        if id(thing) not in self.by_object:
            schema = getattr(thing, "_schema", None)
            # Names of operators stay apart from those of values: these are not called aten_something.
            text = "aten_" + re.sub(r"\W", "_", schema.name.split("::")[-1]) if schema is not None else f"the_{type(thing).__name__.lower()}"
            same = sum(name == text or re.fullmatch(f"{text}_[0-9]+", name) is not None for name in self.names)
            self.by_object[id(thing)] = f"{text}_{same + 1}" if same else text
            self.names[self.by_object[id(thing)]] = thing._op if isinstance(thing, torch._ops.OpOverload) else thing  # the kernel without Python around
        return self.by_object[id(thing)]


_LISTS = {"parameter": "parameters", "buffer": "buffers", "batch": "batch", "constant": "constants"}


def _variable(value: Value) -> str:
    return value.name.replace(".", "__")
