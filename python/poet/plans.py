"""Plans: the steps of a device, with addresses; verified, drawn, written and read."""

from __future__ import annotations

import html
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _core
from ._arguments import names_mistakes
from ._paths import Path, file_argument, optional_file
from .errors import InputError
from .graphs import Graph
from .plotting import plot
from .tables import Table

if TYPE_CHECKING:
    import matplotlib.figure

_KINDS = {"o": "page_out", "i": "page_in", "w": "wait", "c": "compute", "f": "free"}


@names_mistakes
class Plan:
    """A plan with the verifier's verdict on it. Every figure is the verifier's.

    In a notebook it displays itself as the interactive page of `poet show`.
    """

    def __init__(self, core: _core.Plan, onnx: Optional[dict[str, Any]] = None) -> None:
        self._core = core
        self._onnx = onnx  # the file that the network was imported from, and how, for Trainer

    # ---- verdict

    @cached_property
    def verdict(self) -> dict[str, Any]:
        """As `poet verify --json`: "valid", "violation" (None where valid), energies in joules, times in seconds, bytes."""
        return dict(json.loads(self._core.verdict()))

    @property
    def valid(self) -> bool:
        """Whether every rule holds."""
        return bool(self.verdict["valid"])

    @property
    def energy(self) -> float:
        """Joules of one step; NaN if the plan is invalid."""
        return number(self.verdict["energy_joules"])

    @property
    def runtime(self) -> float:
        """Seconds of one step; NaN if the plan is invalid."""
        return number(self.verdict["runtime_seconds"])

    @property
    def peak_ram(self) -> int:
        """Peak RAM in bytes, including persistent values; 0 if the plan is invalid."""
        return int(self.verdict["peak_ram_bytes"] or 0)

    # ---- tables

    @cached_property
    def _picture(self) -> dict[str, Any]:
        return dict(json.loads(self._core.picture()))

    def steps(self) -> Table:
        """The plan's steps in order, one row each: `kind` (compute, page_out,
        page_in, wait, free), `name` of the op or value, `begin` and `end` of the compute engine in seconds, `ram_bytes`."""
        picture = self._picture
        steps = picture["steps"]
        rows = Table()
        begin = 0.0
        for kind, number, end, ram in zip(steps["kind"], steps["id"], steps["end"], steps["ram"]):
            names = picture["ops"] if kind == "c" else picture["values"]
            name = names[number][0] if number is not None else ""
            rows.append({"kind": _KINDS[kind], "name": name, "begin": begin, "end": end, "ram_bytes": ram})
            begin = end
        return rows

    def values(self) -> Table:
        """The decision on each value that is not resident, one row each: `name`, `bytes`, `persistence`, how often it is
        computed, paged out and in, `ram_seconds` in RAM, and `decision`: kept, recomputed, paged, or both."""
        picture = self._picture
        writes = [op[3] for op in picture["ops"]]
        rows = Table(
            {"name": name, "bytes": size, "persistence": persistence, "computed": 0, "page_outs": 0, "page_ins": 0, "ram_seconds": 0.0}
            for name, size, persistence in picture["values"]
        )
        since: dict[int, float] = {}
        begin = 0.0
        for kind, number, end in zip(picture["steps"]["kind"], picture["steps"]["id"], picture["steps"]["end"]):
            if kind == "c":
                for value in writes[number]:
                    rows[value]["computed"] += 1
                    since.setdefault(value, begin)
            elif kind == "o":
                rows[number]["page_outs"] += 1
            elif kind == "i":
                rows[number]["page_ins"] += 1
                since.setdefault(number, begin)
            elif kind == "f" and number in since:
                rows[number]["ram_seconds"] += end - since.pop(number)
            begin = end
        for value, start in since.items():
            rows[value]["ram_seconds"] += begin - start
        for row in rows:
            done = [word for word, it_is in (("recomputed", row["computed"] > 1), ("paged", row["page_ins"] > 0)) if it_is]
            row["decision"] = " and ".join(done) or "kept"
        return rows

    @cached_property
    def graph(self) -> Graph:
        """The training graph with its costs."""
        return Graph._of(self._core.instance())

    # ---- pictures

    def page(self) -> str:
        """Returns the interactive page as self-contained HTML."""
        return _core.page([self._core])

    def show(self, file: Optional[Path] = None, axis: str = "time") -> Page:
        """Returns the interactive page, for the last line of a notebook's cell; also writes `file`, if given: .html, or a figure
        (.svg, .png, .pdf, by gnuplot) over `axis` "time" or "step"."""
        if axis not in ("time", "step"):
            raise InputError("axis", f"{axis!r} is not one of time, step")
        name = optional_file("file", file)
        if name is not None and not name.endswith((".html", ".svg", ".png", ".pdf", ".gp")):
            raise InputError("file", f"{name!r} must end in .html, .svg, .png, .pdf or .gp")
        page = Page(self.page())
        if name is not None:
            if name.endswith(".html"):
                with open(name, "w", encoding="utf-8") as stream:
                    stream.write(page.html)
            else:
                self._core.write_figure(name, axis)
        return page

    def plot(self) -> matplotlib.figure.Figure:
        """Returns a matplotlib figure: RAM over time with the budget, and below it when the device computes, recomputes and pages. It is
        pyplot's: pyplot.show() shows it, savefig() writes it, pyplot.close() frees it. Raises ImportError without matplotlib."""
        return plot(self._picture)

    def text(self, width: int = 100, all: bool = False) -> str:
        """Returns the plan as text: RAM over time, energy, and the differences from keeping everything."""
        return self._core.text(width, all)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        if not self.valid:
            return f"<poet.Plan, invalid: {self.verdict['violation']}>"
        return f"<poet.Plan of {self.energy:.6g} J, {self.runtime:.6g} s, {self.peak_ram} bytes of RAM>"

    def _repr_html_(self) -> str:
        return Page(self.page())._repr_html_()

    # ---- files

    def save(self, file: Path) -> None:
        """Writes a plan file, for `poet show`, `poet run` and read_plans(); as JSON if the name ends in .json."""
        self._core.write(file_argument("file", file))

    def save_image(self, file: Path) -> None:
        """Writes the part of the plan that a device needs: schedule and addresses."""
        self._core.write_image(file_argument("file", file))

    def to_bytes(self) -> bytes:
        """Returns the plan file in its binary form."""
        return self._core.to_bytes()

    @staticmethod
    def from_bytes(data: bytes, name: str = "plan") -> Plan:
        """Reads the bytes of to_bytes(); `name` is for messages. Raises InputError."""
        return Plan(_core.Plan.from_bytes(data, name))

    def __reduce__(self) -> tuple[Any, tuple[bytes, str], dict[str, Any]]:
        return Plan.from_bytes, (self.to_bytes(), self._core.name), {"_onnx": self._onnx}


class Page:
    """An interactive page; in a notebook it displays itself."""

    def __init__(self, text: str) -> None:
        self.html = text

    def _repr_html_(self) -> str:
        # In a frame of its own: neither its style nor its scripts are the notebook's.
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: 720px; border: 0"></iframe>'


@names_mistakes
def read_plans(file: Path, ram_budget: Union[int, str, None] = None, semantics: Optional[str] = None) -> list[Plan]:
    """Reads and verifies the plans of a plan file, or the plan of a schedule file.

    Returns all plans of a file, from the largest RAM budget to the smallest; with `ram_budget` (bytes, or "300KiB") only the largest
    within it. A schedule is verified by `semantics` ("published", "staged", "device") if given. Raises InputError.
    """
    return [Plan(core) for core in _core.read_plans(file_argument("file", file), semantics=semantics, ram_budget=ram_budget)]


@names_mistakes
def verify(what: Union[Plan, Path]) -> dict[str, Any]:
    """Returns the verifier's verdict on a plan, or on a plan or schedule file: every rule replayed (Plan.verdict).

    For a file with several plans, the verdict on the first invalid one, else on the first. Raises InputError if it cannot be read.
    """
    plans = [what] if isinstance(what, Plan) else read_plans(what)
    return next((plan for plan in plans if not plan.valid), plans[0]).verdict


def number(value: Optional[float]) -> float:
    """Returns the figure, or NaN if it does not apply."""
    return float("nan") if value is None else float(value)

