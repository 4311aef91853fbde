#!/usr/bin/env python3
"""Recovers the device figures behind the published instances: a straight line through (bytes, seconds) of every transfer,
watts as joules / seconds, operations per second from the ReLU layers (which the reference counts as one operation per
element, four bytes each). data/devices/*.json and docs/devices.md rest on what this prints.

usage: fit_published_devices.py [FOLDER]      (default: data/published beside this script's folder)
"""
import json
import pathlib
import sys

FIGURES = ["page_in latency_seconds", "page_in bytes_per_second", "page_in watts", "page_out latency_seconds",
           "page_out bytes_per_second", "page_out watts", "flops_per_second", "compute watts", "worst fit error"]


def line(points):
    """Least squares y = a + b x, and the largest relative error of it."""
    n = len(points)
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    b = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    a = mean_y - b * mean_x
    return a, b, max(abs(a + b * x - y) / y for x, y in points)


def ratio(pairs):
    """The common ratio of pairs (a, b), and how far the pairs are from sharing it."""
    ratios = sorted(a / b for a, b in pairs if b > 0)
    middle = ratios[len(ratios) // 2]
    return middle, max(ratios[-1] / middle, middle / ratios[0]) - 1


def figures(nodes):
    found, error = [], 0.0
    for direction in ("page_in", "page_out"):
        seconds, joules = f"{direction}_seconds", f"{direction}_joules"
        latency, slope, off = line(sorted({(x["ram_bytes"], x[seconds]) for x in nodes}))
        watts, spread = ratio([(x[joules], x[seconds]) for x in nodes])
        found += [latency, 1 / slope, watts]
        error = max(error, off, spread)
    relu = [x for x in nodes if x["name"].endswith("_ReLULayer")]
    flops, off = ratio([(x["ram_bytes"] / 4, x["runtime_seconds"]) for x in relu])
    watts, spread = ratio([(x["compute_joules"], x["runtime_seconds"]) for x in nodes])
    return found + [flops, watts, max(error, off, spread)]


def main(folder):
    platforms = {}
    for file in sorted(folder.glob("*.json")):
        instance = json.loads(file.read_text())
        platforms.setdefault(instance["platform"], []).extend(instance["nodes"])
    if not platforms:
        print(f"no instances in {folder}", file=sys.stderr)
        return 1
    columns = {name: figures(nodes) for name, nodes in sorted(platforms.items())}
    print(f"{'':26}" + "".join(f"{name:>14}" for name in columns))
    for row, figure in enumerate(FIGURES):
        print(f"{figure:26}" + "".join(f"{column[row]:14.6g}" for column in columns.values()))
    return 0


if __name__ == "__main__":
    default = pathlib.Path(__file__).resolve().parent.parent / "data" / "published"
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default))
