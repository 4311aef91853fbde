"""Training graphs with their costs: user-defined, imported and published."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arguments import names_mistakes, onnx_import, shape_arguments
from ._libraries import library
from ._paths import Path, file_argument
from .devices import Device, device_arguments
from .errors import InputError

if TYPE_CHECKING:
    import networkx

_PAGE_COSTS = ("page_in_seconds", "page_out_seconds", "page_in_joules", "page_out_joules")


@names_mistakes
class Graph:
    """A training graph with its costs, for solve(graph=...): built op by op, or read.

        g = poet.Graph("two layers", device=poet.Device.load("m4"))
        x = g.op("input", bytes=4096, recomputable=False)
        h = g.op("relu", [x], bytes=4096, flops=1e6)
        g.op("loss", [h], bytes=4, flops=1e4)
        g.op("relu_grad", [h], bytes=4096, flops=2e6, backward=True)

    Ops are added in an order in which they can run; that order is the schedule's (solve(order="best") looks for others). Each
    op writes one value of its name. With a `device`, `flops` become seconds and joules, transfers cost what its storage takes
    and device semantics applies; without one, `seconds` and `joules` are given, and `page=(in_seconds, out_seconds, in_joules,
    out_joules)` with every op and parameter or with none: then nothing can be paged.
    """

    def __init__(self, name: str = "graph", device: Optional[Device] = None) -> None:
        self.name = name
        self.device = device
        self.notices: list[str] = []
        self._ops: list[dict[str, Any]] = []
        self._values: list[dict[str, Any]] = []
        self._index: dict[str, int] = {}
        self._fixed: Optional[_core.Instance] = None
        self._onnx: Optional[dict[str, Any]] = None  # the file that it was imported from, and how

    # ---- building

    def parameter(self, name: str, bytes: int, persistence: str = "parameter", page: Optional[Sequence[float]] = None) -> str:
        """Adds a value that persists between steps: a "parameter" or "optimizer_state"; `page` as for op(). Returns its name."""
        bytes = _whole("bytes", name, bytes)
        self._new_value(name, bytes, persistence, self._transfer_costs(bytes, page))
        return name

    def op(
        self,
        name: str,
        inputs: Sequence[str] = (),
        *,
        bytes: int,
        seconds: Optional[float] = None,
        joules: Optional[float] = None,
        flops: Optional[float] = None,
        page: Optional[Sequence[float]] = None,
        backward: bool = False,
        recomputable: bool = True,
        workspace_bytes: int = 0,
        updates: Sequence[str] = (),
    ) -> str:
        """Adds an op that reads values by name and writes one value of `bytes`, named like the op. Returns that name.

        Costs: `flops` on the graph's device, else `seconds` and `joules` (if one is missing, it follows from the device's power). An op
        with `updates` changes those parameters, after all their readers, and writes nothing (`bytes` 0). Raises InputError.
        """
        bytes = _whole("bytes", name, bytes)
        if updates and bytes:
            raise InputError("bytes", f"op {name!r} updates parameters and writes nothing: 0")
        if isinstance(inputs, str) or isinstance(updates, str):
            raise TypeError(f"inputs: of op {name!r} must be a list of names")
        runtime, energy = self._compute_costs(name, seconds, joules, flops)
        known = [self._value(name, value) for value in inputs]
        updated = [self._value(name, value) for value in updates]
        op = {
            "name": name,
            "kind": "op",
            "pass": "update" if updates else "backward" if _flag("backward", name, backward) else "forward",
            "inputs": known,
            "outputs": [],
            "recomputable": _flag("recomputable", name, recomputable) and not updates,
            "runtime_seconds": runtime,
            "compute_joules": energy,
            "workspace_bytes": _whole("workspace_bytes", name, workspace_bytes),
        }
        if updates:
            op["updates"] = updated
        else:
            op["outputs"] = [self._new_value(name, bytes, "activation", self._transfer_costs(bytes, page))]
        self._ops.append(op)
        return name

    def _compute_costs(
        self, name: str, seconds: Optional[float], joules: Optional[float], flops: Optional[float]
    ) -> tuple[float, float]:
        if flops is not None:
            if self.device is None:
                raise InputError("flops", f"of op {name!r} need a device: Graph(..., device=...)")
            if not (math.isfinite(flops) and flops >= 0):
                raise InputError("flops", f"of op {name!r} must be finite and at least 0")
            if seconds is None:
                seconds = flops / self.device.flops_per_second
        if joules is None and seconds is not None and self.device is not None:
            joules = seconds * self.device.active_watts
        if seconds is None or joules is None:
            raise InputError("seconds", f"and joules of op {name!r} are needed, or flops on a device")
        for argument, cost in (("seconds", seconds), ("joules", joules)):
            if not (math.isfinite(cost) and cost >= 0):
                raise InputError(argument, f"of op {name!r} must be finite and at least 0")
        return float(seconds), float(joules)

    def _transfer_costs(self, size: int, page: Optional[Sequence[float]]) -> dict[str, float]:
        if page is not None:
            return self._given_transfer_costs(page)
        device = self.device
        if device is None or device.storage_bytes is None or device.page_in is None or device.page_out is None:
            return {}
        moved = math.ceil(size / device.block_bytes) * device.block_bytes
        costs = {}
        for direction, way in (("in", device.page_in), ("out", device.page_out)):
            seconds = way.latency_seconds + moved / way.bytes_per_second
            costs[f"page_{direction}_seconds"] = seconds
            costs[f"page_{direction}_joules"] = seconds * way.watts
        return costs

    @staticmethod
    def _given_transfer_costs(page: Sequence[float]) -> dict[str, float]:
        costs = [] if isinstance(page, str) else [float(cost) for cost in page]
        if len(costs) != len(_PAGE_COSTS) or not all(math.isfinite(cost) and cost >= 0 for cost in costs):
            raise InputError("page", f"must be {len(_PAGE_COSTS)} finite numbers of at least 0: {', '.join(_PAGE_COSTS)}")
        return dict(zip(_PAGE_COSTS, costs))

    def _new_value(self, name: str, size: int, persistence: str, costs: Mapping[str, float]) -> int:
        if self._fixed is not None:
            raise InputError(name, "cannot be added: this graph was read, not built")
        if name in self._index:
            raise InputError(name, "is in the graph already: names are values' too")
        self._index[name] = len(self._values)
        self._values.append(
            {
                "name": name,
                "shape": [size],
                "dtype": "uint8",
                "persistence": persistence,
                "bytes": size,
                "ram_bytes": size,
                **costs,
            }
        )
        return self._index[name]

    def _value(self, op: str, name: str) -> int:
        if name not in self._index:
            raise InputError(op, f"reads {name!r}, which no op before it writes")
        return self._index[name]

    # ---- reading and writing

    @staticmethod
    def _of(instance: _core.Instance) -> Graph:
        graph = Graph()
        graph._fixed = instance
        graph.name = graph.to_json().get("name", "")
        return graph

    @staticmethod
    def read(file: Path) -> Graph:
        """Reads an instance file, as `poet import` writes it. Raises InputError with the place in the file."""
        return Graph._of(_core.Instance.read(file_argument("file", file)))

    @staticmethod
    def published(model: str, platform: str) -> Graph:
        """Returns a published instance of the POET paper; published_instances() lists them."""
        return Graph._of(_core.Instance.published(model, platform))

    @staticmethod
    def from_json(instance: Mapping[str, Any]) -> Graph:
        """Reads the object that an instance file holds (docs/formats_instance.md). Raises InputError."""
        return Graph._of(_core.Instance.from_json(json.dumps(instance), "instance"))

    def to_json(self) -> dict[str, Any]:
        """Returns the object that an instance file holds."""
        return dict(json.loads(self._instance().to_json()))

    def save(self, file: Path) -> None:
        """Writes an instance file, for `poet ... --instance`."""
        with open(file_argument("file", file), "w", encoding="utf-8") as stream:
            json.dump(self.to_json(), stream)
            stream.write("\n")

    def _instance(self) -> _core.Instance:
        return self._fixed or _core.Instance.from_json(json.dumps(self._description()), f"graph {self.name}")

    def _description(self) -> dict[str, Any]:
        persistent = sum(value["ram_bytes"] for value in self._values if value["persistence"] != "activation")
        description: dict[str, Any] = {
            "format": 1,
            "name": self.name,
            "model": self.name,
            "source": "graph made in Python",
            "persistent_bytes": persistent,
            "ops": self._ops,
            "values": self._values,
        }
        if self.device is not None:
            device = self.device
            description["platform"] = device.name
            description["alignment_bytes"] = device.alignment_bytes
            description["device"] = {
                "name": device.name,
                "concurrent": device.concurrent,
                "idle_watts": device.idle_watts,
                "wake_seconds": device.wake_seconds,
                "wake_joules": device.wake_joules,
            }
            if device.storage_bytes is not None:
                description["storage_capacity_bytes"] = device.storage_bytes
        return description

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any], list[str]]]:
        return _restored, (self.to_json(), self.notices)

    def __len__(self) -> int:
        """The number of ops."""
        instance = self.to_json()
        return len(instance.get("ops", instance.get("nodes", ())))

    def __repr__(self) -> str:
        return f"<poet.Graph {self.name!r}>"

    # ---- networkx

    def to_networkx(self) -> networkx.DiGraph[Any]:
        """Returns a networkx.DiGraph with a node per op, by name, in the ops' order, with `bytes`, `seconds`, `joules`, `backward`,
        `recomputable` and, for values that can be paged, `page`, and an edge from each op to the readers of its result. Parameters are
        omitted; the graph's attribute `persistent_bytes` has the bytes of those in RAM. Raises ImportError without networkx."""
        instance = self.to_json()
        digraph = library("networkx", "Graph.to_networkx()").DiGraph
        graph: networkx.DiGraph[Any] = digraph(name=instance.get("name", ""), persistent_bytes=instance.get("persistent_bytes", 0))
        if "nodes" in instance:
            nodes = instance["nodes"]
            for node in nodes:
                graph.add_node(node["name"], **_attributes(node, [node], node["backward"], True))
                graph.add_edges_from((nodes[dep]["name"], node["name"]) for dep in node["deps"])
            return graph
        values, ops = instance["values"], instance["ops"]
        for op in ops:
            written = [values[v] for v in op["outputs"]]
            graph.add_node(op["name"], **_attributes(op, written, op["pass"] != "forward", op.get("recomputable", True)))
        for op in ops:
            for value in map(values.__getitem__, op["inputs"]):
                while "alias_of" in value:
                    value = values[value["alias_of"]]
                if "producer" in value:
                    graph.add_edge(ops[value["producer"]]["name"], op["name"])
        return graph

    @staticmethod
    def from_networkx(graph: networkx.DiGraph[Any], device: Optional[Device] = None) -> Graph:
        """Reads a networkx.DiGraph without parameters. Nodes need `bytes`, and `seconds` and `joules` (or `flops`, on a device); `backward`,
        `recomputable`, `page` and `workspace_bytes` may be there. The order of ops is that of the nodes where edges allow it. Raises
        InputError for cycles, for nodes without costs, and for a graph of to_networkx() that had parameters."""
        networkx = library("networkx", "Graph.from_networkx()")
        position = {node: i for i, node in enumerate(graph.nodes)}
        try:
            order: Iterable[Any] = list(networkx.lexicographical_topological_sort(graph, key=position.__getitem__))
        except networkx.NetworkXUnfeasible:
            raise InputError("graph", "has a cycle") from None
        if graph.graph.get("persistent_bytes"):
            raise InputError("graph", "has parameters, which a DiGraph of ops does not say; build it with Graph.parameter()")
        made = Graph(str(graph.graph.get("name") or "graph"), device)
        for node in order:
            attributes = dict(graph.nodes[node])
            if "bytes" not in attributes:
                raise InputError(str(node), "has no attribute `bytes`")
            known = ("bytes", "seconds", "joules", "flops", "page", "backward", "recomputable", "workspace_bytes")
            inputs = sorted(graph.predecessors(node), key=position.__getitem__)
            made.op(str(node), [str(i) for i in inputs], **{name: attributes[name] for name in known if name in attributes})
        return made


def _restored(instance: dict[str, Any], notices: list[str]) -> Graph:
    graph = Graph.from_json(instance)
    graph.notices = notices
    return graph


def _flag(argument: str, of: str, flag: Any) -> bool:
    if not isinstance(flag, (bool, np.bool_)):
        raise TypeError(f"{argument}: of op {of!r} must be True or False, not {flag!r}")
    return bool(flag)


def _whole(argument: str, of: str, number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, (int, float, np.integer)) or not 0 <= number < math.inf or number != int(number):
        raise InputError(argument, f"of {of!r} must be a whole number, at least 0, not {number!r}")
    return int(number)


def _attributes(op: Mapping[str, Any], written: Sequence[Mapping[str, Any]], backward: bool, recomputable: bool) -> dict[str, Any]:
    attributes = {
        "bytes": sum(value["ram_bytes"] for value in written),
        "seconds": op["runtime_seconds"],
        "joules": op["compute_joules"],
        "backward": backward,
        "recomputable": recomputable,
    }
    if written and all("page_in_seconds" in value for value in written):
        attributes["page"] = tuple(sum(value[cost] for value in written) for cost in _PAGE_COSTS)
    return attributes


@names_mistakes
def import_onnx(
    file: Path,
    device: Union[Path, Device],
    *,
    batch_size: Optional[int] = None,
    input_shapes: Optional[Mapping[str, Sequence[int]]] = None,
    input_values: Optional[Mapping[str, float]] = None,
    loss: Optional[str] = None,
    huber_delta: Optional[float] = None,
    loss_output: Optional[str] = None,
    optimizer: Optional[str] = None,
    accumulate: Optional[int] = None,
    clip_norm: Optional[float] = None,
    label_smoothing: Optional[float] = None,
    precision: Optional[str] = None,
    trainable: Optional[str] = None,
    allow_opaque: bool = False,
    persistent: Optional[str] = None,
) -> Graph:
    """Returns the training graph of an ONNX model with its costs on a device, all parameters in RAM (`persistent="excluded"`: none).

    Arguments as for solve(); the graph's `notices` say what the import changed. solve(onnx=...) also decides which
    parameters live on storage and whether operators are split. Raises InputError naming file, node and rule.
    """
    name = file_argument("file", file)
    shapes = None if input_shapes is None else shape_arguments(input_shapes)
    instance, notices = _core.load(
        onnx=name,
        batch_size=batch_size,
        input_shapes=shapes,
        input_values=input_values,
        loss=loss,
        huber_delta=huber_delta,
        loss_output=loss_output,
        optimizer=optimizer,
        accumulate=accumulate,
        clip_norm=clip_norm,
        label_smoothing=label_smoothing,
        precision=precision,
        trainable=trainable,
        allow_opaque=allow_opaque,
        persistent=persistent,
        **device_arguments(device),
    )
    graph = Graph._of(instance)
    graph.notices = notices
    how = dict(batch_size=batch_size, input_shapes=shapes, input_values=input_values, loss=loss, huber_delta=huber_delta, loss_output=loss_output)
    graph._onnx = onnx_import(name, {**how, "allow_opaque": allow_opaque})
    return graph


def published_instances() -> list[tuple[str, str]]:
    """Returns model and platform of every published instance, for Graph.published() and solve(model=..., platform=...)."""
    return _core.published_names()


def networks() -> dict[str, str]:
    """Returns the built-in networks, for solve(model=...): name -> description."""
    return dict(_core.networks())
