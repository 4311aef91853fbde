#!/usr/bin/env python3
"""Solves a free MPS file with scipy's milp (which is HiGHS) and writes lines "name value".

usage: mps_milp.py MODEL.mps SOLUTION [SECONDS]

Knows the sections that poet writes. Without a solution the file has a comment only.
"""
import math
import sys

import numpy
import scipy.optimize
import scipy.sparse


def read(path):
    rows, kinds, names, costs, integer = {}, [], {}, [], []
    entries, sides, ranges, low, high = [], {}, {}, [], []
    objective = section = None
    offset, in_integers = 0.0, False
    for line in open(path):
        words = line.split()
        if not words or line.startswith("*"):
            continue
        if not line[0].isspace():
            section = words[0]
            continue
        if section == "ROWS":
            if words[0] == "N":
                objective = words[1]
            else:
                rows[words[1]] = len(kinds)
                kinds.append(words[0])
        elif section == "COLUMNS":
            if words[1] == "'MARKER'":
                in_integers = words[2] == "'INTORG'"
                continue
            if words[0] not in names:
                names[words[0]] = len(costs)
                costs.append(0.0)
                integer.append(in_integers)
                low.append(0.0)
                high.append(math.inf)
            column = names[words[0]]
            if words[1] == objective:
                costs[column] = float(words[2])
            else:
                entries.append((rows[words[1]], column, float(words[2])))
        elif section == "RHS":
            if words[1] == objective:
                offset = -float(words[2])
            else:
                sides[rows[words[1]]] = float(words[2])
        elif section == "RANGES":
            ranges[rows[words[1]]] = float(words[2])
        elif section == "BOUNDS":
            column = names[words[2]]
            value = float(words[3]) if len(words) > 3 else 0.0
            if words[0] in ("FX", "LO"):
                low[column] = value
            if words[0] in ("FX", "UP"):
                high[column] = value
            if words[0] in ("FR", "MI"):
                low[column] = -math.inf
    row_low = [-math.inf if kind == "L" else sides.get(r, 0.0) for r, kind in enumerate(kinds)]
    row_high = [math.inf if kind == "G" else sides.get(r, 0.0) for r, kind in enumerate(kinds)]
    for r, width in ranges.items():
        row_low[r] = row_high[r] - width
    return names, costs, offset, integer, entries, row_low, row_high, low, high


def main():
    names, costs, _, integer, entries, row_low, row_high, low, high = read(sys.argv[1])
    constraints = []
    if row_low:
        matrix = scipy.sparse.csc_matrix(
            ([e[2] for e in entries], ([e[0] for e in entries], [e[1] for e in entries])),
            shape=(len(row_low), len(costs)))
        constraints = [scipy.optimize.LinearConstraint(matrix, row_low, row_high)]
    options = {"mip_rel_gap": 0.0}
    if len(sys.argv) > 3:
        options["time_limit"] = float(sys.argv[3])
    answer = scipy.optimize.milp(numpy.array(costs), integrality=numpy.array(integer, dtype=int),
                                 bounds=scipy.optimize.Bounds(low, high), constraints=constraints, options=options)
    with open(sys.argv[2], "w") as out:
        out.write("# " + answer.message.replace("\n", " ") + "\n")
        if answer.x is not None:
            for name, column in names.items():
                out.write(f"{name} {float(answer.x[column])!r}\n")


main()
