#!/usr/bin/env python3
"""Training by poet next to training by PyTorch: losses, gradients, running statistics, optimisers.

usage: compare_training.py POET [--kernels fast,lean,reference] [--budgets] [NETWORK...]

Networks (training_networks.py) are exported to ONNX by PyTorch with their weights, and trained by POET (the program)
and by PyTorch on the same batch. What is compared, for each choice of kernels:

- the loss of the first step and every parameter's gradient, which is (w0 - w1) / RATE after one step of SGD. RATE is
  a power of two and large, so that rounding w1 takes nothing from the gradient;
- the running statistics of batch normalisations after that step;
- the losses of 5 steps with SGD, momentum and Adam;
- the trained network as poet writes it (--onnx-out): its tensors are the checkpoint's, bit for bit, and what is
  imported from it again is, too.

PyTorch computes in double precision, which decides who is right; in single precision as well, which shows how far
apart two correct programs are. An error is the norm of the difference over the norm of the right gradient, or over
a thousandth of the largest one's where that is more: a bias before a batch normalisation has no gradient but noise.

With --budgets, the first step is repeated at budgets between the least RAM and that of keeping everything.

Exit code 1 when something is out of tolerance, 77 when PyTorch is not installed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from torch_or_skip import need

need("torch", "numpy")
import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from tensor_files import read_initialisers, read_safetensors  # noqa: E402
from torch_export import export  # noqa: E402
from training_networks import NETWORKS  # noqa: E402

RATE = 2.0**20
STEPS = 5
# Norms of differences over norms, single precision against double.
GRADIENT_TOLERANCE = 1e-4
LOSS_TOLERANCE = 1e-5
STATISTICS_TOLERANCE = 1e-5
STEPS_TOLERANCE = 1e-4
STEPS_FACTOR = 10  # or so many times PyTorch's own error: in a deep network rounding grows from step to step
# Where an element lies so near to a kink (0 or 6 in MobileNetV2, which has a million of them behind 52 batch
# normalisations) that rounding decides on which side, the gradients of all layers before are others. PyTorch's own in
# single precision are then off by up to 2.5e-2, measured over four seeds with and without oneDNN.
KINKS = {"mobilenet_v2": 5e-2}


# ---- PyTorch ----------------------------------------------------------------------------------------------------


def loss_of(net, x, targets):
    y = net(x)
    return F.mse_loss(y, targets) if targets.is_floating_point() else F.cross_entropy(y, targets)


def optimiser(name, parameters):
    if name == "adam":
        return torch.optim.Adam(parameters, lr=0.001)
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9 if name == "momentum" else 0)


class Expected:
    """What PyTorch makes of one network, in one precision."""

    def __init__(self, build, state, x, targets, dtype):
        def fresh():
            torch.manual_seed(0)
            net = build().to(dtype).train()
            net.load_state_dict(state)
            return net

        def real(tensor):
            return tensor.to(dtype) if tensor.is_floating_point() else tensor

        x, targets = real(x), real(targets)
        net = fresh()
        loss = loss_of(net, x, targets)
        loss.backward()
        self.loss = loss.item()
        self.gradients = {name: p.grad.double().numpy() for name, p in net.named_parameters()}
        self.statistics = {name: b.double().numpy() for name, b in net.named_buffers() if "running" in name}
        self.losses = {}
        for kind in ("sgd", "momentum", "adam"):
            net = fresh()
            steps = optimiser(kind, net.parameters())
            self.losses[kind] = []
            for _ in range(STEPS):
                steps.zero_grad()
                loss = loss_of(net, x, targets)
                loss.backward()
                steps.step()
                self.losses[kind].append(loss.item())


# ---- poet -------------------------------------------------------------------------------------------------------


class Failed(Exception):
    pass


def run_poet(poet, onnx, data, loss, *options, budget="2GiB", codes=(0,)):
    command = [poet, "run", "--onnx", onnx, "--data", data, "--platform", "a72", "--ram-budget", budget, "--quiet",
               "--json", "--loss", loss, *options]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in codes:
        raise Failed(f"{' '.join(command)}: exit code {run.returncode}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def write_data(folder, x, targets):
    def write(name, tensor):
        tensor.numpy().astype("<f4" if tensor.is_floating_point() else "<i4").tofile(os.path.join(folder, name))

    write("x.bin", x)
    write("targets.bin", targets)


def aligned(ours, theirs, what):
    """`ours` in the other's shape, which may differ in axes of length 1."""
    if ours.size != theirs.size:
        raise Failed(f"{what}: shape {ours.shape}, PyTorch has {theirs.shape}")
    return ours.reshape(theirs.shape)


def relative(a, b, least=0.0):
    difference = np.linalg.norm((np.asarray(a, np.float64) - b).ravel())
    return float(difference / max(np.linalg.norm(np.ravel(b)), least, 1e-30))


class Comparison:
    def __init__(self, poet, name, kernels, folder):
        self.poet, self.name, self.kernels, self.folder = poet, name, kernels, folder
        build, make, opset = NETWORKS[name]
        torch.manual_seed(1)
        net = build().train()
        with torch.no_grad():  # not the ones and zeros that hide mistakes
            for key, p in net.named_parameters():
                if p.dim() == 1:
                    p += 0.1 * torch.randn_like(p)
        x = make()
        self.loss = "mse" if name.endswith("_mse") else "cross-entropy"
        self.targets = torch.randn(len(x), 10) if self.loss == "mse" else torch.randint(0, 10, (len(x),))
        self.onnx = os.path.join(folder, "net.onnx")
        export(net, x, self.onnx, opset, input_names=["x"])
        # After the export, which has moved the running statistics and then written them.
        state = {key: value.clone() for key, value in net.state_dict().items()}
        write_data(folder, x, self.targets)
        self.weights = {key: p.numpy() for key, p in state.items()}
        self.right = Expected(build, state, x, self.targets, torch.float64)
        self.single = Expected(build, state, x, self.targets, torch.float32)
        # Gradients below are noise.
        self.least = 1e-3 * max(np.linalg.norm(g) for g in self.right.gradients.values())
        self.bad = []

    def run(self, *options, **how):
        return run_poet(self.poet, self.onnx, self.folder, self.loss, "--kernels", self.kernels, *options, **how)

    def check(self, what, error, tolerance):
        if not error <= tolerance:
            self.bad.append(f"{what}: {error:.2g}, more than {tolerance:.0e}")
        return error

    def gradients(self, *options):
        """Largest relative errors of gradients (poet's, PyTorch's), and of running statistics; and of the loss."""
        file = os.path.join(self.folder, "one.safetensors")
        out = self.run("--optimizer", "sgd", "--steps", "1", "--learning-rate", repr(RATE), "--checkpoint", file,
                       *options)
        trained = read_safetensors(file)
        loss = self.check("loss of the first step", abs(out["losses"][0] / self.right.loss - 1), LOSS_TOLERANCE)
        worst = theirs = 0.0
        for name, right in self.right.gradients.items():
            if name not in trained:
                self.bad.append(f"{name}: is not in the checkpoint")
                continue
            before = self.weights[name].astype(np.float64)
            found = (before - aligned(trained[name], before, name)) / RATE
            worst = max(worst, self.check(f"gradient of {name} {right.shape}", relative(found, right, self.least),
                                          KINKS.get(self.name, GRADIENT_TOLERANCE)))
            theirs = max(theirs, relative(self.single.gradients[name], right, self.least))
        statistics = 0.0
        for name, right in self.right.statistics.items():
            if name not in trained:
                self.bad.append(f"{name}: is not in the checkpoint")
                continue
            statistics = max(statistics, self.check(name, relative(trained[name], right), STATISTICS_TOLERANCE))
        return loss, worst, theirs, statistics, out

    def optimisers(self):
        """Largest relative errors of the losses of some steps: poet's and PyTorch's."""
        worst = theirs = 0.0
        for kind, right in self.right.losses.items():
            own = max(abs(a / b - 1) for a, b in zip(self.single.losses[kind], right))
            theirs = max(theirs, own)
            found = self.run("--optimizer", kind, "--steps", str(STEPS))["losses"]
            for step, (a, b) in enumerate(zip(found, right)):
                worst = max(worst, self.check(f"loss of step {step + 1} with {kind}", abs(a / b - 1),
                                              max(STEPS_TOLERANCE, STEPS_FACTOR * own)))
        return worst, theirs

    def exported(self):
        """How many tensors of the trained ONNX file are the checkpoint's."""
        safetensors, onnx = (os.path.join(self.folder, f) for f in ("two.safetensors", "two.onnx"))
        self.run("--steps", "2", "--checkpoint", safetensors, "--onnx-out", onnx)
        trained, before, after = read_safetensors(safetensors), read_initialisers(self.onnx), read_initialisers(onnx)
        equal = 0
        for name, tensor in after.items():
            if name not in trained:
                continue
            if trained[name].tobytes() != tensor.tobytes():
                self.bad.append(f"{name} {tensor.shape}: the ONNX file's is not the checkpoint's")
            elif name in self.right.gradients and before[name].tobytes() == tensor.tobytes() and (
                    np.linalg.norm(self.right.gradients[name]) > self.least):
                self.bad.append(f"{name} {tensor.shape}: two steps did not change it")
            else:
                equal += 1
        missing = [name for name in self.right.gradients if name not in after]
        if missing:
            self.bad.append(f"not in the trained ONNX file: {', '.join(missing)}")
        # And back: what is imported from it is what was trained.
        again = os.path.join(self.folder, "again.safetensors")
        run_poet(self.poet, onnx, self.folder, self.loss, "--kernels", self.kernels, "--steps", "1",
                 "--learning-rate", "1e-30", "--checkpoint", again)
        back = read_safetensors(again)
        for name in self.right.gradients:
            if name in trained and (name not in back or back[name].tobytes() != trained[name].tobytes()):
                self.bad.append(f"{name}: the trained ONNX file is imported as other numbers")
        return equal

    def budgets(self, out):
        """The step again, with less RAM: the same bits. The shares of RAM, and what they took."""
        options = ["--optimizer", "sgd", "--steps", "1", "--learning-rate", repr(RATE), "--gap", "0.1",
                   "--time-limit", "5s"]
        most, found = out["peak_ram_bytes"], []
        least = self.run(*options, budget="1kB", codes=(1,))["explanation"]["least_ram_bytes"]
        for share in (0.0, 0.25, 0.6):
            budget = int(least + share * (most - least))
            files = [os.path.join(self.folder, name) for name in ("one.safetensors", "less.safetensors")]
            less = self.run(*options, "--checkpoint", files[1], budget=f"{budget}B")
            one, other = (read_safetensors(file) for file in files)
            if less["losses"] != out["losses"] or any(one[k].tobytes() != other[k].tobytes() for k in one):
                self.bad.append(f"{budget} bytes of RAM change the bits")
            found.append(f"{budget / most:.0%}: {less['recomputations']} recomputed, {less['page_ins']} paged in")
        return "; ".join(found)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("poet")
    parser.add_argument("--kernels", default="fast,lean,reference")
    parser.add_argument("--budgets", action="store_true")
    parser.add_argument("networks", nargs="*")
    chosen = parser.parse_intermixed_args()
    names = chosen.networks or list(NETWORKS)
    if any(name.startswith("mobilenet") for name in names):
        need("torch", "torchvision")
    torch.set_num_threads(1)
    bad = 0
    print("| network | kernels | loss | gradients | PyTorch's | statistics | 5 steps | PyTorch's | ONNX tensors |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in names:
        for kernels in chosen.kernels.split(","):
            with tempfile.TemporaryDirectory() as folder:
                comparison = Comparison(chosen.poet, name, kernels, folder)
                try:
                    loss, worst, theirs, statistics, out = comparison.gradients()
                    steps = comparison.optimisers()
                    tensors = comparison.exported()
                    print(f"| {name} | {kernels} | {loss:.1e} | {worst:.1e} | {theirs:.1e} | {statistics:.1e} | "
                          f"{steps[0]:.1e} | {steps[1]:.1e} | {tensors} |", flush=True)
                    if chosen.budgets:
                        print(f"  budgets: {comparison.budgets(out)}", flush=True)
                except Failed as failure:
                    comparison.bad.append(str(failure))
                for line in comparison.bad:
                    print(f"  {name}, {kernels}: {line}", flush=True)
                bad += len(comparison.bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
