"""plot(): a plan as a figure of matplotlib's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping

from ._libraries import library

if TYPE_CHECKING:
    import matplotlib.figure

# Colours that colour-blind readers tell apart (Okabe and Ito).
_LANES = (
    ("compute", "#0072B2"),
    ("recompute", "#D55E00"),
    ("page out", "#CC79A7"),
    ("page in", "#009E73"),
)


def plot(picture: Mapping[str, Any]) -> matplotlib.figure.Figure:
    """Returns a figure of a plan's picture (docs/formats_plan.md): RAM over time with the budget, and below it when the device computes,
    recomputes and pages. Raises ImportError without matplotlib."""
    pyplot = library("matplotlib.pyplot", "Plan.plot()")
    ticker = library("matplotlib.ticker", "Plan.plot()")
    figure: matplotlib.figure.Figure = pyplot.figure(figsize=(9, 5), layout="constrained")
    ram, lanes = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    end = picture["steps"]["end"]
    begin = [0.0, *end[:-1]]
    ram.stairs(picture["steps"]["ram"], [0.0, *end], fill=True, color="#56B4E9", alpha=0.5, label="RAM")
    ram.axhline(picture["persistent"], color="#555555", linestyle=":", label="parameters and optimiser state in RAM")
    if picture["ram_budget"] is not None:
        ram.axhline(picture["ram_budget"], color="#D55E00", linestyle="--", label="RAM budget")
    ram.set_ylim(bottom=0)
    ram.set_ylabel("RAM")
    ram.yaxis.set_major_formatter(ticker.EngFormatter("B"))
    ram.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
    for row, ((name, color), periods) in enumerate(zip(_LANES, _periods(picture, begin))):
        lanes.broken_barh([(start, stop - start) for start, stop in periods], (row - 0.4, 0.8), color=color)
    lanes.set_yticks(range(len(_LANES)), [name for name, _ in _LANES])
    lanes.set_ylim(len(_LANES) - 0.5, -0.5)
    lanes.set_xlabel("time")
    lanes.xaxis.set_major_formatter(ticker.EngFormatter("s"))
    lanes.set_xlim(0, end[-1] if end else 1)
    figure.suptitle(_title(picture))
    return figure


def _periods(picture: Mapping[str, Any], begin: Iterable[float]) -> tuple[list[tuple[float, float]], ...]:
    """Begin and end of the computations, recomputations, page-outs and page-ins."""
    steps = picture["steps"]
    first: list[tuple[float, float]] = []
    again: list[tuple[float, float]] = []
    seen = set()
    for kind, op, start, stop in zip(steps["kind"], steps["id"], begin, steps["end"]):
        if kind == "c":
            (again if op in seen else first).append((start, stop))
            seen.add(op)
    moved = {way: [(start, stop) for step, start, stop in picture["channel"] if steps["kind"][step] == way] for way in "oi"}
    return first, again, moved["o"], moved["i"]


def _title(picture: Mapping[str, Any]) -> str:
    device = f" on {picture['device']}" if picture["device"] else ""
    figures = picture["figures"]
    if not picture["valid"]:
        return f"{picture['title']}{device}: invalid, {picture['violation']}"
    return f"{picture['title']}{device}: {figures['energy']:.4g} J, {figures['runtime']:.4g} s"
