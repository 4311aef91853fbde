#!/usr/bin/env python3
"""Profile, solve, run: what was predicted of training on this machine, next to what was measured.

usage: runs.py POET [-o TABLE.md] [--steps N] [--threads N] [--rounds N] [--seconds TIME] [--time-limit TIME]
               [--models FOLDER] [--only NAME,...] [--persistent POLICY] [--split PARTS]

For each network, training at RAM budgets from the least (at which a plan is known) up to what keeping everything takes:
once with all steps, then in rounds of a profile of this machine, a plan for it and a short run, because a shared machine
is not as fast now as it was a minute ago. Figures are medians over the rounds; a round during which the host gave more
than a hundredth of the processors' time to others is repeated. Prints a table; exit 1 when losses differ between budgets
in a single bit.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

# Name -> what `poet` is told, steps. Files are those of --models.
NETWORKS = {
    "linear": (["--model", "linear", "--batch-size", "64"], 200),
    "vgg16_cifar": (["--model", "vgg16_cifar", "--batch-size", "8"], 20),
    "resnet18_cifar": (["--model", "resnet18_cifar", "--batch-size", "8"], 200),
    "resnet14_cifar": (["--model", "resnet14_cifar", "--batch-size", "16"], 100),
    "bert_tiny": (["--model", "bert_tiny", "--batch-size", "4", "--sequence-length", "128"], 50),
    "mobilenet_v2": (["--onnx", "mobilenet_v2.onnx", "--batch-size", "4"], 20),
}
PARTS = (1.0, 0.5, 0.25, 0.0)
ROUND_SECONDS = 3
ROUND_STEPS = (15, 2000)  # at least, at most
ATTEMPTS = 3
MOST_STOLEN = 0.01


class Poet:
    def __init__(self, program, common, solving):
        self.program = program
        self.common = common
        self.solving = solving

    def __call__(self, command, *arguments, may_fail=False):
        call = [self.program, command, *arguments, *self.common, "--quiet"]
        done = subprocess.run(call, capture_output=True, text=True)
        if done.returncode not in ((0, 1) if may_fail else (0,)):
            raise SystemExit(f"{' '.join(call)}\n{done.stderr or done.stdout}")
        return done.stdout

    def run(self, *arguments, may_fail=False):
        return json.loads(self("run", *arguments, *self.solving, "--json", may_fail=may_fail))


def budgets(poet, what, profile, limit):
    """RAM budget for each part: the least, and so much of what keeping everything takes above it."""
    tiny = poet.run(*what, "--platform", profile, "--ram-budget", "1", "--time-limit", limit, may_fail=True)
    keep_all = tiny["keep_all_peak_ram_bytes"]
    least = tiny["explanation"]["least_ram_bytes"] or tiny["explanation"]["floor_ram_bytes"]
    return {part: least + int(part * (keep_all - least)) for part in PARTS}


def processor_time():
    """User and system time of all processors, and what the host gave to others meanwhile, in ticks."""
    fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    return fields[0] + fields[2], fields[7]


def undisturbed(action):
    """What `action` returns, of a time when nobody took the processors away, or of the last of some attempts."""
    for _ in range(ATTEMPTS):
        used, stolen = processor_time()
        result = action()
        used, stolen = (now - before for now, before in zip(processor_time(), (used, stolen)))
        if stolen <= MOST_STOLEN * used:
            break
    return result


def measure(poet, what, steps, options, folder):
    """For each part: its budget, and the answers of all rounds, each with a profile made just before."""
    profile = str(folder / "profile.json")

    def profiled_run(budget, count):
        poet("profile", *what, "-o", profile, "--seconds", options.seconds)
        answer = {"status": "unknown"}
        while "measured" not in answer:  # near the least, a plan may need some bytes more
            answer = poet.run(*what, "--platform", profile, "--ram-budget", str(budget), "--steps", str(count),
                              "--time-limit", options.time_limit, may_fail=True)
            budget = budget if "measured" in answer else int(budget * 1.01)
        if answer["end"] != "done":
            raise SystemExit(f"{' '.join(what)}: ended after {len(answer['losses'])} steps: {answer['end']}")
        return budget, answer

    poet("profile", *what, "-o", profile, "--seconds", options.seconds)
    for part, budget in budgets(poet, what, profile, options.time_limit).items():
        budget, first = profiled_run(budget, steps)  # which may raise it
        count = min(max(int(ROUND_SECONDS / first["runtime_seconds"]), ROUND_STEPS[0]), ROUND_STEPS[1])
        rounds = [undisturbed(lambda: profiled_run(budget, count)) for _ in range(options.rounds)]
        yield part, max(used for used, _ in rounds), first, [answer for _, answer in rounds]


def megabytes(count):
    return f"{count / 1e6:,.2f}"


def milliseconds(figures):
    return f"{1e3 * statistics.median(figures):,.2f}"


def line(name, part, budget, first, rounds, same):
    measured = [answer["measured"] for answer in rounds]
    off = sorted(answer["measured"]["step_seconds"] / answer["runtime_seconds"] - 1 for answer in rounds)
    peak = max(answer["measured"]["process_peak_bytes"] for answer in [first, *rounds])
    outside = max(answer["measured"]["process_outside_plan_bytes"] for answer in [first, *rounds])
    return [name, f"{part:g}", megabytes(budget), megabytes(first["peak_ram_bytes"]), megabytes(peak), megabytes(outside),
            milliseconds(answer["runtime_seconds"] for answer in rounds), milliseconds(m["step_seconds"] for m in measured),
            f"{100 * statistics.median(off):+.1f}%", f"{100 * off[0]:+.1f}% to {100 * off[-1]:+.1f}%",
            milliseconds(answer["stalled_seconds"] for answer in rounds),
            milliseconds(m["stalled_seconds"] for m in measured),
            str(first["recomputations"]), str(first["page_outs"]), "equal" if same else "DIFFERENT",
            f"{first['losses'][0]:.3g} -> {first['losses'][-1]:.3g}"]


HEADINGS = ["network", "part", "cap MB", "planned MB", "process MB", "of it outside", "predicted ms", "measured ms",
            "difference", "of all rounds", "waiting predicted", "measured", "recomputed", "paged out", "losses", "loss"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("poet")
    parser.add_argument("-o", "--output")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--time-limit", default="5s")
    parser.add_argument("--seconds", default="3s", help="of each profile's operators")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", help="a folder with the ONNX files")
    parser.add_argument("--only")
    parser.add_argument("--persistent", default="resident", help="as poet run has it (default resident)")
    parser.add_argument("--split", default="off", help="as poet run has it (default off)")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(NETWORKS)
    poet = Poet(options.poet, ["--threads", options.threads],
                ["--persistent", options.persistent, "--split", options.split])
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    print("\n".join(lines))
    different = False
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            what, steps = NETWORKS[name]
            if "--onnx" in what:
                if not options.models:
                    print(f"{name} is left out: --models FOLDER says where {what[1]} is", file=sys.stderr)
                    continue
                what = ["--onnx", str(pathlib.Path(options.models) / what[1]), *what[2:]]
            losses = None
            for part, budget, first, rounds in measure(poet, what, options.steps or steps, options, pathlib.Path(folder)):
                losses = losses or first["losses"]
                same = all(mine == ours for answer in [first, *rounds] for mine, ours in zip(answer["losses"], losses))
                different = different or not same
                lines.append("| " + " | ".join(line(name, part, budget, first, rounds, same)) + " |")
                print(lines[-1], flush=True)
    if options.output:
        pathlib.Path(options.output).write_text("\n".join(lines) + "\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
