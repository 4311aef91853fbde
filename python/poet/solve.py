"""solve(): the plan of least energy within RAM and time, with its certificate; compare(): the plans of other methods."""

from __future__ import annotations

import inspect
import json
from typing import Any, Callable, Mapping, Optional, Sequence, Union, overload

from . import _core, published
from ._arguments import named, names_mistakes, no_argument, onnx_import, shape_arguments
from ._paths import Path, file_argument, optional_file
from .devices import Device, device_arguments
from .errors import InputError
from .graphs import Graph
from .results import Result
from .tables import Table

Amount = Union[int, float, str]
Progress = Callable[..., Any]  # (phase, schedule_joules, bound_joules, seconds), optionally plan_joules=


@overload
def solve(
    model: Optional[str] = None,
    platform: None = None,
    ram_budget: Optional[Amount] = None,
    runtime_budget: Optional[float] = None,
    *,
    onnx: Optional[Path] = None,
    instance: Optional[Path] = None,
    graph: Optional[Graph] = None,
    device: Union[Path, Device, None] = None,
    deadline: Union[float, str, None] = None,
    beyond_device_ram: Optional[bool] = None,
    max_bytes_written: Optional[Amount] = None,
    batch_size: Optional[int] = None,
    optimizer: Optional[str] = None,
    accumulate: Optional[int] = None,
    clip_norm: Optional[float] = None,
    label_smoothing: Optional[float] = None,
    precision: Optional[str] = None,
    trainable: Optional[str] = None,
    sequence_length: Optional[int] = None,
    input_shapes: Optional[Mapping[str, Sequence[int]]] = None,
    input_values: Optional[Mapping[str, float]] = None,
    loss: Optional[str] = None,
    huber_delta: Optional[float] = None,
    loss_output: Optional[str] = None,
    allow_opaque: Optional[bool] = None,
    paging: Union[bool, int, None] = None,
    remat: Union[bool, int, None] = None,
    persistent: Optional[str] = None,
    split: Optional[Amount] = None,
    order: Optional[str] = None,
    semantics: Optional[str] = None,
    on_time: Union[float, str, None] = None,
    staged: Optional[bool] = None,
    addresses: Optional[bool] = None,
    gap: Union[float, str, None] = None,
    time_limit: Union[float, str, None] = None,
    threads: Optional[int] = None,
    solver: Optional[str] = None,
    formulation: Optional[str] = None,
    progress: Union[Progress, bool, None] = None,
) -> Result: ...


@overload
def solve(
    model: str, platform: str, ram_budget: float, runtime_budget: float, *args: Any, **options: Any
) -> published.POETResult: ...


def solve(
    model: Optional[str] = None,
    platform: Optional[str] = None,
    ram_budget: Optional[Amount] = None,
    runtime_budget: Optional[float] = None,
    *args: Any,
    onnx: Optional[Path] = None,
    instance: Optional[Path] = None,
    graph: Optional[Graph] = None,
    device: Union[Path, Device, None] = None,
    deadline: Union[float, str, None] = None,
    beyond_device_ram: Optional[bool] = None,
    max_bytes_written: Optional[Amount] = None,
    batch_size: Optional[int] = None,
    optimizer: Optional[str] = None,
    accumulate: Optional[int] = None,
    clip_norm: Optional[float] = None,
    label_smoothing: Optional[float] = None,
    precision: Optional[str] = None,
    trainable: Optional[str] = None,
    sequence_length: Optional[int] = None,
    input_shapes: Optional[Mapping[str, Sequence[int]]] = None,
    input_values: Optional[Mapping[str, float]] = None,
    loss: Optional[str] = None,
    huber_delta: Optional[float] = None,
    loss_output: Optional[str] = None,
    allow_opaque: Optional[bool] = None,
    paging: Union[bool, int, None] = None,
    remat: Union[bool, int, None] = None,
    persistent: Optional[str] = None,
    split: Optional[Amount] = None,
    order: Optional[str] = None,
    semantics: Optional[str] = None,
    on_time: Union[float, str, None] = None,
    staged: Optional[bool] = None,
    addresses: Optional[bool] = None,
    gap: Union[float, str, None] = None,
    time_limit: Union[float, str, None] = None,
    threads: Optional[int] = None,
    solver: Any = None,
    formulation: Optional[str] = None,
    progress: Union[Progress, bool, None] = None,
    **options: Any,
) -> Union[Result, published.POETResult]:
    """Finds the plan of least energy that trains a network within a RAM budget and a deadline.

        result = poet.solve("resnet14_cifar", batch_size=8, device="a72", ram_budget="6MB", runtime_budget=1.3)
        print(result.status, result.energy, result.gap)
        result.plan.show()

    Problem: one of `model` (a built-in network: poet.networks()), `onnx` (a file), `instance` (a file: a graph with costs) or
    `graph` (poet.Graph). `device`: a name (poet.devices()), a profile file or a poet.Device; `instance` and `graph` have their own.

    Limits: `ram_budget` for everything that the step needs: bytes or "300KiB"; "50%" of what keeping everything takes; "least", the
    smallest budget for which a quick search finds a plan (see Result.ram_note; a UserWarning if it finds none); by default the
    device's RAM. A larger budget requires `beyond_device_ram=True`. `runtime_budget`, a multiple of the step's time without limits, or
    `deadline`, seconds or "50ms"; by default none. `max_bytes_written` to storage per step.

    Options:
        batch_size, optimizer ("sgd", "momentum", "adam", "adamw"), trainable (glob patterns, separated by commas), sequence_length (BERTs)
        accumulate=1: steps per update; clip_norm: global norm of the gradients; label_smoothing=0: with a cross-entropy
        precision: "fp32", or "bf16-mixed" for activations stored as bfloat16
        input_shapes ({name: shape}), input_values ({name: number}: a constant in place of the input), allow_opaque=False: for `onnx` only
        loss ("cross-entropy", "mse", "l1", "huber", "bce", "bce-with-logits", or "none" where the network computes its own), huber_delta=1,
            loss_output (the output that feeds it; the first; with "none" the losses, separated by commas): for `onnx` only
        paging=True, remat=True: whether a plan may page, may rematerialize
        persistent: "auto", "resident" or "excluded"; split: "auto", "off" or bytes; order: "given" or "best"
        semantics: "device", "staged" or "published"; on_time: the share of steps that must meet the deadline, such as 0.95
        staged=False: True returns only staged schedules (result.schedule is not None); `persistent` and `split` then default to
            "resident" and "off" ("auto" is refused: it pages parameters, which no staged schedule can)
        addresses=True: every value gets an address in RAM within the budget; False: for allocators that find their own addresses
        gap=0.01, time_limit=120 (seconds), threads (the machine's cores), solver ("cbc", "highs"), formulation ("tight", "published")
        progress: a function of phase, joules of the best schedule so far, joules of the bound (None: none yet) and seconds
            since the call, which stops the search with the best plan so far by returning False. One with a parameter `plan_joules` also
            gets the joules of the best plan so far that has addresses (None: none yet). True: a bar where tqdm is installed, else
            lines. Not called during the search for "least"

    Returns a Result, also if there is no plan. Raises InputError (a ValueError) or TypeError naming the argument.
    Ctrl-C raises KeyboardInterrupt. The interpreter's lock is released: other Python threads run, and may solve, too.

    With `platform` in place of `device`, this is the published reference's function, with the paper's rules and instances: see
    poet.published.solve().
    """
    given = {
        "deadline": deadline,
        "beyond_device_ram": beyond_device_ram,
        "max_bytes_written": max_bytes_written,
        "batch_size": batch_size,
        "optimizer": optimizer,
        "accumulate": accumulate,
        "clip_norm": clip_norm,
        "label_smoothing": label_smoothing,
        "precision": precision,
        "trainable": trainable,
        "sequence_length": sequence_length,
        "input_shapes": input_shapes,
        "input_values": input_values,
        "loss": loss,
        "huber_delta": huber_delta,
        "loss_output": loss_output,
        "allow_opaque": allow_opaque,
        "paging": paging,
        "remat": remat,
        "persistent": persistent,
        "split": split,
        "order": order,
        "semantics": semantics,
        "on_time": on_time,
        "staged": staged,
        "addresses": addresses,
        "gap": gap,
        "time_limit": time_limit,
        "threads": threads,
        "solver": solver,
        "formulation": formulation,
        "progress": progress,
    }
    if options and platform is None:
        raise no_argument("solve", next(iter(options)), named(solve))
    options.update((name, value) for name, value in given.items() if value is not None)
    if platform is not None:
        if onnx is not None or instance is not None or graph is not None or device is not None:
            raise TypeError("platform: is the published reference's argument, of published networks; use device=")
        return published.solve(model, platform, ram_budget, runtime_budget, *args, **options)  # type: ignore[arg-type]
    if args:
        raise TypeError("solve(): arguments after the fourth are by name (with platform=, the published reference's order)")
    subject = _subject(model, onnx, instance, graph, device)
    options = _options(options)
    answer = _core.solve(**subject, ram_budget=ram_budget, runtime_budget=runtime_budget, **options)
    return Result(answer, graph._onnx if graph is not None else onnx_import(subject["onnx"], options))


@names_mistakes
def compare(
    model: Optional[str] = None,
    *,
    ram_budget: Optional[Amount] = None,
    onnx: Optional[Path] = None,
    instance: Optional[Path] = None,
    graph: Optional[Graph] = None,
    device: Union[Path, Device, None] = None,
    methods: Optional[Sequence[str]] = None,
    runtime_budget: Optional[float] = None,
    deadline: Union[float, str, None] = None,
    beyond_device_ram: Optional[bool] = None,
    max_bytes_written: Optional[Amount] = None,
    batch_size: Optional[int] = None,
    optimizer: Optional[str] = None,
    accumulate: Optional[int] = None,
    clip_norm: Optional[float] = None,
    label_smoothing: Optional[float] = None,
    precision: Optional[str] = None,
    trainable: Optional[str] = None,
    sequence_length: Optional[int] = None,
    input_shapes: Optional[Mapping[str, Sequence[int]]] = None,
    input_values: Optional[Mapping[str, float]] = None,
    loss: Optional[str] = None,
    huber_delta: Optional[float] = None,
    loss_output: Optional[str] = None,
    allow_opaque: Optional[bool] = None,
    paging: Union[bool, int, None] = None,
    remat: Union[bool, int, None] = None,
    persistent: Optional[str] = None,
    split: Amount = "off",
    semantics: Optional[str] = None,
    gap: Union[float, str, None] = None,
    time_limit: Union[float, str, None] = None,
    threads: Optional[int] = None,
    solver: Optional[str] = None,
    progress: Union[Progress, bool, None] = None,
) -> Table:
    """Compares the published methods within the same limits, their plans checked by the verifier. Returns a row per method.

    `methods`: names (poet.methods()); by default all. Other arguments as for solve(); parameters are resident and operators whole
    unless `persistent` and `split` say otherwise. `verdict`: "holds", "over limits" (the figures are its nearest plan's), "no plan" or
    "not applicable", then with a `reason`; `energy_joules`, `overhead`, `runtime_seconds`, `peak_ram_bytes`, ... are None without a plan.
    """
    if persistent is None and graph is None and instance is None:
        persistent = "resident"
    options = {
        "runtime_budget": runtime_budget,
        "deadline": deadline,
        "beyond_device_ram": beyond_device_ram,
        "max_bytes_written": max_bytes_written,
        "batch_size": batch_size,
        "optimizer": optimizer,
        "accumulate": accumulate,
        "clip_norm": clip_norm,
        "label_smoothing": label_smoothing,
        "precision": precision,
        "trainable": trainable,
        "sequence_length": sequence_length,
        "input_shapes": input_shapes,
        "input_values": input_values,
        "loss": loss,
        "huber_delta": huber_delta,
        "loss_output": loss_output,
        "allow_opaque": allow_opaque,
        "paging": paging,
        "remat": remat,
        "persistent": persistent,
        "split": split,
        "semantics": semantics,
        "gap": gap,
        "time_limit": time_limit,
        "threads": threads,
        "solver": solver,
        "progress": progress,
    }
    subject = _subject(model, onnx, instance, graph, device)
    rows = _core.compare(**subject, methods=methods, ram_budget=ram_budget, **_options(options))
    return Table(json.loads(row) for row in rows)


def methods() -> list[str]:
    """Names of the methods that compare() knows (docs/baselines.md)."""
    return _core.method_names()


def _subject(
    model: Optional[str],
    onnx: Optional[Path],
    instance: Optional[Path],
    graph: Optional[Graph],
    device: Union[Path, Device, None],
) -> dict[str, Any]:
    if instance is not None and graph is not None:
        raise TypeError("instance, graph: one of them says what to schedule")
    if instance is not None:
        graph = Graph.read(file_argument("instance", instance))
    if model is not None and not isinstance(model, str):
        raise TypeError(f"model: a name (poet.networks()), not {type(model).__name__}; a poet.Graph is graph=")
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph: must be a poet.Graph, not {type(graph).__name__}")
    if graph is not None and device is not None:
        raise InputError("device", "a graph holds its costs; leave this out")
    if graph is None and device is None and (model is not None or onnx is not None):
        raise InputError("device", "is missing: a name (poet.devices()), a profile file or a poet.Device")
    return {
        "model": model,
        "onnx": optional_file("onnx", onnx),
        "instance": None if graph is None else graph._instance(),
        **device_arguments(device),
    }


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    out = {name: value for name, value in options.items() if value is not None}
    if "input_shapes" in out:
        out["input_shapes"] = shape_arguments(out["input_shapes"])
    progress = out.pop("progress", False)
    if progress is True:
        progress = _Bar()
    if progress is not False:
        if not callable(progress):
            raise TypeError("progress: must be a function, True or False")
        out["progress"] = with_plan(progress)
    return out


def with_plan(progress: Progress) -> Callable[[str, Optional[float], Optional[float], float, Optional[float]], Any]:
    """Returns the function that the core calls: `plan_joules` is passed on to functions that take it by name."""
    try:
        parameters = inspect.signature(progress).parameters
    except (TypeError, ValueError):  # of a function in C
        takes_plan = False
    else:
        takes_plan = "plan_joules" in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())

    def show(phase: str, schedule: Optional[float], bound: Optional[float], seconds: float, plan: Optional[float]) -> Any:
        if takes_plan:
            return progress(phase, schedule, bound, seconds, plan_joules=plan)
        return progress(phase, schedule, bound, seconds)

    return show


class _Bar:
    """Shows progress as a tqdm bar without a length, or as lines."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._bar = None
        else:
            self._bar = tqdm(bar_format="{desc}")
        self._last = 0.0

    def __call__(
        self, phase: str, schedule: Optional[float], bound: Optional[float], seconds: float, *, plan_joules: Optional[float] = None
    ) -> None:
        best = f"best {plan_joules:.6g} J" if plan_joules is not None else "no plan yet" if schedule is None else f"schedule {schedule:.6g} J"
        proven = "" if bound is None else f", bound {bound:.6g} J"
        text = f"{seconds:.1f} s: {phase}: {best}{proven}"
        if self._bar is not None:
            self._bar.set_description_str(text)
        elif seconds >= self._last + 1:
            self._last = seconds
            print(text)
