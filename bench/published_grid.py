#!/usr/bin/env python3
"""Solves the published instances over a grid of RAM budgets and prints one line each.

usage: bench/published_grid.py [--fractions 0.5,0.25] [--deadline 1.3] [--time-limit 120] [--only NAME] [--json FILE] [--expected CSV]

RAM = W + f (A - W): A = bytes of all forward values, W = the largest working set of one op. `missed` is how far the energy is
above the best known one, in percent of that one's overhead. Every figure is the referee's; times are of this run on this machine.
"""
import argparse, csv, json, pathlib, subprocess, sys, time

root = pathlib.Path(__file__).resolve().parent.parent


def budget_of(nodes, fraction):
    forward = sum(n["ram_bytes"] for n in nodes if not n["backward"])
    working = max(n["ram_bytes"] + sum(nodes[d]["ram_bytes"] for d in set(n["deps"])) for n in nodes)
    return working + int(fraction * (forward - working))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fractions", default="0.5,0.25")
    parser.add_argument("--deadline", default="1.3")
    parser.add_argument("--time-limit", default="120")
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    parser.add_argument("--expected", default=str(root.parent / "shared/instances/expected.csv"))
    options = parser.parse_args()
    known = {}
    if pathlib.Path(options.expected).exists():
        for row in csv.DictReader(open(options.expected)):
            known[row["instance"], float(row["fraction"])] = row
    rows = []
    for fraction in map(float, options.fractions.split(",")):
        for path in sorted((root / "data/published").glob("*.json")):
            if options.only not in path.stem:
                continue
            nodes = json.load(open(path))["nodes"]
            command = [str(root / "poet"), "solve", "--instance", str(path), "--semantics", "published", "--quiet", "--json",
                       "--ram-budget", str(budget_of(nodes, fraction)), "--runtime-budget", options.deadline,
                       "--time-limit", options.time_limit + "s"]
            start = time.time()
            run = subprocess.run(command, capture_output=True, text=True)
            seconds = time.time() - start
            if run.returncode not in (0, 1):
                print(f"{path.stem:24} {fraction:5} FAILED: {run.stderr.strip()}")
                rows.append({"instance": path.stem, "fraction": fraction, "status": "failed"})
                continue
            result = json.loads(run.stdout)
            result.update(instance=path.stem, fraction=fraction, wall_seconds=seconds)
            best = known.get((path.stem, fraction))
            missed = ""
            if best and result["energy_joules"] is not None:
                overhead = float(best["energy_joules"]) - float(best["baseline_joules"])
                above = result["energy_joules"] - float(best["energy_joules"])
                result["missed"] = above / overhead if overhead > 0 else (0.0 if above <= 1e-9 else float("inf"))
                missed = f"{100 * result['missed']:8.3f}%"
            rows.append(result)
            show = lambda key, form: format(result[key], form) if result[key] is not None else "-"
            print(f"{path.stem:24} {fraction:5} {result['status']:10} {show('energy_joules', '.9g'):>12} J  overhead {show('overhead', '9.4%')}"
                  f"  gap {show('gap', '8.4%')}  first {show('seconds_to_incumbent', '.2f')} s  total {seconds:7.2f} s  missed {missed or '-':>9}",
                  flush=True)
    answered = [r for r in rows if r.get("energy_joules") is not None]
    proven = [r for r in answered if r["status"] == "optimal"]
    times = sorted(r["wall_seconds"] for r in answered)
    missed = [r["missed"] for r in answered if "missed" in r]
    print(f"{len(answered)} of {len(rows)} answered, {len(proven)} proven; median {times[len(times) // 2]:.2f} s, most {times[-1]:.1f} s;"
          f" {sum(m <= 0.01 for m in missed)} of {len(missed)} within 1% of the best known overhead")
    if options.json:
        json.dump(rows, open(options.json, "w"), indent=1)


if __name__ == "__main__":
    sys.exit(main())
