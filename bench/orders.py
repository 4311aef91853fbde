#!/usr/bin/env python3
"""What the order of ops is worth: orders.py POET [--models FOLDER] [--time-limit SECONDS]

For some built-in networks, and the ONNX files of the folder: RAM with everything kept in the network's order and
in the best one that is found, and the overhead of energy of both in a RAM budget a quarter of the way from the
largest op to keeping everything. Parameters in RAM, no deadline, on a72. One row each.
"""
import argparse
import json
import pathlib
import subprocess

BUILT_IN = ["resnet18_cifar", "resnet50", "vgg16_cifar", "transformer", "bert_tiny", "bert"]


def solve(poet, network, ram, limit, order):
    command = [poet, "solve", "--json", "--quiet", "--platform", "a72", "--persistent", "resident", "--split", "off",
               "--ram-budget", str(ram), "--time-limit", f"{limit}s", "--order", order, *network]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(run.stdout) if run.stdout.startswith("{") else None


def overhead(answer):
    if answer is None or answer.get("energy_joules") is None:
        return answer["status"] if answer else "refused"
    above = answer["energy_joules"] / answer["baseline_joules"] - 1
    return f"{100 * above:.3f}%{'' if answer['order'] == 'given' else ' *'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("poet")
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--time-limit", type=int, default=20)
    options = parser.parse_args()
    networks = [(name, ["--model", name]) for name in BUILT_IN]
    if options.models:
        networks += [(file.stem, ["--onnx", str(file)]) for file in sorted(options.models.glob("*.onnx"))]
    print("| network | largest op, MB | keep all: given | best | ratio | overhead at f = 0.25: given | best |")
    print("|---|---|---|---|---|---|---|")
    for name, network in networks:
        if not any(part in name for part in options.only.split(",")):
            continue
        floor = solve(options.poet, network, 1, 1, "given")
        if floor is None:
            continue
        least, most = floor["explanation"]["floor_ram_bytes"], floor["keep_all_peak_ram_bytes"]
        best = solve(options.poet, network, most - 1, options.time_limit, "best")
        peak = best["keep_all_peak_ram_bytes"] if best and best.get("order") == "other" else most
        budget = least + (most - least) // 4
        row = [name, f"{least / 1e6:.1f}", f"{most / 1e6:.2f}", f"{peak / 1e6:.2f}", f"{peak / most:.3f}"]
        for order in ("given", "best"):
            row.append(overhead(solve(options.poet, network, budget, options.time_limit, order)))
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
