#!/usr/bin/env python3
"""Profile, solve, run: what was predicted of training on this machine, next to what was measured.

usage: runs.py POET [-o TABLE.md] [--steps N] [--threads N] [--time-limit TIME] [--only NAME,...]

For each network: a profile of this machine, then training at RAM budgets from the least (at which a plan is known) up to
what keeping everything takes. Prints a table; exit 1 when losses differ between budgets in a single bit.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent.parent
SHARED = HERE.parent / "shared" / "models"
# Name -> what `poet` is told, steps.
NETWORKS = {
    "linear": (["--model", "linear", "--batch-size", "64"], 200),
    "vgg16_cifar": (["--model", "vgg16_cifar", "--batch-size", "8"], 20),
    "resnet18_cifar": (["--model", "resnet18_cifar", "--batch-size", "8"], 200),
    "resnet14_cifar": (["--model", "resnet14_cifar", "--batch-size", "16"], 100),
    "bert_tiny": (["--model", "bert_tiny", "--batch-size", "4", "--sequence-length", "128"], 50),
    "mobilenet_v2": (["--onnx", str(SHARED / "mobilenet_v2.onnx"), "--batch-size", "4"], 20),
}
PARTS = (1.0, 0.5, 0.25, 0.0)


class Poet:
    def __init__(self, program, common):
        self.program = program
        self.common = common

    def __call__(self, command, *arguments, may_fail=False):
        call = [self.program, command, *arguments, *self.common, "--quiet"]
        done = subprocess.run(call, capture_output=True, text=True)
        if done.returncode not in ((0, 1) if may_fail else (0,)):
            raise SystemExit(f"{' '.join(call)}\n{done.stderr or done.stdout}")
        return done.stdout

    def run(self, *arguments, may_fail=False):
        return json.loads(self("run", *arguments, "--json", may_fail=may_fail))


def budgets(poet, what, profile, limit):
    """RAM budget for each part: the least, and so much of what keeping everything takes above it."""
    tiny = poet.run(*what, "--platform", profile, "--ram-budget", "1", "--time-limit", limit, may_fail=True)
    keep_all = tiny["keep_all_peak_ram_bytes"]
    least = tiny["explanation"]["least_ram_bytes"] or tiny["explanation"]["floor_ram_bytes"]
    return {part: least + int(part * (keep_all - least)) for part in PARTS}


def measure(poet, name, what, steps, limit, folder):
    profile = str(folder / f"{name}.json")
    poet("profile", *what, "-o", profile)
    rows, losses = [], None
    for part, budget in budgets(poet, what, profile, limit).items():
        answer = {"status": "unknown"}
        while "measured" not in answer:  # near the least, a plan may need some bytes more
            answer = poet.run(*what, "--platform", profile, "--ram-budget", str(budget), "--steps", str(steps),
                              "--time-limit", limit, may_fail=True)
            budget = budget if "measured" in answer else int(budget * 1.01)
        same = losses is None or losses == answer["losses"]
        losses = losses or answer["losses"]
        rows.append((name, part, budget, answer, same))
    return rows


def megabytes(count):
    return f"{count / 1e6:,.2f}"


def line(row):
    name, part, budget, answer, same = row
    measured = answer["measured"]
    predicted, found = answer["runtime_seconds"], measured["step_seconds"]
    return [name, f"{part:g}", megabytes(budget), megabytes(answer["peak_ram_bytes"]),
            megabytes(measured["process_peak_bytes"]), megabytes(measured["process_outside_plan_bytes"]),
            f"{1e3 * predicted:,.2f}", f"{1e3 * found:,.2f}", f"{100 * (found / predicted - 1):+.1f}%",
            str(answer["recomputations"]), str(answer["page_outs"]), "equal" if same else "DIFFERENT",
            f"{answer['losses'][0]:.3g} -> {answer['losses'][-1]:.3g}"]


HEADINGS = ["network", "part", "cap MB", "planned MB", "process MB", "of it outside", "predicted ms", "measured ms",
            "difference", "recomputed", "paged out", "losses", "loss"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("poet")
    parser.add_argument("-o", "--output")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--time-limit", default="20s")
    parser.add_argument("--only")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(NETWORKS)
    poet = Poet(options.poet, ["--threads", options.threads])
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    print("\n".join(lines))
    different = False
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            what, steps = NETWORKS[name]
            if "--onnx" in what and not pathlib.Path(what[1]).exists():
                print(f"{name}: {what[1]} is not here", file=sys.stderr)
                continue
            for row in measure(poet, name, what, options.steps or steps, options.time_limit, pathlib.Path(folder)):
                different = different or not row[4]
                lines.append("| " + " | ".join(line(row)) + " |")
                print(lines[-1], flush=True)
    if options.output:
        pathlib.Path(options.output).write_text("\n".join(lines) + "\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
