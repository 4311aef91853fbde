"""Tensors in safetensors and ONNX files, read by hand: whoever compares must not trust a library that wrote them."""

import json
import struct

import numpy as np


def read_safetensors(file):
    with open(file, "rb") as stream:
        size, = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(size))
        data = stream.read()
    header.pop("__metadata__", None)
    types = {"F32": np.float32, "I32": np.int32, "U8": np.uint8}
    return {name: np.frombuffer(data[entry["data_offsets"][0]:entry["data_offsets"][1]],
                                types[entry["dtype"]]).reshape(entry["shape"]) for name, entry in header.items()}


def fields(data):
    """Of a protobuf message: (number, contents), an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            yield key >> 3, data[at:at + size]
            at += size


def read_initialisers(file):
    """The initialisers of float32 that an ONNX file stores, by name."""
    with open(file, "rb") as stream:
        model = memoryview(stream.read())

    def tensor(message):
        dims, kind, name, raw = [], 0, "", b""
        for number, content in fields(message):
            if number == 1:
                dims += [content] if isinstance(content, int) else list(content)
            elif number == 2:
                kind = content
            elif number == 8:
                name = bytes(content).decode()
            elif number in (4, 9):  # numbers, or their bytes: the same, packed
                raw = content
        return name, kind, dims, raw

    found = {}
    graph = next(content for number, content in fields(model) if number == 7)
    for number, content in fields(graph):
        if number == 5:
            name, kind, dims, raw = tensor(content)
            if kind == 1:
                found[name] = np.frombuffer(bytes(raw), np.float32).reshape(dims)
    return found
