#!/usr/bin/env python3
"""Validation, best checkpoint and early stop of `poet run` next to PyTorch's.

usage: compare_validation.py POET [--kernels fast,lean,reference]

A small network with batch normalisation and dropout is exported to ONNX by PyTorch and trained by POET (the program), which validates
it every other step on samples that fill no whole number of batches. PyTorch loads the best checkpoint that POET wrote, and the last one,
and evaluates them (`model.eval()`) in double precision on the same samples: loss and accuracy have to be those that POET told. Every case
is repeated in little RAM, with parameters on storage and operators in parts where that takes it, and has to give the same bits; a run that
stops and is resumed has to give those of one that did not.

Exit code 1 when something is out of tolerance, 77 when PyTorch is not installed.
"""

import argparse
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from torch_or_skip import need

need("torch", "numpy")
import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from tensor_files import read_safetensors  # noqa: E402
from torch_export import export  # noqa: E402

TOLERANCE = 2e-6
BATCH, CLASSES, STEPS, EVERY = 8, 5, 12, 2
TRAINING, VALIDATION = 40, 45  # samples; the last batch of the latter has 5


def convolutional(dropout):
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1),
                         nn.BatchNorm2d(8, eps=1e-3), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Dropout(dropout), nn.Linear(128, CLASSES))


def perceptron():
    return nn.Sequential(nn.Flatten(), nn.Linear(192, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, CLASSES))


# Name, network, options, loss, PyTorch's loss. The last options: of the run in little RAM.
CASES = [
    ("convolutions", lambda: convolutional(0.4), [], "cross-entropy", F.cross_entropy, ["--split", "off"]),
    ("convolutions in parts", lambda: convolutional(0.4), ["--optimizer", "adam"], "cross-entropy", F.cross_entropy,
     ["--split", "1KiB", "--kernels", "reference"]),
    ("label smoothing", perceptron, ["--label-smoothing", "0.1"], "cross-entropy", lambda y, t: F.cross_entropy(y, t, label_smoothing=0.1),
     ["--split", "4KiB", "--kernels", "reference"]),
    ("mean squares", lambda: convolutional(0.2), ["--optimizer", "momentum"], "mse", F.mse_loss, ["--split", "off"]),
]


def write_data(folder, samples, loss, chance):
    os.makedirs(folder)
    x = chance.standard_normal((samples, 3, 8, 8)).astype(np.float32)
    if loss == "mse":
        targets = chance.standard_normal((samples, CLASSES)).astype(np.float32)
    else:
        targets = chance.integers(0, CLASSES, samples).astype(np.int32)
    x.tofile(os.path.join(folder, "x.bin"))
    targets.tofile(os.path.join(folder, "targets.bin"))
    return x, targets


def evaluated(net, weights, x, targets, loss_of):
    """Loss and accuracy of the whole set at once, by the checkpoint's parameters and running statistics."""
    with torch.no_grad():
        for name, value in [*net.named_parameters(), *net.named_buffers()]:
            if not name.endswith("num_batches_tracked"):
                value.copy_(torch.from_numpy(np.array(weights[name], np.float64)).reshape(value.shape))
        net.double().eval()
        y = net(torch.from_numpy(x).double())
        t = torch.from_numpy(targets)
        if t.is_floating_point():
            return loss_of(y, t.double()).item(), None
        return loss_of(y, t.long()).item(), float((y.argmax(1) == t).double().mean())


def command_of(poet, folder, options, validates=True, plan=None):
    """By a plan that is solved for first, or by the one in the file `plan`."""
    validation = ["--validate", os.path.join(folder, "validation"), "--validate-every", str(EVERY)] if validates else []
    solves = ["--onnx", os.path.join(folder, "net.onnx"), "--batch-size", str(BATCH), "--platform", "a72", "--gap", "0.5", "--time-limit", "5s"]
    return [poet, "run", *([plan] if plan else solves), "--data", os.path.join(folder, "train"), *validation, "--quiet", "--json",
            "--learning-rate", "0.02", *options]


def run(poet, folder, options, **how):
    command = command_of(poet, folder, options, **how)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()} {done.stdout[:300]}")
    return json.loads(done.stdout)


def relative(a, b):
    return abs(a - b) / max(abs(b), 1e-30)


def figures(answer):
    return [(v["step"], v["loss"], v["accuracy"]) for v in answer["validations"]]


def same_bytes(a, b):
    with open(a, "rb") as one, open(b, "rb") as other:
        return one.read() == other.read()


def interrupted(poet, folder, plan, options, path):
    """A run that goes on from the page file of one that was interrupted, with what that one kept as the best."""
    interrupted.runs += 1
    pages, best = os.path.join(folder, "pages"), path("interrupted_best")
    keep = [*options, "--best", best]
    with subprocess.Popen(command_of(poet, folder, [*keep, "--storage", pages, "--steps", "1000000"], plan=plan), stdout=subprocess.PIPE, text=True) as first:
        while not os.path.exists(best) and first.poll() is None:
            time.sleep(0.01)
        first.send_signal(signal.SIGINT)
        before = json.loads(first.communicate()[0])
    steps = (before["steps"] // EVERY + 2) * EVERY
    refused = subprocess.run(command_of(poet, folder, [*options, "--resume", pages, "--steps", str(steps), "--stop-after", "2"], plan=plan),
                             capture_output=True, text=True)
    wrong = []
    if refused.returncode != 2 or not refused.stderr.startswith("poet: --stop-after: ") or refused.stderr.count("\n") != 1:
        wrong.append(f"--stop-after without --best from a page file: {refused.stderr}")
    after = run(poet, folder, [*keep, "--resume", pages, "--steps", str(steps)], plan=plan)
    whole = run(poet, folder, [*options, "--best", path("whole_best"), "--steps", str(steps)], plan=plan)
    print(f"{'':24} interrupted after step {before['steps']}, best {before['best_step']}; after {steps}: {after['best_step']}")
    if before["end"] != "interrupted" or not before["resumable"]:
        wrong.append("nothing was interrupted")
    if figures(before) + figures(after) != figures(whole) or after["best_step"] != whole["best_step"]:
        wrong.append("from its page file it validates otherwise")
    if not same_bytes(best, path("whole_best")):
        wrong.append("from its page file it keeps another best checkpoint")
    return wrong


def compare(poet, case, kernels, folder):
    name, make, options, loss, loss_of, scarce = case
    chance = np.random.default_rng(11)
    torch.manual_seed(4)
    net = make()
    write_data(os.path.join(folder, "train"), TRAINING, loss, chance)
    x, targets = write_data(os.path.join(folder, "validation"), VALIDATION, loss, chance)
    export(net, torch.from_numpy(x[:BATCH]), os.path.join(folder, "net.onnx"), input_names=["x"])
    if "--kernels" in scarce:
        kernels = scarce[scarce.index("--kernels") + 1]
    common = [*options, "--loss", loss, "--kernels", kernels]

    def path(file):
        return os.path.join(folder, file + ".safetensors")

    def trained(tag, more, steps=STEPS):
        return run(poet, folder, [*common, *more, "--steps", str(steps), "--best", path(tag + "_best"), "--checkpoint", path(tag)])

    wrong = []
    plenty = trained("plenty", ["--ram-budget", "100MB", "--split", "off"])
    for file, which in ((path("plenty_best"), plenty["best_step"]), (path("plenty"), STEPS)):
        told = next(v for v in plenty["validations"] if v["step"] == which)
        loss_there, accuracy = evaluated(make(), read_safetensors(file), x, targets, loss_of)
        if relative(told["loss"], loss_there) > TOLERANCE:
            wrong.append(f"loss after step {which} is {told['loss']}, PyTorch's {loss_there}")
        if told["accuracy"] != accuracy and (accuracy is None or abs(told["accuracy"] - accuracy) > 1e-12):
            wrong.append(f"accuracy after step {which} is {told['accuracy']}, PyTorch's {accuracy}")
        error = relative(told["loss"], loss_there)
        print(f"{name:24} {kernels:10} step {which:3}: loss {told['loss']:.7f}, off by {error:.1e}, accuracy {told['accuracy']}")
    if plenty["best_validation_loss"] != min(v["loss"] for v in plenty["validations"]):
        wrong.append("the best is not the lowest")
    if len(plenty["validations"]) != STEPS // EVERY:
        wrong.append(f"{len(plenty['validations'])} validations")

    events = os.path.join(folder, "events")
    table = os.path.join(folder, "loss.csv")
    run(poet, folder, [*common, "--ram-budget", "100MB", "--split", "off", "--steps", str(STEPS), "--tensorboard", events, "--loss-out", table])
    with open(os.path.join(events, os.listdir(events)[0]), "rb") as file:
        if file.read().count(b"loss/validation") != STEPS // EVERY:
            wrong.append("TensorBoard's file has other validations")
    with open(table, newline="") as rows:
        found = [(int(row["step"]), float(row["validation_loss"]), float(row["accuracy"]) if row["accuracy"] else None)
                 for row in csv.DictReader(rows) if row["validation_loss"]]
    if found != figures(plenty):
        wrong.append(f"the table has other validations: {found}")

    low = int((0.85 if "off" in scarce else 0.5) * plenty["peak_ram_bytes"])
    plan = os.path.join(folder, "little.plan")
    little = trained("little", ["--ram-budget", str(low), *scarce[:2], "--plan-out", plan])
    print(f"{'':24} in {low} of {plenty['persistent_bytes'] + plenty['arena_bytes']} B: {little['persistent_bytes']} B resident, "
          f"arena {little['arena_bytes']} B, of which the validation works in {little['validation_arena_bytes']} B")
    if figures(little) != figures(plenty) or little["losses"] != plenty["losses"]:
        wrong.append(f"in little RAM other bits: {figures(little)} {figures(plenty)}")
    if not same_bytes(path("little_best"), path("plenty_best")):
        wrong.append("in little RAM another best checkpoint")
    if little["page_ins"] + little["recomputations"] == 0:
        wrong.append("little RAM neither pages nor recomputes: nothing is tested")
    measured = little["measured"]
    if little["validation_arena_bytes"] > little["arena_bytes"] or measured["arena_high_water_bytes"] > little["arena_bytes"]:
        wrong.append("the validation exceeds the arena")
    if little["arena_bytes"] + little["persistent_bytes"] > low:
        wrong.append("the budget is exceeded")

    unseen = run(poet, folder, [*common, "--ram-budget", "100MB", "--split", "off", "--steps", str(STEPS), "--checkpoint", path("unseen")],
                 validates=False)
    with_, without = read_safetensors(path("plenty")), read_safetensors(path("unseen"))
    if unseen["losses"] != plenty["losses"] or any(with_[name].tobytes() != without[name].tobytes() for name in without):
        wrong.append("validating changes the training")
    if little["persistent_bytes"] < plenty["persistent_bytes"]:
        wrong += interrupted(poet, folder, plan, ["--kernels", kernels], path)

    # Resumed, it knows the best of before.
    first = trained("half", ["--ram-budget", "100MB", "--split", "off"], STEPS // 2)
    second = trained("half", ["--ram-budget", "100MB", "--split", "off", "--resume", path("half")])
    if figures(first) + figures(second) != figures(plenty) or second["best_step"] != plenty["best_step"]:
        wrong.append("resumed it validates otherwise")
    if not same_bytes(path("half_best"), path("plenty_best")):
        wrong.append("resumed it keeps another best checkpoint")

    # Targets are random: what is learnt is of no use elsewhere, and the run stops early, as the losses say it has to.
    patience = 2
    stopped = run(poet, folder, [*common, "--ram-budget", "100MB", "--split", "off", "--steps", "400",
                                 "--stop-after", str(patience)])
    losses = [v["loss"] for v in stopped["validations"]]
    best = losses.index(min(losses))
    if stopped["end"] != "no_better" or len(losses) - 1 - best != patience or stopped["best_step"] != EVERY * (best + 1):
        wrong.append(f"it stops at {losses}, end {stopped['end']}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("poet")
    parser.add_argument("--kernels", default="fast,reference")
    arguments = parser.parse_args()
    failures = 0
    interrupted.runs = 0
    for kernels in arguments.kernels.split(","):
        for case in CASES:
            with tempfile.TemporaryDirectory() as folder:
                for what in compare(arguments.poet, case, kernels, folder):
                    print(f"FAILED {case[0]}: {what}")
                    failures += 1
    if not interrupted.runs:
        print("FAILED: no case keeps parameters on storage")
        failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
