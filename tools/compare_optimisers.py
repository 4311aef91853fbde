#!/usr/bin/env python3
"""Losses, optimisers and schedules by poet next to PyTorch's, over several updates.

usage: compare_optimisers.py POET [--kernels fast,lean,reference]

A small network is exported to ONNX by PyTorch with its weights, and trained by POET (the program) and by PyTorch in double precision on
the same data: once for every loss with SGD, and once for every optimiser, schedule, clipping and accumulation. Compared are the loss of
every step, the norm of gradients that are clipped and, at the end, every parameter; errors are norms of differences over norms. Every case is repeated in little RAM, where it
has to give the same bits.

Exit code 1 when something is out of tolerance, 77 when PyTorch is not installed.
"""

import csv
import json
import math
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

UPDATES = 6
LOSS_TOLERANCE = 2e-6
PARAMETER_TOLERANCE = 2e-6
BATCH, INPUTS, OUTPUTS = 16, 24, 5


class Case:
    """What is asked of poet (`options`) and what of PyTorch."""

    def __init__(self, name, options=(), loss="cross-entropy", loss_of=F.cross_entropy, optimiser=None, factor=None, accumulate=1,
                 clip_norm=None, last=None):
        self.name, self.options, self.loss, self.loss_of = name, list(options), loss, loss_of
        self.optimiser = optimiser or (lambda p: torch.optim.SGD(p, lr=0.1))
        self.factor, self.accumulate, self.clip_norm, self.last = factor, accumulate, clip_norm, last


def sgd(**how):
    return lambda p: torch.optim.SGD(p, lr=0.1, **how)


def adam(kind=torch.optim.Adam, **how):
    return lambda p: kind(p, lr=0.01, **how)


def cosine(update):
    """Two updates of warm-up, then half a cosine of four down to a tenth."""
    return update / 2 if update <= 2 else 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * (update - 3) / 4))


RATE, SLOW = ["--learning-rate", "0.1"], ["--learning-rate", "0.01"]
MOMENTUM = ["--optimizer", "momentum", *RATE]
CASES = [
    Case("mse", RATE, "mse", F.mse_loss),
    Case("l1", RATE, "l1", F.l1_loss),
    Case("huber", [*RATE, "--huber-delta", "0.4"], "huber", lambda y, t: F.huber_loss(y, t, delta=0.4)),
    Case("huber of delta 1", RATE, "huber", F.huber_loss),
    Case("bce-with-logits", RATE, "bce-with-logits", F.binary_cross_entropy_with_logits),
    Case("bce", RATE, "bce", F.binary_cross_entropy, last=nn.Sigmoid),
    Case("cross-entropy", RATE),
    Case("label smoothing", [*RATE, "--label-smoothing", "0.1"], loss_of=lambda y, t: F.cross_entropy(y, t, label_smoothing=0.1)),
    Case("sgd, weight decay", [*RATE, "--weight-decay", "0.05"], optimiser=sgd(weight_decay=0.05)),
    Case("momentum, weight decay", [*MOMENTUM, "--weight-decay", "0.05"], optimiser=sgd(momentum=0.9, weight_decay=0.05)),
    Case("Nesterov", [*MOMENTUM, "--nesterov", "--momentum", "0.8"], optimiser=sgd(momentum=0.8, nesterov=True)),
    Case("Nesterov, weight decay", [*MOMENTUM, "--nesterov", "--weight-decay", "0.05"],
         optimiser=sgd(momentum=0.9, nesterov=True, weight_decay=0.05)),
    Case("Adam", ["--optimizer", "adam", *SLOW], optimiser=adam()),
    Case("Adam, weight decay", ["--optimizer", "adam", *SLOW, "--weight-decay", "0.1"], optimiser=adam(weight_decay=0.1)),
    Case("AdamW", ["--optimizer", "adamw", *SLOW], optimiser=adam(torch.optim.AdamW)),
    Case("AdamW of decay 0.3", ["--optimizer", "adamw", *SLOW, "--weight-decay", "0.3"], optimiser=adam(torch.optim.AdamW, weight_decay=0.3)),
    Case("steps", [*RATE, "--lr-schedule", "step", "--lr-step-size", "2", "--lr-gamma", "0.5"], factor=lambda u: 0.5 ** ((u - 1) // 2)),
    Case("warm-up, cosine", ["--optimizer", "adamw", *SLOW, "--lr-schedule", "cosine", "--lr-warmup", "2", "--lr-length", "4",
                             "--lr-least", "0.1"], optimiser=adam(torch.optim.AdamW), factor=cosine),
    Case("clipping", [*RATE, "--clip-norm", "0.25"], clip_norm=0.25),
    Case("clipping of none", [*RATE, "--clip-norm", "1000"], clip_norm=1000.0),
    Case("accumulation", [*RATE, "--accumulate", "3"], accumulate=3),
    Case("accumulation, clipping, AdamW, warm-up", ["--optimizer", "adamw", *SLOW, "--accumulate", "2", "--clip-norm", "0.3",
                                                    "--lr-warmup", "4"],
         optimiser=adam(torch.optim.AdamW), accumulate=2, clip_norm=0.3, factor=lambda u: min(u / 4, 1)),
]


def network(case):
    torch.manual_seed(3)
    layers = [nn.Linear(INPUTS, 40), nn.Tanh(), nn.Linear(40, 30), nn.ReLU(), nn.Linear(30, OUTPUTS)]
    return nn.Sequential(*layers, *([case.last()] if case.last else []))


def data_of(case):
    """All of an epoch is one update, in whichever order: its micro-batches are equally large."""
    chance = np.random.default_rng(7)
    n = BATCH * case.accumulate
    x = chance.standard_normal((n, INPUTS)).astype(np.float32)
    if case.loss == "cross-entropy":
        return x, chance.integers(0, OUTPUTS, n).astype(np.int32)
    if case.loss.startswith("bce"):
        return x, chance.random((n, OUTPUTS)).astype(np.float32)
    return x, chance.standard_normal((n, OUTPUTS)).astype(np.float32)


def by_pytorch(case, x, targets):
    """Losses and gradients' norms of the updates, each over the whole epoch, and parameters by name."""
    net = network(case).double()
    x = torch.from_numpy(x).double()
    targets = torch.from_numpy(targets)
    targets = targets.double() if targets.is_floating_point() else targets.long()
    optimiser = case.optimiser(net.parameters())
    rate = optimiser.param_groups[0]["lr"]
    losses, norms = [], []
    for update in range(1, UPDATES + 1):
        optimiser.param_groups[0]["lr"] = rate * (case.factor(update) if case.factor else 1)
        optimiser.zero_grad()
        loss = case.loss_of(net(x), targets)
        loss.backward()
        if case.clip_norm:
            norms.append(nn.utils.clip_grad_norm_(net.parameters(), case.clip_norm).item())
        optimiser.step()
        losses.append(loss.item())
    return losses, norms, {name: p.detach().numpy() for name, p in net.named_parameters()}


def by_poet(poet, case, kernels, folder, budget):
    file = os.path.join(folder, "trained.safetensors")
    table = os.path.join(folder, "loss.csv")
    command = [poet, "run", "--onnx", os.path.join(folder, "net.onnx"), "--data", folder, "--batch-size", str(BATCH), "--loss", case.loss,
               "--platform", "a72", "--ram-budget", budget, "--split", "off", "--steps", str(UPDATES * case.accumulate), "--kernels",
               kernels, "--checkpoint", file, "--gap", "0.5", "--time-limit", "2s", "--quiet", "--json", "--loss-out", table,
               *case.options]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {run.returncode}: {run.stderr.strip()} {run.stdout[:300]}")
    with open(table, newline="") as rows:
        return json.loads(run.stdout), read_safetensors(file), list(csv.DictReader(rows))


def relative(a, b):
    return float(np.linalg.norm((np.asarray(a, np.float64) - b).ravel()) / max(np.linalg.norm(np.ravel(b)), 1e-30))


def compare(poet, case, kernels, folder):
    """Errors of losses and parameters, RAM with enough of it and with less, as text; and what is wrong."""
    export(network(case), torch.zeros(BATCH, INPUTS), os.path.join(folder, "net.onnx"), input_names=["x"])
    x, targets = data_of(case)
    x.tofile(os.path.join(folder, "x.bin"))
    targets.tofile(os.path.join(folder, "targets.bin"))
    wrong = []
    right, norms, parameters = by_pytorch(case, x, targets)
    out, trained, steps = by_poet(poet, case, kernels, folder, "1GB")
    found = np.asarray(out["losses"]).reshape(UPDATES, case.accumulate).mean(axis=1)
    loss = max(abs(a / b - 1) for a, b in zip(found, right))
    if not loss <= LOSS_TOLERANCE:
        wrong.append(f"losses {found.tolist()}, PyTorch has {right}")
    told = [float(row["gradient_norm"]) for row in steps[case.accumulate - 1::case.accumulate]] if case.clip_norm else []
    if len(told) != len(norms) or any(relative(a, b) > LOSS_TOLERANCE for a, b in zip(told, norms)):
        wrong.append(f"gradients' norms {told}, PyTorch has {norms}")
    worst = 0.0
    for name, tensor in parameters.items():
        error = relative(trained[name], tensor)
        worst = max(worst, error)
        if not error <= PARAMETER_TOLERANCE:
            wrong.append(f"{name}: off by {error:.2g}")
    most = out["peak_ram_bytes"]
    less, again, _ = by_poet(poet, case, kernels, folder, f"{int(0.85 * most)}B")
    if less["page_ins"] + less["recomputations"] == 0:
        wrong.append("less RAM neither pages nor recomputes: nothing is tested")
    if less["losses"] != out["losses"] or trained.keys() != again.keys() or any(
            trained[name].tobytes() != again[name].tobytes() for name in trained):
        wrong.append("less RAM gives other bits")
    return [f"{loss:.1e}", f"{worst:.1e}", str(most), str(less["peak_ram_bytes"])], wrong


def main():
    return compare_cases(__doc__.split("\n\n")[1][7:], {case.name: case for case in CASES},
                         ["losses", "parameters", "RAM", "less RAM"], compare, "fast")


if __name__ == "__main__":
    sys.exit(main())
