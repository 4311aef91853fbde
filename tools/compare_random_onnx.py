#!/usr/bin/env python3
"""Random ONNX graphs trained by poet next to PyTorch in double precision.

usage: compare_random_onnx.py POET [--graphs N] [--seed N] [--steps N] [--keep FOLDER]

Of each graph (random_onnx.py) are compared with an interpreter of ONNX in PyTorch (onnx_in_torch.py):

- what trains, by `poet import`: initialisers do, results of Constant and ConstantOfShape nodes do not;
- the loss of a step and the gradient of every parameter, (w0 - w1) / RATE after a step of SGD, out of the checkpoint
  and out of the ONNX file that poet writes;
- the file written without a step: every initialiser is the original's, bit for bit;
- the same step in parts of at most 32 and of 64 bytes, and in 70% of the RAM.

A refusal (exit code 2) is counted by its rule; what the budget rules out (exit code 1) is no failure. Exit code 1 when
something differs or ends in another way, 77 when PyTorch or onnx is not installed.
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

from torch_or_skip import need

need("torch", "numpy", "onnx")
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import torch  # noqa: E402

import onnx_in_torch  # noqa: E402
from random_onnx import generate  # noqa: E402
from tensor_files import read_initialisers, read_safetensors  # noqa: E402

RATE = 2.0**20
TOLERANCE = 2e-3  # of a gradient, relative to the largest one; or ten times PyTorch's own error in single precision
LOSS_TOLERANCE = 1e-4


class Differs(Exception):
    pass


class Refused(Exception):
    pass


class Case:
    def __init__(self, poet, seed, steps, folder):
        self.poet, self.folder = poet, folder
        self.model, self.must_train, self.must_stay = generate(seed, steps)
        self.file = os.path.join(folder, "net.onnx")
        onnx.save(self.model, self.file)
        random = np.random.default_rng([seed, 1])  # not the weights' numbers again
        shape = [d.dim_value for d in self.model.graph.input[0].type.tensor_type.shape.dim]
        self.x = random.standard_normal(shape).astype(np.float32)
        with torch.no_grad():
            self.y = onnx_in_torch.run(self.model, {"x": torch.tensor(self.x, dtype=torch.float64)})[0]
        self.targets = random.standard_normal(tuple(self.y.shape)).astype(np.float32)
        self.x.astype("<f4").tofile(os.path.join(folder, "x.bin"))
        self.targets.astype("<f4").tofile(os.path.join(folder, "targets.bin"))

    def call(self, *command, codes=(0,)):
        run = subprocess.run([self.poet, *command, "--loss", "mse", "--json"], capture_output=True, text=True, timeout=120)
        if run.returncode == 2:
            raise Refused(run.stderr.strip())
        if run.returncode not in codes:
            raise Differs(f"{' '.join(command)}: exit code {run.returncode}: {run.stderr.strip()[-300:]}")
        return json.loads(run.stdout)

    def train(self, *options, budget="1GiB", steps="1", codes=(0,)):
        return self.call("run", "--onnx", self.file, "--data", self.folder, "--platform", "a72", "--ram-budget", budget, "--quiet", "--optimizer", "sgd",
                         "--steps", steps, *options, codes=codes)

    def path(self, name):
        return os.path.join(self.folder, name)

    def check(self):
        listed = {p["name"]: p for p in self.call("import", self.file, "--parameters")["parameters"]}
        trains = {name for name, p in listed.items() if p["trains"]}
        stored = {t.name for t in self.model.graph.initializer}
        if any("stands for a weight" in p["why"] for p in listed.values()):
            raise Refused("the file has no weights, and they start from the seed")
        in_nodes = {name for name in trains if "keeps its weights in nodes" in listed[name]["why"]}  # a file without initialisers to train
        if invented := trains - stored - in_nodes:
            raise Differs(f"trains what the file does not store: {sorted(invented)}")
        if lost := {name for name in self.must_train if name in listed} - trains:
            raise Differs(f"does not train {sorted(lost)}")
        loss, gradients = self.expected(trains)
        onnx_in_torch.REAL = torch.float32
        try:
            self.rounded = self.expected(trains)[1]
        finally:
            onnx_in_torch.REAL = torch.float64
        out = self.train("--learning-rate", repr(RATE), "--checkpoint", self.path("one.safetensors"), "--onnx-out", self.path("one.onnx"))
        found = out["losses"][0]
        if not abs(found - loss) <= LOSS_TOLERANCE * max(abs(loss), 1e-2):
            raise Differs(f"loss {found} for {loss}")
        onnx.checker.check_model(self.path("one.onnx"))
        before = read_initialisers(self.file)
        for what, after in (("checkpoint", read_safetensors(self.path("one.safetensors"))), ("ONNX file", read_initialisers(self.path("one.onnx")))):
            self.compare(gradients, loss, before, after, what)
        self.train("--learning-rate", "1e-30", "--onnx-out", self.path("same.onnx"))
        same = read_initialisers(self.path("same.onnx"))
        moved = {name for node in self.model.graph.node if node.op_type == "BatchNormalization" for name in node.input[3:]}
        for name, tensor in before.items():
            if name not in moved and tensor.tobytes() != same[name].tobytes() or tensor.shape != same[name].shape:
                raise Differs(f"{name}: written as other numbers without a step")
        peak = out["peak_ram_bytes"]
        for what, options, budget in (("parts of 32 bytes", ["--split", "32B"], "1GiB"), ("parts of 64 bytes", ["--split", "64B"], "1GiB"),
                                      ("70% of the RAM", [], f"{peak * 7 // 10}B")):
            file = self.path("less.safetensors")
            less = self.train("--learning-rate", repr(RATE), "--time-limit", "2s", "--gap", "0.1", "--checkpoint", file, *options, budget=budget,
                              codes=(0, 1, 3))
            if not less.get("losses"):
                continue
            if not abs(less["losses"][0] - loss) <= LOSS_TOLERANCE * max(abs(loss), 1e-2):
                raise Differs(f"{what}: loss {less['losses'][0]} for {loss}")
            self.compare(gradients, loss, before, read_safetensors(file), what)

    def expected(self, trains):
        given = {"x": torch.tensor(self.x, dtype=onnx_in_torch.REAL)}
        leaves = {}
        for tensor in self.model.graph.initializer:
            if tensor.name in trains:
                leaves[tensor.name] = given[tensor.name] = onnx_in_torch.tensor_of(tensor).requires_grad_()
        y = onnx_in_torch.run(self.model, given)[0]
        loss = ((y - torch.tensor(self.targets, dtype=onnx_in_torch.REAL)) ** 2).mean()
        if leaves:
            found = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
            return loss.item(), {name: np.zeros(leaf.shape) if g is None else g.numpy() for (name, leaf), g in zip(leaves.items(), found)}
        return loss.item(), {}

    def compare(self, gradients, loss, before, after, what):
        rounding = 1e-2 * max(1.0, abs(loss))  # where nothing is larger: 2e-5 of the loss
        largest = max([np.abs(g).max() for g in gradients.values() if g.size] + [rounding])
        for name, right in gradients.items():
            if name not in after:
                raise Differs(f"{what}: lacks {name}")
            if after[name].size != right.size:
                raise Differs(f"{what}: {name} has shape {after[name].shape}, not {right.shape}")
            found = (before[name].astype(np.float64).reshape(right.shape) - after[name].astype(np.float64).reshape(right.shape)) / RATE
            error = np.abs(found - right).max() if right.size else 0.0
            own = np.abs(self.rounded[name] - right).max() if right.size else 0.0  # PyTorch's, in single precision
            if not error <= max(TOLERANCE * largest, 10 * own):
                raise Differs(f"{what}: gradient of {name} {right.shape} off by {error:.3g} of {np.abs(right).max():.3g}")


def rule_of(message):
    """A refusal without what names this graph."""
    text = message.splitlines()[-1] if message else "?"
    return text.split("): ", 1)[-1] if "): " in text else text


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("poet")
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--keep", help="folder for the graphs that differ")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    refused, bad, compared = collections.Counter(), 0, 0
    for seed in range(chosen.seed, chosen.seed + chosen.graphs):
        with tempfile.TemporaryDirectory() as folder:
            try:
                Case(chosen.poet, seed, chosen.steps, folder).check()
                compared += 1
            except Refused as error:
                refused[rule_of(str(error))] += 1
                if chosen.keep and refused[rule_of(str(error))] == 1:
                    shutil.copytree(folder, os.path.join(chosen.keep, f"refused_{seed}"), dirs_exist_ok=True)
            except Exception as error:  # noqa: BLE001: whatever it is, with the seed that makes it again
                bad += 1
                print(f"seed {seed}: {type(error).__name__}: {str(error)[:400]}", flush=True)
                if chosen.keep:
                    shutil.copytree(folder, os.path.join(chosen.keep, f"seed_{seed}"), dirs_exist_ok=True)
    print(f"{compared} graphs equal, {bad} differ, {sum(refused.values())} refused")
    for rule, count in refused.most_common():
        print(f"  {count} times: {rule}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
