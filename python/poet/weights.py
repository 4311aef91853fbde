"""Weights: from arrays and files into a trainer, and between ONNX and safetensors files."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _core, _safetensors
from ._arguments import names_mistakes, shape_arguments
from ._paths import Path, file_argument, optional_file
from .errors import InputError
from .plans import Plan

Array = npt.NDArray[Any]


@names_mistakes
def convert_weights(file: Path, out: Path, *, onnx: Optional[Path] = None, model: Optional[str] = None) -> dict[str, Any]:
    """Converts weights as `poet weights` does: of an ONNX file into the safetensors file `out`, or of a safetensors file (a checkpoint
    is one) into the ONNX file `out`.

    The network of safetensors is `onnx`, a file all of which but its weights stays as it is, or the built-in `model`. An ONNX
    file is one called .onnx, and `out` ends in .onnx or .safetensors. Returns `file`, `tensors`, `bytes` and `notices`, as
    `poet weights --json`. Raises InputError; `out` is replaced as a whole or not at all.
    """
    return _core.convert_weights(
        file=file_argument("file", file), out=file_argument("out", out), onnx=optional_file("onnx", onnx), model=model
    )


def is_onnx(file: Any) -> bool:
    return isinstance(file, (str, os.PathLike)) and os.fspath(file).endswith(".onnx")


def check_safetensors(name: str, file: Optional[str]) -> None:
    """Refuses the name of an ONNX file for a checkpoint."""
    if file is not None and is_onnx(file):
        raise InputError(name, "is a safetensors file; onnx_out and Trainer.save_onnx() write an ONNX file")


def check_onnx(name: str, file: Optional[str]) -> None:
    """Refuses the name of a safetensors file for an ONNX file."""
    if file is not None and file.endswith(".safetensors"):
        raise InputError(name, "is an ONNX file; checkpoint and Trainer.save() write safetensors")


def onnx_arguments(
    plan: Plan,
    weights: Any,
    onnx: Union[Path, bool, None],
    input_shapes: Optional[Mapping[str, Sequence[int]]],
    loss_output: Optional[str],
) -> dict[str, Any]:
    """The ONNX file that a trainer reads, and how it is imported; empty where it reads none."""
    remembered = plan._onnx or {"loss": "mse"}  # which fits any output; the loss decides nothing about weights
    how = {name: value for name, value in remembered.items() if name != "onnx"}
    if input_shapes is not None:
        how["input_shapes"] = shape_arguments(input_shapes)
    if loss_output is not None:
        how["loss_output"] = loss_output
    if onnx is True:
        raise TypeError("onnx: must be a path, False or None, not True")
    if is_onnx(weights):
        if onnx is not None and onnx is not False:
            raise InputError("onnx", "excludes weights from an ONNX file: leave one of them out")
        return {**how, "onnx": file_argument("weights", weights), "onnx_is_weights": True}
    if onnx is not None and onnx is not False:
        return {**how, "onnx": file_argument("onnx", onnx)}
    for name, given in (("input_shapes", input_shapes), ("loss_output", loss_output)):
        if given is not None:
            raise InputError(name, "says how to read the file `onnx`, which is not given")
    return {} if onnx is False or plan._onnx is None else plan._onnx


def as_array(place: str, name: str, tensor: Any) -> Array:
    """Returns any array as numpy's, also PyTorch's on any device; bfloat16, which numpy lacks, as float32."""
    try:
        if hasattr(tensor, "detach"):  # of PyTorch, which need not be installed
            tensor = tensor.detach().cpu()
            if str(tensor.dtype) == "torch.bfloat16":
                tensor = tensor.float()
        array = np.asarray(tensor)
        # np.dtype() and, in training.py, np.shape(): mypy 1.0 (Debian 12) does not know the types of these attributes in numpy 2.
        return array.astype(np.float32) if np.dtype(array.dtype).name == "bfloat16" else array
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(place, f"{name!r} is no array: {error}") from None


def as_stored(name: str, tensor: Any) -> Array:
    """A weight in a type that safetensors has; narrower floating-point numbers become float32 exactly."""
    array = as_array("weights", name, tensor)
    if array.dtype in (np.float64, np.float16):
        array = array.astype(np.float32)
    elif array.dtype == np.bool_:
        array = array.astype(np.uint8)
    if array.dtype not in _safetensors._NAMES:
        raise InputError("weights", f"{name!r} holds {array.dtype}; weights are floating-point numbers, int32, int64, uint8 or bool")
    return array
