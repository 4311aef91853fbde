"""Reading and writing of safetensors files."""

from __future__ import annotations

import json
import struct
from typing import Any, Mapping

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_TYPES = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "|u1"}
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}


def read(file: str) -> dict[str, Array]:
    with open(file, "rb") as stream:
        data = stream.read()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], _TYPES[entry["dtype"]]).reshape(entry["shape"]).copy()
    return tensors


def write(file: str, tensors: Mapping[str, Array]) -> None:
    header: dict[str, Any] = {"__metadata__": {"poet.format": "2"}}  # matrices are as the ONNX file has them
    at = 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(file, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            stream.write(np.ascontiguousarray(tensor).tobytes())
