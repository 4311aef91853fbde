#!/usr/bin/env python3
"""Is the default ever worse than a switch?

usage: switches.py POET [--models FOLDER] [--time-limit TIME] [--gap PART] [--json FILE] [--only NAME,...] [--list]

Each of 40 requests has a RAM budget in which not everything can be kept. It is solved by default and once with each switch:
--no-paging, --no-remat, --split off, --split SIZE, --persistent resident, --order given. A switch that the request has, or
that `poet solve --help` calls the default, is left out. SIZE goes through the powers of two, from the coarsest that changes
the graph to the last one with at most 20,000 ops. All have the same time limit, and the switches the RAM in bytes and the
deadline in seconds that the default had. The default loses if a switch's plan saves more than the gap (default 0.01) of
the overhead, the energy above a step that keeps everything, or if only a switch has a plan.

Prints a line for each request: the default's energy, the best switch, its energy, and whether the default loses; then the
requests that lose, and how many do. Exit code 1 if any. --json FILE keeps every answer, and a repeated call goes on from
there. --only takes names of requests or their beginnings. Requests for an ONNX file are left out without --models.
"""
import argparse
import pathlib
import re
import subprocess
import sys

from answers import Answers, energy, has_plan, loses, seconds, share_lost

# Network, device, RAM budget, and other options of the request.
TABLE = [
    ("linear", "m4", "64KiB"),
    ("linear", "a72", "50%"),
    ("linear", "jetsontx2", "50%"),
    ("resnet14_cifar", "m4", "64KiB"),
    ("resnet14_cifar", "a72", "50%"),
    ("resnet14_cifar", "jetsontx2", "60%", "--runtime-budget", "1.3"),
    ("resnet18_cifar", "m4", "224KiB"),
    ("resnet18_cifar", "a72", "44.2MB"),
    ("resnet18_cifar", "jetsontx2", "50%"),
    ("resnet18", "m4", "8MB"),
    ("resnet18", "a72", "60MB", "--runtime-budget", "1.3"),
    ("resnet18", "jetsontx2", "30MB"),
    ("resnet50", "m4", "2MB"),
    ("resnet50", "a72", "50%"),
    ("resnet50", "jetsontx2", "110MB", "--runtime-budget", "1.3"),
    ("vgg16_cifar", "m4", "16MB"),
    ("vgg16_cifar", "a72", "50%"),
    ("vgg16_cifar", "jetsontx2", "25%"),
    ("vgg16", "m4", "64MiB"),
    ("vgg16", "a72", "50%"),
    ("vgg16", "jetsontx2", "600MB", "--runtime-budget", "1.3"),
    ("bert_tiny", "m4", "512KiB"),
    ("bert_tiny", "a72", "50%"),
    ("bert_tiny", "jetsontx2", "8MB"),
    ("bert", "m4", "64MiB"),
    ("bert", "a72", "50%"),
    ("bert", "jetsontx2", "700MB", "--runtime-budget", "1.3"),
    ("transformer", "m4", "4MB"),
    ("transformer", "a72", "50%"),
    ("transformer", "jetsontx2", "30MB"),
    ("transformer", "jetsontx2", "72MB", "--runtime-budget", "1.3"),
    ("mobilenet_v2.onnx", "m4", "1MiB"),
    ("mobilenet_v2.onnx", "a72", "50%"),
    ("mobilenet_v2.onnx", "jetsontx2", "40%", "--runtime-budget", "1.3"),
    ("light_squeezenet.onnx", "m4", "512KiB"),
    ("light_squeezenet.onnx", "a72", "50%"),
    ("bert_small.onnx", "a72", "50%"),
    ("light_bvlc_alexnet.onnx", "jetsontx2", "50%"),
    ("light_resnet50.onnx", "a72", "40%"),
    ("light_vgg19.onnx", "jetsontx2", "50%"),
]
MOST_OPS = 20_000
SWITCHES = ["--no-paging", "--no-remat", "--split off", "--persistent resident", "--order given"]
BRIEFLY = 0.01


def name(case):
    return " ".join(case)


def request(case, models):
    """What the request says but for its limits, and these."""
    network, device, ram, *others = case
    what = ["--onnx", str(models / network)] if network.endswith(".onnx") else ["--model", network]
    return [*what, "--platform", device, "--beyond-device-ram"], ["--ram-budget", ram, *others]


def same_limits(answer, limits):
    """The limits in bytes and seconds: percentages and factors are of a graph, whose parts a switch changes."""
    if answer.get("ram_budget_bytes") is None:
        return limits
    same = ["--ram-budget", answer["ram_budget_bytes"]]
    if answer["deadline_seconds"] is not None:
        same += ["--deadline", repr(answer["deadline_seconds"])]
    return same


def defaults(poet):
    """The switches that are default by what `poet solve --help` says."""
    text = subprocess.run([poet, "solve", "--help"], capture_output=True, text=True, check=True).stdout
    options = re.findall(r"^  (--[\w-]+)(.*?)(?=^  -|^\S)", text, re.M | re.S)
    return {f"{option} {word}" for option, about in options for word in re.findall(r"([\w-]+)\s+\(default\)", about)}


def in_units(size):
    """A power of two as poet reads and writes it: 512KiB."""
    for unit, least in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= least:
            return f"{size / least:g}{unit}"
    return f"{size}B"


def sizes(answers, what, limits, most):
    """The sizes of parts that make other graphs than the whole operators and than the next coarser size.

    A solve that has no time shows the graph's ops.
    """
    before = answers.ask([*what, *limits, "--split", "off"], BRIEFLY).get("ops")
    size = 2 ** (most.bit_length() - 1)
    while size >= 64:
        ops = answers.ask([*what, *limits, "--split", in_units(size)], BRIEFLY).get("ops")
        if ops is None or ops > MOST_OPS:
            return
        if ops != before:
            yield in_units(size)
        before = ops
        size //= 2


def hopeless(answers, command, switch):
    """The answer to a switch that no time would help, or None.

    That is so if the graph that it fixes has no plan, or if the parameters that it keeps in RAM do not fit there. A proof about
    parts that poet chose is none: with more time it may choose others.
    """
    if not switch.startswith(("--no-paging", "--split", "--persistent")):
        return None
    brief = answers.ask(command, BRIEFLY)
    if brief["status"] == "infeasible" and switch.startswith("--persistent"):
        return brief if brief["persistent_bytes"] > brief["ram_budget_bytes"] else None
    return brief if brief["status"] in ("infeasible", "refused") else None


def with_switches(answers, what, limits, switches, time_limit):
    """Switch -> its answer."""
    commands = {switch: [*what, *limits, *switch.split()] for switch in switches}
    return {switch: hopeless(answers, command, switch) or answers.ask(command, time_limit)
            for switch, command in commands.items()}


def compare(answers, case, options):
    """The default's answer, the best switch and its answer, and whether the default loses; prints the line."""
    what, limits = request(case, options.models)
    answer = answers.ask([*what, *limits], options.time_limit)
    limits = same_limits(answer, limits)
    switches = [switch for switch in SWITCHES if switch not in options.defaults and switch.split()[0] not in case]
    if "--split" not in case and "keep_all_peak_ram_bytes" in answer:
        switches += [f"--split {size}" for size in sizes(answers, what, limits, answer["keep_all_peak_ram_bytes"])]
    found = with_switches(answers, what, limits, switches, options.time_limit)
    best = min(found, key=lambda switch: found[switch]["energy_joules"] if has_plan(found[switch]) else float("inf"))
    lost = loses(answer, found[best], options.gap)
    parts = in_units(answer["part_bytes"]) if answer.get("part_bytes") else "whole"
    cells = [name(case), energy(answer), parts, best, energy(found[best]), share(answer, found[best]), "LOST" if lost else ""]
    print("| " + " | ".join(cells) + " |", flush=True)
    return cells, lost


def share(answer, other):
    saved = share_lost(answer, other)
    return "" if saved is None else f"{100 * saved:.2f}%"


HEADINGS = ["request", "default", "its parts", "best switch", "its energy", "saved of the overhead", "lost"]


def table(rows):
    print("| " + " | ".join(HEADINGS) + " |\n" + "|" + "---|" * len(HEADINGS), flush=True)
    for cells in rows:
        print("| " + " | ".join(cells) + " |")


def chosen(options):
    wanted = options.only.split(",") if options.only else [""]
    for start in wanted:
        if not any(name(case).startswith(start) for case in TABLE):
            raise SystemExit(f"no request begins with {start}; --list shows them")
    cases = [case for start in wanted for case in TABLE if name(case).startswith(start)]
    absent = sorted({case[0] for case in cases if case[0].endswith(".onnx") and options.models is None})
    if absent:
        print(f"left out: {', '.join(absent)}; --models FOLDER says where they are", file=sys.stderr)
    return [case for case in dict.fromkeys(cases) if case[0] not in absent]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("poet")
    parser.add_argument("--models", type=pathlib.Path, help="a folder with the ONNX files")
    parser.add_argument("--time-limit", type=seconds, default=10)
    parser.add_argument("--gap", type=float, default=0.01)
    parser.add_argument("--json")
    parser.add_argument("--only")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(map(name, TABLE)))
        return 0
    answers = Answers(options.poet, options.json)
    options.defaults = defaults(answers.poet)
    table([])
    compared = [compare(answers, case, options) for case in chosen(options)]
    losers = [cells for cells, lost in compared if lost]
    print(f"\n{len(losers)} of {len(compared)} requests lose")
    if losers:
        table(losers)
    return 1 if losers else 0


if __name__ == "__main__":
    sys.exit(main())
