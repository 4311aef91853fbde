"""profile(): measured costs of training a network on this machine."""

from __future__ import annotations

import json
from typing import Mapping, Optional, Sequence, Union

from . import _core
from ._arguments import names_mistakes, shape_arguments
from ._paths import Path, optional_file
from .devices import Device
from .graphs import Graph


@names_mistakes
def profile(
    model: Optional[str] = None,
    *,
    onnx: Optional[Path] = None,
    graph: Optional[Graph] = None,
    name: str = "this machine",
    seconds: Union[float, str, None] = None,
    storage: Optional[Path] = None,
    kernels: Optional[str] = None,
    threads: Optional[int] = None,
    active_watts: Optional[float] = None,
    idle_watts: Optional[float] = None,
    storage_watts: Optional[float] = None,
    split: Union[int, str, None] = None,
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
) -> Device:
    """Measures this machine for training a network, as `poet profile` does; returns a Device for solve().

        here = poet.profile("resnet18_cifar", batch_size=8)
        result = poet.solve("resnet18_cifar", batch_size=8, device=here, ram_budget="60MB")

    model, onnx or graph: the network (user-defined graphs have no kernels to measure); batch_size, optimizer and what follows them: as
        for solve().
    seconds: time to measure operators for, such as 10 or "30s"; the storage takes four seconds more.
    storage: a folder or file to page to; None: $TMPDIR or /var/tmp. kernels, threads: as for Trainer.
    active_watts (above idle, while computing), idle_watts, storage_watts (above idle, while transferring): by default read
        from a sensor; without one, active power is 1 W, so that energies are proportional to time.
    split: maximum size in bytes of operator parts, as for solve().

    `origins` has the source of every figure. Raises InputError, or TypeError, naming the argument; Ctrl-C ends measuring
    and raises KeyboardInterrupt.
    """
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph: must be a poet.Graph, not {type(graph).__name__}")
    made = _core.profile(
        model=model,
        onnx=optional_file("onnx", onnx),
        instance=None if graph is None else graph._instance(),
        name=name,
        seconds=seconds,
        storage=optional_file("storage", storage),
        kernels=kernels,
        threads=threads,
        active_watts=active_watts,
        idle_watts=idle_watts,
        storage_watts=storage_watts,
        split=split,
        batch_size=batch_size,
        optimizer=optimizer,
        accumulate=accumulate,
        clip_norm=clip_norm,
        label_smoothing=label_smoothing,
        precision=precision,
        trainable=trainable,
        sequence_length=sequence_length,
        input_shapes=None if input_shapes is None else shape_arguments(input_shapes),
        input_values=input_values,
        loss=loss,
        huber_delta=huber_delta,
        loss_output=loss_output,
        allow_opaque=allow_opaque,
    )
    return Device.from_json(json.loads(made))
