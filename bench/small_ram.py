#!/usr/bin/env python3
"""Networks in RAM that is small beside their parameters: the plan, what it moves, and whether it trains the same.

usage: small_ram.py POET [--models FOLDER] [--time-limit TIME] [--only NAME,...] [--list]

For each network a plan is made, verified and run with the portable kernels; the same graph is run by a plan with RAM
enough, and so is the network in whole operators. The three checkpoints must be equal in every byte. Prints a table; exit
1 when a plan is missing or rejected, or checkpoints differ.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

# Name -> what `poet` is told, the device, RAM in all, steps of the run.
CASES = {
    "resnet18_cifar 224": (["--model", "resnet18_cifar"], "m4", "224KiB", 10),
    "resnet18_cifar 128": (["--model", "resnet18_cifar"], "m4", "128KiB", 2),
    "resnet18_cifar 56": (["--model", "resnet18_cifar"], "m4", "56KiB", 10),
    "resnet14_cifar": (["--model", "resnet14_cifar"], "m4", "64KiB", 10),
    "bert_tiny": (["--model", "bert_tiny", "--sequence-length", "128"], "m4", "224KiB", 10),
    "linear": (["--model", "linear"], "m0", "24KiB", 10),
    "mobilenet_v2": (["--onnx", "mobilenet_v2.onnx"], "m4", "1MiB", 2),
    "vgg16": (["--model", "vgg16"], "a72", "64MiB", 1),
    "bert": (["--model", "bert"], "a72", "64MiB", 1),
}


def call(*arguments):
    done = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(map(str, arguments))}\n{done.stderr or done.stdout}")
    return done


def trained(poet, plan, steps, checkpoint):
    """The JSON of a run with the portable kernels, whose last state is in `checkpoint`."""
    done = call(poet, "run", plan, "--steps", steps, "--kernels", "reference", "--threads", 1, "--checkpoint", checkpoint,
                "--quiet", "--json")
    return json.loads(done.stdout)


def same_bits(poet, what, device, answer, plan, steps, folder):
    """Whether training by `plan` ends where the same graph with RAM enough does, and where whole operators do; the run."""
    run = trained(poet, plan, steps, folder / "small")
    enough = 2 * answer["keep_all_peak_ram_bytes"] + 8 * 2**30
    equal = []
    for split in (answer["part_bytes"] or "off", "off"):
        call(poet, "solve", *what, "--platform", device, "--ram-budget", enough, "--beyond-device-ram", "--split", split,
             "--plan-out", folder / "enough.plan", "--quiet")
        trained(poet, folder / "enough.plan", steps, folder / "enough")
        equal.append((folder / "small").read_bytes() == (folder / "enough").read_bytes())
    return run, equal


def megabytes(count):
    return f"{count / 1e6:,.2f}"


def row(poet, name, case, options, folder):
    what, device, ram, steps = case
    if "--onnx" in what:
        what = ["--onnx", str(pathlib.Path(options.models) / what[1])]
    plan = folder / "small.plan"
    limits = ["--ram-budget", ram, "--beyond-device-ram", "--time-limit", options.time_limit]
    answer = json.loads(call(poet, "solve", *what, "--platform", device, *limits, "--plan-out", plan, "--quiet",
                             "--json").stdout)
    if answer["energy_joules"] is None:
        return [name.split()[0], device, ram, answer["status"]], False
    accepted = call(poet, "verify", plan).returncode == 0
    run, equal = same_bits(poet, what, device, answer, plan, steps, folder)
    return [name.split()[0], device, ram, f"{answer['part_bytes'] / 1024:,.0f}" if answer["part_bytes"] else "whole",
            f"{answer['ops']:,}", f"{(answer['arena_bytes'] + answer['persistent_bytes']) / 1024:,.1f}",
            f"{answer['seconds_to_incumbent']:.1f}", f"{answer['energy_joules']:.4g}",
            f"{answer['energy_joules'] / answer['bound_joules']:.3f}", megabytes(answer["bytes_read"]),
            megabytes(answer["bytes_written"]), "accepted" if accepted else "REJECTED", str(steps),
            ", ".join("equal" if one else "DIFFERENT" for one in equal),
            f"{run['losses'][0]:.4g} -> {run['losses'][-1]:.4g}"], accepted and all(equal)


HEADINGS = ["network", "device", "RAM", "parts, KiB", "ops", "arena and residents, KiB", "first plan, s", "energy, J",
            "energy / bound", "read, MB", "written, MB", "verifier", "steps", "checkpoint: parts, whole", "loss"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("poet")
    parser.add_argument("--models", help="a folder with mobilenet_v2.onnx")
    parser.add_argument("--time-limit", default="60s")
    parser.add_argument("--only")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(CASES)
    if options.list:
        print("\n".join(CASES))
        return 0
    print("| " + " | ".join(HEADINGS) + " |\n" + "|" + "---|" * len(HEADINGS), flush=True)
    good = True
    for name in chosen:
        if "--onnx" in CASES[name][0] and not options.models:
            print(f"{name} is left out: --models FOLDER says where {CASES[name][0][1]} is", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            cells, well = row(options.poet, name, CASES[name], options, pathlib.Path(folder))
        good = good and well
        print("| " + " | ".join(cells) + " |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
