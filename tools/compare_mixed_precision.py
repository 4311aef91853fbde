#!/usr/bin/env python3
"""Mixed precision by poet next to PyTorch's autograd with the same roundings.

usage: compare_mixed_precision.py POET [--kernels fast,lean,reference]

Small networks are exported to ONNX by PyTorch with their weights and trained by POET (the program) with --precision bf16-mixed. PyTorch trains
the same networks in double precision, every activation rounded to bfloat16 as it is stored, and so the gradient that arrives at it. Both
round the same numbers but for those so near to the middle of two that float32 and double precision decide differently. So the loss of a
step has to be the same, and what it moves the parameters by much nearer than to a step without roundings; a few steps later one number that
was rounded the other way has changed many. Every case is repeated in less RAM for more steps, with operators in parts for one, and has to
give the same bits.

Exit code 1 when something is out of tolerance, 77 when PyTorch is not installed.
"""

import json
import os
import subprocess
import sys

from torch_or_skip import need

need("torch", "numpy")
import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from compare_cases import compare_cases  # noqa: E402
from tensor_files import read_safetensors  # noqa: E402
from torch_export import export  # noqa: E402

STEPS, BATCH, CLASSES = 8, 32, 5
LOSS_TOLERANCE = 5e-6
NEARER = 10.0  # times than the step without roundings


class Stored(torch.autograd.Function):
    """What an activation is once it has been stored, and what its gradient is."""

    @staticmethod
    def forward(context, x):
        return x.to(torch.bfloat16).to(x.dtype)

    @staticmethod
    def backward(context, gradient):
        return gradient.to(torch.bfloat16).to(gradient.dtype)


class TanhStored(torch.autograd.Function):
    """Its gradient is taken from the result, and that has been rounded."""

    @staticmethod
    def forward(context, x):
        y = torch.tanh(x).to(torch.bfloat16).to(x.dtype)
        context.save_for_backward(y)
        return y

    @staticmethod
    def backward(context, gradient):
        (y,) = context.saved_tensors
        return gradient.to(torch.bfloat16).to(gradient.dtype) * (1 - y * y)


class WithRoundings(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            if isinstance(layer, nn.Tanh):
                x = TanhStored.apply(x)
            elif isinstance(layer, nn.Flatten):  # a view of what is stored already
                x = layer(x)
            else:
                x = Stored.apply(layer(x))
        return x


def perceptron():
    return nn.Sequential(nn.Linear(24, 64), nn.GELU(), nn.Linear(64, 48), nn.LayerNorm(48), nn.Tanh(), nn.Linear(48, CLASSES))


def convolutions():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 12, 3, padding=1),
                         nn.BatchNorm2d(12), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(12, 12, 3, stride=2, padding=1), nn.Tanh(), nn.Flatten(),
                         nn.Linear(48, CLASSES))


# Name, network, shape of a sample, PyTorch's optimiser, options; of the run in less RAM how much of what keeping everything takes, and options.
CASES = [
    ("perceptron", perceptron, (24,), lambda p: torch.optim.SGD(p, lr=0.1), ["--learning-rate", "0.1"], 0.9, ["--split", "off"]),
    ("convolutions", convolutions, (3, 8, 8), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
     ["--optimizer", "momentum", "--learning-rate", "0.1"], 0.85, ["--split", "off"]),
    ("convolutions in parts", convolutions, (3, 8, 8), lambda p: torch.optim.SGD(p, lr=0.1), ["--learning-rate", "0.1"],
     0.4, ["--split", "4KiB"]),
]


def by_pytorch(make, optimiser_of, x, targets, rounds):
    """Of one step the loss, and by name what each parameter was before and is after it. The set is one batch, in whichever order."""
    torch.manual_seed(3)
    layers = make().double()
    begun = {name: p.detach().clone().numpy() for name, p in layers.named_parameters()}
    net = WithRoundings(layers) if rounds else layers
    optimiser = optimiser_of(net.parameters())
    loss = F.cross_entropy(net(torch.from_numpy(x).double()), torch.from_numpy(targets).long())
    loss.backward()
    optimiser.step()
    return loss.item(), begun, {name: p.detach().numpy() for name, p in layers.named_parameters()}


def by_poet(poet, folder, kernels, budget, steps, options):
    file = os.path.join(folder, "trained.safetensors")
    command = [poet, "run", "--onnx", os.path.join(folder, "net.onnx"), "--data", folder, "--batch-size", str(BATCH), "--precision",
               "bf16-mixed", "--platform", "a72", "--ram-budget", budget, "--steps", str(steps), "--kernels", kernels, "--checkpoint",
               file, "--gap", "0.5", "--time-limit", "5s", "--quiet", "--json", *options]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {run.returncode}: {run.stderr.strip()} {run.stdout[:300]}")
    return json.loads(run.stdout), read_safetensors(file)


def distance(a, b):
    return float(np.linalg.norm(np.asarray(a, np.float64).ravel() - np.asarray(b, np.float64).ravel()))


def moved(parameters, begun):
    """All parameters' changes in a row."""
    return np.concatenate([(np.asarray(parameters[name], np.float64) - begun[name]).ravel() for name in begun])


def compare(poet, case, kernels, folder):
    _, make, shape, optimiser_of, options, part, less_options = case
    torch.manual_seed(3)
    export(make(), torch.zeros(BATCH, *shape), os.path.join(folder, "net.onnx"), input_names=["x"])
    chance = np.random.default_rng(7)
    x = chance.standard_normal((BATCH, *shape)).astype(np.float32)
    targets = chance.integers(0, CLASSES, BATCH).astype(np.int32)
    x.tofile(os.path.join(folder, "x.bin"))
    targets.tofile(os.path.join(folder, "targets.bin"))
    rounded, begun, parameters = by_pytorch(make, optimiser_of, x, targets, True)
    exact, _, exact_parameters = by_pytorch(make, optimiser_of, x, targets, False)
    plenty = ["--split", "off", *options]
    one, after_one = by_poet(poet, folder, kernels, "1GB", 1, plenty)
    out, trained = by_poet(poet, folder, kernels, "1GB", STEPS, plenty)
    wrong = []
    losses = [abs(one["losses"][0] / rounded - 1), abs(exact / rounded - 1)]
    changes = moved(parameters, begun)
    steps = [distance(moved(after_one, begun), changes) / np.linalg.norm(changes),
             distance(moved(exact_parameters, begun), changes) / np.linalg.norm(changes)]
    if not losses[0] <= LOSS_TOLERANCE:
        wrong.append(f"the loss is {one['losses'][0]}, PyTorch's with the same roundings {rounded}")
    if not NEARER * steps[0] <= steps[1]:
        wrong.append(f"parameters move {steps[0]:.2g} away from PyTorch's with the same roundings, which is {steps[1]:.2g} from that without")
    most = out["peak_ram_bytes"]
    less, again = by_poet(poet, folder, kernels, str(int(part * most)), STEPS, [*options, *less_options])
    if less["page_ins"] + less["recomputations"] == 0:
        wrong.append("less RAM neither pages nor recomputes: nothing is tested")
    if less["losses"] != out["losses"] or trained.keys() != again.keys() or any(
            trained[name].tobytes() != again[name].tobytes() for name in trained):
        wrong.append("less RAM gives other bits")
    return [*(f"{number:.1e}" for number in (*losses, *steps)), str(most), str(less["peak_ram_bytes"])], wrong


def main():
    return compare_cases(__doc__.split("\n\n")[1][7:], {case[0]: case for case in CASES},
                         ["loss", "without roundings", "parameters", "without roundings", "RAM", "less RAM"], compare, "fast,reference",
                         lambda case, kernels: kernels == "reference" or "off" in case[-1])  # which alone gives the same bits in parts


if __name__ == "__main__":
    sys.exit(main())
