#!/usr/bin/env python3
"""How much sooner do two threads reach what one thread reaches?

usage: threads.py POET [--models FOLDER] [--time-limit SECONDS] [--threads N] [--only NAME,...]

Solves the requests of switches.py with --threads 1 and --threads N (default 2) under a time limit (default 10 s). What one
thread has at its end is the goal: its plan's energy and its bound. Prints for each request when each reached the goal, as
--progress-out tells of it, and the ratio; then the median ratio of those that took one thread longer than a second, and how
many did not reach the goal with N threads. Run it on a machine that does nothing else.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import switches

NEAR = 1e-9


def run(poet, arguments, seconds, threads):
    """Lines of progress, and the answer."""
    with tempfile.TemporaryDirectory() as folder:
        progress = pathlib.Path(folder) / "progress"
        command = [poet, "solve", *arguments, "--time-limit", f"{seconds:g}s", "--threads", str(threads), "--json", "--quiet",
                   "--progress-out", str(progress)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in progress.read_text(encoding="utf-8").splitlines()] if progress.exists() else []
    return lines, json.loads(done.stdout)


def reached(lines, answer, goal):
    """Seconds until the plan and the bound of the goal, or the end of the search; None: never."""
    for line in lines:
        plan, bound = line["plan_joules"], line["bound_joules"] or 0
        if plan is not None and plan <= goal["energy"] * (1 + NEAR) and bound >= goal["bound"] * (1 - NEAR):
            return line["elapsed_seconds"]
    if not answer["timed_out"] or (answer.get("energy_joules") or float("inf")) <= goal["energy"] * (1 + NEAR):
        return answer["solve_seconds"]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("poet")
    parser.add_argument("--models")
    parser.add_argument("--time-limit", type=float, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only")
    options = parser.parse_args()
    ratios, never = [], 0
    print(f"| request | energy with one thread | reached after | with {options.threads} threads | ratio |\n|---|---|---|---|---|")
    for case in switches.chosen(options):
        what, limits = switches.request(case, pathlib.Path(options.models or "."))
        lines, answer = run(options.poet, [*what, *limits], options.time_limit, 1)
        if answer.get("energy_joules") is None:
            print(f"| {switches.name(case)} | {answer['status']} | | | |", flush=True)
            continue
        goal = {"energy": answer["energy_joules"], "bound": lines[-1]["bound_joules"] or 0 if lines else 0}
        alone = reached(lines, answer, goal)
        together = reached(*run(options.poet, [*what, *limits], options.time_limit, options.threads), goal)
        never += together is None
        ratio = together / alone if together is not None else None
        if ratio is not None and alone > 1:
            ratios.append(ratio)
        print(f"| {switches.name(case)} | {goal['energy']:.6g} J | {alone:.2f} s | "
              f"{'never' if together is None else f'{together:.2f} s'} | {'' if ratio is None else f'{ratio:.2f}'} |", flush=True)
    if ratios:
        print(f"\nmedian ratio of {len(ratios)} that took longer than a second: {statistics.median(ratios):.2f}; "
              f"{never} did not reach the goal")


if __name__ == "__main__":
    main()
