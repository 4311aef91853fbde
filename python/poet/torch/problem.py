"""Conversion of a captured step with its measured costs to a poet.Graph for solve()."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Optional, Sequence

from ..errors import InputError
from ..graphs import Graph
from .cost import Cost, UpdateCost
from .program import Program, Value, values_of
from .storage import Rates
from .updating import Updates

END = "step"  # the op that ends the step: the update of all parameters, or just what is left to do


@dataclasses.dataclass(frozen=True)
class Power:
    """Watts of computing, of elapsed time and of transfers, which add up. The schedule minimizes energy by these. By default, time costs
    as much as computing, and transfers cost little."""

    computing: float = 1.0
    idle: float = 1.0
    transferring: float = 0.1

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            watts = getattr(self, field.name)
            if isinstance(watts, bool) or not isinstance(watts, (int, float)):
                raise TypeError(f"power: {field.name} must be a number of watts, not {watts!r}")
            if not 0 <= watts < float("inf"):
                raise InputError("power", f"{field.name} must be at least 0 and finite, not {watts!r}")


def graph_of(
    program: Program,
    costs: Sequence[Cost],
    updates: Sequence[Optional[UpdateCost]],
    clipping: tuple[float, int],
    additions: Sequence[float],
    copies: Sequence[int],
    parameter_bytes: Sequence[int],
    resident: Mapping[str, int],
    rates: Optional[Rates],
    power: Power,
    how: Updates,
    at_once: bool,
    block: int,
    name: str,
) -> Graph:
    """The graph. Ops are the program's, by their names, then updates.

    `updates`, `clipping` (seconds and workspace) and `additions` (seconds) are what using gradients costs: of each parameter by the optimizer, of
    clipping all, and of adding to each parameter's. `copies`: bytes of gradients that are copied before they are used. `resident`: bytes of
    everything else that is in RAM all the time, by what it is (buffers, the batch, optimizer state). `rates`: of storage; None: there is none.
    With early updates each parameter is updated once its gradient is there and has been read for the last time; else all are by the last op,
    before which nothing of the module has changed, and which needs all gradients at once unless they are added to those that are resident.
    `at_once`: the optimizer computes with all of them at the same time (optimizers.py), not one by one. `block`: the allocator takes multiples
    of so many bytes.
    """
    values: list[dict[str, Any]] = []
    ops: list[dict[str, Any]] = []
    index: dict[Value, int] = {}

    def value(name: str, size: int, persistence: str) -> int:
        costs = {} if rates is None else _page_costs(size, rates, power)
        values.append({"name": name, "shape": [size], "dtype": "uint8", "persistence": persistence, "bytes": size, "ram_bytes": -(-size // block) * block, **costs})
        return len(values) - 1

    def op(name: str, kind: str, inputs: list[int], outputs: list[int], seconds: float, workspace: int, **more: Any) -> None:
        cost = {"runtime_seconds": seconds, "compute_joules": seconds * power.computing, "workspace_bytes": workspace}
        ops.append({"name": name, "inputs": inputs, "outputs": outputs, "kind": kind, **cost, **more})

    parameters = [value(f"parameter.{i}", size, "parameter") for i, size in enumerate(parameter_bytes)]
    early = how.when == "early"
    ready = _gradients_ready(program, after_reads=early) if how.one_by_one else {}
    ready_values: list[Value] = []
    for i, (each, cost) in enumerate(zip(program.ops, costs)):
        inputs = [parameters[k] for k in each.parameters()] + [index[read] for read in each.reads()]
        outputs = []
        for output in each.outputs.values():
            index[output] = value(output.name, output.bytes, "activation")
            outputs.append(index[output])
        op(each.name, "op", inputs, outputs, cost.seconds, cost.workspace_bytes, **{"pass": "backward" if each.is_backward else "forward"})
        for k in ready.get(i, ()):
            gradient = values_of(program.gradients[k])
            ready_values += gradient
            update = updates[k]
            seconds, workspace, changed = additions[k] if how.adds else 0.0, 0, list[int]()
            if early:
                assert update is not None
                seconds, workspace, changed = update.seconds, update.workspace_bytes + copies[k], [parameters[k]]
            op(update_name(k), "update", [index[v] for v in gradient], [], seconds, workspace, updates=changed, recomputable=False, **{"pass": "update"})
    returned = values_of((program.outputs, program.buffers))
    last = [v for v in program.results() if v in returned or v not in ready_values]
    measured = [update for update in updates if update is not None]
    seconds = 0.0 if early else sum(update.seconds for update in measured) + clipping[0]
    if early:
        workspace = 0
    elif at_once:
        workspace = sum(update.workspace_bytes for update in measured)
    else:  # one after another, each beside what the one before has left
        left = [0, *(update.left_bytes for update in measured)]
        workspace = max((update.workspace_bytes + before for update, before in zip(measured, left)), default=0)
    workspace = max(workspace, clipping[1]) + (0 if how.one_by_one else sum(copies))
    changed = [] if early else [parameters[k] for k, update in enumerate(updates) if update is not None and program.gradients[k] is not None]
    op(END, "update", [index[v] for v in last], [], seconds, workspace, updates=changed, recomputable=False, **{"pass": "update"})
    persistent = {"parameters": sum(-(-size // 64) * 64 for size in parameter_bytes), **resident}
    description = {
        "format": 1,
        "name": name,
        "model": name,
        "source": "poet.torch",
        "alignment_bytes": 64,
        "persistent_bytes": sum(persistent.values()),
        "persistent_of": _listed([f"{what} ({size:,} B)" for what, size in persistent.items() if size]),
        "device": {"name": "this machine", "concurrent": True, "idle_watts": power.idle, "wake_seconds": 0, "wake_joules": 0},
        "ops": ops,
        "values": values,
    }
    return Graph.from_json(description)


def _listed(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def update_name(parameter: int) -> str:
    """Returns the name of the op that updates a parameter."""
    return f"update.{parameter}"


def _gradients_ready(program: Program, after_reads: bool) -> dict[int, list[int]]:
    """Returns the op after which each gradient can be used: it exists, and with `after_reads` no later op reads the parameter."""
    last_read = {k: i for i, op in enumerate(program.ops) for k in op.parameters()} if after_reads else {}
    after: dict[int, list[int]] = {}
    for k, gradient in enumerate(program.gradients):
        if gradient is None:
            continue
        made = max((value.op for value in values_of(gradient)), default=0)
        after.setdefault(max(made, last_read.get(k, 0)), []).append(k)
    return after


def _page_costs(size: int, rates: Rates, power: Power) -> dict[str, float]:
    read = rates.read_latency_seconds + size / rates.read_bytes_per_second
    write = rates.write_latency_seconds + size / rates.write_bytes_per_second
    return {
        "page_in_seconds": read,
        "page_out_seconds": write,
        "page_in_joules": read * power.transferring,
        "page_out_joules": write * power.transferring,
    }
