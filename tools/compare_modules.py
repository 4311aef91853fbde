#!/usr/bin/env python3
"""Modules exported by PyTorch's two exporters, trained by poet next to their own autograd.

usage: compare_modules.py POET [--exporters script,graph,optimised] [--keep FOLDER] [MODULE...]

Exporters: `script` (dynamo=False, in training mode without constant folding), `graph` (dynamo=True, optimize=False) and
`optimised` (dynamo=True, its default). Of each module (exported_modules.py) are compared, in double precision on
PyTorch's side:

- the loss of the first step, and the gradient of every parameter, found in the file by its name or, where an exporter
  has renamed it, by its numbers, transposed or not;
- what trains: nothing but the module's parameters, and all of them. The optimised form may lack a parameter that it has
  folded into others; then the import must say so.

Exit code 1 when something differs, 77 when PyTorch, onnx or onnxscript is not installed.
"""

import argparse
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

from torch_or_skip import need

need("torch", "numpy", "onnx", "onnxscript")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import torch  # noqa: E402

from exported_modules import MODULES  # noqa: E402
from tensor_files import read_safetensors  # noqa: E402
from torch_export import export  # noqa: E402

RATE = 2.0**20
TOLERANCE = 1e-3  # of a gradient, relative to the largest one: float32 against double
LOSS_TOLERANCE = 1e-4


class Differs(Exception):
    pass


def exported(net, inputs, file, how):
    if how == "script":
        return export(net, inputs, file, opset=17, input_names=["x"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(net, inputs, file, dynamo=True, optimize=how == "optimised", external_data=False, verbose=False)


class Case:
    def __init__(self, poet, name, how, folder):
        self.poet, self.how, self.folder = poet, how, folder
        build, make = MODULES[name]
        torch.manual_seed(0)
        self.net = build().train()
        with torch.no_grad():  # not the ones and zeros that exporters merge
            for parameter in self.net.parameters():
                if parameter.dim() != 2 or parameter.any():  # a matrix of zeros is how some begin
                    parameter += 0.1 * torch.randn_like(parameter)
        self.inputs = make()
        self.file = os.path.join(folder, "net.onnx")
        exported(copy.deepcopy(self.net), self.inputs, self.file, how)
        names = [i.name for i in onnx.load(self.file).graph.input]
        for i, (name, tensor) in enumerate(zip(names, self.inputs)):
            tensor.numpy().astype("<f4" if tensor.is_floating_point() else "<i4").tofile(os.path.join(folder, name + ".bin"))
        self.expected()
        self.targets.numpy().astype("<f4").tofile(os.path.join(folder, "targets.bin"))

    def expected(self):
        net = copy.deepcopy(self.net).double()
        torch.set_default_dtype(torch.float64)
        try:
            y = net(*(x.double() if x.is_floating_point() else x for x in self.inputs))
        finally:
            torch.set_default_dtype(torch.float32)
        self.targets = torch.randn(y.shape)
        loss = ((y - self.targets.double()) ** 2).mean()
        loss.backward()
        self.loss = loss.item()
        self.gradients = {name: (p.detach().float().numpy(), p.grad.numpy()) for name, p in net.named_parameters()}

    def call(self, *command):
        run = subprocess.run([self.poet, *command, "--loss", "mse", "--json"], capture_output=True, text=True, timeout=120)
        if run.returncode:
            raise Differs(f"poet {command[0]}: exit code {run.returncode}: {run.stderr.strip()[-400:]}")
        return json.loads(run.stdout)

    def check(self):
        listed = self.call("import", self.file, "--parameters")
        stored = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(self.file).graph.initializer}
        trains = [p["name"] for p in listed["parameters"] if p["trains"]]
        out = self.call("run", "--onnx", self.file, "--data", self.folder, "--platform", "a72", "--ram-budget", "1GiB", "--quiet", "--optimizer", "sgd",
                        "--steps", "1", "--learning-rate", repr(RATE), "--checkpoint", os.path.join(self.folder, "one.safetensors"))
        if not abs(out["losses"][0] - self.loss) <= LOSS_TOLERANCE * max(self.loss, 1e-2) and not self.said(listed):
            raise Differs(f"loss {out['losses'][0]} for {self.loss}")
        after = read_safetensors(os.path.join(self.folder, "one.safetensors"))
        largest = max(np.abs(g).max() for _, g in self.gradients.values())
        missing = dict(self.gradients)
        for name in trains:
            found = [key for key in missing if key == name or stored.get(name) is not None and (
                same(missing[key][0], stored[name]) or same(missing[key][0].T, stored[name]))]
            if not found:
                # The older exporter does not say what is a buffer.
                is_buffer = self.how == "script" and name in dict(self.net.named_buffers())
                if not is_buffer and not self.said(listed):
                    raise Differs(f"trains '{name}' {list(stored[name].shape) if name in stored else ''}, no parameter of the module")
                continue
            before, right = missing.pop(found[0])
            if name in stored and not same(before, stored[name]) and same(before.T, stored[name]):
                before, right = before.T, right.T
            step = (before.astype(np.float64).reshape(-1) - after[name].astype(np.float64).reshape(-1)) / RATE
            error = np.abs(step - right.reshape(-1)).max()
            if not error <= TOLERANCE * largest and not self.said(listed):
                raise Differs(f"gradient of {found[0]} {right.shape} off by {error:.3g} of {np.abs(right).max():.3g}")
        for name, (_, right) in missing.items():
            if np.abs(right).max() > 1e-9 * largest and not self.said(listed):
                raise Differs(f"does not train {name}; {listed['notices']}")

    def said(self, listed):
        """Whether a note says that the exporter has folded parameters; only the optimised form may need one."""
        return self.how == "optimised" and any("the exporter has computed" in n or "folded" in n for n in listed["notices"])


def same(a, b):
    return a.size == b.size and np.array_equal(a.reshape(-1), b.reshape(-1))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("poet")
    parser.add_argument("--exporters", default="script,graph,optimised")
    parser.add_argument("--keep", help="folder for the files that differ")
    parser.add_argument("modules", nargs="*")
    chosen = parser.parse_intermixed_args()
    torch.set_num_threads(1)
    bad = good = 0
    for name in chosen.modules or MODULES:
        for how in chosen.exporters.split(","):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    Case(chosen.poet, name, how, folder).check()
                    good += 1
                except torch.onnx.errors.UnsupportedOperatorError as error:
                    print(f"{name}, {how}: PyTorch does not export it: {str(error).splitlines()[-1]}")
                except Exception as error:  # noqa: BLE001: whatever it is
                    bad += 1
                    print(f"{name}, {how}: {type(error).__name__}: {str(error).strip()[:500]}", flush=True)
                    if chosen.keep:
                        shutil.copytree(folder, os.path.join(chosen.keep, f"{name}_{how}"), dirs_exist_ok=True)
    print(f"{good} exports equal, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
