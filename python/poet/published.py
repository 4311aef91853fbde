"""The function, the command and the results of the published reference (github.com/ShishirPatil/poet), answered by this poet.

solve() takes what the reference's takes and gives what it gives, by the paper's rules on the paper's instances, so that its
example and its users' notebooks run as they are. No solver needs a licence, and `finished` says whether the answer is proven.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import warnings
from typing import Any, Optional, Sequence

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments import hint, named
from .errors import InputError
from .graphs import Graph
from .results import Result, Schedule

Matrix = npt.NDArray[Any]

_LONGEST = 1e9  # seconds


@dataclasses.dataclass
class POETSolution:
    """The schedule as the reference's matrices, T stages by T ops, of 0 and 1; None without a schedule.

    R (T, T)      op i is computed in stage t
    SRam, SSd     its result is in RAM, on storage when stage t starts; also SRAM, SSD
    Min, Mout     its result is paged in, out during stage t; also MIn, MOut
    FreeE (T, E)  after op k ran in stage t, its operand i is given back, for each edge (i, k) of `edge_list`; also Free_E
    U (T, T)      bytes in RAM right after op k's place in stage t
    """

    R: Optional[Matrix]
    SRam: Optional[Matrix]
    SSd: Optional[Matrix]
    Min: Optional[Matrix]
    Mout: Optional[Matrix]
    FreeE: Optional[Matrix]
    U: Optional[Matrix]
    finished: bool
    feasible: bool
    solve_time_s: float
    edge_list: list[tuple[int, int]] = dataclasses.field(default_factory=list)

    SRAM = property(lambda self: self.SRam)
    SSD = property(lambda self: self.SSd)
    MIn = property(lambda self: self.Min)
    MOut = property(lambda self: self.Mout)
    Free_E = property(lambda self: self.FreeE)


@dataclasses.dataclass
class POETResult:
    """What the reference answers. Joules, milliseconds, bytes; None without a schedule. `result` is the whole answer.

    Its fields can be read by index, too: result["feasible"].
    """

    ram_budget: float
    runtime_budget_ms: float
    paging: int
    remat: int
    total_power_cost_page: Optional[float]
    total_power_cost_cpu: Optional[float]
    total_runtime: Optional[float]
    feasible: bool
    solution: POETSolution
    result: Result = dataclasses.field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, "ram_budget" if name == "ram_budget_bytes" else name)


def solve(
    model: str,
    platform: str,
    ram_budget: float,
    runtime_budget: float,
    paging: int = 1,
    remat: int = 1,
    mem_power_scale: float = 1.0,
    batch_size: int = 1,
    use_actual_gurobi: Optional[bool] = None,
    solver: Optional[str] = None,
    print_power_costs: bool = False,
    print_graph_info: bool = True,
    plot_directory: Optional[str] = None,
    time_limit_s: float = 400,
    solve_threads: Optional[int] = None,
    **unknown: Any,
) -> POETResult:
    """Least energy of a published instance within a budget, by the paper's rules.

    model, platform: as Graph.published(); ram_budget: bytes; runtime_budget: a multiple of the time of the step with everything
    computed once. paging, remat: 0 switches one off. mem_power_scale multiplies what transfers cost; batch_size multiplies bytes,
    times and energies. print_power_costs and print_graph_info print what the reference prints; plot_directory: a folder for the
    graph as MODEL.dot. time_limit_s, seconds on this machine, was endless there; solve_threads is at most 256. The search ends
    when 1% of the overhead, the energy above the step with everything computed once, is all that a better schedule could save.

    use_actual_gurobi and solver choose among solvers that are not here: accepted, and named in a warning. Others raise
    TypeError. Raises InputError naming the argument that is out of range.
    """
    if unknown:
        first = next(iter(unknown))
        raise TypeError(
            f"{', '.join(unknown)}: no such argument of the published reference, whose function solve() is with a platform; "
            f"without, it takes device={platform!r}{hint(first, named(solve))}"
        )
    for name, value in (("model", model), ("platform", platform), ("ram_budget", ram_budget), ("runtime_budget", runtime_budget)):
        if value is None:
            raise TypeError(f"{name}: is missing")
    if isinstance(ram_budget, str) or not np.isfinite(ram_budget):
        raise InputError("ram_budget", f"must be a finite number of bytes where there is a platform; with device={platform!r} it may be text")
    others = [name for name, value in (("use_actual_gurobi", use_actual_gurobi), ("solver", solver)) if value is not None]
    if others and not (others == ["solver"] and solver == "cbc"):
        warnings.warn(f"{' and '.join(others)}: chooses among the reference's solvers; poet solves with its own and CBC", stacklevel=3)
    graph = _scaled(Graph.published(model, platform), mem_power_scale, batch_size)
    nodes = graph.to_json()["nodes"]
    seconds = sum(node["runtime_seconds"] for node in nodes)
    if print_power_costs:
        print("CPU power cost:", _column(nodes, "compute_joules"))
        print("Page-in power cost:", _column(nodes, "page_in_joules"))
        print("Page-out power cost:", _column(nodes, "page_out_joules"))
    if print_graph_info:
        print(f"Total runtime of graph (forward + backward) = {1e3 * seconds} milliseconds")
        print(f"Total RAM consumption of forward pass = {sum(n['ram_bytes'] for n in nodes if not n['backward'])} bytes")
    if plot_directory is not None:
        _write_dot(nodes, model, plot_directory)
    try:
        answer = _core.solve(
            instance=graph._instance(),
            semantics="published",
            ram_budget=int(ram_budget),
            runtime_budget=float(runtime_budget),
            paging=paging,
            remat=remat,
            time_limit=min(float(time_limit_s), _LONGEST),
            threads=solve_threads,
        )
    except InputError as error:
        theirs = {"time_limit": "time_limit_s", "threads": "solve_threads"}
        raise InputError(theirs.get(error.place, error.place), error.rule) from None
    result = Result(answer)
    return _told(result, nodes, float(ram_budget), 1e3 * seconds * runtime_budget, paging, remat)


def _scaled(graph: Graph, power: float, batch: int) -> Graph:
    if not power > 0:
        raise InputError("mem_power_scale", "must be > 0")
    if int(batch) != batch or batch < 1:
        raise InputError("batch_size", "must be a whole number, at least 1")
    if power == 1 and batch == 1:
        return graph
    instance = graph.to_json()
    for node in instance["nodes"]:
        node["ram_bytes"] *= int(batch)
        for cost in ("runtime_seconds", "compute_joules", "page_in_seconds", "page_out_seconds", "page_in_joules", "page_out_joules"):
            node[cost] *= int(batch)
        for cost in ("page_in_joules", "page_out_joules"):
            node[cost] *= power
    return Graph.from_json(instance)


def _column(nodes: Sequence[dict[str, Any]], cost: str) -> Matrix:
    return np.array([[node[cost]] for node in nodes])


def _told(
    result: Result, nodes: Sequence[dict[str, Any]], ram_budget: float, runtime_ms: float, paging: int, remat: int
) -> POETResult:
    figures = result.figures
    schedule = result.schedule
    finished = result.status in ("optimal", "infeasible")
    taken = float(figures["solve_seconds"])
    if schedule is None:
        nothing = POETSolution(None, None, None, None, None, None, None, finished, False, taken)
        return POETResult(ram_budget, runtime_ms, paging, remat, None, None, None, False, nothing, result)
    edges = [(i, k) for k, node in enumerate(nodes) for i in dict.fromkeys(node["deps"])]
    freed, used = _memory(schedule, nodes, edges)
    r, ram, storage, ins, outs = (m.astype(int) for m in (schedule.R, schedule.S, schedule.D, schedule.In, schedule.Out))
    solution = POETSolution(r, ram, storage, ins, outs, freed, used, finished, True, taken, edges)
    return POETResult(
        ram_budget,
        runtime_ms,
        paging,
        remat,
        float((schedule.In @ _column(nodes, "page_in_joules") + schedule.Out @ _column(nodes, "page_out_joules")).sum()),
        float((schedule.R @ _column(nodes, "compute_joules")).sum()),
        float((schedule.R @ (1e3 * _column(nodes, "runtime_seconds"))).sum()),
        True,
        solution,
        result,
    )


def _memory(schedule: Schedule, nodes: Sequence[dict[str, Any]], edges: Sequence[tuple[int, int]]) -> tuple[Matrix, Matrix]:
    """FreeE and U by the definitions of the paper's appendix (Checkmate's equations 5 to 8)."""
    count = len(nodes)
    size = np.array([node["ram_bytes"] for node in nodes])
    last = np.vstack([schedule.S[1:], np.zeros((1, count), dtype=bool)])  # kept for the next stage
    readers: list[list[int]] = [[] for _ in nodes]
    for i, k in edges:
        readers[i].append(k)
    freed = np.zeros((count, len(edges)), dtype=int)
    for e, (i, k) in enumerate(edges):
        later = schedule.R[:, [j for j in readers[i] if j > k]].any(axis=1)
        freed[:, e] = schedule.R[:, k] & ~last[:, i] & ~later
    used = np.zeros((count, count))
    now = schedule.S @ size
    for k in range(count):
        now = now + schedule.R[:, k] * size[k]
        used[:, k] = now
        for e, (i, reader) in enumerate(edges):
            if reader == k:
                now = now - freed[:, e] * size[i]
    return freed, used


def _write_dot(nodes: Sequence[dict[str, Any]], model: str, folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{model}.dot"), "w", encoding="utf-8") as stream:
        stream.write(f'digraph "{model}" {{\n')
        for i, node in enumerate(nodes):
            shape = ", style=dashed" if node["backward"] else ""
            stream.write(f'  {i} [label="{node["name"]}"{shape}];\n')
        for k, node in enumerate(nodes):
            for i in dict.fromkeys(node["deps"]):
                stream.write(f"  {i} -> {k};\n")
        stream.write("}\n")


def print_result(result: POETResult) -> None:
    """In a few lines, as the reference's command; without its windows."""
    if not result.feasible:
        print("POET failed to find a feasible solution:", result.result.reason)
        return
    found = "an optimal" if result.solution.finished else "a feasible"
    print(
        f"POET found {found} solution with a memory budget of {result.ram_budget:.0f} bytes that consumes "
        f"{result.total_power_cost_cpu:.5f} J of CPU power and {result.total_power_cost_page:.5f} J of memory paging power"
    )
    if not result.solution.finished:
        more = "a longer time limit may find a better one" if result.result.figures["timed_out"] else "the search ended by itself"
        print(f"It is proven to within {result.result.gap:.2%} of the overhead; {more}")


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """The reference's command: python3 -m poet --model resnet18_cifar --platform a72 --ram-budget 3000000 ..."""
    parser = argparse.ArgumentParser(prog="python3 -m poet", description="Solve a published instance of the POET paper")
    instances = _core.published_names()
    parser.add_argument("--model", required=True, choices=sorted({model for model, _ in instances}))
    parser.add_argument("--platform", required=True, choices=sorted({platform for _, platform in instances}))
    parser.add_argument("--ram-budget", type=int, required=True, help="bytes")
    parser.add_argument("--runtime-budget", type=float, required=True, help="a multiple of the time of the step")
    parser.add_argument("--batch-size", type=int, default=1)
    parser.add_argument("--mem-power-scale", type=float, default=1.0)
    for mechanism in ("paging", "remat"):
        parser.add_argument(f"--{mechanism}", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--time-limit-s", type=float, default=400)
    parser.add_argument("--solve-threads", type=int, default=4)
    parser.add_argument("--solver", choices=["gurobi", "cbc"])
    parser.add_argument("--use-actual-gurobi", action="store_true", default=None)
    parser.add_argument("--print-power-costs", action="store_true")
    parser.add_argument("--print-graph-info", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--plot-directory")
    try:
        result = solve(**vars(parser.parse_args(arguments)))
    except InputError as error:
        parser.error(str(error))
    print_result(result)
    if not result.feasible:
        raise SystemExit(1)
