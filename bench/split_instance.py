#!/usr/bin/env python3
"""Writes a training step whose tensors are in parts as an instance for `poet solve --instance`.

usage: split_instance.py PART_BYTES > FILE.json

The network is ResNet-18's chain of 3x3 convolutions on 32x32 images (17 of them, 11 million weights), batch 1, SGD, on a Cortex-M4
with an SD card. No tensor is larger than PART_BYTES: convolutions go by input and output channels. Each part of a weight comes from
an op of its own that reads nothing, costs its page-in and may be repeated; its update's cost contains its page-out. 64 KiB make
5,000 ops, 32 KiB 9,600, 16 KiB 21,600, 12 KiB 36,000, 8 KiB 54,800.
"""
import json
import math
import sys

JOULES_PER_MAC, SECONDS_PER_MAC = 3.45e-9, 3.14e-7
WATTS_OF_TRANSFERS = 0.33
NEVER = 1000  # what is on storage anyway costs so much to page out that nobody does


def page_in(size):
    return 1.09e-4 + 2.166e-7 * size


def page_out(size):
    return 1.13e-4 + 2.252e-7 * size


class Step:
    def __init__(self):
        self.ops, self.values = [], []

    def op(self, name, reads, size, macs, seconds=0.0, joules=0.0, again=True, stored=False):
        """Adds an op with one result, whose number it returns."""
        number = len(self.values)
        out = NEVER if stored else page_out(size)
        self.ops.append({
            "name": name, "kind": "published", "pass": "backward" if name[0] == "d" or "update" in name else "forward",
            "inputs": reads, "outputs": [number], "recomputable": again,
            "runtime_seconds": macs * SECONDS_PER_MAC + seconds, "compute_joules": macs * JOULES_PER_MAC + joules,
            "workspace_bytes": 0})
        self.values.append({
            "name": name, "shape": [size // 4], "dtype": "float32", "persistence": "activation", "producer": number,
            "bytes": size, "ram_bytes": size, "page_in_seconds": page_in(size),
            "page_in_joules": WATTS_OF_TRANSFERS * page_in(size), "page_out_seconds": out,
            "page_out_joules": NEVER if stored else WATTS_OF_TRANSFERS * out})
        return number

    def load(self, name, size):
        return self.op(name, [], size, 0, page_in(size), WATTS_OF_TRANSFERS * page_in(size), stored=True)

    def update(self, name, reads, size):
        self.op(name, reads, 4, size // 2, page_out(size), WATTS_OF_TRANSFERS * page_out(size), again=False)


def split_layer(inputs, outputs, side, limit):
    """Channels of a part of the input and of the output."""
    plane = 4 * side * side
    by = max(1, min(limit // plane, int(math.sqrt(limit / 36))))
    return min(inputs, by), min(outputs, by)


def forward(step, layer, x, shape, limit):
    inputs, outputs, side, stride = shape
    per_in, per_out = split_layer(inputs, outputs, side, limit)
    ins, outs = math.ceil(inputs / per_in), math.ceil(outputs / per_out)
    size, part = 36 * per_in * per_out, 4 * per_out * side * side
    macs = 9 * per_in * per_out * side * side
    weights, c, y, z = {}, [], [], []
    # Parts of the input as this layer wants them are read from those that there are.
    read = [sorted({x[min(len(x) - 1, j * len(x) // ins + k)] for k in range(max(1, math.ceil(len(x) / ins)))}) for j in range(ins)]
    for i in range(outs):
        sum_so_far = []
        for j in range(ins):
            weights[i, j] = step.load(f"load {layer}.W[{i},{j}]", size)
            sum_so_far = [step.op(f"{layer}[{i}]+={j}", read[j] + [weights[i, j]] + sum_so_far, part, macs)]
        c += sum_so_far
    for i in range(outs):
        y.append(step.op(f"{layer}.bn[{i}]", [c[i]], part, 4 * part))
        z.append(step.op(f"{layer}.relu[{i}]", [y[i]], part, part // 16))
    return z, (layer, read, weights, c, z, size, part, macs, x)


def backward(step, saved, dz, step_parts):
    layer, read, weights, c, z, size, part, macs, x = saved
    outs, ins = len(c), len(read)
    dy = []
    for i in range(outs):
        down = step.op(f"d{layer}.relu[{i}]", [z[i], dz[i]], part, part // 16)
        dy.append(step.op(f"d{layer}.bn[{i}]", [c[i], down], part, 6 * part))
    gradients = {}
    for j in range(ins):
        for v in read[j]:
            sum_so_far = [gradients[v]] if v in gradients else []
            for i in range(outs):
                sum_so_far = [step.op(f"d{layer}.x[{j}]+={i}", [weights[i, j], dy[i]] + sum_so_far, step_parts[v], macs)]
            gradients[v] = sum_so_far[0]
    for i in range(outs):
        for j in range(ins):
            d = step.op(f"d{layer}.W[{i},{j}]", read[j] + [dy[i]], size, macs)
            step.update(f"{layer}.update[{i},{j}]", [weights[i, j], d], size)
    return [gradients[v] for v in x]


def main():
    limit = int(sys.argv[1])
    shapes = [(3, 64, 32, 1)] + [(64, 64, 32, 1)] * 4
    for channels, side in ((128, 16), (256, 8), (512, 4)):
        shapes += [(channels // 2, channels, side, 2)] + [(channels, channels, side, 1)] * 3
    step = Step()
    x = [step.op("input", [], 12288, 0, again=False)]
    layers = []
    for number, shape in enumerate(shapes):
        x, saved = forward(step, f"conv{number}", x, shape, limit)
        layers.append(saved)
    loss = step.op("loss", x, 4, 1000)
    gradient = [step.op(f"dloss[{k}]", [loss, v], step.values[v]["bytes"], 1000) for k, v in enumerate(x)]
    sizes = [value["bytes"] for value in step.values]
    for saved in reversed(layers):
        gradient = backward(step, saved, gradient, sizes)
    json.dump({"format": 1, "name": f"split {limit}", "ops": step.ops, "values": step.values, "persistent_bytes": 0,
               "has_storage": True,
               "device": {"name": "m4", "concurrent": True, "idle_watts": 0.00165, "wake_seconds": 0, "wake_joules": 0}},
              sys.stdout)


main()
