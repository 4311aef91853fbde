"""Results of solve()."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import _core
from .graphs import Graph
from .plans import Plan, number

Matrix = npt.NDArray[np.bool_]


class Schedule:
    """A staged schedule as matrices, named as in the POET paper (section 4.2).

    Row t is stage t, whose last op is the first computation of op t. T stages, T ops, V values, in the graph's order (V = T for
    published instances). All matrices are boolean:

    R    (T, T)  op i is computed in stage t: on the diagonal for the first time, left of it again
    S    (T, V)  value i is in RAM when stage t starts (the paper's S^RAM)
    D    (T, V)  value i is on storage when stage t starts (S^SD)
    In   (T, V)  value i is paged in during stage t (M^in), usable from the next one on
    Out  (T, V)  value i is paged out during stage t (M^out), on storage from the next one on
    """

    def __init__(self, stages: list[tuple[list[int], list[int], list[int], list[int]]], values: int) -> None:
        count = len(stages)
        self.R: Matrix = np.zeros((count, count), dtype=bool)
        self.S: Matrix = np.zeros((count, values), dtype=bool)
        self.In: Matrix = np.zeros((count, values), dtype=bool)
        self.Out: Matrix = np.zeros((count, values), dtype=bool)
        for t, (retain, page_in, page_out, compute) in enumerate(stages):
            self.S[t, retain] = True
            self.In[t, page_in] = True
            self.Out[t, page_out] = True
            self.R[t, compute] = True
        self.D: Matrix = np.zeros((count, values), dtype=bool)
        self.D[1:] = np.logical_or.accumulate(self.Out, axis=0)[:-1]

    def __repr__(self) -> str:
        again = int(self.R.sum()) - len(self.R)
        return (
            f"<poet.Schedule of {len(self.R)} stages: {again} recomputations, "
            f"{int(self.In.sum())} page-ins, {int(self.Out.sum())} page-outs>"
        )


class Result:
    """A result: a plan with its certificate, or the reason why there is none.

    `figures` is the object that `poet solve --json` prints (docs/formats_result.md, "Solve"): names end in SI units, and figures that do
    not apply are None. In a notebook it displays its plan.
    """

    def __init__(self, core: _core.Answer, onnx: Optional[dict[str, Any]] = None) -> None:
        self._core: Optional[_core.Answer] = core  # None of one that was pickled
        self.figures: dict[str, Any] = json.loads(core.json())
        made = core.plan()
        self.plan: Optional[Plan] = None if made is None else Plan(made, onnx)  # None without an answer

    @property
    def status(self) -> str:
        """"optimal" (proven within the requested gap), "feasible" (a plan without that proof), "infeasible" (proven: no plan meets
        the limits) or "unknown" (no plan found, infeasibility not proven)."""
        return str(self.figures["status"])

    @property
    def feasible(self) -> bool:
        """Whether there is a plan."""
        return self.plan is not None

    def __bool__(self) -> bool:
        return self.feasible

    @property
    def energy(self) -> float:
        """Joules of one step, replayed by the verifier; NaN without a plan."""
        return number(self.figures["energy_joules"])

    @property
    def bound(self) -> float:
        """Proven lower bound on the joules of every plan; NaN if infeasible."""
        return number(self.figures["bound_joules"])

    @property
    def gap(self) -> float:
        """(energy - bound) / (energy - baseline): the largest fraction of the overhead that a better plan could save; NaN without a plan."""
        return number(self.figures["gap"])

    @property
    def baseline(self) -> float:
        """Joules of the step that computes everything once and keeps it."""
        return number(self.figures["baseline_joules"])

    @property
    def overhead(self) -> float:
        """energy / baseline - 1; NaN without a plan."""
        return number(self.figures["overhead"])

    @property
    def runtime(self) -> float:
        """Seconds of one step; NaN without a plan."""
        return number(self.figures["runtime_seconds"])

    @property
    def peak_ram(self) -> int:
        """Peak RAM in bytes, including persistent values; 0 without a plan."""
        return int(self.figures["peak_ram_bytes"] or 0)

    @property
    def ram_budget(self) -> int:
        """The RAM budget in bytes."""
        return int(self.figures["ram_budget_bytes"])

    @property
    def ram_note(self) -> str:
        """How a ram_budget that was not given in bytes was determined: what the search for "least" found, or that it found none (then
        solve() warns, too) and the result is for another budget. Empty for budgets in bytes."""
        return str(self.figures.get("ram_note", ""))

    @property
    def reason(self) -> str:
        """Why there is no plan; empty with a plan."""
        if self.feasible:
            return ""
        said = _core.with_argument_names(self.figures["explanation"]["reason"] or "")
        floor = int(self.figures["explanation"]["floor_ram_bytes"])
        if floor > self.ram_budget:
            said = f"no plan can do with less than {floor} bytes of RAM" + (f": {said}" if said else "")
        return said or f"{self.status}: no plan was found"

    @property
    def least_ram(self) -> Optional[int]:
        """Without a plan: a RAM budget in bytes with a known plan, all else being equal; None if none is known."""
        found = self.figures["explanation"]["least_ram_bytes"]
        return None if found is None else int(found)

    @property
    def least_deadline(self) -> Optional[float]:
        """Without a plan: a deadline in seconds with a known plan, all else being equal; None if none is known."""
        found = self.figures["explanation"]["least_deadline_seconds"]
        return None if found is None else float(found)

    @cached_property
    def graph(self) -> Graph:
        """The plan's training graph with its costs, in the order of its ops."""
        assert self._core is not None
        return Graph._of(self._core.instance())

    @cached_property
    def schedule(self) -> Optional[Schedule]:
        """The plan as a staged schedule; None where it is none, since it pages between ops or pages parameters:
        solve(staged=True) asks for the best that is one."""
        assert self._core is not None
        stages = self._core.stages()
        return None if stages is None else Schedule(stages, int(self.figures["values"]))

    def __getstate__(self) -> dict[str, Any]:
        return {"figures": self.figures, "plan": self.plan, "graph": self.graph, "schedule": self.schedule}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _core=None)

    def __repr__(self) -> str:
        if not self.feasible:
            return f"<poet.Result {self.status}: {self.reason}>"
        return (
            f"<poet.Result {self.status}: {self.energy:.6g} J, {self.overhead:.2%} above the step without limits, "
            f"gap {self.gap:.2%}, peak {self.peak_ram} of {self.ram_budget} bytes>"
        )

    def _repr_html_(self) -> Optional[str]:
        return None if self.plan is None else self.plan._repr_html_()
