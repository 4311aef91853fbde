#!/usr/bin/env python3
"""Whether a longer time limit ever gave a worse plan: longer_limits.py RUN.json RUN.json...

The files are solve_bench's (--json), of the same cases, in the order of their time limits. One line for each case
whose energy rose by more than a billionth of the baseline, then how many did; exit code 1 if any.
"""
import json
import sys


def cases(file):
    with open(file, encoding="utf-8") as run:
        return {(r["set"], r["name"], r["fraction"], r["configuration"]): r for r in json.load(run)["results"]}


def main():
    runs = [cases(file) for file in sys.argv[1:]]
    if len(runs) < 2:
        sys.exit(__doc__)
    worse = 0
    for case, first in runs[0].items():
        energies = [run[case]["energy_joules"] for run in runs]
        least = float("inf")
        for energy in energies:
            if least < float("inf") and (energy is None or energy > least + 1e-9 * first["baseline_joules"]):
                worse += 1
                print(*case, energies)
                break
            least = min(least, float("inf") if energy is None else energy)
    print(f"{worse} of {len(runs[0])} cases are worse with more time")
    sys.exit(worse > 0)


if __name__ == "__main__":
    main()
